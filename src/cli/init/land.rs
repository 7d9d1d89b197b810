//! The one commit of a new wiki, and how it reaches its branch.

use std::path::Path;

use bstr::{BString, ByteSlice};

use super::plan::NewFile;
use crate::cli::{CliError, Result};
use crate::git::{self, Batch, Entry, Mode, NewCommit, Oid, RefEdit, Repo, Way, Worktree};

/// The work tree that has the branch checked out, also while it is unborn.
pub fn worktree_of(repo: &Repo, branch: &str) -> Result<Option<Worktree>> {
    Ok(repo.worktrees()?.into_iter().find(|tree| !tree.bare && tree.branch.as_deref() == Some(branch)))
}

/// Leaves out the optional files whose place a person's own file has, at the tip or in the work tree.
///
/// # Errors
/// `in_the_way` when something else stands where a file has to be.
pub fn without_existing(
    repo: &Repo,
    tip: Option<Oid>,
    worktree: Option<&Worktree>,
    files: Vec<NewFile>,
) -> Result<Vec<NewFile>> {
    let staged = match (tip, worktree) {
        (None, Some(worktree)) => Repo::open(&worktree.path)?.git().args(["ls-files", "-z", "--cached"]).run()?,
        _ => Vec::new(),
    };
    let mut kept = Vec::new();
    for file in files {
        let at_tip = tip.map_or(Ok(None), |tip| repo.entry(tip, file.path.as_ref()))?.is_some();
        let place = worktree.and_then(|tree| Some(tree.path.join(file.path.to_path().ok()?)));
        // An earlier run that was killed has put this very file there and into the index.
        let ours = |place: &Path| {
            staged.split(|byte| *byte == 0).any(|path| path == file.path.as_slice())
                && std::fs::read(place).is_ok_and(|bytes| bytes == file.bytes)
        };
        let on_disk = place.is_some_and(|place| place.symlink_metadata().is_ok() && !ours(&place));
        match (at_tip || on_disk, file.optional) {
            (false, _) => kept.push(file),
            (true, true) => {}
            (true, false) => {
                let place = if at_tip { "on the branch" } else { "in the work tree, uncommitted" };
                return Err(CliError::refused("in_the_way", format!("{} is there already, {place}", file.path)).hint(
                    "commit it if it holds the settings that you want, else move it away; then run the command again",
                ));
            }
        }
    }
    Ok(kept)
}

/// Writes the commit and moves the branch to it, or does nothing at all. Returns the commit.
pub fn land(repo: &Repo, branch: &str, tip: Option<Oid>, files: &[NewFile], now: i64) -> Result<Oid> {
    let way = git::way(repo, branch)?;
    let operator = repo.operator()?;
    let mut batch = Batch::new(repo);
    let mut edits: Vec<(BString, Option<Entry>)> = Vec::new();
    for file in files {
        edits.push((file.path.clone(), Some(Entry { mode: Mode::Blob, oid: batch.blob(&file.bytes)? })));
    }
    let base = tip.map(|tip| repo.commit(tip)).transpose()?.map(|commit| commit.tree);
    let tree = batch.tree(base, &edits)?;
    let commit = batch.commit(&NewCommit {
        tree,
        parents: tip.into_iter().collect(),
        author: operator.clone(),
        committer: operator,
        time: now,
        message: "memory: start the wiki\n".into(),
        sign: repo.signs(),
    })?;
    batch.flush()?;
    git::fault::point("init.before-advance");
    match (way, tip) {
        (Way::Ref, _) => advance(repo, branch, tip, commit)?,
        (Way::Worktree(worktree), Some(tip)) => git::fast_forward(&worktree, branch, tip, commit)?,
        (Way::Worktree(worktree), None) => begin(&worktree, branch, commit)?,
    }
    git::fault::point("init.after-advance");
    Ok(commit)
}

fn advance(repo: &Repo, branch: &str, old: Option<Oid>, new: Oid) -> Result<()> {
    let edit = RefEdit { name: branch.to_owned(), old, new: Some(new) };
    Ok(repo.update_refs(&[edit], "memory: start the wiki")?)
}

/// Gives an unborn branch its first commit in the work tree that has it checked out: the files of the commit are put
/// there and into the index; what is staged or lies about stays, and a file in the way stops it.
fn begin(worktree: &Worktree, branch: &str, commit: Oid) -> Result<()> {
    let here = Repo::open(&worktree.path)?;
    let empty = here.empty_tree().to_string();
    let output = here.git().args(["read-tree", "-m", "-u", &empty, &commit.to_string()]).output()?;
    if output.code != Some(0) {
        let reason = output.stderr.trim().to_owned();
        let busy = reason.contains("index.lock");
        return Err(if busy {
            git::Error::Busy { reason }.into()
        } else {
            git::Error::InTheWay { worktree: worktree.path.clone(), reason }.into()
        });
    }
    git::fault::point("init.before-ref");
    advance(&here, branch, None, commit)
}
