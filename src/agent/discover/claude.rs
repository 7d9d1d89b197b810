//! Claude Code's own places.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Found, Search, search, walk};

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

/// A transcript and the files of the subagents that it started: those in its own folder, and those of older versions,
/// which stand beside it.
pub fn with_subagents(transcript: &Path) -> Search {
    let mut search = search(&[transcript.to_owned()]);
    if let (Some(folder), Some(session)) = (transcript.parent(), transcript.file_stem()) {
        let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut agents: Vec<PathBuf> = files
            .filter(|path| is_agent(path) && path != transcript)
            .filter(|path| session_of(path).is_some_and(|recorded| *recorded == *session))
            .collect();
        agents.sort_unstable();
        search.files.extend(agents.into_iter().map(|path| Found { path, named: false }));
    }
    let subagents = transcript.with_extension("").join("subagents");
    if subagents.is_dir() {
        walk(&subagents, &["jsonl"], &mut search);
    }
    search
}

/// Whether a file stands beside sessions and holds none: what a subagent was started for, the helper of a compaction,
/// the journal of a workflow.
pub(super) fn is_beside(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let of_workflow = || path.ancestors().any(|folder| folder.ends_with("subagents/workflows"));
    name.starts_with("agent-") && name.ends_with(".meta.json")
        || name.starts_with("agent-acompact-")
        || name == "journal.jsonl" && of_workflow()
}

fn is_agent(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("agent-") && name.ends_with(".jsonl") && !is_beside(path)
}

/// The session that the first line of a file names.
fn session_of(path: &Path) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        session_id: Option<String>,
    }
    let mut line = Vec::new();
    BufReader::new(File::open(path).ok()?.take(1 << 20)).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice::<Line>(&line).ok()?.session_id
}
