//! Secrets out of text, before anything is written.
//!
//! One pass of an Aho-Corasick automaton over the text finds the few places where a secret can stand; only there the
//! rule that the found word belongs to looks closer. Clean text costs that one pass. There is no rule on entropy alone:
//! such rules hide paths, hashes and uuids, which are what a lesson is made of.

mod assign;
mod pem;
mod placeholder;
mod tokens;

use std::borrow::Cow;
use std::collections::HashSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::{Regex, RegexSet};

/// What every replacement begins with.
pub const MARK: &str = "[REDACTED:";

/// The rules: built in, and the user's.
pub struct Redactor {
    words: AhoCorasick,
    rules: Vec<Rule>,
    tokens: Vec<tokens::Token>,
    extra: Vec<Regex>,
    any_extra: RegexSet,
    allow: HashSet<String>,
}

/// A user's pattern that is no regular expression.
#[derive(Debug, thiserror::Error)]
#[error("redact.extra_patterns: `{pattern}` is not a regular expression: {reason}")]
pub struct BadPattern {
    /// The pattern.
    pub pattern: String,
    /// What the regex crate said.
    pub reason: String,
}

/// What looks closer when the automaton meets a word.
#[derive(Clone, Copy)]
enum Rule {
    /// A token of a known shape, by its index in the table.
    Token(usize),
    /// `NAME=value`, `"name": "value"`.
    Assignment,
    /// `Authorization: <scheme> <credentials>`, `Bearer <token>`.
    Header,
    /// `scheme://user:password@host`.
    Url,
    /// `curl -u user:password`.
    Curl,
    /// A private key block.
    Pem,
    /// An AWS secret near the word or near an access key id.
    AwsSecret,
    /// A telegram bot's token, whose number stands before the word.
    Telegram,
}

/// A place in the text that must go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
}

