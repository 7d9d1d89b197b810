//! Figures for one order of pages against what people judged. Nothing here knows of git or of searching.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;

/// How many places of an order MRR, nDCG and harmful hits look at.
pub const DEPTH: usize = 10;

/// What was judged of one query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Relevant pages and how relevant: 1 and up.
    pub relevant: BTreeMap<String, u32>,
    /// Pages that do harm when they are served.
    pub harmful: BTreeSet<String>,
}

/// The figures of one query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figures {
    /// By number of places: the share of the relevant pages among them, 0 to 1.
    pub recall: BTreeMap<usize, f64>,
    /// One over the place of the first relevant page among the first ten; 0 when there is none.
    pub reciprocal_rank: f64,
    /// nDCG of the first ten places, 0 to 1; a page of grade g gains 2^g − 1.
    pub ndcg: f64,
    /// How many harmful pages stand among the first ten.
    pub harmful: usize,
}

/// The figures of many queries.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Means {
    /// How many queries have a relevant page: the means are over these.
    pub queries: usize,
    /// By number of places: mean recall.
    pub recall: BTreeMap<usize, f64>,
    /// Mean reciprocal rank, within the first ten places.
    pub mrr: f64,
    /// Mean nDCG of the first ten places.
    pub ndcg: f64,
    /// Harmful pages among the first ten places, of all queries together.
    pub harmful: usize,
}

/// The figures of an order of pages, best first. A page that stands there twice counts at its first place. Where
/// nothing is relevant, all but the harmful hits are 0.
pub fn figures(order: &[impl AsRef<str>], judged: &Judgement, depths: &[usize]) -> Figures {
    let mut seen = HashSet::new();
    let order: Vec<&str> = order.iter().map(AsRef::as_ref).filter(|page| seen.insert(*page)).collect();
    let grade = |page: &&str| judged.relevant.get(*page).copied().unwrap_or(0);
    let top = &order[..order.len().min(DEPTH)];
    let mut ideal: Vec<u32> = judged.relevant.values().copied().collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let best = gain(ideal.into_iter().take(DEPTH));
    let found = |depth: usize| order.iter().take(depth).filter(|page| grade(page) > 0).count();
    let count = judged.relevant.values().filter(|grade| **grade > 0).count();
    let share = |part: usize| if count == 0 { 0.0 } else { part as f64 / count as f64 };
    Figures {
        recall: depths.iter().map(|depth| (*depth, share(found(*depth)))).collect(),
        reciprocal_rank: top.iter().position(|page| grade(page) > 0).map_or(0.0, |at| 1.0 / (at + 1) as f64),
        ndcg: if best > 0.0 { gain(top.iter().map(grade)) / best } else { 0.0 },
        harmful: top.iter().filter(|page| judged.harmful.contains(**page)).count(),
    }
}

/// The discounted gain of grades in the order of their places.
fn gain(grades: impl Iterator<Item = u32>) -> f64 {
    grades
        .enumerate()
        .map(|(at, grade)| (f64::from(grade).exp2() - 1.0) / ((at + 2) as f64).log2())
        .fold(0.0, |sum, gain| sum + gain)
}

