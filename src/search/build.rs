//! Making a segment from pages.

use super::bytes::{put_number, put_text};
use super::names::Names;
use super::segment::BLOCK;
use super::words::{Split, terms_of, words};
use crate::wiki::{Kind, Page, Status};

/// Most bytes of one text of a page that are indexed.
const MOST_TEXT: usize = 1 << 20;

/// How far the texts of a page stand apart, so that no phrase reaches from one into the next.
const APART: u32 = 8;

/// Stands among words where a text ends.
const END: u32 = u32::MAX;

/// How many new words a page brings along, about, and how many words and bytes of a record there are to it.
const NEW_WORDS: usize = 12;
const WORDS: usize = 128;
const RECORD: usize = 256;

/// Collects pages.
pub(super) struct Builder {
    terms: Names,
    /// Words that were met before: taking one apart costs more than finding it.
    words: Names,
    known: Vec<Known>,
    /// The terms of the known words, each with its place in the word.
    parts: Vec<(u32, u32)>,
    split: Split,
    /// Every word of every page as it came; behind each text [`END`].
    tokens: Vec<u32>,
    /// Where each page's tokens end.
    ends: Vec<usize>,
    /// What is kept of each page, and where that begins, as a segment has it.
    records: Vec<u8>,
    starts: Vec<u8>,
    /// Bytes of text so far.
    text: usize,
}

/// The terms of a word: a range of `parts`.
#[derive(Clone, Copy)]
struct Known {
    from: u32,
    to: u32,
    /// How many places it takes.
    places: u32,
}

/// Where a term stands: the page (from 0) and the place in it.
type Standing = (u32, u32);

impl Builder {
    /// For about so many pages.
    pub fn with_room(pages: usize) -> Builder {
        Builder {
            terms: Names::with_room(pages * NEW_WORDS),
            words: Names::with_room(pages * NEW_WORDS),
            known: Vec::with_capacity(pages * NEW_WORDS),
            parts: Vec::with_capacity(pages * NEW_WORDS * 4),
            split: Split::default(),
            tokens: Vec::with_capacity(pages * WORDS),
            ends: Vec::with_capacity(pages),
            records: Vec::with_capacity(pages * RECORD),
            starts: Vec::with_capacity(pages * 4),
            text: 0,
        }
    }

    /// How many pages it holds.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes of text it has seen.
    pub fn text(&self) -> usize {
        self.text
    }

    /// Adds a page; `oid` is its blob.
    pub fn add(&mut self, page: &Page, oid: &[u8]) {
        let front = &page.front;
        for text in front.title.iter().chain(&front.description).chain(&front.when_to_use).chain(&front.tags) {
            self.add_text(text);
        }
        self.add_text(&page.body);
        self.ends.push(self.tokens.len());
        self.starts.extend_from_slice(&(self.records.len() as u32).to_le_bytes());
        put_record(&mut self.records, page, oid);
    }

    fn add_text(&mut self, text: &str) {
        let text = &text[..text.floor_char_boundary(MOST_TEXT)];
        self.text += text.len();
        for (_, word) in words(text) {
            let (id, is_new) = self.words.id(word);
            if is_new {
                self.learn(word);
            }
            self.tokens.push(id);
        }
        self.tokens.push(END);
    }

    /// Takes a new word apart.
    fn learn(&mut self, word: &str) {
        let from = self.parts.len() as u32;
        self.split.read(word);
        for (piece, at, parts) in self.split.pieces() {
            // Most smallest parts are words that were met alone, and need no stemming again.
            let met = if parts == 1 && piece != word { self.words.find(piece) } else { None };
            match met.and_then(|id| self.known.get(id as usize)) {
                Some(known) if known.to == known.from + 1 => self.parts.push((self.parts[known.from as usize].0, at)),
                _ => terms_of(piece, parts, |term| self.parts.push((self.terms.id(term).0, at))),
            }
        }
        self.known.push(Known { from, to: self.parts.len() as u32, places: self.split.parts });
    }

