//! A run, top to bottom: recover ▶ plan ▶ claim ▶ lane ▶ validate ▶ gates ▶ stage ▶
//! policy ▶ triage ▶ record.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::Value;

use super::journal::Journal;
use super::lanes::{self, Bench, End};
use super::plan::{self, Plan, PlanError, Request, Selected};
use super::run::{Call, Made, Outcome, Run, RunState, Skip, Trigger};
use super::strategy::{self, Strategy};
use super::{claim, gates, record, recover, sessions, tick, triage};
use crate::config::trust;
use crate::feedback::{heard, spool};
use crate::git::{self, Lock, Locked, Oid, Person, fault};
use crate::ledger::{self, Append, Cache, Event, EventKind};
use crate::model::Models;
use crate::proposal::accept::{self, Accepted, How};
use crate::proposal::context::{Author, Desktop};
use crate::proposal::desk::{Desk, Hand};
use crate::proposal::policy::{self, Marks, UNMARKED};
use crate::proposal::stage::{self, AUTO_IMPROVE, Draft, Staging};
use crate::proposal::{self, Refusal, View, reject};
use crate::session;
use crate::wiki::Wiki;

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

/// What a run plans on, and the plan.
struct Look {
    sessions: Vec<session::Stored>,
    plan: Plan,
}

/// Reads what there is and plans: the same for a dry run and a live one.
fn look(wiki: &Wiki, request: &Request, strategy: &Strategy, cache: Cache) -> Result<Look, Error> {
    let state = ledger::load(&wiki.repo, cache)?;
    let sessions = session::list(&wiki.repo)?;
    let plan = plan::plan(wiki, &state, &sessions, request, strategy, ledger::now())?;
    Ok(Look { sessions, plan })
}

fn strategy(wiki: &Wiki, request: &Request) -> Result<Strategy, Error> {
    match &request.strategy {
        Some(name) => Ok(Strategy::load(name)?),
        None => Strategy::load(&wiki.config.settings.improve.strategy)
            .map_err(|error| Error::Settings(format!("improve.strategy: {error}"))),
    }
}

/// Plans a run and stops there: reads what a live run would read, writes nothing at all.
///
/// # Errors
/// When the request names what is not there, or the repository cannot be read.
pub fn dry_run(wiki: &Wiki, request: &Request) -> Result<Run, Error> {
    let strategy = strategy(wiki, request)?;
    let plan = look(wiki, request, &strategy, Cache::ReadOnly)?.plan;
    Ok(record::begin(wiki, request, &strategy, plan, RunState::Planned))
}

/// Runs once, under the worker's lock.
///
/// # Errors
/// [`Error::Locked`] when another run is alive.
pub fn run(wiki: &mut Wiki, request: &Request) -> Result<Run, Error> {
    let _lock = lock(wiki)?;
    run_locked(wiki, request)
}

/// The worker's lock.
pub(super) fn lock(wiki: &Wiki) -> Result<Lock, Error> {
    match Lock::try_take(&wiki.repo.memory_dir().join("worker.lock"), "improve")? {
        Locked::Yes(lock) => Ok(lock),
        Locked::No(holder) => Err(Error::Locked(holder)),
    }
}

