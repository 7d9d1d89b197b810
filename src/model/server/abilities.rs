//! What a server can do, as far as it is known: found out by asking, and remembered for the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::Shape;

/// How a server was made to answer in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Structured {
    /// By the reply's schema.
    JsonSchema,
    /// By a tool that it had to call.
    Tool,
    /// As some JSON object; the schema stands in the prompt.
    JsonObject,
    /// By words in the prompt alone.
    None,
}

impl Structured {
    /// The next weaker way.
    pub(super) fn lower(self) -> Option<Structured> {
        match self {
            Structured::JsonSchema => Some(Structured::JsonObject),
            Structured::Tool | Structured::JsonObject => Some(Structured::None),
            Structured::None => None,
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Structured::JsonSchema => "json_schema",
            Structured::Tool => "tool",
            Structured::JsonObject => "json_object",
            Structured::None => "none",
        }
    }
}

/// What is asked of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Abilities {
    pub structured: Structured,
    /// It takes a temperature.
    pub temperature: bool,
    /// Its limit for a reply is `max_completion_tokens`, not `max_tokens`.
    pub completion_tokens: bool,
}

static KNOWN: Mutex<BTreeMap<(String, String), Abilities>> = Mutex::new(BTreeMap::new());

/// What to begin with: what worked last, else the most.
pub(super) fn known(shape: Shape, url: &str, model: &str) -> Abilities {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(&(url.to_owned(), model.to_owned())).copied().unwrap_or(match shape {
        Shape::OpenAi => Abilities {
            structured: Structured::JsonSchema,
            temperature: true,
            // OpenAI's own newer models refuse the old name; other servers often know only that.
            completion_tokens: url.starts_with(Shape::OpenAi.base_url()),
        },
        Shape::Anthropic => Abilities { structured: Structured::Tool, temperature: true, completion_tokens: false },
    })
}

/// What worked.
pub(super) fn remember(url: &str, model: &str, abilities: Abilities) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.insert((url.to_owned(), model.to_owned()), abilities);
}

/// Whether a refusal says that what we sent, or want back, is too long: doing without something does not help there.
pub(super) fn is_about_length(words: &str) -> bool {
    const SAYS: [&str; 8] = [
        "context length",
        "context_length",
        "context window",
        "context size",
        "prompt is too long",
        "too large",
        "at most",
        "too many tokens",
    ];
    let words = words.to_ascii_lowercase();
    SAYS.iter().any(|say| words.contains(say))
}

/// Whether a failure names what it was asked for as its reason.
pub(super) fn names_structure(words: &str) -> bool {
    const SAYS: [&str; 6] = ["schema", "grammar", "response_format", "json_object", "tool", "temperature"];
    let words = words.to_ascii_lowercase();
    SAYS.iter().any(|say| words.contains(say))
}
