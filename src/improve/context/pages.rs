//! The pages of the wiki in a prompt: the index of what there is, and the texts of those that have to do with the session.

use std::collections::{BTreeSet, HashMap};

use bstr::BString;

use serde_json::{Value, json};

use super::budget::within;
use super::{Error, Subject};
use crate::git::Oid;
use crate::proposal::validate::Extent;
use crate::search::{Facts, Pages};
use crate::session::{Redactor, ends};
use crate::wiki::scope::{GLOBAL, Scope};
use crate::wiki::section::{Section, sections};
use crate::wiki::text::fold_space;
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
    /// How much of it stands there.
    pub extent: Extent,
    pub value: Value,
}

/// The pages that count: of the scope or of all scopes, in force, and no records of sessions.
pub(super) struct Listed {
    /// The nearest first, then the others by path.
    all: Vec<Facts>,
    /// How many of them have to do with the session.
    near: usize,
}

/// Which pages count, given those near the session.
pub(super) fn listed(pages: &Pages<'_>, near: &[BString], scope: &Scope) -> Listed {
    let place: HashMap<&BString, usize> = near.iter().enumerate().map(|(n, path)| (path, n)).collect();
    let mut all: Vec<(usize, Facts)> = pages
        .facts()
        .into_iter()
        .filter(|page| matches!(page.status, Status::Active | Status::Stale))
        .filter(|page| page.kind != Some(Kind::Session))
        .filter(|page| page.scope == scope.name || page.scope == GLOBAL)
        .filter(|page| std::str::from_utf8(&page.path).is_ok())
        .map(|page| (place.get(&page.path).copied().unwrap_or(usize::MAX), page))
        .collect();
    all.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let near = all.iter().take_while(|(place, _)| *place < usize::MAX).count();
    Listed { all: all.into_iter().map(|(_, page)| page).collect(), near }
}

/// The index within its share, and how many pages it leaves out.
pub(super) fn index(listed: &Listed, share: usize, redactor: &Redactor) -> (Vec<Value>, usize) {
    let entry = |page: &Facts| {
        let line = |text: &str| redactor.redact(text).chars().take(LINE).collect::<String>();
        let mut entry = json!({"path": redactor.redact(&page.path.to_string()), "title": line(&page.title)});
        if !page.description.is_empty() {
            entry["description"] = line(&page.description).into();
        }
        entry
    };
    let index = within(listed.all.iter().map(entry), share, |entry| entry);
    let left_out = listed.all.len() - index.len();
    (index, left_out)
}

/// The pages that may be given, the nearest first. The slot is one of them whatever the words of the session: who
/// overwrites it must know what it says. A page that has nothing to do with the session is none.
pub(super) fn near(subject: &Subject<'_>, listed: &Listed, redactor: &Redactor) -> Result<Vec<Given>, Error> {
    let most = subject.wiki.config.settings.improve.max_patchable_pages;
    let slot = |page: &&Facts| page.kind == Some(Kind::Slot) && page.path.ends_with(b"/current-focus.md");
    let here = |page: &&Facts| page.scope == subject.scope.name;
    let slot = listed.all.iter().find(|page| slot(page) && here(page));
    let others = listed.all[..listed.near].iter().filter(|page| page.kind != Some(Kind::Slot));
    slot.into_iter().chain(others).take(most).map(|page| one(subject, page, redactor)).collect()
}

fn one(subject: &Subject<'_>, facts: &Facts, redactor: &Redactor) -> Result<Given, Error> {
    let wiki = subject.wiki;
    let bytes = wiki.repo.blob(facts.blob).map_err(crate::search::Error::from)?;
    let page = wiki.read(facts.path.as_ref(), &bytes);
    let body = ends(&redactor.redact(&page.body), LONGEST);
    let anchors = sections(&bytes);
    let once = |section: &&Section| anchors.iter().filter(|other| other.title == section.title).count() == 1;
    // An edit that replaces what holds a secret, or what was cut, would land what the prompt put in its stead.
    let is_whole = body == page.body;
    let text = |section: &Section| String::from_utf8_lossy(&bytes[section.range.clone()]).trim_end().to_owned();
    let stands_there = |section: &Section| is_whole || body.contains(&text(section));
    let mut shown = BTreeSet::new();
    let mut listed = Vec::new();
    for section in anchors.iter().filter(|section| section.level > 1).filter(once) {
        let title = redactor.redact(&section.title);
        let mut entry = json!({"anchor": format!("{} {title}", "#".repeat(section.level.into()))});
        if stands_there(section) {
            entry["section_sha256"] = section.sha256.as_str().into();
            shown.insert(fold_space(&section.title));
        }
        listed.push(entry);
    }
    let may_be_changed = (is_whole || !shown.is_empty()) && facts.scope == subject.scope.name && facts.kind.is_some();
    let value = json!({
        "path": facts.path.to_string(),
        "kind": facts.kind,
        "title": redactor.redact(&page.title),
        "description": page.front.description.as_deref().map(|text| redactor.redact(text)),
        "when_to_use": page.front.when_to_use.as_deref().map(|text| redactor.redact(text)),
        "blob": facts.blob.to_string(),
        "may_be_changed": may_be_changed,
        "shown_whole": is_whole,
        "sections": listed,
        "body": body,
    });
    let extent = if is_whole { Extent::Whole } else { Extent::Sections(shown) };
    Ok(Given { path: facts.path.to_string(), blob: facts.blob, extent, value })
}
