//! The plan: what a run would look at, with whom, and why not at the rest. `--dry-run` ends with it; a live run begins
//! with it, through the same code.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::run::{Skip, Trigger};
use super::select::due::{self, Due};
use super::select::{self, PageLane};
use super::strategy::{Strategy, TriageMode};
use super::triage;
use super::{consolidation, sessions};
use crate::git;
use crate::ledger::{Cache, Claims, State};
use crate::model::{Models, Stage, StageSettings};
use crate::proposal::{self, View, release};
use crate::search;
use crate::session::Stored;
use crate::wiki::Wiki;

/// What a run was asked to do.
#[derive(Debug, Clone, Default)]
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
    /// The strategy; `None`: what `improve.strategy` says.
    pub strategy: Option<String>,
}

/// The plan of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Plan {
    /// What set it off.
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
    /// Who judges what they propose; null: no model is set for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<Lane>,
    /// Pages that are due for somebody's look although no feedback asks for one.
    #[serde(default)]
    pub proactive: Proactive,
    /// Several notes into one lesson.
    #[serde(default)]
    pub consolidation: Consolidation,
    /// Proposals that were held back behind others which are decided by now: they are staged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<String>,
    /// What becomes of what is marked staged.
    #[serde(default)]
    pub triage: Triage,
    /// What goes to other clones.
    #[serde(default)]
    pub sync: Sync,
}

/// The wiki as planned on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// The branch.
    pub branch: String,
    /// Its commit.
    pub commit: Option<String>,
    /// How the search index stands to it: `fresh`, `behind`, `absent`, `damaged`.
    #[serde(default)]
    pub index: String,
}

/// Numbers of sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Candidates {
    /// Captured, in scope.
    pub in_scope: usize,
    /// Picked by the request.
    pub selected: usize,
    /// Left after gates and limits.
    pub effective: usize,
}

/// What bounds a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Limits {
    /// From the command line.
    pub cli: Option<usize>,
    /// From the strategy.
    #[serde(default)]
    pub strategy: Option<usize>,
    /// From the settings, for each scope (`scheduler.max_sessions_per_tick`, where nobody asked for the run).
    pub stage: Option<usize>,
    /// What counts; `None`: no limit.
    pub effective: Option<usize>,
    /// Most pages in each lane, from the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pages: Option<usize>,
}

/// What took sessions or pages out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gate {
    /// `lane_off`, `seen`, `watermark`, `too_young`, `claimed`, `parked`, `limit`; for pages also `kind`,
    /// `not_retrieved`, `no_feedback`, `not_negative`, `fix_accepted`, `superseded`, `flagged_wrong`, `bare_positive`,
    /// `protected`, `pending`, `rejected`; for what is due also `new`, `in_use`.
    pub name: String,
    /// How many.
    pub removed: usize,
    /// In words.
    pub reason: String,
    /// The lane that it took pages from; `None`: it took out sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// The page, where pages were named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// One session or page that will be looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// How many seconds ago the session's last entry was written, where that is less than
    /// `scheduler.min_session_age_secs`: it may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_secs: Option<u64>,
}

impl Selected {
    /// The session or the page.
    pub fn subject(&self) -> &str {
        self.session.as_deref().or(self.page.as_deref()).unwrap_or_default()
    }

    /// The claims on it, as the ledger tells.
    pub fn claims<'s>(&self, state: &'s State) -> Option<&'s Claims> {
        match &self.page {
            Some(page) => state.looked(page, &self.lane).map(|looked| &looked.claims),
            None => state.reviews.get(self.subject()).map(|review| &review.claims),
        }
    }
}

/// One lane and who works in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lane {
    /// `review`, `reflect` …
    pub name: String,
    /// Whether the strategy has it run.
    pub enabled: bool,
    /// Who works in it.
    pub provider: String,
    /// The model, where the provider has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why it does not run although it is enabled, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

/// Pages that are due for somebody's look although no feedback asks for one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proactive {
    /// Whether the strategy looks for them.
    pub enabled: bool,
    /// Days without a search, read or judgement.
    pub days: u32,
    /// At most so many are listed; 0: all.
    pub limit: usize,
    /// How many are due; null: not counted.
    pub due: Option<usize>,
    /// The first of them, the most worth first. No change is planned for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<Due>,
}

