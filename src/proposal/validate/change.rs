//! The change itself: what a candidate makes of its page, within limits.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Candidate, Context, Fault, Improve, KnownPage, Operation, ReasonCode, id_of, reached, wording};
use crate::git;
use crate::wiki::compose;
use crate::wiki::edit::{self, EditFault};
use crate::wiki::section::sections;
use crate::wiki::text::{fold_space, normal};
use crate::wiki::{Edit, EditOp, Kind, Page, priority};

/// A page's bytes on both sides of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What stands there; `None`: nothing.
    pub before: Option<Vec<u8>>,
    /// What will stand there; `None`: nothing.
    pub after: Option<Vec<u8>>,
}

/// Longest title, in characters.
const MAX_TITLE_CHARS: usize = 200;

/// Puts a candidate into the form that can be written: a body with its H1, an update where the page exists. Returns
/// what was mended.
pub(super) fn mend(candidate: &mut Candidate, context: &Context<'_>) -> Result<Vec<String>, Fault> {
    let mut notes = Vec::new();
    for edit in candidate.edits.iter_mut().filter(|edit| edit.op == EditOp::SetField && edit.anchor.trim() == "tags") {
        let tags = tags(&edit.content);
        if tags != edit.content {
            edit.content = tags;
            notes.push("tags are lower-case words with dashes, each once".to_owned());
        }
    }
    let sets = |key: &str| candidate.edits.iter().any(|edit| edit.op == EditOp::SetField && edit.anchor.trim() == key);
    if sets("priority") && !sets("priority_by") {
        // Only people may set it: from now on nobody takes it for a guess.
        let (op, anchor, content) = (EditOp::SetField, "priority_by".into(), "person".into());
        candidate.edits.push(Edit { op, anchor, section_sha256: None, content });
    }
    if candidate.title.is_empty() {
        return Err((ReasonCode::EmptyBody, "the title is empty; name what the page is about".into()));
    }
    if candidate.title.chars().count() > MAX_TITLE_CHARS {
        return Err((
            ReasonCode::BodyTooLarge,
            format!("the title is longer than {MAX_TITLE_CHARS} characters; shorten it"),
        ));
    }
    if let Some(body) = &candidate.body_markdown {
        let text = without_frontmatter(candidate, body, context, &mut notes);
        let (with_h1, added) = with_h1(&text, &candidate.title);
        if added && !text.trim().is_empty() {
            notes.push("H1 added from the title".to_owned());
        }
        candidate.body_markdown = Some(if text.trim().is_empty() { String::new() } else { with_h1 });
    }
    if candidate.operation == Operation::Create
        && let Some(page) = context.known.page(&candidate.path)
    {
        let edits = derive(candidate.body_markdown.as_deref().unwrap_or_default(), page).ok_or_else(|| {
            let what = format!("{} exists and says it in other words; send edits of its sections", candidate.path);
            (ReasonCode::DuplicateExistingPath, what)
        })?;
        if edits.is_empty() {
            let what = format!("already known: {} holds all of it", candidate.path);
            return Err((ReasonCode::DuplicateExistingPath, what));
        }
        if !reached::is_whole(&candidate.path, context) {
            let what = format!("{} exists and was not shown to the reviewer; send another lesson", candidate.path);
            return Err((ReasonCode::PatchTargetNotInContext, what));
        }
        if !context.operations.contains(&Operation::Update) {
            return Err((ReasonCode::DuplicateExistingPath, format!("{} exists already", candidate.path)));
        }
        candidate.operation = Operation::Update;
        candidate.body_markdown = None;
        candidate.edits = edits;
        notes.push("the page exists: the create became an update that adds what it lacks".to_owned());
    }
    Ok(notes)
}

/// Tags as they are written: lower-case words with dashes, each once.
fn tags(content: &str) -> String {
    let mut seen: Vec<String> = Vec::new();
    for tag in content.trim().trim_matches(['[', ']']).split([',', '\n']) {
        let words = tag.trim().trim_start_matches("- ").trim_matches(['"', '\'', '#', ' ']).to_lowercase();
        let tag = words.split_whitespace().collect::<Vec<_>>().join("-");
        if !tag.is_empty() && !seen.contains(&tag) {
            seen.push(tag);
        }
    }
    seen.join(", ")
}

