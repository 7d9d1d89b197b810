//! The plan: which sessions a run would look at, and why not the others. `--dry-run` ends with it; a live run begins
//! with it, through the same code.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::preflight::preflight;
use super::run::{Skip, Trigger};
use super::select::{self, PageLane};
use crate::git;
use crate::ledger::State;
use crate::model::{Models, Stage};
use crate::session::Stored;
use crate::wiki::Wiki;

/// What a run was asked to do.
#[derive(Debug, Clone)]
pub struct Request {
    /// What set it off.
    pub trigger: Trigger,
    /// These sessions, reviewed before or not; empty: what nobody has seen.
    pub sessions: Vec<String>,
    /// Everything that nobody has seen, oldest first.
    pub all: bool,
    /// At most so many.
    pub max_sessions: Option<usize>,
    /// These pages, and nothing else.
    pub pages: Vec<String>,
    /// This lane only; `None`: every lane that works on the pages that are named.
    pub lane: Option<PageLane>,
    /// At most so many pages in each lane.
    pub max_pages: Option<usize>,
    /// This scope only.
    pub scope: Option<String>,
}

/// The plan of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// `manual`, `agent` or `post-commit`.
    pub mode: Trigger,
    /// What the wiki was when it was planned.
    pub snapshot: Snapshot,
    /// How many sessions there are, how many were picked, how many will be looked at.
    pub candidates: Candidates,
    /// What bounds the number of sessions.
    pub limits: Limits,
    /// What took sessions out, and how many.
    pub gates: Vec<Gate>,
    /// What will be looked at.
    pub selected: Vec<Selected>,
    /// Sessions that are recorded as passed over.
    pub skipped: Vec<Skip>,
    /// The lanes and who works in them.
    pub lanes: Vec<Lane>,
}

/// The wiki as planned on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// The branch.
    pub branch: String,
    /// Its commit.
    pub commit: Option<String>,
}

/// Numbers of sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidates {
    /// Captured, in scope.
    pub in_scope: usize,
    /// Picked by the request.
    pub selected: usize,
    /// Left after gates and limits.
    pub effective: usize,
}

/// What bounds a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// From the command line.
    pub cli: Option<usize>,
    /// From the settings (`scheduler.max_sessions_per_tick`, or one for a plain manual run).
    pub stage: Option<usize>,
    /// What counts; `None`: no limit.
    pub effective: Option<usize>,
}

/// What took sessions or pages out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// `seen`, `watermark`, `too_young`, `claimed`, `parked`, `limit`; for pages also `kind`, `not_retrieved`,
    /// `no_feedback`, `not_negative`, `fix_accepted`, `superseded`, `flagged_wrong`, `bare_positive`, `protected`,
    /// `pending`, `rejected`.
    pub name: String,
    /// How many.
    pub removed: usize,
    /// In words.
    pub reason: String,
    /// The lane that it took pages from; `None`: it took out sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
}

/// One session or page that will be looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Selected {
    /// The session, in the review lane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The page, in the other lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// Its scope.
    pub scope: String,
    /// The lane.
    pub lane: String,
    /// `named`, `newest_unseen`, `unseen`, `grown`, `negative_feedback`, `feedback`.
    pub reason: String,
    /// The blob of the session's observations, or of the page.
    pub blob: String,
}

impl Selected {
    /// The session or the page.
    pub fn subject(&self) -> &str {
        self.session.as_deref().or(self.page.as_deref()).unwrap_or_default()
    }
}

/// One lane and who works in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lane {
    /// `review`, `reflect`, `distill`.
    pub name: String,
    /// Whether it runs.
    pub enabled: bool,
    /// Who reviews.
    pub provider: String,
    /// The model that is asked, where one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why it cannot run although it is meant to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

/// Why a plan cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A session that was named and is not captured.
    #[error("no captured session `{0}`")]
    NoSession(String),
    /// A page that was named and is none, or several.
    #[error("{0}")]
    NoPage(String),
    /// A page was named, and nobody can look at it.
    #[error("no model is set for {0}")]
    NoModel(String),
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
}

