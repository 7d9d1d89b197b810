//! What is checked again before a proposal lands, whatever was checked when it was staged.

use std::collections::HashSet;

use bstr::{BStr, BString, ByteSlice};

use super::error::{Refused, Result};
use super::sidecar::recorded_changes;
use super::{Item, Operation, recheck};
use crate::git::{self, Commit, Entry, Mode, Oid, Repo};
use crate::wiki::{Kind, Wiki, path};

/// The recorded base of a proposal.
pub fn base(item: &Item) -> Result<Oid> {
    Oid::from_hex(item.proposal.base.as_bytes())
        .map_err(|_| Refused::new("bad_record", format!("proposal {} records no base commit", item.id())).into())
}

/// A pending tip may land only when it stands on its recorded base and touches nothing but its own pages; one that
/// people changed (or pushed to) is checked again as if it were new.
pub fn tip(wiki: &Wiki, item: &Item, base: Oid, tip: Oid) -> Result<Result<(), Refused>> {
    let commit = wiki.repo.commit(tip)?;
    let stands = commit.parents == [base] || (tip != base && wiki.repo.is_ancestor(base, tip)?);
    if !stands {
        let why = if tip == base { "holds no change" } else { "does not stand on its recorded base" };
        return Ok(Err(Refused::new("unrelated_base", format!("the branch of proposal {} {why}", item.id()))
            .hint(format!("`git memory proposal rebase {}`, or reject it", item.id()))));
    }
    if let Some(refused) = item.proposal.paths.iter().find_map(|path| no_page(wiki, base, path).transpose()) {
        return Ok(Err(refused?));
    }
    let allowed: HashSet<BString> = item.proposal.paths.iter().map(|path| wiki.full_path(path)).collect();
    let changes = wiki.repo.diff(Some(base), Some(tip))?;
    if let Some(foreign) = changes.iter().find(|change| !allowed.contains(&change.path)) {
        return Ok(Err(foreign_path(item, foreign.path.as_ref())));
    }
    if commit.parents != [base]
        && let Err(refused) = history(wiki, item, base, commit, &allowed)?
    {
        return Ok(Err(refused));
    }
    if item.was_edited() {
        for change in &changes {
            let Some(after) = change.after else {
                if let Err(refused) = may_go(wiki, item, change.path.as_ref())? {
                    return Ok(Err(refused));
                }
                continue;
            };
            if !matches!(after.mode, Mode::Blob | Mode::Executable) {
                return Ok(Err(not_a_file(change.path.as_ref())));
            }
            let bytes = wiki.repo.blob(after.oid)?;
            if let Err(refused) = recheck::page(wiki, item, change.path.as_ref(), &bytes) {
                return Ok(Err(refused));
            }
        }
    }
    Ok(Ok(()))
}

/// A record that came from elsewhere may name any path. A page is one that we would write, or one that stands there.
fn no_page(wiki: &Wiki, base: Oid, path: &str) -> Result<Option<Refused>> {
    let Err(fault) = path::check(path) else { return Ok(None) };
    if path.ends_with(".md") && wiki.repo.file(base, wiki.full_path(path).as_ref())?.is_some() {
        return Ok(None);
    }
    Ok(Some(Refused::new("no_page", format!("the proposal names what is no page: {fault}"))))
}

/// Everything between base and tip becomes history of the wiki, not only what is left of it at the tip: commits on top
/// of the change are one line of edits of its own pages, and none of them ever held a secret.
fn history(
    wiki: &Wiki,
    item: &Item,
    base: Oid,
    tip: Commit,
    allowed: &HashSet<BString>,
) -> Result<Result<(), Refused>> {
    let rebase = || format!("`git memory proposal rebase {}` takes its pages alone as they are now", item.id());
    let mut at = tip;
    while at.oid != base {
        let &[parent] = &at.parents[..] else {
            let what = format!("the branch of proposal {} holds the merge or the root {}", item.id(), at.oid);
            return Ok(Err(Refused::new("foreign_history", what).hint(rebase())));
        };
        for change in wiki.repo.diff(Some(parent), Some(at.oid))? {
            if !allowed.contains(&change.path) {
                return Ok(Err(Refused::new(
                    "foreign_history",
                    format!(
                        "commit {} of proposal {} touches {}, which it does not name",
                        at.oid,
                        item.id(),
                        change.path
                    ),
                )
                .hint(rebase())));
            }
            let Some(Entry { mode: Mode::Blob | Mode::Executable, oid }) = change.after else { continue };
            if recheck::secret(wiki, &wiki.repo.blob(oid)?)? {
                return Ok(Err(Refused::new(
                    "contains_secret",
                    format!("{} of proposal {} holds a secret in commit {}", change.path, item.id(), at.oid),
                )
                .hint(rebase())));
            }
        }
        at = wiki.repo.commit(parent)?;
    }
    Ok(Ok(()))
}

