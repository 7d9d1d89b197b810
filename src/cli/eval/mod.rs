//! `git memory eval …`: one file per command.

pub mod counterfactual;
mod markdown;
pub mod outcome_ranking;
mod report;
pub mod retrieval;
pub mod review;

use std::collections::BTreeMap;

use super::{Cell, CliError, Context, Exit, Result, Table};
use crate::eval::faulty::{Faulty, Labelled};
use crate::eval::metrics::Means;

/// Measure what retrieval and the reviewer are worth.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Retrieval(retrieval::Args),
    OutcomeRanking(outcome_ranking::Args),
    Counterfactual(counterfactual::Args),
    Review(review::Args),
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    match args.what {
        What::Retrieval(args) => retrieval::run(ctx, args),
        What::OutcomeRanking(args) => outcome_ranking::run(ctx, args),
        What::Counterfactual(args) => counterfactual::run(ctx, args),
        What::Review(args) => review::run(ctx, args),
    }
}

/// The names of figures, in the order of [`numbers`].
fn names(recall: &BTreeMap<usize, f64>) -> Vec<String> {
    let recall = recall.keys().map(|depth| format!("recall@{depth}"));
    recall.chain(["MRR", "nDCG@10", "harmful"].map(str::to_owned)).collect()
}

/// Means as people read them.
fn numbers(means: &Means) -> Vec<String> {
    let recall = means.recall.values().chain([&means.mrr, &means.ndcg]).map(|figure| format!("{figure:.3}"));
    recall.chain([means.harmful.to_string()]).collect()
}

/// Rows of means, each behind its name.
fn means_table(first: &str, rows: &[(&str, &Means)]) -> Table {
    let mut table = Table::new();
    if let Some((_, means)) = rows.first() {
        let mut head = vec![first.to_owned(), "queries".into()];
        head.extend(names(&means.recall));
        table.head(&head.iter().map(String::as_str).collect::<Vec<_>>());
    }
    for (name, means) in rows {
        let mut cells = vec![Cell::new(name), Cell::right(means.queries)];
        cells.extend(numbers(means).into_iter().map(Cell::right));
        table.row(cells);
    }
    table
}

/// A place among those looked at.
fn place(place: Option<usize>) -> String {
    place.map_or_else(|| "–".to_owned(), |place| place.to_string())
}

impl From<Faulty> for CliError {
    fn from(fault: Faulty) -> CliError {
        let code = match (fault.labelled, fault.line) {
            (Labelled::Case, None) => "unreadable_case",
            (Labelled::Case, Some(_)) => "bad_case",
            (Labelled::Queries, None) => "unreadable_queries",
            (Labelled::Queries, Some(_)) => "bad_query",
        };
        let hint = match fault.labelled {
            Labelled::Case => "docs/evaluation.md says how a case is written",
            Labelled::Queries => {
                r#"a line is {"id": "1", "query": "words", "relevant": ["page.md"]}; `git memory help eval retrieval` says more"#
            }
        };
        CliError::refused(code, fault.to_string()).hint(hint)
    }
}
