//! Programs of the user's, started with an input, a limit of time and a limit of output, of which nothing is left
//! behind.

mod group;
mod left;
mod pipe;

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::git::{LOCAL_VARIABLES, Watch, asked_to_end};
pub use left::{end_left_behind, notes};
use pipe::Pipe;

/// What is started, and where.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// The program and its arguments. No shell reads them.
    pub command: &'a [String],
    /// The folder it runs in.
    pub folder: &'a Path,
    /// What is set in its environment. Git's variables about the repository at hand are taken out.
    pub env: &'a [(&'a str, &'a str)],
    /// Variables that it must not see.
    pub without: &'a [String],
    /// The folder in which it is noted while it runs, for [`end_left_behind`].
    pub noted_in: Option<&'a Path>,
}

/// How much it may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From its start to its last word.
    pub time: Duration,
    /// Bytes of standard output.
    pub output: usize,
}

/// How it ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// The end of what it wrote to standard error, at most 8 KiB of whole lines.
    pub stderr: String,
}

/// Why it has no end that counts. Whatever it started was killed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// No program is named.
    #[error("no program is named")]
    Nameless,
    /// The system does not start it.
    #[error("`{program}` cannot be started: {fault}")]
    NotStarted {
        /// The program.
        program: String,
        /// Why.
        fault: io::Error,
    },
    /// It took too long.
    #[error("it did not end within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It wrote too much.
    #[error("it wrote more than {0} bytes")]
    TooLong(usize),
    /// This process was asked to end.
    #[error("it was interrupted")]
    Interrupted,
    /// The system lost it.
    #[error("it was lost: {0}")]
    Lost(#[from] io::Error),
}

/// Most bytes of standard error that are kept: the last ones, where the reason stands.
const STDERR: usize = 8 << 10;

/// How long the pipes of a program that has ended are listened to: what it left running may hold them open.
const LINGER: Duration = Duration::from_millis(500);

