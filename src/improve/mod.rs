//! Improve: from sessions to proposals. Read `pipeline` first: a run from top to bottom.

pub mod ask;
pub mod builtin;
mod context;
pub mod gates;
mod journal;
pub mod lanes;
pub mod pipeline;
pub mod plan;
mod preflight;
pub mod print;
pub mod prompts;
pub mod run;
pub mod select;

pub use pipeline::{Error, dry_run, run, run_locked};
pub use plan::Request;
pub use run::{Run, Trigger};
