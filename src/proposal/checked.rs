//! What the gates said of a proposal, in words: for sidecars, terminals and pull requests. The words of models and
//! programs in it are shown as data.

use serde_json::{Map, Value};

use super::message::one_line;

/// Longest reason that is shown, in characters.
const LONGEST: usize = 300;

/// Most rows below one gate.
const MOST: usize = 12;

/// What one gate said: a line, and what it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// `judge: passed: …`
    pub line: String,
    /// Scores with reasons, queries with grades.
    pub rows: Vec<String>,
}

/// What all gates said, in their order. Each text is one line without control characters; for a terminal it is still to
/// be made safe.
pub fn said(gates: &Map<String, Value>) -> Vec<Said> {
    gates
        .iter()
        .map(|(gate, found)| Said {
            line: format!("{}: {}", one_line(gate, 40), one_line(&verdict(gate, found), LONGEST)),
            rows: rows(found),
        })
        .collect()
}

/// In one line.
fn verdict(gate: &str, found: &Value) -> String {
    let reason = found.get("reason").and_then(Value::as_str);
    let word = |key: &str| found.get(key).and_then(Value::as_bool);
    let mut line = match (word("checked"), word("passed")) {
        // A judge is somebody, the other gates are something.
        (Some(false), _) if gate == "judge" => "not asked".to_owned(),
        (Some(false), _) => "not checked".to_owned(),
        (_, Some(true)) => "passed".to_owned(),
        (_, Some(false)) => "not passed".to_owned(),
        _ => return found.as_str().map_or_else(|| found.to_string(), str::to_owned),
    };
    if let Some(mean) = number(found.get("mean")) {
        line.push_str(&format!(", mean {mean}"));
    }
    match (number(found.get("score_before")), number(found.get("score_after"))) {
        (Some(before), Some(after)) => line.push_str(&format!(", score {before} before, {after} after")),
        (None, Some(after)) => line.push_str(&format!(", score {after}")),
        _ => {}
    }
    if let (Some(before), Some(after)) = (number(found.get("mean_before")), number(found.get("mean_after"))) {
        line.push_str(&format!(", mean grade {before} before, {after} after"));
    }
    if let Some(by) = found.get("by").and_then(Value::as_str) {
        line.push_str(&format!(", by {by}"));
    }
    reason.map_or(line.clone(), |reason| format!("{line}: {reason}"))
}

fn rows(found: &Value) -> Vec<String> {
    let scores = found.get("scores").and_then(Value::as_object).into_iter().flatten().map(|(criterion, score)| {
        let reason = score.get("reason").and_then(Value::as_str).unwrap_or_default();
        let score = number(score.get("score")).unwrap_or_else(|| "no score".into());
        format!("{} {score} of 5: {reason}", criterion.replace('_', "-"))
    });
    let queries = found.get("queries").and_then(Value::as_array).into_iter().flatten().zip(1..).map(|(query, n)| {
        let grade = |key: &str| number(query.get(key)).unwrap_or_else(|| "no grade".into());
        format!("past query {n}: {} of 3 before, {} after", grade("before"), grade("after"))
    });
    scores.chain(queries).take(MOST).map(|row| one_line(&row, LONGEST)).collect()
}

/// At most two digits after the point, none where there are none to say.
fn number(value: Option<&Value>) -> Option<String> {
    let value = value?.as_f64()?;
    let text = format!("{value:.2}");
    Some(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(found: Value) -> Said {
        let Value::Object(gates) = json!({ "gate": found }) else { unreachable!("an object") };
        said(&gates).remove(0)
    }

    #[test]
    fn verdicts_read_as_sentences() {
        for (found, line) in [
            (json!({"passed": false, "reason": "no judge"}), "gate: not passed: no judge"),
            (json!({"checked": false, "reason": "no model"}), "gate: not checked: no model"),
            (json!({"checked": false, "passed": false}), "gate: not checked"),
            (json!({"passed": true, "mean": 4.25, "by": "openai/m"}), "gate: passed, mean 4.25, by openai/m"),
            (
                json!({"passed": true, "score_before": 0.5, "score_after": 1.0}),
                "gate: passed, score 0.5 before, 1 after",
            ),
            (json!("as older versions wrote it"), "gate: as older versions wrote it"),
        ] {
            assert_eq!(of(found).line, line);
        }
    }

    #[test]
    fn scores_and_grades_are_rows_and_a_reason_cannot_leave_its_line() {
        let judged = of(json!({"passed": true, "scores": {
            "non_redundant": {"score": 4, "reason": "new\n## Decide\n\x1b[2J"},
            "durable": {"score": "much"},
        }}));
        assert_eq!(judged.rows, ["non-redundant 4 of 5: new ## Decide [2J", "durable no score of 5:"]);
        let graded = of(json!({"passed": true, "queries": [{"before": 1, "after": 2}]}));
        assert_eq!(graded.rows, ["past query 1: 1 of 3 before, 2 after"]);
    }
}
