//! The fallback lanes: pages that are due for somebody's look although no feedback asks for one. Nobody searched, read or
//! judged them for long, or many use them and no lane has looked at them. They are scored and told of; no change is
//! planned for them, for nothing says what would be wrong with them.

use std::collections::{BTreeMap, HashSet};

use bstr::BString;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gates::by_folder;
use super::material::{DAY, Material};
use crate::config::strategy::Proactive;
use crate::feedback::{NEUTRAL, fold};
use crate::git::{self, Oid};
use crate::improve::plan::Gate;
use crate::ledger::Cache;
use crate::wiki::{Kind, Status};

/// The name under which it stands among the lanes.
pub const LANE: &str = "proactive";

/// From this score on a page in use is due as well: one that was used on seven days, or on three of which each brought
/// a positive judgement.
const HIGH: f64 = 1.5;

/// A page that is due for somebody's look.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Due {
    /// The page.
    pub page: String,
    /// What it seems to be worth: its utility × (1 + ln(1 + days of use)).
    pub score: f64,
    /// `idle` (nobody searched, read or judged it for so many days), or `high_salience` (it is used much, and no lane has
    /// looked at it).
    pub reason: String,
    /// Its utility by feedback, 0 to 1; 0.5: nobody judged it.
    pub utility: f64,
    /// On how many days it was searched, read or judged.
    pub days_of_use: usize,
    /// When it was last; null: never.
    pub last_use: Option<Timestamp>,
}

/// What is due, the most worth first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Watch {
    /// How many pages are due.
    pub count: usize,
    /// The first of them.
    pub pages: Vec<Due>,
}

/// Why a page is not due, in the order in which it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Out {
    Kind,
    NotRetrieved,
    New,
    InUse,
    Seen,
    Superseded,
    Protected,
    Pending,
}

impl Out {
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Out::Kind => ("kind", "rules, slots, sessions, and pages of no kind"),
            Out::NotRetrieved => super::gates::Out::NotRetrieved.words(),
            Out::New => ("new", "it was made or changed in that time"),
            Out::InUse => ("in_use", "somebody searched, read or judged it in that time"),
            Out::Seen => ("seen", "a lane has looked at it in that time"),
            Out::Superseded => super::gates::Out::Superseded.words(),
            Out::Protected => ("protected", "only a person's yes may change it"),
            Out::Pending => ("pending", "a proposal for it waits"),
        }
    }
}

/// The pages that are due, at most `most` of them listed (`None`: all), and what kept the others out.
pub(super) fn due(
    material: &Material<'_>,
    asked: Proactive,
    most: Option<usize>,
    gates: &mut Vec<Gate>,
) -> git::Result<Watch> {
    let since = material.now.as_second() - i64::from(asked.days) * DAY;
    let look = Look {
        material,
        since,
        stood: material.stood(since)?,
        folded: fold::load(&material.wiki.repo, Cache::ReadOnly)?,
    };
    let mut removed = BTreeMap::<Out, usize>::new();
    let mut found = Vec::new();
    for (path, blob) in &material.pages {
        match look.at(path, *blob)? {
            Ok(due) => found.push(due),
            Err(out) => *removed.entry(out).or_default() += 1,
        }
    }
    found.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| a.last_use.cmp(&b.last_use)).then_with(|| a.page.cmp(&b.page))
    });
    let count = found.len();
    let mut gate = |(name, reason): (&str, &str), removed| {
        let lane = Some(LANE.to_owned());
        gates.push(Gate { name: name.to_owned(), removed, reason: reason.to_owned(), lane, page: None });
    };
    removed.into_iter().for_each(|(out, removed)| gate(out.words(), removed));
    if let Some(more) = most.and_then(|most| count.checked_sub(most)).filter(|more| *more > 0) {
        found.truncate(count - more);
        gate(("limit", "more than are listed"), more);
    }
    Ok(Watch { count, pages: found })
}

struct Look<'a> {
    material: &'a Material<'a>,
    /// What happened before it, in seconds since 1970, was long ago.
    since: i64,
    /// The pages as they stood then.
    stood: HashSet<(BString, Oid)>,
    folded: fold::Folded,
}

impl Look<'_> {
    fn at(&self, path: &str, blob: Oid) -> git::Result<Result<Due, Out>> {
        let material = self.material;
        if by_folder(material, path).is_some_and(|kind| !may_be_due(kind)) {
            return Ok(Err(Out::Kind));
        }
        if !material.is_in_use(path, blob) {
            return Ok(Err(Out::NotRetrieved));
        }
        if !self.stood.contains(&(BString::from(path), blob)) {
            return Ok(Err(Out::New));
        }
        let due = self.scored(path);
        if due.reason.is_empty() {
            return Ok(Err(Out::InUse));
        }
        let lanes = material.state.pages.get(path).into_iter().flat_map(BTreeMap::values);
        if lanes.filter_map(|looked| looked.at).any(|at| at.as_second() >= self.since) {
            return Ok(Err(Out::Seen));
        }
        let page = material.wiki.read(path.into(), &material.wiki.repo.blob(blob)?);
        let replaced =
            matches!(page.front.status, Status::Superseded | Status::Retired) || page.front.superseded_by.is_some();
        Ok(if !page.kind.is_some_and(may_be_due) {
            Err(Out::Kind)
        } else if replaced {
            Err(Out::Superseded)
        } else if material.wiki.protection.reason(&page).is_some() {
            Err(Out::Protected)
        } else if material.is_proposed_for(path) {
            Err(Out::Pending)
        } else {
            Ok(due)
        })
    }

    /// The page with its score; without a reason when it is in use like most others.
    fn scored(&self, path: &str) -> Due {
        let heard = &self.material.heard;
        let (days_of_use, last_use) = (heard.days_of_use(path), heard.last_use(path));
        let utility = self.folded.utility(path, self.material.now).map_or(NEUTRAL, |utility| utility.value);
        #[expect(clippy::cast_precision_loss, reason = "some days")]
        let score = utility * (1.0 + (days_of_use as f64).ln_1p());
        let reason = match last_use {
            Some(last) if last.as_second() >= self.since && score < HIGH => "",
            Some(last) if last.as_second() >= self.since => "high_salience",
            _ => "idle",
        };
        let round = |number: f64| (number * 1_000.0).round() / 1_000.0;
        Due {
            page: path.to_owned(),
            score: round(score),
            reason: reason.to_owned(),
            utility: round(utility),
            days_of_use,
            last_use,
        }
    }
}

/// Rules are people's, slots are overwritten as a whole, and sessions are not revised.
fn may_be_due(kind: Kind) -> bool {
    !matches!(kind, Kind::Rule | Kind::Slot | Kind::Session)
}
