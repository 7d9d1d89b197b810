//! The whole loop in every kind of repository, under every setting and with every obstacle that we know of.

#[path = "../common/mod.rs"]
mod common;
mod scene;

mod by_hand;
#[cfg(target_os = "linux")]
mod disk;
mod integrity;
mod obstacles;
mod places;
mod policy;
mod settings;
mod store;
