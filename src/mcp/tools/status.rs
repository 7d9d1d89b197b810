//! `memory_status`.

use serde::Deserialize;

use super::super::answer::Said;
use super::super::error::Error;
use super::{Call, Effect, Tool};
use crate::report::status::{self, Status as State};
use crate::wiki::shown::shown;

/// What [`Status`] takes.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only this scope of the wiki
    scope: Option<String>,
}

/// Most parked sessions, and most troubles, that are told.
const MOST: usize = 20;

/// The state of the wiki.
pub struct Status;

impl Tool for Status {
    const NAME: &'static str = "memory_status";
    const TITLE: &'static str = "State of the wiki";
    const ABOUT: &'static str = "Tells whether this project has a git-memory wiki and how it stands: branch, pages, \
        proposals that wait for a person, captured sessions, the last runs, and what is broken.";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = State;

    fn call(call: &Call, input: Input) -> Result<Said<State>, Error> {
        let wiki = call.wiki()?;
        let scope = call.scope(&wiki, input.scope.as_deref())?;
        let mut state = status::status(&wiki, scope.as_deref())?;
        let text = text(&state);
        state.standing.sessions.parked.truncate(MOST);
        state.standing.pending.elsewhere.truncate(MOST);
        state.trouble.truncate(MOST);
        Ok(Said::done(state, text))
    }
}

fn text(state: &State) -> String {
    let stands = &state.standing;
    let mut lines = vec![format!(
        "branch {}{}: {} pages, {} proposals wait ({} need a person), {} sessions captured, {} of them not reviewed",
        shown(&state.branch),
        state.commit.as_ref().map_or(" (without a commit yet)".into(), |commit| format!(" at {commit}")),
        stands.pages,
        stands.pending.count,
        stands.pending.needs_person,
        stands.sessions.count,
        stands.sessions.unseen,
    )];
    if !stands.sessions.parked.is_empty() {
        lines.push(format!("{} sessions are parked after failed reviews", stands.sessions.parked.len()));
    }
    for run in &stands.runs {
        let error = run.error.as_ref().map(|error| format!(" ({})", shown(error))).unwrap_or_default();
        lines.push(format!("run {} of {}: {}{error}", run.id, run.started_at, shown(&run.summary)));
    }
    lines.extend(state.trouble.iter().take(MOST).map(|trouble| format!("trouble: {}", shown(trouble))));
    if let Some(more) = state.trouble.len().checked_sub(MOST).filter(|more| *more > 0) {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}
