//! Why a run could not be made.

use std::time::Duration;

use super::plan::PlanError;
use super::{recover, strategy};
use crate::config::trust;
use crate::{git, proposal, search};

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// A proposal's trouble.
    #[error(transparent)]
    Proposal(#[from] proposal::Error),
    /// The request names what is not there.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Another run is alive.
    #[error("another run is at work ({0})")]
    Locked(String),
    /// The last run died just now, and what it claimed is all there is to look at.
    #[error("{}", recover::died(*.0))]
    Resting(Duration),
    /// The process was asked to end before anything was claimed.
    #[error("interrupted before anything was claimed")]
    Interrupted,
    /// The local folder cannot be written.
    #[error("cannot write the run's journal: {0}")]
    Journal(#[from] std::io::Error),
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(String),
    /// What the committed settings name is not trusted.
    #[error(transparent)]
    Untrusted(#[from] trust::Untrusted),
    /// The strategy cannot be used.
    #[error(transparent)]
    Strategy(#[from] strategy::Error),
    /// Claims go through a remote, and it cannot be reached: nothing was reviewed.
    #[error("nothing is reviewed, as the claims could not be pushed: {0}")]
    Remote(String),
}

impl From<search::Error> for Error {
    fn from(error: search::Error) -> Error {
        match error {
            search::Error::Git(error) => Error::Git(error),
            error @ search::Error::NoWords => Error::Settings(error.to_string()),
        }
    }
}
