//! `git memory improve`.

use std::io::Write;

use super::{Cell, CliError, Context, Exit, Meaning, Result, Table, shown, shown_lines};
use crate::feedback::spool;
use crate::improve::plan::PlanError;
use crate::improve::run::{RunState, plural};
use crate::improve::select::PageLane;
use crate::improve::{self, Request, Run, Trigger};
use crate::ledger::queue;
use crate::proposal::materialize;
use crate::wiki::Wiki;

/// Review captured sessions, and propose what they teach.
///
/// Without options, the newest session that no run has looked at. What comes out waits as proposals: `git memory
/// review` walks through them. The built-in reviewer needs no model and no key; it proposes standing instructions of
/// a person, corrections, failures with their stated cause and fix, decisions with their reason, and commands that
/// were repeated over sessions.
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

    /// Look at this page, whatever was said of it, and at nothing else; may be given more than once
    #[arg(long, value_name = "PATH", conflicts_with_all = ["session", "all", "max_sessions"])]
    page: Vec<String>,

    /// With --page: in this lane only
    #[arg(long, value_name = "LANE", value_enum, requires = "page")]
    lane: Option<PageLane>,

    /// Look at this many pages at most in each lane, those that were judged last
    #[arg(long, value_name = "N")]
    max_pages: Option<usize>,

    /// Say what would be looked at and why; write nothing at all
    #[arg(long)]
    dry_run: bool,

    /// Print the whole prompt that a model would get about the session, with the schema of its reply; ask nobody,
    /// write nothing at all
    #[arg(long, conflicts_with_all = ["dry_run", "skip_if_locked"])]
    print_prompt: bool,

    /// When another run is at work, say so and end with success
    #[arg(long)]
    skip_if_locked: bool,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    if let Some(scope) = &ctx.scope {
        wiki.scope(Some(scope))?;
    }
    let by_name = !args.page.is_empty();
    let request = Request {
        trigger: Trigger::Manual,
        sessions: args.session,
        all: args.all,
        max_sessions: args.max_sessions,
        pages: args.page,
        lane: args.lane,
        max_pages: args.max_pages,
        scope: ctx.scope.clone(),
    };
    if args.print_prompt {
        return print_prompt(ctx, &wiki, &request);
    }
    if args.dry_run {
        let run = improve::dry_run(&wiki, &request)?;
        if ctx.json {
            ctx.print_json("run", &run)?;
        } else {
            plan(ctx, &run)?;
        }
        return Ok(Exit::Done);
    }
    let run = match improve::run(&mut wiki, &request) {
        Err(improve::Error::Locked(holder)) if args.skip_if_locked => {
            ctx.note(format!("another run is at work ({holder}); skipped"));
            if ctx.json {
                ctx.print_json("skipped", &Skipped { skipped: true, reason: "locked" })?;
            }
            return Ok(Exit::Done);
        }
        other => other?,
    };
    super::proposal::materialize(ctx);
    if by_name && run.plan.selected.is_empty() {
        let gates = run.plan.gates.iter().map(|gate| {
            let lane = gate.lane.as_deref().unwrap_or_default();
            format!("{lane}: {} ({})", gate.reason, gate.name.replace('_', " "))
        });
        let why = gates.collect::<Vec<_>>().join("; ");
        return Err(CliError::refused("nothing_selected", format!("none of these pages can be looked at: {why}")));
    }
    let failure = failure(&run);
    if ctx.json {
        // One object says it all: the run.
        ctx.print_json("run", &run)?;
        return Ok(if failure.is_some() { Exit::Refused } else { Exit::Done });
    }
    report(ctx, &run)?;
    failure.map_or(Ok(Exit::Done), Err)
}

/// Why a run that went through is no success: a lane could not look at something, or nothing passed the checks.
fn failure(run: &Run) -> Option<CliError> {
    let hint = format!("`git memory run show {}` says why", run.id);
    if let Some(failed) = run.judged.iter().find(|judged| matches!(judged.outcome.as_str(), "failed" | "unavailable")) {
        let what = format!("{} could not look at {}: {}", failed.lane, failed.page, failed.reason);
        return Some(CliError::refused("lane_failed", what).hint(hint));
    }
    if !run.refused.is_empty() && run.proposals.is_empty() {
        let what = format!("every candidate was refused ({})", plural(run.refused.len(), "candidate"));
        return Some(CliError::refused("all_refused", what).hint(hint));
    }
    run.failed_calls().next().map(|(call, why)| {
        let what = format!("the review of {} failed: {}", shown(call.subject()), shown(why));
        CliError::refused("review_failed", what).hint(hint)
    })
}

/// What `--skip-if-locked` prints when it skips.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Skipped {
    /// Always true.
    skipped: bool,
    /// `locked`.
    reason: &'static str,
}

