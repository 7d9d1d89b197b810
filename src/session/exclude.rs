//! Paths whose events are never stored.
//!
//! Nothing is looked up on the disk: what could name an excluded path, counts as naming it.

mod glob;
mod output;
mod shell;
#[cfg(test)]
mod tests;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde_json::Value;

use self::glob::{Pattern, Segment};
use self::shell::Word;

/// `capture.ignore_paths`, in gitignore syntax.
pub struct Exclusions {
    /// What git would say of a path that is written out.
    patterns: Gitignore,
    /// The same without exceptions, for paths that a shell completes.
    globs: Vec<Pattern>,
}

/// Whether names of folders differ by case alone.
const CASE_INSENSITIVE: bool = cfg!(any(windows, target_os = "macos"));

/// Longest path, in bytes and in parts, that git's own rules are asked about; beyond it every suspicion counts.
const LONGEST: usize = 4096;
const DEEPEST: usize = 64;

/// What a text is, and so how much it takes to name a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// A command or a path: every word can be a path, and a shell completes it.
    Command,
    /// A pattern that a tool searches with: `*` alone says nothing.
    Search,
    /// Sentences: a folder is named with its separator only, and nothing is completed.
    Prose,
}

impl Exclusions {
    /// From patterns.
    ///
    /// # Errors
    /// In words, naming the pattern that is none.
    pub fn new(patterns: &[String]) -> Result<Exclusions, String> {
        let mut builder = GitignoreBuilder::new("");
        let built = builder.case_insensitive(CASE_INSENSITIVE).map(|_| ());
        built.map_err(|error| format!("capture.ignore_paths: {error}"))?;
        for pattern in patterns {
            builder
                .add_line(None, pattern)
                .map_err(|error| format!("capture.ignore_paths: `{pattern}` is no pattern: {error}"))?;
        }
        let globs = patterns.iter().filter_map(|pattern| Pattern::new(pattern)).collect();
        let patterns = builder.build().map_err(|error| format!("capture.ignore_paths: {error}"))?;
        Ok(Exclusions { patterns, globs })
    }

    /// Whether a path is excluded. It may be absolute or relative to any folder: a pattern that is anchored to the
    /// project's top is tried against every part of it.
    pub fn path(&self, path: &str) -> bool {
        self.literal(path, true)
    }

    /// `folders`: the last part may be the name of a folder.
    fn literal(&self, path: &str, folders: bool) -> bool {
        if !self.globs.iter().any(|glob| glob.may_be_in(path)) {
            return false;
        }
        let path = path.replace('\\', "/");
        let folders = folders || path.ends_with('/');
        let parts = glob::parts(path.split('/').map(|part| (part, part)));
        let segments: Vec<Segment> = parts.iter().map(|part| Segment::literal(part)).collect();
        if !self.globs.iter().any(|glob| glob.meets(&segments, folders)) {
            return false;
        }
        if path.len() > LONGEST || parts.len() > DEEPEST {
            return true;
        }
        (0..parts.len()).any(|from| {
            let tail = parts[from..].join("/");
            self.patterns.matched_path_or_any_parents(&tail, false).is_ignore()
                || folders && self.patterns.matched_path_or_any_parents(&tail, true).is_ignore()
        })
    }

    /// Whether a text is an excluded path, or a shell command that names one: quoted, redirected to (`>file`), given as
    /// `@file`, `key=path` or `rev:path`, inside a nested command, or by a pattern that the shell would complete to it.
    pub fn names(&self, text: &str) -> bool {
        self.text(text, None, Manner::Command)
    }

    /// As [`Exclusions::names`], for a command that is run in this folder.
    pub fn names_in(&self, folder: Option<&str>, text: &str) -> bool {
        self.text(text, folder, Manner::Command)
    }

    /// Whether sentences name an excluded path.
    pub fn mentioned(&self, text: &str) -> bool {
        self.text(text, None, Manner::Prose)
    }

