//! Evaluation: what retrieval is worth, what an accept did to it, which accept broke something, and what the reviewer
//! proposes.

pub mod bisect;
pub mod counterfactual;
pub mod faulty;
mod landed;
pub mod metrics;
pub mod moved;
pub mod queries;
pub mod ranking;
pub mod recorded;
pub mod retrieval;
pub mod review;
