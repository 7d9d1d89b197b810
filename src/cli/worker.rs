//! `git memory worker`: the process in the background.

use std::path::PathBuf;

use super::{CliError, Context, Exit, Result};
use crate::agent::{hook, worker};

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
    match worker::run(&args.repository, &super::improve::worker_pass) {
        Ok(worker::Ended::Done(_) | worker::Ended::OtherAtWork) => Ok(Exit::Done),
        Err(worker::Error::Git(error)) => Err(error.into()),
        Err(worker::Error::Wiki(error)) => Err(error.into()),
        Err(error) => Err(CliError::refused("worker", error.to_string())),
    }
}
