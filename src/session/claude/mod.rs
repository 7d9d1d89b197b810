//! Claude Code's session files: one JSON object a line.

mod finish;
mod human;
mod input;
mod line;

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::value::RawValue;

use self::line::{Block, Content, Line, Loose};
use super::builder::{self, Event, digest};
use super::lines::{self, Damage, Lines};
use super::{Exclusions, Observation, ObservationKind as Kind, Policy, ReadOptions, Session, Speaker};

/// Whether a line can only be Claude Code's, also when it is damaged.
pub(super) fn is_telling(bytes: &[u8]) -> bool {
    if !bytes.starts_with(b"{") {
        return false;
    }
    let text = String::from_utf8_lossy(bytes);
    let mut objects = serde_json::Deserializer::from_str(&text).into_iter::<Line>();
    match objects.next() {
        Some(Ok(line)) => line.is_telling(),
        _ => {
            let claims = |word: &str| text.contains(word);
            claims("\"parentUuid\":")
                || claims("\"message\":") && (claims("\"type\":\"user\"") || claims("\"type\":\"assistant\""))
        }
    }
}

/// Reads a file; `None` when there is nothing to learn from it, or nothing of it may be kept.
pub(super) fn read(
    source: impl BufRead,
    path: &Path,
    options: ReadOptions,
    damage: &mut Damage,
) -> io::Result<Option<Session>> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if stem.starts_with("agent-acompact-") {
        return Ok(None);
    }
    let mut reading = Reading::new(stem, options);
    let mut source = Lines::new(source);
    while let Some(line) = source.next(damage)? {
        reading.line(&line, damage);
    }
    Ok(reading.finish())
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
    stem: String,
    /// The file is a subagent's by its name.
    agent_file: bool,
    policy: Option<Policy>,
    /// Session ids with the number of their lines, in order of appearance.
    sessions: Vec<(String, usize)>,
    agent: Option<String>,
    cwd: Option<String>,
    /// The folder of the line that is read, where commands run.
    here: Option<String>,
    branch: Option<String>,
    version: Option<String>,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    /// Lines of the conversation, and how many of them are a subagent's.
    chain: usize,
    side: usize,
    first_prompt: Option<String>,
    items: Vec<Item>,
    seen: HashSet<String>,
    /// Tools by the id of their call; `None`: the call was dropped, and its result goes too.
    calls: HashMap<String, Option<String>>,
    last_text: Option<LastText>,
    /// A command that a person ran beside the model named an excluded path: its output goes too.
    hushed: bool,
    /// Prompts that were put into the queue: they appear again when they are sent.
    queued: Vec<(usize, String)>,
}

/// What all events of one line share.
struct Origin {
    id: String,
    at: Option<Timestamp>,
    sidechain: bool,
    /// How many observations the line gave so far.
    made: usize,
}

impl<'o> Reading<'o> {
    fn new(stem: String, options: ReadOptions<'o>) -> Self {
        Reading {
            options,
            agent_file: stem.starts_with("agent-"),
            stem,
            policy: None,
            sessions: Vec::new(),
            agent: None,
            cwd: None,
            here: None,
            branch: None,
            version: None,
            started: None,
            ended: None,
            chain: 0,
            side: 0,
            first_prompt: None,
            items: Vec::new(),
            seen: HashSet::new(),
            calls: HashMap::new(),
            last_text: None,
            hushed: false,
            queued: Vec::new(),
        }
    }

    fn line(&mut self, line: &lines::Line, damage: &mut Damage) {
        // A character that the end of the file cut in two is part of a cut line, not bad text.
        let cut =
            |error: std::str::Utf8Error| (!line.whole && error.error_len().is_none()).then(|| error.valid_up_to());
        let bytes = match std::str::from_utf8(line.bytes).err().and_then(cut) {
            Some(valid) => &line.bytes[..valid],
            None => line.bytes,
        };
        let text = lines::text(bytes, line.number, damage);
        if !text.starts_with('{') {
            damage.note("not_an_object", line.number);
            return;
        }
        if self.objects(&text, line, damage) {
            return;
        }
        if let Some((text, kind)) = lines::repaired(&text) {
            damage.note(kind, line.number);
            if self.objects(&text, line, damage) {
                return;
            }
            self.salvage(&text, line, damage);
        } else {
            self.salvage(&text, line, damage);
        }
    }

