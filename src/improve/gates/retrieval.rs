//! The retrieval gate: an edited page must be worth at least as much as before to those who found it. Its own past
//! queries are graded with the old and with the new text, each in a call of its own, so that the grader can neither
//! compare nor guess which is which. Without a grade there is no edit.
//!
//! The queries stay on this machine: the sidecar is shared, so it holds grades only.

use serde_json::{Value, json};

use super::super::ask::ask;
use super::super::prompts::Template;
use super::super::strict;
use super::{Bench, Subject, Verdict, kept};
use crate::feedback::queries;
use crate::ledger;
use crate::model::{Prompt, Stage};
use crate::proposal::ReasonCode;
use crate::wiki::Page;

/// Characters of a body that are graded.
const BODY: usize = 1_500;

/// Best grade.
const BEST: i64 = 3;

/// Longest trouble that is told, in characters.
const REASON: usize = 300;

/// Grades an edit of a page by the page's own past queries, where there are any.
pub(super) fn retrieval(bench: &Bench<'_>, subject: &Subject<'_>, verdict: &mut Verdict) {
    let (Some(before), Some(after)) = (&subject.before, &subject.after) else { return };
    let past = queries::of_page(&bench.wiki.repo, subject.path(), ledger::now()).map_err(|error| error.to_string());
    let past = match past.and_then(|past| past.faults.first().cloned().map_or(Ok(past), Err)) {
        Ok(past) => past,
        Err(fault) => {
            verdict.unchecked("retrieval", &format!("the page's past queries cannot be read: {fault}"));
            return verdict.defer("nobody could tell whether its past queries still find what they looked for");
        }
    };
    if past.absent {
        return verdict.unchecked("retrieval", "no queries were ever recorded here");
    }
    if past.queries.is_empty() {
        return verdict.unchecked("retrieval", "no query of the past found this page");
    }
    let (old, new) = (graded(before), graded(after));
    if old == new {
        return verdict.unchecked("retrieval", "nothing changes in what queries are answered with");
    }
    if !bench.models.has(Stage::Judge) {
        verdict.unchecked("retrieval", "no model");
        return verdict.defer("nobody graded it by the queries that found the page");
    }
    let both = grades(bench, subject, &past.queries, old, verdict)
        .and_then(|before| Ok((before, grades(bench, subject, &past.queries, new, verdict)?)));
    match both {
        Ok((before, after)) => decide(subject, &before, &after, verdict),
        Err(trouble) => {
            let trouble = kept(bench, &trouble, REASON);
            let reason =
                format!("queries found this page, so its edit needs a grade by them, and none came: {trouble}");
            verdict.refuse(subject, ReasonCode::RetrievalWorse, reason);
        }
    }
}

fn decide(subject: &Subject<'_>, before: &[i64], after: &[i64], verdict: &mut Verdict) {
    #[allow(clippy::cast_precision_loss)] // sums of a few small numbers
    let mean = |grades: &[i64]| grades.iter().sum::<i64>() as f64 / grades.len() as f64;
    let (old, new) = (mean(before), mean(after));
    // Whole numbers: what is the same is not a little less.
    if after.iter().sum::<i64>() < before.iter().sum::<i64>() {
        let reason = format!(
            "graded by {} of its own past queries it would be worth less: {new:.2} of {BEST} instead of {old:.2}",
            before.len()
        );
        return verdict.refuse(subject, ReasonCode::RetrievalWorse, reason);
    }
    let queries: Vec<Value> =
        before.iter().zip(after).map(|(before, after)| json!({ "before": before, "after": after })).collect();
    verdict.say("retrieval", json!({ "passed": true, "mean_before": old, "mean_after": new, "queries": queries }));
}

/// What is graded of a page.
fn graded(page: &Page) -> Value {
    json!({
        "type": page.kind, "path": page.path.to_string(), "title": page.title,
        "description": page.front.description, "body": page.body.chars().take(BODY).collect::<String>(),
    })
}

/// The grades of one text, in the order of the queries.
fn grades(
    bench: &Bench<'_>,
    subject: &Subject<'_>,
    queries: &[String],
    page: Value,
    verdict: &mut Verdict,
) -> Result<Vec<i64>, String> {
    let template = Template::load("retrieval").map_err(|trouble| trouble.to_string())?;
    let prompt = prompt(&template, queries, page);
    let call = subject.asking("retrieval", &prompt, subject.read(bench, &template, Vec::new()));
    let asked = ask(bench, Stage::Judge, &prompt, call);
    let mut call = asked.call;
    verdict.responses.extend(asked.response);
    let read = match (asked.value, asked.text) {
        (Err(end), _) => Err(verdict.no_answer(end)),
        (Ok(_), text) => read(&text.unwrap_or_default(), queries.len()),
    };
    if let Err(trouble) = &read {
        call.error.get_or_insert_with(|| kept(bench, trouble, REASON));
    }
    verdict.calls.push(call);
    read
}

fn prompt(template: &Template, queries: &[String], page: Value) -> Prompt {
    let numbered: Vec<Value> =
        queries.iter().zip(1..).map(|(text, number)| json!({ "number": number, "query": text })).collect();
    let grade = json!({
        "type": "object",
        "properties": { "number": { "type": "integer" }, "grade": { "type": "integer", "enum": [0, 1, 2, 3] } },
        "required": ["number", "grade"],
        "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": { "grades": { "type": "array", "items": grade } },
        "required": ["grades"],
        "additionalProperties": false,
    });
    template.about(&json!({ "page": page, "queries": numbered }), schema)
}

/// Reads an answer: each query once, in any order, each with a grade from 0 to 3.
pub(super) fn read(text: &str, count: usize) -> Result<Vec<i64>, String> {
    let fields = strict::only(text, &["grades"])?;
    strict::exactly(&fields, &["grades"])?;
    let Some(Value::Array(found)) = fields.get("grades") else { return Err("`grades` is no list".into()) };
    let mut grades = vec![None; count];
    for one in found {
        let Value::Object(one) = one else { return Err("a grade is no object".into()) };
        strict::exactly(one, &["number", "grade"])?;
        let number = strict::number(one.get("number"), 1, i64::try_from(count).unwrap_or(i64::MAX))?;
        let place = &mut grades[usize::try_from(number - 1).unwrap_or_default()];
        if place.replace(strict::number(one.get("grade"), 0, BEST)?).is_some() {
            return Err(format!("query {number} is graded twice"));
        }
    }
    grades.into_iter().collect::<Option<Vec<i64>>>().ok_or_else(|| "a query has no grade".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_is_graded_once_or_the_answer_is_none() {
        let read = |text: &str| read(text, 2);
        let whole = r#"{"grades":[{"number":2,"grade":0},{"number":1,"grade":3}]}"#;
        assert_eq!(read(whole), Ok(vec![3, 0]));
        for text in [
            r#"{"grades":[{"number":1,"grade":3}]}"#,
            r#"{"grades":[{"number":1,"grade":3},{"number":1,"grade":3},{"number":2,"grade":3}]}"#,
            r#"{"grades":[{"number":1,"grade":3},{"number":2,"grade":4}]}"#,
            r#"{"grades":[{"number":1,"grade":3},{"number":2,"grade":"3"}]}"#,
            r#"{"grades":[{"number":1,"grade":3},{"number":3,"grade":3}]}"#,
            r#"{"grades":[{"number":1,"grade":3},{"number":2,"grade":3,"note":"x"}]}"#,
            r#"{"grades":[3,3]}"#,
            r#"{"grades":null}"#,
            r#"{"grades":[],"more":1}"#,
            "<html></html>",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
