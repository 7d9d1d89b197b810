//! Gemini CLI's session files: one JSON document, or one record a line.
//!
//! A record is a header, a message (one of an id that was there replaces it), `{"$set": …}`, or `{"$rewindTo": id}`.
//! `$set.messages` is what the model still has before it after a compression or an aborted turn, under old or new ids:
//! it adds what was not said before and takes nothing away. `$rewindTo` takes that message and all after it away,
//! because a person took them back.

mod document;
mod message;
mod place;
mod words;

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};
use std::path::Path;

use serde_json::Value;

use self::document::{Document, Piece};
pub use self::place::{Project, project};
use super::builder::digest;
use super::gather::{Gathered, everywhere, text};
use super::json_lines::{self, Format};
use super::lines::{self, Damage, Lines};
use super::times;
use super::{Agent, Observation, ReadOptions, Session};

/// What stands behind the beginning of another record and is whole is a record.
const FORMAT: Format = Format { starts: &["{\"id\":", "{\"$set\":", "{\"sessionId\":"], is_telling: |_| true };

/// Whether a line can only be this agent's, also when it is damaged.
pub(super) fn is_telling(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    // A document that is written over many lines.
    if line.strip_prefix("\"projectHash\"").is_some_and(|rest| rest.trim_start().starts_with(':')) {
        return true;
    }
    if !line.starts_with('{') {
        return false;
    }
    let Ok(record) = serde_json::from_str::<Value>(&line) else {
        return line.contains("\"projectHash\":") && line.contains("\"sessionId\":")
            || line.contains("\"type\":\"gemini\"") && line.contains("\"id\":");
    };
    let has = |name: &str| record.get(name).is_some();
    let patch = record.get("$set").and_then(Value::as_object);
    text(&record, "sessionId").is_some() && text(&record, "projectHash").is_some()
        || text(&record, "type") == Some("gemini") && has("id") && (has("content") || has("toolCalls"))
        || patch.is_some_and(|patch| patch.contains_key("lastUpdated") || patch.contains_key("messages"))
}

/// Whether a whole file, one JSON document, is this agent's, by its top-level keys.
pub(super) fn is_document(keys: &[String]) -> bool {
    let has = |name: &str| keys.iter().any(|key| key == name);
    has("sessionId") && has("messages") && (has("projectHash") || has("startTime") && has("lastUpdated"))
}

/// Reads a file; none when there is nothing to learn from it, or nothing of it may be kept.
pub(super) fn read(
    mut source: impl BufRead,
    path: &Path,
    options: ReadOptions,
    damage: &mut Damage,
) -> io::Result<Vec<Session>> {
    let mut reading = Reading::new(path, options);
    if document::is_one(source.fill_buf()?) {
        let mut document = Document::new(source);
        while let Some(piece) = document.next(damage)? {
            reading.piece(&piece, damage);
        }
    } else {
        let mut source = Lines::new(source);
        while let Some(line) = source.next(damage)? {
            reading.line(&line, damage);
        }
    }
    Ok(reading.finish().into_iter().collect())
}

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Role {
    User,
    Model,
    Notice,
}

/// A message as far as it is kept.
struct Message {
    id: String,
    role: Role,
    /// The pieces of what was said, in short.
    said: Vec<String>,
    observations: Vec<Observation>,
    /// It was said before under another id, or taken back.
    gone: bool,
}

/// What is known of a file so far.
struct Reading<'o> {
    path: &'o Path,
    gathered: Gathered<'o>,
    session: Option<String>,
    subagent: bool,
    messages: Vec<Message>,
    /// Where a message stands, by its id.
    at: HashMap<String, usize>,
    /// Tool calls: whose message they stand in and the tool; `None`: dropped, and its result goes too.
    calls: HashMap<String, (usize, Option<String>)>,
    /// Calls whose result is there.
    answered: HashSet<String>,
    /// The pieces of text that were said, in short.
    pieces: HashSet<String>,
    /// How often a text without an id was met.
    unnamed: HashMap<String, usize>,
}

impl<'o> Reading<'o> {
    fn new(path: &'o Path, options: ReadOptions<'o>) -> Self {
        let mut gathered = Gathered::new(options);
        if let Some(folder) = place::told_beside(path) {
            gathered.ran_in(&folder);
        }
        Reading {
            path,
            gathered,
            session: None,
            subagent: false,
            messages: Vec::new(),
            at: HashMap::new(),
            calls: HashMap::new(),
            answered: HashSet::new(),
            pieces: HashSet::new(),
            unnamed: HashMap::new(),
        }
    }

    fn line(&mut self, line: &lines::Line, damage: &mut Damage) {
        json_lines::objects(line, &FORMAT, damage, &mut |text, damage| {
            let (record, length) = json_lines::first(text)?;
            self.record(&record, line.number, damage);
            Some(length)
        });
    }

