//! A text as a reader can make it out that undoes how it is spelled: escapes in escapes, wide letters, letters with
//! nothing or a blank between them, markup, base64.
//!
//! Redaction, which has to be quick, looks for less. What is refused where it holds a secret is read in all of these
//! ways; each is one pass over the text.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::view;
use crate::wiki::text::fold_space;

/// How often escapes are undone in escapes.
const ROUNDS: usize = 4;

/// How often base64 is undone in base64.
const DEPTH: usize = 2;

/// The readings of a text that differ from it.
pub(super) fn readings(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    read(text, DEPTH, &mut all);
    all
}

/// The text with its escapes undone, however often they were escaped.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let mut text = view::without_escapes(text);
    for _ in 0..ROUNDS {
        let Some(view) = view::unescaped(&text) else { break };
        text = Cow::Owned(view.text);
    }
    text
}

fn read(text: &str, depth: usize, all: &mut Vec<String>) {
    let mut last = view::without_escapes(text);
    for _ in 0..ROUNDS {
        let next = folded(&plain(&last));
        if next == last {
            break;
        }
        all.push(next.clone());
        last = Cow::Owned(next);
    }
    all.extend(Some(closed_up(&last)).filter(|joined| !joined.is_empty()));
    if depth > 0 {
        for decoded in base64(&last) {
            read(&decoded, depth - 1, all);
            all.push(decoded);
        }
    }
}

/// Compatible letters as ASCII has them, without accents, what has no width, tags of HTML, and the backslashes that
/// Markdown puts before signs.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '<']) {
        out.push_str(&rest[..at]);
        let (sign, behind) = rest[at..].split_at(1);
        // A tag between letters; one alone may stand for a value.
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-./+=$~:,%@{}".contains(c);
        let tag = if sign == "<" && out.ends_with(is_letter) { tag(behind) } else { None };
        let tag = tag.filter(|end| behind[*end..].starts_with(|c| is_letter(c) || c == '<'));
        let is_escape = sign == "\\" && behind.starts_with(|c: char| c.is_ascii_punctuation() && c != '\\');
        if tag.is_none() && !is_escape {
            out.push_str(sign);
        }
        rest = &behind[tag.unwrap_or(0)..];
    }
    out.push_str(rest);
    out.retain(|c| !c.is_ascii_control() || c.is_ascii_whitespace());
    if out.is_ascii() {
        return out;
    }
    let seen = out.nfkd().filter(|c| c.is_ascii() || !is_combining_mark(*c) && !is_unseen(*c));
    seen.map(|c| if matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}') { '-' } else { c }).collect()
}

/// How long a tag or a comment is behind its `<`.
fn tag(behind: &str) -> Option<usize> {
    const LONGEST: usize = 200;
    let begins = behind.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!'));
    let end = behind.bytes().take(LONGEST).position(|b| matches!(b, b'>' | b'<'))?;
    (begins && behind.as_bytes()[end] == b'>').then_some(end + 1)
}

fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// What stands in single letters, or in groups of as many, with a sign or a blank between each: without that.
fn closed_up(text: &str) -> String {
    let text = fold_space(text);
    let mut out = String::new();
    letters(&text, &mut out);
    groups(&text, &mut out);
    out
}

/// As many letters, or more, make no words of prose.
const SHORTEST: usize = 12;

/// `g h p _`, `g.h.p._`: letters with one and the same sign between them.
fn letters(text: &str, out: &mut String) {
    let chars: Vec<char> = text.chars().collect();
    let alone = |at: usize| chars.get(at).is_some_and(char::is_ascii_graphic);
    let ends_word = |at: usize| chars.get(at).is_none_or(|c| !c.is_alphanumeric());
    let mut at = 0;
    while at + 2 < chars.len() {
        let sign = chars[at + 1];
        let begins = at.checked_sub(1).is_none_or(ends_word) && alone(at) && !sign.is_alphanumeric();
        let mut last = at;
        while begins && chars.get(last + 1) == Some(&sign) && alone(last + 2) && ends_word(last + 3) {
            last += 2;
        }
        if (last - at) / 2 + 1 < SHORTEST {
            at += 1;
            continue;
        }
        let joined: String = chars[at..=last].iter().step_by(2).collect();
        // A letter alone may be a word before it.
        for from in 0..3 {
            out.push(' ');
            out.push_str(joined.get(from..).unwrap_or_default());
        }
        at = last + 1;
    }
}

/// `ghp_ Zq8X w2Lk 9Vb4`: groups of the same length, of which the last may be shorter, and the first be another word.
fn groups(text: &str, out: &mut String) {
    const LONGEST: usize = 8;
    let words: Vec<&str> = text.split(' ').collect();
    let mut from = 0;
    while from < words.len() {
        let length = words[from].len();
        let count = words[from..].iter().take_while(|word| word.len() == length).count();
        let short = words.get(from + count).filter(|word| word.len() < length).unwrap_or(&"");
        let joined = words[from..from + count].concat();
        let is_long = (2..=LONGEST).contains(&length) && count >= 2 && joined.len() + short.len() >= SHORTEST;
        let whole = joined.clone() + short;
        let capitals = whole.as_bytes().windows(2).filter(|two| two[0] > b'Z' && two[1].is_ascii_uppercase()).count();
        if is_long && (capitals >= 3 || whole.bytes().any(|b| b.is_ascii_digit())) {
            let first = from.checked_sub(1).map_or("", |at| words[at]);
            // The last may be the next word as well.
            out.extend([" ", &joined, " ", first, &joined, " ", &whole, " ", first, &whole]);
        }
        from += count;
    }
}

/// What stands in base64, over lines too, where it is text. Words may run together with what is before it, so that it is
/// read from each place of a group of four.
fn base64(text: &str) -> Vec<String> {
    const SHORTEST_RUN: usize = 24;
    const SHORTEST_TEXT: usize = 12;
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut run = Vec::new();
        while let Some(digit) = bytes.get(at).copied().and_then(digit) {
            run.push(digit);
            at += 1;
            let blank = |b: &&u8| matches!(b, b'\r' | b'\n' | b' ' | b'\t' | b'>');
            let parting = bytes[at..].iter().take(16).take_while(blank).count();
            if parting > 0 && matches!(bytes[at], b'\r' | b'\n') {
                at += parting;
            }
        }
        at += 1;
        if run.len() < SHORTEST_RUN {
            continue;
        }
        for offset in 0..4 {
            let decoded = undone(&run[offset..]);
            let is_text = |b: &u8| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t');
            let texts = decoded.split(|b| !is_text(b)).filter(|part| part.len() >= SHORTEST_TEXT);
            found.extend(texts.filter_map(|part| String::from_utf8(part.to_vec()).ok()));
        }
    }
    found
}

/// The bytes that digits of base64 stand for.
fn undone(digits: &[u8]) -> Vec<u8> {
    let groups = digits.chunks(4).flat_map(|group| {
        let bits = group.iter().enumerate().fold(0u32, |bits, (at, digit)| bits | u32::from(*digit) << (18 - 6 * at));
        let bytes = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
        bytes.into_iter().take(group.len() * 6 / 8)
    });
    groups.collect()
}

/// The value of a digit of base64, in either alphabet.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}
