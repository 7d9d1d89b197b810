//! Writing to the ledger: one commit per call, retried when another process was faster.

use std::time::Duration;

use bstr::{BString, ByteSlice};
use jiff::Timestamp;
use ulid::Ulid;

use super::{Event, REF};
use crate::git::{self, Batch, Entry, Error, Mode, NewCommit, Oid, Person, RefEdit, Repo, fault};

/// How often a lost race is run again before the caller is told that the repository is busy.
pub(super) const ATTEMPTS: u32 = 40;

/// What one commit of the ledger adds.
#[derive(Debug, Clone, Default)]
pub struct Append {
    /// The commit's subject; the ledger reads as a log.
    pub subject: String,
    /// Its events: one segment.
    pub events: Vec<Event>,
    /// Further files (`proposals/…`, `runs/…`), written once.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Append {
    /// Nothing yet, under this subject.
    pub fn new(subject: impl Into<String>) -> Append {
        Append { subject: subject.into(), ..Append::default() }
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.files.is_empty()
    }
}

/// Appends to the ledger and applies `edits` in the same ref transaction. The objects that the edits name must be
/// durable already. Returns the ledger's new commit.
///
/// # Errors
/// [`Error::RefMoved`] when a ref of `edits` had another value: nothing was changed. [`Error::Busy`] when the ledger
/// kept moving.
pub fn append(repo: &Repo, append: &Append, edits: &[RefEdit]) -> git::Result<Oid> {
    for attempt in 0..ATTEMPTS {
        let old = repo.reference(REF)?;
        let new = commit(repo, append, old)?;
        let mut all = vec![RefEdit { name: REF.to_owned(), old, new: Some(new) }];
        all.extend_from_slice(edits);
        fault::point("ledger.before");
        match repo.update_refs(&all, &format!("memory: {}", append.subject)) {
            Ok(()) => {
                fault::point("ledger.after");
                return Ok(new);
            }
            Err(Error::RefMoved { name }) if name == REF => back_off(attempt),
            Err(error) => return Err(error),
        }
    }
    Err(Error::Busy { reason: format!("other processes keep writing to {REF}; try again") })
}

/// The path of the segment that begins with this event.
pub fn segment(first: &Event) -> String {
    segment_of(first.at, first.id)
}

/// The path of the segment whose first event has this time and id.
pub fn segment_of(at: Timestamp, id: Ulid) -> String {
    format!("events/{}/{id}.jsonl", at.strftime("%Y/%m/%d"))
}

/// The bytes of one file of the ledger.
pub fn file(repo: &Repo, path: &str) -> git::Result<Option<Vec<u8>>> {
    match repo.reference(REF)? {
        Some(tip) => repo.file(tip, path.into()),
        None => Ok(None),
    }
}

/// The commit that would append to a ledger at `old`, durable; no ref names it yet.
///
/// # Errors
/// When the ledger cannot be read, or the disk not written.
pub fn commit(repo: &Repo, append: &Append, old: Option<Oid>) -> git::Result<Oid> {
    let mut batch = Batch::new(repo);
    let parent = match old {
        Some(tip) => tip,
        None => root(&mut batch)?,
    };
    let mut entries: Vec<(BString, Option<Entry>)> = Vec::with_capacity(append.files.len() + 1);
    if let Some(first) = append.events.first() {
        let mut lines = Vec::new();
        for event in &append.events {
            serde_json::to_writer(&mut lines, event).map_err(|error| Error::write("an event", error))?;
            lines.push(b'\n');
        }
        entries.push((segment(first).into(), Some(Entry { mode: Mode::Blob, oid: batch.blob(&lines)? })));
    }
    for (path, bytes) in &append.files {
        // Written once: what stands there already stays.
        if repo.entry(parent, path.as_bytes().as_bstr()).ok().flatten().is_none() {
            let oid = batch.blob(bytes)?;
            entries.push((path.as_str().into(), Some(Entry { mode: Mode::Blob, oid })));
        }
    }
    let base = batch.repo().commit(parent)?.tree;
    let tree = batch.tree(Some(base), &entries)?;
    let person = writer(repo);
    let new = batch.commit(&NewCommit {
        tree,
        parents: vec![parent],
        author: person.clone(),
        committer: person,
        time: super::now().as_second(),
        message: format!("{}\n", append.subject),
        sign: repo.signs(),
    })?;
    batch.flush()?;
    Ok(new)
}

/// The first commit: the same in every clone of the same hash, so that ledgers share their history.
fn root(batch: &mut Batch) -> git::Result<Oid> {
    let tree = batch.tree(None, &[])?;
    let nobody = nobody();
    batch.commit(&NewCommit {
        tree,
        parents: Vec::new(),
        author: nobody.clone(),
        committer: nobody,
        time: 0,
        message: "memory: the ledger begins\n".into(),
        sign: false,
    })
}

/// Who commits to the ledger: the operator, or the tool itself on a machine where git knows nobody.
fn writer(repo: &Repo) -> Person {
    repo.operator().unwrap_or_else(|_| nobody())
}

/// The tool itself, where a commit must be the same whoever makes it.
pub(super) fn nobody() -> Person {
    Person { name: "git-memory".into(), email: "ledger@git-memory.invalid".into() }
}

pub(super) fn back_off(attempt: u32) {
    let jitter = u64::from(std::process::id()) % 7;
    std::thread::sleep(Duration::from_millis(u64::from(attempt.min(10)) * 5 + jitter));
}
