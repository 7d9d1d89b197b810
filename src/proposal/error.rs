//! Why something asked of a proposal was not done.

use super::NotFound;
pub use crate::feedback::Refused;
use crate::{feedback, git, ledger};

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
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl Refused {
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

impl From<feedback::Error> for Error {
    fn from(error: feedback::Error) -> Error {
        match error {
            feedback::Error::Git(error) => error.into(),
            feedback::Error::Refused(refused) => refused.into(),
        }
    }
}
