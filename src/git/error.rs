//! What can go wrong in this room.

use std::path::PathBuf;

/// The result of everything in this room.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong between us and git.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No repository at or above the folder.
    #[error("{} is not in a git repository", .0.display())]
    NotARepository(PathBuf),
    /// The repository exists and cannot be used; the text says why.
    #[error("cannot open the repository at {}: {reason}", .path.display())]
    Open {
        /// The repository.
        path: PathBuf,
        /// What git or gix said.
        reason: String,
    },
    /// An object, ref or path that should exist does not, or cannot be read.
    #[error("cannot read {what}: {reason}")]
    Read {
        /// The object, ref or path.
        what: String,
        /// Why.
        reason: String,
    },
    /// Writing an object or file failed.
    #[error("cannot write {what}: {reason}")]
    Write {
        /// The object, ref or path.
        what: String,
        /// Why.
        reason: String,
    },
    /// A ref did not have the value that a transaction expected; nothing was changed.
    #[error("{name} was changed by another process")]
    RefMoved {
        /// The full ref name.
        name: String,
    },
    /// A `git` command failed.
    #[error("`{command}` failed ({status}): {stderr}")]
    Command {
        /// The command line, as a person would type it.
        command: String,
        /// `exit status 1`, `signal 9`.
        status: String,
        /// What it said, trimmed.
        stderr: String,
    },
    /// The `git` program is missing or too old.
    #[error("git {needed} or newer is needed: {found}")]
    GitVersion {
        /// The oldest version that works.
        needed: &'static str,
        /// What was found instead.
        found: String,
    },
    /// Git signs commits here and could not; the text is what git and the signing program said. Nothing was changed.
    #[error("the commit cannot be signed: {0}")]
    Sign(String),
    /// No `user.name` and `user.email`.
    #[error("git does not know who you are: set user.name and user.email")]
    NoIdentity,
    /// Somebody else is at work on the branch or its work tree; trying again later may succeed. Nothing was changed.
    #[error("busy: {reason}")]
    Busy {
        /// Who or what holds it, how old, how to get rid of it.
        reason: String,
    },
    /// The work tree has files in the way or overlapping edits. Nothing was changed.
    #[error("the work tree at {} is in the way: {reason}", .worktree.display())]
    InTheWay {
        /// The work tree.
        worktree: PathBuf,
        /// The files, as git named them.
        reason: String,
    },
    /// Something that cannot be done safely here; the text says what and why.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    /// A read error from anything that can be displayed.
    pub fn read(what: impl Into<String>, reason: impl std::fmt::Display) -> Error {
        Error::Read { what: what.into(), reason: reason.to_string() }
    }

    /// A write error from anything that can be displayed.
    pub fn write(what: impl Into<String>, reason: impl std::fmt::Display) -> Error {
        Error::Write { what: what.into(), reason: reason.to_string() }
    }
}
