//! Paths whose events are never stored.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde_json::Value;

/// `capture.ignore_paths`, in gitignore syntax.
pub struct Exclusions {
    patterns: Gitignore,
}

impl Exclusions {
    /// From patterns.
    ///
    /// # Errors
    /// In words, naming the pattern that is none.
    pub fn new(patterns: &[String]) -> Result<Exclusions, String> {
        let mut builder = GitignoreBuilder::new("");
        for pattern in patterns {
            builder
                .add_line(None, pattern)
                .map_err(|error| format!("capture.ignore_paths: `{pattern}` is no pattern: {error}"))?;
        }
        let patterns = builder.build().map_err(|error| format!("capture.ignore_paths: {error}"))?;
        Ok(Exclusions { patterns })
    }

    /// Whether a path is excluded. It may be absolute or relative to any folder: a pattern that is anchored to the
    /// project's top is tried against every part of it.
    pub fn path(&self, path: &str) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let path = path.replace('\\', "/");
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." | "~" => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        (0..parts.len()).any(|from| {
            let tail = parts[from..].join("/");
            self.patterns.matched_path_or_any_parents(&tail, false).is_ignore()
                || self.patterns.matched_path_or_any_parents(&tail, true).is_ignore()
        })
    }

    /// Whether a text is an excluded path, or a shell command that names one: quoted, redirected to (`>file`), given as
    /// `@file`, `key=path` or `rev:path`, or inside a nested command.
    pub fn names(&self, text: &str) -> bool {
        !self.patterns.is_empty() && (self.path(text.trim()) || words(text).iter().any(|word| self.word(word)))
    }

    fn word(&self, word: &str) -> bool {
        if word.contains(char::is_whitespace) && words(word).iter().any(|inner| inner != word && self.word(inner)) {
            return true;
        }
        let bare = word.trim_start_matches(['@', '-']);
        self.path(word) || self.path(bare) || bare.split(['=', ':', ',', '@']).any(|piece| self.path(piece))
    }

    /// Whether a tool's input names an excluded path. Text that is only content (what is written, what is asked) is not
    /// looked at.
    pub fn input(&self, input: &Value) -> bool {
        !self.patterns.is_empty() && self.within("", input)
    }

    fn within(&self, key: &str, value: &Value) -> bool {
        match value {
            Value::String(_) if CONTENT.contains(&key) => false,
            Value::String(text) => self.names(text),
            Value::Array(items) => items.iter().any(|item| self.within(key, item)),
            Value::Object(fields) => fields.iter().any(|(key, value)| self.within(key, value)),
            _ => false,
        }
    }
}

/// The inputs that are only content.
const CONTENT: [&str; 8] =
    ["content", "new_string", "old_string", "newString", "oldString", "prompt", "description", "new_source"];

/// The words of a shell command, lexically: quotes and escapes resolved, operators parting words, nothing expanded.
fn words(command: &str) -> Vec<String> {
    let (mut out, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut chars = command.chars();
    let mut end = |word: &mut String| {
        if !word.is_empty() {
            out.push(std::mem::take(word));
        }
    };
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.push(c),
            (_, '\\') => word.extend(chars.next().filter(|c| *c != '\n')),
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (None, c) if c.is_whitespace() || ";|&()<>`{}$".contains(c) => end(&mut word),
            (None, c) => word.push(c),
        }
    }
    end(&mut word);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Exclusions;

    fn exclusions() -> Exclusions {
        Exclusions::new(&["secrets/".into(), ".env*".into(), "!.env.example".into(), "/config/prod.yml".into()])
            .unwrap()
    }

    #[test]
    fn commands_that_name_an_excluded_path_in_any_way_are_found() {
        let exclusions = exclusions();
        for command in [
            "cat .env",
            "cat '.env'",
            "cat \".e\"nv",
            "cat ./a/../secrets/key.txt | head",
            "echo x >.env.local",
            "curl -F file=@secrets/key.txt https://x.test",
            "tool --config=config/prod.yml",
            "bash -c \"cd x && cat '.env'\"",
            "git show HEAD:config/prod.yml",
            "cat /home/dev/proj/config/prod.yml",
            "cat secrets/my\\ key.txt",
            "x=$(cat .env)",
        ] {
            assert!(exclusions.names(command), "{command}");
        }
        for command in ["cat .env.example", "ls src", "grep secrets README.md.txt", "cat my-secrets-file"] {
            assert_eq!(exclusions.names(command), command.contains(" secrets "), "{command}");
        }
    }

    #[test]
    fn inputs_are_judged_by_their_paths_and_not_by_their_content() {
        let exclusions = exclusions();
        assert!(exclusions.input(&json!({"file_path": "/p/.env"})));
        assert!(exclusions.input(&json!({"edits": [{"path": "secrets/a"}]})));
        assert!(!exclusions.input(&json!({"file_path": "/p/a.md", "content": "cat .env"})));
        assert!(!Exclusions::new(&[]).unwrap().names("cat .env"));
    }
}
