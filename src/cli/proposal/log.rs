//! `git memory proposal log`.

use std::io::Write;

use bstr::ByteSlice;
use serde::Serialize;
use serde_json::{Map, Value};

use super::super::{Context, Exit, Meaning, Result, shown};
use crate::git::Oid;
use crate::ledger::{self, Event};
use crate::proposal::{Item, checked};
use crate::wiki::Wiki;

/// Show what happened to a proposal, the newest first: its events and its commits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposal
    #[arg(value_name = "ID")]
    id: String,
}

/// What `proposal log --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Log {
    /// The proposal.
    pub id: String,
    /// Its events and commits, the newest first.
    pub entries: Vec<Entry>,
}

/// One event or commit.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entry {
    /// When.
    pub at: jiff::Timestamp,
    /// The event's kind (`staged`, `accepted` …), or `commit`.
    pub what: String,
    /// Who.
    pub by: String,
    /// The commit that it is, or names.
    pub commit: Option<String>,
    /// A commit's subject, a decision's reason, what stood in the way.
    pub text: Option<String>,
    /// For an accept of what people had edited: what each gate said of it.
    pub gates: Map<String, Value>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    let item = view.find(&args.id)?;
    let entries = entries(&wiki, item)?;
    if ctx.json {
        ctx.print_json("proposal-log", &Log { id: item.id().to_owned(), entries })?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    for entry in &entries {
        let at = entry.at.strftime("%Y-%m-%d %H:%M:%S").to_string();
        let commit = entry.commit.as_deref().map(|commit| &commit[..commit.len().min(12)]).unwrap_or_default();
        let line = [
            ctx.paint(Meaning::Dim, at),
            ctx.paint(if entry.what == "commit" { Meaning::Dim } else { Meaning::Head }, shown(&entry.what)),
            ctx.paint(Meaning::Id, shown(commit)),
            shown(&entry.by).into_owned(),
            entry.text.as_ref().map_or(String::new(), |text| format!("— {}", shown(text))),
        ];
        let line: Vec<String> = line.into_iter().filter(|part| !part.is_empty()).collect();
        writeln!(out, "{}", line.join("  "))?;
        for gate in checked::said(&entry.gates) {
            writeln!(out, "  {}", shown(&gate.line))?;
        }
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn entries(wiki: &Wiki, item: &Item) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    // The order of the state-changing events is causal; what else there is finds its place by time.
    let mut events: Vec<Event> = Vec::new();
    if let Some(tip) = wiki.repo.reference(ledger::REF)? {
        let (all, _) = ledger::events(&wiki.repo, None, tip)?;
        let mine = all.into_iter().filter(|event| event.proposal.as_deref() == Some(item.id()));
        let others: Vec<Event>;
        (events, others) = mine.partition(|event| event.kind.decides());
        ledger::order(&mut events);
        for event in others {
            let place = events.iter().position(|known| (known.at, known.id) > (event.at, event.id));
            events.insert(place.unwrap_or(events.len()), event);
        }
    }
    for event in events {
        let commits = commits(wiki, &event);
        let by = event.operator.clone().filter(|who| event.actor.contains(who.as_str()));
        entries.push(Entry {
            at: event.at,
            what: event.kind.as_str().to_owned(),
            by: by.unwrap_or_else(|| match &event.operator {
                Some(operator) if *operator != event.actor => format!("{} for {operator}", event.actor),
                _ => event.actor.clone(),
            }),
            commit: ["landed", "reversal", "tip"].iter().find_map(|key| event.text(key)).map(str::to_owned),
            text: ["reason", "session", "target", "deferred"].iter().find_map(|key| event.text(key)).map(str::to_owned),
            gates: event.data.get("gates").and_then(Value::as_object).cloned().unwrap_or_default(),
        });
        entries.extend(commits);
    }
    entries.reverse();
    Ok(entries)
}

/// The commits that an event brought, as far as they are here: what it put on the pending branch, what landed.
fn commits(wiki: &Wiki, event: &Event) -> Vec<Entry> {
    let named = ["tip", "landed", "reversal"].iter().filter(|key| {
        // What an accept names as its tip was there before.
        **key != "tip" || event.text("landed").is_none()
    });
    named
        .filter_map(|key| event.text(key))
        .filter_map(|hex| Oid::from_hex(hex.as_bytes()).ok())
        .filter_map(|oid| wiki.repo.commit(oid).ok())
        .map(|commit| Entry {
            at: jiff::Timestamp::from_second(commit.time).unwrap_or(event.at),
            what: "commit".into(),
            by: commit.author.to_string(),
            commit: Some(commit.oid.to_string()),
            text: commit.message.lines().next().map(|subject| subject.to_str_lossy().into_owned()),
            gates: Map::new(),
        })
        .collect()
}
