//! `git memory capture`.

use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::{Cell, CliError, Context, Exit, Meaning, Progress, Result, Table, shown};
use crate::agent::capture::{self, Became, Line, Options, Report, Trouble};
use crate::agent::discover::{self, Search};
use crate::agent::{hook, log, transcript};
use crate::session::From as Reader;

/// Read the sessions of coding agents, and keep them for review.
///
/// Secrets are taken out before anything is written. What is kept stands under refs/memory/sessions/ in the wiki's
/// repository, on no branch, until `git memory improve` looks at it. A session that was captured before gains what is
/// new in it; the same file twice changes nothing.
///
/// Folders are searched for .jsonl, .jsonl.zst, .json, .md and .db files. A file that no reader knows is an error when it was named itself.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files and folders to read
    #[arg(value_name = "FILE|DIR", required_unless_present_any = ["auto", "hook"])]
    paths: Vec<PathBuf>,

    /// Which agent wrote them
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Auto)]
    from: Format,

    /// Look in the agents' own places for sessions of this wiki's projects
    #[arg(long, conflicts_with_all = ["paths", "hook"])]
    auto: bool,

    /// Only sessions that ended since then: a date, a time, or a length of time (7d)
    #[arg(long, value_name = "TIME", value_parser = super::moment::moment)]
    since: Option<jiff::Timestamp>,

    /// Only this session, by its id or how it begins, and its subagents
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Also when that session was forgotten: it comes back
    #[arg(long, requires = "session")]
    again: bool,

    /// Read an agent's hook input on standard input and capture the session it tells of; never fails, says nothing
    #[arg(long, conflicts_with_all = ["paths", "since", "session"])]
    hook: bool,

    /// Let a process in the background read it, and end at once
    #[arg(long, requires = "hook")]
    background: bool,
}

/// The formats that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Tell by the content
    Auto,
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// OpenCode
    #[value(name = "opencode")]
    OpenCode,
    /// Gemini CLI
    Gemini,
    /// GitHub Copilot CLI
    Copilot,
    /// aider
    Aider,
    /// Notes in markdown
    Markdown,
}

impl From<Format> for Reader {
    fn from(format: Format) -> Reader {
        match format {
            Format::Auto => Reader::Auto,
            Format::Claude => Reader::Claude,
            Format::Codex => Reader::Codex,
            Format::OpenCode => Reader::OpenCode,
            Format::Gemini => Reader::Gemini,
            Format::Copilot => Reader::Copilot,
            Format::Aider => Reader::Aider,
            Format::Markdown => Reader::Markdown,
        }
    }
}

