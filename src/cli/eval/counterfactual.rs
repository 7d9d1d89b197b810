//! `git memory eval counterfactual`.

use std::io::Write;
use std::path::PathBuf;

use bstr::ByteSlice;
use jiff::Timestamp;
use serde::Serialize;

use super::super::{Cell, CliError, Context, Exit, Meaning, Progress, Result, Table, moment, shown};
use super::markdown::Markdown;
use super::{means_table, names, numbers, place, report, retrieval};
use crate::eval::counterfactual::{Effect, LOOKED_AT, Landing, Question, asked, effect, landing_of, landings_since};
use crate::eval::metrics::Means;
use crate::eval::moved::Moved;
use crate::feedback::queries;
use crate::ledger::{self, Cache};
use crate::proposal::View;
use crate::search::{self, Kept, Pages};
use crate::wiki::Wiki;

/// Show what an accept did to retrieval: the same queries against the wiki before it landed and after.
///
/// The queries are those for which its pages were shown here in the last 90 days, and those of the files of judged
/// queries; pages are ranked by their text alone, so that nothing but the landing makes a difference. A page has its
/// place among the first fifty.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true)))]
pub struct Args {
    /// The proposal
    #[arg(value_name = "ID", group = "which")]
    id: Option<String>,

    /// All that landed since then: a date, a time, or a length of time (7d)
    #[arg(long, value_name = "TIME", value_parser = moment::moment, group = "which")]
    since: Option<Timestamp>,

    /// A file of judged queries, as for `git memory eval retrieval`; may be given more than once
    #[arg(long, value_name = "FILE")]
    queries: Vec<PathBuf>,

    /// Write a report there too: .json or .md; an existing file is not overwritten; may be given more than once
    #[arg(long, value_name = "FILE", value_parser = report::target)]
    output: Vec<PathBuf>,
}

/// What `eval counterfactual --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Effects {
    /// Each landing, oldest first.
    effects: Vec<Effect>,
    /// Landings for which no query is known.
    unknown: Vec<Unknown>,
}

