//! The detached worker: works through the queue, one process at a time.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

use super::log;
use crate::git::{self, Lock, Locked, Repo};
use crate::ledger::queue::{self, Queued, Waiting};
use crate::wiki::{OpenError, Wiki};

/// What the worker does with what is queued. An error leaves the events in the queue for the next time.
pub type Pass<'a> = &'a dyn Fn(&Wiki, &[Queued]) -> Result<(), String>;

/// How a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Another one is at work, and will look at the queue before it ends.
    OtherAtWork,
    /// The queue is empty; so many events were worked through.
    Done(usize),
}

/// Why a worker stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// The wiki's trouble.
    #[error(transparent)]
    Wiki(#[from] OpenError),
    /// The queue could not be read or emptied.
    #[error("cannot work on the queue {}: {source}", .path.display())]
    Queue {
        /// Its folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The pass failed; its events are still queued.
    #[error("{0}")]
    Pass(String),
}

/// Works through the queue of the wiki in this repository until it is empty. What goes wrong also stands in the log
/// afterwards.
///
/// # Errors
/// When the wiki cannot be opened or the pass fails; the queue is left as it was.
pub fn run(repository: &Path, pass: Pass<'_>) -> Result<Ended, Error> {
    let repo = Repo::open(repository)?;
    let memory = repo.memory_dir();
    // A bug would be told to a standard error that goes nowhere, so it is told to the log.
    let ended = std::panic::catch_unwind(AssertUnwindSafe(|| work(repo, &memory, pass))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(Error::Pass(format!("this is a bug in git-memory: {}", text.unwrap_or("unknown"))))
    });
    if let Err(error) = &ended {
        log::note(&memory, &format!("worker: {error}"));
    }
    ended
}

fn work(repo: Repo, memory: &Path, pass: Pass<'_>) -> Result<Ended, Error> {
    let mut done = 0;
    loop {
        let Locked::Yes(lock) = Lock::try_take(&memory.join("worker.lock"), "worker")? else {
            return Ok(if done == 0 { Ended::OtherAtWork } else { Ended::Done(done) });
        };
        linger();
        loop {
            let waiting = waiting(memory)?;
            if waiting.is_empty() {
                break;
            }
            let wiki = Wiki::of(repo.clone(), None)?;
            let queued: Vec<Queued> = waiting.iter().map(|waiting| waiting.queued.clone()).collect();
            pass(&wiki, &queued).map_err(Error::Pass)?;
            queue::remove(&waiting).map_err(|source| trouble(memory, source))?;
            done += waiting.len();
        }
        drop(lock);
        // Whoever queued something just now met our lock and left it to us.
        if waiting(memory)?.is_empty() {
            return Ok(Ended::Done(done));
        }
    }
}

/// What waits. Files that say nothing are told of in the log and dropped: they would stand there for ever.
fn waiting(memory: &Path) -> Result<Vec<Waiting>, Error> {
    let queue = queue::list(memory).map_err(|source| trouble(memory, source))?;
    for (path, reason) in &queue.unreadable {
        log::note(memory, &format!("worker: dropped {}: {reason}", path.display()));
        std::fs::remove_file(path).map_err(|source| trouble(memory, source))?;
    }
    Ok(queue.waiting)
}

fn trouble(memory: &Path, source: std::io::Error) -> Error {
    Error::Queue { path: memory.join("queue"), source }
}

/// In debug builds, `GIT_MEMORY_WORKER_SLEEP` (seconds) keeps the worker busy for tests.
fn linger() {
    #[cfg(debug_assertions)]
    if let Some(seconds) = std::env::var("GIT_MEMORY_WORKER_SLEEP").ok().and_then(|text| text.parse().ok()) {
        std::thread::sleep(std::time::Duration::from_secs_f64(seconds));
    }
}
