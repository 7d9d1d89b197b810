//! The one error of the command line: exit code, code word, message and what to do next. Every room's errors become
//! one here, so that exit codes and advice stand in one file.

use std::any::Any;
use std::backtrace::Backtrace;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::{context, output};
use crate::improve::plan::PlanError;
use crate::wiki::scope::Unresolved;
use crate::{config, git, improve, proposal, wiki};

/// The result of everything in this room.
pub type Result<T, E = CliError> = std::result::Result<T, E>;

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, also when there was nothing to do.
    Done,
    /// 1: what was asked was refused, failed, or found something.
    Refused,
    /// 4: warnings (`health`).
    Warnings,
    /// 75: busy, try again.
    Busy,
    /// 78: the configuration, or trust in it.
    Config,
    /// 128: fatal: no repository, no wiki, input or output failed.
    Fatal,
    /// 129: wrong usage.
    Usage,
    /// 141: whoever read the output went away; nothing is said.
    Pipe,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Refused => 1,
            Exit::Warnings => 4,
            Exit::Busy => 75,
            Exit::Config => 78,
            Exit::Fatal => 128,
            Exit::Usage => 129,
            Exit::Pipe => 141,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub struct CliError {
    /// The exit code.
    pub exit: Exit,
    /// A word that scripts can rely on (`busy`, `not_a_repository`).
    pub code: &'static str,
    /// What, where and why.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Already printed as it should stand (usage errors).
    rendered: Option<String>,
    backtrace: Option<Box<Backtrace>>,
}

/// What `--json` prints on failure.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorObject {
    /// A word that scripts can rely on.
    pub code: String,
    /// What, where and why.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl CliError {
    /// An error without a hint.
    pub fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> CliError {
        let backtrace = wants_backtrace().then(|| Box::new(Backtrace::force_capture()));
        CliError { exit, code, message: message.into(), hint: None, rendered: None, backtrace }
    }

    /// What was asked is refused (1).
    pub fn refused(code: &'static str, message: impl Into<String>) -> CliError {
        CliError::new(Exit::Refused, code, message)
    }

    /// Nothing can be done (128).
    pub fn fatal(code: &'static str, message: impl Into<String>) -> CliError {
        CliError::new(Exit::Fatal, code, message)
    }

    /// With advice on what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> CliError {
        self.hint = Some(hint.into());
        self
    }

    /// Wrong usage (129), in clap's words.
    pub fn usage(error: &clap::Error) -> CliError {
        let words = error.render();
        let plain = words.to_string();
        let mut lines = plain.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or("wrong usage");
        let first = first.strip_prefix("error: ").unwrap_or(first).to_owned();
        let hint = lines.find_map(|line| line.strip_prefix("tip: ")).map(str::to_owned);
        let mut found = CliError::new(Exit::Usage, "usage", first);
        found.hint = hint;
        found.rendered = Some(super::shown_lines(&plain).into_owned());
        found
    }

    /// A panic: a bug of ours, or standard output closed under a `print!` of some library.
    pub(super) fn from_panic(panic: &(dyn Any + Send)) -> CliError {
        let text = words_of(panic);
        if is_pipe_panic(text) {
            return CliError::new(Exit::Pipe, "broken_pipe", "");
        }
        let mut error = CliError::fatal("bug", format!("this is a bug in git-memory: {text}"));
        error.rendered = Some(String::new());
        error
    }

    /// What `--json` prints.
    pub fn object(&self) -> ErrorObject {
        ErrorObject { code: self.code.to_owned(), message: self.message.clone(), hint: self.hint.clone() }
    }

    /// Says it: the words on standard error and, with `json`, the object on standard output.
    pub(super) fn report(self, json: bool) -> ExitCode {
        if self.exit == Exit::Pipe {
            return self.exit.into();
        }
        if json {
            let mut out = super::Out::stdout();
            let _ = output::json(&mut out, "error", &self.object()).and_then(|()| out.finish());
        }
        match &self.rendered {
            Some(words) => {
                let _ = io::stderr().lock().write_all(words.as_bytes());
            }
            None => {
                let prefix = if self.exit == Exit::Fatal { "fatal: " } else { "error: " };
                context::say(prefix, &self.message);
                if let Some(hint) = &self.hint {
                    context::say("hint: ", hint);
                }
            }
        }
        if let Some(backtrace) = &self.backtrace {
            let _ = writeln!(io::stderr().lock(), "{backtrace}");
        }
        self.exit.into()
    }
}

