//! Codex's session files: one JSON object a line, in an envelope since the second generation.

mod call;
mod events;
mod fields;
mod human;
mod items;
mod origin;
mod output;
mod said;
mod telling;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::fields::Fields;
pub use self::human::cwd as told_cwd;
use self::origin::Origin;
use self::output::Output;
use self::said::Said;
pub(super) use self::telling::{INDEX, is_index, is_state_file, is_telling};
use super::builder::{self, Event, digest, number};
use super::gather::{Anew, Gathered};
use super::json_lines::{self, Format};
use super::lines::{self, Damage};
use super::read::{Changed, Given};
use super::resume::{self, End, Reader};
use super::{Agent, Exclusions, Observation, ObservationKind as Kind, ReadOptions, Speaker, times};

const FORMAT: Format = Format { starts: &["{\"timestamp\":", "{\"type\":", "{\"payload\":"], is_telling };

/// Reads a file, or what stands behind a place that was reached in a state; gives nothing when there is nothing to learn
/// from it, or nothing of it may be kept.
pub(super) fn read(
    source: impl BufRead,
    path: &Path,
    options: ReadOptions,
    from: Option<(&lines::Place, State)>,
    damage: &mut Damage,
    give: &mut dyn FnMut(Given),
) -> io::Result<End<Box<State>>> {
    let (place, state) = from.unzip();
    resume::read(Reading::new(path, options, state.unwrap_or_default()), source, place, damage, give)
}

/// The session's id in the name `rollout-<time>-<id>.jsonl`; else the name without its end.
fn id_of_name(name: &str) -> &str {
    let stem = name.strip_suffix(".zst").unwrap_or(name);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let id = stem.len().checked_sub(36).and_then(|at| stem.get(at..));
    id.filter(|id| id.split('-').map(str::len).eq([8, 4, 4, 4, 12])).unwrap_or(stem)
}

/// What the id of an observation is made of besides the session's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Key {
    /// Whose it is, see [`Origin`]; of a subagent's: 1 for all that is copied.
    origin: usize,
    /// A digest of what happened; equal ones are numbered.
    what: u64,
}

/// A call of a tool that is answered by its id.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct Call {
    tool: Option<String>,
    called: bool,
    /// Where it was told of first.
    at: usize,
    /// It named an excluded path, or its turn was taken back: its result goes too.
    dropped: bool,
    result: Option<Answered>,
}

/// The result of a call.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Answered {
    at: usize,
    exit: Option<i32>,
    is_empty: bool,
}

/// What the session's record tells.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct Head {
    id: Option<String>,
    parent: Option<String>,
    subagent: bool,
    /// Another program wrote the prompts.
    driven: bool,
}

/// What all events of one line share.
#[derive(Clone, Copy)]
struct Place {
    at: Option<Timestamp>,
    number: usize,
}

/// What must be known of the lines before.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct Known {
    head: Head,
    /// The folder that the model works in now.
    here: Option<String>,
    origin: Origin,
    /// One for each observation, and those in which an excluded path was named later.
    keys: Vec<Key>,
    dropped: Vec<usize>,
    /// Where each turn of a person begins.
    turns: Vec<usize>,
    said: Said,
    calls: HashMap<String, Call>,
    /// A call without an id was dropped: results without one go too.
    nameless_dropped: bool,
    /// The last prompt was stopped and nothing happened since; its key.
    stopped: Option<String>,
    last_prompt: Option<String>,
    /// The last that happened was a compaction, and whether it is known what was kept.
    compacted: Option<bool>,
}

pub(super) type State = resume::State<Known>;

