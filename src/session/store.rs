//! Storing sessions: `refs/memory/sessions/<id>` with `meta.json`, `page.md`, `observations.jsonl`.

use std::collections::HashMap;
use std::time::Duration;

use bstr::BString;
use jiff::Timestamp;

use super::merge::merge;
use super::seen::{Held, Seen};
use super::stored::{META, Meta, OBSERVATIONS, PAGE, REFS, Stored, at as stored_at, observations, session};
use super::{Given, Session, page};
use crate::git::{Batch, Entry, Error, Lock, Locked, Mode, NewCommit, Oid, RefEdit, Repo, Result, each, fault};

/// How long a capture waits for another one in the same repository.
const PATIENCE: Duration = Duration::from_secs(60);

/// What one session's capture did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Captured {
    /// A new session.
    New,
    /// It had grown by so many observations (0: one that was there says more now).
    Grown(u32),
    /// Nothing new in it.
    Unchanged,
}

/// How often storing is tried when somebody else (a fetch, a purge) changes a session's ref meanwhile.
const ATTEMPTS: u32 = 5;

/// A session that was given to be stored.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its id.
    pub id: String,
    /// What was done.
    pub what: Captured,
    /// The session as it stands; `None` when others hold all of it.
    pub stored: Option<Stored>,
}

/// Stores sessions, adding to each only what no captured session holds yet (by observation id), in one ref
/// transaction. Returns what was done, in the order given.
///
/// Which of two sessions keeps what both have does not depend on the order they are given in: the one that ended first
/// does. A ref is one commit without a parent, which is replaced when the session has grown, so that a session can be
/// forgotten.
///
/// # Errors
/// [`Error::Busy`] when another capture does not end; whatever git has to say.
pub fn capture<S: Into<Given>>(repo: &Repo, sessions: Vec<(S, String)>, now: Timestamp) -> Result<Vec<Kept>> {
    if sessions.is_empty() {
        return Ok(Vec::new());
    }
    let lock = repo.memory_dir().join("capture.lock");
    let _lock = match Lock::take(&lock, "capture", PATIENCE)? {
        Locked::Yes(lock) => lock,
        Locked::No(holder) => {
            return Err(Error::Busy { reason: format!("another capture holds {} ({holder})", lock.display()) });
        }
    };
    let mut done: Vec<Kept> = Vec::with_capacity(sessions.len());
    let mut waiting: Vec<Waiting> = Vec::with_capacity(sessions.len());
    for (at, (given, scope)) in sessions.into_iter().enumerate() {
        let given = given.into();
        done.push(Kept { id: given.session.id.clone(), what: Captured::Unchanged, stored: None });
        waiting.push(Waiting { at, given, scope });
    }
    for left in (0..ATTEMPTS).rev() {
        match attempt(repo, waiting, &mut done, now) {
            Ok(()) => break,
            Err(Failed { error: Error::RefMoved { .. }, again }) if left > 0 => waiting = again,
            Err(Failed { error, .. }) => return Err(error),
        }
    }
    Ok(done)
}

/// A session that waits to be stored.
struct Waiting {
    /// Its place among those that were given.
    at: usize,
    given: Given,
    scope: String,
}

/// Nothing was stored, and what waits still.
struct Failed {
    error: Error,
    again: Vec<Waiting>,
}

impl std::convert::From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed { error, again: Vec::new() }
    }
}

/// A session as it is to stand.
struct Merged {
    at: usize,
    old: Option<Oid>,
    meta: Meta,
    session: Session,
    gone: Vec<String>,
}

