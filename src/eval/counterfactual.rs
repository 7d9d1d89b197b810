//! What an accept did to retrieval: the same queries against the tree before it landed and the tree after.

use std::collections::BTreeSet;

use bstr::ByteSlice;
use jiff::Timestamp;
use serde::Serialize;

use super::landed::{landed, subject};
use super::metrics::{DEPTH, Figures, Judgement, Means, figures, means};
use super::moved::{Moved, moved};
use crate::feedback::queries::Queries;
use crate::git::{self, Commit, Oid};
use crate::proposal::{Item, View};
use crate::wiki::Wiki;

/// How many places of an order are looked at.
pub const LOOKED_AT: usize = 50;

/// Where recall is taken.
const RECALL_AT: [usize; 2] = [5, 10];

/// A query to put to both trees.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Its text.
    pub query: String,
    /// Its id in a file of judged queries; nothing: somebody asked it.
    pub id: Option<String>,
    /// What was judged of it.
    pub judged: Option<Judgement>,
}

/// What landing one proposal did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Effect {
    /// The proposal; several where a forge landed them as one commit.
    pub proposals: Vec<String>,
    /// Its title, else the commit's subject.
    pub title: String,
    /// Its pages, relative to the wiki's root.
    pub pages: Vec<String>,
    /// The commit before.
    pub before: String,
    /// The commit that landed it.
    pub after: String,
    /// How many queries were put to both trees.
    pub asked: usize,
    /// How many of them have another answer among the first ten places.
    pub changed: usize,
    /// The judged queries' figures before.
    pub judged_before: Option<Means>,
    /// The judged queries' figures after.
    pub judged_after: Option<Means>,
    /// The queries, in their order.
    pub queries: Vec<Answered>,
}

/// One query, answered from both trees.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Answered {
    /// Its text.
    pub query: String,
    /// Its id in a file of judged queries; nothing: somebody asked it.
    pub id: Option<String>,
    /// The proposal's pages, with their places among the first fifty.
    pub pages: Vec<Moved>,
    /// Pages among the first ten, before or after, that changed their place.
    pub moved: Vec<Moved>,
    /// The figures before, where it was judged.
    pub figures_before: Option<Figures>,
    /// The figures after, where it was judged.
    pub figures_after: Option<Figures>,
}

/// A landing, and the two trees to be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Landing {
    /// The proposals.
    pub proposals: Vec<String>,
    /// The title.
    pub title: String,
    /// The pages, relative to the wiki's root.
    pub pages: Vec<String>,
    /// The commit before.
    pub before: Oid,
    /// The commit that landed it.
    pub after: Oid,
}

/// The newest landing of a proposal, also when it was taken back since; `None` when it never landed.
///
/// # Errors
/// When the commit cannot be read.
pub fn landing_of(wiki: &Wiki, view: &View, item: &Item) -> git::Result<Option<Landing>> {
    let stands = item.landing.as_ref().filter(|landing| !landing.reversal).map(|landing| landing.commit.as_str());
    let known = stands.or(item.proposal.landed.as_deref()).and_then(|commit| Oid::from_hex(commit.as_bytes()).ok());
    match known {
        Some(commit) => landing(wiki, view, &wiki.repo.commit(commit)?),
        None => Ok(None),
    }
}