    /// Reads all objects of a line; false when nothing was used because the first of them cannot be read.
    fn objects(&mut self, text: &str, line: &lines::Line, damage: &mut Damage) -> bool {
        let mut objects = serde_json::Deserializer::from_str(text).into_iter::<Line>();
        let mut count = 0;
        loop {
            let start = objects.byte_offset();
            match objects.next() {
                Some(Ok(object)) => {
                    count += 1;
                    if count == 2 {
                        damage.note("glued_objects", line.number);
                    }
                    let raw = &text[start..objects.byte_offset()];
                    self.object(&object, raw, line.number, damage);
                }
                Some(Err(_)) if count == 0 => return false,
                Some(Err(_)) => {
                    damage.note("glued_objects", line.number);
                    self.salvage(&text[start..], line, damage);
                    return true;
                }
                None => return true,
            }
        }
    }

    /// Uses the objects that begin somewhere inside a broken line.
    fn salvage(&mut self, text: &str, line: &lines::Line, damage: &mut Damage) {
        damage.note(if line.whole { "broken_line" } else { "cut_last_line" }, line.number);
        for start in ["{\"parentUuid\":", "{\"type\":"] {
            // A whole line may stand behind the beginning of another.
            if let Some(at) = text.get(1..).and_then(|rest| rest.rfind(start)) {
                let rest = &text[at + 1..];
                let telling = serde_json::from_str::<Line>(rest).is_ok_and(|line| line.is_telling());
                if telling {
                    self.objects(rest, line, damage);
                    return;
                }
            }
        }
    }

    fn object(&mut self, line: &Line, raw: &str, number: usize, damage: &mut Damage) {
        let Some(kind) = line.kind() else {
            damage.note("unknown_type", number);
            return;
        };
        if !line.is_known() {
            damage.note("unknown_type", number);
            return;
        }
        let at = timestamp(&line.timestamp);
        if at.is_none() && line.timestamp != Loose::Other {
            damage.note("bad_timestamp", number);
        }
        if let Some(id) = line.uuid.text()
            && !self.seen.insert(id.to_owned())
        {
            return;
        }
        self.about(line, kind, at);
        if !matches!(kind, "user" | "assistant" | "system" | "attachment" | "queue-operation") {
            return;
        }
        let policy = self.policy.as_ref();
        if policy.is_some_and(|policy| policy.metadata_only || !policy.enabled) {
            return;
        }
        let id = line.uuid.text().map_or_else(|| format!("line-{}", digest(raw.as_bytes())), str::to_owned);
        let sidechain = line.sidechain.is_true();
        let mut origin = Origin { id, at, sidechain, made: 0 };
        match kind {
            "user" => self.user(line, &mut origin, raw, number, damage),
            "assistant" => self.assistant(line, &mut origin, number, damage),
            "system" => self.system(line, &mut origin),
            "attachment" => self.attachment(line, &mut origin),
            _ => self.queue(line, &mut origin),
        }
    }

    /// What a line says about the session as a whole.
    fn about(&mut self, line: &Line, kind: &str, at: Option<Timestamp>) {
        if let Some(session) = line.session.text() {
            match self.sessions.iter_mut().find(|(known, _)| known == session) {
                Some((_, count)) => *count += 1,
                None => self.sessions.push((session.to_owned(), 1)),
            }
        }
        if matches!(kind, "user" | "assistant") {
            self.chain += 1;
            self.side += usize::from(line.sidechain.is_true());
        }
        if kind != "file-history-snapshot"
            && let Some(at) = at
        {
            self.started = Some(self.started.map_or(at, |known| known.min(at)));
            self.ended = Some(self.ended.map_or(at, |known| known.max(at)));
        }
        let keep = |field: &mut Option<String>, value: &Loose| {
            if field.is_none() {
                *field = value.text().filter(|text| !text.is_empty()).map(str::to_owned);
            }
        };
        keep(&mut self.cwd, &line.cwd);
        if let Some(folder) = line.cwd.text() {
            self.here = Some(folder.to_owned());
        }
        keep(&mut self.branch, &line.branch);
        keep(&mut self.version, &line.version);
        keep(&mut self.agent, &line.agent);
        if self.policy.is_none() && self.cwd.is_some() {
            self.policy = Some(self.options.policy.for_cwd(self.cwd.as_deref()));
        }
    }

