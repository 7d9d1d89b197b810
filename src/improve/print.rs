//! The prompt that a run would send, to look at: nothing is asked, nothing is written.

use serde::Serialize;
use serde_json::Value;

use super::Error;
use super::context::{self, Subject};
use super::lanes::review::contract;
use super::lanes::{self, Bench};
use super::pipeline::dry_run;
use super::plan::Request;
use super::prompts::Template;
use super::run::Read;
use crate::ledger::{self, Cache};
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
    /// The lane.
    pub lane: String,
    /// The session, in the review lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The page, in the other lanes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
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
    fn of(prompt: Prompt, read: Read, models: &Models, stage: Stage) -> Printed {
        Printed {
            prompt_sha256: prompt.sha256(),
            lane: stage.as_str().to_owned(),
            session: None,
            page: None,
            passed_over: None,
            model: models.stage(stage).name(),
            tokens: prompt.tokens(),
            read,
            system: prompt.system.clone(),
            user: prompt.user.clone(),
            reply_schema: prompt.schema.clone(),
            prompt,
        }
    }

    /// The whole of it as one text.
    pub fn text(&self) -> String {
        self.prompt.text()
    }
}

/// The prompt about what a request means: the first session or page that a run would look at, or the session that is
/// named, also when a run would pass it over. `None`: there is nothing to look at.
///
/// # Errors
/// When the request names what is not there, something cannot be read, or the settings leave no room.
pub fn prompt(wiki: &Wiki, request: &Request) -> Result<Option<Printed>, Error> {
    let plan = dry_run(wiki, request)?.plan;
    let ledger = wiki.repo.reference(ledger::REF)?;
    let view = View::load(wiki, Cache::ReadOnly)?;
    let state = ledger::load(&wiki.repo, Cache::ReadOnly)?;
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir());
    let bench = Bench {
        wiki,
        models: &models,
        sessions: &[],
        view: &view,
        state: &state,
        trigger: request.trigger,
        journal: None,
        ledger,
        may_write: false,
        hear: &lanes::unheard,
    };
    if let Some(selected) = plan.selected.first().filter(|selected| selected.page.is_some()) {
        let Some((prompt, read)) = lanes::question(&bench, selected)? else { return Ok(None) };
        let stage = Stage::ASKED.into_iter().find(|stage| stage.as_str() == selected.lane).unwrap_or(Stage::Review);
        let page = selected.page.clone();
        return Ok(Some(Printed { page, ..Printed::of(prompt, read, &models, stage) }));
    }
    let skipped = plan.skipped.first().filter(|_| !request.sessions.is_empty());
    let (id, passed_over) = match (plan.selected.first(), skipped) {
        (Some(selected), _) => (selected.subject(), None),
        (None, Some(skip)) => (skip.session.as_str(), Some(skip.reason.clone())),
        (None, None) => return Ok(None),
    };
    let Some((stored, session, page)) = session::load(&wiki.repo, id)? else { return Ok(None) };
    let settings = |error: &dyn std::fmt::Display| Error::Settings(error.to_string());
    let scope = wiki.scopes.named(&stored.meta.scope).map_err(|error| settings(&error))?;
    let template = Template::load("review").map_err(|error| settings(&error))?;
    let (stored, session, page) = (&stored, &session, page.as_str());
    let subject = Subject { wiki, view: &view, scope, stored, session, page, ledger, may_write: false };
    let built = context::build(&subject, &template, &contract::schema()).map_err(|error| match error {
        context::Error::Search(error) => error.into(),
        error => settings(&error),
    })?;
    let no_page = page.trim().is_empty() && !wiki.config.settings.improve.include_raw_fallback;
    Ok(Some(Printed {
        session: Some(id.to_owned()),
        passed_over: passed_over.or(no_page.then(|| "no_page".to_owned())),
        ..Printed::of(built.prompt, built.read, &models, Stage::Review)
    }))
}
