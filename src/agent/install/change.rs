//! A change of one file: shown as a diff, written as a whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::{Error, Fault};
use crate::git;

/// A file that is to be made, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file itself, behind links.
    pub path: PathBuf,
    /// Its text; `None` where it is not there.
    pub before: Option<String>,
    /// What it is to be; `None`: it goes.
    pub after: Option<String>,
    /// Folders that go with it when they are empty, the deepest first.
    pub(super) folders: Vec<PathBuf>,
}

impl Change {
    /// The change as a unified diff.
    pub fn diff(&self) -> String {
        let (before, after) = (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        let name = |text: &Option<String>| match text {
            Some(_) => self.path.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        git::unified(before, after, [&name(&self.before), &name(&self.after)])
    }

    /// Makes it so.
    ///
    /// # Errors
    /// When the file is no longer as it was, or cannot be written.
    pub(super) fn write(&self) -> Result<(), Error> {
        if read(&self.path)? != self.before {
            return Err(Error::Moved { path: self.path.clone() });
        }
        match &self.after {
            Some(text) => write(&self.path, text),
            None => {
                fs::remove_file(&self.path).map_err(|error| Error::io("remove", &self.path, error))?;
                // Fails while anything else stands there, and then it should stay.
                let _ = self.folders.iter().try_for_each(fs::remove_dir);
                Ok(())
            }
        }
    }
}

/// The text of a file; `None` where there is none.
///
/// # Errors
/// When it cannot be read or is no text.
pub(super) fn read(path: &Path) -> Result<Option<String>, Error> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_ok() => {
            return Err(Error::broken(path, Fault::new("this link leads nowhere")));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path, error)),
    };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes());
        Error::broken(path, Fault::at(&text, at, "this is no UTF-8"))
    })
}

/// The file itself, behind links; of one that is not there, below the real path of the nearest folder that is.
pub(super) fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => path.to_owned(),
    }
}

/// The folders above a file that are not there, the deepest first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

/// Writes a file as a whole, with its folders. One that is there keeps its mode.
///
/// # Errors
/// When it cannot be written; the old one is there then.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Error> {
    let fail = |error| Error::io("write", path, error);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(fail)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = folder.join(format!(".{name}.git-memory-{}", std::process::id()));
    let done = (|| {
        // Not a temporary file of the library's: those nobody else may read, and a new file is as the umask says.
        let mut file = OpenOptions::new().write(true).create_new(true).open(&aside)?;
        file.write_all(text.as_bytes())?;
        if let Ok(meta) = fs::metadata(path) {
            file.set_permissions(meta.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&aside, path)
    })();
    done.map_err(|error| {
        let _ = fs::remove_file(&aside);
        fail(error)
    })
}
