//! Evaluation: what retrieval is worth, what an accept did to it, and which accept broke something.

pub mod bisect;
pub mod metrics;
pub mod queries;
pub mod retrieval;
