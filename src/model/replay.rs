//! Replies that were recorded, by the hash of their prompt: for tests, and to see a run again.
//!
//! `model.replies` names the folder; `<prompt hash>.json` in it is one reply. Any other provider with that setting
//! writes its replies there.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Error, Prompt, Reply, StageSettings, Usage};
use crate::session::Redactor;

/// Largest file that is taken for a reply.
const MOST: u64 = 16 << 20;

/// One recorded reply.
#[derive(Serialize, Deserialize)]
struct Recorded {
    text: String,
    #[serde(default)]
    usage: Usage,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    without_temperature: bool,
}

/// The folder that the settings name.
///
/// # Errors
/// [`Error::Settings`]: none, or one that would be another from each folder that somebody works in.
pub(super) fn folder(settings: &StageSettings) -> Result<&Path, Error> {
    let path = Path::new(&settings.replies);
    if settings.replies.is_empty() {
        return Err(Error::Settings("`model.replies` names no folder with recorded replies".into()));
    }
    if !path.is_absolute() {
        return Err(Error::Settings(format!("`model.replies` is {}: it has to be an absolute path", path.display())));
    }
    Ok(path)
}

fn file(settings: &StageSettings, prompt: &Prompt) -> Result<PathBuf, Error> {
    Ok(folder(settings)?.join(format!("{}.json", prompt.sha256())))
}

/// Makes the folder ready to be written to.
///
/// # Errors
/// [`Error::Settings`]: whoever asks for recordings wants to know that there will be none.
pub(super) fn make(settings: &StageSettings) -> Result<(), Error> {
    let folder = folder(settings)?;
    let made = std::fs::create_dir_all(folder).and_then(|()| tempfile::NamedTempFile::new_in(folder));
    made.map(drop).map_err(|fault| {
        Error::Settings(format!("replies cannot be recorded in {} (`model.replies`): {fault}", folder.display()))
    })
}

pub(super) fn ask(settings: &StageSettings, prompt: &Prompt) -> Result<Reply, Error> {
    let path = file(settings, prompt)?;
    let shown = path.display();
    let size = std::fs::metadata(&path).map(|data| data.len());
    let bytes = match size.and_then(|size| if size > MOST { Ok(None) } else { std::fs::read(&path).map(Some) }) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(Error::BadReply(format!("{shown} is larger than {} MiB", MOST >> 20))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::Unreachable(format!(
                "no reply to this prompt is recorded; record one as {shown}, which any other provider does while \
                 `model.replies` names that folder"
            )));
        }
        Err(error) => return Err(Error::Unreachable(format!("{shown} cannot be read: {error}"))),
    };
    let recorded: Recorded = serde_json::from_slice(&bytes)
        .map_err(|error| Error::BadReply(format!("{shown} is no recorded reply: {error}")))?;
    let model = recorded.model.clone().unwrap_or_else(|| settings.model.clone());
    let Recorded { text, usage, without_temperature, .. } = recorded;
    Ok(Reply { text, usage, model, without_temperature, ..Reply::default() })
}

/// Writes a reply down, without secrets, in place of an earlier one to the same prompt.
pub(super) fn record(settings: &StageSettings, prompt: &Prompt, reply: &Reply) -> std::io::Result<()> {
    let path = file(settings, prompt).map_err(std::io::Error::other)?;
    let text = Redactor::redact_once(&reply.text, &[], &[]).unwrap_or_default();
    let model = Some(reply.model.clone());
    let recorded = Recorded { text, usage: reply.usage, model, without_temperature: reply.without_temperature };
    let mut new = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(&path))?;
    serde_json::to_writer_pretty(&mut new, &recorded)?;
    new.write_all(b"\n")?;
    new.persist(&path)?;
    Ok(())
}
