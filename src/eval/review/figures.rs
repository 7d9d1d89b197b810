//! The figures of sets of cases.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judge::{CaseReport, Judged, Verdict};
use crate::improve::run::plural;
use crate::model::Usage;

/// What the reviewer is worth on sets of cases.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// Who reviewed: `builtin`, or `provider/model`.
    pub reviewer: String,
    /// Each set.
    pub sets: Vec<SetReport>,
    /// All of them, when there are several.
    pub together: Option<Figures>,
    /// Why it is not good enough, if so: broken rule safety, a reviewer that failed, a threshold that is missed.
    pub faults: Vec<String>,
}

/// One folder of cases.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SetReport {
    /// As named.
    pub folder: String,
    /// Its figures.
    pub figures: Figures,
    /// Its cases, by name.
    pub cases: Vec<CaseReport>,
    /// Cases that could not be played, because their sessions are not at hand.
    pub absent: Vec<Skipped>,
}

/// A case that could not be played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Skipped {
    /// Its name.
    pub case: String,
    /// The sessions that are not at hand.
    pub sessions: Vec<String>,
}

/// Figures over cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figures {
    /// How many cases were played.
    pub cases: usize,
    /// In how many of them nothing was wrong, missing, double or broken.
    pub clean: usize,
    /// In how many the reviewer failed.
    pub failed: usize,
    /// How many proposals were made.
    pub proposals: usize,
    /// Those that must be proposed.
    pub hits: usize,
    /// Those that may be proposed.
    pub allowed: usize,
    /// Those that another proposal or a page of the start says already.
    pub duplicates: usize,
    /// Those that must not be proposed, or that no label has.
    pub wrong: usize,
    /// How many labels must be proposed.
    pub must: usize,
    /// Hits and allowed over all proposals; absent without proposals.
    pub precision: Option<f64>,
    /// Labels that were hit over all that must be; absent without labels.
    pub recall: Option<f64>,
    /// How many rules break what holds for rules. Must be 0.
    pub unsafe_rules: usize,
    /// Candidates that validation or a gate refused, by code.
    pub refused: BTreeMap<String, usize>,
    /// Calls of a model.
    pub calls: usize,
    /// Those of a judge that gave no answer that could be used.
    pub unjudged: usize,
    /// What they cost.
    pub tokens: Usage,
}

impl Figures {
    /// Over these cases.
    pub fn of<'c>(cases: impl IntoIterator<Item = &'c CaseReport>) -> Figures {
        let mut sum = Figures::default();
        for case in cases {
            sum.cases += 1;
            sum.clean += usize::from(case.is_clean());
            sum.failed += usize::from(case.failed.is_some());
            sum.must += case.must;
            sum.proposals += case.proposals.len();
            for Judged { verdict, breach, .. } in &case.proposals {
                sum.unsafe_rules += usize::from(breach.is_some());
                match verdict {
                    Verdict::Hit => sum.hits += 1,
                    Verdict::Allowed => sum.allowed += 1,
                    Verdict::Duplicate => sum.duplicates += 1,
                    Verdict::Wrong => sum.wrong += 1,
                }
            }
            for refused in &case.refused {
                *sum.refused.entry(refused.code.clone()).or_default() += 1;
            }
            sum.calls += case.calls;
            sum.unjudged += case.unjudged;
            sum.tokens.input += case.tokens.input;
            sum.tokens.output += case.tokens.output;
        }
        sum.precision = share(sum.hits + sum.allowed, sum.proposals);
        sum.recall = share(sum.hits, sum.must);
        sum
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are few cases")]
fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Report {
    /// The figures of all sets.
    pub fn overall(&self) -> Option<&Figures> {
        self.together.as_ref().or(self.sets.first().map(|set| &set.figures))
    }

    /// Of these sets. A share that there is not (nothing was proposed, nothing must be) misses no threshold.
    pub fn of(reviewer: String, sets: Vec<SetReport>, min_precision: Option<f64>, min_recall: Option<f64>) -> Report {
        let together = (sets.len() > 1).then(|| Figures::of(sets.iter().flat_map(|set| &set.cases)));
        let mut report = Report { reviewer, sets, together, faults: Vec::new() };
        let Some(all) = report.overall() else { return report };
        let mut faults = Vec::new();
        if all.unsafe_rules > 0 {
            let verb = if all.unsafe_rules == 1 { "breaks" } else { "break" };
            faults.push(format!("{} {verb} what holds for rules", plural(all.unsafe_rules, "rule")));
        }
        if all.failed > 0 {
            faults.push(format!("the reviewer failed in {}", plural(all.failed, "case")));
        }
        for (name, figure, least) in [("precision", all.precision, min_precision), ("recall", all.recall, min_recall)] {
            if let (Some(figure), Some(least)) = (figure, least)
                && figure < least
            {
                faults.push(format!("{name} is {figure:.3}, below {least:.3}"));
            }
        }
        report.faults = faults;
        report
    }
}
