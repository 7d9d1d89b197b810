//! Making a segment from pages.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::bytes::{put_number, put_text};
use super::segment::BLOCK;
use super::words::{terms, words};
use crate::wiki::{Kind, Page, Status};

/// Most bytes of one field that are indexed.
const MOST_TEXT: usize = 1 << 20;

/// Longest word whose terms are remembered.
const LONGEST_KNOWN: usize = 64;

/// How far the texts of a page stand apart, so that no phrase reaches from one into the next.
const APART: u32 = 8;

/// Collects pages.
#[derive(Default)]
pub(super) struct Builder {
    known: HashMap<Box<str>, Known, RandomState>,
    /// The terms of known words, each with its place in the word.
    parts: Vec<(u32, u32)>,
    ids: HashMap<Box<str>, u32, RandomState>,
    postings: Vec<Posting>,
    docs: Vec<Vec<u8>>,
    /// How many words each page has.
    lengths: Vec<u32>,
    /// The place of the next word in the page.
    place: u32,
    /// Bytes of text so far.
    text: usize,
}

/// The terms of a word that was met before.
#[derive(Clone, Copy)]
struct Known {
    from: u32,
    to: u32,
    parts: u32,
}

/// Where a term stands, so far.
#[derive(Default)]
struct Posting {
    /// The last page, counted from 1.
    doc: u32,
    /// The last place in it, counted from 1.
    place: u32,
    bytes: Vec<u8>,
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
        if front.title.is_some() {
            length += self.text_of(&page.title);
        }
        for text in front.description.iter().chain(&front.when_to_use).chain(&front.tags) {
            length += self.text_of(text);
        }
        length += self.text_of(&page.body);
        self.docs.push(record(page, oid));
        self.lengths.push(length);
    }

    /// Adds a text; gives how many words it has.
    fn text_of(&mut self, text: &str) -> u32 {
        let text = &text[..text.floor_char_boundary(MOST_TEXT)];
        self.text += text.len();
        let begin = self.place;
        for (_, word) in words(text) {
            self.word(word);
        }
        let length = self.place - begin;
        self.place += APART;
        length
    }

    fn word(&mut self, word: &str) {
        let known = match self.known.get(word) {
            Some(&known) => known,
            None => self.learn(word),
        };
        let doc = self.docs.len() as u32 + 1;
        for &(id, at) in &self.parts[known.from as usize..known.to as usize] {
            self.postings[id as usize].push(doc, self.place + at + 1);
        }
        self.place += known.parts;
        if word.len() > LONGEST_KNOWN {
            self.parts.truncate(known.from as usize);
        }
    }

    /// Takes a word apart. One that is too long to be remembered leaves its terms at the end of `parts`.
    fn learn(&mut self, word: &str) -> Known {
        let terms = terms(word);
        let from = self.parts.len() as u32;
        for term in terms.all {
            let next = self.postings.len() as u32;
            let id = match self.ids.get(term.text.as_str()) {
                Some(&id) => id,
                None => {
                    self.ids.insert(term.text.into(), next);
                    self.postings.push(Posting::default());
                    next
                }
            };
            self.parts.push((id, term.at));
        }
        let known = Known { from, to: self.parts.len() as u32, parts: terms.parts };
        if word.len() <= LONGEST_KNOWN {
            self.known.insert(word.into(), known);
        }
        known
    }

    /// The segment's bytes, as [`Segment`](super::segment::Segment) reads them.
    pub fn finish(self) -> Vec<u8> {
        let mut terms: Vec<(&str, &Posting)> =
            self.ids.iter().map(|(term, &id)| (&**term, &self.postings[id as usize])).collect();
        terms.sort_unstable_by_key(|(term, _)| *term);

        let mut records = Vec::new();
        let mut starts = Vec::with_capacity(self.docs.len() * 4);
        for record in &self.docs {
            starts.extend_from_slice(&(records.len() as u32).to_le_bytes());
            records.extend_from_slice(record);
        }
        let lengths: Vec<u8> = self.lengths.iter().flat_map(|length| length.to_le_bytes()).collect();

        let mut blocks = Vec::new();
        let mut names = Vec::new();
        let mut postings: Vec<u8> = Vec::with_capacity(terms.iter().map(|(_, posting)| posting.bytes.len()).sum());
        let mut before = "";
        for (n, (term, posting)) in terms.iter().enumerate() {
            let mut shared = 0;
            if n % BLOCK == 0 {
                blocks.extend_from_slice(&(names.len() as u32).to_le_bytes());
                put_number(&mut names, postings.len() as u32);
            } else {
                shared = before.bytes().zip(term.bytes()).take_while(|(a, b)| a == b).count();
                put_number(&mut names, shared as u32);
            }
            put_text(&mut names, &term.as_bytes()[shared..]);
            put_number(&mut names, posting.bytes.len() as u32);
            postings.extend_from_slice(&posting.bytes);
            before = term;
        }

        let parts = [&starts, &records, &lengths, &blocks, &names, &postings];
        let mut out = Vec::with_capacity(parts.iter().map(|part| part.len() + 4).sum::<usize>() + 8);
        out.extend_from_slice(&(self.docs.len() as u32).to_le_bytes());
        out.extend_from_slice(&(terms.len() as u32).to_le_bytes());
        for part in parts {
            out.extend_from_slice(&(part.len() as u32).to_le_bytes());
        }
        for part in parts {
            out.extend_from_slice(part);
        }
        out
    }
}

impl Posting {
    /// A page is its distance from the one before, then its places, each the distance from the one before, then 0
    /// before the next page.
    fn push(&mut self, doc: u32, place: u32) {
        if doc != self.doc {
            if self.doc > 0 {
                self.bytes.push(0);
            }
            put_number(&mut self.bytes, doc - self.doc);
            (self.doc, self.place) = (doc, 0);
        }
        put_number(&mut self.bytes, place - self.place);
        self.place = place;
    }
}

/// What is kept of a page beside its words.
fn record(page: &Page, oid: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(page.path.len() + page.title.len() + oid.len() + 8);
    let kind = page.front.kind.and_then(|kind| Kind::ALL.iter().position(|other| *other == kind));
    out.push(kind.map_or(0, |place| place as u8 + 1));
    out.push(match page.front.status {
        Status::Active => 0,
        Status::Stale => 1,
        Status::Superseded => 2,
        Status::Retired => 3,
    });
    put_text(&mut out, oid);
    put_text(&mut out, &page.path);
    put_text(&mut out, page.title.as_bytes());
    put_text(&mut out, page.front.superseded_by.as_deref().unwrap_or_default().as_bytes());
    out
}