impl Redactor {
    /// Built-in rules, extra patterns, and exact strings that are no secrets.
    ///
    /// # Errors
    /// [`BadPattern`] for the first extra pattern that is no regular expression.
    pub fn new(extra_patterns: &[String], allow: &[String]) -> Result<Redactor, BadPattern> {
        let bad =
            |pattern: &str, error: regex::Error| BadPattern { pattern: pattern.into(), reason: error.to_string() };
        let mut extra = Vec::new();
        for pattern in extra_patterns {
            extra.push(Regex::new(pattern).map_err(|error| bad(pattern, error))?);
        }
        let any_extra = RegexSet::new(extra_patterns).map_err(|error| bad(&extra_patterns.join(" | "), error))?;

        let tokens = tokens::table();
        let mut words: Vec<&str> = Vec::new();
        let mut rules = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            words.push(token.word);
            rules.push(Rule::Token(index));
        }
        for (rule, rule_words) in [
            (Rule::Assignment, assign::WORDS),
            (Rule::Header, &["authorization", "bearer"][..]),
            (Rule::Url, &["://"][..]),
            (Rule::Curl, &["curl", "wget"][..]),
            (Rule::Pem, &["private key"][..]),
            (Rule::AwsSecret, &["secret", "akia", "asia"][..]),
            (Rule::Telegram, &[":aa"][..]),
        ] {
            for word in rule_words {
                words.push(word);
                rules.push(rule);
            }
        }
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .expect("a hundred short words always make an automaton");
        Ok(Redactor { words, rules, tokens, extra, any_extra, allow: allow.iter().cloned().collect() })
    }

    /// The text with every secret replaced by `[REDACTED:<kind>]`. Terminal escape sequences are taken out too, because
    /// one inside a secret would hide it.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = without_escapes(text);
        let spans = self.spans(&text);
        if spans.is_empty() {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for span in spans {
            out.push_str(&text[at..span.start]);
            out.push_str(MARK);
            out.push_str(span.kind);
            out.push(']');
            at = span.end;
        }
        out.push_str(&text[at..]);
        Cow::Owned(out)
    }

    /// Whether a secret stands in the text.
    pub fn finds(&self, text: &str) -> bool {
        !self.spans(&without_escapes(text)).is_empty()
    }

    /// Joins pieces that were parted, usually with a line break; without one where a secret was cut by the parting.
    pub fn join<'p>(&self, pieces: impl IntoIterator<Item = &'p str>) -> String {
        const REACH: usize = 512;
        let mut out = String::new();
        for piece in pieces {
            if out.is_empty() {
                out.push_str(piece);
                continue;
            }
            let glued = |c: char| !c.is_whitespace();
            if out.ends_with(glued) && piece.starts_with(glued) {
                let left = &out[floor(&out, out.len().saturating_sub(REACH))..];
                let right = &piece[..floor(piece, piece.len().min(REACH))];
                let seam = left.len();
                let both = format!("{left}{right}");
                if self.spans(&both).iter().any(|span| span.start < seam && span.end > seam) {
                    out.push_str(piece);
                    continue;
                }
            }
            out.push('\n');
            out.push_str(piece);
        }
        out
    }

    fn spans(&self, text: &str) -> Vec<Span> {
        let mut found = Vec::new();
        let mut pem = pem::Blocks::default();
        for hit in self.words.find_overlapping_iter(text) {
            let (start, end) = (hit.start(), hit.end());
            match self.rules[hit.pattern().as_usize()] {
                Rule::Token(index) => found.extend(self.tokens[index].at(text, start)),
                Rule::Assignment => found.extend(assign::at(text, start, end)),
                Rule::Header => found.extend(tokens::header(text, start)),
                Rule::Url => found.extend(tokens::url(text, start)),
                Rule::Curl => found.extend(tokens::curl(text, start)),
                Rule::Pem => found.extend(pem.at(text, start, end)),
                Rule::AwsSecret => tokens::aws_secret(text, start, end, &mut found),
                Rule::Telegram => found.extend(tokens::telegram(text, start)),
            }
        }
        if !self.extra.is_empty() && self.any_extra.is_match(text) {
            for pattern in &self.extra {
                found.extend(pattern.find_iter(text).filter(|m| !m.is_empty()).map(|m| Span {
                    start: m.start(),
                    end: m.end(),
                    kind: "extra",
                }));
            }
        }
        found.retain(|span| {
            let secret = &text[span.start..span.end];
            !secret.is_empty() && !secret.contains(MARK) && !self.allow.contains(secret)
        });
        united(found)
    }
}

/// Sorted spans without overlap: where some overlap, one that covers them all and is named by the widest.
fn united(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut out: Vec<(Span, usize)> = Vec::with_capacity(spans.len());
    for span in spans {
        let width = span.end - span.start;
        match out.last_mut() {
            Some((last, widest)) if span.start < last.end => {
                last.end = last.end.max(span.end);
                if width > *widest {
                    last.kind = span.kind;
                    *widest = width;
                }
            }
            _ => out.push((span, width)),
        }
    }
    out.into_iter().map(|(span, _)| span).collect()
}

/// Text without terminal escape sequences (CSI, OSC and two-byte ones).
fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let length = match rest.as_bytes().first() {
            Some(b'[') => rest.bytes().skip(1).position(|b| (0x40..=0x7e).contains(&b)).map_or(rest.len(), |n| n + 2),
            Some(b']') => match rest.find(['\u{7}', '\u{1b}', '\n']) {
                Some(end) if rest.as_bytes()[end] == 0x07 => end + 1,
                Some(end) => end,
                None => rest.len(),
            },
            Some(0x40..=0x5f) => 1,
            Some(b'(' | b')') => rest.len().min(2),
            _ => 0,
        };
        rest = &rest[floor(rest, length)..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The nearest character boundary at or before `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The nearest character boundary at or after `at`.
pub(super) fn ceil(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests;
