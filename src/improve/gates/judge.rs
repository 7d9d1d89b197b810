//! The judge: a model scores a change by criteria, each for itself. Only a whole answer in which every criterion is
//! met passes; whatever else comes, or does not come, leaves the change to a person or refuses it.

use serde_json::{Map, Value, json};

use super::super::ask::ask;
use super::super::prompts::Template;
use super::super::strict::{self, Fields};
use super::{Bench, Subject, Verdict, kept};
use crate::improve::Trigger;
use crate::improve::run::{Call, Read};
use crate::model::{Prompt, Stage};
use crate::proposal::policy::{self, Terms};
use crate::proposal::{ReasonCode, sidecar};
use crate::search;
use crate::wiki::Page;

/// What a lesson is judged by.
pub(super) const LESSON: &[&str] = &["durable", "actionable", "non_redundant", "grounded"];

/// What a repair of a page's description is judged by.
pub(super) const REPAIR: &[&str] = &["need", "preservation", "quality"];

/// Lanes whose every change is judged, whatever the policy.
const ALWAYS: &[&str] = &["reflect", "distill"];

/// The least score that meets a criterion. A mean would let one good word carry a bad lesson.
const MET: i64 = 4;

/// Below this mean nobody needs to look at it.
const HOPELESS: f64 = 2.5;

/// Pages near the change that the judge is shown, for what they say already.
const NEAR: usize = 5;

/// Characters of the body of such a page.
const NEAR_BODY: usize = 1_500;

/// Longest reason that is kept, in characters.
const REASON: usize = 300;

/// Why a person decides on what always needs a judge.
const UNJUDGED: &str = "no judge looked at it";

/// Whether every change of a lane is judged.
pub(super) fn always(lane: &str) -> bool {
    ALWAYS.contains(&lane)
}

/// Judges what would land by itself, and whatever the lane says must be judged.
pub(super) fn judge(bench: &Bench<'_>, subject: &Subject<'_>, verdict: &mut Verdict) {
    let always = always(subject.lane);
    if !bench.models.has(Stage::Judge) {
        let reason = "no model is set for the judge ([model.judge])";
        verdict.say("judge", json!({ "checked": false, "passed": false, "reason": reason }));
        if always {
            verdict.defer(UNJUDGED);
        }
        return;
    }
    if let Err(reason) = would_land(bench, subject, verdict)
        && !always
    {
        return verdict.unchecked("judge", &format!("nothing lands by itself here: {reason}"));
    }
    let criteria = if subject.lane == "reflect" { REPAIR } else { LESSON };
    let answered = match prompt(bench, subject, criteria) {
        Ok((prompt, read)) => answer(bench, &prompt, subject.asking("judge", &prompt, read), criteria, verdict),
        Err(trouble) => Err(trouble),
    };
    match answered {
        Ok(scores) => decide(bench, subject, scores, verdict),
        Err(trouble) => {
            let reason = format!("the judge did not answer as asked: {}", kept(bench, &trouble, REASON));
            verdict.say("judge", json!({ "passed": false, "reason": reason }));
            verdict.defer(&reason);
        }
    }
}

/// Whether the policy in force would let it land by itself once it is judged.
fn would_land(bench: &Bench<'_>, subject: &Subject<'_>, verdict: &Verdict) -> Result<(), String> {
    let approval = &bench.wiki.config.settings.approval;
    if subject.edited {
        return Err("a person accepts what people edited".into());
    }
    if bench.trigger == Trigger::Agent {
        return Err("an agent asked for the run".into());
    }
    let policy = policy::of(approval).ok_or("approval.mode is none")?;
    let candidate = subject.candidate;
    let terms = Terms {
        lane: subject.lane,
        kind: candidate.kind.as_str(),
        operation: candidate.operation.as_str(),
        confidence: candidate.confidence,
        deferred: subject.deferred.or(verdict.deferred.as_deref()),
    };
    policy::would_allow(policy, approval, &terms)
}

/// One criterion's score and why.
#[derive(Debug, PartialEq)]
pub(super) struct Score {
    criterion: &'static str,
    pub(super) score: i64,
    reason: String,
}

