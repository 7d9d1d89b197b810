//! The captured sessions with what became of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::git::{self, Oid, Repo};
use crate::ledger::{self, Cache, Status, cache};
use crate::proposal::{Sidecar, View, context};
use crate::session::{self, Meta, Stored};
use crate::wiki::Wiki;

/// One captured session.
#[derive(Debug, Clone, PartialEq)]
pub struct Captured {
    /// What was recorded of it.
    pub meta: Meta,
    /// What became of it.
    pub standing: Standing,
    /// Its observations are there; later only its page is.
    pub raw: bool,
}

/// What became of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// No run has looked at it, or not at what it has now.
    Unseen,
    /// A run looked at it.
    Reviewed,
    /// A run passed it over, for this reason.
    Skipped(String),
    /// Its reviews failed too often; it is not tried again by itself.
    Parked,
}

/// All captured sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sessions {
    /// Those that can be read, by id.
    pub all: Vec<Captured>,
    /// Refs whose session cannot be read, in words.
    pub faults: Vec<String>,
}

/// What the cache keeps of one session: enough to say how it stands without reading an object.
#[derive(Clone, Serialize, Deserialize)]
struct Known {
    commit: String,
    /// The blob that a review names as what it saw.
    content: String,
    raw: bool,
    meta: Meta,
}

const FILE: &str = "sessions.json";
const SHAPE: &str = "2";

/// Lists the sessions. Reads the objects of those alone that have changed since it was done last; one that is broken
/// is told among the faults and hides no other.
///
/// # Errors
/// When the refs or the ledger cannot be read at all.
pub fn list(repo: &Repo) -> git::Result<Sessions> {
    let state = ledger::load(repo, Cache::Use)?;
    let mut before: BTreeMap<String, Known> = cache::read(repo, FILE, SHAPE).unwrap_or_default();
    let had = before.len();
    let mut now = BTreeMap::new();
    let mut found = Sessions::default();
    let mut fresh = false;
    for (name, commit) in repo.references(session::REFS)? {
        let id = name[session::REFS.len()..].to_owned();
        let hex = commit.to_string();
        let known = match before.remove(&id).filter(|known| known.commit == hex) {
            Some(known) => known,
            None => match session::at(repo, commit) {
                Ok(stored) => {
                    fresh = true;
                    known(commit, stored)
                }
                Err(error) => {
                    found.faults.push(format!("{name}: {error}"));
                    continue;
                }
            },
        };
        let standing = match state.reviews.get(&known.meta.id) {
            Some(review) if review.is_parked() => Standing::Parked,
            // Once its observations were dropped there is nothing new in it.
            Some(review) if review.has_seen(&known.content) || !known.raw && review.seen.is_some() => {
                review.skipped.clone().map_or(Standing::Reviewed, Standing::Skipped)
            }
            _ => Standing::Unseen,
        };
        found.all.push(Captured { meta: known.meta.clone(), standing, raw: known.raw });
        now.insert(id, known);
    }
    if fresh || now.len() != had {
        cache::write(repo, FILE, SHAPE, &now);
    }
    Ok(found)
}

fn known(commit: Oid, stored: Stored) -> Known {
    let raw = stored.observations_blob.is_some();
    let content = stored.observations_blob.unwrap_or(stored.page_blob);
    Known { commit: commit.to_string(), content: content.to_string(), raw, meta: stored.meta }
}

/// A proposal that quotes a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoting {
    /// The proposal.
    pub proposal: String,
    /// Where it stands.
    pub status: Status,
    /// Its title.
    pub title: String,
    /// The session.
    pub session: String,
}

/// The proposals that quote one of these sessions, or were made from it.
///
/// # Errors
/// When the ledger, or the record of a proposal, cannot be read.
pub fn quoting(wiki: &Wiki, ids: &[&str]) -> git::Result<Vec<Quoting>> {
    let mut found = Vec::new();
    for item in View::load(wiki, Cache::Use)?.items {
        let sidecar = Sidecar::load(&wiki.repo, item.id())?;
        let sources = sidecar.iter().flat_map(|sidecar| &sidecar.evidence).map(|evidence| evidence.source.as_str());
        let named: Vec<&str> =
            sources.filter_map(context::session_of).chain(item.proposal.session.as_deref()).collect();
        for id in ids.iter().filter(|id| named.contains(id)) {
            let (proposal, title) = (item.proposal.id.clone(), item.proposal.title.clone());
            found.push(Quoting { proposal, status: item.status, title, session: (*id).to_owned() });
        }
    }
    Ok(found)
}
