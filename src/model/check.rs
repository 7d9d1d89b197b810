//! Whether a model works: one small call, and what it showed.

use serde::Serialize;
use serde_json::json;

use super::{Error, Models, Prompt, Stage, StageSettings, Structured, Usage, first_json, replay};

/// One model of the settings, and what a call to it showed.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Checked {
    /// What it is asked for.
    pub stages: Vec<Stage>,
    /// `builtin`, `openai`, `anthropic`, `command` or `replay`.
    pub provider: String,
    /// Its name in the settings.
    pub model: String,
    /// The server's address, where the settings name one.
    pub base_url: Option<String>,
    /// Whether somebody was called: not with `builtin`, and not where the settings cannot be used.
    pub called: bool,
    /// Whether it can be worked with.
    pub works: bool,
    /// How it was made to answer in JSON; none where that is not asked for (`command`, `replay`).
    pub structured: Option<Structured>,
    /// The model that answered, in its server's words.
    pub answered_by: Option<String>,
    /// What the call cost.
    pub tokens: Option<Usage>,
    /// Milliseconds, with retries.
    pub ms: Option<u64>,
    /// What went wrong.
    pub error: Option<Trouble>,
}

/// What went wrong.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Trouble {
    /// A word that scripts can rely on: `settings`, `authentication`, `no_credit`, `rate_limited`, `timed_out`,
    /// `unreachable`, `refused`, `bad_reply`, `budget_exhausted`, `untrusted`.
    pub code: &'static str,
    /// In words.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl Models {
    /// Makes one small call to each model of the settings, or to that of one stage.
    pub fn check(&self, only: Option<Stage>) -> Vec<Checked> {
        let mut models: Vec<(StageSettings, Vec<Stage>)> = Vec::new();
        for stage in Stage::ASKED.into_iter().filter(|stage| only.is_none_or(|only| only == *stage)) {
            let settings = self.stage(stage);
            match models.iter_mut().find(|(known, _)| is_same(known, &settings)) {
                Some((_, stages)) => stages.push(stage),
                None => models.push((settings, vec![stage])),
            }
        }
        models.into_iter().map(|(settings, stages)| self.check_one(settings, stages)).collect()
    }

    fn check_one(&self, settings: StageSettings, stages: Vec<Stage>) -> Checked {
        let called = settings.provider != "builtin";
        let is_server = matches!(settings.provider.as_str(), "openai" | "anthropic");
        let mut checked = Checked {
            stages,
            provider: settings.provider.clone(),
            model: settings.model.clone(),
            base_url: Some(settings.base_url.clone())
                .filter(|url| is_server && !url.is_empty() && !url.contains(['@', '?', '#'])),
            called,
            works: true,
            structured: None,
            answered_by: None,
            tokens: None,
            ms: None,
            error: None,
        };
        if !called {
            return checked;
        }
        let result = match settings.provider.as_str() {
            "replay" => folder(&settings).map(|()| None),
            _ => self.ask(checked.stages[0], &prompt()).map(Some).map_err(|failed| failed.error),
        };
        let error = match result {
            Ok(Some(reply)) => {
                let is_right = first_json(&reply.text).is_some_and(|value| value["ok"].is_boolean());
                checked.structured = reply.structured;
                // A program is known by the name that the settings give it.
                checked.answered_by =
                    Some(reply.model).filter(|model| !model.is_empty() && settings.provider != "command");
                (checked.tokens, checked.ms) = (Some(reply.usage), Some(reply.ms));
                (!is_right).then(|| Error::BadReply("it is not the JSON that was asked for".into()))
            }
            Ok(None) => {
                checked.called = false;
                None
            }
            Err(error) => {
                checked.called = error.is_of_a_call();
                Some(error)
            }
        };
        checked.works = error.is_none();
        checked.error =
            error.map(|error| Trouble { code: error.code(), message: error.to_string(), hint: error.hint() });
        checked
    }
}

/// Whether two stages ask the same model in the same way. The temperature is left out: a server that takes none is asked
/// without.
fn is_same(one: &StageSettings, other: &StageSettings) -> bool {
    let calls_nobody = one.provider == "builtin" && other.provider == "builtin";
    let same = StageSettings { temperature: one.temperature, ..other.clone() };
    calls_nobody || *one == same
}

/// The folder of recorded replies: nothing is recorded for the small call.
fn folder(settings: &StageSettings) -> Result<(), Error> {
    let folder = replay::folder(settings)?;
    match std::fs::read_dir(folder) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::Unreachable(format!("{} cannot be read: {error}", folder.display()))),
    }
}

fn prompt() -> Prompt {
    Prompt {
        system: "This is a test of the connection. Answer with a JSON object whose only member is \"ok\": true.".into(),
        user: "Answer now.".into(),
        schema_name: "check",
        schema: json!({
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": false,
        }),
    }
}
