//! Claims: who reviews what, said in the ledger before any model is asked.
//!
//! Within one repository the worker's lock keeps runs apart. Between clones the remote's ledger does: a run pushes a
//! commit with its claims on top of what the remote has. The push goes through as a fast-forward or not at all, so of
//! two that claim the same session one comes first; the other fetches, sees the claim, and goes on to what nobody has.
//! Times decide nothing: clocks differ, the remote's ref does not.

use std::time::Duration;

use jiff::Timestamp;

use super::Error;
use super::journal::Journal;
use super::plan::{Plan, Selected};
use super::run::{Run, Trigger, plural};
use crate::git::{self, Oid, Pushed, fault};
use crate::ledger::{self, Append, Cache, Event, EventKind};
use crate::model::{Models, Stage};
use crate::proposal::stage::AUTO_IMPROVE;
use crate::session::Redactor;
use crate::wiki::Wiki;

/// How long a claim keeps other runs away from what its run says nothing more of, without the time that one step of the
/// run may take. Half of it later it is made again.
const LEASE: Duration = Duration::from_secs(600);

/// Most calls about past queries of one change: five, each with the old text and with the new one.
const GRADES: u32 = 10;

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

/// The claims of a run that is at work. They are made again before they end, however long it takes.
pub(super) struct Held {
    until: Timestamp,
    lease: Lease,
}

/// For how long claims are made.
#[derive(Clone, Copy)]
struct Lease {
    /// The time that one step may take: a lane's calls about one thing, or the gates' about one change.
    step: Duration,
    /// What is left after it.
    rest: Duration,
}

