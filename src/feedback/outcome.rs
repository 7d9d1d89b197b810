//! Outcomes: how the task went for which a retrieval was made, who says so, and which of its pages had a part in it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Episode, Error, Refused, find, spool};
use crate::git;
use crate::ledger::{self, Append, Event, EventKind};
use crate::session::Redactor;
use crate::wiki::Wiki;

/// How the task went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Went {
    /// A check passed.
    Passed,
    /// Somebody took the result.
    Accepted,
    /// A page was seen to be used.
    ObservedUsed,
    /// Somebody had to correct the result.
    Corrected,
    /// A check failed.
    Failed,
    /// Nobody finished it.
    Abandoned,
    /// The check itself did not work.
    VerifierError,
}

/// Who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Verifier {
    /// A person.
    User,
    /// Tests.
    AutomatedTest,
    /// Another program.
    ExternalTool,
    /// The tracker of tasks.
    TaskSystem,
    /// The agent itself, which credits nothing.
    AgentSelfReport,
}

/// A check that was run here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Attested {
    /// The program and its arguments, as a shell would take them, without secrets.
    pub command: String,
    /// Its exit status; null when a signal ended it or it could not be started.
    pub exit: Option<i32>,
    /// The commit of the repository that it ran in; null outside of one.
    pub head: Option<String>,
}

/// What somebody says of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The episode's id, or a prefix of it.
    pub episode: String,
    /// How it went; with a check that is run here, the check says.
    pub went: Option<Went>,
    /// Who says so.
    pub verifier: Verifier,
    /// Pages that had a part in the success.
    pub used: Vec<String>,
    /// Pages that had a part in the failure.
    pub harmful: Vec<String>,
    /// Where the verdict can be looked up.
    pub evidence: Option<String>,
    /// A check is run here.
    pub runs: bool,
    /// The variable by which a coding agent marks what it starts, when there is one.
    pub under_agent: Option<String>,
}

/// An outcome, as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    /// The episode's id.
    pub episode: String,
    /// When.
    pub at: Timestamp,
    /// The scope of the episode.
    pub scope: String,
    /// How it went.
    pub outcome: Went,
    /// Who says so.
    pub verifier: Verifier,
    /// Pages that had a part in the success.
    pub used: Vec<String>,
    /// Pages that had a part in the failure.
    pub harmful: Vec<String>,
    /// Where the verdict can be looked up.
    pub evidence: Option<String>,
    /// The check that was run.
    pub run: Option<Attested>,
    /// Whether it was verified by other than the agent itself, so that named pages are credited.
    pub verified: bool,
}

