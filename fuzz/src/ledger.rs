//! Segments of the ledger: any bytes, read line by line; what comes of the events does not depend on how they came.

use std::collections::HashSet;

use git_memory::feedback::Folded;
use git_memory::ledger::{Event, State, parse};

use crate::{SEPARATOR, in_time};

/// Two segments.
pub fn check(bytes: &[u8]) {
    let mut seen = HashSet::new();
    let mut segments = Vec::new();
    for segment in bytes.splitn(2, |byte| *byte == SEPARATOR as u8) {
        let (mut events, faults) = in_time(segment.len(), || parse("events/x.jsonl".into(), segment));
        let lines = segment.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        assert!(events.len() + faults.len() <= lines, "{} events, {} faults", events.len(), faults.len());
        events.iter().for_each(is_kept);
        // An id is given once. Two events with one would be told apart by nothing.
        events.retain(|event| seen.insert(event.id));
        segments.push(events);
    }
    let all: Vec<Event> = segments.concat();
    let whole = in_time(bytes.len(), || folded(&all));
    let backwards: Vec<Event> = all.iter().rev().cloned().collect();
    assert_eq!(folded(&backwards), whole, "the order of the segments counts");
    let cached: State = serde_json::from_slice(&serde_json::to_vec(&whole).expect("it is plain data")).expect("it was");
    assert_eq!(cached.proposals, whole.proposals);
    assert_eq!(cached.reviews, whole.reviews);

    let mut state = State::default();
    let in_pieces = segments.iter().all(|events| state.add(events.clone()));
    if in_pieces {
        assert_eq!(state.proposals, whole.proposals, "in pieces it is something else");
    }

    let [once, mut twice] = [&all, &backwards].map(|events| {
        let mut folded = Folded::default();
        folded.add(events);
        folded
    });
    assert_eq!(once, twice, "feedback depends on the order");
    twice.add(&all);
    assert_eq!(once, twice, "feedback counts twice");
    for (page, utility) in once.utilities(git_memory::ledger::now()) {
        assert!((0.0..=1.0).contains(&utility.value), "{page}: {utility:?}");
    }
}

fn folded(events: &[Event]) -> State {
    let mut state = State::default();
    assert!(state.add(events.to_vec()), "from the start it always works");
    state
}

/// What was read is written as it was, with what newer versions put into it.
fn is_kept(event: &Event) {
    let line = serde_json::to_vec(event).expect("it is plain data");
    let (again, faults) = parse("events/x.jsonl".into(), &line);
    let [again] = again.as_slice() else { panic!("{faults:?}") };
    let plain = |event: &Event| Event { data: Default::default(), rest: Default::default(), ..event.clone() };
    assert_eq!(plain(again), plain(event));
    // Numbers may lose their last digit when they are read; nothing may lose its name.
    assert!(again.data.keys().eq(event.data.keys()) && again.rest.keys().eq(event.rest.keys()), "{event:?}");
}
