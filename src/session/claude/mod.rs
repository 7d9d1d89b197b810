//! Claude Code's session files: one JSON object a line.

mod beside;
mod finish;
mod human;
mod input;
mod line;
mod state;
mod turns;

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};
use std::path::Path;

use jiff::Timestamp;

use self::line::{Line, Loose};
pub(super) use self::state::State;
use self::state::{About, Added, Open, Queued};
use super::builder::{self, Titled, digest};
use super::json_lines::{self, Format};
use super::lines::{self, Damage, Lines, Place};
use super::read::Given;
use super::resume::End;
use super::times;
use super::{Observation, ObservationKind as Kind, Policy, ReadOptions};

const FORMAT: Format = Format { starts: &["{\"parentUuid\":", "{\"type\":"], is_telling };

/// Whether a line can only be Claude Code's, also when it is damaged.
pub(super) fn is_telling(bytes: &[u8]) -> bool {
    if !bytes.starts_with(b"{") {
        return false;
    }
    let text = String::from_utf8_lossy(bytes);
    match json_lines::first::<Line>(&text) {
        Some((line, _)) => line.is_telling(),
        None => {
            let claims = |word: &str| text.contains(word);
            claims("\"parentUuid\":")
                || claims("\"message\":") && (claims("\"type\":\"user\"") || claims("\"type\":\"assistant\""))
        }
    }
}

/// A session whose kept text takes more memory than this is given in parts.
const PART: usize = 16 << 20;

/// Reads a file, or what stands behind a place that was reached in a state, and gives each part of the session; none
/// when there is nothing to learn from it, or nothing of it may be kept.
pub(super) fn read(
    source: impl BufRead,
    path: &Path,
    options: ReadOptions,
    from: Option<(&Place, State)>,
    damage: &mut Damage,
    give: &mut dyn FnMut(Given),
) -> io::Result<End<Box<State>>> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if stem.starts_with("agent-acompact-") {
        return Ok(End::Read { bookmark: None, cwd: None });
    }
    let (mut source, state) = match from {
        Some((place, state)) => (Lines::behind(source, place), Some(state)),
        None => (Lines::new(source), None),
    };
    let mut reading = Reading::new(path, stem, options, state);
    let mut bookmark = None;
    while let Some(line) = source.next(damage)? {
        if reading.about.held > PART {
            match reading.part() {
                Some(given) => give(given),
                None if reading.anew => return Ok(End::Anew),
                None => {}
            }
            reading.begin_part();
        }
        // A line that is not whole yet is read again when it is.
        if !line.whole {
            bookmark = Some(reading.bookmark(line.place()));
        }
        reading.line(&line, damage);
    }
    let mut bookmark = bookmark.unwrap_or_else(|| reading.bookmark(source.place()));
    match reading.part() {
        Some(given) => {
            if let Some((_, state)) = &mut bookmark {
                state.id = Some(given.session.id.clone());
            }
            give(given);
        }
        None if reading.anew => return Ok(End::Anew),
        None => {}
    }
    Ok(End::Read { bookmark, cwd: reading.about.cwd })
}

/// An observation, and whether a subagent made it.
struct Item {
    observation: Observation,
    sidechain: bool,
}

/// The answer text that was read last: later lines with the same message may continue it.
struct LastText {
    message: String,
    text: String,
    item: usize,
}

/// What is known of a file so far.
struct Reading<'o> {
    options: ReadOptions<'o>,
    path: &'o Path,
    stem: String,
    /// The file is a subagent's by its name.
    agent_file: bool,
    policy: Option<Policy>,
    about: About,
    items: Vec<Item>,
    seen: HashSet<u64>,
    calls: HashMap<u64, Option<String>>,
    said: Vec<u64>,
    queued: Vec<Queued>,
    /// Ids of observations that an earlier read may have given and that are none any more.
    gone: Vec<String>,
    last_text: Option<LastText>,
    open: Open,
    added: Added,
    /// How many objects of the line were read.
    objects: usize,
    /// The prompt before this read that gave the title.
    titled: Option<Titled>,
    /// The id under which earlier reads gave what came before.
    given: Option<String>,
    /// What came before was given under another id or title than it has now.
    anew: bool,
}

/// What all events of one line share.
struct Origin<'l> {
    line: &'l lines::Line<'l>,
    id: String,
    at: Option<Timestamp>,
    sidechain: bool,
    /// How many observations the line gave so far.
    made: usize,
    /// What was known before the line, where an answer may begin.
    before: Option<About>,
}

impl<'o> Reading<'o> {
    fn new(path: &'o Path, stem: String, options: ReadOptions<'o>, state: Option<State>) -> Self {
        let state = state.unwrap_or_default();
        let mut reading = Reading {
            options,
            path,
            agent_file: stem.starts_with("agent-"),
            stem,
            policy: None,
            about: state.about,
            items: Vec::new(),
            seen: state.seen,
            calls: state.calls,
            said: state.said,
            queued: state.queued,
            gone: Vec::new(),
            last_text: None,
            open: Open::No,
            added: Added::default(),
            objects: 0,
            titled: state.titled,
            given: state.id,
            anew: false,
        };
        reading.find_policy();
        reading
    }

