//! Validation: a candidate becomes a change that can be staged, or is refused with one reason.
//!
//! Pure: everything that is known of the wiki, the sessions and earlier proposals comes in through [`Context`].

mod change;
mod duplicate;
mod evidence;
mod field;
mod gist;
mod hidden;
mod known;
mod markup;
mod mend;
mod normalise;
mod place;
mod proposed;
mod reached;
mod wording;
mod words;

use std::collections::BTreeMap;

use super::id::{self, PageChange, What};
use super::{Candidate, Evidence, Operation, ProposalId, ReasonCode, Refusal};
use crate::config::{Improve, Protect};
use crate::session::{Speaker, WITHHELD};
use crate::wiki::path::fold;
use crate::wiki::scope::Scope;
use crate::wiki::text::{fold_space, normal};
use crate::wiki::{Kind, Layout, Protection};

pub use change::Written;
pub use duplicate::added;
pub use evidence::MAX_QUOTE_CHARS;
pub(super) use gist::Gist;
pub use known::{Known, KnownPage};
pub use normalise::normalise;
pub use proposed::Proposed;
pub use reached::{Extent, Shown};
pub use wording::{is_order, reads_like_order};

/// A passage that quotes may stand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The object that holds it.
    pub blob: String,
    /// Whose words; `None` for a page.
    pub speaker: Option<Speaker>,
    /// The words.
    pub text: String,
}

/// What an evidence source stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// `sessions/<id>.md`, `sessions/<id>#<seq>` or a page's path, however the candidate spelled it.
    pub name: String,
    /// Where quotes from it may stand. For a session: its page and its observations.
    pub passages: Vec<Passage>,
}

/// A proposal of earlier times that a candidate may repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// Its id.
    pub id: ProposalId,
    /// What it did.
    pub operation: Operation,
    /// Its pages, relative to the wiki's root.
    pub paths: Vec<String>,
    /// The kind of its page.
    pub kind: Kind,
    /// The name of its scope.
    pub scope: String,
    /// Its title.
    pub title: String,
    /// The body that it wanted to land; empty where that is not known.
    pub body: String,
    /// The lines that it wanted to bring to a page that was there; empty for a new page.
    pub added: String,
    /// What it quoted, and from where; empty where nobody need know.
    pub quotes: Vec<(String, String)>,
    /// Rejected: why. Pending: empty.
    pub reason: String,
}

/// Who made a page, for its frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generated<'a> {
    /// The lane's actor and model: `auto_improve (builtin)`.
    pub by: &'a str,
    /// The run.
    pub run: Option<&'a str>,
}

/// What candidates are held against.
pub struct Context<'a> {
    /// The scope that they are for.
    pub scope: &'a Scope,
    /// Which folder holds which kind.
    pub layout: &'a Layout,
    /// What stands in the wiki.
    pub known: &'a Known,
    /// The pages that the reviewer was shown; `None`: it can read all of them.
    pub shown: Option<&'a Shown>,
    /// What the run has proposed before these candidates.
    pub proposed: &'a Proposed,
    /// Proposals that wait.
    pub pending: &'a [Past],
    /// Proposals that were rejected on merit.
    pub rejected: &'a [Past],
    /// Resolves an evidence source.
    pub source: &'a dyn Fn(&str) -> Option<Source>,
    /// A human turn without what it only quotes.
    pub own_words: &'a dyn Fn(&str) -> String,
    /// Whether a secret stands in a text.
    pub finds_secret: &'a dyn Fn(&str) -> bool,
    /// What the settings protect.
    pub protection: &'a Protection,
    /// What is done about protected pages.
    pub protect: Protect,
    /// What the lane may do.
    pub operations: &'a [Operation],
    /// The kinds that the lane may write. The slot `current-focus` goes with [`Kind::Slot`].
    pub kinds: &'a [Kind],
    /// A person wrote the candidate: it needs neither evidence nor confidence, and may set any frontmatter key.
    pub by_person: bool,
    /// What a new page says of its origin.
    pub generated: Generated<'a>,
}

/// A candidate that passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Valid {
    /// Its id.
    pub id: ProposalId,
    /// The id of the candidate as it was handed in, where a create became an update; else the same.
    pub asked: ProposalId,
    /// The candidate, normalised, with the blob and speaker of its evidence.
    pub candidate: Candidate,
    /// Each page with its bytes before and after, sorted by path.
    pub changes: BTreeMap<String, Written>,
    /// Why only a person may decide: a rule, a slot, a retirement, a protected page, a page that is written anew.
    pub deferred: Option<String>,
    /// Whether a secret was taken out of its evidence before it got here.
    pub redacted: bool,
    /// What was mended on the way, for the reviewer.
    pub notes: Vec<String>,
}

