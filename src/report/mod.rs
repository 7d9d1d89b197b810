//! Reports: what stands, what happened, what is broken. Collects; the command line prints.

pub mod blame;
pub mod brief;
pub mod doctor;
pub mod history;
pub mod lint;
pub mod sessions;
pub mod status;
