//! Revert: `git revert -m 1` of what landed, without a work tree; where that conflicts, a proposal instead.

use bstr::ByteSlice;

use super::desk::{self, Desk, Hand};
use super::error::{Refused, Result};
use super::stage::{self, Draft, Staging};
use super::{Operation, PageChange, ProposalId, check, id, message, recheck};
use crate::git::{self, Batch, MergeOutcome, NewCommit, Oid};
use crate::ledger::{self, Append, EventKind, Status};
use crate::wiki::{Kind, Wiki};

/// What a revert came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Reverted {
    /// The branch has this commit now.
    Done(Oid),
    /// Later changes of the same pages are in the way; an editable proposal takes its place.
    Proposed {
        /// The new proposal.
        proposal: ProposalId,
        /// The proposals that were accepted later and touch the same pages.
        later: Vec<String>,
    },
}

/// Takes an accepted proposal back. Rules and protected pages need `person_said_yes`: a person's yes on the terminal.
pub fn revert(
    desk: &mut Desk,
    wiki: &mut Wiki,
    prefix: &str,
    hand: &Hand,
    reason: &str,
    person_said_yes: bool,
) -> Result<Reverted> {
    let reason = recheck::redacted(wiki, reason)?;
    let reason = reason.as_str();
    let item = desk.find(prefix)?;
    if item.status != Status::Accepted {
        return Err(Refused::not("accepted", item.id(), item.status).into());
    }
    let Some(landing) = &item.landing else {
        return Err(Refused::new(
            "not_on_branch",
            format!("the landing of proposal {} is not on {}", item.id(), wiki.branch_name()),
        )
        .hint(format!("fetch the branch, or `git memory proposal reopen {}`", item.id()))
        .into());
    };
    if let Some(why) = check::guarded(wiki, &wiki.repo, Desk::tip(wiki)?, &item)?
        && (hand.is_bot() || !person_said_yes)
    {
        return Err(Refused::new("needs_person", format!("to revert {} needs a person's yes: {why}", item.id()))
            .hint("run the revert on a terminal and answer there; --yes does not count for this")
            .into());
    }
    let landed = Oid::from_hex(landing.commit.as_bytes())
        .map_err(|error| git::Error::read(format!("commit {}", landing.commit), error))?;
    let commit = wiki.repo.commit(landed)?;
    let Some(&before) = commit.parents.first() else {
        return Err(Refused::new("root_commit", format!("{landed} has no parent to go back to")).into());
    };
    let subject = commit.message.lines().next().unwrap_or_default().to_str_lossy().into_owned();
    let parent = (commit.parents.len() > 1).then(|| before.to_string());
    for _ in 0..8 {
        let start = Desk::tip(wiki)?;
        let way = git::way(&wiki.repo, &wiki.branch)?;
        let mut batch = Batch::new(&wiki.repo);
        // What a merge by hand brought beside the proposal's pages stays.
        let pages = item.proposal.paths.iter().map(|path| wiki.full_path(path));
        let pages: Vec<_> = pages
            .map(|path| Ok((path.clone(), wiki.repo.entry(before, path.as_ref())?)))
            .collect::<git::Result<_>>()?;
        let without = batch.tree(Some(commit.tree), &pages)?;
        let tree = match git::merge(&mut batch, commit.tree, start, without)? {
            MergeOutcome::Clean(tree) => tree,
            MergeOutcome::Conflicts(_) => {
                return propose(desk, wiki, &item, (landed, before, start), hand, reason);
            }
        };
        if tree == wiki.repo.commit(start)?.tree {
            return Err(
                Refused::new("no_change", format!("nothing of proposal {} is left to revert", item.id())).into()
            );
        }
        let new = batch.commit(&NewCommit {
            tree,
            parents: vec![start],
            author: hand.person.clone(),
            committer: hand.person.clone(),
            time: ledger::now().as_second(),
            message: message::reversal(item.id(), &subject, &landed.to_string(), parent.as_deref(), Some(reason)),
            sign: wiki.repo.signs() && !hand.is_bot(),
        })?;
        batch.flush()?;
        let mut event = desk::event(EventKind::Reverted, &item, hand)
            .with("reversal", new.to_string())
            .with("reason", (!reason.is_empty()).then_some(reason));
        let mut append = Append::new(format!("memory: revert {}", item.id()));
        if item.proposal.status.is_open() {
            // Landed by hand and not yet recorded: say so first.
            let accepted = desk::event(EventKind::Accepted, &item, hand).with("landed", landing.commit.as_str());
            event = event.after(Some(accepted.id));
            append.events.push(accepted);
        }
        append.events.push(event);
        match desk::advance(wiki, &way, (start, new), &append, Vec::new(), "revert") {
            Ok(()) => {
                wiki.refresh()?;
                return Ok(Reverted::Done(new));
            }
            Err(git::Error::RefMoved { .. }) => wiki.refresh()?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(git::Error::Busy { reason: format!("{} keeps moving; try again", wiki.branch_name()) }.into())
}

/// Stages what a revert would have to decide by hand: later text stays, where both disagree the old text comes back.
fn propose(
    desk: &mut Desk,
    wiki: &Wiki,
    item: &super::Item,
    (landed, before, tip): (Oid, Oid, Oid),
    hand: &Hand,
    reason: &str,
) -> Result<Reverted> {
    let mut batch = Batch::new(&wiki.repo);
    let tree = git::merge_favouring_theirs(&mut batch, landed, tip, before)?;
    let mut changes = Vec::new();
    for path in &item.proposal.paths {
        let full = wiki.full_path(path);
        let read = |at| batch.repo().file(at, full.as_ref());
        let (now, then) = (read(tip)?, tree.map_or(Ok(None), read)?);
        // A page that the landing made and later accepts changed: emptying it is the person's to decide.
        let after = then.or_else(|| now.clone());
        changes.push(PageChange { path: path.clone(), before: now, after });
    }
    let later: Vec<String> = desk
        .view
        .items
        .iter()
        .filter(|other| other.id() != item.id() && other.status == Status::Accepted)
        .filter(|other| other.proposal.changed_at >= item.proposal.changed_at)
        .filter(|other| other.proposal.paths.iter().any(|path| item.proposal.paths.contains(path)))
        .map(|other| other.id().to_owned())
        .collect();
    if changes.iter().all(|change| change.before == change.after) {
        return Err(Refused::new(
            "conflict",
            format!("later changes of {} stand on what proposal {} brought", item.proposal.paths.join(", "), item.id()),
        )
        .hint(match later.first() {
            Some(first) => format!("revert {first} first, or edit the page"),
            None => "edit the page by hand, or propose the text it should have".to_owned(),
        })
        .into());
    }
    let title = format!("Revert “{}”", item.proposal.title);
    let bodies: Vec<(String, String)> = changes
        .iter()
        .map(|change| {
            let text = change.after.as_deref().unwrap_or_default().to_str_lossy().into_owned();
            (change.path.clone(), text)
        })
        .collect();
    let named: Vec<id::PageChange<'_>> =
        bodies.iter().map(|(path, body)| id::PageChange { path, what: id::What::Body(body) }).collect();
    let id = id::id(&item.proposal.scope, Operation::Update, &named);
    let draft = Draft {
        scope: item.proposal.scope.clone(),
        lane: "manual".into(),
        operation: Operation::Update,
        kind: Kind::parse(&item.proposal.kind).unwrap_or(Kind::Note),
        title,
        confidence: 1.0,
        rationale: if reason.is_empty() { format!("Takes back proposal {}.", item.id()) } else { reason.to_owned() },
        author: hand.person.clone(),
        actor: hand.person.to_string(),
        operator: Some(hand.person.clone()),
        session: None,
        model: None,
        run: None,
        evidence: Vec::new(),
        edits: Vec::new(),
        notes: vec![format!("a plain revert conflicts with what was accepted later: {}", later.join(", "))],
        gates: Default::default(),
        deferred: Some("a revert that conflicts".into()),
        id: id.clone(),
        changes,
        stale: None,
    };
    let outcomes = stage::stage(desk, wiki, &[draft], Append::new(format!("memory: propose to revert {}", item.id())))?;
    match outcomes.into_iter().next() {
        Some((_, Staging::Held { target, behind })) => {
            Err(Refused::new("held", format!("proposal {behind} is pending for {target}"))
                .hint(format!("decide {behind} first"))
                .into())
        }
        _ => Ok(Reverted::Proposed { proposal: id, later }),
    }
}
