//! What tools say that list or show several files: the lines of excluded ones go.

use std::borrow::Cow;

use super::Exclusions;

/// What stands for lines that were left out.
const NOTE: &str = "[… lines of excluded files …]";

impl Exclusions {
    /// A tool's output without the lines of excluded files: `path:line`, a path alone, the part of a diff or of several
    /// files one after the other that belongs to one.
    pub fn without_excluded_lines<'t>(&self, output: &'t str) -> Cow<'t, str> {
        if !self.globs.iter().any(|glob| glob.may_be_in(output)) || !self.is_suspicious(output) {
            return Cow::Borrowed(output);
        }
        let mut out = String::with_capacity(output.len());
        let mut part = Part::None;
        let (mut any, mut noted) = (false, false);
        for line in output.split_inclusive('\n') {
            part = self.part(line.trim_end(), part);
            if part.is_excluded() || self.is_of_excluded(line.trim_end()) {
                any = true;
                if !noted {
                    out.push_str(NOTE);
                    out.push('\n');
                }
                noted = true;
            } else {
                out.push_str(line);
                noted = false;
            }
        }
        if any { Cow::Owned(out) } else { Cow::Borrowed(output) }
    }

    /// Whether any word of it is an excluded path at all.
    fn is_suspicious(&self, output: &str) -> bool {
        let parts = |c: char| c.is_whitespace() || "\"'`()<>[]{}|".contains(c);
        output.split(parts).filter(|word| !word.is_empty()).any(|word| {
            self.literal(word, true)
                || word.contains([':', '=', '-', ','])
                    && word.split([':', '=', '-', ',']).any(|p| self.literal(p, true))
        })
    }

    /// The part of the output that a line belongs to.
    fn part(&self, line: &str, before: Part) -> Part {
        if let Some(names) = line.strip_prefix("diff --git ") {
            let named = names.split(' ').any(|name| self.literal(name.trim_matches('"'), true));
            return Part::Diff(named);
        }
        if let Some(name) = line.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <==")) {
            return Part::File(self.literal(name, true));
        }
        match before {
            Part::Diff(_) if line.starts_with("commit ") => Part::None,
            Part::Group if line.is_empty() => Part::None,
            Part::Diff(_) | Part::File(_) => before,
            // The heading of a group of lines.
            _ if is_path(line) && line.contains(['/', '.']) => match self.literal(line, false) {
                true => Part::Group,
                false => Part::None,
            },
            other => other,
        }
    }

    /// `path:12:text`, `path-12-text`, `path:text`, a path behind the columns of a list.
    fn is_of_excluded(&self, line: &str) -> bool {
        let line = line.trim_start();
        let front = match line.get(1..3) {
            Some(":\\" | ":/") => 2,
            _ => 0,
        };
        let named = |name: &str| is_path(name) && self.literal(name, false);
        let mut ends =
            line.match_indices([':', '-', '(', '|', '=']).map(|(at, _)| at).filter(|at| *at > front).take(24);
        if ends.any(|at| named(line[..at].trim_end())) {
            return true;
        }
        // `?? path`, `M  path`, `- path`, `create mode 100644 path`, and what `ls -l` says.
        let words: Vec<&str> = line.split_whitespace().take(12).collect();
        let is_row = words.len() <= 2 || words.len() <= 4 && words[0].ends_with("mode") || is_listed(words[0]);
        is_row && words.iter().any(|word| named(word.trim_matches(['"', '\'', '`', ','])))
    }
}

/// What the lines of an output belong to, and whether they go.
#[derive(Clone, Copy)]
enum Part {
    None,
    /// A diff of a file, up to the next diff or commit.
    Diff(bool),
    /// A file after its `==> name <==`.
    File(bool),
    /// Lines below the name of an excluded file, up to an empty one.
    Group,
}

impl Part {
    fn is_excluded(self) -> bool {
        matches!(self, Part::Diff(true) | Part::File(true) | Part::Group)
    }
}

/// The permissions that a line of `ls -l` begins with.
fn is_listed(word: &str) -> bool {
    word.len() >= 10 && word.bytes().all(|b| b"-dlrwxst.+@".contains(&b))
}

fn is_path(name: &str) -> bool {
    !name.is_empty() && name.len() < 1024 && !name.contains(|c: char| c.is_whitespace() || "\"'<>*?|;&$()".contains(c))
}