/// Runs once; the caller holds the worker's lock.
///
/// # Errors
/// When the request or the settings cannot be used, or the repository cannot be read or written.
pub fn run_locked(wiki: &mut Wiki, request: &Request) -> Result<Run, Error> {
    let strategy = strategy(wiki, request)?;
    if request.trigger == Trigger::Schedule {
        tick::note(&wiki.repo.memory_dir());
    }
    recover::all(wiki)?;
    // Before anything is claimed: a person has to decide first.
    trust::review(&wiki.config.settings)?;
    // What cannot be carried over waits on, and is told of by `status`.
    let _ = spool::flush(&wiki.repo);
    wiki.refresh().map_err(Error::Git)?;
    tidy(wiki)?;
    if !request.trigger.is_asked() {
        sessions::begin_scopes(wiki)?;
    }
    // A plan writes no cache; what it will read is kept up to date here.
    heard::load(&wiki.repo, Cache::Use)?;
    let found = look(wiki, request, &strategy, Cache::Use)?;
    let mut run = record::begin(wiki, request, &strategy, found.plan, RunState::Running);
    if is_idle(&run) {
        return Ok(idle(wiki, run));
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
    let worked = claimed.and_then(|()| work(wiki, &mut run, &found.sessions, &journal));
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
    fault::point("improve.before-record");
    record::record(wiki, &mut run, events, since)?;
    fault::point("improve.after-record");
    journal.end();
    worked?;
    exchange(wiki, &mut run);
    Ok(run)
}

/// A run that found nothing to do leaves no record.
fn idle(wiki: &Wiki, mut run: Run) -> Run {
    run.state = RunState::Committed;
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
    run.plan.selected.is_empty() && run.skipped.is_empty()
}

/// After an error: what was claimed is let go, so that it does not wait for its lease to end. The one that was being
/// worked on uses an attempt; the others do not.
fn let_go(run: &mut Run, error: &Error) -> Vec<Event> {
    let at = match error {
        Error::Remote(_) => usize::MAX,
        _ => run.outcomes.len(),
    };
    run.outcomes.clear();
    let mut events = Vec::new();
    for (n, selected) in run.plan.selected.clone().iter().enumerate() {
        let outcome = if n == at { "failed" } else { "unavailable" };
        events.push(ended(run, selected, outcome, Some(&error.to_string())));
    }
    events
}

/// Everything between the claim and the record.
fn work(wiki: &mut Wiki, run: &mut Run, sessions: &[session::Stored], journal: &Journal) -> Result<(), Error> {
    let operator = run.trigger.is_asked().then(|| wiki.repo.operator()).transpose()?;
    let author = Person::parse(&wiki.config.settings.improve.proposal_actor)
        .ok_or_else(|| Error::Settings("improve.proposal_actor is not `Name <address>`".into()))?;
    let state = ledger::load(&wiki.repo, Cache::Use)?;
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir());
    let mut desk = Desk::open(wiki)?;
    let mut drafts = stage::released(&desk, wiki)?;
    let mut events = Vec::new();
    let mut marks = BTreeMap::new();
    let mut spent = None;
    let mut desktop = Desktop::load(wiki, &desk.view)?;
    let bench = Bench {
        wiki,
        models: &models,
        sessions,
        view: &desk.view,
        state: &state,
        trigger: run.trigger,
        journal: Some(journal),
    };
    for selected in run.plan.selected.clone() {
        if let Some(why) = &spent {
            events.push(ended(run, &selected, "let_go", Some(why)));
            continue;
        }
        journal.at(selected.subject())?;
        let Some(mut found) = lanes::work(&bench, &selected)? else {
            events.push(ended(run, &selected, "gone", None));
            continue;
        };
        let (outcome, why) = match &found.end {
            End::Done => ("done", found.judged.as_ref()),
            End::Skipped(why) => ("skipped", Some(why)),
            End::Failed(why) => ("failed", Some(why)),
            End::Unavailable(why) | End::BudgetExhausted(why) => ("unavailable", Some(why)),
        };
        let mut event = ended(run, &selected, outcome, why).with("input", found.input.take());
        run.rejected_candidates.append(&mut found.rejected);
        let mut on_merit = Vec::new();
        let by = model_of(&found.calls);
        run.calls.append(&mut found.calls);
        run.responses.append(&mut found.responses);
        for cited in found.cited {
            desktop.cite(cited);
        }
        for words in found.words {
            desktop.cite_words(words);
        }
        let scope = wiki.scopes.named(&selected.scope).map_err(|error| Error::Settings(error.to_string()))?;
        let actor = format!("{AUTO_IMPROVE} ({by})");
        let who = Author {
            shown: found.shown.as_ref(),
            kinds: found.kinds.as_deref(),
            session: selected.session.as_deref(),
            ..Author::machine(&actor, Some(&run.id))
        };
        found.candidates.extend(found.raw.iter().map(|raw| desktop.normalise(wiki, scope, who, raw)));
        let (valid, refused) = desktop.validate(wiki, scope, who, found.candidates);
        for refusal in refused {
            match known(&desk, &refusal) {
                Some(seen) => {
                    events.push(seen.event(run, &selected));
                    run.proposals.push(seen.made);
                }
                None => {
                    on_merit.extend(told(&refusal));
                    run.refused.push(refusal);
                }
            }
        }
        for valid in valid {
            let verdict = gates::pass(&bench, &valid, &selected.lane);
            run.calls.extend(verdict.calls);
            run.responses.extend(verdict.responses);
            if let Some(refusal) = verdict.refused {
                on_merit.extend(told(&refusal));
                run.refused.push(refusal);
                continue;
            }
            marks.insert(valid.id.to_string(), verdict.marks);
            let mut draft = Draft {
                scope: selected.scope.clone(),
                lane: selected.lane.clone(),
                author: author.clone(),
                actor: AUTO_IMPROVE.to_owned(),
                operator: operator.clone(),
                session: selected.session.clone(),
                model: Some(by.clone()),
                run: Some(run.id.clone()),
                gates: verdict.gates,
                ..Draft::of(valid)
            };
            draft.deferred = draft.deferred.or(found.deferred.clone()).or(verdict.deferred);
            drafts.push(draft);
        }
        if !on_merit.is_empty() {
            event = event.with("refused", on_merit);
        }
        events.push(event);
        if let End::BudgetExhausted(why) = found.end {
            spent = Some(why);
        }
    }
    journal.write(run)?;
    let mut more = Append::new(String::new());
    more.events = events;
    more.events.extend(run.plan.skipped.iter().map(|skip| skipped(run, skip, sessions)));
    more.subject = format!("run {} {}", run.id, "review");
    fault::point("improve.before-stage");
    let outcomes = stage::stage(&mut desk, wiki, &drafts, more)?;
    fault::point("improve.after-stage");
    run.state = RunState::Staged;
    run.proposals.extend(outcomes.iter().zip(&drafts).map(|((_, staging), draft)| made(draft, staging)));
    journal.write(run)?;
    keep_marks(&mut desk, wiki, run, &marks)?;
    drop(desk);
    run.downgrades = triage::downgrades(&run.plan.triage);
    apply_policy(wiki, run, &marks)?;
    triage::accept(wiki, run, &marks)?;
    run.error.clone_from(&spent);
    run.state = match (&spent, run.achieved_nothing()) {
        (Some(_), _) => RunState::BudgetExhausted,
        (None, true) => RunState::Failed,
        (None, false) => RunState::Committed,
    };
    if run.state == RunState::Failed {
        run.error = run.outcomes.iter().find_map(|outcome| outcome.reason.clone());
    }
    Ok(())
}

