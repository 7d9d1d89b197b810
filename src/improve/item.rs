//! One selected session or page: lane ▶ validate ▶ gates, and what comes of it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::lanes::{self, Bench, End, Found};
use super::plan::Selected;
use super::run::{Call, Made, Outcome, Run, Skip};
use super::{Error, claim, gates};
use crate::git::{Person, asked_to_end};
use crate::ledger::{Event, EventKind};
use crate::proposal::context::{Author, Desktop};
use crate::proposal::policy::Marks;
use crate::proposal::stage::{AUTO_IMPROVE, Draft};
use crate::proposal::validate::Valid;
use crate::proposal::{ReasonCode, Refusal, View};

/// Whose names stand on what a run proposes.
pub(super) struct Names {
    /// The author of the change.
    pub author: Person,
    /// The person whose git identity runs it.
    pub operator: Option<Person>,
}

/// What comes of the items of a run, before anything of it is staged.
pub(super) struct Worked {
    /// What candidates are held against.
    pub desktop: Desktop,
    /// The changes that passed.
    pub drafts: Vec<Draft>,
    /// What became of each item, and what was found again.
    pub events: Vec<Event>,
    /// What the gates said of each change, by its id.
    pub marks: BTreeMap<String, Marks>,
    /// Why nothing more is asked, if so.
    pub spent: Option<String>,
    /// Why the run's claims end, so that nothing more is asked.
    pub lost: Option<String>,
    /// Why a lane asks nothing more, by lane: who answers it is out of use for all of its items.
    pub out_of_use: BTreeMap<String, String>,
}

/// Why a run that was asked to end let something go.
pub(super) const INTERRUPTED: &str = "the run was interrupted";

/// Looks at one item, unless nothing more is asked or proposed: then it is let go. `renew` makes the run's claims last
/// through the next step.
///
/// # Errors
/// Git's trouble, or a journal that cannot be written.
pub(super) fn work(
    bench: &Bench<'_>,
    names: &Names,
    selected: &Selected,
    run: &mut Run,
    worked: &mut Worked,
    renew: Renew<'_>,
) -> Result<(), Error> {
    if let Some(why) = stopped(run, worked, renew)?
        .or_else(|| worked.spent.clone())
        .or_else(|| worked.out_of_use.get(&selected.lane).cloned())
        .or_else(|| worked.desktop.full(bench.wiki))
    {
        worked.events.push(ended(run, selected, "let_go", Some(&why)));
        return Ok(());
    }
    if let Some(journal) = bench.journal {
        journal.at(selected.subject())?;
    }
    let before = Mark::of(run, worked);
    if let Some(why) = look(bench, names, selected, run, worked, renew)? {
        // A part of it may be missing: nothing of it is taken, and all of it is looked at again.
        before.back(run, worked);
        worked.events.push(ended(run, selected, "unavailable", Some(&why)));
    }
    Ok(())
}

/// Makes the claims of a run last through its next step.
pub(super) type Renew<'r> = &'r mut dyn FnMut(&Run) -> Result<(), Error>;

/// Why nothing more is begun, if so: the run was asked to end, or its claims cannot be made longer.
fn stopped(run: &Run, worked: &mut Worked, renew: Renew<'_>) -> Result<Option<String>, Error> {
    if asked_to_end() {
        return Ok(Some(INTERRUPTED.into()));
    }
    if worked.lost.is_none() {
        match renew(run) {
            Err(Error::Remote(why)) => worked.lost = Some(format!("the claims could not be made longer: {why}")),
            renewed => renewed?,
        }
    }
    Ok(worked.lost.clone())
}

/// How much there was before an item.
struct Mark {
    events: usize,
    drafts: usize,
    outcomes: usize,
    proposals: usize,
    refused: usize,
    rejected: usize,
    skipped: usize,
}

impl Mark {
    fn of(run: &Run, worked: &Worked) -> Mark {
        Mark {
            events: worked.events.len(),
            drafts: worked.drafts.len(),
            outcomes: run.outcomes.len(),
            proposals: run.proposals.len(),
            refused: run.refused.len(),
            rejected: run.rejected_candidates.len(),
            skipped: run.skipped.len(),
        }
    }

