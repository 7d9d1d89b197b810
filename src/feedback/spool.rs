//! Local files to which many processes add a line at a time, and the way of the spool into the ledger.
//!
//! A record is one `O_APPEND` write of a whole line, a line break on both sides of it: a record that a full disk cut
//! short is taken back, and where that fails it spoils itself, never its neighbour. Whoever adds holds a shared lock;
//! whoever takes the file away, by renaming it, holds the exclusive one for just that, so nothing is ever added to a
//! file that was taken. A taken file becomes one segment of the ledger, named after its first event: when a process
//! dies between writing the segment and deleting the file, the next one finds the segment there and only deletes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Episode, queries};
use crate::git::{self, Lock, Locked, Repo, fault};
use crate::ledger::{self, Append, Event};
use crate::wiki::shown::json_fault;

/// Events that are not yet in the ledger.
pub const SPOOL: &str = "spool.jsonl";

/// The lock between those who add a line and those who take or rewrite a file.
const LOCK: &str = "spool.lock";

/// From this size on a spool that no run came for is set aside.
const LARGEST: u64 = 1 << 20;

/// So many files that were set aside are kept: where no run ever comes, the local folder must not grow for ever.
const MOST_ASIDE: usize = 8;

/// How long a flush waits for those who are adding.
const PATIENCE: Duration = Duration::from_secs(2);

/// Adds one line to each of these files below the local folder, which only their owner may read.
///
/// # Errors
/// When the folder or a file cannot be written.
pub(super) fn add(memory: &Path, lines: &[(&str, String)]) -> io::Result<()> {
    let lock = match lock_file(memory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(memory)?;
            lock_file(memory)?
        }
        other => other?,
    };
    lock.lock_shared()?;
    let mut added = Vec::new();
    let done = lines.iter().try_for_each(|(name, line)| add_line(&memory.join(name), line, &mut added));
    drop(lock);
    if done.is_err() {
        take_back(memory, added);
        return done;
    }
    // What was asked for is written: trouble with making room is for the flush to tell.
    for (name, _) in lines {
        let is_larger = |than| fs::metadata(memory.join(name)).is_ok_and(|file| file.len() > than);
        if *name == SPOOL && is_larger(LARGEST) {
            set_aside(memory);
        } else if *name != SPOOL && is_larger(queries::LARGEST) {
            let _ = queries::rotate(memory, ledger::now());
        }
    }
    Ok(())
}

/// Adds a line in one write, and notes how many bytes of it stand in the file now.
fn add_line(path: &Path, line: &str, added: &mut Vec<(File, usize)>) -> io::Result<()> {
    let mut file = private().append(true).open(path)?;
    let record = format!("\n{line}\n");
    let wrote = file.write(record.as_bytes());
    added.push((file, *wrote.as_ref().unwrap_or(&0)));
    if wrote? < record.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
}

