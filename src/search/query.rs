//! A query, read: what somebody typed is words, never a language that could be wrong.
//!
//! `"some words"` asks for them in a row, `word*` for every word that begins so. Whatever else stands there, a dash
//! before a word too, is text: queries are pasted from error messages and command lines.

use super::stem::stem;
use super::words::{Split, words};

/// Most clauses of a query, and most bytes that are looked at: what is longer is a pasted file.
const MOST_CLAUSES: usize = 128;
const MOST_TEXT: usize = 16 * 1024;

/// What a word that is part of another counts beside the whole.
const PART: f64 = 0.5;

/// A query.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Query {
    /// What pages are ranked by.
    pub clauses: Vec<Clause>,
    /// Whether something was left out because there is too much of it.
    pub cut: bool,
}

/// One thing that a page can have.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clause {
    /// As it is told to people.
    pub shown: String,
    /// What is looked for.
    pub wanted: Wanted,
    /// How much it counts; 1 is a plain word.
    pub weight: f64,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Wanted {
    /// A term.
    Term(String),
    /// Every word that begins so.
    Prefix {
        /// The terms that begin so,
        begins: String,
        /// and the stems of such words that are shorter.
        stems: Vec<String>,
    },
    /// These terms in a row.
    Phrase(Vec<String>),
}

impl Clause {
    /// Whether it asks for words in a row.
    pub fn is_phrase(&self) -> bool {
        matches!(self.wanted, Wanted::Phrase(_))
    }
}

impl Query {
    /// Reads it.
    pub fn read(text: &str) -> Query {
        let text_read = &text[..text.floor_char_boundary(MOST_TEXT)];
        let mut query = Query { cut: text_read.len() < text.len(), ..Query::default() };
        // A quote without its partner is just a mark.
        let quotes: Vec<usize> = text_read.match_indices('"').map(|(at, _)| at).collect();
        for pair in quotes.chunks_exact(2) {
            query.phrase(&text_read[pair[0] + 1..pair[1]]);
        }
        for (at, word) in words(text_read) {
            let starred = text_read[at + word.len()..].starts_with('*');
            match word.bytes().all(|byte| byte.is_ascii_alphanumeric()) && word.len() > 1 && starred {
                true => query.add(format!("{word}*"), prefix(&word.to_ascii_lowercase()), 1.0),
                false => query.word(word),
            }
        }
        query
    }

    fn word(&mut self, word: &str) {
        let mut split = Split::default();
        for (term, _, parts) in split.terms(word) {
            let whole = parts == split.parts;
            let shown = if whole { word.to_owned() } else { term.clone() };
            self.add(shown, Wanted::Term(term), if whole { 1.0 } else { PART });
        }
    }

    fn phrase(&mut self, text: &str) {
        let mut split = Split::default();
        let mut row = Vec::new();
        for (_, word) in words(text) {
            row.extend(split.terms(word).into_iter().filter(|(.., parts)| *parts == 1).map(|(term, ..)| term));
        }
        if row.len() > 1 {
            self.add(format!("\"{}\"", text.trim()), Wanted::Phrase(row), 1.0);
        }
    }

    /// A thing that is asked for twice counts as its weightier one.
    fn add(&mut self, shown: String, wanted: Wanted, weight: f64) {
        if let Some(clause) = self.clauses.iter_mut().find(|clause| clause.wanted == wanted) {
            clause.weight = clause.weight.max(weight);
        } else if self.clauses.len() < MOST_CLAUSES {
            self.clauses.push(Clause { shown, wanted, weight });
        } else {
            self.cut = true;
        }
    }
}

/// What stands at the ends of English words and is no part of their stems.
const ENDINGS: [&str; 20] = [
    "", "s", "es", "ed", "ing", "ion", "on", "n", "ation", "cation", "er", "or", "ies", "y", "ly", "e", "able", "ment",
    "ness", "ity",
];

/// Terms are stems: `configurati*` must find what stands there as `configur`.
fn prefix(begins: &str) -> Wanted {
    let mut stems: Vec<String> = ENDINGS.iter().map(|ending| stem(&format!("{begins}{ending}")).into_owned()).collect();
    stems.retain(|stem| !stem.starts_with(begins));
    stems.sort_unstable();
    stems.dedup();
    Wanted::Prefix { begins: begins.to_owned(), stems }
}
