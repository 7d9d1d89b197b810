//! `git memory proposal revert`.

use std::io::Write;

use serde::Serialize;

use super::super::{CliError, Context, Exit, Meaning, Result, ask};
use super::reopen::Failure;
use crate::ledger::Status;
use crate::proposal::desk::{Desk, Hand};
use crate::proposal::revert::{Reverted as Outcome, revert};
use crate::proposal::{self, Item};
use crate::wiki::Wiki;

/// Take accepted proposals back: a git revert of what landed, as a new commit on the wiki branch.
///
/// Where later changes of the same page are in the way nothing is changed: a proposal that you can edit is staged in
/// its place. The reason is kept, as that of a rejection is.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposals
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,

    /// Why; asked for on a terminal
    #[arg(long, short = 'm', value_name = "TEXT")]
    reason: Option<String>,
}

/// What `proposal revert --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reverts {
    /// The proposals that were taken back.
    pub reverted: Vec<Reverted>,
    /// Those for which a proposal was staged instead.
    pub proposed: Vec<Proposed>,
    /// Those with which nothing was done.
    pub failed: Vec<Failure>,
}

/// One that was taken back.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reverted {
    /// Its id.
    pub id: String,
    /// The commit that takes it back.
    pub commit: String,
}

/// One that later changes keep from being taken back.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proposed {
    /// Its id.
    pub id: String,
    /// The proposal that was staged instead.
    pub proposal: String,
    /// The proposals that were accepted later and touch the same pages.
    pub later: Vec<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    let items = super::named(&view, &args.ids)?;
    let reason = super::reason(ctx, args.reason, "Why is it taken back (may be left empty)")?.unwrap_or_default();
    let mut done = Reverts { reverted: Vec::new(), proposed: Vec::new(), failed: Vec::new() };
    let mut out = ctx.out();
    for item in &items {
        let (short, page) = (super::id(ctx, &view, item), ctx.paint(Meaning::Place, super::page(item)));
        match one(&mut wiki, item, &reason) {
            Ok(Outcome::Done(commit)) => {
                if !ctx.json {
                    let hex = commit.to_string();
                    writeln!(out, "{short} {page} {} by {}", ctx.paint(Meaning::Bad, "reverted"), &hex[..12])?;
                }
                done.reverted.push(Reverted { id: item.id().to_owned(), commit: commit.to_string() });
            }
            Ok(Outcome::Proposed { proposal, later }) => {
                if !ctx.json {
                    let later = if later.is_empty() { String::new() } else { format!(" ({})", later.join(", ")) };
                    writeln!(
                        out,
                        "{short} {page} was changed later{later}: proposal {} would take it back",
                        ctx.paint(Meaning::Id, proposal.as_str())
                    )?;
                }
                done.proposed.push(Proposed { id: item.id().to_owned(), proposal: proposal.to_string(), later });
            }
            Err(error) if error.exit == Exit::Refused => {
                super::complain(view.short_id(item.id()), &error);
                done.failed.push(Failure::new(item.id(), &error));
            }
            Err(error) => return Err(error),
        }
    }
    if ctx.json {
        super::super::output::json(&mut out, "reverted", &done)?;
    }
    out.finish()?;
    if let (Some(first), false) = (done.proposed.first(), ctx.json) {
        let id = &first.proposal;
        ctx.hint(format!("`git memory proposal edit {id}`, then `git memory proposal accept {id}`"));
    } else if let ([one], false) = (&done.reverted[..], ctx.json) {
        ctx.hint(format!("`git memory proposal reopen {}` proposes it again", view.short_id(&one.id)));
    }
    Ok(if done.failed.is_empty() && done.proposed.is_empty() { Exit::Done } else { Exit::Refused })
}

fn one(wiki: &mut Wiki, item: &Item, reason: &str) -> Result<Outcome> {
    let mut yes = false;
    if item.status == Status::Accepted
        && let Some(why) = proposal::guarded(wiki, item)?
    {
        let question = format!("Revert proposal {} ({}): {why}", item.id(), item.proposal.paths.join(", "));
        yes = ask::ask_person(&question)?;
        if !yes {
            return Err(CliError::refused("declined", "it was not agreed to"));
        }
    }
    let mut desk = Desk::open(wiki)?;
    let hand = Hand::operator(wiki)?;
    Ok(revert(&mut desk, wiki, item.id(), &hand, reason, yes)?)
}
