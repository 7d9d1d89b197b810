//! What keeps a lane away from a page: the first reason that holds.

use jiff::Timestamp;

use super::PageLane;
use super::material::{DAY, Material};
use crate::config::Protect;
use crate::feedback::{Signal, Verdict};
use crate::git::{self, Oid};
use crate::wiki::{Kind, Page, Status};

/// How long feedback asks for a look.
const WINDOW_DAYS: i64 = 30;

/// Why a page is left out, in the order in which it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Out {
    Kind,
    NotRetrieved,
    NoFeedback,
    NotNegative,
    FixAccepted,
    Superseded,
    FlaggedWrong,
    BarePositive,
    Protected,
    Claimed,
    Parked,
    Pending,
    Rejected,
    Seen,
}

impl Out {
    /// The stable word, and the reason for people.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Out::Kind => ("kind", "pages of a kind that the lane does not work on"),
            Out::NotRetrieved => ("not_retrieved", "nobody searched, read or judged it in 90 days, and it is not new"),
            Out::NoFeedback => ("no_feedback", "in 30 days nobody said what it is worth"),
            Out::NotNegative => ("not_negative", "nothing negative was said of it in 30 days"),
            Out::FixAccepted => ("fix_accepted", "the exact fix that came with the feedback was accepted"),
            Out::Superseded => ("superseded", "another page took its place"),
            Out::FlaggedWrong => ("flagged_wrong", "it was said to be wrong, and was not changed since"),
            Out::BarePositive => ("bare_positive", "it was only said to have helped, without a reason"),
            Out::Protected => ("protected", "it is protected, and `wiki.protect` is `refuse`"),
            Out::Claimed => ("claimed", "another run is at it"),
            Out::Parked => ("parked", "three looks at it failed"),
            Out::Pending => ("pending", "a proposal of the lane for it waits"),
            Out::Rejected => ("rejected", "a proposal of the lane for it was rejected on merit lately"),
            Out::Seen => ("seen", "the lane has looked at it; neither the page nor what is said of it is new"),
        }
    }
}

/// Whether the lane may look at a page; then when something was last said that asks for it. A page that is `named`
/// needs no feedback, and neither time nor failures keep the lane away from it.
pub(super) fn look(
    material: &Material<'_>,
    lane: PageLane,
    path: &str,
    blob: Oid,
    named: bool,
) -> git::Result<Result<Option<Timestamp>, Out>> {
    if by_folder(material, path).is_some_and(|kind| !fits(lane, kind)) {
        return Ok(Err(Out::Kind));
    }
    let said = material.said(path);
    let mut asks = None;
    if !named {
        if !material.is_in_use(path, blob) {
            return Ok(Err(Out::NotRetrieved));
        }
        match asked(material, lane, &said) {
            Ok(at) => asks = Some(at),
            Err(out) => return Ok(Err(out)),
        }
    }
    let bytes = material.wiki.repo.blob(blob)?;
    let page = material.wiki.read(path.into(), &bytes);
    if let Some(out) = by_page(material, lane, &page, named) {
        return Ok(Err(out));
    }
    if !named && lane == PageLane::Distill {
        for signal in said.iter().filter(|signal| signal.says_wrong()) {
            if !material.changed_since(signal, path, blob)? {
                return Ok(Err(Out::FlaggedWrong));
            }
        }
        if lately(material, &said).all(|signal| signal.verdict == Verdict::Positive && signal.reason.is_none()) {
            return Ok(Err(Out::BarePositive));
        }
    }
    Ok(by_history(material, lane, path, &blob.to_string(), asks, named).map_or(Ok(asks), Err))
}

