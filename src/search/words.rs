//! Words of a text and the terms under which they are found.
//!
//! A word is a run without white space whose ends are letters or digits: `configured`, `OPENSSL_DIR`, `foo::bar`,
//! `src/a/b.rs`, `v1.2.3`, `E0308`. A plain word is one term, its stem. Any other word is found whole, in lower case
//! and never stemmed; by its inner parts that are themselves more than a plain word (`b.rs`); and by its smallest
//! parts, each as a word of its own. What indexes and what asks use the same function, so both agree.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::stem::stem;

/// Longest term in bytes. What is longer is a hash, an encoded file or an address, which nobody types.
const LONGEST: usize = 64;

/// Most smallest parts of one word.
const MOST_PARTS: u32 = 64;

/// What joins the parts of a word.
const JOINERS: &[u8] = b"_-./:+#\\'";

/// What joins the parts of a path, and the parts of a name in it.
const IN_PATHS: &[u8] = b"/:\\";
const IN_NAMES: &[u8] = b"-.+#'";

/// A word taken apart. One can be used for many words, so that nothing is allocated for each.
#[derive(Debug, Default)]
pub(super) struct Split {
    text: String,
    pieces: Vec<Piece>,
    /// How many smallest parts the word has.
    pub parts: u32,
}

/// A part of a word, or several that stand together.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from: usize,
    to: usize,
    /// At which of the smallest parts it begins.
    at: u32,
    /// How many of them it covers.
    parts: u32,
}

/// What a byte is to a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Gap,
    Joiner,
    Inner,
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Gap; 256];
    let mut byte = 0;
    while byte < 256 {
        if (byte as u8).is_ascii_alphanumeric() {
            classes[byte] = Class::Inner;
        } else if byte >= 128 {
            classes[byte] = Class::Wide;
        }
        byte += 1;
    }
    let mut at = 0;
    while at < JOINERS.len() {
        classes[JOINERS[at] as usize] = Class::Joiner;
        at += 1;
    }
    classes
};

/// At which levels a byte splits a word, as bits.
const JOINS: [u8; 256] = {
    let mut joins = [0; 256];
    let sets = [(JOINERS, ANY), (IN_PATHS, ANY | PATH), (IN_NAMES, ANY | NAME)];
    let mut set = 0;
    while set < sets.len() {
        let (bytes, bits) = sets[set];
        let mut at = 0;
        while at < bytes.len() {
            joins[bytes[at] as usize] = bits;
            at += 1;
        }
        set += 1;
    }
    joins
};

const NOTHING: u8 = 0;
const ANY: u8 = 1;
const PATH: u8 = 2;
const NAME: u8 = 4;

/// The words of a text with the places where they begin, in bytes.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        // Before a word and behind it joiners are punctuation.
        loop {
            match class_at(text, at)? {
                (Class::Inner, _) => break,
                (_, length) => at += length,
            }
        }
        let (start, mut end) = (at, at);
        while let Some((class, length)) = class_at(text, at) {
            match class {
                Class::Inner => end = at + length,
                Class::Joiner => {}
                Class::Gap | Class::Wide => break,
            }
            at += length;
        }
        Some((start, &text[start..named_end(text.as_bytes(), start, end)]))
    })
}

/// The class of the character at a place and its length, never [`Class::Wide`]; `None` at the end.
#[inline(always)]
fn class_at(text: &str, at: usize) -> Option<(Class, usize)> {
    match CLASSES[usize::from(*text.as_bytes().get(at)?)] {
        Class::Wide => Some(wide_class(text[at..].chars().next()?)),
        class => Some((class, 1)),
    }
}

fn wide_class(c: char) -> (Class, usize) {
    let class = match c {
        '\u{2019}' => Class::Joiner,
        c if c.is_alphanumeric() || is_combining_mark(c) => Class::Inner,
        _ => Class::Gap,
    };
    (class, c.len_utf8())
}

/// `C++`, `C#` and `F#` keep what is punctuation elsewhere.
fn named_end(bytes: &[u8], start: usize, end: usize) -> usize {
    if end - start != 1 {
        return end;
    }
    let rest = &bytes[end..];
    let marks = if rest.starts_with(b"++") { 2 } else { usize::from(rest.starts_with(b"#")) };
    let ends = rest.get(marks).is_none_or(|&byte| CLASSES[byte as usize] == Class::Gap);
    if ends { end + marks } else { end }
}

