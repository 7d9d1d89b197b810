//! What of ours stands in agents' files, and whether what they call is there.

use std::path::PathBuf;

use super::files::{Agent, AgentFile, Ground, Kind};
use super::part::{self, Found};
use super::record::Records;
use super::{Error, change};

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing of ours.
    Absent,
    /// As this version writes it.
    Installed,
    /// Of another version, or it calls another program.
    Outdated,
    /// Edited by hand, or a part is not there.
    Modified,
    /// It cannot work: the program is gone, or the file cannot be read.
    Broken,
}

/// One file of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub path: PathBuf,
    /// How it stands.
    pub state: State,
    /// More in words.
    pub detail: Option<String>,
}

/// One agent at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The agent.
    pub agent: Agent,
    /// How it stands as a whole.
    pub state: State,
    /// Its files.
    pub files: Vec<FileState>,
}

/// Looks at an agent's files.
pub fn status(ground: &Ground, agent: Agent) -> Standing {
    let mut records = Records::load(ground);
    let user = ground.user(agent);
    let files = ground.files(agent).into_iter().map(|file| (state_of(&file, ground), file));
    // What nobody asked for is not missed.
    let files = files.filter(|(found, file)| !file.kind.is_optional() || found.state != State::Absent);
    let (states, files): (Vec<FileState>, Vec<AgentFile>) = files.unzip();
    let recorded = files.iter().any(|file| {
        let entry = records.get(&file.record(&change::real(&file.path)));
        entry.is_some_and(|entry| entry.users.contains(&user))
    });
    // A file that other agents or places use as well does not show that this one was installed; all of them do.
    let own = files.iter().zip(&states).any(|(file, found)| !file.shared && found.state != State::Absent);
    let all = states.iter().all(|found| found.state != State::Absent);
    let worst = states.iter().map(|found| found.state).max().unwrap_or(State::Absent);
    let state = match worst {
        _ if !recorded && !own && !all => State::Absent,
        State::Broken => State::Broken,
        State::Absent => State::Absent,
        _ if !all => State::Modified,
        worst => worst,
    };
    Standing { agent, state, files: states }
}

fn state_of(file: &AgentFile, ground: &Ground) -> FileState {
    let found = |state, detail| FileState { kind: file.kind, path: file.path.clone(), state, detail };
    let look = change::read(&file.path).and_then(|text| part::look(file, text.as_deref(), ground));
    let look = match look {
        Ok(look) => look,
        Err(Error::Broken { line, message, .. }) => {
            let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            return found(State::Broken, Some(format!("{place}{message}")));
        }
        Err(error) => return found(State::Broken, Some(error.to_string())),
    };
    if let Some(missing) = look.missing {
        return found(State::Broken, Some(missing));
    }
    match look.found {
        Found::Nothing => found(State::Absent, None),
        Found::Foreign => found(State::Absent, Some("another program's file stands there".to_owned())),
        Found::Current => found(State::Installed, None),
        Found::Outdated => found(State::Outdated, None),
        Found::Edited => found(State::Modified, None),
    }
}
