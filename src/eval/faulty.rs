//! Labelled files that cannot be used: what is wrong, and where.

use std::fmt;
use std::path::Path;

/// What a labelled file is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labelled {
    /// Sessions, with what is to be proposed of them.
    Case,
    /// Queries, with the pages that answer them.
    Queries,
}

/// Why a labelled file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faulty {
    /// What it is there for.
    pub labelled: Labelled,
    /// The file or folder.
    pub path: String,
    /// The line that is wrong, from 1; `None`: it cannot be read at all.
    pub line: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl Faulty {
    /// A file or folder that cannot be read, or is not there.
    pub(super) fn unreadable(labelled: Labelled, path: &Path, reason: impl ToString) -> Faulty {
        Faulty { labelled, path: path.display().to_string(), line: None, reason: reason.to_string() }
    }

    /// A line that says what cannot be.
    pub(super) fn line(labelled: Labelled, path: &Path, line: usize, reason: String) -> Faulty {
        Faulty { labelled, path: path.display().to_string(), line: Some(line), reason }
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.reason),
            None => write!(f, "{}: {}", self.path, self.reason),
        }
    }
}

impl std::error::Error for Faulty {}
