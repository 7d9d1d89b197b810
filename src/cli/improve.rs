//! `git memory improve`.

use std::io::Write;

use super::error::ErrorObject;
use super::{Cell, CliError, Context, Exit, Meaning, Result, Table, shown, shown_lines};
use crate::agent::session_start;
use crate::feedback::spool;
use crate::improve::plan::PlanError;
use crate::improve::run::{RunState, plural};
use crate::improve::select::PageLane;
use crate::improve::{self, Request, Run, Trigger, report, strategy, tick};
use crate::ledger::queue;
use crate::proposal::materialize;
use crate::report::brief;
use crate::wiki::Wiki;

/// Review captured sessions, and propose what they teach.
///
/// Without options, the newest session that no run has looked at. What comes out waits as proposals: `git memory
/// review` walks through them. The built-in reviewer needs no model and no key; it proposes standing instructions of
/// a person, corrections, failures with their stated cause and fix, decisions with their reason, and commands that
/// were repeated over sessions.
///
/// With a model, two more lanes look at pages: `reflect` mends titles and descriptions that feedback called wrong, and
/// `distill` makes a lesson of a note that was of use. `git memory improve --dry-run` says who would look at what.
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

    /// Which lanes run and how (default, quick, thorough, catchup, reflect-distill …); by default what
    /// improve.strategy says
    #[arg(long, value_name = "NAME")]
    strategy: Option<String>,

    /// What sets this run off; all but `manual` go by the rules for machines that work by themselves
    ///
    /// `schedule` (for cron, timers and CI) does nothing while the last tick is younger than scheduler.interval_secs;
    /// `post-commit` is what the hook's worker does, without waiting for an interval;
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

    /// Look at this many pages at most in each lane; those that were judged last come first
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
        downgraded(ctx, &run);
        if ctx.json {
            ctx.print_json("run", &run)?;
        } else {
            plan(ctx, &run)?;
        }
        return Ok(Exit::Done);
    }
    let run = match improve::run(&mut wiki, &request) {
        Err(improve::Error::Locked(holder)) if args.skip_if_locked => {
            return skip(ctx, "locked", &format!("another run is at work ({holder}); skipped"));
        }
        other => other?,
    };
    super::proposal::materialize(ctx);
    downgraded(ctx, &run);
    if let Some(unsent) = &run.unsent {
        ctx.warn(format!("other clones do not know of this run yet: {unsent}"));
    }
    if by_name && run.plan.selected.is_empty() {
        let gates = run.plan.gates.iter().map(|gate| {
            let lane = gate.lane.as_deref().unwrap_or_default();
            format!("{lane}: {} ({})", gate.reason, gate.name.replace('_', " "))
        });
        let why = gates.collect::<Vec<_>>().join("; ");
        return Err(CliError::refused("nothing_selected", format!("none of these pages can be looked at: {why}")));
    }
    let judged = judge(&run);
    if !ctx.json {
        told(ctx, &run)?;
        return judged.map(|()| Exit::Done);
    }
    // One object says it all: the run, and why it is no success.
    let failure = judged.as_ref().err().map(CliError::object);
    ctx.print_json("run", &Told { run, failure })?;
    Ok(judged.map_or_else(
        |error| {
            ctx.error(&error.message);
            error.exit
        },
        |()| Exit::Done,
    ))
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

/// What the strategy asks for and the settings do not let it do.
fn downgraded(ctx: &Context, run: &Run) {
    for down in &run.downgrades {
        let (why, hint) = match down.reason.as_str() {
            "autonomy_gated" => {
                ("approval.autonomy is off", "`git config memory.approval.autonomy true` lets it, in this repository")
            }
            _ => ("approval.mode is none", "`git config memory.approval.mode gated` lets it, in this repository"),
        };
        ctx.warn(format!("{} accepts nothing by itself ({}): {why}", down.what, down.reason));
        ctx.hint(hint);
    }
}

/// Whether a run did what it was asked; why not.
fn judge(run: &Run) -> Result<()> {
    let hint = format!("`git memory run show {}` says why", run.id);
    if run.state == RunState::BudgetExhausted {
        let why = run.error.clone().unwrap_or_default();
        return Err(CliError::refused("budget_exhausted", why).hint("what was not reached is tried again"));
    }
    if let Some(message) = not_looked_at(run, "failed") {
        return Err(CliError::refused("review_failed", message).hint(hint));
    }
    if let Some(message) = not_looked_at(run, "unavailable") {
        let hint = "it is tried again; no attempt is used up";
        return Err(CliError::refused("model_unavailable", message).hint(hint));
    }
    if run.lost_all() {
        let message = format!("every candidate was refused ({})", plural(run.refused.len(), "candidate"));
        return Err(CliError::refused("all_refused", message).hint(hint));
    }
    Ok(())
}

/// What was not looked at, with this outcome, and why; `None`: nothing.
fn not_looked_at(run: &Run, outcome: &str) -> Option<String> {
    let words = [outcome];
    let mut ended = run.ended(&words);
    let first = ended.next()?;
    let reason = first.reason.as_deref().unwrap_or("it did not say why");
    let more = match ended.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!("{} could not look at {}{more}: {reason}", first.lane, shown(&first.subject)))
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
    skip(ctx, "session_start", &format!("{} completed; memory.md is kept{more}", plural(recovered, "dead run")))
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

