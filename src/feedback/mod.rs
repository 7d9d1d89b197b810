//! What use says about pages: episodes of retrieval.
//!
//! Retrieval writes one line to a local file (`spool`), which the next run carries into the ledger.

pub mod automation;
pub mod episode;
mod error;
pub mod find;
pub mod queries;
pub mod spool;

pub use episode::{By, Episode, Recorded, Served, record};
pub use error::{Error, Refused};
