//! The ledger's events folded into what commands ask for.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::looked::Looked;
use super::refused::Refused;
use super::review::Review;
use super::trail::{self, Failed};
use super::{Event, EventKind, Proposal};

/// Everything that the events say, up to one commit of the ledger.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The proposals by id.
    pub proposals: BTreeMap<String, Proposal>,
    /// Proposals with events whose `staged` has not been seen.
    orphans: BTreeSet<String>,
    /// What happened to each session.
    pub reviews: BTreeMap<String, Review>,
    /// What lanes did to each page: by page, then by lane.
    #[serde(default)]
    pub pages: BTreeMap<String, BTreeMap<String, Looked>>,
    /// By scope: sessions that ended before it are not reviewed on their own.
    pub watermarks: BTreeMap<String, Timestamp>,
    /// How many events of each kind.
    pub counts: BTreeMap<String, u64>,
    /// Proposals that are held back, by proposal id: the target and the one in the way.
    pub held: BTreeMap<String, String>,
    /// Proposals that quote a session which was forgotten since: the session, by proposal id.
    #[serde(default)]
    pub withdrawn: BTreeMap<String, String>,
    /// Candidates that were refused for what they say, the newest first.
    #[serde(default)]
    refused: Vec<Refused>,
    /// Segments or lines that could not be read; the rest was used.
    pub faults: Vec<String>,
}

/// Most refusals that are remembered.
const MOST_REFUSED: usize = 50;

/// What new events say of one proposal.
#[derive(Default)]
struct News {
    /// Those that change its state.
    trail: Vec<Event>,
    /// How often it was found again.
    sightings: u32,
    /// The last accept that was refused.
    failed: Option<Failed>,
}

impl State {
    /// The forgotten session that a proposal quotes.
    pub fn withdrawn_from(&self, proposal: &str) -> Option<&str> {
        let session = self.withdrawn.get(proposal)?;
        self.reviews.get(session)?.gone().map(|_| session.as_str())
    }

    /// Candidates that were refused for what they say, the newest first; not those of a session that was forgotten.
    pub fn refusals(&self) -> impl Iterator<Item = &Refused> {
        self.refused.iter().filter(|refused| self.reviews.get(&refused.session).and_then(Review::gone).is_none())
    }

    /// Adds events, in any order, to those that were folded before. False when their place among those cannot be told
    /// (two people decided at once, or another clone's events of a session or page are older than those known): then this
    /// state is of no use, and all events are to be folded from the start, which always works.
    #[must_use]
    pub fn add(&mut self, events: Vec<Event>) -> bool {
        let mut touched = BTreeMap::<String, News>::new();
        let mut sorted = events;
        sorted.sort_unstable_by_key(|event| (event.at, event.id));
        for event in sorted {
            *self.counts.entry(event.kind.as_str().to_owned()).or_default() += 1;
            if !self.session(&event) || !self.page(&event) {
                return false;
            }
            self.refused.extend(Refused::told_by(&event));
            if event.kind == EventKind::Watermark {
                let at = event.text("at").and_then(|text| text.parse().ok()).unwrap_or(event.at);
                let mark = self.watermarks.entry(event.scope.clone()).or_insert(at);
                // A clone that comes to it later does not move it.
                *mark = (*mark).min(at);
                continue;
            }
            let Some(id) = event.proposal.clone() else { continue };
            match event.kind {
                EventKind::Sighted => touched.entry(id).or_default().sightings += 1,
                EventKind::Refused => touched.entry(id).or_default().failed = Some(Failed::of(&event)),
                EventKind::Held => {
                    self.held.insert(id, event.text("behind").unwrap_or_default().to_owned());
                }
                ref kind if kind.decides() => {
                    if event.kind == EventKind::Staged {
                        self.held.remove(&id);
                    }
                    touched.entry(id).or_default().trail.push(event);
                }
                _ => {}
            }
        }
        self.refused.sort_unstable_by(|a, b| b.cmp(a));
        self.refused.truncate(MOST_REFUSED);
        touched.into_iter().all(|(id, news)| self.touch(id, news))
    }

    /// What a lane did to a page.
    pub fn looked(&self, page: &str, lane: &str) -> Option<&Looked> {
        self.pages.get(page)?.get(lane)
    }

