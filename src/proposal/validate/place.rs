//! What may be done, and where: operation, path, folder, kind.

use super::field::FIELDS;
use super::{Candidate, Context, Fault, Operation, ReasonCode, reached};
use crate::wiki::{EditOp, Kind, path as names};

/// The one slot that is proposed for; it is overwritten, never appended to.
const SLOT: &str = "current-focus.md";

/// Files that agents read as their instructions wherever they stand, in small letters.
const INSTRUCTIONS: &[&str] = &["claude.md", "claude.local.md", "agents.md", "gemini.md"];

pub(super) fn operation(candidate: &Candidate, context: &Context<'_>) -> Result<(), Fault> {
    let unsupported = |what: String| Err((ReasonCode::UnsupportedOperation, what));
    if !context.operations.contains(&candidate.operation) {
        let words: Vec<_> = context.operations.iter().map(|op| format!("`{op}`")).collect();
        return unsupported(format!("`{}` is not offered here; use {}", candidate.operation, words.join(" or ")));
    }
    if candidate.operation == Operation::Supersede {
        return unsupported(
            "`supersede` needs the pages that it replaces, which a single candidate cannot name".into(),
        );
    }
    if candidate.body_markdown.is_some() && !candidate.edits.is_empty() {
        return unsupported("both a body and edits are given; send one of them".into());
    }
    for (number, edit) in (1..).zip(&candidate.edits) {
        let key = edit.anchor.trim();
        if edit.op == EditOp::SetField && !context.by_person && !FIELDS.iter().any(|(field, _)| *field == key) {
            let known: Vec<_> = FIELDS.iter().map(|(field, _)| format!("`{field}`")).collect();
            return unsupported(format!("edit {number} sets `{key}`; only {} may be set", known.join(", ")));
        }
    }
    Ok(())
}

pub(super) fn path(candidate: &Candidate, context: &Context<'_>) -> Result<(), Fault> {
    let path = candidate.path.as_str();
    names::check(path).map_err(|fault| {
        (
            ReasonCode::InvalidPath,
            format!("{fault}; give a `.md` file below the wiki's root, such as `gotchas/name.md`"),
        )
    })?;
    let inside = below(path, &context.scope.path).ok_or_else(|| {
        let what = format!("{path} is outside `{}/`, the folder of scope `{}`", context.scope.path, context.scope.name);
        (ReasonCode::UnsupportedPathPrefix, what)
    })?;
    let page = context.known.page(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    // In small letters it is such a file only where the file system does not tell them apart, and may be a page.
    let exact = name != name.to_ascii_lowercase() || page.is_none();
    if !context.by_person && exact && INSTRUCTIONS.contains(&name.to_ascii_lowercase().as_str()) {
        let what = format!("{path}: agents take a file of this name for instructions; choose another name");
        return Err((ReasonCode::UnsupportedPathPrefix, what));
    }
    let Some(kind) = context.layout.kind_of(inside).or_else(|| page.and_then(|page| page.kind)) else {
        return Err((
            ReasonCode::UnsupportedPathPrefix,
            format!("{path} is in no folder of pages; {}", folders(context)),
        ));
    };
    if kind == Kind::Slot && below(inside, context.layout.folder(kind)) != Some(SLOT) {
        return Err((
            ReasonCode::UnsupportedPathPrefix,
            format!("{path}: of the slots only `{SLOT}` may be proposed for"),
        ));
    }
    if kind == Kind::Session || !context.kinds.contains(&kind) {
        let what = format!("{path} holds a {kind}, which is not proposed here; {}", folders(context));
        return Err((ReasonCode::UnsupportedPathPrefix, what));
    }
    if candidate.kind != kind {
        let what = format!(
            "{path} is a {kind}'s place, but the kind is {}; use `{}/` or the kind `{kind}`",
            candidate.kind,
            context.layout.folder(candidate.kind)
        );
        return Err((ReasonCode::KindPathMismatch, what));
    }
    if kind == Kind::Slot && !candidate.edits.is_empty() {
        let what = "a slot is overwritten as a whole: send its new text as the body".into();
        return Err((ReasonCode::UnsupportedOperation, what));
    }
    match candidate.operation {
        Operation::Create => free(path, context),
        Operation::Update | Operation::Retire | Operation::Supersede => reachable(candidate, context),
    }
}

fn folders(context: &Context<'_>) -> String {
    let words: Vec<_> = context.kinds.iter().map(|kind| format!("`{}/`", context.layout.folder(*kind))).collect();
    format!("use {}", words.join(", "))
}

fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

/// A new page's name must be new on every file system, and one that people can type.
fn free(path: &str, context: &Context<'_>) -> Result<(), Fault> {
    let known = context.known;
    if known.page(path).is_some() {
        // It may become an update.
        return Ok(());
    }
    if let Some(other) = known.file_like(path) {
        let what = format!("{other} exists, and some file systems hold {path} to be the same name; choose another");
        return Err((ReasonCode::DuplicateExistingPath, what));
    }
    if let Some(folder) = known.folder_like(path) {
        return Err((ReasonCode::InvalidPath, format!("{folder} is a folder; choose another name")));
    }
    for (at, _) in path.match_indices('/') {
        let parent = &path[..at];
        if let Some(file) = known.file_like(parent) {
            return Err((ReasonCode::InvalidPath, format!("{file} is a file (or a link) and can hold no pages")));
        }
        if let Some(folder) = known.folder_like(parent).filter(|folder| *folder != parent) {
            let what =
                format!("the folder {folder} exists, and some file systems hold {parent} to be the same; use it");
            return Err((ReasonCode::InvalidPath, what));
        }
    }
    let inside = below(path, &context.scope.path).unwrap_or(path);
    let folder = context.layout.kind_of(inside).map_or("", |kind| context.layout.folder(kind));
    let rest = inside.strip_prefix(folder).unwrap_or(inside).trim_start_matches('/');
    let slug = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'/');
    if !rest.strip_suffix(".md").unwrap_or(rest).bytes().all(slug) {
        let better = names::slug(rest.strip_suffix(".md").unwrap_or(rest).rsplit('/').next().unwrap_or(rest));
        let what = format!("{path}: new pages have lower-case ASCII names with dashes, such as `{folder}/{better}.md`");
        return Err((ReasonCode::InvalidPath, what));
    }
    Ok(())
}

/// A page that is to be changed must exist under exactly this name, and the reviewer must have seen it.
fn reachable(candidate: &Candidate, context: &Context<'_>) -> Result<(), Fault> {
    let path = candidate.path.as_str();
    if context.known.page(path).is_none() {
        let what = match context.known.file_like(path) {
            Some(other) if other == path => format!("{path} is no readable page (a link, or not UTF-8 in its name)"),
            Some(other) => format!("there is no {path}; did you mean {other}?"),
            None => format!("there is no {path}; create it, or name a page of the index"),
        };
        return Err((ReasonCode::PatchTargetNotInContext, what));
    }
    reached::check(candidate, context)
}
