//! How well pages fit a query: BM25 over all their words, where a word also stands for its neighbours in meaning.
//!
//! A page counts, for each word of the query, the better of the word itself and its neighbours, not their sum: a page that
//! holds ten neighbours is not ten times as relevant. The neighbours lift nDCG@10 on queries in other words than the
//! pages' by some four hundredths, and cost those in the pages' own words nothing that can be told from chance.
//!
//! Extra weight for words of the title, the description, tags, headings or the path only lost on judged queries (0.2 to
//! 2 points of nDCG@10 each), so there is none.

use super::index::{Bits, Index};
use super::query::{Clause, Query, Wanted};
use super::related::related;
use super::segment::{Posting, Postings, Segment};

/// From how many occurrences on another adds little.
const ENOUGH: f64 = 1.2;

/// How much a page's length counts against a word in it, 0 to 1.
const LENGTH: f64 = 0.9;

/// What a word counts in the stead of one that means nearly the same, times how near they are.
const NEAR: f64 = 0.6;

/// Most neighbours of a word.
const MOST_NEAR: usize = 16;

/// A word needs none that more than this part of the pages has.
const COMMON: usize = 4;

/// A page of an index: the number of its segment and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct At {
    pub segment: usize,
    pub doc: u32,
}

/// What a query found.
pub(super) struct Found {
    /// Every page that has something of it, with how well it fits; in the index's order.
    pub pages: Vec<(At, f64)>,
    /// What came of each clause.
    pub clauses: Vec<Fitting>,
    /// Which of the phrases no page has.
    pub absent_phrases: Vec<usize>,
}