/// Notes what became of what was selected; the event that lets it go.
fn ended(run: &mut Run, selected: &Selected, outcome: &str, why: Option<&String>) -> Event {
    run.outcomes.push(Outcome {
        subject: selected.subject().to_owned(),
        lane: selected.lane.clone(),
        outcome: outcome.to_owned(),
        reason: why.cloned(),
    });
    if let ("skipped", Some(why), Some(session)) = (outcome, why, &selected.session) {
        run.skipped.push(Skip { session: session.clone(), reason: why.clone() });
    }
    let told = if matches!(outcome, "let_go" | "gone") { "unavailable" } else { outcome };
    claim::released(run, selected, told).with("reason", why.map(String::as_str))
}

/// `provider/model` of the lane's call, or `builtin`.
fn model_of(calls: &[Call]) -> String {
    let name = |call: &Call| match &call.model {
        Some(model) if !model.is_empty() => format!("{}/{model}", call.provider),
        _ => call.provider.clone(),
    };
    calls.first().map_or_else(|| "builtin".to_owned(), name)
}

/// What later reviews hear of a refusal: those that are about what a candidate says.
fn told(refusal: &Refusal) -> Option<Value> {
    refusal.code.is_on_merit().then(|| {
        serde_json::json!({
            "code": refusal.code,
            "path": refusal.path,
            "reason": refusal.reason,
            "summary": refusal.summary,
        })
    })
}

/// A candidate that validation refused because exactly this proposal is known: found again, not refused.
struct Seen {
    made: Made,
    last: ulid::Ulid,
}

impl Seen {
    fn event(&self, run: &Run, selected: &Selected) -> Event {
        Event::new(EventKind::Sighted, &selected.scope, AUTO_IMPROVE)
            .run(Some(&run.id))
            .operator(run.operator.as_deref())
            .proposal(&self.made.id)
            .after(Some(self.last))
            .with("session", selected.session.as_deref())
    }
}

