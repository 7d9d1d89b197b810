//! Search: the pages of a wiki's tree, ranked for a query.
//!
//! `words.rs` says what a word is, for pages and queries alike. `build.rs` makes segments of pages, `segment.rs` reads
//! them, `index.rs` keeps an index of the branch's tree up to date in the files of `store.rs`, `kept.rs` holds the one
//! that was opened last. `query.rs` reads a query, `score.rs` says how well pages fit, `order.rs` who is served in which
//! order, `snippet.rs` what to show; `near.rs` looks for what is like a text.

mod ask;
mod build;
mod bytes;
pub mod context;
mod index;
mod kept;
mod names;
mod near;
mod order;
mod query;
mod related;
mod score;
mod segment;
mod snippet;
mod stem;
mod store;
#[cfg(test)]
mod tests;
mod words;

use std::path::Path;

use bstr::{BString, ByteSlice};

pub use ask::{Answer, Ask, Factors, Facts, Hit, Origin, Signals, Word};
pub use kept::Kept;
pub use stem::stem;

use self::index::{Index, Opened};
use self::order::Candidate;
use self::query::Query;
use self::score::Found;
use self::snippet::Marker;
use self::store::{File, Lacking, Store};
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

/// The pages of one tree, ready to be searched.
pub struct Pages<'w> {
    wiki: &'w Wiki,
    opened: Opened,
    is_tip: bool,
}

impl<'w> Pages<'w> {
    /// The pages at a commit or tree; `None`: at the branch's tip, whose index is kept. An index that is missing,
    /// damaged or cannot be written is no error.
    ///
    /// # Errors
    /// When the tree or a page of it cannot be read.
    pub fn at(wiki: &'w Wiki, treeish: Option<Oid>) -> Result<Pages<'w>, Error> {
        let (tree, is_tip) = (root_tree(wiki, treeish)?, treeish.is_none());
        Ok(Pages { wiki, opened: Index::open(wiki, tree, is_tip)?, is_tip })
    }

    /// The wiki that they are pages of.
    pub fn wiki(&self) -> &'w Wiki {
        self.wiki
    }

    /// Whether they are those of the branch's tip, and not of a commit that somebody named.
    pub fn are_of_tip(&self) -> bool {
        self.is_tip
    }

    /// Searches.
    ///
    /// # Errors
    /// [`Error::NoWords`] for a query without a letter or a digit, [`Error::Git`] when a page cannot be read.
    pub fn search(&self, ask: &Ask<'_>, signals: &Signals) -> Result<Answer, Error> {
        let mut ranked = self.ranked(ask, signals)?;
        let candidates = ranked.pages.len();
        // A prior lifts a page by two places at most: nothing below these can come into the answer.
        ranked.pages.truncate(ask.limit.saturating_add(2));
        let with_priors = order::with_priors(&mut ranked.pages);
        let without: Vec<usize> = (0..ranked.pages.len()).collect();
        let (served, other) = match signals.mode {
            Priors::Serve => (with_priors, without),
            Priors::Shadow | Priors::Off => (without, with_priors),
        };
        let path = |n: usize| ranked.pages[n].doc.path.to_owned();
        let mut hits = Vec::with_capacity(ask.limit.min(ranked.pages.len()));
        for (place, n) in served.into_iter().take(ask.limit).enumerate() {
            hits.push(self.hit(&ranked, &ranked.pages[n], place + 1, ask.explain)?);
        }
        Ok(Answer {
            hits,
            shadow: other.into_iter().take(ask.limit).map(path).collect(),
            candidates,
            tree: self.opened.index.tree,
            index: self.opened.origin.clone(),
            unkept: self.opened.unkept.clone(),
            notes: ranked.notes(),
        })
    }

    /// The pages that fit a query, best first, by their text alone: for comparing two trees.
    ///
    /// # Errors
    /// As [`Pages::search`].
    pub fn rank(&self, text: &str, limit: usize) -> Result<Vec<BString>, Error> {
        let ranked = self.ranked(&Ask { text, limit, ..Ask::default() }, &Signals::default())?;
        Ok(ranked.pages.into_iter().take(limit).map(|page| page.doc.path.to_owned()).collect())
    }