    /// The segment's bytes, as [`Segment`](super::segment::Segment) reads them.
    pub fn finish(self) -> Vec<u8> {
        let (sorted, ends, lengths) = self.by_term();
        let order = self.terms.in_order();
        let mut blocks = Vec::new();
        let mut names = Vec::new();
        let mut postings = Vec::with_capacity(sorted.len() * 2);
        let mut before: &[u8] = &[];
        for (n, &id) in order.iter().enumerate() {
            let term = self.terms.name(id);
            let mut shared = 0;
            if n % BLOCK == 0 {
                blocks.extend_from_slice(&(names.len() as u32).to_le_bytes());
                put_number(&mut names, postings.len() as u32);
            } else {
                shared = before.iter().zip(term).take_while(|(a, b)| a == b).count();
                put_number(&mut names, shared as u32);
            }
            put_text(&mut names, &term[shared..]);
            let start = postings.len();
            let from = if id == 0 { 0 } else { ends[id as usize - 1] };
            put_postings(&mut postings, &sorted[from..ends[id as usize]]);
            put_number(&mut names, (postings.len() - start) as u32);
            before = term;
        }

        let parts = [&self.starts, &self.records, &lengths, &blocks, &names, &postings];
        let mut out = Vec::with_capacity(parts.iter().map(|part| part.len() + 4).sum::<usize>() + 8);
        out.extend_from_slice(&(self.len() as u32).to_le_bytes());
        out.extend_from_slice(&(order.len() as u32).to_le_bytes());
        for part in parts {
            out.extend_from_slice(&(part.len() as u32).to_le_bytes());
        }
        for part in parts {
            out.extend_from_slice(part);
        }
        out
    }

    /// Where every term stands, by term and then as they came; where each term's end; and how many words each page has,
    /// as a segment keeps it.
    fn by_term(&self) -> (Vec<Standing>, Vec<usize>, Vec<u8>) {
        let (mut ends, sum) = self.begins();
        let mut sorted = vec![(0, 0); sum];
        let mut lengths = Vec::with_capacity(self.len() * 4);
        let mut from = 0;
        for (number, &end) in self.ends.iter().enumerate() {
            // The place of the next word is this and how far apart the texts stand that ended.
            let (mut length, mut apart) = (0, 0);
            for &word in &self.tokens[from..end] {
                let Some(known) = self.known.get(word as usize) else {
                    apart += APART;
                    continue;
                };
                for &(term, at) in &self.parts[known.from as usize..known.to as usize] {
                    let next = &mut ends[term as usize];
                    sorted[*next] = (number as u32, length + apart + at + 1);
                    *next += 1;
                }
                length += known.places;
            }
            lengths.extend_from_slice(&length.to_le_bytes());
            from = end;
        }
        (sorted, ends, lengths)
    }

    /// Where each term's standings begin, and how many there are of all.
    fn begins(&self) -> (Vec<usize>, usize) {
        let mut met = vec![0; self.known.len()];
        for &word in self.tokens.iter().filter(|&&word| word != END) {
            met[word as usize] += 1;
        }
        let mut begins = vec![0; self.terms.len()];
        for (known, met) in self.known.iter().zip(met) {
            for (term, _) in &self.parts[known.from as usize..known.to as usize] {
                begins[*term as usize] += met;
            }
        }
        let mut sum = 0;
        for begin in &mut begins {
            sum += std::mem::replace(begin, sum);
        }
        (begins, sum)
    }
}

/// A term's postings: each page as its distance from the one before (the first is 1), then its places, each the distance
/// from the one before, then 0 unless it is the last page.
fn put_postings(out: &mut Vec<u8>, standings: &[Standing]) {
    let (mut page, mut last) = (0, 0);
    for &(doc, place) in standings {
        if doc + 1 != page {
            if page > 0 {
                out.push(0);
            }
            put_number(out, doc + 1 - page);
            (page, last) = (doc + 1, 0);
        }
        if place > last {
            put_number(out, place - last);
            last = place;
        }
    }
}

/// What is kept of a page beside its words.
fn put_record(out: &mut Vec<u8>, page: &Page, oid: &[u8]) {
    let front = &page.front;
    let kind = front.kind.and_then(|kind| Kind::ALL.iter().position(|other| *other == kind));
    out.push(kind.map_or(0, |place| place as u8 + 1));
    out.push(match front.status {
        Status::Active => 0,
        Status::Stale => 1,
        Status::Superseded => 2,
        Status::Retired => 3,
    });
    out.push(u8::from(front.pinned));
    out.push(front.priority.map_or(0, |priority| priority.saturating_add(1)));
    put_text(out, oid);
    put_text(out, &page.path);
    for text in [Some(&page.title), front.superseded_by.as_ref(), front.description.as_ref()] {
        put_text(out, text.map_or(&[], |text| text.as_bytes()));
    }
}