impl Held {
    /// Makes the claims on what is left once more where the next step could outlast them.
    ///
    /// # Errors
    /// Why nothing more may be asked: they end, and other clones cannot be told that somebody is at it.
    pub(super) fn renew(&mut self, wiki: &Wiki, run: &Run, left: &[Selected]) -> Result<(), Error> {
        let now = ledger::now();
        if self.until >= now + self.lease.step + self.lease.rest / 2 {
            return Ok(());
        }
        let until = now + self.lease.step + self.lease.rest;
        let Some(append) = claims(run, left, until, "claims again") else { return Ok(()) };
        let renewed = if goes_abroad(wiki, run.trigger) {
            // Claims that ended while the machine slept may be another clone's by now.
            let ended = self.until <= now;
            let is_free = || Ok(!ended || !others_are_at(wiki, run, left)?);
            Abroad::of(wiki).and_then(|abroad| abroad.add(wiki, &append, is_free))
        } else {
            ledger::append(&wiki.repo, &append, &[]).map(drop).map_err(Error::Git)
        };
        match renewed {
            // Those that stand are enough for the next step; then it is tried again.
            Err(Error::Remote(_)) if self.until >= now + self.lease.step => Ok(()),
            Err(error) => Err(error),
            Ok(()) => {
                self.until = until;
                Ok(())
            }
        }
    }
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
) -> Result<Held, Error> {
    let lease = Lease::of(wiki);
    let held = || Held { until: ledger::now() + lease.step + lease.rest, lease };
    if !goes_abroad(wiki, run.trigger) {
        let held = held();
        if let Some(append) = claims(run, &run.plan.selected, held.until, "claims") {
            ledger::append(&wiki.repo, &append, &[])?;
        }
        return Ok(held);
    }
    let abroad = Abroad::of(wiki)?;
    for round in 0..ROUNDS {
        let (_, base) = abroad.pull(wiki)?;
        run.plan = look()?;
        run.skipped = run.plan.skipped.clone();
        journal.write(run)?;
        let held = held();
        let Some(append) = claims(run, &run.plan.selected, held.until, "claims") else { return Ok(held) };
        if abroad.put(wiki, &append, base)? {
            return Ok(held);
        }
        std::thread::sleep(pause(round));
    }
    Err(abroad.is_crowded())
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
    Err(abroad.is_crowded())
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

    /// Puts a commit on top of the remote's ledger as it was pulled. False when another clone came first.
    fn put(&self, wiki: &Wiki, append: &Append, base: Option<Oid>) -> Result<bool, Error> {
        // No ref here names the commit before the remote has it: a claim that lost leaves no trace.
        let commit = ledger::commit(&wiki.repo, append, base)?;
        fault::point("claim.before-push");
        if self.push(wiki, commit)? == Pushed::Behind {
            return Ok(false);
        }
        fault::point("claim.after-push");
        ledger::join(&wiki.repo, commit)?;
        Ok(true)
    }

    /// Puts a commit on top of whatever the remote's ledger is, as long as that leaves room for it.
    fn add(&self, wiki: &Wiki, append: &Append, is_free: impl Fn() -> git::Result<bool>) -> Result<(), Error> {
        for round in 0..ROUNDS {
            let (_, base) = self.pull(wiki)?;
            if !is_free()? {
                return Err(Error::Remote("the claims ended, and another clone is at it".into()));
            }
            if self.put(wiki, append, base)? {
                return Ok(());
            }
            std::thread::sleep(pause(round));
        }
        Err(self.is_crowded())
    }

    fn is_crowded(&self) -> Error {
        Error::Remote(format!("other clones keep pushing to {}; try again", self.remote))
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

/// What claims sessions and pages for a run; `None` when there are none.
fn claims(run: &Run, selected: &[Selected], until: Timestamp, verb: &str) -> Option<Append> {
    let claim = |selected: &Selected| {
        about(EventKind::Claimed, run, selected)
            .with("trigger", run.trigger.as_str())
            .with("nonce", ledger::new_id().to_string())
            .with("until", until.to_string())
    };
    let events: Vec<Event> = selected.iter().map(claim).collect();
    let pages = selected.iter().filter(|selected| selected.page.is_some()).count();
    let what = match (events.len() - pages, pages) {
        (sessions, 0) => plural(sessions, "session"),
        (0, pages) => plural(pages, "page"),
        (sessions, pages) => format!("{}, {}", plural(sessions, "session"), plural(pages, "page")),
    };
    let subject = format!("run {} {verb} {what}", run.id);
    (!events.is_empty()).then_some(Append { subject, events, files: Vec::new() })
}

impl Lease {
    fn of(wiki: &Wiki) -> Lease {
        // Tests of claims that end cannot wait: debug builds take the whole lease from the environment.
        #[cfg(debug_assertions)]
        if let Some(secs) = std::env::var("GIT_MEMORY_LEASE").ok().and_then(|text| text.parse().ok()) {
            let all = Duration::from_secs_f64(secs);
            return Lease { step: all / 2, rest: all / 2 };
        }
        let settings = &wiki.config.settings;
        let models = Models::new(&settings.model, wiki.repo.memory_dir());
        let call = |stage: Stage| {
            let secs = if models.has(stage) { models.stage(stage).timeout_secs.min(3_600) } else { 0 };
            Duration::from_secs(secs)
        };
        // A malformed reply is sent back once.
        let lane = [Stage::Review, Stage::Reflect, Stage::Distill].map(call).into_iter().max().unwrap_or_default() * 2;
        let eval = if settings.eval.command.is_empty() { 0 } else { settings.eval.timeout_secs.min(3_600) };
        let gates = Duration::from_secs(eval) + call(Stage::Judge) * (1 + GRADES);
        Lease { step: lane.max(gates), rest: LEASE }
    }
}

/// Whether other runs claimed any of it meanwhile.
fn others_are_at(wiki: &Wiki, run: &Run, selected: &[Selected]) -> git::Result<bool> {
    let state = ledger::load(&wiki.repo, Cache::Use)?;
    let now = ledger::now();
    let claims = selected.iter().filter_map(|selected| selected.claims(&state));
    Ok(claims.flat_map(|claims| claims.holders(now)).any(|holder| holder != run.id))
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
