//! Search: the pages of a wiki's tree, ranked for a query.
//!
//! `words.rs` says what a word is, for pages and queries alike. `build.rs` makes segments of pages, `segment.rs` reads
//! them, `index.rs` keeps an index of the branch's tree up to date in the files of `store.rs`. `query.rs` reads a
//! query, `score.rs` says how well pages fit, `order.rs` who is served in which order, `snippet.rs` what to show.

mod ask;
mod build;
mod bytes;
mod index;
mod order;
mod query;
mod score;
mod segment;
mod snippet;
mod stem;
mod store;
mod words;

use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

pub use ask::{Answer, Ask, Factors, Hit, Origin, Signals};

use self::index::Index;
use self::order::Candidate;
use self::query::Query;
use self::score::Found;
use self::snippet::Marker;
use crate::config::Priors;
use crate::git::{self, Mode, Oid};
use crate::wiki::Wiki;
use crate::wiki::scope::{GLOBAL, Unresolved};

/// Why a search has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// The query holds nothing that could be looked for.
    #[error("the query holds no word")]
    NoWords,
}

/// Searches.
///
/// # Errors
/// [`Error::NoWords`] for a query without a letter or a digit, [`Error::Git`] when the tree or a page of it cannot be
/// read. An index that is missing, damaged or cannot be written is no error.
pub fn search(wiki: &Wiki, ask: &Ask<'_>, signals: &Signals) -> Result<Answer, Error> {
    let query = Query::read(ask.text);
    if query.clauses.is_empty() {
        return Err(Error::NoWords);
    }
    let tree = root_tree(wiki, ask.at)?;
    let opened = Index::open(wiki, tree, ask.at.is_none())?;
    let found = score::score(&opened.index, &query);
    let mut pages = order::candidates(wiki, &opened.index, &found, ask, signals);
    let candidates = pages.len();
    // A prior lifts a page by two places at most: nothing below these can come into the answer.
    pages.truncate(ask.limit.saturating_add(2));
    let with_priors = order::with_priors(&mut pages);
    let path = |n: &usize| pages[*n].doc.path.to_owned();
    let shadow: Vec<BString> = with_priors.iter().take(ask.limit).map(path).collect();
    let served: Vec<usize> = match signals.mode {
        Priors::Serve => with_priors,
        Priors::Shadow | Priors::Off => (0..pages.len()).collect(),
    };
    let mut hits = Vec::with_capacity(ask.limit.min(pages.len()));
    for (place, n) in served.into_iter().take(ask.limit).enumerate() {
        hits.push(hit(wiki, &query, &found, &pages[n], place + 1)?);
    }
    let notes = notes(&query, &found);
    Ok(Answer { hits, shadow, candidates, tree, index: opened.origin, unkept: opened.unkept, notes })
}

/// The pages of a tree or commit that fit a query, best first, by their text alone: for comparing two trees.
///
/// # Errors
/// As [`search`].
pub fn rank(wiki: &Wiki, treeish: Oid, text: &str, limit: usize) -> Result<Vec<BString>, Error> {
    let query = Query::read(text);
    if query.clauses.is_empty() {
        return Err(Error::NoWords);
    }
    let opened = Index::open(wiki, root_tree(wiki, Some(treeish))?, false)?;
    let found = score::score(&opened.index, &query);
    let ask = Ask { text, scope: None, kinds: &[], limit, at: Some(treeish) };
    let pages = order::candidates(wiki, &opened.index, &found, &ask, &Signals::default());
    Ok(pages.into_iter().take(limit).map(|page| page.doc.path.to_owned()).collect())
}

/// The scope that a search from a folder means: the named one; with `all`, or where the wiki has but one, every page
/// (`None`); else the one whose `dirs` or `repos` match the folder.
///
/// # Errors
/// When no scope has that name, or the folder does not tell.
pub fn scope_here(wiki: &Wiki, dir: &Path, named: Option<&str>, all: bool) -> Result<Option<String>, Unresolved> {
    if let Some(name) = named {
        return wiki.scopes.named(name).map(|scope| Some(scope.name.clone()));
    }
    let single = matches!(wiki.scopes.all.as_slice(), [only] if only.name == GLOBAL);
    if all || single {
        return Ok(None);
    }
    let remotes = wiki.code.as_ref().unwrap_or(&wiki.repo).remotes();
    wiki.scopes.of_session(Some(&dir.to_string_lossy()), &remotes).map(|scope| Some(scope.name.clone()))
}

/// The tree of the wiki's root at a commit or tree (the branch's tip without one); the empty tree where there is none.
fn root_tree(wiki: &Wiki, at: Option<Oid>) -> git::Result<Oid> {
    let Some(treeish) = at.or(wiki.tip) else { return Ok(wiki.repo.empty_tree()) };
    let entry = wiki.repo.entry(treeish, wiki.root.as_bytes().as_bstr())?;
    Ok(entry.filter(|entry| entry.mode == Mode::Tree).map_or_else(|| wiki.repo.empty_tree(), |entry| entry.oid))
}

fn hit(wiki: &Wiki, query: &Query, found: &Found, page: &Candidate<'_>, rank: usize) -> Result<Hit, Error> {
    let adds: Vec<f64> = found
        .by_clause
        .iter()
        .map(|pages| pages.binary_search_by_key(&page.at, |(at, _)| *at).map_or(0.0, |n| pages[n].1))
        .collect();
    let bytes = match Oid::try_from(page.doc.oid) {
        Ok(oid) => wiki.repo.blob(oid)?,
        Err(_) => Vec::new(),
    };
    let read = wiki.read(page.doc.path, &bytes);
    let passage = Marker::new(query, &adds).passage(&read.body);
    let words = query.clauses.iter().zip(&adds).filter(|(_, add)| **add > 0.0);
    Ok(Hit {
        rank,
        path: page.doc.path.to_owned(),
        title: page.doc.title.to_owned(),
        kind: page.kind,
        scope: page.scope.to_owned(),
        score: page.score(),
        snippet: passage.text,
        marks: passage.marks,
        factors: Factors {
            text: page.text,
            utility: page.utility,
            prior: page.prior,
            moved: page.moved,
            words: words.map(|(clause, add)| (clause.shown.clone(), *add)).collect(),
            stands_for: page.stands_for.map(BStr::to_owned),
        },
    })
}

fn notes(query: &Query, found: &Found) -> Vec<String> {
    let mut notes: Vec<String> =
        found.absent_phrases.iter().map(|&n| format!("no page holds {}", query.clauses[n].shown)).collect();
    if query.cut {
        notes.push("the query is long: only its beginning was looked for".to_owned());
    }
    notes
}
