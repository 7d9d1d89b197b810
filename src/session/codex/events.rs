//! The events: they repeat most items, and tell of what is no item.

use serde_json::{Value, json};

use super::call::{Input, shell};
use super::fields::{Fields, texts};
use super::items::arguments;
use super::output::Output;
use super::said::{self, Stream};
use super::{Kind, Place, Reading, Speaker};
use crate::session::lines::Damage;

impl Reading<'_> {
    /// What happened. Types that are not named here say nothing that other lines do not.
    pub(super) fn happened(&mut self, event: &Fields, place: Place, damage: &mut Damage) {
        let kind = event.text("type").unwrap_or_default();
        let id = event.text("call_id");
        let id = id.as_deref();
        match kind.as_ref() {
            "user_message" => {
                let message = event.text("message").unwrap_or_default();
                self.prompt(&[&message], Stream::Event, place);
            }
            "agent_message" => {
                let message = event.text("message").unwrap_or_default();
                self.answer(&[&message], Stream::Event, place);
            }
            "task_complete" | "turn_complete" => {
                let last = event.word("last_agent_message").filter(|words| !self.known.said.has_answer(words));
                if let Some(last) = last {
                    self.answer(&[&last], Stream::Event, place);
                }
            }
            "turn_aborted" => self.stop(place),
            "context_compacted" => self.compaction(None, place),
            "thread_rolled_back" => {
                let count = event.number("num_turns").unwrap_or(0);
                self.roll_back(usize::try_from(count).unwrap_or(0));
            }
            "entered_review_mode" => {
                let hint = event.word("user_facing_hint").or_else(|| event.word("prompt"));
                self.notice(&format!("Review of {}", hint.as_deref().unwrap_or("the changes")), place);
            }
            "exited_review_mode" => {
                if let Some(review) = event.fields("review_output").and_then(|output| self.review(&output)) {
                    self.notice(&review, place);
                }
            }
            "error" => {
                let message = event.word("message");
                let inner = || event.fields("error")?.word("message");
                if let Some(message) = message.or_else(inner) {
                    self.notice(&format!("Error: {message}"), place);
                }
            }
            "exec_command_end" if event.text("source").is_none_or(|source| source != "user_shell") => {
                self.executed(event, id, place);
            }
            "patch_apply_end" => self.patched(event, id, place),
            "mcp_tool_call_end" => {
                let Some(invocation) = event.fields("invocation") else { return };
                self.served(&invocation, event.fields("result"), id, place, damage);
            }
            "web_search_end" => self.search(event, Stream::Event, place, damage),
            "view_image_tool_call" => {
                let input = Input::Read(json!({ "path": event.text("path") }));
                self.call(id, "view_image", &input, place);
            }
            "dynamic_tool_call_request" => {
                let input = arguments(event, place, damage);
                let name = event.word("tool").unwrap_or("tool".into());
                self.call(id.or(event.text("callId").as_deref()), &name, &input, place);
            }
            "dynamic_tool_call_response" => {
                let text =
                    self.gathered.options.redactor.join(texts(&event.list("content_items")).iter().map(AsRef::as_ref));
                let exit = Some(i32::from(event.is_false("success")));
                self.result(id, &Output { body: text, exit }, place);
            }
            "item_completed" => {
                if let Some(item) = event.fields("item") {
                    self.completed(&item, place, damage);
                }
            }
            _ => {}
        }
    }

    /// An item that an event of a newer version repeats.
    fn completed(&mut self, item: &Fields, place: Place, damage: &mut Damage) {
        let id = item.text("id");
        let id = id.as_deref();
        let said = texts(&item.list("content"));
        let said: Vec<&str> = said.iter().map(AsRef::as_ref).collect();
        match item.text("type").unwrap_or_default().as_ref() {
            "UserMessage" => self.prompt(&said, Stream::Completed, place),
            "AgentMessage" => self.answer(&said, Stream::Completed, place),
            "Plan" => self.answer(&[&item.text("text").unwrap_or_default()], Stream::Completed, place),
            "CommandExecution" => self.executed(item, id, place),
            "FileChange" => self.patched(item, id, place),
            "McpToolCall" => self.served(item, item.fields("result"), id, place, damage),
            _ => {}
        }
    }

    fn notice(&mut self, text: &str, place: Place) {
        self.push(&format!("notice {}", said::key(text)), place, Kind::Notification, Speaker::System, text);
    }

    /// What a review found.
    fn review(&self, output: &Fields) -> Option<String> {
        let mut lines = vec!["Review: ".to_owned() + &output.word("overall_explanation")?];
        for finding in output.list("findings") {
            lines.extend(Fields::read(finding).and_then(|f| Some(format!("- {}", f.word("title")?))));
        }
        Some(self.gathered.options.redactor.join(lines.iter().map(String::as_str)))
    }

    /// A command that ended. Its call stands in no other line where the model used it inside a script.
    fn executed(&mut self, event: &Fields, id: Option<&str>, place: Place) {
        let words = texts(&event.list("command"));
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let Some(exit) = event.number("exit_code") else { return };
        self.call(id, "exec_command", &Input::Read(json!({ "command": shell(&words) })), place);
        let stream = |name: &str| event.word(name).unwrap_or_default();
        let both = [stream("stdout"), stream("stderr")];
        let body = match event.word("aggregated_output") {
            Some(output) => output.into_owned(),
            None => self
                .gathered
                .options
                .redactor
                .join(both.iter().map(AsRef::as_ref).filter(|text: &&str| !text.is_empty())),
        };
        self.result(id, &Output { body, exit: Some(i32::try_from(exit).unwrap_or(1)) }, place);
    }

    /// A patch that was applied, or not.
    fn patched(&mut self, event: &Fields, id: Option<&str>, place: Place) {
        let Some(Value::Object(changes)) = event.value("changes") else { return };
        let mut patch = String::from("*** Begin Patch\n");
        for (file, change) in &changes {
            let kind = match change.get("type").and_then(Value::as_str) {
                Some("add") => "Add",
                Some("delete") => "Delete",
                _ => "Update",
            };
            patch.push_str(&format!("*** {kind} File: {file}\n"));
            if let Some(to) = change.get("move_path").and_then(Value::as_str) {
                patch.push_str(&format!("*** Move to: {to}\n"));
            }
        }
        self.call(id, "apply_patch", &Input::Raw(patch + "*** End Patch"), place);
        let failed = event.is_false("success") || event.text("status").is_some_and(|status| status == "failed");
        let told = if failed { event.word("stderr") } else { event.word("stdout") };
        let body = told.or_else(|| event.word("stdout")).unwrap_or_default().into_owned();
        self.result(id, &Output { body, exit: Some(i32::from(failed)) }, place);
    }

    /// A call of another server's tool.
    fn served(&mut self, call: &Fields, result: Option<Fields>, id: Option<&str>, place: Place, damage: &mut Damage) {
        let part = |name: &str| call.word(name).unwrap_or("?".into());
        let name = format!("{}.{}", part("server"), part("tool"));
        let input = arguments(call, place, damage);
        self.call(id, &name, &input, place);
        let Some(result) = result else { return };
        let output = match result.raw("Err") {
            Some(_) => Output { body: result.text("Err").unwrap_or_default().into_owned(), exit: Some(1) },
            None => {
                let inner = result.fields("Ok").unwrap_or(result);
                let failed = inner.raw("isError") == Some("true");
                let text = self.gathered.options.redactor.join(texts(&inner.list("content")).iter().map(AsRef::as_ref));
                Output { body: text, exit: Some(i32::from(failed)) }
            }
        };
        self.result(id, &output, place);
    }
}
