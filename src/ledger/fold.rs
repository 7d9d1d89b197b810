//! Reading the ledger: its events, folded, with the folded state cached by the ledger's commit.

use std::fs;
use std::path::PathBuf;

use bstr::{BStr, ByteSlice};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Event, REF, State, cache};
use crate::git::{self, Oid, Repo};
use crate::wiki::shown::json_fault;

/// Whether the cache may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// Read and written.
    Use,
    /// Read only: for `--dry-run`, which writes nothing at all.
    ReadOnly,
}

/// The shape of the cache file; another number is passed over and rebuilt.
const SHAPE: u32 = 9;

#[derive(Serialize, Deserialize)]
struct Cached {
    shape: u32,
    ledger: String,
    state: State,
}

/// The folded state at the ledger's tip. An unreadable cache is rebuilt; an unreadable segment is reported in
/// [`State::faults`] and passed over.
pub fn load(repo: &Repo, cache: Cache) -> git::Result<State> {
    let Some(tip) = repo.reference(REF)? else { return Ok(State::default()) };
    let path = cache_path(repo);
    let known = read_cache(&path);
    let (from, mut state) = match known {
        Some((ledger, state)) if ledger == tip => return Ok(state),
        // A rewritten ledger (a purge) does not contain what was folded.
        Some((ledger, state)) if repo.is_ancestor(ledger, tip).unwrap_or(false) => (Some(ledger), state),
        _ => (None, State::default()),
    };
    let broken = |error| git::Error::read(format!("the ledger ({REF})"), error);
    let (new, mut faults) = events(repo, from, tip).map_err(broken)?;
    if !state.add(new) {
        state = State::default();
        let all;
        (all, faults) = events(repo, None, tip).map_err(broken)?;
        // From nothing, every event finds its place.
        let _ = state.add(all);
    }
    state.faults.extend(faults);
    if cache == Cache::Use {
        write_cache(&path, tip, &state);
    }
    Ok(state)
}

/// A fold of the ledger that has a file of its own, `name`: what was folded before is kept there under the ledger's
/// commit, and only what came since is read. Another `shape` is passed over and rebuilt. Events may be added in any
/// order, and segments that cannot be read are told of by [`State::faults`].
///
/// # Errors
/// When the ledger cannot be read.
pub fn keep<T>(repo: &Repo, name: &str, shape: u32, cache: Cache, add: impl Fn(&mut T, &[Event])) -> git::Result<T>
where
    T: Default + Serialize + DeserializeOwned,
{
    let Some(tip) = repo.reference(REF)? else { return Ok(T::default()) };
    let known = cache::known::<(u32, T)>(repo, name)
        .filter(|(_, (written, _))| *written == shape)
        .and_then(|(key, (_, folded))| Some((Oid::from_hex(key.as_bytes()).ok()?, folded)));
    let (from, mut folded) = match known {
        Some((ledger, folded)) if ledger == tip => return Ok(folded),
        // A rewritten ledger (a purge) does not contain what was folded.
        Some((ledger, folded)) if repo.is_ancestor(ledger, tip).unwrap_or(false) => (Some(ledger), folded),
        _ => (None, T::default()),
    };
    let (events, _) = events(repo, from, tip)?;
    add(&mut folded, &events);
    if cache == Cache::Use {
        cache::write(repo, name, &tip.to_string(), &(shape, &folded));
    }
    Ok(folded)
}

/// The events that stand in the ledger at `to` and did not at `from`, unsorted, and the segments that cannot be read.
pub fn events(repo: &Repo, from: Option<Oid>, to: Oid) -> git::Result<(Vec<Event>, Vec<String>)> {
    let mut events = Vec::new();
    let mut faults = Vec::new();
    let segments: Vec<_> = match from {
        Some(from) => repo
            .diff(Some(from), Some(to))?
            .into_iter()
            .filter(|change| change.path.starts_with(b"events/"))
            .filter_map(|change| Some((change.path, change.after?.oid)))
            .collect(),
        None => repo.files(to, "events".into())?.into_iter().map(|file| (file.path, file.entry.oid)).collect(),
    };
    for (path, oid) in segments {
        match repo.blob(oid) {
            Ok(bytes) => {
                let (read, broken) = parse(path.as_bstr(), &bytes);
                events.extend(read);
                faults.extend(broken);
            }
            Err(error) => faults.push(format!("{path}: {error}")),
        }
    }
    Ok((events, faults))
}

/// The events of a segment, and the lines of it that cannot be read.
pub fn parse(path: &BStr, bytes: &[u8]) -> (Vec<Event>, Vec<String>) {
    let mut events = Vec::new();
    let mut faults = Vec::new();
    for (number, line) in bytes.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_slice(line) {
            Ok(event) => events.push(event),
            Err(error) => faults.push(format!("{path}:{}: {}", number + 1, json_fault(&error))),
        }
    }
    (events, faults)
}

fn cache_path(repo: &Repo) -> PathBuf {
    repo.memory_dir().join("index").join("ledger.json")
}

fn read_cache(path: &PathBuf) -> Option<(Oid, State)> {
    let cached: Cached = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (cached.shape == SHAPE).then_some((Oid::from_hex(cached.ledger.as_bytes()).ok()?, cached.state))
}

/// A cache that cannot be written (a read-only repository) costs time, nothing else.
fn write_cache(path: &PathBuf, ledger: Oid, state: &State) {
    let Some(folder) = path.parent() else { return };
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let cached = Cached { shape: SHAPE, ledger: ledger.to_string(), state: state.clone() };
        serde_json::to_writer(std::io::BufWriter::new(&mut file), &cached)?;
        file.persist(path)?;
        Ok(())
    };
    let _ = write();
}
