//! The record of a run: `runs/<yyyy>/<mm>/<dd>/<run>/run.json` in the ledger, and REPORT.md, which says the same.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::{Plan, Selected};
use super::report;
use crate::model::Usage;
use crate::proposal::Refusal;

/// What set a run off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// A person.
    #[default]
    Manual,
    /// An agent, over MCP. No policy lands what such a run proposes.
    Agent,
    /// A hook queued a commit, or a capture woke the worker.
    PostCommit,
    /// A clock: cron, a timer, a job of the forge.
    Schedule,
    /// An agent's session began, and enough had changed since the last run.
    SessionStart,
}

impl Trigger {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Trigger::Manual => "manual",
            Trigger::Agent => "agent",
            Trigger::PostCommit => "post-commit",
            Trigger::Schedule => "schedule",
            Trigger::SessionStart => "session-start",
        }
    }

    /// Whether somebody asked for the run: it is theirs, and what is for machines that go by themselves does not count.
    pub fn is_asked(self) -> bool {
        matches!(self, Trigger::Manual | Trigger::Agent)
    }
}

/// How far a run got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Planned only (`--dry-run`).
    Planned,
    /// At work, or left so by a process that died.
    Running,
    /// Its proposals are staged.
    Staged,
    /// Done: staged, and what policy accepts has landed.
    Committed,
    /// It ended with an error.
    Failed,
    /// Its process died before anything was staged.
    Abandoned,
    /// The day's calls or tokens of the model are spent.
    BudgetExhausted,
    /// Its process was asked to end; what it had not done is let go.
    Interrupted,
}

impl RunState {
    /// How it is told to people.
    pub fn words(self) -> &'static str {
        match self {
            RunState::Planned => "planned",
            RunState::Running => "running",
            RunState::Staged => "staged",
            RunState::Committed => "committed",
            RunState::Failed => "failed",
            RunState::Abandoned => "abandoned",
            RunState::BudgetExhausted => "out of budget",
            RunState::Interrupted => "interrupted",
        }
    }

    /// Whether a person should know of it.
    pub fn is_bad(self) -> bool {
        matches!(self, RunState::Failed | RunState::Abandoned | RunState::BudgetExhausted)
    }
}

/// One proposal of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Made {
    /// Its id.
    pub id: String,
    /// Its page.
    pub path: String,
    /// Its title.
    pub title: String,
    /// `staged`, `sighted`, `reopened`, `held` or `accepted`.
    pub outcome: String,
    /// For `held`: behind which proposal; for `sighted`: where that proposal stands; for `accepted`: the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A session that was passed over, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Skip {
    /// The session.
    pub session: String,
    /// `no_human_turn`, `own_session`, `too_few_observations`, `session_too_short`, `observations_dropped`, `no_page`,
    /// `unchanged` …
    pub reason: String,
}

/// One call of a model, or the built-in reviewer's look at one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Call {
    /// The stage: `review`, `judge` …
    pub stage: String,
    /// The provider.
    pub provider: String,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session that it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The page that it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// SHA-256 over what was read (the blobs of the sources, the prompt, lane and model): the same input is not looked
    /// at again.
    #[serde(default)]
    pub input_sha256: String,
    /// SHA-256 of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_sha256: Option<String>,
    /// What the prompt was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Read>,
    /// What the reviewer says of the whole, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Usage>,
    /// Milliseconds it took.
    pub ms: u64,
    /// Why there was no answer that could be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The server takes no temperature, and was asked without the one that was wanted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_temperature: bool,
    /// Nobody was asked in the end: the settings or the day's budget were in the way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmade: bool,
}

impl Call {
    /// A call about what was selected; what it cost is for the caller to say.
    pub fn new(stage: &str, provider: &str, selected: &Selected) -> Call {
        Call {
            stage: stage.into(),
            provider: provider.into(),
            session: selected.session.clone(),
            page: selected.page.clone(),
            ..Call::default()
        }
    }

    /// The session or the page.
    pub fn subject(&self) -> &str {
        self.session.as_deref().or(self.page.as_deref()).unwrap_or_default()
    }

    /// Whether a gate made it, about a change that a lane had found.
    pub fn is_of_a_gate(&self) -> bool {
        matches!(self.stage.as_str(), "eval" | "judge" | "retrieval")
    }
}

/// What a prompt was made from: with the same template, wiki, ledger and settings it can be made again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Read {
    /// The template: where it is from, and the first digits of its SHA-256.
    pub template: String,
    /// The wiki's commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The ledger's commit: what was turned down, and what was said of pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<String>,
    /// The blob of each source that was read in full or in part: the session's page (`sessions/<id>.md`), its
    /// observations (`sessions/<id>`), pages.
    pub blobs: BTreeMap<String, String>,
    /// How many observations it shows.
    pub observations: usize,
    /// How many more were chosen and left out, the least worth first, because the prompt was too long.
    pub dropped: usize,
    /// How many pages it gives.
    #[serde(default)]
    pub pages: usize,
    /// How many more pages near the session were left out for want of room, those farthest from it.
    #[serde(default)]
    pub pages_dropped: usize,
    /// How many pages its index lists.
    pub indexed: usize,
    /// How many pages the index leaves out.
    pub index_left_out: usize,
    /// What it tells was turned down before: ids of proposals, or the code of a refusal and its page.
    pub rejections: Vec<String>,
    /// How many more of these were left out for want of room, the oldest.
    #[serde(default)]
    pub rejections_dropped: usize,
}

