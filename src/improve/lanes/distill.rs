//! The distill lane: a note that people use may hold a lesson. It writes at most one, or adds what is new to one that
//! is there, and a person decides on all of it. Most notes hold none.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::Error;
use super::super::plan::Selected;
use super::grounded;
use super::subject::Subject;
use super::turns::{self, Answer, Question};
use super::{Bench, Found};
use crate::model::Stage;
use crate::proposal::{Candidate, Evidence, Operation, ReasonCode, Refusal};
use crate::search::Hit;
use crate::wiki::text::{fold_space, normal, shingle_overlap};
use crate::wiki::{Edit, EditOp, Kind, Page, path};

/// What a lesson may be.
const KINDS: [Kind; 3] = [Kind::Gotcha, Kind::Procedure, Kind::Concept];

/// Lessons that the model is shown, so that it does not write them again.
const SHOWN: usize = 5;

/// Most characters of a lesson that it is shown.
const LONGEST_SHOWN: usize = 4_000;

/// Most statements of one lesson.
const MOST_FACTS: usize = 8;

/// Longest statement, in characters.
const LONGEST_FACT: usize = 400;

/// From this share of five-word runs on, in either direction, two lessons are one.
const SAME_RUNS: f64 = 0.5;

/// From this share of common words on, two lessons are one: the runs of a reworded text do not match.
const SAME_WORDS: f64 = 0.6;

/// From this share of five-word runs on, a page holds a statement.
const HELD: f64 = 0.8;

const DEFERRED: &str = "a lesson that was distilled from a note needs a person";

/// What a reply offers.
pub(super) enum Reply {
    /// The reason, in the model's words.
    Nothing(String),
    Lesson(Lesson),
}

pub(super) struct Lesson {
    kind: Kind,
    pub(super) title: String,
    pub(super) body: String,
    /// The page that it belongs to, where the model named one that it was shown.
    updates: Option<String>,
    pub(super) facts: Vec<Fact>,
    confidence: f64,
    rationale: String,
}

/// One statement of the lesson and the words of the note that it rests on.
pub(super) struct Fact {
    pub(super) text: String,
    pub(super) quote: String,
}

/// What is asked about a note, and the lessons near it.
pub(super) fn question(bench: &Bench<'_>, subject: &Subject) -> Result<(Question, Vec<Hit>), Error> {
    let near = subject.nearby(bench, &KINDS, SHOWN)?;
    let mut lessons = Vec::new();
    for hit in &near {
        let Some(page) = page(bench, &hit.path)? else { continue };
        lessons.push(json!({
            "path": hit.path,
            "kind": page.kind.map(Kind::as_str),
            "title": subject.shown(&page.title, 200),
            "body": subject.shown(&page.body, LONGEST_SHOWN),
        }));
    }
    let turned_down: Vec<Value> = subject
        .turned_down(bench, "distill")?
        .into_iter()
        .map(|(item, _)| {
            json!({
                "title": subject.shown(&item.proposal.title, 200),
                "rejected_because": item.proposal.reason.map(|reason| subject.shown(&reason, 500)),
            })
        })
        .collect();
    let data = json!({
        "note": subject.data(),
        "feedback": subject.claims(),
        "lessons": lessons,
        "rejected_before": turned_down,
    });
    let pages = std::iter::once(subject.path.clone()).chain(near.iter().map(|hit| hit.path.clone())).collect();
    Ok((Question { stage: Stage::Distill, data, schema: schema(), pages }, near))
}

/// One note. `None` when it is gone meanwhile.
pub(super) fn distill(bench: &Bench<'_>, selected: &Selected) -> Result<Option<Found>, Error> {
    let Some(subject) = Subject::load(bench, selected)? else { return Ok(None) };
    let (question, near) = question(bench, &subject)?;
    let asked = turns::ask(bench, selected, &question, |reply| read(reply, &near))?;
    let mut found = Found {
        calls: asked.calls,
        responses: asked.responses,
        input: asked.input,
        kinds: Some(KINDS.to_vec()),
        deferred: Some(DEFERRED.into()),
        ..Found::default()
    };
    match asked.answer {
        Answer::None(end) => found.end = end,
        Answer::Read(Reply::Nothing(why)) => {
            let why = subject.shown(&fold_space(&why), 200);
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            found.judged = Some(format!("nothing reusable{why}"));
        }
        Answer::Read(Reply::Lesson(lesson)) => propose(bench, &subject, selected, lesson, &mut found)?,
    }
    Ok(Some(found))
}

