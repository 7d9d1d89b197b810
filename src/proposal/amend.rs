//! Edit and rebase: a person's hand on a pending proposal, and a proposal brought onto today's branch.

use bstr::ByteSlice;

use super::accept::by_section;
use super::desk::{self, Desk, Hand};
use super::error::{Refused, Result};
use super::message::{self, Facts};
use super::view::PENDING;
use super::{Item, PageChange, Sidecar, check, recheck, stage};
use crate::git::{Batch, MergeOutcome, NewCommit, Oid, Person, RefEdit, merge};
use crate::ledger::{self, Append, EventKind};
use crate::wiki::Wiki;

/// The pages of an open proposal as its branch has them.
pub fn pages(wiki: &Wiki, item: &Item) -> Result<Vec<PageChange>> {
    let Some(tip) = item.tip else { return Err(Refused::no_branch(item.id(), item.status).into()) };
    between(wiki, item, check::base(item)?, tip)
}

fn between(wiki: &Wiki, item: &Item, base: Oid, tip: Oid) -> Result<Vec<PageChange>> {
    item.proposal
        .paths
        .iter()
        .map(|path| {
            let full = wiki.full_path(path);
            Ok(PageChange {
                path: path.clone(),
                before: wiki.repo.file(base, full.as_ref())?,
                after: wiki.repo.file(tip, full.as_ref())?,
            })
        })
        .collect()
}

/// Records a person's version of the pages as a further commit on the pending branch. `pages` holds the new texts.
/// False when nothing differs.
pub fn edit(desk: &Desk, wiki: &Wiki, id: &str, hand: &Hand, pages: &[PageChange]) -> Result<bool> {
    let item = desk.find(id)?;
    let (Some(tip), true) = (item.tip, item.status.is_open()) else {
        return Err(Refused::no_branch(item.id(), item.status).into());
    };
    for page in pages {
        if let Some(after) = &page.after {
            recheck::page(wiki, &item, wiki.full_path(&page.path).as_ref(), after)?;
        }
    }
    let mut batch = Batch::new(&wiki.repo);
    let tree = stage::change_tree(&mut batch, wiki, tip, pages)?;
    if tree == wiki.repo.commit(tip)?.tree {
        return Ok(false);
    }
    let facts = Facts::of(&item.proposal);
    let new = batch.commit(&NewCommit {
        tree,
        parents: vec![tip],
        author: hand.person.clone(),
        committer: hand.person.clone(),
        time: ledger::now().as_second(),
        message: message::edited(&facts),
        sign: wiki.repo.signs(),
    })?;
    let event = desk::event(EventKind::Edited, &item, hand).with("tip", new.to_string());
    replace(
        wiki,
        &item,
        &mut batch,
        new,
        Append { subject: format!("memory: edit {}", item.id()), events: vec![event], files: Vec::new() },
    )?;
    Ok(true)
}

/// What a rebase did.
#[derive(Debug, Clone, PartialEq)]
pub enum Rebased {
    /// It stands on today's branch.
    Done(Oid),
    /// It stood there already.
    Current,
    /// Only a section-wise merge brings it there, giving these pages: ask, then rebase by section.
    BySection(Vec<PageChange>),
}

