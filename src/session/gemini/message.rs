//! One message: who said what in it, and the tool calls that stand in it.

use jiff::Timestamp;
use serde_json::Value;

use super::words::{self, Piece};
use super::{Message, Part, Reading, Role};
use crate::session::builder::{Event, digest};
use crate::session::gather::{input, text, tool_name};
use crate::session::lines::Damage;
use crate::session::times;
use crate::session::{Observation, ObservationKind as Kind, Speaker};

/// A piece of a message's content.
enum Content<'v> {
    Text(&'v str),
    Call(&'v Value),
    Response(&'v Value),
    Other,
}

/// The parts of a content: a text, a part, or a list of either. What the model only thought is left out.
fn parts(content: Option<&Value>) -> Vec<Content<'_>> {
    fn part(value: &Value) -> Option<Content<'_>> {
        if value.get("thought").and_then(Value::as_bool) == Some(true) {
            return None;
        }
        Some(match value {
            Value::String(text) => Content::Text(text),
            _ if value.get("text").is_some_and(Value::is_string) => {
                Content::Text(value.get("text").and_then(Value::as_str).unwrap_or_default())
            }
            _ if value.get("functionCall").is_some() => Content::Call(&value["functionCall"]),
            _ if value.get("functionResponse").is_some() => Content::Response(&value["functionResponse"]),
            _ => Content::Other,
        })
    }
    match content {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(values)) => values.iter().filter_map(part).collect(),
        Some(value) => part(value).into_iter().collect(),
    }
}

/// The observations of one message while they are made.
struct Making<'v> {
    id: String,
    at: Option<Timestamp>,
    /// Where the message stands.
    index: usize,
    message: &'v Value,
    made: Vec<Observation>,
    /// The pieces of what was said, in short.
    said: Vec<String>,
}

/// What the program answers itself in the model's name.
const OWN_ANSWERS: [&str; 2] =
    ["Got it. Thanks for the additional context!", "[The previous response was interrupted before it completed.]"];

