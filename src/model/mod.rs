//! Models: one prompt goes out, one text comes back, whoever answers.
//!
//! What a reply says is data. This room neither reads nor follows it: [`first_json`] finds the value that the lanes then
//! validate.

mod budget;
mod check;
mod command;
mod error;
mod parse;
mod prompt;
mod replay;
mod server;
mod settings;

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use check::{Checked, Trouble};
pub use error::{Error, Failed};
pub use parse::{MOST_BEGINNINGS, answer, first_json};
pub use prompt::Prompt;
pub use server::Structured;
#[cfg(any(fuzzing, test))]
pub use server::fuzzed;
pub use settings::{StageSettings, amiss, covered};

use self::budget::Budget;
use self::server::Shape;
use crate::config::{self, trust};
use crate::session::Redactor;

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
    /// Those that something asks. `consolidate` and `pair` have settings, and no lane yet.
    pub const ASKED: [Stage; 4] = [Stage::Review, Stage::Judge, Stage::Reflect, Stage::Distill];

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
    /// The server takes no temperature, and was asked without the one of the settings.
    pub without_temperature: bool,
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

    /// Whether the stage's settings can be used, as far as can be told without a call.
    ///
    /// # Errors
    /// Why not.
    pub fn ready(&self, stage: Stage) -> Result<(), Error> {
        let settings = self.stage(stage);
        match settings.provider.as_str() {
            "builtin" => Ok(()),
            "openai" => server::address(Shape::OpenAi, &settings).map(drop),
            "anthropic" => server::address(Shape::Anthropic, &settings).map(drop),
            "command" => command::program(&settings).map(drop),
            "replay" => replay::folder(&settings).map(drop),
            other => Err(Error::Settings(format!(
                "`model.provider` is `{other}`; there are `builtin`, `openai`, `anthropic`, `command` and `replay`"
            ))),
        }
    }

    /// Asks the stage's model once, with retries and one deadline for all of it.
    ///
    /// # Errors
    /// Why there is no reply, never with a key in it, and what that cost.
    pub fn ask(&self, stage: Stage, prompt: &Prompt) -> Result<Reply, Failed> {
        let clock = Instant::now();
        let result = self.ask_now(stage, prompt);
        let ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        match result {
            Ok(reply) => Ok(Reply { ms, ..reply }),
            Err(failed) => Err(Failed { ms, ..failed }),
        }
    }

    fn ask_now(&self, stage: Stage, prompt: &Prompt) -> Result<Reply, Failed> {
        let settings = &self.stage(stage);
        if settings.provider != "builtin" {
            trust::model(&self.settings).map_err(Error::from)?;
        }
        self.ready(stage)?;
        let is_recorded = !settings.replies.is_empty() && settings.provider != "replay";
        if is_recorded {
            // Before the call: nobody should pay for a reply that cannot be kept.
            replay::make(settings)?;
        }
        let budget = Budget::new(&self.memory_dir, self.settings.daily_tokens, self.settings.daily_calls);
        let reply = match settings.provider.as_str() {
            "openai" => server::ask(Shape::OpenAi, settings, prompt, &budget)?,
            "anthropic" => server::ask(Shape::Anthropic, settings, prompt, &budget)?,
            "command" => command::ask(settings, prompt, &self.memory_dir, &budget)?,
            "replay" => replay::ask(settings, prompt)?,
            _ => return Err(Error::Builtin(stage.as_str()).into()),
        };
        let reply = Reply { model: known_as(reply.model, settings), ..reply };
        if is_recorded {
            // It could be written a moment ago; if not any more, the reply is still good.
            let _ = replay::record(settings, prompt, &reply);
        }
        Ok(reply)
    }
}

/// The name of the model that answered. It goes into records, trailers and pages: one that is no plain name, or looks
/// like a secret, is a stranger's text, and the settings' name stands for it.
fn known_as(said: String, settings: &StageSettings) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:/@+-".contains(c);
    let is_name = (1..=100).contains(&said.len()) && said.chars().all(is_plain);
    let is_secret = || Redactor::redact_once(&said, &[], &[]).is_ok_and(|text| text != said);
    if is_name && !is_secret() { said } else { settings.model.clone() }
}
