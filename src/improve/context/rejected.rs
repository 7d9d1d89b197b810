//! What was turned down on merit, so that it is not proposed again: by a person, by a gate, because of what it says, or in
//! an accept that failed for that.
//! Format errors and procedural closings are not in it: they would teach nothing.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Subject;
use crate::ledger::{self, Status};
use crate::proposal::message::one_line;
use crate::session::Redactor;
use crate::wiki::scope::GLOBAL;

/// Most entries, and for how many days.
const MOST: usize = 50;
const DAYS: i64 = 180;

/// Most characters of a reason or a summary.
const LINE: usize = 240;

/// The entries, the newest first, and what each of them is: the proposal's id, or the code of a candidate's refusal and
/// its page.
pub(super) fn rejected(subject: &Subject<'_>, redactor: &Redactor) -> Vec<(Value, String)> {
    let since = ledger::now().as_second() - DAYS * 86_400;
    let view = subject.view;
    let here = |scope: &str| scope == subject.scope.name || scope == GLOBAL;
    let clean = |text: &str| one_line(&redactor.redact(text), LINE);
    let entry = |path: &str, kind: &str, reason: &str, summary: &str| json!({"path": clean(path), "kind": kind, "reason": clean(reason), "summary": clean(summary)});
    let mut all = Vec::new();
    let mut settled = HashSet::new();
    for item in &view.items {
        let proposal = &item.proposal;
        let reason = proposal.reason.as_deref().unwrap_or_default();
        // What landed and was taken back with a reason was wrong too.
        let on_merit = item.status == Status::Rejected && proposal.merit
            || item.status == Status::Reverted && !reason.trim().is_empty();
        // Its text was bettered, or a person said more: that it did not land at first is no news.
        if on_merit || matches!(item.status, Status::Accepted | Status::Reverted) {
            settled.insert(item.id());
        }
        if on_merit && here(&proposal.scope) && view.state.withdrawn_from(item.id()).is_none() {
            let path = proposal.paths.first().map_or("", String::as_str);
            let value = entry(path, &proposal.kind, reason, &proposal.title);
            all.push((proposal.changed_at, item.id().to_owned(), value));
        }
    }
    let blob = subject.stored.observations_blob.map(|blob| blob.to_string());
    for refusal in view.state.refusals() {
        // What a review of this very text was refused is no news to it: it would only make the same question another.
        let own = refusal.session == subject.session.id && blob.as_deref() == Some(refusal.blob.as_str());
        if !own && here(&refusal.scope) && !settled.contains(refusal.proposal.as_str()) {
            let name = format!("{} {}", refusal.code, refusal.path);
            let inside = refusal.path.strip_prefix(&subject.scope.path).unwrap_or(&refusal.path);
            let kind = subject.wiki.layout.kind_of(inside.trim_start_matches('/')).map_or("", |kind| kind.as_str());
            all.push((refusal.at, name, entry(&refusal.path, kind, &refusal.reason, &refusal.summary)));
        }
    }
    all.retain(|(at, ..)| at.as_second() >= since);
    all.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut seen = HashSet::new();
    all.retain(|(.., value)| seen.insert(value.to_string()));
    all.into_iter().take(MOST).map(|(_, name, value)| (value, name)).collect()
}
