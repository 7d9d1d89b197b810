//! The desk: one decider at a time, with the proposals as they stand now and what a crash left undone completed.

use std::time::Duration;

use super::error::{Refused, Result};
use super::view::PENDING;
use super::{Item, View};
use crate::git::{self, Lock, Locked, Oid, Person, RefEdit, Way, fault};
use crate::ledger::{self, Append, Cache, Event, EventKind, Status};
use crate::wiki::Wiki;

/// How long a decision waits for another process's before it says that the repository is busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// Who decides.
#[derive(Debug, Clone)]
pub struct Hand {
    /// The person (or the policy's bot) that stands as author and committer.
    pub person: Person,
    /// Why it may: a person by hand, or a policy.
    pub policy: Policy,
}

/// By what right a proposal is accepted (`Memory-Policy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// A person, by hand.
    Manual,
    /// `approval.mode = "gated"`.
    Gated,
    /// `approval.mode = "all"`.
    All,
    /// Triage of what is marked staged.
    Staged,
}

impl Policy {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Policy::Manual => "manual",
            Policy::Gated => "gated",
            Policy::All => "all",
            Policy::Staged => "staged",
        }
    }
}

impl Hand {
    /// The operator, by hand.
    pub fn operator(wiki: &Wiki) -> git::Result<Hand> {
        Ok(Hand { person: wiki.repo.operator()?, policy: Policy::Manual })
    }

    /// The bot that lands what a policy allows.
    pub fn bot(policy: Policy) -> Hand {
        Hand { person: Person { name: "git-memory policy".into(), email: "policy@git-memory.invalid".into() }, policy }
    }

    /// Whether a policy decides, not a person.
    pub fn is_bot(&self) -> bool {
        self.policy != Policy::Manual
    }
}

/// An open desk. Decisions in one repository happen one after the other; the kernel lets the lock go when its holder
/// dies.
pub struct Desk {
    /// The proposals as they stand.
    pub view: View,
    _lock: Lock,
}

impl Desk {
    /// Takes the lock, reads everything again, and completes the bookkeeping of decisions that landed.
    pub fn open(wiki: &mut Wiki) -> Result<Desk> {
        let lock = match Lock::take(&wiki.repo.memory_dir().join("decide.lock"), "decision", PATIENCE)? {
            Locked::Yes(lock) => lock,
            Locked::No(holder) => {
                return Err(git::Error::Busy {
                    reason: format!("another process is deciding on proposals ({holder}); try again"),
                }
                .into());
            }
        };
        wiki.refresh()?;
        let mut view = View::load(wiki, Cache::Use)?;
        if view.items.iter().any(|item| item.lagging) {
            complete(wiki, &view)?;
            view = View::load(wiki, Cache::Use)?;
        }
        Ok(Desk { view, _lock: lock })
    }

    /// The proposal that a prefix names.
    pub fn find(&self, prefix: &str) -> Result<Item> {
        Ok(self.view.find(prefix)?.clone())
    }

    /// The wiki branch's tip.
    pub fn tip(wiki: &Wiki) -> Result<Oid> {
        wiki.tip.ok_or_else(|| {
            Refused::new("unborn_branch", format!("the wiki branch {} has no commit yet", wiki.branch_name()))
                .hint("run `git memory init`")
                .into()
        })
    }
}

/// The deletion of a pending ref, as part of a transaction.
pub fn close(item: &Item) -> Option<RefEdit> {
    item.tip.map(|tip| RefEdit { name: format!("{PENDING}{}", item.id()), old: Some(tip), new: None })
}

/// An event about a proposal that follows its last one.
pub fn event(kind: EventKind, item: &Item, hand: &Hand) -> Event {
    Event::new(kind, &item.proposal.scope, &hand.person.to_string())
        .proposal(item.id())
        .after(Some(item.proposal.last))
        .operator(Some(&hand.person.to_string()))
}

/// Moves the branch from `start` to `tip` (when they differ) the way it can be moved, and records it: in one
/// transaction where no work tree holds the branch, else after the fast-forward there. What `start` and `tip` need
/// must be durable. `verb` names the fault points.
///
/// # Errors
/// [`git::Error::RefMoved`] when the branch was moved meanwhile: nothing was changed.
pub fn advance(
    wiki: &Wiki,
    way: &Way,
    (start, tip): (Oid, Oid),
    append: &Append,
    mut edits: Vec<RefEdit>,
    verb: &str,
) -> git::Result<()> {
    fault::point(&format!("{verb}.before-advance"));
    if tip != start {
        match way {
            Way::Ref => edits.push(RefEdit { name: wiki.branch.clone(), old: Some(start), new: Some(tip) }),
            Way::Worktree(worktree) => {
                git::fast_forward(worktree, &wiki.branch, start, tip)?;
                fault::point(&format!("{verb}.after-advance"));
            }
        }
    }
    if append.is_empty() {
        return Ok(());
    }
    ledger::append(&wiki.repo, append, &edits)?;
    fault::point(&format!("{verb}.after-ledger"));
    Ok(())
}

/// What landed decides: the ledger and the refs are brought up to what history says.
fn complete(wiki: &Wiki, view: &View) -> Result<()> {
    let hand = Hand::operator(wiki).unwrap_or_else(|_| Hand::bot(Policy::Manual));
    let mut append = Append::new("memory: complete what landed");
    let mut edits = Vec::new();
    for item in view.items.iter().filter(|item| item.lagging) {
        edits.extend(close(item));
        let Some(landing) = &item.landing else { continue };
        let landed =
            event(EventKind::Accepted, item, &hand).with("landed", landing.commit.as_str()).with("completed", true);
        match item.status {
            Status::Accepted if item.proposal.status.is_open() => append.events.push(landed),
            Status::Accepted => {
                // Decided otherwise before, then landed by hand: reopened and accepted, so that the trail says so.
                let reopened = event(EventKind::Reopened, item, &hand).with("completed", true);
                append.events.push(landed.after(Some(reopened.id)));
                append.events.push(reopened);
            }
            Status::Reverted => {
                let mut reverted = event(EventKind::Reverted, item, &hand)
                    .with("reversal", landing.commit.as_str())
                    .with("completed", true);
                if item.proposal.status.is_open() {
                    reverted = reverted.after(Some(landed.id));
                    append.events.push(landed);
                }
                append.events.push(reverted);
            }
            _ => {}
        }
    }
    if append.is_empty() && edits.is_empty() {
        return Ok(());
    }
    ledger::append(&wiki.repo, &append, &edits)?;
    Ok(())
}