fn attempt(
    repo: &Repo,
    mut waiting: Vec<Waiting>,
    done: &mut [Kept],
    now: Timestamp,
) -> std::result::Result<(), Failed> {
    waiting.sort_by(|a, b| {
        let key = |waiting: &Waiting| (waiting.given.session.ended, waiting.given.session.observations.len());
        key(a).cmp(&key(b)).then_with(|| a.given.session.id.cmp(&b.given.session.id))
    });
    let mut seen = Seen::load(repo)?;
    let mut merged: HashMap<String, Merged> = HashMap::new();
    for Waiting { at, given, scope } in waiting {
        let id = given.session.id.clone();
        let (mut gone, mut known, mut old) = (given.gone.clone(), None, None);
        let before = merged.remove(&id);
        if let Some(before) = &before {
            old = before.old;
            gone.extend(before.gone.iter().cloned());
            known = Some((before.meta.clone(), before.session.observations.clone()));
        } else if let Some(commit) = seen.commit(&id) {
            let stored = stored_at(repo, commit)?;
            done[at].stored = Some(stored.clone());
            if stored.observations_blob.is_none() {
                // Its observations were dropped for their age: they do not come back.
                continue;
            }
            old = Some(commit);
            let observations = observations(repo, &stored)?;
            known = Some((stored.meta, observations));
        }
        let (what, meta, observations) = merge(given, scope, known, &seen, now);
        if what == Captured::Unchanged {
            merged.extend(before.map(|before| (id, before)));
        } else {
            seen.add(&id, Held::new(meta.title.clone(), observations.iter().map(|o| o.id.as_str())));
            let session = session(&meta, observations);
            merged.insert(id, Merged { at, old, meta, session, gone });
        }
        done[at].what = what;
    }
    let mut merged: Vec<Merged> = merged.into_values().collect();
    if !merged.is_empty() {
        merged.sort_unstable_by(|a, b| a.meta.id.cmp(&b.meta.id));
        let stored = write(repo, &merged, now)?;
        let edit = |(merged, stored): (&Merged, &Stored)| RefEdit {
            name: format!("{REFS}{}", merged.meta.id),
            old: merged.old,
            new: Some(stored.commit),
        };
        let edits: Vec<RefEdit> = merged.iter().zip(&stored).map(edit).collect();
        fault::point("capture.before-refs");
        if let Err(error) = repo.update_refs(&edits, "git-memory capture") {
            let again = |Merged { at, meta, session, gone, .. }| {
                let given = Given { session, is_tail: true, keeps_title: false, changed: Vec::new(), gone };
                Waiting { at, given, scope: meta.scope }
            };
            return Err(Failed { error, again: merged.into_iter().map(again).collect() });
        }
        stored.iter().for_each(|stored| seen.stands(&stored.meta.id, stored.commit));
        let stored: HashMap<&str, &Stored> = stored.iter().map(|stored| (stored.meta.id.as_str(), stored)).collect();
        for kept in done.iter_mut() {
            if let Some(stored) = stored.get(kept.id.as_str()) {
                kept.stored = Some((*stored).clone());
            }
        }
    }
    seen.save();
    Ok(())
}

/// Writes all of them and makes them durable; no ref names them yet.
fn write(repo: &Repo, all: &[Merged], now: Timestamp) -> Result<Vec<Stored>> {
    let files: Vec<[Vec<u8>; 3]> = each(all, files).into_iter().collect::<Result<_>>()?;
    let mut batch = Batch::new(repo);
    let blobs = batch.blobs(files.as_flattened())?;
    let person = repo.operator()?;
    let mut stored = Vec::with_capacity(all.len());
    for (Merged { meta, .. }, blobs) in all.iter().zip(blobs.as_chunks::<3>().0) {
        let entry = |(name, oid): (&str, &Oid)| (name.into(), Some(Entry { mode: Mode::Blob, oid: *oid }));
        let edits: Vec<(BString, Option<Entry>)> =
            [META, OBSERVATIONS, PAGE].into_iter().zip(blobs).map(entry).collect();
        let tree = batch.tree(None, &edits)?;
        let commit = batch.commit(&NewCommit {
            tree,
            parents: Vec::new(),
            author: person.clone(),
            committer: person.clone(),
            time: now.as_second(),
            message: format!("memory: session {}\n", meta.id),
            sign: false,
        })?;
        let [_, observations, page] = *blobs;
        stored.push(Stored { commit, meta: meta.clone(), page_blob: page, observations_blob: Some(observations) });
    }
    batch.flush()?;
    Ok(stored)
}

