//! The gates between validation and staging, in order: eval, judge, retrieval. Each says what it looked at, into the
//! sidecar; one that did not look never passes anything.

mod again;
mod eval;
#[cfg(any(fuzzing, test))]
pub mod fuzzed;
mod judge;
mod retrieval;

use serde_json::{Map, Value, json};

use super::lanes::{Bench, End};
use super::prompts::Template;
use super::run::{Call, Read, Response};
pub use again::{again, asked};

use crate::git::Oid;
use crate::model::Prompt;
use crate::proposal::message::one_line;
use crate::proposal::policy::Marks;
use crate::proposal::validate::Valid;
use crate::proposal::{Candidate, ReasonCode, Refusal};
use crate::session::Redactor;
use crate::wiki::Page;

/// What the gates say of one valid change.
#[derive(Default)]
pub struct Verdict {
    /// What each gate said, for the sidecar.
    pub gates: Map<String, Value>,
    /// What was asked, of whom.
    pub calls: Vec<Call>,
    /// The replies that came.
    pub responses: Vec<Response>,
    /// Why it is refused, if so.
    pub refused: Option<Refusal>,
    /// Why a person must decide, if so.
    pub deferred: Option<String>,
    /// Why nothing more is asked today, if so.
    pub spent: Option<String>,
    /// What this run's policy may trust.
    pub marks: Marks,
}

/// Takes one valid change of a lane through the gates.
pub fn pass(bench: &Bench<'_>, valid: &Valid, lane: &str) -> Verdict {
    let mut verdict = Verdict::default();
    through(bench, &Subject::of(bench, valid, lane), &mut verdict);
    if verdict.refused.is_some() || verdict.deferred.is_some() {
        verdict.marks = Marks::default();
    }
    // What a judge passed, and no other gate had anything against, triage may accept.
    verdict.marks.staged = verdict.marks.judged;
    verdict
}

/// From gate to gate, until one refuses.
fn through(bench: &Bench<'_>, subject: &Subject<'_>, verdict: &mut Verdict) {
    for gate in [eval::eval, judge::judge, retrieval::retrieval] {
        gate(bench, subject, verdict);
        if verdict.refused.is_some() {
            break;
        }
    }
}

/// What is at the gate.
struct Subject<'a> {
    candidate: &'a Candidate,
    lane: &'a str,
    /// Why a person must decide, before any gate has looked, if so.
    deferred: Option<&'a str>,
    /// People edited it, so that it lands by a person's hand or not at all.
    edited: bool,
    /// The commit that the page stands on.
    base: Option<Oid>,
    /// The page as it stands; `None`: there is none.
    before: Option<Page>,
    /// The page as it is to be; `None`: it goes away.
    after: Option<Page>,
}

impl<'a> Subject<'a> {
    fn of(bench: &Bench<'_>, valid: &'a Valid, lane: &'a str) -> Subject<'a> {
        let path = valid.candidate.path.as_str();
        let written = valid.changes.get(path);
        let read = |bytes: &Vec<u8>| bench.wiki.read(path.into(), bytes);
        let before = written.and_then(|written| written.before.as_ref()).map(read);
        let after = written.and_then(|written| written.after.as_ref()).map(read);
        Subject {
            candidate: &valid.candidate,
            lane,
            deferred: valid.deferred.as_deref(),
            edited: false,
            base: bench.wiki.tip,
            before,
            after,
        }
    }

    /// Its page, relative to the wiki's root.
    fn path(&self) -> &'a str {
        &self.candidate.path
    }

    /// A call about it.
    fn call(&self, stage: &str) -> Call {
        Call { stage: stage.into(), page: Some(self.path().to_owned()), ..Call::default() }
    }

    /// A call that asks this about it.
    fn asking(&self, stage: &str, prompt: &Prompt, read: Read) -> Call {
        Call { input_sha256: prompt.sha256(), read: Some(read), ..self.call(stage) }
    }

    /// What a prompt about it is made from: the page as it stands, and others.
    fn read(&self, bench: &Bench<'_>, template: &Template, others: Vec<String>) -> Read {
        bench.read(template, std::iter::once(self.path().to_owned()).chain(others))
    }
}

impl Verdict {
    fn say(&mut self, gate: &str, found: Value) {
        self.gates.insert(gate.into(), found);
    }

    /// The gate did not look; nothing passes by that.
    fn unchecked(&mut self, gate: &str, reason: &str) {
        self.say(gate, json!({ "checked": false, "reason": reason }));
    }

    /// A person must decide; the first reason stays the first.
    fn defer(&mut self, reason: &str) {
        self.deferred = Some(match self.deferred.take() {
            Some(first) => format!("{first}; {reason}"),
            None => reason.to_owned(),
        });
    }

    fn refuse(&mut self, subject: &Subject<'_>, code: ReasonCode, reason: String) {
        let candidate = subject.candidate;
        let summary = format!("{} {} \"{}\"", candidate.operation, candidate.kind, candidate.title);
        // It is no sighting of what it would have been: the gate said no to it.
        self.refused = Some(Refusal { code, path: candidate.path.clone(), reason, summary, proposal: None });
    }
}

/// Words of a program or a model, as they may be kept: without secrets, in one line, cut. Redacted before they are cut.
fn kept(bench: &Bench<'_>, words: &str, most: usize) -> String {
    let redact = &bench.wiki.config.settings.redact;
    match Redactor::new(&redact.extra_patterns, &redact.allow) {
        Ok(redactor) => one_line(&redactor.quotable(words), most),
        Err(_) => "(withheld: the patterns of `redact` cannot be used)".into(),
    }
}

impl Verdict {
    /// Why a model gave no answer, in words. A spent budget ends the run.
    fn no_answer(&mut self, end: End) -> String {
        if let End::BudgetExhausted(why) = &end {
            self.spent = Some(why.clone());
        }
        match end {
            End::Skipped(why)
            | End::Failed(why)
            | End::Unavailable(why)
            | End::OutOfUse(why)
            | End::BudgetExhausted(why) => why,
            End::Done => "it said nothing".to_owned(),
        }
    }
}
