//! The record of a run: `runs/<yyyy>/<mm>/<dd>/<run>/run.json` in the ledger, and REPORT.md, which says the same.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::{Plan, Selected};
use crate::model::Usage;
use crate::proposal::{Refusal, message::one_line};

/// What set a run off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// A person.
    Manual,
    /// An agent, over MCP. No policy lands what such a run proposes.
    Agent,
    /// A hook queued a commit, or a capture woke the worker.
    PostCommit,
}

impl Trigger {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Trigger::Manual => "manual",
            Trigger::Agent => "agent",
            Trigger::PostCommit => "post-commit",
        }
    }

    /// Whether somebody asked for the run: it is theirs, and what is for machines that go by themselves does not count.
    pub fn is_asked(self) -> bool {
        self != Trigger::PostCommit
    }
}

/// How far a run got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
}

/// One proposal of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skip {
    /// The session.
    pub session: String,
    /// `no_human_turn`, `own_session`, `too_few_observations`, `session_too_short`, `observations_dropped`, `no_page`,
    /// `unchanged` …
    pub reason: String,
}

/// A page that a lane was to look at and proposes nothing for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// The page.
    pub page: String,
    /// The lane.
    pub lane: String,
    /// `done`: it was looked at and may stay; `skipped`: nothing has changed since the last look; `failed` and
    /// `unavailable`: there was no answer that could be used.
    pub outcome: String,
    /// Why, in words.
    pub reason: String,
}

/// One call of a model, or the built-in reviewer's look at one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
}

/// What a prompt was made from: with the same template, wiki, ledger and settings it can be made again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Read {
    /// The template: where it is from, and the first digits of its SHA-256.
    pub template: String,
    /// The wiki's commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The blob of each source that was read in full or in part: the session's page (`sessions/<id>.md`), its
    /// observations (`sessions/<id>`), pages.
    pub blobs: BTreeMap<String, String>,
    /// How many observations it shows.
    pub observations: usize,
    /// How many more were chosen and left out, the least worth first, because the prompt was too long.
    pub dropped: usize,
    /// How many pages its index lists.
    pub indexed: usize,
    /// How many pages the index leaves out.
    pub index_left_out: usize,
    /// What it tells was turned down before: ids of proposals, or the code of a refusal and its page.
    pub rejections: Vec<String>,
}

/// Something that a reviewer looked at and did not propose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// SHA-256 of its text.
    pub sha256: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Something that the settings asked for and that was not done by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Downgrade {
    /// What was asked for: `triage`, `cleanup`.
    pub what: String,
    /// `autonomy_gated`.
    pub reason: String,
}

