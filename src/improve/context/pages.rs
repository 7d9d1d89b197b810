//! The pages of the wiki in a prompt: the index of what there is, and in full what has to do with the session.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::budget::tokens;
use super::{Error, Subject};
use crate::git::Oid;
use crate::search::{Facts, Pages};
use crate::session::{Redactor, ends};
use crate::wiki::scope::{GLOBAL, Scope};
use crate::wiki::section::sections;
use crate::wiki::{Kind, Status};

/// Most characters of a page that is given.
const LONGEST: usize = 8_000;

/// Most characters of a title or a description in the index.
const LINE: usize = 200;

/// A page as it stands in a prompt.
#[derive(Clone)]
pub(super) struct Given {
    pub path: String,
    pub blob: Oid,
    /// Nothing of it was left out.
    pub whole: bool,
    pub value: Value,
}

/// The pages that count, the nearest first, then the others by path: of the scope or of all scopes, in force, and no
/// records of sessions.
pub(super) fn listed(pages: &Pages<'_>, near: &[String], scope: &Scope) -> Vec<Facts> {
    let place: HashMap<&str, usize> = near.iter().enumerate().map(|(n, path)| (path.as_str(), n)).collect();
    let mut all: Vec<(usize, Facts)> = pages
        .facts()
        .into_iter()
        .filter(|page| matches!(page.status, Status::Active | Status::Stale))
        .filter(|page| page.kind != Some(Kind::Session))
        .filter(|page| page.scope == scope.name || page.scope == GLOBAL)
        .filter_map(|page| {
            let path = std::str::from_utf8(&page.path).ok()?;
            Some((place.get(path).copied().unwrap_or(usize::MAX), page))
        })
        .collect();
    // They come by path, and the sort keeps that among equals.
    all.sort_unstable_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, page)| page).collect()
}

/// The index within its share, and how many pages it leaves out.
pub(super) fn index(all: &[Facts], share: usize, redactor: &Redactor) -> (Vec<Value>, usize) {
    let mut used = 0;
    let mut index = Vec::new();
    for page in all {
        let line = |text: &str| redactor.redact(text).chars().take(LINE).collect::<String>();
        let mut entry = json!({"path": redactor.redact(&page.path.to_string()), "title": line(&page.title)});
        if !page.description.is_empty() {
            entry["description"] = line(&page.description).into();
        }
        used += tokens(&entry);
        if used > share {
            break;
        }
        index.push(entry);
    }
    let left_out = all.len() - index.len();
    (index, left_out)
}

/// The nearest pages within their share. The slot is given whatever the words of the session: who overwrites it must
/// know what it says.
pub(super) fn given(
    subject: &Subject<'_>,
    all: &[Facts],
    share: usize,
    redactor: &Redactor,
) -> Result<Vec<Given>, Error> {
    let most = subject.wiki.config.settings.improve.max_patchable_pages;
    let slot = |page: &&Facts| page.kind == Some(Kind::Slot) && page.path.ends_with(b"/current-focus.md");
    let here = |page: &&Facts| page.scope == subject.scope.name;
    let others = all.iter().filter(|page| page.kind != Some(Kind::Slot));
    let mut used = 0;
    let mut given = Vec::new();
    for page in all.iter().find(|page| slot(page) && here(page)).into_iter().chain(others) {
        if given.len() == most {
            break;
        }
        let page = one(subject, page, redactor)?;
        let size = tokens(&page.value);
        if used + size <= share {
            used += size;
            given.push(page);
        }
    }
    Ok(given)
}

fn one(subject: &Subject<'_>, facts: &Facts, redactor: &Redactor) -> Result<Given, Error> {
    let wiki = subject.wiki;
    let bytes = wiki.repo.blob(facts.blob).map_err(crate::search::Error::from)?;
    let page = wiki.read(facts.path.as_ref(), &bytes);
    let clean = redactor.redact(&page.body);
    let whole = clean.chars().count() <= LONGEST;
    // An edit that replaces what holds a secret, or what was cut, would land what the prompt put in its stead.
    let untouched = whole && *clean == *page.body;
    let anchors = sections(&bytes);
    let once = |title: &str| anchors.iter().filter(|section| section.title == title).count() == 1;
    let mut value = json!({
        "path": facts.path.to_string(),
        "kind": facts.kind,
        "title": redactor.redact(&page.title),
        "description": page.front.description.as_deref().map(|text| redactor.redact(text)),
        "when_to_use": page.front.when_to_use.as_deref().map(|text| redactor.redact(text)),
        "blob": facts.blob.to_string(),
        "may_be_changed": untouched && facts.scope == subject.scope.name && facts.kind.is_some(),
        "body": ends(&clean, LONGEST),
    });
    if untouched {
        let listed = anchors.iter().filter(|section| section.level > 1 && once(&section.title)).map(|section| {
            let anchor = format!("{} {}", "#".repeat(section.level.into()), section.title);
            json!({"anchor": anchor, "section_sha256": section.sha256})
        });
        value["sections"] = listed.collect();
    }
    Ok(Given { path: facts.path.to_string(), blob: facts.blob, whole: untouched, value })
}
