//! The record of a run: begun with its plan, written into the ledger at its end.

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Error;
use super::plan::{Plan, Request};
use super::run::{Run, RunState, Trigger, folder};
use super::strategy::{DEFAULT, Strategy};
use super::triage;
use crate::git::{self, Oid};
use crate::ledger::{self, Append, Event};
use crate::model::covered;
use crate::session::Redactor;
use crate::wiki::Wiki;

/// A run with this plan, of which nothing is done yet.
pub(super) fn begin(wiki: &Wiki, request: &Request, strategy: &Strategy, plan: Plan, state: RunState) -> Run {
    let operator = request.trigger.is_asked().then(|| wiki.repo.operator().ok()).flatten();
    Run {
        trigger: request.trigger,
        strategy: strategy.name.clone(),
        scope: request.scope.clone(),
        operator: operator.map(|person| person.to_string()),
        state,
        skipped: plan.skipped.clone(),
        downgrades: triage::downgrades(&plan.triage),
        plan,
        config: changed_settings(wiki, &strategy.name),
        ..unknown(&ledger::new_id().to_string(), ledger::now())
    }
}

/// A run of which nothing is known but its id and when it began.
pub(super) fn unknown(id: &str, started_at: Timestamp) -> Run {
    Run {
        id: id.to_owned(),
        trigger: Trigger::default(),
        strategy: "unknown".into(),
        scope: None,
        operator: None,
        version: env!("CARGO_PKG_VERSION").into(),
        started_at,
        duration_ms: 0,
        state: RunState::Running,
        skipped: Vec::new(),
        downgrades: Vec::new(),
        plan: Plan::default(),
        calls: Vec::new(),
        proposals: Vec::new(),
        responses: Vec::new(),
        refused: Vec::new(),
        rejected_candidates: Vec::new(),
        outcomes: Vec::new(),
        events: Vec::new(),
        input_hash: String::new(),
        waiting: Vec::new(),
        error: None,
        unsent: None,
        recovered: 0,
        config: Value::Null,
    }
}

/// The settings that differ from the defaults, with the tables that the strategy was made of, and without
/// the secrets that somebody may have written there.
fn changed_settings(wiki: &Wiki, strategy: &str) -> Value {
    let settings = &wiki.config.settings;
    let (Ok(mut now), Ok(default), Ok(redactor)) = (
        serde_json::to_value(settings),
        serde_json::to_value(crate::config::Settings::default()),
        Redactor::new(&settings.redact.extra_patterns, &settings.redact.allow),
    ) else {
        return Value::Null;
    };
    if let (Some(tables), Some(defaults)) = (now.as_object_mut(), default.as_object()) {
        tables.retain(|name, table| {
            if let (Some(keys), Some(known)) = (table.as_object_mut(), defaults.get(name).and_then(Value::as_object)) {
                keys.retain(|key, value| known.get(key) != Some(value));
                return !keys.is_empty();
            }
            true
        });
    }
    let tables = [DEFAULT, strategy].into_iter().filter_map(|name| Some((name, wiki.config.strategy(name)?)));
    let tables: serde_json::Map<String, Value> =
        tables.filter_map(|(name, table)| Some((name.to_owned(), serde_json::to_value(table).ok()?))).collect();
    if let (false, Some(sections)) = (tables.is_empty(), now.as_object_mut()) {
        sections.insert("strategy".into(), tables.into());
    }
    covered("", now, |text| redactor.redact(text).into_owned())
}

/// Writes the run's record into the ledger, together with `events`. `since` is the ledger when the run began; `None`:
/// not known.
///
/// # Errors
/// When the ledger cannot be read or written.
pub(super) fn record(wiki: &Wiki, run: &mut Run, events: Vec<Event>, since: Option<Oid>) -> Result<(), Error> {
    run.input_hash = input_hash(run);
    run.events = written(wiki, run, since)?;
    run.events.extend(events.iter().map(|event| event.id.to_string()));
    let folder = folder(run);
    let json = serde_json::to_vec_pretty(run).map_err(|error| git::Error::write("run.json", error))?;
    let append = Append {
        subject: format!("run {} {}", run.id, run.summary()),
        events,
        files: vec![(format!("{folder}/run.json"), json), (format!("{folder}/REPORT.md"), run.report().into_bytes())],
    };
    ledger::append(&wiki.repo, &append, &[])?;
    Ok(())
}

/// The events of the run that stand in the ledger already, in their order.
fn written(wiki: &Wiki, run: &Run, since: Option<Oid>) -> Result<Vec<String>, Error> {
    let Some(tip) = wiki.repo.reference(ledger::REF)? else { return Ok(Vec::new()) };
    let (events, _) = ledger::events(&wiki.repo, since, tip)?;
    let mut own: Vec<Event> =
        events.into_iter().filter(|event| event.run.as_deref() == Some(run.id.as_str())).collect();
    own.sort_unstable_by_key(|event| (event.at, event.id));
    Ok(own.into_iter().map(|event| event.id.to_string()).collect())
}

/// SHA-256 over the inputs of all calls; empty when nothing was asked.
fn input_hash(run: &Run) -> String {
    if run.calls.is_empty() {
        return String::new();
    }
    let mut hash = Sha256::new();
    for call in &run.calls {
        for part in [&call.stage, &call.input_sha256, call.prompt_sha256.as_ref().unwrap_or(&String::new())] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
