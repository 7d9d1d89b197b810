//! A program that reads the prompt and writes the reply: `claude -p`, `codex exec`.
//!
//! It is started without a shell, in a folder of our own, and in a process group that is ended as a whole.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use super::budget::Budget;
use super::server::clean;
use super::{Error, Prompt, Reply, StageSettings, Usage};
use crate::feedback::automation;
use crate::process::{self, Fault, Limits, Program};
use crate::session::OWN_SESSION_MARKER;

/// Most bytes of a reply.
const MOST: usize = 8 << 20;

/// The program that the settings name.
///
/// # Errors
/// [`Error::Settings`]: none, or one that its folder would not have.
pub(super) fn program(settings: &StageSettings) -> Result<&str, Error> {
    let Some(program) = settings.command.first().filter(|program| !program.is_empty()) else {
        return Err(Error::Settings("`model.command` names no program".into()));
    };
    if program.contains(std::path::is_separator) && !Path::new(program).is_absolute() {
        return Err(Error::Settings(format!(
            "`model.command` names {program}: it has to be a name that PATH finds, or an absolute path, as it is started \
             in a folder of its own"
        )));
    }
    Ok(program)
}

pub(super) fn ask(
    settings: &StageSettings,
    prompt: &Prompt,
    memory_dir: &Path,
    budget: &Budget,
) -> Result<Reply, Error> {
    let program = program(settings)?;
    let folder = &memory_dir.join("model");
    std::fs::create_dir_all(folder).map_err(|error| Error::Settings(format!("{}: {error}", folder.display())))?;
    let limit = Duration::from_secs(settings.timeout_secs.max(1));
    let text = format!("<!-- {OWN_SESSION_MARKER} -->\n\n{}", prompt.text());
    let reserved = budget.reserve(prompt.tokens() as u64)?;
    // An agent that is started here sets off no hook of ours, and nothing that it looks up counts as use.
    let env = [("GIT_MEMORY_HOOK", "0"), (automation::VARIABLE, "model")];
    let noted = process::notes(memory_dir);
    let started = Program { command: &settings.command, folder, env: &env, without: &[], noted_in: Some(&noted) };
    let ended = match process::run(&started, text.clone().into_bytes(), &Limits { time: limit, output: MOST }) {
        Ok(ended) => ended,
        Err(fault @ (Fault::NotStarted { .. } | Fault::Nameless)) => {
            reserved.give_back();
            return Err(Error::Unreachable(fault.to_string()));
        }
        Err(Fault::TimedOut(_)) => return Err(Error::TimedOut { from: program.into(), secs: limit.as_secs() }),
        Err(Fault::Interrupted) => return Err(Error::Interrupted),
        Err(Fault::TooLong(_)) => {
            return Err(Error::BadReply(format!("{program} wrote more than {} MiB", MOST >> 20)));
        }
        Err(Fault::Lost(fault)) => return Err(Error::Unreachable(format!("the program was lost: {fault}"))),
    };
    let status = ended.status;
    if !status.success() {
        // Some say on standard output why they fail.
        let ends = [ended.stderr.as_str(), &end(&ended.stdout)].map(|end| clean(whole_lines(end), None));
        let said = ends.into_iter().find(|said| !said.is_empty()).unwrap_or_default();
        let said = if said.is_empty() { "and said nothing".to_owned() } else { format!("and said: {said}") };
        return Err(Error::Refused(format!("{program} ended with {} {said}", words(status))));
    }
    let reply = String::from_utf8(ended.stdout).map_err(|_| Error::BadReply(format!("{program} wrote no UTF-8")))?;
    if reply.trim().is_empty() {
        return Err(Error::BadReply(format!("{program} wrote nothing")));
    }
    let count = |text: &str| text.chars().count().div_ceil(4) as u64;
    let usage = Usage { input: count(&text), output: count(&reply) };
    reserved.settle(usage);
    Ok(Reply { text: reply, usage, model: settings.model.clone(), ..Reply::default() })
}

fn words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// The end of what was written, as long as what is kept of standard error.
fn end(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(4_096)..]).into_owned()
}

/// The end of a text without the line that may have been cut in front, so that no half of a secret stays.
fn whole_lines(end: &str) -> &str {
    /// Shorter than what is kept: it is whole.
    const WHOLE: usize = 4_000;
    if end.len() < WHOLE { end } else { end.split_once('\n').map_or("", |(_, rest)| rest) }
}
