//! `git memory session`.

pub mod forget;

use std::io::Write;

use serde::Serialize;

use super::output::JsonList;
use super::{Cell, CliError, Context, Exit, Meaning, Result, Table, age, shown, shown_lines};
use crate::git::Repo;
use crate::ledger;
use crate::report::sessions::{self, Captured, Sessions, Standing};
use crate::session::{self, Agent, Observation, Speaker};

/// Look at captured sessions.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    List(Listing),
    Show(Showing),
    Forget(forget::Args),
}

/// List the sessions, the newest first.
///
/// With --porcelain each has one line of fields with tabs between them: id, agent, scope, when it ended, prompts,
/// observations, state, reason or `-`, `raw` or `dropped`, title. Characters that a terminal would act on are escaped;
/// with -z they are not, and a NUL ends each session.
#[derive(Debug, clap::Args)]
struct Listing {
    /// Only those that no run has looked at
    #[arg(long)]
    unseen: bool,

    /// Only those of this agent: claude, codex, opencode, gemini, copilot, aider, markdown
    #[arg(long, value_name = "AGENT", value_parser = agent)]
    agent: Option<Agent>,

    /// Only those that ended since then: a date, a time, or a length of time (7d)
    #[arg(long, value_name = "TIME", value_parser = super::moment::moment)]
    since: Option<jiff::Timestamp>,

    /// So many at most
    #[arg(short = 'n', long = "limit", value_name = "N")]
    limit: Option<usize>,

    /// Lines for scripts
    #[arg(long, conflicts_with = "json")]
    porcelain: bool,

    /// End each session with a NUL, not with a line end
    #[arg(short = 'z', requires = "porcelain")]
    zero: bool,
}

/// Show the page of a session.
#[derive(Debug, clap::Args)]
struct Showing {
    /// The session's id, or how it begins (at least 4 characters)
    id: String,

    /// Print its page (what is done when nothing else is asked for)
    #[arg(long, conflicts_with_all = ["observations", "prompts"])]
    page: bool,

    /// Print what was captured instead, a line for each observation
    #[arg(long, conflicts_with = "prompts")]
    observations: bool,

    /// Print only what a person said, in full
    #[arg(long)]
    prompts: bool,
}

fn agent(word: &str) -> Result<Agent, String> {
    serde_json::from_value(word.into()).map_err(|_| "no agent that is known".to_owned())
}

/// What `session list --json` prints.
#[cfg(test)]
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct List {
    /// Newest first.
    sessions: Vec<Row>,
}

/// One session.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// Its id.
    id: String,
    /// Which agent wrote it: `claude`, `markdown`.
    agent: String,
    /// Its scope.
    scope: String,
    /// The title of its page.
    title: String,
    /// The folder that it ran in.
    cwd: Option<String>,
    /// The branch that it ran on.
    branch: Option<String>,
    /// Its first event.
    started: Option<jiff::Timestamp>,
    /// Its last event.
    ended: Option<jiff::Timestamp>,
    /// When it was captured first.
    captured: jiff::Timestamp,
    /// How many observations it has.
    observations: u32,
    /// How many of them a person wrote.
    prompts: u32,
    /// `unseen`, `reviewed`, `skipped` or `parked`.
    standing: &'static str,
    /// Why it was skipped.
    reason: Option<String>,
    /// The session that started it, of a subagent.
    parent: Option<String>,
    /// Its observations were dropped for their age; its page stays.
    raw_dropped: bool,
}

/// What `session show --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shown {
    #[serde(flatten)]
    session: Row,
    /// The text of its page; absent with --observations and --prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    /// What was captured, with --observations.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<serde_json::Value>>,
    /// What a person said, with --prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<String>>,
}

impl Row {
    fn new(captured: &Captured) -> Row {
        let meta = &captured.meta;
        let (standing, reason) = match &captured.standing {
            Standing::Unseen => ("unseen", None),
            Standing::Reviewed => ("reviewed", None),
            Standing::Skipped(reason) => ("skipped", Some(reason.clone())),
            Standing::Parked => ("parked", None),
        };
        Row {
            id: meta.id.clone(),
            agent: word(&meta.agent),
            scope: meta.scope.clone(),
            title: meta.title.clone(),
            cwd: meta.cwd.clone(),
            branch: meta.branch.clone(),
            started: meta.started,
            ended: meta.ended,
            captured: meta.captured,
            observations: meta.observations,
            prompts: meta.prompts,
            standing,
            reason,
            parent: meta.parent.clone(),
            raw_dropped: !captured.raw,
        }
    }

