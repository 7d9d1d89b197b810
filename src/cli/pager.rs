//! The pager, found and started as git does it.

use std::process::{Command, Stdio};

use super::Out;

/// The pager's command line: `$GIT_PAGER`, git's `core.pager`, `$PAGER`, `less`. `None`: no pager is wanted.
pub fn command(core_pager: Option<String>) -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok();
    let command = variable("GIT_PAGER").or(core_pager).or_else(|| variable("PAGER")).unwrap_or_else(|| "less".into());
    let command = command.trim();
    (!command.is_empty() && command != "cat").then(|| command.to_owned())
}

/// Starts it through the shell, as git does. `None` when it cannot be started.
pub fn start(command: &str) -> Option<Out> {
    let mut shell = if cfg!(windows) { Command::new("cmd") } else { Command::new("sh") };
    shell.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(command).stdin(Stdio::piped());
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            shell.env(name, value);
        }
    }
    shell.spawn().ok().map(Out::pager)
}
