//! The start of an agent's session: when enough has changed since the last run, one is started behind it.

use std::path::Path;

use super::detach;
use super::hook::Error;
use crate::git::{Lock, Locked, fault};
use crate::improve::since;
use crate::ledger::{self, queue};
use crate::report::status::Status;
use crate::wiki::Wiki;

/// The event under which such a run is queued.
pub const EVENT: &str = "session-start";

/// Starts the worker, `program`, when at least `consolidate.min_dirty` pages or sessions changed since the last run, and
/// runs may go by themselves at all. Returns whether it did. Of several that ask at once one starts it.
///
/// # Errors
/// When what changed cannot be told, the queue not written or the worker not started.
pub fn start_if_due(wiki: &Wiki, status: &Status, program: &Path) -> Result<bool, Error> {
    let settings = &wiki.config.settings;
    let least = settings.consolidate.min_dirty;
    if least == 0 || !settings.scheduler.enabled || settings.scheduler.interval_secs == 0 {
        return Ok(false);
    }
    let now = ledger::now();
    if since::changed(wiki, &status.unseen, now)? < least {
        return Ok(false);
    }
    let memory = wiki.repo.memory_dir();
    let Locked::Yes(_lock) = Lock::try_take(&memory.join("session-start.lock"), EVENT)? else { return Ok(false) };
    // Whoever held the lock a moment ago has started it.
    if since::changed(wiki, &status.unseen, now)? < least {
        return Ok(false);
    }
    // Noted first: a session may start every minute, and a run that fails must not be started each time.
    since::note(wiki).map_err(|source| Error::Io { what: "note the run", source })?;
    fault::point("session-start.after-note");
    let target = wiki.repo.common_dir();
    let repo = target.to_string_lossy().into_owned();
    let queued = queue::Queued { event: EVENT.to_owned(), oid: None, repo, at: now };
    queue::push(&memory, &queued).map_err(|source| Error::Io { what: "write the queue", source })?;
    detach::start(program, &["worker".as_ref(), target.as_os_str()], &memory)
        .map_err(|source| Error::Io { what: "start the worker", source })?;
    Ok(true)
}
