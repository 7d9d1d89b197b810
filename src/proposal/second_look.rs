//! A second look: what the gates say of a tip that people edited, and the memory of texts that an accept refused.

use serde_json::{Map, Value};

use super::desk::{self, Hand};
use super::error::Refused;
use super::{Item, ReasonCode};
use crate::git::Oid;
use crate::ledger::{Event, EventKind, Failed};

/// What the gates said of a proposal as people left it. Whoever accepts hands it in; it holds for this commit alone.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondLook {
    /// The commit that was looked at.
    pub tip: Oid,
    /// What each gate said.
    pub gates: Map<String, Value>,
    /// Why it may not land, if so.
    pub refused: Option<Refused>,
    /// What a gate leaves to the person who accepts, if anything.
    pub left: Option<String>,
}

/// Lets an edited tip through that the gates have seen and had nothing against.
pub(super) fn check<'l>(item: &Item, tip: Oid, look: Option<&'l SecondLook>) -> Result<&'l SecondLook, Refused> {
    let Some(look) = look.filter(|look| look.tip == tip) else {
        let what = format!("proposal {} was edited, and its gates have not looked at it as it is now", item.id());
        return Err(Refused::new("changed_meanwhile", what)
            .hint("accept it again: its gates are asked first, then what they saw lands"));
    };
    match &look.refused {
        Some(refused) => Err(refused.clone()),
        None => Ok(look),
    }
}

/// The event of an accept that failed for what the text says, which later reviews hear of. `None` where it failed for
/// another reason (the moment, the form, the history of the branch), or where the same was told before.
pub(super) fn failure(item: &Item, tip: Oid, refused: &Refused, hand: &Hand) -> Option<Event> {
    let code = serde_json::from_value::<ReasonCode>(refused.code.into()).ok()?;
    // Whoever brought a secret in, the page may not hold it.
    if !code.is_on_merit() && code != ReasonCode::ContainsSecret {
        return None;
    }
    let tip = tip.to_string();
    let same = |known: &Failed| known.tip == tip && known.code == refused.code && known.reason == refused.message;
    if item.proposal.failed.as_ref().is_some_and(same) {
        return None;
    }
    let proposal = &item.proposal;
    let page = proposal.paths.first().map_or("", String::as_str);
    Some(
        desk::event(EventKind::Refused, item, hand)
            .page(page)
            .with("tip", tip)
            .with("session", proposal.session.clone())
            .with("code", refused.code)
            .with("path", page)
            .with("reason", refused.message.as_str())
            .with("summary", format!("{} {} \"{}\"", proposal.operation, proposal.kind, proposal.title)),
    )
}