/// A body that came with a frontmatter of its own: a second block on top of ours would hide it.
fn without_frontmatter(candidate: &Candidate, body: &str, context: &Context<'_>, notes: &mut Vec<String>) -> String {
    let body = body.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    if !body.starts_with("---") {
        return body;
    }
    let page = Page::read(candidate.path.as_str().into(), body.as_bytes(), context.layout, &context.scope.path);
    if !page.has_frontmatter {
        return body;
    }
    notes.push("the body's own frontmatter was left out".to_owned());
    page.body
}

/// The body with an H1 at its head, and whether one had to be added.
fn with_h1(body: &str, title: &str) -> (String, bool) {
    let body = body.trim();
    if h1_count(body) > 0 { (format!("{body}\n"), false) } else { (format!("# {title}\n\n{body}\n"), true) }
}

/// Headings of level 1 outside code.
fn h1_count(body: &str) -> usize {
    use pulldown_cmark::{Event, HeadingLevel, Parser, Tag};
    let heads = Parser::new(body).filter(|event| {
        matches!(event, Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }))
            || matches!(event, Event::Html(html) | Event::InlineHtml(html) if html.to_ascii_lowercase().contains("<h1"))
    });
    heads.count()
}

/// The edits that add to a page what a body has more: new sections only. `None` when the body says of a section, or
/// above the first one, something that the page does not hold.
fn derive(body: &str, page: &KnownPage) -> Option<Vec<Edit>> {
    let bytes = body.as_bytes();
    let all = sections(bytes);
    let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&bytes[range]).into_owned();
    let held = |said: &str| normal(&page.body).contains(&normal(said));
    let parts: Vec<_> = all.iter().filter(|section| section.level == 2).collect();
    // The text between the H1 and the first section.
    let begin = all.iter().find(|section| section.level == 1).map_or(0, |h1| h1.heading.end);
    let end = parts.first().map_or(bytes.len(), |section| section.range.start);
    if begin > end || !held(&text(begin..end)) {
        return None;
    }
    let old = sections(&page.bytes);
    let mut edits = Vec::new();
    for part in parts {
        let content = text(part.heading.end..part.range.end);
        if old.iter().any(|section| normal(&section.title) == normal(&part.title)) {
            if !held(&content) {
                return None;
            }
        } else if !held(&content) {
            edits.push(Edit {
                op: EditOp::Append,
                anchor: String::new(),
                section_sha256: None,
                content: text(part.range.clone()).trim_end().to_owned() + "\n",
            });
        }
    }
    Some(edits)
}

/// The limits that need no page.
pub(super) fn limits(candidate: &Candidate, limits: &Improve) -> Result<(), Fault> {
    let count = candidate.edits.len();
    if count > limits.max_edits_per_proposal {
        let most = limits.max_edits_per_proposal;
        return Err((ReasonCode::TooManyEdits, format!("{count} edits; {most} are allowed, split the proposal")));
    }
    for (number, edit) in (1..).zip(&candidate.edits) {
        let (chars, most) = (edit.content.chars().count(), limits.max_edit_content_chars);
        if chars > most {
            let what = format!("edit {number} (`{}`) has {chars} characters; {most} are allowed", edit.anchor);
            return Err((ReasonCode::EditTooLarge, what));
        }
        if edit.op == EditOp::ReplaceSection && edit.section_sha256.is_none() {
            let what =
                format!("edit {number} replaces `{}` without `section_sha256`, the hash of what it read", edit.anchor);
            return Err((ReasonCode::SectionHashMismatch, what));
        }
    }
    Ok(())
}

