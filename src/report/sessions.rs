//! The captured sessions with what became of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cache;
use crate::git::{self, Oid, Repo};
use crate::ledger::{self, Cache};
use crate::session::{self, Meta, Stored};

/// One captured session.
#[derive(Debug, Clone, PartialEq)]
pub struct Captured {
    /// What was recorded of it.
    pub meta: Meta,
    /// What became of it.
    pub standing: Standing,
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
    meta: Meta,
}

const FILE: &str = "sessions.json";
const SHAPE: &str = "1";

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
            Some(review) if review.has_seen(&known.content) => {
                review.skipped.clone().map_or(Standing::Reviewed, Standing::Skipped)
            }
            _ => Standing::Unseen,
        };
        found.all.push(Captured { meta: known.meta.clone(), standing });
        now.insert(id, known);
    }
    if fresh || now.len() != had {
        cache::write(repo, FILE, SHAPE, &now);
    }
    Ok(found)
}

fn known(commit: Oid, stored: Stored) -> Known {
    let content = stored.observations_blob.unwrap_or(stored.page_blob);
    Known { commit: commit.to_string(), content: content.to_string(), meta: stored.meta }
}
