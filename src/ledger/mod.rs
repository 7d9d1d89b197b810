//! `refs/memory/log`: events, runs and sidecars in files that are written once; append and fold.

mod append;
mod begin;
pub mod cache;
mod clock;
mod event;
mod fold;
pub mod queue;
mod state;
mod trail;

pub use append::{Append, append, file, segment, segment_of};
pub use begin::begin;
pub use clock::{new_id, now};
pub use event::{Event, EventKind};
pub use fold::{Cache, events, keep, load};
pub use state::{Looked, Review, State};
pub use trail::{Proposal, Status, order};

/// The ledger's ref.
pub const REF: &str = "refs/memory/log";
