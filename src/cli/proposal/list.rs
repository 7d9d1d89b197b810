//! `git memory proposal list`.

use std::io::Write;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::super::output::JsonList;
use super::super::{Cell, Context, Exit, Meaning, Result, Table, age, shown};
use crate::ledger::{self, Status};
use crate::proposal::row::{Row, marks};
use crate::proposal::view::{PENDING, Wanted};
use crate::proposal::{Item, View};
use crate::wiki::{Kind, Wiki};

/// List proposals, the oldest first: those that wait for a decision, unless asked otherwise.
///
/// With --porcelain each has one line of fields with tabs between them: id, status, kind, operation, when it was
/// staged, marks (comma-separated, or `-`), the number of pages, the pages, the title. Control characters in them are
/// escaped; with -z they are not, and a NUL ends each proposal.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Only those in these states [default: pending,conflicted]
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = statuses(), hide_default_value = true)]
    status: Vec<Status>,

    /// In every state
    #[arg(long, conflicts_with = "status")]
    all: bool,

    /// Only those that this lane made
    #[arg(long, value_name = "LANE")]
    lane: Option<String>,

    /// Only those for pages of this kind
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<Kind>,

    /// Only those for this page, or for pages below this folder
    #[arg(long, value_name = "PATH")]
    page: Option<String>,

    /// Only those staged since then: a date, a time, or a length of time (7d)
    #[arg(long, value_name = "TIME", value_parser = super::moment)]
    since: Option<jiff::Timestamp>,

    /// A form for scripts that stays as it is
    #[arg(long)]
    porcelain: bool,

    /// End each proposal with NUL instead of a line end
    #[arg(short = 'z', requires = "porcelain")]
    zero: bool,
}

const STATUSES: [Status; 6] =
    [Status::Pending, Status::Conflicted, Status::Accepted, Status::Rejected, Status::Reverted, Status::Expired];

fn statuses() -> impl TypedValueParser<Value = Status> {
    PossibleValuesParser::new(STATUSES.map(Status::as_str))
        .map(|word| STATUSES.into_iter().find(|status| status.as_str() == word).unwrap_or(Status::Pending))
}

/// A kind, as an option's value.
pub(super) fn kind(word: &str) -> Result<Kind, String> {
    Kind::parse(word).ok_or_else(|| format!("the kinds are {}", Kind::ALL.map(Kind::as_str).join(", ")))
}

/// What `proposal list --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proposals {
    /// The proposals, oldest first.
    pub proposals: Vec<Row>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    for fault in &view.state.faults {
        ctx.warn(format!("the ledger has a part that cannot be read and was passed over: {fault}"));
    }
    for id in &view.strays {
        ctx.warn(format!("{PENDING}{id} belongs to no proposal that the ledger knows"));
    }
    let items = chosen(ctx, &wiki, &view, &args)?;
    if ctx.json {
        let mut out = ctx.out();
        let mut list = JsonList::start(&mut out, "proposals", &serde_json::Map::new(), "proposals")?;
        for item in items {
            list.item(&Row::new(&wiki, item))?;
        }
        list.end()?;
        out.finish()?;
    } else if args.porcelain {
        let mut out = ctx.out();
        for item in items {
            let row = Row::new(&wiki, item);
            let line = porcelain(&row, if args.zero { None } else { Some(shown_field) });
            out.write_all(line.as_bytes())?;
            out.write_all(if args.zero { b"\0" } else { b"\n" })?;
        }
        out.finish()?;
    } else if items.is_empty() && args.narrows(ctx) {
        ctx.note("no such proposals");
    } else if items.is_empty() {
        super::none_open(ctx, &view);
    } else {
        let mut out = ctx.paged();
        table(&wiki, &view, &items).print(ctx, &mut out)?;
        out.finish()?;
    }
    Ok(if super::is_whole(&view) { Exit::Done } else { Exit::Refused })
}

impl Args {
    fn narrows(&self, ctx: &Context) -> bool {
        !self.status.is_empty()
            || self.all
            || self.lane.is_some()
            || self.kind.is_some()
            || self.page.is_some()
            || self.since.is_some()
            || ctx.scope.is_some()
    }
}

fn chosen<'v>(ctx: &Context, wiki: &Wiki, view: &'v View, args: &Args) -> Result<Vec<&'v Item>> {
    Ok(view.chosen(&Wanted {
        states: args.status.clone(),
        all: args.all,
        lane: args.lane.clone(),
        kind: args.kind,
        scope: super::scope(ctx, wiki)?.map(str::to_owned),
        page: args.page.as_ref().map(|page| wiki.page_name(page)),
        since: args.since,
    }))
}

fn table(wiki: &Wiki, view: &View, items: &[&Item]) -> Table {
    let now = ledger::now();
    let mut table = Table::new();
    table.head(&["id", "status", "kind", "page", "age", "title"]);
    for item in items {
        let row = Row::new(wiki, item);
        let status = match item.status {
            Status::Pending => Cell::new("pending"),
            Status::Accepted => Cell::with(Meaning::Good, "accepted"),
            Status::Expired => Cell::with(Meaning::Dim, "expired"),
            other => Cell::with(Meaning::Bad, other.as_str()),
        };
        let marks = marks(&row);
        let title = if marks.is_empty() { row.title.clone() } else { format!("{} [{}]", row.title, marks.join(", ")) };
        table.row([
            Cell::with(Meaning::Id, view.short_id(item.id())),
            status,
            Cell::new(&row.kind),
            Cell::with(Meaning::Place, super::page(item)),
            Cell::right(age(row.staged_at, now)),
            Cell::new(title),
        ]);
    }
    table
}

fn shown_field(text: &str) -> String {
    shown(text).replace('\t', "\\t")
}

fn porcelain(row: &Row, escape: Option<fn(&str) -> String>) -> String {
    let marks = marks(row).join(",");
    let count = row.paths.len().to_string();
    let staged = row.staged_at.to_string();
    let mut fields = vec![
        row.id.as_str(),
        row.status.as_str(),
        &row.kind,
        &row.operation,
        &staged,
        if marks.is_empty() { "-" } else { &marks },
        &count,
    ];
    fields.extend(row.paths.iter().map(String::as_str));
    fields.push(&row.title);
    let fields: Vec<String> =
        fields.into_iter().map(|field| escape.map_or_else(|| field.to_owned(), |escape| escape(field))).collect();
    fields.join("\t")
}
