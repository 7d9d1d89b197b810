//! Candidates out of the words that were found.

use crate::proposal::{Candidate, Evidence, Operation};
use crate::session::{Observation, Session, Speaker};
use crate::wiki::Kind;

use super::signal;

/// The longest title.
pub const MAX_TITLE: usize = 70;
/// How many quotes a candidate carries at most.
const MAX_EVIDENCE: usize = 6;

/// A new page.
pub fn page(
    kind: Kind,
    title: &str,
    body: String,
    confidence: f64,
    rationale: &str,
    evidence: Vec<Evidence>,
) -> Candidate {
    Candidate {
        operation: Operation::Create,
        path: format!("{}/{}.md", kind.default_folder(), slug(title)),
        title: title.to_owned(),
        kind,
        confidence,
        rationale: rationale.to_owned(),
        evidence,
        body_markdown: Some(body),
        edits: Vec::new(),
    }
}

/// A quote from an observation, or nothing when its (folded) body does not hold it.
pub fn quote(session: &Session, observation: &Observation, words: &str) -> Option<Evidence> {
    let words = fold(words);
    (!words.is_empty() && words.chars().count() <= super::judge::MAX_QUOTE && fold(&observation.body).contains(&words))
        .then(|| Evidence {
            source: format!("sessions/{}#{}", session.id, observation.seq),
            blob: None,
            speaker: Some(observation.speaker),
            quote: words,
        })
}

/// Puts what a second sighting adds to the first: its quotes, and some confidence when a person said it again.
pub fn merge(kept: &mut Candidate, again: Candidate) {
    let mut by_person = false;
    for evidence in again.evidence {
        let known = kept.evidence.iter().any(|e| e.source == evidence.source && e.quote == evidence.quote);
        if !known && kept.evidence.len() < MAX_EVIDENCE {
            by_person |= evidence.speaker == Some(Speaker::Human);
            kept.evidence.push(evidence);
        }
    }
    kept.confidence = signal::sum(kept.confidence.max(again.confidence), &[(by_person, signal::REPEATED)]);
}

/// White space folded to single spaces.
pub fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A title from source words: one line of at most 70 characters, without markup and without a full stop.
pub fn title(words: &str) -> String {
    let plain = spelled(&fold(words)).replace('`', "").replace("**", "");
    let plain = plain.trim_end_matches(['.', '!', ',', ';', ':', ' ']);
    let mut short = plain;
    if plain.chars().count() > MAX_TITLE {
        let limit = plain.char_indices().nth(MAX_TITLE).map_or(plain.len(), |(at, _)| at);
        let head = &plain[..limit];
        short = last_break(head, CLAUSES, plain)
            .or_else(|| last_break(head, PHRASES, plain))
            .or_else(|| head.rsplit_once(' ').map(|(whole, _)| whole))
            .unwrap_or(head);
        // "steps to get" was cut from "steps to get to it".
        if let Some((kept, _)) = short.rsplit_once(" to ").filter(|(_, rest)| !rest.contains(' ')) {
            short = kept;
        }
    }
    capital(trim_dangling(short.trim_end_matches(['.', '!', ',', ';', ':', ' '])))
}

/// Where a clause ends: a title is better a whole clause than a cut one.
const CLAUSES: &[&str] = &[
    ", ",
    "; ",
    " - ",
    " \u{2013} ",
    " \u{2014} ",
    " (",
    ": ",
    " whenever ",
    " when ",
    " that ",
    " which ",
    " because ",
    " rather than ",
    " instead of ",
    " before ",
    " after ",
    " if ",
    " where ",
    " so ",
    " unless ",
];
/// Where a phrase ends.
const PHRASES: &[&str] = &[" to ", " for ", " with ", " from ", " in ", " on ", " by ", " as ", " and ", " or "];

/// The text, which begins `whole`, up to the last of some breaks that leaves words enough.
fn last_break<'t>(text: &'t str, breaks: &[&str], whole: &str) -> Option<&'t str> {
    breaks
        .iter()
        .filter(|mark| **mark != ", " || !in_list(whole))
        .filter_map(|mark| text.rfind(mark))
        .filter(|at| text[..*at].split_whitespace().count() >= 4)
        .max()
        .map(|at| &text[..at])
}

/// Whether the commas of a text that goes on part the items of a list, and not its clauses.
fn in_list(text: &str) -> bool {
    let items: Vec<&str> = text.split(", ").collect();
    items.len() >= 3 && items[1..items.len() - 1].iter().all(|item| item.split_whitespace().count() <= 4)
}

