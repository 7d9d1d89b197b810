//! What use says about pages: episodes of retrieval, feedback, verified outcomes, and what follows for ranking.
//!
//! Retrieval writes one line to a local file (`spool`), which the next run carries into the ledger. Feedback and
//! outcomes are events of the ledger. `fold` arranges them for `utility` and `prior`, which compute; `ranking` tells
//! whether outcomes may decide on the order.

pub mod automation;
pub mod brief;
pub mod episode;
mod error;
pub mod find;
pub mod fold;
pub mod heard;
mod judged;
pub mod outcome;
mod prior;
pub mod queries;
pub mod ranking;
mod signals;
pub mod spool;
mod utility;

pub use episode::{By, Episode, Recorded, Served, record};
pub use error::{Error, Refused};
pub use fold::{Folded, load};
pub use heard::{Heard, Signal};
pub use judged::{Feedback, Mode, Replacement, Verdict};
pub use outcome::Outcome;
pub use signals::{Asked, Gathered, ask, gather, signals};
pub use utility::{NEUTRAL, Utility};
