//! `git memory status`.

use std::fmt::Display;
use std::io::Write;

use serde::Serialize;

use super::{CliError, Context, Exit, Meaning, Out, Result, age, shown};
use crate::ledger;
use crate::report::status::{self, LastRun, Status};

/// Show the state of the wiki on one screen.
///
/// With --porcelain each line is a key, a space and its value, and keys that are not known yet are to be passed over:
/// `branch`, `commit` (`-` while the branch is unborn), `root`, `repository`, `code` (the code repository, when that
/// is another one), `scope` (one line for each), `pages`, `pending` (how many), `pending.oldest` (when it was staged),
/// `pending.needs-person`, `pending.conflicted`, `pending.held`, `pending.elsewhere` (how many another clone staged),
/// `pending.lane.NAME`, `sessions`, `sessions.unseen`, `sessions.parked` (how many), `parked` (one line for each
/// session), `parked.page` (lane and page, one line for each), `at-work` and `dead` (runs here that are not recorded
/// yet: id, what set it off, when it began), `run` (id, state, when it began; newest first), `queued`, `trouble` (one line for each thing that cannot be read or needs a look). Control characters in
/// values are escaped; with -z they are not, and a NUL ends each line.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A form for scripts and prompts that stays as it is
    #[arg(long)]
    porcelain: bool,

    /// End each line with NUL instead of a line end
    #[arg(short = 'z', requires = "porcelain")]
    zero: bool,
}

/// What `status --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// The state.
    #[serde(flatten)]
    status: Status,
    /// What to do next, if anything.
    next: Option<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    if let Some(name) = &ctx.scope {
        wiki.scopes.named(name)?;
    }
    let status = status::status(&wiki, ctx.scope.as_deref()).map_err(|error| {
        let error = CliError::from(error);
        if error.hint.is_some() {
            error
        } else {
            error.hint("`git memory doctor` tells what is broken and how to mend it")
        }
    })?;
    let next = next(&status);
    if ctx.json {
        ctx.print_json("status", &Report { status, next })?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.out();
    if args.porcelain {
        porcelain(&mut out, &status, args.zero)?;
        out.finish()?;
        return Ok(Exit::Done);
    }
    screen(ctx, &mut out, &status)?;
    out.finish()?;
    if let Some(next) = next {
        ctx.hint(next);
    }
    Ok(Exit::Done)
}

/// The one thing to do next that helps most.
fn next(status: &Status) -> Option<String> {
    let (pending, sessions) = (&status.standing.pending, &status.standing.sessions);
    let failed = status.standing.runs.first().is_some_and(|run| run.state.is_bad());
    let words = if status.commit.is_none() {
        "`git memory init` starts the wiki"
    } else if !status.trouble.is_empty() {
        "`git memory doctor` looks for what is broken"
    } else if pending.conflicted > 0 && pending.conflicted == pending.count {
        "`git memory rebase` mends what can be mended, `git memory show ID` tells what is in the way"
    } else if pending.count > 0 {
        "`git memory review` goes through what waits"
    } else if failed {
        let run = status.standing.runs.first().map(|run| run.id.clone()).unwrap_or_default();
        return Some(format!("`git memory run show {run}` tells what went wrong"));
    } else if status.at_work.is_some() {
        return None;
    } else if !status.dead.is_empty() {
        "`git memory improve` finishes what a dead run left, or gives it up"
    } else if sessions.unseen > 0 || status.queued > 0 {
        "`git memory improve` reviews what was captured"
    } else if sessions.count == 0 {
        "`git memory capture` takes in the sessions of your agents"
    } else {
        return None;
    };
    Some(words.to_owned())
}

