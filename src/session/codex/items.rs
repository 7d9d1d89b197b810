//! The items of the conversation, as the model got and gave them.

use super::call::{self, Input};
use super::fields::{Fields, text, texts};
use super::output::Output;
use super::said::{self, Stream, Who};
use super::{Kind, Place, Reading, Speaker, human};
use crate::session::lines::Damage;

impl Reading<'_> {
    pub(super) fn item(&mut self, item: &Fields, place: Place, damage: &mut Damage) {
        let kind = item.text("type").unwrap_or_default();
        let id = item.text("call_id");
        match kind.as_ref() {
            "message" | "" => self.message(item, place, damage),
            "function_call" | "custom_tool_call" | "tool_search_call" => {
                let name = item.word("name").unwrap_or(kind.strip_suffix("_call").unwrap_or("tool").into());
                let namespace = item.word("namespace").filter(|space| space != "functions");
                let name = namespace.map_or_else(|| name.to_string(), |space| format!("{space}.{name}"));
                let name = name.strip_prefix("functions.").unwrap_or(&name);
                let input = arguments(item, place, damage);
                self.call(id.as_deref(), name, &input, place);
            }
            "local_shell_call" => {
                let id = id.or_else(|| item.text("id"));
                let input = action(item, place, damage);
                self.call(id.as_deref(), "local_shell", &input, place);
            }
            "web_search_call" => self.search(item, Stream::Item, place, damage),
            "image_generation_call" => {
                let id = id.or_else(|| item.text("id"));
                let input = Input::Raw(item.text("revised_prompt").unwrap_or_default().into_owned());
                self.call(id.as_deref(), "image_generation", &input, place);
            }
            "function_call_output" | "custom_tool_call_output" => {
                let output = Output::of_item(item, self.gathered.options.redactor);
                self.result(id.as_deref(), &output, place);
            }
            "agent_message" => self.between_agents(item, place),
            "compaction" | "context_compaction" | "compaction_summary" => self.compaction(None, place),
            "reasoning" | "ghost_snapshot" | "tool_search_output" | "token_count" | "other" => {}
            _ => damage.note("unknown_type", place.number),
        }
    }

    fn message(&mut self, item: &Fields, place: Place, damage: &mut Damage) {
        let content = match item.has("content") {
            true => item.list("content"),
            false => item.list("message"),
        };
        let texts = texts(&content);
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        if content.is_empty() {
            return damage.note("odd_message", place.number);
        }
        match item.text("role").as_deref() {
            Some("user") => self.prompt(&texts, Stream::Item, place),
            Some("assistant") => self.answer(&texts, Stream::Item, place),
            Some("developer" | "system") => {}
            _ => damage.note("odd_message", place.number),
        }
    }

    /// A person's words, and what the program put beside them.
    pub(super) fn prompt(&mut self, pieces: &[&str], stream: Stream, place: Place) {
        let parts: Vec<human::Parts> = pieces.iter().map(|piece| human::parts(piece)).collect();
        let begins = self.known.keys.len();
        for injected in parts.iter().flat_map(|part| &part.injected) {
            self.is_in(human::cwd(injected));
            self.injected(injected, place);
        }
        let words = parts.iter().map(|part| part.human.as_str()).filter(|text| !text.is_empty());
        let words = self.gathered.options.redactor.join(words);
        if words.is_empty() {
            return;
        }
        self.gathered.asked(&words);
        let key = said::key(&words);
        // The program sends a prompt again whose turn was stopped.
        if self.known.stopped.as_ref() == Some(&key) || !self.known.said.is_new(Who::Person, stream, &words) {
            return;
        }
        self.known.turns.push(begins);
        match self.known.head.subagent || self.known.head.driven {
            true => self.push(&format!("prompt {key}"), place, Kind::Other, Speaker::System, &words),
            false => self.push(&format!("prompt {key}"), place, Kind::Prompt, Speaker::Human, &words),
        }
        (self.known.stopped, self.known.last_prompt) = (None, Some(key));
    }

    /// What the program put beside a person's words, where it says something about the session.
    fn injected(&mut self, block: &str, place: Place) {
        let key = format!("injected {}", said::key(block));
        if block.starts_with("<turn_aborted>") {
            self.stop(place);
        } else if block.starts_with("<user_shell_command>") {
            let command = block.split_once("<command>").and_then(|(_, rest)| rest.split("</command>").next());
            if !self.exclusions().names_in(self.known.here.as_deref(), command.unwrap_or(block)) {
                self.push(&key, place, Kind::Other, Speaker::System, block);
            }
        } else if ["<subagent_notification>", "<hook_prompt", "<user_action>"].iter().any(|tag| block.starts_with(tag))
        {
            self.push(&key, place, Kind::Notification, Speaker::System, block);
        }
    }

    /// The model's answer.
    pub(super) fn answer(&mut self, pieces: &[&str], stream: Stream, place: Place) {
        let words = self.gathered.options.redactor.join(pieces.iter().copied().filter(|piece| *piece != "[image]"));
        // The events leave out which notes the answer drew on.
        let words = words.split("<oai-mem-citation>").next().unwrap_or_default().trim();
        if words.is_empty() || !self.known.said.is_new(Who::Model, stream, words) {
            return;
        }
        self.push(&format!("answer {}", said::key(words)), place, Kind::Answer, Speaker::Assistant, words);
        self.known.stopped = None;
    }

    /// A search of the web, which has no id that all streams know.
    pub(super) fn search(&mut self, item: &Fields, stream: Stream, place: Place, damage: &mut Damage) {
        let input = action(item, place, damage);
        if self.known.said.is_new(Who::Search, stream, &input.text()) {
            self.call(None, "web_search", &input, place);
        }
    }

    /// What one agent told another.
    pub(super) fn between_agents(&mut self, message: &Fields, place: Place) {
        let content =
            ["content", "message", "text"].iter().find(|name| message.has(name)).copied().unwrap_or("content");
        let said = texts(&message.list(content));
        let said = self.gathered.options.redactor.join(said.iter().map(AsRef::as_ref));
        if said.trim().is_empty() {
            return;
        }
        let name = |field: &str| message.word(field).unwrap_or("?".into());
        let body = format!("{} → {}: {said}", name("author"), name("recipient"));
        self.push(&format!("between {}", said::key(&body)), place, Kind::Notification, Speaker::System, &body);
    }
}

/// The arguments of a call: JSON inside a string, JSON, or a text that the tool takes as it stands.
pub(super) fn arguments(item: &Fields, place: Place, damage: &mut Damage) -> Input {
    let raw = item.raw("arguments").or_else(|| item.raw("input"));
    let Some(raw) = raw else { return Input::Raw(item.text("summary").unwrap_or_default().into_owned()) };
    match text(raw) {
        Some(arguments) => Input::read(&arguments, place.number, damage),
        None => Input::read(raw, place.number, damage),
    }
}

/// `action` of a search or a shell call.
fn action(item: &Fields, place: Place, damage: &mut Damage) -> call::Input {
    Input::read(item.raw("action").unwrap_or("{}"), place.number, damage)
}
