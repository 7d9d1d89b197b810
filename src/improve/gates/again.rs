//! The gates once more, before an accept: a proposal that people edited, or pushed to, goes through them as it is now.
//! No policy lands such a text, so what a gate leaves to a person is settled by the person who accepts.

use std::collections::BTreeMap;

use serde_json::Map;

use super::{Bench, Subject, Verdict, eval, judge, through};
use crate::config::trust;
use crate::feedback::queries;
use crate::git::Oid;
use crate::improve::{Trigger, lanes};
use crate::ledger::{self, Cache};
use crate::model::{Models, Stage};
use crate::proposal::{
    Candidate, Item, Operation, PageChange, ReasonCode, Refusal, Refused, Result, SecondLook, Sidecar, View, amend,
    check_tip,
};
use crate::wiki::{Kind, Wiki};

/// What the gates say of those among the proposals that people edited. One that validation or the search for secrets
/// stops is shown to no program and no model; the accept says why. Where nothing was edited, nothing is read or asked.
///
/// # Errors
/// When the repository cannot be read.
pub fn again(wiki: &Wiki, items: &[Item]) -> Result<BTreeMap<String, SecondLook>> {
    let edited: Vec<&Item> = items.iter().filter(|item| item.status.is_open() && item.was_edited()).collect();
    if edited.is_empty() {
        return Ok(BTreeMap::new());
    }
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir());
    let tip = wiki.repo.reference(ledger::REF)?;
    let view = View::load(wiki, Cache::Use)?;
    let bench = Bench {
        wiki,
        models: &models,
        sessions: &[],
        view: &view,
        state: &view.state,
        trigger: Trigger::Manual,
        journal: None,
        ledger: tip,
        may_write: true,
        hear: &lanes::unheard,
    };
    let mut looks = BTreeMap::new();
    for item in edited {
        if let Some(tip) = item.tip
            && check_tip(wiki, item)?.is_ok()
        {
            looks.insert(item.id().to_owned(), look(&bench, item, tip)?);
        }
    }
    Ok(looks)
}

/// The gates that an accept asks about a proposal as people left it: `eval`, `judge`, `retrieval`.
///
/// # Errors
/// When the repository cannot be read.
pub fn asked(wiki: &Wiki, item: &Item) -> Result<Vec<&'static str>> {
    let proposal = &item.proposal;
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir());
    let judged = models.has(Stage::Judge);
    let mut gates = Vec::new();
    if proposal.paths.iter().any(|path| eval::scores(wiki, path)) {
        gates.push("eval");
    }
    if judged && judge::always(&proposal.lane) {
        gates.push("judge");
    }
    if judged && Operation::of_word(&proposal.operation) == Operation::Update {
        let past = queries::all(&wiki.repo, ledger::now())?;
        if proposal.paths.iter().any(|path| !past.of_page(path).queries.is_empty()) {
            gates.push("retrieval");
        }
    }
    Ok(gates)
}

/// Takes each page of one proposal through the gates, as its branch has it.
fn look(bench: &Bench<'_>, item: &Item, tip: Oid) -> Result<SecondLook> {
    // A sidecar that cannot be read leaves what the ledger says.
    let sidecar = Sidecar::load(&bench.wiki.repo, item.id()).unwrap_or_default();
    let mut look = SecondLook { tip, gates: Map::new(), refused: None, left: None };
    let changed = amend::pages(bench.wiki, item)?.into_iter().filter(|page| page.before != page.after);
    for (number, page) in changed.enumerate() {
        let verdict = one(bench, item, sidecar.as_ref(), &page);
        for (gate, found) in verdict.gates {
            let name = if number == 0 { gate } else { format!("{gate} ({})", page.path) };
            look.gates.insert(name, found);
        }
        look.left = look.left.or(verdict.deferred);
        if let Some(refusal) = verdict.refused {
            look.refused = Some(refused(bench.wiki, item, &refusal));
            break;
        }
    }
    Ok(look)
}

fn one(bench: &Bench<'_>, item: &Item, sidecar: Option<&Sidecar>, page: &PageChange) -> Verdict {
    let proposal = &item.proposal;
    let read = |bytes: &Vec<u8>| bench.wiki.read(page.path.as_str().into(), bytes);
    let (before, after) = (page.before.as_ref().map(read), page.after.as_ref().map(read));
    let candidate = Candidate {
        operation: Operation::of_word(&proposal.operation),
        path: page.path.clone(),
        title: after.as_ref().map_or_else(|| proposal.title.clone(), |page| page.title.clone()),
        kind: Kind::parse(&proposal.kind).unwrap_or(Kind::Note),
        confidence: proposal.confidence,
        rationale: sidecar.map(|sidecar| sidecar.rationale.clone()).unwrap_or_default(),
        evidence: sidecar.map(|sidecar| sidecar.evidence.clone()).unwrap_or_default(),
        body_markdown: None,
        edits: Vec::new(),
    };
    let subject = Subject {
        candidate: &candidate,
        lane: &proposal.lane,
        deferred: proposal.deferred.as_deref(),
        edited: true,
        base: Oid::from_hex(proposal.base.as_bytes()).ok(),
        before,
        after,
    };
    let mut verdict = Verdict::default();
    through(bench, &subject, &mut verdict);
    verdict
}

/// A gate's no, with what to do about it.
fn refused(wiki: &Wiki, item: &Item, refusal: &Refusal) -> Refused {
    let id = item.id();
    let (code, setting) = match refusal.code {
        ReasonCode::EvalGateTimeout => ("eval_gate_timeout", "`eval.timeout_secs` says how long the program may take"),
        ReasonCode::EvalGateError => ("eval_gate_error", "`eval.command` names the program, which has to be mended"),
        ReasonCode::EvalGateFailed => ("eval_gate_failed", "`eval` in the settings says what is scored, and by what"),
        ReasonCode::JudgeRefused => ("judge_refused", "`model.judge` in the settings says who judges"),
        _ => ("retrieval_worse", "`model.judge` in the settings says who grades"),
    };
    let what = format!("the edited page {} of proposal {id} does not pass its gates: {}", refusal.path, refusal.reason);
    let next = format!("edit it again with `git memory proposal edit {id}`, or reject it; {setting}");
    // A program or a model that nobody here said yes to was not started, and said nothing.
    let unasked = matches!(refusal.code, ReasonCode::EvalGateError | ReasonCode::RetrievalWorse);
    let untrusted = unasked && trust::review(&wiki.config.settings).is_err();
    Refused::new(code, what).hint(if untrusted { trust::HINT.to_owned() } else { next })
}
