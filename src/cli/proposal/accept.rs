//! `git memory proposal accept`.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use super::super::{CliError, Context, Exit, Meaning, Result, ask};
use super::paper::{self, Paper};
use super::show;
use crate::git::Oid;
use crate::improve::gates;
use crate::proposal::accept::{Accepted, How, accept};
use crate::proposal::desk::Hand;
use crate::proposal::{self, Item, PageChange, Refused, SecondLook, View};
use crate::wiki::Wiki;

/// Accept proposals: each lands as a merge commit on the wiki branch.
///
/// Several land in one advance of the branch. What conflicts or is refused is left out and reported, the others land.
/// Rules, protected pages and retirements need a person's answer on the terminal, which --yes does not give.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposals
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,

    /// All that are open
    #[arg(long, conflicts_with = "ids")]
    all: bool,

    /// Advance the branch once for each
    #[arg(long)]
    one_by_one: bool,
}

/// What `proposal accept --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Decided {
    /// How many landed now.
    pub landed: usize,
    /// What became of each.
    pub results: Vec<Outcome>,
}

/// What became of one proposal.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    /// Its id.
    pub id: String,
    /// Its pages, relative to the wiki's root.
    pub paths: Vec<String>,
    /// What became of it.
    pub outcome: Became,
    /// The commit that landed it.
    pub commit: Option<String>,
    /// Why not, as a word.
    pub code: Option<String>,
    /// Why not.
    pub message: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
    /// The files that conflict, from the top of the branch.
    pub files: Vec<String>,
}

/// What became of one proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Became {
    /// It landed now.
    Landed,
    /// It had landed before.
    Already,
    /// It does not merge.
    Conflicted,
    /// It may not land.
    Refused,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    let items = if args.all { super::open(ctx, &wiki, &view)? } else { super::named(&view, &args.ids)? };
    if items.is_empty() {
        if ctx.json {
            ctx.print_json("accepted", &Decided { landed: 0, results: Vec::new() })?;
        }
        return Ok(super::none_open(ctx, &view));
    }
    // On a terminal a slip of the fingers is caught; elsewhere --all was said in so many words.
    if args.all && ask::can_ask() && !ask::confirm(ctx, &format!("Accept all {} open proposals?", items.len()))? {
        return Ok(Exit::Refused);
    }
    let results = decide(ctx, &mut wiki, &items, args.one_by_one)?;
    report(ctx, &view, &items, results)
}

/// Accepts: asks the person where only a person may say yes, then lands everything that may land, then offers to mend
/// by section what only conflicts in its text.
pub(in crate::cli) fn decide(
    ctx: &Context,
    wiki: &mut Wiki,
    items: &[Item],
    one_by_one: bool,
) -> Result<Vec<(String, Accepted)>> {
    let second_looks = look_again(ctx, wiki, items)?;
    let fails = |item: &Item| second_looks.get(item.id()).is_some_and(|look| look.refused.is_some());
    let mut said_yes = BTreeMap::new();
    let mut refused = Vec::new();
    for item in items.iter().filter(|item| item.status.is_open() && !fails(item)) {
        match person(ctx, wiki, item)? {
            Ok(Some(tip)) => {
                said_yes.insert(item.id().to_owned(), tip);
            }
            Ok(None) => {}
            Err(why) => refused.push((item.id().to_owned(), Accepted::Refused(why))),
        }
    }
    let ids: Vec<String> = items
        .iter()
        .map(|item| item.id().to_owned())
        .filter(|id| !refused.iter().any(|(known, _)| known == id))
        .collect();
    let hand = Hand::operator(wiki)?;
    let mut how = How { hand, person_said_yes: said_yes, second_looks, by_section: false };
    let mut outcomes = if ids.is_empty() {
        Vec::new()
    } else if one_by_one {
        let mut outcomes = Vec::with_capacity(ids.len());
        for id in ids {
            outcomes.extend(accept(wiki, &[id], &how)?);
        }
        outcomes
    } else {
        accept(wiki, &ids, &how)?
    };
    how.by_section = true;
    for (id, outcome) in &mut outcomes {
        if let Accepted::Conflicted { mended: Some(pages), .. } = outcome
            && agree_to_sections(ctx, id, pages)?
            && let Some((_, now)) = accept(wiki, std::slice::from_ref(id), &how)?.pop()
        {
            *outcome = now;
        }
    }
    outcomes.extend(refused);
    // In the order in which they were asked for.
    let place = |id: &str| items.iter().position(|item| item.id() == id);
    outcomes.sort_by_key(|(id, _)| place(id));
    Ok(outcomes)
}

