//! Proposals: one change of one or more pages, from its validation to its decision.
//!
//! The life of one, in order: `candidate` → `validate` → `stage` → (`amend`) → `accept` or `reject` → `revert`.
//! `view` tells where each stands; `desk` lets one decider at a time do something about it.

pub mod accept;
pub mod amend;
mod candidate;
mod check;
pub mod checked;
mod citation;
pub mod context;
pub mod desk;
pub mod drain;
mod error;
pub mod feedback;
pub mod id;
mod inert;
pub mod landings;
pub mod marks;
pub mod materialize;
pub mod message;
pub mod policy;
pub mod propose;
mod recheck;
pub mod reject;
mod rejections;
pub mod release;
mod replay;
pub mod revert;
pub mod row;
pub mod second_look;
pub mod sidecar;
pub mod sides;
mod source;
pub mod stage;
pub mod trailers;
pub mod validate;
pub mod view;

pub use candidate::{Candidate, Evidence, Operation, ReasonCode, Refusal};
pub use error::{Error, Refused, Result};
pub use id::ProposalId;
pub use second_look::SecondLook;
pub use sidecar::{PageChange, Sidecar};
pub use view::{Item, NotFound, View};

use crate::wiki::Wiki;

/// Why a person's explicit yes is needed to land a proposal on the branch as it stands, if it is: a rule, a protected
/// page, a page that would be retired.
pub fn needs_person(wiki: &Wiki, item: &Item) -> Result<Option<String>> {
    Ok(check::needs_person(wiki, &wiki.repo, desk::Desk::tip(wiki)?, item)?)
}

/// Whether an open proposal passes what an accept checks of its branch before anybody is asked about it.
///
/// # Errors
/// When the repository cannot be read.
pub fn check_tip(wiki: &Wiki, item: &Item) -> Result<Result<(), Refused>> {
    let Some(tip) = item.tip else { return Ok(Err(Refused::no_branch(item.id(), item.status))) };
    check::tip(wiki, item, check::base(item)?, tip)
}

/// Why its pages change only by a person's explicit yes, whatever is done to them: a rule, or a protected page.
pub fn guarded(wiki: &Wiki, item: &Item) -> Result<Option<String>> {
    Ok(check::guarded(wiki, &wiki.repo, desk::Desk::tip(wiki)?, item)?)
}