impl Went {
    fn as_value(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Verifier {
    fn as_value(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Tools have something to show.
    fn is_tool(self) -> bool {
        matches!(self, Verifier::AutomatedTest | Verifier::ExternalTool | Verifier::TaskSystem)
    }
}

/// A claim that was checked: the episode is known, and its pages are named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The episode.
    pub episode: Episode,
    claim: Claim,
}

/// Checks a claim before anything is run or recorded.
///
/// # Errors
/// [`Error::Refused`] with the first rule that is broken.
pub fn check(wiki: &Wiki, mut claim: Claim, now: Timestamp) -> Result<Checked, Error> {
    if let Some(run) = super::automation::run() {
        let what = format!("this belongs to our own automation ({run}), whose outcomes never count");
        return Err(Refused::new("own_automation", what).into());
    }
    claim.by_whom()?;
    let episode = find::episode(&wiki.repo, &claim.episode, now)?;
    for list in [&mut claim.used, &mut claim.harmful] {
        let mut pages: Vec<String> = Vec::new();
        for given in list.iter() {
            let page = find::among(&episode.rendered, given).map_err(|refused| {
                let hint = format!("it showed: {}", listed(&episode.rendered));
                refused.hint(hint)
            })?;
            if !pages.contains(&page) {
                pages.push(page);
            }
        }
        *list = pages;
    }
    if let Some(both) = claim.used.iter().find(|page| claim.harmful.contains(page)) {
        return Err(Refused::new(
            "used_and_harmful",
            format!("{both} is named as used and as harmful; it is one of them"),
        )
        .into());
    }
    Ok(Checked { episode, claim })
}

fn listed(pages: &[String]) -> String {
    if pages.is_empty() { "nothing".into() } else { pages.join(", ") }
}

impl Claim {
    /// The rules about who may say what.
    fn by_whom(&self) -> Result<(), Refused> {
        if self.runs {
            if !matches!(self.verifier, Verifier::AutomatedTest | Verifier::ExternalTool) {
                let what = "a check that is run here is an `automated_test` or an `external_tool`";
                return Err(
                    Refused::new("bad_verifier", what).hint("give one of them with --verifier, or leave it out")
                );
            }
            if !matches!(self.went, None | Some(Went::Passed | Went::Failed)) {
                let what = "the check that is run says whether it passed or failed";
                return Err(Refused::new("bad_outcome", what).hint("leave --outcome out"));
            }
            return Ok(());
        }
        if self.went.is_none() {
            return Err(Refused::new("missing_outcome", "how did it go?").hint("give --outcome, or a check with --run"));
        }
        if let (Some(variable), Verifier::User) = (&self.under_agent, self.verifier) {
            let what = format!("only a person says what the user thinks ({variable} is set: this runs under an agent)");
            return Err(Refused::new("needs_person", what)
                .hint("give --verifier agent_self_report, or run the check itself with --run"));
        }
        let evidence = self.evidence.as_deref().is_some_and(|evidence| !evidence.trim().is_empty());
        if self.verifier.is_tool() && !evidence {
            return Err(Refused::new("missing_evidence", "a tool's verdict needs evidence: where it can be looked up")
                .hint("give it with --evidence, or run the check itself with --run"));
        }
        Ok(())
    }
}

impl Checked {
    /// Records it, with what came of the check that was run. The episode goes into the ledger before it.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn record(self, wiki: &Wiki, attested: Option<Attested>) -> Result<Outcome, Error> {
        let redact = &wiki.config.settings.redact;
        let redactor = Redactor::new(&redact.extra_patterns, &redact.allow)
            .map_err(|error| Refused::new("config", error.to_string()))?;
        let clean = |text: &str| redactor.redact(text).chars().take(2_000).collect::<String>();
        let attested = attested.map(|run| Attested { command: clean(&run.command), ..run });
        let claim = self.claim;
        let went = match &attested {
            None => claim.went.unwrap_or(Went::VerifierError),
            Some(Attested { exit: Some(0), .. }) => Went::Passed,
            Some(Attested { exit: Some(_), .. }) => Went::Failed,
            Some(Attested { exit: None, .. }) => Went::VerifierError,
        };
        let actor = wiki.repo.operator()?.to_string();
        let event = Event::new(EventKind::Outcome, &self.episode.scope, &actor)
            .operator(Some(&actor))
            .with("episode", self.episode.id.as_str())
            .with("outcome", went.as_value())
            .with("verifier", claim.verifier.as_value())
            .with("used", claim.used)
            .with("harmful", claim.harmful)
            .with("evidence", claim.evidence.as_deref().map(clean))
            .with("agent", claim.under_agent)
            .with("attested", attested.map_or(Value::Null, |run| json!(run)));
        // Trouble with the spool is no reason to lose the outcome: the episode is carried over later.
        let _ = spool::flush(&wiki.repo);
        let subject = format!("memory: outcome of {}", self.episode.id);
        let append = Append { subject, events: vec![event.clone()], files: Vec::new() };
        ledger::append(&wiki.repo, &append, &[])?;
        Outcome::of(&event).ok_or_else(|| git::Error::write("an outcome", "it does not read back").into())
    }
}

impl Outcome {
    /// The outcome that an event tells of; `None` when it is another kind of event, or does not say enough.
    pub fn of(event: &Event) -> Option<Outcome> {
        if event.kind != EventKind::Outcome {
            return None;
        }
        let word = |key: &str| event.data.get(key).cloned().unwrap_or_default();
        let list = |key: &str| serde_json::from_value::<Vec<String>>(word(key)).unwrap_or_default();
        let outcome: Went = serde_json::from_value(word("outcome")).ok()?;
        let verifier: Verifier = serde_json::from_value(word("verifier")).ok()?;
        let used = list("used");
        Some(Outcome {
            episode: event.text("episode")?.to_owned(),
            at: event.at,
            scope: event.scope.clone(),
            outcome,
            verifier,
            harmful: list("harmful").into_iter().filter(|page| !used.contains(page)).collect(),
            used,
            evidence: event.text("evidence").map(str::to_owned),
            run: serde_json::from_value(word("attested")).ok(),
            verified: event.run.is_none() && verifier != Verifier::AgentSelfReport && outcome != Went::VerifierError,
        })
    }

    /// What it says of each page that it names: +1, −1, or 0 where its verdict speaks neither for nor against.
    fn signs(&self) -> Vec<(&str, i8)> {
        let good = i8::from(matches!(self.outcome, Went::Passed | Went::Accepted));
        let bad = -i8::from(matches!(self.outcome, Went::Corrected | Went::Failed));
        let used = self.used.iter().map(|page| (page.as_str(), good));
        used.chain(self.harmful.iter().map(|page| (page.as_str(), bad))).collect()
    }
}

/// The episode and what a verified outcome says of its pages. What nobody verified takes nothing away from what
/// somebody did.
pub(super) fn credits(event: &Event) -> Option<(String, Vec<(String, i8)>)> {
    let outcome = Outcome::of(event).filter(|outcome| outcome.verified)?;
    let signs = outcome.signs().into_iter().map(|(page, sign)| (page.to_owned(), sign)).collect();
    Some((outcome.episode, signs))
}
