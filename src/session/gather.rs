//! What the readers of several agents do alike: gather what they read of a session, and close it.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::builder::{self, Event, Titled, safe_id};
use super::read::{Changed, Given};
use super::{Agent, Observation, ObservationKind, Policy, ReadOptions, Session, own, redact};

/// A text field that is not empty.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// What is known of a session as a whole, also from an earlier read of its file.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct About {
    pub cwd: Option<String>,
    pub branch: Option<String>,
    pub version: Option<String>,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    /// Whether the first text that was put to the model, whoever wrote it, is one of ours.
    own: Option<bool>,
    /// The prompt before this read that gave the title.
    titled: Option<Titled>,
    /// The id under which earlier reads gave what came before.
    pub given: Option<String>,
}

/// What came before was given otherwise than it would be now: the file must be read from its front.
pub(super) struct Anew;

/// A session while its file is read.
pub(super) struct Gathered<'o> {
    pub options: ReadOptions<'o>,
    policy: Option<Policy>,
    pub about: About,
    /// What the ids of observations are told apart by that count within the session only.
    pub name: Option<String>,
    pub observations: Vec<Observation>,
    /// Of observations that an earlier read gave: what is known better now, and those that are none any more.
    pub changed: Vec<Changed>,
    pub gone: Vec<String>,
}

impl<'o> Gathered<'o> {
    pub(super) fn new(options: ReadOptions<'o>, about: About) -> Gathered<'o> {
        Gathered {
            options,
            policy: about.cwd.as_deref().map(|cwd| options.policy.for_cwd(Some(cwd))),
            about,
            name: None,
            observations: Vec::new(),
            changed: Vec::new(),
            gone: Vec::new(),
        }
    }

    /// The session ran here: from now on the policy of that folder rules. The first folder counts.
    pub(super) fn ran_in(&mut self, cwd: &str) {
        if self.about.cwd.is_none() {
            self.policy = Some(self.options.policy.for_cwd(Some(cwd)));
            self.about.cwd = Some(cwd.to_owned());
        }
    }

    /// What may be captured, as far as is known.
    pub(super) fn policy(&self) -> &Policy {
        self.policy.as_ref().unwrap_or(self.options.policy)
    }

    /// Nothing but the frame of the session may be kept.
    pub(super) fn is_closed(&self) -> bool {
        self.policy().metadata_only || !self.policy().enabled
    }

    /// Something happened at this time.
    pub(super) fn happened(&mut self, at: Option<Timestamp>) {
        self.about.started = [self.about.started, at].into_iter().flatten().min();
        self.about.ended = self.about.ended.max(at);
    }

    /// A text was put to the model.
    pub(super) fn asked(&mut self, text: &str) {
        if self.about.own.is_none() && !text.trim().is_empty() {
            self.about.own = Some(own::is_marked(&text[..redact::floor(text, 8192)]));
        }
    }

    /// Of a tool's output, without the lines of excluded files.
    pub(super) fn observation(&self, event: &Event) -> Observation {
        let body = match event.kind {
            ObservationKind::ToolResult => self.policy().exclusions.without_excluded_lines(event.body),
            _ => Cow::Borrowed(event.body),
        };
        let mut observation = builder::observation(self.options.redactor, &Event { body: &body, ..*event });
        if let Some(name) = &self.name {
            observation.id = everywhere(name, &observation.id);
        }
        observation
    }

    pub(super) fn push(&mut self, event: &Event) {
        let observation = self.observation(event);
        self.observations.push(observation);
    }

    /// What must be known of the session as a whole to go on behind these observations; `None` where it is not kept.
    pub(super) fn so_far<'s>(&'s self, mut observations: impl Iterator<Item = &'s Observation>) -> Option<About> {
        let titled = builder::titled(self.about.titled.as_ref(), &mut observations);
        (!self.policy().metadata_only).then(|| About { titled, ..self.about.clone() })
    }