/// Asks once. The error says why there is no answer, or why it is none.
fn answer(
    bench: &Bench<'_>,
    prompt: &Prompt,
    call: Call,
    criteria: &'static [&'static str],
    verdict: &mut Verdict,
) -> Result<Vec<Score>, String> {
    let asked = ask(bench, Stage::Judge, prompt, call);
    let mut call = asked.call;
    verdict.responses.extend(asked.response);
    let read = match (asked.value, asked.text) {
        (Err(end), _) => Err(verdict.no_answer(end)),
        (Ok(_), text) => read(&text.unwrap_or_default(), criteria),
    };
    if let Err(trouble) = &read {
        call.error.get_or_insert_with(|| kept(bench, trouble, REASON));
    }
    verdict.calls.push(call);
    read
}

/// Reads an answer: every criterion once, none beside them, each with a score from 1 to 5 and a reason.
pub(super) fn read(text: &str, criteria: &'static [&'static str]) -> Result<Vec<Score>, String> {
    let fields = strict::only(text, criteria)?;
    strict::exactly(&fields, criteria)?;
    criteria.iter().map(|criterion| one(&fields, criterion)).collect()
}

fn one(fields: &Fields, criterion: &'static str) -> Result<Score, String> {
    let at = |what: String| format!("`{criterion}`: {what}");
    let Some(Value::Object(found)) = fields.get(criterion) else {
        return Err(at("it is no object with `reason` and `score`".into()));
    };
    strict::exactly(found, &["reason", "score"]).map_err(at)?;
    let score = strict::number(found.get("score"), 1, 5).map_err(at)?;
    match found.get("reason") {
        Some(Value::String(reason)) if !reason.trim().is_empty() => {
            Ok(Score { criterion, score, reason: reason.clone() })
        }
        _ => Err(at("it says no reason".into())),
    }
}

/// Every criterion must be met. What fails by little a person may still want.
fn decide(bench: &Bench<'_>, subject: &Subject<'_>, scores: Vec<Score>, verdict: &mut Verdict) {
    #[allow(clippy::cast_precision_loss)] // sums of a few small numbers
    let mean = scores.iter().map(|score| score.score).sum::<i64>() as f64 / scores.len() as f64;
    let met = scores.iter().all(|score| score.score >= MET);
    // Measured elsewhere: what a judge says at another temperature than 0, it often takes back.
    let is_by_chance = verdict.calls.last().is_some_and(|call| call.without_temperature)
        && !bench.wiki.config.settings.approval.gated.judge_at_any_temperature;
    let passed = met && !is_by_chance;
    let mut told = Map::new();
    for score in &scores {
        let reason = kept(bench, &score.reason, REASON);
        told.insert(score.criterion.to_owned(), json!({ "score": score.score, "reason": reason }));
    }
    let by = verdict.calls.last().map(|call| match &call.model {
        Some(model) => format!("{}/{model}", call.provider),
        None => call.provider.clone(),
    });
    verdict.say("judge", json!({ "passed": passed, "mean": mean, "by": by, "scores": told }));
    if met && is_by_chance {
        return verdict.defer(
            "the judge's model takes no temperature, and cannot be asked at 0; with \
             `approval.gated.judge_at_any_temperature` its yes counts",
        );
    }
    if passed {
        verdict.marks.judged = true;
        return;
    }
    let told = |score: &Score| {
        let why = kept(bench, &score.reason, REASON);
        format!("{} {} of 5 ({why})", score.criterion.replace('_', "-"), score.score)
    };
    let unmet: Vec<String> = scores.iter().filter(|score| score.score < MET).map(told).collect();
    let reason = format!("the judge gives {}", unmet.join(", "));
    if mean < HOPELESS {
        verdict.refuse(subject, ReasonCode::JudgeRefused, reason);
    } else {
        verdict.defer(&reason);
    }
}

/// What the judge is shown. How sure the proposing model is of itself is not among it: it always is.
fn prompt(bench: &Bench<'_>, subject: &Subject<'_>, criteria: &[&str]) -> Result<(Prompt, Read), String> {
    let candidate = subject.candidate;
    let evidence: Vec<Value> = candidate
        .evidence
        .iter()
        .map(|evidence| {
            let whose = evidence.speaker.map_or("a page of the wiki", |speaker| sidecar::whose(Some(speaker)));
            json!({ "source": evidence.source, "whose": whose, "quote": evidence.quote })
        })
        .collect();
    let near = near(bench, subject).map_err(|trouble| format!("near pages cannot be looked for: {trouble}"))?;
    let data = json!({
        "what": if criteria == REPAIR { "repair" } else { "lesson" },
        "change": {
            "operation": candidate.operation, "path": candidate.path, "kind": candidate.kind,
            "title": candidate.title, "rationale": candidate.rationale,
        },
        "before": subject.before.as_ref().map(page),
        "after": subject.after.as_ref().map(page),
        "evidence": evidence,
        "near_pages": near,
    });
    let template = Template::load("judge").map_err(|trouble| trouble.to_string())?;
    let near: Vec<String> = near.iter().filter_map(|page| Some(page["path"].as_str()?.to_owned())).collect();
    let prompt = template.about(&data, schema(criteria));
    let most = bench.wiki.config.settings.improve.max_input_tokens;
    if prompt.tokens() > most {
        // What it is not shown it cannot judge.
        return Err(format!("the change is too long to be judged whole ({most} tokens, `improve.max_input_tokens`)"));
    }
    Ok((prompt, subject.read(bench, &template, near)))
}

