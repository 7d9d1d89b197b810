//! Every setting, its default and its unit. The doc comments are what `git memory config` shows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All settings. Names are those of `.gitmemory.toml`; in `git config` they are camelCase below `memory.`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Where the wiki is and what in it is protected.
    pub wiki: Wiki,
    /// The projects that share the wiki.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<Scope>,
    /// What may be accepted without a person.
    pub approval: Approval,
    /// How an accept lands.
    pub accept: Accept,
    /// Limits of a review.
    pub improve: Improve,
    /// When the worker reviews by itself.
    pub scheduler: Scheduler,
    /// When there is enough to look at.
    pub consolidate: Consolidate,
    /// What is captured and how long it is kept.
    pub capture: Capture,
    /// What counts as a secret beyond the built-in rules.
    pub redact: Redact,
    /// The queue of proposals.
    pub pending: Pending,
    /// Retrieval, and what it teaches.
    pub search: Search,
    /// The brief as a file.
    pub memory_md: MemoryMd,
    /// Who reviews.
    pub model: Model,
    /// A program that scores changes before they are staged.
    pub eval: Eval,
    /// What several clones share.
    pub sync: Sync,
}

/// `[wiki]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Wiki {
    /// The folder of the pages, relative to the top of the branch; empty: the top itself.
    pub root: String,
    /// The branch that holds the wiki.
    pub branch: String,
    /// Globs of pages that only a person's yes may change.
    pub protected: Vec<String>,
    /// Globs of pages that people own (protected too).
    pub human_owned: Vec<String>,
    /// What happens to a proposal for a protected page: `defer` (a person must decide) or `refuse`.
    pub protect: Protect,
    /// Another folder for a kind (`gotcha = "pitfalls"`).
    pub folders: BTreeMap<String, String>,
}

impl Default for Wiki {
    fn default() -> Self {
        Wiki {
            root: String::new(),
            branch: String::new(),
            protected: Vec::new(),
            human_owned: Vec::new(),
            protect: Protect::Defer,
            folders: BTreeMap::new(),
        }
    }
}

/// `wiki.protect`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Protect {
    /// Staged, and marked: a person must decide.
    Defer,
    /// Refused with `target_protected`.
    Refuse,
}

/// One `[[scope]]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Its name.
    pub name: String,
    /// Its folder in the wiki, relative to `wiki.root`.
    pub path: String,
    /// Remote URLs of the repositories that belong to it.
    pub repos: Vec<String>,
    /// Globs of working folders that belong to it.
    pub dirs: Vec<String>,
}

/// `[approval]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Approval {
    /// `gated` (what passes every gate), `all` (what was validated) or `none`.
    pub mode: Mode,
    /// Legacy: true is read as `mode = "none"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require_approval: Option<bool>,
    /// Whether triage may accept and clean-up may propose by itself.
    pub autonomy: bool,
    /// What `gated` asks for.
    pub gated: Gated,
}

impl Default for Approval {
    fn default() -> Self {
        Approval { mode: Mode::Gated, require_approval: None, autonomy: false, gated: Gated::default() }
    }
}

/// `approval.mode`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Accepted by itself only when everything under `approval.gated` holds.
    Gated,
    /// Accepted by itself when validated and gated (never rules, slots, protected pages or retirements).
    All,
    /// Everything waits for a person.
    None,
}

/// `[approval.gated]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Gated {
    /// Lanes whose proposals may be accepted by themselves.
    pub lanes: Vec<String>,
    /// Kinds that may be.
    pub kinds: Vec<String>,
    /// Operations that may be.
    pub operations: Vec<String>,
    /// The least confidence, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub min_confidence: f64,
    /// What the judge must have said; without a judge nothing is accepted by itself.
    pub judge: String,
    /// Whether a judge counts whose model takes no temperature, and so cannot be asked at 0.
    pub judge_at_any_temperature: bool,
}

impl Default for Gated {
    fn default() -> Self {
        Gated {
            lanes: vec!["review".into()],
            kinds: ["gotcha", "decision", "concept", "note", "procedure"].map(String::from).into(),
            operations: ["create", "update"].map(String::from).into(),
            min_confidence: 0.75,
            judge: "pass".into(),
            judge_at_any_temperature: false,
        }
    }
}

/// `[accept]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Accept {
    /// `merge` (a merge commit) or `squash` (one ordinary commit, for linear histories).
    pub style: Style,
}

impl Default for Accept {
    fn default() -> Self {
        Accept { style: Style::Merge }
    }
}

/// `accept.style`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// A merge commit, never a fast-forward.
    Merge,
    /// One ordinary commit.
    Squash,
}

