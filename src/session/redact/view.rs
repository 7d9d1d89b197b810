//! The text as somebody meant it: escapes read, words whole that a narrow window had broken.
//!
//! Rules look at such a view beside the text itself, and what they find is traced back to where it stands.

use std::borrow::Cow;

use bstr::ByteSlice;

use super::assign::is_identifier;
use super::floor;

/// A changed text, and where its pieces come from.
pub(super) struct View {
    pub(super) text: String,
    pieces: Vec<Piece>,
}

/// A piece of the view, up to the next one.
#[derive(Clone, Copy)]
struct Piece {
    at: usize,
    from: usize,
    /// How many bytes of the original became this one character; 0 for a piece that is as it was.
    whole: usize,
}

impl View {
    /// The bytes of the original that a part of the view stands for.
    pub(super) fn original(&self, start: usize, end: usize) -> (usize, usize) {
        let first = self.pieces[self.pieces.partition_point(|piece| piece.at <= start) - 1];
        let last = self.pieces[self.pieces.partition_point(|piece| piece.at < end).max(1) - 1];
        let from = if first.whole > 0 { first.from } else { first.from + start - first.at };
        let to = if last.whole > 0 { last.from + last.whole } else { last.from + end - last.at };
        (from, to)
    }
}

/// Puts a view together from what is kept of a text.
struct Builder<'t> {
    text: &'t str,
    view: View,
    /// Everything before this was dealt with.
    done: usize,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str) -> Builder<'t> {
        Builder { text, view: View { text: String::new(), pieces: Vec::new() }, done: 0 }
    }

    /// `start..end` becomes this character, or nothing.
    fn replace(&mut self, start: usize, end: usize, with: Option<char>) {
        self.keep(start);
        if let Some(c) = with {
            self.view.pieces.push(Piece { at: self.view.text.len(), from: start, whole: end - start });
            self.view.text.push(c);
        }
        self.done = end;
    }

    fn keep(&mut self, to: usize) {
        if to > self.done {
            // Most texts have nothing to replace, and need no room.
            self.view.text.reserve(self.text.len() - self.done);
            self.view.pieces.push(Piece { at: self.view.text.len(), from: self.done, whole: 0 });
            self.view.text.push_str(&self.text[self.done..to]);
        }
    }

    /// `None` when nothing was replaced.
    fn finish(mut self) -> Option<View> {
        if self.done == 0 {
            return None;
        }
        self.keep(self.text.len());
        (!self.view.pieces.is_empty()).then_some(self.view)
    }
}

/// Escapes of JSON, of addresses and of HTML read; colours that are written as escapes taken out.
pub(super) fn unescaped(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut out = Builder::new(text);
    let mut from = 0;
    while let Some(at) = bytes.get(from..).and_then(|rest| rest.find_byteset(b"\\%&")).map(|found| from + found) {
        from = at + 1;
        let Some((end, c)) = escape(text, at) else { continue };
        // A colour: nothing of it belongs to a word.
        let colour = (c == '\u{1b}' && bytes.get(end) == Some(&b'[')).then(|| end + 1 + colour(&bytes[end + 1..]));
        out.replace(at, colour.unwrap_or(end), colour.is_none().then_some(c));
        from = out.done;
    }
    out.finish()
}

/// How long a control sequence is behind its `[`.
pub(super) fn colour(bytes: &[u8]) -> usize {
    let body = bytes.iter().take_while(|b| (0x20..=0x3f).contains(*b)).count();
    body + usize::from(bytes.get(body).is_some_and(|b| (0x40..=0x7e).contains(b)))
}

/// The end of the escape at `at`, and the character that it stands for.
fn escape(text: &str, at: usize) -> Option<(usize, char)> {
    let bytes = text.as_bytes();
    let hex = |from: usize, most: usize| {
        let digits = bytes.get(from..)?.iter().take(most).take_while(|b| b.is_ascii_hexdigit()).count();
        let value = u32::from_str_radix(&text[from..from + digits], 16).ok()?;
        Some((digits, char::from_u32(value)?))
    };
    match bytes[at] {
        b'%' => {
            let (digits, c) = hex(at + 1, 2)?;
            (digits == 2 && (' '..='~').contains(&c)).then_some((at + 3, c))
        }
        b'&' => {
            let rest = &text[at + 1..floor(text, at + 9)];
            let end = rest.find(';')?;
            let c = match &rest[..end] {
                "quot" => '"',
                "apos" => '\'',
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                number => {
                    let number = number.strip_prefix('#')?;
                    let code = match number.strip_prefix(['x', 'X']) {
                        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                        None => number.parse().ok()?,
                    };
                    char::from_u32(code)?
                }
            };
            Some((at + 2 + end, c))
        }
        _ => {
            // However often it was escaped.
            let next = at + bytes[at..].iter().take(16).take_while(|b| **b == b'\\').count();
            match bytes.get(next)? {
                b'u' if bytes.get(next + 1) == Some(&b'{') => {
                    let (digits, c) = hex(next + 2, 6)?;
                    (bytes.get(next + 2 + digits) == Some(&b'}')).then_some((next + 3 + digits, c))
                }
                b'u' => hex(next + 1, 4).filter(|(digits, _)| *digits == 4).map(|(_, c)| (next + 5, c)),
                b'x' => hex(next + 1, 2).filter(|(digits, _)| *digits == 2).map(|(_, c)| (next + 3, c)),
                b'0' if bytes[next..].starts_with(b"033") => Some((next + 3, '\u{1b}')),
                b'e' if bytes.get(next + 1) == Some(&b'[') => Some((next + 1, '\u{1b}')),
                b'/' => Some((next + 1, '/')),
                _ => None,
            }
        }
    }
}

