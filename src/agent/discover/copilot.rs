//! Copilot CLI's own places.

use std::path::PathBuf;

use super::{Found, Search, reason};

/// Its folder of sessions: below `$COPILOT_HOME`, else below `~/.copilot`.
fn folder() -> Option<PathBuf> {
    let configured = std::env::var_os("COPILOT_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = configured.or_else(|| Some(std::env::home_dir()?.join(".copilot")))?;
    Some(folder.join("session-state"))
}

/// Adds all of its session files; none when it was never used here. A session is a file, or a folder with its events
/// and much that is none.
pub(super) fn sessions(search: &mut Search) {
    let Some(folder) = folder().filter(|folder| folder.is_dir()) else { return };
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) => return search.failed.push((folder, reason(&error))),
    };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort_unstable();
    for entry in entries {
        let file = if entry.is_dir() { entry.join("events.jsonl") } else { entry };
        if file.is_file() && file.extension().is_some_and(|end| end == "jsonl") {
            search.files.push(Found { path: file, named: false });
        }
    }
}
