//! What is known of one lane's looks at one page.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::claims::Claims;
use super::{Event, EventKind};

/// Failed looks after which a session, or a page in a lane, is parked.
pub const MAX_ATTEMPTS: u32 = 3;

/// What is known of one lane's looks at one page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Looked {
    /// Who is at it.
    #[serde(flatten)]
    pub claims: Claims,
    /// When the last look that came to an end began: what was said later is new to the lane.
    pub at: Option<Timestamp>,
    /// The blob that was looked at then.
    pub seen: Option<String>,
    /// SHA-256 over what was read then.
    pub input: Option<String>,
    /// The blob that was tried last.
    pub tried: Option<String>,
    /// Failed looks at that blob.
    pub attempts: u32,
}

impl Looked {
    /// Three failures with this content: shown in `status`, not tried again.
    pub fn is_parked(&self, blob: &str) -> bool {
        self.attempts >= MAX_ATTEMPTS && self.tried.as_deref() == Some(blob)
    }

    /// Whether exactly this content was looked at.
    pub fn has_seen(&self, blob: &str) -> bool {
        self.seen.as_deref() == Some(blob)
    }

    /// What the lane does to the page. False when it happened before something that is known already.
    pub(super) fn hear(&mut self, event: &Event) -> bool {
        if !self.claims.follow(event) {
            return false;
        }
        if event.kind == EventKind::Claimed {
            self.claims.claim(event);
            return true;
        }
        let begun = self.claims.let_go(event);
        let blob = event.text("blob").map(str::to_owned);
        match event.text("outcome") {
            Some("failed") => {
                self.attempts = if self.tried == blob { self.attempts + 1 } else { 1 };
                self.tried = blob;
            }
            Some("unavailable") => {}
            _ => {
                // What was said while it was at work has not been heard.
                self.at = begun.or(Some(event.at));
                self.input = event.text("input").map(str::to_owned).or(self.input.take());
                self.seen.clone_from(&blob);
                self.tried = blob;
                self.attempts = 0;
            }
        }
        true
    }
}
