//! `memory_feedback`.

use serde::Deserialize;

use super::super::answer::Said;
use super::super::error::Error;
use super::{Call, Effect, Tool};
use crate::feedback::{Feedback as Judged, Mode, Replacement, Verdict, find};
use crate::proposal::feedback::{self, Given};
use crate::proposal::materialize;
use crate::wiki::shown::shown;

/// What [`Feedback`] takes.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The page, as memory_search names it
    page: String,
    /// What you say of it
    verdict: Verdict,
    /// Why, in a sentence; a negative needs it
    reason: Option<String>,
    /// What is wrong with it
    mode: Option<Mode>,
    /// The exact mend, for a negative; it becomes a proposal
    #[serde(default)]
    replace: Vec<Exact>,
    /// Where what is right stands: a commit, a session, a page, an address, a command; a mend needs it
    source: Option<String>,
    /// The page that takes its place
    superseded_by: Option<String>,
}

/// A text of the page, and what should stand there.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Exact {
    /// What stands there, word for word, exactly once
    old: String,
    /// What should
    new: String,
}

/// Saying what a page was worth.
pub struct Feedback;

impl Tool for Feedback {
    const NAME: &'static str = "memory_feedback";
    const TITLE: &'static str = "Say what a page was worth";
    const ABOUT: &'static str = "Says of a page that it helped, what is wrong with it, or that it was the wrong page for \
        the task (failed_to_apply, which says nothing against it). Give a negative with its reason and, where you can, \
        with the exact mend: each `old` stands in the page word for word, once. A mend becomes a proposal, which a \
        person decides on; one that does not pass records nothing.";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Given;

    fn call(call: &Call, input: Input) -> Result<Said<Given>, Error> {
        let mut wiki = call.wiki()?;
        let page = find::page(&wiki, &input.page)?;
        if !call.may_show(&wiki.scopes.of_page(&page).name) {
            return Err(Error::NoPage(input.page));
        }
        let judged = Judged {
            page,
            verdict: input.verdict,
            mode: input.mode,
            reason: input.reason,
            replace: input.replace.into_iter().map(|fix| Replacement { old: fix.old, new: fix.new }).collect(),
            superseded_by: input.superseded_by,
            source: input.source,
        };
        let writer = call.writer(&wiki)?;
        let given = feedback::give(&mut wiki, judged, &writer, Some(&writer.person.name))?;
        let stale = if given.proposal.is_some() { materialize::refresh(&wiki).err() } else { None };
        let mut text = match &given.proposal {
            Some(fix) => format!("recorded for {}; the mend is proposal {} ({})", given.page, fix.id, fix.outcome),
            None => format!("recorded for {}", given.page),
        };
        text.extend(given.notes.iter().chain(&stale).map(|note| format!("\nnote: {}", shown(note))));
        Ok(Said::done(given, text))
    }
}
