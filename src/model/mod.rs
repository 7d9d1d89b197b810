//! Models: one prompt goes out, one text comes back, whoever answers.
//!
//! What a reply says is data. This room neither reads nor follows it: [`first_json`] finds the value that the lanes then
//! validate.

mod budget;
mod check;
mod command;
mod parse;
mod prompt;
mod replay;
mod server;
mod settings;

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use check::{Checked, Trouble};
pub use parse::{MOST_BEGINNINGS, first_json};
pub use prompt::Prompt;
pub use server::Structured;
#[cfg(fuzzing)]
pub use server::fuzzed;
pub use settings::StageSettings;

use self::budget::Budget;
use self::server::Shape;
use crate::config::{self, trust};

/// What a model is asked for. Each may have a provider and a model of its own (`[model.<stage>]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// What a session teaches.
    Review,
    /// Whether a change is good enough; past queries are graded by it too.
    Judge,
    /// What is wrong with a page's description.
    Reflect,
    /// Which lesson a note holds.
    Distill,
    /// Which lesson several notes hold.
    Consolidate,
    /// Whether two pages say the same.
    Pair,
}

impl Stage {
    /// All of them.
    pub const ALL: [Stage; 6] =
        [Stage::Review, Stage::Judge, Stage::Reflect, Stage::Distill, Stage::Consolidate, Stage::Pair];

    /// The word for it, as in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Review => "review",
            Stage::Judge => "judge",
            Stage::Reflect => "reflect",
            Stage::Distill => "distill",
            Stage::Consolidate => "consolidate",
            Stage::Pair => "pair",
        }
    }
}

/// Tokens of a call, as the provider counted them; where it did not, characters / 4.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Usage {
    /// Of the prompt.
    pub input: u64,
    /// Of the reply.
    pub output: u64,
}

/// What came back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The text, not looked at.
    pub text: String,
    /// What it cost.
    pub usage: Usage,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// Milliseconds, with retries.
    pub ms: u64,
    /// How a server was made to answer in JSON; `None` where that is not asked for.
    pub structured: Option<Structured>,
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The stage has no model: its provider is `builtin`.
    #[error("no model is set for {0}: `model.provider` is `builtin`")]
    Builtin(&'static str),
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The settings come from the wiki, and nobody here said yes to them.
    #[error(transparent)]
    Untrusted(#[from] trust::Untrusted),
    /// The key was refused.
    #[error("the model's server refuses the key: {0}")]
    Authentication(String),
    /// 429 to the end.
    #[error("the model's server asks for a pause: {0}")]
    RateLimited(String),
    /// The deadline passed.
    #[error("no answer within {0} s")]
    TimedOut(u64),
    /// Nobody is there.
    #[error("the model cannot be reached: {0}")]
    Unreachable(String),
    /// The server (or the program) said no.
    #[error("the model's server refuses the call: {0}")]
    Refused(String),
    /// What came back is no whole reply.
    #[error("the reply cannot be used: {0}")]
    BadReply(String),
    /// The day's calls or tokens are spent.
    #[error("the day's budget is spent: {0}")]
    BudgetExhausted(String),
}

impl Error {
    /// The stable word for it, as it stands in run records.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Builtin(_) => "no_model",
            Error::Settings(_) => "settings",
            Error::Untrusted(_) => "untrusted",
            Error::Authentication(_) => "authentication",
            Error::RateLimited(_) => "rate_limited",
            Error::TimedOut(_) => "timed_out",
            Error::Unreachable(_) => "unreachable",
            Error::Refused(_) => "refused",
            Error::BadReply(_) => "bad_reply",
            Error::BudgetExhausted(_) => "budget_exhausted",
        }
    }

    /// Whether the session is to blame, so that trying it for ever is no use. A server that is busy, away or has no
    /// valid key says nothing about the session.
    pub fn uses_attempt(&self) -> bool {
        matches!(self, Error::Refused(_) | Error::BadReply(_))
    }
}

/// The models of a wiki.
pub struct Models {
    settings: config::Model,
    /// The local folder, where the day's budget is counted.
    memory_dir: PathBuf,
}

impl Models {
    /// The models that the settings name. Nothing is called.
    pub fn new(settings: &config::Model, memory_dir: PathBuf) -> Models {
        Models { settings: settings.clone(), memory_dir }
    }

    /// What holds for a stage.
    pub fn stage(&self, stage: Stage) -> StageSettings {
        StageSettings::of(&self.settings, stage)
    }

    /// Whether the stage has a model.
    pub fn has(&self, stage: Stage) -> bool {
        self.stage(stage).provider != "builtin"
    }

    /// Asks the stage's model once, with retries and one deadline for all of it.
    ///
    /// # Errors
    /// Why there is no reply; never with a key in it.
    pub fn ask(&self, stage: Stage, prompt: &Prompt) -> Result<Reply, Error> {
        self.ask_with(stage, &self.stage(stage), prompt)
    }

    fn ask_with(&self, stage: Stage, settings: &StageSettings, prompt: &Prompt) -> Result<Reply, Error> {
        let clock = Instant::now();
        if settings.provider != "builtin" {
            trust::model(&self.settings)?;
        }
        let budget = Budget::new(&self.memory_dir, self.settings.daily_tokens, self.settings.daily_calls);
        let mut reply = match settings.provider.as_str() {
            "builtin" => Err(Error::Builtin(stage.as_str())),
            "openai" => server::ask(Shape::OpenAi, settings, prompt, &budget),
            "anthropic" => server::ask(Shape::Anthropic, settings, prompt, &budget),
            "command" => command::ask(settings, prompt, &self.memory_dir.join("model"), &budget),
            "replay" => replay::ask(settings, prompt),
            other => Err(Error::Settings(format!(
                "`model.provider` is `{other}`; there are `builtin`, `openai`, `anthropic`, `command` and `replay`"
            ))),
        }?;
        reply.ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        if !settings.replies.is_empty() && settings.provider != "replay" {
            replay::record(&settings.replies, prompt, &reply)?;
        }
        Ok(reply)
    }
}
