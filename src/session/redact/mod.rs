//! Secrets out of text, before anything is written.
//!
//! One pass of an Aho-Corasick automaton over the text finds the few places where a secret can stand; only there the
//! rule that the found word belongs to looks closer. Clean text costs that one pass. There is no rule on entropy alone:
//! such rules hide paths, hashes and uuids, which are what a lesson is made of.

mod assign;
mod files;
mod headers;
mod marks;
mod names;
mod pem;
mod placeholder;
mod shell;
mod spelled;
mod table;
mod tokens;
mod view;
mod wrapped;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::{Regex, RegexSet};

use self::marks::{around_marks, end_of_mark, has_marks};
use self::view::View;

pub use self::marks::MARK;

/// What was replaced can bring two things near that make a third; that ends soon.
const PASSES: usize = 16;

/// What is said in place of a text that cannot be redacted, as its secret is spelled in pieces.
pub const WITHHELD: &str = "(withheld: holds a secret)";

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
    Authorization,
    /// `Cookie: name=value; …`.
    Cookie,
    /// A cookie that is known by its name.
    SessionCookie,
    /// `scheme://user:password@host`.
    Url,
    /// The signature of an address that is a key.
    Signature,
    /// `curl -u user:password`.
    Curl,
    /// Another program that is given a password, by its index in the table of ways.
    Shell(usize),
    /// A password that is piped into a program.
    Piped,
    /// A private key block.
    Pem,
    /// A private key of PuTTY.
    Putty,
    /// A private JSON web key.
    Jwk,
    /// An AWS secret near the word or near an access key id.
    AwsSecret,
    /// A telegram bot's token, whose number stands before the word.
    Telegram,
    /// A client secret of Azure.
    Azure,
    /// A token of Terraform Cloud.
    Terraform,
    /// An entry of `.netrc`.
    Netrc,
    /// A line of `.pgpass`.
    Pgpass,
    /// A Kubernetes secret.
    Kubernetes,
}

/// The words of the rules that are no tokens.
const WORDS: &[(Rule, &[&str])] = &[
    (Rule::Assignment, names::WORDS),
    (Rule::Authorization, &["authorization", "bearer"]),
    (Rule::Cookie, &["cookie"]),
    (Rule::SessionCookie, headers::SESSION_COOKIES),
    (Rule::Url, &["://"]),
    (Rule::Signature, &["sig=", "x-amz-signature=", "x-goog-signature="]),
    (Rule::Curl, &["curl", "wget"]),
    (Rule::Piped, shell::READERS),
    (Rule::Pem, &["private key"]),
    (Rule::Putty, &["private-lines:"]),
    (Rule::Jwk, &["\"kty\"", "\\\"kty\\\""]),
    (Rule::AwsSecret, &["secret", "akia", "asia"]),
    (Rule::Telegram, &[":aa"]),
    (Rule::Azure, &["7q~", "8q~"]),
    (Rule::Terraform, &[".atlasv1."]),
    (Rule::Netrc, &["machine ", "default login"]),
    (Rule::Pgpass, &[":5432:", ":*:"]),
    (Rule::Kubernetes, &["kind: secret", "\"kind\": \"secret\"", "\"kind\":\"secret\""]),
];

/// A place in the text that must go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
}

/// What finds those words of all rules that count, and the rule of each.
fn automaton(counts: impl Fn(&str) -> bool) -> (AhoCorasick, Vec<Rule>) {
    let tokens = tokens::table();
    let mut words: Vec<&str> = Vec::new();
    let mut rules = Vec::new();
    let of_tokens = tokens.iter().enumerate().map(|(index, token)| (token.word, Rule::Token(index)));
    let of_shell = shell::words().map(|(word, way)| (word, Rule::Shell(way)));
    let others = WORDS.iter().flat_map(|(rule, words)| words.iter().map(|word| (*word, *rule)));
    for (word, rule) in of_tokens.chain(of_shell).chain(others).filter(|(word, _)| counts(word)) {
        words.push(word);
        rules.push(rule);
    }
    let words = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(&words)
        .expect("some hundred short words always make an automaton");
    (words, rules)
}

