//! Which sessions a run looks at, and what keeps it from the others.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use super::Error;
use super::plan::{Candidates, Gate, Limits, PlanError, Request, Selected};
use super::preflight::preflight;
use super::run::Skip;
use super::strategy::Strategy;
use crate::ledger::{self, Append, Cache, Event, EventKind, State};
use crate::model::{Models, Stage};
use crate::proposal::stage::AUTO_IMPROVE;
use crate::session::{self, Stored};
use crate::wiki::Wiki;

/// What was chosen.
pub(super) struct Selection {
    pub candidates: Candidates,
    pub limits: Limits,
    pub gates: Vec<Gate>,
    pub selected: Vec<Selected>,
    pub skipped: Vec<Skip>,
}

/// A session and why it was picked.
type Picked<'s> = Vec<(&'s Stored, &'static str)>;

/// Chooses the sessions of a run.
pub(super) fn choose(
    wiki: &Wiki,
    state: &State,
    sessions: &[Stored],
    request: &Request,
    strategy: &Strategy,
    models: &Models,
    now: Timestamp,
) -> Result<Selection, PlanError> {
    let settings = &wiki.config.settings;
    let in_scope: Vec<&Stored> = sessions
        .iter()
        .filter(|stored| request.scope.as_ref().is_none_or(|scope| *scope == stored.meta.scope))
        .collect();
    let automatic = !request.trigger.is_asked();
    let stage = automatic.then_some(settings.scheduler.max_sessions_per_tick);
    let of_strategy = strategy.review.limit();
    let limits = Limits {
        cli: request.max_sessions,
        strategy: of_strategy,
        stage,
        effective: request.max_sessions.or(stage).or(of_strategy),
        max_pages: None,
    };
    let mut found = Selection {
        candidates: Candidates { in_scope: in_scope.len(), ..Candidates::default() },
        limits,
        gates: Vec::new(),
        selected: Vec::new(),
        skipped: Vec::new(),
    };
    if !strategy.review.enabled && request.sessions.is_empty() {
        let reason = format!("the strategy {} leaves the review lane out", strategy.name);
        found.gates.extend((!in_scope.is_empty()).then(|| gate("lane_off", in_scope.len(), &reason)));
        return Ok(found);
    }
    let has_model = models.has(Stage::Review);
    let guard = |stored: &Stored| preflight(stored, has_model, &settings.improve);
    let mut picked = if request.sessions.is_empty() {
        let mut picked = unseen(wiki, state, &in_scope, automatic, &guard, now, &mut found);
        if !automatic && !request.all && request.max_sessions.is_none() {
            // By hand and without words: the newest one, however many the strategy would take.
            picked = picked.pop().map(|(stored, _)| (stored, "newest_unseen")).into_iter().collect();
        }
        picked
    } else {
        named(&in_scope, &request.sessions, &guard, &mut found)?
    };
    found.candidates.selected = picked.len();
    limit(&mut picked, request, &mut found);
    found.candidates.effective = picked.len();
    let young = settings.scheduler.min_session_age_secs;
    let age = |stored: &Stored| u64::try_from(now.as_second() - end(stored).as_second()).unwrap_or(0);
    found.selected = picked
        .into_iter()
        .map(|(stored, reason)| Selected {
            age_secs: Some(age(stored)).filter(|age| *age < young),
            session: Some(stored.meta.id.clone()),
            page: None,
            scope: stored.meta.scope.clone(),
            lane: "review".into(),
            reason: reason.to_owned(),
            blob: blob(stored),
        })
        .collect();
    Ok(found)
}

/// Everything that no run has looked at and nothing keeps out, oldest first.
fn unseen<'s>(
    wiki: &Wiki,
    state: &State,
    in_scope: &[&'s Stored],
    automatic: bool,
    guard: &impl Fn(&Stored) -> Option<&'static str>,
    now: Timestamp,
    found: &mut Selection,
) -> Picked<'s> {
    let young = wiki.config.settings.scheduler.min_session_age_secs.cast_signed();
    let marks = watermarks(wiki, state, in_scope, now);
    let mut removed = [0_usize; 5];
    let mut picked: Picked<'s> = Vec::new();
    for stored in in_scope {
        let review = state.reviews.get(&stored.meta.id);
        let ended = end(stored);
        let seen = review.is_some_and(|review| {
            // Once its observations were dropped there is nothing new in it.
            review.has_seen(&blob(stored)) || stored.observations_blob.is_none() && review.seen.is_some()
        });
        let out = if seen {
            Some(0)
        } else if automatic && marks.get(stored.meta.scope.as_str()).is_some_and(|mark| ended <= *mark) {
            Some(1)
        } else if automatic && now.as_second() - ended.as_second() < young {
            Some(2)
        } else if review.is_some_and(|review| review.claims.is_claimed(now)) {
            Some(3)
        } else if automatic && review.is_some_and(|review| review.is_parked()) {
            Some(4)
        } else {
            None
        };
        match (out, guard(stored)) {
            (Some(gate), _) => removed[gate] += 1,
            (None, Some(reason)) => found.skipped.push(skip(stored, reason)),
            (None, None) => {
                let grown = review.is_some_and(|review| review.seen.is_some());
                picked.push((stored, if grown { "grown" } else { "unseen" }));
            }
        }
    }
    let too_young = format!("ended less than {young} s ago (scheduler.min_session_age_secs)");
    let words = [
        ("seen", "a run has looked at exactly this content"),
        ("watermark", "ended before the wiki began to review by itself"),
        ("too_young", too_young.as_str()),
        ("claimed", "another run is at it"),
        ("parked", "three reviews failed"),
    ];
    let told = words.iter().zip(removed).filter(|(_, removed)| *removed > 0);
    found.gates.extend(told.map(|((name, reason), removed)| gate(name, removed, reason)));
    picked.sort_unstable_by_key(|(stored, _)| (end(stored), stored.meta.id.clone()));
    picked
}

