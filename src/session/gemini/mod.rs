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

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::document::{Document, Piece};
pub use self::place::{Project, project};
use super::builder::digest;
use super::gather::{Anew, Gathered, text};
use super::json_lines::{self, Format};
use super::lines::{self, Damage, Place};
use super::read::Given;
use super::resume::{self, End, Reader};
use super::{Agent, Observation, ObservationKind as Kind, ReadOptions, times};

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

/// What must be known of the lines before.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct Known {
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

pub(super) type State = resume::State<Known>;

/// Reads a file, or what stands behind a place that was reached in a state; gives nothing when there is nothing to learn
/// from it, or nothing of it may be kept.
pub(super) fn read(
    mut source: impl BufRead,
    path: &Path,
    options: ReadOptions,
    from: Option<(&Place, State)>,
    damage: &mut Damage,
    give: &mut dyn FnMut(Given),
) -> io::Result<End<Box<State>>> {
    let (place, state) = from.unzip();
    let mut reading = Reading::new(path, options, state.unwrap_or_default());
    if place.is_some() || !document::is_one(source.fill_buf()?) {
        return resume::read(reading, source, place, damage, give);
    }
    let mut document = Document::new(source);
    while let Some(piece) = document.next(damage)? {
        reading.piece(&piece, damage);
    }
    let cwd = reading.gathered.about.cwd.clone();
    if let Ok(Some(given)) = reading.finish() {
        give(given);
    }
    Ok(End::Read { bookmark: None, cwd })
}

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Role {
    User,
    Model,
    Notice,
}

/// A message as far as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Message {
    id: String,
    role: Role,
    /// The pieces of what was said, in short.
    said: Vec<String>,
    /// What stands of it, with what earlier reads gave.
    parts: Vec<Part>,
    /// It was said before under another id, or taken back.
    gone: bool,
}

/// An observation of a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Part {
    id: String,
    is_result: bool,
    /// An earlier read gave it.
    #[serde(skip, default = "yes")]
    is_given: bool,
    #[serde(skip)]
    read: Option<Observation>,
}

fn yes() -> bool {
    true
}

impl Part {
    fn new(read: Observation) -> Part {
        let is_result = read.kind == Kind::ToolResult;
        Part { id: read.id.clone(), is_result, is_given: false, read: Some(read) }
    }
}

/// What is known of a file so far.
struct Reading<'o> {
    path: &'o Path,
    gathered: Gathered<'o>,
    known: Known,
    /// What was read cannot be added behind what stands.
    anew: bool,
}

impl<'o> Reader<'o> for Reading<'o> {
    type Known = Known;

    fn gathered(&self) -> &Gathered<'o> {
        &self.gathered
    }

    fn known(&self) -> Known {
        self.known.clone()
    }

    fn observations(&self) -> impl Iterator<Item = &Observation> {
        let stands = self.known.messages.iter().filter(|message| !message.gone);
        stands.flat_map(|message| &message.parts).filter_map(|part| part.read.as_ref())
    }

    fn line(&mut self, line: &lines::Line, damage: &mut Damage) {
        json_lines::objects(line, &FORMAT, damage, &mut |text, damage| {
            let (record, length) = json_lines::first(text)?;
            self.record(&record, line.number, damage);
            Some(length)
        });
    }

    /// The session; `None` when there is nothing in it, or nothing of it may be kept.
    fn finish(mut self) -> Result<Option<Given>, Anew> {
        let (id, parent) = self.identity();
        if self.anew {
            return Err(Anew);
        }
        let stands = std::mem::take(&mut self.known.messages).into_iter().filter(|message| !message.gone);
        self.gathered.observations = stands.flat_map(|message| message.parts).filter_map(|part| part.read).collect();
        self.gathered.close(Agent::Gemini, &id, parent.as_deref(), parent.is_some())
    }
}

impl<'o> Reading<'o> {
    fn new(path: &'o Path, options: ReadOptions<'o>, State { about, known }: State) -> Self {
        let mut gathered = Gathered::new(options, about);
        if let Some(folder) = place::told_beside(path) {
            gathered.ran_in(&folder);
        }
        let mut reading = Reading { path, gathered, known, anew: false };
        reading.named();
        reading
    }

    /// The session's id, and that of the session that it is a subagent's of.
    fn identity(&self) -> (String, Option<String>) {
        let stem = self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let recorded = self.known.session.clone().unwrap_or_else(|| stem.clone());
        if !self.known.subagent {
            return (recorded, None);
        }
        let parent = place::parent(self.path).unwrap_or(recorded);
        (format!("{parent}-agent-{stem}"), Some(parent))
    }

    fn named(&mut self) {
        let (id, _) = self.identity();
        self.gathered.name = Some(self.gathered.options.redactor.redact(&id).into_owned());
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
        if self.known.session.is_none() {
            self.known.session = text(record, "sessionId").map(str::to_owned);
        }
        self.known.subagent |= text(record, "kind") == Some("subagent");
        self.named();
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
        let Some(&from) = self.known.at.get(id) else { return };
        (from..self.known.messages.len()).for_each(|at| self.take_back(at));
    }

    fn take_back(&mut self, at: usize) {
        let message = &mut self.known.messages[at];
        message.gone = true;
        self.gathered.gone.extend(message.parts.iter().map(|part| part.id.clone()));
    }

    /// What the model has before it now: copies under new ids are no new messages, all that is new is.
    fn synced(&mut self, messages: Option<&Value>, number: usize, damage: &mut Damage) {
        let messages = || messages.and_then(Value::as_array).into_iter().flatten();
        let ids: HashSet<&str> = messages().filter_map(|message| text(message, "id")).collect();
        for (id, copy, original) in self.copies(&ids) {
            self.take_back(copy);
            self.known.at.insert(id, original);
        }
        for message in messages() {
            if text(message, "id").is_some_and(|id| !self.known.at.contains_key(id)) {
                self.message(message, true, number, damage);
            }
        }
    }

    /// Of these messages those in which only is what stands before them in others: their id, and where both stand.
    fn copies(&self, ids: &HashSet<&str>) -> Vec<(String, usize, usize)> {
        let mut first: HashMap<(Role, &str), usize> = HashMap::new();
        for (at, known) in self.known.messages.iter().enumerate() {
            if !known.gone && !ids.contains(known.id.as_str()) {
                for piece in &known.said {
                    first.entry((known.role, piece)).or_insert(at);
                }
            }
        }
        let copy = |id: &&str| {
            let at = *self.known.at.get(*id)?;
            let message = self.known.messages.get(at).filter(|message| !message.gone)?;
            let before =
                |piece: &String| first.get(&(message.role, piece.as_str())).copied().filter(|known| *known < at);
            let originals: Vec<usize> = message.said.iter().map(before).collect::<Option<_>>()?;
            Some(((*id).to_owned(), at, *originals.first()?))
        };
        ids.iter().filter_map(copy).collect()
    }

    /// The id of a message that has none: by its content and how often that was met.
    fn name(&mut self, message: &Value) -> String {
        let content = digest(message.to_string().as_bytes());
        let times = self.known.unnamed.entry(content.clone()).or_default();
        *times += 1;
        digest(format!("{content} {times}").as_bytes())
    }
}

#[cfg(test)]
mod tests;