/// `[improve]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Improve {
    /// Who stands as the author of what the tool proposes.
    pub proposal_actor: String,
    /// Which lanes run and how: a file of `templates/strategies/`, or a table of one's own.
    pub strategy: String,
    /// Whether a captured session wakes the worker.
    pub on_session_end: bool,
    /// Most tokens (characters / 4) of a prompt; 1,000 of them are kept back.
    pub max_input_tokens: usize,
    /// Most pages that a reviewing model is shown in full, and may change.
    pub max_patchable_pages: usize,
    /// Whether a model also reviews sessions that have no page, from their observations alone.
    pub include_raw_fallback: bool,
    /// Least confidence, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub min_confidence: f64,
    /// Fewest observations that a model is asked about.
    pub min_observations: u32,
    /// Shortest session, in seconds, that a model is asked about.
    pub min_session_duration_secs: u64,
    /// Most proposals of one run.
    pub max_proposals_per_run: usize,
    /// Most edits of one proposal.
    pub max_edits_per_proposal: usize,
    /// Most characters of one edit.
    pub max_edit_content_chars: usize,
    /// Most changed characters of one proposal.
    pub max_changed_chars_per_proposal: usize,
    /// Most edits of one run.
    pub max_patch_edits_per_run: usize,
    /// Most characters of a page body.
    pub max_final_body_chars: usize,
    /// Most tokens (characters / 4) of a rule page.
    pub max_rule_page_tokens: usize,
    /// Most tokens (characters / 4) of a procedure page.
    pub max_procedure_page_tokens: usize,
}

impl Default for Improve {
    fn default() -> Self {
        Improve {
            proposal_actor: "git-memory auto_improve <auto_improve@git-memory.invalid>".into(),
            strategy: "default".into(),
            on_session_end: false,
            max_input_tokens: 24_000,
            max_patchable_pages: 8,
            include_raw_fallback: false,
            min_confidence: 0.75,
            min_observations: 8,
            min_session_duration_secs: 120,
            max_proposals_per_run: 5,
            max_edits_per_proposal: 5,
            max_edit_content_chars: 4_000,
            max_changed_chars_per_proposal: 12_000,
            max_patch_edits_per_run: 8,
            max_final_body_chars: 32_000,
            max_rule_page_tokens: 2_000,
            max_procedure_page_tokens: 2_000,
        }
    }
}

/// `[scheduler]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Scheduler {
    /// Whether reviews run by themselves at all.
    pub enabled: bool,
    /// Seconds between two ticks; 0: never.
    pub interval_secs: u64,
    /// Most sessions per scope and tick.
    pub max_sessions_per_tick: usize,
    /// Youngest session, in seconds since its end, that is reviewed.
    pub min_session_age_secs: u64,
}

impl Default for Scheduler {
    fn default() -> Self {
        Scheduler { enabled: true, interval_secs: 3_600, max_sessions_per_tick: 1, min_session_age_secs: 600 }
    }
}

/// `[consolidate]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Consolidate {
    /// Fewest pages or sessions, changed since the last run, for which the start of an agent's session starts one in the
    /// background; 0: none is started.
    pub min_dirty: usize,
}

impl Default for Consolidate {
    fn default() -> Self {
        Consolidate { min_dirty: 10 }
    }
}

/// `[capture]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Capture {
    /// Whether anything is captured.
    pub enabled: bool,
    /// Paths (gitignore syntax) whose events are dropped with their results.
    pub ignore_paths: Vec<String>,
    /// Leave out what subagents did.
    pub drop_subagents: bool,
    /// Where session pages stand: `ref` (private) or `wiki` (also as `sessions/<id>.md` on the branch).
    pub pages: Pages,
    /// Days that observations are kept.
    pub keep_raw_days: u32,
    /// Days that a session is kept.
    pub keep_days: u32,
}

impl Default for Capture {
    fn default() -> Self {
        Capture {
            enabled: true,
            ignore_paths: Vec::new(),
            drop_subagents: false,
            pages: Pages::Ref,
            keep_raw_days: 90,
            keep_days: 365,
        }
    }
}

/// `capture.pages`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Pages {
    /// Under `refs/memory/sessions/` only.
    Ref,
    /// Also on the wiki branch.
    Wiki,
}

/// `[redact]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Redact {
    /// Regular expressions of further secrets.
    pub extra_patterns: Vec<String>,
    /// Exact strings that are no secrets.
    pub allow: Vec<String>,
}

/// `[pending]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Pending {
    /// Also show pending proposals as files under `_pending/auto-improve/`.
    pub materialize: bool,
    /// Days after which an undecided proposal expires.
    pub expire_days: u32,
}

impl Default for Pending {
    fn default() -> Self {
        Pending { materialize: false, expire_days: 90 }
    }
}

/// `[search]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// Whether searches are recorded here as episodes; without them no outcome can be told of what was read.
    pub record: bool,
    /// What verified outcomes do to the order: `shadow` (recorded beside it), `serve` (used; refused until
    /// `eval outcome-ranking` shows no loss) or `off`.
    pub priors: Priors,
}

