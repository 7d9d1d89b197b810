//! The work tree's side of a fast-forward that failed half-way, on a full disk for one: put back as it was.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use bstr::ByteSlice;

use super::{Oid, Repo, Result, Worktree};

/// The files of a work tree that a fast-forward is going to write, as they are before it.
pub(super) struct Before {
    files: Vec<(PathBuf, Option<Kept>)>,
    index: Option<Vec<u8>>,
    index_path: PathBuf,
}

/// A file's bytes and permissions.
type Kept = (Vec<u8>, fs::Permissions);

impl Before {
    /// Remembers the files that differ between two commits.
    pub(super) fn read(repo: &Repo, worktree: &Worktree, old: Oid, new: Oid) -> Result<Before> {
        let old = (!old.is_null()).then_some(old);
        let mut files = Vec::new();
        for change in repo.diff(old, Some(new))? {
            let Ok(path) = gix::path::from_bstr(change.path.as_bstr()) else { continue };
            let path = worktree.path.join(path);
            // What is no ordinary file here is in git's way, and git does not touch it.
            let known = match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_file() => fs::read(&path).ok().map(|bytes| (bytes, meta.permissions())),
                Ok(_) => continue,
                Err(_) => None,
            };
            files.push((path, known));
        }
        let index_path = worktree.git_dir.join("index");
        Ok(Before { files, index: fs::read(&index_path).ok(), index_path })
    }

    /// Puts every file back that is not as it was. Nothing is done when git got as far as the index: then the files
    /// are all there, and the next attempt goes on from them. Trouble is not reported: the failure that led here is.
    pub(super) fn restore(self) {
        if fs::read(&self.index_path).ok() != self.index {
            return;
        }
        for (path, known) in self.files {
            let now = fs::read(&path).ok();
            let _ = match known {
                Some((bytes, permissions)) if now.as_ref() != Some(&bytes) => put_back(&path, &bytes, permissions),
                None if now.is_some() => fs::remove_file(&path),
                _ => Ok(()),
            };
        }
    }
}

fn put_back(path: &PathBuf, bytes: &[u8], permissions: fs::Permissions) -> io::Result<()> {
    // What git had written of the new file stands in the room that the old one needs.
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    file.write_all(bytes)?;
    file.set_permissions(permissions)
}
