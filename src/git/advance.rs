//! Moving a branch forward without ever moving it under a work tree.

use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use super::refs::{held_lock, lock_advice};
use super::undo::Before;
use super::{Error, Oid, Output, RefFormat, Repo, Result, Worktree, fault};

/// How a branch can be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// No work tree has it checked out: a ref transaction is enough.
    Ref,
    /// This one work tree has it checked out: [`fast_forward`] there.
    Worktree(Worktree),
}

/// Finds out how `branch` (full name) can be moved.
///
/// # Errors
/// [`Error::Busy`] when two work trees hold it, or one is in a rebase or bisect of it, or has a merge, cherry-pick or
/// revert in progress, or a foreign `index.lock` (named with its age and how to remove it).
pub fn way(repo: &Repo, branch: &str) -> Result<Way> {
    let worktrees: Vec<Worktree> = repo.worktrees()?.into_iter().filter(|worktree| !worktree.prunable).collect();
    for worktree in &worktrees {
        if let Some(operation) = operation_on(worktree, branch) {
            return Err(busy(format!("the work tree at {} is in a {operation} of {branch}", worktree.path.display())));
        }
    }
    let mut holders =
        worktrees.into_iter().filter(|worktree| !worktree.bare && worktree.branch.as_deref() == Some(branch));
    let Some(holder) = holders.next() else { return Ok(Way::Ref) };
    if let Some(other) = holders.next() {
        return Err(busy(format!(
            "two work trees have {branch} checked out: {} and {}",
            holder.path.display(),
            other.path.display()
        )));
    }
    check_holder(&holder, repo.ref_format())?;
    Ok(Way::Worktree(holder))
}

fn busy(reason: String) -> Error {
    Error::Busy { reason }
}

/// A rebase detaches HEAD and a bisect moves it: only their own files tell which branch they will come back to.
fn operation_on(worktree: &Worktree, branch: &str) -> Option<&'static str> {
    let text = |name: &str| std::fs::read_to_string(worktree.git_dir.join(name)).ok();
    let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    let names = |text: String| matches!(text.trim(), name if name == branch || name == short);
    if ["rebase-merge/head-name", "rebase-apply/head-name"].into_iter().filter_map(text).any(names) {
        return Some("rebase");
    }
    // `git rebase --update-refs` moves these branches at its end.
    if text("rebase-merge/update-refs").is_some_and(|list| list.lines().any(|line| line.trim() == branch)) {
        return Some("rebase");
    }
    if text("BISECT_LOG").is_some() && text("BISECT_START").is_some_and(names) {
        return Some("bisect");
    }
    None
}

/// What keeps the work tree that holds the branch from being moved.
fn check_holder(worktree: &Worktree, format: RefFormat) -> Result<()> {
    if !worktree.path.is_dir() {
        return Err(busy(format!("the work tree at {} cannot be reached", worktree.path.display())));
    }
    let lock = worktree.git_dir.join("index.lock");
    if lock.exists() {
        return Err(busy(held_lock(&lock)));
    }
    let operations = [
        ("MERGE_HEAD", "merge", "git merge --continue or --abort"),
        ("CHERRY_PICK_HEAD", "cherry-pick", "git cherry-pick --continue or --abort"),
        ("REVERT_HEAD", "revert", "git revert --continue or --abort"),
        ("sequencer", "cherry-pick or revert", "its --continue or --abort"),
        ("rebase-merge", "rebase", "git rebase --continue or --abort"),
        ("rebase-apply", "rebase or git am", "its --continue or --abort"),
    ];
    for (name, operation, way_out) in operations {
        let present = worktree.git_dir.join(name).exists()
            || (format == RefFormat::Reftable && name.ends_with("_HEAD") && pseudo_ref(worktree, name)?.is_some());
        if present {
            let path = worktree.path.display();
            return Err(busy(format!(
                "a {operation} is in progress in the work tree at {path}; finish it with {way_out}"
            )));
        }
    }
    Ok(())
}

/// Fast-forwards the checked-out branch of a work tree to `new`, keeping unrelated dirty and staged files, ORIG_HEAD
/// and FETCH_HEAD, whatever the user's merge settings say. The user's hooks run, ours do not. For a branch that has no
/// commit yet, `old` is the [null id](Repo::null_oid).
///
/// # Errors
/// [`Error::InTheWay`] for overlapping edits and untracked or ignored files in the way; [`Error::Busy`] for a lock, an
/// operation in progress, or a branch that moved.
pub fn fast_forward(worktree: &Worktree, branch: &str, old: Oid, new: Oid) -> Result<()> {
    let repo = Repo::open(&worktree.git_dir)?;
    check_holder(worktree, repo.ref_format())?;
    let at =
        |repo: &Repo| -> Result<(Option<String>, Option<Oid>)> { Ok((repo.head_branch()?, repo.reference(branch)?)) };
    let moved = || busy(format!("{branch} was moved, or the work tree at {} left it", worktree.path.display()));
    let (head, tip) = at(&repo)?;
    if head.as_deref() != Some(branch) || tip.unwrap_or(repo.null_oid()) != old {
        return Err(moved());
    }
    if old == new {
        return Ok(());
    }
    let original = OrigHead::read(&repo, worktree)?;
    let before = Before::read(&repo, worktree, old, new)?;
    fault::point("advance.before");
    let (output, line) = merge(worktree, branch, new)?;
    fault::point("advance.after-merge");
    original.restore(&repo, worktree)?;
    let (head, tip) = at(&repo)?;
    if head.as_deref() == Some(branch) && tip == Some(new) {
        // Whatever a hook or a warning made of the exit code: it landed.
        return Ok(());
    }
    match output.code {
        Some(0) => Err(moved()),
        _ => {
            let error = classify(worktree, &output, line, moved());
            if matches!(error, Error::Write { .. } | Error::Command { .. }) {
                before.restore();
            }
            Err(error)
        }
    }
}

