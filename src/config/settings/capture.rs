//! `[capture]` and `[redact]`: what is kept of sessions.

use serde::{Deserialize, Serialize};

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
