//! One trial: a person's command, run in a folder, to its end or until the person has had enough.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::git::{LOCAL_VARIABLES, asked_to_end};

/// How a command ended.
pub(super) enum Ended {
    /// With this exit code.
    Code(i32),
    /// By a signal, in words.
    Signal(String),
}

/// Runs a command line with the shell. What it prints goes to standard error, or nowhere. Searches in it are no use of
/// the wiki, and `GIT_MEMORY_RUN` says so.
pub(super) fn run(command: &str, folder: &Path, quiet: bool) -> io::Result<Ended> {
    let mut shell = Command::new("sh");
    for name in LOCAL_VARIABLES {
        shell.env_remove(name);
    }
    let said = || if quiet { Stdio::null() } else { Stdio::from(io::stderr()) };
    shell.arg("-c").arg(command).current_dir(folder).env("GIT_MEMORY_RUN", "bisect");
    let mut child = shell.stdin(Stdio::null()).stdout(said()).stderr(said()).spawn()?;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if asked_to_end() {
            child.kill()?;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    Ok(status.code().map_or_else(|| Ended::Signal(status.to_string()), Ended::Code))
}
