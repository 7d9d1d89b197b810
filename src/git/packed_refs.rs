//! Many refs at once, into `packed-refs`: one file made durable instead of one for each ref.
//!
//! Only the lock of `packed-refs` is taken. Somebody who is at one of the refs meanwhile, and has its lock or its file,
//! is seen before and after; whoever comes later reads what was written. Whatever is out of the ordinary is left to git.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bstr::ByteSlice;
use gix::lock::File;
use gix::lock::acquire::Fail;

use super::refs::{RefEdit, RefFormat};
use super::store::{is_shared, sync_folder};
use super::{Error, Oid, Repo, Result};

/// From this many refs on. Below, files of their own are as fast, and nobody has to write anew what others packed.
const MANY: usize = 64;

/// Refs that no work tree has for itself.
const OURS: &str = "refs/memory/";

/// The first line of a file that is sorted and says what each tag points to.
const HEADER: &[u8] = b"# pack-refs with: peeled fully-peeled sorted \n";

/// How long to wait for somebody who packs refs. Git can do without.
const PATIENCE: Duration = Duration::from_millis(100);

/// Applies the edits, all or none of them; false, with nothing done, when they are git's business.
///
/// # Errors
/// [`Error::RefMoved`] when a ref does not have its old value, or somebody else was at it meanwhile (only the other refs
/// are written then); [`Error::Write`] as [`Repo::update_refs`].
pub(super) fn update(repo: &Repo, edits: &[RefEdit]) -> Result<bool> {
    let root = repo.common_dir();
    let taken = |edit: &&RefEdit| {
        let path = root.join(&edit.name);
        path.exists() || lock_of(&path).exists()
    };
    let is_plain = |edit: &RefEdit| edit.name.starts_with(OURS) && edit.new.is_some() && !taken(&edit);
    if edits.len() < MANY || is_special(repo) || !edits.iter().all(is_plain) {
        return Ok(false);
    }
    let folders: BTreeSet<&str> = edits.iter().flat_map(|edit| parents(&edit.name)).collect();
    if folders.into_iter().any(|folder| root.join(folder).is_file()) {
        return Ok(false);
    }
    let file = root.join("packed-refs");
    let failed = |error: std::io::Error| Error::write(file.display().to_string(), error);
    let fail = Fail::AfterDurationWithBackoff(PATIENCE);
    let Ok(mut pack) = File::acquire_to_update_resource(&file, fail, None, 0) else { return Ok(false) };
    let before = match fs::read(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => HEADER.to_vec(),
        read => read.map_err(failed)?,
    };
    let Some(mut records) = records(&before) else { return Ok(false) };
    let mut added: BTreeMap<&[u8], String> = BTreeMap::new();
    for edit in edits {
        if stands_in_the_way(&records, &edit.name) {
            return Ok(false);
        }
        if records.get(edit.name.as_bytes()).and_then(|record| id(record)) != edit.old {
            return Err(Error::RefMoved { name: edit.name.clone() });
        }
        let new = edit.new.map(|new| format!("{new} {}\n", edit.name));
        if new.is_none_or(|new| added.insert(edit.name.as_bytes(), new).is_some()) {
            return Ok(false);
        }
    }
    records.extend(added.iter().map(|(name, record)| (*name, record.as_bytes())));
    let parts: Vec<&[u8]> = [HEADER].into_iter().chain(records.into_values()).collect();
    pack.with_mut(|out| out.write_all(&parts.concat()).and_then(|()| out.sync_all())).map_err(failed)?;
    pack.commit().map_err(|error| failed(error.error))?;
    sync_folder(&root)?;
    match edits.iter().find(taken) {
        Some(edit) => Err(Error::RefMoved { name: edit.name.clone() }),
        None => Ok(true),
    }
}

fn lock_of(path: &Path) -> PathBuf {
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    lock.into()
}

/// Whether the repository, or the user, wants something of a change of refs that only git knows how to do.
fn is_special(repo: &Repo) -> bool {
    let root = repo.common_dir();
    let logs_all = repo.config("core.logAllRefUpdates").is_some_and(|value| value.eq_ignore_ascii_case("always"));
    repo.ref_format() != RefFormat::Files
        || is_shared(repo)
        || logs_all
        || root.join("logs").join(OURS).exists()
        || repo.config("core.hooksPath").is_some()
        || root.join("hooks/reference-transaction").exists()
}

/// The records of a file by name, each with the line behind it that says what a tag points to; `None` for a file that
/// is not as git has written it for years.
fn records(bytes: &[u8]) -> Option<BTreeMap<&[u8], &[u8]>> {
    let mut records = BTreeMap::new();
    let mut rest = bytes.strip_prefix(HEADER)?;
    while !rest.is_empty() {
        let mut end = rest.find_byte(b'\n')? + 1;
        let (_, name) = rest[..end - 1].split_once_str(b" ")?;
        if rest[end..].starts_with(b"^") {
            end += rest[end..].find_byte(b'\n')? + 1;
        }
        records.insert(name, &rest[..end]);
        rest = &rest[end..];
    }
    Some(records)
}

/// The folders that a ref's name stands in.
fn parents(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| &name[..at])
}

/// Whether a ref stands where the name needs a folder, or has the name as its folder.
fn stands_in_the_way(records: &BTreeMap<&[u8], &[u8]>, name: &str) -> bool {
    let folder = format!("{name}/");
    let below = records.range(folder.as_bytes()..).next();
    below.is_some_and(|(below, _)| below.starts_with(folder.as_bytes()))
        || parents(name).any(|parent| records.contains_key(parent.as_bytes()))
}

/// The value in a record.
fn id(record: &[u8]) -> Option<Oid> {
    Oid::from_hex(record.split_once_str(b" ")?.0).ok()
}
