//! The built-in reviewer: lessons out of a session by fixed rules, without a model.
//!
//! It is precise before it is plentiful. What it writes is headings and sentences that stand in the session, and the same
//! session always gives the same candidates.

mod cause;
mod choice;
mod compose;
mod contrast;
mod correction;
mod decision;
mod fact;
mod failure;
mod forms;
mod frame;
mod grammar;
mod instruction;
mod judge;
mod language;
mod lexicon;
mod mood;
mod occasion;
mod practice;
mod procedure;
mod retraction;
pub(in crate::improve) mod sentences;
mod standing;
mod task;

use std::collections::HashSet;

use crate::proposal::Candidate;
use crate::session::{Observation, Session, own_words};
use sentences::Sentence;

/// What the signals of the rules are worth. A candidate starts at the value of its rule and gains for each signal that
/// is present; what is below the threshold of the validation is not worth a person's time, so no rule starts there.
mod signal {
    /// An instruction that is general by its form alone ("use pnpm, not npm").
    pub const CONTRAST: f64 = 0.75;
    /// An instruction with a word that makes it last ("always", "from now on", "in this repo").
    pub const LASTING_WORD: f64 = 0.85;
    /// A person put the agent right.
    pub const CORRECTION: f64 = 0.80;
    /// A command failed, something was changed, the same command passed, and somebody said why.
    pub const FAILED_THEN_PASSED: f64 = 0.80;
    /// A cause and its fix were both stated, and nothing in the session shows that they are wrong, or right.
    pub const STATED_CAUSE_AND_FIX: f64 = 0.75;
    /// A person stated a decision with its reason.
    pub const DECISION: f64 = 0.85;
    /// The agent stated a decision with its reason, and the person said yes.
    pub const CONFIRMED_DECISION: f64 = 0.75;
    /// A person told how things stand.
    pub const TOLD_FACT: f64 = 0.75;
    /// The same commands, in the same order, in two sessions.
    pub const REPEATED_COMMANDS: f64 = 0.75;
    /// The words say where they hold.
    pub const NAMES_ITS_SCOPE: f64 = 0.05;
    /// The words give their reason.
    pub const GIVES_A_REASON: f64 = 0.05;
    /// Said, or seen, more than once.
    pub const REPEATED: f64 = 0.05;
    /// Rules never are surer than this.
    pub const MOST: f64 = 0.95;

    /// The sum, at most [`MOST`], in whole hundredths so that it prints the same everywhere.
    pub fn sum(base: f64, gains: &[(bool, f64)]) -> f64 {
        let sum = gains.iter().filter(|(present, _)| *present).fold(base, |sum, (_, gain)| sum + gain);
        (sum.min(MOST) * 100.0).round() / 100.0
    }
}

/// A human turn in its own words.
struct Turn<'s> {
    /// Where it stands among the session's observations.
    at: usize,
    observation: &'s Observation,
    sentences: Vec<Sentence>,
}

/// What one session teaches. `history` are other sessions of the same scope; only repeated procedures look at them.
///
/// Empty for a session of our own, and for one without a person in it.
pub fn review(session: &Session, history: &[Session]) -> Vec<Candidate> {
    if session.own || session.prompts().next().is_none() {
        return Vec::new();
    }
    let turns = turns(session);
    // A sentence that one rule took is no longer there for the next: the more telling rules come first.
    let mut taken = HashSet::new();
    let mut found = correction::find(session, &turns, &mut taken);
    found.extend(decision::find(session, &turns, &mut taken));
    found.extend(standing::find(session, &turns, &mut taken));
    found.extend(fact::find(session, &turns, &mut taken));
    found.extend(failure::find(session, &turns));
    found.extend(procedure::find(session, history));
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in found {
        match kept.iter_mut().find(|other| other.path == candidate.path || says_the_same(other, &candidate)) {
            Some(same) => compose::merge(same, candidate),
            None => kept.push(candidate),
        }
    }
    kept
}

/// Whether one candidate says what another of the same session does, in nearly the same words.
fn says_the_same(one: &Candidate, other: &Candidate) -> bool {
    let (words, others): (HashSet<_>, HashSet<_>) =
        (choice::names(&one.title).into_iter().collect(), choice::names(&other.title).into_iter().collect());
    let fewest = words.len().min(others.len());
    one.kind == other.kind && fewest >= 2 && words.intersection(&others).count() * 3 > fewest * 2
}

fn turns(session: &Session) -> Vec<Turn<'_>> {
    session
        .observations
        .iter()
        .enumerate()
        .filter(|(_, o)| o.speaker == crate::session::Speaker::Human)
        .filter(|(_, o)| !judge::is_ours(&o.body) && !judge::is_prompt_template(&o.body))
        .map(|(at, observation)| {
            let sentences = sentences::split(&own_words(&observation.body)).into_iter().flat_map(parted).collect();
            Turn { at, observation, sentences: task::mark(sentences) }
        })
        .collect()
}

/// The two of "always … and never …", each an instruction of its own.
fn parted(sentence: Sentence) -> Vec<Sentence> {
    judge::pattern!(AND, r"(?i)[,;]?\s+(?:and|but)\s+((?:please\s+)?(?:always|never)\s)");
    let lasting = |text: &str| instruction::instruction(text).is_some_and(|found| found.lasting);
    let parts = AND.captures(&sentence.text).and_then(|found| {
        let (joint, next) = (found.get(0)?, found.get(1)?);
        Some((&sentence.text[..joint.start()], &sentence.text[next.start()..]))
    });
    match parts {
        Some((one, other)) if !sentence.has_gap && lasting(one) && lasting(other) => {
            [one, other].map(|text| Sentence { text: text.to_owned(), ..sentence }).into()
        }
        _ => vec![sentence],
    }
}
