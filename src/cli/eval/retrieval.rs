//! `git memory eval retrieval`.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::PathBuf;

use bstr::ByteSlice;

use super::super::{Cell, commit};
use super::super::{CliError, Context, Exit, Meaning, Progress, Result, Table, shown};
use super::markdown::Markdown;
use super::{means_table, names, numbers, place, report};
use crate::eval::metrics::Means;
use crate::eval::queries::QueryFile;
use crate::eval::retrieval::{Report, Row, depth, evaluate, together};
use crate::feedback::signals;
use crate::ledger;
use crate::search::{self, Ask, Pages};

/// Measure search on judged queries: recall, MRR, nDCG and harmful hits.
///
/// A file has one JSON object a line: `{"id": "1", "query": "words", "relevant": ["a.md"], "harmful": ["b.md"]}`, pages
/// relative to the wiki's root. `relevant` may give grades from 1 to 10: `{"a.md": 3, "c.md": 1}`. Each file has its
/// figures, and several have figures together. A page that is not there counts as not found, and is told.
///
/// What is measured is what `git memory search` serves, with all scopes unless --scope names one. No episode is
/// recorded. With -v each query has its line.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file of judged queries; may be given more than once
    #[arg(long, value_name = "FILE", required = true)]
    queries: Vec<PathBuf>,

    /// A number of places at which recall is taken; may be given more than once [default: 5, 10]
    #[arg(short, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1000), hide_default_value = true)]
    k: Vec<u16>,

    /// Search the pages of this commit
    #[arg(long, value_name = "COMMIT")]
    at: Option<String>,

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
    let files = args.queries.iter().map(|path| read(ctx, path)).collect::<Result<Vec<_>>>()?;
    let at = args.at.as_deref().map(|revision| commit(&wiki.repo, revision)).transpose()?;
    let Some(tree) = at.or(wiki.tip) else {
        return Err(CliError::refused("unborn_branch", format!("{} has no commit yet", wiki.branch_name())));
    };
    let recall_at: Vec<usize> =
        if args.k.is_empty() { vec![5, 10] } else { args.k.iter().map(|k| (*k).into()).collect() };
    let listed = wiki.pages_at(tree)?;
    let present: HashSet<String> = listed.iter().map(|(path, _)| path.to_str_lossy().into_owned()).collect();
    let pages = Pages::at(&wiki, at)?;
    let signals = signals(&wiki, ctx.scope.as_deref(), ledger::now())?;
    let count: usize = files.iter().map(|file| file.queries.len()).sum();
    let mut progress = Progress::new(ctx, count as u64, "queries");
    let mut reports = Vec::with_capacity(files.len());
    for file in &files {
        let found = evaluate(file, &recall_at, &present, |query| {
            progress.advance(1);
            let (scope, limit) = (ctx.scope.as_deref(), depth(&recall_at));
            let ask = Ask { text: &query.query, scope, limit, ..Ask::default() };
            match pages.search(&ask, &signals) {
                Ok(answer) => Ok(answer.hits.into_iter().map(|hit| hit.path).collect()),
                // Nothing can be found for it; that is its figure.
                Err(search::Error::NoWords) => Ok(Vec::new()),
                Err(error) => Err(error),
            }
        })?;
        reports.push(found);
    }
    drop(progress);
    let together = together(&files, &reports);
    let scope = ctx.scope.clone();
    let found = Report { commit: tree.to_string(), scope, pages: listed.len(), files: reports, together };
    for file in &found.files {
        for page in &file.missing {
            ctx.warn(format!("{}: there is no page `{page}`; it counts as not found", file.file));
        }
    }
    report::write(ctx, &args.output, "eval-retrieval", &found, || markdown(&found))?;
    if ctx.json {
        ctx.print_json("eval-retrieval", &found)?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    means_table("file", &rows(&found)).print(ctx, &mut out)?;
    if ctx.verbose > 0 {
        for file in &found.files {
            writeln!(out, "\n{}", ctx.paint(Meaning::Head, shown(&file.file)))?;
            per_query(&file.queries).print(ctx, &mut out)?;
        }
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// A file of judged queries, named from the folder that the command runs in.
pub(super) fn read(ctx: &Context, path: &std::path::Path) -> Result<QueryFile> {
    let mut file = QueryFile::read(&ctx.dir.join(path)).map_err(CliError::from)?;
    file.path = path.to_owned();
    Ok(file)
}

fn rows(found: &Report) -> Vec<(&str, &Means)> {
    let files = found.files.iter().map(|file| (file.file.as_str(), &file.means));
    files.chain(found.together.iter().map(|means| ("together", means))).collect()
}

fn head(recall: &BTreeMap<usize, f64>) -> Vec<String> {
    let mut head = vec!["id".to_owned(), "first".into()];
    head.extend(names(recall));
    head.push("query".into());
    head
}

/// The figures of a query as people read them.
fn figures(row: &Row) -> Vec<String> {
    let figures = &row.figures;
    let all = figures.recall.values().chain([&figures.reciprocal_rank, &figures.ndcg]);
    let mut cells = vec![place(row.first)];
    cells.extend(all.map(|figure| format!("{figure:.3}")));
    cells.push(figures.harmful.to_string());
    cells
}

fn per_query(rows: &[Row]) -> Table {
    let mut table = Table::new();
    if let Some(row) = rows.first() {
        table.head(&head(&row.figures.recall).iter().map(String::as_str).collect::<Vec<_>>());
    }
    for row in rows {
        let mut cells = vec![Cell::new(&row.id)];
        cells.extend(figures(row).into_iter().map(Cell::right));
        cells.push(Cell::new(&row.query));
        table.row(cells);
    }
    table
}

fn markdown(found: &Report) -> String {
    let mut report = Markdown::new("Retrieval");
    let scope = found.scope.as_ref().map_or("all scopes".to_owned(), |scope| format!("scope {scope}"));
    report.paragraph(&format!("{} pages of commit {}, {scope}.", found.pages, found.commit));
    let all = rows(found);
    let mut table = Vec::new();
    if let Some((_, means)) = all.first() {
        table.push(["file".to_owned(), "queries".into()].into_iter().chain(names(&means.recall)).collect());
    }
    for (name, means) in all {
        table.push([name.to_owned(), means.queries.to_string()].into_iter().chain(numbers(means)).collect());
    }
    report.table(table);
    for file in &found.files {
        report.heading(&file.file);
        if !file.missing.is_empty() {
            report.paragraph("Pages that are not there, and count as not found:");
            report.list(file.missing.iter().cloned());
        }
        let mut table: Vec<Vec<String>> =
            file.queries.first().map(|row| head(&row.figures.recall)).into_iter().collect();
        table.extend(file.queries.iter().map(|row| {
            let mut cells = vec![row.id.clone()];
            cells.extend(figures(row));
            cells.push(row.query.clone());
            cells
        }));
        report.table(table);
    }
    report.finish()
}