    /// Takes back what came of the item. What was asked stays on record.
    fn back(&self, run: &mut Run, worked: &mut Worked) {
        worked.events.truncate(self.events);
        worked.drafts.truncate(self.drafts);
        run.outcomes.truncate(self.outcomes);
        run.proposals.truncate(self.proposals);
        run.refused.truncate(self.refused);
        run.rejected_candidates.truncate(self.rejected);
        run.skipped.truncate(self.skipped);
    }
}

/// Takes one item through its lane, validation and the gates. Returns why it was stopped in the middle, if so.
fn look(
    bench: &Bench<'_>,
    names: &Names,
    selected: &Selected,
    run: &mut Run,
    worked: &mut Worked,
    renew: Renew<'_>,
) -> Result<Option<String>, Error> {
    let Some(mut found) = lanes::work(bench, selected)? else {
        worked.events.push(ended(run, selected, "gone", None));
        return Ok(None);
    };
    let by = model_of(&found.calls);
    let reply = found.responses.last().map(|reply| reply.sha256.clone());
    run.calls.append(&mut found.calls);
    run.responses.append(&mut found.responses);
    if asked_to_end() {
        return Ok(Some(INTERRUPTED.into()));
    }
    let (outcome, why) = match &found.end {
        End::Done => ("done", found.judged.as_ref()),
        End::Skipped(why) => ("skipped", Some(why)),
        End::Failed(why) => ("failed", Some(why)),
        End::Unavailable(why) | End::OutOfUse(why) | End::BudgetExhausted(why) => ("unavailable", Some(why)),
    };
    let mut event = ended(run, selected, outcome, why);
    if let (End::Failed(_), Some(outcome)) = (&found.end, run.outcomes.last_mut()) {
        outcome.attempt = Some(failures(bench, selected) + 1);
        outcome.response = reply;
    }
    let input = found.input.take();
    match &found.end {
        End::BudgetExhausted(why) => worked.spent = Some(why.clone()),
        End::OutOfUse(why) => drop(worked.out_of_use.insert(selected.lane.clone(), why.clone())),
        _ => {}
    }
    run.rejected_candidates.append(&mut found.rejected);
    let deferred = found.deferred.take();
    let refused_before = run.refused.len();
    let (valid, mut on_merit) = validate(bench, selected, &by, found, run, worked)?;
    // What a limit of the run alone turned away can be asked for again.
    let is_over = |refusal: &Refusal| {
        matches!(refusal.code, ReasonCode::MaxProposalsExceeded | ReasonCode::RunEditBudgetExceeded)
    };
    if !run.refused[refused_before..].iter().any(is_over) {
        event = event.with("input", input);
    }
    for valid in valid {
        if let Some(why) = stopped(run, worked, renew)? {
            return Ok(Some(why));
        }
        let verdict = gates::pass(bench, &valid, &selected.lane);
        run.calls.extend(verdict.calls);
        run.responses.extend(verdict.responses);
        if asked_to_end() {
            return Ok(Some(INTERRUPTED.into()));
        }
        worked.spent = worked.spent.take().or(verdict.spent);
        if let Some(refusal) = verdict.refused {
            on_merit.extend(told(&refusal));
            run.refused.push(refusal);
            continue;
        }
        worked.desktop.proposes(bench.wiki, &valid);
        worked.marks.insert(valid.id.to_string(), verdict.marks);
        let mut draft = Draft {
            scope: selected.scope.clone(),
            lane: selected.lane.clone(),
            author: names.author.clone(),
            actor: AUTO_IMPROVE.to_owned(),
            operator: names.operator.clone(),
            session: selected.session.clone(),
            model: Some(by.clone()),
            run: Some(run.id.clone()),
            gates: verdict.gates,
            ..Draft::of(valid)
        };
        draft.deferred = draft.deferred.or(deferred.clone()).or(verdict.deferred);
        worked.drafts.push(draft);
    }
    if !on_merit.is_empty() {
        event = event.with("refused", on_merit);
    }
    worked.events.push(event);
    Ok(None)
}