    /// When it was at work last.
    fn when(&self) -> jiff::Timestamp {
        self.ended.or(self.started).unwrap_or(self.captured)
    }
}

/// The word that a value without fields is serialized as.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    if let Some(name) = &ctx.scope {
        wiki.scopes.named(name)?;
    }
    let found = sessions::list(&wiki.repo).map_err(|error| {
        let error = CliError::from(error);
        if error.hint.is_some() {
            error
        } else {
            error.hint("`git memory doctor` tells what is broken and how to mend it")
        }
    })?;
    for fault in &found.faults {
        ctx.warn(format!("a session cannot be read and is passed over: {fault}"));
    }
    match args.action {
        Action::List(args) => list(ctx, &found, &args),
        Action::Show(args) => show(ctx, &wiki.repo, &found, &args),
        Action::Forget(args) => forget::run(ctx, &wiki, &found, &args),
    }
}

fn list(ctx: &Context, found: &Sessions, args: &Listing) -> Result<Exit> {
    let mut rows: Vec<Row> = found
        .all
        .iter()
        .filter(|captured| !args.unseen || captured.standing == Standing::Unseen)
        .filter(|captured| args.agent.is_none_or(|agent| captured.meta.agent == agent))
        .map(Row::new)
        .filter(|row| args.since.is_none_or(|since| row.when() >= since))
        .filter(|row| ctx.scope.as_ref().is_none_or(|scope| *scope == row.scope))
        .collect();
    rows.sort_unstable_by(|a, b| (b.when(), &b.id).cmp(&(a.when(), &a.id)));
    rows.truncate(args.limit.unwrap_or(usize::MAX));
    if ctx.json {
        let mut out = ctx.out();
        let mut list = JsonList::start(&mut out, "sessions", &serde_json::Map::new(), "sessions")?;
        for row in &rows {
            list.item(row)?;
        }
        list.end()?;
        out.finish()?;
        return Ok(Exit::Done);
    }
    if args.porcelain {
        let mut out = ctx.out();
        for row in &rows {
            let line = porcelain(row, !args.zero);
            write!(out, "{line}{}", if args.zero { '\0' } else { '\n' })?;
        }
        out.finish()?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        ctx.note(if found.all.is_empty() { "no session was captured yet" } else { "no such session" });
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    let now = ledger::now();
    let mut table = Table::new();
    table.head(&["id", "agent", "age", "prompts", "observations", "state", "title"]);
    for row in &rows {
        let state = match &row.reason {
            Some(reason) => format!("{} ({reason})", row.standing),
            None => row.standing.to_owned(),
        };
        let state = if row.raw_dropped { format!("{state}, raw dropped") } else { state };
        let meaning = match row.standing {
            "skipped" => Meaning::Dim,
            "parked" => Meaning::Bad,
            "unseen" => Meaning::Warn,
            _ => Meaning::Good,
        };
        table.row([
            Cell::with(Meaning::Id, short(found, &row.id)),
            Cell::new(&row.agent),
            Cell::right(age(row.when(), now)),
            Cell::right(row.prompts),
            Cell::right(row.observations),
            Cell::with(meaning, state),
            Cell::new(&row.title),
        ]);
    }
    table.print(ctx, &mut out)?;
    out.finish()?;
    Ok(Exit::Done)
}

fn porcelain(row: &Row, escaped: bool) -> String {
    let (prompts, observations, when) = (row.prompts.to_string(), row.observations.to_string(), row.when().to_string());
    let fields = [
        row.id.as_str(),
        &row.agent,
        &row.scope,
        &when,
        &prompts,
        &observations,
        row.standing,
        row.reason.as_deref().unwrap_or("-"),
        if row.raw_dropped { "dropped" } else { "raw" },
        &row.title,
    ];
    let field = |field: &str| if escaped { shown(field).replace('\t', "\\t") } else { field.to_owned() };
    fields.map(field).join("\t")
}

/// The shortest beginning of an id, of at least eight characters, that no other session's id has: ids that begin with
/// the time would all look alike.
fn short<'i>(found: &Sessions, id: &'i str) -> &'i str {
    // The sessions stand in the order of their ids.
    let at = found.all.partition_point(|captured| captured.meta.id.as_str() < id);
    let common = |other: Option<&Captured>| {
        other.map_or(0, |other| other.meta.id.chars().zip(id.chars()).take_while(|(a, b)| a == b).count())
    };
    let before = at.checked_sub(1).and_then(|before| found.all.get(before));
    let longest = common(before).max(common(found.all.get(at + 1)));
    let most = (longest + 1).max(8);
    id.char_indices().nth(most).map_or(id, |(end, _)| &id[..end])
}

