//! Values that are given to a name that says what they are: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`.

use std::borrow::Cow;

use super::marks::{MARK, end_of_mark, without_marks};
use super::names::is_telling;
use super::tokens::has_digit;
use super::{Span, ceil, floor, placeholder};

/// How far a value is looked at; one that goes on beyond, and is a secret so far, is taken to its end.
const WINDOW: usize = 4096;

/// How a name and its value stand in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// In quotes.
    Quoted,
    /// As in a shell or an `.env` file: `NAME=value` in capitals, `--name value`, or a part of a connection string.
    Environment,
    /// A line of its own, as in YAML or a file of properties: `name: value`, `name = value`.
    Line,
    /// Anything else: it may as well be code.
    Plain,
}

/// A name, a sign and a value, as they stand in the text.
struct Assignment<'t> {
    name: &'t str,
    word: &'t str,
    value: &'t str,
    start: usize,
    /// The value goes on beyond what was looked at.
    goes_on: bool,
    notation: Notation,
    /// The name counts as written in a shell.
    shouted: bool,
}

/// The value that is given to the name which has its telling word at `start..end`.
pub(super) fn at(text: &str, start: usize, end: usize) -> Option<Span> {
    let found = read(text, start, end)?;
    if !is_telling(found.name, found.word, found.shouted) || !is_secret(&found) {
        return None;
    }
    let mut end = found.start + found.value.len();
    if found.goes_on {
        // Only now: to look for the end of what is no secret, at each of many names, would take for ever.
        end += text[end..].find(char::is_whitespace).unwrap_or(text.len() - end);
        end = found.start + text[found.start..end].trim_end_matches('\\').len();
    }
    Some(Span { start: found.start, end, kind: "assigned-secret" })
}

fn read(text: &str, start: usize, end: usize) -> Option<Assignment<'_>> {
    let bytes = text.as_bytes();
    let word = &text[start..end];
    let is_password = matches!(word.as_bytes().first(), Some(b'p' | b'P'));
    let shouts = |name: &str| !name.bytes().any(|b| b.is_ascii_lowercase());
    // The name ends with the word, but for a number (`TOKEN_2`) or the sign of many (`API_KEYS`).
    let mut name_end = end;
    if bytes.get(name_end) == Some(&b'S') && shouts(word) {
        name_end += 1;
    }
    if bytes.get(name_end) == Some(&b'_') {
        let digits = bytes[name_end + 1..].iter().take(8).take_while(|b| b.is_ascii_digit()).count();
        name_end += if digits > 0 { 1 + digits } else { 0 };
    }
    if bytes.get(name_end).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
        return None;
    }
    // A quote, a bracket (`env["TOKEN"] = …`) and blanks; then one sign, which a flag can do without.
    let past = |mut at: usize, set: &[u8]| {
        while bytes.get(at).is_some_and(|b| set.contains(b)) {
            at += 1;
        }
        at
    };
    let after_name = past(name_end, b"\"'\\`]");
    let mut at = past(after_name, b" \t");
    let next = bytes.get(at + 1).copied().unwrap_or(0);
    let sign = *bytes.get(at)?;
    if !matches!(sign, b'=' | b':' | b'>') && at == after_name {
        return None;
    }
    let is_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let mut name_start = start - bytes[..start].iter().rev().take(64).take_while(is_name).count();
    if is_escaped_space(bytes, name_start) {
        name_start += 1;
    }
    let full = &text[name_start..name_end];
    let before = name_start.checked_sub(1).map(|at| bytes[at]);
    let flag = full.starts_with("--");
    let tight = at == after_name && sign == b'=';
    let element = sign == b'>' && next != b'=' && before.is_some_and(|b| matches!(b, b'<' | b':'));
    match (sign, next) {
        (b'=', b'=') | (b':', b':') => return None,
        (b'=', b'>' | b'~') | (b':', b'=') => at += 2,
        (b'=' | b':', _) => at += 1,
        (b'>', _) if element => at += 1,
        // `PASSWORD 'word'`, as databases have it.
        (b'\'', _) if is_password && shouts(full) => {}
        _ if flag => {}
        _ => return None,
    }
    at = past(at, b" \t");
    at = in_block(bytes, at).unwrap_or(at);
    let escapes = bytes[at..].iter().take(16).take_while(|b| **b == b'\\').count();
    let quote = bytes.get(at + escapes).copied().filter(|b| matches!(b, b'"' | b'\'' | b'`'));
    let value_start = at + escapes + usize::from(quote.is_some());
    let name = full.trim_start_matches('-');
    let shouted = flag || tight && shouts(name);
    let window = floor(text, value_start + WINDOW);
    let rest = &text[value_start..end_of_mark(text, window).unwrap_or(window)];
    let value = match quote {
        Some(quote) => &rest[..quoted(rest, quote, escapes, tight)],
        None if element => &rest[..rest.find("</").filter(|end| !rest[..*end].contains(['<', '\n']))?],
        None if shouted => &rest[..unquoted(rest, &SHELL)],
        None => {
            let whole = &rest[..unquoted(rest, &CODE)];
            let escape = whole.match_indices('\\').find(|(at, _)| is_escaped_space(whole.as_bytes(), at + 1));
            escape.map_or(whole, |(at, _)| &whole[..at])
        }
    };
    let value_end = value_start + value.len();
    let goes_on = value.len() == rest.len() && value_end < text.len();
    let value = if goes_on { value } else { value.trim_end_matches('\\') };
    let line = || {
        let front = &text[ceil(text, name_start.saturating_sub(40))..name_start];
        let front = &front[front.rfind('\n').map_or(0, |at| at + 1)..];
        let front = front.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches("export ");
        let alone = front.trim_matches(|c: char| " \t→|:+-#".contains(c)).is_empty();
        alone && (goes_on || matches!(bytes.get(value_end), None | Some(b'\n' | b'\r')))
    };
    // `Server=x;Password=y;`, and `; password: y;` among remarks.
    let listed = text[..name_start].ends_with([';', ' ']) && text[..name_start].trim_end_matches(' ').ends_with(';');
    let in_string = listed && (tight || bytes.get(value_end) == Some(&b';'));
    let notation = match quote {
        Some(_) => Notation::Quoted,
        None if element => Notation::Quoted,
        None if shouted || in_string => Notation::Environment,
        None if line() => Notation::Line,
        None => Notation::Plain,
    };
    Some(Assignment { name, word, value, start: value_start, goes_on, notation, shouted })
}

