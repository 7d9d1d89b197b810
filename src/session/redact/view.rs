//! The text as somebody meant it: with its escapes read, and without what is there for a terminal alone.
//!
//! Rules look at such a view beside the text itself, and what they find is traced back to where it stands.

use std::borrow::Cow;

use bstr::ByteSlice;

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
    /// Whether two parts of the original were joined at this place of the view.
    pub(super) fn is_joint(&self, at: usize) -> bool {
        self.pieces.binary_search_by_key(&at, |piece| piece.at).is_ok()
    }

    /// The last such place inside a part of the view.
    pub(super) fn last_joint(&self, start: usize, end: usize) -> Option<usize> {
        let last = self.pieces.partition_point(|piece| piece.at < end).checked_sub(1)?;
        Some(self.pieces[last].at).filter(|at| *at > start)
    }

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
pub(super) struct Builder<'t> {
    text: &'t str,
    pub(super) view: View,
    /// Everything before this was dealt with.
    pub(super) done: usize,
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str) -> Builder<'t> {
        Builder { text, view: View { text: String::new(), pieces: Vec::new() }, done: 0 }
    }

    /// `start..end` becomes this character, or nothing.
    pub(super) fn replace(&mut self, start: usize, end: usize, with: Option<char>) {
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
    pub(super) fn finish(mut self) -> Option<View> {
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
        let colour = if c == '\u{1b}' { escaped_colour(text, end) } else { None };
        out.replace(at, colour.unwrap_or(end), colour.is_none().then_some(c));
        from = out.done;
    }
    out.finish()
}

/// The end of a control sequence whose escape character ends at `from`; its signs may be written as escapes as well.
fn escaped_colour(text: &str, from: usize) -> Option<usize> {
    const LONGEST: usize = 32;
    let next = |at: usize| {
        let byte = *text.as_bytes().get(at)?;
        escape(text, at).or_else(|| byte.is_ascii().then(|| (at + 1, char::from(byte))))
    };
    let (mut end, _) = next(from).filter(|(_, c)| *c == '[')?;
    for _ in 0..LONGEST {
        match next(end) {
            Some((after, ' '..='?')) => end = after,
            Some((after, '@'..='~')) => return Some(after),
            _ => break,
        }
    }
    Some(end)
}

/// How long a control sequence is behind its `[`.
pub(super) fn colour(bytes: &[u8]) -> usize {
    let body = bytes.iter().take_while(|b| (0x20..=0x3f).contains(*b)).count();
    body + usize::from(bytes.get(body).is_some_and(|b| (0x40..=0x7e).contains(b)))
}

/// References of HTML by their names: what settings and tokens are made of.
const NAMED: &[(&str, char)] = &[
    ("quot;", '"'),
    ("apos;", '\''),
    ("amp;", '&'),
    ("lt;", '<'),
    ("gt;", '>'),
    ("lowbar;", '_'),
    ("hyphen;", '-'),
    ("dash;", '-'),
    ("period;", '.'),
    ("colon;", ':'),
    ("equals;", '='),
    ("plus;", '+'),
    ("sol;", '/'),
];

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
            let rest = &bytes[at + 1..bytes.len().min(at + 12)];
            if rest.first() != Some(&b'#') {
                let (name, c) = NAMED.iter().find(|(name, _)| rest.starts_with(name.as_bytes()))?;
                return Some((at + 1 + name.len(), *c));
            }
            let is_hex = matches!(rest.get(1), Some(b'x' | b'X'));
            let (from, radix) = if is_hex { (2, 16) } else { (1, 10) };
            let digits = rest[from..].iter().take_while(|b| char::from(**b).is_digit(radix)).count();
            let end = at + 1 + from + digits;
            let c = char::from_u32(u32::from_str_radix(&text[at + 1 + from..end], radix).ok()?)?;
            Some((end + usize::from(bytes.get(end) == Some(&b';')), c))
        }
        b'\\' => {
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
        _ => None,
    }
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
