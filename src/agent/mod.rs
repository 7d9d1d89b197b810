//! What runs in other programs' names: git's hooks and the worker that they start; and the way in from the agents:
//! their files, their hooks, and what is installed into them.

pub mod capture;
mod detach;
pub mod discover;
mod event;
pub mod hook;
pub mod hooks;
pub mod install;
pub mod log;
pub mod pre_commit;
mod remembered;
pub mod session_start;
mod shim;
pub mod transcript;
pub mod worker;

pub use event::Event;
