//! A run, top to bottom: recover ▶ plan ▶ claim ▶ lane ▶ validate ▶ gates ▶ stage ▶ policy ▶ record.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::gates;
use super::journal::Journal;
use super::lanes::{self, Bench, End, Found};
use super::plan::{self, Plan, PlanError, Request, Selected};
use super::run::{Call, Judged, Made, Run, RunState, Skip, Trigger, folder, plural};
use crate::feedback::{heard, spool};
use crate::git::{self, Lock, Locked, Person, fault};
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

/// How long a claim keeps other runs away from a session whose run says nothing more.
const LEASE: Duration = Duration::from_secs(600);

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
    /// The committed settings name programs or addresses that nobody here trusted.
    #[error("the committed settings name what nobody here trusted: {}", .0.join(", "))]
    Untrusted(Vec<String>),
}

/// Plans a run and stops there: reads what a live run would read, writes nothing at all.
///
/// # Errors
/// When the request names what is not there, or the repository cannot be read.
pub fn dry_run(wiki: &Wiki, request: &Request) -> Result<Run, Error> {
    let state = ledger::load(&wiki.repo, Cache::ReadOnly)?;
    let sessions = session::list(&wiki.repo)?;
    let plan = plan::plan(wiki, &state, &sessions, request, ledger::now())?;
    Ok(begin(wiki, request, plan, RunState::Planned))
}

/// Runs once, under the worker's lock.
///
/// # Errors
/// [`Error::Locked`] when another run is alive.
pub fn run(wiki: &mut Wiki, request: &Request) -> Result<Run, Error> {
    match Lock::try_take(&wiki.repo.memory_dir().join("worker.lock"), "improve")? {
        Locked::Yes(_lock) => run_locked(wiki, request),
        Locked::No(holder) => Err(Error::Locked(holder)),
    }
}

/// Runs once; the caller holds the worker's lock.
pub fn run_locked(wiki: &mut Wiki, request: &Request) -> Result<Run, Error> {
    recover(wiki)?;
    // What cannot be carried over waits on, and is told of by `status`.
    let _ = spool::flush(&wiki.repo);
    wiki.refresh().map_err(Error::Git)?;
    // Before anything is claimed: a run that may ask nobody looks at nothing.
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir());
    let untrusted = gates::untrusted(wiki, &models)?;
    if !untrusted.is_empty() {
        return Err(Error::Untrusted(untrusted));
    }
    tidy(wiki)?;
    let state = ledger::load(&wiki.repo, Cache::Use)?;
    let sessions = session::list(&wiki.repo)?;
    // A plan writes no cache; what it will read is kept up to date here.
    heard::load(&wiki.repo, Cache::Use)?;
    let plan = plan::plan(wiki, &state, &sessions, request, ledger::now())?;
    let mut run = begin(wiki, request, plan, RunState::Running);
    run.skipped = run.plan.skipped.clone();
    if run.plan.selected.is_empty() && run.skipped.is_empty() {
        run.state = RunState::Committed;
        return Ok(run);
    }
    let clock = Instant::now();
    let journal = Journal::begin(&wiki.repo.memory_dir(), &run)?;
    fault::point("improve.before-claim");
    claim(wiki, &run)?;
    fault::point("improve.after-claim");
    let result = work(wiki, &mut run, &sessions, &journal);
    run.duration_ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
    if let Err(error) = &result {
        run.state = RunState::Failed;
        run.error = Some(error.to_string());
        // What was claimed is let go, so that it does not wait for its lease to end.
        let failed = run.plan.selected.iter().map(|selected| released(&run, selected, "failed")).collect();
        record(wiki, &run, failed)?;
    }
    journal.end();
    result.map(|()| run)
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
    let mut desktop = Desktop::load(wiki, &desk.view)?;
    let bench = Bench { wiki, models: &models, sessions, view: &desk.view, state: &state, trigger: run.trigger };
    for selected in run.plan.selected.clone() {
        let Some(mut found) = lanes::work(&bench, &selected)? else { continue };
        run.judged.extend(judged(&selected, &found));
        let mut event = ended(run, &selected, &found).with("input", found.input.take());
        if let (End::Skipped(why), Some(session)) = (&found.end, &selected.session) {
            run.skipped.push(Skip { session: session.clone(), reason: why.clone() });
        }
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
        if let End::BudgetExhausted(why) = &found.end {
            run.error = Some(why.clone());
            break;
        }
    }
    journal.write(run)?;
    let mut more = Append::new(String::new());
    more.events = events;
    more.events.extend(run.plan.skipped.iter().map(|skip| skipped(run, skip, sessions)));
    more.subject = format!("run {} {}", run.id, "review");
    let outcomes = stage::stage(&mut desk, wiki, &drafts, more)?;
    fault::point("improve.after-stage");
    run.state = RunState::Staged;
    run.proposals.extend(outcomes.iter().zip(&drafts).map(|((_, staging), draft)| made(draft, staging)));
    journal.write(run)?;
    keep_marks(&mut desk, wiki, run, &marks)?;
    drop(desk);
    apply_policy(wiki, run, &marks)?;
    run.state = RunState::Committed;
    fault::point("improve.before-record");
    record(wiki, run, Vec::new())
}

