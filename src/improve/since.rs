//! What has changed since the last run: by this the start of an agent's session tells whether a run is worth it.

use std::fs;
use std::io;
use std::path::Path;

use bstr::{BStr, ByteSlice};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::git::{self, Mode, Oid};
use crate::ledger::{self, Cache};
use crate::wiki::Wiki;
use crate::wiki::open::is_page;

/// Where the last run is noted in the local folder.
const FILE: &str = "last-run.json";

/// The last run that looked at what is new. Each repository notes its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    /// When it began.
    at: Timestamp,
    /// The wiki's commit then; `None`: the branch was unborn.
    commit: Option<String>,
}

/// A session that no run has looked at, and that one would look at by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// When it was captured last.
    pub captured: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
}

impl Unseen {
    /// From when on a run takes it.
    fn is_due_from(self, least_age: SignedDuration) -> Timestamp {
        self.ended.saturating_add(least_age).unwrap_or(self.ended).max(self.captured)
    }
}

/// Notes that a run begins now, on the wiki as it is.
///
/// # Errors
/// When the local folder cannot be written.
pub fn note(wiki: &Wiki) -> io::Result<()> {
    keep(&wiki.repo.memory_dir(), &Last { at: ledger::now(), commit: wiki.tip.map(|tip| tip.to_string()) })
}

/// As [`note`], where no run has been noted yet: what is there when a wiki is made is not news.
pub fn begin(wiki: &Wiki) {
    if !wiki.repo.memory_dir().join(FILE).exists() {
        // Without it, the ledger tells.
        let _ = note(wiki);
    }
}

fn keep(memory: &Path, last: &Last) -> io::Result<()> {
    fs::create_dir_all(memory)?;
    let mut file = tempfile::NamedTempFile::new_in(memory)?;
    serde_json::to_writer(&mut file, last)?;
    file.persist(memory.join(FILE))?;
    Ok(())
}

/// How many pages, and how many of these sessions, changed since the last run.
///
/// # Errors
/// When the ledger or the wiki cannot be read.
pub fn changed(wiki: &Wiki, unseen: &[Unseen], now: Timestamp) -> git::Result<usize> {
    let last = last(wiki)?;
    let age = wiki.config.settings.scheduler.min_session_age_secs.min(u64::from(u32::MAX));
    let age = SignedDuration::from_secs(age.cast_signed());
    let since = |unseen: &&Unseen| (last.at < unseen.is_due_from(age)) && unseen.is_due_from(age) <= now;
    let sessions = unseen.iter().filter(since).count();
    let pages = match (wiki.tip, last.commit.as_deref().map(|hex| Oid::from_hex(hex.as_bytes()))) {
        (None, _) => 0,
        (Some(tip), None) => pages_between(wiki, None, tip)?,
        (Some(tip), Some(Ok(then))) => match pages_between(wiki, Some(then), tip) {
            Ok(pages) => pages,
            // The commit is gone (a rewritten branch, collected since): counting begins anew.
            Err(_) => begin_anew(wiki),
        },
        (Some(_), Some(Err(_))) => begin_anew(wiki),
    };
    Ok(pages + sessions)
}

fn begin_anew(wiki: &Wiki) -> usize {
    let _ = note(wiki);
    0
}

/// The pages that differ between two commits, one that came, went or changed counting once.
fn pages_between(wiki: &Wiki, then: Option<Oid>, now: Oid) -> git::Result<usize> {
    let root = |commit: Oid| -> git::Result<Option<Oid>> {
        let entry = wiki.repo.entry(commit, wiki.root.as_bytes().as_bstr())?;
        Ok(entry.filter(|entry| entry.mode == Mode::Tree).map(|entry| entry.oid))
    };
    let changes = wiki.repo.diff(then.map(root).transpose()?.flatten(), root(now)?)?;
    Ok(changes.iter().filter(|change| is_page(BStr::new(&change.path))).count())
}

/// The last run; where none was noted here, the time from which on the wiki reviews by itself. That one is noted, so
/// that history is walked once.
fn last(wiki: &Wiki) -> git::Result<Last> {
    let memory = wiki.repo.memory_dir();
    let noted = fs::read(memory.join(FILE)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(noted) = noted {
        return Ok(noted);
    }
    let state = ledger::load(&wiki.repo, Cache::Use)?;
    let last = match (state.watermarks.values().min(), wiki.tip) {
        (Some(at), Some(tip)) => {
            let then = wiki.repo.as_of(tip, at.as_second())?;
            Last { at: *at, commit: then.map(|then| then.to_string()) }
        }
        // Nobody made this wiki with `init`, or its ledger is not here: what stands there is not news.
        (at, tip) => Last { at: at.copied().unwrap_or_else(ledger::now), commit: tip.map(|tip| tip.to_string()) },
    };
    let _ = keep(&memory, &last);
    Ok(last)
}