fn schema() -> Value {
    let text = json!({"type": "string"});
    let fact = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["fact", "quote"],
        "properties": {"fact": text, "quote": text},
    });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["reason", "lesson"],
        "properties": {
            "reason": text,
            "lesson": {"anyOf": [{"type": "null"}, {
                "type": "object",
                "additionalProperties": false,
                "required": ["kind", "title", "body_markdown", "updates", "facts", "confidence", "rationale"],
                "properties": {
                    "kind": {"type": "string", "enum": KINDS.map(Kind::as_str)},
                    "title": text,
                    "body_markdown": text,
                    "updates": {"type": ["string", "null"]},
                    "facts": {"type": "array", "items": fact, "maxItems": MOST_FACTS},
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                    "rationale": text,
                },
            }]},
        },
    })
}

/// Reads a reply; the error says what is wrong with it.
pub(super) fn read(reply: &Value, shown: &[Hit]) -> Result<Reply, String> {
    let fields = reply.as_object().ok_or("the reply is no JSON object")?;
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(|text| text.trim().to_owned());
    let lesson = match fields.get("lesson") {
        None if !fields.contains_key("reason") => return Err("`lesson` is missing: an object, or null".into()),
        None | Some(Value::Null) => return Ok(Reply::Nothing(text(reply, "reason").unwrap_or_default())),
        Some(lesson @ Value::Object(_)) => lesson,
        Some(_) => return Err("`lesson` is neither an object nor null".into()),
    };
    let need =
        |key: &str| text(lesson, key).filter(|text| !text.is_empty()).ok_or(format!("`lesson.{key}` is missing"));
    let kind = Kind::parse(&need("kind")?).filter(|kind| KINDS.contains(kind));
    let updates = text(lesson, "updates").filter(|path| !path.is_empty());
    if let Some(path) = updates.as_ref().filter(|path| shown.iter().all(|hit| hit.path != **path)) {
        let path: String = path.chars().filter(|c| !c.is_control()).take(80).collect();
        return Err(format!("`lesson.updates` is `{path}`, which is none of the lessons that you were shown"));
    }
    let mut facts = Vec::new();
    for fact in lesson.get("facts").and_then(Value::as_array).into_iter().flatten() {
        let (Some(said), Some(quote)) = (text(fact, "fact"), text(fact, "quote")) else {
            return Err("each of `lesson.facts` needs a `fact` and a `quote`".into());
        };
        let said = fold_space(&said);
        if said.chars().count() > LONGEST_FACT || quote.chars().count() > LONGEST_FACT {
            return Err(format!("a fact or its quote is longer than {LONGEST_FACT} characters"));
        }
        facts.push(Fact { text: said, quote });
    }
    if facts.is_empty() || facts.len() > MOST_FACTS {
        return Err(format!("`lesson.facts` must hold one to {MOST_FACTS} facts"));
    }
    Ok(Reply::Lesson(Lesson {
        kind: kind.ok_or("`lesson.kind` is none of gotcha, procedure and concept")?,
        title: fold_space(&need("title")?),
        body: need("body_markdown")?,
        updates,
        facts,
        confidence: lesson.get("confidence").and_then(Value::as_f64).ok_or("`lesson.confidence` is no number")?,
        rationale: need("rationale")?,
    }))
}

