//! Replies that are no candidates: each reader takes what keeps its contract, and says what is wrong with the rest.

use std::ops::RangeInclusive;

use git_memory::improve::{gates, lanes};
use git_memory::model::first_json;
use git_memory::search::Hit;

use crate::in_time;

/// A page that facts are looked for in.
const PAGE: &str = include_str!("../../fixtures/replies/wiki/notes/export-server.md");

/// One reply, read by everything that reads replies.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for repair in [false, true] {
        let scores = in_time(bytes.len(), || gates::fuzzed::judge(&text, repair));
        whole(scores, if repair { 3 } else { 4 }, 1..=5);
    }
    whole(in_time(bytes.len(), || gates::fuzzed::retrieval(&text, 3)), 3, 0..=3);
    let passed = in_time(bytes.len(), || gates::fuzzed::eval(&text, 0.1));
    if passed.is_ok() {
        let value: serde_json::Value = serde_json::from_str(text.trim()).expect("it was read");
        assert_eq!(value["passed"], true, "{text}");
    }
    let Some(value) = first_json(&text) else { return };
    if let Ok(fields) = in_time(bytes.len(), || lanes::fuzzed::reflect(&value)) {
        for (name, text) in &fields {
            assert!(!text.trim().is_empty() && text.chars().count() <= 500, "{name}: {text}");
        }
    }
    if let Ok(proposals) = lanes::fuzzed::review(&value, bytes.len() as u64) {
        assert!(proposals.len() <= 100, "{}", proposals.len());
    }
    let shown = [hit("gotchas/export-is-paged.md")];
    let Ok(Some(lesson)) = in_time(bytes.len(), || lanes::fuzzed::distill(&value, &shown)) else { return };
    let lanes::fuzzed::Lesson { said, facts } = lesson;
    assert!((1..=8).contains(&facts.len()), "{facts:?}");
    for (fact, quote) in &facts {
        assert!(fact.chars().count() <= 400 && quote.chars().count() <= 400, "{fact} {quote}");
        if let Some(sentence) = in_time(bytes.len(), || lanes::fuzzed::support(fact, PAGE)) {
            assert!(sentence.chars().count() <= 400, "{sentence}");
        }
    }
    for word in in_time(bytes.len(), || lanes::fuzzed::invented(&said, PAGE)) {
        assert!(said.contains(&word), "{word:?} is not said");
    }
    assert_eq!(lanes::fuzzed::invented(&said, &said), [""; 0], "a text invents nothing that it says itself");
}

/// Every one that was asked for, none beside them, each within bounds.
fn whole(numbers: Result<Vec<i64>, String>, count: usize, bounds: RangeInclusive<i64>) {
    if let Ok(numbers) = numbers {
        assert_eq!(numbers.len(), count);
        assert!(numbers.iter().all(|number| bounds.contains(number)), "{numbers:?}");
    }
}

fn hit(path: &str) -> Hit {
    Hit {
        rank: 1,
        path: path.into(),
        title: "The export is paged".into(),
        kind: None,
        scope: "global".into(),
        score: 1.0,
        snippet: String::new(),
        marks: Vec::new(),
        factors: None,
    }
}
