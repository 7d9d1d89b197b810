//! What goes into the prompt about one session, and how all of it fits: the limits, the index of pages, the pages that
//! have to do with the session, what was turned down before, the session's page, and the best of its observations.
//!
//! The same wiki, ledger, session, settings and template give the same prompt, byte for byte.

mod budget;
mod nearest;
mod pages;
mod rejected;

use serde_json::{Value, json};

use super::prompts::Template;
use super::run::Read;
use crate::git::Oid;
use crate::model::Prompt;
use crate::proposal::View;
use crate::proposal::validate::{MAX_QUOTE_CHARS, Shown, reads_like_order};
use crate::search::{self, Pages};
use crate::session::{Observation, Redactor, Sampled, Session, Speaker, Stored, WITH_PAGE, WITHOUT_PAGE, sample};
use crate::wiki::scope::Scope;
use crate::wiki::{Kind, Wiki};

/// What is asked about.
pub struct Subject<'a> {
    /// The wiki as it is.
    pub wiki: &'a Wiki,
    /// The proposals there are.
    pub view: &'a View,
    /// The scope of the session.
    pub scope: &'a Scope,
    /// The session's record.
    pub stored: &'a Stored,
    /// The session.
    pub session: &'a Session,
    /// The text of its page; nothing but white space: it has none.
    pub page: &'a str,
    /// The tip of the ledger that `view` was read from.
    pub ledger: Option<Oid>,
    /// Whether the index may be brought up to date on disk; else nothing is written.
    pub may_write: bool,
}

/// A prompt and what it shows.
pub struct Built {
    /// The prompt.
    pub prompt: Prompt,
    /// The pages that it shows, and how much of each.
    pub shown: Shown,
    /// What it was made from.
    pub read: Read,
    /// Something in it gives orders to agents or models: who answers may have obeyed.
    pub gives_orders: bool,
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The index or a page cannot be read.
    #[error(transparent)]
    Search(#[from] search::Error),
    /// What `redact.*` says cannot be used.
    #[error(transparent)]
    Redact(#[from] crate::session::BadPattern),
    /// The words to the model alone fill the room.
    #[error("the prompt has {0} tokens without anything to review; raise `improve.max_input_tokens`")]
    NoRoom(usize),
}

/// The parts of a prompt, each already clean of secrets, in the order in which they stand in it.
struct Parts<'a> {
    limits: Value,
    index: Vec<Value>,
    index_left_out: usize,
    pages: Vec<pages::Given>,
    /// What was turned down, and what each of them is.
    rejected: Vec<(Value, String)>,
    session: Value,
    observations: Vec<Sampled<'a>>,
    dropped: usize,
}

/// The prompt about a session.
///
/// # Errors
/// When something cannot be read, or `improve.max_input_tokens` leaves no room at all.
pub fn build(subject: &Subject<'_>, template: &Template, schema: &Value) -> Result<Built, Error> {
    let Subject { wiki, session, scope, .. } = subject;
    let settings = &wiki.config.settings;
    let redactor = Redactor::new(&settings.redact.extra_patterns, &settings.redact.allow)?;
    let shares = budget::Shares::of(settings.improve.max_input_tokens);
    // At a commit that is named nothing is kept on disk; the answer is the same.
    let found = Pages::at(wiki, if subject.may_write { None } else { wiki.tip })?;
    let listed = pages::listed(&found, &found.near(&nearest::texts(session))?, scope);
    let near = pages::near(subject, &listed, &redactor)?;
    let given = |share: usize| budget::within(near.iter().cloned(), share, |page| &page.value);
    let (index, index_left_out) = pages::index(&listed, shares.index, &redactor);
    let rejected = rejected::rejected(subject, &redactor);
    let all_rejected = rejected.len();
    let has_page = !subject.page.trim().is_empty();
    let most = if has_page { WITH_PAGE } else { WITHOUT_PAGE };
    let observations = sample(&session.observations, most, &|text| redactor.redact(text));
    let mut parts = Parts {
        limits: limits(subject),
        index,
        index_left_out,
        pages: given(shares.pages),
        rejected: budget::within(rejected, shares.rejected, |(value, _)| value),
        session: Value::Null,
        dropped: session.observations.len() - observations.len(),
        observations,
    };
    let sampled = parts.observations.len();
    let make = |parts: &Parts<'_>| template.about(&data(parts, &redactor), schema.clone());
    let room = shares.room.saturating_sub(make(&parts_without(&parts)).tokens());
    parts.session = about(subject, has_page.then(|| shares.page.min(room * 2 / 3)), &redactor);
    let taken: usize = parts.pages.iter().map(|page| budget::tokens(&page.value)).sum();
    let spare = shares.room.saturating_sub(make(&parts).tokens());
    parts.pages = given(shares.pages.max(taken + spare));
    let prompt = budget::fit(&mut parts, shares.room, make)?;
    let gives_orders = orders(&data(&parts, &redactor));
    let read = Read {
        dropped: sampled - parts.observations.len(),
        pages_dropped: near.len() - parts.pages.len(),
        rejections_dropped: all_rejected - parts.rejected.len(),
        ..read(subject, template, &parts)
    };
    Ok(Built { prompt, gives_orders, shown: shown(&parts), read })
}

/// Everything but the session, to see how much room is left for it.
fn parts_without<'a>(parts: &Parts<'a>) -> Parts<'a> {
    Parts {
        limits: parts.limits.clone(),
        index: parts.index.clone(),
        index_left_out: parts.index_left_out,
        pages: parts.pages.clone(),
        rejected: parts.rejected.clone(),
        session: Value::Null,
        observations: Vec::new(),
        dropped: parts.dropped,
    }
}