    /// Every page that fits, best first, before priors.
    fn ranked(&self, ask: &Ask<'_>, signals: &Signals) -> Result<Ranked<'_>, Error> {
        let query = Query::read(ask.text);
        if query.clauses.is_empty() {
            return Err(Error::NoWords);
        }
        let found = score::score(&self.opened.index, &query);
        let pages = order::candidates(self.wiki, &self.opened.index, &found, ask, signals);
        Ok(Ranked { query, found, pages })
    }

    fn hit(&self, ranked: &Ranked<'_>, page: &Candidate<'_>, rank: usize, explain: bool) -> Result<Hit, Error> {
        let read = self.wiki.read(page.doc.path, &self.blob(page.doc.oid)?);
        let passage = Marker::new(&ranked.query, &ranked.found).passage(&read.body);
        Ok(Hit {
            rank,
            path: page.doc.path.to_string(),
            title: page.doc.title.to_owned(),
            kind: page.kind,
            scope: page.scope.to_owned(),
            score: page.score(),
            snippet: passage.text,
            marks: passage.marks,
            factors: explain.then(|| ranked.factors(page)),
        })
    }

    fn blob(&self, oid: &[u8]) -> git::Result<Vec<u8>> {
        match Oid::try_from(oid) {
            Ok(oid) => self.wiki.repo.blob(oid),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// What the index knows of every page, by path. No page is read for it.
    pub fn facts(&self) -> Vec<Facts> {
        let mut all = Vec::new();
        for (segment, dead) in self.opened.index.segments() {
            for doc in (0..segment.docs).filter(|&doc| !dead.has(doc)).filter_map(|doc| segment.doc(doc)) {
                let (kind, scope) = order::place(self.wiki, &doc);
                all.push(Facts {
                    path: doc.path.to_owned(),
                    title: doc.title.to_owned(),
                    kind,
                    scope: scope.to_owned(),
                    status: doc.status,
                    priority: doc.priority,
                    pinned: doc.pinned,
                    description: doc.description.to_owned(),
                    blob: Oid::try_from(doc.oid).unwrap_or_else(|_| self.wiki.repo.null_oid()),
                });
            }
        }
        all.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        all
    }
}

/// How the index that is kept stands to the branch's tip: `fresh`, `behind` (the next search brings it up to date),
/// `absent` or `damaged`. Reads it and writes nothing.
///
/// # Errors
/// When the branch's tree cannot be read.
pub fn index_status(wiki: &Wiki) -> git::Result<&'static str> {
    let tree = root_tree(wiki, None)?;
    let store = Store::of(wiki);
    let main = match store.read(File::Main) {
        Ok(main) => main,
        Err(Lacking::Absent) => return Ok("absent"),
        Err(Lacking::Damaged) => return Ok("damaged"),
    };
    let more = store.read(File::More).ok().filter(|more| more.base == Some(main.stamp));
    let holds = [Some(main), more].into_iter().flatten().any(|stored| stored.tree == tree.as_bytes());
    Ok(if holds { "fresh" } else { "behind" })
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

/// What a query found, in order.
struct Ranked<'p> {
    query: Query,
    found: Found,
    pages: Vec<Candidate<'p>>,
}

impl Ranked<'_> {
    /// What each clause of the query adds to a page.
    fn adds(&self, page: &Candidate<'_>) -> Vec<f64> {
        self.found.clauses.iter().map(|clause| clause.adds(page.at)).collect()
    }

    /// How a page came to its place.
    fn factors(&self, page: &Candidate<'_>) -> Factors {
        let words = self.query.clauses.iter().zip(self.adds(page)).filter(|(_, adds)| *adds > 0.0);
        Factors {
            text: page.text,
            utility: page.utility,
            prior: page.prior,
            moved: page.moved,
            words: words.map(|(clause, adds)| Word { word: clause.shown.clone(), adds }).collect(),
            stands_for: page.stands_for.map(ToString::to_string),
        }
    }

    /// The words of the query that tell the most for a page.
    fn telling(&self, page: &Candidate<'_>, most: usize) -> Vec<String> {
        let adds = self.adds(page);
        let mut words: Vec<(f64, &str)> = self
            .query
            .clauses
            .iter()
            .zip(adds)
            .filter(|(_, add)| *add > 0.0)
            .map(|(c, add)| (add, c.shown.as_str()))
            .collect();
        words.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        words.into_iter().take(most).map(|(_, word)| word.to_owned()).collect()
    }

    fn notes(&self) -> Vec<String> {
        let absent = self.found.absent_phrases.iter();
        let mut notes: Vec<String> =
            absent.map(|&n| format!("no page holds {}", self.query.clauses[n].shown)).collect();
        if self.query.cut {
            notes.push("the query is long: only its beginning was looked for".to_owned());
        }
        notes
    }
}