/// What is known of a file so far.
struct Reading<'o> {
    gathered: Gathered<'o>,
    /// The id in the file's name.
    name: String,
    known: Known,
    /// How often there is each key.
    count: HashMap<Key, usize>,
    /// How many observations stand that earlier reads gave, and whether any of them is the session's own.
    before: usize,
    had_own: bool,
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
        let stands = self.stands();
        self.gathered.observations.iter().zip(self.before..).filter(move |(_, at)| stands(*at)).map(|(o, _)| o)
    }

    fn line(&mut self, line: &lines::Line, damage: &mut Damage) {
        let number = line.number;
        json_lines::objects(line, &FORMAT, damage, &mut |text, damage| {
            let (line, length) = json_lines::first(text)?;
            self.object(&line, number, damage);
            Some(length)
        });
    }

    fn finish(mut self) -> Result<Option<Given>, Anew> {
        // What a subagent copied was said to its parent, whose file tells it.
        if self.before > 0 && self.known.head.subagent && !self.had_own && self.has_own() {
            return Err(Anew);
        }
        let stands: Vec<bool> = (self.before..self.known.keys.len()).map(self.stands()).collect();
        let mut stands = stands.into_iter();
        self.gathered.observations.retain(|_| stands.next() == Some(true));
        let Head { id, parent, subagent, .. } = self.known.head;
        self.gathered.close(Agent::Codex, &id.unwrap_or(self.name), parent.as_deref(), subagent)
    }
}

impl<'o> Reading<'o> {
    fn new(path: &Path, options: ReadOptions<'o>, State { about, known }: State) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut count = HashMap::new();
        for key in &known.keys {
            *count.entry(*key).or_default() += 1;
        }
        let mut reading = Reading {
            gathered: Gathered::new(options, about),
            name: id_of_name(&name).to_owned(),
            before: known.keys.len(),
            known,
            count,
            had_own: false,
        };
        reading.had_own = reading.has_own();
        reading
    }

    fn has_own(&self) -> bool {
        self.known.keys.iter().any(|key| key.origin == 0)
    }

    /// Tells whether an observation is kept.
    fn stands(&self) -> impl Fn(usize) -> bool {
        let Known { head, keys, dropped, .. } = &self.known;
        let without_copies = head.subagent && self.has_own();
        move |at| !(dropped.contains(&at) || without_copies && keys[at].origin != 0)
    }

    fn object(&mut self, line: &Fields, number: usize, damage: &mut Damage) {
        let kind = line.text("type").unwrap_or_default();
        let enveloped = telling::ENVELOPES.contains(&kind.as_ref());
        let payload = if enveloped { line.fields("payload").unwrap_or_default() } else { Fields::default() };
        let told = [line, &payload].into_iter().find_map(|fields| fields.text("timestamp"));
        let at = told.as_deref().and_then(times::of_text);
        if at.is_none() && told.is_some() {
            damage.note("bad_timestamp", number);
        }
        self.gathered.happened(at);
        let place = Place { at, number };
        match kind.as_ref() {
            "session_meta" => return self.session(&payload, at),
            _ if telling::is_head(line) => return self.session(line, at),
            "turn_context" => self.context(&payload),
            _ => {}
        }
        if let Some(turn) = turn_of(&payload) {
            self.known.origin.turn(&turn);
        }
        if enveloped {
            self.known.origin.line(at);
        }
        match kind.as_ref() {
            "turn_context" | "world_state" | "inter_agent_communication_metadata" => {}
            "response_item" => self.item(&payload, place, damage),
            "event_msg" => self.happened(&payload, place, damage),
            "compacted" => self.compaction(payload.word("message").as_deref(), place),
            "inter_agent_communication" => self.between_agents(&payload, place),
            _ if telling::is_state(line) => {}
            "" if line.text("role").is_none() => damage.note("unknown_type", number),
            _ => self.item(line, place, damage),
        }
    }

    /// The session's record. Those of the sessions whose lines are copied follow the own one.
    fn session(&mut self, meta: &Fields, at: Option<Timestamp>) {
        let Some(id) = meta.word("id").or_else(|| meta.word("session_id")) else { return };
        let forked_from = meta.word("forked_from_id");
        if self.known.keys.is_empty() {
            self.known.origin.session(&id, forked_from.as_deref(), at);
        }
        if self.known.head.id.is_some() {
            return;
        }
        let source = meta.fields("source");
        let subagent = source.as_ref().and_then(|source| source.raw("subagent"));
        let spawn = subagent.and_then(|raw| Fields::read(raw)?.fields("thread_spawn"));
        let owned = |text: Option<Cow<str>>| text.map(Cow::into_owned);
        self.gathered.about.version = owned(meta.word("cli_version"));
        self.gathered.about.branch = owned(meta.fields("git").and_then(|git| git.word("branch")));
        self.known.head = Head {
            parent: owned(meta.word("parent_thread_id").or_else(|| spawn.as_ref()?.word("parent_thread_id")))
                .filter(|parent| *parent != id),
            subagent: subagent.is_some(),
            driven: meta.text("source").is_some_and(|source| source == "mcp"),
            id: Some(id.into_owned()),
        };
        self.is_in(meta.word("cwd").as_deref());
    }

