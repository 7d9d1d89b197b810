//! Codex's own places.

use std::fs::DirEntry;
use std::path::PathBuf;

use super::{Search, walk};

/// Codex's folders of sessions: below `$CODEX_HOME`, else below `~/.codex`.
fn folders() -> Vec<PathBuf> {
    let configured = std::env::var_os("CODEX_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let home = configured.or_else(|| Some(std::env::home_dir()?.join(".codex")));
    let folders = home.into_iter().flat_map(|home| [home.join("sessions"), home.join("archived_sessions")]);
    folders.filter(|folder| folder.is_dir()).collect()
}

/// Adds all of its session files, packed ones too; none when it was never used here.
pub(super) fn sessions(search: &mut Search) {
    for folder in folders() {
        walk(&folder, &["jsonl", "jsonl.zst"], search);
    }
}

/// The file of the session with this id.
pub fn codex_session(id: &str) -> Option<PathBuf> {
    if id.len() < 8 || !id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return None;
    }
    let ends = [format!("-{id}.jsonl"), format!("-{id}.jsonl.zst")];
    let mut search = Search::default();
    sessions(&mut search);
    let is_its = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        ends.iter().any(|end| name.ends_with(end))
    };
    search.files.into_iter().map(|file| file.path).find(is_its)
}

/// Leaves out of a folder what is there twice, and Codex's lists of sessions and prompts: a packed session that also
/// stands there plain is an older copy of it.
pub(super) fn keep_sessions(entries: &mut Vec<DirEntry>) {
    let names: Vec<_> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let is_home = names.iter().any(|name| name == "sessions" || name == "archived_sessions");
    entries.retain(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let plain = name.strip_suffix(".jsonl.zst").map(|stem| format!("{stem}.jsonl"));
        let is_list = is_home && matches!(name.as_str(), "history.jsonl" | "session_index.jsonl");
        !is_list && plain.is_none_or(|plain| !names.contains(&plain))
    });
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::{ENDS, Search, walk};

    #[test]
    fn a_plain_file_wins_over_its_packed_copy_and_lists_are_no_sessions() {
        let dir = tempfile::tempdir().unwrap();
        let files = [
            "archived_sessions/rollout-c.jsonl.zst",
            "history.jsonl",
            "session_index.jsonl",
            "sessions/2026/rollout-a.jsonl",
            "sessions/2026/rollout-a.jsonl.zst",
            "sessions/2026/rollout-b.jsonl.zst",
        ];
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let mut search = Search::default();
        walk(dir.path(), &ENDS, &mut search);
        let found: Vec<_> = search.files.iter().map(|file| file.path.strip_prefix(dir.path()).unwrap()).collect();
        assert_eq!(found, [files[0], files[3], files[5]].map(std::path::Path::new));
    }
}