fn known(desk: &Desk, refusal: &Refusal) -> Option<Seen> {
    let id = refusal.proposal.as_ref()?;
    let item = desk.view.items.iter().find(|item| item.id() == id.as_str())?;
    Some(Seen {
        made: Made {
            id: id.to_string(),
            path: refusal.path.clone(),
            title: item.proposal.title.clone(),
            outcome: "sighted".into(),
            detail: Some(item.status.to_string()),
        },
        last: item.proposal.last,
    })
}

/// Keeps what this run marked, for a drain of the queue later on, as it stands now.
fn keep_marks(desk: &mut Desk, wiki: &Wiki, run: &Run, marks: &BTreeMap<String, Marks>) -> Result<(), Error> {
    let staged = run.proposals.iter().filter(|made| made.outcome == "staged" || made.outcome == "reopened");
    let fresh: BTreeMap<String, Marks> =
        staged.filter_map(|made| Some((made.id.clone(), *marks.get(&made.id)?))).collect();
    if fresh.values().any(|marks| *marks != UNMARKED) {
        desk.view = View::load(wiki, Cache::Use)?;
        // What cannot be kept is lost to the drain alone: a person decides then.
        let _ = proposal::marks::keep(&wiki.repo, &desk.view, &run.id, &fresh);
    }
    Ok(())
}

/// Accepts by itself what the policy allows; says of the rest why it waits.
fn apply_policy(wiki: &mut Wiki, run: &mut Run, marks: &BTreeMap<String, Marks>) -> Result<(), Error> {
    let approval = wiki.config.settings.approval.clone();
    let fresh: Vec<String> = run
        .proposals
        .iter()
        .filter(|made| made.outcome == "staged" || made.outcome == "reopened")
        .map(|made| made.id.clone())
        .collect();
    if fresh.is_empty() {
        return Ok(());
    }
    if run.trigger == Trigger::Agent {
        run.waiting = fresh.into_iter().map(|id| (id, "an agent asked for the run".to_owned())).collect();
        return Ok(());
    }
    let Some(policy) = policy::of(&approval) else {
        run.waiting = fresh.into_iter().map(|id| (id, "approval.mode is none".to_owned())).collect();
        return Ok(());
    };
    let mut desk = Desk::open(wiki)?;
    let mut allowed = Vec::new();
    for id in fresh {
        // What was held back by an earlier run comes from the ledger, which others write to as well.
        let Some(marked) = marks.get(&id).copied() else {
            run.waiting.push((id, "no gate of this run has looked at it".to_owned()));
            continue;
        };
        match policy::allows(policy, &approval, &desk.find(&id)?, marked) {
            Ok(()) => allowed.push(id),
            Err(reason) => run.waiting.push((id, reason)),
        }
    }
    if allowed.is_empty() {
        return Ok(());
    }
    let how = How { hand: Hand::bot(policy), person_said_yes: Default::default(), by_section: false };
    match accept::accept_at(&mut desk, wiki, &allowed, &how) {
        Ok(outcomes) => {
            for (id, outcome) in outcomes {
                let made = run.proposals.iter().find(|made| made.id == id);
                match (outcome, made) {
                    (Accepted::Landed(commit), Some(_)) => landed(run, &id, commit),
                    (Accepted::Refused(refused), _) => run.waiting.push((id, refused.message)),
                    (Accepted::Conflicted { reason, .. }, _) => run.waiting.push((id, reason)),
                    _ => {}
                }
            }
        }
        // Busy or in the way: what is staged waits for the next run or a person.
        Err(error) => run.waiting.extend(allowed.into_iter().map(|id| (id, error.to_string()))),
    }
    Ok(())
}

/// Notes that a proposal of the run has landed.
pub(super) fn landed(run: &mut Run, id: &str, commit: Oid) {
    for made in run.proposals.iter_mut().filter(|made| made.id == id) {
        made.outcome = "accepted".into();
        made.detail = Some(commit.to_string());
    }
}

/// Closes what expired, and drops sessions that were kept long enough.
fn tidy(wiki: &mut Wiki) -> Result<(), Error> {
    let capture = &wiki.config.settings.capture;
    session::retain(&wiki.repo, ledger::now(), capture.keep_raw_days, capture.keep_days)?;
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
            &Hand::bot(policy::of(&wiki.config.settings.approval).unwrap_or(proposal::desk::Policy::Gated)),
        )?;
    }
    Ok(())
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
