//! `git memory demo`: the whole loop on recorded sessions, in a folder of its own.
//!
//! Each command that is shown is run as a process of its own, with the arguments shown, so that what is read is what
//! happened.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;
use serde_json::Value;

use super::packed::{packed, unpacked};
use super::{CliError, Context, Exit, Meaning, Out, Result, shown, shown_lines};
use crate::git::Git;

/// Show the whole loop on recorded sessions, in a folder of its own.
///
/// Makes a wiki in a new temporary folder (or in DIR), captures recorded sessions of agents, lets the built-in reviewer
/// look at them, shows what it proposes, accepts one proposal, takes it back, and says what to try next. Needs no
/// network and no key; reads and changes nothing of yours but your name for the commits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder that is empty or does not exist [default: a new one among the temporary files]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// What `demo --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// The folder that was made.
    folder: String,
    /// The repository of the wiki in it.
    wiki: String,
    /// The proposal that was accepted and taken back.
    accepted: String,
    /// A proposal that waits for a person, when there is one.
    waiting: Option<String>,
    /// What was run.
    steps: Vec<Step>,
    /// Commands to try next, to be typed as they are.
    next: Vec<String>,
}

/// One command that was run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Step {
    /// As it is typed.
    command: String,
    /// What it printed.
    output: String,
}

macro_rules! sessions {
    ($($name:literal),* $(,)?) => {
        &[$(($name, packed!(concat!("fixtures/sessions/", $name)))),*]
    };
}

/// The recorded sessions, by file name, packed.
const SESSIONS: &[(&str, &[u8])] = sessions![
    "hand-pnpm-rule.jsonl",
    "hand-queue-decision.jsonl",
    "hand-sqlx-offline-gotcha.jsonl",
    "made-twin-desktop.jsonl",
    "made-twin-laptop.jsonl",
    "real-geese.jsonl",
    "real-init.jsonl",
    "real-least-nested-path.jsonl",
    "real-lint-keep-parameters.jsonl",
    "real-summary-only.jsonl",
    "real-too-tentative.jsonl",
];

/// Where the sessions come from and under which licence.
const ORIGIN: &str = include_str!("../../fixtures/README.md");

/// What git reads in place of the person's own configuration.
const GIT_CONFIG: &str = "# git read this instead of your own configuration while the demonstration ran.\n\
    [init]\n\tdefaultBranch = main\n[branch \"main\"]\n\trebase = merges\n[gc]\n\tauto = 0\n";

/// Who makes the commits where git knows nobody.
const NOBODY: (&str, &str) = ("Demo Reader", "demo@git-memory.invalid");

