//! A run, top to bottom: recover ▶ plan ▶ claim ▶ lane ▶ validate ▶ gates ▶ stage ▶
//! policy ▶ triage ▶ record.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::claim::Held;
use super::item::{self, Names, Worked};
use super::journal::Journal;
use super::lanes::{Bench, News};
use super::plan::{self, Plan, Request};
use super::run::{Made, Run, RunState, Skip, Trigger};
use super::strategy::{self, Strategy};
use super::{Error, approve, claim, kept, record, recover, report, sessions, since, tick, triage};
use crate::config::trust;
use crate::feedback::{heard, spool};
use crate::git::{Lock, Locked, Person, Watch, asked_to_end, fault};
use crate::ledger::{self, Append, Cache, Event, EventKind};
use crate::model::Models;
use crate::proposal::context::Desktop;
use crate::proposal::desk::{self, Desk, Hand};
use crate::proposal::stage::{self, AUTO_IMPROVE, Draft, Staging};
use crate::proposal::{policy, reject, release};
use crate::session;
use crate::wiki::Wiki;

/// What a run plans on, and the plan.
struct Look {
    sessions: Vec<session::Stored>,
    plan: Plan,
    /// How many dead runs are put right before it.
    recovered: usize,
    /// After how long a run that died just now is put right, where its claims keep this one from something.
    rests: Option<Duration>,
}

/// Reads what there is and plans: the same for a dry run, which writes no cache, and for a live one.
fn look(wiki: &Wiki, request: &Request, strategy: &Strategy, cache: Cache) -> Result<Look, Error> {
    let is_live = cache == Cache::Use;
    let state = ledger::load(&wiki.repo, cache)?;
    // A live run has put right what dead ones left.
    let (state, recovered) = if is_live { (state, 0) } else { recover::foreseen(wiki, state)? };
    let sessions = session::list(&wiki.repo)?;
    let mut plan = plan::plan(wiki, &state, &sessions, request, strategy, ledger::now())?;
    let rests = recover::rests(wiki, &state, &mut plan, is_live);
    Ok(Look { sessions, plan, recovered, rests })
}

fn strategy(wiki: &Wiki, request: &Request) -> Result<Strategy, Error> {
    match &request.strategy {
        Some(name) => Ok(strategy::load(name, &wiki.config)?),
        None => strategy::load(&wiki.config.settings.improve.strategy, &wiki.config)
            .map_err(|error| Error::Settings(format!("improve.strategy: {error}"))),
    }
}

/// Plans a run and stops there: reads what a live run would read, writes nothing at all.
///
/// # Errors
/// When the request names what is not there, or the repository cannot be read.
pub fn dry_run(wiki: &Wiki, request: &Request) -> Result<Run, Error> {
    let strategy = strategy(wiki, request)?;
    let Look { plan, recovered, .. } = look(wiki, request, &strategy, Cache::ReadOnly)?;
    Ok(Run { recovered, ..record::begin(wiki, request, &strategy, plan, RunState::Planned) })
}