/// The means of figures, each beside what was judged: over the queries that have a relevant page.
pub fn means<'f>(all: impl IntoIterator<Item = (&'f Figures, &'f Judgement)>) -> Means {
    let mut means = Means { queries: 0, recall: BTreeMap::new(), mrr: 0.0, ndcg: 0.0, harmful: 0 };
    for (figures, judged) in all {
        means.harmful += figures.harmful;
        if judged.relevant.values().all(|grade| *grade == 0) {
            continue;
        }
        means.queries += 1;
        means.mrr += figures.reciprocal_rank;
        means.ndcg += figures.ndcg;
        for (depth, recall) in &figures.recall {
            *means.recall.entry(*depth).or_default() += recall;
        }
    }
    if means.queries > 0 {
        let count = means.queries as f64;
        means.mrr /= count;
        means.ndcg /= count;
        means.recall.values_mut().for_each(|recall| *recall /= count);
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(relevant: &[(&str, u32)], harmful: &[&str]) -> Judgement {
        Judgement {
            relevant: relevant.iter().map(|(page, grade)| ((*page).to_owned(), *grade)).collect(),
            harmful: harmful.iter().map(|page| (*page).to_owned()).collect(),
        }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    /// By hand: a (grade 2) at place 2, b (grade 1) at place 4, c (grade 1) nowhere.
    /// DCG = 3/log2(3) + 1/log2(5) = 1.892789 + 0.430677 = 2.323466
    /// ideal = 3/log2(2) + 1/log2(3) + 1/log2(4) = 3 + 0.630930 + 0.5 = 4.130930; nDCG = 0.562456
    #[test]
    fn figures_are_those_that_were_reckoned_by_hand() {
        let judged = judged(&[("a", 2), ("b", 1), ("c", 1)], &["x"]);
        let figures = figures(&["x", "a", "y", "b"], &judged, &[1, 2, 5]);
        assert_eq!(figures.recall, BTreeMap::from([(1, 0.0), (2, 1.0 / 3.0), (5, 2.0 / 3.0)]));
        assert!(near(figures.reciprocal_rank, 0.5));
        assert!((figures.ndcg - 0.562_456).abs() < 1e-6, "{}", figures.ndcg);
        assert_eq!(figures.harmful, 1);
    }

    #[test]
    fn the_best_order_has_one_of_everything_and_none_has_nothing() {
        let judged = judged(&[("a", 3), ("b", 1)], &[]);
        let best = figures(&["a", "b", "z"], &judged, &[5]);
        assert!(near(best.ndcg, 1.0) && near(best.reciprocal_rank, 1.0) && near(best.recall[&5], 1.0));
        let worse = figures(&["b", "a"], &judged, &[5]);
        assert!(worse.ndcg < 1.0 && near(worse.reciprocal_rank, 1.0) && near(worse.recall[&5], 1.0));
        let none = figures(&[] as &[&str], &judged, &[5]);
        assert_eq!((none.ndcg, none.reciprocal_rank, none.recall[&5]), (0.0, 0.0, 0.0));
    }

    #[test]
    fn a_page_that_stands_there_twice_counts_once_at_its_first_place() {
        let judged = judged(&[("a", 1), ("b", 1)], &["h"]);
        let twice = figures(&["a", "a", "h", "h", "b"], &judged, &[2, 3]);
        assert_eq!(twice, figures(&["a", "h", "b"], &judged, &[2, 3]));
        assert_eq!((twice.recall[&2], twice.recall[&3], twice.harmful), (0.5, 1.0, 1));
    }

    #[test]
    fn what_stands_below_the_tenth_place_counts_for_recall_alone() {
        let judged = judged(&[("a", 1)], &["h"]);
        let order: Vec<String> = (0..10).map(|n| n.to_string()).chain(["a".into(), "h".into()]).collect();
        let figures = figures(&order, &judged, &[10, 20]);
        assert_eq!((figures.recall[&10], figures.recall[&20]), (0.0, 1.0));
        assert_eq!((figures.ndcg, figures.reciprocal_rank, figures.harmful), (0.0, 0.0, 0));
    }

    #[test]
    fn more_than_ten_relevant_pages_can_still_be_served_perfectly() {
        let pages: Vec<String> = (0..12).map(|n| n.to_string()).collect();
        let judged = Judgement { relevant: pages.iter().map(|p| (p.clone(), 1)).collect(), ..Judgement::default() };
        assert!(near(figures(&pages, &judged, &[10]).ndcg, 1.0));
    }

    #[test]
    fn means_are_over_the_queries_that_have_a_relevant_page() {
        let (a, only_harm) = (judged(&[("a", 1)], &[]), judged(&[("a", 0)], &["h"]));
        let order = ["h", "a"];
        let (one, two) = (figures(&["a"], &a, &[5]), figures(&order, &a, &[5]));
        let harm = figures(&order, &only_harm, &[5]);
        let means = means([(&one, &a), (&two, &a), (&harm, &only_harm)]);
        assert_eq!((means.queries, means.harmful), (2, 1));
        assert!(near(means.mrr, 0.75) && near(means.recall[&5], 1.0));
        assert_eq!(super::means([]).queries, 0);
    }
}
