//! Finding the files in which agents keep their sessions, and telling which of them are of this wiki's projects.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::git::Repo;
use crate::wiki::Wiki;
use crate::wiki::scope::GLOBAL;

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
const ENDS: [&str; 2] = ["jsonl", "md"];

/// Looks at files and, recursively, at folders. In a folder only `.jsonl` and `.md` files count; links are not
/// followed there, and an agent's own notes (a folder with a `MEMORY.md`) are passed over.
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
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => walk(&path, ends, search),
            Ok(kind) if kind.is_file() && has_end(&path, ends) => search.files.push(Found { path, named: false }),
            _ => {}
        }
    }
}

fn has_end(path: &Path, ends: &[&str]) -> bool {
    path.extension().is_some_and(|end| ends.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// Claude Code's folder of projects: below `$CLAUDE_CONFIG_DIR`, else below `~/.claude`.
pub fn claude_projects() -> Option<PathBuf> {
    let configured = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = configured.or_else(|| Some(std::env::home_dir()?.join(".claude")))?;
    Some(folder.join("projects"))
}

/// All of Claude Code's session files, subagents' too. None when it was never used here.
pub fn claude_sessions() -> Search {
    let mut search = Search::default();
    if let Some(projects) = claude_projects().filter(|projects| projects.is_dir()) {
        walk(&projects, &["jsonl"], &mut search);
    }
    search
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

/// How much of a file is looked at for its working folder.
const LOOKED_AT: u64 = 1024 * 1024;

/// The first working folder that a session file records near its front.
///
/// # Errors
/// When the file cannot be read.
pub fn recorded_cwd(path: &Path) -> io::Result<Option<String>> {
    #[derive(Deserialize)]
    struct Line {
        cwd: Option<String>,
    }
    let mut reader = BufReader::new(File::open(path)?.take(LOOKED_AT));
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        // Two objects on one line and other damage are no hindrance: the first object is enough.
        let mut objects = serde_json::Deserializer::from_slice(text).into_iter::<Line>();
        if let Some(Ok(Line { cwd: Some(cwd) })) = objects.next() {
            return Ok(Some(cwd));
        }
        line.clear();
    }
    Ok(None)
}

/// What is known of the folders that sessions ran in.
pub struct Folders<'w> {
    wiki: &'w Wiki,
    known: HashMap<String, Folder>,
}

struct Folder {
    /// The remotes of the repository there.
    remotes: Vec<String>,
    /// It is this wiki's repository or one that names it.
    ours: bool,
}

impl<'w> Folders<'w> {
    /// Nothing is known yet.
    pub fn new(wiki: &'w Wiki) -> Folders<'w> {
        Folders { wiki, known: HashMap::new() }
    }

    /// The addresses of the remotes of the repository at a folder; none where there is none any more.
    pub fn remotes(&mut self, cwd: &str) -> &[String] {
        &self.look(cwd).remotes
    }

    /// Whether the sessions of a folder belong to this wiki: its repository is the wiki's (linked work trees are one)
    /// or names it, or a scope's `dirs` or `repos` match.
    ///
    /// # Errors
    /// Why they do not, in words without the folder's name.
    pub fn belongs(&mut self, cwd: &str) -> Result<(), &'static str> {
        let scopes = &self.wiki.scopes;
        let folder = self.look(cwd);
        if folder.ours {
            return Ok(());
        }
        match scopes.of_session(Some(cwd), &folder.remotes) {
            Ok(scope) if scope.name != GLOBAL => Ok(()),
            _ => Err("its folder is of no project of this wiki"),
        }
    }

    fn look(&mut self, cwd: &str) -> &Folder {
        let wiki = self.wiki;
        self.known.entry(cwd.to_owned()).or_insert_with(|| match repository(Path::new(cwd)) {
            None => Folder { remotes: Vec::new(), ours: false },
            Some(repo) => Folder { ours: is_of(&repo, wiki), remotes: repo.remotes() },
        })
    }
}

/// The repository at a folder. Of a folder that is gone, such as a removed work tree inside the project, the nearest
/// one above that still exists tells, unless that is the home folder, which may be anything's.
fn repository(cwd: &Path) -> Option<Repo> {
    if !cwd.is_absolute() {
        return None;
    }
    let there = cwd.ancestors().find(|folder| folder.is_dir())?;
    let repo = Repo::above(there).ok()?;
    if there != cwd && (repo.workdir().is_none() || repo.workdir() == std::env::home_dir()) {
        return None;
    }
    Some(repo)
}

fn is_of(repo: &Repo, wiki: &Wiki) -> bool {
    let wanted = wiki.repo.common_dir();
    let same = |other: &Path| {
        other == wanted || matches!((other.canonicalize(), wanted.canonicalize()), (Ok(a), Ok(b)) if a == b)
    };
    match repo.config("memory.wiki") {
        None => same(&repo.common_dir()),
        Some(link) => {
            let base = repo.workdir().unwrap_or_else(|| repo.common_dir());
            Repo::open(&base.join(link)).is_ok_and(|linked| same(&linked.common_dir()))
        }
    }
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

    #[test]
    fn the_working_folder_is_read_from_the_first_line_that_has_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, "{\"type\":\"summary\"}\nbroken\n{\"cwd\":\"/a b\"}{\"x\":1}\n{\"cwd\":\"/c\"}\n").unwrap();
        assert_eq!(recorded_cwd(&path).unwrap().as_deref(), Some("/a b"));
        fs::write(&path, "{\"cwd\":5}\n").unwrap();
        assert_eq!(recorded_cwd(&path).unwrap(), None);
    }
}
