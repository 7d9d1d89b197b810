//! Putting objects on disk so that they survive a crash: each is complete and fsynced before it gets its name.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use gix::objs::Kind;
use gix::zlib::Compression;
use gix::zlib::stream::deflate;
use tempfile::NamedTempFile;

use super::pack::Pack;
use super::refs::disk_trouble;
use super::{Error, Oid, Repo, Result, fault, pack};

/// An object that is to be written.
pub(super) struct Object<'a> {
    /// Its id.
    pub oid: Oid,
    /// Its kind.
    pub kind: Kind,
    /// Its bytes, without header.
    pub bytes: &'a [u8],
}

/// From this many objects on, one pack is faster, and kinder to the repository, than loose files.
const MANY: usize = 65;

/// Writes all objects. What they refer to comes first, so that nothing half-written is ever reachable; among equal
/// kinds their order stays.
pub(super) fn write(repo: &Repo, mut objects: Vec<Object<'_>>) -> Result<()> {
    if objects.is_empty() {
        return Ok(());
    }
    objects.sort_by_key(|object| rank(object.kind));
    fault::point("objects.before");
    match (objects.len() >= MANY, is_shared(repo)) {
        (true, false) => packed(repo, &objects)?,
        (false, false) => loose(repo, &objects)?,
        // Git knows which permissions a shared repository wants.
        (true, true) => by_git(repo, made(repo, &objects)?, &["index-pack", "--stdin"])?,
        (false, true) => by_git(repo, made(repo, &objects)?, &["unpack-objects", "-q"])?,
    }
    fault::point("objects.after");
    Ok(())
}

fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Blob => 0,
        Kind::Tree => 1,
        Kind::Commit => 2,
        Kind::Tag => 3,
    }
}

/// Whether others may write to the repository.
pub(super) fn is_shared(repo: &Repo) -> bool {
    let value = repo.config("core.sharedRepository").unwrap_or_default().to_ascii_lowercase();
    !matches!(value.as_str(), "" | "umask" | "false" | "no" | "off" | "0")
}

fn loose(repo: &Repo, objects: &[Object<'_>]) -> Result<()> {
    let root = repo.objects_dir();
    let level = repo.inner.loose_compression();
    let mut folders = Vec::new();
    let mut made = false;
    for object in objects {
        let hex = object.oid.to_string();
        let folder = root.join(&hex[..2]);
        if !folder.is_dir() {
            match std::fs::create_dir(&folder) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(Error::write(folder.display().to_string(), error));
                }
                _ => made = true,
            }
        }
        one(&folder, &hex[2..], object, level)?;
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    if made {
        folders.push(root);
    }
    folders.iter().try_for_each(|folder| sync_folder(folder))
}

fn one(folder: &Path, name: &str, object: &Object<'_>, level: Compression) -> Result<()> {
    let path = folder.join(name);
    let failed = |error: std::io::Error| Error::write(path.display().to_string(), error);
    if path.exists() {
        return Ok(());
    }
    let file = temporary(folder, "tmp_obj_").map_err(failed)?;
    let mut zlib = deflate::Write::new(file, level);
    zlib.write_all(&gix::objs::encode::loose_header(object.kind, object.bytes.len() as u64)).map_err(failed)?;
    zlib.write_all(object.bytes).map_err(failed)?;
    zlib.flush().map_err(failed)?;
    let file = zlib.into_inner();
    file.as_file().sync_all().map_err(failed)?;
    fault::point("objects.each");
    named(file, &path)
}

/// A file that `git prune` and `git gc` clear away when a crash left it.
fn temporary(folder: &Path, prefix: &str) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o444));
    }
    builder.tempfile_in(folder)
}

/// Gives a complete file its name.
fn named(file: NamedTempFile, path: &Path) -> Result<()> {
    match file.persist(path) {
        Ok(_) => Ok(()),
        // Where an open or read-only file cannot be replaced, somebody else wrote the same object meanwhile.
        Err(_) if path.exists() => Ok(()),
        Err(error) => Err(Error::write(path.display().to_string(), error.error)),
    }
}

/// Makes the names in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| Error::write(folder.display().to_string(), error))
}

/// A pack of the objects. Where nobody asks for another level, speed counts: git packs anew when it collects garbage.
fn made(repo: &Repo, objects: &[Object<'_>]) -> Result<Pack> {
    let asked = ["pack.compression", "core.compression"].iter().any(|key| repo.config(key).is_some());
    let level = repo.inner.pack_compression().ok().filter(|_| asked).unwrap_or(Compression::BEST_SPEED);
    pack::pack(objects, repo.inner.object_hash(), level).map_err(|reason| Error::write("a pack", reason))
}

/// Writes one pack and its index, which makes it known.
fn packed(repo: &Repo, objects: &[Object<'_>]) -> Result<()> {
    let mut pack = made(repo, objects)?;
    let Some(index) = pack.index().map_err(|reason| Error::write("the index of a pack", reason))? else {
        return by_git(repo, pack, &["index-pack", "--stdin"]);
    };
    let folder = repo.objects_dir().join("pack");
    let failed = |error: std::io::Error| Error::write(folder.display().to_string(), error);
    if !folder.is_dir() {
        std::fs::create_dir_all(&folder).map_err(failed)?;
        sync_folder(&repo.objects_dir())?;
    }
    let sum: String = pack.sum().iter().map(|byte| format!("{byte:02x}")).collect();
    for (end, bytes) in [("pack", &pack.bytes), ("idx", &index)] {
        let path = folder.join(format!("pack-{sum}.{end}"));
        let mut file = temporary(&folder, &format!("tmp_{end}_")).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        fault::point("objects.each");
        named(file, &path)?;
    }
    sync_folder(&folder)
}

fn by_git(repo: &Repo, pack: Pack, command: &[&str]) -> Result<()> {
    let git = repo.git().args(["-c", "core.fsync=objects,reference"]).args(command).stdin(pack.bytes);
    let line = git.line();
    let output = git.output()?;
    match output.code {
        Some(0) => Ok(()),
        _ if disk_trouble(&output.stderr) => {
            Err(Error::write(repo.objects_dir().display().to_string(), output.stderr.trim()))
        }
        _ => Err(output.failed(line)),
    }
}