/// What stands in a session's files: [`META`], [`OBSERVATIONS`], [`PAGE`].
fn files(Merged { meta, session, .. }: &Merged) -> Result<[Vec<u8>; 3]> {
    let mut lines = Vec::new();
    for observation in &session.observations {
        serde_json::to_writer(&mut lines, observation).map_err(|error| Error::write(OBSERVATIONS, error))?;
        lines.push(b'\n');
    }
    let mut json = serde_json::to_vec_pretty(meta).map_err(|error| Error::write(META, error))?;
    json.push(b'\n');
    Ok([json, lines, page(session, &meta.scope).into_bytes()])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Agent, Observation, ObservationKind, Session, Speaker, list, load};
    use super::Captured;
    use crate::git::Repo;

    fn repository() -> (tempfile::TempDir, Repo) {
        let dir = tempfile::tempdir().unwrap();
        for args in [&["init", "-q"][..], &["config", "user.name", "Dev"], &["config", "user.email", "dev@example.com"]]
        {
            assert!(std::process::Command::new("git").args(args).current_dir(dir.path()).status().unwrap().success());
        }
        let repo = Repo::open(dir.path()).unwrap();
        (dir, repo)
    }

    fn session(id: &str, ended: &str, ids: &[&str]) -> (Session, String) {
        let observation = |(at, id): (usize, &&str)| Observation {
            seq: at as u32 + 1,
            id: (*id).into(),
            at: None,
            kind: ObservationKind::Prompt,
            speaker: Speaker::Human,
            tool: None,
            call: None,
            title: format!("say {id}"),
            body: format!("say {id}"),
            exit: None,
        };
        let session = Session {
            id: id.into(),
            agent: Agent::Claude,
            version: Some("2.1".into()),
            cwd: Some("/p".into()),
            branch: None,
            started: Some("2026-03-01T10:00:00Z".parse().unwrap()),
            ended: Some(ended.parse().unwrap()),
            title: "Say".into(),
            parent: None,
            own: false,
            observations: ids.iter().enumerate().map(observation).collect(),
        };
        (session, "global".into())
    }

    fn now() -> jiff::Timestamp {
        "2026-03-02T00:00:00Z".parse().unwrap()
    }

    fn capture(repo: &Repo, sessions: Vec<(Session, String)>) -> Vec<(String, Captured)> {
        let done = super::capture(repo, sessions, now()).unwrap();
        done.into_iter().map(|kept| (kept.id, kept.what)).collect()
    }

    fn held(repo: &Repo, id: &str) -> Vec<String> {
        load(repo, id).unwrap().map(|(_, s, _)| s.observations.into_iter().map(|o| o.id).collect()).unwrap_or_default()
    }

    #[test]
    fn a_session_comes_back_as_it_was_and_a_second_capture_changes_nothing() {
        let (_dir, repo) = repository();
        let given = session("a", "2026-03-01T11:00:00Z", &["1", "2"]);
        assert_eq!(capture(&repo, vec![given.clone()]), [("a".into(), Captured::New)]);
        let (stored, back, page) = load(&repo, "a").unwrap().unwrap();
        assert_eq!(back, given.0);
        assert!(page.contains("> say 1"));
        assert_eq!(capture(&repo, vec![given]), [("a".into(), Captured::Unchanged)]);
        assert_eq!(list(&repo).unwrap()[0].commit, stored.commit);
        let raw =
            std::process::Command::new("git").args(["fsck", "--strict"]).current_dir(repo.workdir().unwrap()).output();
        assert!(raw.unwrap().status.success());
    }

    #[test]
    fn a_resumed_copy_adds_only_its_tail_whatever_the_order() {
        let a = session("a", "2026-03-01T11:00:00Z", &["1", "2"]);
        let b = session("b", "2026-03-01T12:00:00Z", &["1", "2", "3"]);
        for given in [vec![a.clone(), b.clone()], vec![b.clone(), a.clone()]] {
            let (_dir, repo) = repository();
            let done = capture(&repo, given.clone());
            assert_eq!(
                done.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(),
                given.iter().map(|(s, _)| s.id.as_str()).collect::<Vec<_>>()
            );
            assert_eq!((held(&repo, "a"), held(&repo, "b")), (vec!["1".into(), "2".into()], vec!["3".into()]));
        }
        let (_dir, repo) = repository();
        capture(&repo, vec![b]);
        assert_eq!(capture(&repo, vec![a]), [("a".into(), Captured::Unchanged)]);
        assert_eq!(held(&repo, "a"), Vec::<String>::new());
    }

    #[test]
    fn a_grown_session_gains_what_is_new_even_when_the_local_cache_is_lost() {
        let (_dir, repo) = repository();
        capture(&repo, vec![session("a", "2026-03-01T11:00:00Z", &["1"])]);
        std::fs::remove_dir_all(repo.memory_dir().join("index")).unwrap();
        let done = capture(&repo, vec![session("a", "2026-03-01T12:00:00Z", &["1", "2", "3"])]);
        assert_eq!(done, [("a".into(), Captured::Grown(2))]);
        assert_eq!(held(&repo, "a"), ["1", "2", "3"]);
        let older = capture(&repo, vec![session("a", "2026-03-01T11:00:00Z", &["1"])]);
        assert_eq!(older, [("a".into(), Captured::Unchanged)]);
    }

    #[test]
    fn equal_titles_get_a_suffix_that_stays() {
        let (_dir, repo) = repository();
        let all = vec![session("a", "2026-03-01T11:00:00Z", &["1"]), session("b", "2026-03-01T12:00:00Z", &["2"])];
        capture(&repo, all);
        capture(&repo, vec![session("b", "2026-03-01T13:00:00Z", &["2", "3"])]);
        let titles: Vec<_> = list(&repo).unwrap().into_iter().map(|s| s.meta.title).collect();
        assert_eq!(titles, ["Say", "Say (b)"]);
        assert!(Path::new(&repo.memory_dir()).join("index/seen").exists());
    }
}