    /// The session, or what came behind what an earlier read gave; `None` when there is nothing in it, or nothing of it
    /// may be kept.
    pub(super) fn close(
        mut self,
        agent: Agent,
        id: &str,
        parent: Option<&str>,
        is_subagent: bool,
    ) -> Result<Option<Given>, Anew> {
        let policy = self.policy.take().unwrap_or_else(|| self.options.policy.for_cwd(None));
        let redactor = self.options.redactor;
        let id = safe_id(redactor, id);
        let About { cwd, branch, version, started, ended, own, titled, given } = self.about;
        let is_tail = given.is_some();
        if given.is_some_and(|given| given != id)
            || titled.as_ref().is_some_and(|titled| self.gone.contains(&titled.id))
        {
            return Err(Anew);
        }
        let mut observations = self.observations;
        if policy.metadata_only {
            observations = builder::metadata(&id, started, ended);
        }
        if !policy.enabled || is_subagent && policy.drop_subagents || observations.is_empty() && !is_tail {
            return Ok(None);
        }
        for (at, observation) in observations.iter_mut().enumerate() {
            observation.seq = at as u32 + 1;
        }
        let parent = parent.map(|parent| safe_id(redactor, parent));
        let title = match builder::title_of_session(&observations) {
            _ if policy.metadata_only => String::new(),
            Some(title) => title,
            None => builder::untitled(&id, parent.as_deref(), started),
        };
        let titled = builder::titled(titled.as_ref(), &mut observations.iter());
        let is_older = |titled: Titled| observations.iter().all(|o| o.id != titled.id);
        let keeps_title = is_tail && titled.is_some_and(is_older);
        let clean = |text: Option<String>| text.map(|text| redactor.redact(&text).into_owned());
        let session = Session {
            own: own == Some(true) || own::is_own(None, cwd.as_deref()),
            title,
            id,
            agent,
            version: clean(version),
            cwd: clean(cwd).filter(|_| !policy.metadata_only),
            branch: clean(branch).filter(|_| !policy.metadata_only),
            started,
            ended,
            parent,
            observations,
        };
        Ok(Some(Given { session, is_tail, keeps_title, changed: self.changed, gone: self.gone }))
    }
}

/// The name of an observation everywhere: what a program counts (`m1`, `event-7`) is told apart by the session.
pub(super) fn everywhere(session: &str, id: &str) -> String {
    let digits = id.bytes().take(36).filter(u8::is_ascii_hexdigit).count();
    if digits >= 32 { id.to_owned() } else { format!("{session}.{id}") }
}

/// The name of a tool. Those that every agent has go by one name, so that what is said of them holds for all.
pub(super) fn tool_name(name: &str) -> &str {
    match name {
        "run_shell_command" | "bash" | "powershell" | "shell" => "Bash",
        "replace" | "edit" | "str_replace" => "Edit",
        "write_file" | "create" => "Write",
        other => other,
    }
}

/// A tool's input as a title and as text.
pub(super) fn input(tool: &str, value: &Value) -> (String, String) {
    const TELLING: [&str; 13] = [
        "command",
        "cmd",
        "file_path",
        "absolute_path",
        "path",
        "dir_path",
        "url",
        "query",
        "pattern",
        "fileName",
        "description",
        "prompt",
        "name",
    ];
    let telling = TELLING.iter().find_map(|name| value.get(*name)?.as_str());
    let title = telling.filter(|text| !text.trim().is_empty()).unwrap_or(tool);
    (title.to_owned(), builder::input_text(value))
}

#[cfg(test)]
mod tests {
    use super::everywhere;

    #[test]
    fn ids_that_only_count_are_told_apart_by_the_session() {
        assert_eq!(everywhere("s", "m1"), "s.m1");
        let uuid = "91ff4a35-0f7b-492d-8a04-ee206be11ec6";
        assert_eq!(everywhere("s", uuid), uuid);
    }
}

/// What tests of all readers ask.
#[cfg(test)]
pub(super) mod prefixes {
    use std::collections::HashSet;

    use super::super::{Policy, Redactor};
    use super::*;

    /// Reads bytes as if they were the file `path`.
    pub(in crate::session) type Reader = fn(&[u8], ReadOptions) -> Vec<Session>;

    pub(in crate::session) fn turns(sessions: &[Session]) -> Vec<String> {
        sessions.iter().flat_map(|session| session.prompts().map(|prompt| prompt.body.clone())).collect()
    }

    /// Cut anywhere a file gives no id twice and, with `in_order`, the first turns of the whole file, of which the
    /// last may be cut too.
    pub(in crate::session) fn hold(bytes: &[u8], in_order: bool, read: Reader) {
        let (redactor, policy) = (Redactor::new(&[], &[]).unwrap(), Policy::new(true, false, &[]).unwrap());
        let options = ReadOptions { redactor: &redactor, policy: &policy };
        let whole = turns(&read(bytes, options));
        assert!(!whole.is_empty());
        // Some of the places are enough: each cut is read from its start.
        for end in (0..bytes.len()).step_by(1 + bytes.len() / 150) {
            let sessions = read(&bytes[..end], options);
            let mut seen = HashSet::new();
            for observation in sessions.iter().flat_map(|session| &session.observations) {
                assert!(seen.insert(observation.id.clone()), "cut at {end}: {} twice", observation.id);
            }
            let cut = turns(&sessions);
            let begins = |(cut, whole): (&String, &String)| whole.starts_with(cut.trim_end());
            let last = cut.len().saturating_sub(1);
            let fine = cut.len() <= whole.len() && cut[..last] == whole[..last] && cut.iter().zip(&whole).all(begins);
            assert!(fine || !in_order, "cut at {end}: {cut:?}");
        }
    }
}
