//! What of a run lands by itself: what the approval policy allows of that which its gates have looked at.

use std::collections::BTreeMap;

use super::Error;
use super::run::{Run, Trigger};
use crate::git::Oid;
use crate::ledger::Cache;
use crate::proposal::accept::{self, Accepted, How};
use crate::proposal::desk::{Desk, Hand};
use crate::proposal::policy::{self, Marks, UNMARKED};
use crate::proposal::{View, marks as kept};
use crate::wiki::Wiki;

/// Keeps what this run marked, for a drain of the queue later on, as it stands now.
pub(super) fn keep_marks(
    desk: &mut Desk,
    wiki: &Wiki,
    run: &Run,
    marks: &BTreeMap<String, Marks>,
) -> Result<(), Error> {
    let staged = run.proposals.iter().filter(|made| made.outcome == "staged" || made.outcome == "reopened");
    let fresh: BTreeMap<String, Marks> =
        staged.filter_map(|made| Some((made.id.clone(), *marks.get(&made.id)?))).collect();
    if fresh.values().any(|marks| *marks != UNMARKED) {
        desk.view = View::load(wiki, Cache::Use)?;
        // What cannot be kept is lost to the drain alone: a person decides then.
        let _ = kept::keep(&wiki.repo, &desk.view, &run.id, &fresh);
    }
    Ok(())
}

/// Accepts by itself what the policy allows; says of the rest why it waits.
pub(super) fn apply_policy(wiki: &mut Wiki, run: &mut Run, marks: &BTreeMap<String, Marks>) -> Result<(), Error> {
    let approval = wiki.config.settings.approval.clone();
    let fresh: Vec<String> = run
        .proposals
        .iter()
        .filter(|made| made.outcome == "staged" || made.outcome == "reopened")
        .map(|made| made.id.clone())
        .collect();
    if fresh.is_empty() {
        return Ok(());
    }
    if run.trigger == Trigger::Agent {
        run.waiting = fresh.into_iter().map(|id| (id, "an agent asked for the run".to_owned())).collect();
        return Ok(());
    }
    let Some(policy) = policy::of(&approval) else {
        run.waiting = fresh.into_iter().map(|id| (id, "approval.mode is none".to_owned())).collect();
        return Ok(());
    };
    let mut desk = Desk::open(wiki)?;
    let mut allowed = Vec::new();
    for id in fresh {
        // What was held back by an earlier run comes from the ledger, which others write to as well.
        let Some(marked) = marks.get(&id).copied() else {
            run.waiting.push((id, "no gate of this run has looked at it".to_owned()));
            continue;
        };
        match policy::allows(policy, &approval, &desk.find(&id)?, marked) {
            Ok(()) => allowed.push(id),
            Err(reason) => run.waiting.push((id, reason)),
        }
    }
    if allowed.is_empty() {
        return Ok(());
    }
    let how = How {
        hand: Hand::bot(policy),
        person_said_yes: Default::default(),
        second_looks: Default::default(),
        by_section: false,
    };
    match accept::accept_at(&mut desk, wiki, &allowed, &how) {
        Ok(outcomes) => {
            for (id, outcome) in outcomes {
                let made = run.proposals.iter().find(|made| made.id == id);
                match (outcome, made) {
                    (Accepted::Landed(commit), Some(_)) => landed(run, &id, commit),
                    (Accepted::Refused(refused), _) => run.waiting.push((id, refused.message)),
                    (Accepted::Conflicted { reason, .. }, _) => run.waiting.push((id, reason)),
                    _ => {}
                }
            }
        }
        // Busy or in the way: what is staged waits for the next run or a person.
        Err(error) => run.waiting.extend(allowed.into_iter().map(|id| (id, error.to_string()))),
    }
    Ok(())
}

/// Notes that a proposal of the run has landed.
pub(super) fn landed(run: &mut Run, id: &str, commit: Oid) {
    for made in run.proposals.iter_mut().filter(|made| made.id == id) {
        made.outcome = "accepted".into();
        made.detail = Some(commit.to_string());
    }
}
