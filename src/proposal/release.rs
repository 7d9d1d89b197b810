//! Release: what was held back behind another proposal is brought onto the branch as it is now, once that is decided.

use super::desk::Desk;
use super::error::Result;
use super::replay::{Replayed, replay};
use super::sidecar::recorded_changes;
use super::stage::{AUTO_IMPROVE, Draft, Stale};
use super::{PageChange, ProposalId, Sidecar, View};
use crate::git::{Batch, Oid, Person};
use crate::wiki::Wiki;

/// The drafts that were held back behind a proposal that has been decided since. What changed on the branch meanwhile
/// stays: each is made anew on it, and one that does not fit any more stands on the commit that it was made on, in
/// conflict. One whose commit is not here (another clone made it) is held back further. Writes nothing.
pub fn released(view: &View, wiki: &Wiki) -> Result<Vec<Draft>> {
    let mut drafts = Vec::new();
    for (id, behind) in &view.state.held {
        let waits = view.items.iter().any(|item| item.id() == behind && item.status.is_open());
        if waits {
            continue;
        }
        let Ok(Some(sidecar)) = Sidecar::load(&wiki.repo, id) else { continue };
        let Ok(id) = id.parse::<ProposalId>() else { continue };
        let recorded = recorded_changes(&wiki.repo, id.as_str(), &sidecar.paths)?;
        let Some((changes, stale)) = fitted(wiki, &sidecar, recorded)? else { continue };
        let author = if sidecar.actor == AUTO_IMPROVE {
            Person::parse(&wiki.config.settings.improve.proposal_actor)
        } else {
            Person::parse(&sidecar.actor)
        };
        let Some(author) = author else { continue };
        drafts.push(Draft {
            scope: sidecar.scope,
            lane: sidecar.lane,
            operation: sidecar.operation,
            kind: sidecar.kind,
            title: sidecar.title,
            confidence: sidecar.confidence,
            rationale: sidecar.rationale,
            author,
            actor: sidecar.actor,
            operator: sidecar.operator.as_deref().and_then(Person::parse),
            session: sidecar.session,
            model: sidecar.model,
            run: sidecar.run,
            evidence: sidecar.evidence,
            edits: sidecar.edits,
            notes: sidecar.notes,
            gates: sidecar.gates,
            deferred: sidecar.deferred,
            id,
            changes,
            stale,
        });
    }
    Ok(drafts)
}

/// The change on the branch as it is now, or as it was recorded where it does not fit there.
fn fitted(
    wiki: &Wiki,
    sidecar: &Sidecar,
    recorded: Vec<PageChange>,
) -> Result<Option<(Vec<PageChange>, Option<Stale>)>> {
    let tip = Desk::tip(wiki)?;
    let conflict = match replay(&mut Batch::new(&wiki.repo), wiki, &recorded, &sidecar.edits, tip)? {
        Replayed::Pages(pages) => return Ok(Some((pages, None))),
        // Whoever decides on it sees that there is nothing left of it.
        Replayed::NoChange => None,
        Replayed::Conflict { reason, files } => Some((reason, files)),
    };
    let Ok(base) = Oid::from_hex(sidecar.base.as_bytes()) else { return Ok(None) };
    if wiki.repo.commit(base).is_err() {
        return Ok(None);
    }
    for page in &recorded {
        if wiki.repo.file(base, wiki.full_path(&page.path).as_ref())? != page.before {
            return Ok(None);
        }
    }
    Ok(Some((recorded, Some(Stale { base, conflict }))))
}
