//! The order with priors against the order without, on what people searched for and what came of it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::metrics::{DEPTH, Figures, Judgement, Means, figures, means};
use super::moved::{Moved, moved};

/// A recorded search with both its orders and a verified outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its episode.
    pub episode: String,
    /// When.
    pub at: Timestamp,
    /// What was searched for, where that is known here.
    pub query: Option<String>,
    /// The order without priors.
    pub without: Vec<String>,
    /// The order with them, as they were then: before this outcome was known.
    pub with: Vec<String>,
    /// Pages that helped, and pages that did harm.
    pub judged: Judgement,
}

/// The comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// How many searches have a verified outcome.
    pub judged: usize,
    /// In how many of these the two orders differ among the first ten places.
    pub changed: usize,
    /// Without priors.
    pub without: Means,
    /// With priors.
    pub with: Means,
    /// In how many the order with priors has the higher nDCG.
    pub better: usize,
    /// In how many it has the lower.
    pub worse: usize,
    /// What follows for `search.priors = "serve"`.
    pub verdict: Verdict,
    /// Why.
    pub reasons: Vec<String>,
    /// The searches whose order differs, oldest first.
    pub queries: Vec<Changed>,
}

/// What follows from a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No figure is worse with priors: they may be served.
    NoLoss,
    /// Some figure is worse: they may not.
    Loss,
    /// Too little to tell.
    NotEnough,
}

/// A search whose order differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changed {
    /// Its episode.
    pub episode: String,
    /// When.
    pub at: Timestamp,
    /// What was searched for, where that is known here.
    pub query: Option<String>,
    /// Its figures without priors.
    pub without: Figures,
    /// Its figures with priors.
    pub with: Figures,
    /// The pages whose place differs among the first ten, with both places; nothing: below.
    pub moved: Vec<Moved>,
}

/// Where recall is taken.
const RECALL_AT: [usize; 2] = [5, 10];

/// Fewest searches with another order that a verdict rests on: a coin shows ten of one side once in a thousand throws,
/// and fewer changes than these say nothing of the orders to come, whatever the means are.
pub const FEWEST_CHANGED: usize = 10;

/// Differences below this are none: sums in another order differ in their last bits.
const NOTHING: f64 = 1e-9;

/// Compares the orders. `fewest` is how many searches with an outcome a verdict needs: below it, a single search moves
/// the means by more than any prior should.
pub fn compare(recorded: &[Recorded], fewest: usize) -> Comparison {
    let of = |order: &[String], one: &Recorded| figures(order, &one.judged, &RECALL_AT);
    let both: Vec<(Figures, Figures)> =
        recorded.iter().map(|one| (of(&one.without, one), of(&one.with, one))).collect();
    let judged = || recorded.iter().map(|one| &one.judged);
    let without = means(both.iter().map(|(without, _)| without).zip(judged()));
    let with = means(both.iter().map(|(_, with)| with).zip(judged()));
    let mut queries = Vec::new();
    for (one, (without, with)) in recorded.iter().zip(&both) {
        let moved = moved(&one.without, &one.with, DEPTH);
        if !moved.is_empty() {
            let (episode, query) = (one.episode.clone(), one.query.clone());
            queries.push(Changed { episode, at: one.at, query, without: without.clone(), with: with.clone(), moved });
        }
    }
    let better = both.iter().filter(|(without, with)| with.ndcg > without.ndcg + NOTHING).count();
    let worse = both.iter().filter(|(without, with)| with.ndcg + NOTHING < without.ndcg).count();
    let mut reasons = Vec::new();
    if recorded.len() < fewest {
        reasons.push(format!("{} searches have a verified outcome, {fewest} are needed", recorded.len()));
    }
    if queries.len() < FEWEST_CHANGED {
        reasons.push(format!("in {} of them the order differs, {FEWEST_CHANGED} are needed", queries.len()));
    }
    let verdict = if !reasons.is_empty() {
        Verdict::NotEnough
    } else {
        reasons = losses(&without, &with, better, worse);
        if reasons.is_empty() { Verdict::NoLoss } else { Verdict::Loss }
    };
    Comparison {
        judged: recorded.len(),
        changed: queries.len(),
        without,
        with,
        better,
        worse,
        verdict,
        reasons,
        queries,
    }
}