fn show(ctx: &Context, repo: &Repo, found: &Sessions, args: &Showing) -> Result<Exit> {
    let captured = find(found, &args.id)?;
    let id = &captured.meta.id;
    let lost = || CliError::refused("unknown_id", format!("session {id} is gone"));
    if !captured.raw && (args.observations || args.prompts) {
        let message = format!("the observations of session {id} were dropped for their age (capture.keep_raw_days)");
        return Err(CliError::refused("observations_dropped", message)
            .hint(format!("its page stays: `git memory session show {}`", short(found, id))));
    }
    let (_, session, page) = session::load(repo, id)?.ok_or_else(lost)?;
    if ctx.json {
        let events = session.observations.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>();
        let events = events.map_err(std::io::Error::from)?;
        let shown = Shown {
            session: Row::new(captured),
            page: (!args.observations && !args.prompts).then_some(page),
            events: args.observations.then_some(events),
            words: args.prompts.then(|| session.prompts().map(|prompt| prompt.body.clone()).collect()),
        };
        ctx.print_json("session", &shown)?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    if args.observations {
        for observation in &session.observations {
            writeln!(out, "{}", line(ctx, observation))?;
        }
    } else if args.prompts {
        for prompt in session.prompts() {
            let number = ctx.paint(Meaning::Id, format!("#{}", prompt.seq));
            writeln!(out, "{number} {}\n", shown_lines(prompt.body.trim_end()))?;
        }
    } else {
        write!(out, "{}", shown_lines(&page))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn line(ctx: &Context, observation: &Observation) -> String {
    let seq = ctx.paint(Meaning::Id, format!("{:>5}", observation.seq));
    let meaning = if observation.speaker == Speaker::Human { Meaning::Head } else { Meaning::Dim };
    let kind = word(&observation.kind);
    let kind = ctx.paint(meaning, format!("{kind:<12}"));
    let tool = observation.tool.as_ref().map(|tool| format!("{}: ", shown(tool))).unwrap_or_default();
    let exit = match observation.exit {
        Some(code) if code != 0 => format!(" {}", ctx.paint(Meaning::Bad, format!("(exit {code})"))),
        _ => String::new(),
    };
    format!("{seq} {kind} {tool}{}{exit}", shown(&observation.title))
}

fn find<'f>(found: &'f Sessions, id: &str) -> Result<&'f Captured> {
    let hint = "`git memory session list` shows the ids";
    if let Some(exact) = found.all.iter().find(|captured| captured.meta.id == id) {
        return Ok(exact);
    }
    if id.chars().count() < 4 {
        let message = format!("`{id}` is too short: give at least 4 characters of the id");
        return Err(CliError::refused("id_too_short", message).hint(hint));
    }
    let matches: Vec<&Captured> = found.all.iter().filter(|captured| captured.meta.id.starts_with(id)).collect();
    // The id of a session begins the ids of its parts and of the subagents that it started: it is meant, not they.
    let leads = |one: &Captured| matches.iter().all(|other| other.meta.goes_with(&one.meta.id));
    if let Some(one) = matches.iter().find(|one| leads(one)) {
        return Ok(one);
    }
    match matches[..] {
        [] => Err(CliError::refused("unknown_id", format!("no session `{id}`")).hint(hint)),
        _ => {
            let ids: Vec<&str> = matches.iter().take(5).map(|captured| captured.meta.id.as_str()).collect();
            let message = format!("`{id}` is ambiguous: {}", ids.join(", "));
            Err(CliError::refused("ambiguous_id", message).hint("give more characters of the id"))
        }
    }
}
