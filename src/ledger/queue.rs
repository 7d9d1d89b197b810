//! What hooks saw and the worker has not looked at yet: one small file per event in `queue/` of the local folder.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::wiki::shown::json_fault;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ulid::Ulid;

/// Something that happened in a repository and may be worth a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    /// What saw it: the name of a git hook, or `capture`.
    pub event: String,
    /// The commit it left behind, in hex; `None` where the event is about no commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oid: Option<String>,
    /// The git folder of the repository it happened in (bad UTF-8 replaced).
    pub repo: String,
    /// When.
    pub at: Timestamp,
}

impl Queued {
    /// Whether one review serves both: the same commit of the same repository.
    fn same_as(&self, other: &Queued) -> bool {
        self.oid.is_some() && self.oid == other.oid && self.repo == other.repo
    }
}

/// A queued event with the files that say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The event.
    pub queued: Queued,
    /// Its files; several when it was queued more than once.
    pub files: Vec<PathBuf>,
}

/// What stands in the queue.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// The events, oldest first, each commit once.
    pub waiting: Vec<Waiting>,
    /// Files that cannot be read as events, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// The folder of the queue below the local folder (`$GIT_COMMON_DIR/memory`).
fn folder(memory: &Path) -> PathBuf {
    memory.join("queue")
}

/// Adds an event. A commit that is waiting already is not added again. Returns whether a file was written.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn push(memory: &Path, queued: &Queued) -> std::io::Result<bool> {
    let folder = folder(memory);
    fs::create_dir_all(&folder)?;
    if list(memory)?.waiting.iter().any(|waiting| waiting.queued.same_as(queued)) {
        return Ok(false);
    }
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&folder)?;
    file.write_all(&serde_json::to_vec(queued)?)?;
    file.persist(folder.join(format!("{}.json", Ulid::new()))).map_err(|error| error.error)?;
    Ok(true)
}

/// What waits, oldest first. A queue that was never made is empty.
///
/// # Errors
/// When the folder exists and cannot be read.
pub fn list(memory: &Path) -> std::io::Result<Queue> {
    let entries = match fs::read_dir(folder(memory)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Queue::default()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "json") {
            files.push(path);
        }
    }
    files.sort_unstable();
    let mut queue = Queue::default();
    for path in files {
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // The worker took it between the listing and now.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                queue.unreadable.push((path, error.to_string()));
                continue;
            }
        };
        match serde_json::from_slice::<Queued>(&bytes) {
            Err(error) => queue.unreadable.push((path, json_fault(&error))),
            Ok(queued) => match queue.waiting.iter_mut().find(|waiting| waiting.queued.same_as(&queued)) {
                Some(waiting) => waiting.files.push(path),
                None => queue.waiting.push(Waiting { queued, files: vec![path] }),
            },
        }
    }
    Ok(queue)
}

/// Takes events out of the queue. Files that are gone already do not matter.
///
/// # Errors
/// When a file cannot be deleted.
pub fn remove(done: &[Waiting]) -> std::io::Result<()> {
    for file in done.iter().flat_map(|waiting| &waiting.files) {
        match fs::remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, oid: Option<&str>) -> Queued {
        Queued { event: name.into(), oid: oid.map(Into::into), repo: "/r/.git".into(), at: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn an_event_comes_back_and_goes_when_removed() {
        let memory = tempfile::tempdir().unwrap();
        assert!(push(memory.path(), &event("post-commit", Some("aa"))).unwrap());
        let queue = list(memory.path()).unwrap();
        assert_eq!(queue.waiting[0].queued, event("post-commit", Some("aa")));
        remove(&queue.waiting).unwrap();
        assert_eq!(list(memory.path()).unwrap(), Queue::default());
    }

    #[test]
    fn the_same_commit_waits_once_and_events_without_a_commit_each() {
        let memory = tempfile::tempdir().unwrap();
        assert!(push(memory.path(), &event("post-commit", Some("aa"))).unwrap());
        assert!(!push(memory.path(), &event("post-rewrite", Some("aa"))).unwrap());
        push(memory.path(), &event("capture", None)).unwrap();
        push(memory.path(), &event("capture", None)).unwrap();
        assert_eq!(list(memory.path()).unwrap().waiting.len(), 3);
    }

    #[test]
    fn a_queue_that_was_never_made_is_empty_and_a_torn_file_is_reported() {
        let memory = tempfile::tempdir().unwrap();
        assert_eq!(list(memory.path()).unwrap(), Queue::default());
        push(memory.path(), &event("post-commit", Some("aa"))).unwrap();
        fs::write(memory.path().join("queue/0.json"), b"{\"event\":").unwrap();
        let queue = list(memory.path()).unwrap();
        assert_eq!((queue.waiting.len(), queue.unreadable.len()), (1, 1));
    }
}