impl std::fmt::Display for CliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

fn wants_backtrace() -> bool {
    std::env::var_os("GIT_MEMORY_BACKTRACE").is_some_and(|value| value == "1")
}

/// What a panic says.
fn words_of(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown")
}

fn is_pipe_panic(text: &str) -> bool {
    text.starts_with("failed printing to std") && (text.contains("Broken pipe") || text.contains("os error 32"))
}

/// A panic says one line that a person can report, not a page of internals.
pub(super) fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let text = words_of(info.payload());
        if is_pipe_panic(text) {
            return;
        }
        let place = info.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        context::say("fatal: ", &format!("this is a bug in git-memory{place}: {}", text.replace('\n', " ")));
        if wants_backtrace() {
            let _ = writeln!(io::stderr().lock(), "{}", Backtrace::force_capture());
        } else {
            context::say("hint: ", "run it again with GIT_MEMORY_BACKTRACE=1 and report what it says");
        }
    }));
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return CliError::new(Exit::Pipe, "broken_pipe", "");
        }
        CliError::fatal("io", error.to_string())
    }
}

impl From<git::Error> for CliError {
    fn from(error: git::Error) -> CliError {
        use git::Error as E;
        let (exit, code, hint) = match &error {
            E::NotARepository(_) => (
                Exit::Fatal,
                "not_a_repository",
                Some("go to a git repository, name one with -C, or make one with `git memory init`"),
            ),
            E::Open { .. } => (Exit::Fatal, "cannot_open", None),
            E::Read { .. } => (Exit::Fatal, "cannot_read", None),
            E::Write { .. } => (Exit::Fatal, "cannot_write", Some("check the permissions and the free space there")),
            E::RefMoved { .. } => (Exit::Busy, "ref_moved", Some("nothing was changed; run the command again")),
            E::Command { .. } => (Exit::Fatal, "git_failed", None),
            E::GitVersion { .. } => {
                (Exit::Fatal, "git_version", Some("install a newer git and see that PATH finds it"))
            }
            E::NoIdentity => (
                Exit::Fatal,
                "no_identity",
                Some("git config --global user.name \"Your Name\"\ngit config --global user.email you@example.com"),
            ),
            E::Sign(_) => (
                Exit::Fatal,
                "cannot_sign",
                Some("nothing was changed; see user.signingKey and gpg.format, or set commit.gpgSign to false"),
            ),
            E::Busy { .. } => {
                (Exit::Busy, "busy", Some("nothing was changed; run the command again when that is done"))
            }
            E::InTheWay { .. } => (
                Exit::Refused,
                "in_the_way",
                Some("nothing was changed; commit, stash or move these files, then run the command again"),
            ),
            E::Refused(_) => (Exit::Refused, "refused", None),
        };
        let mut found = CliError::new(exit, code, error.to_string());
        found.hint = hint.map(str::to_owned);
        found
    }
}

impl From<config::Error> for CliError {
    fn from(error: config::Error) -> CliError {
        CliError::new(Exit::Config, "config", error.to_string())
            .hint("`git memory config --origin` shows where every value comes from")
    }
}

impl From<config::trust::Untrusted> for CliError {
    fn from(error: config::trust::Untrusted) -> CliError {
        CliError::new(Exit::Config, "untrusted", error.to_string()).hint(config::trust::HINT)
    }
}

impl From<wiki::OpenError> for CliError {
    fn from(error: wiki::OpenError) -> CliError {
        match error {
            wiki::OpenError::Git(error) => error.into(),
            wiki::OpenError::Config(error) => error.into(),
            wiki::OpenError::BadLink { .. } => CliError::new(Exit::Config, "bad_link", error.to_string())
                .hint("correct it with `git config memory.wiki PATH`, or remove it with `git config --unset memory.wiki`"),
            wiki::OpenError::NoWiki { .. } => CliError::fatal("no_wiki", error.to_string()).hint(
                "make one here with `git memory init`, or name a separate wiki repository with `git config memory.wiki PATH`",
            ),
        }
    }
}