/// The bytes of every page after the change.
pub(super) fn apply(
    candidate: &Candidate,
    context: &Context<'_>,
    limits: &Improve,
) -> Result<BTreeMap<String, Written>, Fault> {
    let before = context.known.page(&candidate.path).map(|page| page.bytes.clone());
    if candidate.operation == Operation::Retire {
        return retire(candidate, before);
    }
    let after = match (&candidate.body_markdown, &before) {
        (Some(body), _) if body.trim().is_empty() => return Err(empty()),
        (Some(body), None) => new_page(candidate, body, context)?,
        (Some(body), Some(old)) => edit::replace_body(old, body),
        (None, Some(_)) if candidate.edits.is_empty() => return Err(empty()),
        (None, Some(old)) => edit::apply(old, &candidate.edits).map_err(fault_of)?,
        (None, None) => return Err(empty()),
    };
    let read = |bytes: &[u8]| Page::read(candidate.path.as_str().into(), bytes, context.layout, &context.scope.path);
    let (old, new) = (before.as_deref().map(read), read(&after));
    check_text(candidate, old.as_ref(), &new, limits)?;
    if before.as_deref() == Some(after.as_slice()) {
        return Err((ReasonCode::NoChange, format!("{} reads like that already", candidate.path)));
    }
    if let Some((fault, line, _)) = &new.front.fault
        && old.as_ref().is_none_or(|old| old.front.fault.is_none())
    {
        let what = format!("the frontmatter would not parse any more (line {line}: {fault}); leave its keys alone");
        return Err((ReasonCode::AnchorNotFound, what));
    }
    Ok(BTreeMap::from([(candidate.path.clone(), Written { before, after: Some(after) })]))
}

fn empty() -> Fault {
    (ReasonCode::EmptyBody, "there is no text; send a body for a new page, edits for an existing one".into())
}

/// What the page would say, against the limits and the signs of careless text.
fn check_text(candidate: &Candidate, old: Option<&Page>, new: &Page, limits: &Improve) -> Result<(), Fault> {
    let path = &candidate.path;
    if !has_text(&new.body) {
        return Err((ReasonCode::EmptyBody, format!("{path} would hold nothing but headings; say what was learned")));
    }
    let added = added(old.map_or("", |old| old.body.as_str()), &new.body);
    // First, as the `=======` of a conflict makes the line above it a heading.
    wording::conflicts(path, &added)?;
    if h1_count(&new.body) > old.map_or(1, |old| h1_count(&old.body).max(1)) {
        let what = format!("{path} would have more than one H1; use `##` for its sections");
        return Err((ReasonCode::ExtraH1, what));
    }
    let chars = new.body.chars().count();
    if chars > limits.max_final_body_chars {
        let most = limits.max_final_body_chars;
        return Err((ReasonCode::BodyTooLarge, format!("{path} would have {chars} characters; {most} are allowed")));
    }
    let budget = match new.kind.unwrap_or(candidate.kind) {
        Kind::Rule => Some(limits.max_rule_page_tokens),
        Kind::Procedure => Some(limits.max_procedure_page_tokens),
        _ => None,
    };
    let tokens = chars.div_ceil(4);
    if let Some(most) = budget.filter(|most| tokens > *most) {
        let what =
            format!("{path} would have {tokens} tokens; {most} are allowed for a {}, shorten it", candidate.kind);
        return Err((ReasonCode::PageBudgetExceeded, what));
    }
    if let Some(old) = old {
        let changed = added.chars().count() + self::added(&new.body, &old.body).chars().count();
        let most = limits.max_changed_chars_per_proposal;
        if changed > most {
            let what = format!("{changed} characters of {path} would change; {most} are allowed, split the proposal");
            return Err((ReasonCode::ChangedCharsTooLarge, what));
        }
    }
    // A field of the frontmatter is text that people read, too.
    for edit in candidate.edits.iter().filter(|edit| edit.op == EditOp::SetField) {
        wording::careless(path, &edit.content)?;
    }
    wording::careless(path, &added)
}

/// The lines that `new` has more than `old`.
fn added(old: &str, new: &str) -> String {
    let lines: Vec<&str> = new.split_inclusive('\n').collect();
    git::changes(old.as_bytes(), new.as_bytes()).into_iter().flat_map(|hunk| lines[hunk.after].to_vec()).collect()
}

fn has_text(body: &str) -> bool {
    body.lines().any(|line| !line.trim_start().starts_with('#') && line.chars().any(char::is_alphanumeric))
}

