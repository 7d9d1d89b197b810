//! Forgetting sessions: their refs go, and the ledger keeps that they are to stay away.
//!
//! One ref transaction does both. What the ledger keeps of a forgotten session are its id and, below [`FOLDER`], a
//! digest of the identity of each line: a resumed or copied file holds the same lines, and must not bring them back.

use std::collections::HashMap;
use std::time::Duration;

use bstr::ByteSlice;
use serde_json::Value;

use super::Session;
use super::builder::{digest, title_of_session, untitled};
use super::stored::{REFS, Stored, at, ids, whole};
use crate::git::{Error, Lock, Locked, RefEdit, Repo, Result, fault};
use crate::ledger::{self, Append, Cache, Event, EventKind};

/// Where the ledger keeps the lines of forgotten sessions: `purged/<session>/<event>`.
const FOLDER: &str = "purged";

/// How long a capture, or who forgets, waits for the other.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// A person said so.
    Forgotten,
    /// It was kept for its time.
    Expired,
}

impl Why {
    /// The word for it in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Forgotten => "forgotten",
            Why::Expired => "expired",
        }
    }
}

/// The lock between capturing and forgetting: who holds it stores or deletes sessions and tells the ledger.
///
/// # Errors
/// [`Error::Busy`] when its holder does not let go.
pub fn lock(repo: &Repo) -> Result<Lock> {
    match Lock::take(&repo.memory_dir().join("captured.lock"), "capture", PATIENCE)? {
        Locked::Yes(lock) => Ok(lock),
        Locked::No(holder) => Err(Error::Busy { reason: format!("another capture is at work ({holder})") }),
    }
}

/// What was forgotten and is to stay away.
#[derive(Debug, Default)]
pub struct Gone {
    /// Why, by session.
    sessions: HashMap<String, String>,
    /// The session that held a line, by the digest of the line's identity.
    lines: HashMap<String, String>,
}

impl Gone {
    /// Reads it from the ledger.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn load(repo: &Repo) -> Result<Gone> {
        let state = ledger::load(repo, Cache::Use)?;
        let mut gone = Gone::default();
        for (id, review) in &state.reviews {
            gone.sessions.extend(review.gone().map(|why| (id.clone(), why.to_owned())));
        }
        let tip = if gone.sessions.is_empty() { None } else { repo.reference(ledger::REF)? };
        let Some(tip) = tip else { return Ok(gone) };
        for file in repo.files(tip, FOLDER.into())? {
            let path = file.path.to_str_lossy().into_owned();
            let Some(id) = path.split('/').nth(1).filter(|id| gone.sessions.contains_key(*id)) else { continue };
            let lines = repo.blob(file.entry.oid)?;
            gone.lines.extend(lines.lines().map(|line| (line.to_str_lossy().into_owned(), id.to_owned())));
        }
        Ok(gone)
    }

    /// Why a session is to stay away: it, the one that it is a part of, or the one that started it, was forgotten.
    pub fn why(&self, id: &str, parent: Option<&str>) -> Option<&str> {
        self.sessions.get(whole(id)).or_else(|| self.sessions.get(parent?)).map(String::as_str)
    }

    /// The sessions that were forgotten, with the word for why.
    pub fn sessions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sessions.iter().map(|(id, why)| (id.as_str(), why.as_str()))
    }

    /// Takes out of a session what another one held that is to stay away.
    pub fn strip(&self, session: &mut Session) {
        if self.lines.is_empty() {
            return;
        }
        let before = session.observations.len();
        session.observations.retain(|o| self.lines.get(&digest(o.id.as_bytes())).is_none_or(|of| *of == session.id));
        if session.observations.len() < before {
            let untitled = || untitled(&session.id, session.parent.as_deref(), session.started);
            session.title = title_of_session(&session.observations).unwrap_or_else(untitled);
        }
    }
}

/// A session that is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaving {
    /// Its id.
    pub id: String,
    /// The proposals that quote it: they rest on words that cannot be looked up any more.
    pub quoted_by: Vec<String>,
}

/// Deletes the refs of these sessions and records that they are to stay away, all in one transaction. Those that have
/// no ref are recorded all the same. The caller holds the [`lock`]. Returns how many refs went.
///
/// # Errors
/// [`Error::RefMoved`] when a session was captured meanwhile, all the same: nothing was changed.
pub fn forget(repo: &Repo, sessions: &[Leaving]) -> Result<usize> {
    let mut append = Append::new(subject(sessions.len(), Why::Forgotten));
    let mut edits = Vec::new();
    for Leaving { id, quoted_by } in sessions {
        let name = format!("{REFS}{id}");
        let Some(commit) = repo.reference(&name)? else {
            bury(repo, &mut append, id, None, Why::Forgotten, quoted_by);
            continue;
        };
        // One that cannot be read goes all the same.
        let stored = at(repo, commit).ok();
        bury(repo, &mut append, id, stored.as_ref(), Why::Forgotten, quoted_by);
        edits.push(RefEdit { name, old: Some(commit), new: None });
    }
    if append.is_empty() {
        return Ok(0);
    }
    fault::point("forget.before-ledger");
    ledger::append(repo, &append, &edits)?;
    fault::point("forget.after-ledger");
    Ok(edits.len())
}

pub(super) fn subject(sessions: usize, why: Why) -> String {
    let plural = if sessions == 1 { "" } else { "s" };
    let verb = if why == Why::Forgotten { "forget" } else { "let go of" };
    format!("memory: {verb} {sessions} session{plural}")
}

/// Adds to the ledger that a session is gone; the edit that deletes the ref of one that can be read.
pub(super) fn bury(
    repo: &Repo,
    append: &mut Append,
    id: &str,
    stored: Option<&Stored>,
    why: Why,
    quoted_by: &[String],
) -> Option<RefEdit> {
    let operator = repo.operator().ok().map(|person| person.to_string()).filter(|_| why == Why::Forgotten);
    let scope = stored.map_or("", |stored| &stored.meta.scope);
    let event = Event::new(EventKind::Purged, scope, operator.as_deref().unwrap_or("git-memory"))
        .operator(operator.as_deref())
        .with("session", id)
        .with("reason", why.as_str())
        .with("proposals", if quoted_by.is_empty() { Value::Null } else { quoted_by.into() });
    let lines = stored.and_then(|stored| ids(repo, stored).ok()).unwrap_or_default();
    if !lines.is_empty() {
        let lines: String = lines.iter().map(|line| digest(line.as_bytes()) + "\n").collect();
        append.files.push((format!("{FOLDER}/{id}/{}", event.id), lines.into_bytes()));
    }
    append.events.push(event);
    let commit = stored?.commit;
    Some(RefEdit { name: format!("{REFS}{id}"), old: Some(commit), new: None })
}

/// Deletes the local files that are made from sessions, and come back from the refs. Their holders may be writing them:
/// what cannot be deleted is an error.
///
/// # Errors
/// [`Error::Write`] with the file that stays.
pub fn clear_caches(repo: &Repo) -> Result<()> {
    let folder = repo.memory_dir().join("index");
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::write(folder.display().to_string(), error))
        }
        _ => Ok(()),
    }
}
