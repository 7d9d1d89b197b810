//! Whether a run did what it was asked.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cli::{CliError, Result, shown};
use crate::improve::kept::RESPONSES;
use crate::improve::run::{Outcome, RunState, plural};
use crate::improve::{Run, report};

/// Whether a run did what it was asked; why not. Replies are kept in the local folder `memory_dir`.
pub(super) fn of(run: &Run, memory_dir: &Path) -> Result<()> {
    of_plan(run)?;
    let hint = format!("`git memory run show {}` says more", run.id);
    if run.state == RunState::BudgetExhausted {
        let why = run.error.clone().unwrap_or_default();
        return Err(CliError::refused("budget_exhausted", why).hint("what was not reached is tried again"));
    }
    if run.state == RunState::Interrupted {
        let hint = "what it had not done is let go; no attempt is used up";
        return Err(CliError::refused("interrupted", "the run was interrupted").hint(hint));
    }
    if let Some((failed, more)) = first(run, "failed") {
        let reply = failed.response.as_ref().map(|reply| memory_dir.join(RESPONSES).join(format!("{reply}.txt")));
        let reply = reply.map(|path| format!("; the reply stands in {}", path.display())).unwrap_or_default();
        return Err(CliError::refused("review_failed", told(failed, more)).hint(hint + &reply));
    }
    if let Some((left, more)) = first(run, "unavailable") {
        let message = told(left, more);
        let hint = "it is tried again; no attempt is used up";
        return Err(CliError::refused("model_unavailable", message).hint(hint));
    }
    if run.lost_all() {
        let message = format!("every candidate was refused ({})", plural(run.refused.len(), "candidate"));
        return Err(CliError::refused("all_refused", message).hint(hint));
    }
    Ok(())
}

/// Whether a plan has anybody who could carry it out.
pub(super) fn of_plan(run: &Run) -> Result<()> {
    let Some(why) = run.plan.without_lanes() else { return Ok(()) };
    let message = format!("the strategy {} does nothing: {why}", shown(&run.strategy));
    Err(CliError::refused("no_lane", message).hint("choose another: `git memory improve --strategy NAME`"))
}

/// The first thing that ended so, and how many more did.
fn first<'r>(run: &'r Run, outcome: &str) -> Option<(&'r Outcome, usize)> {
    let words = [outcome];
    let mut ended = run.ended(&words);
    Some((ended.next()?, ended.count()))
}

/// What was not looked at, and why.
fn told(ended: &Outcome, more: usize) -> String {
    let reason = ended.reason.as_deref().unwrap_or("it did not say why");
    let (lane, subject) = (&ended.lane, shown(&ended.subject));
    let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
    let attempt = ended.attempt.map(|attempt| format!(", {}", report::attempt(attempt))).unwrap_or_default();
    match (ended.outcome.as_str(), &ended.response) {
        ("failed", Some(_)) => format!("{lane} of {subject}{more}: the reply cannot be used{attempt}: {reason}"),
        ("failed", None) => format!("{lane} of {subject}{more} failed{attempt}: {reason}"),
        _ => format!("{lane} could not look at {subject}{more}: {reason}"),
    }
}

/// The pages that were named and that no lane looks at, each with what keeps the lanes away.
pub(super) fn left_out(run: &Run) -> Vec<String> {
    let plan = &run.plan;
    let looked_at = |page: &&str| plan.selected.iter().any(|selected| selected.page.as_deref() == Some(page));
    let pages: BTreeSet<&str> =
        plan.gates.iter().filter_map(|gate| gate.page.as_deref()).filter(|page| !looked_at(page)).collect();
    let with_reasons = |page: &str| {
        let gates = plan.gates.iter().filter(|gate| gate.page.as_deref() == Some(page));
        let why: Vec<String> =
            gates.map(|gate| format!("{}: {}", gate.lane.as_deref().unwrap_or_default(), gate.reason)).collect();
        format!("{} ({})", shown(page), why.join("; "))
    };
    pages.into_iter().map(with_reasons).collect()
}
