//! Trees: what stands at a path, all files, and the difference of two trees. Never with rename detection.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::{EntryKind, EntryRef, name_order};
use gix::objs::{Kind, TreeRefIter};

use super::command::explain;
use super::{Error, Oid, Repo, Result};

/// What kind of thing a tree entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A folder.
    Tree,
    /// A file.
    Blob,
    /// An executable file.
    Executable,
    /// A symbolic link.
    Link,
    /// A submodule.
    Commit,
}

/// One entry of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub mode: Mode,
    /// The object.
    pub oid: Oid,
}

/// One file (never a folder) below a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// The path from the tree's top, `/` between parts, any bytes.
    pub path: BString,
    /// What stands there.
    pub entry: Entry,
}

/// One path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path from the tree's top.
    pub path: BString,
    /// What stood there before.
    pub before: Option<Entry>,
    /// What stands there now.
    pub after: Option<Entry>,
}

impl Mode {
    fn of(mode: gix::objs::tree::EntryMode) -> Mode {
        match mode.kind() {
            EntryKind::Tree => Mode::Tree,
            EntryKind::Blob => Mode::Blob,
            EntryKind::BlobExecutable => Mode::Executable,
            EntryKind::Link => Mode::Link,
            EntryKind::Commit => Mode::Commit,
        }
    }

    pub(super) fn kind(self) -> EntryKind {
        match self {
            Mode::Tree => EntryKind::Tree,
            Mode::Blob => EntryKind::Blob,
            Mode::Executable => EntryKind::BlobExecutable,
            Mode::Link => EntryKind::Link,
            Mode::Commit => EntryKind::Commit,
        }
    }
}

impl Entry {
    fn of(entry: EntryRef<'_>) -> Entry {
        Entry { mode: Mode::of(entry.mode), oid: entry.oid.to_owned() }
    }
}

impl Repo {
    /// The bytes of a blob. In a partial clone a missing one is fetched by git.
    ///
    /// # Errors
    /// [`Error::Read`] when there is no such blob.
    pub fn blob(&self, oid: Oid) -> Result<Vec<u8>> {
        let (kind, bytes) = self.object(oid)?;
        match kind {
            Kind::Blob => Ok(bytes),
            _ => Err(Error::read(oid.to_string(), format!("it is a {kind}, not a blob"))),
        }
    }