impl From<proposal::Error> for CliError {
    fn from(error: proposal::Error) -> CliError {
        match error {
            proposal::Error::Git(error) => error.into(),
            proposal::Error::NotFound(error) => error.into(),
            proposal::Error::Refused(refused) => refused.into(),
        }
    }
}

impl From<proposal::Refused> for CliError {
    fn from(refused: proposal::Refused) -> CliError {
        let mut found = CliError::refused(refused.code, refused.message);
        found.hint = refused.hint;
        found
    }
}

impl From<proposal::NotFound> for CliError {
    fn from(error: proposal::NotFound) -> CliError {
        let (code, hint) = match &error {
            proposal::NotFound::TooShort(_) => ("id_too_short", "`git memory proposal list --all` shows the ids"),
            proposal::NotFound::Unknown(_) => ("unknown_id", "`git memory proposal list --all` shows the ids"),
            proposal::NotFound::Ambiguous { .. } => ("ambiguous_id", "give more digits of the id"),
        };
        CliError::refused(code, error.to_string()).hint(hint)
    }
}

impl From<improve::Error> for CliError {
    fn from(error: improve::Error) -> CliError {
        match error {
            improve::Error::Git(error) => error.into(),
            improve::Error::Proposal(error) => error.into(),
            improve::Error::Plan(error) => match error {
                PlanError::Git(error) => error.into(),
                PlanError::Proposal(error) => error.into(),
                PlanError::NoSession(_) => CliError::refused("unknown_session", error.to_string())
                    .hint("`git memory session list` shows the ids"),
                PlanError::NoPage(_) => CliError::refused("unknown_page", error.to_string())
                    .hint("name a page of the wiki by its path or its file name"),
                PlanError::NoModel(_) => CliError::new(Exit::Config, "no_model", error.to_string())
                    .hint("set `model.provider`, in your own settings or with `git config`"),
            },
            improve::Error::Locked(_) => CliError::new(Exit::Busy, "busy", error.to_string())
                .hint("try again when it has ended, or give --skip-if-locked"),
            improve::Error::Resting(_) => {
                CliError::new(Exit::Busy, "busy", error.to_string()).hint("run it again then")
            }
            improve::Error::Interrupted => CliError::refused("interrupted", error.to_string()),
            improve::Error::Journal(_) => CliError::fatal("io", error.to_string()),
            improve::Error::Settings(_) => CliError::new(Exit::Config, "config", error.to_string()),
            improve::Error::Untrusted(error) => error.into(),
            improve::Error::Strategy(improve::strategy::Error::Unknown { .. }) => {
                CliError::refused("unknown_strategy", error.to_string())
            }
            improve::Error::Strategy(improve::strategy::Error::File { .. }) => {
                CliError::new(Exit::Config, "config", error.to_string())
            }
            improve::Error::Remote(_) => CliError::refused("remote_unreachable", error.to_string())
                .hint("the next tick tries again; `git memory run list` has it on record"),
        }
    }
}

impl From<Unresolved> for CliError {
    fn from(error: Unresolved) -> CliError {
        CliError::refused("scope_unresolved", error.to_string()).hint("name the scope with --scope NAME")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_error_to_speak_of() {
        let error = CliError::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((error.exit, error.message.as_str()), (Exit::Pipe, ""));
    }

    #[test]
    fn a_busy_repository_asks_to_try_again() {
        let error = CliError::from(git::Error::Busy { reason: "a rebase is in progress".into() });
        assert_eq!(error.exit.code(), 75);
        assert!(error.hint.is_some_and(|hint| hint.contains("run the command again")));
    }

    #[test]
    fn a_missing_wiki_tells_both_ways_out() {
        let hint = CliError::from(wiki::OpenError::NoWiki { repository: "/r".into() }).hint.unwrap_or_default();
        assert!(hint.contains("git memory init") && hint.contains("git config memory.wiki"), "{hint}");
    }
}