/// A landing for which no query is known.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unknown {
    /// The proposals.
    proposals: Vec<String>,
    /// The commit that landed them.
    commit: String,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    report::check(ctx, &args.output)?;
    let wiki = ctx.wiki()?;
    let landings = chosen(&wiki, &args)?;
    let files = args.queries.iter().map(|path| retrieval::read(ctx, path)).collect::<Result<Vec<_>>>()?;
    let given: Vec<Question> = files
        .into_iter()
        .flat_map(|file| file.queries)
        .map(|query| Question { query: query.query, id: Some(query.id), judged: Some(query.judged) })
        .collect();
    let known = queries::all(&wiki.repo, ledger::now())?;
    for fault in &known.faults {
        ctx.warn(format!("a recorded query cannot be read and is passed over: {fault}"));
    }
    let mut found = Effects { effects: Vec::new(), unknown: Vec::new() };
    // What one landing left is what the next one mostly found.
    let kept = Kept::default();
    let mut progress = Progress::new(ctx, landings.len() as u64, "landings");
    for landing in landings {
        let mut questions = asked(&known, &landing.pages);
        questions.extend(given.iter().cloned());
        if questions.is_empty() {
            found.unknown.push(Unknown { proposals: landing.proposals, commit: landing.after.to_string() });
        } else {
            let before = kept.pages(&wiki, Some(landing.before))?;
            let after = kept.pages(&wiki, Some(landing.after))?;
            let orders = |query: &str| Ok::<_, CliError>((ranked(&before, query)?, ranked(&after, query)?));
            found.effects.push(effect(landing, &questions, orders)?);
        }
        progress.advance(1);
    }
    drop(progress);
    if found.effects.is_empty() {
        let (what, hint) = if known.absent {
            ("nothing was searched for here yet", "give judged queries with --queries")
        } else {
            ("no search of the last 90 days showed these pages", "give judged queries with --queries")
        };
        return Err(CliError::refused("no_queries", format!("there is no query to compare with: {what}")).hint(hint));
    }
    for unknown in &found.unknown {
        ctx.warn(format!("no query is known for {}; it is left out", unknown.proposals.join(", ")));
    }
    report::write(ctx, &args.output, "eval-counterfactual", &found, || markdown(&found))?;
    if ctx.json {
        ctx.print_json("eval-counterfactual", &found)?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    for (number, effect) in found.effects.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        print(ctx, effect, &mut out)?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn chosen(wiki: &Wiki, args: &Args) -> Result<Vec<Landing>> {
    let view = View::load(wiki, Cache::Use)?;
    if let Some(id) = &args.id {
        let item = view.find(id)?;
        let never = || {
            CliError::refused("not_landed", format!("proposal {} never landed on {}", item.id(), wiki.branch_name()))
                .hint("`git memory proposal list --status accepted` shows what did")
        };
        return Ok(vec![landing_of(wiki, &view, item)?.ok_or_else(never)?]);
    }
    let found = landings_since(wiki, &view, args.since.unwrap_or(Timestamp::UNIX_EPOCH))?;
    if found.is_empty() {
        return Err(CliError::refused(
            "nothing_landed",
            format!("nothing landed on {} since then", wiki.branch_name()),
        )
        .hint("give an earlier time with --since"));
    }
    Ok(found)
}

fn ranked(pages: &Pages<'_>, query: &str) -> Result<Vec<String>> {
    match pages.rank(query, LOOKED_AT) {
        Ok(pages) => Ok(pages.into_iter().map(|page| page.to_str_lossy().into_owned()).collect()),
        Err(search::Error::NoWords) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

fn title(effect: &Effect) -> String {
    format!("{} — {}", effect.proposals.join(", "), effect.title)
}

fn summary(effect: &Effect) -> String {
    let (before, after) = (short(&effect.before), short(&effect.after));
    let pages = effect.pages.join(", ");
    format!("{pages}; {before} → {after}; {} queries, {} answered otherwise", effect.asked, effect.changed)
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// The judged queries' figures on both sides.
fn judged(effect: &Effect) -> Option<[(&'static str, &Means); 2]> {
    Some([("before", effect.judged_before.as_ref()?), ("after", effect.judged_after.as_ref()?)])
}

/// The rows of changed places: the query once, the proposal's own pages first.
fn rows(effect: &Effect) -> Vec<(String, &Moved, bool)> {
    let mut rows = Vec::new();
    for answered in &effect.queries {
        let own = answered.pages.iter().filter(|page| page.before != page.after).map(|page| (page, true));
        let others = answered.moved.iter().filter(|page| !effect.pages.contains(&page.page)).map(|page| (page, false));
        for (page, own) in own.chain(others) {
            rows.push((answered.query.clone(), page, own));
        }
    }
    rows
}

fn print(ctx: &Context, effect: &Effect, out: &mut impl Write) -> Result<()> {
    writeln!(out, "{}", ctx.paint(Meaning::Head, shown(&title(effect))))?;
    writeln!(out, "{}", shown(&summary(effect)))?;
    if let Some(judged) = judged(effect) {
        means_table("", &judged).print(ctx, out)?;
    }
    let mut table = Table::new();
    table.head(&["before", "after", "page", "query"]);
    let rows = rows(effect);
    for (query, page, own) in &rows {
        let cell = if *own { Cell::with(Meaning::Place, &page.page) } else { Cell::new(&page.page) };
        table.row([Cell::right(place(page.before)), Cell::right(place(page.after)), cell, Cell::new(query)]);
    }
    if rows.is_empty() {
        writeln!(out, "no place changed")?;
        return Ok(());
    }
    table.print(ctx, out)
}

fn markdown(found: &Effects) -> String {
    let mut report = Markdown::new("What accepts did to retrieval");
    for effect in &found.effects {
        report.heading(&title(effect));
        report.paragraph(&format!("{}.", summary(effect)));
        if let Some(judged) = judged(effect) {
            let head = ["".to_owned()].into_iter().chain(names(&judged[0].1.recall)).collect();
            let rows = judged.map(|(name, means)| [name.to_owned()].into_iter().chain(numbers(means)).collect());
            report.table([head].into_iter().chain(rows));
        }
        let head = ["before", "after", "page", "query"].map(str::to_owned).to_vec();
        let changed = rows(effect).into_iter();
        let changed =
            changed.map(|(query, page, _)| vec![place(page.before), place(page.after), page.page.clone(), query]);
        report.table([head].into_iter().chain(changed));
    }
    if !found.unknown.is_empty() {
        report.heading("Without a known query");
        report.list(found.unknown.iter().map(|unknown| unknown.proposals.join(", ")));
    }
    report.finish()
}
