//! One question to a model about one page: not asked again for the same input, and asked a second time, with what was
//! wrong, when the reply is malformed.

use serde_json::{Value, json};

use super::super::Error;
use super::super::ask;
use super::super::plan::Selected;
use super::super::prompts::{Template, sha256};
use super::super::run::{Call, Read, Response};
use super::{Bench, End};
use crate::model::{Prompt, Stage};

/// What came of the question.
pub(super) enum Answer<T> {
    /// A reply that keeps the contract.
    Read(T),
    /// There is none; how the look ended.
    None(End),
}

/// The answer, and what it cost.
pub(super) struct Asked<T> {
    pub answer: Answer<T>,
    pub calls: Vec<Call>,
    pub responses: Vec<Response>,
    /// SHA-256 over what was read, once there was an answer: the same is not asked again.
    pub input: Option<String>,
}

/// The reason that is on record for a page whose input has not changed since the last look.
pub(super) const UNCHANGED: &str = "unchanged";

/// A question about one page.
pub(super) struct Question {
    pub stage: Stage,
    /// What it is about.
    pub data: Value,
    /// What the reply must match.
    pub schema: Value,
    /// The pages that stand in it.
    pub pages: Vec<String>,
}

impl Question {
    /// The words to the model.
    ///
    /// # Errors
    /// When the user's own prompt cannot be read.
    pub fn template(&self) -> Result<Template, Error> {
        Template::load(self.stage.as_str()).map_err(|error| Error::Settings(error.to_string()))
    }

    /// As it is asked, with what it is made from.
    ///
    /// # Errors
    /// When the user's own prompt cannot be read.
    pub fn prompt(&self, bench: &Bench<'_>) -> Result<(Prompt, Read), Error> {
        let template = self.template()?;
        Ok((template.about(&self.data, self.schema.clone()), bench.read(&template, self.pages.iter().cloned())))
    }
}

/// Asks; `read` says what is wrong with a reply, for the model that is to mend it.
///
/// # Errors
/// When the user's own prompt cannot be read.
pub(super) fn ask<T>(
    bench: &Bench<'_>,
    selected: &Selected,
    question: &Question,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<Asked<T>, Error> {
    let stage = question.stage;
    let (prompt, made_from) = question.prompt(bench)?;
    let settings = bench.models.stage(stage);
    let input = sha256(&format!("{}\n{}\n{}\n{}", selected.lane, settings.name(), selected.blob, prompt.sha256()));
    let mut asked = Asked { answer: Answer::None(End::Done), calls: Vec::new(), responses: Vec::new(), input: None };
    let before = bench.state.looked(selected.subject(), &selected.lane).and_then(|looked| looked.input.as_deref());
    if before == Some(input.as_str()) {
        asked.answer = Answer::None(End::Skipped(UNCHANGED.into()));
        return Ok(asked);
    }
    let call = || Call {
        input_sha256: input.clone(),
        read: Some(made_from.clone()),
        ..Call::new(stage.as_str(), "", selected)
    };
    let first = ask::ask(bench, stage, &prompt, call());
    let came = first.response.is_some();
    asked.calls.push(first.call);
    asked.responses.extend(first.response);
    let (fault, reply) = match first.value {
        Ok(value) => match read(&value) {
            Ok(answer) => {
                asked.answer = Answer::Read(answer);
                asked.input = Some(input);
                return Ok(asked);
            }
            Err(fault) => (fault, value),
        },
        // A reply came and holds no JSON: that can be mended. A server that refuses cannot.
        Err(End::Failed(fault)) if came => (fault, Value::Null),
        Err(end) => {
            asked.answer = Answer::None(end);
            return Ok(asked);
        }
    };
    if let Some(call) = asked.calls.last_mut() {
        call.error = Some(fault.clone());
    }
    let mut again = question.data.clone();
    again["repair"] = json!({"your_last_reply": reply, "what_is_wrong_with_it": fault});
    let second = ask::ask(bench, stage, &question.template()?.about(&again, question.schema.clone()), call());
    asked.calls.push(second.call);
    asked.responses.extend(second.response);
    let read = second.value.and_then(|value| read(&value).map_err(End::Failed));
    asked.answer = match read {
        Ok(answer) => {
            asked.input = Some(input);
            Answer::Read(answer)
        }
        Err(end) => {
            if let (End::Failed(why), Some(call)) = (&end, asked.calls.last_mut()) {
                call.error = Some(why.clone());
            }
            Answer::None(end)
        }
    };
    Ok(asked)
}
