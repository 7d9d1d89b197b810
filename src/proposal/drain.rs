//! Draining the queue: what a policy allows lands, what has become empty is closed, the rest waits.

use std::collections::BTreeMap;

use super::accept::{self, Accepted, How};
use super::desk::{Desk, Hand, Policy};
use super::error::Result;
use super::marks::{self, Trusted};
use super::policy::{self, Marks};
use super::{Item, Sidecar, View, check, needs_person, reject};
use crate::git::{self, Oid};
use crate::ledger;
use crate::wiki::Wiki;

/// How much is drained at once. `None`: no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// At most so many are accepted.
    pub max: Option<usize>,
    /// Only changes of at most so many lines, added and removed.
    pub max_changed_lines: Option<usize>,
    /// Only those that have waited for so many seconds.
    pub older_than: Option<i64>,
    /// Only those of this lane.
    pub lane: Option<String>,
    /// Only those that this run staged.
    pub run: Option<String>,
}

/// What is to become of one proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The policy allows it.
    Accept,
    /// It changes nothing any more; the reason.
    Close(String),
    /// It waits; the reason.
    Leave(String),
}

/// What became of one proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum Drained {
    /// It landed with this commit.
    Landed(Oid),
    /// It was closed, procedurally; the reason.
    Closed(String),
    /// It waits; the reason.
    Left(String),
}

/// What is to become of the open proposals, oldest first. Marks count where [`marks`](super::marks) answers for them;
/// those that merely arrived by a fetch do not.
pub fn plan(view: &View, wiki: &Wiki, policy: Policy, limits: &Limits) -> Result<Vec<(Item, Step)>> {
    let trusted = Trusted::read(&wiki.repo);
    let mut accepted = 0;
    let mut steps = Vec::new();
    for item in view.open() {
        let other = |limit: &Option<String>, own: Option<&str>| limit.is_some() && limit.as_deref() != own;
        if other(&limits.lane, Some(&item.proposal.lane)) || other(&limits.run, item.proposal.run.as_deref()) {
            continue;
        }
        let mut step = step(wiki, policy, limits, item, trusted.marks(item))?;
        if step == Step::Accept {
            if limits.max.is_some_and(|max| accepted >= max) {
                step = Step::Leave(format!("{accepted} are accepted already"));
            } else {
                accepted += 1;
            }
        }
        steps.push((item.clone(), step));
    }
    Ok(steps)
}

/// Carries a plan out: closes what is empty, and lands the others in one advance of the branch.
pub fn drain(desk: &mut Desk, wiki: &mut Wiki, policy: Policy, limits: &Limits) -> Result<Vec<(Item, Drained)>> {
    let steps = plan(&desk.view, wiki, policy, limits)?;
    let hand = Hand::bot(policy);
    let mut empty: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (item, step) in &steps {
        if let Step::Close(reason) = step {
            empty.entry(reason).or_default().push(item.id().to_owned());
        }
    }
    for (reason, ids) in empty {
        reject::reject(desk, wiki, &ids, &hand, reason, false)?;
    }
    let ids: Vec<String> =
        steps.iter().filter(|(_, step)| *step == Step::Accept).map(|(item, _)| item.id().to_owned()).collect();
    // What people edited no policy lands, so nobody looks at it a second time.
    let how = How { hand, person_said_yes: BTreeMap::new(), second_looks: BTreeMap::new(), by_section: false };
    let outcomes = if ids.is_empty() { Vec::new() } else { accept::accept_at(desk, wiki, &ids, &how)? };
    let mut outcomes: BTreeMap<String, Accepted> = outcomes.into_iter().collect();
    let drained = steps.into_iter().map(|(item, step)| {
        let drained = match step {
            Step::Close(reason) => Drained::Closed(reason),
            Step::Leave(reason) => Drained::Left(reason),
            Step::Accept => match outcomes.remove(item.id()) {
                Some(Accepted::Landed(commit)) => Drained::Landed(commit),
                Some(Accepted::Conflicted { reason, .. }) => Drained::Left(format!("it conflicts: {reason}")),
                Some(Accepted::Refused(refused)) => Drained::Left(refused.message),
                Some(Accepted::Already(_)) | None => Drained::Left("it was decided meanwhile".into()),
            },
        };
        (item, drained)
    });
    Ok(drained.collect())
}

fn step(wiki: &Wiki, policy: Policy, limits: &Limits, item: &Item, marks: Marks) -> Result<Step> {
    if let Some(reason) = emptiness(wiki, item)? {
        return Ok(Step::Close(reason));
    }
    if let Err(reason) = policy::allows(policy, &wiki.config.settings.approval, item, marks) {
        let untrusted = reason == policy::UNJUDGED && !marks.judged && says_judged(wiki, item);
        return Ok(Step::Leave(if untrusted { UNTRUSTED.into() } else { reason }));
    }
    if let Some(reason) = needs_person(wiki, item)? {
        return Ok(Step::Leave(format!("a person must decide: {reason}")));
    }
    let waited = ledger::now().as_second() - item.proposal.staged_at.as_second();
    if limits.older_than.is_some_and(|least| waited < least) {
        return Ok(Step::Leave("it has not waited long enough".into()));
    }
    if let Some(most) = limits.max_changed_lines {
        let lines = changed_lines(wiki, item)?;
        if lines > most {
            return Ok(Step::Leave(format!("it changes {lines} lines, more than {most}")));
        }
    }
    let sidecar = match Sidecar::load(&wiki.repo, item.id()) {
        Ok(sidecar) => sidecar,
        // What its gates said is not known: the others go on.
        Err(error) => return Ok(Step::Leave(error.to_string())),
    };
    if sidecar.is_some_and(|sidecar| sidecar.gates.contains_key("continuity_risk")) {
        return Ok(Step::Leave("it puts the continuity of the wiki at risk".into()));
    }
    Ok(Step::Accept)
}

/// Why a pass counts for nothing.
const UNTRUSTED: &str = "its sidecar says that a judge passed it, but no run here did so, and no allowed signer signed it \
                         as it is now";

/// Whether its sidecar says that a judge passed it, whoever wrote that.
fn says_judged(wiki: &Wiki, item: &Item) -> bool {
    Sidecar::load(&wiki.repo, item.id()).ok().flatten().is_some_and(|sidecar| marks::recorded(&sidecar).judged)
}

/// Why a proposal changes nothing (any more), if so.
fn emptiness(wiki: &Wiki, item: &Item) -> Result<Option<String>> {
    let (Some(tip), Some(branch)) = (item.tip, wiki.tip) else { return Ok(None) };
    let base = check::base(item)?;
    // A history that is not here can be compared with nothing.
    if wiki.repo.commit(base).is_err() {
        return Ok(None);
    }
    if wiki.repo.diff(Some(base), Some(tip))?.is_empty() {
        return Ok(Some("it holds no change".into()));
    }
    for path in &item.proposal.paths {
        let full = wiki.full_path(path);
        if wiki.repo.entry(tip, full.as_ref())? != wiki.repo.entry(branch, full.as_ref())? {
            return Ok(None);
        }
    }
    Ok(Some("the wiki says it already".into()))
}

/// Lines added and removed.
fn changed_lines(wiki: &Wiki, item: &Item) -> Result<usize> {
    let mut lines = 0;
    for page in super::amend::pages(wiki, item)? {
        let [before, after] = [&page.before, &page.after].map(|side| side.as_deref().unwrap_or_default());
        lines += git::changes(before, after).iter().map(|hunk| hunk.before.len() + hunk.after.len()).sum::<usize>();
    }
    Ok(lines)
}
