//! `[model]` and `[model.<stage>]`: who reviews.

use serde::{Deserialize, Serialize};

/// Who can answer.
#[cfg(test)]
const PROVIDERS: [&str; 5] = ["builtin", "openai", "anthropic", "command", "replay"];

/// `[model]`: who reviews, and for each stage what is different there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// `builtin` (no model, no key), `openai`, `anthropic`, `command` or `replay`.
    #[cfg_attr(test, schemars(extend("enum" = PROVIDERS)))]
    pub provider: String,
    /// The model's name as its server knows it.
    pub model: String,
    /// The server's address, up to and with its version (`http://127.0.0.1:8080/v1`); empty: the provider's own.
    pub base_url: String,
    /// The environment variable that holds the key; empty: the usual one for the provider's own address, none elsewhere.
    pub api_key_env: String,
    /// For `command`: the program and its arguments, with spaces between them or as a list. It reads the prompt and writes the reply.
    pub command: Vec<String>,
    /// For `replay`: the folder with recorded replies, one file for each prompt. Any other provider records its replies
    /// there, where it is set.
    pub replies: String,
    /// Seconds for one answer, with all its retries.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub timeout_secs: u64,
    /// How often a call is tried again after 429, 5xx or a lost connection.
    pub max_retries: u32,
    /// Most tokens of one reply.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_output_tokens: u64,
    /// 0 to 2; absent: the provider's own. A judge is always asked at 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 2.0)))]
    pub temperature: Option<f64>,
    /// Most tokens of a day (UTC), asked and answered; 0: no limit.
    pub daily_tokens: u64,
    /// Most calls of a day (UTC); 0: no limit.
    pub daily_calls: u64,
    /// What is different for the review lane.
    pub review: ModelStage,
    /// What is different for the judge.
    pub judge: ModelStage,
    /// What is different for the reflect lane.
    pub reflect: ModelStage,
    /// What is different for the distill lane.
    pub distill: ModelStage,
    /// What is different for the consolidate lane.
    pub consolidate: ModelStage,
    /// What is different for the pair lane.
    pub pair: ModelStage,
    /// No setting: the keys here, of those that need trust, that the committed file names and nobody said yes to.
    #[serde(skip)]
    pub untrusted: Vec<String>,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            provider: "builtin".into(),
            model: String::new(),
            base_url: String::new(),
            api_key_env: String::new(),
            command: Vec::new(),
            replies: String::new(),
            timeout_secs: 120,
            max_retries: 4,
            max_output_tokens: 16_000,
            temperature: None,
            daily_tokens: 0,
            daily_calls: 0,
            review: ModelStage::default(),
            judge: ModelStage::default(),
            reflect: ModelStage::default(),
            distill: ModelStage::default(),
            consolidate: ModelStage::default(),
            pair: ModelStage::default(),
            untrusted: Vec::new(),
        }
    }
}

/// `[model.<stage>]`: what is not said here is as in `[model]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ModelStage {
    /// As `model.provider`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(extend("enum" = PROVIDERS)))]
    pub provider: Option<String>,
    /// As `model.model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// As `model.base_url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// As `model.api_key_env`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// As `model.command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// As `model.replies`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replies: Option<String>,
    /// As `model.timeout_secs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub timeout_secs: Option<u64>,
    /// As `model.max_retries`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// As `model.max_output_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_output_tokens: Option<u64>,
    /// As `model.temperature`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 2.0)))]
    pub temperature: Option<f64>,
}
