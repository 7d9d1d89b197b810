//! Proposing by hand: what a person, a script or an agent hands in is validated and staged.

use serde::Serialize;
use serde_json::{Value, json};

use super::context::{Author, Desktop};
use super::desk::Desk;
use super::error::Result;
use super::stage::{Draft, Staging, stage};
use super::validate::Valid;
use super::{ProposalId, Refusal};
use crate::git::Person;
use crate::ledger::{Append, Event, EventKind, Status};
use crate::wiki::Wiki;
use crate::wiki::scope::Scope;

/// Who hands in what is proposed.
#[derive(Debug, Clone)]
pub struct Writer {
    /// Who wrote it: the operator, or an agent.
    pub person: Person,
    /// The person whose git identity runs this process.
    pub operator: Person,
    /// A person by hand, who needs neither evidence nor confidence.
    pub by_hand: bool,
    /// Why no policy may accept it, if so.
    pub deferred: Option<String>,
}

/// What became of one thing that was proposed.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Made {
    /// The page.
    pub path: String,
    /// `staged`, `sighted` (known already), `reopened`, `held` (another waits for the same target) or `refused`.
    pub outcome: String,
    /// The proposal.
    pub id: Option<String>,
    /// Refused: the reason's word. Sighted: where the proposal stands.
    pub code: Option<String>,
    /// Why, in words.
    pub message: Option<String>,
    /// Held: the page, or page and section, that another proposal aims at.
    pub target: Option<String>,
    /// Held: that proposal.
    pub behind: Option<String>,
    /// What was mended on the way.
    pub notes: Vec<String>,
}

impl Made {
    /// Whether it waits for a decision now, or did, or was accepted.
    pub fn is_well(&self) -> bool {
        match self.outcome.as_str() {
            "staged" | "reopened" => true,
            "sighted" => self.code.as_deref() != Some(Status::Rejected.as_str()),
            _ => false,
        }
    }
}

/// Validates and stages candidates as a script spells them; one that is no JSON comes as the reason why. `scope` is
/// the scope of all of them; without one, that of each page. Each is answered for, in the order given.
///
/// # Errors
/// When the repository cannot be read or written, or another process is deciding.
pub fn propose(
    wiki: &mut Wiki,
    scope: Option<&Scope>,
    writer: &Writer,
    raw: Vec<Result<Value, String>>,
) -> Result<Vec<Made>> {
    let by = writer.person.to_string();
    let author = Author { by_person: writer.by_hand, ..Author::machine(&by, None) };
    let mut desk = Desk::open(wiki)?;
    let mut desktop = Desktop::load(wiki, &desk.view)?;
    let mut results: Vec<Made> = Vec::new();
    let mut drafts: Vec<(usize, Draft)> = Vec::new();
    let mut more = Append::new(String::new());
    for raw in raw {
        let place = results.len();
        let raw = match raw {
            Ok(raw) => raw,
            Err(why) => {
                results.push(refused(String::new(), "not_json", why));
                continue;
            }
        };
        let path = raw["path"].as_str().unwrap_or_default().to_owned();
        let scope = scope.unwrap_or_else(|| wiki.scopes.of_page(&path)).clone();
        match validated(wiki, &mut desktop, &scope, author, complete(raw))? {
            Ok(valid) => {
                results.push(Made { path, notes: valid.notes.clone(), ..Made::default() });
                let mut draft = Draft {
                    scope: scope.name.clone(),
                    lane: "manual".into(),
                    author: writer.person.clone(),
                    actor: by.clone(),
                    operator: Some(writer.operator.clone()),
                    ..Draft::of(*valid)
                };
                draft.deferred = draft.deferred.or_else(|| writer.deferred.clone());
                drafts.push((place, draft));
            }
            Err(refusal) => results.push(match known(&desk, &refusal) {
                Some((id, status, last)) => {
                    let sighted = Event::new(EventKind::Sighted, &scope.name, &by);
                    let operator = writer.operator.to_string();
                    more.events.push(sighted.proposal(id.as_str()).operator(Some(&operator)).after(Some(last)));
                    sighting(refusal.path, &id, status)
                }
                None => refused(refusal.path, &refusal.code.to_string(), refusal.reason),
            }),
        }
    }
    let staged: Vec<Draft> = drafts.iter().map(|(_, draft)| draft.clone()).collect();
    more.subject = match &staged[..] {
        [one] => format!("memory: propose {}", one.id),
        many => format!("memory: propose {} pages", many.len()),
    };
    let outcomes = stage(&mut desk, wiki, &staged, more)?;
    for ((place, draft), (id, staging)) in drafts.into_iter().zip(outcomes) {
        let notes = std::mem::take(&mut results[place].notes);
        let path = draft.changes.first().map(|change| change.path.clone()).unwrap_or_default();
        let done = |outcome: &str| Made {
            path: path.clone(),
            outcome: outcome.into(),
            id: Some(id.to_string()),
            notes,
            ..Made::default()
        };
        results[place] = match staging {
            Staging::Staged => done("staged"),
            Staging::Reopened => done("reopened"),
            Staging::Sighted(status) => sighting(path, &id, status),
            Staging::Held { target, behind } => Made {
                message: Some(format!("proposal {behind} waits for {target}; this one is staged when that is decided")),
                target: Some(target),
                behind: Some(behind),
                ..done("held")
            },
        };
    }
    Ok(results)
}

/// What who proposes by hand leaves unsaid.
fn complete(mut raw: Value) -> Value {
    if let Some(fields) = raw.as_object_mut() {
        fields.entry("confidence").or_insert(json!(1.0));
    }
    raw
}

fn validated(
    wiki: &Wiki,
    desktop: &mut Desktop,
    scope: &Scope,
    author: Author<'_>,
    raw: Value,
) -> Result<Result<Box<Valid>, Refusal>> {
    let candidate = match desktop.normalise(wiki, scope, author, &raw) {
        Ok(candidate) => candidate,
        Err(refusal) => return Ok(Err(refusal)),
    };
    // What another candidate of another scope cited is not known here.
    desktop.cite(Vec::new(), Vec::new());
    for evidence in &candidate.evidence {
        // A source that cannot be read is one that no quote stands in.
        let _ = desktop.cite_source(wiki, scope, &evidence.source);
    }
    // Each by itself: the limits of a run are not for what people hand in.
    let (mut valid, mut refused) = desktop.validate(wiki, scope, author, vec![Ok(candidate)])?;
    Ok(match valid.pop() {
        Some(valid) => Ok(Box::new(valid)),
        None => Err(refused.pop().expect("validation answers for every candidate")),
    })
}

fn known(desk: &Desk, refusal: &Refusal) -> Option<(ProposalId, Status, ulid::Ulid)> {
    let id = refusal.proposal.clone()?;
    let item = desk.view.items.iter().find(|item| item.id() == id.as_str())?;
    Some((id, item.status, item.proposal.last))
}

fn refused(path: String, code: &str, message: String) -> Made {
    Made { path, outcome: "refused".into(), code: Some(code.to_owned()), message: Some(message), ..Made::default() }
}

fn sighting(path: String, id: &ProposalId, status: Status) -> Made {
    Made {
        path,
        outcome: "sighted".into(),
        id: Some(id.to_string()),
        code: Some(status.to_string()),
        message: Some(format!("the same was proposed before: {id} is {status}")),
        ..Made::default()
    }
}
