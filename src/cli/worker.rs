//! `git memory worker`: the process in the background.

use std::path::PathBuf;

use super::{CliError, Context, Exit, Result};
use crate::agent::{hook, session_start, worker};
use crate::feedback::spool;
use crate::git::end_as_asked;
use crate::improve::run::RunState;
use crate::improve::{self, Request, Trigger};
use crate::ledger::queue;
use crate::proposal::materialize;
use crate::wiki::Wiki;

/// Work through what the hooks queued; started by them, in the background.
///
/// One worker runs at a time. What went wrong stands in worker.log below the repository's `memory` folder.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The git folder of the repository that holds the wiki
    repository: PathBuf,
}

pub(super) fn run(_ctx: &Context, args: Args) -> Result<Exit> {
    hook::leave();
    match worker::run(&args.repository, &pass) {
        Ok(worker::Ended::Done(_) | worker::Ended::OtherAtWork) => Ok(Exit::Done),
        Err(worker::Error::Git(error)) => Err(error.into()),
        Err(worker::Error::Wiki(error)) => Err(error.into()),
        Err(error) => Err(CliError::refused("worker", error.to_string())),
    }
}

/// What the worker does with what the hooks queued: the capture's and the commits' sessions, under the rules that
/// keep a machine from reviewing too much by itself.
fn pass(wiki: &Wiki, queued: &[queue::Queued]) -> std::result::Result<(), String> {
    // What cannot be carried over waits on, and is told of by `status`.
    let _ = spool::flush(&wiki.repo);
    let scheduler = &wiki.config.settings.scheduler;
    if !scheduler.enabled || scheduler.interval_secs == 0 {
        return Ok(());
    }
    // What a capture queued waits for whoever comes; a commit counts for more than a session that begins.
    let of_a_session = queued.iter().any(|queued| queued.event == session_start::EVENT);
    let of_a_commit = queued.iter().any(|queued| queued.oid.is_some());
    let trigger = if of_a_session && !of_a_commit { Trigger::SessionStart } else { Trigger::PostCommit };
    let request = Request { trigger, ..Request::default() };
    let ran = improve::run_locked(&mut wiki.clone(), &request, &improve::unheard);
    // Whoever ends the worker ended the run with it; what is queued waits for the next.
    end_as_asked();
    let run = ran.map_err(|error| error.to_string())?;
    materialize::refresh(wiki)?;
    match run.state {
        RunState::Failed => Err(run.error.unwrap_or_else(|| "the run failed".into())),
        _ => Ok(()),
    }
}
