//! Claude Code's own places.

use std::path::{Path, PathBuf};

use super::{Search, search, walk};

/// Claude Code's folder of projects: below `$CLAUDE_CONFIG_DIR`, else below `~/.claude`.
pub fn claude_projects() -> Option<PathBuf> {
    let configured = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = configured.or_else(|| Some(std::env::home_dir()?.join(".claude")))?;
    Some(folder.join("projects"))
}

/// Adds all of its session files, subagents' too; none when it was never used here.
pub(super) fn sessions(search: &mut Search) {
    if let Some(projects) = claude_projects().filter(|projects| projects.is_dir()) {
        walk(&projects, &["jsonl"], search);
    }
}

/// A transcript and, beside it, the files of the subagents that it started.
pub fn with_subagents(transcript: &Path) -> Search {
    let mut search = search(&[transcript.to_owned()]);
    let subagents = transcript.with_extension("").join("subagents");
    if subagents.is_dir() {
        walk(&subagents, &["jsonl"], &mut search);
    }
    search
}