/// Makes a candidate: a new page, or what a page that says nearly the same does not say yet.
fn propose(
    bench: &Bench<'_>,
    subject: &Subject,
    selected: &Selected,
    lesson: Lesson,
    found: &mut Found,
) -> Result<(), Error> {
    let scope =
        bench.wiki.scopes.named(&selected.scope).map_err(|error| Error::Settings(error.to_string()))?.path.clone();
    let folder = bench.wiki.layout.folder(lesson.kind);
    let name = format!("{folder}/{}.md", path::slug(&lesson.title));
    let place = if scope.is_empty() { name } else { format!("{scope}/{name}") };
    let target = match target(bench, subject, &lesson, &place)? {
        Some(path) => page(bench, &path)?.map(|page| (path, page)),
        None => None,
    };
    let note = format!("{}\n{}", subject.path, subject.text);
    let source = target.as_ref().map_or_else(|| note.clone(), |(path, page)| format!("{note}\n{path}\n{}", page.body));
    let said: Vec<&str> = lesson.facts.iter().map(|fact| fact.text.as_str()).collect();
    let said = format!("{}\n{}\n{}", lesson.title, lesson.body, said.join("\n"));
    let invented = grounded::invented(&said, &source);
    if !invented.is_empty() {
        let reason = format!("the lesson says `{}`, which stands nowhere in {}", invented.join("`, `"), subject.path);
        let summary = format!("distill {} \"{}\"", lesson.kind, lesson.title);
        let code = ReasonCode::EvidenceNotFound;
        found.candidates.push(Err(Refusal { code, path: place, reason, summary, proposal: None }));
        return Ok(());
    }
    let quoted = |facts: &[&Fact]| {
        let mut evidence: Vec<Evidence> = Vec::new();
        for fact in facts {
            if evidence.iter().all(|evidence| evidence.quote != fact.quote) {
                let (source, quote) = (subject.path.clone(), fact.quote.clone());
                evidence.push(Evidence { source, blob: None, speaker: None, quote });
            }
        }
        evidence
    };
    let candidate = match target {
        None => Candidate {
            operation: Operation::Create,
            path: place,
            title: lesson.title,
            kind: lesson.kind,
            confidence: lesson.confidence,
            rationale: lesson.rationale,
            evidence: quoted(&lesson.facts.iter().collect::<Vec<_>>()),
            body_markdown: Some(lesson.body),
            edits: Vec::new(),
        },
        Some((path, page)) => {
            let new: Vec<&Fact> = lesson.facts.iter().filter(|fact| !holds(&page.body, &fact.text)).collect();
            if new.is_empty() {
                found.judged = Some(format!("{path} says all of it already"));
                return Ok(());
            }
            let content: String = new.iter().map(|fact| format!("* {}\n", fact.text)).collect();
            Candidate {
                operation: Operation::Update,
                path,
                title: page.title,
                kind: page.kind.unwrap_or(lesson.kind),
                confidence: lesson.confidence,
                rationale: lesson.rationale,
                evidence: quoted(&new),
                body_markdown: None,
                // At the end of the page: every line that stands there stays.
                edits: vec![Edit { op: EditOp::Append, anchor: String::new(), section_sha256: None, content }],
            }
        }
    };
    found.candidates.push(Ok(candidate));
    Ok(())
}

fn page(bench: &Bench<'_>, path: &str) -> Result<Option<Page>, Error> {
    Ok(bench.wiki.bytes(path)?.map(|bytes| bench.wiki.read(path.into(), &bytes)))
}

/// The lesson that is there already: the one that the model named, the one with its very name, or one that says nearly
/// the same.
fn target(bench: &Bench<'_>, subject: &Subject, lesson: &Lesson, place: &str) -> Result<Option<String>, Error> {
    if lesson.updates.is_some() {
        return Ok(lesson.updates.clone());
    }
    let text = format!("{} {}", lesson.title, lesson.body);
    for hit in subject.like(bench, &text, &KINDS, 2 * SHOWN)? {
        let Some(page) = page(bench, &hit.path)? else { continue };
        if hit.path == place || is_near(lesson, &page) {
            return Ok(Some(hit.path));
        }
    }
    Ok(None)
}

fn is_near(lesson: &Lesson, page: &Page) -> bool {
    let statements = |body: &str| {
        let lines = body.lines().filter(|line| !line.trim_start().starts_with('#'));
        lines.collect::<Vec<_>>().join("\n")
    };
    let (new, old) = (statements(&lesson.body), statements(&page.body));
    let runs = shingle_overlap(&new, &old).max(shingle_overlap(&old, &new));
    let words = common(&grounded::telling(&new), &grounded::telling(&old));
    normal(&lesson.title) == normal(&page.title) || runs >= SAME_RUNS || words >= SAME_WORDS
}

/// The share of words that two sets have in common, of all that they have.
#[expect(clippy::cast_precision_loss, reason = "a page has few words")]
fn common(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let all = a.union(b).count();
    if all == 0 { 0.0 } else { a.intersection(b).count() as f64 / all as f64 }
}

/// Whether a page says this already.
fn holds(body: &str, fact: &str) -> bool {
    normal(body).contains(&normal(fact)) || shingle_overlap(fact, body) >= HELD
}
