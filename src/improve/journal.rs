//! The journal of the run that is going on, local to the machine: what the next run finishes when this one dies.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::run::{Call, Run};

/// A journal is left alone for this long after its last write: its process may be at work on a slow disk.
const FRESH: Duration = Duration::from_secs(30);

/// The journal of one run: how far it has come, and beside it, line by line, what was asked.
pub struct Journal {
    path: PathBuf,
}

/// One line of what was asked.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// Work on this session or page begins.
    At(String),
    /// This is about to be asked.
    Asking(Box<Call>),
    /// The reply to this question (the prompt, and who was asked) is kept: the SHA-256 of both.
    Kept { prompt: String, reply: String },
}

/// What a run asked, as far as its journal tells.
#[derive(Default)]
pub struct Calls {
    /// The calls that were begun; those without a reply say so.
    pub calls: Vec<Call>,
    /// What was being worked on last.
    pub at_work: Option<String>,
    /// Questions whose replies are kept: the SHA-256 of both.
    kept: Vec<(String, String)>,
}

/// What a dead process left.
pub enum Left {
    /// Its run.
    Run(Journal, Box<Run>),
    /// Something that is no run; the run's id is the file's name.
    Malformed {
        /// The journal.
        journal: Journal,
        /// The id of the run.
        run: String,
    },
}

/// Where the replies of dead runs stand that nobody has made use of, by question, below `responses/`.
const UNUSED: &str = "unused";

impl Journal {
    /// Begins one; the folder is made.
    pub fn begin(memory_dir: &Path, run: &Run) -> io::Result<Journal> {
        let folder = memory_dir.join("journal");
        fs::create_dir_all(&folder)?;
        let journal = Journal { path: folder.join(format!("{}.json", run.id)) };
        journal.write(run)?;
        Ok(journal)
    }

    /// Writes how far the run has come.
    pub fn write(&self, run: &Run) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut file, run)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }

    /// Says that work on a session or page begins.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn at(&self, subject: &str) -> io::Result<()> {
        self.line(&Line::At(subject.to_owned()))
    }

    /// Says that this is about to be asked, before it is.
    ///
    /// # Errors
    /// When the line cannot be written: nothing may be asked then.
    pub fn asking(&self, call: &Call) -> io::Result<()> {
        self.line(&Line::Asking(Box::new(call.clone())))
    }

    /// Says that the reply to a question is kept.
    pub fn kept(&self, question: &str, reply: &str) {
        // Without it, a run that dies later asks once more.
        let _ = self.line(&Line::Kept { prompt: question.to_owned(), reply: reply.to_owned() });
    }

    /// Appends a line, durably.
    fn line(&self, line: &Line) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.log())?;
        file.write_all(&bytes)?;
        file.sync_data()
    }

    fn log(&self) -> PathBuf {
        self.path.with_extension("calls")
    }

    /// What was asked. Lines that cannot be read (the last one of a killed process) are passed over.
    pub fn calls(&self) -> Calls {
        let mut found = Calls::default();
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            match line {
                Line::At(subject) => found.at_work = Some(subject),
                Line::Asking(call) => {
                    found.calls.push(Call { error: Some("the run's process died".into()), ..*call });
                }
                Line::Kept { prompt, reply } => {
                    if let Some(call) = found.calls.last_mut() {
                        call.error = None;
                    }
                    found.kept.push((prompt, reply));
                }
            }
        }
        found
    }

    /// Leaves the replies that a dead run had to the next run that asks exactly the same.
    pub fn hand_down(&self, calls: &Calls) {
        let Some(folder) = self.responses().map(|folder| folder.join(UNUSED)) else { return };
        // What cannot be handed down is asked again.
        let _ = fs::create_dir_all(&folder);
        for (prompt, reply) in &calls.kept {
            let _ = fs::write(folder.join(prompt), reply);
        }
    }

    /// The reply to exactly this question that a dead run had, once.
    pub fn unused(&self, question: &str) -> Option<String> {
        let responses = self.responses()?;
        let note = responses.join(UNUSED).join(question);
        let reply = fs::read_to_string(&note).ok()?;
        let _ = fs::remove_file(&note);
        fs::read_to_string(responses.join(format!("{}.txt", reply.trim()))).ok()
    }

    fn responses(&self) -> Option<PathBuf> {
        Some(self.path.parent()?.parent()?.join("responses"))
    }

    /// The run is recorded in the ledger: the journal goes.
    pub fn end(self) {
        // One that stays behind is found recorded, and removed, by the next run.
        let _ = fs::remove_file(self.log());
        let _ = fs::remove_file(&self.path);
    }

    /// Puts a journal that cannot be read where it is in nobody's way, for people to look at.
    pub fn set_aside(self) {
        let _ = fs::rename(&self.path, self.path.with_extension("malformed"));
        let _ = fs::remove_file(self.log());
    }

    /// What dead processes left, oldest first. The caller holds the worker's lock, so no other run is alive; journals
    /// younger than 30 s are left for later all the same.
    pub fn left_behind(memory_dir: &Path) -> Vec<Left> {
        let entries = files(memory_dir, "json").filter(|entry| age(entry).is_none_or(|age| age >= FRESH));
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort_unstable();
        let left = paths.into_iter().map(|path| {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let run = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Run>(&bytes).ok());
            match run.filter(|run| run.id == name) {
                Some(run) => Left::Run(Journal { path }, Box::new(run)),
                None => Left::Malformed { journal: Journal { path }, run: name },
            }
        });
        left.collect()
    }

    /// Whether dead processes left anything that may be looked at now.
    pub fn any_left_behind(memory_dir: &Path) -> bool {
        !Journal::left_behind(memory_dir).is_empty()
    }

    /// The runs whose journals are too young to be looked at, and after how long they may be. Whether their processes
    /// live, the worker's lock tells.
    pub fn resting(memory_dir: &Path) -> Vec<(String, Duration)> {
        let resting = files(memory_dir, "json").filter_map(|entry| {
            let left = FRESH.checked_sub(age(&entry)?).filter(|left| !left.is_zero())?;
            Some((entry.path().file_stem()?.to_string_lossy().into_owned(), left))
        });
        resting.collect()
    }

    /// The journals that could not be read and were put aside.
    pub fn malformed(memory_dir: &Path) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = files(memory_dir, "malformed").map(|entry| entry.path()).collect();
        paths.sort_unstable();
        paths
    }
}

/// The files of a kind in the folder of journals.
pub(super) fn files(memory_dir: &Path, kind: &'static str) -> impl Iterator<Item = fs::DirEntry> {
    let entries = fs::read_dir(memory_dir.join("journal")).into_iter().flatten().flatten();
    entries.filter(move |entry| entry.path().extension().is_some_and(|extension| extension == kind))
}

/// How long ago a journal was written last; `None`: nobody can tell.
fn age(entry: &fs::DirEntry) -> Option<Duration> {
    // Tests of recovery cannot wait: debug builds take the age from the environment.
    #[cfg(debug_assertions)]
    if std::env::var_os("GIT_MEMORY_JOURNAL_STALE").is_some() {
        return None;
    }
    SystemTime::now().duration_since(entry.metadata().and_then(|metadata| metadata.modified()).ok()?).ok()
}
