//! What was said is told several times: as an item of the conversation and as one or two events. It counts once.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::session::builder::digest;

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Who {
    Person,
    Model,
    /// A search of the model's, which has no id.
    Search,
}

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// The conversation's items.
    Item = 1,
    /// The events.
    Event = 2,
    /// The events of newer versions that repeat whole items.
    Completed = 4,
}

/// How many sayings are looked back at.
const NEAR: usize = 256;

/// What was said in the turn so far.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct Said {
    /// With the streams that told it.
    open: Vec<(Who, String, u8)>,
    /// All answers.
    answers: HashSet<String>,
}

impl Said {
    /// Notes what a stream tells; false when another one told it before.
    pub(super) fn is_new(&mut self, who: Who, stream: Stream, words: &str) -> bool {
        let key = key(words);
        let told = self.open.iter_mut().find(|(w, k, streams)| *w == who && *k == key && streams & stream as u8 == 0);
        if let Some((.., streams)) = told {
            *streams |= stream as u8;
            return false;
        }
        // All streams tell a thing before they go on to what the other side says.
        match who {
            Who::Person => self.open.retain(|(who, ..)| *who == Who::Person),
            Who::Model => self.open.retain(|(who, ..)| *who != Who::Person),
            Who::Search => {}
        }
        if who == Who::Model {
            self.answers.insert(key.clone());
        }
        if self.open.len() == NEAR {
            self.open.remove(0);
        }
        self.open.push((who, key, stream as u8));
        true
    }

    /// Whether an answer was told by any stream.
    pub(super) fn has_answer(&self, words: &str) -> bool {
        self.answers.contains(&key(words))
    }

    /// What was said so far was taken back.
    pub(super) fn forget(&mut self) {
        self.open.clear();
    }
}

/// The streams part a text's pieces differently: white space does not count.
pub(super) fn key(words: &str) -> String {
    let bare: String = words.split_whitespace().collect();
    digest(bare.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{Said, Stream, Who};

    #[test]
    fn what_two_streams_tell_in_any_order_counts_once_and_what_one_tells_twice_counts_twice() {
        let mut said = Said::default();
        assert!(said.is_new(Who::Person, Stream::Event, "go on"));
        assert!(!said.is_new(Who::Person, Stream::Item, "go  on\n"));
        assert!(said.is_new(Who::Person, Stream::Item, "go on"));
        assert!(!said.is_new(Who::Person, Stream::Event, "go on"));
        assert!(said.is_new(Who::Model, Stream::Event, "one"));
        assert!(said.is_new(Who::Model, Stream::Event, "two"));
        assert!(!said.is_new(Who::Model, Stream::Item, "one"));
        assert!(!said.is_new(Who::Model, Stream::Item, "two"));
        assert!(!said.is_new(Who::Model, Stream::Completed, "two"));
    }

    #[test]
    fn streams_that_take_turns_do_not_swallow_each_other() {
        let mut said = Said::default();
        assert!(said.is_new(Who::Person, Stream::Item, "continue"));
        assert!(said.is_new(Who::Model, Stream::Item, "a"));
        assert!(said.is_new(Who::Person, Stream::Event, "continue"));
        assert!(said.is_new(Who::Model, Stream::Event, "a"));
    }
}