/// Something that a reviewer looked at and did not propose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RejectedCandidate {
    /// The session.
    pub session: String,
    /// The page that it would have been for; empty: none.
    pub path: String,
    /// Why not.
    pub reason: String,
    /// The words that it would have rested on.
    pub evidence: String,
}

/// A reply as it came; its text is kept in the local folder only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Response {
    /// SHA-256 of its text.
    pub sha256: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Something that the settings asked for and that was not done by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Downgrade {
    /// What was asked for: `triage`, `cleanup`.
    pub what: String,
    /// `autonomy_gated`.
    pub reason: String,
}

/// What became of one session or page that was selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    /// The session or the page.
    pub subject: String,
    /// The lane.
    pub lane: String,
    /// `done`, `skipped`, `failed` (an attempt is used up), `unavailable` (no answer came), `gone`, `let_go` (the
    /// budget was spent before its turn).
    pub outcome: String,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Which attempt failed, where one did: after the third it is parked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The SHA-256 of the reply that could not be used, where one came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
}

/// The record of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    /// Its id (ULID).
    pub id: String,
    /// What set it off.
    pub trigger: Trigger,
    /// The strategy.
    pub strategy: String,
    /// The scope; `None`: all.
    #[serde(default)]
    pub scope: Option<String>,
    /// The person whose git identity ran it.
    #[serde(default)]
    pub operator: Option<String>,
    /// The version of the tool.
    pub version: String,
    /// When it began.
    pub started_at: Timestamp,
    /// Milliseconds it took.
    pub duration_ms: u64,
    /// How far it got.
    pub state: RunState,
    /// What it planned.
    pub plan: Plan,
    /// What was asked, of whom.
    pub calls: Vec<Call>,
    /// What came of it.
    pub proposals: Vec<Made>,
    /// The replies that came.
    #[serde(default)]
    pub responses: Vec<Response>,
    /// Candidates that were refused, with their codes.
    pub refused: Vec<Refusal>,
    /// What a model looked at and did not propose, in its own words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected_candidates: Vec<RejectedCandidate>,
    /// Sessions that were passed over.
    pub skipped: Vec<Skip>,
    /// What became of what was selected.
    #[serde(default)]
    pub outcomes: Vec<Outcome>,
    /// What was asked for and not done by itself.
    #[serde(default)]
    pub downgrades: Vec<Downgrade>,
    /// The ids of the events that it wrote.
    #[serde(default)]
    pub events: Vec<String>,
    /// SHA-256 over the inputs of all calls.
    #[serde(default)]
    pub input_hash: String,
    /// Why proposals wait for a person although a policy is set: id and reason.
    pub waiting: Vec<(String, String)>,
    /// Where it failed.
    #[serde(default)]
    pub error: Option<String>,
    /// Why its record could not be pushed to other clones; it goes with the next run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsent: Option<String>,
    /// How many dead runs are put right before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub recovered: usize,
    /// The settings it ran under that differ from the defaults.
    pub config: Value,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Where a run's files stand in the ledger.
pub fn folder(run: &Run) -> String {
    format!("runs/{}/{}", run.started_at.strftime("%Y/%m/%d"), run.id)
}

impl Run {
    /// The number of proposals with one of these outcomes.
    pub fn count(&self, outcomes: &[&str]) -> usize {
        self.proposals.iter().filter(|made| outcomes.contains(&made.outcome.as_str())).count()
    }

    /// The lanes' calls that brought nothing, with why. A gate without an answer fails no lane.
    pub fn failed_calls(&self) -> impl Iterator<Item = (&Call, &str)> {
        // A reply that was sent back and came again whole is no failure.
        let mended = |number: usize, call: &Call| {
            let same = |later: &&Call| later.stage == call.stage && later.subject() == call.subject();
            self.calls[number + 1..].iter().filter(same).any(|later| later.error.is_none())
        };
        self.calls
            .iter()
            .enumerate()
            .filter(|(_, call)| !call.is_of_a_gate())
            .filter(move |(number, call)| call.error.is_some() && !mended(*number, call))
            .filter_map(|(_, call)| Some((call, call.error.as_deref()?)))
    }

    /// The outcomes with one of these words.
    pub fn ended(&self, words: &[&str]) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| words.contains(&outcome.outcome.as_str()))
    }

    /// Whether it had something to do and nothing of it was done.
    pub fn achieved_nothing(&self) -> bool {
        !self.outcomes.is_empty() && self.ended(&["done", "skipped", "gone"]).next().is_none()
    }

    /// Whether there were candidates and none is left.
    pub fn lost_all(&self) -> bool {
        !self.refused.is_empty() && self.proposals.is_empty()
    }

    /// One line: `review: 1 session, 2 proposals, 1 refused`.
    pub fn summary(&self) -> String {
        report::summary(self)
    }

    /// REPORT.md.
    pub fn report(&self) -> String {
        report::report(self)
    }
}

/// `1 session`, `2 sessions`.
pub fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
