//! Why something was not recorded, and the refusal that proposals share.

use crate::git;

/// Why something was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// It was refused; nothing was recorded.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// A refusal: what, why, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The stable word (`missing_reason`, `needs_person`, `not_pending` …).
    pub code: &'static str,
    /// What and why.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Refused {
    /// A refusal without advice.
    pub fn new(code: &'static str, message: impl Into<String>) -> Refused {
        Refused { code, message: message.into(), hint: None }
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Refused {
        self.hint = Some(hint.into());
        self
    }
}
