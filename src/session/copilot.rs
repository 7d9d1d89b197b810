//! Copilot CLI's session files: one event a line.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::builder::{self, Event, digest};
use super::gather::{Anew, Gathered, input, text, tool_name};
use super::json_lines::{self, Format};
use super::lines::{self, Damage, Place};
use super::read::Given;
use super::resume::{self, End, Reader};
use super::wrappers::Wrappers;
use super::{Agent, Observation, ObservationKind as Kind, ReadOptions, Speaker, times};

/// Blocks that the program puts into a user message.
const WRAPPERS: Wrappers = Wrappers(&[
    "skill-context",
    "system_reminder",
    "system-reminder",
    "current_datetime",
    "reminder",
    "system_notification",
]);

/// Beginnings of events that say nothing that is kept, besides those that are read.
const PASSED_OVER: [&str; 17] = [
    "session.",
    "assistant.",
    "tool.",
    "hook.",
    "subagent.",
    "skill.",
    "system.",
    "permission.",
    "mcp.",
    "command.",
    "user_input.",
    "elicitation.",
    "exit_plan_mode.",
    "external_tool.",
    "sampling.",
    "pending_messages.",
    "model.",
];

/// What stands behind the beginning of another line and is whole is a line.
const FORMAT: Format = Format { starts: &["{\"type\":"], is_telling: |_| true };

/// Whether a line can only be this agent's, also when it is damaged.
pub(super) fn is_telling(line: &[u8]) -> bool {
    const TYPES: [&str; 7] = [
        "session.start",
        "session.resume",
        "user.message",
        "assistant.message",
        "assistant.turn_start",
        "tool.execution_start",
        "tool.execution_complete",
    ];
    if !line.starts_with(b"{") {
        return false;
    }
    let line = String::from_utf8_lossy(line);
    match serde_json::from_str::<Value>(&line) {
        Ok(event) => text(&event, "type").is_some_and(|kind| TYPES.contains(&kind)) && event["data"].is_object(),
        Err(_) => {
            line.contains("\"data\":{") && TYPES.iter().any(|kind| line.contains(&format!("\"type\":\"{kind}\"")))
        }
    }
}

/// What must be known of the lines before.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct Known {
    session: Option<String>,
    /// Digests of the events' ids.
    seen: HashSet<u64>,
    /// Tools by the id of their call; `None`: the call was dropped, and its result goes too.
    calls: HashMap<String, Option<String>>,
    /// The ids of the observations, and where those of each event begin.
    ids: Vec<String>,
    first: HashMap<u64, usize>,
}

pub(super) type State = resume::State<Known>;

/// Reads a file, or what stands behind a place that was reached in a state; gives nothing when there is nothing to learn
/// from it, or nothing of it may be kept.
pub(super) fn read(
    source: impl BufRead,
    path: &Path,
    options: ReadOptions,
    from: Option<(&Place, State)>,
    damage: &mut Damage,
    give: &mut dyn FnMut(Given),
) -> io::Result<End<Box<State>>> {
    let (place, state) = from.unzip();
    resume::read(Reading::new(path, options, state.unwrap_or_default()), source, place, damage, give)
}

/// What is known of a file so far.
struct Reading<'o> {
    path: &'o Path,
    gathered: Gathered<'o>,
    known: Known,
    /// How many observations stand that an earlier read gave.
    before: usize,
}

/// What all observations of one event share.
struct Origin {
    id: String,
    at: Option<Timestamp>,
    made: usize,
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
        self.gathered.observations.iter()
    }

    fn line(&mut self, line: &lines::Line, damage: &mut Damage) {
        json_lines::objects(line, &FORMAT, damage, &mut |text, damage| {
            let (event, length) = json_lines::first(text)?;
            self.event(&event, line.number, damage);
            Some(length)
        });
    }

    fn finish(self) -> Result<Option<Given>, Anew> {
        let id = self.id();
        self.gathered.close(Agent::Copilot, &id, None, false)
    }
}

impl<'o> Reading<'o> {
    fn new(path: &'o Path, options: ReadOptions<'o>, State { about, known }: State) -> Self {
        let gathered = Gathered::new(options, about);
        let mut reading = Reading { path, gathered, before: known.ids.len(), known };
        reading.named();
        reading
    }

    /// The session's id; where no event tells it, it is in the path: `<id>/events.jsonl`, or `<id>.jsonl`.
    fn id(&self) -> String {
        let named = match self.path.file_stem().map(|stem| stem.to_string_lossy()) {
            Some(stem) if stem == "events" => self.path.parent().and_then(Path::file_name).map(|n| n.to_string_lossy()),
            other => other,
        };
        self.known.session.clone().unwrap_or_else(|| named.unwrap_or_default().into_owned())
    }

