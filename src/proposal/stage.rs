//! Staging: a validated change becomes a branch under `refs/memory/pending/`, a sidecar and an event, all at once.

use std::collections::HashSet;

use bstr::{BString, ByteSlice};
use serde_json::{Map, Value};

use super::desk::Desk;
use super::error::Result;
use super::message::{self, Facts};
use super::sidecar::folder;
use super::validate::Valid;
use super::view::PENDING;
use super::{Evidence, Item, Operation, PageChange, ProposalId, Sidecar};
use crate::git::{Batch, Entry, Mode, NewCommit, Oid, Person, RefEdit};
use crate::ledger::{self, Append, Event, EventKind, Status};
use crate::wiki::{Edit, EditOp, Kind, Wiki, priority};

/// A change that passed validation, ready to be staged.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The scope it belongs to.
    pub scope: String,
    /// The lane that made it.
    pub lane: String,
    /// What it does.
    pub operation: Operation,
    /// The kind of its page.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// 0 to 1.
    pub confidence: f64,
    /// Why it is worth keeping.
    pub rationale: String,
    /// Who wrote it, as the change commit's author.
    pub author: Person,
    /// Who wrote it, as events name it: `auto_improve`, or a person.
    pub actor: String,
    /// The person whose git identity ran it; `None` for runs without a person.
    pub operator: Option<Person>,
    /// The session it came from.
    pub session: Option<String>,
    /// `provider/model`, `builtin`, or nothing for a person's.
    pub model: Option<String>,
    /// The run.
    pub run: Option<String>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// The edits of an update by sections.
    pub edits: Vec<Edit>,
    /// Notes of validation.
    pub notes: Vec<String>,
    /// What each gate said.
    pub gates: Map<String, Value>,
    /// Why a person must decide, if so.
    pub deferred: Option<String>,
    /// Its id.
    pub id: ProposalId,
    /// The pages, before and after.
    pub changes: Vec<PageChange>,
    /// For one that does not fit today's branch: where it stands instead.
    pub stale: Option<Stale>,
}

/// An earlier commit that a draft was made on, and stays on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// The commit.
    pub base: Oid,
    /// What conflicts with it on today's branch: why, and in which files.
    pub conflict: Option<(String, Vec<String>)>,
}

impl Draft {
    /// From a valid candidate; who made it, and where, is for the caller to say.
    pub fn of(valid: Valid) -> Draft {
        let mut notes = valid.notes;
        if valid.redacted {
            notes.push("a secret was taken out of what it quotes".into());
        }
        let candidate = valid.candidate;
        Draft {
            scope: String::new(),
            lane: String::new(),
            operation: candidate.operation,
            kind: candidate.kind,
            title: candidate.title,
            confidence: candidate.confidence,
            rationale: candidate.rationale,
            author: Person { name: String::new(), email: String::new() },
            actor: String::new(),
            operator: None,
            session: None,
            model: None,
            run: None,
            evidence: candidate.evidence,
            edits: candidate.edits,
            notes,
            gates: Map::new(),
            deferred: valid.deferred,
            id: valid.id,
            changes: valid
                .changes
                .into_iter()
                .map(|(path, written)| PageChange { path, before: written.before, after: written.after })
                .collect(),
            stale: None,
        }
    }
}

/// What became of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Staging {
    /// A new proposal.
    Staged,
    /// Known already; where it stands.
    Sighted(Status),
    /// An accepted lesson that the wiki has lost: pending again, for a person.
    Reopened,
    /// Another open proposal of the same operator has the same target.
    Held {
        /// The page, or page and section.
        target: String,
        /// The proposal in the way.
        behind: String,
    },
}