/// A page may be gone from an edited branch only where that is what was proposed.
fn may_go(wiki: &Wiki, item: &Item, path: &BStr) -> Result<Result<(), Refused>> {
    let recorded = recorded_changes(&wiki.repo, item.id(), &item.proposal.paths)?;
    let proposed = recorded.iter().any(|change| wiki.full_path(&change.path) == *path && change.after.is_none());
    if proposed {
        return Ok(Ok(()));
    }
    Ok(Err(Refused::new(
        "deletes_page",
        format!("the branch of proposal {} deletes {path}, which it was to change", item.id()),
    )
    .hint(format!("put the page back with `git memory proposal edit {0}`, or reject {0}", item.id()))))
}

/// What a page of the branch may not be.
pub fn not_a_file(path: &BStr) -> Refused {
    Refused::new("not_a_file", format!("{path} would not be an ordinary file, or would become executable"))
}

/// A page may stand at a path only where the way there leads through folders, and no link, submodule or file is in
/// its place.
pub fn place(repo: &Repo, tree: Oid, path: &BStr) -> git::Result<Result<(), Refused>> {
    let ends = path.find_iter(b"/").chain([path.len()]);
    for end in ends {
        let part = path[..end].as_bstr();
        let Some(entry) = repo.entry(tree, part)? else { break };
        let fits = match entry.mode {
            Mode::Tree => end < path.len(),
            Mode::Blob | Mode::Executable => end == path.len(),
            Mode::Link | Mode::Commit => false,
        };
        if !fits {
            let what = match entry.mode {
                Mode::Tree => "a folder",
                Mode::Blob | Mode::Executable => "a file",
                Mode::Link => "a symbolic link",
                Mode::Commit => "a submodule",
            };
            return Ok(Err(Refused::new("path_taken", format!("{path} cannot stand on the branch: {part} is {what}"))));
        }
    }
    Ok(Ok(()))
}

/// Why a person's explicit yes is needed to land it, if it is: a rule, a page that is protected on the branch as it
/// stands, a page that would be retired.
pub fn needs_person(wiki: &Wiki, repo: &Repo, tip: Oid, item: &Item) -> git::Result<Option<String>> {
    if let Some(reason) = guarded(wiki, repo, tip, item)? {
        return Ok(Some(reason));
    }
    Ok((item.proposal.operation == Operation::Retire.as_str()).then(|| "it retires a page".to_owned()))
}

/// Why none of its pages may change without a person's explicit yes, whatever the change: a rule, or a page that is
/// protected at `tip`.
pub fn guarded(wiki: &Wiki, repo: &Repo, tip: Oid, item: &Item) -> git::Result<Option<String>> {
    if item.proposal.kind == Kind::Rule.as_str() {
        return Ok(Some("it is a rule".to_owned()));
    }
    for path in &item.proposal.paths {
        let scope = &wiki.scopes.of_page(path).path;
        let inner = path.strip_prefix(scope.as_str()).map_or(path.as_str(), |rest| rest.trim_start_matches('/'));
        if wiki.layout.kind_of(inner) == Some(Kind::Rule) {
            return Ok(Some(format!("{path} is a rule")));
        }
        let bytes = repo.file(tip, wiki.full_path(path).as_ref())?.unwrap_or_default();
        let page = wiki.read(path.as_str().into(), &bytes);
        if let Some(reason) = wiki.protection.reason(&page) {
            return Ok(Some(format!("{path} is protected: {reason}")));
        }
    }
    Ok(None)
}

/// The refusal of a change that stands outside the proposal's pages.
pub fn foreign(item: &Item, path: &BString) -> Refused {
    foreign_path(item, path.as_ref())
}

fn foreign_path(item: &Item, path: &BStr) -> Refused {
    Refused::new(
        "foreign_paths",
        format!("proposal {} would also change {}, which it does not name", item.id(), path.to_str_lossy()),
    )
    .hint("a proposal lands only the pages that were reviewed; take the other change to a branch of its own")
}
