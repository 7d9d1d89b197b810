//! The session that a file's lines make together.

use super::{Kind, Reading};
use crate::session::builder::{self, safe_id};
use crate::session::{Agent, Observation, Session, Speaker, own};

impl Reading<'_> {
    /// The session; `None` when there is nothing in it, or nothing of it may be kept.
    pub(super) fn finish(mut self) -> Option<Session> {
        let policy = self.policy.take().unwrap_or_else(|| self.options.policy.for_cwd(None));
        let subagent = self.agent_file || self.chain > 0 && self.side == self.chain && self.agent.is_some();
        if !policy.enabled || subagent && policy.drop_subagents {
            return None;
        }
        self.count_queued_once();
        let redactor = self.options.redactor;
        let file_id = self.sessions.iter().find(|(id, _)| *id == self.stem);
        let most = self.sessions.iter().rev().max_by_key(|(_, count)| *count);
        let recorded = file_id.or(most).map(|(id, _)| id.clone());
        let (id, parent) = if subagent {
            let agent = self.stem.strip_prefix("agent-").map(str::to_owned).or(self.agent.take()).unwrap_or_default();
            match recorded {
                Some(parent) => (format!("{parent}-agent-{agent}"), Some(safe_id(redactor, &parent))),
                None => (format!("agent-{agent}"), None),
            }
        } else {
            (recorded.unwrap_or_else(|| self.stem.clone()), None)
        };
        let id = safe_id(redactor, &id);
        let mut observations: Vec<Observation> = self
            .items
            .into_iter()
            .filter(|item| subagent || !(item.sidechain && policy.drop_subagents))
            .map(|item| item.observation)
            .filter(|observation| !(observation.body.is_empty() && observation.kind == Kind::Prompt))
            .collect();
        if policy.metadata_only {
            observations = builder::metadata(&id, self.started, self.ended);
        }
        if observations.is_empty() {
            return None;
        }
        for (at, observation) in observations.iter_mut().enumerate() {
            observation.seq = at as u32 + 1;
        }
        let is_own = own::is_own(self.first_prompt.as_deref(), self.cwd.as_deref());
        let clean = |text: Option<String>| text.map(|text| redactor.redact(&text).into_owned());
        let title = match builder::title_of_session(&observations) {
            Some(title) => title,
            None if policy.metadata_only => String::new(),
            None if parent.is_some() => builder::subagent(&id, self.started),
            None => builder::untitled(&id, self.started),
        };
        Some(Session {
            title,
            id,
            agent: Agent::Claude,
            version: clean(self.version),
            cwd: clean(self.cwd).filter(|_| !policy.metadata_only),
            branch: clean(self.branch).filter(|_| !policy.metadata_only),
            started: self.started,
            ended: self.ended,
            parent,
            own: is_own,
            observations,
        })
    }

    /// A prompt that was queued appears again where it was sent; it counts there.
    fn count_queued_once(&mut self) {
        let redactor = self.options.redactor;
        for (item, words) in std::mem::take(&mut self.queued) {
            let body = builder::body(redactor, &words);
            let again = self.items.iter().enumerate().any(|(at, other)| {
                at != item && other.observation.speaker == Speaker::Human && other.observation.body == body
            });
            if again {
                self.items[item].observation.body.clear();
            }
        }
    }
}
