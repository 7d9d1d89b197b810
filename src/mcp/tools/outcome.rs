//! `memory_outcome`.

use serde::Deserialize;

use super::super::answer::Said;
use super::super::error::Error;
use super::{Call, Effect, Tool};
use crate::feedback::episode::ALL_SCOPES;
use crate::feedback::outcome::{self, Claim, Outcome as Recorded, Verifier, Went};
use crate::ledger;
use crate::wiki::scope::Unresolved;

/// What [`Outcome`] takes.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The episode id that memory_search or memory_context answered with
    episode: String,
    /// How the task went
    outcome: Went,
    /// Pages that you used
    #[serde(default)]
    used: Vec<String>,
    /// Pages that led you astray
    #[serde(default)]
    harmful: Vec<String>,
    /// Where it can be looked up
    evidence: Option<String>,
}

/// Saying how a task went.
pub struct Outcome;

impl Tool for Outcome {
    const NAME: &'static str = "memory_outcome";
    const TITLE: &'static str = "Say how the task went";
    const ABOUT: &'static str = "Says how the task went that a search or context was made for, and which of the pages \
        that it showed had a part in that. It stands as your own word, which credits no page: where a command can tell, \
        run `git memory outcome EPISODE --used PAGE --run -- COMMAND` in a shell instead, which attests it.";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Recorded;

    fn call(call: &Call, input: Input) -> Result<Said<Recorded>, Error> {
        let wiki = call.wiki()?;
        let claim = Claim {
            episode: input.episode,
            went: Some(input.outcome),
            verifier: Verifier::AgentSelfReport,
            used: input.used,
            harmful: input.harmful,
            evidence: input.evidence,
            runs: false,
            under_agent: Some(call.agent.name.clone()),
        };
        let checked = outcome::check(&wiki, claim, ledger::now())?;
        let scope = &checked.episode.scope;
        if scope != ALL_SCOPES && !call.may_show(scope) {
            return Err(Unresolved(format!(
                "the episode belongs to scope `{scope}`, which this server does not serve"
            ))
            .into());
        }
        let recorded = checked.record(&wiki, None)?;
        let text = format!("recorded for episode {} as your own word, which credits no page", recorded.episode);
        Ok(Said::done(recorded, text))
    }
}
