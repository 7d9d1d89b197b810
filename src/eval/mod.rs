//! Evaluation: what retrieval is worth, what an accept did to it, and which accept broke something.

pub mod bisect;
pub mod counterfactual;
mod landed;
pub mod metrics;
pub mod moved;
pub mod queries;
pub mod ranking;
pub mod recorded;
pub mod retrieval;
