//! The review lane without a model: fixed rules, which compare with other sessions of the scope.

use sha2::{Digest, Sha256};

use super::super::{Bench, Found};
use super::said_before::SaidBefore;
use crate::git;
use crate::improve::builtin;
use crate::improve::plan::Selected;
use crate::improve::run::{Call, RejectedCandidate};
use crate::proposal::Candidate;
use crate::proposal::context::Cited;
use crate::session::{self, Stored};

/// Other sessions of the scope that the built-in reviewer compares with, newest first.
const HISTORY: usize = 20;

/// One session. `None` when it is gone meanwhile.
pub(super) fn review(bench: &Bench<'_>, selected: &Selected) -> git::Result<Option<Found>> {
    let clock = std::time::Instant::now();
    let wiki = bench.wiki;
    let Some((stored, session, page)) = session::load(&wiki.repo, selected.subject())? else { return Ok(None) };
    let mut others: Vec<&Stored> = bench
        .sessions
        .iter()
        .filter(|other| other.meta.scope == selected.scope && other.meta.id != selected.subject() && !other.meta.own)
        .filter(|other| other.meta.prompts > 0 && other.observations_blob.is_some())
        .collect();
    others.sort_unstable_by_key(|other| std::cmp::Reverse((other.meta.ended, other.meta.id.clone())));
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
    let mut found = builtin::review(&cited[0].session, &history);
    // The rules know of kinds and their folders; a scope's pages stand below its own.
    if let Ok(scope) = wiki.scopes.named(&selected.scope)
        && !scope.path.is_empty()
    {
        found.iter_mut().for_each(|candidate| candidate.path = format!("{}/{}", scope.path, candidate.path));
    }
    let (found, rejected) = new_ones(bench, selected, found)?;
    let candidates = found.into_iter().map(Ok).collect();
    let input: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let call = Call {
        input_sha256: input,
        ms: u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX),
        ..Call::new("review", "builtin", selected)
    };
    Ok(Some(Found { cited, candidates, rejected, calls: vec![call], ..Found::default() }))
}

/// Parts what is new from what a page says already, or was turned down, in other words.
fn new_ones(
    bench: &Bench<'_>,
    selected: &Selected,
    found: Vec<Candidate>,
) -> git::Result<(Vec<Candidate>, Vec<RejectedCandidate>)> {
    if found.is_empty() {
        return Ok((found, Vec::new()));
    }
    let said = SaidBefore::load(bench, &selected.scope)?;
    let (mut new, mut rejected) = (Vec::new(), Vec::new());
    for candidate in found {
        match said.of(&candidate) {
            None => new.push(candidate),
            Some(reason) => rejected.push(RejectedCandidate {
                session: selected.subject().to_owned(),
                path: candidate.path,
                reason: reason.to_owned(),
                evidence: candidate.evidence.first().map_or_else(String::new, |evidence| evidence.quote.clone()),
            }),
        }
    }
    Ok((new, rejected))
}
