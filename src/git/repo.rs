//! An open repository and where its parts are.

use std::path::{Path, PathBuf};

use gix::config::source::Kind;
use gix::odb::pack::cache::lru::MemoryCappedHashmap;

use super::command::explain;
use super::{Error, Git, Oid, RefFormat, Result, parameters};

/// An open repository. Cheap to clone.
#[derive(Clone)]
pub struct Repo {
    pub(super) inner: gix::Repository,
    common_dir: PathBuf,
    workdir: Option<PathBuf>,
    format: RefFormat,
}

/// Extensions of the repository format that leave our reading and writing right.
const EXTENSIONS: [&str; 9] = [
    "noop",
    "noop-v1",
    "preciousobjects",
    "partialclone",
    "worktreeconfig",
    "objectformat",
    "compatobjectformat",
    "refstorage",
    "relativeworktrees",
];

/// How many bytes of objects are kept once they were read.
const OBJECT_CACHE: usize = 4 << 20;

/// How many bytes of objects are kept that a pack holds as differences, for others that build on them.
const PACK_CACHE: usize = 8 << 20;

impl Repo {
    /// Finds the repository at or above a folder, honouring `GIT_DIR` and its companions as git does. A relative
    /// `GIT_DIR` counts from `dir`.
    ///
    /// # Errors
    /// [`Error::NotARepository`] when there is none, [`Error::Open`] when there is one that cannot be used.
    pub fn discover(dir: &Path) -> Result<Repo> {
        let dir = absolute(dir)?;
        match std::env::var_os("GIT_DIR").filter(|value| !value.is_empty()) {
            Some(git_dir) => Repo::from_environment(&dir, &normal(&dir.join(git_dir))),
            None => Repo::upwards(&dir, Environment::Honoured),
        }
    }

    /// Finds the repository at or above a folder, whatever repository the environment names: for folders that are
    /// data, such as the one in which a session ran.
    ///
    /// # Errors
    /// As [`Repo::discover`].
    pub fn above(dir: &Path) -> Result<Repo> {
        Repo::upwards(&absolute(dir)?, Environment::Ignored)
    }

    /// Opens the repository at exactly this path (a work tree, a `.git` folder or a bare repository), whatever the
    /// environment says.
    ///
    /// # Errors
    /// As [`Repo::discover`].
    pub fn open(path: &Path) -> Result<Repo> {
        let path = absolute(path)?;
        let inner = gix::open_opts(&path, options()).map_err(|error| refused(&path, &error))?;
        Repo::settle(inner, Environment::Ignored)
    }

    fn upwards(dir: &Path, environment: Environment) -> Result<Repo> {
        let trust = gix::sec::trust::Mapping { full: options(), reduced: options() };
        let search = gix::discover::upwards::Options { match_ceiling_dir_or_error: false, ..Default::default() }
            .apply_environment();
        let inner = gix::ThreadSafeRepository::discover_opts(dir, search, trust)
            .map_err(|error| refused(dir, &error))?
            .to_thread_local();
        let repo = Repo::settle(inner, environment)?;
        repo.check_named()?;
        Ok(repo)
    }

    /// Git takes no bare repository that it merely came upon where `safe.bareRepository` is `explicit`: it could be
    /// part of a checkout, with settings that run commands. As in git, the repository's own settings do not count.
    fn check_named(&self) -> Result<()> {
        let own = |meta: &gix::config::file::Metadata| meta.source.kind() != Kind::Repository;
        let config = self.inner.config_snapshot();
        let explicit = config
            .plumbing()
            .string_filter("safe.bareRepository", own)
            .is_some_and(|value| value.eq_ignore_ascii_case(b"explicit"));
        if !explicit || !self.is_bare() || self.git_dir().file_name().is_some_and(|name| name == ".git") {
            return Ok(());
        }
        Err(Error::Open {
            path: self.git_dir().to_owned(),
            reason: "it is bare, and safe.bareRepository is `explicit`: name it with GIT_DIR".to_owned(),
        })
    }

    fn from_environment(dir: &Path, git_dir: &Path) -> Result<Repo> {
        let inner =
            gix::open_opts(git_dir, options().open_path_as_is(true)).map_err(|error| refused(git_dir, &error))?;
        let mut repo = Repo::settle(inner, Environment::Honoured)?;
        // With GIT_DIR alone, git takes the current folder for the top of the work tree.
        if repo.workdir.is_none() && repo.config_bool("core.bare") == Some(false) {
            repo.workdir = Some(dir.to_owned());
        }
        if let Some(common) = std::env::var_os("GIT_COMMON_DIR").filter(|value| !value.is_empty()) {
            let wanted = dir.join(common);
            if !same_place(&wanted, &repo.common_dir) {
                return Err(Error::Open {
                    path: git_dir.to_owned(),
                    reason: format!(
                        "GIT_COMMON_DIR names {}, but this repository shares {}; unset it",
                        wanted.display(),
                        repo.common_dir.display()
                    ),
                });
            }
        }
        Ok(repo)
    }

