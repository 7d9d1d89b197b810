//! The audit log: ledger and history as one story.

use std::collections::{BTreeMap, HashMap, HashSet};

use bstr::ByteSlice;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::git::{self, Commit, Oid};
use crate::ledger::{self, Cache, Event, Proposal};
use crate::wiki::Wiki;
use crate::wiki::shown::json_fault;

/// What to tell.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of the proposal whose id begins so.
    pub proposal: Option<String>,
    /// Of this page.
    pub page: Option<String>,
    /// Of the run whose id begins so.
    pub run: Option<String>,
    /// Of the session whose id begins so.
    pub session: Option<String>,
    /// Of this kind of event; [`COMMIT`] for commits of the wiki branch.
    pub kind: Option<String>,
    /// Leave out how runs keep out of each other's way (`claimed`, `released`).
    pub without_claims: bool,
    /// In this scope.
    pub scope: Option<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// So many at most.
    pub most: Option<usize>,
}

/// The kind of an entry that is a commit.
pub const COMMIT: &str = "commit";

/// One line of the story.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// The event's kind, or `commit`.
    pub kind: String,
    /// Who.
    pub actor: String,
    /// The person whose git identity ran it, where that is another.
    pub operator: Option<String>,
    /// The scope.
    pub scope: Option<String>,
    /// The proposal.
    pub proposal: Option<String>,
    /// The page; the first of several.
    pub page: Option<String>,
    /// The run.
    pub run: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The event's id, or the commit.
    pub id: String,
    /// What else it says: the reason, the title, the commit's subject.
    pub detail: Option<String>,
    /// Everything else, as recorded.
    pub data: Map<String, Value>,
}

/// The story, newest first, and the parts of the ledger that could not be read: events of the ledger, and commits of
/// the wiki branch that no event speaks of (what people committed by themselves). Where only the newest are asked for,
/// only the days that hold them are read.
///
/// # Errors
/// When the ledger or the branch's history cannot be read.
pub fn history(wiki: &Wiki, filter: &Filter) -> git::Result<(Vec<Entry>, Vec<String>)> {
    let known = ledger::load(&wiki.repo, Cache::Use)?.proposals;
    let mut commits = commits(wiki, filter, &known)?.into_iter().peekable();
    let mut entries: Vec<Entry> = Vec::new();
    let mut faults = Vec::new();
    let enough = |entries: &Vec<Entry>| filter.most.is_some_and(|most| entries.len() >= most);
    let mut add = |entries: &mut Vec<Entry>, event: Entry| {
        // Not before the commits that are newer.
        while let Some(commit) = commits.next_if(|commit| commit.at >= event.at) {
            entries.push(commit);
        }
        entries.push(event);
    };
    if filter.kind.as_deref() != Some(COMMIT)
        && let Some(tip) = wiki.repo.reference(ledger::REF)?
    {
        // A segment stands under the day of its first event and may hold some of the next: those are held back.
        let mut held: Vec<Event> = Vec::new();
        for (day, folder) in days(wiki, tip)? {
            if enough(&entries) || filter.since.is_some_and(|since| day.is_some_and(|day| day < since - MARGIN)) {
                break;
            }
            held.extend(read_day(wiki, tip, &folder, &mut faults)?);
            held.sort_unstable_by_key(|event| std::cmp::Reverse((event.at, event.id)));
            let settled = day.map_or(0, |day| held.partition_point(|event| event.at >= day + SPILL));
            for event in held.drain(..settled) {
                if let Some(entry) = entry(event, &known).filter(|entry| filter.fits(entry, &known)) {
                    add(&mut entries, entry);
                }
            }
        }
        for event in held {
            if let Some(entry) = entry(event, &known).filter(|entry| filter.fits(entry, &known)) {
                add(&mut entries, entry);
            }
        }
    }
    entries.extend(commits);
    entries.truncate(filter.most.unwrap_or(usize::MAX));
    Ok((entries, faults))
}

/// How far into the next day a segment's events may reach.
const SPILL: std::time::Duration = std::time::Duration::from_secs(3_600);

/// Days that began longer than this before the time asked for hold nothing of it.
const MARGIN: std::time::Duration = std::time::Duration::from_secs(26 * 3_600);

/// The folders of the ledger's days, newest first, each with the beginning of its day.
fn days(wiki: &Wiki, tip: Oid) -> git::Result<Vec<(Option<Timestamp>, String)>> {
    let mut found = Vec::new();
    let mut folders = vec![String::from("events")];
    while let Some(folder) = folders.pop() {
        if folder.matches('/').count() == 3 {
            let day = folder["events/".len()..].replace('/', "-").parse::<jiff::civil::Date>().ok();
            let begins = day.and_then(|day| day.to_zoned(jiff::tz::TimeZone::UTC).ok()).map(|day| day.timestamp());
            found.push((begins, folder));
            continue;
        }
        let mut names = wiki.repo.folder(tip, folder.as_str().into())?;
        names.sort_unstable();
        folders.extend(names.into_iter().map(|name| format!("{folder}/{name}")));
    }
    Ok(found)
}