    fn context(&mut self, context: &Fields) {
        let inner = context.fields("turn_context");
        let cwd = context.word("cwd").or_else(|| inner.as_ref()?.word("cwd"));
        self.is_in(cwd.as_deref());
        self.known.here = cwd.map(Cow::into_owned).or(self.known.here.take());
    }

    /// The session's folder: the first that is told.
    fn is_in(&mut self, cwd: Option<&str>) {
        if let Some(cwd) = cwd.filter(|_| self.gathered.about.cwd.is_none()) {
            self.gathered.ran_in(cwd);
            self.known.here = Some(cwd.to_owned());
        }
    }

    fn exclusions(&self) -> Arc<Exclusions> {
        self.gathered.policy().exclusions.clone()
    }

    fn compaction(&mut self, summary: Option<&str>, place: Place) {
        let Some(is_told) = self.known.compacted else {
            self.push("compaction", place, Kind::Compaction, Speaker::System, summary.unwrap_or("Context compacted"));
            self.known.compacted = Some(summary.is_some());
            return;
        };
        // Several lines tell of it, and not all of them say what was kept.
        let summary = summary.filter(|summary| !is_told && !self.exclusions().mentioned(summary));
        if let (Some(summary), Some(at)) = (summary, self.known.keys.len().checked_sub(1)) {
            self.change(at, None, Some(builder::body(self.gathered.options.redactor, summary)));
            self.known.compacted = Some(true);
        }
    }

    /// The person stopped the model.
    fn stop(&mut self, place: Place) {
        if self.known.stopped.is_none() {
            self.push("stop", place, Kind::Stop, Speaker::System, "The turn was interrupted");
            self.known.stopped = Some(self.known.last_prompt.clone().unwrap_or_default());
        }
    }

    /// The last turns were taken back.
    fn roll_back(&mut self, count: usize) {
        let kept = self.known.turns.len().saturating_sub(count);
        let Some(&from) = self.known.turns.get(kept).filter(|_| count > 0) else { return };
        self.known.turns.truncate(kept);
        for at in (from..self.known.keys.len()).rev() {
            self.gathered.gone.push(self.id(at));
            if let Some(key) = self.known.keys.pop()
                && let Some(count) = self.count.get_mut(&key)
            {
                *count -= 1;
            }
        }
        self.gathered.observations.truncate(from.saturating_sub(self.before));
        self.before = self.before.min(from);
        self.known.dropped.retain(|at| *at < from);
        for call in self.known.calls.values_mut().filter(|call| call.at >= from) {
            call.dropped = true;
        }
        self.known.said.forget();
        (self.known.stopped, self.known.last_prompt, self.known.compacted) = (None, None, None);
    }

    /// The id of an observation: of the session whose line it is, of what happened, and of its number among equal ones.
    /// A copy in another file has the same, and the same words of another session have not.
    fn id(&self, at: usize) -> String {
        let key = self.known.keys[at];
        let later = self.known.keys[at + 1..].iter().filter(|later| **later == key).count();
        let nth = self.count.get(&key).map_or(1, |count| count - later);
        // Where nothing but copies stands in a subagent's file, they are its own.
        let origin = if self.known.head.subagent { 0 } else { key.origin };
        let session = self.known.origin.id(origin).unwrap_or(&self.name);
        format!("codex-{}", digest(format!("{session} {:016x} {nth}", key.what).as_bytes()))
    }

    /// Changes an observation.
    fn change(&mut self, at: usize, exit: Option<i32>, body: Option<String>) {
        let change = Changed { id: self.id(at), exit, body };
        match at.checked_sub(self.before).and_then(|at| self.gathered.observations.get_mut(at)) {
            Some(observation) => change.apply(observation),
            None => self.gathered.changed.push(change),
        }
    }

