//! The review lane with a model: one call about one session.

use sha2::{Digest, Sha256};

use super::super::{Bench, End, Error, Found};
use super::contract;
use crate::improve::ask;
use crate::improve::context::{self, Subject};
use crate::improve::plan::Selected;
use crate::improve::prompts::Template;
use crate::improve::run::{Call, RejectedCandidate};
use crate::model::Stage;
use crate::proposal::context::Cited;
use crate::proposal::message::one_line;
use crate::proposal::validate::SUSPICIOUS;
use crate::session::{self, Redactor};

/// Most characters that a run record keeps of a text of the reply.
const LINE: usize = 500;

/// One session. `None` when it is gone meanwhile.
pub(super) fn review(bench: &Bench<'_>, selected: &Selected) -> Result<Option<Found>, Error> {
    let wiki = bench.wiki;
    let Some((stored, session, page)) = session::load(&wiki.repo, selected.subject())? else { return Ok(None) };
    if page.trim().is_empty() && !wiki.config.settings.improve.include_raw_fallback {
        return Ok(Some(Found { end: End::Skipped("no_page".into()), ..Found::default() }));
    }
    let scope = wiki.scopes.named(&selected.scope).map_err(|error| Error::Settings(error.to_string()))?;
    let settings = bench.models.stage(Stage::Review);
    let mut call = Call::new("review", &settings.provider, selected);
    let template = match Template::load("review") {
        Ok(template) => template,
        Err(error) => return Ok(Some(not_asked(call, error.to_string()))),
    };
    let subject = Subject {
        wiki,
        view: bench.view,
        scope,
        stored: &stored,
        session: &session,
        page: &page,
        ledger: bench.ledger,
        may_write: bench.may_write,
    };
    let built = match context::build(&subject, &template, &contract::schema()) {
        Ok(built) => built,
        Err(context::Error::Search(crate::search::Error::Git(error))) => return Err(error.into()),
        Err(error) => return Ok(Some(not_asked(call, error.to_string()))),
    };
    let input = input(&settings.name(), &built.prompt.sha256(), &built.read.blobs);
    let asked_before = bench.state.reviews.get(&session.id).and_then(|review| review.input.as_deref());
    if asked_before == Some(input.as_str()) {
        return Ok(Some(Found { end: End::Skipped("unchanged".into()), ..Found::default() }));
    }
    call.input_sha256.clone_from(&input);
    call.read = Some(built.read);
    let asked = ask::ask(bench, Stage::Review, &built.prompt, call);
    let bytes = asked.response.as_ref().map_or(0, |response| response.bytes);
    let mut call = asked.call;
    let mut found = Found {
        cited: vec![Cited { session, page, page_blob: stored.page_blob, observations_blob: stored.observations_blob }],
        shown: Some(built.shown),
        deferred: built.gives_orders.then(|| SUSPICIOUS.to_owned()),
        responses: asked.response.into_iter().collect(),
        ..Found::default()
    };
    let text = asked.text.unwrap_or_default();
    let redact = &wiki.config.settings.redact;
    let redactor =
        Redactor::new(&redact.extra_patterns, &redact.allow).map_err(|error| Error::Settings(error.to_string()))?;
    let read = || contract::envelope(&text).and_then(|value| contract::read(&value, bytes));
    match asked.value.map(|_| read()) {
        Err(end) => found.end = end,
        Ok(Err(why)) => {
            let why = format!("the reply is refused whole: {}", one_line(&redactor.quotable(&why), LINE));
            call.error = Some(format!("bad_reply: {why}"));
            found.end = End::Failed(why);
        }
        Ok(Ok(reply)) => {
            // Whole texts are redacted before any is cut.
            let line = |text: &str| one_line(&redactor.quotable(text), LINE);
            call.summary = Some(line(&reply.summary)).filter(|summary| !summary.is_empty());
            found.rejected = reply
                .rejected
                .iter()
                .map(|left| RejectedCandidate {
                    session: selected.subject().to_owned(),
                    path: line(&left.path),
                    reason: line(&left.reason),
                    evidence: line(&left.evidence),
                })
                .collect();
            found.raw = reply.proposals;
            found.input = Some(input);
        }
    }
    found.calls = vec![call];
    Ok(Some(found))
}

/// What could not be asked, and is no fault of the session.
fn not_asked(call: Call, why: String) -> Found {
    let call = Call { error: Some(format!("settings: {why}")), ..call };
    Found { calls: vec![call], end: End::Unavailable(why), ..Found::default() }
}

/// SHA-256 over the lane, the model, the prompt and the blobs of its sources.
fn input(model: &str, prompt: &str, blobs: &std::collections::BTreeMap<String, String>) -> String {
    let mut digest = Sha256::new();
    digest.update(format!("review {model}\n{prompt}\n"));
    for (source, blob) in blobs {
        digest.update(format!("{source} {blob}\n"));
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
