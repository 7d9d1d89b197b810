//! Accept: a chain of merge commits, checked one by one, and one advance of the branch.

use std::collections::{BTreeMap, HashMap, HashSet};

use bstr::{BString, ByteSlice};

use super::desk::{self, Desk, Hand};
use super::error::{Refused, Result};
use super::message::{self, Facts};
use super::second_look::{self, SecondLook};
use super::{Item, PageChange, check};
use crate::config::Style;
use crate::git::{self, Batch, Entry, MergeOutcome, Mode, NewCommit, Oid, RefEdit, Repo, Way};
use crate::ledger::{self, Append, EventKind, Status};
use crate::wiki::{self, Wiki};

/// How to accept.
#[derive(Debug, Clone)]
pub struct How {
    /// Who accepts.
    pub hand: Hand,
    /// The proposals for protected pages and rules to which a person said yes on the terminal, each with the commit
    /// that was shown: the yes does not cover what the branch holds by the time it lands.
    pub person_said_yes: BTreeMap<String, Oid>,
    /// What the gates said of proposals that people edited: without it such a tip does not land.
    pub second_looks: BTreeMap<String, SecondLook>,
    /// A person said yes to a section-wise merge where only the text conflicts.
    pub by_section: bool,
}

/// What became of one proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum Accepted {
    /// It landed with this commit.
    Landed(Oid),
    /// It had landed before; the commit is known where history has it.
    Already(Option<String>),
    /// It does not merge. With `mended`, a section-wise merge would give these pages: ask, then accept by section.
    Conflicted {
        /// `stale_base`, or git's words.
        reason: String,
        /// The pages.
        files: Vec<String>,
        /// What a section-wise merge gives.
        mended: Option<Vec<PageChange>>,
    },
    /// It may not land; nothing was changed for it.
    Refused(Refused),
}

/// Accepts proposals in the order given: one chain of merges, one advance. What conflicts or is refused is left out
/// and reported, the others land.
///
/// # Errors
/// When nothing at all could be done: the repository is busy, files are in the way, the identity is missing.
pub fn accept(wiki: &mut Wiki, ids: &[String], how: &How) -> Result<Vec<(String, Accepted)>> {
    let mut desk = Desk::open(wiki)?;
    accept_at(&mut desk, wiki, ids, how)
}