/// `provider/model` of the lane's call, or `builtin`.
fn model_of(calls: &[Call]) -> String {
    let name = |call: &Call| match &call.model {
        Some(model) if !model.is_empty() => format!("{}/{model}", call.provider),
        _ => call.provider.clone(),
    };
    calls.first().map_or_else(|| "builtin".to_owned(), name)
}

/// The event that lets go what was claimed, with how it ended.
fn ended(run: &Run, selected: &Selected, found: &Found) -> Event {
    let (outcome, why) = outcome(found);
    released(run, selected, outcome).with("reason", why)
}

fn outcome(found: &Found) -> (&'static str, Option<&str>) {
    match &found.end {
        End::Done => ("done", found.judged.as_deref()),
        End::Skipped(why) => ("skipped", Some(why)),
        End::Failed(why) => ("failed", Some(why)),
        End::Unavailable(why) | End::BudgetExhausted(why) => ("unavailable", Some(why)),
    }
}

/// What the record says of a page for which nothing is proposed.
fn judged(selected: &Selected, found: &Found) -> Option<Judged> {
    let (page, (outcome, Some(why))) = (selected.page.clone()?, outcome(found)) else { return None };
    Some(Judged { page, lane: selected.lane.clone(), outcome: outcome.to_owned(), reason: why.to_owned() })
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
        proposal::marks::keep(&wiki.repo, &desk.view, &run.id, &fresh)?;
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
                let made = run.proposals.iter_mut().find(|made| made.id == id);
                match (outcome, made) {
                    (Accepted::Landed(commit), Some(made)) => {
                        made.outcome = "accepted".into();
                        made.detail = Some(commit.to_string());
                    }
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

/// Finishes or abandons what dead processes left behind.
fn recover(wiki: &Wiki) -> Result<(), Error> {
    for (journal, mut run) in Journal::left_behind(&wiki.repo.memory_dir()) {
        let recorded = ledger::file(&wiki.repo, &format!("{}/run.json", folder(&run)))?.is_some();
        if !recorded {
            let mut events = Vec::new();
            if run.state == RunState::Running {
                // Claimed and perhaps staged: what the ledger says of its sessions decides.
                let state = ledger::load(&wiki.repo, Cache::Use)?;
                let staged: Vec<_> = state
                    .proposals
                    .values()
                    .filter(|proposal| proposal.run.as_deref() == Some(run.id.as_str()))
                    .collect();
                run.proposals = staged
                    .iter()
                    .map(|proposal| Made {
                        id: proposal.id.clone(),
                        path: proposal.paths.first().cloned().unwrap_or_default(),
                        title: proposal.title.clone(),
                        outcome: "staged".into(),
                        detail: None,
                    })
                    .collect();
                let done = run.plan.selected.iter().all(|selected| match &selected.page {
                    Some(page) => state
                        .looked(page, &selected.lane)
                        .is_some_and(|looked| looked.leased_until.is_none() && looked.has_seen(&selected.blob)),
                    None => state.reviews.get(selected.subject()).is_some_and(|review| review.has_seen(&selected.blob)),
                });
                run.state = if done { RunState::Staged } else { RunState::Abandoned };
                if !done {
                    run.error = Some("its process died".into());
                    events = run.plan.selected.iter().map(|s| released(&run, s, "unavailable")).collect();
                }
            }
            record(wiki, &run, events)?;
        }
        journal.end();
    }
    Ok(())
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

fn begin(wiki: &Wiki, request: &Request, plan: Plan, state: RunState) -> Run {
    Run {
        id: ledger::new_id().to_string(),
        trigger: request.trigger,
        strategy: "default".into(),
        scope: request.scope.clone(),
        operator: request
            .trigger
            .is_asked()
            .then(|| wiki.repo.operator().ok().map(|person| person.to_string()))
            .flatten(),
        version: env!("CARGO_PKG_VERSION").into(),
        started_at: ledger::now(),
        duration_ms: 0,
        state,
        plan,
        calls: Vec::new(),
        proposals: Vec::new(),
        responses: Vec::new(),
        refused: Vec::new(),
        downgrades: Vec::new(),
        input_hash: String::new(),
        rejected_candidates: Vec::new(),
        skipped: Vec::new(),
        judged: Vec::new(),
        waiting: Vec::new(),
        error: None,
        config: changed_settings(wiki),
    }
}

/// The settings that differ from the defaults; no secrets stand in settings.
fn changed_settings(wiki: &Wiki) -> Value {
    let (Ok(mut now), Ok(default)) =
        (serde_json::to_value(&wiki.config.settings), serde_json::to_value(crate::config::Settings::default()))
    else {
        return Value::Null;
    };
    if let (Some(tables), Some(defaults)) = (now.as_object_mut(), default.as_object()) {
        tables.retain(|name, table| {
            if let (Some(keys), Some(known)) = (table.as_object_mut(), defaults.get(name).and_then(Value::as_object)) {
                keys.retain(|key, value| known.get(key) != Some(value));
                return !keys.is_empty();
            }
            true
        });
    }
    now
}

/// Claims the sessions before anything is asked about them.
fn claim(wiki: &Wiki, run: &Run) -> Result<(), Error> {
    let until = ledger::now() + LEASE;
    let events: Vec<Event> = run
        .plan
        .selected
        .iter()
        .map(|selected| {
            Event::new(EventKind::Claimed, &selected.scope, AUTO_IMPROVE)
                .run(Some(&run.id))
                .operator(run.operator.as_deref())
                .with("session", selected.session.as_deref())
                .with("page", selected.page.as_deref())
                .with("lane", selected.lane.as_str())
                .with("blob", selected.blob.as_str())
                .with("trigger", run.trigger.as_str())
                .with("nonce", ledger::new_id().to_string())
                .with("until", until.to_string())
        })
        .collect();
    if events.is_empty() {
        return Ok(());
    }
    let pages = run.plan.selected.iter().filter(|selected| selected.page.is_some()).count();
    let what = match (events.len() - pages, pages) {
        (sessions, 0) => plural(sessions, "session"),
        (0, pages) => plural(pages, "page"),
        (sessions, pages) => format!("{}, {}", plural(sessions, "session"), plural(pages, "page")),
    };
    let subject = format!("run {} claims {what}", run.id);
    ledger::append(&wiki.repo, &Append { subject, events, files: Vec::new() }, &[])?;
    Ok(())
}

fn released(run: &Run, selected: &Selected, outcome: &str) -> Event {
    Event::new(EventKind::Released, &selected.scope, AUTO_IMPROVE)
        .run(Some(&run.id))
        .operator(run.operator.as_deref())
        .with("session", selected.session.as_deref())
        .with("page", selected.page.as_deref())
        .with("lane", selected.lane.as_str())
        .with("blob", selected.blob.as_str())
        .with("outcome", outcome)
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

fn record(wiki: &Wiki, run: &Run, events: Vec<Event>) -> Result<(), Error> {
    let folder = folder(run);
    let json = serde_json::to_vec_pretty(run).map_err(|error| git::Error::write("run.json", error))?;
    let append = Append {
        subject: format!("run {} {}", run.id, run.summary()),
        events,
        files: vec![(format!("{folder}/run.json"), json), (format!("{folder}/REPORT.md"), run.report().into_bytes())],
    };
    ledger::append(&wiki.repo, &append, &[])?;
    Ok(())
}
