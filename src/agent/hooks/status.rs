//! Whether the hooks are there, and whether git really runs them.

use std::path::Path;
use std::time::{Duration, Instant};

use super::super::shim::{self, Mark};
use super::folder::{self, Found};
use super::{Error, Event, config, place};
use crate::git::Repo;

/// The variable that turns a hook into a sign of life: the file it names gets the event's name.
pub const PROBE: &str = "GIT_MEMORY_HOOK_PROBE";

/// How long a hook that runs in the background may take to give it.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is the matter with one event's hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Ours, as this version writes it.
    Installed,
    /// Ours, of another version.
    Outdated,
    /// Ours, edited by hand.
    Edited,
    /// Another program's hook stands there.
    Foreign,
    /// It was installed, and somebody deleted it.
    Deleted,
    /// Not installed.
    Absent,
}

impl State {
    /// Whether a hook of ours is there.
    pub fn is_ours(self) -> bool {
        matches!(self, State::Installed | State::Outdated | State::Edited)
    }

    fn of(mark: &Mark) -> State {
        match (mark.intact, mark.version == shim::VERSION) {
            (false, _) => State::Edited,
            (true, false) => State::Outdated,
            (true, true) => State::Installed,
        }
    }
}

/// One event's hook as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The event.
    pub event: Event,
    /// What is there.
    pub state: State,
    /// Whether it fired when tried; `None` where there is nothing to try.
    pub fires: Option<bool>,
    /// Where it stands: the script, or the key of git's configuration.
    pub place: String,
    /// The earlier hook that it calls first.
    pub legacy: bool,
}

/// Looks at the hooks of these events, and runs those that are ours, as git would, to see whether they fire. Hooks
/// that were kept as `<event>.legacy` are not run.
///
/// # Errors
/// When git or the folder of the hooks cannot be asked.
pub fn status(repo: &Repo, events: &[Event]) -> Result<Vec<Standing>, Error> {
    let hooks = place::effective_folder(repo)?;
    events.iter().map(|&event| standing(repo, &hooks, event)).collect()
}

fn standing(repo: &Repo, hooks: &Path, event: Event) -> Result<Standing, Error> {
    if let Some((command, mark)) = config::installed(repo, event)? {
        let state = mark.as_ref().map_or(State::Edited, State::of);
        let fires = config::is_on(repo, event)? && probe(repo, Run::Command(&command), event)?;
        let place = format!("hook.git-memory-{event}.command");
        return Ok(Standing { event, state, fires: Some(fires), place, legacy: false });
    }
    let path = hooks.join(event.name());
    let (state, legacy) = match folder::look(&path)? {
        Found::Ours(_, mark) => (State::of(&mark), mark.legacy),
        Found::Foreign => (State::Foreign, false),
        Found::Nothing if folder::remembered(repo).contains(&event) => (State::Deleted, false),
        Found::Nothing => (State::Absent, false),
    };
    let fires = if state.is_ours() { Some(probe(repo, Run::Git, event)?) } else { None };
    Ok(Standing { event, state, fires, place: path.display().to_string(), legacy })
}

/// How a hook is started.
enum Run<'a> {
    /// By git, which looks for it where it always does.
    Git,
    /// The configured command alone: git would start other programs' hooks for the event with it.
    Command(&'a str),
}

fn probe(repo: &Repo, run: Run<'_>, event: Event) -> Result<bool, Error> {
    let sign = tempfile::NamedTempFile::new().map_err(|e| Error::io("make a file in", &std::env::temp_dir(), e))?;
    let command = match run {
        Run::Git => repo.git().args(["hook", "run", "--ignore-missing", event.name()]),
        // An alias with `!` is git's own way to have a command line run by its shell.
        Run::Command(command) => repo.git().args(["-c", &format!("alias.memory-probe=!{command}"), "memory-probe"]),
    };
    command.env(PROBE, sign.path()).output()?;
    let start = Instant::now();
    loop {
        let text = std::fs::read_to_string(sign.path()).map_err(|e| Error::io("read", sign.path(), e))?;
        if text.trim() == event.name() {
            return Ok(true);
        }
        if start.elapsed() > PATIENCE {
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
