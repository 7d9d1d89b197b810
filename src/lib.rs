//! `git-memory`: turns what coding agents did into knowledge that people have reviewed.
//!
//! The rooms below are listed from the top of the import order to its bottom: a room may import only
//! rooms that stand below it, and nothing imports `cli`. ARCHITECTURE.md has the map.

pub mod cli;

pub mod mcp;

pub mod agent;
pub mod eval;
pub mod report;

pub mod improve;

pub mod model;

pub mod proposal;

pub mod feedback;

pub mod search;

pub mod session;

pub mod ledger;

pub mod wiki;

pub mod config;

pub mod process;

pub mod git;
