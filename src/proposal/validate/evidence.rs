//! Evidence: every quote stands in its source, and a rule has a person's own words.

use std::collections::BTreeSet;

use super::{Candidate, Context, Evidence, Fault, Passage, ReasonCode, wording, words};
use crate::session::Speaker;
use crate::wiki::text::{fold_space, normal};
use crate::wiki::{EditOp, Kind};

/// Longest quote, in characters.
pub const MAX_QUOTE_CHARS: usize = 400;

/// Fewest letters and digits that a quote must have: less stands in every text.
const MIN_QUOTE_LETTERS: usize = 4;

/// Most quotes of one candidate: they all stand in its commit message and its sidecar.
const MAX_QUOTES: usize = 20;

/// Fewest words of a person's that a rule may rest on, unless they are all of a sentence: a bit of a sentence says
/// nothing of what was meant.
const MIN_RULE_WORDS: usize = 3;

/// What the evidence tells of a candidate.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rests {
    /// A secret was taken out of a quote before it got here.
    pub redacted: bool,
    /// A passage that is quoted gives orders to whoever reads it.
    pub on_orders: bool,
    /// It is a rule, and nothing of what a person said stands in it.
    pub on_other_words: bool,
}

/// Checks the evidence and fills in each quote's blob and speaker.
pub(super) fn check(candidate: &mut Candidate, context: &Context<'_>) -> Result<Rests, Fault> {
    if context.by_person && candidate.evidence.is_empty() {
        return Ok(Rests::default());
    }
    if candidate.evidence.is_empty() {
        let what = "there is no evidence; quote the words that this rests on, with their source";
        return Err((ReasonCode::MissingEvidence, what.into()));
    }
    let count = candidate.evidence.len();
    if count > MAX_QUOTES {
        let what = format!("{count} quotes; {MAX_QUOTES} are allowed, take those that say most");
        return Err((ReasonCode::QuoteTooLong, what));
    }
    let (mut human, mut said, mut on_orders) = (false, false, false);
    for (number, evidence) in (1..).zip(&mut candidate.evidence) {
        let found = find(number, evidence, context)?;
        human |= found.own;
        said |= found.said;
        on_orders |= found.orders;
    }
    let rule = candidate.kind == Kind::Rule && !context.by_person;
    if rule && !human {
        let what = "a rule needs a quote that a person typed themselves; a tool's output, an answer, a page or \
                    something that a person pasted is not enough";
        return Err((ReasonCode::EvidenceNotHuman, what.into()));
    }
    if rule && !said {
        let what = format!(
            "a rule needs a whole sentence that a person typed, or {MIN_RULE_WORDS} words of it that begin and end \
             with whole words"
        );
        return Err((ReasonCode::EvidenceNotHuman, what));
    }
    Ok(Rests {
        redacted: candidate.evidence.iter().any(|evidence| evidence.quote.contains("[REDACTED:")),
        on_orders: on_orders && !context.by_person,
        on_other_words: rule && on_other_words(candidate),
    })
}

/// Whether no word of what a person is quoted with stands in the candidate.
fn on_other_words(candidate: &Candidate) -> bool {
    const EMPTY: &[&str] = &[
        "the", "and", "that", "this", "then", "from", "now", "for", "with", "you", "are", "not", "can", "make", "does",
        "never", "always", "please", "should", "must", "will", "have", "has", "was", "our", "your", "all", "use",
        "yes", "good", "but", "also", "only", "here", "there", "when", "what", "why", "how", "don",
    ];
    let words = |text: &str| -> BTreeSet<String> {
        let text = normal(text);
        let words = text.split(' ').filter(|word| word.chars().count() >= 3 && !EMPTY.contains(word));
        // Five letters are enough of a word to find its other forms.
        words.map(|word| word.chars().take(5).collect()).collect()
    };
    let mut said = BTreeSet::new();
    for evidence in candidate.evidence.iter().filter(|evidence| evidence.speaker == Some(Speaker::Human)) {
        said.extend(words(&evidence.quote));
    }
    let mut meant = words(&candidate.title);
    meant.extend(candidate.body_markdown.iter().flat_map(|body| words(body)));
    meant.extend(candidate.edits.iter().flat_map(|edit| words(&edit.content)));
    said.is_disjoint(&meant)
}

/// Whether it changes the text of a page and quotes nothing but that page: what is written there already is no reason
/// to write more.
pub(super) fn is_circular(candidate: &Candidate) -> bool {
    let text = candidate.body_markdown.is_some() || candidate.edits.iter().any(|edit| edit.op != EditOp::SetField);
    text && !candidate.evidence.is_empty() && candidate.evidence.iter().all(|item| item.source == candidate.path)
}

/// What a quote was found to be.
struct Found {
    /// A person's own words.
    own: bool,
    /// Enough of them to tell what was said.
    said: bool,
    /// The passage that it stands in gives orders.
    orders: bool,
}

/// Finds one quote in its source.
fn find(number: usize, evidence: &mut Evidence, context: &Context<'_>) -> Result<Found, Fault> {
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
    if evidence.quote.chars().count() > MAX_QUOTE_CHARS {
        // What is over the measure is white space: it stands in the commit's message and in the sidecar.
        evidence.quote.clone_from(&quote);
    }
    evidence.source = source.name;
    let typed = source.passages.iter().find(own);
    let Some(passage) = typed.or_else(|| source.passages.iter().find(|passage| holds(&passage.text))) else {
        let what = format!(
            "quote {number} (\"{}\") does not stand in {}; it must be verbatim, only white space may differ",
            start(&quote),
            evidence.source
        );
        return Err((ReasonCode::EvidenceNotFound, what));
    };
    if !words::places(&fold_space(&passage.text), &quote).any(|place| place.whole > 0) {
        let what = format!(
            "quote {number} (\"{}\") cuts words of {} in pieces; quote whole ones",
            start(&quote),
            evidence.source
        );
        return Err((ReasonCode::EvidenceNotFound, what));
    }
    evidence.blob = Some(passage.blob.clone());
    let own = typed.is_some();
    // What a person only pasted is in their turn, but not their word.
    evidence.speaker = match passage.speaker {
        Some(Speaker::Human) if !own => Some(Speaker::System),
        other => other,
    };
    let words = (context.own_words)(&passage.text);
    // A line may be a sentence without a full stop.
    let said = own
        && words.lines().chain([words.as_str()]).any(|text| {
            words::places(&fold_space(text), &quote)
                .any(|place| place.uncut && (place.whole >= MIN_RULE_WORDS || place.sentence))
        });
    Ok(Found { own, said, orders: wording::reads_like_order(&passage.text) })
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
