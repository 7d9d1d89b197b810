//! Capture: agents' files are read, filtered and stored, and what was stored is recorded and queued.
//!
//! What a crash leaves undone the next capture of the same files completes: a file is remembered as read, and up to
//! where, only once its sessions stand under their refs and in the ledger.

pub mod pages;
mod readers;
mod record;
mod report;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::value::RawValue;

use self::readers::Read;
pub use self::report::{Became, Line, Report, Trouble};
use super::discover::{self, Folders, Found};
use super::remembered::{Gave, Known, Remembered, Stamp};
use crate::git;
use crate::ledger;
use crate::session::{
    self, BadPattern, Bookmark, Captured, Ending, From, Given, Gone, Meta, Policy, REDACTION_MARK, ReadOptions,
    Redactor, Session, Stored,
};
use crate::wiki::Wiki;

/// How many bytes of text are held before they are stored: so few that storing them and reading on go side by side.
const BATCH: usize = 8 << 20;

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
    let settings = (rules, &settings.redact, format!("{:?}", options.from));
    let mut work = Work {
        wiki,
        options,
        redactor: &redactor,
        folders,
        gone: if options.again { Gone::default() } else { Gone::load(&wiki.repo)? },
        remembered: Remembered::load(&wiki.repo.memory_dir(), &settings),
        read: Vec::new(),
        held: 0,
        file: File::default(),
        waiting: Vec::new(),
        at: HashMap::new(),
        report: Report::default(),
    };
    for (path, reason) in &search.failed {
        let file = redactor.redact(&path.to_string_lossy()).into_owned();
        work.report.failed.push(Trouble { file, text: reason.clone(), named: true });
    }
    let mut jobs = Vec::new();
    for file in &search.files {
        match work.job(file)? {
            Some(job) => jobs.push(job),
            None => step(),
        }
    }
    let how = ReadOptions { redactor: &redactor, policy: &policy };
    readers::read_ahead(&jobs, options.from, how, &mut |job, read| {
        match read {
            Read::Given(given) => work.take(job, given)?,
            Read::End(ending) => {
                work.end(job, ending);
                step();
            }
        }
        if work.held > BATCH {
            work.store()?;
        }
        Ok::<_, Error>(())
    })?;
    work.store()?;
    work.finish()
}

/// A file that is to be read.
struct Job {
    path: PathBuf,
    /// Its name, redacted.
    name: String,
    named: bool,
    /// What it looked like before it is read.
    stamp: Stamp,
    /// Where reading may go on, and what was given until there.
    bookmark: Option<Box<RawValue>>,
    gave: Gave,
}

/// What the file that is being taken gave so far.
#[derive(Default)]
struct File {
    ids: Vec<String>,
    own: usize,
    cwds: Vec<String>,
    /// How many sessions and parts it gave.
    given: usize,
    /// The first of them continues what was given before.
    is_tail: bool,
    /// Not all of it is kept, or it cannot be told which rules hold for it.
    is_partial: bool,
}

/// A file that is remembered once what it gave is stored.
struct Done {
    path: PathBuf,
    stamp: Stamp,
    ids: Vec<String>,
    own: usize,
    cwds: Vec<String>,
    bookmark: Option<Bookmark>,
}

/// How many bytes of text a session holds.
fn size(session: &Session) -> usize {
    session.observations.iter().map(|o| o.body.len() + o.title.len()).sum()
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
    read: Vec<(Given, String)>,
    /// How many bytes of text that is.
    held: usize,
    file: File,
    /// Files to be remembered once what was read is stored.
    waiting: Vec<Done>,
    /// Where a session's line stands in the report.
    at: HashMap<String, usize>,
    report: Report,
}

