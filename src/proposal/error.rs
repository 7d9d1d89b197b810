//! Why something asked of a proposal was not done.

use super::NotFound;
use crate::{git, ledger};

/// The result of everything here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something asked of a proposal was not done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// The id names nothing, or too much.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// It was refused; nothing was changed.
    #[error("{0}")]
    Refused(Refused),
}

/// A refusal: what, why, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The stable word (`needs_person`, `not_pending`, `stale_base`, `foreign_paths` …).
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

    /// A proposal without a branch: closed, or open and its branch is gone.
    pub fn no_branch(id: &str, status: ledger::Status) -> Refused {
        if !status.is_open() {
            return Refused::not("pending", id, status);
        }
        Refused::new("branch_lost", format!("the branch refs/memory/pending/{id} of proposal {id} is gone"))
            .hint(format!("`git memory proposal reopen {id}` makes it again from what was recorded"))
    }

    /// A proposal that is not in the state that was needed.
    pub fn not(wanted: &str, id: &str, status: ledger::Status) -> Refused {
        Refused::new("not_pending", format!("proposal {id} is {status}, not {wanted}"))
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        Error::Refused(refused)
    }
}