/// Several notes into one lesson.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Consolidation {
    /// Notes in scope.
    pub pool: usize,
    /// The fewest that it runs over.
    pub least: usize,
    /// How many were written or read since the lane last ran, or, where it never did, since the wiki began to review by
    /// itself; null: not counted, as there are too few notes or the lane is off.
    pub delta: Option<usize>,
    /// How many chunks they would make.
    pub chunks: usize,
    /// Whether it would run.
    pub would_run: bool,
    /// Why, or why not.
    pub reason: String,
}

/// What becomes of proposals that are marked staged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Triage {
    /// As the strategy says.
    pub configured: TriageMode,
    /// As the settings let it.
    pub effective: TriageMode,
    /// At most so many are accepted.
    pub cap: usize,
    /// Why the two differ, if they do: `autonomy_gated`, `approval_none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What goes to other clones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sync {
    /// As the strategy says.
    pub commit: bool,
    /// As the strategy says.
    pub push: bool,
    /// The remote; null: none is set.
    pub remote: Option<String>,
    /// Whether this run pushes its claims there before it asks anybody.
    pub claims: bool,
    /// What of it does not happen, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

impl Plan {
    /// Whether the lanes that have something to do can do it.
    ///
    /// # Errors
    /// Why one cannot: a person has to mend the settings before anything is claimed.
    pub fn can_be_carried_out(&self) -> Result<(), String> {
        let has_work = |lane: &&Lane| self.selected.iter().any(|selected| selected.lane == lane.name);
        let judge = self.judge.iter().filter(|_| !self.selected.is_empty());
        let why = self.lanes.iter().filter(has_work).chain(judge).find_map(|lane| lane.unavailable.clone());
        why.map_or(Ok(()), Err)
    }

    /// The lanes that are on and that nobody can work in, whatever there is to do: not built, or without a model.
    pub fn idle_lanes(&self) -> Vec<&Lane> {
        let is_idle = |lane: &&Lane| matches!(lane.unavailable.as_deref(), Some(NOT_BUILT | NO_MODEL));
        self.lanes.iter().filter(|lane| lane.enabled).filter(is_idle).collect()
    }