/// Variables that the commands keep of those that begin with `GIT_`.
const KEPT: [&str; 7] = [
    "GIT_EXEC_PATH",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_DATE",
    "GIT_MEMORY_GIT",
    "GIT_MEMORY_NOW",
    "GIT_MEMORY_BACKTRACE",
    "GIT_TEST_DEFAULT_HASH",
];

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let person = person(ctx);
    let mut demo = Demo::prepare(ctx, args.dir.as_deref())?;
    demo.tell(&format!(
        "A wiki, from {} recorded sessions of coding agents, in {}.\n\
         Each command below is run as you see it. No network, no key, no model.",
        SESSIONS.len(),
        demo.folder.display()
    ))?;

    demo.tell("1. A wiki is a folder of markdown pages in a git repository. `init` makes one commit.")?;
    demo.git(&demo.folder.clone(), &["init", "--quiet", "wiki"])?;
    demo.cd("wiki")?;
    let wiki = demo.wiki.clone();
    match &person {
        // Written down, as the commands do not see the person's own configuration.
        Some((name, email)) => {
            demo.silent_git(&wiki, &["config", "user.name", name])?;
            demo.silent_git(&wiki, &["config", "user.email", email])?;
        }
        None => {
            demo.git(&wiki, &["config", "user.name", NOBODY.0])?;
            demo.git(&wiki, &["config", "user.email", NOBODY.1])?;
        }
    }
    demo.memory(&["init", "--no-hooks"])?;

    demo.tell(
        "2. Capture what the agents left. Secrets are taken out before anything is written, and nothing comes onto\n   \
         a branch: each session stands under refs/memory/sessions/.",
    )?;
    demo.memory(&["capture", "../sessions"])?;

    demo.tell(
        "3. Look for what is worth keeping. The built-in reviewer goes by plain rules: standing instructions of a\n   \
         person, corrections, failures with their cause and fix, decisions with their reason. Most sessions teach\n   \
         nothing, and that is a good answer.",
    )?;
    demo.memory(&["improve", "--all"])?;

    demo.tell("4. What it found waits. Each proposal is a small branch with one commit, under refs/memory/pending/.")?;
    demo.memory(&["proposal", "list"])?;
    let (chosen, rule) = demo.choose()?;

    demo.tell("5. One of them: what it would change, why, and the words that it rests on.")?;
    demo.memory(&["proposal", "show", &chosen])?;

    demo.tell("6. Accept it. That is a merge commit on the wiki's branch; what was shown is what lands.")?;
    demo.memory(&["proposal", "accept", &chosen])?;
    demo.git(&wiki, &["log", "--oneline", "--graph"])?;

    demo.tell("7. Changed your mind? Taking it back is a git revert. The reason is kept, and later reviews read it.")?;
    demo.memory(&["proposal", "revert", &chosen, "--reason", "only trying it out"])?;
    demo.memory(&["log", "--proposal", &chosen])?;

    if rule.is_some() {
        demo.tell(
            "8. The rules in the list still wait, and no setting changes that: a rule steers what agents do, so it is\n   \
             drawn from a person's own words only, and lands only when a person says yes on a terminal.",
        )?;
    }
    demo.end(chosen, rule)?;
    Ok(Exit::Done)
}

/// The demonstration as it goes.
struct Demo<'c> {
    ctx: &'c Context,
    out: Out,
    folder: PathBuf,
    wiki: PathBuf,
    binary: PathBuf,
    steps: Vec<Step>,
    /// Something was said already.
    begun: bool,
}

