//! A proposal as it is listed and shown, and the marks beside it.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Evidence, Item, Operation, PageChange, Sidecar, sidecar};
use crate::ledger::{Failed, Status};
use crate::wiki::{Edit, Kind, Wiki};

/// A proposal in a list.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// 16 hex digits.
    pub id: String,
    /// Where it stands.
    pub status: Status,
    /// The kind of its page.
    pub kind: String,
    /// `create`, `update`, `retire` or `supersede`.
    pub operation: String,
    /// The lane that made it.
    pub lane: String,
    /// Its scope.
    pub scope: String,
    /// Its pages, relative to the wiki's root.
    pub paths: Vec<String>,
    /// Its title.
    pub title: String,
    /// 0 to 1.
    pub confidence: f64,
    /// Who wrote the change.
    pub actor: String,
    /// The person whose git identity ran it.
    pub operator: Option<String>,
    /// The session it came from.
    pub session: Option<String>,
    /// When it was staged.
    pub staged_at: jiff::Timestamp,
    /// When its state changed last.
    pub changed_at: jiff::Timestamp,
    /// Why only a person's explicit yes lands it, if so.
    pub needs_person: Option<String>,
    /// Why no policy may accept it, if so.
    pub deferred: Option<String>,
    /// People changed it after it was staged.
    pub edited: bool,
    /// Why it was rejected or reverted; what it conflicts with.
    pub reason: Option<String>,
    /// Who decided.
    pub decided_by: Option<String>,
    /// How often the same lesson was found again.
    pub sightings: u32,
    /// The wiki commit that the change stands on.
    pub base: String,
    /// The commit of its branch.
    pub tip: String,
    /// The commit that landed it.
    pub landed: Option<String>,
}

impl Row {
    /// From what is known without reading pages.
    pub fn new(wiki: &Wiki, item: &Item) -> Row {
        let proposal = &item.proposal;
        let landing = item.landing.as_ref().filter(|landing| !landing.reversal).map(|landing| landing.commit.clone());
        Row {
            id: proposal.id.clone(),
            status: item.status,
            kind: proposal.kind.clone(),
            operation: proposal.operation.clone(),
            lane: proposal.lane.clone(),
            scope: proposal.scope.clone(),
            paths: proposal.paths.clone(),
            title: proposal.title.clone(),
            confidence: proposal.confidence,
            actor: proposal.actor.clone(),
            operator: proposal.operator.clone(),
            session: proposal.session.clone(),
            staged_at: proposal.staged_at,
            changed_at: proposal.changed_at,
            needs_person: recorded_need(wiki, item),
            deferred: proposal.deferred.clone(),
            edited: item.was_edited(),
            reason: proposal.reason.clone(),
            decided_by: proposal.decided_by.clone(),
            sightings: proposal.sightings,
            base: proposal.base.clone(),
            tip: item.tip.map_or_else(|| proposal.tip.clone(), |tip| tip.to_string()),
            landed: landing.or_else(|| proposal.landed.clone()),
        }
    }
}

/// Why an open proposal needs a person's explicit yes, as far as that can be told without reading its page: a list
/// of thousands must not read thousands of pages. A page may protect itself in its frontmatter as well.
fn recorded_need(wiki: &Wiki, item: &Item) -> Option<String> {
    if !item.status.is_open() {
        return None;
    }
    if item.proposal.kind == Kind::Rule.as_str() {
        return Some("it is a rule".into());
    }
    if item.proposal.operation == Operation::Retire.as_str() {
        return Some("it retires a page".into());
    }
    item.proposal.paths.iter().find_map(|path| wiki.protection.reason_of_path(path))
}

/// The marks beside a proposal, in words.
pub fn marks(row: &Row) -> Vec<String> {
    let mut marks = Vec::new();
    if row.status.is_open() && (row.needs_person.is_some() || row.deferred.is_some()) {
        marks.push("needs-person".to_owned());
    }
    if row.edited {
        marks.push("edited".to_owned());
    }
    if row.sightings > 0 {
        marks.push(format!("seen +{}", row.sightings));
    }
    if row.status == Status::Conflicted
        && let Some(reason) = &row.reason
    {
        marks.push(reason.clone());
    }
    marks
}

/// A proposal with all that is known of it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Full {
    /// What a list has.
    #[serde(flatten)]
    pub row: Row,
    /// Why it is worth keeping.
    pub rationale: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// The edits, for an update by sections.
    pub edits: Vec<Edit>,
    /// What each gate said.
    pub gates: Map<String, Value>,
    /// What each gate said of the text that people had made of it, when that landed.
    pub edited_gates: Map<String, Value>,
    /// Why the last accept of its text as it is now was refused, if that was for what it says.
    pub refused: Option<Failed>,
    /// Notes of validation.
    pub notes: Vec<String>,
    /// `provider/model`, or `builtin`; nothing for a person's.
    pub model: Option<String>,
    /// The run that staged it.
    pub run: Option<String>,
    /// 3 (can wait) to 7 (look at it first).
    pub priority: Option<u8>,
    /// The change, page by page.
    pub changes: Vec<Changed>,
}

/// One page's change.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changed {
    /// Relative to the wiki's root.
    pub path: String,
    /// The text before; nothing for a new page. What is no UTF-8 is replaced.
    pub before: Option<String>,
    /// The text after; nothing for a page that goes away.
    pub after: Option<String>,
    /// The unified diff.
    pub diff: String,
}

impl Full {
    /// From its parts.
    pub fn new(wiki: &Wiki, item: &Item, sidecar: Option<Sidecar>, changes: &[PageChange]) -> Full {
        let changes = changes.iter().map(|change| Changed {
            path: change.path.clone(),
            before: change.before.as_deref().map(|text| String::from_utf8_lossy(text).into_owned()),
            after: change.after.as_deref().map(|text| String::from_utf8_lossy(text).into_owned()),
            diff: sidecar::diff(change),
        });
        let bare = Full {
            row: Row::new(wiki, item),
            rationale: String::new(),
            evidence: Vec::new(),
            edits: Vec::new(),
            gates: Map::new(),
            edited_gates: item.proposal.gates.clone(),
            refused: item.refused_as_it_is().cloned(),
            notes: Vec::new(),
            model: None,
            run: None,
            priority: None,
            changes: changes.collect(),
        };
        let Some(sidecar) = sidecar else { return bare };
        Full {
            rationale: sidecar.rationale,
            evidence: sidecar.evidence,
            edits: sidecar.edits,
            gates: sidecar.gates,
            notes: sidecar.notes,
            model: sidecar.model,
            run: sidecar.run,
            priority: sidecar.priority,
            ..bare
        }
    }
}
