//! `git memory improve`.

mod planned;
mod told;
mod verdict;

use std::cell::RefCell;
use std::io::Write;

use super::error::ErrorObject;
use super::{CliError, Context, Exit, Progress, Result, shown, shown_lines};
use crate::agent::session_start;
use crate::git::{asked_to_end, end_as_asked};
use crate::improve::run::plural;
use crate::improve::select::PageLane;
use crate::improve::{self, News, Request, Run, Trigger, tick};
use crate::ledger::queue;
use crate::report::brief;
use crate::wiki::Wiki;

/// Review captured sessions and pages that were judged, and propose what they teach.
///
/// Without options, the newest session that no run has looked at, and the pages that feedback asks to look at. What
/// comes out waits as proposals: `git memory review` walks through them. The built-in reviewer needs no model and no
/// key; it proposes standing instructions of a person, corrections, failures with their stated cause and fix, decisions
/// with their reason, and commands that were repeated over sessions.
///
/// With a model, two more lanes look at pages: `reflect` mends titles and descriptions that feedback called wrong, and
/// `distill` makes a lesson of a note that was of use. `git memory improve --dry-run` says who would look at what.
///
/// A strategy says which lanes run and what becomes of what they propose: `default`, `quick`, `thorough`, `catchup`,
/// `reflect-distill`, `proactive-maintenance`, and your own. `consolidate` has none but lanes that are not built yet, and
/// fails.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Look at this session, again if need be; may be given more than once
    #[arg(long, value_name = "ID")]
    session: Vec<String>,

    /// Look at every session that no run has looked at, oldest first
    #[arg(long, conflicts_with = "session")]
    all: bool,

    /// Look at this many sessions at most, oldest first
    #[arg(long, value_name = "N")]
    max_sessions: Option<usize>,

    /// Which lanes run and how: a strategy by its name; by default what improve.strategy says
    #[arg(long, value_name = "NAME")]
    strategy: Option<String>,

    /// What sets this run off; all but `manual` go by the rules for machines that work by themselves
    ///
    /// `manual` is a person;
    /// `schedule` (for cron, timers and CI) does nothing while the last tick is younger than scheduler.interval_secs;
    /// `post-commit` is what the worker of the hooks does after a commit, without waiting for an interval;
    /// `session-start` completes what dead runs left, keeps memory.md, and starts a run in the background when at least
    /// consolidate.min_dirty pages or sessions changed since the last.
    #[arg(long, value_name = "TRIGGER", default_value = "manual")]
    trigger: SetOff,

    /// Look at this page, whatever was said of it, and at nothing else; may be given more than once
    #[arg(long, value_name = "PATH", conflicts_with_all = ["session", "all", "max_sessions"])]
    page: Vec<String>,

    /// With --page: in this lane only
    #[arg(long, value_name = "LANE", value_enum, requires = "page")]
    lane: Option<PageLane>,

    /// Look at this many pages at most in each lane that looks at pages, the last judged first; others wait for a later
    /// run
    #[arg(long, value_name = "N")]
    max_pages: Option<usize>,

    /// Say what would be looked at and why; write nothing at all
    #[arg(long)]
    dry_run: bool,

    /// Print the whole prompt that a model would get about the session or the page, with the schema of its reply; ask
    /// nobody, write nothing at all
    #[arg(long, conflicts_with_all = ["dry_run", "skip_if_locked"])]
    print_prompt: bool,

    /// When another run is at work, say so and end with success
    #[arg(long)]
    skip_if_locked: bool,
}

/// What can set a run off from the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SetOff {
    Manual,
    Schedule,
    PostCommit,
    SessionStart,
}

