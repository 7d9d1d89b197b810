//! Work trees that are there for one look at a commit, outside the repository's own folders.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Error, Lock, Locked, Oid, Repo, Result};

/// How the folders are named. What a killed process left is only removed when it is named so.
const PREFIX: &str = "git-memory-look-";

/// Below the local folder: held by whoever makes them, and the name of the folder in which they are made.
const LOCK: &str = "look.lock";
const RECORD: &str = "look.folder";

/// The right to make such work trees in a repository, one process at a time. Ends with all of them gone.
pub struct ThrowAways<'r> {
    repo: &'r Repo,
    folder: tempfile::TempDir,
    /// Names the folder, so that the next process finds what this one left if it is killed.
    record: PathBuf,
    made: usize,
    _lock: Lock,
}

impl<'r> ThrowAways<'r> {
    /// Takes the right, and removes what a killed process left.
    ///
    /// # Errors
    /// [`Error::Busy`] while another process has it; [`Error::Write`] when nothing can be made here.
    pub fn begin(repo: &'r Repo, note: &str) -> Result<ThrowAways<'r>> {
        let place = repo.memory_dir();
        let lock = match Lock::try_take(&place.join(LOCK), note)? {
            Locked::Yes(lock) => lock,
            Locked::No(holder) => {
                return Err(Error::Busy { reason: format!("another process looks at old commits here ({holder})") });
            }
        };
        if let Some(folder) = recorded(repo) {
            remove_all(repo, &folder);
        }
        let record = place.join(RECORD);
        let failed = |what: &Path, error| Error::write(what.display().to_string(), error);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir();
        let folder = folder.map_err(|error| failed(&std::env::temp_dir(), error))?;
        // Git writes real paths, and they are compared below.
        let real = folder.path().canonicalize().map_err(|error| failed(folder.path(), error))?;
        fs::write(&record, format!("{}\n", real.display())).map_err(|error| failed(&record, error))?;
        Ok(ThrowAways { repo, folder, record, made: 0, _lock: lock })
    }

    /// The work trees that a killed process left, which the next one removes; none while a process is at work.
    ///
    /// # Errors
    /// [`Error::Command`] when git cannot list work trees.
    pub fn left(repo: &Repo) -> Result<Vec<PathBuf>> {
        match recorded(repo) {
            Some(folder) if !Lock::is_held(&repo.memory_dir().join(LOCK)) => below(repo, &folder),
            _ => Ok(Vec::new()),
        }
    }

    /// Checks a commit out into a work tree of its own. The user's hooks do not run.
    ///
    /// # Errors
    /// [`Error::Command`] with what git said.
    pub fn make(&mut self, commit: Oid) -> Result<ThrowAway<'_>> {
        self.made += 1;
        let path = self.folder.path().join(format!("{}-{}", &commit.to_string()[..12], self.made));
        self.repo
            .git()
            .args(["-c", "core.hooksPath=/dev/null", "-c", "worktree.useRelativePaths=false"])
            .args(["worktree", "add", "--quiet", "--force", "--detach"])
            .arg(&path)
            .arg(commit.to_string())
            .run()?;
        Ok(ThrowAway { repo: self.repo, path })
    }
}

impl Drop for ThrowAways<'_> {
    fn drop(&mut self) {
        remove_all(self.repo, self.folder.path());
        let _ = fs::remove_file(&self.record);
    }
}

/// One of them; dropping it removes it.
pub struct ThrowAway<'t> {
    repo: &'t Repo,
    path: PathBuf,
}

impl ThrowAway<'_> {
    /// Its top folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ThrowAway<'_> {
    fn drop(&mut self) {
        remove(self.repo, &self.path);
    }
}

/// Removes a work tree and what the repository remembers of it. Trouble is passed over: the next process tries again.
fn remove(repo: &Repo, path: &Path) {
    let _ = fs::remove_dir_all(path);
    let _ = repo.git().args(["worktree", "remove", "--force", "--force"]).arg(path).run();
}

/// The folder in which the last process made its work trees, unless it took that away itself.
fn recorded(repo: &Repo) -> Option<PathBuf> {
    let text = fs::read_to_string(repo.memory_dir().join(RECORD)).ok()?;
    let folder = PathBuf::from(text.trim_end_matches('\n'));
    let ours = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    (ours && folder.is_absolute()).then_some(folder)
}

/// The work trees below a folder, those that are gone from the disk too.
fn below(repo: &Repo, folder: &Path) -> Result<Vec<PathBuf>> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let all = repo.worktrees()?.into_iter().map(|worktree| worktree.path);
    Ok(all.filter(|path| path.starts_with(&real) || path.starts_with(folder)).collect())
}

/// Removes the work trees below a folder of ours, and the folder.
fn remove_all(repo: &Repo, folder: &Path) {
    for path in below(repo, folder).unwrap_or_default() {
        remove(repo, &path);
    }
    let _ = fs::remove_dir_all(folder);
}
