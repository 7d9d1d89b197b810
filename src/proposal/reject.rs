//! Reject, expire, and reopen.

use bstr::ByteSlice;

use super::desk::{self, Desk, Hand};
use super::error::{Refused, Result};
use super::message::{self, Facts};
use super::replay::{Replayed, replay};
use super::sidecar::{folder, recorded_changes};
use super::view::PENDING;
use super::{Item, Sidecar, check, recheck, stage};
use crate::git::{Batch, NewCommit, Oid, Person, RefEdit, fault};
use crate::ledger::{self, Append, EventKind, Status};
use crate::wiki::{Edit, Wiki};

/// Turns proposals down. `merit` is false for a procedural closing, which the memory of rejections leaves out. What
/// people had made of an edited proposal is kept in the ledger.
pub fn reject(desk: &Desk, wiki: &Wiki, ids: &[String], hand: &Hand, reason: &str, merit: bool) -> Result<()> {
    let reason = &recheck::redacted(wiki, reason)?;
    let mut append = Append::default();
    let mut edits = Vec::new();
    for id in ids {
        let item = desk.find(id)?;
        if !item.status.is_open() {
            return Err(Refused::no_branch(item.id(), item.status).into());
        }
        if let (true, Some(tip)) = (item.was_edited(), item.tip) {
            for path in &item.proposal.paths {
                if let Some(mut bytes) = wiki.repo.file(tip, wiki.full_path(path).as_ref())? {
                    if recheck::secret(wiki, &bytes)? {
                        bytes = recheck::redacted(wiki, &bytes.to_str_lossy())?.into_bytes();
                    }
                    append.files.push((format!("{}/decided/{path}", folder(item.id())), bytes));
                }
            }
        }
        append.events.push(
            desk::event(EventKind::Rejected, &item, hand)
                .with("reason", (!reason.is_empty()).then_some(reason.as_str()))
                .with("merit", merit),
        );
        edits.extend(desk::close(&item));
    }
    append.subject = match ids {
        [one] => format!("memory: reject {one}"),
        many => format!("memory: reject {} proposals", many.len()),
    };
    fault::point("reject.before-ledger");
    ledger::append(&wiki.repo, &append, &edits)?;
    fault::point("reject.after-ledger");
    Ok(())
}

/// Closes what nobody decided within `pending.expire_days`. Returns the ids.
pub fn expire(desk: &Desk, wiki: &Wiki, hand: &Hand) -> Result<Vec<String>> {
    let limit = i64::from(wiki.config.settings.pending.expire_days) * 86_400;
    let now = ledger::now().as_second();
    let old: Vec<&Item> =
        desk.view.open().into_iter().filter(|item| now - item.proposal.staged_at.as_second() > limit).collect();
    if old.is_empty() {
        return Ok(Vec::new());
    }
    let append = Append {
        subject: format!("memory: {} proposals expire", old.len()),
        events: old.iter().map(|item| desk::event(EventKind::Expired, item, hand)).collect(),
        files: Vec::new(),
    };
    let edits: Vec<RefEdit> = old.iter().filter_map(|item| desk::close(item)).collect();
    ledger::append(&wiki.repo, &append, &edits)?;
    Ok(old.iter().map(|item| item.id().to_owned()).collect())
}

/// Makes a closed proposal pending again, with a fresh change commit on today's branch: merging the old commit again
/// would do nothing.
pub fn reopen(desk: &Desk, wiki: &Wiki, id: &str, hand: &Hand) -> Result<Item> {
    let item = desk.find(id)?;
    let lost = item.is_lost();
    if item.status.is_open() && !lost {
        return Err(
            Refused::new("already_pending", format!("proposal {} is {} already", item.id(), item.status)).into()
        );
    }
    if item.status == Status::Accepted && !item.is_missing() {
        return Err(Refused::not("rejected, expired or reverted", item.id(), item.status)
            .hint(format!("`git memory proposal revert {}` takes it back", item.id()))
            .into());
    }
    let on = Desk::tip(wiki)?;
    // Its reasons are for the message alone: the change is recorded apart from them.
    let sidecar = Sidecar::load(&wiki.repo, item.id()).unwrap_or_default();
    let author = sidecar.as_ref().map(|sidecar| sidecar.actor.as_str()).and_then(|actor| match actor {
        stage::AUTO_IMPROVE => Person::parse(&wiki.config.settings.improve.proposal_actor),
        person => Person::parse(person),
    });
    for path in &item.proposal.paths {
        check::place(&wiki.repo, on, wiki.full_path(path).as_ref())??;
    }
    let mut batch = Batch::new(&wiki.repo);
    let edits = sidecar.as_ref().map(|sidecar| sidecar.edits.as_slice()).unwrap_or_default();
    let tree = again(&mut batch, wiki, &item, edits, on)?;
    let facts = Facts::of(&item.proposal);
    let (rationale, evidence) = sidecar.map(|sidecar| (sidecar.rationale, sidecar.evidence)).unwrap_or_default();
    let tip = batch.commit(&NewCommit {
        tree,
        parents: vec![on],
        author: author.unwrap_or_else(|| hand.person.clone()),
        committer: hand.person.clone(),
        time: ledger::now().as_second(),
        message: message::change(&facts, &rationale, &evidence),
        sign: wiki.repo.signs() && !hand.is_bot(),
    })?;
    batch.flush()?;
    let kind = if lost { EventKind::Edited } else { EventKind::Reopened };
    let event = desk::event(kind, &item, hand)
        .with("tip", tip.to_string())
        .with("base", on.to_string())
        .with("rebased", lost.then_some(true))
        .with("seen", item.landing.as_ref().map(|landing| landing.commit.clone()));
    let append = Append { subject: format!("memory: reopen {}", item.id()), events: vec![event], files: Vec::new() };
    let edit = RefEdit { name: format!("{PENDING}{}", item.id()), old: item.tip, new: Some(tip) };
    fault::point("reopen.before-ledger");
    ledger::append(&wiki.repo, &append, &[edit])?;
    Ok(item)
}

/// The tree of today's branch with the recorded change made on it.
fn again(batch: &mut Batch, wiki: &Wiki, item: &Item, edits: &[Edit], on: Oid) -> Result<Oid> {
    let changes = recorded_changes(&wiki.repo, item.id(), &item.proposal.paths)?;
    match replay(batch, wiki, &changes, edits, on)? {
        Replayed::Pages(pages) => stage::change_tree(batch, wiki, on, &pages),
        Replayed::NoChange => {
            Err(Refused::new("no_change", format!("the wiki already says what {} proposes", item.id())).into())
        }
        Replayed::Conflict { files, .. } => {
            Err(Refused::new("conflict", format!("{} changed since proposal {} was made", files.join(", "), item.id()))
                .hint(format!(
                    "`git memory proposal show {}` has the text; propose it anew with `git memory proposal propose`",
                    item.id()
                ))
                .into())
        }
    }
}
