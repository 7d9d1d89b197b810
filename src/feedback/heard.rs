//! What was said of each page, in the words of whoever said it, and when each page was used last: by this it is chosen
//! what to look at again.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ulid::Ulid;

use super::{Episode, Mode, Outcome, Verdict, fold};
use crate::git::{self, Repo};
use crate::ledger::{self, Cache, Event, EventKind};

/// The shape of the cache; another number is passed over and rebuilt.
const SHAPE: u32 = 2;

const FILE: &str = "heard.json";

/// What somebody said of a page: a claim, not a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// The event.
    pub event: Ulid,
    /// When.
    pub at: Timestamp,
    /// What was said.
    pub verdict: Verdict,
    /// What is wrong with the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Why, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where what is right stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The proposal that the exact fix became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The blob that was judged; events of earlier versions do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// A person said it by hand, and no agent for them.
    pub by_person: bool,
}

impl Signal {
    /// The page and what is said of it; `None` when the event is no feedback, or our own automation's.
    fn of(event: &Event) -> Option<(&str, Signal)> {
        if event.kind != EventKind::Feedback || event.run.is_some() {
            return None;
        }
        let text = |key: &str| event.text(key).map(str::to_owned);
        let signal = Signal {
            event: event.id,
            at: event.at,
            verdict: serde_json::from_value(event.data.get("verdict")?.clone()).ok()?,
            mode: event.data.get("mode").and_then(|mode: &Value| serde_json::from_value(mode.clone()).ok()),
            reason: text("reason").filter(|reason| !reason.trim().is_empty()),
            source: text("source"),
            fix: event.proposal.clone(),
            blob: text("blob"),
            by_person: event.text("agent").is_none() && event.operator.as_ref() == Some(&event.actor),
        };
        Some((event.page.as_deref()?, signal))
    }

    /// Whether it says what the page is worth. That it was the wrong page for a task says neither.
    pub fn judges(&self) -> bool {
        self.verdict != Verdict::FailedToApply
    }

    /// Whether it says that what stands in the page is wrong, rather than that something is missing or said elsewhere.
    pub fn says_wrong(&self) -> bool {
        self.verdict == Verdict::Negative && !matches!(self.mode, Some(Mode::Incomplete | Mode::Redundant))
    }
}

/// Everything that was said, and the last use of each page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// By page and event.
    said: BTreeMap<String, BTreeMap<Ulid, Signal>>,
    /// When a page was last shown in an answer, named in an outcome, or judged.
    used: BTreeMap<String, Timestamp>,
    /// The days (since 1970, UTC) on which it was, the newest ones.
    days: BTreeMap<String, BTreeSet<i64>>,
}

/// Most days of use that are remembered of a page.
const MOST_DAYS: usize = 64;

impl Heard {
    /// Adds events; any that were added before change nothing.
    pub fn add(&mut self, events: &[Event]) {
        for event in events {
            // Cheap to ask first: most events are of other kinds.
            match event.kind {
                EventKind::Feedback => {
                    let Some((page, signal)) = Signal::of(event) else { continue };
                    self.use_of(page, event.at);
                    self.said.entry(page.to_owned()).or_default().insert(event.id, signal);
                }
                EventKind::Episode => {
                    let Some(episode) = Episode::of(event) else { continue };
                    episode.rendered.iter().for_each(|page| self.use_of(page, event.at));
                }
                EventKind::Outcome => {
                    let Some(outcome) = Outcome::of(event) else { continue };
                    outcome.used.iter().chain(&outcome.harmful).for_each(|page| self.use_of(page, event.at));
                }
                _ => {}
            }
        }
    }

    fn use_of(&mut self, page: &str, at: Timestamp) {
        match self.used.get_mut(page) {
            Some(last) => *last = (*last).max(at),
            None => drop(self.used.insert(page.to_owned(), at)),
        }
        // By day, as feedback is: a loop that asks a hundred times is one use. The newest of a union are the newest of
        // the newest, so the order in which events come does not matter.
        let days = self.days.entry(page.to_owned()).or_default();
        days.insert(fold::day(at));
        if days.len() > MOST_DAYS {
            days.pop_first();
        }
    }

    /// What was said of a page, oldest first.
    pub fn of_page(&self, page: &str) -> Vec<&Signal> {
        let mut all: Vec<&Signal> = self.said.get(page).into_iter().flat_map(BTreeMap::values).collect();
        all.sort_unstable_by_key(|signal| (signal.at, signal.event));
        all
    }

    /// On how many days the page was searched, named in an outcome, or judged; after many the oldest are forgotten.
    pub fn days_of_use(&self, page: &str) -> usize {
        self.days.get(page).map_or(0, BTreeSet::len)
    }

    /// When the page was last searched, named in an outcome, or judged, if ever.
    pub fn last_use(&self, page: &str) -> Option<Timestamp> {
        self.used.get(page).copied()
    }
}

/// Reads and folds the ledger. What waits in the spool is not in it yet.
///
/// # Errors
/// When the ledger cannot be read.
pub fn load(repo: &Repo, cache: Cache) -> git::Result<Heard> {
    ledger::keep(repo, FILE, SHAPE, cache, Heard::add)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn feedback(page: &str, verdict: &str) -> Event {
        Event::new(EventKind::Feedback, "global", "A <a@b>")
            .operator(Some("A <a@b>"))
            .page(page)
            .with("verdict", verdict)
            .with("reason", "so it is")
    }

    #[test]
    fn what_our_own_automation_says_is_not_heard_and_an_agent_is_no_person() {
        let mut heard = Heard::default();
        let by_person = feedback("a.md", "negative");
        let by_agent = feedback("a.md", "negative").with("agent", "CLAUDECODE");
        let events = [by_person, by_agent, feedback("a.md", "negative").run(Some("01J"))];
        heard.add(&events);
        heard.add(&events);
        let by: Vec<bool> = heard.of_page("a.md").iter().map(|signal| signal.by_person).collect();
        assert_eq!(by, [true, false]);
        assert!(heard.of_page("b.md").is_empty());
    }

    #[test]
    fn a_page_is_used_when_it_is_shown_named_or_judged() {
        let at = |day: i64| Timestamp::from_second(day * 86_400).unwrap_or_default();
        let mut episode = Event::new(EventKind::Episode, "*", "git-memory")
            .with("episode", "0123456789abcdef")
            .with("served", json!(["a.md", "b.md"]))
            .with("rendered", json!(["a.md"]));
        let mut outcome = Event::new(EventKind::Outcome, "*", "A <a@b>")
            .with("episode", "0123456789abcdef")
            .with("outcome", "failed")
            .with("verifier", "user")
            .with("harmful", json!(["a.md"]));
        let mut judged = feedback("c.md", "failed_to_apply");
        (episode.at, outcome.at, judged.at) = (at(1), at(2), at(3));
        let mut heard = Heard::default();
        let more = [episode.clone()];
        heard.add(&[outcome, judged, episode]);
        heard.add(&more);
        assert_eq!(["a.md", "b.md", "c.md"].map(|page| heard.days_of_use(page)), [2, 0, 1], "each day once");
        let last = ["a.md", "b.md", "c.md"].map(|page| heard.last_use(page));
        assert_eq!(last, [Some(at(2)), None, Some(at(3))]);
    }
}
