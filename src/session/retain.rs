//! How long captured sessions are kept: observations first go, then the whole.

use jiff::Timestamp;

use super::store::{META, PAGE, REFS, at, sessions};
use crate::git::{Batch, NewCommit, RefEdit, Repo, Result};

/// Drops the observations of sessions that were captured more than `keep_raw_days` ago, and sessions that were
/// captured more than `keep_days` ago, in one transaction. Returns how many sessions changed.
///
/// # Errors
/// Whatever git has to say.
pub fn retain(repo: &Repo, now: Timestamp, keep_raw_days: u32, keep_days: u32) -> Result<usize> {
    let older = |captured: Timestamp, days: u32| now.as_second() - captured.as_second() > i64::from(days) * 86_400;
    let mut batch = Batch::new(repo);
    let mut edits = Vec::new();
    for (id, commit) in sessions(repo)? {
        // One that cannot be read is for the doctor; it must not keep the others.
        let Ok(stored) = at(repo, commit) else { continue };
        let name = format!("{REFS}{id}");
        if older(stored.meta.captured, keep_days) {
            edits.push(RefEdit { name, old: Some(commit), new: None });
        } else if stored.observations_blob.is_some() && older(stored.meta.captured, keep_raw_days) {
            let entries: Vec<_> = [META, PAGE]
                .into_iter()
                .map(|file| Ok((file.into(), repo.entry(commit, file.into())?)))
                .collect::<Result<_>>()?;
            let tree = batch.tree(None, &entries)?;
            let old = repo.commit(commit)?;
            let new = batch.commit(&NewCommit {
                tree,
                parents: Vec::new(),
                author: old.author,
                committer: old.committer,
                time: now.as_second(),
                message: format!("memory: session {id}, without its observations\n"),
                sign: false,
            })?;
            edits.push(RefEdit { name, old: Some(commit), new: Some(new) });
        }
    }
    if !edits.is_empty() {
        batch.flush()?;
        repo.update_refs(&edits, "git-memory: sessions are kept for a time")?;
    }
    Ok(edits.len())
}
