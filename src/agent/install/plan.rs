//! Installing and taking out: first everything is worked out and can be shown, then it is written.

use std::path::{Path, PathBuf};

use super::change::{self, Change};
use super::files::{Agent, AgentFile, Ground, Kind};
use super::part::{self, Found};
use super::record::{self, Entry, Records};
use super::{Error, Fault};

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// Ours is put in.
    Installed,
    /// Ours of another version, or edited, is replaced.
    Updated,
    /// It is as it should be.
    Unchanged,
    /// Ours is taken out.
    Removed,
    /// There is nothing of ours.
    Absent,
    /// Ours stays, for those who use it as well.
    Kept(String),
}

/// What becomes of one file of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The agent.
    pub agent: Agent,
    /// What the file is.
    pub kind: Kind,
    /// The file, as it is named to the agent.
    pub path: PathBuf,
    /// What becomes of it.
    pub done: Done,
}

/// What is going to be done.
#[derive(Debug)]
pub struct Plan {
    /// Each file of each agent.
    pub outcomes: Vec<Outcome>,
    /// The files that change.
    pub changes: Vec<Change>,
    records: Records,
}

/// Works out how to install into agents. `force` also replaces what was edited by hand.
///
/// # Errors
/// When a file cannot be read or edited, is another program's, or was edited by hand.
pub fn install(ground: &Ground, agents: &[Agent], force: bool) -> Result<Plan, Error> {
    let mut plan = Plan::new(ground);
    for &agent in agents {
        for file in ground.files(agent) {
            if file.kind.is_optional() && !ground.mcp && !plan.has(ground, agent, &file) {
                continue;
            }
            let done = plan.install(ground, agent, &file, force)?;
            plan.outcomes.push(Outcome { agent, kind: file.kind, path: file.path, done });
        }
    }
    Ok(plan)
}

/// Works out how to take out of agents what is ours. `force` also takes out what was edited by hand.
///
/// # Errors
/// When a file cannot be read or edited, or was edited by hand.
pub fn uninstall(ground: &Ground, agents: &[Agent], force: bool) -> Result<Plan, Error> {
    let mut plan = Plan::new(ground);
    let leaving: Vec<String> = agents.iter().map(|&agent| ground.user(agent)).collect();
    for &agent in agents {
        // What came last goes first, so that a file is as it was between the two.
        for file in ground.files(agent).into_iter().rev() {
            let done = plan.uninstall(ground, &leaving, &file, force)?;
            plan.outcomes.push(Outcome { agent, kind: file.kind, path: file.path, done });
        }
    }
    Ok(plan)
}

impl Plan {
    fn new(ground: &Ground) -> Plan {
        Plan { outcomes: Vec::new(), changes: Vec::new(), records: Records::load(ground) }
    }

    /// Does it.
    ///
    /// # Errors
    /// When a file is no longer as it was, or cannot be written; those before it are written.
    pub fn apply(&self) -> Result<(), Error> {
        let written = self.changes.iter().try_for_each(Change::write);
        self.records.save()?;
        written
    }

    /// Whether it was installed for this agent here.
    fn has(&mut self, ground: &Ground, agent: Agent, file: &AgentFile) -> bool {
        let entry = self.records.get(&file.record(&change::real(&file.path)));
        entry.is_some_and(|entry| entry.users.contains(&ground.user(agent)))
    }

    fn install(&mut self, ground: &Ground, agent: Agent, file: &AgentFile, force: bool) -> Result<Done, Error> {
        let real = change::real(&file.path);
        let text = self.text(&real)?;
        let look = part::look(file, text.as_deref(), ground)?;
        let record = file.record(&real);
        let mut entry = self.records.get(&record).unwrap_or_default();
        entry.users.insert(ground.user(agent));
        let (base, done) = match look.found {
            Found::Current => {
                self.records.set(&record, Some(entry));
                return Ok(Done::Unchanged);
            }
            Found::Foreign => return Err(Error::Foreign { path: file.path.clone() }),
            Found::Edited if !force && needs_force(file.kind) => return Err(Error::Edited { path: file.path.clone() }),
            Found::Nothing => {
                entry.created = text.is_none();
                entry.folders = change::missing_folders(&real);
                (text.clone(), Done::Installed)
            }
            Found::Outdated | Found::Edited => {
                (without(file, text.as_deref().unwrap_or_default(), &entry, ground)?, Done::Updated)
            }
        };
        let base = base.unwrap_or_default();
        let texts = part::add(file, &base, ground)?;
        let steps = record::steps(&base, texts.iter().map(String::as_str));
        let after = texts.into_iter().last().unwrap_or_default();
        // What the agent would not find there, or what cost more than white space, is not written.
        let whole = part::look(file, Some(&after), ground)?.found == Found::Current;
        if !whole || !file.kind.is_whole() && !record::only_insert(&steps) {
            return Err(Error::broken(&file.path, Fault::new("it cannot be edited without touching what is not ours")));
        }
        entry.steps = if file.kind.is_whole() { Vec::new() } else { steps };
        self.records.set(&record, Some(entry));
        self.set(real, text, Some(after), Vec::new());
        Ok(done)
    }