/// Runs once, under the worker's lock. `hear` is told what the run is at.
///
/// # Errors
/// [`Error::Locked`] when another run is alive.
pub fn run(wiki: &mut Wiki, request: &Request, hear: &dyn Fn(News<'_>)) -> Result<Run, Error> {
    let _lock = lock(wiki)?;
    run_locked(wiki, request, hear)
}

/// The name of the worker's lock in the local folder.
pub(super) const LOCK: &str = "worker.lock";

/// The worker's lock.
pub(super) fn lock(wiki: &Wiki) -> Result<Lock, Error> {
    match Lock::try_take(&wiki.repo.memory_dir().join(LOCK), "improve")? {
        Locked::Yes(lock) => Ok(lock),
        Locked::No(holder) => Err(Error::Locked(holder)),
    }
}

/// Runs once; the caller holds the worker's lock. Asked to end, it lets go what it has not done, and says so in its
/// record; the caller then ends with [`crate::git::end_as_asked`].
///
/// # Errors
/// When the request or the settings cannot be used, or the repository cannot be read or written.
pub fn run_locked(wiki: &mut Wiki, request: &Request, hear: &dyn Fn(News<'_>)) -> Result<Run, Error> {
    let _watch = Watch::begin();
    let strategy = strategy(wiki, request)?;
    let recovered = recover::all(wiki)?;
    // Before anything is claimed: a person has to decide first.
    trust::review(&wiki.config.settings)?;
    author(wiki)?;
    // What cannot be carried over waits on, and is told of by `status`.
    let _ = spool::flush(&wiki.repo);
    wiki.refresh().map_err(Error::Git)?;
    tidy(wiki)?;
    if !request.trigger.is_asked() {
        sessions::begin_scopes(wiki)?;
    }
    if request.sessions.is_empty() && request.pages.is_empty() && request.scope.is_none() {
        // Without it, the next session of an agent may start one run too many.
        let _ = since::note(wiki);
    }
    // A plan writes no cache; what it will read is kept up to date here.
    heard::load(&wiki.repo, Cache::Use)?;
    let found = look(wiki, request, &strategy, Cache::Use)?;
    found.plan.can_be_carried_out().map_err(Error::Settings)?;
    let run = record::begin(wiki, request, &strategy, found.plan, RunState::Running);
    let mut run = Run { recovered, ..run };
    if let (true, Some(rests)) = (is_idle(&run), found.rests) {
        return Err(Error::Resting(rests));
    }
    if request.trigger == Trigger::Schedule {
        tick::note(&wiki.repo.memory_dir());
    }
    if is_idle(&run) {
        return Ok(idle(wiki, run));
    }
    if asked_to_end() {
        return Err(Error::Interrupted);
    }
    let clock = Instant::now();
    let since = wiki.repo.reference(ledger::REF)?;
    let journal = Journal::begin(&wiki.repo.memory_dir(), &run)?;
    fault::point("improve.before-claim");
    let plan = || Ok(look(wiki, request, &strategy, Cache::Use)?.plan);
    let claimed = claim::take(wiki, &mut run, &journal, plan);
    if claimed.is_ok() && is_idle(&run) {
        // Other clones are at all of it.
        journal.end();
        return Ok(idle(wiki, run));
    }
    fault::point("improve.after-claim");
    let at_work = AtWork { sessions: &found.sessions, journal: &journal, hear };
    let worked = claimed.and_then(|held| work(wiki, &mut run, held, &at_work));
    run.duration_ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
    let events = match &worked {
        Ok(()) => triage::events(&run).collect(),
        Err(error) => {
            let is_staged = run.state == RunState::Staged;
            run.state = RunState::Failed;
            run.error = Some(error.to_string());
            if is_staged { Vec::new() } else { let_go(&mut run, error) }
        }
    };
    // One that came to its end before it was asked to is as it is.
    let interrupted = asked_to_end() && run.state != RunState::Committed;
    if interrupted {
        run.state = RunState::Interrupted;
        run.error = Some(item::INTERRUPTED.into());
    }
    fault::point("improve.before-record");
    record::record(wiki, &mut run, events, since)?;
    fault::point("improve.after-record");
    if interrupted {
        // What was paid for and not made use of is there for the next run that asks exactly this.
        journal.hand_down(&journal.calls());
    }
    journal.end();
    exchange(wiki, &mut run);
    if !interrupted {
        worked?;
    }
    Ok(run)
}

/// A run that found nothing to do leaves no record.
fn idle(wiki: &Wiki, mut run: Run) -> Run {
    run.error = run.plan.without_lanes();
    run.state = if run.error.is_some() { RunState::Failed } else { RunState::Committed };
    exchange(wiki, &mut run);
    run
}

/// Where claims go through a remote, every run ends with what the clones know of each other.
fn exchange(wiki: &Wiki, run: &mut Run) {
    if claim::goes_abroad(wiki, run.trigger) {
        run.unsent = claim::publish(wiki).err().map(|error| error.to_string());
    }
}

/// Whether a run has nothing to do and nothing to say.
fn is_idle(run: &Run) -> bool {
    let plan = &run.plan;
    plan.selected.is_empty() && plan.released.is_empty() && plan.proactive.pages.is_empty() && run.skipped.is_empty()
}

/// Who a run's proposals are written by.
fn author(wiki: &Wiki) -> Result<Person, Error> {
    Person::parse(&wiki.config.settings.improve.proposal_actor)
        .ok_or_else(|| Error::Settings("improve.proposal_actor is not `Name <address>`".into()))
}

/// What a run works with besides the wiki.
struct AtWork<'a> {
    sessions: &'a [session::Stored],
    journal: &'a Journal,
    hear: &'a dyn Fn(News<'_>),
}