fn print_prompt(ctx: &Context, wiki: &Wiki, request: &Request) -> Result<Exit> {
    let Some(printed) = improve::print::prompt(wiki, request)? else {
        return Err(CliError::refused("nothing_to_review", "there is no session that no run has looked at")
            .hint("name one: `git memory improve --print-prompt --session ID`"));
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

fn plan(ctx: &Context, run: &Run) -> Result<()> {
    let mut out = ctx.paged();
    let plan = &run.plan;
    let counts = &plan.candidates;
    writeln!(
        out,
        "{} captured, {} picked, {} would be looked at on {}",
        plural(counts.in_scope, "session"),
        counts.selected,
        counts.effective,
        shown(&plan.snapshot.branch),
    )?;
    let mut table = Table::new();
    for selected in &plan.selected {
        table.row([
            Cell::with(Meaning::Id, selected.subject()),
            Cell::new(&selected.lane),
            Cell::new(selected.reason.replace('_', " ")),
        ]);
    }
    table.print(ctx, &mut out)?;
    for skip in &plan.skipped {
        writeln!(out, "passed over {}: {}", shown(&skip.session), skip.reason.replace('_', " "))?;
    }
    for gate in &plan.gates {
        let lane = gate.lane.as_ref().map(|lane| format!(" by {lane}")).unwrap_or_default();
        writeln!(out, "left out {}{lane} ({}): {}", gate.removed, gate.name.replace('_', " "), gate.reason)?;
    }
    for lane in &plan.lanes {
        match (&lane.unavailable, lane.enabled) {
            (_, false) => {}
            (Some(why), true) => writeln!(out, "lane {} does not run: {why}", lane.name)?,
            (None, true) => writeln!(out, "lane {} by {}", lane.name, shown(&lane.provider))?,
        }
    }
    writeln!(out, "nothing was written")?;
    out.finish()
}

fn report(ctx: &Context, run: &Run) -> Result<()> {
    let mut out = ctx.out();
    if run.plan.selected.is_empty() && run.skipped.is_empty() && run.proposals.is_empty() {
        writeln!(out, "nothing to review: no session that no run has looked at")?;
        return out.finish();
    }
    writeln!(out, "{}", run.summary())?;
    let mut table = Table::new();
    for made in &run.proposals {
        let meaning = match made.outcome.as_str() {
            "staged" | "reopened" | "accepted" => Meaning::Good,
            _ => Meaning::Dim,
        };
        table.row([
            Cell::with(Meaning::Id, &made.id[..made.id.len().min(8)]),
            Cell::with(meaning, &made.outcome),
            Cell::with(Meaning::Place, &made.path),
            Cell::new(&made.title),
        ]);
    }
    table.print(ctx, &mut out)?;
    for refusal in &run.refused {
        writeln!(out, "refused {}: {}", ctx.paint(Meaning::Warn, refusal.code.to_string()), shown(&refusal.reason))?;
    }
    for left in &run.rejected_candidates {
        writeln!(out, "{}", ctx.paint(Meaning::Dim, format!("left out: {}", shown(&left.reason))))?;
    }
    for skip in &run.skipped {
        writeln!(out, "passed over {}: {}", shown(&skip.session), skip.reason.replace('_', " "))?;
    }
    for judged in &run.judged {
        let page = ctx.paint(Meaning::Place, shown(&judged.page));
        let outcome = if judged.outcome == "done" { String::new() } else { format!("{}: ", judged.outcome) };
        writeln!(out, "{} leaves {page} as it is: {outcome}{}", judged.lane, shown(&judged.reason))?;
    }
    out.finish()?;
    let waiting = run.count(&["staged", "reopened"]);
    if waiting > 0 {
        let they = if waiting == 1 { "it" } else { "them" };
        ctx.hint(format!("decide on {they} with `git memory review`, or `git memory accept <id>`"));
    }
    Ok(())
}

/// What the worker does with what the hooks queued: the capture's and the commits' sessions, under the rules that
/// keep a machine from reviewing too much by itself.
pub(super) fn worker_pass(wiki: &Wiki, _queued: &[queue::Queued]) -> Result<(), String> {
    // What cannot be carried over waits on, and is told of by `status`.
    let _ = spool::flush(&wiki.repo);
    let scheduler = &wiki.config.settings.scheduler;
    if !scheduler.enabled || scheduler.interval_secs == 0 {
        return Ok(());
    }
    let request = Request {
        trigger: Trigger::PostCommit,
        sessions: Vec::new(),
        all: false,
        max_sessions: None,
        pages: Vec::new(),
        lane: None,
        max_pages: None,
        scope: None,
    };
    let run = improve::run_locked(&mut wiki.clone(), &request).map_err(|error| error.to_string())?;
    materialize::refresh(wiki)?;
    match run.state {
        RunState::Failed => Err(run.error.unwrap_or_else(|| "the run failed".into())),
        _ => Ok(()),
    }
}

impl From<improve::Error> for CliError {
    fn from(error: improve::Error) -> CliError {
        match error {
            improve::Error::Git(error) => error.into(),
            improve::Error::Proposal(error) => error.into(),
            improve::Error::Plan(error) => match error {
                PlanError::Git(error) => error.into(),
                PlanError::NoSession(_) => CliError::refused("unknown_session", error.to_string())
                    .hint("`git memory session list` shows the ids"),
                PlanError::NoPage(_) => CliError::refused("unknown_page", error.to_string())
                    .hint("name a page of the wiki by its path or its file name"),
                PlanError::NoModel(_) => CliError::new(Exit::Config, "no_model", error.to_string())
                    .hint("set `model.provider`, in your own settings or with `git config`"),
            },
            improve::Error::Locked(_) => CliError::new(Exit::Busy, "busy", error.to_string())
                .hint("try again when it has ended, or give --skip-if-locked"),
            improve::Error::Journal(_) => CliError::fatal("io", error.to_string()),
            improve::Error::Settings(_) => CliError::new(Exit::Config, "config", error.to_string()),
            improve::Error::Untrusted(_) => CliError::new(Exit::Config, "untrusted", error.to_string())
                .hint("`git memory trust` shows them, and says that they may be used"),
        }
    }
}