/// What is worse with priors, in words.
fn losses(without: &Means, with: &Means, better: usize, worse: usize) -> Vec<String> {
    let mut figures: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for depth in RECALL_AT {
        let of = |means: &Means| means.recall.get(&depth).copied().unwrap_or_default();
        figures.insert(format!("recall@{depth}"), (of(without), of(with)));
    }
    figures.insert("MRR".into(), (without.mrr, with.mrr));
    figures.insert("nDCG@10".into(), (without.ndcg, with.ndcg));
    let mut losses: Vec<String> = figures
        .into_iter()
        .filter(|(_, (without, with))| with + NOTHING < *without)
        .map(|(name, (without, with))| format!("{name} falls from {without:.4} to {with:.4}"))
        .collect();
    if with.harmful > without.harmful {
        losses.push(format!("harmful hits rise from {} to {}", without.harmful, with.harmful));
    }
    if worse > better {
        losses.push(format!("{worse} searches are answered worse, {better} better"));
    }
    losses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(order: &str) -> Vec<String> {
        order.split(' ').map(str::to_owned).collect()
    }

    fn recorded(without: &str, with: &str, helped: &str, harmed: &str) -> Recorded {
        let judged = Judgement {
            relevant: [(helped.to_owned(), 1)].into(),
            harmful: Some(harmed).filter(|page| !page.is_empty()).map(str::to_owned).into_iter().collect(),
        };
        let at = Timestamp::UNIX_EPOCH;
        Recorded { episode: "e".into(), at, query: None, without: pages(without), with: pages(with), judged }
    }

    /// Ten searches with another order, and ten with the same.
    fn evidence(with: &str) -> Vec<Recorded> {
        let mut all = vec![recorded("a b c", with, "b", "c"); 10];
        all.extend(vec![recorded("a b c", "a b c", "b", ""); 10]);
        all
    }

    #[test]
    fn an_order_that_brings_up_what_helped_shows_no_loss() {
        let found = compare(&evidence("b a c"), 20);
        assert_eq!((found.verdict, found.judged, found.changed), (Verdict::NoLoss, 20, 10), "{:?}", found.reasons);
        assert_eq!((found.without.mrr, found.with.mrr), (0.5, 0.75));
        assert_eq!((found.better, found.worse, found.without.harmful, found.with.harmful), (10, 0, 10, 10));
        let moved: Vec<_> = found.queries[0].moved.iter().map(|m| (m.page.as_str(), m.before, m.after)).collect();
        assert_eq!(moved, [("b", Some(2), Some(1)), ("a", Some(1), Some(2))]);
    }

    #[test]
    fn any_worse_figure_is_a_loss_that_is_named() {
        let found = compare(&evidence("a c b"), 20);
        assert_eq!(found.verdict, Verdict::Loss);
        assert!(found.reasons.iter().any(|reason| reason.starts_with("MRR falls")), "{:?}", found.reasons);
        let mut mixed = evidence("b a c");
        // One great gain does not make up for many small losses.
        mixed.extend(vec![recorded("b a c", "a b c", "b", ""); 11]);
        assert!(compare(&mixed, 20).reasons.iter().any(|reason| reason.contains("answered worse")));
        let mut harm = evidence("b a c");
        let ten = "1 2 3 4 5 6 7 8 9 10 11";
        harm.push(recorded(ten, "1 2 3 4 5 6 7 8 9 11 10", "1", "11"));
        assert!(compare(&harm, 20).reasons.iter().any(|reason| reason.starts_with("harmful hits rise from 10 to 11")));
    }

    #[test]
    fn too_little_is_no_verdict_however_good_it_looks() {
        let all = evidence("b a c");
        assert_eq!(compare(&all, 21).verdict, Verdict::NotEnough);
        assert_eq!(compare(&all[1..], 19).verdict, Verdict::NotEnough);
        assert_eq!(compare(&[], 20).verdict, Verdict::NotEnough);
    }
}
