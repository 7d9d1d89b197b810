//! From a reply's JSON to a candidate: models spell the words of an enum in many ways, and none of them should cost a
//! good lesson.

use serde_json::{Map, Value};

use super::{Candidate, Context, ReasonCode};
use crate::proposal::{Evidence, Operation, Refusal};
use crate::wiki::text::fold_space;
use crate::wiki::{Edit, EditOp, Kind};

/// Reads one candidate of a reply. Fields that are missing are left empty where validation has a reason for that.
///
/// # Errors
/// What is no candidate at all: an unknown operation or edit, no path, no kind, a confidence that is no number.
pub fn normalise(raw: &Value, context: &Context<'_>) -> Result<Candidate, Refusal> {
    let Some(fields) = raw.as_object() else {
        return Err(Draft::default()
            .refuse(ReasonCode::UnsupportedOperation, "the candidate is no JSON object; send one for each proposal"));
    };
    let body_markdown = text(fields, &["body_markdown", "body", "content", "markdown"]).map(str::to_owned);
    let mut draft = Draft {
        operation: text(fields, &["operation", "op", "action"]).unwrap_or_default().to_owned(),
        path: path_of(text(fields, &["path", "target", "page", "file"]).unwrap_or_default(), context),
        title: fold_space(text(fields, &["title"]).unwrap_or_default()),
    };
    let kind = kind_of(fields, &draft, context)?;
    let edits = edits_of(fields, &draft)?;
    let operation = operation_of(&draft, context, !edits.is_empty())?;
    if draft.title.is_empty() {
        draft.title = title_of(&draft, body_markdown.as_deref(), context);
    }
    Ok(Candidate {
        operation,
        kind,
        confidence: confidence_of(fields, &draft)?,
        rationale: text(fields, &["rationale", "reason", "why"]).unwrap_or_default().trim().to_owned(),
        evidence: evidence_of(fields),
        path: draft.path,
        title: draft.title,
        body_markdown,
        edits,
    })
}

/// What is known of a candidate that may turn out to be none.
#[derive(Default)]
struct Draft {
    operation: String,
    path: String,
    title: String,
}

impl Draft {
    fn refuse(&self, code: ReasonCode, reason: impl Into<String>) -> Refusal {
        let summary = format!("{} \"{}\"", shown(&self.operation), self.title);
        Refusal { code, path: self.path.clone(), reason: reason.into(), summary, proposal: None }
    }
}

/// A word of a reply for a message; anything longer than a word is not repeated.
fn shown(word: &str) -> &str {
    if word.is_empty() {
        "(nothing)"
    } else if word.len() <= 30 && word.chars().all(|c| c.is_alphanumeric() || " -_./".contains(c)) {
        word
    } else {
        "(something else)"
    }
}

/// The first of these fields that holds a text that says something.
fn text<'v>(fields: &'v Map<String, Value>, names: &[&str]) -> Option<&'v str> {
    names.iter().find_map(|name| fields.get(*name)?.as_str().filter(|text| !text.trim().is_empty()))
}

/// A name without what models put around names.
fn bare(name: &str) -> &str {
    name.trim().trim_matches(['`', '"', '\'']).trim()
}

/// Lower case, with `_` between words.
fn word(text: &str) -> String {
    text.trim().to_ascii_lowercase().replace(['-', ' '], "_")
}