/// The record of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Pages that a lane was to look at and proposes nothing for.
    #[serde(default)]
    pub judged: Vec<Judged>,
    /// What was asked for and not done by itself.
    #[serde(default)]
    pub downgrades: Vec<Downgrade>,
    /// SHA-256 over the inputs of all calls.
    #[serde(default)]
    pub input_hash: String,
    /// Why proposals wait for a person although a policy is set: id and reason.
    pub waiting: Vec<(String, String)>,
    /// Where it failed.
    #[serde(default)]
    pub error: Option<String>,
    /// The settings it ran under that differ from the defaults.
    pub config: Value,
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

    /// The lanes' calls that brought nothing, with why. A judge that does not answer fails nothing.
    pub fn failed_calls(&self) -> impl Iterator<Item = (&Call, &str)> {
        // A reply that was sent back and came again whole is no failure.
        let mended = |number: usize, call: &Call| {
            let same = |later: &&Call| later.stage == call.stage && later.subject() == call.subject();
            self.calls[number + 1..].iter().filter(same).any(|later| later.error.is_none())
        };
        self.calls
            .iter()
            .enumerate()
            .filter(|(_, call)| !matches!(call.stage.as_str(), "judge" | "retrieval"))
            .filter(move |(number, call)| call.error.is_some() && !mended(*number, call))
            .filter_map(|(_, call)| Some((call, call.error.as_deref()?)))
    }

    /// One line: `review: 1 session, 2 proposals, 1 refused`.
    pub fn summary(&self) -> String {
        let distinct = |subject: fn(&Call) -> Option<&String>| {
            self.calls.iter().filter_map(subject).collect::<BTreeSet<_>>().len()
        };
        let (sessions, pages) = (distinct(|call| call.session.as_ref()), distinct(|call| call.page.as_ref()));
        let mut parts = Vec::new();
        if sessions > 0 || pages == 0 {
            parts.push(plural(sessions, "session"));
        }
        if pages > 0 {
            parts.push(plural(pages, "page"));
        }
        parts.push(plural(self.count(&["staged", "reopened", "accepted"]), "proposal"));
        let mut add = |count: usize, word: &str| {
            if count > 0 {
                parts.push(format!("{count} {word}"));
            }
        };
        add(self.count(&["sighted"]), "seen before");
        add(self.count(&["held"]), "held back");
        add(self.refused.len(), "refused");
        add(self.skipped.len(), "skipped");
        let mut lanes: Vec<&str> = self.plan.selected.iter().map(|selected| selected.lane.as_str()).collect();
        lanes.dedup();
        let lanes = if lanes.is_empty() { "review".to_owned() } else { lanes.join(", ") };
        format!("{lanes}: {}", parts.join(", "))
    }

    /// REPORT.md.
    pub fn report(&self) -> String {
        let mut text = format!("# Run {}\n\n{}\n\n", self.id, self.summary());
        text.push_str(&format!(
            "| | |\n|---|---|\n| trigger | {} |\n| strategy | {} |\n| operator | {} |\n| started | {} |\n| took | {} ms |\n| state | {} |\n\n",
            self.trigger.as_str(),
            self.strategy,
            cell(self.operator.as_deref().unwrap_or("none")),
            self.started_at,
            self.duration_ms,
            serde_json::to_value(self.state).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default(),
        ));
        let mut section = |title: &str, rows: Vec<String>| {
            if !rows.is_empty() {
                text.push_str(&format!("## {title}\n\n{}\n\n", rows.join("\n")));
            }
        };
        section(
            "Sessions",
            self.calls.iter().map(|call| format!("* `{}` by {}", cell(call.subject()), call.provider)).collect(),
        );
        section(
            "Proposals",
            self.proposals
                .iter()
                .map(|made| {
                    let detail = made.detail.as_ref().map(|detail| format!(" ({})", cell(detail))).unwrap_or_default();
                    format!("* `{}` {}{detail}: `{}` — {}", made.id, made.outcome, cell(&made.path), cell(&made.title))
                })
                .collect(),
        );
        section(
            "Waiting for a person",
            self.waiting.iter().map(|(id, reason)| format!("* `{id}`: {}", cell(reason))).collect(),
        );
        section(
            "Refused",
            self.refused
                .iter()
                .map(|refusal| format!("* {} `{}`: {}", refusal.code, cell(&refusal.path), cell(&refusal.reason)))
                .collect(),
        );
        section(
            "Looked at and left out",
            self.rejected_candidates
                .iter()
                .map(|left| {
                    let place = if left.path.is_empty() { String::new() } else { format!(" `{}`:", cell(&left.path)) };
                    format!("* `{}`:{place} {}", cell(&left.session), cell(&left.reason))
                })
                .collect(),
        );
        section(
            "Calls that failed",
            self.failed_calls().map(|(call, why)| format!("* `{}`: {}", cell(call.subject()), cell(why))).collect(),
        );
        section(
            "Skipped",
            self.skipped.iter().map(|skip| format!("* `{}`: {}", cell(&skip.session), skip.reason)).collect(),
        );
        section(
            "Judged",
            self.judged
                .iter()
                .map(|judged| format!("* `{}` in {}: {}", cell(&judged.page), judged.lane, cell(&judged.reason)))
                .collect(),
        );
        if let Some(error) = &self.error {
            text.push_str(&format!("## Failed\n\n{}\n", cell(error)));
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }
}

fn cell(text: &str) -> String {
    one_line(text, 300).replace('|', "\\|").replace('<', "&lt;").replace('`', "'")
}

/// `1 session`, `2 sessions`.
pub fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
