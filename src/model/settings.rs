//! What holds for one stage: `[model.<stage>]` over `[model]`.

use super::Stage;
use crate::config::{Model, ModelStage};

/// The settings of one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct StageSettings {
    /// `builtin`, `openai`, `anthropic`, `command` or `replay`.
    pub provider: String,
    /// The model's name.
    pub model: String,
    /// The server's address; empty: the provider's own.
    pub base_url: String,
    /// The variable with the key; empty: the provider's usual one.
    pub api_key_env: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder with recorded replies.
    pub replies: String,
    /// Seconds for one answer, with all retries.
    pub timeout_secs: u64,
    /// How often a call is tried again.
    pub max_retries: u32,
    /// Most tokens of a reply.
    pub max_output_tokens: u64,
    /// The temperature; `None`: the provider's own.
    pub temperature: Option<f64>,
}

impl StageSettings {
    pub(super) fn of(model: &Model, stage: Stage) -> StageSettings {
        let own: &ModelStage = match stage {
            Stage::Review => &model.review,
            Stage::Judge => &model.judge,
            Stage::Reflect => &model.reflect,
            Stage::Distill => &model.distill,
            Stage::Consolidate => &model.consolidate,
            Stage::Pair => &model.pair,
        };
        fn pick<T: Clone>(own: &Option<T>, all: &T) -> T {
            own.clone().unwrap_or_else(|| all.clone())
        }
        StageSettings {
            provider: pick(&own.provider, &model.provider),
            model: pick(&own.model, &model.model),
            base_url: pick(&own.base_url, &model.base_url),
            api_key_env: pick(&own.api_key_env, &model.api_key_env),
            command: pick(&own.command, &model.command),
            replies: pick(&own.replies, &model.replies),
            timeout_secs: pick(&own.timeout_secs, &model.timeout_secs),
            max_retries: pick(&own.max_retries, &model.max_retries),
            max_output_tokens: pick(&own.max_output_tokens, &model.max_output_tokens),
            temperature: match stage {
                // Measured elsewhere: at 0.3 a judge took back 10 of 16 verdicts, at 0 none.
                Stage::Judge => Some(0.0),
                _ => own.temperature.or(model.temperature),
            },
        }
    }

    /// `provider/model`, or the provider alone where it has no model.
    pub fn name(&self) -> String {
        if self.model.is_empty() { self.provider.clone() } else { format!("{}/{}", self.provider, self.model) }
    }
}
