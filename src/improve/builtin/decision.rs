//! Decisions that were stated with their reason, by a person or with a person's yes.

use std::collections::HashSet;

use super::choice::{self, Choice};
use super::instruction::instruction;
use super::judge::{self, pattern};
use super::{Turn, compose, retraction, sentences, signal};
use crate::proposal::{Candidate, Evidence};
use crate::session::{Observation, ObservationKind, Session, Speaker, own_words};
use crate::wiki::Kind;

/// Why a person's decision is proposed.
const STATED: &str = "A person stated a decision and its reason.";
/// Why the agent's is.
const CONFIRMED: &str = "The agent stated a decision and its reason, and the person agreed.";
/// Why the agent's recommendation is, to which the person gave the reason.
const TAKEN_UP: &str = "The agent recommended it, and the person agreed and said why.";

macro_rules! yes {
    () => {
        r"(?ix)^(?:yes|yep|yeah|ok|okay|agreed|sounds\sgood|go\sahead|do\sit|let's\sdo\s(?:that|it)|perfect|great|lgtm|exactly|correct|sure|good|makes\ssense|approved|👍)(?:[\s,.!]+(?:please|thanks|thank\syou|do\s(?:that|it)|go\sahead|go\sfor\sit|go\swith\s(?:that|it)|let'?s\sdo\s(?:that|it)|sounds\sgood|agreed|good|great|makes\ssense|yes))*"
    };
}
pattern!(YES, concat!(yes!(), r"[\s.!👍]*$"));
pattern!(YES_BECAUSE, concat!(yes!(), r"[\s,.!:\x{2014}-]*\b(?:because|since)\s+(.{8,}?)[\s.!]*$"));
pattern!(
    REASON_SENTENCE,
    r"(?ix)^(?:because|since|(?:the\s)?(?:main\s)?reasons?(?:\sis)?\s*:?(?:\sthat)?|why:)\s+(.{8,}?)[\s.!]*$"
);
pattern!(
    LOOK_AGAIN,
    r"(?i)^(?:if|when|once) we (?:ever )?.+\b(?:look at it again|revisit|reconsider|rethink|come back to)\b"
);
pattern!(
    TAKEN_BACK,
    r"(?ix)\b(?:scrap|scratch\sthat|chang(?:e|ed|ing)\smy\smind|(?:on|having)\ssecond\sthoughts?|actually|drop|revert|undo|go\sback|going\sback|no\slonger|after\sall|forget|switch(?:ing)?\s(?:back\s)?to|instead|let'?s\snot)\b"
);

/// A decision with its reason, and the words that say it.
struct Decision {
    what: String,
    /// The decision in whole sentences.
    stated: String,
    why: String,
    /// When to think again, in the person's words.
    look_again: Option<String>,
    words: Vec<String>,
}

/// Decisions, one candidate each.
pub fn find(session: &Session, turns: &[Turn], taken: &mut HashSet<(usize, usize)>) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (nth, turn) in turns.iter().enumerate() {
        let mut index = 0;
        while index < turn.sentences.len() {
            let step = stated(turn, index, taken).filter(|(_, found)| !is_taken_back(&turns[nth + 1..], &found.what));
            let quotes = step.as_ref().and_then(|(_, found)| quotes(session, turn.observation, &found.words));
            if let (Some((used, found)), Some(quotes)) = (&step, quotes) {
                taken.extend((index..index + used).map(|at| (turn.at, at)));
                out.push(candidate(found, signal::DECISION, STATED, quotes));
                index += used;
            } else {
                index += 1;
            }
        }
        out.extend(confirmed(session, turn, &turns[nth + 1..]));
    }
    out
}

fn quotes(session: &Session, observation: &Observation, words: &[String]) -> Option<Vec<Evidence>> {
    words.iter().map(|words| compose::quote(session, observation, words)).collect()
}

/// The decision that begins with a sentence, and how many sentences it takes.
fn stated(turn: &Turn, index: usize, taken: &HashSet<(usize, usize)>) -> Option<(usize, Decision)> {
    let sentence = |at: usize| {
        let sentence = turn.sentences.get(at)?;
        (!sentence.has_gap && !taken.contains(&(turn.at, at))).then_some(sentence.text.as_str())
    };
    let first = choice::find(sentence(index)?)?;
    let next = sentence(index + 1);
    let second = next.and_then(choice::find);
    let (used, mut decision) = match (&first.why, second) {
        // One was chosen and the other rejected, with one reason for both.
        (_, Some(second)) if first.rejects != second.rejects && (first.why.is_some() != second.why.is_some()) => {
            (2, both(first, second)?)
        }
        (Some(_), _) => (1, alone(first)?),
        (None, _) => {
            let next = next.filter(|next| judge::is_fit(next))?;
            let plain = judge::plain(next);
            let why = match REASON_SENTENCE.captures(&plain) {
                Some(found) => found[1].to_owned(),
                None => weighs(&plain)?.to_owned(),
            };
            (2, alone(Choice { why: Some(why), ..first }).map(|found| with_words(found, next))?)
        }
    };
    let mut used = used;
    if let Some(again) = sentence(index + used).filter(|next| LOOK_AGAIN.is_match(next) && !judge::is_local(next)) {
        decision.look_again = Some(again.to_owned());
        decision = with_words(decision, again);
        used += 1;
    }
    Some((used, decision))
}

