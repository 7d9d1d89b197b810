//! The reflect lane: a page was judged wrong, and what tells people when to open it may be at fault. It revises the
//! description, `when_to_use` and the title, never the body: that is for a person, or for an exact fix.

use serde_json::{Value, json};

use super::super::Error;
use super::super::plan::Selected;
use super::grounded;
use super::subject::Subject;
use super::turns::{self, Answer, Question};
use super::{Bench, End, Found};
use crate::model::Stage;
use crate::proposal::{Candidate, Evidence, Operation, ReasonCode, Refusal};
use crate::wiki::text::{fold_space, normal};
use crate::wiki::{Edit, EditOp};

/// The fields that may be revised, each with its longest value in characters.
const FIELDS: [(&str, usize); 3] = [("description", 500), ("when_to_use", 500), ("title", 200)];

/// Neighbours whose titles the model is shown, so that it tells the page apart from them.
const NEARBY: usize = 8;

/// What a reply asks for.
pub(super) struct Revision {
    confidence: f64,
    /// The fields with their new values.
    pub(super) fields: Vec<(&'static str, String)>,
}

/// What is asked about a page.
pub(super) fn question(bench: &Bench<'_>, subject: &Subject) -> Result<Question, Error> {
    let near = subject.nearby(bench, &[], NEARBY)?;
    let nearby: Vec<Value> =
        near.iter().map(|hit| json!({"path": hit.path, "title": subject.shown(&hit.title, 200)})).collect();
    let turned_down: Vec<Value> = subject
        .turned_down(bench, "reflect")?
        .into_iter()
        .map(|(item, sidecar)| {
            let set = |edit: &Edit| format!("{}: {}", edit.anchor, subject.shown(&edit.content, 500));
            json!({
                "proposed": sidecar.edits.iter().map(set).collect::<Vec<_>>(),
                "rejected_because": item.proposal.reason.map(|reason| subject.shown(&reason, 500)),
            })
        })
        .collect();
    let data = json!({
        "page": subject.data(),
        "feedback": subject.claims(),
        "recent_queries": subject.queries(bench)?,
        "nearby_pages": nearby,
        "rejected_before": turned_down,
    });
    let pages = std::iter::once(subject.path.clone()).chain(near.into_iter().map(|hit| hit.path)).collect();
    Ok(Question { stage: Stage::Reflect, data, schema: schema(), pages })
}

/// One page. `None` when it is gone meanwhile.
pub(super) fn reflect(bench: &Bench<'_>, selected: &Selected) -> Result<Option<Found>, Error> {
    let Some(subject) = Subject::load(bench, selected)? else { return Ok(None) };
    let asked = turns::ask(bench, selected, &question(bench, &subject)?, read)?;
    let mut found = Found { calls: asked.calls, responses: asked.responses, input: asked.input, ..Found::default() };
    match asked.answer {
        Answer::None(end) => found.end = end,
        Answer::Read(revision) => propose(bench, &subject, revision, &mut found)?,
    }
    Ok(Some(found))
}

fn schema() -> Value {
    let properties: serde_json::Map<String, Value> = FIELDS
        .iter()
        .map(|(name, most)| ((*name).to_owned(), json!({"type": ["string", "null"], "maxLength": most})))
        .collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["confidence", "patch"],
        "properties": {
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "patch": {
                "type": "object",
                "additionalProperties": false,
                "required": FIELDS.map(|(name, _)| name),
                "properties": properties,
            },
        },
    })
}

/// Reads a reply; the error says what is wrong with it.
pub(super) fn read(reply: &Value) -> Result<Revision, String> {
    let confidence = reply.get("confidence").and_then(Value::as_f64);
    let confidence = confidence.ok_or("`confidence` is missing or no number from 0 to 1")?;
    let patch = reply.get("patch").and_then(Value::as_object).ok_or("`patch` is missing or no object")?;
    if let Some(other) = patch.keys().find(|key| FIELDS.iter().all(|(name, _)| name != key)) {
        let other: String = other.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
        return Err(format!("`patch` sets `{other}`; only description, when_to_use and title can be revised"));
    }
    let mut fields = Vec::new();
    for (name, most) in FIELDS {
        match patch.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => {
                let text = fold_space(text);
                let length = text.chars().count();
                if length > most {
                    return Err(format!("`patch.{name}` has {length} characters; {most} are allowed"));
                }
                if !text.is_empty() {
                    fields.push((name, text));
                }
            }
            Some(_) => return Err(format!("`patch.{name}` is neither a text nor null")),
        }
    }
    Ok(Revision { confidence, fields })
}

