//! The one place that starts the `git` program.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{Error, Result};

/// Variables with which a calling git (a hook's, say) would turn our commands to its own repository, work tree or
/// index. `git rev-parse --local-env-vars` lists them; those that carry configuration stay.
pub const LOCAL_VARIABLES: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// A git command being built. Inherited `GIT_DIR`, `GIT_INDEX_FILE`, `GIT_WORK_TREE`, `GIT_PREFIX`,
/// `GIT_OBJECT_DIRECTORY` … are cleared; `GIT_CONFIG_COUNT` and `GIT_CONFIG_PARAMETERS` stay.
pub struct Git {
    command: Command,
    stdin: Option<Vec<u8>>,
}

/// What a finished command left.
#[derive(Debug, Clone)]
pub struct Output {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Bytes of standard output.
    pub stdout: Vec<u8>,
    /// Standard error as text.
    pub stderr: String,
}

impl Git {
    /// A command run in `dir` on the repository with this git folder and, where it has one, this work tree.
    pub(super) fn new(dir: &Path, git_dir: &Path, worktree: Option<&Path>) -> Git {
        let mut git = Git::anywhere();
        git.command.current_dir(dir).env("GIT_DIR", git_dir);
        if let Some(worktree) = worktree {
            git.command.env("GIT_WORK_TREE", worktree);
        }
        git
    }

    /// A command that needs no repository, such as `version` or `init`.
    pub fn anywhere() -> Git {
        let mut command = Command::new(program());
        for name in LOCAL_VARIABLES {
            command.env_remove(name);
        }
        command.env("GIT_TERMINAL_PROMPT", "0");
        Git { command, stdin: None }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    /// Bytes for standard input.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Runs it to its end, whatever its exit code. Messages are in English, so that they can be read by us.
    ///
    /// # Errors
    /// [`Error::GitVersion`] when there is no git on PATH; [`Error::Command`] when it cannot be started.
    pub fn output(mut self) -> Result<Output> {
        // A read must not take index.lock for a refresh that nobody asked for.
        self.command.env("LC_ALL", "C").env("LANGUAGE", "C").env("GIT_OPTIONAL_LOCKS", "0");
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = self.start()?;
        let line = self.line();
        // A thread feeds the command: one that answers while it reads would otherwise wait for us, and we for it.
        let feeder = child.stdin.take().zip(self.stdin.take()).map(|(mut pipe, bytes)| {
            std::thread::spawn(move || {
                // A command that stops reading early says why in its exit code.
                let _ = pipe.write_all(&bytes);
            })
        });
        let output = child.wait_with_output().map_err(|error| Error::Command {
            command: line,
            status: "lost".to_owned(),
            stderr: error.to_string(),
        })?;
        if let Some(feeder) = feeder {
            let _ = feeder.join();
        }
        Ok(Output {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Runs it; any exit code but 0 is [`Error::Command`]. Returns standard output.
    ///
    /// # Errors
    /// As [`Git::output`], and [`Error::Command`] with what git said.
    pub fn run(self) -> Result<Vec<u8>> {
        let line = self.line();
        let output = self.output()?;
        match output.code {
            Some(0) => Ok(output.stdout),
            _ => Err(output.failed(line)),
        }
    }

    /// Runs it attached to the terminal (editor, pager, diff), in the user's language; returns the exit code.
    ///
    /// # Errors
    /// [`Error::GitVersion`] when there is no git on PATH; [`Error::Command`] when it cannot be started or is killed.
    pub fn interactive(mut self) -> Result<i32> {
        self.command.env_remove("GIT_TERMINAL_PROMPT");
        let line = self.line();
        let lost = |reason: String| Error::Command { command: line.clone(), status: reason, stderr: String::new() };
        let status = self.start()?.wait().map_err(|error| lost(error.to_string()))?;
        status.code().ok_or_else(|| lost(status.to_string()))
    }

    fn start(&mut self) -> Result<Child> {
        self.command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound if self.command.get_current_dir().is_none_or(Path::is_dir) => {
                Error::GitVersion { needed: super::version::NEEDED, found: "no git program on PATH".to_owned() }
            }
            _ => Error::Command { command: self.line(), status: "not started".to_owned(), stderr: error.to_string() },
        })
    }

    /// The command line as a person would type it.
    pub(super) fn line(&self) -> String {
        let mut line = "git".to_owned();
        for arg in self.command.get_args() {
            let arg = arg.to_string_lossy();
            line.push(' ');
            let plain = |c: char| c.is_alphanumeric() || "-_./=:@%+,{}^~".contains(c);
            if !arg.is_empty() && arg.chars().all(plain) {
                line.push_str(&arg);
            } else {
                line.push_str(&format!("'{}'", arg.replace('\'', r"'\''")));
            }
        }
        line
    }
}

impl Output {
    /// The error of a command whose exit code says that it failed.
    pub(super) fn failed(&self, command: String) -> Error {
        let status = self.code.map_or_else(|| "killed".to_owned(), |code| format!("exit status {code}"));
        Error::Command { command, status, stderr: self.stderr.trim().to_owned() }
    }
}

/// The git program: the one on PATH; tests may name another.
pub(super) fn program() -> OsString {
    #[cfg(debug_assertions)]
    if let Some(program) = std::env::var_os("GIT_MEMORY_GIT") {
        return program;
    }
    OsString::from("git")
}

/// An error of gix with its causes, in one line.
pub(super) fn explain(error: &gix::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.iter_errors() {
        let text = cause.to_string();
        if !text.is_empty() && !parts.contains(&text) {
            parts.push(text);
        }
    }
    parts.join(": ")
}
