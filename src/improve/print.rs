//! The prompt that a review would send, to look at: nothing is asked, nothing is written.

use serde::Serialize;
use serde_json::Value;

use super::Error;
use super::context::{self, Subject};
use super::lanes::review::contract;
use super::pipeline::dry_run;
use super::plan::Request;
use super::prompts::Template;
use super::run::Read;
use crate::ledger::Cache;
use crate::model::{Models, Prompt, Stage};
use crate::proposal::View;
use crate::session;
use crate::wiki::Wiki;

/// A prompt, as `improve --print-prompt --json` prints it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Printed {
    /// SHA-256 over all parts of the prompt, as run records have it and recorded replies are named by.
    pub prompt_sha256: String,
    /// The session.
    pub session: String,
    /// Why a run would pass the session over without asking, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<String>,
    /// Who would be asked: `provider/model`.
    pub model: String,
    /// About how many tokens it has: characters / 4.
    pub tokens: usize,
    /// What it was made from.
    pub read: Read,
    /// What the model is to do.
    pub system: String,
    /// What it works on.
    pub user: String,
    /// The JSON Schema of the reply.
    pub reply_schema: Value,
    #[serde(skip)]
    prompt: Prompt,
}

impl Printed {
    /// The whole of it as one text.
    pub fn text(&self) -> String {
        self.prompt.text()
    }
}

/// The prompt about the session that a request means: the first that a run would look at, or the one that is named, also
/// when a run would pass it over. `None`: there is no session to look at.
///
/// # Errors
/// When the request names what is not there, something cannot be read, or the settings leave no room.
pub fn prompt(wiki: &Wiki, request: &Request) -> Result<Option<Printed>, Error> {
    let plan = dry_run(wiki, request)?.plan;
    let skipped = plan.skipped.first().filter(|_| !request.sessions.is_empty());
    let (id, passed_over) = match (plan.selected.first(), skipped) {
        (Some(selected), _) => (selected.subject().to_owned(), None),
        (None, Some(skip)) => (skip.session.clone(), Some(skip.reason.clone())),
        (None, None) => return Ok(None),
    };
    let Some((stored, session, page)) = session::load(&wiki.repo, &id)? else { return Ok(None) };
    let view = View::load(wiki, Cache::ReadOnly)?;
    let settings = |error: &dyn std::fmt::Display| Error::Settings(error.to_string());
    let scope = wiki.scopes.named(&stored.meta.scope).map_err(|error| settings(&error))?;
    let template = Template::load("review").map_err(|error| settings(&error))?;
    let subject =
        Subject { wiki, view: &view, scope, stored: &stored, session: &session, page: &page, may_write: false };
    let built = context::build(&subject, &template, &contract::schema()).map_err(|error| match error {
        context::Error::Search(crate::search::Error::Git(error)) => error.into(),
        error => settings(&error),
    })?;
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir());
    let no_page = page.trim().is_empty() && !wiki.config.settings.improve.include_raw_fallback;
    Ok(Some(Printed {
        prompt_sha256: built.prompt.sha256(),
        session: id,
        passed_over: passed_over.or(no_page.then(|| "no_page".to_owned())),
        model: models.stage(Stage::Review).name(),
        tokens: built.prompt.tokens(),
        read: built.read,
        system: built.prompt.system.clone(),
        user: built.prompt.user.clone(),
        reply_schema: built.prompt.schema.clone(),
        prompt: built.prompt,
    }))
}
