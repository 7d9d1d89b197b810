//! Models behind HTTP. Two shapes of request and reply; everything else — the address, the key, tries, deadline, what
//! a server cannot do — is the same for both.

mod abilities;
mod address;
mod anthropic;
mod call;
#[cfg(any(fuzzing, test))]
pub mod fuzzed;
mod http;
mod openai;
mod pause;
mod proxy;
mod words;

use serde_json::Value;

pub use abilities::Structured;
pub(super) use address::{Address, base, variable};
pub(super) use words::clean;

use self::abilities::Abilities;
use super::budget::Budget;
use super::{Error, Failed, Prompt, Reply, StageSettings, Usage};

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
}

impl Shape {
    /// The provider's own address.
    fn base_url(self) -> &'static str {
        match self {
            Shape::OpenAi => "https://api.openai.com/v1",
            Shape::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// The variable in which people keep the provider's key.
    fn key_variable(self) -> &'static str {
        match self {
            Shape::OpenAi => "OPENAI_API_KEY",
            Shape::Anthropic => "ANTHROPIC_API_KEY",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Shape::OpenAi => "/chat/completions",
            Shape::Anthropic => "/messages",
        }
    }

    fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        match (self, key) {
            (Shape::OpenAi, Some(key)) => vec![("authorization", format!("Bearer {key}"))],
            (Shape::OpenAi, None) => Vec::new(),
            (Shape::Anthropic, key) => {
                let key = key.map(|key| ("x-api-key", key.to_owned()));
                std::iter::once(("anthropic-version", anthropic::VERSION.to_owned())).chain(key).collect()
            }
        }
    }

    fn body(self, settings: &StageSettings, prompt: &Prompt, abilities: &Abilities) -> Value {
        match self {
            Shape::OpenAi => openai::body(settings, prompt, abilities),
            Shape::Anthropic => anthropic::body(settings, prompt, abilities),
        }
    }

    fn usage(self, value: &Value) -> Option<Usage> {
        match self {
            Shape::OpenAi => openai::usage(value),
            Shape::Anthropic => anthropic::usage(value),
        }
    }

    fn read(self, value: &Value, prompt: &Prompt) -> Result<Said, Error> {
        match self {
            Shape::OpenAi => openai::read(value),
            Shape::Anthropic => anthropic::read(value, prompt),
        }
    }
}

/// What a server's answer says.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    /// Empty where the server does not say.
    model: String,
}

/// The tokens that an answer names below `usage`.
fn counted(value: &Value, inputs: &[&str], output: &str) -> Option<Usage> {
    /// No call has more: what a server says beyond is no count.
    const MOST: u64 = 100_000_000;
    let count = |name: &str| value["usage"][name].as_u64().map(|count| count.min(MOST));
    let counts: Vec<u64> = inputs.iter().filter_map(|name| count(name)).collect();
    let usage = Usage { input: counts.iter().sum(), output: count(output).unwrap_or(0) };
    (usage.input + usage.output > 0).then_some(usage)
}

/// Why a reply without a text is none.
fn empty(reasoned: bool) -> Error {
    let why = "the model reasoned and gave no answer; raise `model.max_output_tokens`";
    Error::BadReply(if reasoned { why } else { "it is empty" }.into())
}

/// Where a call of a stage would go.
///
/// # Errors
/// [`Error::Settings`]: nowhere.
pub(super) fn address(shape: Shape, settings: &StageSettings) -> Result<Address, Error> {
    if settings.model.is_empty() {
        return Err(Error::Settings(format!("`model.model` is empty: which model is {} to use?", settings.provider)));
    }
    Address::of(shape, settings)
}

/// Asks a server, trying again where that can help, until there is a reply or the deadline comes.
pub(super) fn ask(shape: Shape, settings: &StageSettings, prompt: &Prompt, budget: &Budget) -> Result<Reply, Failed> {
    let address = address(shape, settings)?;
    call::Call::new(shape, settings, prompt, budget, &address).run()
}
