//! The wiki as it stands in its repository: branch, root, tip, settings.

use std::path::{Component, Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use super::scope::{Scope, Scopes, Unresolved};
use super::{Kind, Layout, Page, Protection};
use crate::config::{self, Config};
use crate::git::{self, Oid, Repo};

/// Why a wiki cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// The settings' trouble.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// `memory.wiki` names no repository.
    #[error("memory.wiki names {path}, which is no git repository")]
    BadLink {
        /// The path as configured.
        path: String,
    },
    /// No wiki was made here.
    #[error("no wiki in {repository}")]
    NoWiki {
        /// The repository.
        repository: String,
    },
}

/// An open wiki.
#[derive(Clone)]
pub struct Wiki {
    /// The repository that holds it.
    pub repo: Repo,
    /// The code repository that names it, when the process runs in another one.
    pub code: Option<Repo>,
    /// The branch, full name (`refs/heads/wiki`).
    pub branch: String,
    /// Its commit; `None` while the branch is unborn.
    pub tip: Option<Oid>,
    /// The folder of the pages, without slashes at its ends; empty: the top.
    pub root: String,
    /// The settings in force.
    pub config: Config,
    /// Which folder holds which kind.
    pub layout: Layout,
    /// Its scopes.
    pub scopes: Scopes,
    /// Which pages only a person's yes may change.
    pub protection: Protection,
}

impl Wiki {
    /// Opens the wiki of the repository at or above `dir`: that repository's own, or the one that its
    /// `git config memory.wiki` names (relative paths count from the top of its work tree).
    pub fn open(dir: &Path) -> Result<Wiki, OpenError> {
        Wiki::named_by(Repo::discover(dir)?)
    }

    /// Opens the wiki of this repository: its own, or the one that its `memory.wiki` names.
    pub fn named_by(here: Repo) -> Result<Wiki, OpenError> {
        match here.config("memory.wiki") {
            None => Wiki::of(here, None),
            Some(link) => {
                let base = here.workdir().unwrap_or_else(|| here.common_dir());
                let repo = Repo::open(&base.join(&link)).map_err(|_| OpenError::BadLink { path: link })?;
                Wiki::of(repo, Some(here))
            }
        }
    }

    /// Opens the wiki of this very repository.
    pub fn of(repo: Repo, code: Option<Repo>) -> Result<Wiki, OpenError> {
        let branch = branch_of(&repo)?;
        let tip = repo.reference(&branch)?;
        let config = Config::load(&repo, tip)?;
        let settings = &config.settings;
        let layout = Layout::with(
            settings.wiki.folders.iter().filter_map(|(kind, folder)| Some((Kind::parse(kind)?, folder.clone()))),
        );
        let scopes = Scopes::new(
            settings
                .scope
                .iter()
                .map(|table| Scope {
                    name: table.name.clone(),
                    path: table.path.trim_matches('/').to_owned(),
                    repos: table.repos.clone(),
                    dirs: table.dirs.clone(),
                })
                .collect(),
        );
        let protection = Protection::new(&settings.wiki);
        let root = settings.wiki.root.trim_matches('/').to_owned();
        Ok(Wiki { repo, code, branch, tip, root, config, layout, scopes, protection })
    }

    /// Reads the branch's tip again (another process may have moved it).
    pub fn refresh(&mut self) -> git::Result<()> {
        self.tip = self.repo.reference(&self.branch)?;
        Ok(())
    }

    /// The branch without `refs/heads/`.
    pub fn branch_name(&self) -> &str {
        self.branch.strip_prefix("refs/heads/").unwrap_or(&self.branch)
    }

    /// A page's path from the top of the tree.
    pub fn full_path(&self, page: &str) -> BString {
        if self.root.is_empty() { page.into() } else { format!("{}/{page}", self.root).into() }
    }

