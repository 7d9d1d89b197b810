//! What gates read in the answers of models and programs, for `scripts/fuzz`.

use super::{eval, judge, retrieval};
use crate::proposal::ReasonCode;

/// The scores of a lesson, or of a repair.
///
/// # Errors
/// In words, why the answer is none.
pub fn judge(text: &str, repair: bool) -> Result<Vec<i64>, String> {
    let criteria = if repair { judge::REPAIR } else { judge::LESSON };
    judge::read(text, criteria).map(|scores| scores.iter().map(|score| score.score).collect())
}

/// The grades of so many queries.
///
/// # Errors
/// In words, why the answer is none.
pub fn retrieval(text: &str, queries: usize) -> Result<Vec<i64>, String> {
    retrieval::read(text, queries)
}

/// Whether the eval program's answer is a yes.
///
/// # Errors
/// The reason code and the words.
pub fn eval(output: &str, min_delta: f64) -> Result<(), (ReasonCode, String)> {
    eval::Scored::read(output)?.decide(min_delta, true)
}
