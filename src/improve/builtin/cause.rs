//! What sentences say about a failure: its cause, and what helped.

use super::judge::{self, pattern};
use super::lexicon::{ORDERS, SETUP, SLIPS};
use super::{compose, sentences};
use crate::proposal::Evidence;
use crate::session::{ObservationKind, Session, Speaker, own_words};

/// Why, and what helped, as somebody said it.
pub struct Lesson {
    pub cause: String,
    pub fix: Option<String>,
    /// The cause was called one.
    pub labelled: bool,
    pub quotes: Vec<Evidence>,
}

pattern!(CAUSE_LABEL, r"(?ix)^\W*(?:the\s)?(?:root\s)?cause(?:\sis|\swas)?\s*[:\x{2014}-]?\s*(?:that\s)?(.+)$");
pattern!(FIX_LABEL, r"(?ix)^\W*(?:the\s)?fix(?:\sis|\swas)?\s*[:\x{2014}-]?\s*(?:to\s)?(.+)$");
pattern!(FIX, r"(?ix)^(?:the\sfix\s(?:is|was)|fixed\sby|fix:|to\sfix|solution:)\s*(?:to\s)?(.+)$");
pattern!(
    CAUSE,
    r"(?ix)\b(?:root\scause|(?:failed|fails|failing|broke|breaks)\sbecause|caused\sby|the\s(?:problem|issue|culprit|cause)\s(?:is|was)|turned\sout|turns\sout|because|(?:was|were|is|are)\s(?:missing|unset|not\sset|stale|outdated)|needs\s\S+\s(?:to\sbe|set)|requires\s\S+|needed\s(?:the|a|an)\s|(?:had|needed)\sto\sbe)\b"
);
pattern!(
    NARRATING,
    r"(?ix)^(?:i|i'll|i've|i'm|let\sme|let's|now|next|first|then|we'll|we\sneed|looking|checking|trying|good|great|perfect|done|wait|hmm)\b|\blet\sme\b|\bi(?:'ll|'m\sgoing\sto)\b"
);
pattern!(
    LEAD,
    r"(?ix)^.{0,60}?\b(?:root\scause(?:\sis|\swas|:)?|the\s(?:problem|issue|culprit|cause)\s(?:is|was)|(?:it\s)?(?:turned|turns)\sout|(?:failed|fails|failing|broke|breaks|happens|happened)\sbecause(?:\sof)?|was\scaused\sby)\s*[:,\x{2014}-]?\s*(?:that\s)?"
);
pattern!(
    HELPED,
    r"(?ix)^(.{8,}?)(?:[;,]|\s[\x{2014}-]|\sand|,\sso)\s+(`[^`]+`\s(?:fixed|fixes|solved|solves|resolved|resolves|helped|helps)(?:\sit|\sthat)?)\s*[.!]*$"
);
pattern!(
    ORDER,
    r"(?ix)^(?:(?:so|and|instead),?\s)?(?:you|we|one)\s(?:have\sto|need\sto|must)\s((?:always\s)?([a-z-]+)\s.*)$|^((?:(?:after|before|when|whenever|if)\s[^,`]{3,60}?,?\s)([a-z-]+)\s.*)$|^(([a-z-]+)\s.*)$"
);