    fn text(&self, text: &str, folder: Option<&str>, manner: Manner) -> bool {
        if self.globs.is_empty() {
            return false;
        }
        let whole = text.trim();
        let is_one = whole.len() <= LONGEST && !whole.contains('\n') && manner != Manner::Prose;
        if is_one && self.literal(whole, true) {
            return true;
        }
        let run = manner != Manner::Prose;
        // A backslash escapes in one shell and parts folders in another.
        let other = shell::has_separators(text).then(|| text.replace('\\', "/"));
        self.command(&shell::words(text, run), folder, manner)
            || other.is_some_and(|text| self.command(&shell::words(&text, run), folder, manner))
    }

    /// The words of a command in their order: a change of folder counts for what follows.
    fn command(&self, words: &[Word], folder: Option<&str>, manner: Manner) -> bool {
        let mut here = Word::plain(folder.unwrap_or_default());
        for (at, word) in words.iter().enumerate() {
            if self.word(word, manner) {
                return true;
            }
            let mut relative = word.pieces().into_iter().chain([word.clone()]).filter_map(|piece| here.joined(&piece));
            let manner = if word.said { Manner::Prose } else { manner };
            if !here.is_empty() && relative.any(|path| self.is_named(&path, manner)) {
                return true;
            }
            let before = at.checked_sub(1).map(|at| words[at].text.as_str());
            if manner != Manner::Prose && before.is_some_and(shell::changes_folder) {
                let there = here.joined(word).filter(|there| there.text.len() <= LONGEST);
                here = there.unwrap_or_else(|| word.clone());
            }
        }
        false
    }

    fn word(&self, word: &Word, manner: Manner) -> bool {
        let manner = if word.said { Manner::Prose } else { manner };
        self.is_named(word, manner) || word.pieces().iter().any(|piece| self.is_named(piece, manner))
    }

    fn is_named(&self, word: &Word, manner: Manner) -> bool {
        let folders = manner != Manner::Prose;
        if self.literal(&word.text, folders) {
            return true;
        }
        if manner == Manner::Prose || !word.is_open() {
            return false;
        }
        let segments = word.segments(manner == Manner::Search);
        self.globs.iter().any(|glob| glob.meets(&segments, true))
    }

    /// Whether a tool's input names an excluded path. Text that is only content (what is written) is not looked at.
    pub fn input(&self, input: &Value) -> bool {
        self.input_in(None, input)
    }

    /// As [`Exclusions::input`], for a tool that works in this folder.
    pub fn input_in(&self, folder: Option<&str>, input: &Value) -> bool {
        !self.globs.is_empty() && self.within("", input, folder)
    }

    fn within(&self, key: &str, value: &Value, folder: Option<&str>) -> bool {
        let manner = match key {
            "content" | "contents" | "new_string" | "old_string" | "new_source" | "file_text" | "new_str"
            | "old_str" | "insert_text" | "oldString" | "newString" => return false,
            "prompt" | "description" | "query" | "question" | "text" | "message" | "title" | "body" | "header"
            | "label" | "subject" | "activeForm" | "thought" | "plan" => Manner::Prose,
            "pattern" | "glob" | "include" | "exclude" | "regex" | "globs" => Manner::Search,
            _ => Manner::Command,
        };
        match value {
            Value::String(text) if manner == Manner::Search && is_regex(text) => self.text(text, folder, Manner::Prose),
            Value::String(text) => self.text(text, folder, manner),
            Value::Array(items) => {
                let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                // A command may come in words: what one names can hang on the one before.
                let joined = words.filter(|words| words.len() > 1).map(|words| words.join(" "));
                joined.is_some_and(|text| self.text(&text, folder, manner))
                    || items.iter().any(|item| self.within(key, item, folder))
            }
            Value::Object(fields) => {
                let named = |key: &str| key.contains(['/', '.', '\\']) && self.literal(key, true);
                fields.iter().any(|(key, value)| named(key) || self.within(key, value, folder))
            }
            _ => false,
        }
    }
}

/// Whether what a tool searches with is a regular expression, and no pattern of names.
fn is_regex(pattern: &str) -> bool {
    pattern.contains([' ', '\\', '(', '|', '^', '$', '+']) || pattern.contains(".*")
}
