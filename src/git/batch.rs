//! Writing objects: collected in memory, then made durable together before a ref names them.

use std::collections::{BTreeMap, HashSet};

use bstr::{BStr, BString, ByteSlice};
use gix::objs::Kind;

use super::command::explain;
use super::{Entry, Error, Oid, Person, Repo, Result, each, refs, store};

/// A commit to be written.
#[derive(Debug, Clone)]
pub struct NewCommit {
    /// Its tree.
    pub tree: Oid,
    /// Its parents, first first.
    pub parents: Vec<Oid>,
    /// Who wrote it.
    pub author: Person,
    /// Who makes the commit.
    pub committer: Person,
    /// Seconds since the epoch, UTC, for both dates.
    pub time: i64,
    /// The whole message, with its final newline.
    pub message: String,
    /// Sign it as the operator's git does.
    pub sign: bool,
}

/// Objects that are being made. Reads through [`Batch::repo`] see them; nothing is on disk before
/// [`Batch::flush`], which writes and fsyncs all of them (few: loose; many: one pack).
pub struct Batch {
    repo: Repo,
    /// The objects in the order in which they were made: neighbours are alike, which a pack makes use of.
    order: Vec<Oid>,
}

impl Batch {
    /// Starts a batch.
    pub fn new(repo: &Repo) -> Batch {
        let mut repo = repo.clone();
        repo.inner.objects.enable_object_memory();
        Batch { repo, order: Vec::new() }
    }

    /// The repository, with this batch's objects in it.
    pub fn repo(&self) -> &Repo {
        &self.repo
    }