/// A sentence after a decision that weighs what was chosen, without a word that says so: "offsets get slow on big
/// tenants".
fn weighs(plain: &str) -> Option<&str> {
    pattern!(
        WEIGHS,
        r"(?ix)\b(?:too|faster|slower|slow|simpler|easier|cheaper|smaller|safer|overkill|no\slonger|can'?t|cannot|doesn'?t|don'?t|nobody|only\sone|one\s(?:thing|binary|less)|never|cost\sus|lost\sus|bit\sus|burned\sus|painful|weak|enough|already|less|fewer|without)\b"
    );
    let tells = instruction(plain).is_none() && !judge::is_question(plain);
    (tells && WEIGHS.is_match(plain)).then(|| plain.trim_end_matches(['.', '!', ' ']))
}

fn with_words(mut decision: Decision, words: &str) -> Decision {
    decision.words.push(words.to_owned());
    decision
}

fn alone(found: Choice) -> Option<Decision> {
    let stated = compose::sentence(&found.what);
    Some(Decision { what: found.what, stated, why: found.why?, look_again: None, words: vec![found.words] })
}

fn both(first: Choice, second: Choice) -> Option<Decision> {
    let words = vec![first.words.clone(), second.words.clone()];
    let (chosen, rejected) = if first.rejects { (second, first) } else { (first, second) };
    let why = chosen.why.or(rejected.why)?;
    let stated = format!("{} {}", compose::sentence(&chosen.what), compose::sentence(&rejected.what));
    let what = match rejected.thing {
        Some(thing) => format!("{}, not {thing}", chosen.what),
        None => chosen.what,
    };
    Some(Decision { what, stated, why, look_again: None, words })
}

/// Whether a later turn of the person takes it back.
fn is_taken_back(later: &[Turn], what: &str) -> bool {
    if retraction::is_given_up(later) {
        return true;
    }
    let names = choice::names(what);
    later.iter().flat_map(|turn| &turn.sentences).any(|sentence| {
        TAKEN_BACK.is_match(&judge::plain(&sentence.text)) && {
            let words = choice::names(&sentence.text);
            names.iter().any(|name| words.contains(name))
        }
    })
}

/// The agent's decision that this turn says yes to.
fn confirmed(session: &Session, turn: &Turn, later: &[Turn]) -> Option<Candidate> {
    let yes = compose::fold(&turn.observation.body);
    let plain = judge::plain(&yes);
    let reason = YES_BECAUSE.captures(&plain).map(|found| found[1].to_owned());
    if turn.sentences.iter().any(|sentence| sentence.has_gap) || !(YES.is_match(&plain) || reason.is_some()) {
        return None;
    }
    if reason.is_some() && (turn.sentences.len() > 2 || !turn.sentences.iter().all(|s| is_said_plainly(&s.text))) {
        return None;
    }
    let answer = session.observations[..turn.at].iter().rfind(|o| o.speaker != Speaker::System)?;
    if answer.speaker != Speaker::Assistant || answer.kind != ObservationKind::Answer || judge::is_ours(&answer.body) {
        return None;
    }
    let mut found = sentences::split(&own_words(&answer.body))
        .into_iter()
        .filter(|s| !s.has_gap)
        .filter_map(|s| choice::find(&s.text))
        .filter(|choice| !choice.rejects);
    // One yes to several decisions does not say to which.
    let (Some(only), None) = (found.next(), found.next()) else { return None };
    let (rationale, confidence) = match reason {
        Some(_) => (TAKEN_UP, signal::DECISION),
        None => (CONFIRMED, signal::CONFIRMED_DECISION),
    };
    let decision = alone(Choice { why: reason.or(only.why), ..only })?;
    if is_taken_back(later, &decision.what) {
        return None;
    }
    let mut evidence = vec![compose::quote(session, turn.observation, &yes)?];
    evidence.extend(quotes(session, answer, &decision.words)?);
    Some(candidate(&decision, confidence, rationale, evidence))
}

/// Fit for a reason, whose sentence may say "do that".
fn is_said_plainly(text: &str) -> bool {
    text.chars().count() <= judge::MAX_QUOTE
        && !judge::is_question(text)
        && !judge::is_unsure(text)
        && !judge::is_mocking(text)
        && !judge::is_local(text)
        && !judge::is_unsafe(text)
}

fn candidate(found: &Decision, confidence: f64, rationale: &str, evidence: Vec<Evidence>) -> Candidate {
    let title = compose::title(&found.what);
    let mut body = format!(
        "{}\n\n## Decision\n\n{}\n\n## Why\n\n{}\n",
        compose::heading(&title),
        found.stated,
        compose::sentence(&found.why)
    );
    if let Some(again) = &found.look_again {
        body.push_str(&format!("\n## When to look again\n\n{}\n", compose::sentence(again)));
    }
    compose::page(Kind::Decision, &title, body, confidence, rationale, evidence)
}
