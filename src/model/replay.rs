//! Replies that were recorded, by the hash of their prompt: for tests, and to see a run again.

use std::path::Path;

use serde::Deserialize;

use super::{Error, Prompt, Reply, StageSettings, Usage};

/// `<prompt hash>.json` in the folder `model.replies`.
#[derive(Deserialize)]
struct Recorded {
    text: String,
    #[serde(default)]
    usage: Usage,
    #[serde(default)]
    model: Option<String>,
}

pub(super) fn ask(settings: &StageSettings, prompt: &Prompt) -> Result<Reply, Error> {
    if settings.replies.is_empty() {
        return Err(Error::Settings("`model.replies` names no folder with recorded replies".into()));
    }
    let path = Path::new(&settings.replies).join(format!("{}.json", prompt.sha256()));
    let bytes = std::fs::read(&path)
        .map_err(|error| Error::Unreachable(format!("no reply is recorded in {}: {error}", path.display())))?;
    let recorded: Recorded = serde_json::from_slice(&bytes)
        .map_err(|error| Error::BadReply(format!("{} is no recorded reply: {error}", path.display())))?;
    let model = recorded.model.unwrap_or_else(|| settings.model.clone());
    Ok(Reply { text: recorded.text, usage: recorded.usage, model, ms: 0 })
}
