//! What is going on: the run at work here, and what dead ones left. Looks at the local folder only; changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::journal::{self, Journal};
use super::run::{Run, Trigger};
use crate::git::Lock;

/// A run that is not in the ledger yet.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Underway {
    /// Its id.
    pub id: String,
    /// What set it off.
    pub trigger: Trigger,
    /// When it began.
    pub started_at: Timestamp,
    /// How many sessions and pages it is to look at.
    pub selected: usize,
}

/// What the journals in the local folder say.
#[derive(Debug, Clone, PartialEq)]
pub struct Journals {
    /// The run at work.
    pub at_work: Option<Underway>,
    /// Runs whose process died: the next run puts them right.
    pub dead: Vec<Underway>,
    /// Journals that could not be read and were put aside for people to look at.
    pub malformed: Vec<PathBuf>,
}

/// Reads the journals. One that cannot be read is left to the next run, which puts it aside.
pub fn journals(memory_dir: &Path) -> Journals {
    let read = |entry: fs::DirEntry| of(&fs::read(entry.path()).ok()?);
    let mut runs: Vec<Underway> = journal::files(memory_dir, "json").filter_map(read).collect();
    // One run is at work at a time, under the lock; it has recovered those before it.
    runs.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    let is_at_work = Lock::is_held(&memory_dir.join("worker.lock"));
    let at_work = if is_at_work { runs.pop() } else { None };
    Journals { at_work, dead: runs, malformed: Journal::malformed(memory_dir) }
}

fn of(bytes: &[u8]) -> Option<Underway> {
    let run: Run = serde_json::from_slice(bytes).ok()?;
    let selected = run.plan.selected.len();
    Some(Underway { id: run.id, trigger: run.trigger, started_at: run.started_at, selected })
}