    fn user(&mut self, line: &Line, origin: &mut Origin, raw: &str, number: usize, damage: &mut Damage) {
        let pieces: Vec<&str> = match &line.message.content {
            Content::Text(text) => vec![text],
            Content::Blocks(blocks) => {
                if blocks.iter().any(|block| block.nested) {
                    damage.note(if lines::depth(raw) > 128 { "too_deep" } else { "odd_message" }, number);
                }
                blocks.iter().filter_map(|block| block.text.text()).collect()
            }
            Content::None => {
                damage.note("odd_message", number);
                return;
            }
        };
        if self.first_prompt.is_none() && !line.meta.is_true() {
            let says_something = |text: &&&str| !human::parts(text).human.is_empty();
            let cut = |text: &&str| text[..super::redact::floor(text, 8192)].to_owned();
            self.first_prompt = pieces.iter().find(says_something).map(cut);
        }
        let mut results = false;
        if let Content::Blocks(blocks) = &line.message.content {
            for block in blocks.iter().filter(|block| block.kind.text() == Some("tool_result")) {
                results = true;
                self.result(block, &line.tool_use_result, origin);
            }
        }
        let foreign = line.origin.0.text().is_some_and(|kind| !matches!(kind, "human" | "cli" | "user"));
        let machine = results
            || foreign
            || self.agent_file
            || origin.sidechain
            || line.meta.is_true()
            || line.compact_summary.is_true()
            || line.transcript_only.is_true()
            || matches!(line.prompt_source.text(), Some("sdk" | "system"));
        if machine {
            let text = self.options.redactor.join(pieces);
            if self.exclusions().mentioned(&text) {
                return;
            }
            if line.compact_summary.is_true() {
                self.push(origin, Kind::Compaction, Speaker::System, &text);
            } else if !is_noise(&text) {
                let kind = if line.meta.is_true() { Kind::Notification } else { Kind::Other };
                self.push(origin, kind, Speaker::System, &text);
            }
            return;
        }
        self.prompt(&pieces, origin);
    }

    /// A person's words, and what the program put beside them.
    fn prompt(&mut self, pieces: &[&str], origin: &mut Origin) {
        let parts: Vec<human::Parts> = pieces.iter().map(|piece| human::parts(piece)).collect();
        for part in &parts {
            let injected = part.injected.as_str();
            if part.interrupted {
                self.push(origin, Kind::Stop, Speaker::System, injected);
            } else if self.keeps_out(injected) {
                // Neither the command that a person ran beside the model, nor what it said.
            } else if injected.contains("<bash-input>") {
                self.push(origin, Kind::Other, Speaker::System, injected);
            } else if !is_noise(injected) {
                self.push(origin, Kind::Notification, Speaker::System, injected);
            }
        }
        let words =
            self.options.redactor.join(parts.iter().map(|part| part.human.as_str()).filter(|text| !text.is_empty()));
        if !words.is_empty() {
            self.push(origin, Kind::Prompt, Speaker::Human, &words);
        }
    }

    /// Whether injected text names an excluded path, or is the output of a command that did.
    fn keeps_out(&mut self, injected: &str) -> bool {
        let exclusions = self.exclusions();
        let command = injected.split_once("<bash-input>").and_then(|(_, rest)| rest.split("</bash-input>").next());
        match command {
            Some(command) => self.hushed = exclusions.names_in(self.here.as_deref(), command),
            None if injected.contains("<bash-std") => {}
            None => self.hushed = false,
        }
        self.hushed || exclusions.mentioned(injected)
    }

    fn result(&mut self, block: &Block, side_field: &Loose, origin: &mut Origin) {
        let call = block.tool_use_id.text();
        let tool = match call.and_then(|call| self.calls.get(call)) {
            Some(None) => return,
            Some(Some(tool)) => Some(tool.clone()),
            None => None,
        };
        let joined;
        let text = match &block.content {
            Content::Text(text) => text.as_ref(),
            Content::Blocks(blocks) => {
                joined = self.options.redactor.join(blocks.iter().filter_map(|block| match block.kind.text() {
                    Some("image") => Some("[image]"),
                    _ => block.text.text(),
                }));
                &joined
            }
            Content::None => "",
        };
        let failed = block.is_error.is_true() || text.trim_start().starts_with("<tool_use_error>");
        if failed && let Some(words) = human::rejection(text) {
            // The side field of a real rejection says so; a failing tool that prints such text has another one.
            let real = side_field.text().is_none_or(|side| {
                side.starts_with("User rejected")
                    || human::rejection(side.strip_prefix("Error: ").unwrap_or(side)).is_some()
            });
            let notice = &text[..text.find("the user said:").unwrap_or(text.len())];
            self.event(origin, Kind::ToolResult, Speaker::Tool, tool.as_deref(), call, None, notice, Some(1));
            let person = real && !words.is_empty() && !self.agent_file && !origin.sidechain;
            if person {
                self.push(origin, Kind::Prompt, Speaker::Human, words);
            }
            return;
        }
        let exit = if failed { exit_code(text).unwrap_or(1) } else { 0 };
        let exclusions = self.exclusions();
        let text = exclusions.without_excluded_lines(without_reminder(text));
        self.event(origin, Kind::ToolResult, Speaker::Tool, tool.as_deref(), call, None, &text, Some(exit));
    }