/// The last fit statement of a cause among some observations, and of a fix. `command` and `output` are of the failure.
pub fn lesson(session: &Session, said: std::ops::Range<usize>, command: &str, output: &str) -> Option<Lesson> {
    let mut cause: Option<(String, bool, Evidence)> = None;
    let mut fix: Option<(String, Evidence)> = None;
    for observation in &session.observations[said] {
        let answers = observation.speaker == Speaker::Assistant && observation.kind == ObservationKind::Answer;
        let spoken = answers || observation.speaker == Speaker::Human;
        if !spoken || judge::is_ours(&observation.body) {
            continue;
        }
        // An order is a fix only where it goes on from a cause.
        let mut after_cause = false;
        for sentence in sentences::split(&own_words(&observation.body)) {
            let text = sentence.text.as_str();
            let plain = judge::plain(text);
            if sentence.has_gap || is_unfit(text, &plain) {
                after_cause = false;
                continue;
            }
            let Some(evidence) = compose::quote(session, observation, text) else { continue };
            if let Some(found) = FIX_LABEL.captures(&plain).or_else(|| FIX.captures(&plain)) {
                if found[1].split_whitespace().count() >= 3 {
                    fix = Some((found[1].to_owned(), evidence));
                }
            } else if let Some(found) = CAUSE_LABEL.captures(&plain) {
                cause = Some((found[1].to_owned(), true, evidence));
                after_cause = true;
            } else if let Some(order) = order(&plain).filter(|_| after_cause) {
                fix = Some((order, evidence));
            } else if CAUSE.is_match(&plain)
                && shares_a_name(text, command, output)
                && !cause.as_ref().is_some_and(|c| c.1)
            {
                let said = without_lead(&plain);
                let said = match HELPED.captures(said) {
                    Some(found) => {
                        fix = Some((found[2].to_owned(), evidence.clone()));
                        found[1].to_owned()
                    }
                    None => said.to_owned(),
                };
                cause = Some((said, false, evidence));
                after_cause = true;
            }
        }
    }
    let (cause, labelled, quote) = cause?;
    let all = format!("{cause} {}", fix.as_ref().map_or("", |fix| fix.0.as_str()));
    if cause.split_whitespace().count() < 3 || !is_of_the_setup(&all) {
        return None;
    }
    let mut quotes = vec![quote];
    quotes.extend(fix.as_ref().map(|fix| fix.1.clone()).filter(|quote| quote.quote != quotes[0].quote));
    Some(Lesson { cause, labelled, fix: fix.map(|fix| fix.0), quotes })
}

/// What to do, with the command to type in it.
fn order(plain: &str) -> Option<String> {
    let found = ORDER.captures(plain)?;
    let (whole, verb) = [(1, 2), (3, 4), (5, 6)].into_iter().find_map(|(a, b)| Some((found.get(a)?, found.get(b)?)))?;
    // The occasion may be of several words before the verb: "after a schema change run …".
    let ordered = |word: &str| ORDERS.contains(&word.to_ascii_lowercase().as_str());
    let is_order = ordered(verb.as_str())
        || (found.get(3).is_some()
            && plain
                .split('`')
                .next()
                .is_some_and(|before| before.split_whitespace().next_back().is_some_and(ordered)));
    (is_order && plain.contains('`') && whole.as_str().split_whitespace().count() >= 3)
        .then(|| whole.as_str().to_owned())
}

fn without_lead(plain: &str) -> &str {
    LEAD.find(plain).map_or(plain, |lead| &plain[lead.end()..])
}

fn is_unfit(text: &str, plain: &str) -> bool {
    judge::is_question(plain)
        || judge::is_unsure(plain)
        || judge::is_local(text)
        || judge::is_unsafe(text)
        || NARRATING.is_match(plain)
        || text.chars().count() > judge::MAX_QUOTE
        // "This fails because …" points at the failure, which the page shows.
        || judge::is_at_hand(without_lead(plain))
}

/// A cause in the set-up comes back; a slip in the code was mended once and for all.
fn is_of_the_setup(text: &str) -> bool {
    pattern!(NAME, r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|(?:^|\s)--?[a-z][a-z-]+\b");
    let lower = text.to_lowercase();
    let holds = |word: &str| {
        lower.match_indices(word).any(|(at, _)| {
            let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            edge(lower[..at].chars().next_back()) && edge(lower[at + word.len()..].chars().next())
        })
    };
    !SLIPS.iter().any(|slip| holds(slip)) && (NAME.is_match(text) || SETUP.iter().any(|word| holds(word)))
}

/// Whether a sentence is about this failure: it names something that the command or its output names.
fn shares_a_name(text: &str, command: &str, output: &str) -> bool {
    const COMMON: &[&str] = &[
        "because", "error", "failed", "failing", "test", "tests", "build", "command", "problem", "issue", "cause",
        "which", "there", "their", "where", "needs", "cannot", "missing", "found", "should", "would", "could", "after",
        "before", "without", "from", "with", "that", "this", "have", "been", "were", "when", "root", "file", "files",
        "line", "code", "exit",
    ];
    let around = format!("{command}\n{output}").to_lowercase();
    let around: std::collections::HashSet<&str> =
        around.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').collect();
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
        .any(|word| word.len() >= 4 && !COMMON.contains(&word) && around.contains(word))
}
