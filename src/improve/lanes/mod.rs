//! The lanes: each turns what was selected into candidates.

mod distill;
#[cfg(any(fuzzing, test))]
pub mod fuzzed;
mod grounded;
mod reflect;
pub(super) mod review;
mod subject;
mod turns;

use super::journal::Journal;
use super::plan::Selected;
use super::prompts::Template;
use super::run::{Call, Read, RejectedCandidate, Response};
use super::{Error, Trigger};
use crate::git::Oid;
use crate::ledger::State;
use crate::model::{Models, Prompt, Stage};
use crate::proposal::context::{Cited, Words};
use crate::proposal::validate::Shown;
use crate::proposal::{Candidate, Refusal, View};
use crate::search::{self, Pages};
use crate::session::Stored;
use crate::wiki::{Kind, Wiki};

/// What every lane of a run works with.
pub struct Bench<'a> {
    /// The wiki as the run found it.
    pub wiki: &'a Wiki,
    /// Who is asked.
    pub models: &'a Models,
    /// The captured sessions.
    pub sessions: &'a [Stored],
    /// The proposals there are.
    pub view: &'a View,
    /// What the ledger remembers.
    pub state: &'a State,
    /// What set the run off.
    pub trigger: Trigger,
    /// Where calls are noted before they are made; `None`: nobody would finish what dies here.
    pub journal: Option<&'a Journal>,
    /// The tip of the ledger that `view` and `state` were read from.
    pub ledger: Option<Oid>,
    /// Whether indexes and caches may be brought up to date on disk; else nothing is written.
    pub may_write: bool,
    /// Who is told what is going on.
    pub hear: &'a dyn Fn(News<'_>),
}

/// What is going on.
#[derive(Debug, Clone, Copy)]
pub enum News<'a> {
    /// Work on one session or page begins.
    Item {
        /// So many are done.
        done: usize,
        /// Of so many.
        of: usize,
        /// The session or page, and the lane.
        selected: &'a Selected,
    },
    /// A model is asked.
    Asking {
        /// For what.
        stage: Stage,
        /// About this session or page.
        subject: &'a str,
        /// `provider/model`.
        model: &'a str,
    },
}

/// Nobody listens.
pub fn unheard(_: News<'_>) {}

impl Bench<'_> {
    /// The pages, to search in.
    ///
    /// # Errors
    /// When the wiki's tree cannot be read.
    pub fn pages(&self) -> Result<Pages<'_>, search::Error> {
        // At a commit that is named nothing is kept on disk; the answer is the same.
        Pages::at(self.wiki, if self.may_write { None } else { self.wiki.tip })
    }

    /// What a prompt is made from that shows these pages; one that is not there yet is left out.
    pub fn read(&self, template: &Template, pages: impl IntoIterator<Item = String>) -> Read {
        let blob = |path: String| Some((path.clone(), self.wiki.entry(&path).ok()??.oid.to_string()));
        Read {
            template: template.version.clone(),
            commit: self.wiki.tip.map(|tip| tip.to_string()),
            ledger: self.ledger.map(|tip| tip.to_string()),
            blobs: pages.into_iter().filter_map(blob).collect(),
            ..Read::default()
        }
    }
}

/// What a lane found.
#[derive(Default)]
pub struct Found {
    /// What evidence may cite: the session itself first.
    pub cited: Vec<Cited>,
    /// What else it may cite: words that somebody said of a page.
    pub words: Vec<Words>,
    /// What it wants to change. A candidate that cannot be read is refused alone.
    pub candidates: Vec<Result<Candidate, Refusal>>,
    /// What it wants to change, as a model spelled it; read like the candidates.
    pub raw: Vec<serde_json::Value>,
    /// What the reviewer looked at and did not propose.
    pub rejected: Vec<RejectedCandidate>,
    /// SHA-256 over what a model was asked, once it answered: the same is not asked again.
    pub input: Option<String>,
    /// The pages that the reviewer was shown and may change; `None`: it can read all of them.
    pub shown: Option<Shown>,
    /// The kinds that the lane may write; `None`: those of the review lane.
    pub kinds: Option<Vec<Kind>>,
    /// Why a person must decide on all of it, if so.
    pub deferred: Option<String>,
    /// Why a look that was carried out proposes nothing, in words.
    pub judged: Option<String>,
    /// What was asked, of whom.
    pub calls: Vec<Call>,
    /// The replies that came.
    pub responses: Vec<Response>,
    /// What became of what was selected.
    pub end: End,
}

/// How a lane's work on one thing ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum End {
    /// It was looked at.
    #[default]
    Done,
    /// It was passed over, before any call; the reason.
    Skipped(String),
    /// The reviewer failed on it: one attempt is used up. In words.
    Failed(String),
    /// The reviewer could not be asked (busy, away, no key): no attempt is used up. In words.
    Unavailable(String),
    /// The reviewer cannot be asked about anything until a person mends it (the key, the account, the settings): the lane
    /// ends here, and no attempt is used up. In words.
    OutOfUse(String),
    /// The day's budget is spent: the run ends here. In words.
    BudgetExhausted(String),
}

/// Carries the lane out that the item was selected for. `None` when what was selected is gone meanwhile.
///
/// # Errors
/// Git's trouble.
pub fn work(bench: &Bench<'_>, selected: &Selected) -> Result<Option<Found>, Error> {
    match selected.lane.as_str() {
        "review" => review::review(bench, selected),
        "reflect" => reflect::reflect(bench, selected),
        "distill" => distill::distill(bench, selected),
        other => Err(Error::Settings(format!("there is no lane `{other}`"))),
    }
}

/// What a lane of pages would ask about an item, and what that is made from. `None` when it is gone meanwhile.
///
/// # Errors
/// Git's trouble, or a prompt of the user's that cannot be read.
pub fn question(bench: &Bench<'_>, selected: &Selected) -> Result<Option<(Prompt, Read)>, Error> {
    let Some(subject) = subject::Subject::load(bench, selected)? else { return Ok(None) };
    let question = match selected.lane.as_str() {
        "reflect" => reflect::question(bench, &subject)?,
        "distill" => distill::question(bench, &subject)?.0,
        other => return Err(Error::Settings(format!("the lane `{other}` asks nothing about a page"))),
    };
    question.prompt(bench).map(Some)
}
