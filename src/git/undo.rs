//! The work tree's side of a fast-forward that failed half-way, on a full disk for one: put back as it was.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use bstr::ByteSlice;

use super::{Oid, Repo, Result, Worktree};

/// The files of a work tree that a fast-forward is going to write, as they are before it.
pub(super) struct Before {
    files: Vec<File>,
    index: Option<Vec<u8>>,
    index_path: PathBuf,
}

/// One of them.
struct File {
    path: PathBuf,
    /// What stood there; `None`: nothing.
    before: Option<Kept>,
    /// What git is going to write there; `None`: it takes the file away.
    coming: Option<Vec<u8>>,
}

/// A file's bytes and permissions.
type Kept = (Vec<u8>, fs::Permissions);

impl File {
    /// Whether what stands there now is what git left of its work: nothing, or the beginning of what it was writing.
    /// Anything else somebody wrote meanwhile, and it stays.
    fn is_gits(&self, now: Option<&[u8]>) -> bool {
        match (now, &self.coming) {
            (None, _) => true,
            (Some(now), Some(coming)) => coming.starts_with(now),
            (Some(_), None) => false,
        }
    }
}

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
            let coming = change.after.map(|entry| repo.blob(entry.oid)).transpose()?;
            files.push(File { path, before: known, coming });
        }
        let index_path = worktree.git_dir.join("index");
        Ok(Before { files, index: fs::read(&index_path).ok(), index_path })
    }

    /// Puts back every file that git had begun to change. Nothing is done when git got as far as the index: then the files
    /// are all there, and the next attempt goes on from them. Trouble is not reported: the failure that led here is.
    pub(super) fn restore(self) {
        if fs::read(&self.index_path).ok() != self.index {
            return;
        }
        for file in self.files {
            let now = fs::read(&file.path).ok();
            if !file.is_gits(now.as_deref()) {
                continue;
            }
            let _ = match file.before {
                Some((bytes, permissions)) if now.as_ref() != Some(&bytes) => put_back(&file.path, &bytes, permissions),
                None if now.is_some() => fs::remove_file(&file.path),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_git_began_to_write_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let file = |name: &str, before: Option<&str>| {
            let before = before.map(|text| {
                fs::write(path(name), text).unwrap();
                (text.into(), fs::metadata(path(name)).unwrap().permissions())
            });
            File { path: path(name), before, coming: Some(b"new text".to_vec()) }
        };
        let files = vec![
            file("cut-short", Some("old text")),
            file("gone", Some("old text")),
            file("begun", None),
            file("edited-meanwhile", Some("old text")),
            file("made-meanwhile", None),
        ];
        let before = Before { files, index: None, index_path: path("index") };
        fs::write(path("cut-short"), "new").unwrap();
        fs::remove_file(path("gone")).unwrap();
        fs::write(path("begun"), "new t").unwrap();
        fs::write(path("edited-meanwhile"), "a person's text").unwrap();
        fs::write(path("made-meanwhile"), "a person's text").unwrap();
        before.restore();
        let text = |name: &str| fs::read_to_string(path(name)).ok();
        assert_eq!((text("cut-short").as_deref(), text("gone").as_deref()), (Some("old text"), Some("old text")));
        assert_eq!(text("begun"), None);
        assert_eq!(text("edited-meanwhile").as_deref(), Some("a person's text"));
        assert_eq!(text("made-meanwhile").as_deref(), Some("a person's text"));
    }
}
