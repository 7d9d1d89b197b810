//! The brief as a file: always in the local folder, and where `memory_md.path` names one, in the work tree.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::Brief;
use crate::git::{self, Repo};
use crate::wiki::{Wiki, path};

/// The first line of what we wrote: a file without it is somebody else's.
const MARK: &str = "<!-- git-memory:memory.md -->";

/// The file in the local folder.
const FILE: &str = "memory.md";

/// What became of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Whether a file had to be written.
    pub written: bool,
    /// Why one was not, in words.
    pub trouble: Vec<String>,
}

/// Keeps the brief: each file is written whole or not at all, and only when it changed. One in the work tree must be
/// ignored by git, or committed, and be ours.
pub fn keep(wiki: &Wiki, brief: &Brief) -> Kept {
    let text = format!("{MARK}\n# Memory\n\n{}\n", brief.text());
    let mut kept = Kept::default();
    let mut put = |at: &Path| match write(at, &text) {
        Ok(written) => kept.written |= written,
        Err(error) => kept.trouble.push(format!("cannot write {}: {error}", at.display())),
    };
    put(&wiki.repo.memory_dir().join(FILE));
    let named = wiki.config.settings.memory_md.path.as_str();
    if named.is_empty() {
        return kept;
    }
    let repo = wiki.code.as_ref().unwrap_or(&wiki.repo);
    match place(repo, named) {
        Ok(at) => put(&at),
        Err(why) => kept.trouble.push(format!("memory_md.path names {named}: {why}")),
    }
    kept
}

/// Where the file stands in the work tree; why it may not be written.
fn place(repo: &Repo, named: &str) -> Result<std::path::PathBuf, String> {
    path::check(named).map_err(|fault| fault.reason.to_owned())?;
    let Some(top) = repo.workdir() else { return Err("there is no work tree".into()) };
    let at = top.join(named);
    for part in at.ancestors().take_while(|part| *part != top) {
        if fs::symlink_metadata(part).is_ok_and(|found| found.file_type().is_symlink()) {
            return Err("a symbolic link is on the way to it".into());
        }
    }
    let ours = match fs::read(&at) {
        Ok(bytes) => bytes.starts_with(MARK.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(error.to_string()),
    };
    if !ours {
        return Err(format!("it is not ours: its first line is not `{MARK}`"));
    }
    match is_expected(repo, named) {
        Ok(true) => Ok(at),
        Ok(false) => Err("it is neither ignored by git nor committed: add it to .gitignore, or commit it".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether git ignores the file or has it already.
fn is_expected(repo: &Repo, named: &str) -> git::Result<bool> {
    let ignored = repo.git().args(["check-ignore", "-q", "--"]).arg(named).output()?.code == Some(0);
    let tracked = || -> git::Result<bool> {
        let git = repo.git().args(["ls-files", "--error-unmatch", "--"]).arg(format!(":(top,literal){named}"));
        Ok(git.output()?.code == Some(0))
    };
    Ok(ignored || tracked()?)
}

fn write(at: &Path, text: &str) -> io::Result<bool> {
    if fs::read(at).is_ok_and(|bytes| bytes == text.as_bytes()) {
        return Ok(false);
    }
    let folder = at.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".memory-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    file.persist(at).map_err(|error| error.error)?;
    Ok(true)
}
