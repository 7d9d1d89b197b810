//! Feedback on a page: recorded, and where it brings an exact fix, one proposal together with the word that says why.

use serde::Serialize;

use super::context::{Author, Desktop};
use super::desk::Desk;
use super::error::{Refused, Result};
use super::propose::Writer;
use super::stage::{Draft, Staging, stage};
use super::{Candidate, Evidence, Operation, ProposalId, source};
use crate::feedback::{self, Feedback, Mode, Replacement, Verdict, automation, find};
use crate::git::Repo;
use crate::ledger::{self, Append, Cache, Event, EventKind};
use crate::session::Redactor;
use crate::wiki::{Edit, EditOp, Wiki};

/// The lane of what feedback proposes.
pub const LANE: &str = "feedback";

/// Longest quote of the text that is replaced.
const LONGEST_QUOTE: usize = 400;

/// What became of feedback.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Given {
    /// The page, relative to the wiki's root.
    pub page: String,
    /// What was said.
    pub verdict: Verdict,
    /// What is wrong with it.
    pub mode: Option<Mode>,
    /// The page's utility now, from 0 to 1; 0.5 is neutral. Null: nothing that counts was ever said of it.
    pub utility: Option<f64>,
    /// With this it fell below neutral: it is due for a review.
    pub fell: bool,
    /// The proposal that the fix became.
    pub proposal: Option<Fix>,
    /// What was mended on the way.
    pub notes: Vec<String>,
}

/// The proposal that a fix became.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fix {
    /// Its id.
    pub id: String,
    /// `staged`, `sighted` (known already), `reopened` or `held` (another waits for the same target).
    pub outcome: String,
    /// The proposal that it is held behind.
    pub behind: Option<String>,
}

impl Fix {
    fn of(id: &ProposalId, staging: &Staging) -> Fix {
        let (outcome, behind) = match staging {
            Staging::Staged => ("staged", None),
            Staging::Reopened => ("reopened", None),
            Staging::Sighted(_) => ("sighted", None),
            Staging::Held { behind, .. } => ("held", Some(behind.clone())),
        };
        Fix { id: id.to_string(), outcome: outcome.to_owned(), behind }
    }
}

/// Records feedback of whoever writes. `under_agent` tells which coding agent speaks, where one does.
///
/// # Errors
/// When a rule is broken or the fix does not pass: nothing was recorded.
pub fn give(wiki: &mut Wiki, feedback: Feedback, writer: &Writer, under_agent: Option<&str>) -> Result<Given> {
    if let Some(run) = automation::run() {
        let what = format!("this belongs to our own automation ({run}), whose feedback never counts");
        return Err(Refused::new("own_automation", what).into());
    }
    let feedback = named(wiki, clean(wiki, feedback)?)?;
    feedback.check()?;
    if let Some(source) = &feedback.source {
        source::check(wiki, source)?;
    }
    let scope = wiki.scopes.of_page(&feedback.page).name.clone();
    let event = feedback
        .event(&scope, &writer.person.to_string())
        .operator(Some(&writer.operator.to_string()))
        .with("agent", under_agent.map(str::to_owned))
        // What was judged: whether the page was changed since can be told without its history.
        .with("blob", wiki.entry(&feedback.page)?.map(|entry| entry.oid.to_string()));
    let now = ledger::now();
    let today = feedback::fold::day(now);
    let stands = |repo: &Repo| -> Result<(Option<f64>, bool)> {
        let utility = feedback::load(repo, Cache::Use)?.utility(&feedback.page, now);
        let fell = utility.as_ref().is_some_and(|utility| utility.falls.contains(&today));
        Ok((utility.map(|utility| utility.value), fell))
    };
    let (_, fell_before) = stands(&wiki.repo)?;
    // A page is taken out of the answers by people only: what an agent says of that is kept as its word.
    let (fix, notes) = if !feedback.replace.is_empty() || feedback.superseded_by.is_some() && writer.by_hand {
        propose(wiki, &feedback, &scope, writer, event)?
    } else {
        let subject = format!("memory: feedback on {}", feedback.page);
        ledger::append(&wiki.repo, &Append { subject, events: vec![event], files: Vec::new() }, &[])?;
        (None, Vec::new())
    };
    let (utility, fell) = stands(&wiki.repo)?;
    Ok(Given {
        page: feedback.page,
        verdict: feedback.verdict,
        mode: feedback.mode,
        utility,
        fell: fell && !fell_before,
        proposal: fix,
        notes,
    })
}

/// The words of whoever speaks, without secrets. What is to stand in a page is checked, never changed.
fn clean(wiki: &Wiki, mut feedback: Feedback) -> Result<Feedback> {
    let redact = &wiki.config.settings.redact;
    let redactor = Redactor::new(&redact.extra_patterns, &redact.allow)
        .map_err(|error| Refused::new("config", error.to_string()))?;
    for text in [&mut feedback.reason, &mut feedback.source].into_iter().flatten() {
        *text = redactor.redact(text).trim().to_owned();
    }
    Ok(feedback)
}

/// The feedback with its pages named in full.
fn named(wiki: &Wiki, mut feedback: Feedback) -> Result<Feedback> {
    feedback.page = find::page(wiki, &feedback.page)?;
    if let Some(other) = &feedback.superseded_by {
        feedback.superseded_by = Some(find::page(wiki, other)?);
    }
    Ok(feedback)
}

