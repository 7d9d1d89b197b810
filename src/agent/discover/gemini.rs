//! Gemini CLI's own places.

use std::path::{Path, PathBuf};

use super::{Search, reason, walk};

/// Its folder of projects: `.gemini/tmp` below `$GEMINI_CLI_HOME`, else below the home folder.
fn folder() -> Option<PathBuf> {
    let configured = std::env::var_os("GEMINI_CLI_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    Some(configured.or_else(std::env::home_dir)?.join(".gemini").join("tmp"))
}

/// Adds all of its session files, subagents' too; none when it was never used here.
pub(super) fn sessions(search: &mut Search) {
    let Some(folder) = folder().filter(|folder| folder.is_dir()) else { return };
    let projects = match std::fs::read_dir(&folder) {
        Ok(projects) => projects,
        Err(error) => return search.failed.push((folder, reason(&error))),
    };
    let mut chats: Vec<PathBuf> = projects.flatten().map(|project| project.path().join("chats")).collect();
    chats.sort_unstable();
    for chats in chats.into_iter().filter(|chats| chats.is_dir()) {
        let before = search.files.len();
        walk(&chats, &["json", "jsonl"], search);
        let found = search.files.split_off(before);
        search.files.extend(found.into_iter().filter(|file| is_session(&file.path, &chats)));
    }
}

/// Files of subagents stand in a folder with their session's name; other files beside the sessions are none.
fn is_session(file: &Path, chats: &Path) -> bool {
    let named = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("session-"));
    named || file.parent() != Some(chats)
}
