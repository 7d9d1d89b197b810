//! `git memory log`.

use std::io::Write;

use clap::builder::PossibleValuesParser;

use super::output::JsonList;
use super::{Context, Exit, Meaning, Result, age, moment, shown};
use crate::ledger;
use crate::report::history::{COMMIT, Entry, Filter, history};

/// Show what happened, the newest first: events of the ledger, and commits that people made on the wiki branch.
///
/// A line says how long ago, what, the proposal (or session, or commit), the page, then what else there is to say and
/// who did it. How runs claim sessions and pages and let them go is told with --json, or when --run, --session, --page
/// or --kind asks for it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only of the proposal whose id begins so
    #[arg(long, value_name = "ID")]
    proposal: Option<String>,

    /// Only of this page
    #[arg(long, value_name = "PATH")]
    page: Option<String>,

    /// Only of the run whose id begins so
    #[arg(long, value_name = "ID")]
    run: Option<String>,

    /// Only of the session whose id begins so
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Only of this kind
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(KINDS), hide_possible_values = true)]
    kind: Option<String>,

    /// Not before then: a date, a time, or a length of time (2w, 3 days ago)
    #[arg(long, value_name = "TIME", value_parser = moment::moment)]
    since: Option<jiff::Timestamp>,

    /// So many at most
    #[arg(short = 'n', long = "limit", value_name = "N")]
    limit: Option<usize>,
}

const KINDS: [&str; 24] = [
    "accepted",
    "captured",
    "claimed",
    COMMIT,
    "conflicted",
    "downgraded",
    "edited",
    "episode",
    "expired",
    "feedback",
    "held",
    "outcome",
    "published",
    "purged",
    "refused",
    "rejected",
    "released",
    "reopened",
    "reverted",
    "sighted",
    "skipped",
    "staged",
    "synced",
    "watermark",
];

/// What `log --json` prints.
#[cfg(test)]
#[derive(Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Log {
    /// Newest first.
    entries: Vec<Entry>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    if let Some(name) = &ctx.scope {
        wiki.scopes.named(name)?;
    }
    let is_asked = args.run.is_some() || args.session.is_some() || args.page.is_some() || args.kind.is_some();
    let without_claims = !ctx.json && !is_asked;
    let filter = Filter {
        proposal: args.proposal,
        page: args.page.map(|page| wiki.page_name(&page)),
        run: args.run,
        session: args.session,
        kind: args.kind,
        without_claims,
        scope: ctx.scope.clone(),
        since: args.since,
        most: args.limit,
    };
    let (entries, faults) = history(&wiki, &filter)?;
    for fault in faults {
        ctx.warn(format!("a part of the ledger cannot be read and is passed over: {fault}"));
    }
    if ctx.json {
        let mut out = ctx.out();
        let mut list = JsonList::start(&mut out, "log", &serde_json::Map::new(), "entries")?;
        for entry in &entries {
            list.item(entry)?;
        }
        list.end()?;
        out.finish()?;
        return Ok(Exit::Done);
    }
    if entries.is_empty() {
        ctx.note("nothing happened yet that this asks for");
        return Ok(Exit::Done);
    }
    let now = ledger::now();
    let mut out = ctx.paged();
    for entry in &entries {
        writeln!(out, "{}", line(ctx, entry, now))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn line(ctx: &Context, entry: &Entry, now: jiff::Timestamp) -> String {
    // Proposals and commits are digests: their beginnings differ. Ids that begin with the time are told in full.
    let id = match (&entry.proposal, &entry.session) {
        (Some(proposal), _) => short(proposal),
        (None, Some(session)) => session,
        (None, None) if entry.kind == COMMIT => short(&entry.id),
        // The page says what it is about; the event's own id stands in --json.
        (None, None) if entry.page.is_some() || entry.kind == "watermark" => "",
        (None, None) => entry.run.as_deref().unwrap_or(&entry.id),
    };
    let meaning = match entry.kind.as_str() {
        "accepted" => Meaning::Good,
        "refused" | "rejected" | "reverted" | "conflicted" => Meaning::Bad,
        COMMIT => Meaning::Dim,
        _ => Meaning::Head,
    };
    let age = age(entry.at, now);
    // Wide enough for the longest kind, so that the ids stand in one column.
    let kind = ctx.paint(meaning, format!("{:<10}", shown(&entry.kind)));
    let mut line = format!("{age:>6} {kind}");
    if !id.is_empty() {
        line.push_str(&format!(" {}", ctx.paint(Meaning::Id, shown(id))));
    }
    if let Some(page) = &entry.page {
        line.push_str(&format!(" {}", ctx.paint(Meaning::Place, shown(page))));
    }
    let begins = "what ended before is not reviewed on its own";
    let detail = entry.detail.as_deref().or((entry.kind == "watermark").then_some(begins));
    if let Some(detail) = detail {
        // Reasons that are words of ours, not of people.
        let is_code = matches!(entry.kind.as_str(), "skipped" | "downgraded");
        let detail = if is_code { detail.replace('_', " ") } else { detail.to_owned() };
        line.push_str(&format!(" — {}", shown(&detail)));
    }
    let by = match &entry.operator {
        Some(operator) => format!("{} for {}", name(&entry.actor), name(operator)),
        None => name(&entry.actor).to_owned(),
    };
    format!("{line} {}", ctx.paint(Meaning::Dim, format!("(by {})", shown(&by))))
}

/// A person without the address, which tells nothing more on a line.
fn name(person: &str) -> &str {
    person.split_once(" <").map_or(person, |(name, _)| name)
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
