//! Questions to the person at the terminal.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use super::{CliError, Context, Result, shown};

/// Whether ordinary questions can be asked: standard input and standard error are a terminal.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks yes or no; `--yes` is a yes. Anything but `y` or `yes` is a no.
///
/// # Errors
/// `needs_answer` without a terminal and without `--yes`; nothing is assumed.
pub fn confirm(ctx: &Context, question: &str) -> Result<bool> {
    if ctx.yes {
        return Ok(true);
    }
    if !can_ask() {
        return Err(CliError::refused("needs_answer", format!("{question}: there is no terminal to ask on"))
            .hint("run it on a terminal, or answer beforehand with --yes"));
    }
    let answer = prompt(&format!("{} [y/N] ", shown(question)))?;
    Ok(answer.is_some_and(|answer| is_yes(&answer)))
}

/// As [`confirm`], of what an agent must not do to the record of its own work: refused under one, whatever `--yes`
/// says.
///
/// # Errors
/// `needs_person` under an agent; else as [`confirm`].
pub fn confirm_by_person(ctx: &Context, question: &str) -> Result<bool> {
    match under_agent() {
        Some(variable) => Err(needs_person(question, &format!("{variable} is set: this runs under an agent"))
            .hint("run the same command yourself, outside of the agent")),
        None => confirm(ctx, question),
    }
}

/// Asks until one of the keys is typed; `None` at the end of the input. `choices` are keys with what they do; `?`
/// lists them.
///
/// # Errors
/// `needs_answer` without a terminal: `--yes` chooses nothing here.
pub fn choose(question: &str, choices: &[(char, &str)]) -> Result<Option<char>> {
    if !can_ask() {
        return Err(CliError::refused("needs_answer", format!("{question}: there is no terminal to ask on")));
    }
    let keys: Vec<String> = choices.iter().map(|(key, _)| key.to_string()).collect();
    loop {
        let Some(answer) = prompt(&format!("{} [{},?] ", shown(question), keys.join(",")))? else {
            return Ok(None);
        };
        let mut typed = answer.trim().chars();
        if let (Some(key), None) = (typed.next(), typed.next())
            && choices.iter().any(|(choice, _)| *choice == key)
        {
            return Ok(Some(key));
        }
        for (key, what) in choices {
            eprintln!("{key} - {what}");
        }
    }
}

/// Asks for one line of text; `None` at the end of the input or when it is blank.
pub fn line(question: &str) -> Result<Option<String>> {
    if !can_ask() {
        return Err(CliError::refused("needs_answer", format!("{question}: there is no terminal to ask on")));
    }
    let answer = prompt(&format!("{}: ", shown(question)))?;
    Ok(answer.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
}

/// Asks what only a person may answer (protected pages, rules): on the terminal itself, whatever standard input is,
/// whatever `--yes` says. The person types `yes` in full.
///
/// # Errors
/// `needs_person` when the process runs under an agent or has no terminal.
pub fn ask_person(question: &str) -> Result<bool> {
    if let Some(variable) = under_agent() {
        return Err(needs_person(question, &format!("{variable} is set: this runs under an agent")));
    }
    let (read, mut write) = terminal().map_err(|_| needs_person(question, "there is no terminal"))?;
    write!(write, "{}\nOnly a person may decide this. Type yes to agree: ", shown(question))?;
    write.flush()?;
    let mut answer = String::new();
    BufReader::new(read).read_line(&mut answer)?;
    Ok(answer.trim().eq_ignore_ascii_case("yes"))
}

fn needs_person(question: &str, why: &str) -> CliError {
    CliError::refused("needs_person", format!("a person has to decide this: {question} ({why})"))
        .hint("run the same command yourself on a terminal; --yes does not count here")
}

/// The environment variable by which a coding agent marks what it starts, when one is set.
pub fn under_agent() -> Option<String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).find(|name| is_agents(name))
}

fn is_agents(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CURSOR_AGENT",
        "GEMINI_CLI",
        "QWEN_CODE",
        "CLINE_ACTIVE",
        "AUGMENT_AGENT",
        "GOOSE_TERMINAL",
        "AI_AGENT",
    ];
    NAMES.contains(&name) || ["CODEX_", "OPENCODE", "AIDER"].iter().any(|prefix| name.starts_with(prefix))
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Prints to standard error and reads a line from standard input; `None` at its end.
fn prompt(words: &str) -> Result<Option<String>> {
    let mut err = io::stderr().lock();
    write!(err, "{words}")?;
    err.flush()?;
    let mut answer = String::new();
    if io::stdin().lock().read_line(&mut answer)? == 0 {
        writeln!(err)?;
        return Ok(None);
    }
    Ok(Some(answer))
}

fn terminal() -> io::Result<(File, File)> {
    let (input, output) = if cfg!(windows) { ("CONIN$", "CONOUT$") } else { ("/dev/tty", "/dev/tty") };
    let read = File::open(input)?;
    let write = OpenOptions::new().write(true).open(output)?;
    if !read.is_terminal() {
        return Err(io::ErrorKind::NotConnected.into());
    }
    Ok((read, write))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_agent_is_recognised_by_its_variable() {
        for name in ["CLAUDECODE", "CODEX_SANDBOX", "OPENCODE", "OPENCODE_PID", "CURSOR_AGENT", "GEMINI_CLI"] {
            assert!(is_agents(name), "{name}");
        }
        for name in ["PATH", "EDITOR", "CURSOR_TRACE_ID", "MY_CODEX_DIR"] {
            assert!(!is_agents(name), "{name}");
        }
    }

    #[test]
    fn only_yes_is_yes() {
        assert!(is_yes(" Y\n") && is_yes("yes") && !is_yes("") && !is_yes("yep") && !is_yes("n"));
    }
}
