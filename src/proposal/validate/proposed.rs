//! What a run has proposed so far, against the limits of the run.

use std::collections::BTreeSet;

use super::{Fault, ProposalId, ReasonCode, Valid, change};
use crate::config::Improve;

/// What a run has proposed so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposed {
    ids: BTreeSet<ProposalId>,
    edits: usize,
}

impl Proposed {
    /// Adds one. What is proposed twice counts once.
    pub fn add(&mut self, valid: &Valid, limits: &Improve) {
        if self.ids.insert(valid.id.clone()) {
            self.edits += change::weight(&valid.candidate, &valid.changes, limits);
        }
    }

    /// Why the run proposes nothing more, if so.
    pub fn full(&self, limits: &Improve) -> Option<String> {
        let most = limits.max_proposals_per_run;
        (self.ids.len() >= most)
            .then(|| format!("the run has {most} proposals already (`improve.max_proposals_per_run`)"))
    }

    /// Why one more is over the limits of the run, if so.
    pub(super) fn over(&self, new: &Valid, limits: &Improve) -> Option<Fault> {
        if self.ids.contains(&new.id) {
            return None;
        }
        if let Some(full) = self.full(limits) {
            return Some((ReasonCode::MaxProposalsExceeded, format!("{full}; raise it or run it again")));
        }
        let count = change::weight(&new.candidate, &new.changes, limits);
        let (edits, most) = (self.edits, limits.max_patch_edits_per_run);
        let what = || {
            format!(
                "{count} more edits after {edits} are over {most}; raise `improve.max_patch_edits_per_run` or run it \
                 again"
            )
        };
        (edits + count > most).then(|| (ReasonCode::RunEditBudgetExceeded, what()))
    }
}
