//! What the messages of a session and their parts say.

use jiff::Timestamp;
use serde_json::Value;

use super::json::{is_true, text, time};
use crate::session::builder::{self, Event, safe_id};
use crate::session::lines::Damage;
use crate::session::{Agent, Observation, ObservationKind as Kind, Policy, ReadOptions, Session, Speaker, own};

/// A session, as its record tells of it.
pub(super) struct About {
    pub id: String,
    /// The session whose agent started this one.
    parent: Option<String>,
    cwd: Option<String>,
    title: Option<String>,
    version: Option<String>,
    created: Option<Timestamp>,
    updated: Option<Timestamp>,
    /// The message, and the part in it, from which on the person took everything back.
    revert: Option<(String, Option<String>)>,
}

impl About {
    /// `None` for a record without an id.
    pub(super) fn read(record: &Value) -> Option<About> {
        let own = |name: &str| text(record, name).map(str::to_owned);
        let revert = record.get("revert").and_then(|revert| {
            Some((text(revert, "messageID")?.to_owned(), text(revert, "partID").map(str::to_owned)))
        });
        Some(About {
            id: own("id")?,
            parent: own("parentID"),
            cwd: own("directory"),
            title: own("title"),
            version: own("version"),
            created: time(record, "/time/created"),
            updated: time(record, "/time/updated"),
            revert,
        })
    }
}

/// A message with its parts, in their order.
pub(super) struct Message {
    pub id: String,
    pub info: Value,
    pub parts: Vec<Part>,
}

/// A part of a message.
pub(super) struct Part {
    pub id: String,
    pub value: Value,
}

/// Sorts messages by their times, and by their ids where those are the same.
pub(super) fn in_order(messages: &mut [(String, Value)]) {
    messages.sort_by_cached_key(|(id, message)| (created(message.get("info").unwrap_or(message)), id.clone()));
}

/// When a message was begun; the oldest versions had it in `metadata`.
pub(super) fn created(info: &Value) -> Option<Timestamp> {
    time(info, "/time/created").or_else(|| time(info, "/metadata/time/created"))
}

/// What is known of a session so far.
pub(super) struct Reading<'o> {
    options: ReadOptions<'o>,
    about: About,
    policy: Policy,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    first_prompt: Option<String>,
    /// The rest was taken back.
    reverted: bool,
    observations: Vec<Observation>,
}

impl<'o> Reading<'o> {
    pub(super) fn new(about: About, options: ReadOptions<'o>) -> Self {
        Reading {
            policy: options.policy.for_cwd(about.cwd.as_deref()),
            options,
            about,
            started: None,
            ended: None,
            first_prompt: None,
            reverted: false,
            observations: Vec::new(),
        }
    }

    /// Reads the next message.
    pub(super) fn message(&mut self, message: Message, damage: &mut Damage) {
        let Message { id, info, mut parts } = message;
        let at = created(&info);
        // A fork begins with copies of the messages of the session that it was made from: they are older than it is.
        let copied = at.zip(self.about.created).is_some_and(|(at, begun)| at < begun);
        if self.reverted || copied {
            return;
        }
        if let Some((message, part)) = &self.about.revert
            && *message == id
        {
            self.reverted = true;
            let Some(part) = part else { return };
            parts.truncate(parts.iter().position(|known| known.id == *part).unwrap_or(parts.len()));
        }
        parts.extend(inside(&id, &info));
        self.look_at_cwd(&info);
        self.lived(at);
        self.lived(time(&info, "/time/completed"));
        match text(&info, "role") {
            Some("user") => self.user(&parts, at, damage),
            Some("assistant") => self.assistant(&id, &info, &parts, at, damage),
            _ => damage.note("odd_message", 1),
        }
    }

    /// The folder, where only a message tells it.
    fn look_at_cwd(&mut self, info: &Value) {
        if self.about.cwd.is_none()
            && let Some(cwd) = info.pointer("/path/cwd").or_else(|| info.get("path")).and_then(Value::as_str)
        {
            self.policy = self.options.policy.for_cwd(Some(cwd));
            self.about.cwd = Some(cwd.to_owned());
        }
    }

    fn lived(&mut self, at: Option<Timestamp>) {
        self.started = [self.started, at].into_iter().flatten().min();
        self.ended = self.ended.max(at);
    }

    fn user(&mut self, parts: &[Part], at: Option<Timestamp>, damage: &mut Damage) {
        // What the program adds may hold the content of an attached file that is excluded: it is not kept.
        let words: Vec<(&str, &str)> = parts
            .iter()
            .filter(|part| text(&part.value, "type") == Some("text") && !is_added(&part.value))
            .filter_map(|part| Some((part.id.as_str(), text(&part.value, "text")?)))
            .collect();
        if let Some((id, _)) = words.first() {
            let said = self.options.redactor.join(words.iter().map(|(_, text)| *text));
            self.first_prompt.get_or_insert_with(|| said[..crate::session::redact::floor(&said, 8192)].to_owned());
            // The prompts of a session that an agent started are that agent's.
            let (kind, speaker) = match self.about.parent {
                None => (Kind::Prompt, Speaker::Human),
                Some(_) => (Kind::Other, Speaker::System),
            };
            self.push(event(id, at, kind, speaker, said.trim()));
        }
        for part in parts.iter().filter(|part| text(&part.value, "type") != Some("text")) {
            self.part(part, at, damage);
        }
    }

