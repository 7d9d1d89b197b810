//! What was captured, in the refs, the ledger and the queue.

use std::collections::HashSet;

use jiff::Timestamp;

use super::super::detach;
use super::Error;
use crate::git::{self, Repo, fault};
use crate::ledger::queue::{self, Queued};
use crate::ledger::{self, Append, Cache, Event, EventKind};
use crate::session::{self, Captured, Given, Gone, Kept, Session};

/// What waits in the queue for a capture.
const QUEUED: &str = "capture";

/// Stores sessions under their refs and records each new and grown one, and each whose event a crash prevented. What
/// was forgotten is left out, or, with `again`, only what other forgotten sessions held.
pub(super) fn store(repo: &Repo, mut sessions: Vec<(Given, String)>, again: bool) -> git::Result<Vec<Kept>> {
    // From the refs to the ledger: another capture would take what is not recorded yet for a crash's work.
    let _lock = session::lock(repo)?;
    let gone = Gone::load(repo)?;
    let is_gone = |session: &Session| gone.why(&session.id, session.parent.as_deref()).is_some();
    sessions.retain(|(given, _)| again || !is_gone(&given.session));
    for (given, _) in &mut sessions {
        gone.strip(&mut given.session);
    }
    let done = session::capture(repo, sessions, ledger::now())?;
    fault::point("capture.after-refs");
    record(repo, &done)?;
    fault::point("capture.after-ledger");
    Ok(done)
}

fn record(repo: &Repo, done: &[Kept]) -> git::Result<()> {
    let state = ledger::load(repo, Cache::Use)?;
    let operator = repo.operator().ok().map(|person| person.to_string());
    let actor = operator.clone().unwrap_or_else(|| "git-memory".into());
    let mut events = Vec::new();
    let mut recorded: HashSet<&str> = HashSet::new();
    for Kept { id, what, stored } in done {
        let Some(stored) = stored.as_ref().filter(|_| !recorded.contains(id.as_str())) else { continue };
        let review = state.reviews.get(id);
        let is_gone = review.is_some_and(|review| review.gone().is_some());
        // A ref that is younger than its last event: a crash came between the two.
        let said = review.and_then(|review| review.captured).map(Timestamp::as_second);
        let is_said = said.is_some() && !is_gone && *what == Captured::Unchanged;
        if is_said && said >= Some(repo.commit(stored.commit)?.time) {
            continue;
        }
        recorded.insert(id);
        let meta = &stored.meta;
        let agent = serde_json::to_value(meta.agent).unwrap_or_default();
        let blob = stored.observations_blob.unwrap_or(stored.page_blob).to_string();
        events.push(
            Event::new(EventKind::Captured, &meta.scope, &actor)
                .operator(operator.as_deref())
                .with("session", id.as_str())
                .with("agent", agent)
                .with("observations", meta.observations)
                .with("prompts", meta.prompts)
                .with("blob", blob)
                .with("again", is_gone.then_some(true))
                .with("ended", meta.ended.map(|at| at.to_string())),
        );
    }
    if events.is_empty() {
        return Ok(());
    }
    let plural = if events.len() == 1 { "" } else { "s" };
    let subject = format!("memory: capture {} session{plural}", events.len());
    ledger::append(repo, &Append { subject, events, files: Vec::new() }, &[]).map(drop)
}

/// Puts the capture into the queue and, with `wake`, starts the worker.
pub(super) fn queue(repo: &Repo, wake: bool, now: Timestamp) -> Result<(), Error> {
    let memory = repo.memory_dir();
    let failed = |what| move |source| Error::Io { what, source };
    let waits = || -> std::io::Result<bool> {
        Ok(queue::list(&memory)?.waiting.iter().any(|waiting| waiting.queued.event == QUEUED))
    };
    // Without a worker to empty it the queue would grow with every session.
    if wake || !waits().map_err(failed("read the queue"))? {
        let repo = repo.common_dir().to_string_lossy().into_owned();
        let queued = Queued { event: QUEUED.into(), oid: None, repo, at: now };
        queue::push(&memory, &queued).map_err(failed("write the queue"))?;
    }
    if wake {
        let program = std::env::current_exe().map_err(failed("find this program"))?;
        let target = repo.common_dir();
        detach::start(&program, &["worker".as_ref(), target.as_os_str()], &memory)
            .map_err(failed("start the worker"))?;
    }
    Ok(())
}
