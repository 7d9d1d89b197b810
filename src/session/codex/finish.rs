//! The session that a file's lines make together.

use std::collections::HashMap;

use super::Reading;
use crate::session::builder::{self, digest, safe_id};
use crate::session::{Agent, Observation, Session, own};

impl Reading<'_> {
    /// The session; `None` when there is nothing in it, or nothing of it may be kept.
    pub(super) fn finish(mut self) -> Option<Session> {
        let policy = self.policy.take().unwrap_or_else(|| self.options.policy.for_cwd(None));
        if !policy.enabled || self.head.subagent && policy.drop_subagents {
            return None;
        }
        let redactor = self.options.redactor;
        let id = safe_id(redactor, self.head.id.as_deref().unwrap_or(&self.name));
        let observations = match policy.metadata_only {
            true => builder::metadata(&id, self.started, self.ended),
            false => self.observations(),
        };
        if observations.is_empty() {
            return None;
        }
        let clean = |text: Option<String>| text.map(|text| redactor.redact(&text).into_owned());
        let title = match builder::title_of_session(&observations) {
            Some(title) => title,
            None if policy.metadata_only => String::new(),
            None => builder::untitled(&id, self.started),
        };
        Some(Session {
            title,
            agent: Agent::Codex,
            version: clean(self.head.version),
            own: own::is_own(self.first_prompt.as_deref(), self.head.cwd.as_deref()),
            cwd: clean(self.head.cwd).filter(|_| !policy.metadata_only),
            branch: clean(self.head.branch).filter(|_| !policy.metadata_only),
            started: self.started,
            ended: self.ended,
            parent: self.head.parent.map(|parent| safe_id(redactor, &parent)),
            id,
            observations,
        })
    }

    /// The observations with their ids. An id is made of the session whose line it is, of what was said, and of its
    /// number among equal ones: a copy in another file has the same, and the same words of another session have not.
    fn observations(&mut self) -> Vec<Observation> {
        let items = std::mem::take(&mut self.items);
        let own = |origin: usize| origin == 0;
        let parts = items.iter().any(|item| own(item.origin));
        let mut count: HashMap<(usize, String), usize> = HashMap::new();
        let mut observations = Vec::with_capacity(items.len());
        for item in items {
            // What a subagent copied was said to its parent, whose file tells it.
            let origin = match self.head.subagent {
                true if parts && !own(item.origin) => continue,
                true => 0,
                false => item.origin,
            };
            let same = count.entry((origin, item.key.clone())).or_default();
            *same += 1;
            if item.dropped {
                continue;
            }
            let session = self.origin.id(origin).unwrap_or(&self.name);
            let id = format!("codex-{}", digest(format!("{session} {} {same}", item.key).as_bytes()));
            let seq = observations.len() as u32 + 1;
            observations.push(Observation { seq, id, ..item.observation });
        }
        observations
    }
}