/// Why the lane leaves out a page that was named, in words.
pub(super) fn why(material: &Material<'_>, lane: PageLane, out: Out, path: &str, blob: Oid) -> git::Result<String> {
    if out != Out::Kind {
        return Ok(out.words().1.to_owned());
    }
    let bytes = material.wiki.repo.blob(blob)?;
    let kind = by_folder(material, path).or(material.wiki.read(path.into(), &bytes).kind);
    let works_on = match lane {
        PageLane::Reflect => "neither slots nor sessions",
        PageLane::Distill => "notes alone",
    };
    let kind = kind.map_or_else(|| "no kind".to_owned(), |kind| format!("kind {}", kind.as_str()));
    Ok(format!("it is of {kind}, and the lane works on {works_on}"))
}

/// The kind that the page's folder gives it, without reading the page.
pub(super) fn by_folder(material: &Material<'_>, path: &str) -> Option<Kind> {
    let wiki = material.wiki;
    let scope = &wiki.scopes.of_page(path).path;
    let inside = path.strip_prefix(scope.as_str()).unwrap_or(path).trim_start_matches('/');
    wiki.layout.kind_of(inside)
}

/// Slots are overwritten as a whole, and what is known of a session is not revised.
fn fits(lane: PageLane, kind: Kind) -> bool {
    match lane {
        PageLane::Reflect => !matches!(kind, Kind::Session | Kind::Slot),
        PageLane::Distill => kind == Kind::Note,
    }
}

/// What was said in the window and judges the page.
fn lately<'s>(material: &Material<'_>, said: &'s [&Signal]) -> impl Iterator<Item = &'s Signal> {
    let since = material.now.as_second() - WINDOW_DAYS * DAY;
    said.iter().copied().filter(move |signal| signal.judges() && signal.at.as_second() >= since)
}

/// When it was last said what asks the lane for a look.
fn asked(material: &Material<'_>, lane: PageLane, said: &[&Signal]) -> Result<Timestamp, Out> {
    let newest = |signals: &mut dyn Iterator<Item = &Signal>| signals.map(|signal| signal.at).max();
    let any = newest(&mut lately(material, said)).ok_or(Out::NoFeedback)?;
    if lane == PageLane::Distill {
        return Ok(any);
    }
    let negative = || lately(material, said).filter(|signal| signal.verdict == Verdict::Negative);
    newest(&mut negative()).ok_or(Out::NotNegative)?;
    newest(&mut negative().filter(|signal| !material.is_fixed(signal))).ok_or(Out::FixAccepted)
}

/// What the page itself says.
fn by_page(material: &Material<'_>, lane: PageLane, page: &Page, named: bool) -> Option<Out> {
    if page.kind.is_none_or(|kind| !fits(lane, kind)) {
        return Some(Out::Kind);
    }
    let replaced =
        matches!(page.front.status, Status::Superseded | Status::Retired) || page.front.superseded_by.is_some();
    if replaced && (lane == PageLane::Distill || !named) {
        return Some(Out::Superseded);
    }
    let refuses = material.wiki.config.settings.wiki.protect == Protect::Refuse;
    // A lesson is another page than its note.
    let own = lane == PageLane::Reflect && refuses && material.wiki.protection.reason(page).is_some();
    own.then_some(Out::Protected)
}

/// What lanes and people did before.
fn by_history(
    material: &Material<'_>,
    lane: PageLane,
    path: &str,
    blob: &str,
    asks: Option<Timestamp>,
    named: bool,
) -> Option<Out> {
    let looked = material.state.looked(path, lane.as_str());
    if looked.is_some_and(|looked| looked.claims.is_claimed(material.now)) {
        return Some(Out::Claimed);
    }
    if material.waits(lane, path) {
        return Some(Out::Pending);
    }
    if named {
        return None;
    }
    if material.was_rejected(lane, path) {
        return Some(Out::Rejected);
    }
    let looked = looked?;
    if looked.is_parked(blob) {
        return Some(Out::Parked);
    }
    let news = looked.at.is_none_or(|last| asks.is_some_and(|asks| asks > last));
    let seen = match lane {
        // What was said before the last look was heard then, whatever became of the page since.
        PageLane::Reflect => !news,
        PageLane::Distill => !news && looked.has_seen(blob),
    };
    seen.then_some(Out::Seen)
}
