//! The journal of the run that is going on, local to the machine: what the next run finishes when this one dies.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::run::Run;

/// A journal is left alone for this long after its last write: its process may be at work on a slow disk.
const FRESH: Duration = Duration::from_secs(30);

/// The journal of one run.
pub struct Journal {
    path: PathBuf,
}

impl Journal {
    /// Begins one; the folder is made.
    pub fn begin(memory_dir: &Path, run: &Run) -> io::Result<Journal> {
        let folder = memory_dir.join("journal");
        fs::create_dir_all(&folder)?;
        let journal = Journal { path: folder.join(format!("{}.json", run.id)) };
        journal.write(run)?;
        Ok(journal)
    }

    /// Writes how far the run has come.
    pub fn write(&self, run: &Run) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut file, run)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }

    /// The run is recorded in the ledger: the journal goes.
    pub fn end(self) {
        // One that stays behind is found recorded, and removed, by the next run.
        let _ = fs::remove_file(&self.path);
    }

    /// What dead processes left. The caller holds the worker's lock, so no other run is alive; journals younger than
    /// 30 s are left for later all the same. A malformed one is moved aside and cannot block later runs.
    pub fn left_behind(memory_dir: &Path) -> Vec<(Journal, Run)> {
        let Ok(entries) = fs::read_dir(memory_dir.join("journal")) else { return Vec::new() };
        let mut left = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "json") || is_fresh(&entry) {
                continue;
            }
            match fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Run>(&bytes).ok()) {
                Some(run) => left.push((Journal { path }, run)),
                None => {
                    let _ = fs::rename(&path, path.with_extension("malformed"));
                }
            }
        }
        left.sort_by(|(_, a), (_, b)| a.id.cmp(&b.id));
        left
    }
}

fn is_fresh(entry: &fs::DirEntry) -> bool {
    // Tests of recovery cannot wait: debug builds take the age from the environment.
    #[cfg(debug_assertions)]
    if std::env::var_os("GIT_MEMORY_JOURNAL_STALE").is_some() {
        return false;
    }
    let modified = entry.metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|age| age < FRESH))
}