    /// A call of a tool; without an id when nothing is matched with it by one.
    fn call(&mut self, id: Option<&str>, name: &str, input: &call::Input, place: Place) {
        let id = id.filter(|id| !id.is_empty());
        let is_known = |id| self.known.calls.get(id).is_some_and(|call: &Call| call.called || call.dropped);
        if self.gathered.is_closed() || id.is_some_and(is_known) {
            return;
        }
        let dropped = input.is_excluded(&self.exclusions(), self.known.here.as_deref());
        let tool = input.tool(name);
        match id {
            None => self.known.nameless_dropped |= dropped,
            Some(id) => {
                let call = self.told(id);
                (call.called, call.dropped, call.tool) = (true, dropped, Some(tool.to_owned()));
                if let Some(Answered { at, .. }) = call.result.filter(|_| dropped) {
                    self.known.dropped.push(at);
                    self.gathered.gone.push(self.id(at));
                }
            }
        }
        if dropped {
            return;
        }
        self.known.stopped = None;
        let (title, body) = (input.title(tool), input.text());
        let key = id.map_or_else(|| format!("call {tool} {body}"), |id| format!("call {id}"));
        let event = Event::new(Kind::ToolCall, Speaker::Assistant, &body);
        self.event(&key, place, Event { tool: Some(tool), call: id, title: Some(&title), ..event });
    }

    /// The call of this id, which may be told of for the first time.
    fn told(&mut self, id: &str) -> &mut Call {
        let at = self.known.keys.len();
        self.known.calls.entry(id.to_owned()).or_insert_with(|| Call { at, ..Call::default() })
    }

    /// What a tool gave back. It may be told twice, by an event and by an item.
    fn result(&mut self, id: Option<&str>, output: &Output, place: Place) {
        if self.gathered.is_closed() {
            return;
        }
        let event = Event { exit: output.exit, ..Event::new(Kind::ToolResult, Speaker::Tool, &output.body) };
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            if !self.known.nameless_dropped {
                self.event(&format!("result {}", output.body), place, event);
            }
            return;
        };
        let call = self.told(id).clone();
        if call.dropped {
            return;
        }
        let Some(known) = call.result else {
            let at = self.known.keys.len();
            self.event(&format!("result {id}"), place, Event { tool: call.tool.as_deref(), call: Some(id), ..event });
            let is_empty = self.gathered.observations.last().is_none_or(|o| o.body.trim().is_empty());
            self.told(id).result = Some(Answered { at, exit: output.exit, is_empty });
            return;
        };
        let exit = output.exit.filter(|_| known.exit.is_none_or(|code| code == 0));
        let body = known.is_empty.then(|| {
            let body = self.exclusions().without_excluded_lines(&output.body).into_owned();
            builder::body(self.gathered.options.redactor, &body)
        });
        let is_empty = body.as_ref().map_or(known.is_empty, |body| body.trim().is_empty());
        self.told(id).result = Some(Answered { at: known.at, exit: exit.or(known.exit), is_empty });
        self.change(known.at, exit, body);
    }

    /// What somebody said. What the program wrote of an excluded path is left out.
    fn push(&mut self, key: &str, place: Place, kind: Kind, speaker: Speaker, body: &str) {
        if speaker == Speaker::System && self.exclusions().mentioned(body) {
            return;
        }
        self.event(key, place, Event::new(kind, speaker, body));
    }

    fn event(&mut self, key: &str, place: Place, event: Event) {
        if self.gathered.is_closed() {
            return;
        }
        self.known.compacted = None;
        let at = self.known.origin.at();
        let key = Key { origin: if self.known.head.subagent { at.min(1) } else { at }, what: number(key.as_bytes()) };
        *self.count.entry(key).or_default() += 1;
        self.known.keys.push(key);
        let id = self.id(self.known.keys.len() - 1);
        self.gathered.push(&Event { id: &id, at: place.at, ..event });
    }
}

/// The turn that a line stands in.
fn turn_of(payload: &Fields) -> Option<String> {
    let inner = |name: &str| payload.fields(name)?.word("turn_id");
    let turn = payload.word("turn_id").or_else(|| inner("internal_chat_message_metadata_passthrough"));
    turn.or_else(|| inner("metadata")).map(Cow::into_owned)
}

#[cfg(test)]
mod tests;
