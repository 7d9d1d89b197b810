//! Installing into coding agents: the hooks that they run, the instructions and the skill that they read; and taking
//! all of it out again.
//!
//! Each agent has a few files at each place (`files.rs`). Every edit of a file is an insertion into its text, made by
//! the module that knows its form: `settings.rs` and `server.rs` (`json.rs`), `notify.rs`, `block.rs`, or a whole file of ours from
//! `template.rs`. What was inserted is remembered (`record.rs`), so that taking it out gives the old bytes back; without
//! the record our parts are still recognised.

mod block;
mod change;
mod files;
mod json;
mod notify;
mod part;
mod plan;
mod program;
mod record;
mod server;
mod settings;
mod status;
mod template;

use std::path::PathBuf;

pub use change::Change;
pub use files::{Agent, Ground, Homes, Kind, Place};
pub use plan::{Done, Outcome, Plan, install, uninstall};
pub use status::{FileState, Standing, State, status};

/// What is wrong with a text that we were to edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, from 1.
    line: Option<usize>,
    /// What is wrong.
    message: String,
}

impl Fault {
    fn new(message: impl Into<String>) -> Fault {
        Fault { line: None, message: message.into() }
    }

    /// At a byte of the text.
    fn at(text: &str, byte: usize, message: impl Into<String>) -> Fault {
        let line = text.as_bytes().iter().take(byte).filter(|&&byte| byte == b'\n').count() + 1;
        Fault { line: Some(line), message: message.into() }
    }
}

/// Why nothing, or no more, was installed or taken out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot {what} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A file is not what its agent expects, so that it cannot be edited.
    #[error("{}{}: {message}", .path.display(), .line.map(|line| format!(":{line}")).unwrap_or_default())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: Option<usize>,
        /// What is wrong there.
        message: String,
    },
    /// What is ours in a file was edited by hand.
    #[error("{}: the part of git-memory was edited by hand", .path.display())]
    Edited {
        /// The file.
        path: PathBuf,
    },
    /// Another program's file stands where ours belongs.
    #[error("{} is not of git-memory", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A file is not as it was when the change was shown.
    #[error("{} was changed meanwhile", .path.display())]
    Moved {
        /// The file.
        path: PathBuf,
    },
    /// A template of the user's cannot be used.
    #[error("the template {}: {message}", .path.display())]
    Template {
        /// The template.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// There is no home folder.
    #[error("there is no home folder: HOME is not set")]
    NoHome,
}

impl Error {
    fn io(what: &'static str, path: &std::path::Path, source: std::io::Error) -> Error {
        Error::Io { what, path: path.to_owned(), source }
    }

    fn broken(path: &std::path::Path, fault: Fault) -> Error {
        Error::Broken { path: path.to_owned(), line: fault.line, message: fault.message }
    }
}