    fn assistant(&mut self, id: &str, info: &Value, parts: &[Part], at: Option<Timestamp>, damage: &mut Damage) {
        let (kind, speaker) = match is_true(info, "summary") {
            true => (Kind::Compaction, Speaker::System),
            false => (Kind::Answer, Speaker::Assistant),
        };
        for part in parts {
            if text(&part.value, "type") != Some("text") {
                self.part(part, at, damage);
            } else if !is_added(&part.value)
                && let Some(words) = text(&part.value, "text")
            {
                let at = time(&part.value, "/time/start").or(at);
                self.push(event(&part.id, at, kind, speaker, words));
            }
        }
        if let Some(error) = info.get("error").filter(|error| !error.is_null()) {
            let kind = match text(error, "name") {
                Some("MessageAbortedError") => Kind::Stop,
                _ => Kind::Notification,
            };
            let at = time(info, "/time/completed").or(at);
            self.push(event(&format!("{id}.error"), at, kind, Speaker::System, &failure(error)));
        }
    }

    /// A part that is no text.
    fn part(&mut self, part: &Part, at: Option<Timestamp>, damage: &mut Damage) {
        let (id, value) = (part.id.as_str(), &part.value);
        let mut note = |at, kind, body: &str| self.push(event(id, at, kind, Speaker::System, body));
        match text(value, "type") {
            Some("tool") => self.tool(part, at),
            Some("file") => self.file(part, at),
            Some("patch") => self.patch(part, at),
            Some("subtask") => note(at, Kind::Other, text(value, "prompt").unwrap_or_default()),
            Some("compaction") if is_true(value, "auto") => {
                note(at, Kind::Compaction, "Context compacted: it was full")
            }
            Some("compaction") => note(at, Kind::Compaction, "Context compacted"),
            Some("retry") => {
                let error = value.get("error").map(failure).unwrap_or_default();
                note(time(value, "/time/created").or(at), Kind::Notification, &format!("Tried again: {error}"));
            }
            Some("agent" | "reasoning" | "snapshot" | "step-start" | "step-finish") => {}
            Some(_) => damage.note("unknown_type", 1),
            None => damage.note("odd_message", 1),
        }
    }

    fn tool(&mut self, part: &Part, at: Option<Timestamp>) {
        let value = &part.value;
        let none = Value::Null;
        let state = value.get("state").unwrap_or(&none);
        let input = state.get("input").unwrap_or(&none);
        let told = text(state, "title");
        let exclusions = &self.policy.exclusions;
        if exclusions.input(input) || told.is_some_and(|title| exclusions.path(title) || exclusions.mentioned(title)) {
            return;
        }
        let tool = text(value, "tool").unwrap_or("tool");
        let call = text(value, "callID").unwrap_or(&part.id);
        let named = |name: &&&str| text(input, name).is_some();
        let title = TELLING.iter().find(named).and_then(|name| text(input, name)).or(told);
        let title = title.or_else(|| ASKED.iter().find(named).and_then(|name| text(input, name))).unwrap_or(tool);
        self.push(Event {
            tool: Some(tool),
            call: Some(call),
            title: Some(title),
            ..event(
                &part.id,
                time(state, "/time/start").or(at),
                Kind::ToolCall,
                Speaker::Assistant,
                &builder::input_text(input),
            )
        });
        let status = text(state, "status");
        if matches!(status, Some("pending" | "running")) {
            return;
        }
        let failed = status == Some("error");
        let body = match failed {
            true => text(state, "error").or_else(|| text(state, "output")),
            false => text(state, "output"),
        };
        let body = self.policy.exclusions.without_excluded_lines(body.unwrap_or_default());
        let ended = time(state, "/time/end");
        self.lived(ended);
        self.push(Event {
            tool: Some(tool),
            call: Some(call),
            exit: Some(exit(state, failed)),
            ..event(&format!("{}.result", part.id), ended.or(at), Kind::ToolResult, Speaker::Tool, &body)
        });
    }

    /// What was attached: its name. Its content may be in a `data:` address, which is never kept.
    fn file(&mut self, part: &Part, at: Option<Timestamp>) {
        let path = text(&part.value, "url").and_then(|url| url.strip_prefix("file://"));
        let path = path.map(|path| path.split(['?', '#']).next().unwrap_or(path));
        let Some(name) = text(&part.value, "filename").or(path) else { return };
        let exclusions = &self.policy.exclusions;
        if exclusions.names(name) || path.is_some_and(|path| exclusions.path(path)) {
            return;
        }
        self.push(event(&part.id, at, Kind::Other, Speaker::System, &format!("Attached {name}")));
    }

