//! `[approval]`, `[accept]` and `[pending]`: what lands, how, and how long it may wait.

use serde::{Deserialize, Serialize};

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
