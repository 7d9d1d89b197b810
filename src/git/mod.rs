//! The only room that opens gix or starts the `git` program.
//!
//! Reading and writing objects, and reading refs, go through gix; everything that changes a ref, merges, or
//! touches a work tree goes through `git` itself, so that hooks, reflogs, reftable and locks behave as git's own. Many
//! new refs of ours at once are the exception: they go into `packed-refs`, where git would fsync a file for each.

mod advance;
mod batch;
mod blame;
mod blobs;
mod command;
mod config;
mod error;
pub mod fault;
mod history;
mod identity;
mod interrupt;
mod lines;
mod lock;
mod merge;
mod pack;
mod packed_refs;
mod parallel;
mod parameters;
mod refs;
mod remote;
mod repo;
mod signature;
mod store;
mod throwaway;
mod tree;
mod trivial;
mod undo;
mod version;
mod worktree;

pub use advance::{Way, fast_forward, way};
pub use batch::{Batch, NewCommit};
pub use blame::BlamedLine;
pub use command::{Git, LOCAL_VARIABLES, Output};
pub use error::{Error, Result};
pub use history::Commit;
pub use identity::Person;
pub use interrupt::{Watch, asked_to_end, end_as_asked};
pub use lines::{Hunk, changes, unified};
pub use lock::{Lock, Locked};
pub use merge::{Conflict, MergeOutcome, merge, merge_favouring_theirs};
pub use parallel::each;
pub use refs::{RefEdit, RefFormat};
pub use remote::Pushed;
pub use repo::Repo;
pub use throwaway::{ThrowAway, ThrowAways};
pub use tree::{Change, Entry, Mode, TreeFile};
pub use version::GitVersion;
pub use worktree::Worktree;

/// An object id, SHA-1 or SHA-256.
pub type Oid = gix::ObjectId;