fn read_day(wiki: &Wiki, tip: Oid, folder: &str, faults: &mut Vec<String>) -> git::Result<Vec<Event>> {
    let mut events = Vec::new();
    for file in wiki.repo.files(tip, folder.into())? {
        let bytes = match wiki.repo.blob(file.entry.oid) {
            Ok(bytes) => bytes,
            Err(error) => {
                faults.push(format!("{}: {error}", file.path));
                continue;
            }
        };
        for (number, line) in bytes.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_slice(line) {
                Ok(event) => events.push(event),
                Err(error) => faults.push(format!("{}:{}: {}", file.path, number + 1, json_fault(&error))),
            }
        }
    }
    Ok(events)
}

fn entry(event: Event, known: &BTreeMap<String, Proposal>) -> Option<Entry> {
    let proposal = event.proposal.as_ref().and_then(|id| known.get(id));
    let text = |key: &str| event.text(key).map(str::to_owned);
    let detail = ["reason", "title", "outcome", "behind"]
        .iter()
        .find_map(|key| text(key))
        .map(|detail| text("what").or(lane(&event)).map(|what| format!("{what}: {detail}")).unwrap_or(detail))
        .or_else(|| lane(&event))
        .or_else(|| proposal.map(|proposal| proposal.title.clone()))
        .filter(|text| !text.is_empty());
    Some(Entry {
        at: event.at,
        kind: event.kind.as_str().to_owned(),
        actor: event.actor.clone(),
        operator: event.operator.clone().filter(|operator| *operator != event.actor),
        scope: Some(event.scope.clone()),
        proposal: event.proposal.clone(),
        page: event
            .page
            .clone()
            .or_else(|| text("page"))
            .or_else(|| proposal.and_then(|proposal| proposal.paths.first().cloned())),
        run: event.run.clone(),
        session: text("session"),
        id: event.id.to_string(),
        detail,
        data: event.data,
    })
}

/// The lane of an event that is about a page: several may look at the same one.
fn lane(event: &Event) -> Option<String> {
    event.text("page").and(event.text("lane")).map(str::to_owned)
}

/// The commits of the branch that no event tells of and the filter lets through.
fn commits(wiki: &Wiki, filter: &Filter, known: &BTreeMap<String, Proposal>) -> git::Result<Vec<Entry>> {
    let by_ledger = filter.run.is_some() || filter.session.is_some() || filter.scope.is_some();
    let other = filter.kind.as_deref().is_some_and(|kind| kind != COMMIT);
    let Some(tip) = wiki.tip.filter(|_| !by_ledger && !other && filter.proposal.is_none()) else {
        return Ok(Vec::new());
    };
    let told: HashSet<&str> = known.values().flat_map(|proposal| &proposal.commits).map(String::as_str).collect();
    let mut entries = Vec::new();
    // The same tree is looked up as a commit and as the parent of the next.
    let mut seen: HashMap<Oid, Option<git::Entry>> = HashMap::new();
    for commit in wiki.repo.first_parents(tip, None)?.0 {
        let id = commit.oid.to_string();
        if told.contains(id.as_str()) {
            continue;
        }
        if let Some(page) = &filter.page {
            let path = wiki.full_path(page);
            let mut at = |oid: Oid| -> git::Result<Option<git::Entry>> {
                if let Some(found) = seen.get(&oid) {
                    return Ok(*found);
                }
                let found = wiki.repo.entry(oid, path.as_ref())?;
                seen.insert(oid, found);
                Ok(found)
            };
            let before = commit.parents.first().map_or(Ok(None), |&parent| at(parent))?;
            if at(commit.oid)? == before {
                continue;
            }
        }
        let entry = of_commit(&commit, id, filter);
        if filter.since.is_none_or(|since| entry.at >= since) {
            entries.push(entry);
        }
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    entries.truncate(filter.most.unwrap_or(usize::MAX));
    Ok(entries)
}

fn of_commit(commit: &Commit, id: String, filter: &Filter) -> Entry {
    let subject = commit.message.lines().next().unwrap_or_default().to_str_lossy().into_owned();
    Entry {
        at: Timestamp::from_second(commit.time).unwrap_or(Timestamp::UNIX_EPOCH),
        kind: COMMIT.into(),
        actor: commit.author.to_string(),
        operator: None,
        scope: None,
        proposal: None,
        page: filter.page.clone(),
        run: None,
        session: None,
        id,
        detail: Some(subject),
        data: Map::new(),
    }
}

impl Filter {
    fn fits(&self, entry: &Entry, known: &BTreeMap<String, Proposal>) -> bool {
        let same = |wanted: &Option<String>, value: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| value.is_some_and(|value| value == wanted))
        };
        let begins = |wanted: &Option<String>, value: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| {
                value.is_some_and(|value| value.to_ascii_lowercase().starts_with(&wanted.to_ascii_lowercase()))
            })
        };
        let on_page = self.page.as_ref().is_none_or(|page| {
            let proposal = entry.proposal.as_ref().and_then(|id| known.get(id));
            entry.page.as_ref() == Some(page) || proposal.is_some_and(|proposal| proposal.paths.contains(page))
        });
        begins(&self.proposal, entry.proposal.as_ref())
            && on_page
            && begins(&self.run, entry.run.as_ref())
            && begins(&self.session, entry.session.as_ref())
            && same(&self.scope, entry.scope.as_ref())
            && same(&self.kind, Some(&entry.kind))
            && !(self.without_claims && matches!(entry.kind.as_str(), "claimed" | "released"))
            && self.since.is_none_or(|since| entry.at >= since)
    }
}
