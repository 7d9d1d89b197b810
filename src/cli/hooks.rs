//! `git memory hooks`.

use std::io::Write;

use serde::Serialize;

use super::{CliError, Context, Exit, Meaning, Result, shown};
use crate::agent::Event;
use crate::agent::hooks::{self, Done, Options, Standing, State};

/// Install git hooks that tell git-memory of new commits.
///
/// After a commit, merge, rebase or amend the hooks queue what happened and start a worker in the background; they
/// never delay or fail the git command. The opt-in event `pre-commit` checks the staged pages of the wiki.
/// A hook that stands there already is kept as `<event>.legacy` and called first.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Install the hooks; twice changes nothing
    Install(Change),
    /// Take the hooks out and put back what stood there before
    Uninstall(Change),
    /// Show the hooks, and run them to see whether they fire
    Status(Selection),
}

#[derive(Debug, clap::Args)]
struct Selection {
    /// The events [default: post-commit,post-merge,post-rewrite]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "EVENT")]
    events: Vec<Event>,
}

#[derive(Debug, clap::Args)]
struct Change {
    #[command(flatten)]
    selection: Selection,
    /// Also overwrite or remove hooks of ours that were edited by hand
    #[arg(long)]
    force: bool,
}

/// What became of the hooks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changed {
    /// One entry for each event.
    hooks: Vec<ChangedHook>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ChangedHook {
    /// Git's name of the event.
    event: String,
    /// `installed`, `unchanged`, `replaced`, `removed`, `absent` or `refused`.
    pub(super) result: &'static str,
    /// In words: where the earlier hook is, or why it was refused.
    detail: Option<String>,
}

/// The hooks as they stand.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Found {
    /// One entry for each event.
    hooks: Vec<FoundHook>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FoundHook {
    /// Git's name of the event.
    event: String,
    /// `installed`, `outdated`, `edited`, `foreign`, `deleted` or `absent`.
    state: &'static str,
    /// Whether it fired when tried; null when there is nothing to try.
    fires: Option<bool>,
    /// The script, or the key of git's configuration.
    place: String,
    /// Whether it calls an earlier hook first.
    legacy: bool,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    match args.action {
        Action::Install(change) => changed(ctx, change, hooks::install, true),
        Action::Uninstall(change) => changed(ctx, change, hooks::uninstall, false),
        Action::Status(selection) => status(ctx, selection),
    }
}

/// Installs the hooks that everybody gets, for `init`. The bool: every one of them is in place.
pub(super) fn install_default(repo: &crate::git::Repo) -> Result<(Vec<ChangedHook>, bool)> {
    let options = Options::for_this_program(Event::DEFAULT.to_vec()).map_err(|error| refusal(error, &[]))?;
    let done = hooks::install(repo, &options).map_err(|error| refusal(error, &options.events))?;
    let complete = !done.iter().any(|(_, done)| matches!(done, Done::Refused(_)));
    Ok((done.into_iter().map(|(event, done)| changed_hook(event, done)).collect(), complete))
}

/// One line for a person: the event, what became of it, why.
pub(super) fn line(ctx: &Context, hook: &ChangedHook) -> String {
    let meaning = if hook.result == "refused" { Meaning::Bad } else { Meaning::Good };
    let detail = hook.detail.as_ref().map(|text| format!(": {}", shown(text))).unwrap_or_default();
    format!("{:<12} {}{detail}", hook.event, ctx.paint(meaning, hook.result))
}

type Apply = fn(&crate::git::Repo, &Options) -> Result<Vec<(Event, Done)>, hooks::Error>;

fn changed(ctx: &Context, change: Change, apply: Apply, installs: bool) -> Result<Exit> {
    let repo = ctx.repo()?;
    let events = match change.selection.events {
        events if !events.is_empty() => events,
        _ if installs => Event::DEFAULT.to_vec(),
        _ => Event::ALL.to_vec(),
    };
    let mut options = Options::for_this_program(events).map_err(|error| refusal(error, &[]))?;
    options.force = change.force;
    let done = apply(&repo, &options).map_err(|error| refusal(error, &options.events))?;
    let refused = done.iter().any(|(_, done)| matches!(done, Done::Refused(_)));
    let hooks: Vec<ChangedHook> = done.into_iter().map(|(event, done)| changed_hook(event, done)).collect();
    if ctx.json {
        ctx.print_json("hooks-changed", &Changed { hooks })?;
    } else {
        let mut out = ctx.out();
        for hook in hooks.iter().filter(|hook| installs || hook.result != "absent") {
            writeln!(out, "{}", line(ctx, hook))?;
        }
        if hooks.iter().all(|hook| hook.result == "absent") {
            writeln!(out, "no hooks of git-memory here")?;
        }
        out.finish()?;
    }
    Ok(if refused { Exit::Refused } else { Exit::Done })
}