/// As [`accept`], at a desk that is open already.
pub fn accept_at(desk: &mut Desk, wiki: &mut Wiki, ids: &[String], how: &How) -> Result<Vec<(String, Accepted)>> {
    let mut items = Vec::with_capacity(ids.len());
    for id in ids {
        items.push(desk.find(id)?);
    }
    // Another process (a person's own commit) may move the branch in between; then the chain is built again.
    for _ in 0..8 {
        let tip = catch_up(wiki)?;
        let way = git::way(&wiki.repo, &wiki.branch)?;
        let mut chain = Chain::new(wiki, tip, how)?;
        let mut outcomes = Vec::with_capacity(items.len());
        for item in &items {
            outcomes.push((item.id().to_owned(), chain.add(item)?));
        }
        match chain.land(&way) {
            Ok(()) => {
                wiki.refresh()?;
                return Ok(outcomes);
            }
            Err(git::Error::RefMoved { .. }) => wiki.refresh()?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(git::Error::Busy { reason: format!("{} keeps moving; try again", wiki.branch_name()) }.into())
}

/// The branch's tip, after taking in what its upstream has more.
fn catch_up(wiki: &mut Wiki) -> Result<Oid> {
    let tip = Desk::tip(wiki)?;
    let name = wiki.branch_name().to_owned();
    let Some(upstream) = upstream(&wiki.repo, &name)? else { return Ok(tip) };
    if upstream == tip || wiki.repo.is_ancestor(upstream, tip)? {
        return Ok(tip);
    }
    if !wiki.repo.is_ancestor(tip, upstream)? {
        if wiki.repo.is_shallow() {
            return Err(Refused::new(
                "shallow",
                format!("the history here is shallow: whether {name} and its upstream have diverged cannot be told"),
            )
            .hint("`git fetch --unshallow` (or --deepen) brings what is missing")
            .into());
        }
        return Err(Refused::new("would_diverge", format!("{name} and its upstream have diverged"))
            .hint(format!("merge or rebase {name} first, then accept"))
            .into());
    }
    match git::way(&wiki.repo, &wiki.branch)? {
        Way::Worktree(worktree) => git::fast_forward(&worktree, &wiki.branch, tip, upstream)?,
        Way::Ref => {
            let edit = RefEdit { name: wiki.branch.clone(), old: Some(tip), new: Some(upstream) };
            wiki.repo.update_refs(&[edit], "memory: fast-forward to the upstream")?;
        }
    }
    wiki.refresh()?;
    Ok(upstream)
}

fn upstream(repo: &Repo, branch: &str) -> git::Result<Option<Oid>> {
    let (Some(remote), Some(merge)) =
        (repo.config(&format!("branch.{branch}.remote")), repo.config(&format!("branch.{branch}.merge")))
    else {
        return Ok(None);
    };
    let short = merge.strip_prefix("refs/heads/").unwrap_or(&merge);
    let name = if remote == "." { merge.clone() } else { format!("refs/remotes/{remote}/{short}") };
    repo.reference(&name)
}

/// The merges being built on top of the branch.
struct Chain<'w> {
    wiki: &'w Wiki,
    how: &'w How,
    start: Oid,
    tip: Oid,
    batch: Batch,
    append: Append,
    closing: Vec<RefEdit>,
    /// Folded names of everything under the root, for collisions.
    names: HashMap<String, BString>,
    ancestors: HashMap<String, bool>,
    sign: bool,
}

impl<'w> Chain<'w> {
    fn new(wiki: &'w Wiki, start: Oid, how: &'w How) -> Result<Chain<'w>> {
        let root: BString = wiki.root.as_str().into();
        let names = wiki
            .repo
            .files(start, root.as_ref())?
            .into_iter()
            .map(|file| (wiki::path::fold(file.path.as_ref()), file.path))
            .collect();
        Ok(Chain {
            wiki,
            how,
            start,
            tip: start,
            batch: Batch::new(&wiki.repo),
            append: Append::default(),
            closing: Vec::new(),
            names,
            ancestors: HashMap::new(),
            sign: wiki.repo.signs() && !how.hand.is_bot(),
        })
    }

    /// Adds one proposal to the chain, if it may land. That a text may not is remembered.
    fn add(&mut self, item: &Item) -> Result<Accepted> {
        let outcome = self.try_to_add(item)?;
        if let (Accepted::Refused(refused), Some(tip)) = (&outcome, item.tip) {
            self.append.events.extend(second_look::failure(item, tip, refused, &self.how.hand));
        }
        Ok(outcome)
    }

    fn try_to_add(&mut self, item: &Item) -> Result<Accepted> {
        if item.status == Status::Accepted {
            return Ok(Accepted::Already(item.landing.as_ref().map(|landing| landing.commit.clone())));
        }
        let (Some(tip), true) = (item.tip, item.status.is_open()) else {
            if item.status.is_open() {
                return Ok(Accepted::Refused(Refused::no_branch(item.id(), item.status)));
            }
            return Ok(Accepted::Refused(Refused::not("pending", item.id(), item.status).hint(match item.status {
                Status::Rejected | Status::Reverted | Status::Expired => {
                    format!("`git memory proposal reopen {}` brings it back", item.id())
                }
                _ => format!("`git memory proposal log {}` tells what happened", item.id()),
            })));
        };
        let base = check::base(item)?;
        let ancestor = match self.ancestors.get(&item.proposal.base) {
            Some(known) => *known,
            None => {
                let found = self.wiki.repo.is_ancestor(base, self.start)?;
                self.ancestors.insert(item.proposal.base.clone(), found);
                found
            }
        };
        if !ancestor && self.wiki.repo.is_shallow() {
            return Ok(Accepted::Refused(
                Refused::new(
                    "shallow",
                    format!(
                        "the history here is shallow and does not reach the commit that proposal {} was made from",
                        item.id()
                    ),
                )
                .hint("`git fetch --unshallow` (or --deepen) brings it"),
            ));
        }
        if !ancestor {
            return self.conflict(item, "stale_base", Vec::new(), None);
        }
        if let Err(refused) = check::tip(self.wiki, item, base, tip)? {
            return Ok(Accepted::Refused(refused));
        }
        let look = if item.was_edited() {
            match second_look::check(item, tip, self.how.second_looks.get(item.id())) {
                Ok(look) => Some(look),
                Err(refused) => return Ok(Accepted::Refused(refused)),
            }
        } else {
            None
        };
        if let Some(why) = check::needs_person(self.wiki, self.batch.repo(), self.tip, item)?
            && (self.how.hand.is_bot() || self.how.person_said_yes.get(item.id()) != Some(&tip))
        {
            return Ok(Accepted::Refused(
                Refused::new("needs_person", format!("proposal {} needs a person's yes: {why}", item.id()))
                    .hint("run the accept on a terminal and answer there; --yes does not count for this"),
            ));
        }
        let tree = match git::merge(&mut self.batch, base, self.tip, tip)? {
            MergeOutcome::Clean(tree) => tree,
            MergeOutcome::Conflicts(conflicts) => {
                let files: Vec<String> = conflicts.iter().map(|conflict| conflict.path.to_str_lossy().into()).collect();
                let reason = conflicts.first().map(|conflict| conflict.reason.clone()).unwrap_or_default();
                let mended = if conflicts.iter().all(|conflict| conflict.text_only) {
                    by_section(&self.batch, self.wiki, base, self.tip, tip, &files)?
                } else {
                    None
                };
                match mended {
                    Some(pages) if self.how.by_section => self.with_pages(base, tip, &pages)?,
                    mended => return self.conflict(item, &reason, files, mended),
                }
            }
        };
        if let Err(refused) = self.check_result(item, tree)? {
            return Ok(Accepted::Refused(refused));
        }
        let landed = self.commit(item, tip, tree, look)?;
        Ok(Accepted::Landed(landed))
    }

    /// The merge of everything but the conflicting pages, with those as mended.
    fn with_pages(&mut self, base: Oid, tip: Oid, pages: &[PageChange]) -> Result<Oid> {
        let mut edits: Vec<(BString, Option<Entry>)> = self
            .batch
            .repo()
            .diff(Some(base), Some(tip))?
            .into_iter()
            .map(|change| (change.path, change.after))
            .collect();
        for page in pages {
            let path = self.wiki.full_path(&page.path);
            let oid = self.batch.blob(page.after.as_deref().unwrap_or_default())?;
            edits.retain(|(known, _)| *known != path);
            edits.push((path, Some(Entry { mode: Mode::Blob, oid })));
        }
        let tree = self.batch.repo().commit(self.tip)?.tree;
        Ok(self.batch.tree(Some(tree), &edits)?)
    }

    /// The landed difference touches exactly the paths that the proposal names, and none collides with another name.
    fn check_result(&mut self, item: &Item, tree: Oid) -> Result<Result<(), Refused>> {
        let before = self.batch.repo().commit(self.tip)?.tree;
        let changes = self.batch.repo().diff(Some(before), Some(tree))?;
        if changes.is_empty() {
            return Ok(Err(Refused::new("no_change", format!("the wiki already says what {} proposes", item.id()))
                .hint(format!("close it with `git memory proposal reject --procedural {}`", item.id()))));
        }
        let allowed: HashSet<BString> = item.proposal.paths.iter().map(|path| self.wiki.full_path(path)).collect();
        if let Some(foreign) = changes.iter().find(|change| !allowed.contains(&change.path)) {
            return Ok(Err(check::foreign(item, &foreign.path)));
        }
        for change in &changes {
            let folded = wiki::path::fold(change.path.as_ref());
            match self.names.get(&folded) {
                Some(other) if *other != change.path && change.before.is_none() => {
                    return Ok(Err(Refused::new(
                        "path_collision",
                        format!("{} and {other} are one name on some file systems", change.path),
                    )));
                }
                _ => {}
            }
            // The text was reviewed, not what the system may do with it.
            let mode = change.before.map_or(Mode::Blob, |entry| entry.mode);
            if change.after.is_some_and(|entry| entry.mode != mode || !matches!(mode, Mode::Blob | Mode::Executable)) {
                return Ok(Err(check::not_a_file(change.path.as_ref())));
            }
            if let Err(refused) = check::place(self.batch.repo(), before, change.path.as_ref())? {
                return Ok(Err(refused));
            }
        }
        for change in changes {
            let folded = wiki::path::fold(change.path.as_ref());
            match change.after {
                Some(_) => self.names.insert(folded, change.path),
                None => self.names.remove(&folded),
            };
        }
        Ok(Ok(()))
    }

    fn commit(&mut self, item: &Item, tip: Oid, tree: Oid, look: Option<&SecondLook>) -> Result<Oid> {
        let hand = &self.how.hand;
        let person = hand.person.to_string();
        let reviewer = (!hand.is_bot()).then_some(person.as_str());
        let facts = Facts::of(&item.proposal);
        let message = message::landing(&facts, hand.is_bot(), hand.policy.as_str(), reviewer);
        let parents = match self.wiki.config.settings.accept.style {
            Style::Merge => vec![self.tip, tip],
            Style::Squash => vec![self.tip],
        };
        let landed = self.batch.commit(&NewCommit {
            tree,
            parents,
            author: hand.person.clone(),
            committer: hand.person.clone(),
            time: ledger::now().as_second(),
            message,
            sign: self.sign,
        })?;
        let mut event = desk::event(EventKind::Accepted, item, hand)
            .with("landed", landed.to_string())
            .with("tip", tip.to_string())
            .with("policy", hand.policy.as_str())
            .with("gates", look.filter(|look| !look.gates.is_empty()).map(|look| look.gates.clone()));
        if hand.is_bot() {
            event.operator = None;
        }
        self.append.events.push(event);
        self.closing.extend(desk::close(item));
        self.tip = landed;
        Ok(landed)
    }

    /// Records a conflict once; the proposal stays where it is.
    fn conflict(
        &mut self,
        item: &Item,
        reason: &str,
        files: Vec<String>,
        mended: Option<Vec<PageChange>>,
    ) -> Result<Accepted> {
        let known = item.status == Status::Conflicted && item.proposal.reason.as_deref() == Some(reason);
        if !known && mended.is_none() {
            self.append.events.push(
                desk::event(EventKind::Conflicted, item, &self.how.hand)
                    .with("reason", reason)
                    .with("files", files.clone()),
            );
        }
        Ok(Accepted::Conflicted { reason: reason.to_owned(), files, mended })
    }

    /// Makes the chain durable and moves the branch, once.
    fn land(mut self, way: &Way) -> git::Result<()> {
        let count = self.append.events.iter().filter(|event| event.kind == EventKind::Accepted).count();
        self.append.subject = match count {
            0 => "memory: nothing could be accepted".to_owned(),
            1 => format!(
                "memory: accept {}",
                self.append.events.iter().find_map(|e| e.proposal.clone()).unwrap_or_default()
            ),
            many => format!("memory: accept {many} proposals"),
        };
        self.batch.flush()?;
        desk::advance(self.wiki, way, (self.start, self.tip), &self.append, self.closing, "accept")
    }
}

/// The pages of a text conflict, merged by section; `None` when some section was changed on both sides.
pub(super) fn by_section(
    batch: &Batch,
    wiki: &Wiki,
    base: Oid,
    ours: Oid,
    theirs: Oid,
    files: &[String],
) -> Result<Option<Vec<PageChange>>> {
    let mut pages = Vec::new();
    for file in files {
        let path = BString::from(file.as_str());
        let read = |tree| batch.repo().file(tree, path.as_ref());
        let (base, ours, theirs) = (read(base)?.unwrap_or_default(), read(ours)?, read(theirs)?);
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return Ok(None) };
        let Some(merged) = wiki::merge::by_section(&base, &ours, &theirs) else { return Ok(None) };
        let Some(page) = wiki.page_path(path.as_ref()) else { return Ok(None) };
        pages.push(PageChange { path: page.to_str_lossy().into(), before: Some(ours), after: Some(merged) });
    }
    Ok(Some(pages))
}
