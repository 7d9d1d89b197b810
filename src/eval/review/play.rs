//! Playing a case: its sessions are captured and reviewed, and what comes out is judged.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::judge::{self, CaseReport, Refused};
use super::place::Place;
use super::{Case, Proposed, safety};
use crate::config::Settings;
use crate::git::{self, end_as_asked};
use crate::improve::run::{Call, RunState};
use crate::improve::{self, Request, Run, Trigger};
use crate::model::{Stage, Usage};
use crate::proposal::sidecar::recorded_changes;
use crate::proposal::{PageChange, Sidecar};
use crate::wiki::Wiki;

/// Who is measured.
pub struct Reviewer<'a, C> {
    /// The settings of the reviewer.
    pub settings: &'a Settings,
    /// Captures files into a wiki, as `git memory capture` does.
    pub capture: C,
}

/// What a capture says: what could not be read.
pub type Captured = Result<Vec<String>, String>;

/// Plays a case. What cannot be done stands in its report.
pub fn play<C>(case: &Case, reviewer: &Reviewer<'_, C>) -> CaseReport
where
    C: Fn(&Wiki, &[PathBuf]) -> Captured,
{
    let mut report = CaseReport {
        case: case.name.clone(),
        about: case.about.clone(),
        proposals: Vec::new(),
        must: case.must.len(),
        missed: case.must.iter().map(ToString::to_string).collect(),
        refused: Vec::new(),
        skipped: BTreeMap::new(),
        calls: 0,
        unjudged: 0,
        tokens: Usage::default(),
        failed: None,
    };
    if let Err(why) = review(case, reviewer, &mut report) {
        report.failed = Some(why);
    }
    report
}

fn review<C>(case: &Case, reviewer: &Reviewer<'_, C>, report: &mut CaseReport) -> Result<(), String>
where
    C: Fn(&Wiki, &[PathBuf]) -> Captured,
{
    let mut place = Place::make(case, reviewer.settings)?;
    let unread = (reviewer.capture)(&place.wiki, &case.sessions)?;
    if !unread.is_empty() {
        return Err(unread.join("; "));
    }
    let request = Request { trigger: Trigger::Manual, all: true, ..Request::default() };
    let ran = improve::run(&mut place.wiki, &request, &improve::unheard);
    // Not this case alone: whoever asked for all of them had enough.
    end_as_asked();
    let run = ran.map_err(|error| error.to_string())?;
    count(&run, report);
    let proposed = proposed(&place.wiki, &run).map_err(|error| error.to_string())?;
    (report.proposals, report.missed) = judge::judge(case, proposed);
    match trouble(&run) {
        Some(why) => Err(why),
        None => Ok(()),
    }
}

/// What the run record has to say beside its proposals.
fn count(run: &Run, report: &mut CaseReport) {
    let refused = run.refused.iter().map(|refusal| Refused {
        code: refusal.code.to_string(),
        path: refusal.path.clone(),
        reason: refusal.reason.clone(),
    });
    report.refused = refused.collect();
    for skip in &run.skipped {
        *report.skipped.entry(skip.reason.clone()).or_default() += 1;
    }
    for call in run.calls.iter().filter(|call| call.provider != "builtin") {
        report.calls += 1;
        report.unjudged += usize::from(call.error.is_some() && !is_review(call));
        let tokens = call.tokens.unwrap_or_default();
        report.tokens.input += tokens.input;
        report.tokens.output += tokens.output;
    }
}

/// Why a run is no answer. A judge that gave none is no such reason: what it was to judge waits for a person.
fn trouble(run: &Run) -> Option<String> {
    if run.lost_all() {
        // What was refused is counted.
        return None;
    }
    let review = run.calls.iter().filter(|call| is_review(call));
    let asked = review.filter_map(|call| Some(format!("{}: {}", call.stage, call.error.as_ref()?))).next();
    let ended = matches!(run.state, RunState::Failed | RunState::Abandoned | RunState::BudgetExhausted);
    asked.or_else(|| run.error.clone()).or_else(|| ended.then(|| "the run did not end well".to_owned()))
}

fn is_review(call: &Call) -> bool {
    call.stage == Stage::Review.as_str()
}

/// The proposals of a run, in its order. What was known before is none.
fn proposed(wiki: &Wiki, run: &Run) -> git::Result<Vec<Proposed>> {
    let spoken = safety::spoken(wiki)?;
    let mut found = Vec::new();
    for made in run.proposals.iter().filter(|made| made.outcome != "sighted") {
        let Some(sidecar) = Sidecar::load(&wiki.repo, &made.id)? else {
            return Err(git::Error::read(format!("proposal {}", made.id), "the ledger has no sidecar of it"));
        };
        let changes = recorded_changes(&wiki.repo, &made.id, &sidecar.paths)?;
        found.push(Proposed {
            id: made.id.clone(),
            kind: sidecar.kind,
            operation: sidecar.operation,
            path: made.path.clone(),
            title: sidecar.title.clone(),
            says: changes.iter().map(|change| says(wiki, change)).collect::<Vec<_>>().join("\n"),
            quotes: sidecar.evidence.iter().map(|evidence| evidence.quote.clone()).collect(),
            breach: safety::breach(&sidecar, made.outcome == "accepted", &spoken),
        });
    }
    Ok(found)
}

/// What a change says: the body of a new page, the new lines of one that is there.
fn says(wiki: &Wiki, change: &PageChange) -> String {
    let Some(after) = &change.after else { return String::new() };
    let Some(before) = &change.before else {
        return wiki.read(change.path.as_str().into(), after).body;
    };
    let before = String::from_utf8_lossy(before);
    let known: std::collections::HashSet<&str> = before.lines().collect();
    let after = String::from_utf8_lossy(after);
    after.lines().filter(|line| !known.contains(line)).collect::<Vec<_>>().join("\n")
}