    /// Why no lane at all can run, if so: doing nothing then is no success.
    pub fn without_lanes(&self) -> Option<String> {
        let idle = self.idle_lanes();
        let on = self.lanes.iter().filter(|lane| lane.enabled).count();
        let named = |lane: &&Lane| format!("{} ({})", lane.name, lane.unavailable.as_deref().unwrap_or_default());
        let names = idle.iter().map(named).collect::<Vec<_>>().join(", ");
        match (on, idle.len()) {
            (0, _) => Some("it has no lane on".to_owned()),
            (on, idle) => (on == idle).then(|| format!("none of its lanes can run: {names}")),
        }
    }
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
    /// Trouble with what is held back.
    #[error(transparent)]
    Proposal(#[from] proposal::Error),
}

/// Plans a run. Reads; writes nothing.
///
/// # Errors
/// When the request names what is not there, or the wiki cannot be read.
pub fn plan(
    wiki: &Wiki,
    state: &State,
    captured: &[Stored],
    request: &Request,
    strategy: &Strategy,
    now: Timestamp,
) -> Result<Plan, PlanError> {
    let settings = &wiki.config.settings;
    let models = Models::new(&settings.model, wiki.repo.memory_dir());
    // Where pages are named, nothing else is looked at.
    let captured = if request.pages.is_empty() { captured } else { &[] };
    let mut found = sessions::choose(wiki, state, captured, request, strategy, &models, now)?;
    let pages = select::pages(wiki, state, request, strategy, now)?;
    let due = pages.due;
    found.gates.extend(pages.gates);
    found.selected.extend(pages.selected);
    Ok(Plan {
        mode: request.trigger,
        snapshot: Snapshot {
            branch: wiki.branch_name().to_owned(),
            commit: wiki.tip.map(|tip| tip.to_string()),
            index: search::index_status(wiki)?.to_owned(),
        },
        candidates: found.candidates,
        limits: Limits { max_pages: request.max_pages, ..found.limits },
        gates: found.gates,
        selected: found.selected,
        skipped: found.skipped,
        lanes: lanes(strategy, &models, request, pages.lanes),
        judge: judge(&models),
        proactive: Proactive {
            enabled: strategy.proactive.enabled,
            days: strategy.proactive.days,
            limit: strategy.proactive.limit,
            due: due.as_ref().map(|due| due.count),
            pages: due.map(|due| due.pages).unwrap_or_default(),
        },
        consolidation: consolidation::planned(wiki, state, request, strategy)?,
        released: released(wiki, state)?,
        triage: triage::planned(&settings.approval, strategy.triage),
        sync: sync(wiki, request, strategy),
    })
}

/// What was held back and can be staged now.
fn released(wiki: &Wiki, state: &State) -> Result<Vec<String>, PlanError> {
    if state.held.is_empty() {
        return Ok(Vec::new());
    }
    let drafts = release::released(&View::load(wiki, Cache::ReadOnly)?, wiki)?;
    Ok(drafts.into_iter().map(|draft| draft.id.to_string()).collect())
}

/// What a lane that this version does not have says of itself.
pub(super) const NOT_BUILT: &str = "not built";

/// What a lane that needs a model says without one.
pub(super) const NO_MODEL: &str = "no model";

fn judge(models: &Models) -> Option<Lane> {
    let settings = models.has(Stage::Judge).then(|| models.stage(Stage::Judge))?;
    Some(Lane {
        name: Stage::Judge.as_str().to_owned(),
        enabled: true,
        provider: settings.provider,
        model: Some(settings.model).filter(|model| !model.is_empty()),
        unavailable: models.ready(Stage::Judge).err().map(|error| error.to_string()),
    })
}

fn lanes(strategy: &Strategy, models: &Models, request: &Request, pages: Vec<Lane>) -> Vec<Lane> {
    let lane = |name: &str, enabled, stage: Option<Stage>, unavailable: Option<&str>| {
        let settings: Option<StageSettings> = stage.map(|stage| models.stage(stage));
        let (provider, model) = settings.map(|settings| (settings.provider, settings.model)).unwrap_or_default();
        Lane {
            name: name.to_owned(),
            enabled,
            provider: if provider.is_empty() { "none".into() } else { provider },
            model: Some(model).filter(|model: &String| !model.is_empty()),
            unavailable: unavailable.map(str::to_owned),
        }
    };
    let amiss = models.ready(Stage::Review).err().map(|error| error.to_string());
    // What is named is looked at, whatever the strategy leaves out.
    let enabled = request.pages.is_empty() && (strategy.review.enabled || !request.sessions.is_empty());
    let by_name = !request.pages.is_empty() || !request.sessions.is_empty();
    let review = lane("review", enabled, Some(Stage::Review), amiss.as_deref());
    let rest = [
        lane("promote", !by_name && strategy.promote.enabled, Some(Stage::Consolidate), Some(NOT_BUILT)),
        lane("consolidate", !by_name && strategy.promote.enabled, Some(Stage::Consolidate), Some(NOT_BUILT)),
        lane("pair", !by_name && strategy.pair.enabled, Some(Stage::Pair), Some(NOT_BUILT)),
        // Fixed rules tell what is due; nobody is asked.
        Lane { provider: "builtin".into(), ..lane(due::LANE, !by_name && strategy.proactive.enabled, None, None) },
    ];
    std::iter::once(review).chain(pages).chain(rest).collect()
}

fn sync(wiki: &Wiki, request: &Request, strategy: &Strategy) -> Sync {
    let settings = &wiki.config.settings.sync;
    let claims = super::claim::goes_abroad(wiki, request.trigger);
    Sync {
        commit: strategy.sync.commit,
        push: strategy.sync.push,
        remote: (!settings.remote.is_empty()).then(|| settings.remote.clone()),
        claims,
        unavailable: strategy.sync.push.then(|| {
            let rest = if claims { "pending proposals and the branch are not pushed" } else { "nothing is pushed" };
            format!("{rest}: {NOT_BUILT}")
        }),
    }
}
