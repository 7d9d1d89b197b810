//! Improve: from sessions to proposals. Read `pipeline` first: a run from top to bottom.

pub mod builtin;
mod gates;
mod journal;
mod lanes;
pub mod pipeline;
pub mod plan;
pub mod run;

pub use pipeline::{Error, dry_run, run, run_locked};
pub use plan::Request;
pub use run::{Run, Trigger};
