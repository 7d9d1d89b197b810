//! Capture: agents' files are read, filtered and stored, and what was stored is recorded and queued.
//!
//! What a crash leaves undone the next capture of the same files completes: a file is remembered as read only once
//! its sessions stand under their refs and in the ledger.

pub mod pages;
mod readers;
mod record;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jiff::Timestamp;

use super::discover::{self, Folders, Found};
use super::remembered::{Remembered, Stamp};
use crate::git;
use crate::ledger;
use crate::session::{
    self, Agent, BadPattern, Captured, From, Gone, Outcome, Policy, REDACTION_MARK, ReadOptions, Redactor, Session,
    Warning,
};
use crate::wiki::Wiki;

/// How many bytes of text are held before they are stored.
const BATCH: usize = 32 * 1024 * 1024;

/// How many files are read before what is in them is taken, in their order.
const AHEAD: usize = 16;

/// What to capture of the files.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which reader.
    pub from: From,
    /// The scope of all sessions; else each session's folder tells.
    pub scope: Option<String>,
    /// Only sessions that ended since then.
    pub since: Option<Timestamp>,
    /// Only this session (its id, or how it begins) and its subagents.
    pub session: Option<String>,
    /// Only sessions whose folder belongs to this wiki.
    pub own_projects: bool,
    /// Also sessions that were forgotten.
    pub again: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { from: From::Auto, scope: None, since: None, session: None, own_projects: false, again: false }
    }
}

/// What became of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Became {
    /// Nothing new in it.
    Unchanged,
    /// It had grown.
    Grown,
    /// It was not there.
    New,
}

impl Became {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Became::New => "new",
            Became::Grown => "grown",
            Became::Unchanged => "unchanged",
        }
    }
}

/// A session that was looked at, as it stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its id.
    pub id: String,
    /// The agent.
    pub agent: Agent,
    /// Its scope.
    pub scope: String,
    /// What became of it.
    pub became: Became,
    /// How many observations it holds; 0 when other sessions hold all of them.
    pub observations: u32,
    /// How many of them a person wrote.
    pub prompts: u32,
    /// Its title, redacted.
    pub title: String,
}

/// A file or session with which something was not as it should be; names are redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The file.
    pub file: String,
    /// The reason, or the first line of a file that no reader knows.
    pub text: String,
    /// The file was named itself.
    pub named: bool,
}

/// What a capture did.
#[derive(Debug, Default)]
pub struct Report {
    /// The sessions that were looked at.
    pub sessions: Vec<Line>,
    /// Damage that was passed over.
    pub warnings: Vec<Warning>,
    /// Files that no reader knows, with their first lines.
    pub unrecognised: Vec<Trouble>,
    /// Files that could not be read.
    pub failed: Vec<Trouble>,
    /// Sessions without a scope: not stored.
    pub unresolved: Vec<Trouble>,
    /// Files of other projects, with the reason.
    pub unmatched: Vec<Trouble>,
    /// Files in which there is nothing to learn.
    pub nothing: Vec<String>,
    /// Sessions of our own, which are never learned from.
    pub own: usize,
    /// Sessions that were left out by what was asked for.
    pub filtered: usize,
    /// Sessions that were forgotten, which stay away, with the word for why: `forgotten`, `expired`.
    pub gone: BTreeMap<String, String>,
    /// What was left for later, and why.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether something that was asked for was not done.
    pub fn has_failures(&self) -> bool {
        !self.failed.is_empty() || !self.unresolved.is_empty() || self.unrecognised.iter().any(|file| file.named)
    }

    /// How many sessions became this.
    pub fn count(&self, became: Became) -> usize {
        self.sessions.iter().filter(|line| line.became == became).count()
    }
}

/// Why nothing, or no more, could be captured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// `redact.extra_patterns` is wrong.
    #[error(transparent)]
    Pattern(#[from] BadPattern),
    /// `capture.ignore_paths` is wrong.
    #[error("{0}")]
    Policy(String),
    /// The queue or the worker.
    #[error("the sessions are stored, but cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
}

