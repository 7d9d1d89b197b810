//! The input of a tool call, and attachments: small JSON values that are read whole.

use serde_json::Value;

use crate::session::Exclusions;
use crate::session::builder;
use crate::session::lines::Damage;

/// A tool's input.
pub(super) enum Input {
    Read(Value),
    /// Nested too deeply to be read; kept as it stands.
    Raw(String),
}

impl Input {
    pub(super) fn read(raw: &str, number: usize, damage: &mut Damage) -> Input {
        if let Ok(value) = serde_json::from_str(raw) {
            return Input::Read(value);
        }
        damage.note("too_deep", number);
        Input::Raw(raw.to_owned())
    }

    /// What cannot be read is judged as if all of it were a command. `folder`: where the tool works.
    pub(super) fn is_excluded(&self, exclusions: &Exclusions, folder: Option<&str>) -> bool {
        match self {
            Input::Read(value) => exclusions.input_in(folder, value),
            Input::Raw(raw) => exclusions.names_in(folder, raw),
        }
    }

    /// The command of a shell call, the path of a file tool, else the first thing that says what was asked.
    pub(super) fn title(&self, tool: &str) -> String {
        const TELLING: &[&str] = &[
            "command",
            "cmd",
            "file_path",
            "notebook_path",
            "path",
            "url",
            "query",
            "pattern",
            "description",
            "skill",
            "subject",
            "prompt",
        ];
        let Input::Read(Value::Object(fields)) = self else { return tool.to_owned() };
        let telling = TELLING.iter().find_map(|name| fields.get(*name)?.as_str());
        telling.filter(|text| !text.trim().is_empty()).unwrap_or(tool).to_owned()
    }

    /// See [`builder::input_text`].
    pub(super) fn text(&self) -> String {
        match self {
            Input::Raw(raw) => raw.clone(),
            Input::Read(value) => builder::input_text(value),
        }
    }
}

/// What an attachment line carries.
pub(super) struct Attachment {
    pub kind: String,
    /// A queued command that a person typed as a prompt.
    pub is_prompt: bool,
    pub texts: Vec<String>,
}

impl Attachment {
    pub(super) fn read(raw: &str) -> Attachment {
        let value: Value = serde_json::from_str(raw).unwrap_or_default();
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let mut texts = Vec::new();
        for name in ["prompt", "content", "stderr"] {
            match value.get(name) {
                Some(Value::String(text)) => texts.push(text.clone()),
                Some(Value::Array(blocks)) => {
                    let text = |block: &Value| Some(block.get("text").unwrap_or(block).as_str()?.to_owned());
                    texts.extend(blocks.iter().filter_map(text));
                }
                _ => {}
            }
        }
        texts.extend(value.pointer("/blockingError/blockingError").and_then(Value::as_str).map(str::to_owned));
        Attachment {
            kind: text("type").unwrap_or_default().to_owned(),
            is_prompt: text("commandMode").is_none_or(|mode| mode == "prompt"),
            texts,
        }
    }
}

/// The strings of a JSON list.
pub(super) fn strings(raw: &str) -> Vec<String> {
    match serde_json::from_str(raw) {
        Ok(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}
