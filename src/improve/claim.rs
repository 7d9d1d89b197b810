//! Claims: who reviews what, said in the ledger before any model is asked.
//!
//! Within one repository the worker's lock keeps runs apart. Between clones the remote's ledger does: a run pushes a
//! commit with its claims on top of what the remote has. The push goes through as a fast-forward or not at all, so of
//! two that claim the same session one comes first; the other fetches, sees the claim, and goes on to what nobody has.
//! Times decide nothing: clocks differ, the remote's ref does not.

use std::time::Duration;

use super::Error;
use super::journal::Journal;
use super::plan::{Plan, Selected};
use super::run::{Run, Trigger, plural};
use crate::git::{self, Oid, Pushed, fault};
use crate::ledger::{self, Append, Event, EventKind};
use crate::model::{Models, Stage};
use crate::proposal::stage::AUTO_IMPROVE;
use crate::session::Redactor;
use crate::wiki::Wiki;

/// How long a claim keeps other runs away from a session whose run says nothing more, without the time that asking
/// models about it and those before it may take.
const LEASE: Duration = Duration::from_secs(600);

/// How often a lost race is run again.
const ROUNDS: u32 = 20;

/// The remote's ledger.
struct Abroad<'a> {
    remote: &'a str,
    tracking: String,
}

/// Whether a run of this trigger claims its sessions through the remote.
pub(super) fn goes_abroad(wiki: &Wiki, trigger: Trigger) -> bool {
    !trigger.is_asked() && wiki.config.settings.sync.claims
}

/// Claims what the run has selected, before anything is asked about it. Through a remote, `look` plans again on what
/// other clones have said meanwhile; the run's plan is then the last of these.
///
/// # Errors
/// [`Error::Remote`] when claims go through a remote and it cannot be reached: nothing is reviewed then.
pub(super) fn take(
    wiki: &Wiki,
    run: &mut Run,
    journal: &Journal,
    look: impl Fn() -> Result<Plan, Error>,
) -> Result<(), Error> {
    if !goes_abroad(wiki, run.trigger) {
        if let Some(append) = claims(wiki, run) {
            ledger::append(&wiki.repo, &append, &[])?;
        }
        return Ok(());
    }
    let abroad = Abroad::of(wiki)?;
    for round in 0..ROUNDS {
        let (_, base) = abroad.pull(wiki)?;
        run.plan = look()?;
        run.skipped = run.plan.skipped.clone();
        journal.write(run)?;
        let Some(append) = claims(wiki, run) else { return Ok(()) };
        // No ref here names the commit before the remote has it: a claim that lost leaves no trace.
        let commit = ledger::commit(&wiki.repo, &append, base)?;
        fault::point("claim.before-push");
        match abroad.push(wiki, commit)? {
            Pushed::Done => {
                fault::point("claim.after-push");
                ledger::join(&wiki.repo, commit)?;
                return Ok(());
            }
            Pushed::Behind => std::thread::sleep(pause(round)),
        }
    }
    Err(Error::Remote(format!("other clones keep pushing to {}; try again", abroad.remote)))
}

/// Sends the ledger to the other clones at the end of a run: what was claimed is let go there too.
///
/// # Errors
/// [`Error::Remote`] when the remote cannot be reached; it goes with the next run then.
pub(super) fn publish(wiki: &Wiki) -> Result<(), Error> {
    let abroad = Abroad::of(wiki)?;
    for round in 0..ROUNDS {
        let (theirs, ours) = abroad.pull(wiki)?;
        let Some(tip) = ours.filter(|_| ours != theirs) else { return Ok(()) };
        if abroad.push(wiki, tip)? == Pushed::Done {
            return Ok(());
        }
        std::thread::sleep(pause(round));
    }
    Err(Error::Remote(format!("other clones keep pushing to {}", abroad.remote)))
}

