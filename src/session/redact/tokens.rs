//! Secrets that are known by their own shape.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::view::View;
use super::{Span, ceil, floor, placeholder, table};

/// How far a shape is looked at; what goes on in the same way beyond belongs to it.
const WINDOW: usize = 512;

/// A kind of token: the word that it begins with and, from there on, its shape.
pub(super) struct Token {
    kind: &'static str,
    /// What the automaton looks for; the token begins with it, in this spelling.
    pub(super) word: &'static str,
    /// The rest of its shape as a pattern, made ready when a text needs it first.
    rest: &'static str,
    shape: OnceLock<Regex>,
    /// The random part has a digit in it (words of a language that share the prefix do not).
    digit: bool,
}

impl Token {
    /// The token that begins at `start`, if one does. In lines that were joined, one may begin with a line as well.
    pub(super) fn at(&self, text: &str, start: usize, joined: Option<&View>) -> Option<Span> {
        let rest = &text[start..floor(text, start + WINDOW)];
        let may_begin = || may_begin(text, start) || joined.is_some_and(|view| view.is_joint(start));
        if !rest.starts_with(self.word) || !may_begin() {
            return None;
        }
        // Tokens are ASCII: a pattern that knows of nothing else is ready in a fraction of the time.
        let shape = self.shape.get_or_init(|| shape(&format!(r"(?-u)\A{}{}", regex::escape(self.word), self.rest)));
        let found = shape.find(rest)?.as_str();
        let random = &found[self.word.len()..];
        if self.digit && !has_digit(random)
            || placeholder::is(random.trim_start_matches('%'))
            || found.contains("EXAMPLE")
        {
            return None;
        }
        let mut end = start + found.len();
        if found.len() == rest.len() {
            end += text[end..].bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_-.+/=%".contains(b)).count();
        }
        Some(Span { start, end, kind: self.kind })
    }
}

/// The kinds of tokens.
pub(super) fn table() -> Vec<Token> {
    let token = |&(kind, word, rest, digit)| Token { kind, word, rest, shape: OnceLock::new(), digit };
    table::TABLE.iter().map(token).collect()
}