impl SetOff {
    fn trigger(self) -> Trigger {
        match self {
            SetOff::Manual => Trigger::Manual,
            SetOff::Schedule => Trigger::Schedule,
            SetOff::PostCommit => Trigger::PostCommit,
            SetOff::SessionStart => Trigger::SessionStart,
        }
    }
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    if let Some(scope) = &ctx.scope {
        wiki.scope(Some(scope))?;
    }
    let trigger = args.trigger.trigger();
    if !trigger.is_asked() && (args.all || !args.session.is_empty() || !args.page.is_empty()) {
        let message =
            format!("--session, --page and --all are for a person's own runs, not for --trigger {}", trigger.as_str());
        return Err(CliError::refused("not_manual", message).hint("leave --trigger out"));
    }
    let is_bounded = args.strategy.is_some() || args.max_sessions.is_some() || args.max_pages.is_some();
    if trigger == Trigger::SessionStart && is_bounded {
        let message = "the run that --trigger session-start starts goes by the settings, not by --strategy, --max-sessions \
                       and --max-pages";
        return Err(
            CliError::refused("not_session_start", message).hint("set improve.strategy, or leave --trigger out")
        );
    }
    let by_name = !args.page.is_empty();
    let request = Request {
        trigger,
        sessions: args.session,
        all: args.all,
        max_sessions: args.max_sessions,
        pages: args.page,
        lane: args.lane,
        max_pages: args.max_pages,
        scope: ctx.scope.clone(),
        strategy: args.strategy,
    };
    if args.print_prompt {
        return print_prompt(ctx, &wiki, &request);
    }
    if trigger == Trigger::SessionStart {
        return session_start(ctx, &wiki, args.dry_run);
    }
    if trigger == Trigger::Schedule
        && let Err(why) = tick::due(&wiki.config.settings.scheduler, &wiki.repo.memory_dir())
    {
        return skip(ctx, why.code(), &format!("nothing is done: {why}"));
    }
    if args.dry_run {
        let run = improve::dry_run(&wiki, &request)?;
        told::downgraded(ctx, &run);
        let verdict = verdict::of_plan(&run);
        if ctx.json {
            return printed(ctx, run, verdict);
        }
        planned::plan(ctx, &run)?;
        return verdict.map(|()| Exit::Done);
    }
    let queued = queued(&wiki, &request);
    let run = match at_work(ctx, &mut wiki, &request) {
        Err(improve::Error::Locked(holder)) if args.skip_if_locked => {
            return skip(ctx, "locked", &format!("another run is at work ({holder}); skipped"));
        }
        Err(improve::Error::Resting(rest)) if args.skip_if_locked => {
            return skip(ctx, "locked", &format!("{}; skipped", improve::Error::Resting(rest)));
        }
        Err(improve::Error::Interrupted) => {
            end_as_asked();
            return Err(improve::Error::Interrupted.into());
        }
        other => other?,
    };
    super::proposal::materialize(ctx);
    told::downgraded(ctx, &run);
    if let Some(unsent) = &run.unsent {
        ctx.warn(format!("other clones do not know of this run yet: {unsent}"));
    }
    let left_out = verdict::left_out(&run);
    if by_name && run.plan.selected.is_empty() {
        let message = format!("none of these pages can be looked at: {}", left_out.join("; "));
        return Err(CliError::refused("nothing_selected", message));
    }
    for page in left_out {
        ctx.warn(format!("not looked at: {page}"));
    }
    let verdict = verdict::of(&run, &wiki.repo.memory_dir());
    if verdict.is_ok() {
        // What cannot be taken out is looked at once more.
        let _ = queue::remove(&queued);
    }
    if ctx.json {
        return printed(ctx, run, verdict);
    }
    told::told(ctx, &run, verdict.as_ref().err())?;
    end_if_asked(ctx, verdict.as_ref().err());
    verdict.map(|()| Exit::Done)
}

/// What hooks and captures queued, and a run of this kind looks at as the worker would.
fn queued(wiki: &Wiki, request: &Request) -> Vec<queue::Waiting> {
    let is_whole = request.sessions.is_empty() && request.pages.is_empty() && request.scope.is_none();
    let queue = is_whole.then(|| queue::list(&wiki.repo.memory_dir()).ok()).flatten();
    queue.unwrap_or_default().waiting
}

/// One object says it all: the run, and why it is no success.
fn printed(ctx: &Context, run: Run, verdict: Result<()>) -> Result<Exit> {
    let failure = verdict.as_ref().err().map(CliError::object);
    ctx.print_json("run", &Told { run, failure })?;
    end_if_asked(ctx, verdict.as_ref().err());
    Ok(verdict.map_or_else(
        |error| {
            ctx.error(&error.message);
            error.exit
        },
        |()| Exit::Done,
    ))
}