fn screen(ctx: &Context, out: &mut Out, status: &Status) -> Result<()> {
    let now = ledger::now();
    let stands = &status.standing;
    let at = match &status.commit {
        Some(commit) => format!("at {}", ctx.paint(Meaning::Id, &commit[..commit.len().min(12)])),
        None => "without a commit yet".into(),
    };
    let branch = ctx.paint(Meaning::Head, shown(&status.branch));
    let root = if status.root.is_empty() { String::new() } else { format!(" in {}", shown(&status.root)) };
    writeln!(out, "Wiki      branch {branch} {at}, {}{root}", count(stands.pages, "page"))?;
    let repository = ctx.paint(Meaning::Place, shown(&status.repository));
    match &status.code {
        Some(code) => writeln!(out, "          {repository}, for the code in {}", shown(code))?,
        None => writeln!(out, "          {repository}")?,
    }
    match &status.scope {
        Some(scope) => writeln!(out, "Scope     {}", shown(scope))?,
        None if status.scopes.len() > 1 => writeln!(out, "Scopes    {}", shown(&status.scopes.join(", ")))?,
        None => {}
    }

    let pending = &stands.pending;
    match pending.oldest {
        Some(oldest) => {
            let lanes: Vec<String> = pending.lanes.iter().map(|(lane, many)| format!("{many} {lane}")).collect();
            let words = ctx.paint(Meaning::Warn, count(pending.count, "proposal"));
            let old = match age(oldest, now).as_str() {
                "now" => "made just now".to_owned(),
                age => format!("{age} old"),
            };
            writeln!(out, "Pending   {words}, the oldest {old} ({})", shown(&lanes.join(", ")))?;
        }
        None => writeln!(out, "Pending   nothing")?,
    }
    let parts = [
        (pending.needs_person, "need a person", "needs a person"),
        (pending.conflicted, "do not merge any more", "does not merge any more"),
        (pending.held, "held back behind others", "held back behind another"),
        (pending.elsewhere.len(), "staged elsewhere", "staged elsewhere"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(many, ..)| *many > 0)
        .map(|(many, several, one)| format!("{many} {}", if *many == 1 { one } else { several }))
        .collect();
    if !parts.is_empty() {
        writeln!(out, "          {}", parts.join(", "))?;
    }
    if let Some(first) = pending.elsewhere.first() {
        let id = &first[..first.len().min(8)];
        let one = if pending.elsewhere.len() == 1 { "its branch" } else { "the branch of one of these" };
        writeln!(out, "          `git memory proposal reopen {id}` makes {one} here")?;
    }

    let sessions = &stands.sessions;
    let unseen = if sessions.unseen > 0 { format!(", {} not reviewed yet", sessions.unseen) } else { String::new() };
    writeln!(out, "Sessions  {} captured{unseen}", sessions.count)?;
    if !sessions.parked.is_empty() {
        let words = format!("{} parked after failed reviews", sessions.parked.len());
        writeln!(out, "          {}: {}", ctx.paint(Meaning::Warn, words), few(&sessions.parked))?;
        writeln!(out, "          `git memory improve --session ID` looks at one again")?;
    }

    for (n, (page, lane)) in stands.parked_pages.iter().enumerate() {
        let head = if n == 0 { "Parked" } else { "" };
        writeln!(out, "{head:<9} {} after failed looks of {lane}", ctx.paint(Meaning::Warn, shown(page)))?;
    }
    if !stands.parked_pages.is_empty() {
        writeln!(out, "          `git memory improve --page PATH --lane LANE` looks at one again")?;
    }

    if let Some(run) = &status.at_work {
        let (id, age) = (ctx.paint(Meaning::Id, &run.id), age(run.started_at, now));
        writeln!(out, "At work   {id} {age:>6}  {}, {} to look at", run.trigger.as_str(), run.selected)?;
    }
    for (n, run) in status.dead.iter().enumerate() {
        let head = if n == 0 { "Died" } else { "" };
        let (id, age) = (ctx.paint(Meaning::Bad, &run.id), age(run.started_at, now));
        writeln!(out, "{head:<9} {id} {age:>6}  {}; the next run finishes it or gives it up", run.trigger.as_str())?;
    }
    if stands.runs.is_empty() {
        writeln!(out, "Runs      none yet")?;
    }
    for (n, run) in stands.runs.iter().enumerate() {
        let head = if n == 0 { "Runs" } else { "" };
        writeln!(out, "{head:<9} {}", run_line(ctx, run, now))?;
        if let Some(error) = &run.error {
            writeln!(out, "          {}", ctx.paint(Meaning::Bad, shown(error)))?;
        }
    }
    if stands.more_failed > 0 {
        writeln!(out, "          and {} more that failed before them", stands.more_failed)?;
    }
    if status.queued > 0 {
        let events = count(status.queued, "event");
        writeln!(out, "Queue     {events} of captures and commits, for the next run")?;
    }
    if status.spool > 0 {
        let searches = if status.spool == 1 { "1 search".to_owned() } else { format!("{} searches", status.spool) };
        writeln!(out, "Spool     {searches} for the next run to record")?;
    }
    for (n, trouble) in status.trouble.iter().take(MOST_TROUBLE).enumerate() {
        let head = if n == 0 { "Trouble" } else { "" };
        writeln!(out, "{head:<9} {}", ctx.paint(Meaning::Bad, shown(trouble)))?;
    }
    if let Some(more) = status.trouble.len().checked_sub(MOST_TROUBLE).filter(|more| *more > 0) {
        writeln!(out, "          and {more} more")?;
    }
    Ok(())
}

/// How much trouble fits on the screen beside everything else.
const MOST_TROUBLE: usize = 8;

fn run_line(ctx: &Context, run: &LastRun, now: jiff::Timestamp) -> String {
    let meaning = if run.state.is_bad() { Meaning::Bad } else { Meaning::Good };
    let state = ctx.paint(meaning, run.state.words());
    format!("{} {:>6}  {state}  {}", ctx.paint(Meaning::Id, &run.id), age(run.started_at, now), shown(&run.summary))
}

fn count(many: usize, what: &str) -> String {
    if many == 1 { format!("1 {what}") } else { format!("{many} {what}s") }
}

fn few(ids: &[String]) -> String {
    let mut words: Vec<&str> = ids.iter().take(3).map(String::as_str).collect();
    if ids.len() > 3 {
        words.push("…");
    }
    shown(&words.join(", ")).into_owned()
}

fn porcelain(out: &mut Out, status: &Status, zero: bool) -> Result<()> {
    let mut line = |key: &str, value: &dyn Display| -> Result<()> {
        let text = format!("{key} {value}");
        if zero {
            out.write_all(text.as_bytes())?;
            out.write_all(b"\0")?;
        } else {
            writeln!(out, "{}", shown(&text))?;
        }
        Ok(())
    };
    let stands = &status.standing;
    line("branch", &status.branch)?;
    line("commit", &status.commit.as_deref().unwrap_or("-"))?;
    line("root", &if status.root.is_empty() { "." } else { &status.root })?;
    line("repository", &status.repository)?;
    if let Some(code) = &status.code {
        line("code", code)?;
    }
    for scope in status.scope.as_ref().map_or(&status.scopes[..], std::slice::from_ref) {
        line("scope", scope)?;
    }
    line("pages", &stands.pages)?;
    line("pending", &stands.pending.count)?;
    if let Some(oldest) = stands.pending.oldest {
        line("pending.oldest", &oldest)?;
    }
    line("pending.needs-person", &stands.pending.needs_person)?;
    line("pending.conflicted", &stands.pending.conflicted)?;
    line("pending.held", &stands.pending.held)?;
    line("pending.elsewhere", &stands.pending.elsewhere.len())?;
    for (lane, many) in &stands.pending.lanes {
        line(&format!("pending.lane.{lane}"), many)?;
    }
    line("sessions", &stands.sessions.count)?;
    line("sessions.unseen", &stands.sessions.unseen)?;
    line("sessions.parked", &stands.sessions.parked.len())?;
    for session in &stands.sessions.parked {
        line("parked", session)?;
    }
    for (page, lane) in &stands.parked_pages {
        line("parked.page", &format!("{lane} {page}"))?;
    }
    for (key, run) in
        status.at_work.iter().map(|run| ("at-work", run)).chain(status.dead.iter().map(|run| ("dead", run)))
    {
        line(key, &format!("{} {} {}", run.id, run.trigger.as_str(), run.started_at))?;
    }
    for run in &stands.runs {
        line("run", &format!("{} {} {}", run.id, run.state.words(), run.started_at))?;
    }
    line("queued", &status.queued)?;
    line("spool", &status.spool)?;
    for trouble in &status.trouble {
        line("trouble", trouble)?;
    }
    Ok(())
}