/// Stages drafts in the order given. `more` (the run's own events and files) lands in the same commit of the ledger.
pub fn stage(desk: &mut Desk, wiki: &Wiki, drafts: &[Draft], mut more: Append) -> Result<Vec<(ProposalId, Staging)>> {
    let tip = Desk::tip(wiki)?;
    let mut batch = Batch::new(&wiki.repo);
    let mut refs = Vec::new();
    let mut outcomes = Vec::new();
    let mut taken: Vec<(String, Vec<String>, String)> = desk
        .view
        .open()
        .into_iter()
        .map(|item| (bucket(item.proposal.operator.as_deref()), targets_of(item), item.id().to_owned()))
        .collect();
    let mut fresh = HashSet::new();
    for draft in drafts {
        let id = draft.id.as_str();
        let base = draft.stale.as_ref().map_or(tip, |stale| stale.base);
        let operator = draft.operator.as_ref().map(Person::to_string);
        let new = |kind| {
            Event::new(kind, &draft.scope, &draft.actor)
                .proposal(id)
                .run(draft.run.as_deref())
                .operator(operator.as_deref())
        };
        if let Some(item) = desk.view.items.iter().find(|item| item.id() == id) {
            let lost = item.status == Status::Accepted && !holds(wiki, tip, &draft.changes)?;
            let procedural =
                item.status == Status::Expired || (item.status == Status::Rejected && !item.proposal.merit);
            more.events.push(
                new(EventKind::Sighted)
                    .with("session", draft.session.clone())
                    .with("evidence", serde_json::to_value(&draft.evidence).unwrap_or_default()),
            );
            if lost || procedural {
                let change = change_commit(&mut batch, wiki, base, draft)?;
                refs.push(RefEdit { name: format!("{PENDING}{id}"), old: item.tip, new: Some(change) });
                more.events.push(
                    new(EventKind::Reopened)
                        .after(Some(item.proposal.last))
                        .with("tip", change.to_string())
                        .with("base", base.to_string())
                        .with("seen", item.landing.as_ref().map(|landing| landing.commit.clone()))
                        .with("deferred", if lost { Some(LOST.to_owned()) } else { draft.deferred.clone() }),
                );
                outcomes.push((draft.id.clone(), Staging::Reopened));
            } else {
                outcomes.push((draft.id.clone(), Staging::Sighted(item.status)));
            }
            continue;
        }
        if !fresh.insert(id.to_owned()) {
            more.events.push(new(EventKind::Sighted).with("session", draft.session.clone()));
            outcomes.push((draft.id.clone(), Staging::Sighted(Status::Pending)));
            continue;
        }
        let targets = targets(draft);
        let mine = bucket(operator.as_deref());
        if let Some((target, behind)) = collision(&taken, &mine, &targets) {
            more.files.extend(files(wiki, base, draft)?);
            more.events.push(new(EventKind::Held).with("target", target.as_str()).with("behind", behind.as_str()));
            outcomes.push((draft.id.clone(), Staging::Held { target, behind }));
            continue;
        }
        let change = change_commit(&mut batch, wiki, base, draft)?;
        refs.push(RefEdit { name: format!("{PENDING}{id}"), old: None, new: Some(change) });
        more.files.extend(files(wiki, base, draft)?);
        let staged = new(EventKind::Staged);
        if let Some((reason, files)) = draft.stale.as_ref().and_then(|stale| stale.conflict.clone()) {
            let conflicted = new(EventKind::Conflicted).after(Some(staged.id));
            more.events.push(conflicted.with("reason", reason).with("files", files));
        }
        more.events.push(
            staged
                .page(&draft.changes.first().map(|change| change.path.clone()).unwrap_or_default())
                .with("lane", draft.lane.as_str())
                .with("kind", draft.kind.as_str())
                .with("operation", draft.operation.as_str())
                .with("paths", draft.changes.iter().map(|change| change.path.clone()).collect::<Vec<_>>())
                .with("targets", targets.clone())
                .with("title", message::one_line(&draft.title, 200))
                .with("confidence", draft.confidence)
                .with("session", draft.session.clone())
                .with("model", draft.model.clone())
                .with("deferred", draft.deferred.clone())
                .with("base", base.to_string())
                .with("tip", change.to_string()),
        );
        taken.push((mine, targets, id.to_owned()));
        outcomes.push((draft.id.clone(), Staging::Staged));
    }
    if more.is_empty() {
        return Ok(outcomes);
    }
    batch.flush()?;
    crate::git::fault::point("stage.before-ledger");
    ledger::append(&wiki.repo, &more, &refs)?;
    crate::git::fault::point("stage.after-ledger");
    Ok(outcomes)
}