/// Why a person decides where something that was read gives orders to agents or models.
pub const SUSPICIOUS: &str = "what was read for it holds an order to agents or models";

/// Why a person decides on what quotes nothing but the page that it changes.
const CIRCULAR: &str = "all that it quotes stands in the page that it changes";

/// Most characters of a rationale: it stands in the commit message.
const MAX_RATIONALE_CHARS: usize = 4_000;

/// Why a candidate does not pass, before it is known which.
type Fault = (ReasonCode, String);

/// Validates the candidates of a run. One that is refused never costs another; limits of the run take the later ones.
pub fn validate_all(
    candidates: Vec<Result<Candidate, Refusal>>,
    context: &Context<'_>,
    limits: &Improve,
) -> (Vec<Valid>, Vec<Refusal>) {
    let (mut valid, mut refused): (Vec<Valid>, Vec<Refusal>) = (Vec::new(), Vec::new());
    let mut proposed = context.proposed.clone();
    for candidate in candidates {
        let found = candidate.and_then(|candidate| validate(candidate, context, limits));
        let found = found.and_then(|new| beside(new, &valid, &proposed, limits));
        match found {
            Ok(new) => {
                proposed.add(&new, limits);
                valid.push(new);
            }
            Err(refusal) => refused.push(withhold(refusal, context.finds_secret)),
        }
    }
    (valid, refused)
}

/// The checks of one candidate against those that passed before it: of its reply, and of its whole run.
fn beside(new: Valid, before: &[Valid], proposed: &Proposed, limits: &Improve) -> Result<Valid, Refusal> {
    let title = normal(&new.candidate.title);
    let twin = before.iter().find(|old| {
        let created = new.candidate.operation == Operation::Create && old.candidate.operation == Operation::Create;
        let same_path = || fold(new.candidate.path.as_str().into()) == fold(old.candidate.path.as_str().into());
        old.id == new.id || created && (same_path() || normal(&old.candidate.title) == title)
    });
    let fault = match twin {
        Some(twin) => {
            let what = format!("this run proposes the same in {}; one of them is enough", twin.candidate.path);
            Some((ReasonCode::AlreadyPending, what))
        }
        None => proposed.over(&new, limits),
    };
    match fault {
        None => Ok(new),
        Some(fault) => Err(refuse(&new.candidate, fault, Some(new.asked))),
    }
}

/// Validates one candidate.
///
/// # Errors
/// The first reason that holds, secrets first, so that no later message can repeat one.
pub fn validate(candidate: Candidate, context: &Context<'_>, limits: &Improve) -> Result<Valid, Refusal> {
    let mut candidate = candidate;
    candidate.title = fold_space(&candidate.title);
    let asked = id_of(context.scope, &candidate);
    let mut check = Check { context, limits, notes: Vec::new() };
    match check.run(&mut candidate) {
        Ok(Passed { changes, deferred, redacted }) => {
            let id = id_of(context.scope, &candidate);
            Ok(Valid { id, asked, candidate, changes, deferred, redacted, notes: check.notes })
        }
        Err(fault) => Err(withhold(refuse(&candidate, fault, Some(asked)), context.finds_secret)),
    }
}

/// The id of a candidate's change.
pub fn id_of(scope: &Scope, candidate: &Candidate) -> ProposalId {
    let what = match (candidate.operation, &candidate.body_markdown) {
        (Operation::Retire, _) => What::Retired,
        (_, Some(body)) => What::Body(body),
        (_, None) => What::Edits(&candidate.edits),
    };
    id::id(&scope.name, candidate.operation, &[PageChange { path: &candidate.path, what }])
}

/// One candidate's way through the checks.
struct Check<'a> {
    context: &'a Context<'a>,
    limits: &'a Improve,
    notes: Vec<String>,
}

/// What the checks found out.
struct Passed {
    changes: BTreeMap<String, Written>,
    deferred: Option<String>,
    redacted: bool,
}

