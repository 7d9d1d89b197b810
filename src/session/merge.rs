//! What stands of a session and what was read of it, made one.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::seen::Seen;
use super::store::Captured;
use super::stored::Meta;
use super::{Given, Observation, Speaker};

/// What the session is once what is new in it was added.
pub(super) fn merge(
    given: Given,
    scope: String,
    old: Option<(Meta, Vec<Observation>)>,
    seen: &Seen,
    now: Timestamp,
) -> (Captured, Meta, Vec<Observation>) {
    let Given { session, is_tail, keeps_title, changed, gone } = given;
    let (before, known) = old.map_or((None, Vec::new()), |(meta, known)| (Some(meta), known));
    let had: HashSet<&str> = known.iter().map(|o| o.id.as_str()).collect();
    let mut incoming = session.observations;
    incoming.retain(|o| !seen.elsewhere(&session.id, &o.id));
    let added = incoming.iter().filter(|o| !had.contains(o.id.as_str())).count() as u32;
    let gone: HashSet<&str> = gone.iter().map(String::as_str).collect();
    let arrived: HashSet<&str> = incoming.iter().map(|o| o.id.as_str()).collect();
    let is_whole = !is_tail && known.iter().all(|o| arrived.contains(o.id.as_str()) || gone.contains(o.id.as_str()));
    let mut all = if is_whole {
        incoming
    } else {
        // What was read before, or an older or shorter copy of the file: what is there stays, with what is known
        // better now.
        let better = |new: &Observation, o: &Observation| is_tail || new.body.len() >= o.body.len();
        let order: Vec<String> = incoming.iter().map(|o| o.id.clone()).collect();
        let mut by_id: HashMap<String, Observation> = incoming.into_iter().map(|o| (o.id.clone(), o)).collect();
        let mut all: Vec<Observation> = Vec::with_capacity(known.len() + order.len());
        for o in known.iter().filter(|o| !gone.contains(o.id.as_str())) {
            match by_id.remove(&o.id) {
                Some(new) if better(&new, o) => all.push(new),
                _ => all.push(o.clone()),
            }
        }
        for change in &changed {
            all.iter_mut().filter(|o| o.id == change.id).for_each(|o| change.apply(o));
        }
        all.extend(order.iter().filter_map(|id| by_id.remove(id)));
        all
    };
    for (at, observation) in all.iter_mut().enumerate() {
        observation.seq = at as u32 + 1;
    }
    let kept = before.as_ref().filter(|_| keeps_title || !is_tail && !is_whole).map(|meta| meta.title.clone());
    let title = kept.unwrap_or_else(|| {
        let of_another = distinct(&session.id, &session.title);
        match &before {
            Some(meta) if meta.title == session.title || meta.title == of_another => meta.title.clone(),
            _ if seen.has_title(&session.id, &session.title) => of_another,
            _ => session.title,
        }
    });
    let was = before.as_ref();
    let meta = Meta {
        v: 1,
        id: session.id,
        agent: session.agent,
        scope,
        title,
        version: session.version,
        cwd: session.cwd,
        branch: session.branch,
        started: [was.and_then(|meta| meta.started), session.started].into_iter().flatten().min(),
        ended: was.and_then(|meta| meta.ended).max(session.ended),
        captured: was.map_or(now, |meta| meta.captured),
        observations: all.len() as u32,
        prompts: all.iter().filter(|o| o.speaker == Speaker::Human).count() as u32,
        own: session.own,
        parent: session.parent,
    };
    let what = match was {
        None if all.is_empty() => Captured::Unchanged,
        None => Captured::New,
        Some(was)
            if known == all && (was.started, was.ended, &was.title) == (meta.started, meta.ended, &meta.title) =>
        {
            Captured::Unchanged
        }
        Some(_) => Captured::Grown(added),
    };
    (what, meta, all)
}

/// A title that no other session has, by the end of the id: ids of subagents and of notes begin alike.
fn distinct(id: &str, title: &str) -> String {
    let skip = id.chars().count().saturating_sub(8);
    let short: String = id.chars().skip(skip).collect();
    format!("{title} ({short})")
}