/// The sessions that were asked for by name.
fn named<'s>(
    in_scope: &[&'s Stored],
    names: &[String],
    guard: &impl Fn(&Stored) -> Option<&'static str>,
    found: &mut Selection,
) -> Result<Picked<'s>, PlanError> {
    let mut picked: Picked<'s> = Vec::new();
    for id in names {
        let stored = in_scope
            .iter()
            .find(|stored| stored.meta.id == *id)
            .or_else(|| unique_prefix(in_scope, id))
            .ok_or_else(|| PlanError::NoSession(id.clone()))?;
        match guard(stored) {
            Some(reason) => found.skipped.push(skip(stored, reason)),
            None => picked.push((stored, "named")),
        }
    }
    Ok(picked)
}

/// From when on sessions of a scope are reviewed on their own. A scope that was added later begins with the newest
/// session that was there when it was first seen, or now where there was none.
fn watermarks(wiki: &Wiki, state: &State, sessions: &[&Stored], now: Timestamp) -> BTreeMap<String, Timestamp> {
    let mut marks = state.watermarks.clone();
    for scope in wiki.scopes.all.iter().filter(|scope| !state.watermarks.contains_key(&scope.name)) {
        let ends = sessions.iter().filter(|stored| stored.meta.scope == scope.name).map(|stored| end(stored));
        marks.insert(scope.name.clone(), ends.max().unwrap_or(now));
    }
    marks
}

/// Records from when on scopes that have no such record are reviewed on their own.
pub(super) fn begin_scopes(wiki: &Wiki) -> Result<(), Error> {
    let state = ledger::load(&wiki.repo, Cache::Use)?;
    if wiki.scopes.all.iter().all(|scope| state.watermarks.contains_key(&scope.name)) {
        return Ok(());
    }
    let captured = session::list(&wiki.repo)?;
    if captured.is_empty() && state.watermarks.is_empty() {
        // Nothing was ever captured, and nobody made this wiki with `init`: nothing begins yet.
        return Ok(());
    }
    let marks = watermarks(wiki, &state, &captured.iter().collect::<Vec<_>>(), ledger::now());
    let new = marks.iter().filter(|(scope, _)| !state.watermarks.contains_key(*scope));
    let events: Vec<Event> = new
        .map(|(scope, at)| Event::new(EventKind::Watermark, scope, AUTO_IMPROVE).with("at", at.to_string()))
        .collect();
    let subject = "memory: from when on new scopes are reviewed".to_owned();
    ledger::append(&wiki.repo, &Append { subject, events, files: Vec::new() }, &[])?;
    Ok(())
}

/// The command line's limit, and the strategy's, count for all; the settings' for each scope.
fn limit(picked: &mut Picked<'_>, request: &Request, found: &mut Selection) {
    let before = picked.len();
    let limits = &found.limits;
    match (request.max_sessions, limits.stage, limits.strategy) {
        (Some(most), _, _) | (None, None, Some(most)) => picked.truncate(most),
        (None, Some(most), _) => {
            let mut taken = HashMap::<&str, usize>::new();
            picked.retain(|(stored, _)| {
                let count = taken.entry(stored.meta.scope.as_str()).or_default();
                *count += 1;
                *count <= most
            });
        }
        (None, None, None) => {}
    }
    if picked.len() < before {
        found.gates.push(gate("limit", before - picked.len(), "more than this run takes"));
    }
}

fn skip(stored: &Stored, reason: &str) -> Skip {
    Skip { session: stored.meta.id.clone(), reason: reason.to_owned() }
}

fn end(stored: &Stored) -> Timestamp {
    stored.meta.ended.unwrap_or(stored.meta.captured)
}

/// What "exactly this content" is keyed by.
fn blob(stored: &Stored) -> String {
    stored.observations_blob.unwrap_or(stored.page_blob).to_string()
}

fn gate(name: &str, removed: usize, reason: &str) -> Gate {
    Gate { name: name.to_owned(), removed, reason: reason.to_owned(), lane: None, page: None }
}

fn unique_prefix<'s, 'l>(sessions: &'l [&'s Stored], prefix: &str) -> Option<&'l &'s Stored> {
    let mut found = sessions.iter().filter(|stored| prefix.len() >= 4 && stored.meta.id.starts_with(prefix));
    match (found.next(), found.next()) {
        (Some(one), None) => Some(one),
        _ => None,
    }
}