/// A new page's bytes. Nothing in it depends on the clock, so that the same lesson gives the same page.
fn new_page(candidate: &Candidate, body: &str, context: &Context<'_>) -> Result<Vec<u8>, Fault> {
    if candidate.operation != Operation::Create {
        return Err((ReasonCode::PatchTargetNotInContext, format!("there is no {}; create it", candidate.path)));
    }
    let mut sources: Vec<String> = Vec::new();
    for evidence in &candidate.evidence {
        // An observation stands in its session, whose page is what people can open.
        let page = match evidence.source.split_once('#') {
            Some((session, _)) => format!("{session}.md"),
            None => evidence.source.clone(),
        };
        if !sources.contains(&page) {
            sources.push(page);
        }
    }
    let mut generated = serde_json::Map::new();
    generated.insert("by".into(), json!(context.generated.by));
    if let Some(run) = context.generated.run {
        generated.insert("run".into(), json!(run));
    }
    generated.insert("proposal".into(), json!(id_of(context.scope, candidate).as_str()));
    let mut front: Vec<(&str, Value)> = vec![
        ("title", json!(candidate.title)),
        ("kind", json!(candidate.kind.as_str())),
        ("tier", json!(candidate.kind.tier())),
        ("priority", json!(priority::infer(candidate.kind, body))),
        ("priority_by", json!("inferred")),
    ];
    if !sources.is_empty() {
        front.push(("sources", json!(sources)));
    }
    if !context.by_person {
        front.push(("generated", Value::Object(generated)));
    }
    Ok(compose(&front, body).into_bytes())
}

/// The page moves to the archive; a page whose frontmatter cannot be edited moves as it is.
fn retire(candidate: &Candidate, before: Option<Vec<u8>>) -> Result<BTreeMap<String, Written>, Fault> {
    let Some(bytes) = before else { return Err((ReasonCode::PatchTargetNotInContext, "there is no such page".into())) };
    let retired =
        [Edit { op: EditOp::SetField, anchor: "status".into(), section_sha256: None, content: "retired".into() }];
    let moved = match edit::apply(&bytes, &retired) {
        Ok(after) => after,
        Err(EditFault::NoChange | EditFault::Frontmatter(_)) => bytes.clone(),
        Err(fault) => return Err(fault_of(fault)),
    };
    Ok(BTreeMap::from([
        (candidate.path.clone(), Written { before: Some(bytes), after: None }),
        (format!("_archive/{}", candidate.path), Written { before: None, after: Some(moved) }),
    ]))
}

fn fault_of(fault: EditFault) -> Fault {
    let (code, next) = match &fault {
        EditFault::AnchorNotFound(_) => (ReasonCode::AnchorNotFound, "name a heading as it stands in the page"),
        EditFault::DuplicateAnchor(_) => (ReasonCode::DuplicateAnchor, "name a heading that stands there once"),
        EditFault::TextNotFound(_) => (ReasonCode::AnchorNotFound, "give it as it stands in the page's body"),
        EditFault::TextRepeated(_) => (ReasonCode::DuplicateAnchor, "give more of what stands around it"),
        EditFault::SectionHashMismatch(_) => (ReasonCode::SectionHashMismatch, "read the page again"),
        EditFault::HeadingLevelMismatch(_) => (ReasonCode::HeadingLevelMismatch, "give it the level of its anchor"),
        EditFault::LeavesOpen => (ReasonCode::TruncationMarker, "close it, or send the rest"),
        EditFault::InsideOpen => (ReasonCode::AnchorNotFound, "send an edit for a section above it"),
        EditFault::SwallowsHeading(_) => (ReasonCode::HeadingLevelMismatch, "nothing below an edit may change"),
        EditFault::ExtraH1 => (ReasonCode::ExtraH1, "use `##` for sections, and `set_field` for the title"),
        EditFault::Frontmatter(_) => (ReasonCode::AnchorNotFound, "edit the body, or mend the frontmatter by hand"),
        EditFault::NoChange => (ReasonCode::NoChange, "there is nothing to do"),
    };
    (code, format!("{fault}; {}", fold_space(next)))
}