impl Check<'_> {
    fn run(&mut self, candidate: &mut Candidate) -> Result<Passed, Fault> {
        wording::secrets(candidate, self.context.finds_secret)?;
        place::operation(candidate, self.context)?;
        self.confidence(candidate)?;
        self.rationale(candidate)?;
        place::path(candidate, self.context)?;
        wording::overrides(candidate)?;
        let rests = evidence::check(candidate, self.context)?;
        duplicate::of_past(candidate, self.context)?;
        field::title(candidate)?;
        let (mended, deferred) = (mend::mend(candidate, self.context, self.limits)?, self.protection(candidate)?);
        let deferred = deferred.or_else(|| rests.on_orders.then(|| SUSPICIOUS.to_owned()));
        let circular = !self.context.by_person && evidence::is_circular(candidate);
        let deferred = deferred.or_else(|| circular.then(|| CIRCULAR.to_owned()));
        self.notes.extend(mended);
        if rests.on_other_words {
            self.notes.push("no word of the person's quote stands in the rule: see whether they meant it".into());
        }
        duplicate::of_past(candidate, self.context)?;
        duplicate::of_pages(candidate, self.context)?;
        change::limits(candidate, self.limits)?;
        field::values(candidate, self.context)?;
        let changes = change::apply(candidate, self.context, self.limits)?;
        let deferred = deferred.or(self.markup(candidate, &changes)?);
        let losses = || change::losses(candidate, &changes).filter(|_| !self.context.by_person);
        let deferred = deferred.or_else(losses);
        duplicate::of_content(candidate, self.context)?;
        Ok(Passed { changes, deferred, redacted: rests.redacted })
    }

    fn confidence(&self, candidate: &Candidate) -> Result<(), Fault> {
        let (said, least) = (candidate.confidence, self.limits.min_confidence);
        if !(0.0..=1.0).contains(&said) {
            let what = format!("confidence is {said}; it must be a number from 0 to 1");
            return Err((ReasonCode::ConfidenceOutOfRange, what));
        }
        if said < least && !self.context.by_person {
            let what = format!("confidence {said} is below {least} (`improve.min_confidence`)");
            return Err((ReasonCode::ConfidenceBelowThreshold, what));
        }
        Ok(())
    }

    fn rationale(&self, candidate: &Candidate) -> Result<(), Fault> {
        if candidate.rationale.trim().is_empty() && !self.context.by_person {
            let what = "the rationale is empty; say in a sentence why this is worth keeping";
            return Err((ReasonCode::MissingRationale, what.into()));
        }
        let chars = candidate.rationale.chars().count();
        if chars > MAX_RATIONALE_CHARS {
            let what = format!("the rationale has {chars} characters; {MAX_RATIONALE_CHARS} are allowed, shorten it");
            return Err((ReasonCode::BodyTooLarge, what));
        }
        Ok(())
    }

    /// Why only a person may decide on what a machine's pages would show, or not show.
    fn markup(&self, candidate: &Candidate, changes: &BTreeMap<String, Written>) -> Result<Option<String>, Fault> {
        if self.context.by_person || candidate.operation == Operation::Retire {
            return Ok(None);
        }
        let mut unseen = None;
        for (path, written) in changes {
            let Some(after) = &written.after else { continue };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let old = written.before.as_deref().map(text).unwrap_or_default();
            unseen = unseen.or(markup::check(path, &old, &text(after))?);
        }
        Ok(unseen)
    }

    /// Why only a person may decide.
    fn protection(&self, candidate: &Candidate) -> Result<Option<String>, Fault> {
        let page = self.context.known.page(&candidate.path);
        let own = page.and_then(|page| page.protected.clone());
        if let Some(reason) = own.or_else(|| self.context.protection.reason_of_path(&candidate.path)) {
            if self.context.protect == Protect::Refuse {
                let what = format!("{} is protected ({reason}); `wiki.protect` is `refuse`", candidate.path);
                return Err((ReasonCode::TargetProtected, what));
            }
            return Ok(Some(format!("protected page: {reason}")));
        }
        Ok(match (candidate.kind, candidate.operation) {
            (Kind::Rule, _) => Some("rules need a person's yes".into()),
            (Kind::Slot, _) => Some("every session reads the slot: it needs a person's yes".into()),
            (_, Operation::Retire) => Some("retirements need a person's yes".into()),
            _ => None,
        })
    }
}

fn refuse(candidate: &Candidate, (code, reason): Fault, proposal: Option<ProposalId>) -> Refusal {
    let summary = format!("{} {} \"{}\"", candidate.operation, candidate.kind, candidate.title);
    Refusal { code, path: candidate.path.clone(), reason, summary, proposal }
}

/// A refusal is kept in the run record: nothing that holds a secret may stand in it.
fn withhold(mut refusal: Refusal, finds_secret: &dyn Fn(&str) -> bool) -> Refusal {
    for text in [&mut refusal.path, &mut refusal.summary, &mut refusal.reason] {
        if finds_secret(text) {
            *text = WITHHELD.into();
        }
        // Whole texts were checked before; only now may one be cut.
        if text.chars().count() > 500 {
            *text = text.chars().take(500).chain(['…']).collect();
        }
    }
    refusal
}

#[cfg(test)]
#[path = "tests/validate.rs"]
mod tests;
