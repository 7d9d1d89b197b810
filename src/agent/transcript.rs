//! What an agent's own hook starts: captures the session that the agent tells of.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::capture::{self, Options, Trouble};
use super::{discover, log};
use crate::git::Repo;
use crate::session::Agent;
use crate::wiki::{OpenError, Wiki};

/// The part of an agent's hook input that matters here.
#[derive(Debug, Default, Deserialize)]
struct Told {
    /// Which agent tells it, where that cannot be known otherwise.
    agent: Option<String>,
    #[serde(alias = "transcript-path")]
    transcript_path: Option<String>,
    #[serde(alias = "session-id")]
    session_id: Option<String>,
    /// What Codex calls a session.
    #[serde(alias = "thread-id")]
    thread_id: Option<String>,
    cwd: Option<String>,
    #[serde(alias = "type")]
    hook_event_name: Option<String>,
}

/// Captures the session that the JSON object `input` tells of into the wiki of its folder, else of `here`. Where no
/// wiki is, nothing is done or said. What goes wrong stands in worker.log; `found` is told where that is as soon as
/// it is known.
pub fn run(input: &[u8], here: &Path, found: &mut dyn FnMut(&Path)) {
    let read: Result<Told, _> = serde_json::from_slice(input);
    let told = read.as_ref().ok();
    let cwd = told.and_then(|told| told.cwd.as_deref()).map(Path::new).filter(|cwd| cwd.is_dir()).unwrap_or(here);
    let Ok(repo) = Repo::above(cwd) else { return };
    let memory = repo.memory_dir();
    let wiki = match Wiki::named_by(repo) {
        Ok(wiki) => wiki,
        Err(OpenError::NoWiki { .. }) => return,
        Err(error) => {
            log::note(&memory, &format!("capture: {error}"));
            return;
        }
    };
    let memory = wiki.repo.memory_dir();
    found(&memory);
    let event = told.and_then(|told| told.hook_event_name.as_deref()).unwrap_or("hook");
    // The name of an event, not what else may stand there.
    let event = if event.len() <= 24 && event.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-') {
        event.to_owned()
    } else {
        "hook".to_owned()
    };
    match read {
        // The input names files and may hold words of the session: only the place of the fault is told.
        Err(error) => {
            log::note(&memory, &format!("capture: the hook's input is no JSON object (column {})", error.column()));
        }
        Ok(told) => {
            for line in capture_told(&wiki, &told) {
                log::note(&memory, &format!("capture {event}: {line}"));
            }
        }
    }
}

/// Captures; what went wrong, in lines without words of the session.
fn capture_told(wiki: &Wiki, told: &Told) -> Vec<String> {
    if !wiki.config.settings.capture.enabled {
        return Vec::new();
    }
    let (search, options) = match transcript(told) {
        Some(transcript) => (discover::with_subagents(&transcript), Options::default()),
        // An agent that names no file of its own: whatever is new of it in this wiki's projects.
        None => (discover::auto(wiki, agent(told)), Options { own_projects: true, ..Options::default() }),
    };
    match capture::capture(wiki, &search, &options, &mut || ()) {
        Err(error) => vec![error.to_string()],
        Ok(report) => {
            let line =
                |what: &'static str| move |trouble: &Trouble| format!("{}: {what}{}", trouble.file, trouble.text);
            let mut lines: Vec<String> = report.failed.iter().map(line("cannot be read: ")).collect();
            lines.extend(report.unresolved.iter().map(line("not stored: ")));
            let unknown = report.unrecognised.iter().filter(|file| file.named);
            lines.extend(unknown.map(|trouble| format!("{}: no reader knows this file", trouble.file)));
            lines.extend(report.notes);
            lines
        }
    }
}

/// The file that is told, else Claude Code's or Codex's file of the session that is told.
fn transcript(told: &Told) -> Option<PathBuf> {
    if let Some(path) = told.transcript_path.as_deref().filter(|path| !path.is_empty()) {
        return Some(match path.strip_prefix("~/").zip(std::env::home_dir()) {
            Some((rest, home)) => home.join(rest),
            None => PathBuf::from(path),
        });
    }
    let ids = [&told.session_id, &told.thread_id].into_iter().flatten();
    let mut ids = ids.map(String::as_str).filter(|id| !id.is_empty() && !id.contains(['/', '\\']));
    let may_be = |agent| self::agent(told).is_none_or(|known| known == agent);
    let claude = |id| may_be(Agent::Claude).then(|| claude_session(id))?;
    let codex = |id| may_be(Agent::Codex).then(|| discover::codex_session(id))?;
    ids.find_map(|id| claude(id).or_else(|| codex(id)))
}

/// The agent that tells, as far as it is known.
fn agent(told: &Told) -> Option<Agent> {
    let named = told.agent.as_ref().and_then(|name| serde_json::from_value(name.as_str().into()).ok());
    named.or(told.thread_id.is_some().then_some(Agent::Codex))
}

fn claude_session(id: &str) -> Option<PathBuf> {
    let projects = std::fs::read_dir(discover::claude_projects()?).ok()?;
    projects.flatten().map(|project| project.path().join(format!("{id}.jsonl"))).find(|path| path.is_file())
}