fn path_of(text: &str, context: &Context<'_>) -> String {
    let path = bare(text).trim_start_matches("./");
    // As the prompt's own examples of evidence have it.
    let inside = path
        .strip_prefix("pages/")
        .filter(|inside| context.layout.kind_of(path).is_none() && context.layout.kind_of(inside).is_some());
    let path = inside.unwrap_or(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    if path.is_empty() || name.is_empty() || name.contains('.') { path.to_owned() } else { format!("{path}.md") }
}

fn operation_of(draft: &Draft, context: &Context<'_>, has_edits: bool) -> Result<Operation, Refusal> {
    let exists = context.known.page(&draft.path).is_some();
    Ok(match word(&draft.operation).as_str() {
        "create" | "new" | "add" | "create_page" | "new_page" | "insert" | "write" => Operation::Create,
        "update" | "edit" | "patch" | "modify" | "change" | "amend" | "update_page" | "append" => Operation::Update,
        "upsert" | "create_or_update" | "update_or_create" | "put" | "full" | "full_page" | "replace" | "" => {
            if exists || has_edits { Operation::Update } else { Operation::Create }
        }
        "retire" | "archive" => Operation::Retire,
        "supersede" => Operation::Supersede,
        other => {
            let what = format!("`{}` is no operation; use `create` or `update`", shown(other));
            return Err(draft.refuse(ReasonCode::UnsupportedOperation, what));
        }
    })
}

fn kind_of(fields: &Map<String, Value>, draft: &Draft, context: &Context<'_>) -> Result<Kind, Refusal> {
    let inside = draft.path.strip_prefix(&context.scope.path).unwrap_or(&draft.path).trim_start_matches('/');
    let by_place =
        || context.layout.kind_of(inside).or_else(|| context.known.page(&draft.path).and_then(|page| page.kind));
    let said = text(fields, &["kind", "type", "category"]);
    // What any page is says nothing of its kind.
    let said = said.filter(|said| !matches!(word(said).as_str(), "" | "page" | "lesson" | "learning" | "markdown"));
    match said.map(|said| said.trim().trim_end_matches('/')) {
        Some(said) => {
            Kind::parse(&said.replace([' ', '_'], "-")).or_else(|| Kind::parse(&word(said))).ok_or_else(|| {
                let what = format!("`{}` is no kind of page; use one of {}", shown(said), kinds());
                draft.refuse(ReasonCode::KindPathMismatch, what)
            })
        }
        None => by_place().ok_or_else(|| {
            if draft.path.is_empty() {
                draft.refuse(ReasonCode::InvalidPath, "there is no path; give one such as `gotchas/name.md`")
            } else {
                draft.refuse(
                    ReasonCode::UnsupportedPathPrefix,
                    "the path is in no folder of pages, and no kind is given",
                )
            }
        }),
    }
}

fn kinds() -> String {
    let words = Kind::ALL.iter().filter(|kind| **kind != Kind::Session).map(|kind| format!("`{kind}`"));
    words.collect::<Vec<_>>().join(", ")
}

fn confidence_of(fields: &Map<String, Value>, draft: &Draft) -> Result<f64, Refusal> {
    let said = fields.get("confidence");
    // A word such as "high" is refused: any number for it would be one of ours.
    let number = match said {
        Some(Value::Number(n)) => n.as_f64().map(of_hundred),
        Some(Value::String(text)) => {
            let text = text.trim();
            match (text.strip_suffix('%'), text.split_once('/')) {
                (Some(percent), _) => percent.trim().parse::<f64>().ok().map(|n| n / 100.0),
                (_, Some((part, whole))) => {
                    let parts = part.trim().parse::<f64>().ok().zip(whole.trim().parse::<f64>().ok());
                    parts.filter(|(n, of)| (0.0..=*of).contains(n) && *of > 0.0).map(|(n, of)| n / of)
                }
                _ => text.parse().ok().map(of_hundred),
            }
        }
        _ => None,
    };
    number.filter(|n| n.is_finite()).ok_or_else(|| {
        draft.refuse(ReasonCode::ConfidenceOutOfRange, "confidence is missing or no number; give one from 0 to 1")
    })
}

/// A whole number from 2 to 100 is meant in hundredths: nobody means 85 by 85 of 1.
fn of_hundred(number: f64) -> f64 {
    if (2.0..=100.0).contains(&number) && number.fract() == 0.0 { number / 100.0 } else { number }
}

/// The first of these fields that holds a list with something in it, or the one object that should have been a list of
/// one.
fn list<'v>(fields: &'v Map<String, Value>, names: &[&str]) -> &'v [Value] {
    let held = names.iter().filter_map(|name| match fields.get(*name)? {
        Value::Array(items) => Some(items.as_slice()),
        one @ Value::Object(_) => Some(std::slice::from_ref(one)),
        _ => None,
    });
    held.into_iter().find(|items| !items.is_empty()).unwrap_or_default()
}

