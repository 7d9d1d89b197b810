//! What dead runs left behind: finished where their work is staged, given up where it is not.

use super::claim::released;
use super::journal::{Journal, Left};
use super::plan::Selected;
use super::record::record;
use super::run::{Made, Outcome, Run, RunState, folder};
use super::{Error, pipeline};
use crate::ledger::{self, Append, Cache, Event, EventKind};
use crate::proposal::stage::AUTO_IMPROVE;
use crate::wiki::Wiki;
use crate::wiki::scope::GLOBAL;

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
    let left = Journal::left_behind(&wiki.repo.memory_dir());
    let count = left.len();
    for left in left {
        match left {
            Left::Run(journal, run) => one(wiki, journal, *run)?,
            Left::Malformed { journal, run } => {
                let_go(wiki, &run)?;
                journal.set_aside();
            }
        }
    }
    Ok(count)
}

fn one(wiki: &Wiki, journal: Journal, mut run: Run) -> Result<(), Error> {
    let log = journal.calls();
    let recorded = ledger::file(&wiki.repo, &format!("{}/run.json", folder(&run)))?.is_some();
    if !recorded {
        let mut events = Vec::new();
        if run.state == RunState::Running {
            // Claimed and perhaps staged: what the ledger says of its sessions decides.
            let state = ledger::load(&wiki.repo, Cache::Use)?;
            let staged = state.proposals.values().filter(|proposal| proposal.run.as_deref() == Some(run.id.as_str()));
            run.proposals = staged
                .map(|proposal| Made {
                    id: proposal.id.clone(),
                    path: proposal.paths.first().cloned().unwrap_or_default(),
                    title: proposal.title.clone(),
                    outcome: "staged".into(),
                    detail: None,
                })
                .collect();
            // All that a run selected is let go together with what they taught, in one commit.
            let has_ended = |selected: &Selected| match &selected.page {
                Some(page) => state
                    .looked(page, &selected.lane)
                    .is_some_and(|looked| !looked.claims.contains_key(&run.id) && looked.has_seen(&selected.blob)),
                None => state
                    .reviews
                    .get(selected.subject())
                    .is_some_and(|review| review.has_seen(&selected.blob) && !review.claims.contains_key(&run.id)),
            };
            let done = run.plan.selected.iter().all(has_ended);
            run.state = if done { RunState::Staged } else { RunState::Abandoned };
            if run.calls.is_empty() {
                run.calls = log.calls.clone();
            }
            if !done {
                run.error = Some("its process died".into());
                let at_work = log.at_work.as_deref();
                let outcomes = run.plan.selected.iter().map(|selected| ended(selected, at_work));
                run.outcomes = outcomes.collect();
                let all = run.plan.selected.iter().zip(&run.outcomes);
                events = all.map(|(selected, outcome)| released(&run, selected, &outcome.outcome)).collect();
            }
        }
        record(wiki, &mut run, events, None)?;
    }
    // What was paid for and not made use of is there for the next run that asks exactly this.
    if run.state == RunState::Abandoned {
        journal.hand_down(&log);
    }
    journal.end();
    Ok(())
}

/// A session that a process died at uses an attempt: one that kills every run would be tried for ever.
fn ended(selected: &Selected, at_work: Option<&str>) -> Outcome {
    let here = at_work == Some(selected.subject());
    Outcome {
        subject: selected.subject().to_owned(),
        lane: selected.lane.clone(),
        outcome: if here { "failed" } else { "unavailable" }.into(),
        reason: Some("the run's process died".into()),
        attempt: None,
        response: None,
    }
}

/// Lets go what a run claimed whose journal says nothing any more.
fn let_go(wiki: &Wiki, run: &str) -> Result<(), Error> {
    let state = ledger::load(&wiki.repo, Cache::Use)?;
    let release = |of: &str, subject: &str, lane: &str| {
        Event::new(EventKind::Released, GLOBAL, AUTO_IMPROVE)
            .run(Some(run))
            .with(of, subject)
            .with("lane", lane)
            .with("outcome", "unavailable")
            .with("reason", "the journal of its run cannot be read")
    };
    let sessions = state.reviews.iter().filter(|(_, review)| review.claims.contains_key(run));
    let mut events: Vec<Event> = sessions.map(|(session, _)| release("session", session, "review")).collect();
    for (page, lanes) in &state.pages {
        let claimed = lanes.iter().filter(|(_, looked)| looked.claims.contains_key(run));
        events.extend(claimed.map(|(lane, _)| release("page", page, lane)));
    }
    if events.is_empty() {
        return Ok(());
    }
    let subject = format!("run {run} is abandoned: its journal cannot be read");
    ledger::append(&wiki.repo, &Append { subject, events, files: Vec::new() }, &[])?;
    Ok(())
}
