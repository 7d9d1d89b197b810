//! What holds for one stage: `[model.<stage>]` over `[model]`.

use std::path::Path;

use serde_json::Value;

use super::{Error, Stage, server};
use crate::config::{Model, ModelStage};
use crate::session::Redactor;

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
        // What is empty is not said: it must not lead back to the provider's own address or key.
        fn said(own: &Option<String>, all: &str) -> String {
            own.as_deref().filter(|own| !own.trim().is_empty()).unwrap_or(all).to_owned()
        }
        let mut settings = StageSettings {
            provider: pick(&own.provider, &model.provider),
            model: said(&own.model, &model.model),
            base_url: said(&own.base_url, &model.base_url),
            api_key_env: said(&own.api_key_env, &model.api_key_env),
            command: own.command.as_ref().filter(|own| !own.is_empty()).unwrap_or(&model.command).clone(),
            replies: said(&own.replies, &model.replies),
            timeout_secs: pick(&own.timeout_secs, &model.timeout_secs),
            max_retries: pick(&own.max_retries, &model.max_retries),
            max_output_tokens: pick(&own.max_output_tokens, &model.max_output_tokens),
            temperature: match stage {
                // Measured elsewhere: at 0.3 a judge took back 10 of 16 verdicts, at 0 none.
                Stage::Judge => Some(0.0),
                _ => own.temperature.or(model.temperature),
            },
        };
        if settings.provider == "command" && settings.model.is_empty() {
            // Nobody said which model it asks: its own name is what is known.
            let program = settings.command.first().and_then(|program| Path::new(program).file_stem());
            settings.model = program.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        }
        settings
    }

    /// `provider/model`, or the provider alone where it has no model.
    pub fn name(&self) -> String {
        if self.model.is_empty() { self.provider.clone() } else { format!("{}/{}", self.provider, self.model) }
    }
}

/// What stands in place of a secret.
const HIDDEN: &str = "[REDACTED]";

/// Whether a key of the settings may hold this value, as far as can be told when it is written down.
///
/// # Errors
/// Why it could never be used, or would keep a secret where none belongs; the value is not repeated.
pub fn amiss(key: &str, value: &toml::Value) -> Result<(), Error> {
    let Ok(value) = serde_json::to_value(value) else { return Ok(()) };
    let name = key.rsplit('.').next().unwrap_or(key);
    match (&value, name) {
        _ if !key.starts_with("model.") => return Ok(()),
        (Value::String(text), _) if text.trim().is_empty() => return Ok(()),
        (Value::String(base), "base_url") => server::base(base).map(drop)?,
        (Value::String(variable), "api_key_env") => server::variable(variable)?,
        (Value::String(folder), "replies") if !Path::new(folder).is_absolute() => {
            return Err(Error::Settings(format!("`{key}` has to be an absolute path")));
        }
        _ => {}
    }
    let hidden = covered(name, value.clone(), |text| Redactor::redact_once(text, &[], &[]).unwrap_or_default());
    if hidden == value {
        return Ok(());
    }
    Err(Error::Settings(format!("`{key}` would hold a secret: put it into an environment variable instead")))
}

/// A value of the settings, named like the last part of its key, without the secrets that people write where none
/// belongs. `redact` covers those that are known by their look.
pub fn covered(name: &str, value: Value, redact: impl Fn(&str) -> String + Copy) -> Value {
    match (value, name) {
        (Value::String(text), "api_key_env") if server::variable(&text).is_err() => HIDDEN.into(),
        (Value::String(text), "base_url") if text.contains(['@', '?', '#']) => HIDDEN.into(),
        (Value::String(text), _) => redact(&text).into(),
        (Value::Array(items), "command") => {
            let mut is_key = false;
            let words = items.into_iter().map(|item| {
                let Value::String(word) = item else { return item };
                let follows = std::mem::replace(&mut is_key, is_key_option(&word) && !word.contains('='));
                match word.split_once('=') {
                    _ if follows => HIDDEN.into(),
                    Some((option, _)) if is_key_option(option) => format!("{option}={HIDDEN}").into(),
                    _ => redact(&word).into(),
                }
            });
            Value::Array(words.collect())
        }
        (Value::Array(items), _) => items.into_iter().map(|item| covered("", item, redact)).collect(),
        (Value::Object(fields), _) => {
            fields.into_iter().map(|(name, value)| (name.clone(), covered(&name, value, redact))).collect()
        }
        (value, _) => value,
    }
}

/// Whether a word of a command announces a key: `--api-key`, `--token`, `-password`.
fn is_key_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word).to_ascii_lowercase();
    // `--max-tokens` counts, and hides nothing.
    let mut parts = name.trim_start_matches('-').split(['-', '_']);
    let says = |part: &str| matches!(part, "key" | "apikey" | "token" | "secret" | "password" | "passwd" | "auth");
    name.starts_with('-') && parts.any(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stage_leaves_empty_is_as_in_all_others() {
        let empty = ModelStage {
            model: Some(String::new()),
            base_url: Some(" ".into()),
            api_key_env: Some(String::new()),
            command: Some(Vec::new()),
            replies: Some(String::new()),
            ..ModelStage::default()
        };
        let all = Model {
            model: "m".into(),
            base_url: "http://127.0.0.1:1".into(),
            api_key_env: "K".into(),
            command: vec!["c".into()],
            replies: "/r".into(),
            ..Model::default()
        };
        let some = Model { judge: empty, ..all.clone() };
        assert_eq!(StageSettings::of(&some, Stage::Judge), StageSettings::of(&all, Stage::Judge));
    }

    #[test]
    fn what_looks_like_a_secret_or_can_hold_one_is_covered() {
        let covered = |name: &str, value: Value| covered(name, value, str::to_owned);
        let hidden: Value = HIDDEN.into();
        assert_eq!(covered("api_key_env", "sk-live-0123".into()), hidden);
        assert_eq!(covered("api_key_env", "MY_KEY".into()), "MY_KEY");
        for url in ["https://u:p@host/v1", "https://host/v1?key=1"] {
            assert_eq!(covered("base_url", url.into()), hidden);
        }
        let command =
            serde_json::json!({"command": ["x", "--api-key", "hunter2", "--token=hunter2", "--max-tokens", "9"]});
        assert_eq!(
            covered("model", command)["command"],
            serde_json::json!(["x", "--api-key", HIDDEN, "--token=[REDACTED]", "--max-tokens", "9"])
        );
    }
}