impl Reading<'_> {
    /// Takes a message; one of an id that is there already replaces it. With `only_new` the texts that were said
    /// before, in whatever message, are left out.
    pub(super) fn message(&mut self, message: &Value, only_new: bool, number: usize, damage: &mut Damage) {
        let role = match text(message, "type") {
            Some("user") => Role::User,
            Some("gemini") => Role::Model,
            Some("info" | "warning" | "error") => Role::Notice,
            _ => return damage.note("unknown_type", number),
        };
        let at = times::of_field(message.get("timestamp")).unwrap_or_else(|()| {
            damage.note("bad_timestamp", number);
            None
        });
        self.gathered.happened(at);
        if self.gathered.is_closed() {
            return;
        }
        let id = text(message, "id").map_or_else(|| self.name(message), str::to_owned);
        let index = self.known.at.get(&id).copied().unwrap_or(self.known.messages.len());
        let content = parts(message.get("content"));
        if content.is_empty() && message.get("content").is_some_and(|content| !content.is_array() && !content.is_null())
        {
            damage.note("odd_message", number);
        }
        let mut texts: Vec<&str> = Vec::new();
        for part in &content {
            if let Content::Text(piece) = part {
                let short = digest(format!("{role:?} {}", piece.trim()).as_bytes());
                if self.known.pieces.insert(short) || !only_new {
                    texts.push(piece);
                }
            }
        }
        let mut making = Making { id, at, index, message, made: Vec::new(), said: Vec::new() };
        match role {
            Role::User => self.user(&texts, &mut making),
            Role::Model => self.model(&texts, &mut making),
            Role::Notice => self.say(&mut making, Kind::Notification, Speaker::System, &texts.join("\n")),
        }
        self.tools(&content, &mut making);
        self.put(making, role);
    }

    /// What a user message holds: typed by a person, unless a subagent was started with it.
    fn user(&mut self, texts: &[&str], making: &mut Making) {
        // What is shown is what was typed, where the program made something else of it for the model.
        let shown = parts(making.message.get("displayContent"));
        let shown: Vec<&str> =
            shown.iter().filter_map(|part| if let Content::Text(text) = part { Some(*text) } else { None }).collect();
        let typed = if shown.is_empty() || texts.is_empty() { texts } else { &shown };
        self.gathered.asked(&typed.join("\n"));
        if self.known.subagent {
            return self.say(making, Kind::Other, Speaker::System, &typed.join("\n"));
        }
        let mut human = Vec::new();
        for piece in words::pieces(typed) {
            making.said.extend(piece.text().map(|text| digest(text.as_bytes())));
            match piece {
                Piece::Human(words) => human.push(words),
                Piece::Command(command) => self.say(making, Kind::Notification, Speaker::System, &command),
                Piece::Summary(summary) => self.say(making, Kind::Compaction, Speaker::System, &summary),
                Piece::Shell { command, output } => self.shell(&command, &output, making),
                Piece::Injected => {}
            }
        }
        let words = self.gathered.options.redactor.join(human.iter().map(String::as_str));
        self.say(making, Kind::Prompt, Speaker::Human, &words);
    }

    /// A command that a person ran in the program's shell.
    fn shell(&mut self, command: &str, output: &str, making: &mut Making) {
        if self.gathered.policy().exclusions.names(command) {
            return;
        }
        let call = format!("{}.shell", making.id);
        let event = Event {
            id: &call,
            at: making.at,
            kind: Kind::ToolCall,
            speaker: Speaker::System,
            tool: Some("Bash"),
            call: Some(&call),
            title: Some(command),
            body: command,
            exit: None,
        };
        making.made.push(self.gathered.observation(&event));
        let id = format!("{call}.result");
        let result =
            Event { id: &id, kind: Kind::ToolResult, speaker: Speaker::Tool, title: None, body: output, ..event };
        making.made.push(self.gathered.observation(&Event { exit: exit_code(output), ..result }));
    }

    fn model(&mut self, texts: &[&str], making: &mut Making) {
        let answer = self.gathered.options.redactor.join(texts.iter().copied());
        if !OWN_ANSWERS.contains(&answer.trim()) {
            making.said.extend((!answer.trim().is_empty()).then(|| digest(answer.trim().as_bytes())));
            self.say(making, Kind::Answer, Speaker::Assistant, &answer);
        }
    }

    /// Calls in `toolCalls`, with their results, and those that stand only in the content.
    fn tools(&mut self, content: &[Content], making: &mut Making) {
        let listed = making.message.get("toolCalls").and_then(Value::as_array);
        for (nth, call) in listed.into_iter().flatten().enumerate() {
            self.call(call, nth, making);
            let status = text(call, "status");
            let over = matches!(status, Some("success" | "error" | "cancelled"));
            if over || call.get("result").is_some_and(|result| !result.is_null()) {
                let output = output(call.get("result")).or_else(|| text(call, "resultDisplay").map(str::to_owned));
                let failed = matches!(status, Some("error" | "cancelled"));
                self.result(text(call, "id"), &output.unwrap_or_default(), failed, nth, making);
            }
        }
        let offset = listed.map_or(0, Vec::len);
        for (nth, part) in content.iter().enumerate() {
            match part {
                Content::Call(call) => self.call(call, offset + nth, making),
                Content::Response(response) => {
                    let failed = response.pointer("/response/error").is_some();
                    self.result(text(response, "id"), &said(response), failed, offset + nth, making);
                }
                Content::Text(_) | Content::Other => {}
            }
        }
    }

    fn call(&mut self, call: &Value, nth: usize, making: &mut Making) {
        let tool = tool_name(text(call, "name").unwrap_or("tool"));
        let arguments = call.get("args").unwrap_or(&Value::Null);
        let own = format!("{}.c{nth}", making.id);
        let id = text(call, "id").unwrap_or(&own);
        if self.known.calls.get(id).is_some_and(|(index, _)| *index != making.index) || made(making, id, Kind::ToolCall)
        {
            return;
        }
        let dropped = self.gathered.policy().exclusions.input(arguments);
        self.known.calls.insert(id.to_owned(), (making.index, (!dropped).then(|| tool.to_owned())));
        if dropped {
            return;
        }
        let (title, body) = input(tool, arguments);
        let event = Event {
            id: &own,
            at: times::of_field(call.get("timestamp")).ok().flatten().or(making.at),
            kind: Kind::ToolCall,
            speaker: Speaker::Assistant,
            tool: Some(tool),
            call: Some(id),
            title: Some(&title),
            body: &body,
            exit: None,
        };
        making.made.push(self.gathered.observation(&event));
    }

    /// A result: the first of a call counts, unless its own message tells it anew.
    fn result(&mut self, call: Option<&str>, output: &str, failed: bool, nth: usize, making: &mut Making) {
        let own = format!("{}.c{nth}", making.id);
        let call = call.unwrap_or(&own);
        let tool = match self.known.calls.get(call) {
            Some((_, None)) => return,
            Some((index, Some(tool))) if *index == making.index || !self.known.answered.contains(call) => {
                Some(tool.clone())
            }
            Some(_) => return,
            None => None,
        };
        if made(making, call, Kind::ToolResult) || output.starts_with("<tool_output_masked>") {
            return;
        }
        self.known.answered.insert(call.to_owned());
        let exit = exit_code(output).filter(|code| !failed || *code != 0).unwrap_or(i32::from(failed));
        let event = Event {
            id: &format!("{}.r{nth}", making.id),
            at: making.at,
            kind: Kind::ToolResult,
            speaker: Speaker::Tool,
            tool: tool.as_deref(),
            call: Some(call),
            title: None,
            body: output,
            exit: Some(exit),
        };
        making.made.push(self.gathered.observation(&event));
    }

    fn say(&mut self, making: &mut Making, kind: Kind, speaker: Speaker, body: &str) {
        if body.trim().is_empty() {
            return;
        }
        let id = match making.made.len() {
            0 => making.id.clone(),
            nth => format!("{}.{nth}", making.id),
        };
        let event = Event { id: &id, at: making.at, ..Event::new(kind, speaker, body) };
        making.made.push(self.gathered.observation(&event));
    }

    /// Puts the message where it belongs.
    fn put(&mut self, making: Making, role: Role) {
        let Making { id, index, made, said, .. } = making;
        let mut parts: Vec<Part> = made.into_iter().map(Part::new).collect();
        let Some(known) = self.known.messages.get_mut(index) else {
            self.known.at.insert(id.clone(), index);
            return self.known.messages.push(Message { id, role, said, parts, gone: false });
        };
        let before = std::mem::take(&mut known.parts);
        let is_told = |old: &Part| parts.iter().any(|new| new.id == old.id);
        // A result that was hidden from the model since then stays as it was.
        let (stands, lost): (Vec<Part>, _) = before.into_iter().partition(|old| old.is_result || is_told(old));
        self.gathered.gone.extend(lost.into_iter().map(|part| part.id));
        let given: Vec<String> = stands.iter().filter(|old| old.is_given).map(|old| old.id.clone()).collect();
        let (_, hidden): (Vec<Part>, Vec<Part>) = stands.into_iter().partition(is_told);
        let is_lost = known.gone && hidden.iter().any(|old| old.is_given);
        parts.extend(hidden);
        parts.iter_mut().for_each(|part| part.is_given = given.contains(&part.id));
        // What earlier reads gave stands where it stood; all else comes behind that, and behind all other messages.
        let is_first = parts.iter().zip(&given).all(|(part, given)| part.id == *given);
        let grows = parts.len() > given.len();
        (known.parts, known.said, known.gone) = (parts, said, false);
        let mut follow = self.known.messages[index + 1..].iter().filter(|message| !message.gone);
        let is_last = !follow.any(|message| message.parts.iter().any(|part| part.is_given));
        self.anew |= is_lost || !is_first || grows && !is_last;
    }
}

/// Whether this call, or its result, stands in the message already.
fn made(making: &Making, call: &str, kind: Kind) -> bool {
    making.made.iter().any(|known| known.kind == kind && known.call.as_deref() == Some(call))
}

/// The text of a result: of all its parts.
fn output(result: Option<&Value>) -> Option<String> {
    let texts: Vec<String> = parts(Some(result?))
        .into_iter()
        .map(|part| match part {
            Content::Text(text) => text.to_owned(),
            Content::Response(response) => said(response),
            Content::Call(_) => String::new(),
            Content::Other => "[data]".to_owned(),
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// What a function response says.
fn said(response: &Value) -> String {
    let Some(inner) = response.get("response") else { return String::new() };
    let told = ["output", "error", "content", "result"].iter().find_map(|name| inner.get(*name));
    match told.unwrap_or(inner) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The exit code at the end of a shell command's output.
fn exit_code(output: &str) -> Option<i32> {
    let line = output.lines().rev().take(8).find_map(|line| line.trim().strip_prefix("Exit Code: "))?;
    line.trim().parse().ok()
}
