//! What the reader must know to go on where it stopped: ids and digests, no text of the session.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::session::builder::Titled;
use crate::session::lines::Place;

/// What the lines said about the session as a whole.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct About {
    /// Session ids with the number of their lines, in order of appearance.
    pub sessions: Vec<(String, usize)>,
    pub agent: Option<String>,
    pub cwd: Option<String>,
    /// The folder of the last line, where commands run.
    pub here: Option<String>,
    /// A command that a person ran beside the model named an excluded path: its output goes too.
    pub hushed: bool,
    pub branch: Option<String>,
    pub version: Option<String>,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    /// Lines of the conversation, and how many of them are a subagent's.
    pub chain: usize,
    pub side: usize,
    /// Whether the first prompt is one of ours, once there was one.
    pub own: Option<bool>,
    /// How many parts of the session were given already.
    pub parts: usize,
    /// About how much memory the part has taken so far.
    pub held: usize,
}

/// A prompt that was put into the queue: it appears again when it is sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Queued {
    /// The id of its observation.
    pub id: String,
    /// A digest of the words.
    pub words: u64,
}

/// The reader's state between two lines.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(in crate::session) struct State {
    pub(super) about: About,
    /// Digests of the lines' ids.
    pub(super) seen: HashSet<u64>,
    /// Tools by a digest of the id of their call; `None`: the call was dropped, and its result goes too.
    pub(super) calls: HashMap<u64, Option<String>>,
    /// Digests of a person's words.
    pub(super) said: Vec<u64>,
    pub(super) queued: Vec<Queued>,
    pub(super) titled: Option<Titled>,
    /// The id under which the session was given.
    pub(super) id: Option<String>,
}

/// The answer that may go on, and what was known before its first line. Reading on begins there, so that nothing
/// of the answer need be kept.
pub(super) enum Open {
    /// None.
    No,
    /// This one.
    Since(Box<Mark>),
    /// One that cannot be begun anew.
    Lost,
}

/// Where an answer began.
pub(super) struct Mark {
    pub place: Place,
    pub about: About,
    pub said: usize,
    pub queued: usize,
    pub items: usize,
}

/// What was added to the state since the open answer began, or else in this line.
#[derive(Default)]
pub(super) struct Added {
    pub seen: Vec<u64>,
    pub calls: Vec<u64>,
    line: (usize, usize),
}

impl Added {
    /// A line begins.
    pub(super) fn begin_line(&mut self, open: &Open) {
        if matches!(open, Open::No) {
            self.seen.clear();
            self.calls.clear();
        }
        self.line = (self.seen.len(), self.calls.len());
    }

    /// An answer begins in this line.
    pub(super) fn since_line(&mut self) {
        let (seen, calls) = std::mem::take(&mut self.line);
        self.seen.drain(..seen);
        self.calls.drain(..calls);
    }
}
