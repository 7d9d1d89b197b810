//! Triage: what becomes of proposals of this run that are marked staged. Marks of other runs, and those that merely
//! arrived by a fetch, are information and let nothing land.

use std::collections::BTreeMap;

use super::plan;
use super::run::{Downgrade, Run, Trigger};
use super::strategy::{self, TriageMode};
use super::{Error, approve};
use crate::config::Approval;
use crate::ledger::{Event, EventKind};
use crate::proposal::desk::{Desk, Policy};
use crate::proposal::drain::{self, Drained, Limits};
use crate::proposal::policy::{self, Marks};
use crate::proposal::stage::AUTO_IMPROVE;
use crate::wiki::Wiki;
use crate::wiki::scope::GLOBAL;

/// The reason of a downgrade: `approval.autonomy` is off.
pub const AUTONOMY_GATED: &str = "autonomy_gated";

/// The reason of a downgrade: the settings let nothing land without a person.
const APPROVAL_NONE: &str = "approval_none";

/// What triage may do, as the strategy says and the settings let it.
pub(super) fn planned(approval: &Approval, triage: strategy::Triage) -> plan::Triage {
    let reason = match triage.mode {
        TriageMode::Accept if !approval.autonomy => Some(AUTONOMY_GATED),
        TriageMode::Accept if policy::of(approval).is_none() => Some(APPROVAL_NONE),
        _ => None,
    };
    plan::Triage {
        configured: triage.mode,
        effective: if reason.is_some() { TriageMode::Queue } else { triage.mode },
        cap: triage.cap,
        reason: reason.map(str::to_owned),
    }
}

/// What was asked for and will not be done by itself, in the run's record.
pub(super) fn downgrades(planned: &plan::Triage) -> Vec<Downgrade> {
    let reason = planned.reason.iter();
    reason.map(|reason| Downgrade { what: "triage".into(), reason: reason.clone() }).collect()
}

/// The events that say so.
pub(super) fn events(run: &Run) -> impl Iterator<Item = Event> {
    run.downgrades.iter().map(|down| {
        Event::new(EventKind::Downgraded, run.scope.as_deref().unwrap_or(GLOBAL), AUTO_IMPROVE)
            .run(Some(&run.id))
            .operator(run.operator.as_deref())
            .with("what", down.what.as_str())
            .with("reason", down.reason.as_str())
    })
}

/// Accepts what this run marked staged, up to the cap; says of what it leaves why it waits.
pub(super) fn accept(wiki: &mut Wiki, run: &mut Run, marks: &BTreeMap<String, Marks>) -> Result<(), Error> {
    let triage = run.plan.triage.clone();
    let left: Vec<String> = run
        .proposals
        .iter()
        .filter(|made| matches!(made.outcome.as_str(), "staged" | "reopened"))
        .map(|made| made.id.clone())
        .filter(|id| marks.get(id).is_some_and(|marks| marks.staged))
        .collect();
    if triage.effective != TriageMode::Accept || run.trigger == Trigger::Agent || left.is_empty() {
        return Ok(());
    }
    let mut desk = Desk::open(wiki)?;
    let limits = Limits { max: Some(triage.cap), run: Some(run.id.clone()), ..Limits::default() };
    let drained = match drain::drain(&mut desk, wiki, Policy::Staged, &limits) {
        Ok(drained) => drained,
        // Busy or in the way: what is staged waits for the next run or a person.
        Err(error) => {
            run.waiting.retain(|(id, _)| !left.contains(id));
            run.waiting.extend(left.into_iter().map(|id| (id, error.to_string())));
            return Ok(());
        }
    };
    run.waiting.retain(|(id, _)| !left.contains(id));
    for (item, drained) in drained.into_iter().filter(|(item, _)| left.iter().any(|id| id == item.id())) {
        match drained {
            Drained::Landed(commit) => approve::landed(run, item.id(), commit),
            Drained::Closed(reason) | Drained::Left(reason) => run.waiting.push((item.id().to_owned(), reason)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Mode;

    #[test]
    fn without_autonomy_triage_queues_and_says_why() {
        let asked = strategy::Triage { mode: TriageMode::Accept, cap: 3 };
        let mut approval = Approval::default();
        let gated = planned(&approval, asked);
        assert_eq!((gated.effective, gated.reason.as_deref()), (TriageMode::Queue, Some(AUTONOMY_GATED)));
        assert_eq!(downgrades(&gated)[0].reason, AUTONOMY_GATED);
        approval.autonomy = true;
        let free = planned(&approval, asked);
        assert_eq!((free.effective, free.cap), (TriageMode::Accept, 3));
        assert!(downgrades(&free).is_empty());
        approval.mode = Mode::None;
        assert_eq!(planned(&approval, asked).effective, TriageMode::Queue, "everything waits for a person");
        let off = planned(&Approval::default(), strategy::Triage { mode: TriageMode::Off, cap: 100 });
        assert_eq!((off.effective, off.reason), (TriageMode::Off, None), "nothing was asked for");
    }
}
