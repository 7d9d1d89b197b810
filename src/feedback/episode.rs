//! Episodes: one retrieval each, with what it served. Written on the read path, so at almost no cost and never as a
//! commit.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{automation, queries, spool};
use crate::config::Redact;
use crate::ledger::{Event, EventKind};
use crate::session::Redactor;
use crate::wiki::Wiki;
use crate::wiki::text::fold_space;

/// Days after which an episode no longer counts.
pub const KEPT_DAYS: i64 = 90;

/// The scope of a retrieval over all scopes.
pub const ALL_SCOPES: &str = "*";

/// Digits of an episode's id.
const LENGTH: usize = 16;

/// Raised when the encoding of the id changes.
const VERSION: &str = "git-memory episode 1";

/// Most pages of a list that are recorded: more is no answer that anybody read.
const MOST_PAGES: usize = 1_000;

/// What retrieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// `search`
    Search,
    /// `context`
    Context,
}

/// What one retrieval served, as the command that ran it knows it. Pages are named by their paths below the wiki's
/// root.
#[derive(Debug, Clone, Copy)]
pub struct Served<'a> {
    /// What was asked, as it was asked.
    pub query: &'a str,
    /// The scope's name, or [`ALL_SCOPES`].
    pub scope: &'a str,
    /// What retrieved.
    pub by: By,
    /// Whether outcomes decided on the order: `shadow`, `serve` or `off`.
    pub priors: &'a str,
    /// The tree that was searched.
    pub tree: &'a str,
    /// How many pages matched.
    pub candidates: usize,
    /// The pages in the order served.
    pub served: &'a [String],
    /// The pages in the order that outcomes would give.
    pub shadow: &'a [String],
    /// The pages that were shown.
    pub rendered: &'a [String],
}

/// What became of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its id; `None` when it was not recorded.
    pub id: Option<String>,
    /// Why not.
    pub why_not: Option<String>,
    /// It was to be recorded, and could not be.
    pub failed: bool,
}

/// Why a retrieval was not recorded.
enum WhyNot {
    /// Nobody wants it.
    Unwanted(String),
    /// It could not be.
    Failed(String),
}

/// One retrieval, as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Episode {
    /// Its id: 16 hex digits.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// The scope's name, or `*`.
    pub scope: String,
    /// What retrieved.
    pub by: By,
    /// The SHA-256 of the query, its secrets taken out and its white space folded.
    pub query: String,
    /// The tree that was searched.
    pub tree: String,
    /// Whether outcomes decided on the order: `shadow`, `serve` or `off`.
    pub priors: String,
    /// How many pages matched.
    pub candidates: usize,
    /// The pages in the order served.
    pub served: Vec<String>,
    /// The pages in the order that outcomes would give.
    pub shadow: Vec<String>,
    /// The pages that were shown.
    pub rendered: Vec<String>,
}

/// Records a retrieval: one line in the spool, and its redacted text in the local list of queries. Never fails: an
/// answer is worth more than its record.
pub fn record(wiki: &Wiki, served: &Served<'_>) -> Recorded {
    match try_record(wiki, served) {
        Ok(id) => Recorded { id: Some(id), why_not: None, failed: false },
        Err(WhyNot::Unwanted(why)) => Recorded { id: None, why_not: Some(why), failed: false },
        Err(WhyNot::Failed(why)) => Recorded { id: None, why_not: Some(why), failed: true },
    }
}

fn try_record(wiki: &Wiki, served: &Served<'_>) -> Result<String, WhyNot> {
    if !wiki.config.settings.search.record {
        return Err(WhyNot::Unwanted("search.record is false".into()));
    }
    if let Some(run) = automation::run() {
        return Err(WhyNot::Unwanted(format!("it belongs to our own automation ({run})")));
    }
    let text = redacted(served.query, &wiki.config.settings.redact).map_err(WhyNot::Failed)?;
    let (episode, event) = made(&fold_space(&text), served);
    let asked = queries::Query {
        at: episode.at,
        episode: episode.id.clone(),
        scope: episode.scope.clone(),
        pages: episode.rendered.iter().take(queries::RANKED).cloned().collect(),
        query: text,
    };
    let json = |error: serde_json::Error| WhyNot::Failed(error.to_string());
    let mut lines = vec![(spool::SPOOL, serde_json::to_string(&event).map_err(json)?)];
    if asked.is_worth_keeping() {
        lines.push((queries::FILE, serde_json::to_string(&asked).map_err(json)?));
    }
    spool::add(&wiki.repo.memory_dir(), &lines)
        .map_err(|error| WhyNot::Failed(format!("the spool cannot be written: {error}")))?;
    Ok(episode.id)
}

