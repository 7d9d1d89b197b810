//! The brief with what waits for people.

use super::status;
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
    let status = status::status(wiki, scope)?;
    let stands = status.standing;
    let failed = |state| matches!(state, RunState::Failed | RunState::Abandoned);
    let waiting = Waiting {
        pending: stands.pending.count,
        oldest: stands.pending.oldest,
        failed_runs: stands.runs.into_iter().filter(|run| failed(run.state)).map(|run| run.id).collect(),
        parked: stands.sessions.parked,
    };
    brief::brief(wiki, About { scope, global_limit, waiting, health: status.trouble }, ledger::now())
}