    fn assistant(&mut self, line: &Line, origin: &mut Origin, number: usize, damage: &mut Damage) {
        let notice = line.api_error.is_true() || line.message.model.text() == Some("<synthetic>");
        let message = line.message.id.text();
        match &line.message.content {
            Content::None => damage.note("odd_message", number),
            Content::Text(text) => self.answer(text, message, notice, origin),
            Content::Blocks(blocks) => {
                let mut texts: Vec<&str> = Vec::new();
                for block in blocks {
                    match block.kind.text() {
                        Some("tool_use" | "server_tool_use") => {
                            self.answer_of(&mut texts, message, notice, origin);
                            self.call(block, origin, number, damage);
                        }
                        Some("text") => texts.extend(block.text.text()),
                        _ => {}
                    }
                }
                self.answer_of(&mut texts, message, notice, origin);
            }
        }
    }

    fn answer_of(&mut self, texts: &mut Vec<&str>, message: Option<&str>, notice: bool, origin: &mut Origin) {
        if !texts.is_empty() {
            let text = self.options.redactor.join(texts.drain(..));
            self.answer(&text, message, notice, origin);
        }
    }

    /// Answer text. Several lines may hold one answer, growing, or in pieces.
    fn answer(&mut self, text: &str, message: Option<&str>, notice: bool, origin: &mut Origin) {
        if text.trim().is_empty() {
            return;
        }
        if notice {
            return self.push(origin, Kind::Notification, Speaker::System, text);
        }
        if let Some(last) = self.last_text.take_if(|last| Some(last.message.as_str()) == message) {
            let grown = if text.starts_with(&last.text) {
                text.to_owned()
            } else if last.text.starts_with(text) {
                self.last_text = Some(last);
                return;
            } else {
                self.options.redactor.join([last.text.as_str(), text])
            };
            let body = builder::body(self.options.redactor, &grown);
            let item = &mut self.items[last.item].observation;
            item.title = builder::first_line(&body);
            item.body = body;
            self.last_text = Some(LastText { text: grown, ..last });
            return;
        }
        self.push(origin, Kind::Answer, Speaker::Assistant, text);
        self.last_text =
            message.map(|message| LastText { message: message.into(), text: text.into(), item: self.items.len() - 1 });
    }

    fn exclusions(&self) -> Arc<Exclusions> {
        self.policy.as_ref().unwrap_or(self.options.policy).exclusions.clone()
    }

    fn call(&mut self, block: &Block, origin: &mut Origin, number: usize, damage: &mut Damage) {
        let name = block.name.text().unwrap_or("tool");
        let call = block.id.text();
        if let Some(call) = call
            && self.calls.contains_key(call)
        {
            return;
        }
        let input = input::Input::read(block.input.map_or("null", RawValue::get), number, damage);
        let dropped = input.is_excluded(&self.exclusions(), self.here.as_deref());
        if let Some(call) = call {
            self.calls.insert(call.to_owned(), (!dropped).then(|| name.to_owned()));
        }
        if dropped {
            return;
        }
        self.last_text = None;
        let (title, body) = (input.title(name), input.text());
        self.event(origin, Kind::ToolCall, Speaker::Assistant, Some(name), call, Some(&title), &body, None);
    }

