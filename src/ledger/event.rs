//! One event of the ledger.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ulid::Ulid;

/// What happened. Kinds of newer versions are kept as [`EventKind::Unknown`] and passed over.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // the words are the spec's own
pub enum EventKind {
    Captured,
    Claimed,
    Released,
    Watermark,
    Staged,
    Sighted,
    Held,
    Edited,
    Accepted,
    Refused,
    Rejected,
    Reopened,
    Reverted,
    Conflicted,
    Expired,
    Published,
    Feedback,
    Episode,
    Outcome,
    Skipped,
    Downgraded,
    Purged,
    Synced,
    #[serde(untagged)]
    Unknown(String),
}

/// One event: a line of a segment under `events/`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The version of this shape.
    pub v: u32,
    /// When it was made, and unique.
    pub id: Ulid,
    /// What happened.
    pub kind: EventKind,
    /// When, UTC.
    pub at: Timestamp,
    /// The scope it belongs to.
    pub scope: String,
    /// Who wrote the change, or caused the event: `auto_improve`, or `Name <address>`.
    pub actor: String,
    /// The person whose git identity ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// The run it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The proposal it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
    /// The page it is about, relative to the wiki's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The event that this one follows, where it changes a proposal's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Ulid>,
    /// What else belongs to this kind.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Value>,
    /// Fields of newer versions, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl EventKind {
    /// Whether it changes the state of the proposal it names.
    pub fn decides(&self) -> bool {
        use EventKind::*;
        matches!(self, Staged | Edited | Accepted | Rejected | Reopened | Reverted | Conflicted | Expired)
    }

    /// The word for it.
    pub fn as_str(&self) -> &str {
        use EventKind::*;
        match self {
            Captured => "captured",
            Claimed => "claimed",
            Released => "released",
            Watermark => "watermark",
            Staged => "staged",
            Sighted => "sighted",
            Held => "held",
            Edited => "edited",
            Accepted => "accepted",
            Refused => "refused",
            Rejected => "rejected",
            Reopened => "reopened",
            Reverted => "reverted",
            Conflicted => "conflicted",
            Expired => "expired",
            Published => "published",
            Feedback => "feedback",
            Episode => "episode",
            Outcome => "outcome",
            Skipped => "skipped",
            Downgraded => "downgraded",
            Purged => "purged",
            Synced => "synced",
            Unknown(word) => word,
        }
    }
}

impl Event {
    /// A new event, now.
    pub fn new(kind: EventKind, scope: &str, actor: &str) -> Event {
        Event {
            v: 1,
            id: super::new_id(),
            kind,
            at: super::now(),
            scope: scope.to_owned(),
            actor: actor.to_owned(),
            operator: None,
            run: None,
            proposal: None,
            page: None,
            after: None,
            data: Map::new(),
            rest: Map::new(),
        }
    }

    /// Names the proposal it is about.
    #[must_use]
    pub fn proposal(mut self, id: &str) -> Event {
        self.proposal = Some(id.to_owned());
        self
    }

    /// Names the run it belongs to.
    #[must_use]
    pub fn run(mut self, run: Option<&str>) -> Event {
        self.run = run.map(str::to_owned);
        self
    }

    /// Names the person whose git identity ran it.
    #[must_use]
    pub fn operator(mut self, operator: Option<&str>) -> Event {
        self.operator = operator.map(str::to_owned);
        self
    }

    /// Names the page it is about.
    #[must_use]
    pub fn page(mut self, page: &str) -> Event {
        self.page = Some(page.to_owned());
        self
    }

    /// Names the event that it follows.
    #[must_use]
    pub fn after(mut self, after: Option<Ulid>) -> Event {
        self.after = after;
        self
    }

    /// Adds one datum; null values are left out.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Event {
        let value = value.into();
        if !value.is_null() {
            self.data.insert(key.to_owned(), value);
        }
        self
    }

    /// A datum that is text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.data.get(key)?.as_str()
    }
}
