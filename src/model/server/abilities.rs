//! What a server can do, as far as it is known: found out by asking, and remembered for the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::super::Error;
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
    /// It lets no reply have more tokens than this.
    pub most_tokens: Option<u64>,
}

impl Abilities {
    /// The limit for a reply, as far as the server goes.
    pub fn limit(&self, wanted: u64) -> u64 {
        self.most_tokens.map_or(wanted, |most| most.min(wanted))
    }
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
            most_tokens: None,
        },
        Shape::Anthropic => {
            Abilities { structured: Structured::Tool, temperature: true, completion_tokens: false, most_tokens: None }
        }
    })
}

/// What worked.
pub(super) fn remember(url: &str, model: &str, abilities: Abilities) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.insert((url.to_owned(), model.to_owned()), abilities);
}

/// The limit of a reply that a refusal of ours names, where it is about that limit: the largest number below ours.
pub(super) fn limit_in(words: &str, ours: u64) -> Option<u64> {
    /// Fewer are no limit of a reply, but a part of a name.
    const LEAST: u64 = 256;
    if !names_limit(words) {
        return None;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, ',' | '-' | '_' | '.');
    let numbers = words.split(|c: char| !is_part(c)).filter_map(|word| {
        let word = word.trim_end_matches(['.', ',']);
        word.replace(',', "").parse::<u64>().ok()
    });
    numbers.filter(|number| (LEAST..ours).contains(number)).max()
}

/// Whether a refusal names the limit of a reply.
pub(super) fn names_limit(words: &str) -> bool {
    words.contains("max_tokens") || words.contains("max_completion_tokens")
}

/// Whether a refusal says that what we sent, or want back, is too long: doing without something does not help there.
pub(super) fn is_about_length(words: &str) -> bool {
    const SAYS: [&str; 9] = [
        "context length",
        "context_length",
        "context window",
        "context size",
        "prompt is too long",
        "too large",
        "at most",
        "too many tokens",
        "maximum allowed number of",
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

/// What a call has already done without.
#[derive(Default)]
pub(super) struct Lowered {
    /// What the server said first: that is what the person is told in the end.
    pub first: Option<Error>,
    /// Some of it was done without on a guess: the next call begins with all of it again.
    pub guessed: bool,
    shortened: bool,
    swapped_tokens: bool,
    dropped_temperature: bool,
    exhausted: bool,
}

impl Lowered {
    /// What to try instead, by the server's words; `None` when there is nothing left to do without. `ours` is the limit
    /// that the settings want for a reply.
    pub fn next(&mut self, abilities: Abilities, words: &str, ours: u64) -> Option<Abilities> {
        let words = words.to_ascii_lowercase();
        if let (false, Some(most)) = (self.shortened, limit_in(&words, abilities.limit(ours))) {
            self.shortened = true;
            return Some(Abilities { most_tokens: Some(most), ..abilities });
        }
        if is_about_length(&words) {
            return None;
        }
        if !self.swapped_tokens && names_limit(&words) {
            self.swapped_tokens = true;
            return Some(Abilities { completion_tokens: !abilities.completion_tokens, ..abilities });
        }
        if !self.dropped_temperature && abilities.temperature && words.contains("temperature") {
            self.dropped_temperature = true;
            return Some(Abilities { temperature: false, ..abilities });
        }
        let lower = abilities.structured.lower().filter(|_| !self.exhausted);
        self.exhausted |= lower.is_none();
        lower.map(|structured| Abilities { structured, ..abilities })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_a_server_names_is_found_among_its_numbers() {
        for (words, limit) in [
            ("max_tokens is too large: 16000. this model supports at most 4096 completion tokens, whereas", Some(4096)),
            ("max_tokens: 16000 > 8192, which is the maximum for claude-3-5-sonnet-20241022", Some(8192)),
            ("max_tokens must be below 16,384.", None),
            ("max_completion_tokens: at most 8,192.", Some(8192)),
            ("unsupported parameter: 'max_tokens'", None),
            ("the context length is 4096", None),
        ] {
            assert_eq!(limit_in(words, 16_000), limit, "{words}");
        }
    }
}
