//! `git memory doctor`.

use std::io::Write;

use serde::Serialize;

use super::{Context, Exit, Meaning, Result, shown};
use crate::agent::hooks::{self, Standing, State};
use crate::agent::{Event, hook};
use crate::git::Repo;
use crate::report::doctor::{self, Check, Level};
use crate::wiki::{OpenError, Wiki};

/// Look for what is broken, and say how to mend it.
///
/// Checks git, the formats of the repository, the wiki's branch, the settings and trust in them, the hooks (it runs
/// them), the local folder, the refs and the ledger, locks and work trees that were left behind, identity and signing.
/// Nothing is mended; the exit code is 1 when something is broken.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show only what needs a look
    #[arg(long)]
    problems: bool,

    /// Also make one small call to each model of the settings
    #[arg(long)]
    model: bool,
}

/// What `doctor --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// Whether nothing is broken.
    healthy: bool,
    /// What was looked at.
    checks: Vec<Check>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let here = ctx.repo()?;
    let mut checks = match Wiki::open(&ctx.dir) {
        Ok(wiki) => {
            let mut checks = doctor::repository(&wiki.repo);
            checks.extend(doctor::wiki(&wiki));
            if args.model {
                checks.extend(doctor::models(&wiki));
            }
            checks
        }
        Err(error) => {
            let mut checks = doctor::repository(&here);
            checks.push(closed(&error));
            checks
        }
    };
    checks.extend(of_hooks(&here));
    if args.problems {
        checks.retain(|check| check.level > Level::Ok);
    }
    let healthy = checks.iter().all(|check| check.level < Level::Broken);
    let exit = if healthy { Exit::Done } else { Exit::Refused };
    if ctx.json {
        ctx.print_json("doctor", &Report { healthy, checks })?;
        return Ok(exit);
    }
    let mut out = ctx.paged();
    for check in &checks {
        let (meaning, word) = match check.level {
            Level::Ok => (Meaning::Good, "ok"),
            Level::Note => (Meaning::Dim, "note"),
            Level::Warning => (Meaning::Warn, "warning"),
            Level::Broken => (Meaning::Bad, "broken"),
        };
        let word = ctx.paint(meaning, format!("{word:<8}"));
        writeln!(out, "{word} {:<13} {}", check.name, shown(&check.message))?;
        if let Some(fix) = &check.fix {
            writeln!(out, "{:<8} {:<13} {} {}", "", "", ctx.paint(Meaning::Dim, "fix:"), shown(fix))?;
        }
    }
    out.finish()?;
    let of = |level: Level| checks.iter().filter(|check| check.level == level).count();
    match (of(Level::Broken), of(Level::Warning)) {
        (0, 0) => ctx.note("nothing is broken"),
        (0, warnings) => ctx.note(format!("nothing is broken; {warnings} to look at")),
        (broken, _) => ctx.note(format!("{broken} broken")),
    }
    Ok(exit)
}

/// A wiki that cannot be opened.
fn closed(error: &OpenError) -> Check {
    let (name, fix) = match error {
        OpenError::NoWiki { .. } => ("wiki", "git memory init, or git config memory.wiki PATH for a separate one"),
        OpenError::BadLink { .. } => ("wiki", "git config memory.wiki PATH, or git config --unset memory.wiki"),
        OpenError::Config(_) => ("configuration", "correct it there; `git memory config --origin` shows every value"),
        OpenError::Git(_) => ("wiki", "mend what is broken above first"),
    };
    Check::new(name, Level::Broken, error.to_string()).fix(fix)
}

fn of_hooks(repo: &Repo) -> Vec<Check> {
    let found = match hooks::status(repo, &Event::ALL) {
        Ok(found) => found,
        Err(error) => return vec![Check::new("hooks", Level::Broken, error.to_string())],
    };
    let mut checks: Vec<Check> = found.iter().filter_map(of_hook).collect();
    let absent = |hook: &&Standing| hook.state == State::Absent && hook.event != Event::PreCommit;
    let absent: Vec<&str> = found.iter().filter(absent).map(|hook| hook.event.name()).collect();
    if !absent.is_empty() {
        let message = format!("not installed: {}; nothing happens on its own", absent.join(", "));
        checks.push(Check::new("hooks", Level::Note, message).fix(INSTALL));
    }
    if hook::is_off() {
        let message = "GIT_MEMORY_HOOK=0 is set: hooks do nothing while it is";
        checks.push(Check::new("hooks", Level::Note, message).fix("unset GIT_MEMORY_HOOK"));
    }
    checks
}

const INSTALL: &str = "git memory hooks install";

/// One hook that stands there, or should. Nobody misses the opt-in hook who did not ask for it.
fn of_hook(hook: &Standing) -> Option<Check> {
    let event = hook.event;
    let (level, words, fix) = match (hook.state, hook.fires) {
        (State::Installed, Some(true)) => (Level::Ok, "fires", None),
        (State::Outdated, Some(true)) => (Level::Note, "fires; it is of another version", Some(INSTALL)),
        (State::Edited, Some(true)) => (Level::Note, "fires; it was edited by hand", None),
        (State::Installed | State::Outdated | State::Edited, _) => (
            Level::Broken,
            "is installed and does not fire",
            Some("see that it may be executed and that git-memory is where it says; git memory hooks install"),
        ),
        (State::Deleted, _) => (Level::Broken, "was installed, and deleted since", Some(INSTALL)),
        (State::Absent, _) => return None,
        (State::Foreign, _) if event == Event::PreCommit => return None,
        (State::Foreign, _) => (Level::Note, "is another program's; ours is not installed", Some(INSTALL)),
    };
    let fix = fix.map(|fix| if event == Event::PreCommit { format!("{fix} --events pre-commit") } else { fix.into() });
    Some(Check { name: "hooks", level, message: format!("{event} {words}: {}", hook.place), fix })
}
