//! Replay: a recorded change is made once more, on the branch as it is now.

use bstr::ByteSlice;

use super::accept::by_section;
use super::error::Result;
use super::{PageChange, check, stage};
use crate::git::{Batch, MergeOutcome, Oid, merge};
use crate::wiki::{Edit, Wiki, edit};

/// What a recorded change comes to on another commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Replayed {
    /// Its pages as they stand there, and as they are to be.
    Pages(Vec<PageChange>),
    /// The pages there say it already.
    NoChange,
    /// It does not fit there.
    Conflict {
        /// Why, in words.
        reason: String,
        /// The files.
        files: Vec<String>,
    },
}

/// Merges a recorded change into the pages of `on`, over pages alone: what lies between the two commits does not
/// matter. Where the lines conflict, the change's own edits are made anew, else the page is merged by section.
pub(super) fn replay(
    batch: &mut Batch,
    wiki: &Wiki,
    changes: &[PageChange],
    edits: &[Edit],
    on: Oid,
) -> Result<Replayed> {
    let mut now = Vec::with_capacity(changes.len());
    for change in changes {
        let path = wiki.full_path(&change.path);
        let file = path.to_str_lossy().into_owned();
        if let Err(refused) = check::place(&wiki.repo, on, path.as_ref())? {
            return Ok(Replayed::Conflict { reason: refused.message, files: vec![file] });
        }
        let stands = wiki.repo.file(on, path.as_ref())?;
        if change.before.is_none() && stands.is_some() && stands != change.after {
            return Ok(Replayed::Conflict { reason: "the page exists by now".into(), files: vec![file] });
        }
        now.push(PageChange { path: change.path.clone(), before: stands.clone(), after: stands });
    }
    let before: Vec<_> =
        changes.iter().map(|change| PageChange { after: change.before.clone(), ..change.clone() }).collect();
    let ours = batch.repo().commit(on)?.tree;
    let base = stage::change_tree(batch, wiki, on, &before)?;
    let theirs = stage::change_tree(batch, wiki, on, changes)?;
    if theirs == ours {
        return Ok(Replayed::NoChange);
    }
    match merge(batch, base, ours, theirs)? {
        MergeOutcome::Clean(tree) => {
            for page in &mut now {
                page.after = batch.repo().file(tree, wiki.full_path(&page.path).as_ref())?;
            }
        }
        MergeOutcome::Conflicts(conflicts) => {
            let reason = conflicts.first().map(|conflict| conflict.reason.clone()).unwrap_or_default();
            let files: Vec<String> =
                conflicts.iter().map(|conflict| conflict.path.to_str_lossy().into_owned()).collect();
            let again = match (&mut now[..], edits) {
                ([page], [_, ..]) => page.before.as_ref().and_then(|page| edit::apply(page, edits).ok()),
                _ => None,
            };
            if let Some(text) = again {
                now[0].after = Some(text);
            } else {
                let mended = if conflicts.iter().all(|conflict| conflict.text_only) {
                    by_section(batch, wiki, base, ours, theirs, &files)?
                } else {
                    None
                };
                let Some(pages) = mended else { return Ok(Replayed::Conflict { reason, files }) };
                for (page, recorded) in now.iter_mut().zip(changes) {
                    page.after = match pages.iter().find(|mended| mended.path == page.path) {
                        Some(mended) => mended.after.clone(),
                        None if page.before == recorded.before => recorded.after.clone(),
                        // Nothing says what the two changes of this one come to.
                        None => return Ok(Replayed::Conflict { reason, files }),
                    };
                }
            }
        }
    }
    Ok(if now.iter().all(|page| page.before == page.after) { Replayed::NoChange } else { Replayed::Pages(now) })
}