/// What landed on the branch since a time, oldest first.
///
/// # Errors
/// When a commit cannot be read.
pub fn landings_since(wiki: &Wiki, view: &View, since: Timestamp) -> git::Result<Vec<Landing>> {
    let Some(tip) = wiki.tip else { return Ok(Vec::new()) };
    let commits = wiki.repo.first_parents(tip, None)?.0.into_iter().rev();
    let new = commits.filter(|commit| commit.time >= since.as_second());
    let found: Vec<Option<Landing>> = new.map(|commit| landing(wiki, view, &commit)).collect::<git::Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// What a commit landed; `None` when that is no proposal, or nothing stands before it.
fn landing(wiki: &Wiki, view: &View, commit: &Commit) -> git::Result<Option<Landing>> {
    let found = landed(view, commit);
    let Some(before) = commit.parents.first().copied().filter(|_| !found.is_empty()) else { return Ok(None) };
    let mut pages: BTreeSet<String> =
        found.iter().filter_map(|(_, item)| *item).flat_map(|item| item.proposal.paths.clone()).collect();
    if pages.is_empty() {
        // No ledger: what the commit changed tells.
        let changes = wiki.repo.diff(Some(before), Some(commit.oid))?;
        let page = |path: &bstr::BString| Some(wiki.page_path(path.as_ref())?.to_str_lossy().into_owned());
        pages.extend(changes.iter().filter_map(|change| page(&change.path)));
    }
    let title = match &found[..] {
        [(_, Some(item))] => item.proposal.title.clone(),
        _ => subject(commit),
    };
    let proposals = found.into_iter().map(|(named, _)| named.proposal).collect();
    Ok(Some(Landing { proposals, title, pages: pages.into_iter().collect(), before, after: commit.oid }))
}

/// What people asked when they were shown these pages, each once.
pub fn asked(queries: &Queries, pages: &[String]) -> Vec<Question> {
    let mut seen = BTreeSet::new();
    let all = pages.iter().flat_map(|page| queries.of_page(page).queries);
    all.filter(|query| seen.insert(query.to_lowercase()))
        .map(|query| Question { query, id: None, judged: None })
        .collect()
}

/// Puts the questions to both sides. `orders` gives for a query the pages before and after, best first, as many as
/// [`LOOKED_AT`].
///
/// # Errors
/// Those of `orders`.
pub fn effect<E>(
    landing: Landing,
    questions: &[Question],
    mut orders: impl FnMut(&str) -> Result<(Vec<String>, Vec<String>), E>,
) -> Result<Effect, E> {
    let own: BTreeSet<&String> = landing.pages.iter().collect();
    let place = |order: &[String], page: &String| order.iter().position(|other| other == page).map(|at| at + 1);
    let mut queries = Vec::with_capacity(questions.len());
    for question in questions {
        let (before, after) = orders(&question.query)?;
        let pages = own.iter().map(|page| Moved {
            page: (*page).clone(),
            before: place(&before, page),
            after: place(&after, page),
        });
        let of = |order: &[String]| question.judged.as_ref().map(|judged| figures(order, judged, &RECALL_AT));
        queries.push(Answered {
            query: question.query.clone(),
            id: question.id.clone(),
            pages: pages.collect(),
            moved: moved(&before, &after, DEPTH),
            figures_before: of(&before),
            figures_after: of(&after),
        });
    }
    let side = |of: fn(&Answered) -> Option<&Figures>| {
        let all = queries.iter().zip(questions);
        let judged: Vec<_> = all.filter_map(|(row, asked)| Some((of(row)?, asked.judged.as_ref()?))).collect();
        (!judged.is_empty()).then(|| means(judged))
    };
    Ok(Effect {
        judged_before: side(|row| row.figures_before.as_ref()),
        judged_after: side(|row| row.figures_after.as_ref()),
        asked: queries.len(),
        changed: queries.iter().filter(|row| !row.moved.is_empty()).count(),
        proposals: landing.proposals,
        title: landing.title,
        pages: landing.pages,
        before: landing.before.to_string(),
        after: landing.after.to_string(),
        queries,
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn an_effect_tells_where_the_proposals_page_and_its_neighbours_stood_before_and_after() {
        let oid = |digit: &str| Oid::from_hex(digit.repeat(40).as_bytes()).expect("an id");
        let landing = Landing {
            proposals: vec!["p".into()],
            title: "T".into(),
            pages: vec!["new.md".into()],
            before: oid("a"),
            after: oid("b"),
        };
        let judged = Judgement { relevant: [("new.md".to_owned(), 1)].into(), ..Judgement::default() };
        let questions = [
            Question { query: "changed".into(), id: None, judged: None },
            Question { query: "same".into(), id: None, judged: None },
            Question { query: "judged".into(), id: Some("q1".into()), judged: Some(judged) },
        ];
        let list = |pages: &[&str]| pages.iter().map(|page| (*page).to_owned()).collect::<Vec<_>>();
        let orders = |query: &str| -> Result<_, Infallible> {
            Ok(match query {
                "same" => (list(&["old.md"]), list(&["old.md"])),
                _ => (list(&["old.md"]), list(&["new.md", "old.md"])),
            })
        };
        let Ok(effect) = effect(landing, &questions, orders);
        assert_eq!((effect.asked, effect.changed), (3, 2));
        let own = &effect.queries[0].pages[0];
        assert_eq!((own.page.as_str(), own.before, own.after), ("new.md", None, Some(1)));
        let moved: Vec<_> = effect.queries[0].moved.iter().map(|m| (m.page.as_str(), m.before, m.after)).collect();
        assert_eq!(moved, [("new.md", None, Some(1)), ("old.md", Some(1), Some(2))]);
        assert!(effect.queries[1].moved.is_empty());
        let mrr = |means: &Option<Means>| means.as_ref().map(|means| (means.queries, means.mrr));
        assert_eq!((mrr(&effect.judged_before), mrr(&effect.judged_after)), (Some((1, 0.0)), Some((1, 1.0))));
    }
}