/// What `capture --json` prints.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shown {
    /// False when `capture.enabled` forbids it: nothing was looked at.
    enabled: bool,
    /// The sessions that were found.
    sessions: Vec<ShownSession>,
    /// Damage that was passed over, one per kind and file.
    warnings: Vec<ShownWarning>,
    /// Files that no reader knows.
    unrecognised: Vec<ShownUnrecognised>,
    /// Files in folders that are known to be something else.
    foreign: Vec<ShownTrouble>,
    /// Files that could not be read, and sessions without a scope.
    failed: Vec<ShownTrouble>,
    /// How many files are of other projects.
    unmatched: usize,
    /// Why they are taken to be.
    unmatched_reasons: Vec<ShownReason>,
    /// How many files hold nothing to learn from.
    nothing: usize,
    /// How many sessions are our own, which are never learned from.
    own: usize,
    /// The ids of sessions that were forgotten or expired: they stay away.
    forgotten: Vec<String>,
    /// What was left for later, and why.
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownSession {
    id: String,
    agent: crate::session::Agent,
    scope: String,
    /// `new`, `grown` or `unchanged`.
    outcome: &'static str,
    /// How many observations it holds; 0 when other sessions hold all of them.
    observations: u32,
    /// How many of them a person wrote.
    prompts: u32,
    title: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownWarning {
    file: String,
    /// The first line with this damage.
    line: usize,
    kind: &'static str,
    message: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownUnrecognised {
    file: String,
    first_line: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownReason {
    reason: String,
    files: usize,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownTrouble {
    file: String,
    reason: String,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    if args.background {
        super::agent::capture_in_background(ctx, std::process::Stdio::inherit());
        return Ok(Exit::Done);
    }
    if args.hook {
        return Ok(told_by_agent(ctx));
    }
    let wiki = ctx.wiki()?;
    if let Some(scope) = &ctx.scope {
        wiki.scope(Some(scope))?;
    }
    if !wiki.config.settings.capture.enabled {
        if ctx.json {
            ctx.print_json("capture", &Shown::default())?;
        } else {
            ctx.note("capture.enabled is false: nothing was captured");
        }
        return Ok(Exit::Done);
    }
    let search = if args.auto {
        discover::auto(&wiki, None)
    } else {
        let paths: Vec<PathBuf> = args.paths.iter().map(|path| ctx.dir.join(path)).collect();
        discover::search(&paths)
    };
    let options = Options {
        from: args.from.into(),
        scope: ctx.scope.clone(),
        since: args.since,
        session: args.session.clone(),
        own_projects: args.auto,
        again: args.again,
    };
    let report = look(ctx, &wiki, &search, &options)?;
    trouble(ctx, &report);
    if ctx.json {
        ctx.print_json("capture", &object(&report))?;
    } else {
        print(ctx, &report, &search)?;
    }
    let missed = args.session.is_some() && report.sessions.is_empty() && report.unresolved.is_empty();
    if missed && report.gone.is_empty() && !ctx.json {
        ctx.warn("no session of that id is in these files");
    }
    Ok(if report.has_failures() || missed { Exit::Refused } else { Exit::Done })
}

fn look(ctx: &Context, wiki: &crate::wiki::Wiki, search: &Search, options: &Options) -> Result<Report> {
    let mut progress = Progress::new(ctx, search.files.len() as u64, "files");
    Ok(capture::capture(wiki, search, options, &mut || progress.advance(1))?)
}

/// What was not as it should be, on standard error.
fn trouble(ctx: &Context, report: &Report) {
    for warning in &report.warnings {
        ctx.warn(format!("{}:{}: {}", warning.file, warning.line, warning.message));
    }
    for file in &report.failed {
        ctx.error(format!("{}: {}", file.file, file.text));
    }
    for file in report.unrecognised.iter().filter(|file| file.named) {
        ctx.error(format!("{}: no reader knows this file; its first line is: {}", file.file, file.text));
    }
    for file in &report.unresolved {
        ctx.error(format!("{}: not stored: {}", file.file, file.text));
    }
    if !report.unresolved.is_empty() {
        ctx.hint("name the scope with --scope NAME");
    }
    let met: Vec<&Trouble> = report.unrecognised.iter().filter(|file| !file.named).collect();
    if ctx.verbose > 0 {
        for file in &met {
            ctx.note(format!("{}: no reader knows this file; its first line is: {}", file.file, file.text));
        }
        for file in &report.foreign {
            ctx.note(format!("{}: {}", file.file, file.text));
        }
        for file in &report.unmatched {
            ctx.note(format!("{}: unmatched: {}", file.file, file.text));
        }
        for file in &report.nothing {
            ctx.note(format!("{file}: nothing to learn from"));
        }
    } else if met.len() + report.foreign.len() > 0 {
        let met = met.len() + report.foreign.len();
        let they = if met == 1 { "a file that no reader knows was" } else { "files that no reader knows were" };
        let count = if met == 1 { String::new() } else { format!("{met} ") };
        ctx.note(format!("{count}{they} passed over (-v names them)"));
    }
    let named = ctx.verbose > 0 || report.gone.len() == 1;
    for (id, why) in report.gone.iter().filter(|_| named) {
        let why = if why == "forgotten" { "forgotten" } else { "kept for its time and let go of" };
        ctx.note(format!("session {id} was {why}: left out (`capture --session {id} --again` brings it back)"));
    }
    for note in &report.notes {
        ctx.note(note);
    }
}

fn print(ctx: &Context, report: &Report, search: &Search) -> Result<()> {
    let mut out = ctx.out();
    let mut table = Table::new();
    let names = short_ids(&report.sessions);
    for (line, name) in report.sessions.iter().zip(names) {
        let meaning = if line.became == Became::Unchanged { Meaning::Dim } else { Meaning::Good };
        table.row([
            Cell::with(meaning, line.became.as_str()),
            Cell::with(Meaning::Id, name),
            Cell::new(count(line.observations as usize, "observation")),
            Cell::new(count(line.prompts as usize, "prompt")),
            Cell::new(&line.title),
        ]);
    }
    table.print(ctx, &mut out)?;
    writeln!(out, "{}", shown(&summary(report, search.files.len())))?;
    out.finish()?;
    if report.count(Became::New) + report.count(Became::Grown) > 0 {
        ctx.hint("`git memory improve` looks at what was captured");
    }
    Ok(())
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn summary(report: &Report, files: usize) -> String {
    let mut text = match report.sessions.len() {
        0 => "nothing to learn".to_owned(),
        all => {
            let of = |became: Became| format!("{} {}", report.count(became), became.as_str());
            let (new, grown) = (of(Became::New), of(Became::Grown));
            format!("{}: {new}, {grown}, {}", count(all, "session"), of(Became::Unchanged))
        }
    };
    let mut rest = Vec::new();
    if files == 0 {
        rest.push("no file was found".to_owned());
    }
    if !report.nothing.is_empty() {
        rest.push(format!("{} without anything to learn from", count(report.nothing.len(), "file")));
    }
    if report.own > 0 {
        rest.push(format!("{} of our own passed over", count(report.own, "session")));
    }
    if !report.gone.is_empty() {
        rest.push(format!("{} forgotten: left out", count(report.gone.len(), "session")));
    }
    if report.filtered > 0 {
        rest.push(format!("{} not asked for", count(report.filtered, "session")));
    }
    for (reason, files) in unmatched(report) {
        rest.push(format!("{} unmatched ({reason})", count(files, "file")));
    }
    if !rest.is_empty() {
        text.push_str("; ");
        text.push_str(&rest.join(", "));
    }
    text
}

/// Why files were not matched, with how many of them, the most frequent reason first.
fn unmatched(report: &Report) -> Vec<(&str, usize)> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for file in &report.unmatched {
        match reasons.iter_mut().find(|(reason, _)| *reason == file.text) {
            Some((_, files)) => *files += 1,
            None => reasons.push((&file.text, 1)),
        }
    }
    reasons.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
    reasons
}

/// Each id cut where it differs from all others of the list, with eight characters at least: ids of subagents and of
/// notes begin alike.
fn short_ids(lines: &[Line]) -> Vec<String> {
    let mut sorted: Vec<&str> = lines.iter().map(|line| line.id.as_str()).collect();
    sorted.sort_unstable();
    let common = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    lines
        .iter()
        .map(|line| {
            let at = sorted.partition_point(|id| *id < line.id.as_str());
            let before = at.checked_sub(1).map_or(0, |before| common(sorted[before], &line.id));
            let after = sorted.get(at + 1).map_or(0, |after| common(after, &line.id));
            line.id.chars().take((before.max(after) + 1).max(8)).collect()
        })
        .collect()
}

fn object(report: &Report) -> Shown {
    let session = |line: &Line| ShownSession {
        id: line.id.clone(),
        agent: line.agent,
        scope: line.scope.clone(),
        outcome: line.became.as_str(),
        observations: line.observations,
        prompts: line.prompts,
        title: line.title.clone(),
    };
    let warning = |warning: &crate::session::Warning| ShownWarning {
        file: warning.file.clone(),
        line: warning.line,
        kind: warning.kind,
        message: warning.message.clone(),
    };
    let unrecognised = |file: &Trouble| ShownUnrecognised { file: file.file.clone(), first_line: file.text.clone() };
    let failed = |file: &Trouble| ShownTrouble { file: file.file.clone(), reason: file.text.clone() };
    let reason = |(reason, files): (&str, usize)| ShownReason { reason: reason.to_owned(), files };
    Shown {
        enabled: true,
        sessions: report.sessions.iter().map(session).collect(),
        warnings: report.warnings.iter().map(warning).collect(),
        unrecognised: report.unrecognised.iter().map(unrecognised).collect(),
        foreign: report.foreign.iter().map(failed).collect(),
        failed: report.failed.iter().chain(&report.unresolved).map(failed).collect(),
        unmatched: report.unmatched.len(),
        unmatched_reasons: unmatched(report).into_iter().map(reason).collect(),
        nothing: report.nothing.len(),
        own: report.own,
        forgotten: report.gone.keys().cloned().collect(),
        notes: report.notes.clone(),
    }
}

/// Longest that an agent is kept waiting by its own hook.
const PATIENCE: Duration = Duration::from_secs(30);

/// Longest input of a hook that is read.
const LONGEST_INPUT: u64 = 1024 * 1024;

/// Captures what an agent's hook tells of. The agent must not be disturbed, whatever happens.
fn told_by_agent(ctx: &Context) -> Exit {
    if hook::is_off() {
        return Exit::Done;
    }
    let memory: Arc<Mutex<Option<PathBuf>>> = Arc::default();
    let known = memory.clone();
    std::thread::spawn(move || {
        std::thread::sleep(PATIENCE);
        if let Some(memory) = known.lock().unwrap_or_else(PoisonError::into_inner).as_deref() {
            log::note(memory, "capture: gave up after 30 seconds; the next capture of the session completes it");
        }
        // A stopped capture leaves what a crash leaves, which the next one completes.
        std::process::exit(0);
    });
    let done = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let mut input = Vec::new();
        if std::io::stdin().lock().take(LONGEST_INPUT).read_to_end(&mut input).is_err() {
            return;
        }
        transcript::run(&input, &ctx.dir, &mut |folder| {
            *memory.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder.to_owned());
        });
    }));
    if done.is_err()
        && let Some(memory) = memory.lock().unwrap_or_else(PoisonError::into_inner).as_deref()
    {
        log::note(memory, "capture: stopped by a bug in git-memory");
    }
    Exit::Done
}

impl From<capture::Error> for CliError {
    fn from(error: capture::Error) -> CliError {
        match error {
            capture::Error::Git(error) => error.into(),
            capture::Error::Pattern(_) | capture::Error::Policy(_) => {
                CliError::new(Exit::Config, "config", error.to_string())
                    .hint("`git memory config --origin` shows where every value comes from")
            }
            capture::Error::Io { .. } => CliError::fatal("io", error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str) -> Line {
        Line {
            id: id.into(),
            agent: crate::session::Agent::Claude,
            scope: "global".into(),
            became: Became::New,
            observations: 1,
            prompts: 1,
            title: "t".into(),
        }
    }

    #[test]
    fn ids_that_begin_alike_are_cut_where_they_differ() {
        let lines = [line("0190aaaa-1111-agent-1"), line("0190aaaa-1111-agent-2"), line("77777777-x"), line("short")];
        let names = short_ids(&lines);
        assert_eq!(names, ["0190aaaa-1111-agent-1", "0190aaaa-1111-agent-2", "77777777", "short"]);
    }
}
