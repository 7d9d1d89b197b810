//! Layered settings with their origin, and trust in what a committed config names.

mod committed;
pub mod edit;
pub mod keys;
mod layers;
#[cfg(test)]
pub(crate) mod made;
mod settings;
mod text;
pub mod trust;

pub use layers::{Config, Entry, Error, Inputs, Origin, merge, user_file};
pub use settings::*;

/// The committed settings, at the top of the wiki branch.
pub const FILE: &str = ".gitmemory.toml";