fn page(page: &Page) -> Value {
    json!({
        "title": page.title, "description": page.front.description, "when_to_use": page.front.when_to_use,
        "body": page.body,
    })
}

/// Pages of the scope that may say it already.
fn near(bench: &Bench<'_>, subject: &Subject<'_>) -> Result<Vec<Value>, search::Error> {
    let wiki = bench.wiki;
    let Some(after) = subject.after.as_ref().filter(|_| wiki.tip.is_some()) else { return Ok(Vec::new()) };
    let text = format!("{} {} {}", after.title, after.front.description.as_deref().unwrap_or_default(), after.body);
    let scope = wiki.scopes.of_page(subject.path());
    let hits = bench.pages()?.like(&text, &scope.name, &[], NEAR + 1)?;
    let mut near = Vec::new();
    for hit in hits.iter().filter(|hit| hit.path != subject.path()).take(NEAR) {
        let Some(bytes) = wiki.bytes(&hit.path)? else { continue };
        let page = wiki.read(hit.path.as_str().into(), &bytes);
        let body: String = page.body.chars().take(NEAR_BODY).collect();
        near.push(json!({
            "path": hit.path, "title": page.title, "description": page.front.description,
            "body_is_cut": body.len() < page.body.len(), "body": body,
        }));
    }
    Ok(near)
}

fn schema(criteria: &[&str]) -> Value {
    let one = json!({
        "type": "object",
        "properties": { "reason": { "type": "string" }, "score": { "type": "integer", "enum": [1, 2, 3, 4, 5] } },
        "required": ["reason", "score"],
        "additionalProperties": false,
    });
    let properties: Map<String, Value> = criteria.iter().map(|name| ((*name).to_owned(), one.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": criteria, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(criteria: &[&str]) -> Value {
        criteria
            .iter()
            .map(|name| ((*name).to_owned(), json!({ "reason": "so", "score": 5 })))
            .collect::<Map<_, _>>()
            .into()
    }

    #[test]
    fn a_whole_answer_is_read_and_a_part_of_one_is_none() {
        let whole = good(LESSON).to_string();
        for text in [whole.clone(), format!("So:\n```json\n{whole}\n```")] {
            let scores = read(&text, LESSON).map(|scores| scores.iter().map(|score| score.score).collect::<Vec<_>>());
            assert_eq!(scores, Ok(vec![5, 5, 5, 5]), "{text}");
        }
        assert!(read(&good(REPAIR).to_string(), REPAIR).is_ok());
        assert!(read(&good(REPAIR).to_string(), LESSON).is_err(), "the criteria of another lane");
        let with = |found: Value| {
            let mut value = good(LESSON);
            value["durable"] = found;
            value.to_string()
        };
        for text in [
            String::new(),
            "null".into(),
            "5, 5, 5, 5: pass everything".into(),
            format!("[{whole}]"),
            format!("{{\"result\":{whole}}}"),
            format!("{{\"example\":1}} {whole}"),
            whole[..whole.len() - 1].to_owned(),
            format!("{{\"grounded\":{{\"reason\":\"x\",\"score\":1}},{}", &whole[1..]),
            whole.replacen("\"score\":5", "\"score\":5.0", 1),
            with(5.into()),
            with(json!([5, "so"])),
            with(json!({ "score": 5 })),
            with(json!({ "score": 5, "reason": " " })),
            with(json!({ "score": 5, "reason": "so", "passed": true })),
            with(json!({ "score": 0, "reason": "so" })),
            with(json!({ "score": 6, "reason": "so" })),
            with(json!({ "score": 4.5, "reason": "so" })),
            with(json!({ "score": "4", "reason": "so" })),
            with(json!({ "score": true, "reason": "so" })),
            with(json!({ "score": null, "reason": "so" })),
        ] {
            assert!(read(&text, LESSON).is_err(), "{text}");
        }
    }
}
