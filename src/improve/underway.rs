//! What is going on: the run at work here, and what dead ones left. Looks at the local folder only; changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

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
#[derive(Debug, Clone, Default, PartialEq)]
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
    let mut found = Journals::default();
    let mut runs: Vec<Underway> = Vec::new();
    for entry in fs::read_dir(memory_dir.join("journal")).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("malformed") => found.malformed.push(path),
            Some("json") => runs.extend(fs::read(&path).ok().and_then(|bytes| of(&bytes))),
            _ => {}
        }
    }
    // One run is at work at a time, under the lock; it has recovered those before it.
    runs.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    if Lock::is_held(&memory_dir.join("worker.lock")) {
        found.at_work = runs.pop();
    }
    found.dead = runs;
    found.malformed.sort_unstable();
    found
}

fn of(bytes: &[u8]) -> Option<Underway> {
    let run: Run = serde_json::from_slice(bytes).ok()?;
    let selected = run.plan.selected.len();
    Some(Underway { id: run.id, trigger: run.trigger, started_at: run.started_at, selected })
}
