//! Lint of a wiki: which pages, from the branch or from a work tree, and what the checks find in them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use crate::git::{self, Mode, Oid};
use crate::ledger;
use crate::wiki::Wiki;
use crate::wiki::lint::{self, Finding, Severity};
use crate::wiki::open::is_page;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Linted {
    /// The findings, by page and line.
    pub findings: Vec<Finding>,
    /// How many pages were looked at.
    pub pages: usize,
}

/// Why pages cannot be linted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// Nothing stands at a path that was named.
    #[error("`{path}` is neither a page nor a folder of {place}")]
    NoSuchPage {
        /// The path as given.
        path: String,
        /// Where it was looked for.
        place: String,
    },
    /// A file stands there that is no page.
    #[error(
        "`{path}` is not a page: {why} (pages are markdown files, outside hidden folders, `_pending` and `_archive`)"
    )]
    NotAPage {
        /// The path as given.
        path: String,
        /// Why.
        why: &'static str,
    },
    /// A file of the work tree cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Where a page's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// In the repository.
    Blob(Oid),
    /// In a work tree.
    File(PathBuf),
    /// A symbolic link or a submodule: a name, nothing to read.
    Name,
}

/// The files of the wiki by their paths from its root.
type Files = BTreeMap<BString, Place>;

/// Lints the pages of the branch's tip, those of one scope where one is named.
///
/// # Errors
/// When the tree cannot be read. A page that cannot be read is a finding.
pub fn all(wiki: &Wiki, scope: Option<&str>) -> Result<Linted, Error> {
    let files = at_tip(wiki)?;
    let targets = files.iter().filter(|(path, place)| is_page(path.as_bstr()) && **place != Place::Name);
    let targets = targets.map(|(path, _)| path.clone()).filter(|path| within(wiki, path, scope)).collect();
    Ok(look(wiki, &files, &targets))
}

/// Lints the pages that paths name, a folder standing for all pages below it: those of the work tree that has the
/// wiki's branch checked out and that a path leads into (from `dir`), else those of the branch's tip. A path may also
/// be given from the wiki's root, or from the top of its repository.
///
/// # Errors
/// When a path names no page; as [`all`].
pub fn some(wiki: &Wiki, dir: &Path, paths: &[PathBuf], scope: Option<&str>) -> Result<Linted, Error> {
    let mut files = at_tip(wiki)?;
    let worktrees: Vec<PathBuf> = wiki
        .repo
        .worktrees()?
        .into_iter()
        .filter(|worktree| !worktree.bare && worktree.branch.as_deref() == Some(wiki.branch.as_str()))
        .map(|worktree| real(&worktree.path))
        .collect();
    let mut targets = BTreeSet::new();
    for given in paths {
        let place = real(&dir.join(given));
        let worktree = worktrees.iter().find(|top| place.starts_with(top));
        match worktree {
            Some(top) => in_worktree(wiki, top, &place, given, &mut files, &mut targets)?,
            None => in_tip(wiki, &place, given, &files, &mut targets)?,
        }
    }
    targets.retain(|path| within(wiki, path, scope));
    Ok(look(wiki, &files, &targets))
}

fn within(wiki: &Wiki, path: &BString, scope: Option<&str>) -> bool {
    scope.is_none_or(|scope| wiki.scopes.of_page(&path.to_str_lossy()).name == scope)
}

fn at_tip(wiki: &Wiki) -> Result<Files, Error> {
    let Some(tip) = wiki.tip else { return Ok(Files::new()) };
    let files = wiki.repo.files(tip, wiki.root.as_bytes().as_bstr())?;
    Ok(files
        .into_iter()
        .filter_map(|file| {
            let place = match file.entry.mode {
                Mode::Blob | Mode::Executable => Place::Blob(file.entry.oid),
                _ => Place::Name,
            };
            Some((wiki.page_path(file.path.as_ref())?.to_owned(), place))
        })
        .collect())
}

/// The checks. Each page is read once: for the checks of its own, and for its links.
fn look(wiki: &Wiki, files: &Files, targets: &BTreeSet<BString>) -> Linted {
    let now = ledger::now();
    let found = RefCell::new(Vec::new());
    let read = |path: &BStr| {
        let bytes = match files.get(path)? {
            Place::Blob(oid) => wiki.repo.blob(*oid).map_err(|error| error.to_string()),
            Place::File(file) => std::fs::read(file).map_err(|error| format!("{}: {error}", file.display())),
            Place::Name => return None,
        };
        if targets.contains(path) {
            let mut found = found.borrow_mut();
            match &bytes {
                Ok(bytes) => found.extend(lint::page(path, bytes, &wiki.layout, now)),
                Err(error) => found.push(Finding {
                    path: path.to_owned(),
                    line: 1,
                    column: 1,
                    severity: Severity::Error,
                    check: "unreadable",
                    message: format!("the page cannot be read: {error}"),
                }),
            }
        }
        bytes.ok()
    };
    let paths: Vec<BString> = files.keys().cloned().collect();
    let across = lint::tree(&paths, &read);
    let mut findings = found.into_inner();
    // Names of all files are checked where everything is asked for; a page that was named answers for itself alone.
    let everything = files.keys().filter(|path| is_page(path.as_bstr())).all(|path| targets.contains(path));
    findings.extend(across.into_iter().filter(|finding| everything || targets.contains(&finding.path)));
    findings.sort_by(|a, b| (&a.path, a.line, a.column, a.check).cmp(&(&b.path, b.line, b.column, b.check)));
    Linted { findings, pages: targets.len() }
}

