//! Asking a model, for lanes and gates: the call is on record whatever comes of it, and the reply is kept.

use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::lanes::{Bench, End};
use super::prompts::sha256;
use super::run::{Call, Response};
use crate::model::{self, Prompt, Stage, first_json};
use crate::session::Redactor;

/// Most bytes of a reply that are kept.
const MOST_KEPT: usize = 256 << 10;

/// What came of asking.
pub struct Asked {
    /// The call, for the run record.
    pub call: Call,
    /// The reply, for the run record.
    pub response: Option<Response>,
    /// The first JSON value of the reply, or why there is none.
    pub value: Result<Value, End>,
    /// The reply as it came, for who must read it more strictly.
    pub text: Option<String>,
}

/// Asks the model of a stage once. `call` says what it is about and what was read.
pub fn ask(bench: &Bench<'_>, stage: Stage, prompt: &Prompt, call: Call) -> Asked {
    let settings = bench.models.stage(stage);
    let mut call = Call { provider: settings.provider.clone(), prompt_sha256: Some(prompt.sha256()), ..call };
    match bench.models.ask(stage, prompt) {
        Ok(reply) => {
            call.model = Some(reply.model).filter(|model| !model.is_empty());
            call.tokens = Some(reply.usage);
            call.ms = reply.ms;
            let response = Response { sha256: sha256(&reply.text), bytes: reply.text.len() as u64 };
            keep(bench, &response, &reply.text);
            let value = first_json(&reply.text).ok_or_else(|| {
                call.error = Some("the reply holds no JSON".into());
                End::Failed("the reply holds no JSON".into())
            });
            Asked { call, response: Some(response), value, text: Some(reply.text) }
        }
        Err(error) => {
            call.error = Some(format!("{}: {error}", error.code()));
            let why = error.to_string();
            let end = match error {
                model::Error::BudgetExhausted(_) => End::BudgetExhausted(why),
                error if error.uses_attempt() => End::Failed(why),
                _ => End::Unavailable(why),
            };
            Asked { call, response: None, value: Err(end), text: None }
        }
    }
}

/// Keeps a reply, redacted, for its owner's eyes: `responses/<sha256>.txt`. What cannot be kept is no loss to the run.
fn keep(bench: &Bench<'_>, response: &Response, text: &str) {
    let redact = &bench.wiki.config.settings.redact;
    let Ok(redactor) = Redactor::new(&redact.extra_patterns, &redact.allow) else { return };
    // Redacted before it is cut, so that no half of a secret stays.
    let redacted = redactor.redact(text);
    let cut = &redacted[..redacted.floor_char_boundary(MOST_KEPT)];
    let _ = write(&bench.wiki.repo.memory_dir().join("responses"), &response.sha256, cut);
}

fn write(folder: &Path, name: &str, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    // A temporary file is made for its owner alone (0600), and stays so when it gets its name.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(folder.join(format!("{name}.txt")))?;
    Ok(())
}