    fn piece(&mut self, piece: &Piece, damage: &mut Damage) {
        let line = lines::Line::alone(piece.number, &piece.bytes, true);
        let format = Format { starts: &[], ..FORMAT };
        json_lines::objects(&line, &format, damage, &mut |text, damage| {
            let (record, length) = json_lines::first(text)?;
            match piece.message {
                true => self.message(&record, false, piece.number, damage),
                false => self.about(&record, piece.number, damage),
            }
            Some(length)
        });
    }

    fn record(&mut self, record: &Value, number: usize, damage: &mut Damage) {
        if let Some(id) = text(record, "$rewindTo") {
            self.rewind(id);
        } else if let Some(patch) = record.get("$set") {
            self.about(patch, number, damage);
            self.synced(patch.get("messages"), number, damage);
        } else if text(record, "type").is_some() {
            self.message(record, false, number, damage);
        } else if text(record, "sessionId").is_some() || text(record, "projectHash").is_some() {
            self.about(record, number, damage);
            for message in record.get("messages").and_then(Value::as_array).into_iter().flatten() {
                self.message(message, false, number, damage);
            }
        } else {
            damage.note("unknown_type", number);
        }
    }

    /// What a record says about the session as a whole.
    fn about(&mut self, record: &Value, number: usize, damage: &mut Damage) {
        if self.session.is_none() {
            self.session = text(record, "sessionId").map(str::to_owned);
        }
        self.subagent |= text(record, "kind") == Some("subagent");
        if let Some(hash) = text(record, "projectHash") {
            let listed = record.get("directories").and_then(Value::as_array).into_iter().flatten();
            let listed = listed.filter_map(Value::as_str).map(str::to_owned);
            let known = self.gathered.options.policy.folders.iter().cloned();
            if let Some(folder) = listed.chain(known).find(|folder| place::hash(folder) == hash) {
                self.gathered.ran_in(&folder);
            }
        }
        for name in ["startTime", "lastUpdated"] {
            match times::of_field(record.get(name)) {
                Ok(at) => self.gathered.happened(at),
                Err(()) => damage.note("bad_timestamp", number),
            }
        }
    }

    fn rewind(&mut self, id: &str) {
        // Of a message that was never here nothing can be told; to take all away, as the program does, would lose
        // what a person said before a compression.
        let Some(&from) = self.at.get(id) else { return };
        for message in &mut self.messages[from..] {
            message.gone = true;
        }
    }

    /// What the model has before it now: copies under new ids are no new messages, all that is new is.
    fn synced(&mut self, messages: Option<&Value>, number: usize, damage: &mut Damage) {
        let messages = || messages.and_then(Value::as_array).into_iter().flatten();
        let ids: HashSet<&str> = messages().filter_map(|message| text(message, "id")).collect();
        for (id, copy, original) in self.copies(&ids) {
            self.messages[copy].gone = true;
            self.at.insert(id, original);
        }
        for message in messages() {
            if text(message, "id").is_some_and(|id| !self.at.contains_key(id)) {
                self.message(message, true, number, damage);
            }
        }
    }

    /// Of these messages those in which only is what stands before them in others: their id, and where both stand.
    fn copies(&self, ids: &HashSet<&str>) -> Vec<(String, usize, usize)> {
        let mut first: HashMap<(Role, &str), usize> = HashMap::new();
        for (at, known) in self.messages.iter().enumerate() {
            if !known.gone && !ids.contains(known.id.as_str()) {
                for piece in &known.said {
                    first.entry((known.role, piece)).or_insert(at);
                }
            }
        }
        let copy = |id: &&str| {
            let at = *self.at.get(*id)?;
            let message = self.messages.get(at).filter(|message| !message.gone)?;
            let before =
                |piece: &String| first.get(&(message.role, piece.as_str())).copied().filter(|known| *known < at);
            let originals: Vec<usize> = message.said.iter().map(before).collect::<Option<_>>()?;
            Some(((*id).to_owned(), at, *originals.first()?))
        };
        ids.iter().filter_map(copy).collect()
    }

    /// The session; `None` when there is nothing in it, or nothing of it may be kept.
    fn finish(self) -> Option<Session> {
        let Reading { path, mut gathered, session, subagent, messages, .. } = self;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let recorded = session.unwrap_or_else(|| stem.clone());
        let (id, parent) = match subagent {
            true => {
                let parent = place::parent(path).unwrap_or_else(|| recorded.clone());
                (format!("{parent}-agent-{stem}"), Some(parent))
            }
            false => (recorded, None),
        };
        let kept = messages.into_iter().filter(|message| !message.gone).flat_map(|message| message.observations);
        gathered.observations = kept.collect();
        let named = gathered.options.redactor.redact(&id);
        for observation in &mut gathered.observations {
            observation.id = everywhere(&named, &observation.id);
        }
        gathered.close(Agent::Gemini, &id, parent.as_deref())
    }

    /// The id of a message that has none: by its content and how often that was met.
    fn name(&mut self, message: &Value) -> String {
        let content = digest(message.to_string().as_bytes());
        let times = self.unnamed.entry(content.clone()).or_default();
        *times += 1;
        digest(format!("{content} {times}").as_bytes())
    }
}

#[cfg(test)]
mod tests;
