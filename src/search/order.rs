//! From pages that fit to the order in which they are served.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use bstr::{BStr, BString, ByteSlice};

use super::ask::{Ask, Signals};
use super::index::Index;
use super::score::{At, Found};
use super::segment::Doc;
use crate::config::Priors;
use crate::wiki::links::{Index as Names, Resolved, Target, without_extension};
use crate::wiki::path::fold;
use crate::wiki::{Kind, Status, Wiki};

/// How much the best utility adds to a text's score, and the worst takes from it.
const UTILITY: f64 = 0.2;

/// The prior for which a page moves by one place; from one and a half of it on, by two.
const PLACE: f64 = 0.05;

/// Most places by which a prior moves a page.
const MOST_PLACES: i32 = 2;

/// How many times its own text score a page must have for no prior to move another above it.
const OUT_OF_REACH: f64 = 2.0;

/// A page that fits, with what its place depends on.
pub(super) struct Candidate<'i> {
    pub at: At,
    pub doc: Doc<'i>,
    pub kind: Option<Kind>,
    pub scope: &'i str,
    /// How well the text fits.
    pub text: f64,
    /// What utility makes of that.
    pub utility: f64,
    pub prior: f64,
    /// By how many places the prior moves it up.
    pub moved: i32,
    /// The page that was found in its stead.
    pub stands_for: Option<&'i BStr>,
}

impl Candidate<'_> {
    /// What it is ordered by before priors.
    pub fn score(&self) -> f64 {
        self.text * self.utility
    }
}

/// The pages of an index by their paths.
type Paths<'i> = HashMap<&'i BStr, (At, Doc<'i>)>;

/// The pages that may be served, best first, before priors.
pub(super) fn candidates<'i>(
    wiki: &'i Wiki,
    index: &'i Index,
    found: &Found,
    ask: &Ask<'_>,
    signals: &Signals,
) -> Vec<Candidate<'i>> {
    let segments = index.segments();
    let mut paths: Option<Paths<'i>> = None;
    let mut names: Option<Names> = None;
    let mut all: Vec<Candidate<'i>> = Vec::with_capacity(found.pages.len());
    let mut stand_ins: Vec<(At, Doc<'i>, f64, &'i BStr)> = Vec::new();
    for &(at, text) in &found.pages {
        let Some(doc) = segments.get(at.segment).and_then(|(segment, _)| segment.doc(at.doc)) else { continue };
        let valid = matches!(doc.status, Status::Active | Status::Stale);
        if valid && doc.successor.is_empty() {
            all.push(candidate(wiki, at, doc, text, None));
            continue;
        }
        let paths = paths.get_or_insert_with(|| heirs(index));
        match successor(doc, paths, &mut names) {
            Some((heir, heir_doc)) => stand_ins.push((heir, heir_doc, text, doc.path)),
            // It names a page that is not there, but calls itself valid.
            None if valid => all.push(candidate(wiki, at, doc, text, None)),
            None => {}
        }
    }
    stand_in(wiki, &mut all, stand_ins);
    all.retain(|page| {
        ask.scope.is_none_or(|scope| page.scope == scope)
            && (ask.kinds.is_empty() || page.kind.is_some_and(|kind| ask.kinds.contains(&kind)))
    });
    for page in &mut all {
        let path: &BStr = page.doc.path;
        if let Some(utility) = signals.utility.get(path) {
            page.utility = 1.0 + UTILITY * (utility.clamp(0.0, 1.0) * 2.0 - 1.0);
        }
        if signals.mode != Priors::Off {
            page.prior = signals.priors.get(path).copied().unwrap_or_default();
        }
    }
    let is_session = |page: &Candidate<'_>| ask.kinds.is_empty() && page.kind == Some(Kind::Session);
    all.sort_unstable_by(|a, b| {
        is_session(a)
            .cmp(&is_session(b))
            .then_with(|| b.score().partial_cmp(&a.score()).unwrap_or(Ordering::Equal))
            .then_with(|| a.doc.path.cmp(b.doc.path))
    });
    all
}

/// Serves successors in the stead of what they replaced, each once, for the better of its texts.
fn stand_in<'i>(wiki: &'i Wiki, all: &mut Vec<Candidate<'i>>, heirs: Vec<(At, Doc<'i>, f64, &'i BStr)>) {
    if heirs.is_empty() {
        return;
    }
    let mut places: HashMap<At, usize> = all.iter().enumerate().map(|(n, page)| (page.at, n)).collect();
    for (at, doc, text, old) in heirs {
        match places.get(&at) {
            Some(&n) if all[n].text >= text => {}
            Some(&n) => (all[n].text, all[n].stands_for) = (text, Some(old)),
            None => {
                places.insert(at, all.len());
                all.push(candidate(wiki, at, doc, text, Some(old)));
            }
        }
    }
}

