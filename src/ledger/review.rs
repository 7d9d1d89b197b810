//! What is known of the reviews of one session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::claims::Claims;
use super::looked::MAX_ATTEMPTS;
use super::{Event, EventKind};

/// What is known of the reviews of one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// When it was captured last.
    pub captured: Option<Timestamp>,
    /// Who is at it.
    #[serde(flatten)]
    pub claims: Claims,
    /// The blob of observations that was looked at last.
    pub seen: Option<String>,
    /// SHA-256 over everything that a model was asked when it last reviewed this: the same is not asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The blob of observations that a review failed at last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tried: Option<String>,
    /// Failed reviews of that blob.
    pub attempts: u32,
    /// Why it was not reviewed.
    pub skipped: Option<String>,
    /// When it was forgotten last, and why: `forgotten`, `expired`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purged: Option<(Timestamp, String)>,
    /// When it was captured last by the word of a person who wanted it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Timestamp>,
}

impl Review {
    /// Three failures: shown in `status`, not tried again.
    pub fn is_parked(&self) -> bool {
        self.attempts >= MAX_ATTEMPTS
    }

    /// Why the session is to stay away, when it was forgotten and nobody wanted it back since: `forgotten` (a person
    /// said so) or `expired`.
    pub fn gone(&self) -> Option<&str> {
        let (at, why) = self.purged.as_ref()?;
        (self.again.is_none_or(|again| again <= *at)).then_some(why.as_str())
    }

    /// Whether exactly this content was looked at.
    pub fn has_seen(&self, blob: &str) -> bool {
        self.seen.as_deref() == Some(blob)
    }

    /// Whether events of this kind say something about a session that they name.
    pub(super) fn is_about(kind: &EventKind) -> bool {
        use EventKind::{Captured, Claimed, Purged, Released, Skipped};
        matches!(kind, Captured | Claimed | Released | Skipped | Purged)
    }

    /// What happens to the session. False when it happened before something that is known already.
    pub(super) fn hear(&mut self, event: &Event) -> bool {
        if !self.claims.follow(event) {
            return false;
        }
        let blob = event.text("blob");
        match event.kind {
            EventKind::Captured => {
                self.captured = Some(event.at);
                if self.tried.as_deref() != blob {
                    // It has grown: what failed was another content.
                    self.attempts = 0;
                }
                if event.data.contains_key("again") {
                    self.again = self.again.max(Some(event.at));
                }
            }
            EventKind::Purged => {
                let why = event.text("reason").unwrap_or("forgotten").to_owned();
                self.purged = self.purged.take().max(Some((event.at, why)));
            }
            EventKind::Claimed => self.claims.claim(event),
            EventKind::Released => {
                self.claims.let_go(event);
                match event.text("outcome") {
                    Some("failed") => {
                        self.attempts = if self.tried.as_deref() == blob { self.attempts + 1 } else { 1 };
                        self.tried = blob.map(str::to_owned);
                    }
                    Some("unavailable") => {}
                    _ => {
                        self.seen = blob.map(str::to_owned);
                        self.input = event.text("input").map(str::to_owned).or(self.input.take());
                        self.attempts = 0;
                        self.skipped = None;
                    }
                }
            }
            _ => {
                self.claims.let_go(event);
                self.seen = blob.map(str::to_owned);
                self.skipped = event.text("reason").map(str::to_owned);
            }
        }
        true
    }
}