    /// The state in which reading goes on: at a place between two lines, or where the answer began that may go on.
    fn bookmark(&self, place: Place) -> Option<(Place, Box<State>)> {
        if self.policy.as_ref().is_some_and(|policy| policy.metadata_only) {
            return None;
        }
        let (mut seen, mut calls) = (self.seen.clone(), self.calls.clone());
        let (place, about, said, queued, items) = match &self.open {
            Open::Lost => return None,
            Open::No => (place, &self.about, self.said.len(), self.queued.len(), self.items.len()),
            Open::Since(mark) => {
                for line in &self.added.seen {
                    seen.remove(line);
                }
                for call in &self.added.calls {
                    calls.remove(call);
                }
                (mark.place.clone(), &mark.about, mark.said, mark.queued, mark.items)
            }
        };
        let state = State {
            about: about.clone(),
            seen,
            calls,
            said: self.said[..said].to_vec(),
            queued: self.queued[..queued].to_vec(),
            titled: self.titled(&self.items[..items]),
            id: self.given.clone(),
        };
        Some((place, Box::new(state)))
    }

    fn begin_part(&mut self) {
        self.items.clear();
        self.said.clear();
        self.queued.clear();
        self.gone.clear();
        self.last_text = None;
        self.open = Open::No;
        self.titled = None;
        self.given = None;
        let about = &mut self.about;
        (about.parts, about.held, about.started, about.ended) = (about.parts + 1, 0, None, None);
    }

    fn line(&mut self, line: &lines::Line, damage: &mut Damage) {
        self.objects = 0;
        self.added.begin_line(&self.open);
        json_lines::objects(line, &FORMAT, damage, &mut |text, damage| {
            let (object, length) = json_lines::first(text)?;
            self.object(&object, &text[..length], line, damage);
            Some(length)
        });
    }

    fn object(&mut self, line: &Line, raw: &str, source: &lines::Line, damage: &mut Damage) {
        let number = source.number;
        let Some(kind) = line.kind().filter(|_| line.is_known()) else {
            damage.note("unknown_type", number);
            return;
        };
        let at = timestamp(&line.timestamp);
        if at.is_none() && line.timestamp != Loose::Other {
            damage.note("bad_timestamp", number);
        }
        if line.uuid.text().is_some_and(|id| !self.is_new(id)) {
            return;
        }
        let before = (kind == "assistant" && self.objects == 0).then(|| self.about.clone());
        self.objects += 1;
        self.about(line, kind, at);
        if !matches!(kind, "user" | "assistant" | "system" | "attachment" | "queue-operation") {
            return;
        }
        let policy = self.policy.as_ref();
        if policy.is_some_and(|policy| policy.metadata_only || !policy.enabled) {
            return;
        }
        let id = line.uuid.text().map_or_else(|| format!("line-{}", digest(raw.as_bytes())), str::to_owned);
        // Without an identity of its own a line is known by its text.
        if line.uuid.text().is_none() && !self.is_new(&id) {
            return;
        }
        let sidechain = line.sidechain.is_true();
        let mut origin = Origin { line: source, id, at, sidechain, made: 0, before };
        match kind {
            "user" => self.user(line, &mut origin, raw, number, damage),
            "assistant" => self.assistant(line, &mut origin, number, damage),
            "system" => self.system(line, &mut origin),
            "attachment" => self.attachment(line, &mut origin),
            _ => self.queue(line, &mut origin),
        }
    }

    /// Whether no line with this identity was read before.
    fn is_new(&mut self, id: &str) -> bool {
        let id = builder::number(id.as_bytes());
        let is_new = self.seen.insert(id);
        if is_new {
            self.added.seen.push(id);
        }
        is_new
    }

    /// What a line says about the session as a whole.
    fn about(&mut self, line: &Line, kind: &str, at: Option<Timestamp>) {
        let about = &mut self.about;
        if let Some(session) = line.session.text() {
            match about.sessions.iter_mut().find(|(known, _)| known == session) {
                Some((_, count)) => *count += 1,
                None => about.sessions.push((session.to_owned(), 1)),
            }
        }
        if matches!(kind, "user" | "assistant") {
            about.chain += 1;
            about.side += usize::from(line.sidechain.is_true());
        }
        if kind != "file-history-snapshot"
            && let Some(at) = at
        {
            about.started = Some(about.started.map_or(at, |known| known.min(at)));
            about.ended = Some(about.ended.map_or(at, |known| known.max(at)));
        }
        let keep = |field: &mut Option<String>, value: &Loose| {
            if field.is_none() {
                *field = value.text().filter(|text| !text.is_empty()).map(str::to_owned);
            }
        };
        keep(&mut about.cwd, &line.cwd);
        if let Some(folder) = line.cwd.text().filter(|folder| about.here.as_deref() != Some(folder)) {
            about.here = Some(folder.to_owned());
        }
        keep(&mut about.branch, &line.branch);
        keep(&mut about.version, &line.version);
        keep(&mut about.agent, &line.agent);
        self.find_policy();
    }

    fn find_policy(&mut self) {
        if self.policy.is_none() && self.about.cwd.is_some() {
            self.policy = Some(self.options.policy.for_cwd(self.about.cwd.as_deref()));
        }
    }
}

fn timestamp(field: &Loose) -> Option<Timestamp> {
    match field {
        Loose::Text(text) => times::of_text(text),
        Loose::Number(number) => times::of_number(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
