//! What may be accepted without a person.

use super::Item;
use super::desk::Policy;
use crate::config::{Approval, Mode};
use crate::wiki::Kind;

/// What of a proposal's history a policy may trust: marks of the run that is going on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// Every criterion of the judge was met.
    pub judged: bool,
    /// Triage may accept it.
    pub staged: bool,
}

/// No marks: nothing was judged.
pub const UNMARKED: Marks = Marks { judged: false, staged: false };

/// The policy that the settings ask for; `None`: everything waits for a person.
pub fn of(approval: &Approval) -> Option<Policy> {
    if approval.require_approval == Some(true) {
        return None;
    }
    match approval.mode {
        Mode::Gated => Some(Policy::Gated),
        Mode::All => Some(Policy::All),
        Mode::None => None,
    }
}

/// Whether the policy lets it land by itself; the error says why not.
pub fn allows(policy: Policy, approval: &Approval, item: &Item, marks: Marks) -> Result<(), String> {
    let proposal = &item.proposal;
    if let Some(reason) = &proposal.deferred {
        return Err(format!("a person must decide: {reason}"));
    }
    if proposal.kind == Kind::Rule.as_str() {
        return Err("a rule needs a person".into());
    }
    if proposal.operation == "retire" || proposal.operation == "supersede" {
        return Err(format!("to {} a page needs a person", proposal.operation));
    }
    if item.was_edited() {
        return Err("people changed it after it was checked".into());
    }
    if !item.status.is_open() || item.status == crate::ledger::Status::Conflicted {
        return Err(format!("it is {}", item.status));
    }
    match policy {
        Policy::Manual => Err("a person decides".into()),
        Policy::All => Ok(()),
        Policy::Staged if marks.staged => Ok(()),
        Policy::Staged => Err("it is not marked staged".into()),
        Policy::Gated => gated(approval, item, marks),
    }
}

fn gated(approval: &Approval, item: &Item, marks: Marks) -> Result<(), String> {
    let gated = &approval.gated;
    let proposal = &item.proposal;
    let listed = |list: &[String], value: &str| list.iter().any(|entry| entry == value);
    if !listed(&gated.lanes, &proposal.lane) {
        return Err(format!("lane {} is not among approval.gated.lanes", proposal.lane));
    }
    if !listed(&gated.kinds, &proposal.kind) {
        return Err(format!("kind {} is not among approval.gated.kinds", proposal.kind));
    }
    if !listed(&gated.operations, &proposal.operation) {
        return Err(format!("operation {} is not among approval.gated.operations", proposal.operation));
    }
    if proposal.confidence < gated.min_confidence {
        return Err(format!("confidence {:.2} is below {:.2}", proposal.confidence, gated.min_confidence));
    }
    if !marks.judged {
        return Err("no judge has passed it".into());
    }
    Ok(())
}
