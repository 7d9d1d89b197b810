//! Evidence: every quote stands in its source, and a rule has a person's own words.

use super::{Candidate, Context, Evidence, Fault, Passage, ReasonCode};
use crate::session::Speaker;
use crate::wiki::Kind;
use crate::wiki::text::fold_space;

/// Longest quote, in characters.
pub const MAX_QUOTE_CHARS: usize = 400;

/// Fewest letters and digits that a quote must have: less stands in every text.
const MIN_QUOTE_LETTERS: usize = 4;

/// Checks the evidence and fills in each quote's blob and speaker; whether a secret was taken out of any of it.
pub(super) fn check(candidate: &mut Candidate, context: &Context<'_>) -> Result<bool, Fault> {
    if context.by_person && candidate.evidence.is_empty() {
        return Ok(false);
    }
    if candidate.evidence.is_empty() {
        let what = "there is no evidence; quote the words that this rests on, with their source";
        return Err((ReasonCode::MissingEvidence, what.into()));
    }
    let mut human = false;
    for (number, evidence) in (1..).zip(&mut candidate.evidence) {
        human |= find(number, evidence, context)?;
    }
    if candidate.kind == Kind::Rule && !human && !context.by_person {
        let what = "a rule needs a quote that a person typed themselves; a tool's output, an answer, a page or \
                    something that a person pasted is not enough";
        return Err((ReasonCode::EvidenceNotHuman, what.into()));
    }
    Ok(candidate.evidence.iter().any(|evidence| evidence.quote.contains("[REDACTED:")))
}

/// Finds one quote in its source; whether it is a person's own words.
fn find(number: usize, evidence: &mut Evidence, context: &Context<'_>) -> Result<bool, Fault> {
    let quote = fold_space(&evidence.quote);
    let length = quote.chars().count();
    if length > MAX_QUOTE_CHARS {
        let what = format!("quote {number} has {length} characters; {MAX_QUOTE_CHARS} are allowed, take its core");
        return Err((ReasonCode::QuoteTooLong, what));
    }
    if quote.chars().filter(|c| c.is_alphanumeric()).count() < MIN_QUOTE_LETTERS {
        let what = format!("quote {number} is (almost) empty; quote the words that this rests on");
        return Err((ReasonCode::MissingEvidence, what));
    }
    let Some(source) = (context.source)(&evidence.source) else {
        let what =
            format!("quote {number} names {}, which is no session, observation or page", shown(&evidence.source));
        return Err((ReasonCode::EvidenceNotFound, what));
    };
    let holds = |text: &str| fold_space(text).contains(&quote);
    let own = |passage: &&Passage| {
        passage.speaker == Some(Speaker::Human) && holds(&passage.text) && holds(&(context.own_words)(&passage.text))
    };
    evidence.source = source.name;
    if let Some(passage) = source.passages.iter().find(own) {
        evidence.blob = Some(passage.blob.clone());
        evidence.speaker = Some(Speaker::Human);
        return Ok(true);
    }
    let Some(passage) = source.passages.iter().find(|passage| holds(&passage.text)) else {
        let what = format!(
            "quote {number} (\"{}\") does not stand in {}; it must be verbatim, only white space may differ",
            start(&quote),
            evidence.source
        );
        return Err((ReasonCode::EvidenceNotFound, what));
    };
    evidence.blob = Some(passage.blob.clone());
    // What a person only pasted is in their turn, but not their word.
    evidence.speaker = match passage.speaker {
        Some(Speaker::Human) => Some(Speaker::System),
        other => other,
    };
    Ok(false)
}

fn shown(source: &str) -> String {
    if source.trim().is_empty() { "no source".into() } else { format!("`{}`", start(source)) }
}

/// The first words. Secrets were looked for before, so that cutting cannot hide half of one.
fn start(text: &str) -> String {
    let mut out: String = text.chars().take(60).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}