/// Why a person decides on a lesson that was accepted before.
const LOST: &str = "the wiki had it and lost it";

/// The actor of everything that the tool proposes by itself.
pub const AUTO_IMPROVE: &str = "auto_improve";

/// The change commit of a draft, on `base`.
fn change_commit(batch: &mut Batch, wiki: &Wiki, base: Oid, draft: &Draft) -> Result<Oid> {
    let tree = change_tree(batch, wiki, base, &draft.changes)?;
    let committer = match &draft.operator {
        Some(person) => person.clone(),
        None => wiki.repo.operator().unwrap_or_else(|_| draft.author.clone()),
    };
    let facts = Facts {
        id: draft.id.as_str(),
        run: draft.run.as_deref(),
        lane: &draft.lane,
        kind: draft.kind.as_str(),
        operation: draft.operation.as_str(),
        confidence: draft.confidence,
        session: draft.session.as_deref(),
        model: draft.model.as_deref(),
        path: draft.changes.first().map(|change| change.path.as_str()).unwrap_or_default(),
        title: &draft.title,
    };
    Ok(batch.commit(&NewCommit {
        tree,
        parents: vec![base],
        author: draft.author.clone(),
        committer,
        time: ledger::now().as_second(),
        message: message::change(&facts, &draft.rationale, &draft.evidence),
        sign: wiki.repo.signs(),
    })?)
}

/// The tree of `on` with these pages as they are to be.
pub(super) fn change_tree(batch: &mut Batch, wiki: &Wiki, on: Oid, changes: &[PageChange]) -> Result<Oid> {
    let tree = batch.repo().commit(on)?.tree;
    let mut edits: Vec<(BString, Option<Entry>)> = Vec::with_capacity(changes.len());
    for change in changes {
        let path = wiki.full_path(&change.path);
        let entry = match &change.after {
            Some(bytes) => {
                // An executable page stays one: only the text was reviewed.
                let mode = match batch.repo().entry(tree, path.as_bstr())? {
                    Some(Entry { mode: Mode::Executable, .. }) => Mode::Executable,
                    _ => Mode::Blob,
                };
                Some(Entry { mode, oid: batch.blob(bytes)? })
            }
            None => None,
        };
        edits.push((path, entry));
    }
    Ok(batch.tree(Some(tree), &edits)?)
}

/// The sidecar and the change itself, as files of the ledger.
fn files(wiki: &Wiki, base: Oid, draft: &Draft) -> Result<Vec<(String, Vec<u8>)>> {
    let mut base_blobs = Map::new();
    for change in &draft.changes {
        if let Some(entry) = wiki.repo.entry(base, wiki.full_path(&change.path).as_ref())? {
            base_blobs.insert(change.path.clone(), entry.oid.to_string().into());
        }
    }
    let sidecar = Sidecar {
        id: draft.id.to_string(),
        run: draft.run.clone(),
        lane: draft.lane.clone(),
        scope: draft.scope.clone(),
        operation: draft.operation,
        paths: draft.changes.iter().map(|change| change.path.clone()).collect(),
        kind: draft.kind,
        title: draft.title.clone(),
        confidence: draft.confidence,
        rationale: draft.rationale.clone(),
        actor: draft.actor.clone(),
        operator: draft.operator.as_ref().map(Person::to_string),
        session: draft.session.clone(),
        model: draft.model.clone(),
        base: base.to_string(),
        base_blobs,
        edits: draft.edits.clone(),
        evidence: draft.evidence.clone(),
        gates: draft.gates.clone(),
        notes: draft.notes.clone(),
        deferred: draft.deferred.clone(),
        staged_at: ledger::now(),
        priority: Some(priority::of_kind(draft.kind)),
    };
    let folder = folder(draft.id.as_str());
    let mut files = vec![(format!("{folder}/sidecar.md"), sidecar.render(&draft.changes).into_bytes())];
    for change in &draft.changes {
        if let Some(before) = &change.before {
            files.push((format!("{folder}/before/{}", change.path), before.clone()));
        }
        if let Some(after) = &change.after {
            files.push((format!("{folder}/after/{}", change.path), after.clone()));
        }
    }
    Ok(files)
}

