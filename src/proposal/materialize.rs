//! `pending.materialize`: the open proposals as files in the work tree, for people who review in an editor.
//!
//! The folder is rewritten from the refs, listed in `info/exclude`, and never read back.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use super::View;
use super::sidecar::folder;
use crate::git;
use crate::ledger::{self, Cache};
use crate::wiki::Wiki;

/// The folder, relative to the wiki's root.
const FOLDER: &str = "_pending/auto-improve";

/// Brings the folder up to date, where the settings ask for it and a work tree has the wiki's branch. Trouble with
/// the files is returned for a note; it undoes nothing.
///
/// # Errors
/// What git or the file system said.
pub fn refresh(wiki: &Wiki) -> Result<(), String> {
    if !wiki.config.settings.pending.materialize {
        return Ok(());
    }
    write(wiki).map_err(|error| format!("cannot bring {FOLDER} up to date: {error}"))
}

fn write(wiki: &Wiki) -> Result<(), Box<dyn std::error::Error>> {
    let Some(top) = place(wiki)? else { return Ok(()) };
    let root = if wiki.root.is_empty() { top.clone() } else { top.join(&wiki.root) };
    let target = root.join(FOLDER);
    let view = View::load(wiki, Cache::Use)?;
    let mut wanted = HashSet::new();
    for item in view.open() {
        let name = format!("{}.md", item.id());
        if let Some(bytes) = ledger::file(&wiki.repo, &format!("{}/sidecar.md", folder(item.id())))? {
            fs::create_dir_all(&target)?;
            let path = target.join(&name);
            if fs::read(&path).ok().as_deref() != Some(&bytes) {
                fs::write(path, bytes)?;
            }
            wanted.insert(name);
        }
    }
    let entries = match fs::read_dir(&target) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Only what this function writes goes: sixteen digits and `.md`.
        if name.len() == 19 && name.ends_with(".md") && !wanted.contains(&name) {
            fs::remove_file(entry.path())?;
        }
    }
    exclude(wiki)?;
    Ok(())
}

/// The work tree that has the wiki's branch checked out.
fn place(wiki: &Wiki) -> git::Result<Option<PathBuf>> {
    let holds = |worktree: &git::Worktree| {
        !worktree.bare && !worktree.prunable && worktree.branch.as_deref() == Some(wiki.branch.as_str())
    };
    Ok(wiki.repo.worktrees()?.into_iter().find(holds).map(|worktree| worktree.path))
}

/// Keeps git from seeing the folder.
fn exclude(wiki: &Wiki) -> io::Result<()> {
    let root = if wiki.root.is_empty() { String::new() } else { format!("/{}", wiki.root) };
    let line = format!("{root}/_pending/");
    let path = wiki.repo.common_dir().join("info").join("exclude");
    let text = fs::read_to_string(&path).unwrap_or_default();
    if text.lines().any(|known| known == line) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = fs::OpenOptions::new().create(true).append(true).open(path)?;
    if !text.is_empty() && !text.ends_with('\n') {
        writeln!(file)?;
    }
    writeln!(file, "{line}")
}