/// What the gates say of those that people edited. Programs and models take their time, so what goes on is told.
fn look_again(ctx: &Context, wiki: &Wiki, items: &[Item]) -> Result<BTreeMap<String, SecondLook>> {
    for item in items.iter().filter(|item| item.status.is_open() && item.was_edited()) {
        let asked = gates::asked(wiki, item)?;
        if !asked.is_empty() {
            ctx.note(format!("proposal {} was edited; its gates look at it again: {}", item.id(), asked.join(", ")));
        }
    }
    let looks = gates::again(wiki, items)?;
    for (id, left) in looks.iter().filter_map(|(id, look)| Some((id, look.left.as_ref()?))) {
        ctx.note(format!("proposal {id}: its gates leave it to you: {left}"));
    }
    Ok(looks)
}

/// Asks the person, where only a person's explicit yes lands the proposal. Inside: the commit that was agreed to, or
/// `None` when nobody need be asked; or why it may not land.
fn person(ctx: &Context, wiki: &Wiki, item: &Item) -> Result<Result<Option<Oid>, Refused>> {
    let Some(why) = proposal::needs_person(wiki, item)? else { return Ok(Ok(None)) };
    let read = show::read(ctx, wiki, item)?;
    if ask::under_agent().is_none() {
        let paper = Paper { item, sidecar: read.sidecar.as_ref(), changes: &read.changes, needs_person: Some(&why) };
        paper.print(ctx, wiki, &mut std::io::stderr().lock(), false)?;
    }
    let question = format!("Accept proposal {} ({}): {why}", item.id(), item.proposal.paths.join(", "));
    Ok(match ask::ask_person(&question) {
        Ok(true) => Ok(item.tip),
        Ok(false) => Err(Refused::new("declined", format!("proposal {} was not agreed to", item.id()))),
        Err(error) if error.exit == Exit::Refused => {
            Err(Refused { code: error.code, message: error.message, hint: error.hint })
        }
        Err(error) => return Err(error),
    })
}

/// Shows what a section-wise merge gives and asks for one yes. Where nobody can be asked the answer is no.
pub(super) fn agree_to_sections(ctx: &Context, id: &str, pages: &[PageChange]) -> Result<bool> {
    if !ctx.yes && !ask::can_ask() {
        return Ok(false);
    }
    let mut err = std::io::stderr().lock();
    writeln!(err, "Proposal {id} and the page as it is now changed the same place. Merged section by section:")?;
    for page in pages {
        paper::diff(ctx, &mut err, page)?;
    }
    drop(err);
    ask::confirm(ctx, "Take this?")
}