    /// New events of one proposal.
    fn touch(&mut self, id: String, mut news: News) -> bool {
        if let Some(known) = self.proposals.get_mut(&id) {
            known.sightings += news.sightings;
            known.failed = known.failed.take().max(news.failed);
            trail::order(&mut news.trail);
            return news.trail.iter().all(|event| known.follow(event));
        }
        if self.orphans.contains(&id) {
            return false;
        }
        match Proposal::fold(&id, news.trail, news.sightings) {
            Some(mut proposal) => {
                proposal.failed = news.failed;
                self.proposals.insert(id, proposal);
            }
            None => drop(self.orphans.insert(id)),
        }
        true
    }

    /// What a lane does to a page. False when it happened before something that is known already.
    fn page(&mut self, event: &Event) -> bool {
        let (EventKind::Claimed | EventKind::Released, Some(page), Some(lane)) =
            (&event.kind, event.text("page"), event.text("lane"))
        else {
            return true;
        };
        let lanes = self.pages.entry(page.to_owned()).or_default();
        lanes.entry(lane.to_owned()).or_default().hear(event)
    }

    /// What happens to a session. False when it happened before something that is known already.
    fn session(&mut self, event: &Event) -> bool {
        let Some(session) = event.text("session").filter(|_| Review::is_about(&event.kind)) else { return true };
        if !self.reviews.entry(session.to_owned()).or_default().hear(event) {
            return false;
        }
        if event.kind == EventKind::Purged {
            let proposals = event.data.get("proposals").and_then(|list| list.as_array()).into_iter().flatten();
            let proposals = proposals.filter_map(|id| Some((id.as_str()?.to_owned(), session.to_owned())));
            self.withdrawn.extend(proposals);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;
    use ulid::Ulid;

    use super::*;

    fn event(kind: EventKind, number: u64, after: Option<u64>) -> Event {
        let id = |number: u64| Ulid::from_parts(number * 1_000, u128::from(number));
        let mut event = Event::new(kind, "global", "A <a@example.org>").proposal("00000000000000aa");
        event.id = id(number);
        event.at = Timestamp::from_second(number as i64).unwrap_or_default();
        event.after = after.map(id);
        event.with("tip", format!("tip{number}")).with("landed", format!("landed{number}"))
    }

    fn folded(events: &[Event]) -> State {
        let mut state = State::default();
        assert!(state.add(events.to_vec()), "from the start it always works");
        state
    }

    #[test]
    fn three_failures_park_a_page_in_its_lane_until_it_changes() {
        let release = |outcome: &str, blob: &str| {
            Event::new(EventKind::Released, "global", "auto_improve")
                .with("page", "notes/a.md")
                .with("lane", "reflect")
                .with("blob", blob)
                .with("outcome", outcome)
        };
        let mut state = State::default();
        let mut parked = |outcome: &str, blob: &str| {
            assert!(state.add(vec![release(outcome, blob)]));
            let looked = state.looked("notes/a.md", "reflect").expect("it was looked at");
            (looked.is_parked("1"), looked.is_parked("2"))
        };
        assert_eq!(parked("failed", "1"), (false, false));
        assert_eq!(parked("unavailable", "1"), (false, false));
        assert_eq!(parked("failed", "1"), (false, false));
        assert_eq!(parked("failed", "1"), (true, false));
        assert_eq!(parked("failed", "2"), (false, false), "another text begins anew");
        assert_eq!(parked("done", "2"), (false, false));
        assert!(state.looked("notes/a.md", "distill").is_none());
    }

    #[test]
    fn a_page_is_held_by_whoever_claimed_it_and_let_go_by_nobody_else() {
        let at = |second| Timestamp::from_second(second).unwrap_or_default();
        let event = |kind, run: &str, second| {
            let mut event = Event::new(kind, "global", "auto_improve").with("page", "a.md").with("lane", "reflect");
            event.at = at(second);
            event.run(Some(run)).with("blob", "1").with("until", at(600).to_string())
        };
        let all = [
            event(EventKind::Claimed, "slow clock", 5),
            event(EventKind::Claimed, "fast clock", 50),
            event(EventKind::Released, "fast clock", 60),
        ];
        let whole = folded(&all);
        let held =
            |state: &State, run| state.looked("a.md", "reflect").is_some_and(|looked| looked.claims.is_held_by(run));
        assert!(held(&whole, "slow clock") && !held(&whole, "fast clock"));
        // What another clone brings later, and happened before: all is folded anew.
        let mut known = folded(&all[1..]);
        assert!(!known.add(all[..1].to_vec()));
    }

    #[test]
    fn what_is_said_while_a_lane_is_at_work_is_new_to_it() {
        let at = |second| Timestamp::from_second(second).unwrap_or_default();
        let event = |kind, second| {
            let mut event = Event::new(kind, "global", "auto_improve").with("page", "a.md").with("lane", "reflect");
            event.at = at(second);
            event.with("blob", "1").with("until", at(600).to_string()).with("input", "x")
        };
        let mut state = State::default();
        assert!(state.add(vec![event(EventKind::Claimed, 1)]));
        assert!(state.looked("a.md", "reflect").is_some_and(|looked| looked.claims.is_claimed(at(599))));
        assert!(state.add(vec![event(EventKind::Released, 9)]));
        let looked = state.looked("a.md", "reflect").expect("it was looked at");
        assert_eq!((looked.at, looked.claims.is_claimed(at(10))), (Some(at(1)), false));
        assert!(looked.has_seen("1") && looked.input.as_deref() == Some("x"));
    }

    #[test]
    fn decisions_that_follow_each_other_need_no_second_look() {
        let events = [
            event(EventKind::Staged, 1, None),
            event(EventKind::Rejected, 2, Some(1)),
            event(EventKind::Reopened, 3, Some(2)),
            event(EventKind::Accepted, 4, Some(3)),
        ];
        let mut state = State::default();
        for event in &events {
            assert!(state.add(vec![event.clone()]));
        }
        assert_eq!(state, folded(&events));
    }

    #[test]
    fn the_second_of_two_decisions_at_once_asks_for_all_events() {
        let staged = event(EventKind::Staged, 1, None);
        let mut state = folded(&[staged.clone(), event(EventKind::Rejected, 3, Some(1))]);
        assert!(!state.add(vec![event(EventKind::Accepted, 2, Some(1))]));
    }

    #[test]
    fn an_event_that_came_before_its_proposal_is_not_lost() {
        let accepted = event(EventKind::Accepted, 2, Some(1));
        let mut state = folded(std::slice::from_ref(&accepted));
        assert!(!state.add(vec![event(EventKind::Staged, 1, None)]));
        let whole = folded(&[accepted, event(EventKind::Staged, 1, None)]);
        assert_eq!(whole.proposals.values().map(|proposal| proposal.landed.as_deref()).next(), Some(Some("landed2")));
    }

    fn about_a_session(kind: EventKind, number: u64, run: &str) -> Event {
        let mut event = event(kind, number, None).with("session", "s1").with("blob", "b1").run(Some(run));
        event.proposal = None;
        event.with("until", Timestamp::from_second(1_000).unwrap_or_default().to_string()).with("outcome", "done")
    }

    #[test]
    fn a_claim_stands_until_its_own_run_lets_it_go_or_its_lease_ends() {
        let at = |second| Timestamp::from_second(second).unwrap_or_default();
        let mut state = folded(&[
            about_a_session(EventKind::Claimed, 1, "A"),
            about_a_session(EventKind::Claimed, 2, "B"),
            about_a_session(EventKind::Released, 3, "A"),
        ]);
        assert!(state.reviews["s1"].claims.is_claimed(at(10)), "B is still at it");
        assert!(!state.reviews["s1"].claims.is_claimed(at(1_000)), "its lease is over");
        assert!(state.add(vec![about_a_session(EventKind::Released, 4, "B")]));
        assert!(!state.reviews["s1"].claims.is_claimed(at(10)));
        assert!(state.add(vec![about_a_session(EventKind::Claimed, 4, "B")]));
        assert!(!state.reviews["s1"].claims.is_claimed(at(10)), "B's claim came late");
    }

    #[test]
    fn older_events_of_a_session_from_another_clone_ask_for_all_events() {
        let mut state = folded(&[about_a_session(EventKind::Released, 3, "A")]);
        assert!(!state.add(vec![about_a_session(EventKind::Claimed, 2, "A")]));
    }

    #[test]
    fn a_session_that_grew_is_not_parked_for_what_it_was() {
        let mut parked = about_a_session(EventKind::Released, 1, "A").with("outcome", "failed");
        let mut state = State::default();
        for number in 1..=3 {
            parked.id = ulid::Ulid::from(u128::from(number as u64));
            assert!(state.add(vec![parked.clone()]));
        }
        assert!(state.reviews["s1"].is_parked());
        let captured = |number, blob: &str| about_a_session(EventKind::Captured, number, "C").with("blob", blob);
        assert!(state.add(vec![captured(4, "b1")]));
        assert!(state.reviews["s1"].is_parked(), "the same again");
        assert!(state.add(vec![captured(5, "b2")]));
        assert!(!state.reviews["s1"].is_parked());
    }

    fn about_a_page(kind: EventKind, number: u64, run: &str, outcome: &str) -> Event {
        let mut event = about_a_session(kind, number, run).with("page", "a.md").with("lane", "reflect");
        event.data.remove("session");
        event.with("outcome", outcome)
    }

    #[test]
    fn a_claim_of_a_page_stands_until_its_own_run_lets_it_go() {
        let at = |second| Timestamp::from_second(second).unwrap_or_default();
        let mut state = folded(&[
            about_a_page(EventKind::Claimed, 1, "A", ""),
            about_a_page(EventKind::Claimed, 2, "B", ""),
            about_a_page(EventKind::Released, 3, "A", "done"),
        ]);
        let looked = |state: &State| state.looked("a.md", "reflect").cloned().unwrap_or_default();
        assert!(looked(&state).claims.is_claimed(at(10)), "B is still at it");
        assert!(state.add(vec![about_a_page(EventKind::Released, 4, "B", "done")]));
        assert!(!looked(&state).claims.is_claimed(at(10)));
        assert_eq!(looked(&state).at, Some(at(2)), "what was said while B was at it is new");
    }

    proptest! {
        /// It does not matter in which order the ledgers of two clones come: what lanes did to a page is the same.
        #[test]
        fn what_lanes_did_to_pages_is_the_same_in_any_order(
            parts in prop::collection::vec((any::<bool>(), 0usize..3, 0usize..4), 1..10),
            cut in 0usize..10,
        ) {
            use EventKind::{Claimed, Released};
            let events: Vec<Event> = parts.iter().zip(1..).map(|((claims, run, outcome), number)| {
                let kind = if *claims { Claimed } else { Released };
                let outcome = ["done", "failed", "unavailable", "skipped"][*outcome];
                about_a_page(kind, number, ["A", "B", "C"][*run], outcome)
            }).collect();
            let whole = folded(&events);
            let (first, second) = events.split_at(cut.min(events.len()));
            let mut state = folded(second);
            if !state.add(first.to_vec()) {
                state = folded(&events);
            }
            prop_assert_eq!(state.pages, whole.pages);
        }

        /// Whatever comes in whatever pieces: when adding says that it worked, it is what folding all at once gives.
        #[test]
        fn adding_in_pieces_is_folding_at_once(
            parts in prop::collection::vec((0usize..6, 1u64..8, prop::option::of(1u64..8), any::<bool>()), 1..8)
        ) {
            use EventKind::*;
            let kinds = [Staged, Rejected, Accepted, Reopened, Conflicted, Edited];
            let mut numbers = std::collections::HashSet::new();
            let mut state = State::default();
            let (mut all, mut piece): (Vec<Event>, Vec<Event>) = (Vec::new(), Vec::new());
            for (kind, number, after, ends) in parts {
                if numbers.insert(number) {
                    piece.push(event(kinds[kind].clone(), number, after));
                }
                if ends {
                    all.extend(piece.clone());
                    if !state.add(std::mem::take(&mut piece)) {
                        state = folded(&all);
                    }
                    prop_assert_eq!(&state.proposals, &folded(&all).proposals);
                }
            }
        }
    }
}
