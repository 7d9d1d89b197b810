//! `git memory proposal …`: one file per command. Each is reached without the word `proposal` too.

pub mod accept;
pub mod diff;
pub mod drain;
pub mod edit;
mod editor;
pub mod list;
pub mod log;
pub(super) mod paper;
pub mod propose;
pub mod rebase;
pub mod reject;
pub mod reopen;
pub mod revert;
pub mod show;

use clap::{ArgMatches, FromArgMatches, Subcommand};

use super::moment::{duration, moment};
use super::{CliError, Context, Exit, Meaning, Result, shown};
use crate::ledger::Cache;
use crate::proposal::{Item, View, materialize};
use crate::wiki::Wiki;

/// List, show and decide on proposals.
///
/// A proposal is one change of one or more pages that waits for, or has had, a decision. It is named by its id or any
/// unique prefix of it of at least 4 digits. Without a command, the open ones are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "The word `proposal` may be left out of all of these but `log`: `git memory accept ID`.")]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// What can be done with proposals.
#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    List(list::Args),
    Show(show::Args),
    Diff(diff::Args),
    Accept(accept::Args),
    Reject(reject::Args),
    Reopen(reopen::Args),
    Revert(revert::Args),
    Edit(edit::Args),
    Rebase(rebase::Args),
    Drain(drain::Args),
    Propose(propose::Args),
    Log(log::Args),
}

impl Verb {
    fn run(self, ctx: &Context) -> Result<Exit> {
        let reads = matches!(self, Verb::List(_) | Verb::Show(_) | Verb::Diff(_) | Verb::Log(_));
        let done = self.start(ctx);
        if !reads {
            materialize(ctx);
        }
        done
    }

    fn start(self, ctx: &Context) -> Result<Exit> {
        match self {
            Verb::List(args) => list::run(ctx, args),
            Verb::Show(args) => show::run(ctx, args),
            Verb::Diff(args) => diff::run(ctx, args),
            Verb::Accept(args) => accept::run(ctx, args),
            Verb::Reject(args) => reject::run(ctx, args),
            Verb::Reopen(args) => reopen::run(ctx, args),
            Verb::Revert(args) => revert::run(ctx, args),
            Verb::Edit(args) => edit::run(ctx, args),
            Verb::Rebase(args) => rebase::run(ctx, args),
            Verb::Drain(args) => drain::run(ctx, args),
            Verb::Propose(args) => propose::run(ctx, args),
            Verb::Log(args) => log::run(ctx, args),
        }
    }
}

/// Brings the files of `pending.materialize` up to date after something was decided; trouble with them is a note.
pub(super) fn materialize(ctx: &Context) {
    if let Ok(wiki) = ctx.wiki()
        && let Err(trouble) = materialize::refresh(&wiki)
    {
        ctx.warn(trouble);
    }
}

/// The description of one verb alone.
pub(super) fn described(verb: &str) -> Option<clap::Command> {
    use super::quick::of;
    match verb {
        "list" => of::<list::Args>("list"),
        "show" => of::<show::Args>("show"),
        "diff" => of::<diff::Args>("diff"),
        "accept" => of::<accept::Args>("accept"),
        "reject" => of::<reject::Args>("reject"),
        "log" => of::<log::Args>("log"),
        "propose" => of::<propose::Args>("propose"),
        _ => None,
    }
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    args.verb.unwrap_or_else(|| Verb::List(list::Args::default())).run(ctx)
}

/// The same commands without the word `proposal`, left out of the help so that each stands there once. `log` is not
/// among them: the audit log has that name.
#[derive(Debug)]
pub struct Short(Verb);

impl Short {
    pub(super) fn run(self, ctx: &Context) -> Result<Exit> {
        self.0.run(ctx)
    }
}

impl FromArgMatches for Short {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Short, clap::Error> {
        Verb::from_arg_matches(matches).map(Short)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Subcommand for Short {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        let verbs = Verb::augment_subcommands(clap::Command::new("verbs"));
        let short = verbs.get_subcommands().filter(|verb| Short::has_subcommand(verb.get_name()));
        command.subcommands(short.map(|verb| verb.clone().hide(true)).collect::<Vec<_>>())
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Short::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        name != "log" && Verb::has_subcommand(name)
    }
}

/// The proposals as they stand, for commands that only read.
pub(super) fn view(wiki: &Wiki) -> Result<View> {
    Ok(View::load(wiki, Cache::Use)?)
}

/// Says that nothing waits, or that what waits cannot be told: damage never reads as an empty queue.
pub(super) fn none_open(ctx: &Context, view: &View) -> Exit {
    if is_whole(view) {
        ctx.note("no open proposals");
        return Exit::Done;
    }
    ctx.error("the open proposals cannot be told: parts of the ledger cannot be read, `git memory doctor` names them");
    Exit::Refused
}

/// Whether the list of proposals is known to hold all of them: no pending ref stands there of which the ledger cannot
/// tell, while parts of it cannot be read.
fn is_whole(view: &View) -> bool {
    view.state.faults.is_empty() || view.strays.is_empty()
}

/// The proposals that prefixes name, each once, in the order given.
pub(super) fn named(view: &View, prefixes: &[String]) -> Result<Vec<Item>> {
    let mut items: Vec<Item> = Vec::with_capacity(prefixes.len());
    for prefix in prefixes {
        let item = view.find(prefix)?;
        if !items.iter().any(|known| known.id() == item.id()) {
            items.push(item.clone());
        }
    }
    Ok(items)
}

/// The open proposals, oldest first, of the scope that `--scope` names.
pub(super) fn open(ctx: &Context, wiki: &Wiki, view: &View) -> Result<Vec<Item>> {
    let scope = scope(ctx, wiki)?;
    Ok(view.open().into_iter().filter(|item| scope.is_none_or(|scope| item.proposal.scope == scope)).cloned().collect())
}

/// The name that `--scope` gives, when the wiki has such a scope.
fn scope<'c>(ctx: &'c Context, wiki: &Wiki) -> Result<Option<&'c str>> {
    if let Some(name) = &ctx.scope {
        wiki.scopes.named(name)?;
    }
    Ok(ctx.scope.as_deref())
}

/// The first page of a proposal, for one line.
fn page(item: &Item) -> String {
    match &item.proposal.paths[..] {
        [] => String::new(),
        [one] => shown(one).into_owned(),
        [first, rest @ ..] => format!("{} +{}", shown(first), rest.len()),
    }
}

/// A short id, coloured.
fn id(ctx: &Context, view: &View, item: &Item) -> String {
    ctx.paint(Meaning::Id, view.short_id(item.id()))
}

/// What a decision that failed says on standard error.
fn complain(id: &str, error: &CliError) {
    super::context::say("error: ", &format!("{id}: {}", error.message));
    if let Some(hint) = &error.hint {
        super::context::say("hint: ", hint);
    }
}

/// The reason given, else asked for on a terminal.
fn reason(ctx: &Context, given: Option<String>, question: &str) -> Result<Option<String>> {
    match given.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty()) {
        Some(reason) => Ok(Some(reason)),
        None if super::ask::can_ask() && !ctx.json && !ctx.yes => super::ask::line(question),
        None => Ok(None),
    }
}
