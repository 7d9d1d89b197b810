//! What was inserted into agents' files, so that taking it out gives the old bytes back. A project's files are recorded
//! in its repository's local folder, the user's own in the user's state. It may be lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::{Ground, Place};
use super::{Error, change};

/// One insertion into a text, and what had to go for it (white space, if anything).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    /// The byte where it begins.
    at: usize,
    removed: String,
    inserted: String,
}

/// What was done to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The file was made.
    pub created: bool,
    /// The folders that were made for it, the deepest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
    /// What was inserted, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Who relies on it ([`Ground::user`]).
    #[serde(default)]
    pub users: BTreeSet<String>,
}

/// The steps from each text to the next.
pub(super) fn steps<'t>(first: &'t str, rest: impl IntoIterator<Item = &'t str>) -> Vec<Step> {
    let mut before = first;
    let mut steps = Vec::new();
    for after in rest {
        steps.push(between(before, after));
        before = after;
    }
    steps
}

fn between(before: &str, after: &str) -> Step {
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let mut head = same(before, after);
    while !(before.is_char_boundary(head) && after.is_char_boundary(head)) {
        head -= 1;
    }
    let (old, new) = (&before[head..], &after[head..]);
    let mut tail = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
    while !(old.is_char_boundary(old.len() - tail) && new.is_char_boundary(new.len() - tail)) {
        tail -= 1;
    }
    Step { at: head, removed: old[..old.len() - tail].to_owned(), inserted: new[..new.len() - tail].to_owned() }
}

/// Whether the steps take nothing away but white space.
pub(super) fn only_insert(steps: &[Step]) -> bool {
    steps.iter().all(|step| step.removed.trim().is_empty())
}

/// The text before these steps. Other parts of it may have changed since; `None` when what was inserted does not
/// stand there as it was inserted.
pub(super) fn undo(text: &str, steps: &[Step]) -> Option<String> {
    let mut text = text.to_owned();
    let mut shift = 0;
    for step in steps.iter().rev() {
        let there = step.at.checked_add_signed(shift)?;
        let at = if step.inserted.contains("git-memory") {
            let places = text.match_indices(&step.inserted).map(|(at, _)| at);
            places.min_by_key(|at| at.abs_diff(there))?
        } else {
            // A comma may be anybody's: this one stands as far from the step after it as it did.
            text.get(there..).filter(|rest| rest.starts_with(&step.inserted)).map(|_| there)?
        };
        shift = isize::try_from(at).ok()? - isize::try_from(step.at).ok()?;
        text.replace_range(at..at + step.inserted.len(), &step.removed);
    }
    Some(text)
}

/// The records of a place.
#[derive(Debug)]
pub(super) struct Records {
    project: Option<(PathBuf, Record)>,
    user: Record,
}

/// One file of records.
#[derive(Debug)]
struct Record {
    path: PathBuf,
    files: BTreeMap<String, Entry>,
    changed: bool,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    files: BTreeMap<String, Entry>,
}

impl Records {
    /// What is recorded; nothing where nothing can be read.
    pub fn load(ground: &Ground) -> Records {
        let project = match (&ground.place, &ground.memory) {
            (Place::Project(top), Some(memory)) => Some((change::real(top), Record::load(memory.join("agents.json")))),
            _ => None,
        };
        Records { project, user: Record::load(ground.homes.state.join("agents.json")) }
    }

    fn of(&mut self, file: &Path) -> &mut Record {
        match &mut self.project {
            Some((top, record)) if file.starts_with(&*top) => record,
            _ => &mut self.user,
        }
    }

    /// What is recorded of a file.
    pub fn get(&mut self, file: &Path) -> Option<Entry> {
        self.of(file).files.get(&*file.to_string_lossy()).cloned()
    }

    /// Records a file; `None` forgets it.
    pub fn set(&mut self, file: &Path, entry: Option<Entry>) {
        let key = file.to_string_lossy().into_owned();
        let record = self.of(file);
        let before = match entry.clone() {
            Some(entry) => record.files.insert(key, entry),
            None => record.files.remove(&key),
        };
        record.changed |= before != entry;
    }

    /// Writes what has changed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self) -> Result<(), Error> {
        let records = self.project.iter().map(|(_, record)| record).chain([&self.user]);
        records.filter(|record| record.changed).try_for_each(Record::save)
    }
}

impl Record {
    fn load(path: PathBuf) -> Record {
        let read = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Stored>(&bytes).ok());
        Record { path, files: read.map(|stored| stored.files).unwrap_or_default(), changed: false }
    }

    fn save(&self) -> Result<(), Error> {
        if self.files.is_empty() {
            return match std::fs::remove_file(&self.path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(Error::io("remove", &self.path, error))
                }
                _ => Ok(()),
            };
        }
        let text = serde_json::to_string_pretty(&Stored { files: self.files.clone() })
            .map_err(|error| Error::io("write", &self.path, error.into()))?;
        change::write(&self.path, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_comes_out_again_also_when_other_parts_have_changed() {
        let texts = ["é{ }", "é{\n git-memory a\n}", "é{\n git-memory a,\n git-memory b\n}"];
        let steps = steps(texts[0], texts[1..].iter().copied());
        assert_eq!(undo(texts[2], &steps).as_deref(), Some(texts[0]));
        assert_eq!(undo(&format!("more {} text", texts[2]), &steps).as_deref(), Some("more é{ } text"));
        assert_eq!(undo(&texts[2].replace('b', "c"), &steps), None);
    }

    #[test]
    fn of_two_places_the_nearer_one_is_meant() {
        let all = ["x[] y[]", "x[] y[git-memory]", "x[git-memory] y[git-memory]"];
        let steps = steps(all[0], all[1..].iter().copied());
        assert_eq!(undo(all[2], &steps).as_deref(), Some(all[0]));
    }

    #[test]
    fn a_comma_is_taken_only_where_it_was_put() {
        let all = ["[1 // a, b\n]", "[1, // a, b\n]", "[1, // a, b\n git-memory\n]"];
        let steps = steps(all[0], all[1..].iter().copied());
        assert_eq!(undo(all[2], &steps).as_deref(), Some(all[0]));
        assert_eq!(undo(&format!("//,\n{}", all[2]), &steps), Some(format!("//,\n{}", all[0])));
        assert_eq!(undo(&all[2].replace("a, b", "a,, b"), &steps), None);
    }

    #[test]
    fn steps_end_between_characters() {
        let steps = steps("ä", ["äö", "üäö"]);
        assert_eq!(undo("üäö", &steps).as_deref(), Some("ä"));
    }
}
