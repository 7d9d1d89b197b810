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

/// Collects pages.
#[derive(Default)]
pub(super) struct Builder {
    terms: Names,
    /// Words that were met before: taking one apart costs more than finding it.
    words: Names,
    known: Vec<Known>,
    /// The terms of the known words, each with its place in the word.
    parts: Vec<(u32, u32)>,
    split: Split,
    /// Every term of every page as it came, with its place.
    tokens: Vec<(u32, u32)>,
    docs: Vec<Doc>,
    /// The place of the next word in the page.
    place: u32,
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

/// A page: what is kept of it, how many words it has, and where its tokens end.
struct Doc {
    record: Vec<u8>,
    length: u32,
    end: usize,
}

impl Builder {
    /// How many pages it holds.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// How many bytes of text it has seen.
    pub fn text(&self) -> usize {
        self.text
    }

    /// Adds a page; `oid` is its blob.
    pub fn add(&mut self, page: &Page, oid: &[u8]) {
        self.place = 0;
        let front = &page.front;
        let mut length = 0;
        for text in front.title.iter().chain(&front.description).chain(&front.when_to_use).chain(&front.tags) {
            length += self.add_text(text);
        }
        length += self.add_text(&page.body);
        self.docs.push(Doc { record: record(page, oid), length, end: self.tokens.len() });
    }

    /// Adds a text; gives how many words it has.
    fn add_text(&mut self, text: &str) -> u32 {
        let text = &text[..text.floor_char_boundary(MOST_TEXT)];
        self.text += text.len();
        let begin = self.place;
        for (_, word) in words(text) {
            let known = self.known(word);
            let terms = &self.parts[known.from as usize..known.to as usize];
            self.tokens.extend(terms.iter().map(|&(term, at)| (term, self.place + at + 1)));
            self.place += known.places;
        }
        let length = self.place - begin;
        self.place += APART;
        length
    }

    /// The terms of a word.
    fn known(&mut self, word: &str) -> Known {
        let (id, is_new) = self.words.id(word);
        if !is_new {
            return self.known[id as usize];
        }
        let from = self.parts.len() as u32;
        let mut split = std::mem::take(&mut self.split);
        split.read(word);
        for (piece, at, parts) in split.pieces() {
            // Most smallest parts are words that were met alone, and need no stemming again.
            let met = if parts == 1 && piece != word { self.words.find(piece) } else { None };
            match met.and_then(|id| self.known.get(id as usize)) {
                Some(known) if known.to == known.from + 1 => self.parts.push((self.parts[known.from as usize].0, at)),
                _ => terms_of(piece, parts, |term| self.parts.push((self.terms.id(term).0, at))),
            }
        }
        let known = Known { from, to: self.parts.len() as u32, places: split.parts };
        self.split = split;
        self.known.push(known);
        known
    }

    /// The segment's bytes, as [`Segment`](super::segment::Segment) reads them.
    pub fn finish(self) -> Vec<u8> {
        let mut records = Vec::new();
        let mut starts = Vec::with_capacity(self.docs.len() * 4);
        let mut lengths = Vec::with_capacity(self.docs.len() * 4);
        for doc in &self.docs {
            starts.extend_from_slice(&(records.len() as u32).to_le_bytes());
            records.extend_from_slice(&doc.record);
            lengths.extend_from_slice(&doc.length.to_le_bytes());
        }
        let (sorted, ends) = self.by_term();
        let order = self.terms.in_order();
        let mut blocks = Vec::new();
        let mut names = Vec::new();
        let mut postings = Vec::with_capacity(sorted.len() * 2);
        let mut before = "";
        for (n, &id) in order.iter().enumerate() {
            let term = self.terms.name(id);
            let mut shared = 0;
            if n % BLOCK == 0 {
                blocks.extend_from_slice(&(names.len() as u32).to_le_bytes());
                put_number(&mut names, postings.len() as u32);
            } else {
                shared = before.bytes().zip(term.bytes()).take_while(|(a, b)| a == b).count();
                put_number(&mut names, shared as u32);
            }
            put_text(&mut names, &term.as_bytes()[shared..]);
            let start = postings.len();
            let from = if id == 0 { 0 } else { ends[id as usize - 1] };
            put_postings(&mut postings, &sorted[from..ends[id as usize]]);
            put_number(&mut names, (postings.len() - start) as u32);
            before = term;
        }

        let parts = [&starts, &records, &lengths, &blocks, &names, &postings];
        let mut out = Vec::with_capacity(parts.iter().map(|part| part.len() + 4).sum::<usize>() + 8);
        out.extend_from_slice(&(self.docs.len() as u32).to_le_bytes());
        out.extend_from_slice(&(order.len() as u32).to_le_bytes());
        for part in parts {
            out.extend_from_slice(&(part.len() as u32).to_le_bytes());
        }
        for part in parts {
            out.extend_from_slice(part);
        }
        out
    }

    /// Every token as page (from 0) and place, by term and then as they came; and where each term's end.
    fn by_term(&self) -> (Vec<(u32, u32)>, Vec<usize>) {
        let mut ends = vec![0; self.terms.len()];
        for (term, _) in &self.tokens {
            ends[*term as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut sorted = vec![(0, 0); self.tokens.len()];
        let mut from = 0;
        for (number, doc) in self.docs.iter().enumerate() {
            for (term, place) in &self.tokens[from..doc.end] {
                let next = &mut ends[*term as usize];
                sorted[*next] = (number as u32, *place);
                *next += 1;
            }
            from = doc.end;
        }
        (sorted, ends)
    }
}

/// A term's postings: each page as its distance from the one before (the first is 1), then its places, each the distance
/// from the one before, then 0 unless it is the last page.
fn put_postings(out: &mut Vec<u8>, tokens: &[(u32, u32)]) {
    let (mut page, mut last) = (0, 0);
    for &(doc, place) in tokens {
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
fn record(page: &Page, oid: &[u8]) -> Vec<u8> {
    let front = &page.front;
    let mut out = Vec::with_capacity(page.path.len() + page.title.len() + oid.len() + 16);
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
    put_text(&mut out, oid);
    put_text(&mut out, &page.path);
    for text in [Some(&page.title), front.superseded_by.as_ref(), front.description.as_ref()] {
        put_text(&mut out, text.map_or(&[], |text| text.as_bytes()));
    }
    out
}