/// How often this very content failed before.
fn failures(bench: &Bench<'_>, selected: &Selected) -> u32 {
    match &selected.page {
        Some(page) => bench
            .state
            .looked(page, &selected.lane)
            .filter(|looked| looked.tried.as_deref() == Some(selected.blob.as_str()))
            .map_or(0, |looked| looked.attempts),
        None => bench.state.reviews.get(selected.subject()).map_or(0, |review| review.attempts),
    }
}

/// The candidates that pass, and what later reviews hear of those that do not. What is known already was found again.
fn validate(
    bench: &Bench<'_>,
    selected: &Selected,
    by: &str,
    mut found: Found,
    run: &mut Run,
    worked: &mut Worked,
) -> Result<(Vec<Valid>, Vec<Value>), Error> {
    let (wiki, desktop) = (bench.wiki, &mut worked.desktop);
    desktop.cite(found.cited, found.words);
    let scope = wiki.scopes.named(&selected.scope).map_err(|error| Error::Settings(error.to_string()))?;
    let actor = format!("{AUTO_IMPROVE} ({by})");
    let author = Author {
        shown: found.shown.as_ref(),
        kinds: found.kinds.as_deref(),
        session: selected.session.as_deref(),
        ..Author::machine(&actor, Some(&run.id))
    };
    found.candidates.extend(found.raw.iter().map(|raw| desktop.normalise(wiki, scope, author, raw)));
    let (valid, refused) = desktop.validate(wiki, scope, author, found.candidates)?;
    let mut on_merit = Vec::new();
    for refusal in refused {
        match known(bench.view, &refusal) {
            Some(seen) => {
                worked.events.push(seen.event(run, selected));
                run.proposals.push(seen.made);
            }
            None => {
                on_merit.extend(told(&refusal));
                run.refused.push(refusal);
            }
        }
    }
    Ok((valid, on_merit))
}

/// Notes what became of what was selected; the event that lets it go.
pub(super) fn ended(run: &mut Run, selected: &Selected, outcome: &str, why: Option<&String>) -> Event {
    run.outcomes.push(Outcome {
        subject: selected.subject().to_owned(),
        lane: selected.lane.clone(),
        outcome: outcome.to_owned(),
        reason: why.cloned(),
        attempt: None,
        response: None,
    });
    if let ("skipped", Some(why), Some(session)) = (outcome, why, &selected.session) {
        run.skipped.push(Skip { session: session.clone(), reason: why.clone() });
    }
    let told = if matches!(outcome, "let_go" | "gone") { "unavailable" } else { outcome };
    claim::released(run, selected, told).with("reason", why.map(String::as_str))
}

/// `provider/model` of the lane's call, or `builtin`.
fn model_of(calls: &[Call]) -> String {
    let name = |call: &Call| match &call.model {
        Some(model) if !model.is_empty() => format!("{}/{model}", call.provider),
        _ => call.provider.clone(),
    };
    calls.first().map_or_else(|| "builtin".to_owned(), name)
}

/// What later reviews hear of a refusal: those that are about what a candidate says.
fn told(refusal: &Refusal) -> Option<Value> {
    refusal.code.is_on_merit().then(|| {
        serde_json::json!({
            "code": refusal.code,
            "path": refusal.path,
            "reason": refusal.reason,
            "summary": refusal.summary,
        })
    })
}

/// A candidate that validation refused because exactly this proposal is known: found again, not refused.
struct Seen {
    made: Made,
    last: ulid::Ulid,
}

impl Seen {
    fn event(&self, run: &Run, selected: &Selected) -> Event {
        Event::new(EventKind::Sighted, &selected.scope, AUTO_IMPROVE)
            .run(Some(&run.id))
            .operator(run.operator.as_deref())
            .proposal(&self.made.id)
            .after(Some(self.last))
            .with("session", selected.session.as_deref())
    }
}

fn known(view: &View, refusal: &Refusal) -> Option<Seen> {
    let id = refusal.proposal.as_ref()?;
    let item = view.items.iter().find(|item| item.id() == id.as_str())?;
    Some(Seen {
        made: Made {
            id: id.to_string(),
            path: refusal.path.clone(),
            title: item.proposal.title.clone(),
            outcome: "sighted".into(),
            detail: Some(item.status.to_string()),
        },
        last: item.proposal.last,
    })
}
