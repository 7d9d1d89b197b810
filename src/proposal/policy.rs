//! What may be accepted without a person.

use serde::{Deserialize, Serialize};

use super::Item;
use super::desk::Policy;
use crate::config::{Approval, Mode};
use crate::wiki::Kind;

/// What of a proposal's history a policy may trust: marks of the run that is going on, or those that
/// [`super::marks`] answers for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// What a policy goes by, whether the proposal is staged already or not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms<'t> {
    /// The lane that made it.
    pub lane: &'t str,
    /// The kind of its page.
    pub kind: &'t str,
    /// What it does.
    pub operation: &'t str,
    /// 0 to 1.
    pub confidence: f64,
    /// Why a person must decide, if so.
    pub deferred: Option<&'t str>,
}

/// Whether the policy lets it land by itself; the error says why not.
pub fn allows(policy: Policy, approval: &Approval, item: &Item, marks: Marks) -> Result<(), String> {
    let proposal = &item.proposal;
    let terms = Terms {
        lane: &proposal.lane,
        kind: &proposal.kind,
        operation: &proposal.operation,
        confidence: proposal.confidence,
        deferred: proposal.deferred.as_deref(),
    };
    for_nobody(&terms)?;
    if item.was_edited() {
        return Err("people changed it after it was checked".into());
    }
    if !item.status.is_open() || item.status == crate::ledger::Status::Conflicted {
        return Err(format!("it is {}", item.status));
    }
    would_allow(policy, approval, &terms)?;
    match policy {
        Policy::Staged if !marks.staged => Err("it is not marked staged".into()),
        Policy::Gated if !marks.judged => Err(UNJUDGED.into()),
        _ => Ok(()),
    }
}

/// Why `gated` lets nothing land that no judge passed.
pub const UNJUDGED: &str = "no judge has passed it";

/// Whether the policy would let it land by itself once its gates have passed it; the error says why not.
pub fn would_allow(policy: Policy, approval: &Approval, terms: &Terms<'_>) -> Result<(), String> {
    for_nobody(terms)?;
    match policy {
        Policy::Manual => Err("a person decides".into()),
        Policy::All | Policy::Staged => Ok(()),
        Policy::Gated => gated(approval, terms),
    }
}

/// What no policy lets land.
fn for_nobody(terms: &Terms<'_>) -> Result<(), String> {
    if let Some(reason) = terms.deferred {
        return Err(format!("a person must decide: {reason}"));
    }
    if terms.kind == Kind::Rule.as_str() {
        return Err("a rule needs a person".into());
    }
    if terms.kind == Kind::Slot.as_str() {
        return Err("a slot needs a person".into());
    }
    if terms.operation == "retire" || terms.operation == "supersede" {
        return Err(format!("to {} a page needs a person", terms.operation));
    }
    Ok(())
}

fn gated(approval: &Approval, terms: &Terms<'_>) -> Result<(), String> {
    let gated = &approval.gated;
    let listed = |list: &[String], value: &str| list.iter().any(|entry| entry == value);
    if !listed(&gated.lanes, terms.lane) {
        return Err(format!("lane {} is not among approval.gated.lanes", terms.lane));
    }
    if !listed(&gated.kinds, terms.kind) {
        return Err(format!("kind {} is not among approval.gated.kinds", terms.kind));
    }
    if !listed(&gated.operations, terms.operation) {
        return Err(format!("operation {} is not among approval.gated.operations", terms.operation));
    }
    let sure = terms.confidence >= gated.min_confidence;
    if !sure {
        return Err(format!("confidence {:.2} is below {:.2}", terms.confidence, gated.min_confidence));
    }
    Ok(())
}
