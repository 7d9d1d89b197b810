//! `refs/memory/log`: events, runs and sidecars in files that are written once; append, fold and merge.

mod append;
mod begin;
pub mod cache;
mod claims;
mod clock;
mod event;
mod fold;
mod looked;
mod merge;
pub mod queue;
mod refused;
mod review;
mod state;
mod trail;

pub use append::{Append, append, commit, file, segment, segment_of};
pub use begin::begin;
pub use claims::Claims;
pub use clock::{new_id, now};
pub use event::{Event, EventKind};
pub use fold::{Cache, events, keep, load, parse};
pub use looked::{Looked, MAX_ATTEMPTS};
pub use merge::{join, merge};
pub use review::Review;
pub use state::State;
pub use trail::{Failed, Proposal, Status, order};

/// The ledger's ref.
pub const REF: &str = "refs/memory/log";
