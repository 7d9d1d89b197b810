//! Layered settings with their origin, and trust in what a committed config names.

mod committed;
pub mod edit;
mod inputs;
pub mod keys;
mod layer;
mod layers;
#[cfg(test)]
pub(crate) mod made;
mod names;
mod settings;
pub mod strategy;
mod text;
pub mod trust;

pub use inputs::{Inputs, user_file};
pub use layers::{Config, Entry, Error, Origin, merge};
pub use settings::*;

/// The committed settings, at the top of the wiki branch.
pub const FILE: &str = ".gitmemory.toml";

/// Sections of tools that came before, passed over with a note.
const LEGACY: &[&str] = &["auto_improve"];
