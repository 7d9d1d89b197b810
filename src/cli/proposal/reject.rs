//! `git memory proposal reject`.

use std::io::Write;

use serde::Serialize;

use super::super::{CliError, Context, Exit, Meaning, Result};
use crate::proposal::desk::{Desk, Hand};
use crate::proposal::reject::reject;

/// Reject proposals. The reason is kept: later reviews read it, so that the same thing is not proposed again.
///
/// All of the proposals are rejected, or none when one of them is not open.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposals
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,

    /// Why; asked for on a terminal
    #[arg(long, short = 'm', value_name = "TEXT")]
    reason: Option<String>,

    /// It is not about what it says: out of date, a duplicate, closed for order. Later reviews do not read this
    #[arg(long)]
    procedural: bool,
}

/// What `proposal reject --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rejected {
    /// The proposals.
    pub rejected: Vec<String>,
    /// The reason.
    pub reason: String,
    /// On merit, not procedural.
    pub merit: bool,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    let items = super::named(&view, &args.ids)?;
    let reason = match super::reason(ctx, args.reason, "Why is it rejected")? {
        Some(reason) => reason,
        None if args.procedural => String::new(),
        None => {
            return Err(CliError::refused("needs_reason", "a rejection needs its reason")
                .hint("give it with --reason \"…\"; later reviews read it"));
        }
    };
    let ids: Vec<String> = items.iter().map(|item| item.id().to_owned()).collect();
    let desk = Desk::open(&mut wiki)?;
    reject(&desk, &wiki, &ids, &Hand::operator(&wiki)?, &reason, !args.procedural)?;
    if ctx.json {
        ctx.print_json("rejected", &Rejected { rejected: ids, reason, merit: !args.procedural })?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.out();
    for item in &items {
        let page = ctx.paint(Meaning::Place, super::page(item));
        writeln!(out, "{} {page} {}", super::id(ctx, &view, item), ctx.paint(Meaning::Bad, "rejected"))?;
    }
    out.finish()?;
    if let [one] = &items[..] {
        ctx.hint(format!("`git memory proposal reopen {}` brings it back", view.short_id(one.id())));
    }
    Ok(Exit::Done)
}