/// Replays the page change on the current branch.
pub fn rebase(desk: &Desk, wiki: &Wiki, id: &str, hand: &Hand, with_sections: bool) -> Result<Rebased> {
    let item = desk.find(id)?;
    let (Some(tip), true) = (item.tip, item.status.is_open()) else {
        return Err(Refused::no_branch(item.id(), item.status).into());
    };
    let on = Desk::tip(wiki)?;
    let recorded = check::base(&item)?;
    // Where the wiki branch was merged into the proposal's, what it brought is not the proposal's.
    let base = match wiki.repo.merge_base(tip, on)? {
        Some(common) if wiki.repo.is_ancestor(recorded, common)? => common,
        _ => recorded,
    };
    let foreign = wiki
        .repo
        .diff(Some(base), Some(tip))?
        .into_iter()
        .find(|change| !item.proposal.paths.iter().any(|path| wiki.full_path(path) == change.path));
    if let Some(change) = foreign {
        return Err(check::foreign(&item, &change.path).into());
    }
    if recorded == on && check::tip(wiki, &item, recorded, tip)?.is_ok() {
        return Ok(Rebased::Current);
    }
    let mut batch = Batch::new(&wiki.repo);
    let pages = between(wiki, &item, base, tip)?;
    for page in &pages {
        let path = wiki.full_path(&page.path);
        check::place(&wiki.repo, on, path.as_ref())??;
        if let Some(after) = page.after.as_deref().filter(|_| item.was_edited()) {
            recheck::page(wiki, &item, path.as_ref(), after)?;
        }
    }
    // Over pages alone: the histories may have nothing in common (a rewritten branch).
    let before: Vec<_> = pages.iter().map(|page| PageChange { after: page.before.clone(), ..page.clone() }).collect();
    let ours = batch.repo().commit(on)?.tree;
    let old = stage::change_tree(&mut batch, wiki, on, &before)?;
    let theirs = stage::change_tree(&mut batch, wiki, on, &pages)?;
    let tree = match merge(&mut batch, old, ours, theirs)? {
        MergeOutcome::Clean(tree) => tree,
        MergeOutcome::Conflicts(conflicts) => {
            let files: Vec<String> =
                conflicts.iter().map(|conflict| conflict.path.to_str_lossy().into_owned()).collect();
            let mended = if conflicts.iter().all(|conflict| conflict.text_only) {
                by_section(&batch, wiki, old, ours, theirs, &files)?
            } else {
                None
            };
            match mended {
                None => {
                    return Err(Refused::new(
                        "conflict",
                        format!("proposal {} conflicts with {} as it is now", item.id(), files.join(", ")),
                    )
                    .hint(format!("`git memory proposal edit {}` after looking at both, or reject it", item.id()))
                    .into());
                }
                Some(merged) if !with_sections => return Ok(Rebased::BySection(merged)),
                Some(merged) => {
                    let mut all = pages;
                    all.retain(|page| !merged.iter().any(|mended| mended.path == page.path));
                    all.extend(merged);
                    stage::change_tree(&mut batch, wiki, on, &all)?
                }
            }
        }
    };
    if tree == ours {
        return Err(Refused::new("no_change", format!("the wiki already says what {} proposes", item.id()))
            .hint(format!("close it with `git memory proposal reject --procedural {}`", item.id()))
            .into());
    }
    // Its reasons are for the message alone: the change is recorded apart from them.
    let sidecar = Sidecar::load(&wiki.repo, item.id()).unwrap_or_default();
    let (rationale, evidence) = sidecar.map(|sidecar| (sidecar.rationale, sidecar.evidence)).unwrap_or_default();
    let author = wiki.repo.commit(tip)?.author;
    let facts = Facts::of(&item.proposal);
    let new = batch.commit(&NewCommit {
        tree,
        parents: vec![on],
        author: Person { name: author.name, email: author.email },
        committer: hand.person.clone(),
        time: ledger::now().as_second(),
        message: message::change(&facts, &rationale, &evidence),
        sign: wiki.repo.signs(),
    })?;
    let event = desk::event(EventKind::Edited, &item, hand)
        .with("tip", new.to_string())
        .with("base", on.to_string())
        .with("rebased", true)
        // What was pushed there stays a person's text, wherever it stands now.
        .with("edited", item.was_edited().then_some(true));
    let append = Append { subject: format!("memory: rebase {}", item.id()), events: vec![event], files: Vec::new() };
    replace(wiki, &item, &mut batch, new, append)?;
    Ok(Rebased::Done(new))
}

fn replace(wiki: &Wiki, item: &Item, batch: &mut Batch, new: Oid, append: Append) -> Result<()> {
    batch.flush()?;
    let edit = RefEdit { name: format!("{PENDING}{}", item.id()), old: item.tip, new: Some(new) };
    ledger::append(&wiki.repo, &append, &[edit])?;
    Ok(())
}