/// Plans a run. Reads; writes nothing.
pub fn plan(
    wiki: &Wiki,
    state: &State,
    sessions: &[Stored],
    request: &Request,
    now: Timestamp,
) -> Result<Plan, PlanError> {
    let settings = &wiki.config.settings;
    let has_model = Models::new(&settings.model, wiki.repo.memory_dir()).has(Stage::Review);
    let in_scope: Vec<&Stored> = sessions
        .iter()
        // Where pages are named, nothing else is looked at.
        .filter(|_| request.pages.is_empty())
        .filter(|stored| request.scope.as_ref().is_none_or(|scope| *scope == stored.meta.scope))
        .collect();
    let mut pages = select::pages(wiki, state, request, &select::DEFAULT, now)?;
    let mut gates = Vec::new();
    let mut skipped = Vec::new();
    let mut picked: Vec<(&Stored, &'static str)> = Vec::new();
    if request.sessions.is_empty() {
        let automatic = !request.trigger.is_asked();
        let mut removed = [0_usize; 5];
        for stored in &in_scope {
            let review = state.reviews.get(&stored.meta.id);
            let blob = blob(stored);
            let ended = stored.meta.ended.unwrap_or(stored.meta.captured);
            let seen = review.is_some_and(|review| {
                // Once its observations were dropped there is nothing new in it.
                review.has_seen(&blob) || stored.observations_blob.is_none() && review.seen.is_some()
            });
            let watermark = state.watermarks.get(&stored.meta.scope);
            let young = now.as_second() - ended.as_second() < settings.scheduler.min_session_age_secs.cast_signed();
            let claimed = review.and_then(|review| review.leased_until).is_some_and(|until| until > now);
            let out = if seen {
                Some(0)
            } else if automatic && watermark.is_some_and(|mark| ended < *mark) {
                Some(1)
            } else if automatic && young {
                Some(2)
            } else if claimed {
                Some(3)
            } else if automatic && review.is_some_and(|review| review.is_parked()) {
                Some(4)
            } else {
                None
            };
            match out {
                Some(gate) => removed[gate] += 1,
                None => match preflight(stored, has_model, &settings.improve) {
                    Some(reason) => skipped.push(Skip { session: stored.meta.id.clone(), reason: reason.to_owned() }),
                    None => {
                        let grown = review.is_some_and(|review| review.seen.is_some());
                        picked.push((stored, if grown { "grown" } else { "unseen" }));
                    }
                },
            }
        }
        let words = [
            ("seen", "a run has looked at exactly this content"),
            ("watermark", "ended before the wiki began to review by itself"),
            ("too_young", "ended less than scheduler.min_session_age_secs ago"),
            ("claimed", "another run is at it"),
            ("parked", "three reviews failed"),
        ];
        gates.extend(
            words
                .iter()
                .zip(removed)
                .filter(|(_, removed)| *removed > 0)
                .map(|((name, reason), removed)| gate(name, removed, reason)),
        );
        picked.sort_by_key(|(stored, _)| (stored.meta.ended.unwrap_or(stored.meta.captured), stored.meta.id.clone()));
        if !automatic && !request.all && request.max_sessions.is_none() {
            // By hand and without words: the newest one.
            picked = picked.pop().map(|(stored, _)| (stored, "newest_unseen")).into_iter().collect();
        }
    } else {
        for id in &request.sessions {
            let stored = in_scope
                .iter()
                .find(|stored| stored.meta.id == *id)
                .or_else(|| unique_prefix(&in_scope, id))
                .ok_or_else(|| PlanError::NoSession(id.clone()))?;
            match preflight(stored, has_model, &settings.improve) {
                Some(reason) => skipped.push(Skip { session: stored.meta.id.clone(), reason: reason.to_owned() }),
                None => picked.push((stored, "named")),
            }
        }
    }
    let selected = picked.len();
    let stage = (!request.trigger.is_asked()).then_some(settings.scheduler.max_sessions_per_tick);
    let limits = Limits { cli: request.max_sessions, stage, effective: request.max_sessions.or(stage) };
    limit(&mut picked, &limits, request, &mut gates);
    gates.append(&mut pages.gates);
    Ok(Plan {
        mode: request.trigger,
        snapshot: Snapshot { branch: wiki.branch_name().to_owned(), commit: wiki.tip.map(|tip| tip.to_string()) },
        candidates: Candidates { in_scope: in_scope.len(), selected, effective: picked.len() },
        limits,
        gates,
        selected: picked
            .into_iter()
            .map(|(stored, reason)| Selected {
                session: Some(stored.meta.id.clone()),
                page: None,
                scope: stored.meta.scope.clone(),
                lane: "review".into(),
                reason: reason.to_owned(),
                blob: blob(stored),
            })
            .chain(pages.selected)
            .collect(),
        skipped,
        lanes: std::iter::once(Lane {
            name: "review".into(),
            enabled: request.pages.is_empty(),
            provider: settings.model.provider.clone(),
            model: None,
            unavailable: None,
        })
        .chain(pages.lanes)
        .collect(),
    })
}

/// The command line's limit counts for all; the settings' for each scope.
fn limit(picked: &mut Vec<(&Stored, &'static str)>, limits: &Limits, request: &Request, gates: &mut Vec<Gate>) {
    let before = picked.len();
    if let Some(most) = request.max_sessions {
        picked.truncate(most);
    } else if let Some(most) = limits.stage {
        let mut taken = std::collections::HashMap::<&str, usize>::new();
        picked.retain(|(stored, _)| {
            let count = taken.entry(stored.meta.scope.as_str()).or_default();
            *count += 1;
            *count <= most
        });
    }
    if picked.len() < before {
        gates.push(gate("limit", before - picked.len(), "more than this run takes"));
    }
}

/// What "exactly this content" is keyed by.
fn blob(stored: &Stored) -> String {
    stored.observations_blob.unwrap_or(stored.page_blob).to_string()
}

fn gate(name: &str, removed: usize, reason: &str) -> Gate {
    Gate { name: name.to_owned(), removed, reason: reason.to_owned(), lane: None }
}

fn unique_prefix<'s, 'l>(sessions: &'l [&'s Stored], prefix: &str) -> Option<&'l &'s Stored> {
    let mut found = sessions.iter().filter(|stored| prefix.len() >= 4 && stored.meta.id.starts_with(prefix));
    match (found.next(), found.next()) {
        (Some(one), None) => Some(one),
        _ => None,
    }
}