/// Everything between the claim and the record.
fn work(wiki: &mut Wiki, run: &mut Run, mut held: Held, at_work: &AtWork<'_>) -> Result<(), Error> {
    let AtWork { sessions, journal, hear } = *at_work;
    let names =
        Names { author: author(wiki)?, operator: run.trigger.is_asked().then(|| wiki.repo.operator()).transpose()? };
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir());
    let mut desk = Desk::open(wiki)?;
    let tip = wiki.repo.reference(ledger::REF)?;
    let state = ledger::load(&wiki.repo, Cache::Use)?;
    let mut worked = Worked {
        desktop: Desktop::load(wiki, &desk.view)?,
        drafts: release::released(&desk.view, wiki)?,
        events: Vec::new(),
        marks: BTreeMap::new(),
        spent: None,
        lost: None,
        out_of_use: BTreeMap::new(),
    };
    let bench = Bench {
        wiki,
        models: &models,
        sessions,
        view: &desk.view,
        state: &state,
        trigger: run.trigger,
        journal: Some(journal),
        ledger: tip,
        may_write: true,
        hear,
    };
    let all = run.plan.selected.clone();
    for (done, selected) in all.iter().enumerate() {
        hear(News::Item { done, of: all.len(), selected });
        let mut renew = |run: &Run| held.renew(wiki, run, &all[done..]);
        item::work(&bench, &names, selected, run, &mut worked, &mut renew)?;
    }
    let Worked { drafts, mut events, marks, spent, lost, .. } = worked;
    journal.write(run)?;
    events.extend(run.plan.skipped.iter().map(|skip| skipped(run, skip, sessions)));
    let more = Append { events, ..Append::new(format!("run {} {}", run.id, report::lanes(run))) };
    fault::point("improve.before-stage");
    let outcomes = stage::stage(&mut desk, wiki, &drafts, more)?;
    fault::point("improve.after-stage");
    run.state = RunState::Staged;
    run.proposals.extend(outcomes.iter().zip(&drafts).map(|((_, staging), draft)| made(draft, staging)));
    journal.write(run)?;
    approve::keep_marks(&mut desk, wiki, run, &marks)?;
    drop(desk);
    if asked_to_end() {
        // Nothing more is begun; what is staged waits for a person, or for `drain`.
        let fresh = run.proposals.iter().filter(|made| matches!(made.outcome.as_str(), "staged" | "reopened"));
        run.waiting = fresh.map(|made| (made.id.clone(), item::INTERRUPTED.to_owned())).collect();
        return Ok(());
    }
    approve::apply_policy(wiki, run, &marks)?;
    triage::accept(wiki, run, &marks)?;
    run.error = spent.clone().or(lost);
    run.state = match (&spent, run.achieved_nothing()) {
        (Some(_), _) => RunState::BudgetExhausted,
        (None, true) => RunState::Failed,
        (None, false) if run.lost_all() => RunState::Failed,
        (None, false) => RunState::Committed,
    };
    if run.state == RunState::Failed {
        let why = run.outcomes.iter().find_map(|outcome| outcome.reason.clone());
        run.error = if run.lost_all() { Some("every candidate was refused".into()) } else { why };
    }
    Ok(())
}

fn made(draft: &Draft, staging: &Staging) -> Made {
    let (outcome, detail) = match staging {
        Staging::Staged => ("staged", None),
        Staging::Reopened => ("reopened", None),
        Staging::Sighted(status) => ("sighted", Some(status.to_string())),
        Staging::Held { behind, .. } => ("held", Some(behind.clone())),
    };
    Made {
        id: draft.id.to_string(),
        path: draft.changes.first().map(|change| change.path.clone()).unwrap_or_default(),
        title: draft.title.clone(),
        outcome: outcome.to_owned(),
        detail,
    }
}

fn skipped(run: &Run, skip: &Skip, sessions: &[session::Stored]) -> Event {
    let stored = sessions.iter().find(|stored| stored.meta.id == skip.session);
    let scope = stored.map_or(crate::wiki::scope::GLOBAL, |stored| stored.meta.scope.as_str());
    let blob = stored.map(|stored| stored.observations_blob.unwrap_or(stored.page_blob).to_string());
    Event::new(EventKind::Skipped, scope, AUTO_IMPROVE)
        .run(Some(&run.id))
        .operator(run.operator.as_deref())
        .with("session", skip.session.as_str())
        .with("reason", skip.reason.as_str())
        .with("blob", blob)
}

/// After an error: what was claimed is let go, so that it does not wait for its lease to end. What was being worked on
/// uses an attempt where the error may lie in it; settings, git and the remote are no fault of a session.
fn let_go(run: &mut Run, error: &Error) -> Vec<Event> {
    let at = match error {
        Error::Proposal(_) | Error::Plan(_) => run.outcomes.len(),
        _ => usize::MAX,
    };
    run.outcomes.clear();
    let mut events = Vec::new();
    for (n, selected) in run.plan.selected.clone().iter().enumerate() {
        let outcome = if n == at { "failed" } else { "unavailable" };
        events.push(item::ended(run, selected, outcome, Some(&error.to_string())));
    }
    events
}

/// Closes what expired, and drops sessions that were kept long enough.
fn tidy(wiki: &mut Wiki) -> Result<(), Error> {
    let capture = &wiki.config.settings.capture;
    session::retain(&wiki.repo, ledger::now(), capture.keep_raw_days, capture.keep_days)?;
    kept::expire(&wiki.repo.memory_dir(), capture.keep_raw_days);
    let limit = i64::from(wiki.config.settings.pending.expire_days) * 86_400;
    let now = ledger::now().as_second();
    let state = ledger::load(&wiki.repo, Cache::Use)?;
    let due = state
        .proposals
        .values()
        .any(|proposal| proposal.status.is_open() && now - proposal.staged_at.as_second() > limit);
    if due {
        let desk = Desk::open(wiki)?;
        reject::expire(
            &desk,
            wiki,
            &Hand::bot(policy::of(&wiki.config.settings.approval).unwrap_or(desk::Policy::Gated)),
        )?;
    }
    Ok(())
}
