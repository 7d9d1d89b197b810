//! What selection goes by, read once: the pages, what was said of them, what waits and what was turned down.

use std::collections::{HashMap, HashSet};

use bstr::{BString, ByteSlice};
use jiff::Timestamp;

use super::PageLane;
use crate::feedback::{Heard, Signal, heard, spool};
use crate::git::{self, Oid};
use crate::ledger::{Cache, State, Status};
use crate::proposal::{Sidecar, View};
use crate::wiki::Wiki;

/// A page that nobody searched, read or judged for so many days is out of scope, unless it is new.
pub(super) const IDLE_DAYS: i64 = 90;

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// Everything that the gates ask about.
pub(super) struct Material<'a> {
    pub wiki: &'a Wiki,
    pub state: &'a State,
    pub now: Timestamp,
    /// The pages in scope, with their blobs.
    pub pages: Vec<(String, Oid)>,
    /// What was said of them.
    pub heard: Heard,
    /// The pages for which any proposal waits.
    proposed: HashSet<String>,
    /// The pages for which a proposal of the lane waits.
    waits: HashSet<(PageLane, String)>,
    /// When the last proposal of the lane for the page was rejected on merit.
    rejected: HashMap<(PageLane, String), Timestamp>,
    /// Proposals that landed.
    accepted: HashSet<String>,
    /// The pages as they stood before they could be idle; what is not among them is new.
    old: HashSet<(BString, Oid)>,
}

impl<'a> Material<'a> {
    /// Reads it. Caches are read and not written: a plan writes nothing.
    pub fn read(wiki: &'a Wiki, state: &'a State, scope: Option<&str>, now: Timestamp) -> git::Result<Material<'a>> {
        let within = |path: &str| scope.is_none_or(|scope| wiki.scopes.of_page(path).name == scope);
        let pages = wiki.pages()?;
        let mut heard = heard::load(&wiki.repo, Cache::ReadOnly)?;
        // A live run has carried these over, a dry one must count them all the same.
        heard.add(&spool::waiting(&wiki.repo).events);
        let mut material = Material {
            wiki,
            state,
            now,
            pages: pages
                .into_iter()
                .filter_map(|(path, blob)| Some((path.to_str().ok()?.to_owned(), blob)))
                .filter(|(path, _)| within(path))
                .collect(),
            heard,
            proposed: HashSet::new(),
            waits: HashSet::new(),
            rejected: HashMap::new(),
            accepted: HashSet::new(),
            old: HashSet::new(),
        };
        material.old = material.stood(now.as_second() - IDLE_DAYS * DAY)?;
        material.proposals()?;
        Ok(material)
    }

    /// What waits, and what was turned down lately.
    fn proposals(&mut self) -> git::Result<()> {
        let view = View::load(self.wiki, Cache::ReadOnly)?;
        for lane in PageLane::ALL {
            let since = self.now.as_second() - lane.days_after_rejection() * DAY;
            for item in view.items.iter().filter(|item| item.proposal.lane == lane.as_str()) {
                let changed = item.proposal.changed_at;
                let turned_down = item.status == Status::Rejected && item.proposal.merit && changed.as_second() > since;
                if !turned_down && !item.status.is_open() {
                    continue;
                }
                for page in subjects(self.wiki, lane, item.id(), &item.proposal.paths)? {
                    if turned_down {
                        let last = self.rejected.entry((lane, page)).or_insert(changed);
                        *last = (*last).max(changed);
                    } else {
                        self.waits.insert((lane, page));
                    }
                }
            }
        }
        for id in view.state.held.keys() {
            let Ok(Some(sidecar)) = Sidecar::load(&self.wiki.repo, id) else { continue };
            let Some(lane) = PageLane::ALL.into_iter().find(|lane| lane.as_str() == sidecar.lane) else { continue };
            self.waits.extend(of_sidecar(lane, &sidecar).into_iter().map(|page| (lane, page)));
        }
        let open = view.items.iter().filter(|item| item.status.is_open());
        self.proposed = open.flat_map(|item| item.proposal.paths.iter().cloned()).collect();
        let landed = view.items.iter().filter(|item| item.status == Status::Accepted);
        self.accepted = landed.map(|item| item.id().to_owned()).collect();
        Ok(())
    }

    /// What was said of a page, oldest first.
    pub fn said(&self, page: &str) -> Vec<&Signal> {
        self.heard.of_page(page)
    }

    /// Whether a proposal of the lane for this page waits.
    pub fn waits(&self, lane: PageLane, page: &str) -> bool {
        self.waits.contains(&(lane, page.to_owned()))
    }

    /// Whether any proposal for this page waits.
    pub fn is_proposed_for(&self, page: &str) -> bool {
        self.proposed.contains(page)
    }

    /// The pages as they stood at a time, in seconds since 1970; none where history does not reach back so far.
    pub fn stood(&self, time: i64) -> git::Result<HashSet<(BString, Oid)>> {
        let then = self.wiki.tip.map(|tip| self.wiki.repo.as_of(tip, time)).transpose()?.flatten();
        Ok(then.map_or(Ok(Vec::new()), |then| self.wiki.pages_at(then))?.into_iter().collect())
    }

    /// Whether one was rejected on merit so lately that the lane keeps away.
    pub fn was_rejected(&self, lane: PageLane, page: &str) -> bool {
        self.rejected.contains_key(&(lane, page.to_owned()))
    }

    /// Whether the exact fix that somebody gave has landed.
    pub fn is_fixed(&self, signal: &Signal) -> bool {
        signal.fix.as_ref().is_some_and(|fix| self.accepted.contains(fix))
    }

    /// Whether somebody searched, read or judged the page lately, or it was made or changed lately.
    pub fn is_in_use(&self, page: &str, blob: Oid) -> bool {
        let since = self.now.as_second() - IDLE_DAYS * DAY;
        self.heard.last_use(page).is_some_and(|last| last.as_second() >= since)
            || !self.old.contains(&(BString::from(page), blob))
    }

    /// Whether the page reads otherwise than when this was said of it.
    pub fn changed_since(&self, signal: &Signal, page: &str, blob: Oid) -> git::Result<bool> {
        if let Some(judged) = &signal.blob {
            return Ok(Oid::from_hex(judged.as_bytes()).ok() != Some(blob));
        }
        let Some(tip) = self.wiki.tip else { return Ok(false) };
        match self.wiki.repo.as_of(tip, signal.at.as_second())? {
            Some(then) => {
                let entry = self.wiki.repo.entry(then, self.wiki.full_path(page).as_ref())?;
                Ok(entry.is_some_and(|entry| entry.oid != blob))
            }
            None => Ok(false),
        }
    }
}

/// The pages that a proposal of the lane is about: its own, or the note that a lesson came from.
fn subjects(wiki: &Wiki, lane: PageLane, id: &str, paths: &[String]) -> git::Result<Vec<String>> {
    match lane {
        PageLane::Reflect => Ok(paths.to_vec()),
        PageLane::Distill => {
            Ok(Sidecar::load(&wiki.repo, id)?.map_or(Vec::new(), |sidecar| of_sidecar(lane, &sidecar)))
        }
    }
}

fn of_sidecar(lane: PageLane, sidecar: &Sidecar) -> Vec<String> {
    match lane {
        PageLane::Reflect => sidecar.paths.clone(),
        PageLane::Distill => sidecar.evidence.iter().map(|evidence| evidence.source.clone()).collect(),
    }
}
