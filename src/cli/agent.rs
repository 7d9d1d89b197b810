//! `git memory agent`.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::{CliError, Context, Exit, Meaning, Out, Result, ask, shown};
use crate::agent::hook;
use crate::agent::install::{self, Agent, Done, Ground, Place, Plan, Standing, State};
use crate::git::Repo;

/// Install into coding agents: hooks that capture sessions by themselves, instructions, a skill, and the MCP server.
///
/// Inside a repository the files of the work tree are meant (--project), elsewhere the user's own (--user). What is
/// going to change is shown as a diff, and asked for; every other byte of a file stays as it is, and `uninstall` gives
/// the old bytes back. Nothing is staged or committed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Put hooks, instructions and a skill in place; twice changes nothing
    Install(Install),
    /// Take out what is ours, and nothing else
    Uninstall(Change),
    /// Show what is installed, and whether it can work
    Status(Look),
    /// Called by Codex after each turn: captures the session, and starts the program that was notified before
    #[command(hide = true)]
    Notify(Notify),
}

#[derive(Debug, clap::Args)]
struct Change {
    /// The agents; `all` are those that are found here
    #[arg(value_name = "AGENT", required = true, value_delimiter = ',')]
    agents: Vec<Name>,
    #[command(flatten)]
    place: Where,
    /// Show the diff, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// Also replace or take out what was edited by hand
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
struct Install {
    #[command(flatten)]
    change: Change,
    /// The MCP server too, in the settings where the agent looks for servers
    #[arg(long)]
    mcp: bool,
}

#[derive(Debug, clap::Args)]
struct Look {
    /// The agents [default: all]
    #[arg(value_name = "AGENT", value_delimiter = ',')]
    agents: Vec<Name>,
    #[command(flatten)]
    place: Where,
}

#[derive(Debug, clap::Args)]
struct Where {
    /// The files of this work tree
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// The user's own files, for every repository
    #[arg(long)]
    user: bool,
}

#[derive(Debug, clap::Args)]
struct Notify {
    /// The program that was notified before with its arguments, then what Codex says, as JSON
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Name {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// OpenCode
    #[value(name = "opencode")]
    OpenCode,
    /// Cursor
    Cursor,
    /// Each of them
    All,
}

/// What became of agents' files.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changed {
    /// `project` or `user`.
    place: &'static str,
    /// False when it was only shown.
    written: bool,
    /// Each file of each agent.
    files: Vec<ChangedFile>,
    /// Agents that are not found here.
    skipped: Vec<&'static str>,
    /// The whole change as a unified diff.
    diff: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ChangedFile {
    agent: &'static str,
    /// `hooks`, `notify`, `instructions`, `plugin`, `rule`, `skill` or `mcp`.
    part: &'static str,
    path: String,
    /// `installed`, `updated`, `unchanged`, `removed`, `absent` or `kept`.
    result: &'static str,
    /// In words: who else uses what is kept.
    detail: Option<String>,
}

/// What is installed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Found {
    /// One entry for each agent and place.
    agents: Vec<FoundAgent>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FoundAgent {
    agent: &'static str,
    /// `project` or `user`.
    place: &'static str,
    /// `absent`, `installed`, `outdated`, `modified` or `broken`.
    state: &'static str,
    files: Vec<FoundFile>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FoundFile {
    /// `hooks`, `notify`, `instructions`, `plugin`, `rule`, `skill` or `mcp`.
    part: &'static str,
    path: String,
    /// As that of the agent.
    state: &'static str,
    /// More in words.
    detail: Option<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    match args.action {
        Action::Install(Install { change, mcp }) => {
            let mut ground = here(ctx, &change.place)?;
            ground.mcp = mcp;
            let (agents, skipped) = chosen(&change.agents, |agent| ground.has(agent));
            let plan = install::install(&ground, &agents, change.force)?;
            let written = settle(ctx, &ground, &change, &plan, skipped)?;
            if written && !ctx.json {
                advise(ctx, &ground, &agents, &plan);
            }
            Ok(Exit::Done)
        }
        Action::Uninstall(change) => {
            let ground = here(ctx, &change.place)?;
            let (agents, _) = chosen(&change.agents, |_| true);
            let plan = install::uninstall(&ground, &agents, change.force)?;
            settle(ctx, &ground, &change, &plan, Vec::new())?;
            Ok(Exit::Done)
        }
        Action::Status(look) => status(ctx, &look),
        Action::Notify(notify) => {
            notified(ctx, notify.words);
            Ok(Exit::Done)
        }
    }
}

/// The place that is meant: as asked for, else the work tree at hand, else the user's own files.
fn here(ctx: &Context, place: &Where) -> Result<Ground> {
    if place.user {
        return Ok(Ground::new(Place::User, None)?);
    }
    match project(ctx) {
        Ok(Some(ground)) => Ok(ground),
        Ok(None) if place.project => Err(CliError::fatal("no_work_tree", "this repository has no work tree")
            .hint("go to a work tree of it, or install for every repository with --user")),
        Err(error) if place.project => Err(error),
        Ok(None) | Err(_) => Ok(Ground::new(Place::User, None)?),
    }
}

/// The work tree at hand; `None` in a bare repository.
fn project(ctx: &Context) -> Result<Option<Ground>> {
    let repo: Repo = ctx.repo()?;
    let Some(top) = repo.workdir() else { return Ok(None) };
    Ok(Some(Ground::new(Place::Project(top), Some(repo.memory_dir()))?))
}

/// The agents that are named and, of `all`, those that are there; and those of `all` that are not.
fn chosen(names: &[Name], there: impl Fn(Agent) -> bool) -> (Vec<Agent>, Vec<&'static str>) {
    let named = |agent: Agent| names.iter().any(|name| name.agent() == Some(agent));
    let all = names.contains(&Name::All);
    let (yes, no): (Vec<Agent>, Vec<Agent>) =
        Agent::ALL.into_iter().filter(|&agent| all || named(agent)).partition(|&agent| named(agent) || there(agent));
    (yes, no.into_iter().map(Agent::name).collect())
}

impl Name {
    fn agent(self) -> Option<Agent> {
        match self {
            Name::Claude => Some(Agent::Claude),
            Name::Codex => Some(Agent::Codex),
            Name::OpenCode => Some(Agent::OpenCode),
            Name::Cursor => Some(Agent::Cursor),
            Name::All => None,
        }
    }
}

/// Shows the plan, asks, and does it. The bool: it was done, or there was nothing to do.
fn settle(ctx: &Context, ground: &Ground, change: &Change, plan: &Plan, skipped: Vec<&'static str>) -> Result<bool> {
    let diff: String = plan.changes.iter().map(install::Change::diff).collect();
    if !ctx.json {
        let mut out = ctx.out();
        show_diff(ctx, &mut out, &diff)?;
        out.finish()?;
        for agent in &skipped {
            ctx.note(format!("{agent} is not found here, and skipped; name it to install into it all the same"));
        }
    }
    let nothing = plan.changes.is_empty();
    let files =
        if plan.changes.len() == 1 { "this file".to_owned() } else { format!("these {} files", plan.changes.len()) };
    let agreed = !change.dry_run && (nothing || ask::confirm(ctx, &format!("Change {files}?"))?);
    if agreed {
        plan.apply()?;
    }
    if ctx.json {
        let files = plan.outcomes.iter().map(changed_file).collect();
        let changed = Changed { place: ground.place.name(), written: agreed && !nothing, files, skipped, diff };
        ctx.print_json("agent-changed", &changed)?;
        return Ok(agreed);
    }
    let mut out = ctx.out();
    if nothing {
        writeln!(out, "nothing to do")?;
    }
    if agreed || nothing {
        for outcome in plan.outcomes.iter().filter(|outcome| outcome.done != Done::Absent) {
            let (result, detail) = result_of(&outcome.done);
            let detail = detail.map(|detail| format!(", {}", shown(&detail))).unwrap_or_default();
            let (agent, part, path) = (outcome.agent.name(), outcome.kind.name(), outcome.path.display().to_string());
            writeln!(out, "{agent:<9} {part:<12} {}{detail}  {}", ctx.paint(Meaning::Good, result), shown(&path))?;
        }
    }
    out.finish()?;
    if !agreed && !nothing {
        ctx.note("nothing was changed");
    }
    Ok(agreed && !nothing)
}

fn show_diff(ctx: &Context, out: &mut Out, diff: &str) -> Result<()> {
    for line in diff.lines() {
        let meaning = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'@', b'@', ..] => Some(Meaning::Place),
            [b'+', ..] => Some(Meaning::Added),
            [b'-', ..] => Some(Meaning::Removed),
            _ => None,
        };
        let text = shown(line);
        match meaning {
            Some(meaning) => writeln!(out, "{}", ctx.paint(meaning, text))?,
            None => writeln!(out, "{text}")?,
        }
    }
    Ok(())
}

fn result_of(done: &Done) -> (&'static str, Option<String>) {
    match done {
        Done::Installed => ("installed", None),
        Done::Updated => ("updated", None),
        Done::Unchanged => ("unchanged", None),
        Done::Removed => ("removed", None),
        Done::Absent => ("absent", None),
        Done::Kept(why) => ("kept", Some(why.clone())),
    }
}

fn changed_file(outcome: &install::Outcome) -> ChangedFile {
    let (result, detail) = result_of(&outcome.done);
    ChangedFile {
        agent: outcome.agent.name(),
        part: outcome.kind.name(),
        path: outcome.path.display().to_string(),
        result,
        detail,
    }
}

/// What a person should know after an installation.
fn advise(ctx: &Context, ground: &Ground, agents: &[Agent], plan: &Plan) {
    if let Place::Project(top) = &ground.place {
        let inside = plan.outcomes.iter().filter_map(|outcome| outcome.path.strip_prefix(top).ok());
        let mut names: Vec<String> = inside.map(|path| path.display().to_string()).collect();
        names.sort_unstable();
        names.dedup();
        ctx.note(format!("a team shares it by committing: {}", names.join(" ")));
        if agents.contains(&Agent::Codex) {
            ctx.note(
                "Codex heeds `notify` in the user's own settings alone: it holds for every repository with a wiki",
            );
        }
    }
    if ground.mcp && ground.place == Place::User && agents.contains(&Agent::Claude) {
        ctx.note(
            "Claude Code keeps the user's own servers among its state: `claude mcp add --scope user git-memory -- \
             git-memory mcp` adds it there",
        );
    }
    if agents.contains(&Agent::Cursor) {
        ctx.note("no reader knows Cursor's transcripts yet: its sessions are not captured");
    }
    let states = agents.iter().map(|&agent| install::status(ground, agent));
    for detail in states.flat_map(|standing| standing.files).filter(|file| file.state == State::Broken) {
        ctx.warn(format!("{}: {}", detail.path.display(), detail.detail.unwrap_or_default()));
    }
}

fn status(ctx: &Context, look: &Look) -> Result<Exit> {
    let named = look.agents.iter().any(|&name| name != Name::All);
    let names = if look.agents.is_empty() { &[Name::All][..] } else { &look.agents };
    let (agents, _) = chosen(names, |_| true);
    let mut grounds = Vec::new();
    if look.place.project || look.place.user {
        grounds.push(here(ctx, &look.place)?);
    } else {
        grounds.extend(project(ctx).ok().flatten());
        grounds.push(Ground::new(Place::User, None)?);
    }
    let found: Vec<(&'static str, Standing)> = agents
        .iter()
        .flat_map(|&agent| grounds.iter().map(move |ground| (ground.place.name(), install::status(ground, agent))))
        .collect();
    let states = || found.iter().map(|(_, standing)| standing.state);
    // Who names an agent wants it to be there, at one of the places.
    let missed = named
        && agents.iter().any(|&agent| {
            found.iter().filter(|(_, standing)| standing.agent == agent).all(|(_, s)| s.state == State::Absent)
        });
    let exit = if missed || states().any(|state| matches!(state, State::Broken | State::Modified)) {
        Exit::Refused
    } else if states().any(|state| state == State::Outdated) {
        Exit::Warnings
    } else {
        Exit::Done
    };
    if ctx.json {
        let agents = found.iter().map(|(place, standing)| found_agent(place, standing)).collect();
        ctx.print_json("agent-status", &Found { agents })?;
        return Ok(exit);
    }
    let mut out = ctx.out();
    for (place, standing) in &found {
        let word = ctx.paint(meaning(standing.state), word(standing.state));
        writeln!(out, "{:<9} {place:<8} {word}", standing.agent.name())?;
        if standing.state == State::Absent {
            continue;
        }
        for file in &standing.files {
            let detail = file.detail.as_ref().map(|text| format!(": {}", shown(text))).unwrap_or_default();
            let state =
                if file.state == State::Installed { String::new() } else { format!(" {}", state_name(file.state)) };
            let path = file.path.display().to_string();
            writeln!(
                out,
                "          {:<12} {}{state}{detail}",
                file.kind.name(),
                ctx.paint(Meaning::Dim, shown(&path))
            )?;
        }
    }
    out.finish()?;
    if exit != Exit::Done {
        ctx.hint("`git memory agent install AGENT` puts it in order");
    }
    Ok(exit)
}

fn meaning(state: State) -> Meaning {
    match state {
        State::Absent => Meaning::Dim,
        State::Installed => Meaning::Good,
        State::Outdated | State::Modified => Meaning::Warn,
        State::Broken => Meaning::Bad,
    }
}

fn word(state: State) -> &'static str {
    match state {
        State::Absent => "not installed",
        State::Installed => "installed",
        State::Outdated => "of another version",
        State::Modified => "edited by hand, or not complete",
        State::Broken => "broken",
    }
}

fn state_name(state: State) -> &'static str {
    match state {
        State::Absent => "absent",
        State::Installed => "installed",
        State::Outdated => "outdated",
        State::Modified => "modified",
        State::Broken => "broken",
    }
}

