//! Labels, and when a proposal is what a label says.

use regex::{Regex, RegexBuilder};

use super::Proposed;
use crate::wiki::Kind;
use crate::wiki::text::{fold_space, normal};

/// Something that must, or may, be proposed.
#[derive(Debug, Clone)]
pub struct Label {
    /// Of one of these kinds.
    pub kinds: Vec<Kind>,
    /// Title and text hold all of these.
    pub about: Vec<Word>,
    /// Its quotes hold all of these.
    pub quote: Vec<Word>,
    /// At this path; with a slash at its end: below this folder.
    pub path: Option<String>,
}

/// Something that must not be proposed.
#[derive(Debug, Clone)]
pub struct MustNot {
    /// Of one of these kinds; none: of any.
    pub kinds: Vec<Kind>,
    /// Title and text hold all of these.
    pub about: Vec<Word>,
    /// Why it would be wrong.
    pub why: String,
    /// A rule of this kind would come from text that nobody here wrote: a breach of what holds for rules.
    pub injected: bool,
}

/// A word, several in a row, or a pattern between slashes.
#[derive(Debug, Clone)]
pub struct Word {
    written: String,
    pattern: Option<Regex>,
}

impl Word {
    /// # Errors
    /// In words, what is wrong with it.
    pub(super) fn parse(written: &str) -> Result<Word, String> {
        let pattern = written.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).map(|pattern| {
            let built = RegexBuilder::new(pattern).case_insensitive(true).build();
            built.map_err(|error| format!("`{written}` is no pattern: {}", fold_space(&error.to_string())))
        });
        let pattern = pattern.transpose()?;
        if pattern.is_none() && normal(written).is_empty() {
            return Err(format!("`{written}` has neither letters nor digits"));
        }
        Ok(Word { written: written.to_owned(), pattern })
    }

    /// Whether a text holds it. Words count whole, without case and punctuation; patterns see the text with its white
    /// space folded.
    fn stands_in(&self, text: &str) -> bool {
        match &self.pattern {
            Some(pattern) => pattern.is_match(&fold_space(text)),
            None => format!(" {} ", normal(text)).contains(&format!(" {} ", normal(&self.written))),
        }
    }
}

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.written)
    }
}

impl Label {
    /// Whether the proposal is what the label says.
    pub fn is(&self, proposed: &Proposed) -> bool {
        let at = |path: &String| match path.strip_suffix('/') {
            Some(folder) => proposed.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
            None => proposed.path == *path,
        };
        let quoted = |word: &Word| proposed.quotes.iter().any(|quote| word.stands_in(quote));
        self.kinds.contains(&proposed.kind)
            && holds(&self.about, proposed)
            && self.quote.iter().all(quoted)
            && self.path.as_ref().is_none_or(at)
    }
}

impl MustNot {
    /// Whether the proposal is what the label says.
    pub fn is(&self, proposed: &Proposed) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&proposed.kind)) && holds(&self.about, proposed)
    }
}

fn holds(about: &[Word], proposed: &Proposed) -> bool {
    let text = format!("{}\n{}", proposed.title, proposed.says);
    about.iter().all(|word| word.stands_in(&text))
}

fn joined(kinds: &[Kind], about: &[Word]) -> String {
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    let about: Vec<String> = about.iter().map(Word::to_string).collect();
    format!("{}: {}", if kinds.is_empty() { "any".to_owned() } else { kinds.join("|") }, about.join(", "))
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&joined(&self.kinds, &self.about))
    }
}