/// What became of each, as words or JSON.
fn report(ctx: &Context, view: &View, items: &[Item], results: Vec<(String, Accepted)>) -> Result<Exit> {
    let mut decided = Decided { landed: 0, results: Vec::with_capacity(results.len()) };
    for (id, result) in results {
        let paths = items.iter().find(|item| item.id() == id).map(|item| item.proposal.paths.clone());
        decided.results.push(Outcome::new(id, paths.unwrap_or_default(), result));
    }
    decided.landed = decided.results.iter().filter(|outcome| outcome.outcome == Became::Landed).count();
    let all_well = decided.results.iter().all(|outcome| matches!(outcome.outcome, Became::Landed | Became::Already));
    let mut out = ctx.out();
    for outcome in decided.results.iter().filter(|_| !ctx.json) {
        let Some(item) = items.iter().find(|item| item.id() == outcome.id) else { continue };
        let (id, page) = (super::id(ctx, view, item), ctx.paint(Meaning::Place, super::page(item)));
        let commit = outcome
            .commit
            .as_deref()
            .map_or(String::new(), |commit| format!(" as {}", &commit[..commit.len().min(12)]));
        match outcome.outcome {
            Became::Landed => writeln!(out, "{id} {page} {}{commit}", ctx.paint(Meaning::Good, "landed"))?,
            Became::Already if item.is_missing() => {
                let hint = format!("`git memory proposal reopen {}` proposes it again", view.short_id(&outcome.id));
                writeln!(out, "{id} {page} was accepted before, and what landed is not on the branch: {hint}")?;
            }
            Became::Already => writeln!(out, "{id} {page} was accepted before{commit}")?,
            Became::Conflicted | Became::Refused => {}
        }
    }
    if ctx.json {
        super::super::output::json(&mut out, "accepted", &decided)?;
    }
    out.finish()?;
    for outcome in &decided.results {
        if matches!(outcome.outcome, Became::Conflicted | Became::Refused) {
            super::complain(view.short_id(&outcome.id), &outcome.error());
        }
    }
    if !ctx.json {
        match decided.results.iter().find(|outcome| outcome.outcome == Became::Landed) {
            Some(one) if decided.landed == 1 => {
                ctx.hint(format!("`git memory proposal revert {}` takes it back", view.short_id(&one.id)));
            }
            Some(_) => ctx.hint(format!("{} landed; `git memory proposal revert ID` takes one back", decided.landed)),
            None => {}
        }
    }
    Ok(if all_well { Exit::Done } else { Exit::Refused })
}

impl Outcome {
    pub(in crate::cli) fn new(id: String, paths: Vec<String>, accepted: Accepted) -> Outcome {
        let mut outcome = Outcome {
            outcome: Became::Landed,
            commit: None,
            code: None,
            message: None,
            hint: None,
            files: Vec::new(),
            id,
            paths,
        };
        match accepted {
            Accepted::Landed(commit) => outcome.commit = Some(commit.to_string()),
            Accepted::Already(commit) => (outcome.outcome, outcome.commit) = (Became::Already, commit),
            Accepted::Refused(refused) => {
                outcome.outcome = Became::Refused;
                outcome.code = Some(refused.code.to_owned());
                outcome.message = Some(refused.message);
                outcome.hint = refused.hint;
            }
            Accepted::Conflicted { reason, files, mended } => {
                let id = &outcome.id;
                let (code, message, hint) = if reason == "stale_base" {
                    let message = "the commit it was made from is not on the wiki branch any more".to_owned();
                    ("stale_base", message, format!("`git memory proposal rebase {id}` brings it there"))
                } else if mended.is_some() {
                    let message = format!("it conflicts in {} and can be merged by section", files.join(", "));
                    let hint =
                        format!("`git memory proposal accept {id}` on a terminal shows the merge; --yes takes it");
                    ("conflict", message, hint)
                } else {
                    let message = format!("it conflicts in {}: {reason}", files.join(", "));
                    let hint =
                        format!("`git memory proposal edit {id}`, or `git memory proposal rebase {id}`, or reject it");
                    ("conflict", message, hint)
                };
                outcome.outcome = Became::Conflicted;
                outcome.code = Some(code.to_owned());
                outcome.message = Some(message);
                outcome.hint = Some(hint);
                outcome.files = files;
            }
        }
        outcome
    }

    /// Why it did not land.
    pub(in crate::cli) fn error(&self) -> CliError {
        let mut error = CliError::refused("not_accepted", self.message.clone().unwrap_or_default());
        error.hint = self.hint.clone();
        error
    }
}
