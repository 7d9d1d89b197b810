//! What the plan says of notes that would become one lesson: how many there are, and how many are new to the lane.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use bstr::BString;
use jiff::Timestamp;

use super::plan::{Consolidation, NOT_BUILT, Request};
use super::strategy::Strategy;
use crate::feedback::{heard, spool};
use crate::git::{self, Oid};
use crate::ledger::{Cache, State};
use crate::wiki::{Kind, Wiki};

/// Notes that a chunk of promotion or consolidation holds.
const CHUNK: usize = 25;

/// The lane's name in the ledger.
const LANE: &str = "consolidate";

/// What the lane would look at. The notes that changed are counted only where there are enough of them all.
///
/// # Errors
/// When the repository cannot be read.
pub(super) fn planned(
    wiki: &Wiki,
    state: &State,
    request: &Request,
    strategy: &Strategy,
) -> git::Result<Consolidation> {
    let mut notes = wiki.pages()?;
    notes.retain(|(path, _)| is_note_in_scope(wiki, request, &path.to_string()));
    let (pool, least) = (notes.len(), strategy.promote.pool);
    let few = wiki.config.settings.consolidate.min_dirty;
    let mut delta = None;
    let reason = if !strategy.promote.enabled {
        "the strategy leaves it out".to_owned()
    } else if pool < least {
        "too few notes".to_owned()
    } else {
        match *delta.insert(changed(wiki, state, &notes)?) {
            new if new < few => format!("{new} of them are new to it, fewer than {few} (consolidate.min_dirty)"),
            _ => NOT_BUILT.to_owned(),
        }
    };
    Ok(Consolidation { pool, least, delta, chunks: pool.div_ceil(CHUNK), would_run: false, reason })
}

fn is_note_in_scope(wiki: &Wiki, request: &Request, path: &str) -> bool {
    let scope = wiki.scopes.of_page(path);
    let below = path.strip_prefix(scope.path.as_str()).unwrap_or(path).trim_start_matches('/');
    request.scope.as_ref().is_none_or(|wanted| scope.name == *wanted) && wiki.layout.kind_of(below) == Some(Kind::Note)
}

/// How many of the notes were written or read since the lane last ran; where it never did, since the wiki began to
/// review by itself.
fn changed(wiki: &Wiki, state: &State, notes: &[(BString, Oid)]) -> git::Result<usize> {
    let mut heard = heard::load(&wiki.repo, Cache::ReadOnly)?;
    heard.add(&spool::waiting(&wiki.repo).events);
    let last = state.pages.values().filter_map(|lanes| lanes.get(LANE)?.at).max();
    let mut stood = BTreeMap::<Timestamp, HashSet<(BString, Oid)>>::new();
    let mut count = 0;
    for note in notes {
        let path = note.0.to_string();
        let Some(since) = last.or_else(|| state.watermarks.get(&wiki.scopes.of_page(&path).name).copied()) else {
            // Nothing is known of any time before: all of it is new.
            count += 1;
            continue;
        };
        let then = match stood.entry(since) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(as_of(wiki, since)?),
        };
        let is_read = heard.last_use(&path).is_some_and(|last| last > since);
        count += usize::from(is_read || !then.contains(note));
    }
    Ok(count)
}

/// The pages as they stood then.
fn as_of(wiki: &Wiki, time: Timestamp) -> git::Result<HashSet<(BString, Oid)>> {
    let then = wiki.tip.map(|tip| wiki.repo.as_of(tip, time.as_second())).transpose()?.flatten();
    Ok(then.map_or(Ok(Vec::new()), |then| wiki.pages_at(then))?.into_iter().collect())
}