/// Longest limit of time that is kept, so that no sum of times overflows.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// Runs a program to its end. When it takes too long, or this process is asked to end, it is killed with everything
/// that it started; what it left running when it ended by itself is killed too. Being asked to end, this process ends,
/// unless somebody watches who has more to put away.
///
/// # Errors
/// Why there is no end that counts. An exit code other than 0 is no such reason.
pub fn run(program: &Program<'_>, input: Vec<u8>, limits: &Limits) -> Result<Ended, Fault> {
    let (name, arguments) = program.command.split_first().ok_or(Fault::Nameless)?;
    let mut command = Command::new(name);
    for variable in LOCAL_VARIABLES {
        command.env_remove(variable);
    }
    for variable in program.without {
        command.env_remove(variable);
    }
    command.args(arguments).current_dir(program.folder).envs(program.env.iter().copied());
    command.envs(left::mark().map(|mark| (left::VARIABLE, mark)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    group::lead(&mut command);
    let watch = Watch::begin();
    let end = Instant::now() + limits.time.min(LONGEST);
    let mut child = command.spawn().map_err(|fault| Fault::NotStarted { program: name.clone(), fault })?;
    let noted = program.noted_in.and_then(|folder| left::note(folder, child.id()));
    feed(&mut child, input);
    let stdout = child.stdout.take().map(|from| Pipe::all(from, limits.output));
    let stderr = child.stderr.take().map(|from| Pipe::end_of(from, STDERR));
    let too_long = || stdout.as_ref().is_some_and(Pipe::is_too_long);
    let waited = wait(&mut child, end, &too_long);
    let listened = Instant::now() + if waited.is_ok() { LINGER } else { Duration::ZERO };
    for pipe in stdout.iter().chain(&stderr) {
        pipe.wait_for_its_end(listened.min(end));
    }
    // Its group first: while it is not reaped, its number cannot mean anybody else.
    group::kill(&mut child);
    let status = child.wait();
    drop(noted);
    if matches!(waited, Err(Stop::Asked)) {
        watch.pass_on();
    }
    waited.map_err(|stop| match stop {
        Stop::Asked => Fault::Interrupted,
        Stop::Late => Fault::TimedOut(limits.time),
        Stop::TooLong => Fault::TooLong(limits.output),
        Stop::Lost(fault) => Fault::Lost(fault),
    })?;
    if too_long() {
        return Err(Fault::TooLong(limits.output));
    }
    let said = |pipe: Option<Pipe>| pipe.map(Pipe::said).unwrap_or_default();
    Ok(Ended { status: status?, stdout: said(stdout), stderr: String::from_utf8_lossy(&said(stderr)).into_owned() })
}

/// Why a program is stopped.
enum Stop {
    /// This process was asked to end.
    Asked,
    /// It takes too long.
    Late,
    /// It writes too much.
    TooLong,
    /// The system does not know it.
    Lost(io::Error),
}

/// Waits until the program has ended, without taking its number away from it.
fn wait(child: &mut Child, end: Instant, too_long: &dyn Fn() -> bool) -> Result<(), Stop> {
    let mut pause = Duration::from_millis(1);
    loop {
        if group::has_ended(child).map_err(Stop::Lost)? {
            return Ok(());
        }
        if asked_to_end() {
            return Err(Stop::Asked);
        }
        if too_long() {
            return Err(Stop::TooLong);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Stop::Late);
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// A thread feeds the program: one that answers while it reads would otherwise wait for us, and we for it.
fn feed(child: &mut Child, input: Vec<u8>) {
    if let Some(mut stdin) = child.stdin.take() {
        std::thread::spawn(move || {
            // One that stops reading early says why in its exit code.
            let _ = stdin.write_all(&input);
        });
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, input: &str, seconds: f64) -> Result<Ended, Fault> {
        let command = ["sh".to_owned(), "-c".to_owned(), script.to_owned()];
        let program = Program {
            command: &command,
            folder: Path::new("/"),
            env: &[("GREETING", "hello")],
            without: &[],
            noted_in: None,
        };
        let limits = Limits { time: Duration::from_secs_f64(seconds), output: 1_000 };
        run(&program, input.into(), &limits)
    }

    #[test]
    fn input_environment_output_and_status_pass_through() {
        let ended = sh("cat; echo $GREETING; echo why >&2; exit 3", "in\n", 20.0).expect("it ends");
        assert_eq!((ended.status.code(), &*ended.stdout, &*ended.stderr), (Some(3), &b"in\nhello\n"[..], "why\n"));
    }

    #[test]
    fn what_takes_too_long_is_killed_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let clock = Instant::now();
        // The grandchild holds the pipes, and would leave a mark if it lived on.
        let script = format!("(sleep 2; touch '{}') & sleep 100", mark.display());
        assert!(matches!(sh(&script, "", 0.3), Err(Fault::TimedOut(_))));
        assert!(clock.elapsed() < Duration::from_secs(2), "{:?}", clock.elapsed());
        std::thread::sleep(Duration::from_millis(2_300));
        assert!(!mark.exists(), "the grandchild was killed");
    }

    #[test]
    fn what_a_program_leaves_running_neither_holds_us_up_nor_lives_on() {
        let clock = Instant::now();
        let ended = sh("sleep 100 & echo $!", "", 20.0).expect("it ends");
        assert!(clock.elapsed() < Duration::from_secs(5), "{:?}", clock.elapsed());
        let left = String::from_utf8(ended.stdout).unwrap();
        let gone = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", left.trim())).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        for _ in 0..100 {
            if gone() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{left} lives on");
    }

    #[test]
    fn too_much_output_a_missing_program_and_none_are_told_apart() {
        assert!(matches!(sh("yes", "", 20.0), Err(Fault::TooLong(1_000))));
        assert!(matches!(sh("head -c 1001 /dev/zero", "", 20.0), Err(Fault::TooLong(1_000))));
        assert_eq!(sh("head -c 1000 /dev/zero", "", 20.0).map(|ended| ended.stdout.len()).ok(), Some(1_000));
        let limits = Limits { time: Duration::from_secs(1), output: 1 };
        let named = |command: &[String]| {
            run(
                &Program { command, folder: Path::new("/"), env: &[], without: &[], noted_in: None },
                Vec::new(),
                &limits,
            )
            .err()
        };
        assert!(matches!(named(&["/nowhere/at-all".to_owned()]), Some(Fault::NotStarted { .. })));
        assert!(matches!(named(&[]), Some(Fault::Nameless)));
    }

    #[test]
    fn one_that_never_reads_its_input_is_no_trouble() {
        let much = "x".repeat(1 << 20);
        assert!(sh("exit 0", &much, 20.0).is_ok_and(|ended| ended.status.success()));
    }
}
