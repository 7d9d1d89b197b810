//! The pages of captured sessions on the wiki branch, where the settings ask for it. The refs stay the truth.

use std::time::Duration;

use bstr::BString;

use crate::git::{self, Batch, Entry, Error, Lock, Locked, Mode, NewCommit, RefEdit, Way, fault};
use crate::ledger;
use crate::session;
use crate::wiki::Wiki;

/// How long a decision that is being made is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a branch that moves is followed.
const ATTEMPTS: u32 = 8;

/// Commits the pages of these sessions that the branch has not, or has otherwise, all in one commit. What cannot be
/// done now is told as a note: the next capture of these sessions does it.
pub(super) fn land(wiki: &Wiki, ids: &[&str]) -> git::Result<Option<String>> {
    let later = |reason: &str| Some(format!("the pages of the sessions were not put on the wiki branch: {reason}"));
    if ids.is_empty() {
        return Ok(None);
    }
    let _lock = match Lock::take(&wiki.repo.memory_dir().join("decide.lock"), "capture", PATIENCE)? {
        Locked::Yes(lock) => lock,
        Locked::No(holder) => return Ok(later(&format!("another process is deciding on proposals ({holder})"))),
    };
    for _ in 0..ATTEMPTS {
        match try_to_land(wiki, ids) {
            Ok(true) => return Ok(None),
            Ok(false) => return Ok(later("the branch has no commit yet")),
            Err(Error::RefMoved { .. }) => {}
            Err(error @ (Error::Busy { .. } | Error::InTheWay { .. })) => return Ok(later(&error.to_string())),
            Err(error) => return Err(error),
        }
    }
    Ok(later("it keeps moving"))
}

fn try_to_land(wiki: &Wiki, ids: &[&str]) -> git::Result<bool> {
    let repo = &wiki.repo;
    let Some(tip) = repo.reference(&wiki.branch)? else { return Ok(false) };
    let mut edits: Vec<(BString, Option<Entry>)> = Vec::new();
    let mut trailers = String::new();
    for id in ids {
        let Some(stored) = session::stored(repo, id)? else { continue };
        let path = wiki.full_path(&format!("sessions/{id}.md"));
        let entry = Entry { mode: Mode::Blob, oid: stored.page_blob };
        if repo.entry(tip, path.as_ref())?.is_some_and(|there| there.oid == entry.oid) {
            continue;
        }
        edits.push((path, Some(entry)));
        trailers.push_str(&format!("Memory-Session: {id}\n"));
    }
    if edits.is_empty() {
        return Ok(true);
    }
    let way = git::way(repo, &wiki.branch)?;
    let mut batch = Batch::new(repo);
    let tree = batch.tree(Some(repo.tree_of(tip)?), &edits)?;
    let person = repo.operator()?;
    let plural = if edits.len() == 1 { "" } else { "s" };
    let new = batch.commit(&NewCommit {
        tree,
        parents: vec![tip],
        author: person.clone(),
        committer: person,
        time: ledger::now().as_second(),
        message: format!("memory: capture {} session{plural}\n\n{trailers}", edits.len()),
        sign: repo.signs(),
    })?;
    batch.flush()?;
    fault::point("capture.before-pages");
    match &way {
        Way::Ref => {
            let edit = RefEdit { name: wiki.branch.clone(), old: Some(tip), new: Some(new) };
            repo.update_refs(&[edit], "memory: capture")?;
        }
        Way::Worktree(worktree) => git::fast_forward(worktree, &wiki.branch, tip, new)?,
    }
    fault::point("capture.after-pages");
    Ok(true)
}