/// The one command that moves a checked-out branch, with every setting that could bend it set straight.
fn merge(worktree: &Worktree, branch: &str, new: Oid) -> Result<(Output, String)> {
    let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    let git = Repo::git_in(worktree)
        .args(["-c", "merge.verifySignatures=false", "-c", "merge.autoStash=false", "-c", "merge.ff=only"])
        .args(["-c", "submodule.recurse=false", "-c", "core.fsync=objects,reference", "-c", "core.quotePath=false"])
        .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "merge.log=false"])
        // A branch name may hold a `=`, which `-c` would split at.
        .arg(format!("--config-env=branch.{short}.mergeOptions=GIT_MEMORY_NOTHING"))
        .env("GIT_MEMORY_NOTHING", "")
        .env("GIT_MEMORY_HOOK", "0")
        .args(["merge", "-q", "--ff-only", "--no-squash", "--no-autostash", "--no-overwrite-ignore"])
        .args(["--no-verify-signatures", "--no-stat"])
        .arg(new.to_string());
    let line = git.line();
    Ok((git.output()?, line))
}

fn classify(worktree: &Worktree, output: &Output, line: String, moved: Error) -> Error {
    let said = output.stderr.as_str();
    let has = |texts: &[&str]| texts.iter().any(|text| said.contains(text));
    if said.contains(".lock'") && said.contains("File exists") {
        return busy(lock_advice(said));
    }
    if has(&["would be overwritten", "would lose untracked files", "not uptodate", "would be removed by merge"]) {
        return Error::InTheWay { worktree: worktree.path.clone(), reason: listed(said) };
    }
    if has(&["No space left", "Read-only file system", "unable to write", "couldn't write", "unable to create file"]) {
        let lines = said.trim().lines().map(|line| line.trim_start_matches("fatal: ").trim_start_matches("error: "));
        return Error::write(
            format!("the work tree at {}", worktree.path.display()),
            lines.collect::<Vec<_>>().join("; "),
        );
    }
    if has(&["Not possible to fast-forward", "cannot lock ref", "Diverging branches"]) {
        return moved;
    }
    if has(&["MERGE_HEAD", "CHERRY_PICK_HEAD", "unmerged files", "not concluded"]) {
        let path = worktree.path.display();
        return busy(format!("a merge is in progress in the work tree at {path}: {}", said.trim()));
    }
    output.clone().failed(line)
}

/// Git's words with its list of files, without its advice.
fn listed(said: &str) -> String {
    let said = said.lines().map(|line| line.trim_start_matches("error: ").trim_end());
    let kept = said.filter(|line| !line.is_empty() && !line.starts_with("Please") && *line != "Aborting");
    let mut text = String::new();
    for line in kept {
        if !text.is_empty() {
            text.push_str(if line.starts_with('\t') { " " } else { "; " });
        }
        text.push_str(line.trim());
    }
    text
}

/// ORIG_HEAD as it was: `git merge` writes it even when it only moves forward, or fails.
enum OrigHead {
    File(PathBuf, Option<Vec<u8>>),
    Ref(Option<Oid>),
}

impl OrigHead {
    fn read(repo: &Repo, worktree: &Worktree) -> Result<OrigHead> {
        if repo.ref_format() == RefFormat::Reftable {
            return pseudo_ref(worktree, "ORIG_HEAD").map(OrigHead::Ref);
        }
        let path = worktree.git_dir.join("ORIG_HEAD");
        match std::fs::read(&path) {
            Ok(bytes) => Ok(OrigHead::File(path, Some(bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(OrigHead::File(path, None)),
            Err(error) => Err(Error::read(path.display().to_string(), error)),
        }
    }

    fn restore(self, repo: &Repo, worktree: &Worktree) -> Result<()> {
        match self {
            OrigHead::File(path, before) => {
                let failed = |error: std::io::Error| Error::write(path.display().to_string(), error);
                match before {
                    Some(bytes) if std::fs::read(&path).ok().as_deref() == Some(bytes.as_slice()) => Ok(()),
                    Some(bytes) => replace(&path, &bytes).map_err(failed),
                    None => match std::fs::remove_file(&path) {
                        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(error)),
                        _ => Ok(()),
                    },
                }
            }
            OrigHead::Ref(before) => {
                let now = pseudo_ref(worktree, "ORIG_HEAD")?;
                let git = Repo::git_in(worktree).args(["update-ref", "--no-deref"]);
                match (before, now) {
                    (before, now) if before == now => Ok(()),
                    (Some(oid), _) => git.args(["ORIG_HEAD".to_owned(), oid.to_string()]).run().map(drop),
                    (None, _) => git.args(["-d", "ORIG_HEAD"]).run().map(drop),
                }
            }
        }
        .map_err(|error| match error {
            Error::Command { stderr, .. } => Error::write(format!("ORIG_HEAD in {}", repo.git_dir().display()), stderr),
            other => other,
        })
    }
}

fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    std::io::Write::write_all(&mut file, bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// A ref such as MERGE_HEAD of one work tree, where refs are no files.
fn pseudo_ref(worktree: &Worktree, name: &str) -> Result<Option<Oid>> {
    let output = Repo::git_in(worktree).args(["rev-parse", "--quiet", "--verify", name]).output()?;
    Ok((output.code == Some(0)).then(|| Oid::from_hex(output.stdout.trim()).ok()).flatten())
}
