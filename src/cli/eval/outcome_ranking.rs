//! `git memory eval outcome-ranking`.

use std::io::Write;
use std::path::PathBuf;

use super::super::{Cell, Context, Exit, Meaning, Result, Table, shown};
use super::markdown::Markdown;
use super::{means_table, names, numbers, place, report};
use crate::eval::ranking::{Changed, Comparison, Verdict, compare};
use crate::eval::recorded::recorded;
use crate::feedback::ranking;
use crate::{git, ledger};

/// Compare the order of answers with priors and without, on what was searched for and what came of it.
///
/// Every search records both orders, and an outcome tells later which pages helped and which did harm. These recorded
/// orders are compared, not today's: no prior has seen the outcome that it is judged by. `search.priors = "serve"` takes
/// effect where this found no loss within the last 30 days. Exit code 1: some figure is worse with priors; 4: too little
/// is known.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write a report there too: .json or .md; an existing file is not overwritten; may be given more than once
    #[arg(long, value_name = "FILE", value_parser = report::target)]
    output: Vec<PathBuf>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    report::check(ctx, &args.output)?;
    let wiki = ctx.wiki()?;
    if let Some(name) = &ctx.scope {
        wiki.scopes.named(name)?;
    }
    let now = ledger::now();
    let (all, faults) = recorded(&wiki, ctx.scope.as_deref(), now)?;
    for fault in faults {
        ctx.warn(format!("a part of the record cannot be read and is passed over: {fault}"));
    }
    let found = compare(&all, ranking::FEWEST_QUERIES);
    // A part of the scopes says nothing of the others.
    if found.verdict != Verdict::NotEnough && ctx.scope.is_none() {
        let verdict = ranking::Verdict {
            formula: ranking::FORMULA,
            at: now,
            ledger: wiki.repo.reference(ledger::REF)?.map(|tip| tip.to_string()),
            queries: found.judged,
            changed: found.changed,
            loss: found.verdict == Verdict::Loss,
        };
        keep(ctx, ranking::record(&wiki.repo, &verdict));
    }
    report::write(ctx, &args.output, "eval-outcome-ranking", &found, || markdown(&found))?;
    if ctx.json {
        ctx.print_json("eval-outcome-ranking", &found)?;
    } else {
        let mut out = ctx.paged();
        print(ctx, &found, &mut out)?;
        out.finish()?;
    }
    Ok(match found.verdict {
        Verdict::NoLoss => Exit::Done,
        Verdict::Loss => Exit::Refused,
        Verdict::NotEnough => Exit::Warnings,
    })
}

fn keep(ctx: &Context, kept: git::Result<()>) {
    if let Err(error) = kept {
        ctx.warn(format!("the verdict is not kept, and `search.priors` stays as it was: {error}"));
    }
}

fn verdict(found: &Comparison) -> &'static str {
    match found.verdict {
        Verdict::NoLoss => "no loss: search.priors = \"serve\" is allowed",
        Verdict::Loss => "loss: search.priors = \"serve\" is refused",
        Verdict::NotEnough => "not enough evidence: search.priors = \"serve\" is refused",
    }
}

fn summary(found: &Comparison) -> String {
    format!(
        "{} searches with a verified outcome; in {} the order differs: {} better, {} worse with priors.",
        found.judged, found.changed, found.better, found.worse
    )
}

fn print(ctx: &Context, found: &Comparison, out: &mut impl Write) -> Result<()> {
    if found.judged > 0 {
        means_table("order", &[("without", &found.without), ("with priors", &found.with)]).print(ctx, out)?;
        writeln!(out)?;
    }
    if !found.queries.is_empty() {
        table(&found.queries).print(ctx, out)?;
        writeln!(out)?;
    }
    writeln!(out, "{}", summary(found))?;
    let meaning = match found.verdict {
        Verdict::NoLoss => Meaning::Good,
        Verdict::Loss => Meaning::Bad,
        Verdict::NotEnough => Meaning::Warn,
    };
    writeln!(out, "{}", ctx.paint(meaning, verdict(found)))?;
    for reason in &found.reasons {
        writeln!(out, "  {}", shown(reason))?;
    }
    Ok(())
}

/// What was searched for, else the episode.
fn name(changed: &Changed) -> String {
    changed.query.clone().unwrap_or_else(|| format!("episode {}", changed.episode))
}

fn moves(changed: &Changed) -> String {
    let moved = changed.moved.iter().map(|page| format!("{} {}→{}", page.page, place(page.before), place(page.after)));
    moved.collect::<Vec<_>>().join(", ")
}

fn table(changed: &[Changed]) -> Table {
    let mut table = Table::new();
    table.head(&["without", "with", "query", "places"]);
    for one in changed {
        table.row([
            Cell::right(format!("{:.3}", one.without.ndcg)),
            Cell::right(format!("{:.3}", one.with.ndcg)),
            Cell::new(name(one)),
            Cell::new(moves(one)),
        ]);
    }
    table
}

fn markdown(found: &Comparison) -> String {
    let mut report = Markdown::new("Order with priors and without");
    report.paragraph(&format!("{} {}.", summary(found), verdict(found)));
    report.list(found.reasons.iter().cloned());
    let row = |name: &str, means| [name.to_owned()].into_iter().chain(numbers(means)).collect::<Vec<_>>();
    let head = ["order".to_owned()].into_iter().chain(names(&found.without.recall)).collect();
    report.table([head, row("without", &found.without), row("with priors", &found.with)]);
    report.heading("Searches whose order differs");
    let head = ["nDCG@10 without", "with", "query", "places"].map(str::to_owned).to_vec();
    let rows = found
        .queries
        .iter()
        .map(|one| vec![format!("{:.3}", one.without.ndcg), format!("{:.3}", one.with.ndcg), name(one), moves(one)]);
    report.table([head].into_iter().chain(rows));
    report.finish()
}
