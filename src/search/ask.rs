//! What is asked of a search, and what it answers.

use std::collections::HashMap;
use std::ops::Range;

use bstr::BString;
use serde::Serialize;

use crate::config::Priors;
use crate::git::Oid;
use crate::wiki::{Kind, Status};

/// One search.
#[derive(Debug, Clone, Default)]
pub struct Ask<'a> {
    /// The query as somebody wrote it: words, `"phrases"`, `prefix*`. Never a language that could be wrong.
    pub text: &'a str,
    /// Only pages of this scope; `None`: all scopes.
    pub scope: Option<&'a str>,
    /// Only these kinds; empty: all, with sessions below everything else.
    pub kinds: &'a [Kind],
    /// Most pages of the answer.
    pub limit: usize,
    /// Whether each page tells how it came to its place.
    pub explain: bool,
}

/// What use and verdicts say about pages, by path relative to the wiki's root. A page that is absent is neutral.
#[derive(Debug, Clone, PartialEq)]
pub struct Signals {
    /// 0 to 1; 0.5 is neutral.
    pub utility: HashMap<BString, f64>,
    /// −0.2 to 0.2; 0 is neutral.
    pub priors: HashMap<BString, f64>,
    /// What becomes of the priors.
    pub mode: Priors,
}

impl Default for Signals {
    fn default() -> Self {
        Signals { utility: HashMap::new(), priors: HashMap::new(), mode: Priors::Off }
    }
}

/// One page of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hit {
    /// From 1.
    pub rank: usize,
    /// Relative to the wiki's root; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its kind; a page in no kind's folder that names none has none.
    pub kind: Option<Kind>,
    /// Its scope.
    pub scope: String,
    /// How well it fits: what it was ordered by, before priors. Comparable within one answer.
    pub score: f64,
    /// The passage that fits best: one line without control characters.
    pub snippet: String,
    /// Where the query's words stand in the snippet, in bytes.
    #[serde(skip)]
    pub marks: Vec<Range<usize>>,
    /// How it came to its place, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factors: Option<Factors>,
}

/// How a page came to its place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Factors {
    /// How well its text fits.
    pub text: f64,
    /// What its use multiplied that by.
    pub utility: f64,
    /// What verdicts say of it, −0.2 to 0.2.
    pub prior: f64,
    /// By how many places that moves it up, where priors are served.
    pub moved: i32,
    /// The words of the query that it has.
    pub words: Vec<Word>,
    /// The superseded page that was found in its stead.
    pub stands_for: Option<String>,
}

/// A word of the query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Word {
    /// As asked.
    pub word: String,
    /// What it adds to the score of the page's text.
    pub adds: f64,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Answer {
    /// In the order that is served, at most as many as were asked for.
    pub hits: Vec<Hit>,
    /// The order that is not served: with priors, or without them where they are served.
    pub shadow: Vec<BString>,
    /// How many pages fit at all.
    pub candidates: usize,
    /// The tree that was searched (of the commit, not of the wiki's root).
    pub tree: Oid,
    /// Where the index came from.
    pub index: Origin,
    /// Why the index could not be kept for the next search.
    pub unkept: Option<String>,
    /// What the person should know: a phrase that no page holds, words that were left out.
    pub notes: Vec<String>,
}

/// What an index knows of a page beside its words.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Relative to the wiki's root.
    pub path: BString,
    /// Its title.
    pub title: String,
    /// Its kind; a page in no kind's folder that names none has none.
    pub kind: Option<Kind>,
    /// Its scope's name.
    pub scope: String,
    /// Its status.
    pub status: Status,
    /// `priority`, as its frontmatter has it.
    pub priority: Option<u8>,
    /// `pinned: true`
    pub pinned: bool,
    /// `description`; empty: none.
    pub description: String,
    /// Its blob.
    pub blob: Oid,
}

/// Where the index of an answer came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It stood there for this very tree.
    Warm,
    /// This many pages had changed since it was written.
    Updated(usize),
    /// It was made anew: why.
    Built(&'static str),
}