/// [`Redactor::quotable`] by the built-in rules alone.
pub fn quotable(text: &str) -> String {
    static BUILT_IN: LazyLock<Redactor> =
        LazyLock::new(|| Redactor::new(&[], &[]).expect("no pattern, and none is bad"));
    BUILT_IN.quotable(text)
}

impl Redactor {
    /// Built-in rules, extra patterns, and exact strings that are no secrets.
    ///
    /// # Errors
    /// [`BadPattern`] for the first extra pattern that is no regular expression.
    pub fn new(extra_patterns: &[String], allow: &[String]) -> Result<Redactor, BadPattern> {
        // Built once: a run makes several redactors, and the automaton is most of what each costs.
        static WHOLE: LazyLock<(AhoCorasick, Vec<Rule>)> = LazyLock::new(|| automaton(|_| true));
        let (words, rules) = (WHOLE.0.clone(), WHOLE.1.clone());
        Redactor::with_words(extra_patterns, allow, words, rules)
    }

    /// What [`Redactor::redact`] makes of one short text, at a fraction of what it costs to make ready for any: of the
    /// words that secrets are found by, only those count that stand in it.
    ///
    /// # Errors
    /// As [`Redactor::new`].
    pub fn redact_once(text: &str, extra_patterns: &[String], allow: &[String]) -> Result<String, BadPattern> {
        /// From here on the search for single words costs as much.
        const SHORT: usize = 4 * 1024;
        // What is written in escapes, or over lines, is read in more than one way.
        let plain = |text: &str| text.len() <= SHORT && !text.contains(|c: char| c.is_control() || "\\%&".contains(c));
        let mut text = Cow::Borrowed(text);
        for _ in 0..PASSES {
            if !plain(&text) {
                return Ok(Redactor::new(extra_patterns, allow)?.redact(&text).into_owned());
            }
            let there =
                |word: &str| text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()));
            let (words, rules) = automaton(there);
            let found = Redactor::with_words(extra_patterns, allow, words, rules)?;
            let spans = found.spans(&text);
            if spans.is_empty() {
                break;
            }
            text = Cow::Owned(replaced(&text, &spans));
        }
        Ok(text.into_owned())
    }

    fn with_words(
        extra_patterns: &[String],
        allow: &[String],
        words: AhoCorasick,
        rules: Vec<Rule>,
    ) -> Result<Redactor, BadPattern> {
        let bad =
            |pattern: &str, error: regex::Error| BadPattern { pattern: pattern.into(), reason: error.to_string() };
        let mut extra = Vec::new();
        for pattern in extra_patterns {
            extra.push(Regex::new(pattern).map_err(|error| bad(pattern, error))?);
        }
        let any_extra = RegexSet::new(extra_patterns).map_err(|error| bad(&extra_patterns.join(" | "), error))?;

        Ok(Redactor { words, rules, tokens: tokens::table(), extra, any_extra, allow: allow.iter().cloned().collect() })
    }

    /// The text with every secret replaced by `[REDACTED:<kind>]`. Terminal escape sequences are taken out too, because
    /// one inside a secret would hide it.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.extra.is_empty() && is_uuid(text) {
            return Cow::Borrowed(text);
        }
        let mut text = view::without_escapes(text);
        for _ in 0..PASSES {
            let spans = self.spans(&text);
            if spans.is_empty() {
                break;
            }
            text = Cow::Owned(replaced(&text, &spans));
        }
        text
    }

    /// Whether a secret stands in the text.
    pub fn finds(&self, text: &str) -> bool {
        !self.spans(&view::without_escapes(text)).is_empty()
    }

    /// Whether a secret stands in the text, also where it is spelled as nobody uses it: in escapes of escapes, wide letters,
    /// letters with blanks or nothing to see between them, base64.
    pub fn finds_however_spelled(&self, text: &str) -> bool {
        self.finds(text) || spelled::readings(text).iter().any(|reading| self.finds(reading))
    }

    /// A text that nobody could read as what it should have been, fit to be told of: as it stands where that is safe, else
    /// with its escapes undone and redacted, else not at all. Whoever shows less of it cuts it afterwards.
    pub fn quotable(&self, text: &str) -> String {
        let clean = self.redact(text);
        let plain = spelled::plain(&clean);
        let clean = if self.finds(&plain) { self.redact(&plain).into_owned() } else { clean.into_owned() };
        if self.finds_however_spelled(&clean) { WITHHELD.to_owned() } else { clean }
    }

    /// Joins pieces that were parted, usually with a line break; without one where the parting would hide a secret.
    pub fn join<'p>(&self, pieces: impl IntoIterator<Item = &'p str>) -> String {
        const REACH: usize = 512;
        let mut out = String::new();
        for piece in pieces {
            if out.is_empty() {
                out.push_str(piece);
                continue;
            }
            let left = &out[ceil(&out, out.len().saturating_sub(REACH))..];
            let right = &piece[..floor(piece, REACH)];
            let hidden = |text: &str| self.spans(text).iter().map(|span| span.end - span.start).sum::<usize>();
            if hidden(&format!("{left}{right}")) <= hidden(&format!("{left}\n{right}")) {
                out.push('\n');
            }
            out.push_str(piece);
        }
        out
    }

    /// Where secrets stand, in the text as it is and as it is meant; sorted, without overlap.
    fn spans(&self, text: &str) -> Vec<Span> {
        let mut found = self.as_it_stands(text, None);
        let unescaped = view::unescaped(text);
        let plain = unescaped.as_ref().map_or(text, |view| &view.text);
        let traced = |view: &View, span: Span| {
            let (start, end) = view.original(span.start, span.end);
            Span { start, end, ..span }
        };
        let back = |span: Span| unescaped.as_ref().map_or(span, |view| traced(view, span));
        if unescaped.is_some() {
            found.extend(self.as_it_stands(plain, None).into_iter().map(back));
        }
        let is_parted = |word: &str, at: usize, is_rest: bool| self.is_parted(word, at, is_rest);
        if let Some(unbroken) = wrapped::unbroken(plain, is_parted) {
            let spans = self.as_it_stands(&unbroken.text, Some(&unbroken)).into_iter();
            found.extend(spans.map(|span| back(traced(&unbroken, self.without_next_line(&unbroken, span)))));
        }
        let mut found = if !found.is_empty() && has_marks(text) {
            found.into_iter().flat_map(|span| around_marks(text, span)).collect()
        } else {
            found
        };
        found.retain(|span| span.start < span.end && !self.allow.contains(&text[span.start..span.end]));
        united(found)
    }

    /// A find in joined lines without the last of them, where only the beginning of that, and nothing random, has letters
    /// that the secret can have: it is no rest of it, but the next line.
    fn without_next_line(&self, joined: &View, span: Span) -> Span {
        let Some(joint) = joined.last_joint(span.start, span.end) else { return span };
        let goes_on = joined.text.as_bytes().get(span.end).is_some_and(wrapped::is_part);
        let (front, rest) = (&joined.text[span.start..joint], &joined.text[joint..span.end]);
        let is_whole = || self.as_it_stands(front, None).iter().any(|span| span.start == 0);
        if goes_on && !wrapped::is_random(front, rest) && is_whole() { Span { end: joint, ..span } } else { span }
    }

    /// Whether a secret stands in a word that is none, or less, in the part of the word before `at`. What goes on from a
    /// secret that is whole before it belongs to it only where it looks like its rest.
    fn is_parted(&self, word: &str, at: usize, is_rest: bool) -> bool {
        // Code that ends a line, or begins one, with a sign that stands in no token.
        let is_code = |byte: u8| b"();|&<>".contains(&byte);
        let (before, behind) = (&word[..at], &word.as_bytes()[at..]);
        let ends = before.bytes().last().is_some_and(is_code) || behind.first().copied().is_some_and(is_code);
        if ends && self.extra.is_empty() && !before.contains('=') && !before.contains("://") {
            return false;
        }
        let crosses = |span: &Span| {
            // The next line of a file of settings is no part of a value.
            (span.start + 1..span.end).contains(&at)
                && span.kind != "assigned-secret"
                && !assign::is_identifier(&word[span.start..span.end])
        };
        let across: Vec<Span> = self.as_it_stands(word, None).into_iter().filter(crosses).collect();
        let is_whole = |span: &Span| self.as_it_stands(&word[..at], None).iter().any(|known| known.start == span.start);
        across.iter().any(|span| is_rest || !is_whole(span))
    }

    /// Where secrets stand in the text as it is; `joined` is the view that it comes from, if lines were joined in it.
    fn as_it_stands(&self, text: &str, joined: Option<&View>) -> Vec<Span> {
        /// A find above this is not searched again.
        const LONG: usize = 1024;
        let mut found = Vec::new();
        let mut pem = pem::Blocks::default();
        let marked = has_marks(text);
        let mut covered = 0;
        for hit in self.words.find_overlapping_iter(text) {
            let (start, end) = (hit.start(), hit.end());
            if start < covered || marked && end_of_mark(text, start).is_some() {
                continue;
            }
            let before = found.len();
            match self.rules[hit.pattern().as_usize()] {
                Rule::Token(index) => found.extend(self.tokens[index].at(text, start, joined)),
                Rule::Assignment => found.extend(assign::at(text, start, end)),
                Rule::Authorization => found.extend(headers::authorization(text, start)),
                Rule::Cookie => headers::cookies(text, start, &mut found),
                Rule::SessionCookie => found.extend(headers::session_cookie(text, start, end)),
                Rule::Url => found.extend(headers::url(text, start)),
                Rule::Signature => found.extend(headers::signature(text, start)),
                Rule::Curl => found.extend(shell::curl(text, start)),
                Rule::Shell(way) => found.extend(shell::password(text, start, way)),
                Rule::Piped => found.extend(shell::piped(text, start)),
                Rule::Pem => found.extend(pem.at(text, start, end)),
                Rule::Putty => found.extend(files::putty(text, start)),
                Rule::Jwk => files::jwk(text, start, &mut found),
                Rule::AwsSecret => tokens::aws_secret(text, start, end, &mut found),
                Rule::Telegram => found.extend(tokens::telegram(text, start)),
                Rule::Azure => found.extend(tokens::azure_secret(text, start)),
                Rule::Terraform => found.extend(tokens::terraform(text, start)),
                Rule::Netrc => found.extend(files::netrc(text, start)),
                Rule::Pgpass => found.extend(files::pgpass(text, start)),
                Rule::Kubernetes => files::kubernetes(text, start, &mut found),
            }
            let long = found[before..].iter().filter(|span| span.end - span.start > LONG);
            covered = long.map(|span| span.end).fold(covered, usize::max);
        }
        tokens::discord(text, &mut found);
        if !self.extra.is_empty() && self.any_extra.is_match(text) {
            for pattern in &self.extra {
                let matches = pattern.find_iter(text).filter(|m| !m.is_empty());
                found.extend(matches.map(|m| Span { start: m.start(), end: m.end(), kind: "extra" }));
            }
        }
        found
    }
}

/// The text with every span replaced by its mark.
fn replaced(text: &str, spans: &[Span]) -> String {
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
    out
}

/// Whether the text is a uuid and nothing else, as most ids are: no rule knows a secret of that form alone.
fn is_uuid(text: &str) -> bool {
    let is_dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| if is_dash(at) { b == b'-' } else { b.is_ascii_hexdigit() })
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
