//! The git room against real repositories, made and looked at with the git program.

mod advance;
mod lines;
mod merge;
mod objects;
mod packed_refs;
mod places;
mod refs;
mod sandbox;