/// Takes back what was added to these files, but where somebody has written behind it.
fn take_back(memory: &Path, added: Vec<(File, usize)>) {
    let Ok(Some(_closed)) = closed(memory) else { return };
    for (mut file, bytes) in added {
        let Ok(end) = file.stream_position() else { continue };
        if file.metadata().is_ok_and(|data| data.len() == end) {
            let _ = file.set_len(end.saturating_sub(bytes as u64));
        }
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn lock_file(memory: &Path) -> io::Result<File> {
    private().read(true).write(true).truncate(false).open(memory.join(LOCK))
}

/// The lock that keeps everybody from adding, while it is held; `None` when somebody does not stop adding.
///
/// # Errors
/// When the lock's file cannot be made, or locks do not work on its file system.
pub(super) fn closed(memory: &Path) -> io::Result<Option<File>> {
    let lock = lock_file(memory)?;
    let end = Instant::now() + PATIENCE;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Some(lock)),
            Err(TryLockError::WouldBlock) if Instant::now() < end => std::thread::sleep(Duration::from_millis(2)),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Sets a large spool aside, and drops the oldest of too many.
fn set_aside(memory: &Path) {
    let _ = take(memory, LARGEST);
    if let Ok(taken) = taken(memory)
        && taken.len() > MOST_ASIDE
    {
        for old in &taken[..taken.len() - MOST_ASIDE] {
            let _ = fs::remove_file(old);
        }
    }
}

/// Renames the spool, when it is larger than this, so that nobody adds to it any more.
fn take(memory: &Path, larger_than: u64) -> io::Result<()> {
    let spool = memory.join(SPOOL);
    let waits = || fs::metadata(&spool).is_ok_and(|file| file.len() > larger_than);
    if !waits() {
        return Ok(());
    }
    // Where others do not stop adding, it waits for the next time.
    let Some(_closed) = closed(memory)? else { return Ok(()) };
    // Another one may have taken it while we waited.
    if waits() {
        fs::rename(&spool, memory.join(format!("spool-{}.jsonl", ledger::new_id())))?;
    }
    Ok(())
}

/// The files that were taken and are not in the ledger yet, oldest first.
fn taken(memory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(memory)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with("spool-") && name.ends_with(".jsonl") {
            found.push(path);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// What waits in the spool.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Waiting {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// Lines that cannot be read, in words.
    pub faults: Vec<String>,
}

/// Reads what waits, without taking it. A spool that was never written holds nothing.
pub fn waiting(repo: &Repo) -> Waiting {
    let memory = repo.memory_dir();
    let mut all = Waiting::default();
    let mut files = taken(&memory).unwrap_or_default();
    files.push(memory.join(SPOOL));
    for file in files {
        match fs::read(&file) {
            Ok(bytes) => {
                let (events, bad) = parse(&bytes);
                all.events.extend(events);
                all.faults.extend(bad.into_iter().map(|(line, why)| format!("{}:{line}: {why}", file.display())));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => all.faults.push(format!("{}: {error}", file.display())),
        }
    }
    all
}

/// The events of a file, and the lines (from 1) that are none, with why.
fn parse(bytes: &[u8]) -> (Vec<Event>, Vec<(usize, String)>) {
    let (mut events, mut bad) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(event) => events.push(event),
            Err(error) => bad.push((number, json_fault(&error))),
        }
    }
    (events, bad)
}

/// What a flush did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Flushed {
    /// Events that are in the ledger now.
    pub events: usize,
    /// Lines that could not be read; they stand in files that end with `.corrupt` in the local folder.
    pub corrupt: usize,
}

/// Carries what waits into the ledger, and drops what is too old from the list of queries. Another process that is
/// doing so is left alone.
///
/// # Errors
/// When a file or the ledger cannot be written; what waits goes on waiting.
pub fn flush(repo: &Repo) -> git::Result<Flushed> {
    let memory = repo.memory_dir();
    let failed = |error: io::Error| git::Error::write(memory.join(SPOOL).display().to_string(), error);
    let mut done = Flushed::default();
    queries::rotate(&memory, ledger::now()).map_err(failed)?;
    if !is_waiting(&memory) {
        return Ok(done);
    }
    let Locked::Yes(_lock) = Lock::try_take(&memory.join("flush.lock"), "flush")? else { return Ok(done) };
    fault::point("spool.before-take");
    take(&memory, 0).map_err(failed)?;
    fault::point("spool.after-take");
    for file in taken(&memory).map_err(failed)? {
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            // It was one too many.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(error)),
        };
        let (events, bad) = parse(&bytes);
        if !bad.is_empty() {
            keep_corrupt(&file, &bytes, &bad).map_err(failed)?;
            done.corrupt += bad.len();
        }
        done.events += events.len();
        append(repo, events)?;
        fault::point("spool.after-ledger");
        fs::remove_file(&file).or_else(|error| gone(&error)).map_err(failed)?;
        fault::point("spool.after-remove");
    }
    Ok(done)
}

/// Whether there is anything to flush: asked often, answered mostly with no.
fn is_waiting(memory: &Path) -> bool {
    memory.join(SPOOL).exists() || taken(memory).is_ok_and(|taken| !taken.is_empty())
}

fn append(repo: &Repo, mut events: Vec<Event>) -> git::Result<()> {
    let now = ledger::now();
    events.retain(|event| Episode::of(event).is_none_or(|episode| episode.counts(now)));
    let Some(first) = events.first() else { return Ok(()) };
    if ledger::file(repo, &ledger::segment(first))?.is_some() {
        return Ok(());
    }
    let subject = match events.len() {
        1 => "memory: 1 episode".to_owned(),
        many => format!("memory: {many} episodes"),
    };
    ledger::append(repo, &Append { subject, events, files: Vec::new() }, &[])?;
    Ok(())
}

/// Lines that are no events go to a file beside, under the same name each time the same file is read.
fn keep_corrupt(file: &Path, bytes: &[u8], bad: &[(usize, String)]) -> io::Result<()> {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let mut kept = private().write(true).truncate(true).open(file.with_extension("corrupt"))?;
    for (number, _) in bad {
        kept.write_all(lines.get(number - 1).copied().unwrap_or_default())?;
        kept.write_all(b"\n")?;
    }
    Ok(())
}

fn gone(error: &io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(io::Error::new(error.kind(), error.to_string())) }
}

/// Files with lines that could not be read, for whoever reports the state.
pub fn corrupt(repo: &Repo) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(repo.memory_dir()) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "corrupt"))
        .collect();
    found.sort_unstable();
    found
}