    fn settle(mut inner: gix::Repository, environment: Environment) -> Result<Repo> {
        // Everything else that git runs for us ignores namespaces, so refs must have one meaning.
        inner.clear_namespace();
        // The same trees and commits are asked for over and over where many proposals stand on one commit.
        inner.object_cache_size_if_unset(OBJECT_CACHE);
        // Without it gix resolves the whole chain of differences anew for each object.
        inner.objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(PACK_CACHE)));
        let place = inner.git_dir().to_owned();
        let format = check_format(&inner, &place)?;
        let mut workdir = inner.workdir().map(normal);
        if environment == Environment::Ignored && std::env::var_os("GIT_WORK_TREE").is_some() {
            let alone = gix::open_opts(&place, gix::open::Options::isolated().open_path_as_is(true))
                .map_err(|error| refused(&place, &error))?;
            workdir = alone.workdir().map(normal);
        }
        let common_dir = normal(inner.common_dir());
        Ok(Repo { inner, common_dir, workdir, format })
    }

    /// This work tree's own git folder (`.git`, or `.git/worktrees/<name>`).
    pub fn git_dir(&self) -> &Path {
        self.inner.git_dir()
    }

    /// The git folder that all linked worktrees share.
    pub fn common_dir(&self) -> PathBuf {
        self.common_dir.clone()
    }

    /// Where this tool keeps what is local and disposable: `$GIT_COMMON_DIR/memory`.
    pub fn memory_dir(&self) -> PathBuf {
        self.common_dir.join("memory")
    }

    /// The folder of the object database.
    pub(super) fn objects_dir(&self) -> PathBuf {
        self.common_dir.join("objects")
    }

    /// The work tree's top folder; `None` in a bare repository.
    pub fn workdir(&self) -> Option<PathBuf> {
        self.workdir.clone()
    }

    /// Whether the repository has no work tree of its own (linked ones it may have).
    pub fn is_bare(&self) -> bool {
        self.workdir.is_none()
    }

    /// Whether history is cut off (`shallow` file present).
    pub fn is_shallow(&self) -> bool {
        std::fs::metadata(self.common_dir.join("shallow")).is_ok_and(|file| file.len() > 0)
    }

    /// Whether objects may be missing here because a promisor remote has them.
    pub fn is_partial(&self) -> bool {
        self.config("extensions.partialClone").is_some()
            || self.inner.config_snapshot().plumbing().sections_by_name("remote").is_some_and(|mut sections| {
                sections.any(|section| section.value("promisor").is_some_and(|value| value != "false"))
            })
    }

    /// How refs are stored.
    pub fn ref_format(&self) -> RefFormat {
        self.format
    }

    /// The id of nothing: an empty tree, in this repository's hash.
    pub fn empty_tree(&self) -> Oid {
        Oid::empty_tree(self.inner.object_hash())
    }

    /// The id that git takes for "no object", in this repository's hash.
    pub fn null_oid(&self) -> Oid {
        Oid::null(self.inner.object_hash())
    }

    /// A git command to be run in this repository, whatever the process's folder and environment say.
    pub fn git(&self) -> Git {
        match &self.workdir {
            Some(workdir) if workdir.is_dir() => Git::new(workdir, self.git_dir(), Some(workdir)),
            _ => Git::new(self.git_dir(), self.git_dir(), None),
        }
    }

    /// A git command to be run in a work tree, with that work tree's own HEAD and index.
    pub fn git_in(worktree: &super::Worktree) -> Git {
        Git::new(&worktree.path, &worktree.git_dir, Some(&worktree.path))
    }
}

/// Whether variables such as `GIT_WORK_TREE` count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Environment {
    Honoured,
    Ignored,
}

/// All of git's configuration except what only the git program could tell, so that opening starts no process.
fn options() -> gix::open::Options {
    gix::open::Options::default().bail_if_untrusted(true).cli_overrides(parameters::from_environment())
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .map(|path| normal(&path))
        .map_err(|error| Error::Open { path: path.to_owned(), reason: error.to_string() })
}

/// Takes `..` out of paths such as `.git/worktrees/x/../..`, so that one place has one name.
fn normal(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if !path.components().any(|part| matches!(part, std::path::Component::ParentDir)) {
        return path;
    }
    gix::path::realpath(&path).unwrap_or(path)
}

pub(super) fn same_place(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn refused(path: &Path, error: &gix::Error) -> Error {
    let reason = explain(error);
    if reason.contains("not owned by the current user") {
        return Error::Open {
            path: path.to_owned(),
            reason: "it belongs to another user. If you trust it: git config --global --add safe.directory <its path>"
                .to_owned(),
        };
    }
    let absent = ["does not appear to be a git repository", "Could not find a git repository"];
    if absent.iter().any(|text| reason.contains(text)) {
        return Error::NotARepository(path.to_owned());
    }
    Error::Open { path: path.to_owned(), reason }
}

/// Git refuses a repository with an extension it does not know; gix opens it and may then misread it.
fn check_format(inner: &gix::Repository, place: &Path) -> Result<RefFormat> {
    let refuse = |reason: String| Err(Error::Open { path: place.to_owned(), reason });
    let config = inner.config_snapshot();
    let config = config.plumbing();
    let version = config.integer("core.repositoryFormatVersion").ok().flatten().unwrap_or(0);
    let mut format = RefFormat::Files;
    for section in config.sections_by_name("extensions").into_iter().flatten() {
        if section.meta().source.kind() != Kind::Repository || version < 1 {
            continue;
        }
        for name in section.value_names() {
            let lower = name.to_ascii_lowercase();
            let value = section.value(&name).unwrap_or_default();
            if !EXTENSIONS.contains(&lower.as_str()) {
                return refuse(format!("it uses the extension {name}, which this version does not know"));
            }
            if lower == "refstorage" {
                format = match value.to_ascii_lowercase().as_slice() {
                    b"files" => RefFormat::Files,
                    b"reftable" => RefFormat::Reftable,
                    _ => return refuse(format!("it stores refs as {value}, which this version does not know")),
                };
            }
        }
    }
    Ok(format)
}