/// The redactor that the wiki's settings ask for.
///
/// # Errors
/// When one of the user's patterns is no regular expression.
pub fn redactor(wiki: &Wiki) -> Result<Redactor, BadPattern> {
    let settings = &wiki.config.settings.redact;
    Redactor::new(&settings.extra_patterns, &settings.allow)
}

/// Captures the sessions of files. `step` is called once for each file that is done.
///
/// # Errors
/// When git cannot store them, or the settings are wrong. Trouble with single files stands in the report.
pub fn capture(
    wiki: &Wiki,
    search: &discover::Search,
    options: &Options,
    step: &mut dyn FnMut(),
) -> Result<Report, Error> {
    let redactor = redactor(wiki)?;
    let settings = &wiki.config.settings;
    let rules = &settings.capture;
    let folders = Folders::new(wiki);
    let policy = Policy::new(rules.enabled, rules.drop_subagents, &rules.ignore_paths).map_err(Error::Policy)?;
    let policy = Policy { folders: folders.known(), ..policy };
    let mut work = Work {
        wiki,
        options,
        redactor: &redactor,
        folders,
        gone: if options.again { Gone::default() } else { Gone::load(&wiki.repo)? },
        remembered: Remembered::load(&wiki.repo.memory_dir(), &(rules, &settings.redact)),
        read: Vec::new(),
        held: 0,
        waiting: Vec::new(),
        at: HashMap::new(),
        report: Report::default(),
    };
    for (path, reason) in &search.failed {
        let file = redactor.redact(&path.to_string_lossy()).into_owned();
        work.report.failed.push(Trouble { file, text: reason.clone(), named: true });
    }
    let how = ReadOptions { redactor: &redactor, policy: &policy };
    for files in search.files.chunks(AHEAD) {
        let mut wanted = Vec::with_capacity(files.len());
        for file in files {
            match work.is_to_be_read(file)? {
                Some(stamp) => {
                    if work.take_database(file, &stamp, how)? {
                        step();
                    } else {
                        wanted.push((file, stamp));
                    }
                }
                None => step(),
            }
        }
        let paths: Vec<&Path> = wanted.iter().map(|(file, _)| file.path.as_path()).collect();
        for ((file, stamp), read) in wanted.into_iter().zip(readers::read_all(&paths, options.from, how)) {
            work.take(file, stamp, read)?;
            step();
        }
    }
    work.store()?;
    work.finish()
}

/// A capture at work.
struct Work<'w> {
    wiki: &'w Wiki,
    options: &'w Options,
    redactor: &'w Redactor,
    folders: Folders<'w>,
    remembered: Remembered,
    /// What was forgotten before.
    gone: Gone,
    /// What was read and is not stored yet, with its scope.
    read: Vec<(Session, String)>,
    /// How many bytes of text that is.
    held: usize,
    /// Files to be remembered once what was read is stored.
    waiting: Vec<(std::path::PathBuf, Stamp, String, Vec<String>)>,
    /// Where a session's line stands in the report.
    at: HashMap<String, usize>,
    report: Report,
}

