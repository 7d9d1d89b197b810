//! Captured sessions as they stand under their refs: what is in one, and reading it.

use bstr::BStr;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::seen::Held;
use super::{Agent, Observation, Session};
use crate::git::{Error, Oid, Repo, Result};
use crate::wiki::shown::json_fault;

/// Where the refs of captured sessions stand.
pub const REFS: &str = "refs/memory/sessions/";

pub(super) const META: &str = "meta.json";
pub(super) const PAGE: &str = "page.md";
pub(super) const OBSERVATIONS: &str = "observations.jsonl";
/// Once the observations are dropped: their ids.
pub(super) const IDS: &str = "ids";

/// `meta.json`: all of a session but its observations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// The shape's version.
    pub v: u32,
    /// The session's id.
    pub id: String,
    /// Which agent.
    pub agent: Agent,
    /// Its scope.
    pub scope: String,
    /// The title of its page.
    pub title: String,
    /// The agent's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Recorded working folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Recorded branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// First event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// Last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// When it was captured first.
    pub captured: Timestamp,
    /// How many observations.
    pub observations: u32,
    /// How many of them a person wrote.
    pub prompts: u32,
    /// One of our own.
    #[serde(default)]
    pub own: bool,
    /// The session that started this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

impl Meta {
    /// Whether this session is another one, was started by it, or is a part of it.
    pub fn goes_with(&self, id: &str) -> bool {
        self.parent.as_deref() == Some(id) || whole(&self.id) == id
    }
}

/// The id of the session that one is a part of, mostly itself: of a very long one the further parts stand as
/// `<id>-part-<n>`.
pub fn whole(id: &str) -> &str {
    let part = id.rsplit_once("-part-").filter(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    part.map_or(id, |(whole, _)| whole)
}

/// A session as it stands under its ref.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The commit.
    pub commit: Oid,
    /// `meta.json`.
    pub meta: Meta,
    /// The blob of `page.md`.
    pub page_blob: Oid,
    /// The blob of `observations.jsonl`, until it is dropped.
    pub observations_blob: Option<Oid>,
}

/// All captured sessions, sorted by id.
///
/// # Errors
/// When one of them cannot be read.
pub fn list(repo: &Repo) -> Result<Vec<Stored>> {
    sessions(repo)?.into_iter().map(|(_, commit)| at(repo, commit)).collect()
}

/// One captured session without its observations.
///
/// # Errors
/// When it is there and cannot be read.
pub fn stored(repo: &Repo, id: &str) -> Result<Option<Stored>> {
    repo.reference(&format!("{REFS}{id}"))?.map(|commit| at(repo, commit)).transpose()
}

/// One captured session with its observations and the text of its page.
///
/// # Errors
/// When it is there and cannot be read.
pub fn load(repo: &Repo, id: &str) -> Result<Option<(Stored, Session, String)>> {
    let Some(stored) = stored(repo, id)? else { return Ok(None) };
    let session = session(&stored.meta, observations(repo, &stored)?);
    let page = String::from_utf8_lossy(&repo.blob(stored.page_blob)?).into_owned();
    Ok(Some((stored, session, page)))
}

/// The session that a commit of [`REFS`] holds.
///
/// # Errors
/// When the commit, its record or its page cannot be read.
pub fn at(repo: &Repo, commit: Oid) -> Result<Stored> {
    let blob = |name: &str| Ok::<_, Error>(repo.entry(commit, BStr::new(name))?.map(|entry| entry.oid));
    let missing = |name: &str| Error::read(format!("{name} of the session at {commit}"), "it is not there");
    let meta = repo.blob(blob(META)?.ok_or_else(|| missing(META))?)?;
    let meta = serde_json::from_slice(&meta)
        .map_err(|error| Error::read(format!("{META} at {commit}"), json_fault(&error)))?;
    let page_blob = blob(PAGE)?.ok_or_else(|| missing(PAGE))?;
    Ok(Stored { commit, meta, page_blob, observations_blob: blob(OBSERVATIONS)? })
}

/// The refs of captured sessions: id and commit, sorted.
pub(super) fn sessions(repo: &Repo) -> Result<Vec<(String, Oid)>> {
    let refs = repo.references(REFS)?;
    Ok(refs.into_iter().filter_map(|(name, oid)| Some((name.strip_prefix(REFS)?.to_owned(), oid))).collect())
}

/// What a session's commit holds.
pub(super) fn held(repo: &Repo, commit: Oid) -> Result<Held> {
    let stored = at(repo, commit)?;
    let ids = ids(repo, &stored)?;
    let mut held = Held::new(stored.meta.title, ids.iter().map(String::as_str));
    held.commit = commit.to_string();
    Ok(held)
}

/// The ids of its observations, also of those that were dropped.
pub(super) fn ids(repo: &Repo, stored: &Stored) -> Result<Vec<String>> {
    if stored.observations_blob.is_some() {
        return Ok(observations(repo, stored)?.into_iter().map(|o| o.id).collect());
    }
    let kept = repo.file(stored.commit, BStr::new(IDS))?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&kept).lines().map(str::to_owned).collect())
}

/// The observations; none once they were dropped.
pub(super) fn observations(repo: &Repo, stored: &Stored) -> Result<Vec<Observation>> {
    let Some(blob) = stored.observations_blob else { return Ok(Vec::new()) };
    let bytes = repo.blob(blob)?;
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines
        .map(serde_json::from_slice)
        .collect::<Result<_, serde_json::Error>>()
        .map_err(|error| Error::read(format!("{OBSERVATIONS} of session {}", stored.meta.id), json_fault(&error)))
}

/// A session as its record and its observations tell it.
pub(super) fn session(meta: &Meta, observations: Vec<Observation>) -> Session {
    Session {
        id: meta.id.clone(),
        agent: meta.agent,
        version: meta.version.clone(),
        cwd: meta.cwd.clone(),
        branch: meta.branch.clone(),
        started: meta.started,
        ended: meta.ended,
        title: meta.title.clone(),
        parent: meta.parent.clone(),
        own: meta.own,
        observations,
    }
}
