//! `git memory proposal show`.

use std::io::Write;

use serde::Serialize;

use super::super::{CliError, Context, Exit, Meaning, Result};
use super::paper::Paper;
use crate::proposal::row::Full;
use crate::proposal::sides::Sides;
use crate::proposal::{self, Item, PageChange, Sidecar, View};
use crate::wiki::Wiki;

/// Show a proposal: what, why, on what evidence, what was checked, and the change.
///
/// The change shown is that of the proposal's branch as it is now while it is open, what landed once it was accepted,
/// and else what the ledger recorded.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposal
    #[arg(value_name = "ID")]
    id: String,
}

/// What `proposal show --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shown {
    /// The proposal.
    pub proposal: Full,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    let item = view.find(&args.id)?;
    let Read { sidecar, changes, needs } = read(ctx, &wiki, item)?;
    if ctx.json {
        let mut proposal = Full::new(&wiki, item, sidecar, &changes);
        proposal.row.needs_person = needs;
        ctx.print_json("proposal", &Shown { proposal })?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    let paper = Paper { item, sidecar: sidecar.as_ref(), changes: &changes, needs_person: needs.as_deref() };
    paper.print(ctx, &wiki, &mut out, true)?;
    next(ctx, &view, item, &mut out)?;
    out.finish()?;
    Ok(Exit::Done)
}

/// What a proposal is shown from.
pub(in crate::cli) struct Read {
    /// What the ledger keeps of it.
    pub sidecar: Option<Sidecar>,
    /// Its change.
    pub changes: Vec<PageChange>,
    /// Why only a person's explicit yes lands it, if so.
    pub needs: Option<String>,
}

/// Reads what a proposal is shown from.
pub(in crate::cli) fn read(ctx: &Context, wiki: &Wiki, item: &Item) -> Result<Read> {
    let sidecar = Sidecar::load(&wiki.repo, item.id()).unwrap_or_else(|error| {
        ctx.warn(error.to_string());
        None
    });
    let changes = Sides::of(wiki, item)?.pages(wiki, item)?;
    let needs = if item.status.is_open() { proposal::needs_person(wiki, item)? } else { None };
    Ok(Read { sidecar, changes, needs })
}

fn next(ctx: &Context, view: &View, item: &Item, out: &mut impl Write) -> Result<(), CliError> {
    use crate::ledger::Status;
    let id = view.short_id(item.id());
    let verbs: &[&str] = match item.status {
        _ if item.is_missing() || item.is_lost() => &["reopen"],
        Status::Pending => &["accept", "reject", "edit"],
        Status::Conflicted => &["rebase", "reject", "edit"],
        Status::Accepted => &["revert"],
        Status::Rejected | Status::Reverted | Status::Expired => &["reopen"],
    };
    writeln!(out)?;
    for verb in verbs {
        writeln!(out, "{}", ctx.paint(Meaning::Dim, format!("  git memory proposal {verb} {id}")))?;
    }
    Ok(())
}
