//! What a person is told of a plan.

use std::io::Write;

use super::told::{due, goes_on};
use crate::cli::{Cell, Context, Meaning, Result, Table, shown};
use crate::improve::Run;
use crate::improve::run::plural;
use crate::improve::strategy;

/// What a run would look at, with whom, and why not at the rest.
pub(super) fn plan(ctx: &Context, run: &Run) -> Result<()> {
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
    for selected in &plan.selected {
        goes_on(&mut out, selected)?;
    }
    for skip in &plan.skipped {
        writeln!(out, "passed over {}: {}", shown(&skip.session), skip.reason.replace('_', " "))?;
    }
    for gate in &plan.gates {
        let lane = gate.lane.as_ref().map(|lane| format!(" by {lane}")).unwrap_or_default();
        let page = gate.page.as_ref().map(|page| format!(", {}", shown(page))).unwrap_or_default();
        writeln!(out, "left out {}{lane} ({}{page}): {}", gate.removed, gate.name.replace('_', " "), gate.reason)?;
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
    if let Some(judge) = &plan.judge {
        let why = judge.unavailable.as_deref().map(|why| format!(", who cannot be asked: {}", shown(why)));
        let model = judge.model.as_deref().map(|model| format!("/{}", shown(model))).unwrap_or_default();
        writeln!(out, "judged by {}{model}{}", shown(&judge.provider), why.unwrap_or_default())?;
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
    if !plan.released.is_empty() {
        writeln!(out, "{} no longer held back would be staged", plural(plan.released.len(), "proposal"))?;
    }
    if run.recovered > 0 {
        writeln!(out, "{} would be put right first", plural(run.recovered, "dead run"))?;
    }
    writeln!(out, "nothing was written")?;
    out.finish()
}