/// A text without its secrets: nothing else of it may be written, its digest neither.
fn redacted(text: &str, settings: &Redact) -> Result<String, String> {
    Redactor::redact_once(text, &settings.extra_patterns, &settings.allow).map_err(|error| error.to_string())
}

/// The episode of a query without secrets, and the event that keeps it.
fn made(query: &str, served: &Served<'_>) -> (Episode, Event) {
    let mut event = Event::new(EventKind::Episode, served.scope, "git-memory");
    let list = |pages: &[String]| pages.iter().take(MOST_PAGES).cloned().collect::<Vec<_>>();
    let mut episode = Episode {
        id: String::new(),
        at: event.at,
        scope: served.scope.to_owned(),
        by: served.by,
        query: hex(&Sha256::digest(query.as_bytes())),
        tree: served.tree.to_owned(),
        priors: served.priors.to_owned(),
        candidates: served.candidates,
        served: list(served.served),
        shadow: list(served.shadow),
        rendered: list(served.rendered),
    };
    episode.id = id(&episode, &event);
    event.data = episode.data();
    (episode, event)
}

/// A digest over all of it and the event's own id, so that the same search twice is two episodes.
fn id(episode: &Episode, event: &Event) -> String {
    let mut all = Sha256::new();
    let mut add = |text: &str| {
        all.update((text.len() as u64).to_be_bytes());
        all.update(text.as_bytes());
    };
    for text in [VERSION, &episode.query, &episode.scope, episode.by.as_str(), &episode.priors, &episode.tree] {
        add(text);
    }
    add(&episode.candidates.to_string());
    for list in [&episode.served, &episode.shadow, &episode.rendered] {
        add(&list.len().to_string());
        list.iter().for_each(|page| add(page));
    }
    add(&event.at.to_string());
    add(&event.id.to_string());
    hex(&all.finalize())[..LENGTH].to_owned()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl By {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            By::Search => "search",
            By::Context => "context",
        }
    }
}

impl Episode {
    /// What of it stands in the event's data. A list that is the same as the served one is left out: the line stays
    /// short.
    fn data(&self) -> serde_json::Map<String, Value> {
        let mut data = json!({
            "episode": self.id, "by": self.by, "query": self.query, "tree": self.tree, "priors": self.priors,
            "candidates": self.candidates, "served": self.served,
        });
        for (key, list) in [("shadow", &self.shadow), ("rendered", &self.rendered)] {
            if *list != self.served {
                data[key] = json!(list);
            }
        }
        match data {
            Value::Object(data) => data,
            _ => serde_json::Map::new(),
        }
    }

    /// The episode that an event tells of; `None` when it is another kind of event, or does not say enough.
    pub fn of(event: &Event) -> Option<Episode> {
        if event.kind != EventKind::Episode {
            return None;
        }
        let text = |key: &str| event.text(key).unwrap_or_default().to_owned();
        let list = |key: &str| -> Option<Vec<String>> {
            let items = event.data.get(key)?.as_array()?;
            Some(items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
        };
        let served = list("served")?;
        Some(Episode {
            id: event.text("episode").filter(|id| id.len() == LENGTH)?.to_owned(),
            at: event.at,
            scope: event.scope.clone(),
            by: if event.text("by") == Some("context") { By::Context } else { By::Search },
            query: text("query"),
            tree: text("tree"),
            priors: text("priors"),
            candidates: event.data.get("candidates").and_then(Value::as_u64).map_or(0, |n| n as usize),
            shadow: list("shadow").unwrap_or_else(|| served.clone()),
            rendered: list("rendered").unwrap_or_else(|| served.clone()),
            served,
        })
    }

    /// Whether it still counts.
    pub fn counts(&self, now: Timestamp) -> bool {
        now.as_second() - self.at.as_second() <= KEPT_DAYS * 86_400
    }
}