    fn system(&mut self, line: &Line, origin: &mut Origin) {
        let content = match &line.content {
            Content::Text(text) => text.as_ref(),
            _ => "",
        };
        match line.subtype.text() {
            Some("compact_boundary" | "microcompact_boundary") => {
                let text = if content.is_empty() { "Context compacted" } else { content };
                self.push(origin, Kind::Compaction, Speaker::System, text);
            }
            Some("stop_hook_summary") => {
                let errors = line.hook_errors.map_or("[]", RawValue::get);
                if errors != "[]" || line.prevented_continuation.is_true() {
                    let errors = input::strings(errors).join("\n");
                    self.push(origin, Kind::Stop, Speaker::System, &format!("Stop hook: {errors}"));
                }
            }
            Some("turn_duration" | "api_error") => {}
            _ if !is_noise(content) => self.push(origin, Kind::Notification, Speaker::System, content),
            _ => {}
        }
    }

    fn attachment(&mut self, line: &Line, origin: &mut Origin) {
        let Some(raw) = line.attachment else { return };
        let attachment = input::Attachment::read(raw.get());
        match attachment.kind.as_str() {
            "queued_command" => {
                let texts: Vec<&str> = attachment.texts.iter().map(String::as_str).collect();
                let person = !self.agent_file && !origin.sidechain && !line.meta.is_true() && attachment.is_prompt;
                if person {
                    self.prompt(&texts, origin);
                }
            }
            "hook_blocking_error" | "hook_non_blocking_error" | "hook_system_message" => {
                let text = attachment.texts.join("\n");
                if !is_noise(&text) {
                    self.push(origin, Kind::Notification, Speaker::System, &text);
                }
            }
            _ => {}
        }
    }

    fn queue(&mut self, line: &Line, origin: &mut Origin) {
        match (line.operation.text(), &line.content) {
            (Some("enqueue"), Content::Text(text)) => {
                let human = human::parts(text).human;
                if !human.is_empty() && !self.agent_file {
                    self.prompt(&[text.as_ref()], origin);
                    self.queued.push((self.items.len() - 1, human));
                }
            }
            // Taken back into the editor: what is sent in the end appears as a prompt of its own.
            (Some("popAll"), _) => {
                for (item, _) in std::mem::take(&mut self.queued) {
                    self.items[item].observation.body.clear();
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, origin: &mut Origin, kind: Kind, speaker: Speaker, body: &str) {
        self.event(origin, kind, speaker, None, None, None, body, None);
    }

    #[allow(clippy::too_many_arguments)] // the fields of an event, which has no better name for them
    fn event(
        &mut self,
        origin: &mut Origin,
        kind: Kind,
        speaker: Speaker,
        tool: Option<&str>,
        call: Option<&str>,
        title: Option<&str>,
        body: &str,
        exit: Option<i32>,
    ) {
        let id = if origin.made == 0 { origin.id.clone() } else { format!("{}.{}", origin.id, origin.made) };
        origin.made += 1;
        let event = Event { id: &id, at: origin.at, kind, speaker, tool, call, title, body, exit };
        let observation = builder::observation(self.options.redactor, &event);
        self.items.push(Item { observation, sidechain: origin.sidechain });
    }
}

/// Injected text that says nothing about the session.
fn is_noise(text: &str) -> bool {
    let text = text.trim();
    let empty_block =
        text.starts_with('<') && text.contains("></") && text.len() < 60 && text.matches('<').count() == 2;
    text.is_empty()
        || empty_block
        || ["<system-reminder", "<ide_", "<local-command-caveat", "Caveat: The messages below", "[Image"]
            .iter()
            .any(|front| text.starts_with(front))
}

/// A tool's output without the reminder that the program appends to it.
fn without_reminder(text: &str) -> &str {
    let trimmed = text.trim_end();
    match trimmed.strip_suffix("</system-reminder>").and_then(|rest| rest.rfind("<system-reminder>")) {
        Some(at) => text[..at].trim_end(),
        None => text,
    }
}

/// `Exit code N` at the front of a failed command's output.
fn exit_code(text: &str) -> Option<i32> {
    let text = text.trim_start();
    let rest = text.strip_prefix("Error: ").unwrap_or(text).strip_prefix("Exit code ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..digits].parse().ok().filter(|code| *code != 0)
}

fn timestamp(field: &Loose) -> Option<Timestamp> {
    match field {
        Loose::Text(text) => {
            let local = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
            text.parse().ok().or_else(|| Some(local()?.timestamp()))
        }
        Loose::Number(number) if *number > 1e11 => Timestamp::from_millisecond(*number as i64).ok(),
        Loose::Number(number) => Timestamp::from_second(*number as i64).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
