//! The passage of a page that fits a query best, on one line.

use std::collections::HashMap;
use std::ops::Range;

use super::query::{Query, Wanted};
use super::score::Found;
use super::words::{Split, words};

/// Longest passage in bytes.
const LONGEST: usize = 180;

/// How far before its first word of the query a passage begins at most.
const BEFORE: usize = 60;

/// How much of a page is looked at, in bytes.
const MOST_TEXT: usize = 256 * 1024;

/// The words of a query, to be found again in a text.
pub(super) struct Marker {
    /// Terms with the clause that each belongs to and what that counts.
    terms: HashMap<String, (usize, f64)>,
    begins: Vec<(String, usize, f64)>,
    /// The first two bytes of all of them: most words of a text need not be taken apart.
    starts: Vec<[u8; 2]>,
}

/// A passage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Passage {
    /// One line without control characters; `…` where it was cut.
    pub text: String,
    /// Where words of the query stand in it, in bytes.
    pub marks: Vec<Range<usize>>,
}

impl Marker {
    /// For a query and what it found.
    pub fn new(query: &Query, found: &Found) -> Marker {
        let mut marker = Marker { terms: HashMap::new(), begins: Vec::new(), starts: Vec::new() };
        for (n, (clause, fitting)) in query.clauses.iter().zip(&found.clauses).enumerate() {
            let count = fitting.worth;
            match &clause.wanted {
                Wanted::Term(term) => drop(marker.terms.insert(term.clone(), (n, count))),
                Wanted::Phrase(row) => {
                    for term in row {
                        marker.terms.entry(term.clone()).or_insert((n, count));
                    }
                }
                Wanted::Prefix { begins, stems } => {
                    marker.begins.push((begins.clone(), n, count));
                    marker.terms.extend(stems.iter().map(|stem| (stem.clone(), (n, count))));
                }
            }
        }
        for (n, fitting) in found.clauses.iter().enumerate() {
            for (near, share) in &fitting.near {
                marker.terms.entry((*near).to_owned()).or_insert((n, share * fitting.worth));
            }
        }
        let all = marker.terms.keys().chain(marker.begins.iter().map(|(begins, ..)| begins));
        marker.starts = all.map(|term| start_of(term)).collect();
        marker
    }

    /// The clause that a word fulfils and what that counts.
    fn clause(&self, word: &str) -> Option<(usize, f64)> {
        let plain = word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase()) && word.is_ascii();
        if plain && !self.starts.contains(&start_of(&word.to_ascii_lowercase())) {
            return None;
        }
        let fits = |term: &str| {
            let begins =
                || self.begins.iter().find(|(begins, ..)| term.starts_with(begins)).map(|(_, n, count)| (*n, *count));
            self.terms.get(term).copied().or_else(begins)
        };
        Split::default().terms(word).iter().filter_map(|(term, ..)| fits(term)).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// How much of the query a text holds, each clause once.
    pub fn worth(&self, text: &str) -> f64 {
        let mut seen: HashMap<usize, f64> = HashMap::new();
        for (clause, count) in words(text).filter_map(|(_, word)| self.clause(word)) {
            seen.insert(clause, count);
        }
        // In one order, so that the sum is always the same.
        let mut counts: Vec<f64> = seen.into_values().collect();
        counts.sort_unstable_by(f64::total_cmp);
        counts.into_iter().sum()
    }

    /// The passage of a text that holds the most of the query; its beginning where it holds nothing.
    pub fn passage(&self, body: &str) -> Passage {
        let (text, lines) = flat(&body[..body.floor_char_boundary(MOST_TEXT)]);
        let found: Vec<(Range<usize>, usize, f64)> = words(&text)
            .filter_map(|(at, word)| self.clause(word).map(|(clause, count)| (at..at + word.len(), clause, count)))
            .collect();
        let start = self.best(&found).map_or(0, |first| begin(&text, &lines, found[first].0.start));
        cut(&text, start, &found)
    }

    /// The occurrence from which on a passage holds the most, counting each clause once.
    fn best(&self, found: &[(Range<usize>, usize, f64)]) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (first, (range, ..)) in found.iter().enumerate() {
            let mut seen: Vec<usize> = Vec::new();
            let mut sum = 0.0;
            for (_, clause, count) in
                found[first..].iter().take_while(|(other, ..)| other.end <= range.start + LONGEST - BEFORE)
            {
                if !seen.contains(clause) {
                    seen.push(*clause);
                    sum += count;
                }
            }
            if best.is_none_or(|(most, _)| sum > most) {
                best = Some((sum, first));
            }
        }
        best.map(|(_, first)| first)
    }
}

fn start_of(term: &str) -> [u8; 2] {
    let bytes = term.as_bytes();
    [bytes.first().copied().unwrap_or_default(), bytes.get(1).copied().unwrap_or_default()]
}

/// The text on one line, without control characters, fences and heading marks; and where its lines begin.
fn flat(body: &str) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(body.len());
    let mut lines = Vec::new();
    for line in body.lines() {
        let line = line.trim().trim_start_matches('#').trim_start();
        let rule = line.chars().all(|c| matches!(c, '-' | '|' | ':' | ' ' | '=' | '*' | '_'));
        if rule || line.starts_with("```") || line.starts_with("~~~") {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        lines.push(text.len());
        let mut space = false;
        for c in line.chars() {
            let blank = c.is_whitespace() || c.is_control() || is_hidden(c);
            if !blank {
                text.push(c);
            } else if !space {
                text.push(' ');
            }
            space = blank;
        }
    }
    (text, lines)
}

/// Characters that reorder what is read or hide in it.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Where a passage begins for a word at this place: at the line's beginning when that is near, else at a word's.
fn begin(text: &str, lines: &[usize], word: usize) -> usize {
    let line = lines.partition_point(|&line| line <= word).checked_sub(1).map_or(0, |n| lines[n]);
    if word - line <= BEFORE {
        return line;
    }
    let from = text.floor_char_boundary(word.saturating_sub(BEFORE));
    text[from..word].find(' ').map_or(word, |space| from + space + 1)
}

/// The passage from `start` on, cut at a word.
fn cut(text: &str, start: usize, found: &[(Range<usize>, usize, f64)]) -> Passage {
    let rest = &text[start..];
    let mut end = rest.len();
    if rest.len() > LONGEST {
        let most = rest.floor_char_boundary(LONGEST);
        end = rest[..most].rfind(' ').filter(|space| *space > most / 2).unwrap_or(most);
    }
    let mut passage = Passage::default();
    if start > 0 {
        passage.text.push('…');
    }
    let shift = passage.text.len();
    passage.text.push_str(rest[..end].trim_end());
    let marks = found.iter().map(|(range, ..)| range).filter(|range| range.start >= start && range.end <= start + end);
    passage.marks = marks.map(|range| range.start - start + shift..range.end - start + shift).collect();
    if end < rest.len() {
        passage.text.push('…');
    }
    passage
}
