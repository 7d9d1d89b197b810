//! The storage tree: a session's record in `session/`, its messages in `message/`, their parts in `part/`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::parts::{Message, Part, Reading, in_order};
use super::{LONGEST, json};
use crate::session::lines::Damage;

/// Where a session's messages and parts are.
pub(super) struct Tree {
    messages: PathBuf,
    /// The folder with a folder of parts for each message; the oldest versions put all parts right into it.
    parts: PathBuf,
}

impl Tree {
    /// Around a session's record: `session/<project>/<session>.json` in a storage folder, or `session/info/<session>.json`
    /// in one of a project's own. `None` for a file elsewhere, or one whose id is no file's name.
    pub(super) fn around(record: &Path, id: &str) -> Option<Tree> {
        if !is_name(id) {
            return None;
        }
        let folder = record.parent()?;
        let above = folder.parent()?;
        let is = |path: &Path, name: &str| path.file_name().is_some_and(|found| found == name);
        let stem = record.file_stem()?;
        let of = |messages: PathBuf| Some(messages.join(id)).filter(|own| own.is_dir()).unwrap_or(messages.join(stem));
        if is(folder, "info") && is(above, "session") {
            return Some(Tree { messages: of(above.join("message")), parts: above.join("part").join(id) });
        }
        let storage = if is(above, "session") { above.parent()? } else { above };
        if !is(above, "session") && !is(folder, "session") {
            return None;
        }
        Some(Tree { messages: of(storage.join("message")), parts: storage.join("part") })
    }

    /// Reads the messages in their order.
    pub(super) fn read(&self, reading: &mut Reading, damage: &mut Damage) {
        let mut messages = Vec::new();
        for file in json_files(&self.messages, damage) {
            let Some(info) = document(&file, damage) else { continue };
            if let Some(id) = json::text(&info, "id").map(str::to_owned).or_else(|| stem(&file)) {
                messages.push((id, info));
            }
        }
        in_order(&mut messages);
        let ids: HashSet<&str> = messages.iter().map(|(id, _)| id.as_str()).collect();
        let mut flat = self.flat(&ids, damage);
        for (id, info) in messages {
            let own = Some(&id).filter(|id| is_name(id)).map(|id| self.parts.join(id));
            let files = own.map(|folder| json_files(&folder, damage)).unwrap_or_default();
            let mut parts: Vec<Part> = files.iter().filter_map(|file| part(file, damage)).collect();
            parts.extend(flat.remove(&id).unwrap_or_default());
            reading.message(Message { id, info, parts }, damage);
        }
    }

    /// The parts that lie right in the folder of parts, by their messages.
    fn flat(&self, messages: &HashSet<&str>, damage: &mut Damage) -> HashMap<String, Vec<Part>> {
        let mut flat: HashMap<String, Vec<Part>> = HashMap::new();
        if messages.iter().all(|id| is_name(id) && self.parts.join(id).is_dir()) {
            return flat;
        }
        for file in json_files(&self.parts, damage) {
            let Some(part) = part(&file, damage) else { continue };
            let message = json::text(&part.value, "messageID").filter(|id| messages.contains(id)).map(str::to_owned);
            if let Some(message) = message {
                flat.entry(message).or_default().push(part);
            }
        }
        flat
    }
}

/// The files of messages and parts that belong to a session's record; none when the file is no such record.
pub(super) fn files(record: &Path) -> Vec<PathBuf> {
    let mut ignored = Damage::default();
    if record.extension().is_none_or(|end| end != "json") || Tree::around(record, "id").is_none() {
        return Vec::new();
    }
    let id = document(record, &mut ignored).and_then(|value| json::text(&value, "id").map(str::to_owned));
    let Some(tree) = id.and_then(|id| Tree::around(record, &id)) else { return Vec::new() };
    let mut files = json_files(&tree.messages, &mut ignored);
    let folders: Vec<PathBuf> = files.iter().filter_map(|file| Some(tree.parts.join(stem(file)?))).collect();
    if folders.iter().any(|folder| !folder.is_dir()) {
        files.extend(json_files(&tree.parts, &mut ignored));
    }
    for folder in folders {
        files.extend(json_files(&folder, &mut ignored));
    }
    files
}

/// Whether an id is the name of a file, and no way out of its folder.
fn is_name(id: &str) -> bool {
    !id.is_empty() && id != "." && id != ".." && !id.contains(['/', '\\', ':', '\0'])
}

fn stem(file: &Path) -> Option<String> {
    Some(file.file_stem()?.to_string_lossy().into_owned())
}

fn part(file: &Path, damage: &mut Damage) -> Option<Part> {
    let value = document(file, damage)?;
    let id = json::text(&value, "id").map(str::to_owned).or_else(|| stem(file))?;
    Some(Part { id, value })
}

/// The JSON files of a folder, sorted by name; none where there is no such folder.
fn json_files(folder: &Path, damage: &mut Damage) -> Vec<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                damage.note("unreadable_part", 1);
            }
            return Vec::new();
        }
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort_unstable();
    files
}

fn document(file: &Path, damage: &mut Damage) -> Option<Value> {
    let read =
        fs::metadata(file).and_then(|meta| if meta.len() > LONGEST { Ok(None) } else { fs::read(file).map(Some) });
    match read {
        Ok(Some(bytes)) => json::value(&bytes, damage),
        Ok(None) => {
            damage.note("broken_part", 1);
            None
        }
        // It was taken away while the session was read.
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(_) => {
            damage.note("unreadable_part", 1);
            None
        }
    }
}
