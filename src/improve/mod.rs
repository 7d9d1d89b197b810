//! Improve: from sessions to proposals. Read `pipeline` first: a run from top to bottom.

pub mod ask;
pub mod builtin;
mod claim;
mod context;
pub mod gates;
pub mod journal;
pub mod lanes;
pub mod pipeline;
pub mod plan;
mod preflight;
pub mod print;
pub mod prompts;
mod record;
mod recover;
pub mod report;
pub mod run;
pub mod select;
mod sessions;
pub mod strategy;
pub mod tick;
mod triage;

pub use pipeline::{Error, dry_run, run, run_locked};
pub use plan::Request;
pub use recover::recover;
pub use run::{Run, Trigger};
