//! Improve: from sessions to proposals. Read `pipeline` first: a run from top to bottom.

mod approve;
pub mod ask;
pub mod builtin;
mod claim;
mod consolidation;
mod context;
mod error;
pub mod gates;
mod item;
pub mod journal;
pub mod kept;
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
pub mod since;
pub mod strategy;
mod strict;
pub mod tick;
mod triage;
pub mod underway;

pub use error::Error;
pub use lanes::{News, unheard};
pub use pipeline::{dry_run, run, run_locked};
pub use plan::Request;
pub use recover::recover;
pub use run::{Run, Trigger};