/// What came of one clause.
#[derive(Default)]
pub(super) struct Fitting {
    /// What it adds to which page, in the index's order.
    pub pages: Vec<(At, f64)>,
    /// What it counts at most: the more the fewer pages have it.
    pub worth: f64,
    /// The words of pages that count for it too, and what share of it.
    pub near: Vec<(&'static str, f64)>,
}

/// Ranks every page that has something of the query. Where some page has all phrases, only such pages count.
pub(super) fn score(index: &Index, query: &Query) -> Found {
    let segments = index.segments();
    let sizes = Sizes::of(&segments);
    let mut totals: Vec<Vec<f64>> = segments.iter().map(|(segment, _)| vec![0.0; segment.docs as usize]).collect();
    let clauses: Vec<Fitting> = query.clauses.iter().map(|clause| fitting(&segments, &sizes, clause)).collect();
    for (at, adds) in clauses.iter().flat_map(|clause| &clause.pages) {
        totals[at.segment][at.doc as usize] += adds;
    }
    let phrases: Vec<usize> = (0..clauses.len()).filter(|&n| query.clauses[n].is_phrase()).collect();
    let has = |n: usize, at: &At| clauses[n].adds(*at) > 0.0;
    let all = totals.iter().enumerate().flat_map(|(segment, docs)| {
        docs.iter().enumerate().map(move |(doc, total)| (At { segment, doc: doc as u32 }, *total))
    });
    let mut pages: Vec<(At, f64)> = all.filter(|(_, total)| *total > 0.0).collect();
    if pages.iter().any(|(at, _)| phrases.iter().all(|&n| has(n, at))) {
        pages.retain(|(at, _)| phrases.iter().all(|&n| has(n, at)));
    }
    let absent_phrases = phrases.into_iter().filter(|&n| clauses[n].pages.is_empty()).collect();
    Found { pages, clauses, absent_phrases }
}

impl Fitting {
    /// What it adds to a page.
    pub fn adds(&self, at: At) -> f64 {
        self.pages.binary_search_by_key(&at, |(at, _)| *at).map_or(0.0, |n| self.pages[n].1)
    }
}

/// The pages that have a clause, or words near to it in meaning: each counts for the better of the two.
fn fitting(segments: &[(Segment<'_>, &Bits)], sizes: &Sizes, clause: &Clause) -> Fitting {
    let mut pages = having(segments, sizes, &clause.wanted);
    let rarity = sizes.rarity(pages.len());
    let known = !pages.is_empty();
    // Words of most pages, such as `the`, need no help.
    let common = pages.len() > sizes.pages / COMMON;
    scale(&mut pages, clause.weight * rarity);
    let mut found = Fitting { pages, worth: clause.weight * rarity, near: Vec::new() };
    let Wanted::Term(term) = &clause.wanted else { return found };
    if common {
        return found;
    }
    for (near, cosine) in related(term) {
        let mut pages = having(segments, sizes, &Wanted::Term(near.to_owned()));
        if pages.is_empty() {
            continue;
        }
        let other = sizes.rarity(pages.len());
        // A rare neighbour must not outweigh the word that was asked for.
        let share = NEAR * cosine * if known { (rarity / other).min(1.0) } else { 1.0 };
        scale(&mut pages, clause.weight * share * other);
        found.pages.extend(pages);
        found.near.push((near, share));
        if found.near.len() == MOST_NEAR {
            break;
        }
    }
    if !found.near.is_empty() {
        found.pages.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        found.pages.dedup_by_key(|(at, _)| *at);
    }
    found
}

/// The living pages that have what is wanted, with what its occurrences there come to, in the index's order.
fn having(segments: &[(Segment<'_>, &Bits)], sizes: &Sizes, wanted: &Wanted) -> Vec<(At, f64)> {
    let mut pages = Vec::new();
    for (number, (segment, dead)) in segments.iter().enumerate() {
        occurrences(segment, dead, wanted, |doc, count| {
            pages.push((At { segment: number, doc }, sizes.weight(count, segment.length(doc))));
        });
    }
    pages
}

fn scale(pages: &mut [(At, f64)], by: f64) {
    pages.iter_mut().for_each(|(_, weight)| *weight *= by);
}

/// How many pages there are and how long they are.
struct Sizes {
    pages: usize,
    mean: f64,
}

impl Sizes {
    fn of(segments: &[(Segment<'_>, &Bits)]) -> Sizes {
        let (mut pages, mut words) = (0usize, 0u64);
        for (segment, dead) in segments {
            for doc in (0..segment.docs).filter(|&doc| !dead.has(doc)) {
                pages += 1;
                words += u64::from(segment.length(doc));
            }
        }
        Sizes { pages, mean: (words as f64 / pages.max(1) as f64).max(1.0) }
    }

    /// What so many occurrences in a page of this length come to.
    fn weight(&self, count: usize, length: u32) -> f64 {
        let longer = 1.0 - LENGTH + LENGTH * f64::from(length) / self.mean;
        let count = count as f64;
        count * (ENOUGH + 1.0) / (count + ENOUGH * longer)
    }

    /// What a word counts that so many pages have.
    fn rarity(&self, having: usize) -> f64 {
        let (all, having) = (self.pages as f64, having as f64);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }
}

/// Calls `each` for every living page that has what is wanted, in order, with how often it has that.
fn occurrences(segment: &Segment<'_>, dead: &Bits, wanted: &Wanted, mut each: impl FnMut(u32, usize)) {
    let living = |posting: &Posting<'_>| posting.doc < segment.docs && !dead.has(posting.doc);
    match wanted {
        Wanted::Term(term) => {
            for posting in segment.term(term).into_iter().flat_map(Postings::iter).filter(living) {
                each(posting.doc, posting.count());
            }
        }
        Wanted::Prefix { begins, stems } => {
            let mut lists = segment.prefix(begins);
            lists.extend(stems.iter().filter_map(|stem| segment.term(stem)));
            let mut counts = vec![0; segment.docs as usize];
            for posting in lists.into_iter().flat_map(Postings::iter).filter(living) {
                counts[posting.doc as usize] += posting.count();
            }
            for (doc, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
                each(doc as u32, count);
            }
        }
        Wanted::Phrase(row) => in_a_row(segment, row, |doc, count| {
            if doc < segment.docs && !dead.has(doc) {
                each(doc, count);
            }
        }),
    }
}

/// The pages that have these terms one behind the other.
fn in_a_row(segment: &Segment<'_>, row: &[String], mut each: impl FnMut(u32, usize)) {
    let mut lists = Vec::with_capacity(row.len());
    for term in row {
        let Some(postings) = segment.term(term) else { return };
        lists.push(postings.iter().peekable());
    }
    let Some((first, rest)) = lists.split_first_mut() else { return };
    'pages: for start in first {
        let mut others = Vec::with_capacity(rest.len());
        for list in rest.iter_mut() {
            while list.next_if(|posting| posting.doc < start.doc).is_some() {}
            let Some(posting) = list.next_if(|posting| posting.doc == start.doc) else { continue 'pages };
            others.push(posting.places().collect::<Vec<u32>>());
        }
        let follows = |place: &u32| {
            others.iter().enumerate().all(|(n, places)| places.binary_search(&(place + n as u32 + 1)).is_ok())
        };
        let count = start.places().filter(follows).count();
        if count > 0 {
            each(start.doc, count);
        }
    }
}
