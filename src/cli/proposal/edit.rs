//! `git memory proposal edit`.

use std::io::Write;

use serde::Serialize;

use super::super::{CliError, Context, Exit, Meaning, Result, shown};
use super::editor::Draft;
use crate::improve::gates;
use crate::proposal::desk::{Desk, Hand};
use crate::proposal::{Item, PageChange, Refused, amend};
use crate::wiki::Wiki;

/// Edit the pages of an open proposal before deciding on it.
///
/// The editor (core.editor, GIT_EDITOR) opens on the text of each page; what is saved is what lands. The person's
/// version becomes a further commit on the proposal's branch, so that the merge shows both hands. An accept checks it
/// again, and asks the gates that there are.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposal
    #[arg(value_name = "ID")]
    id: String,
}

/// What `proposal edit --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Edited {
    /// The proposal.
    pub id: String,
    /// Whether anything was changed.
    pub edited: bool,
    /// The gates that an accept asks about the text as it is now: `eval`, `judge`, `retrieval`.
    pub gates: Vec<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    let item = view.find(&args.id)?.clone();
    let edited = edit(ctx, &mut wiki, &item)?;
    let gates = if edited { gates_ahead(ctx, &wiki, &item)? } else { Vec::new() };
    if ctx.json {
        ctx.print_json("edited", &Edited { id: item.id().to_owned(), edited, gates })?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.out();
    let (short, page) = (super::id(ctx, &view, &item), ctx.paint(Meaning::Place, super::page(&item)));
    writeln!(out, "{short} {page} {}", if edited { "edited" } else { "unchanged" })?;
    out.finish()?;
    Ok(Exit::Done)
}

/// The gates that an accept asks about the text that was just recorded. People are told.
pub(in crate::cli) fn gates_ahead(ctx: &Context, wiki: &Wiki, item: &Item) -> Result<Vec<String>> {
    let asked: Vec<String> = gates::asked(wiki, item)?.into_iter().map(str::to_owned).collect();
    if !asked.is_empty() {
        ctx.note(format!("accepting it asks its gates about the text as it is now: {}", asked.join(", ")));
    }
    Ok(asked)
}

/// Opens the editor on each page and records what was saved; false when nothing differs. A text that cannot be
/// recorded is kept in its file.
pub(in crate::cli) fn edit(ctx: &Context, wiki: &mut Wiki, item: &Item) -> Result<bool> {
    if !item.status.is_open() {
        return Err(Refused::no_branch(item.id(), item.status).into());
    }
    let pages = amend::pages(wiki, item)?;
    let mut drafts = Vec::new();
    let mut changed: Vec<PageChange> = Vec::new();
    for page in pages {
        let Some(text) = page.after.clone() else { continue };
        let name = page.path.rsplit('/').next().unwrap_or("page.md").to_owned();
        let draft = Draft::new(&wiki.repo, &name, &text)?;
        let saved = match draft.open(ctx, &wiki.repo) {
            Ok(saved) => saved,
            Err(error) => {
                // An editor that fails may have saved before.
                if draft.text().is_ok_and(|now| now != text) {
                    drafts.push(draft);
                }
                return Err(kept(error, &mut drafts));
            }
        };
        if saved != text {
            changed.push(PageChange { after: Some(saved), ..page });
            drafts.push(draft);
        }
    }
    if changed.is_empty() {
        return Ok(false);
    }
    record(wiki, item, &changed).map_err(|error| kept(error, &mut drafts))
}

fn record(wiki: &mut Wiki, item: &Item, pages: &[PageChange]) -> Result<bool> {
    let desk = Desk::open(wiki)?;
    if desk.find(item.id())?.tip != item.tip {
        return Err(CliError::refused(
            "changed_meanwhile",
            format!("proposal {} was changed while you edited it", item.id()),
        )
        .hint("edit it again; your text is kept"));
    }
    let hand = Hand::operator(wiki)?;
    Ok(amend::edit(&desk, wiki, item.id(), &hand, pages)?)
}

/// The error, with where the texts are that would else be lost.
fn kept(error: CliError, drafts: &mut Vec<Draft>) -> CliError {
    let files: Vec<String> =
        drafts.drain(..).map(|draft| shown(&draft.keep().to_string_lossy()).into_owned()).collect();
    if files.is_empty() {
        return error;
    }
    let hint = error.hint.clone().map(|hint| format!("{hint}\n")).unwrap_or_default();
    error.hint(format!("{hint}what you wrote is kept in {}", files.join(", ")))
}
