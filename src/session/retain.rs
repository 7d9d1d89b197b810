//! How long captured sessions are kept: observations first go, then the whole.

use jiff::Timestamp;

use super::forget::{Why, bury, subject};
use super::stored::{IDS, META, PAGE, REFS, Stored, at, ids, sessions};
use crate::git::{Batch, Entry, Lock, Locked, Mode, NewCommit, Oid, RefEdit, Repo, Result};
use crate::ledger::{self, Append};

/// Seconds of a day; how often [`retain_daily`] looks.
const DAY: i64 = 86_400;

/// Drops the observations of sessions that were captured more than `keep_raw_days` ago, and sessions that were
/// captured more than `keep_days` ago, in one transaction; neither comes back with a later capture. Returns how many
/// sessions changed: none while a capture is at work.
///
/// # Errors
/// Whatever git has to say.
pub fn retain(repo: &Repo, now: Timestamp, keep_raw_days: u32, keep_days: u32) -> Result<usize> {
    let Locked::Yes(_lock) = Lock::try_take(&repo.memory_dir().join("captured.lock"), "retain")? else { return Ok(0) };
    let older = |captured: Timestamp, days: u32| now.as_second() - captured.as_second() > i64::from(days) * DAY;
    let mut batch = Batch::new(repo);
    let mut append = Append::default();
    let mut edits = Vec::new();
    for (id, commit) in sessions(repo)? {
        // One that cannot be read is for the doctor; it must not keep the others.
        let Ok(stored) = at(repo, commit) else { continue };
        if older(stored.meta.captured, keep_days) {
            edits.extend(bury(repo, &mut append, &id, Some(&stored), Why::Expired, &[]));
        } else if stored.observations_blob.is_some() && older(stored.meta.captured, keep_raw_days) {
            let new = without_observations(repo, &mut batch, &stored, now)?;
            edits.push(RefEdit { name: format!("{REFS}{id}"), old: Some(commit), new: Some(new) });
        }
    }
    if edits.is_empty() {
        return Ok(0);
    }
    batch.flush()?;
    if append.is_empty() {
        repo.update_refs(&edits, "git-memory: sessions are kept for a time")?;
    } else {
        append.subject = subject(append.events.len(), Why::Expired);
        ledger::append(repo, &append, &edits)?;
    }
    Ok(edits.len())
}

/// As [`retain`], at most once a day.
///
/// # Errors
/// Whatever git has to say.
pub fn retain_daily(repo: &Repo, now: Timestamp, keep_raw_days: u32, keep_days: u32) -> Result<usize> {
    let file = repo.memory_dir().join("retained");
    let last = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse::<Timestamp>().ok());
    if last.is_some_and(|last| (0..DAY).contains(&(now.as_second() - last.as_second()))) {
        return Ok(0);
    }
    let changed = retain(repo, now, keep_raw_days, keep_days)?;
    // A file that cannot be written costs another look, nothing else.
    let _ = std::fs::write(&file, format!("{now}\n"));
    Ok(changed)
}

/// The session's commit with its page, and with the identities of what it held: copies of its file do not bring that
/// back.
fn without_observations(repo: &Repo, batch: &mut Batch, stored: &Stored, now: Timestamp) -> Result<Oid> {
    let commit = stored.commit;
    let ids: String = ids(repo, stored)?.into_iter().map(|id| id + "\n").collect();
    let ids = Entry { mode: Mode::Blob, oid: batch.blob(ids.as_bytes())? };
    let mut entries = vec![(IDS.into(), Some(ids))];
    for file in [META, PAGE] {
        entries.push((file.into(), repo.entry(commit, file.into())?));
    }
    let tree = batch.tree(None, &entries)?;
    let old = repo.commit(commit)?;
    batch.commit(&NewCommit {
        tree,
        parents: Vec::new(),
        author: old.author,
        committer: old.committer,
        time: now.as_second(),
        message: format!("memory: session {}, without its observations\n", stored.meta.id),
        sign: false,
    })
}
