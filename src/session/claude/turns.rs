//! What the lines of a conversation say, and whose words they are.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::line::{Block, Content, Line, Loose};
use super::state::{Mark, Open, Queued};
use super::{Item, Kind, LastText, Origin, Reading, beside, human, input};
use crate::session::builder::{self, Event};
use crate::session::lines::{self, Damage};
use crate::session::{Exclusions, Observation, Speaker, own, redact};

impl Reading<'_> {
    pub(super) fn user(&mut self, line: &Line, origin: &mut Origin, raw: &str, number: usize, damage: &mut Damage) {
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
        if self.about.own.is_none() && !line.meta.is_true() {
            let says_something = |text: &&&str| !human::parts(text).human.is_empty();
            let is_ours = |text: &&str| own::is_marked(&text[..redact::floor(text, 8192)]);
            self.about.own = pieces.iter().find(says_something).map(is_ours);
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
        let about = &mut self.about;
        let command = injected.split_once("<bash-input>").and_then(|(_, rest)| rest.split("</bash-input>").next());
        match command {
            Some(command) => about.hushed = exclusions.names_in(about.here.as_deref(), command),
            None if injected.contains("<bash-std") => {}
            None => about.hushed = false,
        }
        about.hushed || exclusions.mentioned(injected)
    }

    fn exclusions(&self) -> Arc<Exclusions> {
        self.policy.as_ref().unwrap_or(self.options.policy).exclusions.clone()
    }

    fn result(&mut self, block: &Block, side_field: &Loose, origin: &mut Origin) {
        let call = block.tool_use_id.text();
        let tool = match call.and_then(|call| self.calls.get(&builder::number(call.as_bytes()))) {
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
        // A server's error may say anything, also this; what the program itself notes beside it cannot be forged.
        let foreign = tool.as_deref().is_some_and(|tool| tool.starts_with("mcp__"));
        let noted = side_field.text().is_some_and(|side| side.starts_with("User rejected"));
        if failed
            && (noted || !foreign)
            && let Some(words) = human::rejection(text)
        {
            // The side field of a real rejection says so; a failing tool that prints such text has another one.
            let real = noted
                || side_field
                    .text()
                    .is_none_or(|side| human::rejection(side.strip_prefix("Error: ").unwrap_or(side)).is_some());
            let notice = &text[..text.find("the user said:").unwrap_or(text.len())];
            let event = Event::new(Kind::ToolResult, Speaker::Tool, notice);
            self.event(origin, Event { tool: tool.as_deref(), call, exit: Some(1), ..event });
            let person = real && !words.is_empty() && !self.agent_file && !origin.sidechain;
            if person {
                self.push(origin, Kind::Prompt, Speaker::Human, words);
            }
            return;
        }
        let exit = if failed { exit_code(text).unwrap_or(1) } else { 0 };
        let exclusions = self.exclusions();
        let kept = exclusions.without_excluded_lines(without_reminder(text));
        let event = Event::new(Kind::ToolResult, Speaker::Tool, &kept);
        self.event(origin, Event { tool: tool.as_deref(), call, exit: Some(exit), ..event });
        if let Some(output) = beside::output(text, self.path, &self.about.sessions)
            && let Some(item) = self.items.last_mut()
        {
            let body = output.body(self.options.redactor, &exclusions);
            self.about.held += body.len().saturating_sub(item.observation.body.len());
            item.observation.title = builder::first_line(&body);
            item.observation.body = body;
        }
    }

    pub(super) fn assistant(&mut self, line: &Line, origin: &mut Origin, number: usize, damage: &mut Damage) {
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
        self.close_answer();
        if let Some(message) = message {
            self.open_answer(origin);
            self.last_text = Some(LastText { message: message.into(), text: text.into(), item: self.items.len() });
        }
        self.push(origin, Kind::Answer, Speaker::Assistant, text);
    }

    fn open_answer(&mut self, origin: &mut Origin) {
        let (said, queued, items) = (self.said.len(), self.queued.len(), self.items.len() - origin.made);
        let since = |about| Box::new(Mark { place: origin.line.place(), about, said, queued, items });
        self.open = origin.before.take().map(since).map_or(Open::Lost, Open::Since);
        self.added.since_line();
    }

    fn close_answer(&mut self) {
        self.last_text = None;
        self.open = Open::No;
    }

    fn call(&mut self, block: &Block, origin: &mut Origin, number: usize, damage: &mut Damage) {
        let name = block.name.text().unwrap_or("tool");
        let call = block.id.text();
        let key = call.map(|call| builder::number(call.as_bytes()));
        if key.is_some_and(|key| self.calls.contains_key(&key)) {
            return;
        }
        let input = input::Input::read(block.input.map_or("null", RawValue::get), number, damage);
        let dropped = input.is_excluded(&self.exclusions(), self.about.here.as_deref());
        if let Some(key) = key {
            self.calls.insert(key, (!dropped).then(|| name.to_owned()));
            self.added.calls.push(key);
        }
        if dropped {
            return;
        }
        self.close_answer();
        let (title, body) = (input.title(name), input.text());
        let event = Event::new(Kind::ToolCall, Speaker::Assistant, &body);
        self.event(origin, Event { tool: Some(name), call, title: Some(&title), ..event });
    }

    pub(super) fn system(&mut self, line: &Line, origin: &mut Origin) {
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

    pub(super) fn attachment(&mut self, line: &Line, origin: &mut Origin) {
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

    pub(super) fn queue(&mut self, line: &Line, origin: &mut Origin) {
        match (line.operation.text(), &line.content) {
            (Some("enqueue"), Content::Text(text)) => {
                let human = human::parts(text).human;
                if !human.is_empty() && !self.agent_file {
                    self.prompt(&[text.as_ref()], origin);
                    let words = builder::number(builder::body(self.options.redactor, &human).as_bytes());
                    self.queued.extend(self.items.last().map(|item| Queued { id: item.observation.id.clone(), words }));
                }
            }
            // Taken back into the editor: what is sent in the end appears as a prompt of its own.
            (Some("popAll"), _) => {
                for queued in std::mem::take(&mut self.queued) {
                    self.take_back(queued);
                }
                if !matches!(self.open, Open::No) {
                    self.open = Open::Lost;
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, origin: &mut Origin, kind: Kind, speaker: Speaker, body: &str) {
        self.event(origin, Event::new(kind, speaker, body));
    }

    fn event(&mut self, origin: &mut Origin, event: Event) {
        let id = if origin.made == 0 { origin.id.clone() } else { format!("{}.{}", origin.id, origin.made) };
        origin.made += 1;
        let event = Event { id: &id, at: origin.at, ..event };
        self.add(builder::observation(self.options.redactor, &event), origin.sidechain);
    }

    fn add(&mut self, observation: Observation, sidechain: bool) {
        if observation.speaker == Speaker::Human {
            self.said.push(builder::number(observation.body.as_bytes()));
        }
        self.about.held += size_of::<Item>() + observation.body.len() + observation.title.len() + 64;
        self.items.push(Item { observation, sidechain });
    }

    /// A queued prompt counts where it was sent, if it was.
    pub(super) fn take_back(&mut self, queued: Queued) {
        if let Some(item) = self.items.iter_mut().rev().find(|item| item.observation.id == queued.id) {
            item.observation.body.clear();
        }
        if let Some(at) = self.said.iter().position(|words| *words == queued.words) {
            self.said.swap_remove(at);
        }
        self.gone.push(queued.id);
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
