//! Copilot CLI's session files: one event a line.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::builder::{Event, digest};
use super::gather::{Gathered, everywhere, input, text, tool_name};
use super::json_lines::{self, Format};
use super::lines::{self, Damage, Lines};
use super::times;
use super::wrappers::Wrappers;
use super::{Agent, ObservationKind as Kind, ReadOptions, Session, Speaker};

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

/// Reads a file; none when there is nothing to learn from it, or nothing of it may be kept.
pub(super) fn read(
    source: impl BufRead,
    path: &Path,
    options: ReadOptions,
    damage: &mut Damage,
) -> io::Result<Vec<Session>> {
    let mut reading = Reading::new(path, options);
    let mut source = Lines::new(source);
    while let Some(line) = source.next(damage)? {
        reading.line(&line, damage);
    }
    Ok(reading.finish().into_iter().collect())
}

/// What is known of a file so far.
struct Reading<'o> {
    path: &'o Path,
    gathered: Gathered<'o>,
    session: Option<String>,
    seen: HashSet<String>,
    /// Tools by the id of their call; `None`: the call was dropped, and its result goes too.
    calls: HashMap<String, Option<String>>,
    /// The first observation of each event.
    first: HashMap<String, usize>,
}

/// What all observations of one event share.
struct Origin {
    id: String,
    at: Option<Timestamp>,
    made: usize,
}

impl<'o> Reading<'o> {
    fn new(path: &'o Path, options: ReadOptions<'o>) -> Self {
        Reading {
            path,
            gathered: Gathered::new(options),
            session: None,
            seen: HashSet::new(),
            calls: HashMap::new(),
            first: HashMap::new(),
        }
    }

    fn line(&mut self, line: &lines::Line, damage: &mut Damage) {
        json_lines::objects(line, &FORMAT, damage, &mut |text, damage| {
            let (event, length) = json_lines::first(text)?;
            self.event(&event, line.number, damage);
            Some(length)
        });
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
        if !self.seen.insert(id.clone()) {
            return;
        }
        self.gathered.happened(at);
        if matches!(kind, "session.start" | "session.resume") {
            self.about(data);
        }
        let policy = self.gathered.policy();
        let subagent = text(data, "parentToolCallId").is_some() || text(event, "agentId").is_some();
        if !policy.enabled || policy.metadata_only || subagent && policy.drop_subagents {
            return;
        }
        self.first.insert(id.clone(), self.gathered.observations.len());
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
        if self.session.is_none() {
            self.session = text(data, "sessionId").map(str::to_owned);
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
        keep(&mut self.gathered.branch, text(context, "branch"));
        keep(&mut self.gathered.version, text(data, "copilotVersion"));
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
        if self.calls.contains_key(&call) {
            return;
        }
        let told = data.get("arguments").unwrap_or(&Value::Null);
        // Some versions write the arguments as a text that is JSON.
        let inner = told.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()).filter(Value::is_object);
        let arguments = inner.as_ref().unwrap_or(told);
        // With `report_intent` the model only tells the program what to show meanwhile.
        let dropped = tool == "report_intent" || self.gathered.policy().exclusions.input(arguments);
        self.calls.insert(call.clone(), (!dropped).then(|| tool.to_owned()));
        if !dropped {
            let (title, body) = input(tool, arguments);
            self.push(Kind::ToolCall, speaker, Some(tool), Some(&call), Some(&title), &body, None, origin);
        }
    }

    fn result(&mut self, data: &Value, origin: &mut Origin) {
        let call = text(data, "toolCallId");
        let tool = match call.and_then(|call| self.calls.get(call)) {
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
        self.push(Kind::ToolResult, Speaker::Tool, tool.as_deref(), call, None, body, Some(exit), origin);
    }

    /// A person took back an event and all that came after it.
    fn rewind(&mut self, to: Option<&str>) {
        if let Some(&from) = to.and_then(|id| self.first.get(id)) {
            self.gathered.observations.truncate(from);
        }
    }

    fn say(&mut self, kind: Kind, speaker: Speaker, body: &str, origin: &mut Origin) {
        if !body.trim().is_empty() {
            self.push(kind, speaker, None, None, None, body, None, origin);
        }
    }

    #[allow(clippy::too_many_arguments)] // the fields of an event, which has no better name for them
    fn push(
        &mut self,
        kind: Kind,
        speaker: Speaker,
        tool: Option<&str>,
        call: Option<&str>,
        title: Option<&str>,
        body: &str,
        exit: Option<i32>,
        origin: &mut Origin,
    ) {
        let id = if origin.made == 0 { origin.id.clone() } else { format!("{}.{}", origin.id, origin.made) };
        origin.made += 1;
        self.gathered.push(&Event { id: &id, at: origin.at, kind, speaker, tool, call, title, body, exit });
    }

    /// The session; `None` when there is nothing in it, or nothing of it may be kept.
    fn finish(self) -> Option<Session> {
        let Reading { path, mut gathered, session, .. } = self;
        // `<id>/events.jsonl`, or `<id>.jsonl`.
        let named = match path.file_stem().map(|stem| stem.to_string_lossy()) {
            Some(stem) if stem == "events" => path.parent().and_then(Path::file_name).map(|n| n.to_string_lossy()),
            other => other,
        };
        let id = session.unwrap_or_else(|| named.unwrap_or_default().into_owned());
        let named = gathered.options.redactor.redact(&id);
        for observation in &mut gathered.observations {
            observation.id = everywhere(&named, &observation.id);
        }
        gathered.close(Agent::Copilot, &id, None)
    }
}

/// The exit code at the end of a shell command's output: `<exited with exit code 1>`.
fn exit_code(output: &str) -> Option<i32> {
    let line = output.trim_end().lines().next_back()?.trim();
    line.strip_prefix('<')?.strip_suffix('>')?.rsplit_once("exit code ")?.1.parse().ok()
}

#[cfg(test)]
mod tests;
