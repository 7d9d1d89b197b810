//! Finding the files in which agents keep their sessions, and telling which of them are of this wiki's projects.

mod aider;
mod claude;
mod codex;
mod copilot;
mod folders;
mod gemini;
mod opencode;
mod recorded;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use claude::{claude_projects, with_subagents};
pub use codex::codex_session;
pub use folders::Folders;
pub use recorded::recorded_cwd;

use crate::session::Agent;
use crate::wiki::Wiki;

/// A file that may hold a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// It was named itself; else it was met in a folder.
    pub named: bool,
}

/// What a search found, and what it could not look at, with the reason.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The files, each once: in the order given, those of a folder sorted.
    pub files: Vec<Found>,
    /// Paths that are not there or cannot be read.
    pub failed: Vec<(PathBuf, String)>,
}

/// How the names of files end that are looked at in a folder.
const ENDS: [&str; 5] = ["jsonl", "jsonl.zst", "json", "md", "db"];

/// Looks at files and, recursively, at folders. In a folder only files with one of [`ENDS`] count; links are
/// not followed there, and an agent's own notes (a folder with a `MEMORY.md`) are passed over.
pub fn search(inputs: &[PathBuf]) -> Search {
    let mut search = Search::default();
    for input in inputs {
        match fs::metadata(input) {
            Err(error) => search.failed.push((input.clone(), reason(&error))),
            Ok(meta) if meta.is_dir() => walk(input, &ENDS, &mut search),
            Ok(meta) if meta.is_file() => search.files.push(Found { path: input.clone(), named: true }),
            Ok(_) => search.failed.push((input.clone(), "it is neither a file nor a folder".into())),
        }
    }
    let mut seen = BTreeSet::new();
    search.files.retain(|file| seen.insert(file.path.canonicalize().unwrap_or_else(|_| file.path.clone())));
    search
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".into(),
        _ => error.to_string(),
    }
}

fn walk(folder: &Path, ends: &[&str], search: &mut Search) {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            search.failed.push((folder.to_owned(), reason(&error)));
            return;
        }
    };
    if entries.iter().any(|entry| entry.file_name() == "MEMORY.md") {
        return;
    }
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    opencode::keep_sessions(folder, &mut entries);
    codex::keep_sessions(&mut entries);
    for entry in entries {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => walk(&path, ends, search),
            Ok(kind) if kind.is_file() && has_end(&path, ends) && !claude::is_beside(&path) => {
                search.files.push(Found { path, named: false });
            }
            _ => {}
        }
    }
}

fn has_end(path: &Path, ends: &[&str]) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()) else { return false };
    ends.iter().any(|end| name.strip_suffix(end).is_some_and(|stem| stem.ends_with('.')))
}

/// Adds the session files of one agent.
type Finder = fn(&mut Search);

/// The session files in the agents' own places, or in those of one agent; of an agent that keeps them in its projects,
/// in this wiki's.
pub fn auto(wiki: &Wiki, only: Option<Agent>) -> Search {
    let mut search = Search::default();
    let places: [(Agent, Finder); 5] = [
        (Agent::Claude, claude::sessions),
        (Agent::Codex, codex::sessions),
        (Agent::OpenCode, opencode::sessions),
        (Agent::Gemini, gemini::sessions),
        (Agent::Copilot, copilot::sessions),
    ];
    let is_asked = |agent| only.is_none_or(|only| only == agent);
    for (_, sessions) in places.into_iter().filter(|(agent, _)| is_asked(*agent)) {
        sessions(&mut search);
    }
    if is_asked(Agent::Aider) {
        aider::sessions(wiki, &mut search);
    }
    search
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_walked_in_order_and_each_file_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
            path
        };
        let (b, a, note) = (write("b.jsonl"), write("a/x.jsonl"), write("note.md"));
        write("a/tool.txt");
        write(".git/config.md");
        write("memory/MEMORY.md");
        write("memory/page.md");
        let named = write("named.txt");
        let found = search(&[named.clone(), dir.path().to_owned(), b.clone(), dir.path().join("absent")]);
        let expected = [(named, true), (a, false), (b, false), (note, false)];
        assert_eq!(found.files, expected.map(|(path, named)| Found { path, named }));
        assert_eq!(found.failed, [(dir.path().join("absent"), "there is no such file or folder".to_owned())]);
    }
}