    fn uninstall(&mut self, ground: &Ground, leaving: &[String], file: &AgentFile, force: bool) -> Result<Done, Error> {
        let real = change::real(&file.path);
        let text = self.text(&real)?;
        let look = part::look(file, text.as_deref(), ground)?;
        let record = file.record(&real);
        let entry = self.records.get(&record);
        match look.found {
            Found::Nothing | Found::Foreign => {
                self.records.set(&record, None);
                // The same file, taken out for an agent before this one.
                let gone = self.changes.iter().any(|change| change.path == real);
                return Ok(if gone { Done::Removed } else { Done::Absent });
            }
            Found::Edited if !force && needs_force(file.kind) => return Err(Error::Edited { path: file.path.clone() }),
            Found::Current | Found::Outdated | Found::Edited => {}
        }
        let mut entry = entry.unwrap_or_default();
        entry.users.retain(|user| !leaving.contains(user) && is_there(user));
        if !entry.users.is_empty() {
            let users: Vec<&str> = entry.users.iter().map(String::as_str).collect();
            let why = format!("used by {}", users.join(", ").replace('@', " in "));
            self.records.set(&record, Some(entry));
            return Ok(Done::Kept(why));
        }
        let after = without(file, text.as_deref().unwrap_or_default(), &entry, ground)?;
        let mut folders = entry.folders;
        if file.kind == Kind::Skill && folders.is_empty() {
            // Named after us, so that it is ours with or without a record.
            folders.extend(real.parent().map(Path::to_owned));
        }
        self.records.set(&record, None);
        self.set(real, text, after, folders);
        Ok(Done::Removed)
    }

    /// The text of a file as it will be so far.
    fn text(&self, real: &Path) -> Result<Option<String>, Error> {
        match self.changes.iter().find(|change| change.path == real) {
            Some(change) => Ok(change.after.clone()),
            None => change::read(real),
        }
    }

    fn set(&mut self, path: PathBuf, before: Option<String>, after: Option<String>, folders: Vec<PathBuf>) {
        match self.changes.iter_mut().find(|change| change.path == path) {
            Some(change) => change.after = after,
            None => self.changes.push(Change { path, before, after, folders }),
        }
        self.changes.retain(|change| change.before != change.after);
    }
}

/// Whether what was edited by hand may be lost: hooks and lists hold no more of ours than a command.
fn needs_force(kind: Kind) -> bool {
    kind == Kind::Block || kind.is_whole() || kind.is_optional()
}

/// Whether a user of a file can still be one: its project is there.
fn is_there(user: &str) -> bool {
    user.split_once('@').is_none_or(|(_, top)| Path::new(top).is_dir())
}

/// The text without what is ours; `None`: without it the file would not be there.
fn without(file: &AgentFile, text: &str, entry: &Entry, ground: &Ground) -> Result<Option<String>, Error> {
    if file.kind.is_whole() {
        return Ok(None);
    }
    let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    let clean = |old: &String| {
        part::look(file, Some(old), ground).is_ok_and(|look| look.found == Found::Nothing)
            && (!is_json(text) || is_json(old) || old.trim().is_empty())
    };
    let undone = Some(&entry.steps).filter(|steps| !steps.is_empty()).and_then(|steps| record::undo(text, steps));
    if let Some(old) = undone.filter(clean) {
        return Ok(if entry.created && old.trim().is_empty() { None } else { Some(old) });
    }
    let fresh = part::add(file, "", ground)?.pop();
    if fresh.as_deref() == Some(text) {
        return Ok(None);
    }
    let old = part::strip(file, text)?;
    let rest = old.trim_start_matches('\u{feff}').split_whitespace().collect::<String>();
    Ok(if entry.created && matches!(rest.as_str(), "" | "{}") { None } else { Some(old) })
}
