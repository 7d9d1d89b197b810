//! What a capture did, and with what something was not as it should be.

use std::collections::BTreeMap;

use crate::session::{Agent, Warning};

/// What became of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Became {
    /// Nothing new in it.
    Unchanged,
    /// It had grown.
    Grown,
    /// It was not there.
    New,
}

impl Became {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Became::New => "new",
            Became::Grown => "grown",
            Became::Unchanged => "unchanged",
        }
    }
}

/// A session that was looked at, as it stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its id.
    pub id: String,
    /// The agent.
    pub agent: Agent,
    /// Its scope.
    pub scope: String,
    /// What became of it.
    pub became: Became,
    /// How many observations it holds; 0 when other sessions hold all of them.
    pub observations: u32,
    /// How many of them a person wrote.
    pub prompts: u32,
    /// Its title, redacted.
    pub title: String,
}

/// A file or session with which something was not as it should be; names are redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The file.
    pub file: String,
    /// The reason, or the first line of a file that no reader knows.
    pub text: String,
    /// The file was named itself.
    pub named: bool,
}

/// What a capture did.
#[derive(Debug, Default)]
pub struct Report {
    /// The sessions that were looked at.
    pub sessions: Vec<Line>,
    /// Damage that was passed over.
    pub warnings: Vec<Warning>,
    /// Files that no reader knows, with their first lines.
    pub unrecognised: Vec<Trouble>,
    /// Files in folders that are known to be something else, with the word for it.
    pub foreign: Vec<Trouble>,
    /// Files that could not be read.
    pub failed: Vec<Trouble>,
    /// Sessions without a scope: not stored.
    pub unresolved: Vec<Trouble>,
    /// Files of other projects, with the reason.
    pub unmatched: Vec<Trouble>,
    /// Files in which there is nothing to learn.
    pub nothing: Vec<String>,
    /// Sessions of our own, which are never learned from.
    pub own: usize,
    /// Sessions that were left out by what was asked for.
    pub filtered: usize,
    /// Sessions that were forgotten, which stay away, with the word for why: `forgotten`, `expired`.
    pub gone: BTreeMap<String, String>,
    /// What was left for later, and why.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether something that was asked for was not done.
    pub fn has_failures(&self) -> bool {
        !self.failed.is_empty() || !self.unresolved.is_empty() || self.unrecognised.iter().any(|file| file.named)
    }

    /// How many sessions became this.
    pub fn count(&self, became: Became) -> usize {
        self.sessions.iter().filter(|line| line.became == became).count()
    }
}
