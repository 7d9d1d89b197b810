//! What dead runs left behind: finished where their work is staged, given up where it is not.

use std::time::Duration;

use jiff::Timestamp;

use super::claim::released;
use super::journal::{Calls, Journal, Left};
use super::plan::{Plan, Selected};
use super::record::{self, record};
use super::run::{Made, Outcome, Run, RunState, folder};
use super::{Error, pipeline};
use crate::git::{self, Lock};
use crate::ledger::{self, Cache, Event, EventKind, State};
use crate::process;
use crate::wiki::Wiki;

/// What is to be done about a dead run.
#[derive(Default)]
struct Righted {
    /// Its record, where it has none.
    run: Option<Run>,
    /// What lets go what it claimed.
    events: Vec<Event>,
    /// Nothing of it was staged: what it paid for is handed down.
    given_up: bool,
}

/// Completes what dead runs left, under the worker's lock, and does nothing else. Returns how many there were.
///
/// # Errors
/// [`Error::Locked`] when another run is alive.
pub fn recover(wiki: &Wiki) -> Result<usize, Error> {
    if !Journal::any_left_behind(&wiki.repo.memory_dir()) {
        return Ok(0);
    }
    let _lock = pipeline::lock(wiki)?;
    all(wiki)
}

/// Finishes or abandons what dead processes left behind; the caller holds the worker's lock. Doing it again changes
/// nothing. Returns how many runs there were.
///
/// # Errors
/// When the ledger cannot be read or written.
pub(super) fn all(wiki: &Wiki) -> Result<usize, Error> {
    let memory = wiki.repo.memory_dir();
    // Whatever their runs are on record as: nobody listens to these programs any more.
    process::end_left_behind(&process::notes(&memory));
    let left = Journal::left_behind(&memory);
    let count = left.len();
    for left in left {
        let state = ledger::load(&wiki.repo, Cache::Use)?;
        let Righted { run, events, given_up } = righted(wiki, &state, &left)?;
        if let Some(mut run) = run {
            record(wiki, &mut run, events, None)?;
        }
        match left {
            Left::Malformed { journal, .. } => journal.set_aside(),
            Left::Run(journal, _) => {
                if given_up {
                    journal.hand_down(&journal.calls());
                }
                journal.end();
            }
        }
    }
    Ok(count)
}

/// The ledger as it will be when what dead runs left is put right, and how many there are. Writes nothing: it is for the
/// plan of a run that is only looked at.
///
/// # Errors
/// When the ledger cannot be read.
pub(super) fn foreseen(wiki: &Wiki, state: State) -> Result<(State, usize), Error> {
    if is_at_work(wiki) {
        return Ok((state, 0));
    }
    let left = Journal::left_behind(&wiki.repo.memory_dir());
    let mut then = state.clone();
    for one in &left {
        let events = righted(wiki, &then, one)?.events;
        if !then.add(events) {
            // The clock went back: what stands is what can be told.
            return Ok((state, left.len()));
        }
    }
    Ok((then, left.len()))
}

/// After how long what a dead run claimed is put right, where that keeps the plan from looking at it; the plan says so.
/// `is_live`: the caller holds the worker's lock.
pub(super) fn rests(wiki: &Wiki, state: &State, plan: &mut Plan, is_live: bool) -> Option<Duration> {
    let mut claimed = plan.gates.iter_mut().filter(|gate| gate.name == "claimed").peekable();
    claimed.peek()?;
    if !is_live && is_at_work(wiki) {
        return None;
    }
    let resting = Journal::resting(&wiki.repo.memory_dir());
    let now = ledger::now();
    let pages = state.pages.values().flat_map(|lanes| lanes.values()).map(|looked| &looked.claims);
    let claims = state.reviews.values().map(|review| &review.claims).chain(pages);
    let holders: Vec<&str> = claims.flat_map(|claims| claims.holders(now)).collect();
    let dead = resting.into_iter().filter(|(run, _)| holders.contains(&run.as_str()));
    let rest = dead.map(|(_, left)| left).max()?;
    for gate in claimed {
        gate.reason = died(rest);
    }
    Some(rest)
}

/// What people are told of a run that died just now.
pub(super) fn died(rest: Duration) -> String {
    format!("the last run died; it is put right in {} s", rest.as_secs() + 1)
}

/// Whether a run is alive.
fn is_at_work(wiki: &Wiki) -> bool {
    Lock::is_held(&wiki.repo.memory_dir().join(pipeline::LOCK))
}

/// What is to be done about what a dead process left. Writes nothing.
fn righted(wiki: &Wiki, state: &State, left: &Left) -> Result<Righted, Error> {
    match left {
        Left::Run(journal, run) => {
            let log = journal.calls();
            of_a_run(wiki, state, log, run.as_ref().clone(), "its process died")
        }
        Left::Malformed { journal, run } => match claimed(wiki, run)? {
            Some(run) => of_a_run(wiki, state, journal.calls(), run, "its journal cannot be read"),
            None => Ok(Righted::default()),
        },
    }
}

