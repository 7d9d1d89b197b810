//! How agents' files call this program, and whether what they call is there.

use std::path::{Path, PathBuf};

use super::super::shim::quote;

const NAME: &str = "git-memory";

/// How the program is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program(String);

impl Program {
    /// By its name, which PATH has to find.
    pub fn by_name() -> Program {
        Program(NAME.to_owned())
    }

    /// This very program, by an absolute path: the one that PATH finds where that is the same, as a package manager
    /// keeps that one in place. A path that is no UTF-8 can stand in no file: PATH has to do then.
    pub fn this() -> Program {
        let Ok(binary) = std::env::current_exe() else { return Program::by_name() };
        let same = |path: &PathBuf| matches!((path.canonicalize(), binary.canonicalize()), (Ok(a), Ok(b)) if a == b);
        let path = on_path(NAME).filter(same).unwrap_or(binary);
        match path.to_str() {
            Some(path) if cfg!(windows) => Program(path.replace('\\', "/")),
            Some(path) => Program(path.to_owned()),
            None => Program::by_name(),
        }
    }

    /// As one word, for lists of words.
    pub fn word(&self) -> &str {
        &self.0
    }

    /// A line for the agent's shell. A program that is gone must not be an error of the agent's.
    pub fn line(&self, arguments: &str) -> String {
        format!("{} {arguments} || exit 0", shell_word(&self.0))
    }
}

/// A word for POSIX shells that Windows' own takes as well, where that is possible.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+,@%".contains(c);
    if word.chars().all(plain) {
        word.to_owned()
    } else if word.contains(['"', '$', '`', '\\', '!']) {
        quote(word)
    } else {
        format!("\"{word}\"")
    }
}

/// The program and the arguments of a line that [`Program::line`] made; `None` when it calls another program.
pub(super) fn called(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    let (word, rest) = if let Some(rest) = line.strip_prefix('"') {
        let (word, rest) = rest.split_once('"')?;
        (word.to_owned(), rest)
    } else if line.starts_with('\'') {
        let end = line.match_indices("' ").map(|(at, _)| at + 1).next()?;
        (line[1..end - 1].replace("'\\''", "'"), &line[end..])
    } else {
        let (word, rest) = line.split_once(' ')?;
        (word.to_owned(), rest)
    };
    let rest = rest.trim();
    is_ours(&word).then(|| (word, rest.strip_suffix("|| exit 0").unwrap_or(rest).trim()))
}

/// Whether a word names this program.
pub(super) fn is_ours(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    name == NAME || name == "git-memory.exe"
}

/// Why the program that a file calls cannot be started.
pub(super) fn missing(word: &str) -> Option<String> {
    if word.contains(['/', '\\']) {
        let there = Path::new(word).is_file();
        (!there).then(|| format!("it calls {word}, which is not there"))
    } else {
        on_path(word).is_none().then(|| format!("it calls {word}, which PATH does not find"))
    }
}

/// The file of a program on PATH.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = if cfg!(windows) { vec![format!("{name}.exe"), name.to_owned()] } else { vec![name.to_owned()] };
    let mut found = std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>());
    found.find(|file| file.is_absolute() && file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_calls_is_read_back_whatever_the_path() {
        for path in
            ["git-memory", "/opt/bin/git-memory", "/a b/git-memory", "/it's $HOME/git-memory", "C:/x y/git-memory.exe"]
        {
            let line = Program(path.to_owned()).line("capture --hook");
            assert_eq!(called(&line), Some((path.to_owned(), "capture --hook")), "{line}");
        }
        assert_eq!(called("git-memory-other capture --hook || exit 0"), None);
        assert_eq!(called("echo git-memory capture --hook"), None);
    }

    #[test]
    fn ordinary_paths_are_not_quoted() {
        assert_eq!(Program("/usr/bin/git-memory".into()).line("x"), "/usr/bin/git-memory x || exit 0");
        assert_eq!(Program("/a b/git-memory".into()).line("x"), "\"/a b/git-memory\" x || exit 0");
    }
}