    fn named(&mut self) {
        let id = self.id();
        self.gathered.name = Some(self.gathered.options.redactor.redact(&id).into_owned());
    }

    fn event(&mut self, event: &Value, number: usize, damage: &mut Damage) {
        let (Some(kind), Some(data)) = (text(event, "type"), event.get("data").filter(|data| data.is_object())) else {
            return damage.note("unknown_type", number);
        };
        let at = times::of_field(event.get("timestamp")).unwrap_or_else(|()| {
            damage.note("bad_timestamp", number);
            None
        });
        let id = text(event, "id").map_or_else(|| digest(event.to_string().as_bytes()), str::to_owned);
        let key = builder::number(id.as_bytes());
        if !self.known.seen.insert(key) {
            return;
        }
        self.gathered.happened(at);
        if matches!(kind, "session.start" | "session.resume") {
            self.about(data);
        }
        let subagent = text(data, "parentToolCallId").is_some() || text(event, "agentId").is_some();
        if self.gathered.is_closed() || subagent && self.gathered.policy().drop_subagents {
            return;
        }
        self.known.first.insert(key, self.known.ids.len());
        let mut origin = Origin { id, at, made: 0 };
        match kind {
            "user.message" if data.get("content").is_some_and(Value::is_string) => {
                self.user(data, subagent, &mut origin)
            }
            "assistant.message" => self.assistant(data, &mut origin),
            "user.message" => damage.note("odd_message", number),
            "tool.execution_start" => self.call(data, "toolName", Speaker::Assistant, &mut origin),
            "tool.user_requested" => self.call(data, "toolName", Speaker::System, &mut origin),
            "tool.execution_complete" => self.result(data, &mut origin),
            "abort" => {
                let reason = text(data, "reason").unwrap_or("the person stopped the model");
                self.say(Kind::Stop, Speaker::System, reason, &mut origin);
            }
            "session.compaction_complete" => {
                let summary = text(data, "summaryContent").unwrap_or("Context compacted");
                self.say(Kind::Compaction, Speaker::System, summary, &mut origin);
            }
            "session.truncation" => self.say(Kind::Compaction, Speaker::System, "Context truncated", &mut origin),
            "session.error" | "session.warning" => {
                let message = text(data, "message").unwrap_or_default();
                self.say(Kind::Notification, Speaker::System, message, &mut origin);
            }
            "session.handoff" => {
                let told = text(data, "summary").or_else(|| text(data, "context")).unwrap_or_default();
                self.say(Kind::Other, Speaker::System, told, &mut origin);
            }
            "session.snapshot_rewind" => self.rewind(text(data, "upToEventId")),
            "subagent.failed" => {
                let name = text(data, "agentName").unwrap_or("subagent");
                let message = format!("{name} failed: {}", text(data, "error").unwrap_or("no reason was given"));
                self.say(Kind::Notification, Speaker::System, &message, &mut origin);
            }
            "hook.end" if data.get("success").and_then(Value::as_bool) == Some(false) => {
                let name = text(data, "hookType").unwrap_or("hook");
                let message = data.pointer("/error/message").and_then(Value::as_str).unwrap_or("it failed");
                self.say(Kind::Notification, Speaker::System, &format!("Hook {name}: {message}"), &mut origin);
            }
            _ if PASSED_OVER.iter().any(|front| kind.starts_with(front)) => {}
            _ => damage.note("unknown_type", number),
        }
    }

    /// What an event says about the session as a whole.
    fn about(&mut self, data: &Value) {
        if self.known.session.is_none() {
            self.known.session = text(data, "sessionId").map(str::to_owned);
            self.named();
        }
        let context = data.get("context").unwrap_or(&Value::Null);
        if let Some(cwd) = text(context, "cwd").or_else(|| text(context, "gitRoot")) {
            self.gathered.ran_in(cwd);
        }
        let keep = |field: &mut Option<String>, value: Option<&str>| {
            if field.is_none() {
                *field = value.map(str::to_owned);
            }
        };
        keep(&mut self.gathered.about.branch, text(context, "branch"));
        keep(&mut self.gathered.about.version, text(data, "copilotVersion"));
    }