fn in_worktree(
    wiki: &Wiki,
    top: &Path,
    place: &Path,
    given: &Path,
    files: &mut Files,
    targets: &mut BTreeSet<BString>,
) -> Result<(), Error> {
    let root = top.join(&wiki.root);
    let choices = [place.to_owned(), root.join(given), top.join(given)];
    let missing = || Error::NoSuchPage { path: given.display().to_string(), place: root.display().to_string() };
    let inside = choices.iter().find_map(|choice| {
        let meta = std::fs::symlink_metadata(choice).ok()?;
        Some((choice, meta))
    });
    let Some((path, meta)) = inside else { return Err(missing()) };
    // A folder that holds the wiki's root stands for all of it.
    let start = if root.starts_with(path) { root.clone() } else { path.clone() };
    let Ok(page) = start.strip_prefix(&root) else { return Err(missing()) };
    if !meta.is_dir() {
        let page = bytes_of(page);
        let refuse = |why| Err(Error::NotAPage { path: given.display().to_string(), why });
        if meta.is_symlink() {
            return refuse("it is a symbolic link");
        }
        if !is_page(page.as_bstr()) {
            return refuse("its name is not a page's");
        }
        files.insert(page.clone(), Place::File(path.clone()));
        targets.insert(page);
        return Ok(());
    }
    let below = bytes_of(page);
    // What was deleted there is no page any more.
    files.retain(|path, _| !is_below(path.as_bstr(), below.as_bstr()));
    let entries = walkdir::WalkDir::new(&start).into_iter().filter_entry(|entry| entry.file_name() != ".git");
    for entry in entries {
        let entry = entry.map_err(|error| Error::Io {
            path: error.path().unwrap_or(&start).to_owned(),
            source: error.into_io_error().unwrap_or_else(|| std::io::Error::other("a loop of links")),
        })?;
        let Ok(page) = entry.path().strip_prefix(&root) else { continue };
        let page = bytes_of(page);
        if entry.file_type().is_file() {
            if is_page(page.as_bstr()) {
                targets.insert(page.clone());
            }
            files.insert(page, Place::File(entry.into_path()));
        } else if entry.file_type().is_symlink() {
            files.insert(page, Place::Name);
        }
    }
    Ok(())
}

fn in_tip(
    wiki: &Wiki,
    place: &Path,
    given: &Path,
    files: &Files,
    targets: &mut BTreeSet<BString>,
) -> Result<(), Error> {
    let from_top = wiki.repo.workdir().and_then(|top| Some(bytes_of(place.strip_prefix(real(&top)).ok()?)));
    let plain = bytes_of(given);
    // `.` is where one stands, and nothing of the wiki when that is elsewhere in its repository.
    let plain = (!plain.is_empty() || from_top.is_none()).then_some(plain);
    let full = [from_top, plain.clone()].into_iter().flatten();
    let root = wiki.root.as_bytes().as_bstr();
    let choices = full
        .filter_map(|path| match wiki.page_path(path.as_bstr()) {
            Some(page) => Some(page.to_owned()),
            // A folder that holds the wiki's root stands for all of it.
            None if path == root || is_below(root, path.as_bstr()) => Some(BString::default()),
            None => None,
        })
        .chain(plain);
    for choice in choices {
        if let Some(file) = files.get(&choice) {
            let refuse = |why| Err(Error::NotAPage { path: given.display().to_string(), why });
            return match (file, is_page(choice.as_bstr())) {
                (Place::Name, _) => refuse("it is a symbolic link or a submodule"),
                (_, false) => refuse("its name is not a page's"),
                _ => {
                    targets.insert(choice);
                    Ok(())
                }
            };
        }
        let below: Vec<_> = files.iter().filter(|(path, _)| is_below(path.as_bstr(), choice.as_bstr())).collect();
        if !below.is_empty() {
            let pages = below.into_iter().filter(|(path, place)| is_page(path.as_bstr()) && **place != Place::Name);
            targets.extend(pages.map(|(path, _)| path.clone()));
            return Ok(());
        }
    }
    let place = format!("the wiki on branch {}", wiki.branch_name());
    Err(Error::NoSuchPage { path: given.display().to_string(), place })
}

fn is_below(path: &BStr, folder: &BStr) -> bool {
    folder.is_empty() || path.strip_prefix(folder.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
}

/// A path with `.` and `..` taken out and the links of its folders followed; its last part is left as it is.
fn real(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    match (plain.parent().and_then(|folder| folder.canonicalize().ok()), plain.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => plain,
    }
}

/// The path in git's form: bytes, with `/` between its parts.
fn bytes_of(path: &Path) -> BString {
    let parts: Vec<&[u8]> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => Some(<[u8]>::from_os_str(part)?),
            _ => None,
        })
        .collect();
    bstr::join("/", parts).into()
}
