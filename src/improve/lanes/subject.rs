//! The page that a lane works on, and what is said of it, as data for a prompt.

use serde_json::{Map, Value, json};

use super::super::Error;
use super::super::plan::Selected;
use super::Bench;
use crate::feedback::{Signal, Verdict, heard, queries};
use crate::ledger::{self, Cache, Status};
use crate::proposal::context::Words;
use crate::proposal::{Evidence, Item, Sidecar};
use crate::search::Hit;
use crate::session::{Redactor, Speaker};
use crate::wiki::text::fold_space;
use crate::wiki::{Kind, Page};

/// Most characters of a page that a model is shown.
const LONGEST_BODY: usize = 32_000;

/// Most claims that a model is shown, the newest.
const MOST_CLAIMS: usize = 20;

/// Most claims that a proposal quotes, the newest.
const MOST_QUOTED: usize = 3;

/// Longest quote, in characters.
const LONGEST_QUOTE: usize = 400;

/// The page, read.
pub(super) struct Subject {
    /// Its path from the wiki's root.
    pub path: String,
    /// The page.
    pub page: Page,
    /// All of its bytes, as text.
    pub text: String,
    /// What was said of it, oldest first.
    pub said: Vec<Signal>,
    redactor: Redactor,
}

impl Subject {
    /// Reads it; `None` when it is gone, or another one than was selected.
    pub fn load(bench: &Bench<'_>, selected: &Selected) -> Result<Option<Subject>, Error> {
        let wiki = bench.wiki;
        let path = selected.subject().to_owned();
        let entry = wiki.entry(&path)?;
        if entry.map(|entry| entry.oid.to_string()).as_ref() != Some(&selected.blob) {
            return Ok(None);
        }
        let bytes = wiki.bytes(&path)?.unwrap_or_default();
        let redact = &wiki.config.settings.redact;
        let redactor =
            Redactor::new(&redact.extra_patterns, &redact.allow).map_err(|error| Error::Settings(error.to_string()))?;
        let cache = if bench.may_write { Cache::Use } else { Cache::ReadOnly };
        let said = heard::load(&wiki.repo, cache)?.of_page(&path).into_iter().cloned().collect();
        let page = wiki.read(path.as_str().into(), &bytes);
        Ok(Some(Subject { path, page, text: String::from_utf8_lossy(&bytes).into_owned(), said, redactor }))
    }

    /// A text for a model: without secrets, which are taken out before anything is cut.
    pub fn shown(&self, text: &str, most: usize) -> String {
        let redacted = self.redactor.redact(text);
        match redacted.char_indices().nth(most) {
            Some((end, _)) => format!("{} [cut here by git-memory]", &redacted[..end]),
            None => redacted.to_string(),
        }
    }

    /// The page, as data.
    pub fn data(&self) -> Value {
        let front = &self.page.front;
        let field = |text: &Option<String>| text.as_ref().map(|text| self.shown(text, 2_000));
        json!({
            "path": self.path,
            "kind": self.page.kind.map(Kind::as_str),
            "title": self.shown(&self.page.title, 500),
            "description": field(&front.description),
            "when_to_use": field(&front.when_to_use),
            "body": self.shown(&self.page.body, LONGEST_BODY),
        })
    }

    /// What was said of it, newest first, as data.
    pub fn claims(&self) -> Vec<Value> {
        let claim = |signal: &Signal| {
            let mut claim = Map::new();
            claim.insert("says".into(), json!(signal.verdict));
            if let Some(mode) = signal.mode {
                claim.insert("mode".into(), json!(mode));
            }
            for (key, text) in [("reason", &signal.reason), ("source", &signal.source)] {
                if let Some(text) = text {
                    claim.insert(key.into(), json!(self.shown(text, 2_000)));
                }
            }
            claim.insert("by".into(), json!(if signal.by_person { "person" } else { "agent" }));
            claim.insert("day".into(), json!(signal.at.strftime("%Y-%m-%d").to_string()));
            Value::Object(claim)
        };
        self.said.iter().rev().take(MOST_CLAIMS).map(claim).collect()
    }

    /// What people asked for when they found the page.
    pub fn queries(&self, bench: &Bench<'_>) -> Result<Vec<String>, Error> {
        let past = queries::of_page(&bench.wiki.repo, &self.path, ledger::now())?;
        Ok(past.queries.iter().map(|query| self.shown(query, 500)).collect())
    }

    /// The pages that are most like it, best first, itself left out.
    pub fn nearby(&self, bench: &Bench<'_>, kinds: &[Kind], most: usize) -> Result<Vec<Hit>, Error> {
        self.like(bench, &format!("{} {}", self.page.title, self.page.body), kinds, most)
    }

    /// The pages of its scope that are most like a text, best first, itself left out.
    pub fn like(&self, bench: &Bench<'_>, text: &str, kinds: &[Kind], most: usize) -> Result<Vec<Hit>, Error> {
        let scope = &bench.wiki.scopes.of_page(&self.path).name;
        let hits = bench.pages()?.like(text, scope, kinds, most + 1)?;
        Ok(hits.into_iter().filter(|hit| hit.path != self.path).take(most).collect())
    }

    /// What a lane proposed before about this page and a person turned down, with the reason.
    pub fn turned_down(&self, bench: &Bench<'_>, lane: &str) -> Result<Vec<(Item, Sidecar)>, Error> {
        let of_lane =
            |item: &&Item| item.proposal.lane == lane && item.status == Status::Rejected && item.proposal.merit;
        let mut found = Vec::new();
        for item in bench.view.items.iter().filter(of_lane) {
            let Some(sidecar) = Sidecar::load(&bench.wiki.repo, item.id())? else { continue };
            let quotes = sidecar.evidence.iter().any(|evidence| evidence.source == self.path);
            if quotes || sidecar.paths.contains(&self.path) {
                found.push((item.clone(), sidecar));
            }
        }
        found.sort_by_key(|(item, _)| std::cmp::Reverse(item.proposal.changed_at));
        found.truncate(5);
        Ok(found)
    }

    /// The newest negatives, as evidence that they were said: what they claim is not thereby so.
    pub fn complaints(&self, bench: &Bench<'_>) -> Result<Vec<(Evidence, Words)>, Error> {
        let Some(tip) = bench.wiki.repo.reference(ledger::REF)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for signal in self.said.iter().rev().filter(|signal| signal.verdict == Verdict::Negative).take(MOST_QUOTED) {
            let Some(reason) = &signal.reason else { continue };
            let segment = ledger::segment_of(signal.at, signal.event);
            let Some(entry) = bench.wiki.repo.entry(tip, segment.as_str().into())? else { continue };
            let source = format!("feedback/{}", signal.event);
            let quote: String = fold_space(reason).chars().take(LONGEST_QUOTE).collect();
            let words = Words {
                source: source.clone(),
                blob: entry.oid.to_string(),
                speaker: if signal.by_person { Speaker::Human } else { Speaker::Assistant },
                text: reason.clone(),
            };
            found.push((Evidence { source, blob: None, speaker: None, quote }, words));
        }
        Ok(found)
    }
}