    /// A person's words. What the program made of them for the model stands in another field; a message that a skill
    /// or an agent put there says so in `source`.
    fn user(&mut self, data: &Value, subagent: bool, origin: &mut Origin) {
        let content = data.get("content").and_then(Value::as_str).unwrap_or_default();
        self.gathered.asked(content);
        if subagent || text(data, "source").is_some_and(|source| source != "user") {
            return self.say(Kind::Other, Speaker::System, content, origin);
        }
        let (words, blocks) = WRAPPERS.between(content);
        self.say(Kind::Prompt, Speaker::Human, words, origin);
        self.say(Kind::Notification, Speaker::System, &blocks.join("\n"), origin);
    }

    fn assistant(&mut self, data: &Value, origin: &mut Origin) {
        self.say(Kind::Answer, Speaker::Assistant, text(data, "content").unwrap_or_default(), origin);
        for request in data.get("toolRequests").and_then(Value::as_array).into_iter().flatten() {
            self.call(request, "name", Speaker::Assistant, origin);
        }
    }

    /// A call is told when it is asked for and again when it begins: it counts once.
    fn call(&mut self, data: &Value, name: &str, speaker: Speaker, origin: &mut Origin) {
        let tool = tool_name(text(data, name).unwrap_or("tool"));
        let call = text(data, "toolCallId").unwrap_or(&origin.id).to_owned();
        if self.known.calls.contains_key(&call) {
            return;
        }
        let told = data.get("arguments").unwrap_or(&Value::Null);
        // Some versions write the arguments as a text that is JSON.
        let inner = told.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()).filter(Value::is_object);
        let arguments = inner.as_ref().unwrap_or(told);
        // With `report_intent` the model only tells the program what to show meanwhile.
        let dropped = tool == "report_intent" || self.gathered.policy().exclusions.input(arguments);
        self.known.calls.insert(call.clone(), (!dropped).then(|| tool.to_owned()));
        if !dropped {
            let (title, body) = input(tool, arguments);
            let (tool, call, title) = (Some(tool), Some(call.as_str()), Some(title.as_str()));
            self.push(Event { tool, call, title, ..Event::new(Kind::ToolCall, speaker, &body) }, origin);
        }
    }

    fn result(&mut self, data: &Value, origin: &mut Origin) {
        let call = text(data, "toolCallId");
        let tool = match call.and_then(|call| self.known.calls.get(call)) {
            Some(None) => return,
            Some(Some(tool)) => Some(tool.clone()),
            None => text(data, "toolName").map(|name| tool_name(name).to_owned()),
        };
        let result = match data.get("result") {
            Some(Value::String(text)) => text.as_str(),
            Some(result) => text(result, "content").or_else(|| text(result, "detailedContent")).unwrap_or_default(),
            None => "",
        };
        let error = data.get("error").and_then(|error| error.as_str().or_else(|| text(error, "message")));
        let body = if result.is_empty() { error.unwrap_or_default() } else { result };
        let failed = data.get("success").and_then(Value::as_bool) == Some(false) || error.is_some();
        let exit = exit_code(result).filter(|code| !failed || *code != 0).unwrap_or(i32::from(failed));
        let event = Event::new(Kind::ToolResult, Speaker::Tool, body);
        self.push(Event { tool: tool.as_deref(), call, exit: Some(exit), ..event }, origin);
    }

    /// A person took back an event and all that came after it.
    fn rewind(&mut self, to: Option<&str>) {
        let first = |id: &str| self.known.first.get(&builder::number(id.as_bytes())).copied();
        let Some(from) = to.and_then(first).filter(|from| *from < self.known.ids.len()) else { return };
        self.gathered.observations.truncate(from.saturating_sub(self.before));
        self.gathered.gone.extend(self.known.ids.split_off(from));
        self.before = self.before.min(from);
    }

    fn say(&mut self, kind: Kind, speaker: Speaker, body: &str, origin: &mut Origin) {
        if !body.trim().is_empty() {
            self.push(Event::new(kind, speaker, body), origin);
        }
    }

    fn push(&mut self, event: Event, origin: &mut Origin) {
        let id = if origin.made == 0 { origin.id.clone() } else { format!("{}.{}", origin.id, origin.made) };
        origin.made += 1;
        let observation = self.gathered.observation(&Event { id: &id, at: origin.at, ..event });
        self.known.ids.push(observation.id.clone());
        self.gathered.observations.push(observation);
    }
}

/// The exit code at the end of a shell command's output: `<exited with exit code 1>`.
fn exit_code(output: &str) -> Option<i32> {
    let line = output.trim_end().lines().next_back()?.trim();
    line.strip_prefix('<')?.strip_suffix('>')?.rsplit_once("exit code ")?.1.parse().ok()
}

#[cfg(test)]
mod tests;
