//! What was refused for what it says: candidates of reviews, and texts that an accept was to land.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ulid::Ulid;

use super::{Event, EventKind};

/// A text that was refused for what it says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refused {
    /// When.
    pub at: Timestamp,
    /// The event that tells of it.
    event: Ulid,
    /// The scope.
    pub scope: String,
    /// The proposal that an accept was to land; empty: a candidate that never became one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub proposal: String,
    /// The session that it came from; of a page's lane: empty.
    pub session: String,
    /// The blob that was looked at.
    pub blob: String,
    /// The stable word for why.
    pub code: String,
    /// The page it was for.
    pub path: String,
    /// Why, in words.
    pub reason: String,
    /// The change in one line.
    pub summary: String,
}

impl Refused {
    /// What an event tells of: a review's lists the candidates, one of a failed accept is about a single text.
    pub(super) fn told_by(event: &Event) -> Vec<Refused> {
        let datum = |key: &str| event.text(key).unwrap_or_default().to_owned();
        let one = |text: &dyn Fn(&str) -> String| Refused {
            at: event.at,
            event: event.id,
            scope: event.scope.clone(),
            proposal: event.proposal.clone().unwrap_or_default(),
            session: datum("session"),
            blob: datum("blob"),
            code: text("code"),
            path: text("path"),
            reason: text("reason"),
            summary: text("summary"),
        };
        if event.kind == EventKind::Refused {
            return vec![one(&datum)];
        }
        let list = event.data.get("refused").and_then(Value::as_array).into_iter().flatten();
        list.map(|value| one(&|key| value[key].as_str().unwrap_or_default().to_owned())).collect()
    }
}
