//! `git memory proposal reopen`.

use std::io::Write;

use serde::Serialize;

use super::super::{CliError, Context, Exit, Meaning, Result};
use crate::proposal::desk::{Desk, Hand};
use crate::proposal::reject::reopen;

/// Make closed proposals pending again, with a fresh commit on today's branch.
///
/// For those that were rejected, reverted or expired, and for accepted ones whose landing is not on the branch.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposals
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
}

/// What `proposal reopen --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reopened {
    /// The proposals that are pending again.
    pub reopened: Vec<String>,
    /// Those that are not.
    pub failed: Vec<Failure>,
}

/// A proposal with which what was asked was not done.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failure {
    /// Its id.
    pub id: String,
    /// Why, as a word.
    pub code: String,
    /// Why.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Failure {
    pub(super) fn new(id: &str, error: &CliError) -> Failure {
        let id = id.to_owned();
        Failure { id, code: error.code.to_owned(), message: error.message.clone(), hint: error.hint.clone() }
    }
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    let items = super::named(&view, &args.ids)?;
    let desk = Desk::open(&mut wiki)?;
    let hand = Hand::operator(&wiki)?;
    let mut done = Reopened { reopened: Vec::new(), failed: Vec::new() };
    let mut out = ctx.out();
    for item in &items {
        let short = view.short_id(item.id());
        match reopen(&desk, &wiki, item.id(), &hand).map_err(CliError::from) {
            Ok(_) => {
                done.reopened.push(item.id().to_owned());
                if !ctx.json {
                    let page = ctx.paint(Meaning::Place, super::page(item));
                    writeln!(out, "{} {page} is pending again", ctx.paint(Meaning::Id, short))?;
                }
            }
            Err(error) if error.exit == Exit::Refused => {
                super::complain(short, &error);
                done.failed.push(Failure::new(item.id(), &error));
            }
            Err(error) => return Err(error),
        }
    }
    if ctx.json {
        super::super::output::json(&mut out, "reopened", &done)?;
    }
    out.finish()?;
    Ok(if done.failed.is_empty() { Exit::Done } else { Exit::Refused })
}
