//! What a reviewer may change of a page: what it was shown, and no more.

use std::collections::{BTreeMap, BTreeSet};

use super::{Candidate, Context, Fault, ReasonCode};
use crate::wiki::section::atx_text;
use crate::wiki::text::fold_space;
use crate::wiki::{Edit, EditOp};

/// The pages that a reviewer was shown, by path.
pub type Shown = BTreeMap<String, Extent>;

/// How much of a page a reviewer was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// Not all of it; the titles of the sections that were shown whole.
    Sections(BTreeSet<String>),
}

/// Whether the reviewer was shown all of a page.
pub(super) fn is_whole(path: &str, context: &Context<'_>) -> bool {
    context.shown.is_none_or(|shown| shown.get(path) == Some(&Extent::Whole))
}

/// Whether a change of an existing page stays within what the reviewer was shown of it.
pub(super) fn check(candidate: &Candidate, context: &Context<'_>) -> Result<(), Fault> {
    let path = &candidate.path;
    let fault = |what: String| Err((ReasonCode::PatchTargetNotInContext, what));
    let sections = match context.shown.map(|shown| shown.get(path)) {
        None | Some(Some(Extent::Whole)) => return Ok(()),
        Some(None) => {
            return fault(format!("{path} was not shown to the reviewer, which cannot change what it has not read"));
        }
        Some(Some(Extent::Sections(sections))) => sections,
    };
    let known = |edit: &&Edit| {
        matches!(edit.op, EditOp::Append | EditOp::ReplaceSection)
            && sections.contains(&fold_space(&atx_text(edit.anchor.trim())))
    };
    if candidate.edits.is_empty() {
        return fault(format!("{path} was shown in part; send edits of sections that were shown whole"));
    }
    match candidate.edits.iter().find(|edit| !known(edit)) {
        None => Ok(()),
        Some(edit) => {
            let anchor = edit.anchor.trim();
            fault(format!("{path} was shown in part, and `{anchor}` is no section that was shown whole"))
        }
    }
}
