//! A program that reads the prompt and writes the reply: `claude -p`, `codex exec`.
//!
//! It is started without a shell, in a folder of our own, and in a process group that is ended as a whole.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::server::clean;
use super::{Error, Prompt, Reply, StageSettings, Usage};
use crate::feedback::automation;
use crate::git::LOCAL_VARIABLES;
use crate::session::OWN_SESSION_MARKER;

/// Most bytes of a reply.
const MOST: usize = 8 << 20;

/// How much of the end of standard error is kept.
const TAIL: usize = 8 << 10;

/// How long what a program left running may go on writing to its standard output after it ended itself.
const AFTER: Duration = Duration::from_millis(500);

pub(super) fn ask(settings: &StageSettings, prompt: &Prompt, folder: &Path, budget: &Budget) -> Result<Reply, Error> {
    let Some((program, arguments)) = settings.command.split_first().filter(|(program, _)| !program.is_empty()) else {
        return Err(Error::Settings("`model.command` names no program".into()));
    };
    if program.contains(std::path::MAIN_SEPARATOR) && !Path::new(program).is_absolute() {
        return Err(Error::Settings(format!(
            "`model.command` names {program}: it has to be a name that PATH finds, or an absolute path, as it is started \
             in a folder of its own"
        )));
    }
    std::fs::create_dir_all(folder).map_err(|error| Error::Settings(format!("{}: {error}", folder.display())))?;
    let limit = Duration::from_secs(settings.timeout_secs.max(1));
    let deadline = Instant::now() + limit;
    let text = format!("<!-- {OWN_SESSION_MARKER} -->\n\n{}", prompt.text());
    let reserved = budget.reserve(prompt.tokens() as u64)?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for variable in LOCAL_VARIABLES {
        command.env_remove(variable);
    }
    // An agent that is started here sets off no hook of ours, and nothing that it looks up counts as use.
    command.env("GIT_MEMORY_HOOK", "0").env(automation::VARIABLE, "model");
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            reserved.give_back();
            return Err(Error::Unreachable(format!("{program} cannot be started: {error}")));
        }
    };
    let ended = Running::start(child, text.clone().into_bytes()).wait(deadline)?;
    let (status, output, tail) = match ended {
        Ended::Late => return Err(Error::TimedOut(limit.as_secs())),
        Ended::TooMuch => return Err(Error::BadReply(format!("{program} wrote more than {} MiB", MOST >> 20))),
        Ended::Done(status, output, tail) => (status, output, tail),
    };
    if !status.success() {
        let said = clean(&String::from_utf8_lossy(&tail), None);
        let said = if said.is_empty() { "and said nothing".to_owned() } else { format!("and said: {said}") };
        return Err(Error::Refused(format!("{program} ended with {} {said}", words(status))));
    }
    let reply = String::from_utf8(output).map_err(|_| Error::BadReply(format!("{program} wrote no UTF-8")))?;
    if reply.trim().is_empty() {
        return Err(Error::BadReply(format!("{program} wrote nothing")));
    }
    let count = |text: &str| text.chars().count().div_ceil(4) as u64;
    let usage = Usage { input: count(&text), output: count(&reply) };
    reserved.settle(usage);
    Ok(Reply { text: reply, usage, model: settings.model.clone(), ms: 0, structured: None })
}

fn words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// What the threads at the child's pipes tell.
enum Heard {
    Output(Vec<u8>),
    OutputEnds,
    ErrorsEnd(Vec<u8>),
}

enum Ended {
    Done(ExitStatus, Vec<u8>, Vec<u8>),
    Late,
    TooMuch,
}

/// A started program, with a thread at each of its pipes, so that none of them fills up while another is waited for.
struct Running {
    child: Child,
    heard: Receiver<Heard>,
}

impl Running {
    fn start(mut child: Child, prompt: Vec<u8>) -> Running {
        let (say, heard) = channel();
        if let Some(mut stdin) = child.stdin.take() {
            std::thread::spawn(move || {
                // A program that does not want to read all of it may still answer.
                let _ = stdin.write_all(&prompt);
            });
        }
        if let Some(stdout) = child.stdout.take() {
            let say = say.clone();
            std::thread::spawn(move || pass_on(stdout, &say));
        }
        if let Some(stderr) = child.stderr.take() {
            std::thread::spawn(move || say.send(Heard::ErrorsEnd(end_of(stderr))));
        }
        Running { child, heard }
    }

    /// Waits until the program has ended and said everything.
    fn wait(mut self, deadline: Instant) -> Result<Ended, Error> {
        const STEP: Duration = Duration::from_millis(20);
        let (mut output, mut tail) = (Vec::new(), None);
        let mut is_whole = false;
        let mut ended: Option<(ExitStatus, Instant)> = None;
        loop {
            if ended.is_none() {
                let status = self.child.try_wait();
                let status = status.map_err(|error| Error::Unreachable(format!("the program was lost: {error}")))?;
                ended = status.map(|status| (status, Instant::now()));
            }
            if let Some((status, since)) = ended
                && ((is_whole && tail.is_some()) || since.elapsed() >= AFTER)
            {
                return Ok(Ended::Done(status, output, tail.unwrap_or_default()));
            }
            let now = Instant::now();
            if now >= deadline {
                return Ok(Ended::Late);
            }
            match self.heard.recv_timeout(STEP.min(deadline - now)) {
                Ok(Heard::Output(bytes)) => output.extend(bytes),
                Ok(Heard::OutputEnds) => is_whole = true,
                Ok(Heard::ErrorsEnd(bytes)) => tail = Some(bytes),
                Err(RecvTimeoutError::Timeout) => {}
                // Both pipes are closed: only the end of the program is still awaited.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(STEP.min(deadline - now)),
            }
            if output.len() > MOST {
                return Ok(Ended::TooMuch);
            }
        }
    }
}

impl Drop for Running {
    /// Nothing that was started here is left running.
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            // The child leads its group, and its number is not given to another while the group has a member. An empty
            // group is no fault.
            let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process_group(pid, Signal::KILL));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pass_on(mut pipe: impl Read, say: &Sender<Heard>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                if say.send(Heard::Output(buffer[..count].to_vec())).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = say.send(Heard::OutputEnds);
}

/// Reads to the end, and keeps the end. What is cut off in front is cut at a line, so that no half of a secret stays.
fn end_of(mut pipe: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = vec![0; 16 << 10];
    let mut was_cut = false;
    while let Ok(count @ 1..) = pipe.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..count]);
        if kept.len() > 2 * TAIL {
            kept.drain(..kept.len() - TAIL);
            was_cut = true;
        }
    }
    if was_cut {
        let line = kept.iter().position(|byte| *byte == b'\n').map_or(kept.len(), |at| at + 1);
        kept.drain(..line);
    }
    kept
}
