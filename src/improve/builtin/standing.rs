//! Standing instructions: what a person wants done from now on, not only now.

use std::collections::HashSet;

use super::instruction::{CIRCUMSTANCE, Instruction, instruction, tail_of};
use super::judge::{self, pattern};
use super::retraction::is_taken_back;
use super::{Turn, choice, compose, signal};
use crate::proposal::{Candidate, Evidence};
use crate::session::Session;
use crate::wiki::Kind;

/// Why a rule is proposed.
const RATIONALE: &str = "A person gave this as a standing instruction.";

/// Standing instructions, one candidate each.
pub fn find(session: &Session, turns: &[Turn], taken: &mut HashSet<(usize, usize)>) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (nth, turn) in turns.iter().enumerate() {
        for (index, sentence) in turn.sentences.iter().enumerate() {
            if sentence.has_gap || taken.contains(&(turn.at, index)) {
                continue;
            }
            let alone = stands_alone(turn, index);
            let found = instruction(&sentence.text).filter(|found| found.lasting || alone);
            let Some(found) = found.filter(|found| !is_another(&found.order) && !judge::is_about_it(&found.order))
            else {
                continue;
            };
            if is_taken_back(&turns[nth + 1..], &found.order) {
                continue;
            }
            let Some(evidence) = compose::quote(session, turn.observation, &found.words) else { continue };
            let more = same_breath(turn, index, &found, &turns[nth + 1..]);
            let last = index + more.len();
            taken.extend((index..=last).map(|at| (turn.at, at)));
            out.push(candidate(session, turn, &found, &more, following_reason(turn, last), evidence));
        }
    }
    out
}

fn candidate(
    session: &Session,
    turn: &Turn,
    found: &Instruction,
    more: &[&str],
    following: Option<String>,
    evidence: Evidence,
) -> Candidate {
    let reason = found.reason.clone().or(following);
    let title = title(&found.order);
    let mut body = format!("{}\n\n{}", compose::heading(&title), compose::sentence(&found.order));
    let mut quotes = vec![evidence];
    for words in more {
        body.push_str(&format!(" {}", compose::sentence(words)));
        quotes.extend(compose::quote(session, turn.observation, words));
    }
    body.push('\n');
    if let Some(reason) = &reason {
        body.push_str(&format!("\n## Why\n\n{}\n", compose::reason(reason)));
    }
    compose::page(Kind::Rule, &title, body, confidence(found, reason.is_some()), RATIONALE, quotes)
}

/// Whether an order is about another thing of a kind that only the sentence before names: "always add a new one".
fn is_another(order: &str) -> bool {
    pattern!(ANOTHER, r"(?i)\b(?:an?|another) (?:[a-z]+ )?one\b");
    ANOTHER.is_match(order)
}

/// The sentences behind an instruction that belong to it: what to do in its place, and further instructions about the
/// same thing.
fn same_breath<'t>(turn: &'t Turn, index: usize, found: &Instruction, later: &[Turn]) -> Vec<&'t str> {
    let mut more: Vec<&str> = in_its_place(turn, index, found).into_iter().collect();
    while let Some(next) = turn.sentences.get(index + more.len() + 1) {
        let is_more = |then: &Instruction| then.lasting && about_one_thing(&found.order, &then.order);
        let goes_on = !next.has_gap
            && judge::is_fit(&next.text)
            && instruction(&next.text).is_some_and(|then| is_more(&then) && !is_taken_back(later, &then.order));
        if !goes_on {
            break;
        }
        more.push(&next.text);
    }
    more
}

/// Whether two orders name the same thing.
fn about_one_thing(order: &str, other: &str) -> bool {
    const EVERYWHERE: &[&str] = &[
        "after", "always", "before", "each", "ever", "every", "here", "make", "must", "never", "only", "please",
        "project", "repo", "should", "sure", "them", "they", "time", "unless", "when", "without", "write", "your",
    ];
    let things = |text: &str| -> HashSet<String> {
        let words = choice::names(text).into_iter().filter(|word| !EVERYWHERE.contains(&word.as_str()));
        words.map(|word| word.trim_end_matches('s').to_owned()).collect()
    };
    !things(order).is_disjoint(&things(other))
}

/// What to do in place of what the sentence before forbids. On its own it would be an order for the task at hand.
fn in_its_place<'t>(turn: &'t Turn, index: usize, found: &Instruction) -> Option<&'t str> {
    pattern!(BAN, r"(?i)^(?:never|don'?t|do not|no|stop|under no)\b");
    pattern!(IN_PLACE, r"(?i)^(?:instead,? )?(?:please )?(?:use|call|run|write|put|go through|prefer) \S+ \S");
    let next = turn.sentences.get(index + 1)?;
    let then = instruction(&next.text);
    let fits = BAN.is_match(&judge::plain(&found.order))
        && !next.has_gap
        && judge::is_fit(&next.text)
        && match then {
            Some(then) if then.lasting => is_another(&then.order),
            _ => IN_PLACE.is_match(&next.text),
        };
    fits.then_some(next.text.as_str())
}

/// What to do instead, where the sentence after a fact says it: "always change the schema instead".
pub fn instead<'t>(turn: &'t Turn, index: usize) -> Option<&'t str> {
    pattern!(INSTEAD, r"(?i)^instead\b|\binstead\W*$");
    let next = turn.sentences.get(index + 1)?;
    let fits = !next.has_gap && INSTEAD.is_match(&next.text) && instruction(&next.text).is_some();
    fits.then_some(next.text.as_str())
}

/// The title of an order: of one that is too long, the order without the occasion before it when only that would be left.
pub fn title(order: &str) -> String {
    let whole = compose::title(order);
    let plain = judge::plain(order);
    match CIRCUMSTANCE.find(&plain) {
        Some(occasion) if whole.chars().count() <= occasion.as_str().chars().count() => {
            compose::title(tail_of(order, &plain[occasion.end()..]))
        }
        _ => whole,
    }
}

/// What the signals of an instruction are worth.
pub fn confidence(found: &Instruction, has_reason: bool) -> f64 {
    let base = if found.lasting { signal::LASTING_WORD } else { signal::CONTRAST };
    signal::sum(base, &[(found.scoped, signal::NAMES_ITS_SCOPE), (has_reason, signal::GIVES_A_REASON)])
}

/// Whether the rest of the turn sets no task: an instruction without a lasting word that stands inside a task is about
/// that task.
pub fn stands_alone(turn: &Turn, index: usize) -> bool {
    turn.sentences.iter().enumerate().all(|(other, sentence)| {
        other == index
            || (!sentence.has_gap
                && (sentence.text.split_whitespace().count() <= 3
                    || instruction(&sentence.text).is_some()
                    || is_reason(&sentence.text)
                    || is_reproach(&sentence.text)))
    })
}

fn is_reason(text: &str) -> bool {
    let start = text.to_ascii_lowercase();
    ["because ", "otherwise ", "the reason is ", "reason: "].iter().any(|word| start.starts_with(word))
}

fn is_reproach(text: &str) -> bool {
    pattern!(
        REPROACH,
        r"(?i)^(?:no|nope|wrong|that's wrong|that's not right|stop|(?:as |like )?i (?:already )?(?:said|told you)|you keep|actually|not)\b"
    );
    REPROACH.is_match(&judge::plain(text))
}

/// A reason in the sentence after the instruction.
pub fn following_reason(turn: &Turn, index: usize) -> Option<String> {
    let next = turn.sentences.get(index + 1)?;
    (is_reason(&next.text) && !next.has_gap && judge::is_fit(&next.text)).then(|| next.text.clone())
}
