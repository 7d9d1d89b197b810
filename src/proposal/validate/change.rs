//! The change itself: what a candidate makes of its page, within limits.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::mend::h1_count;
use super::{Candidate, Context, Fault, Improve, Operation, ReasonCode, id_of, wording};
use crate::git;
use crate::wiki::compose;
use crate::wiki::edit::{self, EditFault};
use crate::wiki::section::{Section, sections};
use crate::wiki::text::{fold_space, normal};
use crate::wiki::{Edit, EditOp, Kind, Page, keys_that_differ, priority};

/// A page's bytes on both sides of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What stands there; `None`: nothing.
    pub before: Option<Vec<u8>>,
    /// What will stand there; `None`: nothing.
    pub after: Option<Vec<u8>>,
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
        (Some(body), Some(old)) => edit::replace_body(old, body).map_err(fault_of)?,
        (None, Some(_)) if candidate.edits.is_empty() => return Err(empty()),
        (None, Some(old)) => edit::apply(old, &candidate.edits).map_err(fault_of)?,
        (None, None) => return Err(empty()),
    };
    if let (false, Some(old)) = (context.by_person, &before) {
        same_page(candidate, old, &after)?;
    }
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

/// What a page is stands in its frontmatter: a machine changes none of it but by naming the key, whatever its text does.
fn same_page(candidate: &Candidate, old: &[u8], new: &[u8]) -> Result<(), Fault> {
    let named =
        |key: &String| candidate.edits.iter().any(|edit| edit.op == EditOp::SetField && edit.anchor.trim() == key);
    let what = match keys_that_differ(old, new) {
        Some(keys) => match keys.iter().find(|key| !named(key)) {
            None => return Ok(()),
            Some(key) => format!("the text would set `{key}` in the frontmatter of {}", candidate.path),
        },
        None => format!("the text would become part of the frontmatter of {}", candidate.path),
    };
    Err((ReasonCode::UnsupportedOperation, format!("{what}; send text that does not begin like one")))
}

/// What a whole new text costs the page: a section, or more than a fifth of its lines. That may be right, but nobody said
/// that it read them, as an edit by section does.
pub(super) fn losses(candidate: &Candidate, changes: &BTreeMap<String, Written>) -> Option<String> {
    let Written { before: Some(old), after: Some(new) } = changes.get(&candidate.path)? else { return None };
    candidate.body_markdown.as_ref()?;
    let kept = sections(new);
    let gone =
        |section: &&Section| section.level > 1 && !kept.iter().any(|new| normal(&new.title) == normal(&section.title));
    if let Some(section) = sections(old).iter().find(gone) {
        return Some(format!("it writes the page anew, without its section \u{201c}{}\u{201d}", section.title));
    }
    let lines: Vec<&[u8]> = old.split_inclusive(|&byte| byte == b'\n').collect();
    let says = |line: &&&[u8]| !line.trim_ascii().is_empty();
    let all = lines.iter().filter(says).count();
    let cut: usize =
        git::changes(old, new).into_iter().map(|hunk| lines[hunk.before].iter().filter(says).count()).sum();
    (cut * 5 > all).then(|| format!("it writes the page anew, and {cut} of its {all} lines are gone"))
}

/// How many edits a change counts for: a whole new text for the places that it changes, a slot's for one.
pub(super) fn weight(candidate: &Candidate, changes: &BTreeMap<String, Written>, limits: &Improve) -> usize {
    match changes.get(&candidate.path) {
        Some(Written { before: Some(old), after: Some(new) }) if candidate.edits.is_empty() => match candidate.kind {
            Kind::Slot => 1,
            _ => git::changes(old, new).len().clamp(1, limits.max_edits_per_proposal),
        },
        _ => candidate.edits.len(),
    }
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
    if edit::leaves_open(&new.body) && !old.is_some_and(|old| edit::leaves_open(&old.body)) {
        let what = format!("{path} would end inside a code fence, a comment or HTML; close it, or send the rest");
        return Err((ReasonCode::TruncationMarker, what));
    }
    // First, as the `=======` of a conflict makes the line above it a heading.
    wording::conflicts(path, &added)?;
    if h1_count(&new.body) > old.map_or(1, |old| h1_count(&old.body).max(1)) {
        let what = format!("{path} would have more than one H1; use `##` for its sections");
        return Err((ReasonCode::ExtraH1, what));
    }
    let chars = new.body.trim().chars().count();
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
        let changed = said(&added) + said(&self::added(&new.body, &old.body));
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

/// The lines that `new` has more than `old`. A last line is the same with and without its end.
fn added(old: &str, new: &str) -> String {
    let [old, new] = [old, new].map(|text| format!("{}\n", text.trim_end()));
    let lines: Vec<&str> = new.split_inclusive('\n').collect();
    git::changes(old.as_bytes(), new.as_bytes()).into_iter().flat_map(|hunk| lines[hunk.after].to_vec()).collect()
}

/// How many characters lines have, without their ends: what stands between edits is not theirs.
fn said(lines: &str) -> usize {
    lines.lines().map(|line| line.trim_end().chars().count()).sum()
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