    /// The files that a step changed, whatever tool did it.
    fn patch(&mut self, part: &Part, at: Option<Timestamp>) {
        let files = part.value.get("files").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let files: Vec<&str> =
            files.iter().filter_map(Value::as_str).filter(|file| !self.policy.exclusions.path(file)).collect();
        if !files.is_empty() {
            let body = format!("Changed {}", files.join("\n"));
            self.push(event(&part.id, at, Kind::Other, Speaker::System, &body));
        }
    }

    fn push(&mut self, event: Event) {
        let wanted = self.policy.enabled && !self.policy.metadata_only;
        let says = !event.body.trim().is_empty() || event.kind == Kind::ToolCall || event.kind == Kind::ToolResult;
        if wanted && says {
            self.observations.push(builder::observation(self.options.redactor, &event));
        }
    }

    /// The session; `None` when there is nothing in it, or nothing of it may be kept.
    pub(super) fn finish(self) -> Option<Session> {
        let Reading { options: ReadOptions { redactor, .. }, about, policy, mut observations, .. } = self;
        if !policy.enabled || about.parent.is_some() && policy.drop_subagents {
            return None;
        }
        let id = safe_id(redactor, &about.id);
        let started = about.created.or(self.started);
        let ended = self.ended.or(about.updated);
        if policy.metadata_only {
            observations = builder::metadata(&id, started, ended);
        }
        if observations.is_empty() {
            return None;
        }
        for (at, observation) in observations.iter_mut().enumerate() {
            observation.seq = at as u32 + 1;
        }
        let is_own = own::is_own(self.first_prompt.as_deref(), about.cwd.as_deref());
        let clean = |text: Option<String>| text.map(|text| redactor.redact(&text).into_owned());
        let parent = about.parent.map(|parent| safe_id(redactor, &parent));
        let given = || clean(about.title).map(|title| builder::title_of(&title));
        let title = match builder::title_of_session(&observations) {
            _ if policy.metadata_only => String::new(),
            Some(title) => title,
            None => given().unwrap_or_else(|| builder::untitled(&id, parent.as_deref(), started)),
        };
        Some(Session {
            title,
            id,
            agent: Agent::OpenCode,
            version: clean(about.version),
            cwd: clean(about.cwd).filter(|_| !policy.metadata_only),
            branch: None,
            started,
            ended,
            parent,
            own: is_own,
            observations,
        })
    }
}

/// The inputs that say best what a call did, and those that say what was asked for.
const TELLING: &[&str] = &["command", "cmd", "filePath", "file_path", "path"];
const ASKED: &[&str] = &["url", "query", "pattern", "description", "name", "prompt"];

fn event<'e>(id: &'e str, at: Option<Timestamp>, kind: Kind, speaker: Speaker, body: &'e str) -> Event<'e> {
    Event { id, at, kind, speaker, tool: None, call: None, title: None, body, exit: None }
}

/// Text that the program put in, or that the model does not see.
fn is_added(part: &Value) -> bool {
    is_true(part, "synthetic") || is_true(part, "ignored")
}

/// The exit code of a call that is done; a command that was stopped has none.
fn exit(state: &Value, failed: bool) -> i32 {
    let told = state.pointer("/metadata/exit");
    match told.and_then(Value::as_i64) {
        Some(0) if failed => 1,
        Some(code) => code as i32,
        None => i32::from(failed || told.is_some()),
    }
}

/// What an error says.
fn failure(error: &Value) -> String {
    let name = text(error, "name").unwrap_or("Error");
    match error.get("data").and_then(|data| text(data, "message")) {
        Some(message) => format!("{name}: {message}"),
        None => name.to_owned(),
    }
}

/// The parts that the oldest versions kept in the message itself.
fn inside(id: &str, info: &Value) -> Vec<Part> {
    let parts = info.get("parts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let part = |(at, value): (usize, &Value)| {
        let id = text(value, "id").map_or_else(|| format!("{id}.{at}"), str::to_owned);
        Part { id, value: invoked(value).unwrap_or_else(|| value.clone()) }
    };
    parts.iter().enumerate().map(part).collect()
}

/// A call as the oldest versions kept it.
fn invoked(part: &Value) -> Option<Value> {
    let call = part.get("toolInvocation")?;
    let done = text(call, "state") == Some("result");
    Some(serde_json::json!({
        "type": "tool",
        "tool": call.get("toolName"),
        "callID": call.get("toolCallId"),
        "state": {
            "status": if done { "completed" } else { "running" },
            "input": call.get("args"),
            "output": call.get("result"),
        },
    }))
}
