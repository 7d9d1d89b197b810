//! A segment: some pages of an index with all their terms. Its bytes never change once they are written.
//!
//! ```text
//! pages, terms, and the lengths of the six parts     each a number of four bytes, little endian
//! starts      where each page's record begins        four bytes each
//! records     kind, status, pinned, priority, blob, path, title, successor, description
//! lengths     words of each page                     four bytes each
//! blocks      where each block of 16 terms begins    four bytes each
//! names       blocks: where the first term's postings begin; then the terms in order, each with how much
//!             it shares with the one before, the rest of it, and how long its postings are
//! postings    for each term, for each page: its distance from the page before, places, 0
//! ```

use bstr::{BStr, ByteSlice};

use super::bytes::{Cursor, word_at};
use crate::wiki::{Kind, Status};

/// How many terms share one entry of the table that is searched.
pub(super) const BLOCK: usize = 16;

/// A segment, read in place.
#[derive(Clone, Copy)]
pub(super) struct Segment<'b> {
    /// How many pages it has.
    pub docs: u32,
    terms: u32,
    starts: &'b [u8],
    records: &'b [u8],
    lengths: &'b [u8],
    blocks: &'b [u8],
    names: &'b [u8],
    postings: &'b [u8],
}

/// What is kept of a page beside its words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Doc<'b> {
    /// The kind that its frontmatter names.
    pub kind: Option<Kind>,
    /// Its status.
    pub status: Status,
    /// Its blob's id.
    pub oid: &'b [u8],
    /// Relative to the wiki's root.
    pub path: &'b BStr,
    /// Its title.
    pub title: &'b str,
    /// The page that took its place, as written; empty: none.
    pub successor: &'b str,
    /// Its description; empty: none.
    pub description: &'b str,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Its priority, where it has one.
    pub priority: Option<u8>,
}

/// Where a term stands.
#[derive(Clone, Copy)]
pub(super) struct Postings<'b> {
    bytes: &'b [u8],
}

/// One page in which a term stands.
pub(super) struct Posting<'b> {
    /// The page's number in its segment.
    pub doc: u32,
    places: Cursor<'b>,
}

impl<'b> Segment<'b> {
    /// Looks at a segment's bytes; `None` when they are none.
    pub fn read(bytes: &'b [u8]) -> Option<Segment<'b>> {
        let mut cursor = Cursor::new(bytes);
        let (docs, terms) = (cursor.word()?, cursor.word()?);
        let mut sizes = [0; 6];
        for size in &mut sizes {
            *size = cursor.word()? as usize;
        }
        let mut part = |n: usize| cursor.take(sizes[n]);
        let segment = Segment {
            docs,
            terms,
            starts: part(0)?,
            records: part(1)?,
            lengths: part(2)?,
            blocks: part(3)?,
            names: part(4)?,
            postings: part(5)?,
        };
        let fits = segment.starts.len() == docs as usize * 4
            && segment.lengths.len() == docs as usize * 4
            && segment.blocks.len() == (terms as usize).div_ceil(BLOCK) * 4;
        fits.then_some(segment)
    }

    /// A page's record.
    pub fn doc(&self, doc: u32) -> Option<Doc<'b>> {
        let start = word_at(self.starts, doc)?;
        let mut cursor = Cursor::new(self.records.get(start as usize..)?);
        let [kind, status, pinned, priority] = *cursor.take(4)? else { return None };
        Some(Doc {
            kind: usize::from(kind).checked_sub(1).and_then(|place| Kind::ALL.get(place).copied()),
            status: match status {
                1 => Status::Stale,
                2 => Status::Superseded,
                3 => Status::Retired,
                _ => Status::Active,
            },
            pinned: pinned == 1,
            priority: priority.checked_sub(1),
            oid: cursor.text()?,
            path: cursor.text()?.as_bstr(),
            title: cursor.text()?.to_str().ok()?,
            successor: cursor.text()?.to_str().ok()?,
            description: cursor.text()?.to_str().ok()?,
        })
    }

    /// How many words a page has.
    pub fn length(&self, doc: u32) -> u32 {
        word_at(self.lengths, doc).unwrap_or_default()
    }

    /// Where a term stands; `None` where it does not.
    pub fn term(&self, term: &str) -> Option<Postings<'b>> {
        let mut found = None;
        self.from(term, |name, postings| {
            if name == term.as_bytes() {
                found = Some(postings);
            }
            false
        });
        found
    }

    /// Where each term that begins so stands.
    pub fn prefix(&self, prefix: &str) -> Vec<Postings<'b>> {
        let mut found = Vec::new();
        self.from(prefix, |name, postings| {
            let begins = name.starts_with(prefix.as_bytes());
            if begins {
                found.push(postings);
            }
            begins
        });
        found
    }

    /// Goes through the terms from the first that is not below `term` on, while `more` says so.
    fn from(&self, term: &str, mut more: impl FnMut(&[u8], Postings<'b>) -> bool) {
        let blocks = (self.terms as usize).div_ceil(BLOCK) as u32;
        // The last block whose first term is not above the one that is looked for.
        let (mut low, mut high) = (0, blocks);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.first_of(middle) {
                Some(name) if name <= term.as_bytes() => low = middle + 1,
                _ => high = middle,
            }
        }
        let mut name = Vec::new();
        for block in low.saturating_sub(1)..blocks {
            let Some(()) =
                self.block(block, &mut name, |name, postings| name < term.as_bytes() || more(name, postings))
            else {
                return;
            };
        }
    }

    fn first_of(&self, block: u32) -> Option<&'b [u8]> {
        let mut cursor = Cursor::new(self.names.get(word_at(self.blocks, block)? as usize..)?);
        cursor.number()?;
        cursor.text()
    }

    /// Goes through one block; `None` when it ends early or `more` had enough.
    fn block(&self, block: u32, name: &mut Vec<u8>, mut more: impl FnMut(&[u8], Postings<'b>) -> bool) -> Option<()> {
        let mut cursor = Cursor::new(self.names.get(word_at(self.blocks, block)? as usize..)?);
        let mut start = cursor.number()? as usize;
        name.clear();
        let count = BLOCK.min(self.terms as usize - block as usize * BLOCK);
        for n in 0..count {
            let shared = if n == 0 { 0 } else { cursor.number()? as usize };
            name.truncate(shared);
            name.extend_from_slice(cursor.text()?);
            let length = cursor.number()? as usize;
            let bytes = self.postings.get(start..start.checked_add(length)?)?;
            start += length;
            if !more(name, Postings { bytes }) {
                return None;
            }
        }
        Some(())
    }
}

impl<'b> Postings<'b> {
    /// The pages in order.
    pub fn iter(self) -> impl Iterator<Item = Posting<'b>> {
        let mut rest = Cursor::new(self.bytes);
        let mut doc = 0u32;
        std::iter::from_fn(move || {
            doc = doc.checked_add(rest.number()?)?;
            let places = rest;
            while rest.number().is_some_and(|code| code != 0) {}
            Some(Posting { doc: doc.checked_sub(1)?, places })
        })
    }
}

impl Posting<'_> {
    /// How often the term stands in the page.
    pub fn count(&self) -> usize {
        self.places().count()
    }

    /// The places in order, counted from 1.
    pub fn places(&self) -> impl Iterator<Item = u32> {
        let mut rest = self.places;
        let mut place = 0u32;
        std::iter::from_fn(move || {
            place = place.checked_add(rest.number().filter(|code| *code != 0)?)?;
            Some(place)
        })
    }
}
