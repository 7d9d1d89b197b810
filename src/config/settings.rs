//! Every setting, its default and its unit. The doc comments are what `git memory config` shows.

mod approval;
mod capture;
mod improve;
mod model;
mod search;
mod wiki;

use serde::{Deserialize, Serialize};

pub use approval::{Accept, Approval, Gated, Mode, Pending, Style};
pub use capture::{Capture, Pages, Redact};
pub use improve::{Consolidate, Eval, Improve, Scheduler, Sync};
pub use model::{Model, ModelStage};
pub use search::{MemoryMd, Priors, Search};
pub use wiki::{Protect, Scope, Wiki};

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