    /// A path from the top of the tree, relative to the wiki's root; `None` when it stands outside.
    pub fn page_path<'p>(&self, path: &'p BStr) -> Option<&'p BStr> {
        if self.root.is_empty() {
            return Some(path);
        }
        let rest = path.strip_prefix(self.root.as_bytes())?.strip_prefix(b"/")?;
        Some(rest.as_bstr())
    }

    /// A page as people name it, from the wiki's root or from the top of its repository: its path from the root.
    pub fn page_name(&self, given: &str) -> String {
        let given = Path::new(given).components().filter(|part| !matches!(part, Component::CurDir));
        let given = given.collect::<PathBuf>().to_string_lossy().replace('\\', "/");
        let inside = self.page_path(given.as_str().into()).filter(|_| !self.root.is_empty());
        inside.map(|page| page.to_string()).unwrap_or(given)
    }

    /// The bytes of a page at the branch's tip.
    pub fn bytes(&self, page: &str) -> git::Result<Option<Vec<u8>>> {
        match self.tip {
            Some(tip) => self.repo.file(tip, self.full_path(page).as_ref()),
            None => Ok(None),
        }
    }

    /// What stands at a page's path at the branch's tip.
    pub fn entry(&self, page: &str) -> git::Result<Option<git::Entry>> {
        match self.tip {
            Some(tip) => self.repo.entry(tip, self.full_path(page).as_ref()),
            None => Ok(None),
        }
    }

    /// The markdown files of the wiki at a commit, relative to its root, with their blobs. Folders whose names begin
    /// with a dot, `_pending/` and `_archive/` are left out.
    pub fn pages_at(&self, commit: Oid) -> git::Result<Vec<(BString, Oid)>> {
        let files = self.repo.files(commit, self.root.as_bytes().as_bstr())?;
        Ok(files
            .into_iter()
            .filter(|file| matches!(file.entry.mode, git::Mode::Blob | git::Mode::Executable))
            .filter_map(|file| Some((self.page_path(file.path.as_ref())?.to_owned(), file.entry.oid)))
            .filter(|(path, _)| is_page(path.as_ref()))
            .collect())
    }

    /// As [`Wiki::pages_at`], at the branch's tip.
    pub fn pages(&self) -> git::Result<Vec<(BString, Oid)>> {
        self.tip.map_or(Ok(Vec::new()), |tip| self.pages_at(tip))
    }

    /// A page read from its bytes, with this wiki's folders and scopes.
    pub fn read(&self, path: &BStr, bytes: &[u8]) -> Page {
        let scope = self.scopes.of_page(&path.to_str_lossy()).path.clone();
        Page::read(path, bytes, &self.layout, &scope)
    }

    /// The scope that `--scope` names, else the one scope there is, else an error that says so.
    pub fn scope(&self, name: Option<&str>) -> Result<&Scope, Unresolved> {
        match name {
            Some(name) => self.scopes.named(name),
            None => self.scopes.named(super::scope::GLOBAL),
        }
    }
}

/// Whether a path (relative to the wiki's root) is a page: a markdown file outside hidden and machine folders.
pub fn is_page(path: &BStr) -> bool {
    let ending = path.rfind_byte(b'.').map(|dot| &path[dot..]);
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(b".md") || ending.eq_ignore_ascii_case(b".markdown"))
        && !path.split(|&b| b == b'/').any(|part| part.starts_with(b".") || part == b"_pending" || part == b"_archive")
}

/// The wiki's branch: what `init` recorded here, else (in a fresh clone) the branch that the settings at HEAD name,
/// where it exists, or HEAD's own.
fn branch_of(repo: &Repo) -> Result<String, OpenError> {
    let full = |name: &str| if name.starts_with("refs/") { name.to_owned() } else { format!("refs/heads/{name}") };
    if let Some(name) = repo.config("memory.wiki.branch") {
        return Ok(full(&name));
    }
    let none = || {
        let place = repo.workdir().unwrap_or_else(|| repo.common_dir());
        OpenError::NoWiki { repository: place.display().to_string() }
    };
    let head = repo.reference("HEAD")?.ok_or_else(none)?;
    let settings = repo.file(head, config::FILE.into())?.ok_or_else(none)?;
    let named = toml::from_str::<toml::Table>(&settings.to_str_lossy())
        .ok()
        .and_then(|table| Some(full(table.get("wiki")?.get("branch")?.as_str()?)));
    if let Some(branch) = named
        && repo.reference(&branch)?.is_some()
    {
        return Ok(branch);
    }
    repo.head_branch()?.ok_or_else(none)
}
