//! Feedback: what somebody says of a page that they used.

use serde::{Deserialize, Serialize};

use super::Refused;
use crate::ledger::{Event, EventKind};

/// Longest reason or source that is kept, in characters.
const LONGEST: usize = 2_000;

/// What is said of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It helped.
    Positive,
    /// It is wrong in some way.
    Negative,
    /// It was the wrong page for the task, which says nothing against the page.
    FailedToApply,
}

/// What is wrong with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It says what is not so.
    Incorrect,
    /// It was so.
    Outdated,
    /// Following it does harm.
    Dangerous,
    /// Something is missing.
    Incomplete,
    /// Another page says it.
    Redundant,
}

/// A text of the page, and what should stand there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Replacement {
    /// What stands there, exactly once.
    pub old: String,
    /// What should.
    pub new: String,
}

/// What somebody says of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// The page, relative to the wiki's root.
    pub page: String,
    /// What is said.
    pub verdict: Verdict,
    /// What is wrong with it.
    pub mode: Option<Mode>,
    /// Why, in words.
    pub reason: Option<String>,
    /// The exact fix.
    pub replace: Vec<Replacement>,
    /// The page that takes its place.
    pub superseded_by: Option<String>,
    /// Where the fix comes from.
    pub source: Option<String>,
}

impl Verdict {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Positive => "positive",
            Verdict::Negative => "negative",
            Verdict::FailedToApply => "failed_to_apply",
        }
    }
}

impl Mode {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Incorrect => "incorrect",
            Mode::Outdated => "outdated",
            Mode::Dangerous => "dangerous",
            Mode::Incomplete => "incomplete",
            Mode::Redundant => "redundant",
        }
    }
}

impl Feedback {
    /// Whether it asks for a change of the page.
    pub fn has_fix(&self) -> bool {
        !self.replace.is_empty() || self.superseded_by.is_some()
    }

    /// The rules that need no wiki.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), Refused> {
        let blank = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        if self.verdict == Verdict::Negative && blank(&self.reason) {
            return Err(Refused::new("missing_reason", "a negative needs a reason: what is wrong, in a sentence")
                .hint("give it with --reason"));
        }
        if self.verdict != Verdict::Negative && (self.mode.is_some() || self.has_fix()) {
            let what = "only a negative can say what is wrong with a page and how to mend it";
            return Err(Refused::new("not_negative", what).hint("give --negative with a --reason"));
        }
        if self.source.is_some() && blank(&self.source) {
            return Err(Refused::new("missing_source", "the source is empty").hint("name it, or leave --source out"));
        }
        if !self.replace.is_empty() && self.source.is_none() {
            return Err(Refused::new("missing_source", "a replacement needs a source: where what is right stands")
                .hint("give it with --source: a commit, a session, a page, an address, a command"));
        }
        if self.superseded_by.as_deref() == Some(self.page.as_str()) {
            return Err(Refused::new("same_page", format!("{} cannot take its own place", self.page)));
        }
        Ok(())
    }

    /// The event that records it. What people wrote must have been through redaction.
    pub fn event(&self, scope: &str, actor: &str) -> Event {
        let cut = |text: &String| text.trim().chars().take(LONGEST).collect::<String>();
        Event::new(EventKind::Feedback, scope, actor)
            .page(&self.page)
            .with("verdict", self.verdict.as_str())
            .with("mode", self.mode.map(Mode::as_str))
            .with("reason", self.reason.as_ref().map(cut))
            .with("source", self.source.as_ref().map(cut))
            .with("superseded_by", self.superseded_by.clone())
    }
}

/// The page and what was said of it, when an event is feedback that counts: not what our own automation says, nor that
/// a page was the wrong one for the task.
pub(super) fn counted(event: &Event) -> Option<(&str, bool)> {
    if event.kind != EventKind::Feedback || event.run.is_some() {
        return None;
    }
    let positive = match event.text("verdict")? {
        "positive" => true,
        "negative" => false,
        _ => return None,
    };
    Some((event.page.as_deref()?, positive))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negative() -> Feedback {
        Feedback {
            page: "gotchas/a.md".into(),
            verdict: Verdict::Negative,
            mode: None,
            reason: Some("the port is 5433".into()),
            replace: Vec::new(),
            superseded_by: None,
            source: None,
        }
    }

    fn code(feedback: &Feedback) -> Option<&'static str> {
        feedback.check().err().map(|refused| refused.code)
    }

    #[test]
    fn a_negative_needs_a_reason_and_a_replacement_a_source() {
        let fix = vec![Replacement { old: "5432".into(), new: "5433".into() }];
        assert_eq!(code(&negative()), None);
        assert_eq!(code(&Feedback { reason: Some(" \n".into()), ..negative() }), Some("missing_reason"));
        assert_eq!(code(&Feedback { replace: fix.clone(), ..negative() }), Some("missing_source"));
        assert_eq!(code(&Feedback { replace: fix.clone(), source: Some("compose.yml".into()), ..negative() }), None);
        assert_eq!(code(&Feedback { source: Some(" ".into()), ..negative() }), Some("missing_source"));
        let positive = Feedback { verdict: Verdict::Positive, reason: None, ..negative() };
        assert_eq!(code(&positive), None);
        assert_eq!(code(&Feedback { replace: fix, ..positive.clone() }), Some("not_negative"));
        assert_eq!(code(&Feedback { mode: Some(Mode::Outdated), ..positive }), Some("not_negative"));
        assert_eq!(code(&Feedback { superseded_by: Some("gotchas/a.md".into()), ..negative() }), Some("same_page"));
    }

    #[test]
    fn what_a_run_says_and_a_wrong_page_for_the_task_do_not_count() {
        let event = negative().event("global", "A <a@b>");
        assert_eq!(counted(&event), Some(("gotchas/a.md", false)));
        assert_eq!(counted(&event.clone().run(Some("01J"))), None);
        let wrong_page = Feedback { verdict: Verdict::FailedToApply, ..negative() };
        assert_eq!(counted(&wrong_page.event("global", "A <a@b>")), None);
    }
}
