//! What a person is told of a run.

use std::io::Write;

use crate::cli::{Cell, CliError, Context, Meaning, Result, Table, shown};
use crate::improve::Run;
use crate::improve::plan::Selected;
use crate::improve::report;
use crate::improve::run::{Outcome, plural};
use crate::improve::strategy;

/// What the strategy asks for and the settings do not let it do.
pub(super) fn downgraded(ctx: &Context, run: &Run) {
    // Where nothing was proposed there was nothing to accept, and cron mails each word.
    if ctx.quiet && run.proposals.is_empty() || run.plan.without_lanes().is_some() {
        return;
    }
    for down in &run.downgrades {
        ctx.warn(report::downgrade(down));
        ctx.hint(match down.reason.as_str() {
            "autonomy_gated" => "`git config memory.approval.autonomy true` lets it, in this repository",
            _ => "`git config memory.approval.mode gated` lets it, in this repository",
        });
    }
}

/// What came of a run. What the error will say of it is not said twice.
pub(super) fn told(ctx: &Context, run: &Run, error: Option<&CliError>) -> Result<()> {
    // By the clock a success is no news.
    if ctx.quiet {
        return Ok(());
    }
    let mut out = ctx.out();
    if run.outcomes.is_empty() && run.skipped.is_empty() && run.proposals.is_empty() {
        if error.is_none() {
            writeln!(out, "{}", nothing(run))?;
        }
        due(ctx, &mut out, run)?;
        out.finish()?;
        if let Some(next) = next(run).filter(|_| error.is_none()) {
            ctx.hint(next);
        }
        return Ok(());
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
        writeln!(out, "passed over {}: {}", shown(&skip.session), report::passed_over(&skip.reason))?;
    }
    for ended in run.ended(&["failed", "unavailable", "let_go", "gone"]).filter(|ended| !is_told(ended, error)) {
        writeln!(out, "{} {}", shown(&ended.subject), shown(&report::outcome(ended)))?;
    }
    for selected in &run.plan.selected {
        goes_on(&mut out, selected)?;
    }
    for (id, reason) in &run.waiting {
        writeln!(out, "{} waits: {}", ctx.paint(Meaning::Id, &id[..id.len().min(8)]), shown(reason))?;
    }
    for ended in run.ended(&["done", "skipped"]).filter(|ended| ended.lane != "review") {
        if let Some(reason) = &ended.reason {
            let page = ctx.paint(Meaning::Place, shown(&ended.subject));
            let reason = if ended.outcome == "skipped" { report::passed_over(reason) } else { reason.clone() };
            writeln!(out, "{} leaves {page} as it is: {}", ended.lane, shown(&reason))?;
        }
    }
    due(ctx, &mut out, run)?;
    out.finish()?;
    if run.strategy != strategy::DEFAULT {
        let idle: Vec<&str> = run.plan.idle_lanes().iter().map(|lane| lane.name.as_str()).collect();
        if !idle.is_empty() {
            ctx.note(format!("did not run: {} (`git memory improve --dry-run` says why)", idle.join(", ")));
        }
    }
    let mut landed = run.proposals.iter().filter(|made| made.outcome == "accepted");
    match (landed.next(), landed.next()) {
        (Some(one), None) => {
            ctx.hint(format!("`git memory revert {}` takes back what was accepted", &one.id[..one.id.len().min(8)]));
        }
        (Some(_), Some(_)) => ctx.hint("`git memory revert <id>` takes back one that was accepted by itself"),
        (None, _) => {}
    }
    let waiting = run.count(&["staged", "reopened"]);
    if waiting > 0 {
        let they = if waiting == 1 { "it" } else { "them" };
        ctx.hint(format!("decide on {they} with `git memory review`, or `git memory accept <id>`"));
    }
    Ok(())
}

/// The pages that are due for somebody's look.
pub(super) fn due(ctx: &Context, out: &mut impl Write, run: &Run) -> Result<()> {
    let proactive = &run.plan.proactive;
    let Some(count) = proactive.due.filter(|count| *count > 0) else { return Ok(()) };
    writeln!(out, "due for a look: {}; nothing is planned for them", plural(count, "page"))?;
    for page in &proactive.pages {
        writeln!(out, "  {}", ctx.paint(Meaning::Dim, shown(&report::due(page))))?;
    }
    Ok(())
}

/// Whether the error says all of how this ended.
fn is_told(ended: &Outcome, error: Option<&CliError>) -> bool {
    let reason = ended.reason.as_deref().unwrap_or_default();
    error.is_some_and(|error| error.message.contains(&ended.subject) && error.message.contains(reason))
}

/// That a session is still being written, as far as can be told.
pub(super) fn goes_on(out: &mut impl Write, selected: &Selected) -> Result<()> {
    if let (Some(age), Some(session)) = (selected.age_secs, &selected.session) {
        let session = shown(session);
        writeln!(out, "{session} was still being written {age} s ago: what follows later is looked at again")?;
    }
    Ok(())
}

/// Why nothing was looked at, in a line; `--dry-run` gives the reason of each lane.
fn nothing(run: &Run) -> String {
    let plan = &run.plan;
    let mut parts: Vec<String> = Vec::new();
    for gate in plan.gates.iter().filter(|gate| gate.lane.is_none()) {
        let sessions = plural(gate.removed, "session");
        parts.push(match gate.name.as_str() {
            "seen" => format!("{sessions} looked at before"),
            _ => format!("{sessions} left out, {}", gate.reason),
        });
    }
    // Most lanes leave most pages out: each page counts once.
    let pages = |lane: &str| -> usize {
        plan.gates.iter().filter(|gate| gate.lane.as_deref() == Some(lane)).map(|gate| gate.removed).sum()
    };
    let pages = plan.lanes.iter().map(|lane| pages(&lane.name)).max().unwrap_or_default();
    if pages > 0 {
        let need = if pages == 1 { "needs" } else { "need" };
        parts.push(format!("{} {need} no look", plural(pages, "page")));
    }
    if plan.candidates.in_scope == 0 {
        parts.insert(0, "no session is captured".to_owned());
    }
    format!("nothing is due: {}", parts.join("; "))
}

/// What a person can do where nothing was due.
fn next(run: &Run) -> Option<&'static str> {
    let plan = &run.plan;
    let has = |name: &str| plan.gates.iter().any(|gate| gate.name == name);
    if plan.candidates.in_scope == 0 {
        Some("`git memory capture` takes in the sessions of your agents")
    } else if has("watermark") {
        Some("`git memory improve --all` reviews what ended before")
    } else if has("parked") {
        Some("`git memory status` lists what is parked, and says how it is looked at again")
    } else {
        None
    }
}