/// Whether a token may begin here: after anything but a letter or digit, unless that belongs to an escape (`\n`, `%3D`,
/// a colour whose first byte was lost).
fn may_begin(text: &str, start: usize) -> bool {
    let before = &text.as_bytes()[start.saturating_sub(8)..start];
    match before {
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [] => true,
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0'] => true,
        [.., b'%' | b'x', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [.., b'u', a, b, c, d] if [a, b, c, d].iter().all(|byte| byte.is_ascii_hexdigit()) => true,
        [front @ .., b'm'] => {
            let digits = front.iter().rev().take_while(|b| b.is_ascii_digit() || **b == b';').count();
            front.len() > digits && front[front.len() - digits - 1] == b'['
        }
        _ => false,
    }
}

pub(super) fn shape(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a built-in pattern")
}

/// Secrets of AWS have no prefix: 40 characters of base64, near an access key id or the word `secret`.
pub(super) fn aws_secret(text: &str, start: usize, end: usize, found: &mut Vec<Span>) {
    const REACH: usize = 240;
    const LONGEST_RUN: usize = 64;
    let word = &text[start..end];
    if word.len() == 4 {
        let is_id = matches!(word, "AKIA" | "ASIA")
            && text[end..].bytes().take(16).filter(|b| b.is_ascii_uppercase() || b.is_ascii_digit()).count() == 16;
        if !is_id {
            return;
        }
    }
    let (from, to) = (floor(text, start.saturating_sub(REACH)), ceil(text, end + REACH));
    let bytes = text.as_bytes();
    let is_base64 = |b: u8| b.is_ascii_alphanumeric() || b == b'/' || b == b'+';
    // A run that crosses the border of the neighbourhood is measured whole, as far as it matters.
    let mut at = from;
    while at > 0 && from - at < LONGEST_RUN && is_base64(bytes[at - 1]) {
        at -= 1;
    }
    while at < to {
        if !is_base64(bytes[at]) {
            at += 1;
            continue;
        }
        let run = at;
        while at < bytes.len() && is_base64(bytes[at]) && (at < to || at - run < LONGEST_RUN) {
            at += 1;
        }
        // `secret=<40>` and `secret/<40>` never run together with their name: `=` is no member of the run.
        if at - run == 40 && looks_random(&text[run..at]) {
            found.push(Span { start: run, end: at, kind: "aws-secret-key" });
        }
    }
}

/// Capital and small letters, and digits or signs, in no pattern of words or path.
fn looks_random(text: &str) -> bool {
    let bytes = text.as_bytes();
    let upper = bytes.iter().filter(|b| b.is_ascii_uppercase()).count();
    let lower = bytes.iter().filter(|b| b.is_ascii_lowercase()).count();
    let slashes = bytes.iter().filter(|&&b| b == b'/').count();
    upper >= 4 && lower >= 4 && upper + lower < bytes.len() && slashes <= 4 && !placeholder::is(text)
}

static TELEGRAM: LazyLock<Regex> = LazyLock::new(|| shape(r"\A:AA[A-Za-z0-9_-]{30,36}"));

/// A telegram bot's token: 8 to 10 digits before `:AA`.
pub(super) fn telegram(text: &str, start: usize) -> Option<Span> {
    let digits = text[..start].bytes().rev().take(11).take_while(u8::is_ascii_digit).count();
    let found = TELEGRAM.find(&text[start..floor(text, start + 64)])?;
    (8..=10).contains(&digits).then(|| Span { start: start - digits, end: start + found.end(), kind: "telegram-token" })
}

/// The tokens of discord's bots: a number in base64, six characters for the time, a signature; they begin with no word.
pub(super) fn discord(text: &str, found: &mut Vec<Span>) {
    const TIME: usize = 6;
    let bytes = text.as_bytes();
    let is_part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let mut from = 0;
    while let Some(dot) = bstr::ByteSlice::find_byte(&bytes[from..], b'.').map(|at| from + at) {
        from = dot + 1;
        let second = dot + 1 + TIME;
        if bytes.get(second) != Some(&b'.') || !bytes[dot + 1..second].iter().all(|b| is_part(&b)) {
            continue;
        }
        let before = bytes[..dot].iter().rev().take(32).take_while(is_part).count();
        let after = bytes[second + 1..].iter().take(64).take_while(is_part).count();
        let number = &bytes[dot - before..dot];
        // Digits in base64 begin so.
        let is_number = number.len() >= 2 && b"MNO".contains(&number[0]) && b"DTjz".contains(&number[1]);
        if (22..=28).contains(&before) && (25..=42).contains(&after) && is_number {
            found.push(Span { start: dot - before, end: second + 1 + after, kind: "discord-token" });
        }
    }
}

static AZURE_SECRET: LazyLock<Regex> = LazyLock::new(|| shape(r"\A[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}"));

/// A client secret of Azure, which has its mark `8Q~` inside.
pub(super) fn azure_secret(text: &str, mark: usize) -> Option<Span> {
    let start = mark.checked_sub(3).filter(|at| text.is_char_boundary(*at))?;
    let found = AZURE_SECRET.find(&text[start..floor(text, start + 64)])?;
    Some(Span { start, end: start + found.end(), kind: "azure-client-secret" })
}

static TERRAFORM: LazyLock<Regex> = LazyLock::new(|| shape(r"\A\.atlasv1\.[A-Za-z0-9_=-]{40,80}"));

/// A token of Terraform Cloud: fourteen characters before `.atlasv1.`.
pub(super) fn terraform(text: &str, start: usize) -> Option<Span> {
    let before = text[..start].bytes().rev().take(20).take_while(u8::is_ascii_alphanumeric).count();
    let found = TERRAFORM.find(&text[start..floor(text, start + 128)])?;
    (before == 14).then(|| Span { start: start - before, end: start + found.end(), kind: "terraform-token" })
}

pub(super) fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}