/// The data block.
fn data(parts: &Parts<'_>, redactor: &Redactor) -> Value {
    json!({
        "limits": parts.limits,
        "index": parts.index,
        "index_left_out": parts.index_left_out,
        "pages": parts.pages.iter().map(|page| &page.value).collect::<Vec<_>>(),
        "rejected": parts.rejected.iter().map(|(value, _)| value).collect::<Vec<_>>(),
        "session": parts.session,
        "observations": parts.observations.iter().map(|sampled| told(sampled, redactor)).collect::<Vec<_>>(),
        "observations_left_out": parts.dropped,
    })
}

/// Whether a text of the data gives orders to whoever reads it.
fn orders(data: &Value) -> bool {
    match data {
        Value::String(text) => reads_like_order(text),
        Value::Array(items) => items.iter().any(orders),
        Value::Object(fields) => fields.values().any(orders),
        _ => false,
    }
}

/// What validation will hold the reply to.
fn limits(subject: &Subject<'_>) -> Value {
    let improve = &subject.wiki.config.settings.improve;
    let layout = &subject.wiki.layout;
    let below = |folder: &str| match subject.scope.path.as_str() {
        "" => format!("{folder}/"),
        scope => format!("{scope}/{folder}/"),
    };
    let kinds = [Kind::Gotcha, Kind::Decision, Kind::Concept, Kind::Procedure, Kind::Rule, Kind::Note];
    let folders: serde_json::Map<String, Value> =
        kinds.iter().map(|kind| (kind.as_str().to_owned(), below(layout.folder(*kind)).into())).collect();
    json!({
        "folders": folders,
        "slot": format!("{}current-focus.md", below(layout.folder(Kind::Slot))),
        "most_proposals": improve.max_proposals_per_run,
        "least_confidence": improve.min_confidence,
        "most_edits_of_a_proposal": improve.max_edits_per_proposal,
        "most_edits_of_all_proposals": improve.max_patch_edits_per_run,
        "most_characters_of_an_edit": improve.max_edit_content_chars,
        "most_changed_characters_of_a_proposal": improve.max_changed_chars_per_proposal,
        "most_characters_of_a_quote": MAX_QUOTE_CHARS,
        "most_characters_of_a_rule_or_procedure":
            improve.max_rule_page_tokens.min(improve.max_procedure_page_tokens) * 4,
    })
}

/// The session's record and, in so many tokens, its page.
fn about(subject: &Subject<'_>, most: Option<usize>, redactor: &Redactor) -> Value {
    let session = subject.session;
    let page = most.map(|most| budget::cut(&redactor.redact(subject.page), most));
    json!({
        "source": format!("sessions/{}.md", session.id),
        "agent": session.agent.as_str(),
        "title": redactor.redact(&session.title),
        "started": session.started.map(|at| at.to_string()),
        "ended": session.ended.map(|at| at.to_string()),
        "observations": session.observations.len(),
        "page": page,
    })
}

/// One observation, as the model reads and cites it.
fn told(sampled: &Sampled<'_>, redactor: &Redactor) -> Value {
    let Observation { seq, kind, speaker, tool, exit, .. } = sampled.observation;
    let mut told = serde_json::Map::new();
    let mut field = |name: &str, value: Value| told.insert(name.to_owned(), value);
    field("source", format!("obs:{seq}").into());
    field("said_by", words_of(*speaker).into());
    field("kind", serde_json::to_value(kind).unwrap_or_default());
    if let Some(tool) = tool {
        field("tool", redactor.redact(tool).into());
    }
    if let Some(exit) = exit {
        field("exit", (*exit).into());
    }
    // The title is mostly how the text begins.
    if !sampled.title.is_empty() && !sampled.text.trim_start().starts_with(sampled.title.trim_end_matches('…')) {
        field("title", sampled.title.as_str().into());
    }
    field("text", sampled.text.as_str().into());
    told.into()
}

fn words_of(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Human => "person",
        Speaker::Assistant => "agent",
        Speaker::Tool => "tool",
        Speaker::System => "program",
    }
}

fn shown(parts: &Parts<'_>) -> Shown {
    parts.pages.iter().map(|page| (page.path.clone(), page.extent.clone())).collect()
}

/// What stands in the prompt.
fn read(subject: &Subject<'_>, template: &Template, parts: &Parts<'_>) -> Read {
    let id = &subject.session.id;
    let mut blobs = vec![(format!("sessions/{id}.md"), subject.stored.page_blob)];
    blobs.extend(subject.stored.observations_blob.map(|blob| (format!("sessions/{id}"), blob)));
    blobs.extend(parts.pages.iter().map(|page| (page.path.clone(), page.blob)));
    let hex = |(source, blob): (String, Oid)| (source, blob.to_string());
    Read {
        template: template.version.clone(),
        commit: subject.wiki.tip.map(|tip| tip.to_string()),
        ledger: subject.ledger.map(|tip| tip.to_string()),
        blobs: blobs.into_iter().map(hex).collect(),
        observations: parts.observations.len(),
        pages: parts.pages.len(),
        indexed: parts.index.len(),
        index_left_out: parts.index_left_out,
        rejections: parts.rejected.iter().map(|(_, name)| name.clone()).collect(),
        ..Read::default()
    }
}