type Proposed = (Option<Fix>, Vec<String>);

/// Checks the fix as every change is checked, and stages it with the event in one commit of the ledger.
fn propose(wiki: &mut Wiki, feedback: &Feedback, scope: &str, writer: &Writer, event: Event) -> Result<Proposed> {
    let by = writer.person.to_string();
    let mut desk = Desk::open(wiki)?;
    let desktop = Desktop::load(wiki, &desk.view)?;
    let scope = wiki.scopes.named(scope).map_err(|error| Refused::new("scope", error.to_string()))?;
    let candidate = candidate(wiki, feedback, writer.by_hand)?;
    let author = Author { by_person: writer.by_hand, ..Author::machine(&by, None) };
    let (mut valid, mut refusals) = desktop.validate(wiki, scope, author, vec![Ok(candidate)])?;
    let subject = format!("memory: feedback on {}", feedback.page);
    let Some(valid) = valid.pop() else {
        let refusal = refusals.pop().ok_or_else(|| Refused::new("bug", "validation gave no answer"))?;
        let known =
            refusal.proposal.as_ref().and_then(|id| desk.view.items.iter().find(|item| item.id() == id.as_str()));
        let (Some(item), Some(id)) = (known.filter(|item| item.status.is_open()), &refusal.proposal) else {
            let what = format!("the fix does not pass ({}): {}", refusal.code, refusal.reason);
            return Err(Refused::new("fix_refused", what).hint("nothing was recorded").into());
        };
        // The same fix waits already: this is one more voice for it.
        let sighted = Event::new(EventKind::Sighted, &scope.name, &by)
            .proposal(id.as_str())
            .operator(Some(&writer.operator.to_string()))
            .after(Some(item.proposal.last));
        let events = vec![event.proposal(id.as_str()), sighted];
        ledger::append(&wiki.repo, &Append { subject, events, files: Vec::new() }, &[])?;
        return Ok((Some(Fix::of(id, &Staging::Sighted(item.status))), Vec::new()));
    };
    let out = feedback
        .superseded_by
        .as_ref()
        .filter(|_| writer.by_hand)
        .map(|_| "it takes a page out of the answers".to_owned());
    let notes = valid.notes.clone();
    let draft = Draft {
        scope: scope.name.clone(),
        lane: LANE.into(),
        author: writer.person.clone(),
        actor: by.clone(),
        operator: Some(writer.operator.clone()),
        deferred: valid.deferred.clone().or(out).or_else(|| writer.deferred.clone()),
        ..Draft::of(valid)
    };
    let more = Append { subject, events: vec![event.proposal(draft.id.as_str())], files: Vec::new() };
    let staged = stage(&mut desk, wiki, &[draft], more)?;
    Ok((staged.first().map(|(id, staging)| Fix::of(id, staging)), notes))
}

/// The fix as a candidate: exact replacements and, by a person's hand, a pointer to the page that takes over.
fn candidate(wiki: &Wiki, feedback: &Feedback, by_hand: bool) -> Result<Candidate> {
    let bytes = wiki.bytes(&feedback.page)?.unwrap_or_default();
    let page = wiki.read(feedback.page.as_str().into(), &bytes);
    let kind = page.kind.ok_or_else(|| {
        Refused::new(
            "no_kind",
            format!("{} is in no folder of pages and says no kind: it can only be edited by hand", feedback.page),
        )
    })?;
    let edit = |op, anchor: &str, content: &str| Edit {
        op,
        anchor: anchor.to_owned(),
        section_sha256: None,
        content: content.to_owned(),
    };
    let mut edits: Vec<Edit> =
        feedback.replace.iter().map(|fix| edit(EditOp::ReplaceText, &fix.old, &fix.new)).collect();
    if let Some(other) = feedback.superseded_by.as_ref().filter(|_| by_hand) {
        edits.push(edit(EditOp::SetField, "status", "superseded"));
        edits.push(edit(EditOp::SetField, "superseded_by", other));
    }
    let mut rationale = feedback.reason.clone().unwrap_or_default();
    if let Some(mode) = feedback.mode {
        rationale = format!("{}: {rationale}", mode.as_str());
    }
    if let Some(source) = &feedback.source {
        rationale.push_str(&format!("\n\nSource: {source}"));
    }
    Ok(Candidate {
        operation: Operation::Update,
        path: feedback.page.clone(),
        title: page.title,
        kind,
        confidence: 1.0,
        rationale,
        evidence: feedback.replace.iter().filter_map(|fix| quote(&feedback.page, &page.body, fix)).collect(),
        body_markdown: None,
        edits,
    })
}

/// What is replaced, quoted with the lines that it stands in.
fn quote(path: &str, body: &str, fix: &Replacement) -> Option<Evidence> {
    let old = fix.old.replace("\r\n", "\n");
    let at = body.find(&old)?;
    let start = body[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = body[at + old.len()..].find('\n').map_or(body.len(), |end| at + old.len() + end);
    let lines: String = body[start..end].chars().take(LONGEST_QUOTE).collect();
    let quote = lines.trim().to_owned();
    // Less than that is no quote; a person's name is evidence enough.
    (quote.chars().filter(|c| c.is_alphanumeric()).count() >= 4).then(|| Evidence {
        source: path.to_owned(),
        blob: None,
        speaker: None,
        quote,
    })
}