fn changed_hook(event: Event, done: Done) -> ChangedHook {
    let (result, detail) = match done {
        Done::Installed { legacy: None } => ("installed", None),
        Done::Installed { legacy: Some(path) } => {
            ("installed", Some(format!("calls the earlier hook first, kept as {}", path.display())))
        }
        Done::Unchanged => ("unchanged", None),
        Done::Replaced => ("replaced", None),
        Done::Removed { restored: false } => ("removed", None),
        Done::Removed { restored: true } => ("removed", Some("the earlier hook is back".into())),
        Done::Absent => ("absent", None),
        Done::Refused(why) => ("refused", Some(why)),
    };
    ChangedHook { event: event.name().into(), result, detail }
}

/// Hooks that cannot be installed here at all; what to put where by hand is the hint.
fn refusal(error: hooks::Error, events: &[Event]) -> CliError {
    let snippet = error.snippet(events);
    let found = match error {
        hooks::Error::Git(error) => return error.into(),
        hooks::Error::Io { .. } => CliError::fatal("io", error.to_string()),
        hooks::Error::HooksPath { .. } => CliError::refused("hooks_path", format!("{error}; nothing was written")),
        hooks::Error::Managed { .. } => CliError::refused("hook_manager", format!("{error}; nothing was written")),
    };
    if snippet.is_empty() { found } else { found.hint(format!("add this there:\n{}", snippet.trim_end())) }
}

fn status(ctx: &Context, selection: Selection) -> Result<Exit> {
    let asked = !selection.events.is_empty();
    let events = if asked { selection.events } else { Event::ALL.to_vec() };
    let found = hooks::status(&ctx.repo()?, &events).map_err(|error| refusal(error, &[]))?;
    // Nobody misses the opt-in hook who did not ask for it.
    let missed =
        |hook: &Standing| hook.fires != Some(true) && (asked || hook.event != Event::PreCommit || hook.fires.is_some());
    let trouble = found.iter().any(missed);
    if ctx.json {
        let hooks = found.into_iter().map(found_hook).collect();
        ctx.print_json("hooks-status", &Found { hooks })?;
    } else {
        let mut out = ctx.out();
        for hook in &found {
            let meaning = if missed(hook) { Meaning::Warn } else { Meaning::Good };
            let legacy = if hook.legacy { ", calls the earlier hook first" } else { "" };
            writeln!(out, "{:<12} {}{legacy}", hook.event, ctx.paint(meaning, words(hook)))?;
            if hook.state != State::Absent {
                writeln!(out, "{:<12} {}", "", ctx.paint(Meaning::Dim, shown(&hook.place)))?;
            }
        }
        out.finish()?;
        if crate::agent::hook::is_off() {
            ctx.hint("GIT_MEMORY_HOOK=0 is set: hooks do nothing while it is");
        } else if trouble {
            ctx.hint("`git memory hooks install` puts them in place");
        }
    }
    Ok(if trouble { Exit::Refused } else { Exit::Done })
}

fn words(hook: &Standing) -> &'static str {
    match (hook.state, hook.fires) {
        (State::Installed, Some(true)) => "installed, fires",
        (State::Outdated, Some(true)) => "of another version, fires",
        (State::Edited, Some(true)) => "edited by hand, fires",
        (State::Installed | State::Outdated | State::Edited, _) => "installed, does not fire",
        (State::Foreign, _) => "not installed; another program's hook stands there",
        (State::Deleted, _) => "was installed, and deleted since",
        (State::Absent, _) => "not installed",
    }
}

fn found_hook(hook: Standing) -> FoundHook {
    let state = match hook.state {
        State::Installed => "installed",
        State::Outdated => "outdated",
        State::Edited => "edited",
        State::Foreign => "foreign",
        State::Deleted => "deleted",
        State::Absent => "absent",
    };
    FoundHook { event: hook.event.name().into(), state, fires: hook.fires, place: hook.place, legacy: hook.legacy }
}