/// Makes a candidate of what really changes.
fn propose(bench: &Bench<'_>, subject: &Subject, revision: Revision, found: &mut Found) -> Result<(), Error> {
    let page = &subject.page;
    let now = |field: &str| match field {
        "description" => page.front.description.as_deref(),
        "when_to_use" => page.front.when_to_use.as_deref(),
        _ => Some(page.title.as_str()),
    };
    if revision.fields.is_empty() {
        found.judged = Some("nothing to revise".into());
        return Ok(());
    }
    let fields: Vec<_> =
        revision.fields.into_iter().filter(|(name, text)| !is_cosmetic(now(name).unwrap_or_default(), text)).collect();
    if fields.is_empty() {
        found.judged = Some("only a cosmetic change".into());
        return Ok(());
    }
    let Some(kind) = page.kind else { return Ok(()) };
    let mut evidence: Vec<Evidence> = Vec::new();
    for (name, text) in &fields {
        match ground(bench, subject, name, text) {
            Ok(quote) if evidence.iter().any(|evidence| evidence.quote == quote) => {}
            Ok(quote) => {
                evidence.push(Evidence { source: subject.path.clone(), blob: None, speaker: None, quote });
            }
            Err((code, reason)) => {
                let summary = format!("update {kind} \"{}\"", page.title);
                let refusal = Refusal { code, path: subject.path.clone(), reason, summary, proposal: None };
                found.candidates.push(Err(refusal));
                return Ok(());
            }
        }
    }
    for (complaint, words) in subject.complaints(bench)? {
        evidence.push(complaint);
        found.words.push(words);
    }
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let title = fields.iter().find(|(name, _)| *name == "title").map_or(&page.title, |(_, title)| title).clone();
    let edit = |(name, content): (&'static str, String)| Edit {
        op: EditOp::SetField,
        anchor: name.to_owned(),
        section_sha256: None,
        content,
    };
    found.kinds = Some(vec![kind]);
    found.candidates.push(Ok(Candidate {
        operation: Operation::Update,
        path: subject.path.clone(),
        title,
        kind,
        confidence: revision.confidence,
        rationale: rationale(subject, &names),
        evidence,
        body_markdown: None,
        edits: fields.into_iter().map(edit).collect(),
    }));
    found.end = End::Done;
    Ok(())
}

/// The sentence of the page that a new text rests on, or why it must not stand there.
fn ground(bench: &Bench<'_>, subject: &Subject, name: &str, text: &str) -> Result<String, (ReasonCode, String)> {
    let invented = grounded::invented(text, &format!("{}\n{}", subject.path, subject.text));
    if !invented.is_empty() {
        let words = invented.join("`, `");
        let what = format!("the new {name} says `{words}`, which stands nowhere in {}", subject.path);
        return Err((ReasonCode::EvidenceNotFound, what));
    }
    if name == "title" {
        let near = subject.like(bench, text, &[], 5).unwrap_or_default();
        if let Some(other) = near.iter().find(|hit| normal(&hit.title) == normal(text)) {
            let what = format!("{} has the title \"{text}\" already", other.path);
            return Err((ReasonCode::DuplicateExistingTitle, what));
        }
    }
    grounded::support(text, &subject.page.body).ok_or_else(|| {
        let what = format!("no sentence of {} has to do with the new {name}", subject.path);
        (ReasonCode::EvidenceNotFound, what)
    })
}

/// Whether two texts differ in nothing but case, punctuation, white space and the order of their words.
fn is_cosmetic(old: &str, new: &str) -> bool {
    let words = |text: &str| {
        let normal = normal(text);
        let mut words: Vec<String> = normal.split(' ').map(str::to_owned).collect();
        words.sort_unstable();
        words
    };
    words(old) == words(new)
}

/// In our own words: what was said of the page stands among the evidence, as a claim.
fn rationale(subject: &Subject, names: &[&str]) -> String {
    let fields = names.join(", ");
    let negatives = subject.said.iter().filter(|signal| signal.verdict == crate::feedback::Verdict::Negative).count();
    let why = match negatives {
        0 => "somebody asked for a look at the page".to_owned(),
        1 => "the page was judged wrong once".to_owned(),
        many => format!("the page was judged wrong {many} times"),
    };
    format!("Says better when to open this page ({fields}): {why}. The body stays as it is.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_keeps_the_contract_or_says_what_is_wrong() {
        let good = json!({"confidence": 0.9, "patch": {"description": " Ports\nof all ", "when_to_use": null}});
        let revision = read(&good).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(revision.fields, [("description", "Ports of all".to_owned())]);
        for (reply, fault) in [
            (json!([]), "confidence"),
            (json!({"confidence": "high", "patch": {}}), "confidence"),
            (json!({"confidence": 1}), "patch"),
            (json!({"confidence": 1, "patch": {"body": "x"}}), "`body`"),
            (json!({"confidence": 1, "patch": {"title": 3}}), "title"),
            (json!({"confidence": 1, "patch": {"title": "x".repeat(201)}}), "201"),
        ] {
            let said = read(&reply).err().unwrap_or_default();
            assert!(said.contains(fault), "{reply}: {said}");
        }
    }

    #[test]
    fn another_order_case_or_punctuation_is_cosmetic() {
        assert!(is_cosmetic("Ports of the services", "the services: PORTS, of"));
        assert!(is_cosmetic("", " "));
        assert!(!is_cosmetic("Ports of the services", "Ports of all services"));
    }
}