impl Work<'_> {
    /// What the file looks like now, when it is to be read; else what is to be said of it stands in the report.
    fn is_to_be_read(&mut self, file: &Found) -> Result<Option<Stamp>, Error> {
        let name = || self.redactor.redact(&file.path.to_string_lossy()).into_owned();
        let trouble = |text: String| Trouble { file: name(), text, named: file.named };
        if self.options.own_projects {
            let judged = match discover::recorded_cwd(&file.path) {
                Err(error) => Err(error.to_string()),
                Ok(None) => self.folders.holds(&file.path),
                Ok(Some(cwd)) => self.folders.belongs(&cwd).map_err(str::to_owned),
            };
            if let Err(reason) = judged {
                self.report.unmatched.push(trouble(reason));
                return Ok(None);
            }
        }
        let stamp = match Stamp::of(&file.path) {
            Ok(stamp) => stamp,
            Err(error) => {
                self.report.failed.push(trouble(error.to_string()));
                return Ok(None);
            }
        };
        Ok(if self.is_unchanged(file, &stamp)? { None } else { Some(stamp) })
    }

    /// Reads a database and takes it batch by batch; false when the file is none. What came in several batches is read
    /// again the next time.
    fn take_database(&mut self, file: &Found, stamp: &Stamp, how: ReadOptions) -> Result<bool, Error> {
        let mut batches = 0;
        let read = session::read_in_batches(&file.path, self.options.from, how, |read| {
            batches += 1;
            self.take(file, stamp.clone(), read)
        })?;
        if batches > 1 {
            self.waiting.retain(|(path, ..)| *path != file.path);
            self.remembered.forget(&file.path);
        }
        Ok(read)
    }

    /// What was read of a file.
    fn take(&mut self, file: &Found, stamp: Stamp, read: readers::Read) -> Result<(), Error> {
        let name = self.redactor.redact(&file.path.to_string_lossy()).into_owned();
        let trouble = |text: String| Trouble { file: name.clone(), text, named: file.named };
        let (outcome, warnings) = match read {
            Ok(read) => read,
            // A file of another kind, which only the name of makes it look like a session's.
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported && !file.named => {
                self.report.unrecognised.push(trouble(error.to_string()));
                return Ok(());
            }
            Err(error) => {
                self.report.failed.push(trouble(error.to_string()));
                return Ok(());
            }
        };
        let whole = warnings.is_empty();
        self.report.warnings.extend(warnings);
        let sessions = match outcome {
            Outcome::Unrecognised(line) => {
                self.report.unrecognised.push(trouble(line));
                return Ok(());
            }
            Outcome::Sessions(sessions) if sessions.is_empty() => {
                self.report.nothing.push(name);
                return Ok(());
            }
            Outcome::Sessions(sessions) => sessions,
        };
        let cwd = sessions[0].cwd.clone().filter(|cwd| whole && !cwd.contains(REDACTION_MARK));
        let count = sessions.len();
        let mut ids = Vec::with_capacity(count);
        for session in sessions {
            if session.own {
                self.report.own += 1;
            } else if !self.is_wanted(&session) {
                self.report.filtered += 1;
            } else if let Some(why) = self.gone.why(&session.id, session.parent.as_deref()) {
                self.report.gone.insert(session.id.clone(), why.to_owned());
                ids.push(session.id);
            } else if let Err(reason) = self.belongs(&session) {
                self.report.unmatched.push(trouble(reason.to_owned()));
            } else if let Some(scope) = self.scope(&session, &name, file.named) {
                ids.push(session.id.clone());
                self.held += session.observations.iter().map(|o| o.body.len() + o.title.len()).sum::<usize>();
                self.read.push((session, scope));
            }
        }
        if let Some(cwd) = cwd.filter(|_| ids.len() == count) {
            self.waiting.push((file.path.clone(), stamp, cwd, ids));
        }
        if self.held > BATCH {
            self.store()?;
        }
        Ok(())
    }

    /// A file that was read in full before and is as it was then, whose sessions are all there.
    fn is_unchanged(&mut self, file: &Found, stamp: &Stamp) -> Result<bool, Error> {
        let plain = self.options.from == From::Auto && self.options.session.is_none() && self.options.since.is_none();
        let Some(ids) = self.remembered.sessions(&file.path, stamp).filter(|_| plain) else { return Ok(false) };
        let mut known = Vec::with_capacity(ids.len());
        for id in ids {
            match session::stored(&self.wiki.repo, id)? {
                Some(stored) => known.push(stored.meta),
                None if self.gone.why(id, None).is_some() => {
                    self.report.gone.extend(self.gone.why(id, None).map(|why| (id.clone(), why.to_owned())));
                }
                None => return Ok(false),
            }
        }
        for meta in known {
            self.line(Line {
                id: meta.id,
                agent: meta.agent,
                scope: meta.scope,
                became: Became::Unchanged,
                observations: meta.observations,
                prompts: meta.prompts,
                title: meta.title,
            });
        }
        Ok(true)
    }

    /// Whether a session is of this wiki's projects, where only those are asked for.
    fn belongs(&mut self, session: &Session) -> Result<(), &'static str> {
        match session.cwd.as_deref() {
            _ if !self.options.own_projects => Ok(()),
            Some(cwd) if cwd.contains(REDACTION_MARK) => Ok(()),
            Some(cwd) => self.folders.belongs(cwd),
            None => Err("it records no folder"),
        }
    }

    fn is_wanted(&self, session: &Session) -> bool {
        let named = self.options.session.as_deref().is_none_or(|wanted| {
            session.id == wanted
                || session.parent.as_deref() == Some(wanted)
                || wanted.len() >= 4 && session.id.starts_with(wanted)
        });
        named && self.options.since.is_none_or(|since| session.ended.is_none_or(|ended| ended >= since))
    }

    /// The scope's name; `None`, with the reason in the report, when it cannot be told or is not the one asked for.
    fn scope(&mut self, session: &Session, file: &str, named: bool) -> Option<String> {
        let cwd = session.cwd.as_deref();
        let remotes = cwd.map(|cwd| self.folders.remotes(cwd)).unwrap_or_default();
        let told = self.wiki.scopes.of_session(cwd, remotes);
        let trouble = |text: String| Trouble { file: file.to_owned(), text, named };
        match (&self.options.scope, told) {
            (Some(asked), Ok(scope)) if self.options.own_projects && scope.name != *asked => {
                self.report.unmatched.push(trouble(format!("it belongs to the scope `{}`", scope.name)));
                None
            }
            (Some(asked), _) => Some(asked.clone()),
            (None, Ok(scope)) => Some(scope.name.clone()),
            (None, Err(unresolved)) => {
                self.report.unresolved.push(trouble(unresolved.to_string()));
                None
            }
        }
    }

    /// Adds a session's line; of a session that was met before the greater news stays.
    fn line(&mut self, mut line: Line) {
        match self.at.get(&line.id) {
            Some(&at) => {
                let known = &mut self.report.sessions[at];
                line.became = line.became.max(known.became);
                *known = line;
            }
            None => {
                self.at.insert(line.id.clone(), self.report.sessions.len());
                self.report.sessions.push(line);
            }
        }
    }

    /// Stores and records what was read.
    fn store(&mut self) -> Result<(), Error> {
        self.held = 0;
        let sessions = std::mem::take(&mut self.read);
        if sessions.is_empty() && self.waiting.is_empty() {
            return Ok(());
        }
        let of_none = |session: &Session, scope: &str| Line {
            id: session.id.clone(),
            agent: session.agent,
            scope: scope.to_owned(),
            became: Became::Unchanged,
            observations: 0,
            prompts: 0,
            title: session.title.clone(),
        };
        let lines: Vec<Line> = sessions.iter().map(|(session, scope)| of_none(session, scope)).collect();
        let mut done = record::store(&self.wiki.repo, sessions, self.options.again)?.into_iter().peekable();
        for mut line in lines {
            // One that was forgotten meanwhile is not among them.
            let Some((id, what)) = done.next_if(|(id, _)| *id == line.id) else { continue };
            line.became = match what {
                Captured::New => Became::New,
                Captured::Grown(_) => Became::Grown,
                Captured::Unchanged => Became::Unchanged,
            };
            if let Some(stored) = session::stored(&self.wiki.repo, &id)? {
                let meta = stored.meta;
                line.scope = meta.scope;
                line.observations = meta.observations;
                line.prompts = meta.prompts;
                line.title = meta.title;
            }
            self.line(line);
        }
        for (path, stamp, cwd, ids) in std::mem::take(&mut self.waiting) {
            self.remembered.add(&path, stamp, &cwd, ids);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Report, Error> {
        self.remembered.save();
        let settings = &self.wiki.config.settings;
        let ids: Vec<&str> = self.report.sessions.iter().map(|line| line.id.as_str()).collect();
        if settings.capture.pages == crate::config::Pages::Wiki
            && let Some(note) = pages::land(self.wiki, &ids)?
        {
            self.report.notes.push(note);
        }
        match session::retain_daily(
            &self.wiki.repo,
            ledger::now(),
            settings.capture.keep_raw_days,
            settings.capture.keep_days,
        ) {
            // Somebody changed a session meanwhile: tomorrow is soon enough.
            Err(git::Error::RefMoved { .. } | git::Error::Busy { .. }) | Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        if self.report.sessions.iter().any(|line| line.became != Became::Unchanged) {
            record::queue(&self.wiki.repo, settings.improve.on_session_end, ledger::now())?;
        }
        Ok(self.report)
    }
}