/// What a draft aims at: `page`, or `page#section` for an edit of a section.
fn targets(draft: &Draft) -> Vec<String> {
    let by_heading = |edit: &&Edit| !matches!(edit.op, EditOp::SetField | EditOp::ReplaceText);
    let sections = draft.edits.iter().filter(by_heading).filter(|edit| !edit.anchor.is_empty());
    let by_section = !draft.edits.is_empty() && sections.clone().count() == draft.edits.len();
    match (by_section, draft.changes.first()) {
        (true, Some(change)) => {
            sections.map(|edit| format!("{}#{}", change.path, edit.anchor.trim_start_matches('#').trim())).collect()
        }
        _ => draft.changes.iter().map(|change| change.path.clone()).collect(),
    }
}

fn targets_of(item: &Item) -> Vec<String> {
    item.proposal.targets.as_ref().unwrap_or(&item.proposal.paths).clone()
}

/// Operators are told apart by their address; runs without a person share one bucket.
fn bucket(operator: Option<&str>) -> String {
    let address = operator.and_then(|person| person.rsplit_once('<')).map(|(_, rest)| rest.trim_end_matches('>'));
    address.unwrap_or_default().to_ascii_lowercase()
}

/// The target that is taken, and by which proposal. A whole page collides with each of its sections.
fn collision(taken: &[(String, Vec<String>, String)], mine: &str, targets: &[String]) -> Option<(String, String)> {
    let page = |target: &str| target.split_once('#').map_or(target.to_owned(), |(page, _)| page.to_owned());
    let whole = |target: &str| !target.contains('#');
    for (bucket, theirs, id) in taken.iter().filter(|(bucket, ..)| bucket == mine) {
        debug_assert_eq!(bucket, mine);
        for target in targets {
            let hit = theirs
                .iter()
                .any(|other| other == target || (page(other) == page(target) && (whole(other) || whole(target))));
            if hit {
                return Some((target.clone(), id.clone()));
            }
        }
    }
    None
}

/// Whether the pages still say what the change made them say: at least six of ten of the lines it added.
fn holds(wiki: &Wiki, tip: Oid, changes: &[PageChange]) -> Result<bool> {
    for change in changes {
        let Some(now) = wiki.repo.file(tip, wiki.full_path(&change.path).as_ref())? else {
            if change.after.is_some() {
                return Ok(false);
            }
            continue;
        };
        let lines = |bytes: &[u8]| -> HashSet<String> {
            bytes.lines().map(|line| line.trim().to_str_lossy().into_owned()).filter(|line| !line.is_empty()).collect()
        };
        let before = lines(change.before.as_deref().unwrap_or_default());
        let added: Vec<String> = lines(change.after.as_deref().unwrap_or_default())
            .into_iter()
            .filter(|line| !before.contains(line))
            .collect();
        let now = lines(&now);
        let kept = added.iter().filter(|line| now.contains(*line)).count();
        if kept * 10 < added.len() * 6 {
            return Ok(false);
        }
    }
    Ok(true)
}