fn plan(ctx: &Context, run: &Run) -> Result<()> {
    let mut out = ctx.paged();
    let plan = &run.plan;
    let counts = &plan.candidates;
    let pages = plan.selected.iter().filter(|selected| selected.page.is_some()).count();
    let pages = if pages > 0 { format!(" and {}", plural(pages, "page")) } else { String::new() };
    writeln!(
        out,
        "{} captured, {} picked, {}{pages} would be looked at on {}",
        plural(counts.in_scope, "session"),
        counts.selected,
        counts.effective,
        shown(&plan.snapshot.branch),
    )?;
    if run.strategy != strategy::DEFAULT {
        writeln!(out, "strategy {}", shown(&run.strategy))?;
    }
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
    for lane in plan.lanes.iter().filter(|lane| lane.enabled) {
        match &lane.unavailable {
            Some(why) => writeln!(out, "lane {} does not run: {}", lane.name, shown(why))?,
            None => {
                let model = lane.model.as_deref().map(|model| format!("/{}", shown(model))).unwrap_or_default();
                writeln!(out, "lane {} by {}{model}", lane.name, shown(&lane.provider))?;
            }
        }
    }
    due(ctx, &mut out, run)?;
    let triage = &plan.triage;
    match &triage.reason {
        Some(why) => writeln!(out, "triage would accept and only queues: {}", why.replace('_', " "))?,
        None if triage.effective != strategy::TriageMode::Off => {
            writeln!(out, "triage {}, at most {}", triage.effective.as_str(), triage.cap)?;
        }
        None => {}
    }
    if plan.sync.claims {
        writeln!(out, "claims go through {}", shown(plan.sync.remote.as_deref().unwrap_or("no remote")))?;
    }
    writeln!(out, "nothing was written")?;
    out.finish()
}

fn told(ctx: &Context, run: &Run) -> Result<()> {
    // By the clock a success is no news.
    if ctx.quiet {
        return Ok(());
    }
    let mut out = ctx.out();
    if run.outcomes.is_empty() && run.skipped.is_empty() && run.proposals.is_empty() {
        writeln!(out, "{}", nothing(run))?;
        due(ctx, &mut out, run)?;
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
    for ended in run.ended(&["failed", "unavailable", "let_go", "gone"]) {
        writeln!(out, "{} {}", shown(&ended.subject), shown(&report::outcome(ended)))?;
    }
    for (id, reason) in &run.waiting {
        writeln!(out, "{} waits: {}", ctx.paint(Meaning::Id, &id[..id.len().min(8)]), shown(reason))?;
    }
    for ended in run.ended(&["done", "skipped"]).filter(|ended| ended.lane != "review") {
        if let Some(reason) = &ended.reason {
            let page = ctx.paint(Meaning::Place, shown(&ended.subject));
            writeln!(out, "{} leaves {page} as it is: {}", ended.lane, shown(reason))?;
        }
    }
    due(ctx, &mut out, run)?;
    out.finish()?;
    if run.count(&["accepted"]) > 0 {
        ctx.hint("`git memory revert <id>` takes back what was accepted by itself");
    }
    let waiting = run.count(&["staged", "reopened"]);
    if waiting > 0 {
        let they = if waiting == 1 { "it" } else { "them" };
        ctx.hint(format!("decide on {they} with `git memory review`, or `git memory accept <id>`"));
    }
    Ok(())
}

/// The pages that are due for somebody's look.
fn due(ctx: &Context, out: &mut impl Write, run: &Run) -> Result<()> {
    let proactive = &run.plan.proactive;
    let Some(count) = proactive.due.filter(|count| *count > 0) else { return Ok(()) };
    writeln!(out, "due for a look: {}; nothing is planned for them", plural(count, "page"))?;
    for page in &proactive.pages {
        writeln!(out, "  {}", ctx.paint(Meaning::Dim, shown(&report::due(page))))?;
    }
    Ok(())
}

/// Why nothing was looked at, as the gates say: of sessions only, as each page is left out of most lanes most of the
/// time.
fn nothing(run: &Run) -> String {
    let gates = run.plan.gates.iter().filter(|gate| gate.lane.is_none() && gate.name != "seen");
    let why: Vec<String> =
        gates.map(|gate| format!("{} left out, {}", plural(gate.removed, "session"), gate.reason)).collect();
    if why.is_empty() {
        return "nothing to review: no session that no run has looked at".to_owned();
    }
    format!("nothing to review: {}", why.join("; "))
}

/// What the worker does with what the hooks queued: the capture's and the commits' sessions, under the rules that
/// keep a machine from reviewing too much by itself.
pub(super) fn worker_pass(wiki: &Wiki, queued: &[queue::Queued]) -> Result<(), String> {
    // What cannot be carried over waits on, and is told of by `status`.
    let _ = spool::flush(&wiki.repo);
    let scheduler = &wiki.config.settings.scheduler;
    if !scheduler.enabled || scheduler.interval_secs == 0 {
        return Ok(());
    }
    // What a capture queued waits for whoever comes; a commit counts for more than a session that begins.
    let of_a_session = queued.iter().any(|queued| queued.event == session_start::EVENT);
    let of_a_commit = queued.iter().any(|queued| queued.oid.is_some());
    let trigger = if of_a_session && !of_a_commit { Trigger::SessionStart } else { Trigger::PostCommit };
    let request = Request { trigger, ..Request::default() };
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
            improve::Error::Untrusted(error) => error.into(),
            improve::Error::Strategy(strategy::Error::Unknown { .. }) => {
                CliError::refused("unknown_strategy", error.to_string())
            }
            improve::Error::Strategy(strategy::Error::File { .. }) => {
                CliError::new(Exit::Config, "config", error.to_string())
            }
            improve::Error::Remote(_) => CliError::refused("remote_unreachable", error.to_string())
                .hint("the next tick tries again; `git memory run list` has it on record"),
        }
    }
}
