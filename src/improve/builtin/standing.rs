//! Standing instructions: what a person wants done from now on, not only now.

use std::collections::HashSet;

use super::instruction::{CIRCUMSTANCE, Instruction, instruction, tail_of};
use super::judge::{self, pattern};
use super::retraction::is_taken_back;
use super::{Turn, compose, signal};
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
            let Some(found) = found.filter(|found| !is_another(&found.order)) else { continue };
            if is_taken_back(&turns[nth + 1..], &found.order) {
                continue;
            }
            let Some(evidence) = compose::quote(session, turn.observation, &found.words) else { continue };
            taken.insert((turn.at, index));
            let in_its_place = in_its_place(turn, index, &found);
            if in_its_place.is_some() {
                taken.insert((turn.at, index + 1));
            }
            out.push(candidate(session, turn, &found, in_its_place, following_reason(turn, index), evidence));
        }
    }
    out
}

fn candidate(
    session: &Session,
    turn: &Turn,
    found: &Instruction,
    in_its_place: Option<&str>,
    following: Option<String>,
    evidence: Evidence,
) -> Candidate {
    let reason = found.reason.clone().or(following);
    let title = title(&found.order);
    let mut body = format!("{}\n\n{}", compose::heading(&title), compose::sentence(&found.order));
    let mut quotes = vec![evidence];
    if let Some(words) = in_its_place {
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