/// The bytes that may end a value without quotes in a shell, and anywhere else.
static SHELL: [bool; 256] = ends(b"\"'`;");
static CODE: [bool; 256] = ends(b"\"'`;,)}]<>&|({");

/// These, and all that may be, or begin, white space.
const fn ends(stops: &[u8]) -> [bool; 256] {
    let mut table = [true; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        table[byte as usize] = false;
        byte += 1;
    }
    let mut at = 0;
    while at < stops.len() {
        table[stops[at] as usize] = true;
        at += 1;
    }
    table
}

/// The length of what stands without quotes.
fn unquoted(rest: &str, ends: &[bool; 256]) -> usize {
    let mut from = 0;
    while let Some(at) = rest.as_bytes()[from..].iter().position(|byte| ends[*byte as usize]) {
        let at = from + at;
        match rest[at..].chars().next() {
            Some(c) if !c.is_whitespace() && (c.is_control() || !c.is_ascii()) => from = at + c.len_utf8(),
            _ => return at,
        }
    }
    rest.len()
}

/// Whether the letter at `at` makes a line break or a tab of the backslash before it, as in the strings of JSON.
fn is_escaped_space(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1] == b'\\' && matches!(bytes.get(at), Some(b'n' | b'r' | b't'))
}

/// The text of a YAML block (`|`, `>-`) whose sign stands at `at`.
fn in_block(bytes: &[u8], at: usize) -> Option<usize> {
    let sign = bytes.get(at).filter(|b| matches!(b, b'|' | b'>'))?;
    let _ = sign;
    let mut end = at + 1;
    while bytes.get(end).is_some_and(|b| matches!(b, b'-' | b'+' | b' ' | b'\r')) {
        end += 1;
    }
    if bytes.get(end) != Some(&b'\n') {
        return None;
    }
    let blanks = bytes[end + 1..].iter().take(64).take_while(|b| matches!(b, b' ' | b'\t')).count();
    (blanks > 0).then_some(end + 1 + blanks)
}

