//! Why a tool did not do what it was asked: the rooms' errors, and what only a server meets.

use crate::report::lint;
use crate::wiki::scope::Unresolved;
use crate::{feedback, git, improve, proposal, search, wiki};

/// Why something that an agent asked for was not done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no wiki here, or it cannot be opened.
    #[error(transparent)]
    Open(#[from] wiki::OpenError),
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// A proposal's trouble.
    #[error(transparent)]
    Proposal(#[from] proposal::Error),
    /// A run's trouble.
    #[error(transparent)]
    Improve(#[from] improve::Error),
    /// Pages that cannot be checked.
    #[error(transparent)]
    Lint(#[from] lint::Error),
    /// A search's trouble.
    #[error(transparent)]
    Search(#[from] search::Error),
    /// Feedback or an outcome that was not recorded.
    #[error(transparent)]
    Feedback(#[from] feedback::Error),
    /// No such scope, or not one that this server serves.
    #[error(transparent)]
    Scope(#[from] Unresolved),
    /// The arguments are not what the tool takes.
    #[error("{0}")]
    Arguments(String),
    /// Nothing stands at a path.
    #[error("no page `{0}` on the wiki's branch")]
    NoPage(String),
}

impl From<proposal::NotFound> for Error {
    fn from(error: proposal::NotFound) -> Error {
        Error::Proposal(error.into())
    }
}

/// What an agent is told of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// A word that programs can rely on (`busy`, `no_wiki`).
    pub code: String,
    /// What, where and why.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Advice {
    /// As the text of an answer.
    pub fn text(&self) -> String {
        let hint = self.hint.iter().flat_map(|hint| hint.lines()).map(|line| format!("\nhint: {line}"));
        format!("error: {} ({}){}", self.message, self.code, hint.collect::<String>())
    }
}
