//! What lanes read in a model's reply, for `scripts/fuzz`.

use serde_json::Value;

use super::review::contract;
use super::{distill, grounded, reflect};
use crate::search::Hit;

/// The candidates of a review, or why the whole reply is refused.
///
/// # Errors
/// In words.
pub fn review(reply: &Value, bytes: u64) -> Result<Vec<Value>, String> {
    contract::read(reply, bytes).map(|reply| reply.proposals)
}

/// The fields of a description that are revised.
///
/// # Errors
/// In words.
pub fn reflect(reply: &Value) -> Result<Vec<(&'static str, String)>, String> {
    reflect::read(reply).map(|revision| revision.fields)
}

/// The lesson of a note.
#[derive(Debug)]
pub struct Lesson {
    /// Its title and body.
    pub said: String,
    /// Each of its statements with its quote.
    pub facts: Vec<(String, String)>,
}

/// The lesson of a note; `None`: the note holds none.
///
/// # Errors
/// In words.
pub fn distill(reply: &Value, shown: &[Hit]) -> Result<Option<Lesson>, String> {
    Ok(match distill::read(reply, shown)? {
        distill::Reply::Nothing(_) => None,
        distill::Reply::Lesson(lesson) => Some(Lesson {
            said: format!("{}\n{}", lesson.title, lesson.body),
            facts: lesson.facts.into_iter().map(|fact| (fact.text, fact.quote)).collect(),
        }),
    })
}

/// Numbers and names of a text that its source does not hold.
pub fn invented(text: &str, source: &str) -> Vec<String> {
    grounded::invented(text, source)
}

/// The sentence of a page that supports a text.
pub fn support(text: &str, page: &str) -> Option<String> {
    grounded::support(text, page)
}
