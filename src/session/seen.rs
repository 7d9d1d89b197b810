//! Which observations are held by captured sessions: read from the refs, remembered in a file that may be lost.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::store::{held, sessions};
use crate::git::{Repo, Result};

/// What one ref held when it was read.
#[derive(Serialize, Deserialize)]
pub(super) struct Held {
    pub commit: String,
    pub title: String,
    pub ids: Vec<String>,
}

/// The observations of all captured sessions.
pub(super) struct Seen {
    by_session: BTreeMap<String, Held>,
    holder: HashMap<String, String>,
    file: PathBuf,
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
        let mut seen = Seen { by_session: BTreeMap::new(), holder: HashMap::new(), file };
        for (id, commit) in sessions(repo)? {
            let name = commit.to_string();
            let known = remembered.remove(&id).filter(|held| held.commit == name);
            let held = match known {
                Some(held) => held,
                None => held(repo, commit)?,
            };
            seen.add(&id, held);
        }
        Ok(seen)
    }

    /// Notes what a session holds now.
    pub(super) fn add(&mut self, session: &str, held: Held) {
        for id in &held.ids {
            self.holder.entry(id.clone()).or_insert_with(|| session.to_owned());
        }
        self.by_session.insert(session.to_owned(), held);
    }

    /// Whether another session has this title.
    pub(super) fn has_title(&self, session: &str, title: &str) -> bool {
        self.by_session.iter().any(|(id, held)| id != session && held.title == title)
    }

    /// Whether another session holds this observation.
    pub(super) fn elsewhere(&self, session: &str, observation: &str) -> bool {
        self.holder.get(observation).is_some_and(|holder| holder != session)
    }

    /// Remembers it for the next time. Failing to is no failure: the refs know it all.
    pub(super) fn save(&self) {
        let Some(folder) = self.file.parent() else { return };
        let written = std::fs::create_dir_all(folder).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer(std::io::BufWriter::new(&mut file), &self.by_session)?;
            file.persist(&self.file).map_err(|error| error.error)?;
            Ok(())
        });
        drop(written);
    }
}