/// Runs, and shows on a terminal what it is at.
fn at_work(ctx: &Context, wiki: &mut Wiki, request: &Request) -> Result<Run, improve::Error> {
    let progress = RefCell::new(None);
    improve::run(wiki, request, &|news| {
        let mut progress = progress.borrow_mut();
        let progress = progress.get_or_insert_with(|| Progress::of_long_steps(ctx));
        match news {
            News::Item { done, of, selected } => {
                let words = format!("{}: {}", selected.lane, shown(selected.subject()));
                progress.at(done as u64, of as u64, words);
            }
            News::Asking { stage, subject, model } => {
                progress.say(format!("{} asks {}: {}", stage.as_str(), shown(model), shown(subject)));
            }
        }
    })
}

/// When the process was asked to end, it says what is wrong, if anything, and ends as the signal would have ended it.
fn end_if_asked(ctx: &Context, error: Option<&CliError>) {
    if asked_to_end() {
        error.into_iter().for_each(|error| ctx.error(&error.message));
        end_as_asked();
    }
}

/// A run as `--json` prints it.
#[derive(Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Told {
    /// Its record.
    #[serde(flatten)]
    run: Run,
    /// Why the command does not end with success, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<ErrorObject>,
}

/// Nothing is done, which is no failure; says why.
fn skip(ctx: &Context, reason: &'static str, words: &str) -> Result<Exit> {
    ctx.note(words);
    if ctx.json {
        ctx.print_json("skipped", &Skipped { skipped: true, reason })?;
    }
    Ok(Exit::Done)
}

/// A session of an agent begins: what dead runs left is completed, memory.md is kept, and a run is started behind it
/// when enough has changed since the last.
fn session_start(ctx: &Context, wiki: &Wiki, dry_run: bool) -> Result<Exit> {
    if dry_run {
        return skip(ctx, "session_start", "session-start plans no review");
    }
    let recovered = match improve::recover(wiki) {
        Err(improve::Error::Locked(holder)) => {
            return skip(ctx, "locked", &format!("a run is at work ({holder}); nothing to complete"));
        }
        other => other?,
    };
    let scope = crate::search::scope_here(wiki, &ctx.dir, ctx.scope.as_deref(), false)?;
    let (brief, status) = brief::brief_and_status(wiki, scope.as_deref(), brief::GLOBAL_LIMIT)?;
    for trouble in brief::keep(wiki, &brief).trouble {
        ctx.warn(trouble);
    }
    let program = std::env::current_exe()?;
    let started = session_start::start_if_due(wiki, &status, &program)
        .map_err(|error| CliError::fatal("not_started", error.to_string()))?;
    let more = if started { "; a run goes on in the background" } else { "" };
    let found = match recovered {
        0 => "no run had died".to_owned(),
        many => format!("{} finished or given up (`git memory run list`)", plural(many, "dead run")),
    };
    skip(ctx, "session_start", &format!("{found}; memory.md is kept{more}"))
}

/// What is printed when nothing is done.
#[derive(Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Skipped {
    /// Always true.
    skipped: bool,
    /// `locked`, `disabled`, `too_soon`, `session_start`.
    reason: &'static str,
}

fn print_prompt(ctx: &Context, wiki: &Wiki, request: &Request) -> Result<Exit> {
    let Some(printed) = improve::print::prompt(wiki, request)? else {
        let (what, hint) = if request.pages.is_empty() {
            (
                "there is no session that no run has looked at",
                "name one: `git memory improve --print-prompt --session ID`",
            )
        } else {
            ("no lane looks at this page", "`git memory improve --dry-run --page PATH` says why")
        };
        return Err(CliError::refused("nothing_to_review", what).hint(hint));
    };
    if ctx.json {
        ctx.print_json("prompt", &printed)?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    write!(out, "{}", shown_lines(&printed.text()))?;
    out.finish()?;
    if let Some(reason) = &printed.passed_over {
        ctx.note(format!("a run would pass this session over: {}", reason.replace('_', " ")));
    }
    Ok(Exit::Done)
}
