//! Codex's session files: one JSON object a line, in an envelope since the second generation.

mod call;
mod events;
mod fields;
mod finish;
mod human;
mod items;
mod origin;
mod output;
mod said;
mod telling;

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use self::fields::Fields;
pub use self::human::cwd as told_cwd;
use self::origin::Origin;
use self::output::Output;
use self::said::Said;
pub(super) use self::telling::{INDEX, is_index, is_state_file, is_telling};
use super::builder::{self, Event, digest};
use super::json_lines::{self, Format};
use super::lines::{self, Damage, Lines};
use super::times;
use super::{Exclusions, Observation, ObservationKind as Kind, Policy, ReadOptions, Session, Speaker};

const FORMAT: Format = Format { starts: &["{\"timestamp\":", "{\"type\":", "{\"payload\":"], is_telling };

/// Reads a file; none when there is nothing to learn from it, or nothing of it may be kept.
pub(super) fn read(
    source: impl BufRead,
    path: &Path,
    options: ReadOptions,
    damage: &mut Damage,
) -> io::Result<Vec<Session>> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut reading = Reading::new(id_of_name(&name).to_owned(), options);
    let mut source = Lines::new(source);
    while let Some(line) = source.next(damage)? {
        reading.line(&line, damage);
    }
    Ok(reading.finish().into_iter().collect())
}

/// The session's id in the name `rollout-<time>-<id>.jsonl`; else the name without its end.
fn id_of_name(name: &str) -> &str {
    let stem = name.strip_suffix(".zst").unwrap_or(name);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let id = stem.len().checked_sub(36).and_then(|at| stem.get(at..));
    id.filter(|id| id.split('-').map(str::len).eq([8, 4, 4, 4, 12])).unwrap_or(stem)
}

/// An observation, and what its id is made of.
struct Item {
    observation: Observation,
    /// Whose it is, see [`Origin`].
    origin: usize,
    /// Its name among the session's; equal ones are numbered.
    key: String,
    /// An excluded path was named in it.
    dropped: bool,
}

/// A call of a tool that is answered by its id.
#[derive(Default)]
struct Call {
    tool: Option<String>,
    called: bool,
    /// Where it was told of first.
    at: usize,
    /// It named an excluded path, or its turn was taken back: its result goes too.
    dropped: bool,
    /// Where its result stands.
    result: Option<usize>,
}

/// What the session's record tells.
#[derive(Default)]
struct Head {
    id: Option<String>,
    version: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
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

/// What is known of a file so far.
struct Reading<'o> {
    options: ReadOptions<'o>,
    /// The id in the file's name.
    name: String,
    policy: Option<Policy>,
    /// The folder that the model works in now.
    here: Option<String>,
    head: Head,
    origin: Origin,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    first_prompt: Option<String>,
    items: Vec<Item>,
    /// Where each turn of a person begins.
    turns: Vec<usize>,
    said: Said,
    calls: HashMap<String, Call>,
    /// A call without an id was dropped: results without one go too.
    nameless_dropped: bool,
    /// The last prompt was stopped and nothing happened since; its key.
    stopped: Option<String>,
    last_prompt: Option<String>,
    /// The last that happened was a compaction.
    compacted: bool,
}

impl<'o> Reading<'o> {
    fn new(name: String, options: ReadOptions<'o>) -> Self {
        Reading {
            options,
            name,
            policy: None,
            here: None,
            head: Head::default(),
            origin: Origin::default(),
            started: None,
            ended: None,
            first_prompt: None,
            items: Vec::new(),
            turns: Vec::new(),
            said: Said::default(),
            calls: HashMap::new(),
            nameless_dropped: false,
            stopped: None,
            last_prompt: None,
            compacted: false,
        }
    }

