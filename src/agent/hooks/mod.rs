//! Installing git hooks, taking them out again, and showing that they fire.

mod config;
mod folder;
mod place;
mod status;

use std::path::{Path, PathBuf};

pub use place::{Manager, Place, find};
pub use status::{PROBE, Standing, State, status};

use super::Event;
use crate::git::{self, Repo};

/// What to install or take out.
#[derive(Debug, Clone)]
pub struct Options {
    /// The events.
    pub events: Vec<Event>,
    /// The program that the hooks start, absolute.
    pub binary: PathBuf,
    /// The folder of the user's own templates.
    pub templates: Option<PathBuf>,
    /// Also replace scripts of ours that were edited by hand.
    pub force: bool,
}

impl Options {
    /// This very program, for these events, with the user's own templates.
    ///
    /// # Errors
    /// When the system does not say where the program is.
    pub fn for_this_program(events: Vec<Event>) -> Result<Options, Error> {
        let binary = std::env::current_exe().map_err(|error| Error::io("find", Path::new("this program"), error))?;
        Ok(Options { events, binary, templates: super::shim::user_templates(), force: false })
    }
}

/// What became of one event's hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// Installed; `legacy` is the hook that stood there before, and that ours calls first.
    Installed {
        /// Where the earlier hook stands now.
        legacy: Option<PathBuf>,
    },
    /// It was installed as it is.
    Unchanged,
    /// An older one of ours was replaced.
    Replaced,
    /// Taken out; `restored` tells whether the earlier hook is back.
    Removed {
        /// Whether an earlier hook is in its place again.
        restored: bool,
    },
    /// There was nothing of ours.
    Absent,
    /// Left as it is, for this reason. Nothing was changed.
    Refused(String),
}

/// Why hooks cannot be installed here at all. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// A file could not be read or written.
    #[error("cannot {what} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// `core.hooksPath` is set where it does not belong to this repository, or to nothing.
    #[error("core.hooksPath is {value:?} in {scope} configuration: {why}")]
    HooksPath {
        /// `global`, `system`, `command`, or whatever git calls it.
        scope: String,
        /// Its value.
        value: String,
        /// Why that is no place to write to.
        why: &'static str,
    },
    /// Another program manages the hooks of this repository.
    #[error("{} manages the hooks of this repository ({sign})", .manager.name())]
    Managed {
        /// The program.
        manager: Manager,
        /// The file that shows it.
        sign: String,
    },
}

impl Error {
    fn io(what: &'static str, path: &Path, source: std::io::Error) -> Error {
        Error::Io { what, path: path.to_owned(), source }
    }

    /// What to put where by hand instead, for these events; empty where that would not help.
    pub fn snippet(&self, events: &[Event]) -> String {
        match self {
            Error::Managed { manager, .. } => manager.snippet(events),
            Error::HooksPath { value, .. } if value.is_empty() => String::new(),
            Error::HooksPath { .. } => place::script_lines(events),
            _ => String::new(),
        }
    }
}

/// Installs hooks for the events of `options`, each on its own: one that is refused does not keep back the others.
///
/// # Errors
/// When hooks cannot be installed in this repository at all.
pub fn install(repo: &Repo, options: &Options) -> Result<Vec<(Event, Done)>, Error> {
    match find(repo)? {
        Place::Config => {
            // What an older git needed would fire a second time.
            if let Ok(folder) = place::effective_folder(repo) {
                for event in Event::ALL {
                    folder::uninstall(repo, &folder, event, options.force)?;
                }
            }
            options.events.iter().map(|&event| Ok((event, config::install(repo, event, options)?))).collect()
        }
        Place::Folder(folder) => {
            options.events.iter().map(|&event| Ok((event, folder::install(repo, &folder, event, options)?))).collect()
        }
    }
}

/// Takes out what [`install`] put in, wherever that was, and puts back what stood there before.
///
/// # Errors
/// When git's configuration or a file cannot be read or written.
pub fn uninstall(repo: &Repo, options: &Options) -> Result<Vec<(Event, Done)>, Error> {
    let folder = place::effective_folder(repo)?;
    let mut all = Vec::new();
    for &event in &options.events {
        let from_config = config::uninstall(repo, event, options.force)?;
        let from_folder = folder::uninstall(repo, &folder, event, options.force)?;
        all.push((event, if from_folder == Done::Absent { from_config } else { from_folder }));
    }
    Ok(all)
}
