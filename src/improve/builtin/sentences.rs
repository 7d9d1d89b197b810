//! Sentences out of a turn. Breaks too rarely rather than in the middle of a name, a path or a command.

use std::sync::LazyLock;

use regex::Regex;

use crate::session::GAP;

/// One sentence, white space folded, without its list marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// The words. Folded, they stand in the folded turn.
    pub text: String,
    /// It is no sentence of the speaker's to keep: something was quoted in it, or it is an item of a list of tasks.
    pub has_gap: bool,
    /// It is an item of a list.
    pub listed: bool,
}

/// Splits a turn in its own words.
pub fn split(text: &str) -> Vec<Sentence> {
    let mut out = Vec::new();
    for paragraph in paragraphs(text) {
        let mut rest = paragraph.text.as_str();
        while let Some(end) = sentence_end(rest) {
            push(&mut out, &rest[..end], &paragraph);
            rest = &rest[end..];
        }
        push(&mut out, rest, &paragraph);
    }
    out
}

fn push(out: &mut Vec<Sentence>, text: &str, paragraph: &Paragraph) {
    let text = text.trim();
    if text.chars().any(char::is_alphanumeric) || text.contains(GAP) {
        let has_gap = paragraph.to_do || text.contains(GAP);
        out.push(Sentence { text: text.to_owned(), has_gap, listed: paragraph.listed });
    }
}

/// Lines that belong together.
struct Paragraph {
    text: String,
    /// An item of a list.
    listed: bool,
    /// An item with a box to tick.
    to_do: bool,
}

/// The paragraphs of a text: a line goes on with the next when that one starts in lower case and is no list item.
fn paragraphs(text: &str) -> Vec<Paragraph> {
    static ITEM: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:[-*+\u{2022}]|\d{1,3}[.)]|[a-z]\))\s+(?:\[[ xX]\]\s+)?").expect("a fixed pattern")
    });
    let mut out: Vec<Paragraph> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let folded = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let item = ITEM.find(&folded).map_or(0, |found| found.end());
        let bare = &folded[item..];
        let goes_on = open
            && item == 0
            && bare.starts_with(|c: char| c.is_lowercase() || c == '`')
            && out.last().is_some_and(|last| !last.text.ends_with(['.', '!', '?', ':', ';', GAP]));
        match out.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.text.push(' ');
                last.text.push_str(bare);
            }
            None if !bare.is_empty() => {
                out.push(Paragraph { text: bare.to_owned(), listed: item > 0, to_do: folded[..item].contains('[') });
            }
            None => {}
        }
        open = !bare.is_empty();
    }
    out
}

/// Words whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "cf", "approx", "mr", "mrs", "ms", "dr", "st", "no", "nr", "fig", "incl", "resp", "ca",
    "al", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "eg", "ie",
];

/// The byte after the first sentence, when another follows.
fn sentence_end(text: &str) -> Option<usize> {
    let mut in_code = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '`' {
            // An odd backtick opens nothing.
            in_code = !in_code && text[at + 1..].contains('`');
        }
        if in_code || !matches!(c, '.' | '!' | '?') {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some(&(next, closing)) = chars.peek() {
            if !matches!(closing, '.' | '!' | '?' | ')' | '"' | '\'' | '\u{201d}' | '\u{2019}' | '*') {
                break;
            }
            end = next + closing.len_utf8();
            chars.next();
        }
        let followed_by_space = text[end..].starts_with(char::is_whitespace) && !text[end..].trim().is_empty();
        if followed_by_space && !(c == '.' && ends_in_abbreviation(&text[..at])) {
            return Some(end);
        }
    }
    None
}

fn ends_in_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default().to_lowercase();
    // "No." is an answer more often than a number, unless something stands before it.
    (ABBREVIATIONS.contains(&word.as_str()) && !(word == "no" && before.trim().len() == 2))
        || (word.chars().count() == 1 && word.chars().all(char::is_alphabetic) && word != "i")
        || (!word.is_empty() && word.chars().all(|c| c.is_ascii_digit()) && before.trim() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        split(text).into_iter().map(|s| s.text).collect()
    }

    #[test]
    fn sentences_end_at_their_stops_in_either_case() {
        assert_eq!(texts("No. use uv! never pip"), ["No.", "use uv!", "never pip"]);
        assert_eq!(texts("Use tabs, e.g. in Go. Then commit."), ["Use tabs, e.g. in Go.", "Then commit."]);
    }

    #[test]
    fn names_urls_and_code_are_left_whole() {
        assert_eq!(
            texts("Edit src/main.rs and see https://x.example/a?b=1. Then `a. b. c` it"),
            ["Edit src/main.rs and see https://x.example/a?b=1.", "Then `a. b. c` it"]
        );
        assert_eq!(texts("pin to v1.2.3 please"), ["pin to v1.2.3 please"]);
    }

    #[test]
    fn list_items_are_sentences_and_wrapped_lines_are_one() {
        assert_eq!(
            texts("- never push\n  on Fridays\n2) use tabs\n\nDone"),
            ["never push on Fridays", "use tabs", "Done"]
        );
    }

    #[test]
    fn an_item_with_a_box_is_a_task() {
        let found = split("- [ ] never push\n- use tabs\nDone");
        let marks: Vec<(bool, bool)> = found.iter().map(|sentence| (sentence.has_gap, sentence.listed)).collect();
        assert_eq!(marks, [(true, true), (false, true), (false, false)]);
    }

    #[test]
    fn a_sentence_with_a_gap_says_so() {
        assert!(split("always say \u{FFFC} first")[0].has_gap);
    }
}