fn evidence_of(fields: &Map<String, Value>) -> Vec<Evidence> {
    let read = |item: &Value| {
        let empty = Map::new();
        let fields = item.as_object().unwrap_or(&empty);
        let source = bare(text(fields, &["source", "path", "ref", "from"]).unwrap_or_default());
        // A quote alone is one from the session at hand: it is looked for there.
        let (source, quote) = match item.as_str() {
            Some(quote) => ("session", quote),
            None => (source, text(fields, &["quote", "text", "excerpt"]).unwrap_or_default()),
        };
        let source = source.trim_end_matches(['.', ',', ';', ':']).to_owned();
        Evidence { source, blob: None, speaker: None, quote: quote.to_owned() }
    };
    list(fields, &["evidence", "quotes"]).iter().map(read).collect()
}

fn edits_of(fields: &Map<String, Value>, draft: &Draft) -> Result<Vec<Edit>, Refusal> {
    let items = list(fields, &["edits", "patches"]);
    let read = |(number, item): (usize, &Value)| {
        let refuse = |what: String| draft.refuse(ReasonCode::UnsupportedOperation, what);
        let Some(fields) = item.as_object() else { return Err(refuse(format!("edit {number} is no JSON object"))) };
        let said = text(fields, &["op", "operation", "action", "type"]).unwrap_or_default();
        let op = match word(said).as_str() {
            "append" | "append_to_section" | "append_section" => EditOp::Append,
            "add_section" | "new_section" | "insert_section" | "add" => EditOp::AddSection,
            "replace_section" | "replace" | "update_section" | "rewrite_section" => EditOp::ReplaceSection,
            "set_field" | "set" | "set_frontmatter" | "update_field" | "set_metadata" => EditOp::SetField,
            "delete" | "remove" | "delete_section" | "remove_section" => {
                return Err(refuse(format!("edit {number} deletes; nothing is deleted, correct the text instead")));
            }
            other => {
                let all = "`append`, `add_section`, `replace_section` or `set_field`";
                return Err(refuse(format!("edit {number}: `{}` is no edit; use {all}", shown(other))));
            }
        };
        let value = fields.get("content").or_else(|| fields.get("value"));
        let content = match value.filter(|value| op == EditOp::SetField && !value.is_string() && !value.is_null()) {
            Some(other) => other.to_string(),
            None => text(fields, &["content", "value", "text", "body", "markdown"]).unwrap_or_default().to_owned(),
        };
        Ok(Edit {
            op,
            anchor: text(fields, &["anchor", "heading", "section", "field", "key"])
                .unwrap_or_default()
                .trim()
                .to_owned(),
            section_sha256: text(fields, &["section_sha256", "sha256", "hash"]).map(|hash| {
                let hash = bare(hash);
                hash.strip_prefix("sha256:").unwrap_or(hash).to_owned()
            }),
            content,
        })
    };
    (1..).zip(items).map(read).collect()
}

/// The title of the page that is there, else the body's H1, else the file's name.
fn title_of(draft: &Draft, body: Option<&str>, context: &Context<'_>) -> String {
    if let Some(page) = context.known.page(&draft.path) {
        return page.title.clone();
    }
    let h1 = body.and_then(|body| body.lines().find_map(|line| line.strip_prefix("# ")));
    let name = || {
        let stem = draft.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md").replace(['-', '_'], " ");
        let mut letters = stem.chars();
        letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
    };
    h1.map_or_else(name, |h1| fold_space(h1.trim_end_matches('#')))
}