/// A title must not end in a word that waits for another.
fn trim_dangling(mut text: &str) -> &str {
    const DANGLING: &[&str] = &[
        "a", "an", "the", "and", "or", "to", "of", "in", "on", "with", "for", "by", "from", "at", "as", "that", "not",
        "is",
    ];
    while let Some((head, last)) = text.rsplit_once(' ') {
        if text.chars().count() < MAX_TITLE / 3 || !DANGLING.contains(&last.to_ascii_lowercase().as_str()) {
            break;
        }
        text = head;
    }
    text
}

/// The H1 of a title: characters that markdown would read as markup are escaped.
pub fn heading(title: &str) -> String {
    let mut out = String::from("# ");
    for c in title.chars() {
        if matches!(c, '<' | '>' | '[' | ']' | '*' | '\\' | '|' | '#' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A sentence for a page: capital first letter, full stop at the end.
pub fn sentence(words: &str) -> String {
    let words = spelled(&fold(words));
    let words = words.trim_end_matches([',', ';', ':', ' ']);
    let mut out = capital(words);
    if !out.ends_with(['.', '!', '?']) {
        out.push('.');
    }
    out
}

/// A reason as a statement: without the word that joined it to what it is the reason of.
pub fn reason(words: &str) -> String {
    let joined = ["because ", "since ", "reason: ", "the reason is that ", "the reason is "];
    let lower = words.to_ascii_lowercase();
    let cut = joined
        .iter()
        .find(|word| lower.starts_with(*word) && !lower.starts_with("because of"))
        .map_or(0, |word| word.len());
    sentence(&words[cut..])
}

/// What was mistyped, put right outside code. Never in a quote.
fn spelled(text: &str) -> String {
    const SHORT: &[(&str, &str)] = &[
        ("alwyas", "always"),
        ("allways", "always"),
        ("nevr", "never"),
        ("dont", "don't"),
        ("doesnt", "doesn't"),
        ("didnt", "didn't"),
        ("isnt", "isn't"),
        ("arent", "aren't"),
        ("cant", "can't"),
        ("wasnt", "wasn't"),
        ("shouldnt", "shouldn't"),
        ("thats", "that's"),
    ];
    let mut in_code = false;
    let words = text.split(' ').map(|word| {
        let ticks = word.matches('`').count();
        let known = SHORT.iter().find(|(typed, _)| word.trim_end_matches([',', ';', '.']).eq_ignore_ascii_case(typed));
        let out = match known.filter(|_| !in_code && ticks == 0) {
            Some((typed, meant)) if word.starts_with(char::is_uppercase) => {
                format!("{}{}", capital(meant), &word[typed.len()..])
            }
            Some((typed, meant)) => format!("{meant}{}", &word[typed.len()..]),
            None => word.to_owned(),
        };
        in_code ^= ticks % 2 == 1;
        out
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The first letter as a capital, unless the first word is a name or code.
fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_name = first.chars().any(|c| !c.is_lowercase() && !matches!(c, '\'' | '\u{2019}' | ',' | ';' | '-'));
    let mut chars = text.chars();
    match chars.next() {
        Some(letter) if !is_name => letter.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// A block quote of one line.
pub fn block_quote(words: &str) -> String {
    format!("> {}", fold(words))
}

/// A fence that its text cannot close.
pub fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// A lower-case ASCII file name for a title.
fn slug(title: &str) -> String {
    crate::wiki::path::slug(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_one_clause_without_markup() {
        assert_eq!(title("use `uv`, not pip."), "Use uv, not pip");
        assert_eq!(title("DATABASE_URL must be set"), "DATABASE_URL must be set");
        let long = title(
            "always run the whole test suite before you push a branch, because the remote runners are slow and dear",
        );
        assert_eq!(long, "Always run the whole test suite before you push a branch");
        let list = title(
            "run the check recipe whenever manifests, generated descriptions, market entries, or root plugins have changed",
        );
        assert_eq!(list, "Run the check recipe");
        assert_eq!(
            title("never skip the extraction and the validation steps of it to get to the end faster"),
            "Never skip the extraction and the validation steps of it"
        );
        assert_eq!(title("dont use `dont` in docs"), "Don't use dont in docs");
        assert!(title(&"word ".repeat(40)).chars().count() <= MAX_TITLE);
    }

    #[test]
    fn headings_escape_what_markdown_reads() {
        assert_eq!(heading("Return Vec<T>"), "# Return Vec\\<T\\>");
    }

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        assert_eq!(fenced("text", "a ``` b"), "````text\na ``` b\n````");
    }
}