/// The length of what stands in quotes. The quote ends where it stands behind as many backslashes as the one that opened
/// it, or at the line's end. A shell joins what follows a quote without a blank.
fn quoted(rest: &str, quote: u8, escapes: usize, shell: bool) -> usize {
    let bytes = rest.as_bytes();
    let closing = |from: usize, quote: u8| {
        let mut backslashes = 0;
        for (at, byte) in bytes.iter().enumerate().skip(from) {
            match byte {
                b'\n' => return (at, false),
                b'\\' => backslashes += 1,
                byte if *byte == quote && (backslashes <= escapes || quote == b'\'') => return (at, true),
                _ => backslashes = 0,
            }
        }
        (bytes.len(), false)
    };
    let (mut end, mut closed) = closing(0, quote);
    while shell && closed && escapes == 0 {
        match bytes.get(end + 1) {
            Some(next) if matches!(next, b'"' | b'\'') && *next != bytes[end] => {
                (end, closed) = closing(end + 2, *next);
            }
            Some(next) if next.is_ascii_alphanumeric() => {
                let stops = |c: char| c.is_whitespace() || "\"'`;,)}]<>&|".contains(c);
                return rest[end..].find(stops).filter(|at| *at > 0).map_or(end, |at| end + at.max(1));
            }
            _ => break,
        }
    }
    end
}

fn is_secret(found: &Assignment) -> bool {
    let value: &str = &match found.value.contains(MARK) {
        true => Cow::Owned(without_marks(found.value)),
        false => Cow::Borrowed(found.value),
    };
    let bare = value.trim_matches(['"', '\'']);
    // What most values fail at first: the words of placeholders are many.
    !bare.is_empty() && is_shaped(found, value, bare) && !placeholder::is(bare) && !is_path(bare)
}

/// Whether a value has the form of a secret, in its notation.
fn is_shaped(found: &Assignment, value: &str, bare: &str) -> bool {
    let letter = value.bytes().any(|b| b.is_ascii_alphabetic());
    let word = found.word.to_ascii_lowercase();
    if word == "auth" {
        return is_login(bare);
    }
    let password = word.starts_with('p');
    let code = || value.contains(['(', ')', '{', '}']) || value.contains("::") || value.contains("->");
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"+/=_~!@#$%^*-.".contains(&b);
    match found.notation {
        Notation::Quoted => {
            let one_word = !value.contains(char::is_whitespace);
            one_word && if password { value.len() >= 5 } else { value.len() >= 8 && !is_identifier(value) }
        }
        // A telling name in capitals; what is left to rule out is code and plain words.
        Notation::Environment => {
            value.len() >= if found.shouted { 6 } else { 4 }
                && !code()
                && (letter || password)
                && (!is_identifier(value)
                    || if password { found.shouted || has_digit(value) } else { value.len() >= 20 })
        }
        Notation::Line if password => value.len() >= 6 && has_digit(value) && !code() && value.bytes().all(plain),
        // Unquoted, small letters: YAML, or code. Code has no digits and letters mixed outside identifiers.
        Notation::Line | Notation::Plain => {
            value.len() >= 8
                && letter
                && has_digit(value)
                && !code()
                && value.bytes().all(plain)
                && !is_identifier(value)
        }
    }
}

/// Base64 of `user:password`.
fn is_login(value: &str) -> bool {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let Some(digits) = value.trim_end_matches('=').bytes().map(digit).collect::<Option<Vec<u8>>>() else {
        return false;
    };
    let mut bits = 0u32;
    let mut plain = Vec::new();
    for (at, digit) in digits.iter().enumerate() {
        bits = bits << 6 | u32::from(*digit);
        if at % 4 > 0 {
            plain.push((bits >> (6 - 2 * (at % 4))) as u8);
        }
    }
    let printable = plain.iter().all(|b| (0x20..0x7f).contains(b));
    printable && plain.iter().position(|b| *b == b':').is_some_and(|at| at > 0 && at + 3 < plain.len())
}

/// A file's path or an address: what a key stands in, not the key.
fn is_path(value: &str) -> bool {
    let rooted = value.starts_with(['/', '.', '~']) || value.get(1..3) == Some(":\\") || value.contains("://");
    let capitals = value.bytes().filter(u8::is_ascii_uppercase).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    rooted && !(value.len() >= 32 && capitals >= 4 && digits >= 2 && !value.contains('.'))
}

/// A name of code: words of letters, joined by `_`, `-` or `.`; a number only at the end of a word.
pub(super) fn is_identifier(value: &str) -> bool {
    value.split(['_', '-', '.', ':', '/']).all(|part| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let humps = letters.bytes().skip(1).filter(u8::is_ascii_uppercase).count();
        let digits = part.len() - letters.len();
        letters.bytes().all(|b| b.is_ascii_alphabetic())
            && digits <= 3
            && (humps * 4 <= letters.len() || humps + 1 >= letters.len())
            && (!letters.is_empty() || part.is_empty())
    })
}