    fn line(&mut self, line: &lines::Line, damage: &mut Damage) {
        let number = line.number;
        json_lines::objects(line, &FORMAT, damage, &mut |text, damage| {
            let (line, length) = json_lines::first(text)?;
            self.object(&line, number, damage);
            Some(length)
        });
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
        if let Some(at) = at {
            self.started = Some(self.started.map_or(at, |known| known.min(at)));
            self.ended = Some(self.ended.map_or(at, |known| known.max(at)));
        }
        let place = Place { at, number };
        match kind.as_ref() {
            "session_meta" => return self.session(&payload, at),
            _ if telling::is_head(line) => return self.session(line, at),
            "turn_context" => self.context(&payload),
            _ => {}
        }
        if let Some(turn) = turn_of(&payload) {
            self.origin.turn(&turn);
        }
        if enveloped {
            self.origin.line(at);
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
        if self.items.is_empty() {
            self.origin.session(&id, forked_from.as_deref(), at);
        }
        if self.head.id.is_some() {
            return;
        }
        let source = meta.fields("source");
        let subagent = source.as_ref().and_then(|source| source.raw("subagent"));
        let spawn = subagent.and_then(|raw| Fields::read(raw)?.fields("thread_spawn"));
        let owned = |text: Option<std::borrow::Cow<str>>| text.map(std::borrow::Cow::into_owned);
        self.head = Head {
            version: owned(meta.word("cli_version")),
            branch: owned(meta.fields("git").and_then(|git| git.word("branch"))),
            cwd: self.head.cwd.take(),
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
        self.here = cwd.map(std::borrow::Cow::into_owned).or(self.here.take());
    }

    /// The session's folder: the first that is told.
    fn is_in(&mut self, cwd: Option<&str>) {
        if self.head.cwd.is_none() && cwd.is_some() {
            self.head.cwd = cwd.map(str::to_owned);
            self.here.clone_from(&self.head.cwd);
            self.policy = Some(self.options.policy.for_cwd(cwd));
        }
    }

    /// Nothing but the frame of the session may be kept.
    fn is_closed(&self) -> bool {
        self.policy.as_ref().is_some_and(|policy| policy.metadata_only || !policy.enabled)
    }

    fn exclusions(&self) -> Arc<Exclusions> {
        self.policy.as_ref().unwrap_or(self.options.policy).exclusions.clone()
    }

    fn compaction(&mut self, summary: Option<&str>, place: Place) {
        const PLAIN: &str = "Context compacted";
        if self.compacted {
            // Several lines tell of it, and not all of them say what was kept.
            let summary = summary.filter(|summary| !self.exclusions().mentioned(summary));
            if let (Some(summary), Some(item)) = (summary, self.items.last_mut())
                && item.observation.body == PLAIN
            {
                item.observation.body = builder::body(self.options.redactor, summary);
                item.observation.title = builder::first_line(&item.observation.body);
            }
            return;
        }
        self.push("compaction", place, Kind::Compaction, Speaker::System, summary.unwrap_or(PLAIN));
        self.compacted = true;
    }

    /// The person stopped the model.
    fn stop(&mut self, place: Place) {
        if self.stopped.is_none() {
            self.push("stop", place, Kind::Stop, Speaker::System, "The turn was interrupted");
            self.stopped = Some(self.last_prompt.clone().unwrap_or_default());
        }
    }

    /// The last turns were taken back.
    fn roll_back(&mut self, count: usize) {
        let kept = self.turns.len().saturating_sub(count);
        let Some(&from) = self.turns.get(kept).filter(|_| count > 0) else { return };
        self.turns.truncate(kept);
        self.items.truncate(from);
        for call in self.calls.values_mut().filter(|call| call.at >= from) {
            call.dropped = true;
        }
        self.said.forget();
        (self.stopped, self.last_prompt, self.compacted) = (None, None, false);
    }

    /// A call of a tool; without an id when nothing is matched with it by one.
    fn call(&mut self, id: Option<&str>, name: &str, input: &call::Input, place: Place) {
        let id = id.filter(|id| !id.is_empty());
        if self.is_closed() || id.and_then(|id| self.calls.get(id)).is_some_and(|call| call.called || call.dropped) {
            return;
        }
        let dropped = input.is_excluded(&self.exclusions(), self.here.as_deref());
        let tool = input.tool(name);
        match id {
            None => self.nameless_dropped |= dropped,
            Some(id) => {
                let at = self.items.len();
                let call = self.calls.entry(id.to_owned()).or_insert_with(|| Call { at, ..Call::default() });
                (call.called, call.dropped, call.tool) = (true, dropped, Some(tool.to_owned()));
                if let Some(item) = call.result.filter(|_| dropped).and_then(|at| self.items.get_mut(at)) {
                    item.dropped = true;
                }
            }
        }
        if dropped {
            return;
        }
        self.stopped = None;
        let (title, body) = (input.title(tool), input.text());
        let key = id.map_or_else(|| format!("call {tool} {body}"), |id| format!("call {id}"));
        let (kind, speaker) = (Kind::ToolCall, Speaker::Assistant);
        self.event(&key, place, kind, speaker, Some(tool), id, Some(&title), &body, None);
    }

    /// What a tool gave back. It may be told twice, by an event and by an item.
    fn result(&mut self, id: Option<&str>, output: &Output, place: Place) {
        if self.is_closed() {
            return;
        }
        let exclusions = self.exclusions();
        let body = exclusions.without_excluded_lines(&output.body);
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            if !self.nameless_dropped {
                let key = format!("result {}", output.body);
                self.event(&key, place, Kind::ToolResult, Speaker::Tool, None, None, None, &body, output.exit);
            }
            return;
        };
        let at = self.items.len();
        let call = self.calls.entry(id.to_owned()).or_insert_with(|| Call { at, ..Call::default() });
        if call.dropped {
            return;
        }
        if let Some(item) = call.result.and_then(|at| self.items.get_mut(at)) {
            let known = &mut item.observation;
            if known.exit.is_none_or(|code| code == 0) && output.exit.is_some() {
                known.exit = output.exit;
            }
            if known.body.trim().is_empty() {
                known.body = builder::body(self.options.redactor, &body);
                known.title = builder::first_line(&known.body);
            }
            return;
        }
        call.result = Some(at);
        let tool = call.tool.clone();
        let (kind, speaker) = (Kind::ToolResult, Speaker::Tool);
        let key = format!("result {id}");
        self.event(&key, place, kind, speaker, tool.as_deref(), Some(id), None, &body, output.exit);
    }

    /// What somebody said. What the program wrote of an excluded path is left out.
    fn push(&mut self, key: &str, place: Place, kind: Kind, speaker: Speaker, body: &str) {
        if speaker == Speaker::System && self.exclusions().mentioned(body) {
            return;
        }
        self.event(key, place, kind, speaker, None, None, None, body, None);
    }

    #[allow(clippy::too_many_arguments)] // the fields of an event, which has no better name for them
    fn event(
        &mut self,
        key: &str,
        place: Place,
        kind: Kind,
        speaker: Speaker,
        tool: Option<&str>,
        call: Option<&str>,
        title: Option<&str>,
        body: &str,
        exit: Option<i32>,
    ) {
        if self.is_closed() {
            return;
        }
        self.compacted = false;
        let event = Event { id: "", at: place.at, kind, speaker, tool, call, title, body, exit };
        let observation = builder::observation(self.options.redactor, &event);
        let key = digest(key.as_bytes());
        self.items.push(Item { observation, origin: self.origin.at(), key, dropped: false });
    }
}

/// The turn that a line stands in.
fn turn_of(payload: &Fields) -> Option<String> {
    let inner = |name: &str| payload.fields(name)?.word("turn_id");
    let turn = payload.word("turn_id").or_else(|| inner("internal_chat_message_metadata_passthrough"));
    turn.or_else(|| inner("metadata")).map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests;
