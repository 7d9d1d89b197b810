//! Which observations are held by captured sessions: read from the refs, remembered in a file that may be lost.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::builder::number;
use super::stored::{held, sessions};
use crate::git::{Oid, Repo, Result};

/// What one ref held when it was read.
#[derive(Serialize, Deserialize)]
pub(super) struct Held {
    pub commit: String,
    pub title: String,
    /// Digests of the ids of its observations, 16 hexadecimal digits each.
    ids: String,
}

impl Held {
    /// Of a session that no ref names yet.
    pub(super) fn new<'i>(title: String, ids: impl Iterator<Item = &'i str>) -> Held {
        let ids = ids.map(|id| format!("{:016x}", number(id.as_bytes()))).collect();
        Held { commit: String::new(), title, ids }
    }

    fn numbers(&self) -> impl Iterator<Item = u64> {
        let digits = self.ids.as_bytes().chunks(16);
        digits.filter_map(|digits| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())
    }
}

/// The observations of all captured sessions.
pub(super) struct Seen {
    by_session: BTreeMap<String, Held>,
    /// Which of the names holds an observation.
    holder: HashMap<u64, usize>,
    names: Vec<String>,
    file: PathBuf,
    /// The file tells otherwise.
    changed: bool,
}

impl Seen {
    /// Reads what is remembered, and from the refs what has changed since.
    ///
    /// # Errors
    /// When a session cannot be read. A remembered file that cannot be read is the same as none.
    pub(super) fn load(repo: &Repo) -> Result<Seen> {
        let file = repo.memory_dir().join("index").join("seen");
        let mut remembered: BTreeMap<String, Held> =
            std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let (by_session, holder, names) = Default::default();
        let mut seen = Seen { by_session, holder, names, file, changed: false };
        let mut changed = false;
        for (id, commit) in sessions(repo)? {
            let name = commit.to_string();
            let known = remembered.remove(&id).filter(|held| held.commit == name);
            changed |= known.is_none();
            let held = match known {
                Some(held) => held,
                None => held(repo, commit)?,
            };
            seen.add(&id, held);
        }
        seen.changed = changed || !remembered.is_empty();
        Ok(seen)
    }

    /// Notes what a session holds now.
    pub(super) fn add(&mut self, session: &str, held: Held) {
        for id in held.numbers() {
            self.holder.entry(id).or_insert(self.names.len());
        }
        self.names.push(session.to_owned());
        self.by_session.insert(session.to_owned(), held);
        self.changed = true;
    }

    /// Notes which commit its ref names now.
    pub(super) fn stands(&mut self, session: &str, commit: Oid) {
        if let Some(held) = self.by_session.get_mut(session) {
            held.commit = commit.to_string();
        }
    }

    /// The commit that a session's ref named when all were read.
    pub(super) fn commit(&self, session: &str) -> Option<Oid> {
        Oid::from_hex(self.by_session.get(session)?.commit.as_bytes()).ok()
    }

    /// Whether another session has this title.
    pub(super) fn has_title(&self, session: &str, title: &str) -> bool {
        self.by_session.iter().any(|(id, held)| id != session && held.title == title)
    }

    /// Whether another session holds this observation.
    pub(super) fn elsewhere(&self, session: &str, observation: &str) -> bool {
        let holder = self.holder.get(&number(observation.as_bytes()));
        holder.is_some_and(|holder| self.names[*holder] != session)
    }

    /// Remembers it for the next time. Failing to is no failure: the refs know it all.
    pub(super) fn save(&self) {
        let Some(folder) = self.file.parent().filter(|_| self.changed) else { return };
        let written = std::fs::create_dir_all(folder).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer(std::io::BufWriter::new(&mut file), &self.by_session)?;
            file.persist(&self.file).map_err(|error| error.error)?;
            Ok(())
        });
        drop(written);
    }
}
