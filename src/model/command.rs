//! A program that reads the prompt and writes the reply: `claude -p`, `codex exec`.

use std::io::Write;
use std::process::{Command, Stdio};

use super::{Error, Prompt, Reply, StageSettings, Usage};

pub(super) fn ask(settings: &StageSettings, prompt: &Prompt) -> Result<Reply, Error> {
    let Some((program, arguments)) = settings.command.split_first() else {
        return Err(Error::Settings("`model.command` names no program".into()));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Error::Unreachable(format!("{program}: {error}")))?;
    let text = prompt.text();
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| Error::Unreachable(format!("{program}: {error}")))?;
    if !output.status.success() {
        return Err(Error::Refused(format!("{program} ended with {}", output.status)));
    }
    let reply = String::from_utf8(output.stdout).map_err(|_| Error::BadReply("it is not UTF-8".into()))?;
    let usage = Usage { input: text.len().div_ceil(4) as u64, output: reply.len().div_ceil(4) as u64 };
    Ok(Reply { text: reply, usage, model: settings.model.clone(), ms: 0 })
}