    /// Writes a blob.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn blob(&mut self, bytes: &[u8]) -> Result<Oid> {
        self.put(Kind::Blob, bytes)
    }

    /// Writes many blobs; their ids in the same order.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn blobs(&mut self, all: &[Vec<u8>]) -> Result<Vec<Oid>> {
        let hash = self.repo.inner.object_hash();
        let ids = each(all, |bytes| gix::objs::compute_hash(hash, Kind::Blob, bytes));
        ids.into_iter().zip(all).map(|(oid, bytes)| self.put_as(Kind::Blob, bytes, oid)).collect()
    }

    /// A tree equal to `base` (`None`: empty) but for these paths; `None` removes one, and folders that become
    /// empty go with it. Removals come first, whatever their place in the list; a new file takes the place of a
    /// folder of its name, and a new folder that of a file.
    ///
    /// # Errors
    /// [`Error::Refused`] for a path that must not stand in a tree (`..`, `.git` in any spelling, empty parts);
    /// [`Error::Read`] when a tree of the base is missing.
    pub fn tree(&mut self, base: Option<Oid>, edits: &[(BString, Option<Entry>)]) -> Result<Oid> {
        let empty = self.repo.empty_tree();
        let base = base.map_or(Ok(empty), |oid| self.repo.tree_of(oid))?;
        for (path, entry) in edits {
            check_path(path.as_bstr(), *entry)?;
        }
        let root = if base == empty { gix::objs::Tree::empty() } else { self.decoded(base)? };
        let inner = &self.repo.inner;
        let mut editor = gix::objs::tree::Editor::new(root, &inner.objects, inner.object_hash());
        let failed = |path: &BString, error: gix::Error| Error::write(path.to_string(), explain(&error));
        for (path, _) in edits.iter().filter(|(_, entry)| entry.is_none()) {
            editor.remove(path.split_str("/").map(ByteSlice::as_bstr)).map_err(|error| failed(path, error))?;
        }
        // In order of their names, so that equal edits make equal work whatever their order.
        let added: BTreeMap<&BString, &Entry> =
            edits.iter().filter_map(|(path, entry)| Some((path, entry.as_ref()?))).collect();
        for (path, entry) in added {
            editor
                .upsert(path.split_str("/").map(ByteSlice::as_bstr), entry.mode.kind(), entry.oid)
                .map_err(|error| failed(path, error))?;
        }
        let order = &mut self.order;
        let write = |tree: &gix::objs::Tree| {
            let oid = inner.write_object(tree)?.detach();
            order.push(oid);
            gix::Result::Ok(oid)
        };
        editor.write(write).map_err(|error| Error::write("a tree", explain(&error)))
    }

    fn decoded(&self, tree: Oid) -> Result<gix::objs::Tree> {
        let bytes = self.repo.tree_bytes(tree)?;
        let tree = gix::objs::TreeRef::from_bytes(&bytes, self.repo.inner.object_hash());
        // Modes of old trees that git no longer writes stay as they are.
        tree.map(|tree| tree.into_owned()).map_err(|error| Error::read("a tree", explain(&error)))
    }

    /// Writes a commit. One that is to be signed is made by `git commit-tree -S`, after a flush, and is on disk at
    /// once.
    ///
    /// # Errors
    /// [`Error::Write`]; when signing fails, [`Error::Sign`] with what git and the signing program said.
    pub fn commit(&mut self, commit: &NewCommit) -> Result<Oid> {
        let message = commit.message.replace('\0', "");
        let (author, committer) = (commit.author.encoded(), commit.committer.encoded());
        if commit.sign {
            self.flush()?;
            return self.signed(commit, &author, &committer, message);
        }
        let mut bytes = format!("tree {}\n", commit.tree).into_bytes();
        let mut seen = Vec::new();
        for parent in &commit.parents {
            if !seen.contains(&parent) {
                seen.push(parent);
                bytes.extend_from_slice(format!("parent {parent}\n").as_bytes());
            }
        }
        for (role, person) in [("author", &author), ("committer", &committer)] {
            bytes.extend_from_slice(format!("{role} {person} {} +0000\n", commit.time).as_bytes());
        }
        bytes.push(b'\n');
        bytes.extend_from_slice(message.as_bytes());
        self.put(Kind::Commit, &bytes)
    }

    /// Writes an object from its bytes.
    pub(super) fn put(&mut self, kind: Kind, bytes: &[u8]) -> Result<Oid> {
        let oid = gix::objs::compute_hash(self.repo.inner.object_hash(), kind, bytes);
        self.put_as(kind, bytes, oid)
    }

    fn put_as(&mut self, kind: Kind, bytes: &[u8], oid: gix::Result<Oid>) -> Result<Oid> {
        use gix::objs::Write;
        let inner = &self.repo.inner;
        let failed = |error: gix::Error| Error::write(format!("a {kind}"), explain(&error));
        let oid = oid.map_err(failed)?;
        if inner.objects.exists_without_refresh(&oid) {
            return Ok(oid);
        }
        self.order.push(oid);
        inner.objects.write_buf_with_known_id(kind, bytes, oid).map_err(failed)
    }

    fn signed(&self, commit: &NewCommit, author: &Person, committer: &Person, message: String) -> Result<Oid> {
        let date = format!("@{} +0000", commit.time);
        let mut git = self
            .repo
            .git()
            .args(["-c", "core.fsync=objects,reference", "-c", "i18n.commitEncoding=UTF-8"])
            .args(["commit-tree", "-S", &commit.tree.to_string()]);
        for parent in &commit.parents {
            git = git.args(["-p", &parent.to_string()]);
        }
        let git = git
            .env("GIT_AUTHOR_NAME", &author.name)
            .env("GIT_AUTHOR_EMAIL", &author.email)
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_NAME", &committer.name)
            .env("GIT_COMMITTER_EMAIL", &committer.email)
            .env("GIT_COMMITTER_DATE", &date)
            .stdin(message);
        let output = git.output()?;
        match output.code {
            Some(0) => refs::oid_of(&output.stdout, "the signed commit"),
            _ => Err(Error::Sign(output.stderr.trim().to_owned())),
        }
    }

    /// Makes everything durable. Objects that the repository had already are not written again.
    ///
    /// # Errors
    /// [`Error::Write`] with the path that could not be written (disk full, read-only, …). The objects stay in the
    /// batch then.
    pub fn flush(&mut self) -> Result<()> {
        let Some(memory) = self.repo.inner.objects.take_object_memory() else { return Ok(()) };
        let mut seen = HashSet::new();
        let mut objects = Vec::with_capacity(memory.len());
        for oid in &self.order {
            if let Some((kind, bytes)) = memory.get(oid).filter(|_| seen.insert(*oid)) {
                objects.push(store::Object { oid: *oid, kind: *kind, bytes });
            }
        }
        let written = store::write(&self.repo, objects);
        if written.is_ok() {
            self.order.clear();
            self.repo.inner.objects.set_object_memory(Default::default());
        } else {
            self.repo.inner.objects.set_object_memory(memory);
        }
        written
    }
}

/// Paths that a checkout could turn against the user, on any file system, are not written.
fn check_path(path: &BStr, entry: Option<Entry>) -> Result<()> {
    use gix::validate::path::component;
    let link = entry.is_some_and(|entry| entry.mode == super::Mode::Link);
    let mut parts = path.split_str("/").peekable();
    while let Some(part) = parts.next() {
        let mode = (link && parts.peek().is_none()).then_some(component::Mode::Symlink);
        // Windows' device names are a matter of the pages' own rules; what is in a tree already must stay editable.
        let options = component::Options { protect_windows: false, ..Default::default() };
        if let Err(error) = gix::validate::path::component(part.as_bstr(), mode, options) {
            return Err(Error::Refused(format!("the path {path:?} cannot stand in a tree: {error}")));
        }
    }
    Ok(())
}
