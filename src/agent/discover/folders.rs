//! Which folders belong to this wiki's projects.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::git::Repo;
use crate::session::{self, Project};
use crate::wiki::Wiki;
use crate::wiki::scope::GLOBAL;

/// What is known of the folders that sessions ran in.
pub struct Folders<'w> {
    wiki: &'w Wiki,
    known: HashMap<String, Folder>,
    work_trees: Arc<[String]>,
}

struct Folder {
    /// The remotes of the repository there.
    remotes: Vec<String>,
    /// It is this wiki's repository or one that names it.
    ours: bool,
}

impl<'w> Folders<'w> {
    /// Nothing is known yet.
    pub fn new(wiki: &'w Wiki) -> Folders<'w> {
        let work_trees = work_trees(wiki).into_iter().filter_map(|folder| folder.into_os_string().into_string().ok());
        Folders { wiki, known: HashMap::new(), work_trees: work_trees.collect() }
    }

    /// The work trees of the wiki's repositories.
    pub fn known(&self) -> Arc<[String]> {
        self.work_trees.clone()
    }

    /// The addresses of the remotes of the repository at a folder; none where there is none any more.
    pub fn remotes(&mut self, cwd: &str) -> &[String] {
        &self.look(cwd).remotes
    }

    /// Whether the sessions of a folder belong to this wiki: its repository is the wiki's (linked work trees are one)
    /// or names it, or a scope's `dirs` or `repos` match.
    ///
    /// # Errors
    /// Why they do not, in words without the folder's name.
    pub fn belongs(&mut self, cwd: &str) -> Result<(), &'static str> {
        let scopes = &self.wiki.scopes;
        let folder = self.look(cwd);
        if folder.ours {
            return Ok(());
        }
        match scopes.of_session(Some(cwd), &folder.remotes) {
            Ok(scope) if scope.name != GLOBAL => Ok(()),
            _ => Err("its folder is of no project of this wiki"),
        }
    }

    /// As [`Folders::belongs`], for a session file that does not name its folder.
    ///
    /// # Errors
    /// Why it does not, in words without the folder's name.
    pub fn holds(&mut self, file: &Path) -> Result<(), String> {
        match session::project(file, &self.work_trees) {
            Err(error) => Err(error.to_string()),
            // It records none near its front, or many: its sessions are judged when they are read.
            Ok(Project::Unknown) => Ok(()),
            Ok(Project::Hash) => {
                Err("it records only a hash of its folder, and no work tree of this wiki has it".into())
            }
            Ok(Project::Folder(cwd)) => self.belongs(&cwd).map_err(str::to_owned),
        }
    }

    fn look(&mut self, cwd: &str) -> &Folder {
        let wiki = self.wiki;
        self.known.entry(cwd.to_owned()).or_insert_with(|| match repository(Path::new(cwd)) {
            None => Folder { remotes: Vec::new(), ours: false },
            Some(repo) => Folder { ours: is_of(&repo, wiki), remotes: repo.remotes() },
        })
    }
}

/// The work trees, main and linked, of the wiki's repository and of the one that names it.
pub(super) fn work_trees(wiki: &Wiki) -> Vec<PathBuf> {
    let repos = [Some(&wiki.repo), wiki.code.as_ref()];
    // Where git cannot list them there are none to be told of.
    let all = repos.into_iter().flatten().flat_map(|repo| repo.worktrees().unwrap_or_default());
    let mut folders: Vec<PathBuf> = all.filter(|tree| !tree.bare && !tree.prunable).map(|tree| tree.path).collect();
    folders.sort_unstable();
    folders.dedup();
    folders
}

/// The repository at a folder. Of a folder that is gone, such as a removed work tree inside the project, the nearest
/// one above that still exists tells, unless that is the home folder, which may be anything's.
fn repository(cwd: &Path) -> Option<Repo> {
    if !cwd.is_absolute() {
        return None;
    }
    let there = cwd.ancestors().find(|folder| folder.is_dir())?;
    let repo = Repo::above(there).ok()?;
    if there != cwd && (repo.workdir().is_none() || repo.workdir() == std::env::home_dir()) {
        return None;
    }
    Some(repo)
}

fn is_of(repo: &Repo, wiki: &Wiki) -> bool {
    let wanted = wiki.repo.common_dir();
    let same = |other: &Path| {
        other == wanted || matches!((other.canonicalize(), wanted.canonicalize()), (Ok(a), Ok(b)) if a == b)
    };
    match repo.config("memory.wiki") {
        None => same(&repo.common_dir()),
        Some(link) => {
            let base = repo.workdir().unwrap_or_else(|| repo.common_dir());
            Repo::open(&base.join(link)).is_ok_and(|linked| same(&linked.common_dir()))
        }
    }
}
