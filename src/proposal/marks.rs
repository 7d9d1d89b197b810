//! Which marks of a proposal may be trusted: those that a run in this repository gave, and those in a commit of the
//! ledger that an allowed signer signed. What merely arrived with a fetch is information, whatever it says of itself.
//!
//! A mark holds for exactly what was marked: the branch's commit, and everything that the ledger says of the proposal.
//! Any later word on it (an edit, a rejection, a reopening) ends it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::policy::{Marks, UNMARKED};
use super::sidecar::folder;
use super::{Item, Sidecar, View};
use crate::git::{self, Oid, Repo};
use crate::ledger::{self, Event, EventKind, Proposal};

/// Where this repository keeps the marks of its own runs, in the local folder.
const FILE: &str = "marks.json";

/// A mark that a run here gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Given {
    /// The run.
    run: String,
    /// What was marked: [`subject`].
    subject: String,
    /// The marks.
    marks: Marks,
}

/// What marks are looked up in.
pub struct Trusted<'r> {
    repo: &'r Repo,
    given: BTreeMap<String, Given>,
}

impl<'r> Trusted<'r> {
    /// Reads what runs here have marked. A file that cannot be read marks nothing.
    pub fn read(repo: &'r Repo) -> Trusted<'r> {
        Trusted { repo, given: given(repo) }
    }

    /// What may be trusted of a proposal. What cannot be looked at marks nothing.
    pub fn marks(&self, item: &Item) -> Marks {
        if item.was_edited() || !item.status.is_open() {
            return UNMARKED;
        }
        let own = self.given.get(item.id()).filter(|given| Some(&given.subject) == subject(item).as_ref());
        own.map_or_else(|| self.signed(item).unwrap_or(UNMARKED), |given| given.marks)
    }

    /// The marks in the sidecar, when it came into the ledger with a commit of an allowed signer that also staged the
    /// proposal, exactly as it is now. A commit that merely holds what others brought in answers for none of it.
    fn signed(&self, item: &Item) -> git::Result<Marks> {
        let Some(log) = self.repo.reference(ledger::REF)?.filter(|_| self.repo.knows_signers()) else {
            return Ok(UNMARKED);
        };
        let path = format!("{}/sidecar.md", folder(item.id()));
        let Some(bytes) = self.repo.file(log, path.as_str().into())? else { return Ok(UNMARKED) };
        let Some(sidecar) = Sidecar::parse(&bytes.to_str_lossy()) else { return Ok(UNMARKED) };
        let marks = recorded(&sidecar);
        if marks == UNMARKED || sidecar.id != item.id() {
            return Ok(UNMARKED);
        }
        for commit in self.repo.commits_that_add(log, &path)? {
            let [parent] = self.repo.commit(commit)?.parents[..] else { continue };
            if self.repo.file(commit, path.as_str().into())?.as_deref() != Some(&bytes)
                || self.repo.allowed_signer(commit)?.is_none()
            {
                continue;
            }
            let (events, _) = ledger::events(self.repo, Some(parent), commit)?;
            if stages(events, item) {
                return Ok(marks);
            }
        }
        Ok(UNMARKED)
    }
}

/// Keeps the marks of a run's proposals, as they stand now; and forgets those of proposals that are decided.
///
/// # Errors
/// When the file cannot be written: the marks hold for this run alone.
pub fn keep(repo: &Repo, view: &View, run: &str, marks: &BTreeMap<String, Marks>) -> git::Result<()> {
    let mut all = given(repo);
    let open: BTreeMap<&str, &Item> = view.open().into_iter().map(|item| (item.id(), item)).collect();
    for (id, marks) in marks.iter().filter(|(_, marks)| **marks != UNMARKED) {
        if let Some(subject) = open.get(id.as_str()).and_then(|item| subject(item)) {
            all.insert(id.clone(), Given { run: run.to_owned(), subject, marks: *marks });
        }
    }
    all.retain(|id, _| open.contains_key(id.as_str()));
    let path = file(repo);
    write(repo, &all).map_err(|error| git::Error::write(path.display().to_string(), error))
}

/// What a sidecar says that its gates found, whoever wrote it.
pub(super) fn recorded(sidecar: &Sidecar) -> Marks {
    let passed = sidecar.gates.get("judge").and_then(|gate| gate.get("passed"));
    let judged = passed.and_then(serde_json::Value::as_bool) == Some(true);
    Marks { judged, staged: judged }
}

/// Whether these events, alone, make the proposal what it is.
fn stages(events: Vec<Event>, item: &Item) -> bool {
    let about = |event: &Event| event.proposal.as_deref() == Some(item.id()) && event.kind == EventKind::Staged;
    let staged: Vec<Event> = events.into_iter().filter(about).collect();
    let told = (staged.len() == 1).then(|| Proposal::fold(item.id(), staged, 0)).flatten();
    let as_told = told.map(|proposal| Item { proposal, ..item.clone() });
    as_told.and_then(|told| subject(&told)).is_some_and(|told| Some(told) == subject(item))
}

/// Everything that a mark holds for, as one hash: what the ledger says of the proposal, up to its last event, and the
/// commit of its branch. `None` without a branch.
fn subject(item: &Item) -> Option<String> {
    let proposal = &item.proposal;
    let tip: Oid = item.tip?;
    let told = json!({
        "id": proposal.id, "scope": proposal.scope, "lane": proposal.lane, "kind": proposal.kind,
        "operation": proposal.operation, "paths": proposal.paths, "title": proposal.title,
        "confidence": proposal.confidence, "actor": proposal.actor, "operator": proposal.operator,
        "run": proposal.run, "session": proposal.session, "deferred": proposal.deferred, "model": proposal.model,
        "base": proposal.base, "tip": tip.to_string(), "last": proposal.last.to_string(),
    });
    let hash = Sha256::digest(format!("git-memory mark 1\n{told}"));
    Some(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn file(repo: &Repo) -> PathBuf {
    repo.memory_dir().join(FILE)
}

fn given(repo: &Repo) -> BTreeMap<String, Given> {
    fs::read(file(repo)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn write(repo: &Repo, all: &BTreeMap<String, Given>) -> io::Result<()> {
    let path = file(repo);
    if all.is_empty() {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    fs::create_dir_all(repo.memory_dir())?;
    // A temporary file is made for its owner alone (0600), and stays so when it gets its name.
    let mut new = tempfile::NamedTempFile::new_in(repo.memory_dir())?;
    new.write_all(&serde_json::to_vec_pretty(all)?)?;
    new.persist(&path)?;
    Ok(())
}