impl<'c> Demo<'c> {
    /// Makes the folder and puts the sessions into it.
    fn prepare(ctx: &'c Context, dir: Option<&Path>) -> Result<Demo<'c>> {
        let binary = std::env::current_exe()
            .map_err(|error| CliError::fatal("io", format!("cannot tell where this program lies: {error}")))?;
        let folder = match dir {
            None => tempfile::Builder::new().prefix("git-memory-demo-").tempdir()?.keep(),
            Some(dir) => {
                let dir = ctx.dir.join(dir);
                if dir.exists() && !dir.read_dir().is_ok_and(|mut entries| entries.next().is_none()) {
                    let message = format!("'{}' is there already and is no empty folder", dir.display());
                    return Err(CliError::refused("not_empty", message)
                        .hint("name a folder that does not exist, or none: then a temporary one is made"));
                }
                std::fs::create_dir_all(&dir)?;
                dir
            }
        };
        let folder = folder.canonicalize()?;
        std::fs::create_dir_all(folder.join("sessions"))?;
        std::fs::create_dir_all(folder.join(".demo"))?;
        for (name, packed) in SESSIONS {
            std::fs::write(folder.join("sessions").join(name), unpacked(packed))?;
        }
        std::fs::write(folder.join("SESSIONS.md"), ORIGIN)?;
        std::fs::write(folder.join(".demo/gitconfig"), GIT_CONFIG)?;
        Ok(Demo { ctx, out: ctx.out(), wiki: folder.join("wiki"), folder, binary, steps: Vec::new(), begun: false })
    }

    /// A few words to the reader, as a shell's comment.
    fn tell(&mut self, words: &str) -> Result<()> {
        if self.ctx.json {
            return Ok(());
        }
        if self.begun {
            writeln!(self.out)?;
        }
        self.begun = true;
        for line in words.lines() {
            writeln!(self.out, "{}", self.ctx.paint(Meaning::Place, shown(&format!("# {line}"))))?;
        }
        Ok(self.out.flush()?)
    }

    /// Shows a command.
    fn show(&mut self, command: &str) -> Result<()> {
        if self.ctx.json {
            return Ok(());
        }
        writeln!(self.out, "{}", self.ctx.paint(Meaning::Head, shown(&format!("$ {command}"))))?;
        Ok(self.out.flush()?)
    }

    fn cd(&mut self, folder: &str) -> Result<()> {
        self.show(&format!("cd {folder}"))
    }

    /// Shows and runs `git memory …` in the wiki.
    fn memory(&mut self, args: &[&str]) -> Result<()> {
        let typed = typed("git memory", args);
        self.show(&typed)?;
        let colour = if self.ctx.colored() { "--color=always" } else { "--color=never" };
        let mut command = self.sealed();
        command.args(["--no-pager", colour]).args(args);
        let (ok, output) = together(command)?;
        self.ran(typed, ok, output)
    }

    /// Shows and runs git itself.
    fn git(&mut self, dir: &Path, args: &[&str]) -> Result<()> {
        let typed = typed("git", args);
        self.show(&typed)?;
        let (ok, output) = self.silent_git(dir, args)?;
        self.ran(typed, ok, output)
    }

    fn silent_git(&self, dir: &Path, args: &[&str]) -> Result<(bool, Vec<u8>)> {
        let colour = if self.ctx.colored() { "color.ui=always" } else { "color.ui=never" };
        let mut git = Git::anywhere().arg("-C").arg(dir).args(["-c", colour]).args(args);
        for (name, value) in self.environment() {
            git = git.env(name, value);
        }
        let done = git.output()?;
        let mut output = done.stdout;
        output.extend_from_slice(done.stderr.as_bytes());
        Ok((done.code == Some(0), output))
    }

    /// The program in the wiki, without anything of the person's configuration and without standard input.
    fn sealed(&self) -> Command {
        let mut command = Command::new(&self.binary);
        let kept = |name: &OsStr| name.to_str().is_some_and(|name| KEPT.contains(&name));
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") && !kept(&name) {
                command.env_remove(name);
            }
        }
        command.arg("-C").arg(&self.wiki).envs(self.environment()).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    fn environment(&self) -> [(&'static str, OsString); 3] {
        [
            ("GIT_CONFIG_GLOBAL", self.folder.join(".demo/gitconfig").into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("XDG_CONFIG_HOME", self.folder.join(".demo").into()),
        ]
    }

    /// Shows what a command printed, and ends the demonstration when it failed.
    fn ran(&mut self, command: String, ok: bool, output: Vec<u8>) -> Result<()> {
        if !self.ctx.json {
            // The commands have escaped what is not theirs, and coloured it.
            self.out.write_all(&output)?;
            self.out.flush()?;
        }
        let output = String::from_utf8_lossy(&output).into_owned();
        if !ok {
            let last = output.lines().last().unwrap_or_default().to_owned();
            let message = format!("the demonstration ends here: `{command}` failed: {last}");
            return Err(CliError::refused("demo_failed", message)
                .hint(format!("what it made is left in {}", self.folder.display())));
        }
        self.steps.push(Step { command, output });
        Ok(())
    }

    /// A proposal that anybody may accept, a decision before other kinds, and a rule.
    fn choose(&self) -> Result<(String, Option<String>)> {
        let mut command = self.sealed();
        command.args(["proposal", "list", "--json"]);
        let output = command.stderr(Stdio::null()).output()?.stdout;
        let list: Value = serde_json::from_slice(&output).unwrap_or_default();
        let rows = list["proposals"].as_array().map(Vec::as_slice).unwrap_or_default();
        let id = |row: &Value| row["id"].as_str().map(|id| id.chars().take(7).collect::<String>());
        let free = || rows.iter().filter(|row| row["needs_person"].is_null() && row["deferred"].is_null());
        let of = |kind: &str| free().find(|row| row["kind"] == kind);
        let chosen = of("decision").or_else(|| of("gotcha")).or_else(|| free().next()).and_then(id);
        let rule = rows.iter().find(|row| row["kind"] == "rule").and_then(id);
        let nothing = || {
            CliError::refused("demo_failed", "the reviewer proposed nothing that can be accepted here")
                .hint(format!("what it made is left in {}", self.folder.display()))
        };
        Ok((chosen.ok_or_else(nothing)?, rule))
    }

    /// Says what to try next, or prints the report.
    fn end(mut self, accepted: String, waiting: Option<String>) -> Result<()> {
        let mut next: Vec<(String, String)> = Vec::new();
        let mut add = |why: &str, command: String| next.push((why.to_owned(), command));
        if let Some(folder) = off_path(&self.binary) {
            let folder = quoted(&folder.display().to_string());
            add("git finds git-memory on the PATH:", format!("export PATH={folder}:\"$PATH\""));
        }
        add("go there:", format!("cd {}", quoted(&self.wiki.display().to_string())));
        add("walk through what waits, one by one (? lists the keys):", "git memory review".into());
        if let Some(rule) = &waiting {
            add("accept a rule; it asks you for a yes:", format!("git memory accept {rule}"));
        }
        add("bring back what was taken back:", format!("git memory reopen {accepted}"));
        add("what waits, and what there is:", "git memory status".into());
        add("everything there is, as plain git:", "git for-each-ref refs/memory".into());
        add("what the reviewer did:", "git memory run list".into());
        let next = next;
        if self.ctx.json {
            let report = Report {
                folder: self.folder.display().to_string(),
                wiki: self.wiki.display().to_string(),
                accepted,
                waiting,
                steps: self.steps,
                next: next.into_iter().map(|(_, command)| command).collect(),
            };
            super::output::json(&mut self.out, "demo", &report)?;
            return self.out.finish();
        }
        self.tell("Now you. These work as they stand, in this order:")?;
        for (why, command) in &next {
            writeln!(self.out, "{}", self.ctx.paint(Meaning::Dim, shown(&format!("#   {why}"))))?;
            writeln!(self.out, "{}", shown_lines(command))?;
        }
        let folder = quoted(&self.folder.display().to_string());
        self.tell(&format!("When you are done: rm -rf {folder}"))?;
        self.out.finish()
    }
}

/// The person's name and address, as their git knows them.
fn person(ctx: &Context) -> Option<(String, String)> {
    let setting = |key: &str| {
        let done = Git::anywhere().arg("-C").arg(&ctx.dir).args(["config", "--get", key]).output().ok()?;
        let value = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        (done.code == Some(0) && !value.is_empty()).then_some(value)
    };
    Some((setting("user.name")?, setting("user.email")?))
}

/// Runs a command; its two outputs come together, in the order in which it wrote them.
fn together(mut command: Command) -> Result<(bool, Vec<u8>)> {
    let (mut read, write) = std::io::pipe()?;
    command.stdout(write.try_clone()?).stderr(write);
    let mut child = command.spawn()?;
    // Our ends of the pipe, without which it would never end.
    drop(command);
    let mut output = Vec::new();
    read.read_to_end(&mut output)?;
    Ok((child.wait()?.success(), output))
}

/// A command as a person types it.
fn typed(program: &str, args: &[&str]) -> String {
    let words = args.iter().map(|arg| quoted(arg));
    std::iter::once(program.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The binary's folder, when git does not find this binary on the PATH.
fn off_path(binary: &Path) -> Option<PathBuf> {
    let name = binary.file_name()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    let same = |file: PathBuf| file.canonicalize().ok() == binary.canonicalize().ok();
    if first.is_some_and(same) { None } else { binary.parent().map(Path::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(
            typed("git memory", &["revert", "ab12", "--reason", "it's a try"]),
            r"git memory revert ab12 --reason 'it'\''s a try'"
        );
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn every_session_of_the_demonstration_has_an_origin_on_record() {
        for (name, packed) in SESSIONS {
            assert!(ORIGIN.contains(name), "{name} is missing in fixtures/README.md");
            assert!(!unpacked(packed).is_empty(), "{name}");
        }
    }
}
