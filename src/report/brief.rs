//! The brief with what waits for people.

use super::status::{self, Status};
use crate::feedback::brief::{self, About, Waiting};
use crate::git;
use crate::improve::run::RunState;
use crate::ledger;
use crate::wiki::Wiki;

pub use crate::feedback::brief::{Brief, GLOBAL_LIMIT, Kept, keep};

/// Collects it, of one scope where one is named, with at most so many pages of no project.
///
/// # Errors
/// When the repository cannot be read.
pub fn brief(wiki: &Wiki, scope: Option<&str>, global_limit: usize) -> git::Result<Brief> {
    Ok(brief_and_status(wiki, scope, global_limit)?.0)
}

/// As [`brief`], with the state that it was made from.
///
/// # Errors
/// When the repository cannot be read.
pub fn brief_and_status(wiki: &Wiki, scope: Option<&str>, global_limit: usize) -> git::Result<(Brief, Status)> {
    let status = status::status(wiki, scope)?;
    let stands = &status.standing;
    let failed = |state| matches!(state, RunState::Failed | RunState::Abandoned);
    let waiting = Waiting {
        pending: stands.pending.count,
        oldest: stands.pending.oldest,
        failed_runs: stands.runs.iter().filter(|run| failed(run.state)).map(|run| run.id.clone()).collect(),
        parked: stands.sessions.parked.clone(),
    };
    let about = About { scope, global_limit, waiting, health: status.trouble.clone() };
    Ok((brief::brief(wiki, about, ledger::now())?, status))
}
