//! The work trees of a repository.

use std::path::{Path, PathBuf};

use bstr::{BStr, ByteSlice};

use super::refs::path_of;
use super::repo::same_place;
use super::{Oid, Repo, Result};

/// A work tree, main or linked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Its top folder.
    pub path: PathBuf,
    /// Its own git folder.
    pub git_dir: PathBuf,
    /// What HEAD points to.
    pub head: Option<Oid>,
    /// The branch that it has checked out, full name.
    pub branch: Option<String>,
    /// The main entry of a bare repository, which has no work tree.
    pub bare: bool,
    /// Its folder is gone.
    pub prunable: bool,
}

impl Repo {
    /// All work trees, from `git worktree list --porcelain -z`, the main one first.
    ///
    /// # Errors
    /// [`Error::Command`](super::Error::Command) when git cannot list them.
    pub fn worktrees(&self) -> Result<Vec<Worktree>> {
        let out = self.git().args(["worktree", "list", "--porcelain", "-z"]).run()?;
        let mut worktrees = Vec::new();
        for (index, record) in out.split_str(b"\0\0").filter(|record| !record.is_empty()).enumerate() {
            let mut worktree = parse(record.as_bstr());
            if index == 0 {
                self.place_main(&mut worktree);
            } else {
                worktree.git_dir = self.linked_git_dir(&worktree.path);
            }
            worktrees.push(worktree);
        }
        Ok(worktrees)
    }

    /// Git names the main work tree after the git folder, which is wrong when that stands elsewhere.
    fn place_main(&self, worktree: &mut Worktree) {
        worktree.git_dir = self.common_dir();
        if worktree.bare {
            return;
        }
        let workdir = if same_place(self.git_dir(), &worktree.git_dir) {
            self.workdir()
        } else {
            Repo::open(&worktree.git_dir).ok().and_then(|main| main.workdir())
        };
        worktree.path = workdir.unwrap_or_else(|| worktree.path.clone());
    }

    fn linked_git_dir(&self, path: &Path) -> PathBuf {
        let link = std::fs::read(path.join(".git")).unwrap_or_default();
        if let Some(target) = link.strip_prefix(b"gitdir: ") {
            return path.join(path_of(target.trim_end().as_bstr()));
        }
        // The folder is gone or not mounted: what the repository remembers of it tells.
        let known = std::fs::read_dir(self.common_dir().join("worktrees")).into_iter().flatten().flatten();
        let dot_git = path.join(".git");
        known
            .map(|entry| entry.path())
            .find(|folder| {
                let back = std::fs::read(folder.join("gitdir")).unwrap_or_default();
                folder.join(path_of(back.trim_end().as_bstr())) == dot_git
            })
            .unwrap_or(dot_git)
    }
}

fn parse(record: &BStr) -> Worktree {
    let mut worktree = Worktree {
        path: PathBuf::new(),
        git_dir: PathBuf::new(),
        head: None,
        branch: None,
        bare: false,
        prunable: false,
    };
    for line in record.split_str(b"\0") {
        let (word, rest) = line.split_once_str(" ").unwrap_or((line, b""));
        match word {
            b"worktree" => worktree.path = path_of(rest.as_bstr()),
            b"HEAD" => worktree.head = Oid::from_hex(rest).ok().filter(|oid| !oid.is_null()),
            b"branch" => worktree.branch = Some(rest.to_str_lossy().into_owned()),
            b"bare" => worktree.bare = true,
            b"prunable" => worktree.prunable = true,
            _ => {}
        }
    }
    worktree
}
