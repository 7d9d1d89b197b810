//! The ledger's first events: from when on the wiki reviews by itself.

use super::{Append, Cache, Event, EventKind, append, load, now};
use crate::git::{self, Repo};

/// Records, for each of these scopes that has none, that sessions which ended before now are not reviewed on their
/// own. Returns whether anything was written.
pub fn begin(repo: &Repo, scopes: &[&str]) -> git::Result<bool> {
    let state = load(repo, Cache::ReadOnly)?;
    let operator = repo.operator().ok().map(|person| person.to_string());
    let actor = operator.clone().unwrap_or_else(|| "git-memory".into());
    let at = now().to_string();
    let events: Vec<Event> = scopes
        .iter()
        .filter(|scope| !state.watermarks.contains_key(**scope))
        .map(|scope| {
            Event::new(EventKind::Watermark, scope, &actor).operator(operator.as_deref()).with("at", at.as_str())
        })
        .collect();
    if events.is_empty() {
        return Ok(false);
    }
    append(repo, &Append { subject: "memory: init".into(), events, files: Vec::new() }, &[])?;
    Ok(true)
}
