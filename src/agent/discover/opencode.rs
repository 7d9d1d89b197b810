//! OpenCode's own places.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use super::{Found, Search, walk};

/// OpenCode's folder: below `$XDG_DATA_HOME`, else below `~/.local/share`, on every system.
fn data() -> Option<PathBuf> {
    let configured = std::env::var_os("XDG_DATA_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = configured.or_else(|| Some(std::env::home_dir()?.join(".local").join("share")))?;
    Some(folder.join("opencode"))
}

/// Adds all of its sessions: the storage trees of older versions, and the databases; none when it was never used here.
pub(super) fn sessions(search: &mut Search) {
    let Some(data) = data() else { return };
    for tree in [data.join("project"), data.join("storage")] {
        if tree.is_dir() {
            walk(&tree, &["json"], search);
        }
    }
    let mut databases: Vec<PathBuf> = fs::read_dir(&data).into_iter().flatten().flatten().map(|e| e.path()).collect();
    databases.retain(|path| is_database(path));
    databases.extend(std::env::var_os("OPENCODE_DB").map(|path| data.join(path)));
    databases.sort_unstable();
    databases.dedup();
    let there = databases.into_iter().filter(|path| path.is_file());
    search.files.extend(there.map(|path| Found { path, named: false }));
}

/// `opencode.db`, and one for each channel, such as `opencode-next.db`.
fn is_database(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let stem = name.strip_suffix(".db").and_then(|stem| stem.strip_prefix("opencode"));
    stem.is_some_and(|channel| channel.is_empty() || channel.starts_with('-'))
}

/// Of a storage tree's folder only the folder of the sessions' records is walked: the reader finds the rest from there.
pub(super) fn keep_sessions(folder: &Path, entries: &mut Vec<DirEntry>) {
    let has = |name: &str| entries.iter().any(|entry| entry.file_name() == name);
    let parted = has("message") || has("part");
    let records = if has("session") && parted {
        "session"
    } else if has("info") && parted && folder.file_name().is_some_and(|name| name == "session") {
        "info"
    } else {
        return;
    };
    entries.retain(|entry| entry.file_name() == records);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_storage_tree_only_the_sessions_are_found() {
        let dir = tempfile::tempdir().unwrap();
        for file in [
            "storage/session/p/ses_1.json",
            "storage/message/ses_1/msg_1.json",
            "storage/part/msg_1/prt_1.json",
            "storage/project/p.json",
            "storage/todo/ses_1.json",
            "project/x/storage/session/info/ses_2.json",
            "project/x/storage/session/message/ses_2/msg_2.json",
            "project/x/storage/session/part/ses_2/msg_2/prt_2.json",
            "notes/session/info/a.json",
        ] {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        let mut search = Search::default();
        walk(dir.path(), &["json"], &mut search);
        let found: Vec<_> = search.files.iter().map(|f| f.path.strip_prefix(dir.path()).unwrap()).collect();
        let expected =
            ["notes/session/info/a.json", "project/x/storage/session/info/ses_2.json", "storage/session/p/ses_1.json"];
        assert_eq!(found, expected.map(Path::new));
    }

    #[test]
    fn databases_of_every_channel_are_known_by_their_names() {
        let is = |name: &str| is_database(Path::new(name));
        assert!(is("opencode.db") && is("opencode-next.db"));
        assert!(!is("opencode.db-wal") && !is("other.db") && !is("opencodex.db"));
    }
}