fn candidate<'i>(wiki: &'i Wiki, at: At, doc: Doc<'i>, text: f64, stands_for: Option<&'i BStr>) -> Candidate<'i> {
    let (kind, scope) = place(wiki, &doc);
    Candidate { at, doc, kind, scope, text, utility: 1.0, prior: 0.0, moved: 0, stands_for }
}

/// A page's kind and scope: what its folder says, as the settings are now.
pub(super) fn place<'i>(wiki: &'i Wiki, doc: &Doc<'_>) -> (Option<Kind>, &'i str) {
    let path = doc.path.to_str_lossy();
    let scope = wiki.scopes.of_page(&path);
    let local = match scope.path.is_empty() {
        true => &*path,
        false => path.strip_prefix(scope.path.as_str()).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&path),
    };
    (wiki.layout.kind_of(local).or(doc.kind), &scope.name)
}

/// The pages that some page could name as its successor: those whose file is called so.
fn heirs(index: &Index) -> Paths<'_> {
    let segments = index.segments();
    let all = || {
        segments.iter().enumerate().flat_map(|(number, (segment, dead))| {
            let living = (0..segment.docs).filter(|&doc| !dead.has(doc));
            living.filter_map(move |doc| Some((At { segment: number, doc }, segment.doc(doc)?)))
        })
    };
    let called: HashSet<String> =
        all().filter(|(_, doc)| !doc.successor.is_empty()).map(|(_, doc)| file_name(doc.successor)).collect();
    let mut name = String::new();
    let mut is_called = |doc: &Doc<'_>| {
        let path = doc.path.to_str_lossy();
        if !path.is_ascii() {
            return called.contains(&file_name(&path));
        }
        // All that folding does to most paths, without a text for each.
        name.clear();
        name.push_str(path.rsplit('/').next().unwrap_or_default());
        name.make_ascii_lowercase();
        called.contains(without_extension(&name))
    };
    all().filter(|(_, doc)| is_called(doc)).map(|(at, doc)| (doc.path, (at, doc))).collect()
}

/// The name of a file as links know it.
fn file_name(path: &str) -> String {
    let folded = fold(path.trim_matches('/').as_bytes().as_bstr());
    without_extension(folded.rsplit('/').next().unwrap_or_default()).to_owned()
}

/// The page at the end of a chain of successors; none when the chain breaks off, turns in a circle or ends at a page
/// that is retired.
fn successor<'i>(first: Doc<'i>, paths: &Paths<'i>, names: &mut Option<Names>) -> Option<(At, Doc<'i>)> {
    let mut seen = vec![first.path];
    let mut at = first;
    loop {
        let (heir, doc) = named(at, paths, names)?;
        if seen.contains(&doc.path) {
            return None;
        }
        if doc.successor.is_empty() {
            return matches!(doc.status, Status::Active | Status::Stale).then_some((heir, doc));
        }
        seen.push(doc.path);
        at = doc;
    }
}

/// The page that another names as its successor: by its path, or as a link would.
fn named<'i>(page: Doc<'i>, paths: &Paths<'i>, names: &mut Option<Names>) -> Option<(At, Doc<'i>)> {
    let written = page.successor;
    if written.is_empty() {
        return None;
    }
    for path in [written.to_owned(), format!("{written}.md")] {
        if let Some(found) = paths.get(path.as_bytes().as_bstr()) {
            return Some(*found);
        }
    }
    let names = names.get_or_insert_with(|| {
        let all: Vec<BString> = paths.keys().map(|path| (*path).to_owned()).collect();
        Names::new(&all)
    });
    for target in [Target::Name(written.to_owned()), Target::Path(written.to_owned())] {
        if let Resolved::One(path) = names.resolve(page.path, &target) {
            return paths.get(path.as_bstr()).copied();
        }
    }
    None
}

/// The order with priors: places of `pages`, best first. A page moves by at most two places, and never above one whose
/// text fits twice as well.
pub(super) fn with_priors(pages: &mut [Candidate<'_>]) -> Vec<usize> {
    let wish = |prior: f64| ((prior / PLACE).round() as i32).clamp(-MOST_PLACES, MOST_PLACES);
    let mut order: Vec<(usize, i32)> = pages.iter().enumerate().map(|(n, page)| (n, wish(page.prior))).collect();
    for _ in 0..MOST_PLACES {
        let mut at = 0;
        while at + 1 < order.len() {
            let ((above, down), (below, up)) = (order[at], order[at + 1]);
            let wished = up > down && (up > 0 || down < 0);
            let session = |n: usize| pages[n].kind == Some(Kind::Session);
            let reachable = pages[above].text < OUT_OF_REACH * pages[below].text && session(above) == session(below);
            if wished && reachable {
                // What it wished for is fulfilled by one place.
                order[at] = (below, if up > 0 { up - 1 } else { up });
                order[at + 1] = (above, if down < 0 { down + 1 } else { down });
                at += 1;
            }
            at += 1;
        }
    }
    for (place, (n, _)) in order.iter().enumerate() {
        pages[*n].moved = *n as i32 - place as i32;
    }
    order.into_iter().map(|(n, _)| n).collect()
}
