//! Asking a model, for lanes and gates: the call is on record whatever comes of it, and the reply is kept.

use serde_json::Value;

use super::kept;
use super::lanes::{Bench, End, News};
use super::prompts::sha256;
use super::run::{Call, Response};
use crate::git::{asked_to_end, fault};
use crate::model::{self, Prompt, Stage, first_json};
use crate::session::{Redactor, WITHHELD};

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
    let hash = prompt.sha256();
    let model = Some(settings.model.clone()).filter(|model| !model.is_empty());
    let mut call = Call { provider: settings.provider.clone(), model, prompt_sha256: Some(hash.clone()), ..call };
    // Who was asked is a part of the question.
    let question = sha256(&format!("{}\n{}\n{hash}", settings.name(), settings.base_url));
    // A run that died after this very question has paid for the answer.
    if let Some(text) = bench.journal.and_then(|journal| journal.unused(&question)) {
        return answered(bench, call, &question, text);
    }
    if asked_to_end() {
        let why = model::Error::Interrupted;
        call.error = Some(format!("{}: {why}", why.code()));
        call.unmade = true;
        return Asked { call, response: None, value: Err(End::Unavailable(why.to_string())), text: None };
    }
    if let Some(Err(error)) = bench.journal.map(|journal| journal.asking(&call)) {
        let why = format!("the run's journal cannot be written: {error}");
        call.error = Some(why.clone());
        return Asked { call, response: None, value: Err(End::Unavailable(why)), text: None };
    }
    keep_prompt(bench, prompt, &hash);
    (bench.hear)(News::Asking { stage, subject: call.subject(), model: &settings.name() });
    fault::point("improve.before-call");
    match bench.models.ask(stage, prompt) {
        Ok(reply) => {
            call.model = Some(reply.model).filter(|model| !model.is_empty());
            call.tokens = Some(reply.usage);
            call.ms = reply.ms;
            call.without_temperature = reply.without_temperature;
            fault::point("improve.after-call");
            answered(bench, call, &question, reply.text)
        }
        Err(model::Failed { error, usage, ms }) => {
            call.error = Some(format!("{}: {error}", error.code()));
            call.unmade = !error.is_of_a_call();
            (call.tokens, call.ms) = (usage, ms);
            let why = error.to_string();
            let end = match error {
                model::Error::BudgetExhausted(_) => End::BudgetExhausted(why),
                error if error.uses_attempt() => End::Failed(why),
                error if error.is_for_all() => End::OutOfUse(why),
                _ => End::Unavailable(why),
            };
            Asked { call, response: None, value: Err(end), text: None }
        }
    }
}

/// What a reply says, which is kept first.
fn answered(bench: &Bench<'_>, mut call: Call, question: &str, text: String) -> Asked {
    let response = Response { sha256: sha256(&text), bytes: text.len() as u64 };
    let whole = keep(bench, &response, &text);
    // What is left behind is its text alone, and would count for more than it is.
    if let (Some(journal), true) = (bench.journal, whole && !call.without_temperature) {
        journal.kept(question, &response.sha256);
    }
    fault::point("improve.after-reply");
    let value = first_json(&text).ok_or_else(|| {
        call.error = Some("the reply holds no JSON".into());
        End::Failed("the reply holds no JSON".into())
    });
    Asked { call, response: Some(response), value, text: Some(text) }
}

/// Keeps a reply, redacted, for its owner's eyes: `responses/<sha256>.txt`. What cannot be kept is no loss to the run.
/// Whether all of it is there.
fn keep(bench: &Bench<'_>, response: &Response, text: &str) -> bool {
    let redact = &bench.wiki.config.settings.redact;
    let Ok(redactor) = Redactor::new(&redact.extra_patterns, &redact.allow) else { return false };
    // Redacted before it is cut, so that no half of a secret stays.
    let redacted = redactor.redact(text);
    if redactor.finds_however_spelled(&redacted) {
        let _ = kept::write(&bench.wiki.repo.memory_dir(), kept::RESPONSES, &response.sha256, WITHHELD);
        return false;
    }
    let cut = &redacted[..redacted.floor_char_boundary(MOST_KEPT)];
    let kept = kept::write(&bench.wiki.repo.memory_dir(), kept::RESPONSES, &response.sha256, cut);
    kept.is_ok() && cut.len() == redacted.len()
}

/// Keeps what is asked, so that the record can be looked into: `prompts/<sha256>.txt`. What cannot be kept is no loss to
/// the run.
fn keep_prompt(bench: &Bench<'_>, prompt: &Prompt, hash: &str) {
    let redact = &bench.wiki.config.settings.redact;
    if let Ok(redactor) = Redactor::new(&redact.extra_patterns, &redact.allow) {
        let _ = kept::write(&bench.wiki.repo.memory_dir(), kept::PROMPTS, hash, &redactor.redact(&prompt.text()));
    }
}