impl<'a> Abroad<'a> {
    fn of(wiki: &'a Wiki) -> Result<Abroad<'a>, Error> {
        let remote = wiki.config.settings.sync.remote.as_str();
        let known = wiki.repo.remote_names();
        if remote.is_empty() {
            return Err(Error::Settings("`sync.claims` is set and `sync.remote` names no remote".into()));
        }
        if !known.iter().any(|known| known == remote) {
            let known =
                if known.is_empty() { "there is none".into() } else { format!("there are {}", known.join(", ")) };
            return Err(Error::Settings(format!("`sync.remote` is `{remote}`, which is no remote here; {known}")));
        }
        Ok(Abroad { remote, tracking: format!("refs/memory-remotes/{remote}/log") })
    }

    /// Fetches the remote's ledger and merges it; returns its tip and that of ours.
    fn pull(&self, wiki: &Wiki) -> Result<(Option<Oid>, Option<Oid>), Error> {
        let theirs =
            wiki.repo.fetch(self.remote, ledger::REF, &self.tracking).map_err(|error| unreachable(wiki, error))?;
        let ours = match theirs {
            Some(theirs) => Some(ledger::join(&wiki.repo, theirs)?),
            None => wiki.repo.reference(ledger::REF)?,
        };
        Ok((theirs, ours))
    }

    fn push(&self, wiki: &Wiki, commit: Oid) -> Result<Pushed, Error> {
        wiki.repo.push(self.remote, commit, ledger::REF).map_err(|error| unreachable(wiki, error))
    }
}

/// What git says of a remote may hold its address, and that a password: it goes into the run's record.
fn unreachable(wiki: &Wiki, error: git::Error) -> Error {
    let git::Error::Command { .. } = error else { return Error::Git(error) };
    let redact = &wiki.config.settings.redact;
    match Redactor::new(&redact.extra_patterns, &redact.allow) {
        Ok(redactor) => Error::Remote(redactor.redact(&error.to_string()).into_owned()),
        Err(fault) => Error::Settings(fault.to_string()),
    }
}

/// What claims the run's sessions; `None` when it has none.
fn claims(wiki: &Wiki, run: &Run) -> Option<Append> {
    let until = ledger::now() + lease(wiki, run.plan.selected.len());
    let claim = |selected: &Selected| {
        about(EventKind::Claimed, run, selected)
            .with("trigger", run.trigger.as_str())
            .with("nonce", ledger::new_id().to_string())
            .with("until", until.to_string())
    };
    let events: Vec<Event> = run.plan.selected.iter().map(claim).collect();
    let pages = run.plan.selected.iter().filter(|selected| selected.page.is_some()).count();
    let what = match (events.len() - pages, pages) {
        (sessions, 0) => plural(sessions, "session"),
        (0, pages) => plural(pages, "page"),
        (sessions, pages) => format!("{}, {}", plural(sessions, "session"), plural(pages, "page")),
    };
    let subject = format!("run {} claims {what}", run.id);
    (!events.is_empty()).then_some(Append { subject, events, files: Vec::new() })
}

/// Long enough for all of it: the last session waits for those before it, and each may meet every model.
fn lease(wiki: &Wiki, sessions: usize) -> Duration {
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir());
    let asked = Stage::ASKED.into_iter().filter(|stage| models.has(*stage));
    let each: u64 = asked.map(|stage| models.stage(stage).timeout_secs.min(3_600)).sum();
    LEASE + Duration::from_secs(each) * u32::try_from(sessions.min(1_000)).unwrap_or(1_000)
}

/// The event that lets go what was claimed, with how it ended.
pub(super) fn released(run: &Run, selected: &Selected, outcome: &str) -> Event {
    about(EventKind::Released, run, selected).with("outcome", outcome)
}

fn about(kind: EventKind, run: &Run, selected: &Selected) -> Event {
    Event::new(kind, &selected.scope, AUTO_IMPROVE)
        .run(Some(&run.id))
        .operator(run.operator.as_deref())
        .with("session", selected.session.as_deref())
        .with("page", selected.page.as_deref())
        .with("lane", selected.lane.as_str())
        .with("blob", selected.blob.as_str())
}

fn pause(round: u32) -> Duration {
    let jitter = u64::from(std::process::id()) % 97;
    Duration::from_millis(u64::from(round.min(10)) * 40 + jitter)
}
