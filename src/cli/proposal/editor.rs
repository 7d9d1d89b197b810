//! The person's editor, as git starts it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::{CliError, Context, Result};
use crate::git::Repo;

/// A file in which a person edits a text. It stays when something goes wrong with what it holds.
pub struct Draft {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Draft {
    /// A file of this name with this text, in the repository's own folder.
    pub fn new(repo: &Repo, name: &str, text: &[u8]) -> Result<Draft> {
        let home = repo.memory_dir().join("edit");
        std::fs::create_dir_all(&home)?;
        let folder = tempfile::Builder::new().prefix("page-").tempdir_in(home)?;
        let path = folder.path().join(name);
        std::fs::write(&path, text)?;
        Ok(Draft { folder, path })
    }

    /// Opens the editor on it and waits; returns what was saved.
    ///
    /// # Errors
    /// `no_editor` when there is none or it fails.
    pub fn open(&self, ctx: &Context, repo: &Repo) -> Result<Vec<u8>> {
        run(ctx, repo, &self.path)?;
        self.text()
    }

    /// What the file holds now.
    pub fn text(&self) -> Result<Vec<u8>> {
        Ok(std::fs::read(&self.path)?)
    }

    /// Keeps the file; returns where it is.
    pub fn keep(self) -> PathBuf {
        let _ = self.folder.keep();
        self.path
    }
}

fn run(ctx: &Context, repo: &Repo, path: &Path) -> Result<()> {
    let command = repo.git().args(["var", "GIT_EDITOR"]).run().map_err(|_| {
        CliError::refused("no_editor", "there is no editor to open")
            .hint("set core.editor or GIT_EDITOR, or give the text with --file")
    })?;
    let command = String::from_utf8_lossy(&command).trim().to_owned();
    if command == ":" {
        return Ok(());
    }
    let failed =
        |why: String| CliError::refused("editor_failed", format!("the editor `{command}` {why}; nothing was changed"));
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{command} \"$@\"")).arg(&command).arg(path).current_dir(&ctx.dir);
    let status = shell.status().map_err(|error| failed(format!("cannot be started: {error}")))?;
    if !status.success() {
        return Err(failed(format!("ended with {status}")));
    }
    Ok(())
}
