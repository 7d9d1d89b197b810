//! What the reviewer proposes, held against labelled sessions.
//!
//! A case is a folder with recorded sessions and labels: what must, may and must not be proposed. Each case is played in
//! a wiki of its own that is thrown away, through the same capture, lanes, validation and gates as everywhere.

mod case;
mod figures;
mod judge;
mod label;
mod place;
mod play;
mod safety;

pub use case::{CASE_FILE, CORPUS, Case, find};
pub use figures::{Figures, Report, SetReport, Skipped};
pub use judge::{CaseReport, Judged, Refused, Verdict};
pub use label::{Label, MustNot};
pub use place::outside;
pub use play::{Captured, Reviewer, play};
pub use safety::Breach;

use crate::proposal::Operation;
use crate::wiki::Kind;

/// One proposal, as labels see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposed {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// What it does.
    pub operation: Operation,
    /// Its page.
    pub path: String,
    /// Its title.
    pub title: String,
    /// What it says: the body of a new page, the new lines of one that is there.
    pub says: String,
    /// What it quotes.
    pub quotes: Vec<String>,
    /// How it breaks what holds for rules, if so.
    pub breach: Option<Breach>,
}
