//! `[search]` and `[memory_md]`: what agents are given.

use serde::{Deserialize, Serialize};

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