impl Split {
    /// Takes a word apart.
    pub fn read(&mut self, word: &str) {
        self.text.clear();
        self.pieces.clear();
        self.parts = 0;
        if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return self.part(word);
        }
        let word = &*folded(word);
        if matches!(word.as_bytes(), [_, b'+', b'+'] | [_, b'#']) {
            self.push(word, 1);
            self.parts = 1;
            return;
        }
        // An address is found by its parts; whole, it is too rare to be worth its room.
        let levels: &[u8] = if word.contains("://") { &[PATH, NAME] } else { &[NOTHING, PATH, NAME] };
        self.level(word, levels);
        self.pieces.sort_unstable_by_key(|piece| (piece.at, u32::MAX - piece.parts));
        self.pieces.dedup_by_key(|piece| (piece.at, piece.parts));
    }

    /// The pieces in lower case, not stemmed, each with the place of its first smallest part and how many it covers; by
    /// place, the longer first.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, u32, u32)> {
        self.pieces.iter().map(|piece| (&self.text[piece.from..piece.to], piece.at, piece.parts))
    }

    /// The terms of a word, each with its place and how many of the smallest parts it covers.
    pub fn terms(&mut self, word: &str) -> Vec<(String, u32, u32)> {
        self.read(word);
        let mut found = Vec::new();
        for (piece, at, parts) in self.pieces() {
            terms_of(piece, parts, |term| found.push((term.to_owned(), at, parts)));
        }
        found
    }

    /// Splits at the joiners of the first level, and each piece at those of the next; every piece that is more than a
    /// plain word is a term.
    fn level(&mut self, text: &str, levels: &[u8]) {
        let Some((&level, deeper)) = levels.split_first() else { return self.identifier(text) };
        let mut rest = Some(text);
        while let Some(text) = rest {
            let end = text.bytes().position(|byte| JOINS[usize::from(byte)] & level != 0);
            rest = end.map(|end| &text[end + 1..]);
            let piece = trimmed(&text[..end.unwrap_or(text.len())]);
            if !piece.is_empty() {
                let from = self.parts;
                self.level(piece, deeper);
                self.whole(piece, from);
            }
        }
    }

    /// Splits at `_` and where the case changes.
    fn identifier(&mut self, text: &str) {
        for piece in text.split('_').filter(|piece| !piece.is_empty()) {
            let from = self.parts;
            let mut start = 0;
            let mut before: [Option<char>; 2] = [None, None];
            let mut last = 0;
            // A new part begins at each capital of `getUserName`, and before the last one of `HTTPServer`.
            for (at, c) in piece.char_indices() {
                let cut = match before {
                    [_, Some(a)] if a.is_lowercase() && c.is_uppercase() => at,
                    [Some(a), Some(b)] if a.is_uppercase() && b.is_uppercase() && c.is_lowercase() => last,
                    _ => start,
                };
                if cut > start {
                    self.part(&piece[start..cut]);
                    start = cut;
                }
                before = [before[1], Some(c)];
                last = at;
            }
            self.part(&piece[start..]);
            self.whole(piece, from);
        }
    }

    /// Several parts that stand together.
    fn whole(&mut self, text: &str, from: u32) {
        if self.parts > from + 1
            && self.pieces.last().is_none_or(|last| (last.at, last.parts) != (from, self.parts - from))
        {
            let parts = self.parts - from;
            self.add(text, from, parts);
        }
    }

    /// A smallest part.
    fn part(&mut self, text: &str) {
        if self.parts >= MOST_PARTS {
            return;
        }
        if text.is_ascii() {
            self.push(text, 1);
            self.parts += 1;
            return;
        }
        // Scripts without spaces are found by pairs of neighbours.
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let run = rest.find(|c| is_unspaced(c) != is_unspaced(first)).unwrap_or(rest.len());
            let (piece, next) = rest.split_at(run);
            rest = next;
            if !is_unspaced(first) {
                self.push(piece, 1);
                self.parts += 1;
                continue;
            }
            let starts: Vec<usize> = piece.char_indices().map(|(at, _)| at).chain([piece.len()]).collect();
            for pair in starts.windows(if starts.len() > 2 { 3 } else { 2 }) {
                if let [from, .., to] = pair {
                    self.push(&piece[*from..*to], 1);
                    self.parts += 1;
                }
            }
        }
    }

    fn push(&mut self, text: &str, parts: u32) {
        self.add(text, self.parts, parts);
    }

    fn add(&mut self, text: &str, at: u32, parts: u32) {
        let from = self.text.len();
        if text.is_ascii() {
            self.text.push_str(text);
            self.text[from..].make_ascii_lowercase();
        } else {
            self.text.extend(text.chars().flat_map(char::to_lowercase));
        }
        if self.text.len() - from > LONGEST {
            self.text.truncate(from);
        } else {
            self.pieces.push(Piece { from, to: self.text.len(), at, parts });
        }
    }
}

/// Without the joiners at its ends.
fn trimmed(piece: &str) -> &str {
    let inner = |byte: u8| JOINS[usize::from(byte)] == 0;
    let from = piece.bytes().position(inner).unwrap_or(piece.len());
    let to = piece.bytes().rposition(inner).map_or(from, |last| last + 1);
    &piece[from..to]
}

/// The terms of a piece that covers so many parts: of a smallest part its stem, of several together what they are.
pub(super) fn terms_of(piece: &str, parts: u32, mut each: impl FnMut(&str)) {
    if parts == 1 {
        return each(&stem(piece));
    }
    // `getUsers` is also what somebody writes as `getusers`.
    if piece.bytes().all(|byte| byte.is_ascii_lowercase()) {
        let stem = stem(piece);
        if stem != piece {
            each(&stem);
        }
    }
    each(piece);
}

/// Without accents and typographic variants, apostrophes as one writes them on a keyboard and then left out of
/// `don't` and `user's`.
fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return if word.contains('\'') { Cow::Owned(word.replace('\'', "")) } else { Cow::Borrowed(word) };
    }
    Cow::Owned(word.nfkd().filter(|&c| !is_combining_mark(c) && c != '\'' && c != '\u{2019}').nfc().collect())
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
