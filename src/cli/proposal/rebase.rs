//! `git memory proposal rebase`.

use std::io::Write;

use serde::Serialize;

use super::super::{CliError, Context, Exit, Meaning, Result};
use super::accept::agree_to_sections;
use super::reopen::Failure;
use crate::proposal::amend::{Rebased as Outcome, rebase};
use crate::proposal::desk::{Desk, Hand};
use crate::wiki::Wiki;

/// Bring open proposals onto today's wiki branch, by replaying the change of their pages.
///
/// This mends a proposal whose base is not on the branch any more, and one that conflicts only because two sections
/// were added at the same place.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposals
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
}

/// What `proposal rebase --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rebases {
    /// The proposals that stand on today's branch now.
    pub rebased: Vec<Rebased>,
    /// Those that stood there already.
    pub current: Vec<String>,
    /// Those that were left where they are.
    pub failed: Vec<Failure>,
}

/// One that was moved.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rebased {
    /// Its id.
    pub id: String,
    /// The commit of its branch now.
    pub tip: String,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    let items = super::named(&view, &args.ids)?;
    let mut done = Rebases { rebased: Vec::new(), current: Vec::new(), failed: Vec::new() };
    let mut out = ctx.out();
    for item in &items {
        let (short, page) = (super::id(ctx, &view, item), ctx.paint(Meaning::Place, super::page(item)));
        match one(ctx, &mut wiki, item.id()) {
            Ok(Some(tip)) => {
                if !ctx.json {
                    writeln!(out, "{short} {page} stands on {} now", wiki.branch_name())?;
                }
                done.rebased.push(Rebased { id: item.id().to_owned(), tip });
            }
            Ok(None) => {
                if !ctx.json {
                    writeln!(out, "{short} {page} stood on {} already", wiki.branch_name())?;
                }
                done.current.push(item.id().to_owned());
            }
            Err(error) if error.exit == Exit::Refused => {
                super::complain(view.short_id(item.id()), &error);
                done.failed.push(Failure::new(item.id(), &error));
            }
            Err(error) => return Err(error),
        }
    }
    if ctx.json {
        super::super::output::json(&mut out, "rebased", &done)?;
    }
    out.finish()?;
    Ok(if done.failed.is_empty() { Exit::Done } else { Exit::Refused })
}

/// The new tip; `None` when it stood there already.
fn one(ctx: &Context, wiki: &mut Wiki, id: &str) -> Result<Option<String>> {
    let first = attempt(wiki, id, false)?;
    let outcome = match first {
        Outcome::BySection(pages) => {
            if !agree_to_sections(ctx, id, &pages)? {
                return Err(CliError::refused("conflict", "it conflicts and can be merged by section")
                    .hint("run the rebase on a terminal to see the merge, or take it with --yes"));
            }
            attempt(wiki, id, true)?
        }
        other => other,
    };
    Ok(match outcome {
        Outcome::Done(tip) => Some(tip.to_string()),
        Outcome::Current | Outcome::BySection(_) => None,
    })
}

/// The desk is held for the attempt alone, not while a person thinks.
fn attempt(wiki: &mut Wiki, id: &str, with_sections: bool) -> Result<Outcome> {
    let desk = Desk::open(wiki)?;
    let hand = Hand::operator(wiki)?;
    Ok(rebase(&desk, wiki, id, &hand, with_sections)?)
}
