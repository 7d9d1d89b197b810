//! `git memory review`.

use std::io::Write;

use super::proposal::paper::Paper;
use super::proposal::{accept, edit, show};
use super::{CliError, Context, Exit, Meaning, Result, ask};
use crate::proposal::accept::Accepted;
use crate::proposal::desk::{Desk, Hand};
use crate::proposal::reject::reject;
use crate::proposal::{Item, PageChange};
use crate::wiki::Wiki;

/// Walk through the open proposals, the oldest first, and decide on each.
///
/// Each is shown with why it was made, its evidence and its change, and one key decides: a accept, r reject, e edit
/// and look again, s skip, d details, q quit.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only these proposals
    #[arg(value_name = "ID")]
    ids: Vec<String>,
}

const CHOICES: [(char, &str); 6] = [
    ('a', "accept it: it lands on the wiki branch now"),
    ('r', "reject it, with a reason that later reviews read"),
    ('e', "edit its pages, then look again"),
    ('s', "skip it: it stays open"),
    ('d', "details: where it comes from, what was checked, the whole page"),
    ('q', "quit; the rest stays open"),
];

#[derive(Default)]
struct Tally {
    accepted: usize,
    rejected: usize,
    left: usize,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    if ctx.json || !ask::can_ask() {
        return Err(CliError::refused("needs_terminal", "a review is a conversation: it needs a terminal")
            .hint("`git memory proposal list`, then `git memory proposal accept ID` or `reject ID --reason \"…\"`"));
    }
    let mut wiki = ctx.wiki()?;
    let view = super::proposal::view(&wiki)?;
    let queue = if args.ids.is_empty() {
        super::proposal::open(ctx, &wiki, &view)?
    } else {
        super::proposal::named(&view, &args.ids)?
    };
    if queue.is_empty() {
        return Ok(super::proposal::none_open(ctx, &view));
    }
    let mut tally = Tally::default();
    for (number, item) in queue.iter().enumerate() {
        let place = format!("({}/{})", number + 1, queue.len());
        if !walk(ctx, &mut wiki, item, &place, &mut tally)? {
            tally.left += queue.len() - number;
            break;
        }
    }
    super::proposal::materialize(ctx);
    let mut out = ctx.out();
    writeln!(out, "accepted {}, rejected {}, left {}", tally.accepted, tally.rejected, tally.left)?;
    out.finish()?;
    Ok(Exit::Done)
}

/// One proposal, until it is decided or skipped; false when the person wants to stop.
fn walk(ctx: &Context, wiki: &mut Wiki, item: &Item, place: &str, tally: &mut Tally) -> Result<bool> {
    let mut details = false;
    let mut show_it = true;
    loop {
        // An edit, or another process, may have changed it.
        let view = super::proposal::view(wiki)?;
        let item = view.find(item.id())?.clone();
        if !item.status.is_open() {
            ctx.note(format!("proposal {} is {} now", view.short_id(item.id()), item.status));
            return Ok(true);
        }
        if show_it {
            print(ctx, wiki, &item, details)?;
        }
        show_it = false;
        let Some(key) = ask::choose(&format!("{place} Decide on {}", view.short_id(item.id())), &CHOICES)? else {
            return Ok(false);
        };
        match key {
            'a' => {
                if land(ctx, wiki, &item)? {
                    tally.accepted += 1;
                    return Ok(true);
                }
            }
            'r' => {
                let Some(reason) = ask::line("Why is it rejected (empty: do not reject)")? else { continue };
                let desk = Desk::open(wiki)?;
                reject(&desk, wiki, &[item.id().to_owned()], &Hand::operator(wiki)?, &reason, true)?;
                tally.rejected += 1;
                return Ok(true);
            }
            'e' => match edit::edit(ctx, wiki, &item) {
                Ok(edited) => {
                    if edited {
                        edit::gates_ahead(ctx, wiki, &item)?;
                    }
                    show_it = true;
                }
                Err(error) if error.exit == Exit::Refused => complain(&error),
                Err(error) => return Err(error),
            },
            'd' => (details, show_it) = (true, true),
            's' => {
                tally.left += 1;
                return Ok(true);
            }
            _ => return Ok(false),
        }
    }
}

fn print(ctx: &Context, wiki: &Wiki, item: &Item, details: bool) -> Result<()> {
    let show::Read { sidecar, changes, needs } = show::read(ctx, wiki, item)?;
    let mut out = ctx.paged();
    let paper = Paper { item, sidecar: sidecar.as_ref(), changes: &changes, needs_person: needs.as_deref() };
    paper.print(ctx, wiki, &mut out, details)?;
    for PageChange { path, before, after } in changes.iter().filter(|_| details) {
        if let (Some(_), Some(after)) = (before, after) {
            writeln!(out, "\n{}", ctx.paint(Meaning::Head, format!("{} as it would be", super::shown(path))))?;
            writeln!(out, "{}", super::shown_lines(&String::from_utf8_lossy(after)).trim_end())?;
        }
    }
    out.finish()
}

/// Accepts one; false when it stays open.
fn land(ctx: &Context, wiki: &mut Wiki, item: &Item) -> Result<bool> {
    let outcomes = match accept::decide(ctx, wiki, std::slice::from_ref(item), false) {
        Ok(outcomes) => outcomes,
        // Files in the way, a busy branch: the person may mend that and try again, or go on.
        Err(error) if matches!(error.exit, Exit::Refused | Exit::Busy) => {
            complain(&error);
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    for (id, outcome) in outcomes {
        if matches!(outcome, Accepted::Landed(_) | Accepted::Already(_)) {
            return Ok(true);
        }
        complain(&accept::Outcome::new(id, item.proposal.paths.clone(), outcome).error());
    }
    Ok(false)
}

fn complain(error: &CliError) {
    super::context::say("error: ", &error.message);
    if let Some(hint) = &error.hint {
        super::context::say("hint: ", hint);
    }
}
