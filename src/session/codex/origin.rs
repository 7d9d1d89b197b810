//! Whose lines they are: a fork and a subagent begin with copies of their parent's lines.
//!
//! A copied line has a new time and mostly no id, so nothing in it tells whose it is. What does tell is the id of the
//! turn that it stands in: turns and sessions are numbered by version 7 UUIDs, in which the time stands. A turn
//! belongs to the session that began last before it. In files of versions that number no turns the copy is written
//! in one go: it ends with the first pause.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// A pause that no copying makes.
const PAUSE: SignedDuration = SignedDuration::from_secs(5);

/// The sessions whose lines stand in a file, and whose are being read.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The file's own session, then those whose lines are copied, from the nearest to the farthest.
    sessions: Vec<String>,
    /// Which of them is being read.
    at: usize,
    /// It was told whose turns they are.
    told: bool,
    /// When the own session began, and the time of the last line.
    began: Option<Timestamp>,
    last: Option<Timestamp>,
}

impl Origin {
    /// A session's record that stands before all other lines.
    pub(super) fn session(&mut self, id: &str, forked_from: Option<&str>, at: Option<Timestamp>) {
        if self.sessions.is_empty() {
            self.began = at;
        }
        for id in [Some(id), forked_from].into_iter().flatten() {
            if !self.sessions.iter().any(|known| known == id) {
                self.sessions.push(id.to_owned());
            }
        }
        self.at = self.sessions.len() - 1;
    }

    /// A turn begins or goes on.
    pub(super) fn turn(&mut self, id: &str) {
        let Some(turn) = milliseconds(id) else { return };
        let began = |(at, session): (usize, &String)| Some((milliseconds(session)?, at));
        let before = self.sessions.iter().enumerate().filter_map(began).filter(|(began, _)| *began <= turn);
        // The own session cannot be told from the others when it has no time.
        if self.sessions.first().is_some_and(|own| milliseconds(own).is_some())
            && let Some((_, at)) = before.max_by_key(|(began, at)| (*began, std::cmp::Reverse(*at)))
        {
            (self.at, self.told) = (at, true);
        }
    }

    /// A line of the conversation.
    pub(super) fn line(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        let paused = self.last.is_some_and(|last| at.duration_since(last) >= PAUSE);
        if !self.told && self.at != 0 && paused && self.began.is_none_or(|began| at >= began) {
            self.at = 0;
        }
        self.last = Some(at);
    }

    /// Which session is being read; 0 is the file's own.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// That session's id, where any is known.
    pub(super) fn id(&self, at: usize) -> Option<&str> {
        self.sessions.get(at).map(String::as_str)
    }
}

/// When a version 7 UUID was made, in milliseconds since 1970.
fn milliseconds(id: &str) -> Option<u64> {
    let parts: Vec<&str> = id.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    if lengths != [8, 4, 4, 4, 12] || !parts[2].starts_with('7') || !id.is_ascii() {
        return None;
    }
    u64::from_str_radix(&format!("{}{}", parts[0], parts[1]), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::Origin;

    const PARENT: &str = "019df057-8ee2-7543-974a-b0bb0bf3567d";
    const CHILD: &str = "019df066-0000-7000-8000-000000000000";

    #[test]
    fn the_number_of_a_turn_tells_whose_it_is() {
        let mut origin = Origin::default();
        origin.session(CHILD, Some(PARENT), None);
        assert_eq!(origin.id(origin.at()), Some(PARENT));
        origin.turn("019df057-c63b-7ef1-a47d-68e25a48a06f");
        assert_eq!(origin.id(origin.at()), Some(PARENT));
        origin.turn("019df066-cccf-7412-9071-aa9b9185cf82");
        assert_eq!(origin.id(origin.at()), Some(CHILD));
        origin.turn("t1");
        assert_eq!(origin.at(), 0);
    }

    #[test]
    fn without_numbers_a_copy_ends_with_the_first_pause() {
        let mut origin = Origin::default();
        let at = |text: &str| Some(text.parse().unwrap());
        origin.session("b", Some("a"), at("2026-03-01T10:00:00Z"));
        origin.session("a", None, at("2026-03-01T10:00:00Z"));
        for time in ["2026-03-01T09:00:00Z", "2026-03-01T09:30:00Z", "2026-03-01T10:00:01Z", "2026-03-01T10:00:02Z"] {
            origin.line(at(time));
        }
        // The pauses of the parent stood before the fork began.
        assert_eq!(origin.id(origin.at()), Some("b"));
        let mut origin = Origin::default();
        origin.session("b", Some("a"), at("2026-03-01T10:00:00Z"));
        origin.line(at("2026-03-01T10:00:01Z"));
        origin.line(at("2026-03-01T10:00:02Z"));
        assert_eq!(origin.id(origin.at()), Some("a"));
        origin.line(at("2026-03-01T10:01:00Z"));
        assert_eq!(origin.id(origin.at()), Some("b"));
    }
}