fn found_agent(place: &'static str, standing: &Standing) -> FoundAgent {
    let file = |file: &install::FileState| FoundFile {
        part: file.kind.name(),
        path: file.path.display().to_string(),
        state: state_name(file.state),
        detail: file.detail.clone(),
    };
    FoundAgent {
        agent: standing.agent.name(),
        place,
        state: state_name(standing.state),
        files: standing.files.iter().map(file).collect(),
    }
}

/// The last word is what Codex says; those before it are the program that was notified before ours came.
fn notified(ctx: &Context, mut words: Vec<OsString>) {
    let Some(said) = words.pop() else { return };
    hook::leave();
    if let Some((program, arguments)) = words.split_first() {
        let mut other = Command::new(program);
        other.args(arguments).arg(&said).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // As Codex itself does: not waited for, and its failure is nobody's.
        let _ = other.spawn();
    }
    if let Some(mut pipe) = capture_in_background(ctx, Stdio::piped()) {
        let _ = pipe.write_all(said.to_string_lossy().as_bytes());
    }
}

/// Starts a capture that outlives the agent, with this standard input. The agent must not be disturbed, whatever
/// happens.
pub(super) fn capture_in_background(ctx: &Context, stdin: Stdio) -> Option<std::process::ChildStdin> {
    if hook::is_off() {
        return None;
    }
    hook::leave();
    let program = std::env::current_exe().ok()?;
    hook::hand_over(&program, &["capture", "--hook"], &ctx.dir, stdin).ok()?.stdin.take()
}

impl From<install::Error> for CliError {
    fn from(error: install::Error) -> CliError {
        use install::Error as E;
        let message = format!("{error}; nothing was changed");
        match &error {
            E::Io { .. } => CliError::fatal("io", error.to_string()),
            E::NoHome => CliError::fatal("no_home", error.to_string()),
            E::Broken { .. } => CliError::refused("broken_file", message).hint("mend the file, then run it again"),
            E::Edited { .. } => {
                CliError::refused("edited", message).hint("--force replaces or takes out what was edited")
            }
            E::Foreign { .. } => CliError::refused("foreign_file", message).hint("move that file away first"),
            E::Moved { .. } => CliError::new(Exit::Busy, "moved", error.to_string()).hint("run the command again"),
            E::Template { .. } => CliError::new(Exit::Config, "template", message),
        }
    }
}