/// What a run whose journal says nothing any more claimed: that is all that is known of it. `None` where no run has this
/// name.
fn claimed(wiki: &Wiki, id: &str) -> Result<Option<Run>, Error> {
    let Ok(ulid) = id.parse::<ulid::Ulid>() else { return Ok(None) };
    let millis = i64::try_from(ulid.timestamp_ms()).unwrap_or_default();
    let mut run = record::unknown(id, Timestamp::from_millisecond(millis).unwrap_or_default());
    let Some(tip) = wiki.repo.reference(ledger::REF)? else { return Ok(Some(run)) };
    let (mut events, _) = ledger::events(&wiki.repo, None, tip)?;
    events.retain(|event| event.kind == EventKind::Claimed && event.run.as_deref() == Some(id));
    events.sort_unstable_by_key(|event| (event.at, event.id));
    for event in events {
        let text = |key: &str| event.text(key).map(str::to_owned);
        let selected = Selected {
            session: text("session"),
            page: text("page"),
            scope: event.scope.clone(),
            lane: text("lane").unwrap_or_default(),
            reason: "claimed".into(),
            age_secs: None,
            blob: text("blob").unwrap_or_default(),
        };
        if !run.plan.selected.contains(&selected) {
            run.plan.selected.push(selected);
        }
        let trigger = event.data.get("trigger").and_then(|word| serde_json::from_value(word.clone()).ok());
        run.trigger = trigger.unwrap_or(run.trigger);
    }
    run.plan.mode = run.trigger;
    Ok(Some(run))
}

fn is_recorded(wiki: &Wiki, run: &Run) -> git::Result<bool> {
    Ok(ledger::file(&wiki.repo, &format!("{}/run.json", folder(run)))?.is_some())
}

/// A run, by what its journal and the ledger tell of it; `why` it came to no end.
fn of_a_run(wiki: &Wiki, state: &State, log: Calls, mut run: Run, why: &str) -> Result<Righted, Error> {
    if is_recorded(wiki, &run)? {
        return Ok(Righted::default());
    }
    let mut events = Vec::new();
    if run.state == RunState::Running {
        // Claimed and perhaps staged: what the ledger says of its sessions decides.
        run.proposals = staged(state, &run.id);
        // All that a run selected is let go together with what they taught, in one commit.
        let has_ended = |selected: &Selected| {
            let is_held = selected.claims(state).is_some_and(|claims| claims.is_held_by(&run.id));
            !is_held && has_seen(state, selected)
        };
        let done = run.plan.selected.iter().all(has_ended);
        run.state = if done { RunState::Staged } else { RunState::Abandoned };
        if run.calls.is_empty() {
            run.calls = log.calls;
        }
        if !done {
            events = give_up(&mut run, why, log.at_work.as_deref());
        }
    }
    let given_up = run.state == RunState::Abandoned;
    Ok(Righted { run: Some(run), events, given_up })
}

fn has_seen(state: &State, selected: &Selected) -> bool {
    match &selected.page {
        Some(page) => state.looked(page, &selected.lane).is_some_and(|looked| looked.has_seen(&selected.blob)),
        None => state.reviews.get(selected.subject()).is_some_and(|review| review.has_seen(&selected.blob)),
    }
}

fn staged(state: &State, run: &str) -> Vec<Made> {
    let staged = state.proposals.values().filter(|proposal| proposal.run.as_deref() == Some(run));
    let made = staged.map(|proposal| Made {
        id: proposal.id.clone(),
        path: proposal.paths.first().cloned().unwrap_or_default(),
        title: proposal.title.clone(),
        outcome: "staged".into(),
        detail: None,
    });
    made.collect()
}

/// Lets go all that a run selected. What its process died at uses an attempt: one that kills every run would be tried
/// for ever.
fn give_up(run: &mut Run, why: &str, at_work: Option<&str>) -> Vec<Event> {
    run.error = Some(why.to_owned());
    let outcome = |selected: &Selected| Outcome {
        subject: selected.subject().to_owned(),
        lane: selected.lane.clone(),
        outcome: if at_work == Some(selected.subject()) { "failed" } else { "unavailable" }.into(),
        reason: Some(why.replacen("its", "the run's", 1)),
        attempt: None,
        response: None,
    };
    run.outcomes = run.plan.selected.iter().map(outcome).collect();
    let all = run.plan.selected.iter().zip(&run.outcomes);
    all.map(|(selected, outcome)| released(run, selected, &outcome.outcome).with("reason", outcome.reason.as_deref()))
        .collect()
}
