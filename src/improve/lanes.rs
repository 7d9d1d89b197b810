//! The lanes: each turns what was selected into candidates.

use sha2::{Digest, Sha256};

use super::builtin;
use super::plan::Selected;
use crate::git;
use crate::proposal::Candidate;
use crate::proposal::context::Cited;
use crate::session::{self, Stored};
use crate::wiki::Wiki;

/// What a lane found in one session.
pub struct Found {
    /// What evidence may cite: the session itself first.
    pub cited: Vec<Cited>,
    /// What it wants to change.
    pub candidates: Vec<Candidate>,
    /// SHA-256 over the blobs that were read, the lane, the provider and the version.
    pub input_sha256: String,
}

/// Other sessions of the scope that the reviewer compares with, newest first.
const HISTORY: usize = 20;

/// The review lane: one session, with the built-in reviewer. `None` when the session is gone meanwhile.
pub fn review(wiki: &Wiki, selected: &Selected, sessions: &[Stored]) -> git::Result<Option<Found>> {
    let Some((stored, session, page)) = session::load(&wiki.repo, &selected.session)? else { return Ok(None) };
    let mut others: Vec<&Stored> = sessions
        .iter()
        .filter(|other| other.meta.scope == selected.scope && other.meta.id != selected.session && !other.meta.own)
        .filter(|other| other.meta.prompts > 0 && other.observations_blob.is_some())
        .collect();
    others.sort_by_key(|other| std::cmp::Reverse((other.meta.ended, other.meta.id.clone())));
    let mut digest = Sha256::new();
    digest.update(format!("review builtin {}\n{}\n", env!("CARGO_PKG_VERSION"), selected.blob));
    let mut cited =
        vec![Cited { session, page, page_blob: stored.page_blob, observations_blob: stored.observations_blob }];
    for other in others.into_iter().take(HISTORY) {
        if let Some((stored, session, page)) = session::load(&wiki.repo, &other.meta.id)? {
            digest.update(format!("{:?}\n", stored.observations_blob));
            cited.push(Cited {
                session,
                page,
                page_blob: stored.page_blob,
                observations_blob: stored.observations_blob,
            });
        }
    }
    let history: Vec<_> = cited[1..].iter().map(|cited| cited.session.clone()).collect();
    let candidates = builtin::review(&cited[0].session, &history);
    let input_sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Some(Found { cited, candidates, input_sha256 }))
}