    /// What stands at a path below a tree (or a commit's tree). The empty path is the tree itself.
    ///
    /// # Errors
    /// [`Error::Read`] when a tree on the way is missing or broken.
    pub fn entry(&self, treeish: Oid, path: &BStr) -> Result<Option<Entry>> {
        let mut at = Entry { mode: Mode::Tree, oid: self.tree_of(treeish)? };
        for part in path.split(|&b| b == b'/').filter(|part| !part.is_empty()) {
            if at.mode != Mode::Tree {
                return Ok(None);
            }
            let bytes = self.tree_bytes(at.oid)?;
            let mut found = None;
            for entry in TreeRefIter::from_bytes(&bytes, self.inner.object_hash()) {
                let entry = entry.map_err(|error| Error::read(at.oid.to_string(), explain(&error)))?;
                if entry.filename == part.as_bstr() {
                    found = Some(Entry::of(entry));
                    break;
                }
            }
            match found {
                Some(entry) => at = entry,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// The bytes of the file at a path below a tree (or commit); `None` when there is none or it is no regular file.
    ///
    /// # Errors
    /// As [`Repo::entry`] and [`Repo::blob`].
    pub fn file(&self, treeish: Oid, path: &BStr) -> Result<Option<Vec<u8>>> {
        match self.entry(treeish, path)? {
            Some(Entry { mode: Mode::Blob | Mode::Executable, oid }) => self.blob(oid).map(Some),
            _ => Ok(None),
        }
    }

    /// All files below `prefix` (empty: everything) of a tree or commit, sorted by the bytes of their full paths.
    /// `prefix` is a folder; one that does not exist has no files.
    ///
    /// # Errors
    /// As [`Repo::entry`].
    pub fn files(&self, treeish: Oid, prefix: &BStr) -> Result<Vec<TreeFile>> {
        let prefix: BString = prefix.trim_with(|c| c == '/').into();
        let mut files = Vec::new();
        if let Some(Entry { mode: Mode::Tree, oid }) = self.entry(treeish, prefix.as_bstr())? {
            self.collect(oid, prefix.as_bstr(), &mut |path, entry| files.push(TreeFile { path, entry }))?;
        }
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// The names of what stands directly in a folder below a tree or commit; none where there is no such folder.
    pub fn folder(&self, treeish: Oid, path: &BStr) -> Result<Vec<BString>> {
        let Some(entry) = self.entry(treeish, path)?.filter(|entry| entry.mode == Mode::Tree) else {
            return Ok(Vec::new());
        };
        let tree = self.inner.find_tree(entry.oid).map_err(|error| Error::read(path.to_string(), error))?;
        tree.iter()
            .map(|entry| Ok(entry.map_err(|error| Error::read(path.to_string(), error))?.filename().to_owned()))
            .collect()
    }

    /// The files that differ between two trees or commits, sorted by path; `None` is the empty tree. A file that
    /// became a folder is a removal and additions.
    ///
    /// # Errors
    /// As [`Repo::entry`].
    pub fn diff(&self, old: Option<Oid>, new: Option<Oid>) -> Result<Vec<Change>> {
        let old = old.map(|oid| self.tree_of(oid)).transpose()?;
        let new = new.map(|oid| self.tree_of(oid)).transpose()?;
        let mut changes = Vec::new();
        self.compare(old, new, BStr::new(""), &mut changes)?;
        changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    fn compare(&self, old: Option<Oid>, new: Option<Oid>, folder: &BStr, changes: &mut Vec<Change>) -> Result<()> {
        if old == new {
            return Ok(());
        }
        let bytes = |tree: Option<Oid>| tree.map_or(Ok(Vec::new()), |oid| self.tree_bytes(oid));
        let (old_bytes, new_bytes) = (bytes(old)?, bytes(new)?);
        let hash = self.inner.object_hash();
        let mut olds = TreeRefIter::from_bytes(&old_bytes, hash);
        let mut news = TreeRefIter::from_bytes(&new_bytes, hash);
        // Side by side, so that what is equal costs nothing. A file and a folder of one name stand at different places
        // in the order; they meet under their name.
        let mut names: BTreeMap<&BStr, (Option<Entry>, Option<Entry>)> = BTreeMap::new();
        let (mut left, mut right) = (next_entry(&mut olds, old)?, next_entry(&mut news, new)?);
        loop {
            let order = match (left, right) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => name_order(a.filename, a.mode.is_tree(), b.filename, b.mode.is_tree()),
            };
            let equal = order == Ordering::Equal && left == right;
            if let Some(entry) = left.filter(|_| order.is_le()) {
                if !equal {
                    names.entry(entry.filename).or_default().0 = Some(Entry::of(entry));
                }
                left = next_entry(&mut olds, old)?;
            }
            if let Some(entry) = right.filter(|_| order.is_ge()) {
                if !equal {
                    names.entry(entry.filename).or_default().1 = Some(Entry::of(entry));
                }
                right = next_entry(&mut news, new)?;
            }
        }
        for (name, (before, after)) in names {
            if before == after {
                continue;
            }
            let path = joined(folder, name);
            let tree = |entry: Option<Entry>| entry.filter(|entry| entry.mode == Mode::Tree).map(|entry| entry.oid);
            let file = |entry: Option<Entry>| entry.filter(|entry| entry.mode != Mode::Tree);
            if file(before).is_some() || file(after).is_some() {
                changes.push(Change { path: path.clone(), before: file(before), after: file(after) });
            }
            self.compare(tree(before), tree(after), path.as_bstr(), changes)?;
        }
        Ok(())
    }

    fn collect(&self, tree: Oid, folder: &BStr, found: &mut impl FnMut(BString, Entry)) -> Result<()> {
        let bytes = self.tree_bytes(tree)?;
        let mut entries = TreeRefIter::from_bytes(&bytes, self.inner.object_hash());
        while let Some(entry) = next_entry(&mut entries, Some(tree))? {
            let path = joined(folder, entry.filename);
            match Entry::of(entry) {
                Entry { mode: Mode::Tree, oid } => self.collect(oid, path.as_bstr(), found)?,
                entry => found(path, entry),
            }
        }
        Ok(())
    }

    /// The bytes of a tree object.
    pub(super) fn tree_bytes(&self, oid: Oid) -> Result<Vec<u8>> {
        match self.object(oid)? {
            (Kind::Tree, bytes) => Ok(bytes),
            (kind, _) => Err(Error::read(oid.to_string(), format!("it is a {kind}, not a tree"))),
        }
    }

    /// The tree of a tree, commit or annotated tag.
    ///
    /// # Errors
    /// [`Error::Read`] when it leads to none.
    pub fn tree_of(&self, treeish: Oid) -> Result<Oid> {
        let mut at = treeish;
        loop {
            if at == self.empty_tree() {
                return Ok(at);
            }
            let (kind, bytes) = self.object(at)?;
            let next = match kind {
                Kind::Tree => return Ok(at),
                Kind::Commit => gix::objs::CommitRefIter::from_bytes(&bytes, self.inner.object_hash()).tree_id(),
                Kind::Tag => gix::objs::TagRefIter::from_bytes(&bytes, self.inner.object_hash()).target_id(),
                Kind::Blob => return Err(Error::read(treeish.to_string(), "it is a blob, not a tree")),
            };
            at = next.map_err(|error| Error::read(treeish.to_string(), explain(&error)))?;
        }
    }

    /// An object's kind and bytes.
    pub(super) fn object(&self, oid: Oid) -> Result<(Kind, Vec<u8>)> {
        match self.inner.try_find_object(oid) {
            Ok(Some(mut object)) => Ok((object.kind, std::mem::take(&mut object.data))),
            Ok(None) if self.is_partial() => self.promised(oid),
            Ok(None) => Err(Error::read(oid.to_string(), "there is no such object")),
            Err(error) => Err(Error::read(oid.to_string(), explain(&error))),
        }
    }

    /// In a partial clone git fetches a missing object when it is asked for it.
    fn promised(&self, oid: Oid) -> Result<(Kind, Vec<u8>)> {
        let missing =
            |error: Error| Error::read(oid.to_string(), format!("this partial clone does not have it: {error}"));
        let kind = self.git().args(["cat-file", "-t", &oid.to_string()]).run().map_err(missing)?;
        let kind = Kind::from_bytes(kind.trim()).map_err(|error| Error::read(oid.to_string(), error))?;
        let bytes = self.git().args(["cat-file", &kind.to_string(), &oid.to_string()]).run().map_err(missing)?;
        Ok((kind, bytes))
    }
}

/// The next entry of a tree object; `tree` is what an error names.
fn next_entry<'t>(entries: &mut TreeRefIter<'t>, tree: Option<Oid>) -> Result<Option<EntryRef<'t>>> {
    let what = || tree.map(|oid| oid.to_string()).unwrap_or_default();
    entries.next().transpose().map_err(|error| Error::read(what(), explain(&error)))
}

/// `folder/name`, or `name` at the top.
fn joined(folder: &BStr, name: &BStr) -> BString {
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    if !folder.is_empty() {
        path.extend_from_slice(folder);
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path.into()
}