impl Work<'_> {
    /// The file, when it is to be read; else what is to be said of it stands in the report.
    fn job(&mut self, file: &Found) -> Result<Option<Job>, Error> {
        let name = self.redactor.redact(&file.path.to_string_lossy()).into_owned();
        let trouble = |text: String| Trouble { file: name.clone(), text, named: file.named };
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
        let (mut bookmark, mut gave) = (None, Gave::default());
        match self.remembered.known(&file.path, &stamp) {
            Known::Nothing => {}
            Known::Same(known) => {
                let known = known.clone();
                if let Some(metas) = self.stored(&known)? {
                    self.unchanged(&name, metas, &known);
                    return Ok(None);
                }
            }
            Known::Grown(known, place) => {
                let (known, place) = (known.clone(), place.to_owned());
                if self.stored(&known)?.is_some() {
                    (bookmark, gave) = (Some(place), known);
                }
            }
        }
        Ok(Some(Job { path: file.path.clone(), name, named: file.named, stamp, bookmark, gave }))
    }

    /// The sessions that a file gave, where all of them stand as they were stored, under the scope that is asked for.
    fn stored(&self, gave: &Gave) -> Result<Option<Vec<Meta>>, Error> {
        let mut metas = Vec::with_capacity(gave.sessions.len());
        for (id, observations) in &gave.sessions {
            let asked = |meta: &Meta| self.options.scope.as_ref().is_none_or(|asked| *asked == meta.scope);
            match session::stored(&self.wiki.repo, id)? {
                Some(stored) if stored.meta.observations >= *observations && asked(&stored.meta) => {
                    metas.push(stored.meta);
                }
                None if self.gone.why(id, None).is_some() => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(metas))
    }

    /// A file in which nothing is new.
    fn unchanged(&mut self, name: &str, metas: Vec<Meta>, gave: &Gave) {
        if gave.sessions.is_empty() && gave.own == 0 {
            self.report.nothing.push(name.to_owned());
        }
        self.report.own += gave.own;
        let gone = gave.sessions.iter().filter_map(|(id, _)| Some((id.clone(), self.gone.why(id, None)?.to_owned())));
        self.report.gone.extend(gone);
        for meta in metas {
            if !self.is_wanted(&meta.id, meta.parent.as_deref(), meta.ended) {
                self.report.filtered += 1;
                continue;
            }
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
    }

    /// A session, or a part of one, that was read from a file.
    fn take(&mut self, job: &Job, given: Given) -> Result<(), Error> {
        let session = &given.session;
        self.file.given += 1;
        self.file.is_tail |= given.is_tail;
        match session.cwd.as_ref().filter(|cwd| !cwd.contains(REDACTION_MARK)) {
            Some(cwd) if self.file.cwds.contains(cwd) => {}
            Some(cwd) => self.file.cwds.push(cwd.clone()),
            None => self.file.is_partial |= session.cwd.is_some(),
        }
        if session.own {
            self.file.own += 1;
            self.report.own += 1;
        } else if !self.is_wanted(&session.id, session.parent.as_deref(), session.ended) {
            self.file.is_partial = true;
            self.report.filtered += 1;
        } else if let Some(why) = self.gone.why(&session.id, session.parent.as_deref()) {
            self.report.gone.insert(session.id.clone(), why.to_owned());
            self.file.ids.push(session.id.clone());
        } else if let Err(reason) = self.belongs(session) {
            self.file.is_partial = true;
            let (file, text) = (job.name.clone(), reason.to_owned());
            self.report.unmatched.push(Trouble { file, text, named: job.named });
        } else if let Some(scope) = self.scope(session, &job.name, job.named) {
            self.file.ids.push(session.id.clone());
            self.held += size(session);
            self.read.push((given, scope));
        } else {
            self.file.is_partial = true;
        }
        Ok(())
    }

    /// A file was read to its end.
    fn end(&mut self, job: &Job, ending: io::Result<Ending>) {
        let mut file = std::mem::take(&mut self.file);
        let trouble = |text: String| Trouble { file: job.name.clone(), text, named: job.named };
        let (warnings, bookmark, cwd) = match ending {
            Err(error) if error.kind() == io::ErrorKind::Unsupported && !job.named => {
                return self.report.foreign.push(trouble(error.to_string()));
            }
            Err(error) => return self.report.failed.push(trouble(error.to_string())),
            Ok(Ending::Unrecognised(line)) => return self.report.unrecognised.push(trouble(line)),
            Ok(Ending::Read { warnings, bookmark, cwd }) => (warnings, bookmark, cwd),
        };
        self.report.warnings.extend(warnings);
        if file.given == 0 {
            self.report.nothing.push(job.name.clone());
        }
        if file.cwds.is_empty() {
            file.cwds.extend(cwd.filter(|cwd| !self.redactor.finds(cwd)));
        }
        if file.is_partial || file.cwds.is_empty() {
            return;
        }
        let mut ids = file.ids;
        if file.is_tail {
            ids.extend(job.gave.sessions.iter().map(|(id, _)| id.clone()));
        }
        let seen: HashSet<String> = ids.drain(..).collect();
        let (path, stamp) = (job.path.clone(), job.stamp.clone());
        let ids = seen.into_iter().collect();
        self.waiting.push(Done { path, stamp, ids, own: file.own, cwds: file.cwds, bookmark });
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

    fn is_wanted(&self, id: &str, parent: Option<&str>, ended: Option<Timestamp>) -> bool {
        let named =
            self.options.session.as_deref().is_none_or(|wanted| {
                id == wanted || parent == Some(wanted) || wanted.len() >= 4 && id.starts_with(wanted)
            });
        named && self.options.since.is_none_or(|since| ended.is_none_or(|ended| ended >= since))
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
        if sessions.is_empty() {
            self.remember();
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
        let lines: Vec<Line> = sessions.iter().map(|(given, scope)| of_none(&given.session, scope)).collect();
        let mut done = record::store(&self.wiki.repo, sessions, self.options.again)?.into_iter().peekable();
        for mut line in lines {
            // One that was forgotten meanwhile is not among them.
            let Some(kept) = done.next_if(|kept| kept.id == line.id) else { continue };
            line.became = match kept.what {
                Captured::New => Became::New,
                Captured::Grown(_) => Became::Grown,
                Captured::Unchanged => Became::Unchanged,
            };
            if let Some(Stored { meta, .. }) = kept.stored {
                line.scope = meta.scope;
                line.observations = meta.observations;
                line.prompts = meta.prompts;
                line.title = meta.title;
            }
            self.line(line);
        }
        self.remember();
        Ok(())
    }

    /// Files whose sessions are stored need not be read again.
    fn remember(&mut self) {
        for Done { path, stamp, ids, own, cwds, bookmark } in std::mem::take(&mut self.waiting) {
            // One of which other sessions hold everything has no ref: its file is read again.
            let stands =
                |id: &String| self.at.get(id).map(|at| self.report.sessions[*at].observations).filter(|n| *n > 0);
            let held = |id: &String| stands(id).or_else(|| self.report.gone.contains_key(id).then_some(0));
            let sessions: Option<Vec<(String, u32)>> =
                ids.into_iter().map(|id| held(&id).map(|observations| (id, observations))).collect();
            if let Some(sessions) = sessions {
                self.remembered.add(&path, stamp, cwds, Gave { sessions, own }, bookmark.as_ref());
            }
        }
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