impl Default for Search {
    fn default() -> Self {
        Search { record: true, priors: Priors::Shadow }
    }
}

/// `search.priors`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Priors {
    /// The order that outcomes would give is recorded, not served.
    Shadow,
    /// Served.
    Serve,
    /// Neither.
    Off,
}

/// `[memory_md]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MemoryMd {
    /// Where `session-start` keeps the brief in the work tree, relative to its top; empty: in the local folder only.
    pub path: String,
}

/// `[eval]`: an executable that scores a change before it is staged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Eval {
    /// The program and its arguments, started without a shell; empty: no such gate.
    pub command: Vec<String>,
    /// Beginnings of the paths whose changes it scores, relative to the scope's folder.
    pub prefixes: Vec<String>,
    /// Seconds after which it is killed with everything it started.
    pub timeout_secs: u64,
    /// By how much the score must rise, where it names both; a page that was there needs both unless this is 0.
    pub min_delta: f64,
    /// No setting: as `untrusted` of the model.
    #[serde(skip)]
    pub untrusted: Vec<String>,
}

impl Default for Eval {
    fn default() -> Self {
        let prefixes = ["_rules/", "procedures/"].map(String::from).into();
        Eval { command: Vec::new(), prefixes, timeout_secs: 120, min_delta: 0.0, untrusted: Vec::new() }
    }
}

/// `[sync]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Sync {
    /// The remote through which scheduled runs of several clones agree on who reviews what; empty: none.
    pub remote: String,
    /// Whether a scheduled run pushes its claims there before it asks a model.
    pub claims: bool,
}

/// Who can answer.
#[cfg(test)]
const PROVIDERS: [&str; 5] = ["builtin", "openai", "anthropic", "command", "replay"];

/// `[model]`: who reviews, and for each stage what is different there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// `builtin` (no model, no key), `openai`, `anthropic`, `command` or `replay`.
    #[cfg_attr(test, schemars(extend("enum" = PROVIDERS)))]
    pub provider: String,
    /// The model's name as its server knows it.
    pub model: String,
    /// The server's address, up to and with its version (`http://127.0.0.1:8080/v1`); empty: the provider's own.
    pub base_url: String,
    /// The environment variable that holds the key; empty: the usual one for the provider's own address, none elsewhere.
    pub api_key_env: String,
    /// For `command`: the program and its arguments, with spaces between them or as a list. It reads the prompt and writes the reply.
    pub command: Vec<String>,
    /// For `replay`: the folder with recorded replies, one file for each prompt. Any other provider records its replies
    /// there, where it is set.
    pub replies: String,
    /// Seconds for one answer, with all its retries.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub timeout_secs: u64,
    /// How often a call is tried again after 429, 5xx or a lost connection.
    pub max_retries: u32,
    /// Most tokens of one reply.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_output_tokens: u64,
    /// 0 to 2; absent: the provider's own. A judge is always asked at 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 2.0)))]
    pub temperature: Option<f64>,
    /// Most tokens of a day (UTC), asked and answered; 0: no limit.
    pub daily_tokens: u64,
    /// Most calls of a day (UTC); 0: no limit.
    pub daily_calls: u64,
    /// What is different for the review lane.
    pub review: ModelStage,
    /// What is different for the judge.
    pub judge: ModelStage,
    /// What is different for the reflect lane.
    pub reflect: ModelStage,
    /// What is different for the distill lane.
    pub distill: ModelStage,
    /// What is different for the consolidate lane.
    pub consolidate: ModelStage,
    /// What is different for the pair lane.
    pub pair: ModelStage,
    /// No setting: the keys here, of those that need trust, that the committed file names and nobody said yes to.
    #[serde(skip)]
    pub untrusted: Vec<String>,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            provider: "builtin".into(),
            model: String::new(),
            base_url: String::new(),
            api_key_env: String::new(),
            command: Vec::new(),
            replies: String::new(),
            timeout_secs: 120,
            max_retries: 4,
            max_output_tokens: 16_000,
            temperature: None,
            daily_tokens: 0,
            daily_calls: 0,
            review: ModelStage::default(),
            judge: ModelStage::default(),
            reflect: ModelStage::default(),
            distill: ModelStage::default(),
            consolidate: ModelStage::default(),
            pair: ModelStage::default(),
            untrusted: Vec::new(),
        }
    }
}

/// `[model.<stage>]`: what is not said here is as in `[model]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ModelStage {
    /// As `model.provider`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(extend("enum" = PROVIDERS)))]
    pub provider: Option<String>,
    /// As `model.model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// As `model.base_url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// As `model.api_key_env`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// As `model.command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// As `model.replies`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replies: Option<String>,
    /// As `model.timeout_secs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub timeout_secs: Option<u64>,
    /// As `model.max_retries`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// As `model.max_output_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_output_tokens: Option<u64>,
    /// As `model.temperature`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 2.0)))]
    pub temperature: Option<f64>,
}
