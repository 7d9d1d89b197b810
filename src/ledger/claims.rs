//! Claims: which runs are at a session, or at a page in a lane, and until when each keeps others away.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Event;

/// The claims on one session, or on one page in one lane.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Claims {
    /// Those that nobody has let go, by run: when each began, and until when it keeps others away.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    open: BTreeMap<String, (Timestamp, Timestamp)>,
    /// The runs that let it go: a claim of theirs that another clone still brings counts no more.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    let_go: BTreeSet<String>,
    /// When the newest event about it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Timestamp>,
}

impl Claims {
    /// Whether a run is at it.
    pub fn is_claimed(&self, now: Timestamp) -> bool {
        self.holders(now).next().is_some()
    }

    /// The runs that are at it.
    pub fn holders(&self, now: Timestamp) -> impl Iterator<Item = &str> {
        self.open.iter().filter(move |(_, (_, until))| *until > now).map(|(run, _)| run.as_str())
    }

    /// Whether this run claimed it and has not let it go, however long ago that was.
    pub fn is_held_by(&self, run: &str) -> bool {
        self.open.contains_key(run)
    }

    /// Notes when an event happened. False when that was before something that is known already.
    pub(super) fn follow(&mut self, event: &Event) -> bool {
        let follows = self.last <= Some(event.at);
        if follows {
            self.last = Some(event.at);
        }
        follows
    }

    /// A run claims it, or says again that it is at it.
    pub(super) fn claim(&mut self, event: &Event) {
        let run = event.run.as_deref().unwrap_or_default();
        if self.let_go.contains(run) {
            return;
        }
        let until = event.text("until").and_then(|text| text.parse().ok()).unwrap_or(event.at);
        let (_, end) = self.open.entry(run.to_owned()).or_insert((event.at, until));
        *end = until.max(*end);
    }

    /// A run lets it go; when it began.
    pub(super) fn let_go(&mut self, event: &Event) -> Option<Timestamp> {
        let run = event.run.as_deref().unwrap_or_default();
        self.let_go.insert(run.to_owned());
        self.open.remove(run).map(|(begun, _)| begun)
    }
}

#[cfg(test)]
mod tests {
    use super::super::EventKind;
    use super::*;

    #[test]
    fn a_claim_that_is_renewed_lasts_longer_and_began_when_it_was_made() {
        let at = |second| Timestamp::from_second(second).unwrap_or_default();
        let event = |kind, second, until| {
            let mut event = Event::new(kind, "global", "auto_improve").run(Some("A"));
            event.at = at(second);
            event.with("until", at(until).to_string())
        };
        let mut claims = Claims::default();
        claims.claim(&event(EventKind::Claimed, 1, 10));
        claims.claim(&event(EventKind::Claimed, 8, 20));
        assert!(claims.is_claimed(at(19)) && !claims.is_claimed(at(20)));
        assert_eq!(claims.let_go(&event(EventKind::Released, 15, 0)), Some(at(1)));
        claims.claim(&event(EventKind::Claimed, 16, 30));
        assert!(!claims.is_claimed(at(17)), "whoever let it go holds it no more");
    }
}
