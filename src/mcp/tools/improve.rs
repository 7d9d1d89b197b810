//! `memory_improve`.

use serde::{Deserialize, Serialize};

use super::super::answer::{self, Said};
use super::super::error::Error;
use super::{Call, Effect, Tool};
use crate::git::end_as_asked;
use crate::improve::run::{Made, Outcome, RunState, Skip};
use crate::improve::{self, Request, Run, Trigger};
use crate::proposal::{Refusal, materialize};
use crate::wiki::shown::shown;

/// What [`Improve`] takes.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The captured session to review [default: the newest that no run has looked at]
    session_id: Option<String>,
    /// How much to review
    limits: Option<Limits>,
}

/// How much is reviewed.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// At most so many sessions that no run has looked at, oldest first
    #[cfg_attr(test, schemars(range(min = 1)))]
    max_sessions: Option<usize>,
}

/// What came of a run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Output {
    /// The run's id.
    run: String,
    /// How far it got.
    state: RunState,
    /// In a line.
    summary: String,
    /// What it proposed.
    proposals: Vec<Made>,
    /// Candidates that were refused, with their reasons.
    refused: Vec<Refusal>,
    /// Sessions that were passed over, and why.
    skipped: Vec<Skip>,
    /// What became of what was selected: sessions, and pages that lanes left as they are.
    outcomes: Vec<Outcome>,
    /// How many of these four lists' entries are left out here; `git memory run show` has all.
    left_out: usize,
}

/// Most entries of a list.
const MOST: usize = 30;

/// A run of improve.
pub struct Improve;

impl Tool for Improve {
    const NAME: &'static str = "memory_improve";
    const TITLE: &'static str = "Review captured sessions";
    const ABOUT: &'static str = "Reviews captured sessions and proposes what they teach. What comes out waits for a \
        person; nothing lands. Without arguments it looks at the newest session that no run has looked at. One run at \
        a time: while another is at work it says `busy`.";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: &Call, input: Input) -> Result<Said<Output>, Error> {
        let mut wiki = call.wiki()?;
        let scope = call.scope(&wiki, None)?;
        let max_sessions = input.limits.and_then(|limits| limits.max_sessions);
        if max_sessions == Some(0) {
            return Err(Error::Arguments(format!("{}: `max_sessions` is at least 1", Self::NAME)));
        }
        let sessions = input.session_id.into_iter().collect();
        let request = Request { trigger: Trigger::Agent, sessions, max_sessions, scope, ..Request::default() };
        let ran = improve::run(&mut wiki, &request, &improve::unheard);
        // Whoever ends the server ended the run with it.
        end_as_asked();
        let run = ran?;
        let stale = materialize::refresh(&wiki).err();
        let failed = run.lost_all() || run.failed_calls().next().is_some() || run.plan.without_lanes().is_some();
        let mut text = text(&run);
        if let Some(trouble) = stale {
            text += &format!("\nnote: {}", shown(&trouble));
        }
        Ok(Said { value: Output::from(run), text, failed })
    }
}

impl From<Run> for Output {
    fn from(run: Run) -> Output {
        let left = |many: usize| many.saturating_sub(MOST);
        Output {
            summary: run.summary(),
            left_out: [run.proposals.len(), run.refused.len(), run.skipped.len(), run.outcomes.len()]
                .into_iter()
                .map(left)
                .sum(),
            run: run.id,
            state: run.state,
            proposals: run.proposals.into_iter().take(MOST).collect(),
            refused: run.refused.into_iter().take(MOST).collect(),
            skipped: run.skipped.into_iter().take(MOST).collect(),
            outcomes: run.outcomes.into_iter().take(MOST).collect(),
        }
    }
}

fn text(run: &Run) -> String {
    if let Some(why) = run.plan.without_lanes() {
        return format!("the strategy {} does nothing: {}", shown(&run.strategy), shown(&why));
    }
    if run.plan.selected.is_empty() && run.skipped.is_empty() && run.proposals.is_empty() {
        return "nothing to review: no session that no run has looked at".to_owned();
    }
    let made = run.proposals.iter().map(|made| format!("{} {} {}: {}", made.id, made.outcome, made.path, made.title));
    let refused = run.refused.iter().map(|refusal| format!("refused {refusal}"));
    let skipped = run.skipped.iter().map(|skip| format!("passed over {}: {}", skip.session, skip.reason));
    let failed = run.failed_calls().map(|(call, why)| format!("the review of {} failed: {why}", call.subject()));
    let judged = run.ended(&["done", "skipped"]).filter(|ended| ended.lane != "review").filter_map(|ended| {
        let reason = ended.reason.as_ref()?;
        Some(format!("{} left {}: {reason}", ended.lane, ended.subject))
    });
    let lists = [
        failed.take(MOST).collect::<Vec<_>>(),
        made.take(MOST).collect(),
        refused.take(MOST).collect(),
        skipped.take(MOST).collect(),
        judged.take(MOST).collect(),
    ];
    let lines: Vec<String> = lists.concat().iter().map(|line| shown(line).into_owned()).collect();
    if lines.is_empty() {
        return run.summary();
    }
    format!("{}\n{}", run.summary(), answer::data("what it found", &lines.join("\n")))
}
