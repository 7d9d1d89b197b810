//! The session that a file's lines make together.

use super::state::Queued;
use super::{Item, Kind, Reading, beside};
use crate::session::builder::{self, Titled, safe_id};
use crate::session::read::Given;
use crate::session::{Agent, Observation, Policy, Session, own};

/// Whose session it is.
struct Identity {
    id: String,
    parent: Option<String>,
    subagent: bool,
}

impl Reading<'_> {
    /// What was read since the last part; `None` when there is nothing in it, or nothing of it may be kept.
    pub(super) fn part(&mut self) -> Option<Given> {
        let policy = self.policy.clone().unwrap_or_else(|| self.options.policy.for_cwd(None));
        let Identity { id, parent, subagent } = self.identity();
        let is_tail = self.given.is_some();
        self.anew = self.given.as_ref().is_some_and(|given| *given != id);
        if !policy.enabled || subagent && policy.drop_subagents || self.anew {
            return None;
        }
        self.count_queued_once();
        if self.titled.as_ref().is_some_and(|titled| self.gone.contains(&titled.id)) {
            self.anew = true;
            return None;
        }
        let redactor = self.options.redactor;
        let titled = self.titled(&self.items);
        let mut observations: Vec<Observation> = std::mem::take(&mut self.items)
            .into_iter()
            .filter(|item| subagent || !(item.sidechain && policy.drop_subagents))
            .map(|item| item.observation)
            .filter(|observation| !(observation.body.is_empty() && observation.kind == Kind::Prompt))
            .collect();
        if policy.metadata_only {
            observations = builder::metadata(&id, self.about.started, self.about.ended);
        }
        if observations.is_empty() && !is_tail {
            return None;
        }
        for (at, observation) in observations.iter_mut().enumerate() {
            observation.seq = at as u32 + 1;
        }
        let about = &self.about;
        let clean = |text: &Option<String>| text.as_deref().map(|text| redactor.redact(text).into_owned());
        let session = Session {
            title: self.title(&observations, parent.as_deref(), &id, &policy),
            agent: Agent::Claude,
            version: clean(&about.version),
            cwd: clean(&about.cwd).filter(|_| !policy.metadata_only),
            branch: clean(&about.branch).filter(|_| !policy.metadata_only),
            started: about.started,
            ended: about.ended,
            parent,
            own: about.own == Some(true) || own::is_own(None, about.cwd.as_deref()),
            id,
            observations,
        };
        let is_older = |titled: Titled| session.observations.iter().all(|o| o.id != titled.id);
        let keeps_title = is_tail && titled.is_some_and(is_older);
        Some(Given { session, is_tail, keeps_title, changed: Vec::new(), gone: std::mem::take(&mut self.gone) })
    }

    fn identity(&self) -> Identity {
        let (about, redactor) = (&self.about, self.options.redactor);
        let subagent = self.agent_file || about.chain > 0 && about.side == about.chain && about.agent.is_some();
        let file_id = about.sessions.iter().find(|(id, _)| *id == self.stem);
        let most = about.sessions.iter().rev().max_by_key(|(_, count)| *count);
        // The agents of a workflow write whose they are behind the session's id.
        let whole = |(id, _): &(String, usize)| id.split("#agent-").next().unwrap_or(id).to_owned();
        let recorded = file_id.or(most).map(whole);
        let (id, parent) = if subagent {
            let agent = self.stem.strip_prefix("agent-").or(about.agent.as_deref()).unwrap_or_default();
            match recorded {
                Some(parent) => (format!("{parent}-agent-{agent}"), Some(safe_id(redactor, &parent))),
                None => (format!("agent-{agent}"), None),
            }
        } else {
            (recorded.unwrap_or_else(|| self.stem.clone()), None)
        };
        let part = if about.parts > 0 { format!("-part-{}", about.parts + 1) } else { String::new() };
        Identity { id: safe_id(redactor, &id) + &part, parent, subagent }
    }

    fn title(&self, observations: &[Observation], parent: Option<&str>, id: &str, policy: &Policy) -> String {
        if policy.metadata_only {
            return String::new();
        }
        let started = self.about.started;
        let clean = |task: String| builder::title_of(&self.options.redactor.redact(&task));
        let said = builder::title_of_session(observations);
        match said.or_else(|| beside::task(self.path).filter(|_| parent.is_some()).map(clean)) {
            Some(title) => title,
            None => builder::untitled(id, parent, started),
        }
    }

    /// The prompt that gives the title of the part: the one from an earlier read, or one of these.
    pub(super) fn titled(&self, items: &[Item]) -> Option<Titled> {
        let again = |id: &str| self.queued.iter().any(|queued| queued.id == id && self.is_said_again(queued));
        let mut prompts = items.iter().map(|item| &item.observation).filter(|prompt| !again(&prompt.id));
        builder::titled(self.titled.as_ref(), &mut prompts)
    }

    fn is_said_again(&self, queued: &Queued) -> bool {
        self.said.iter().filter(|words| **words == queued.words).count() > 1
    }

    /// A prompt that was queued appears again where it was sent; it counts there.
    fn count_queued_once(&mut self) {
        for queued in std::mem::take(&mut self.queued) {
            if self.is_said_again(&queued) {
                self.take_back(queued);
            }
        }
    }
}
