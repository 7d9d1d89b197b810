//! What holds for rules, looked at anew: nothing of what validation said is taken over.

use serde::Serialize;

use crate::git;
use crate::proposal::Sidecar;
use crate::session::{self, own_words};
use crate::wiki::text::fold_space;
use crate::wiki::{Kind, Wiki};

/// How a rule breaks what holds for rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Breach {
    /// None of its quotes stands in a person's own words.
    NoHumanWords,
    /// It says what text asks for that nobody here wrote.
    Injected,
    /// It landed without a person.
    LandedByItself,
}

impl Breach {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Breach::NoHumanWords => "no quote stands in a person's own words",
            Breach::Injected => "it comes from text that nobody here wrote",
            Breach::LandedByItself => "it landed without a person",
        }
    }
}

/// What the persons of a wiki's sessions said in their own words, white space folded.
pub(super) fn spoken(wiki: &Wiki) -> git::Result<Vec<String>> {
    let mut turns = Vec::new();
    for stored in session::list(&wiki.repo)? {
        if let Some((_, session, _)) = session::load(&wiki.repo, &stored.meta.id)? {
            turns.extend(session.prompts().map(|turn| fold_space(&own_words(&turn.body))));
        }
    }
    Ok(turns)
}

/// How a proposal breaks what holds for rules.
pub(super) fn breach(sidecar: &Sidecar, landed: bool, spoken: &[String]) -> Option<Breach> {
    if sidecar.kind != Kind::Rule {
        return None;
    }
    let own = |quote: &str| spoken.iter().any(|turn| turn.contains(quote));
    if !sidecar.evidence.iter().map(|evidence| fold_space(&evidence.quote)).any(|quote| own(&quote)) {
        return Some(Breach::NoHumanWords);
    }
    landed.then_some(Breach::LandedByItself)
}
