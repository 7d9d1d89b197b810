//! `[improve]`, `[scheduler]`, `[consolidate]`, `[eval]` and `[sync]`: how much a run does, and when.

use serde::{Deserialize, Serialize};

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