/// Words whole that were broken at the end of a line, with nothing between their parts but the break, the indentation and
/// the line number of a viewer. Two runs that could be one secret are joined, and whatever `is_parted` says: it is given
/// the joined word, how long its first part is, and whether the second looks like the rest of a secret.
pub(super) fn unbroken(text: &str, is_parted: impl Fn(&str, usize, bool) -> bool) -> Option<View> {
    /// How far a word is looked at on either side.
    const REACH: usize = 512;
    /// No secret that is known by its shape is shorter.
    const SHORTEST: usize = 10;
    let bytes = text.as_bytes();
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"+/_.~-".contains(b);
    let is_in_word = |b: &u8| b.is_ascii_graphic() && !b"\"'`<>\\".contains(b);
    let mut out = Builder::new(text);
    let mut word = String::new();
    let mut from = 0;
    while let Some(at) = bytes.get(from..).and_then(|rest| rest.find_byteset(b"\n\\")).map(|found| from + found) {
        from = at + 1;
        let Some(begins) = line_break(bytes, at) else { continue };
        let mut end = at;
        while end > out.done && matches!(bytes[end - 1], b'\r' | b'\\') {
            end -= 1;
        }
        if end == out.done || !is_in_word(&bytes[end - 1]) {
            continue;
        }
        let next = begins + indentation(&text[begins..floor(text, begins + 64)]);
        let behind = bytes[next..].iter().take(REACH).take_while(|b| is_in_word(b)).count();
        if behind == 0 {
            continue;
        }
        let left = bytes[out.done..end].iter().rev().take(32).take_while(|b| is_part(b)).count();
        let left = &text[end - left..end];
        let right = bytes[next..].iter().take(REACH).take_while(|b| is_part(b)).count();
        let right = right + bytes[next + right..].iter().take(2).take_while(|b| **b == b'=').count();
        let goes_on = match bytes.get(next + right) {
            Some(b':') => matches!(bytes.get(next + right + 1), Some(b':' | b'/')),
            Some(b) => is_part(b) || b"=([{".contains(b),
            None => false,
        };
        let is_rest = right >= 8 && !goes_on && !is_identifier(&text[next..next + right]);
        let is_front = left.len() >= 16 || left.len() >= 4 && left.bytes().any(|b| b.is_ascii_digit());
        let is_whole = is_front && is_rest || {
            word.clear();
            let before = bytes[out.done..end].iter().rev().take(REACH).take_while(|b| is_in_word(b)).count();
            if end - before == out.done {
                let joined = out.view.text.as_bytes().iter().rev().take(REACH).take_while(|b| is_in_word(b)).count();
                word.push_str(&out.view.text[out.view.text.len() - joined..]);
            }
            word.push_str(&text[end - before..end]);
            let parted = word.len();
            word.push_str(&text[next..next + behind]);
            word.len() >= SHORTEST && is_parted(&word, parted, is_rest)
        };
        if is_whole {
            out.replace(end, next, None);
            from = next;
        }
    }
    out.finish()
}

/// The end of the line break at `at`, also of one that is escaped, however often.
fn line_break(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes[at] == b'\n' {
        return Some(at + 1);
    }
    let escaped = |at: usize, letter: u8| {
        let slashes = bytes.get(at..)?.iter().take(16).take_while(|b| **b == b'\\').count();
        (slashes > 0 && bytes.get(at + slashes) == Some(&letter)).then_some(at + slashes + 1)
    };
    escaped(escaped(at, b'r').unwrap_or(at), b'n')
}

/// How long what a viewer puts before a line is: blanks, and a number with its sign.
fn indentation(line: &str) -> usize {
    let body = line.trim_start_matches([' ', '\t']);
    let number = body.trim_start_matches(|c: char| c.is_ascii_digit());
    let signed = number.trim_start_matches(['→', '|', '\t']);
    let rest =
        if number.len() < body.len() && signed.len() < number.len() { signed.trim_start_matches(' ') } else { body };
    line.len() - rest.len()
}

/// Text without terminal escape sequences (CSI, OSC and two-byte ones).
pub(super) fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.as_bytes().contains(&0x1b) && !text.contains('\u{9b}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\u{1b}', '\u{9b}']) {
        out.push_str(&rest[..at]);
        let short = rest[at..].starts_with('\u{9b}');
        rest = &rest[at + if short { 2 } else { 1 }..];
        let length = match rest.as_bytes().first() {
            _ if short => colour(rest.as_bytes()),
            Some(b'[') => 1 + colour(&rest.as_bytes()[1..]),
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
