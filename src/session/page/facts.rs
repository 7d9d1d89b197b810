//! What happened in a session: the steps it took, what they changed, what failed, how it ended.

use std::collections::HashMap;

use super::super::tools::{ToolClass, command_key, shell_command, tool_class};
use super::super::{Observation, ObservationKind as Kind, Session, Speaker};
use super::output::{commits, error_line, test_result};

/// A tool call with what it gave back.
pub(super) struct Step<'s> {
    pub call: &'s Observation,
    pub result: Option<&'s Observation>,
    /// The command, of a shell's call.
    pub command: Option<String>,
}

/// A command or call that failed, once for all its failures.
pub(super) struct Failure<'s> {
    /// Where it was called last.
    pub seq: u32,
    pub tool: &'s str,
    pub class: ToolClass,
    /// The command, or the path or words of another call.
    pub what: String,
    pub exit: i32,
    pub why: String,
    pub times: usize,
    pub fate: Fate,
}

/// What came of a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The same passed later, there.
    Passed(u32),
    /// A person did not let it happen.
    Declined,
    Stayed,
}

/// A command that runs tests.
pub(super) struct Tests {
    pub command: String,
    pub runs: usize,
    pub passed: bool,
    /// What the last run said.
    pub line: Option<String>,
}

/// A commit that was made.
pub(super) struct Commit {
    /// Its short id and branch, where git said them.
    pub at: Option<(String, String)>,
    pub subject: String,
}

/// How a session ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Answer,
    Question,
    Interrupted(u32),
    Declined(u32),
    Unanswered(u32),
    Failed(u32),
    Midway(u32),
    Trouble(u32),
    Nothing,
}

/// Everything that the page tells.
pub(super) struct Facts<'s> {
    /// The files that were written, in order, with how often; relative to the session's folder.
    pub files: Vec<(String, usize)>,
    pub commits: Vec<Commit>,
    pub tests: Vec<Tests>,
    pub failures: Vec<Failure<'s>>,
    /// The tools by how often they were called.
    pub counts: Vec<(&'s str, usize)>,
    pub interruptions: usize,
    pub ending: Ending,
}

impl<'s> Facts<'s> {
    pub(super) fn of(session: &'s Session) -> Facts<'s> {
        let steps = steps(session);
        let cwd = session.cwd.as_deref();
        Facts {
            files: files(&steps, cwd),
            commits: commits(&steps),
            tests: tests(&steps),
            failures: failures(session, &steps, cwd),
            counts: counts(&steps),
            interruptions: session.observations.iter().filter(|o| is_interruption(o)).count(),
            ending: ending(session),
        }
    }
}

/// A path as people of the project say it.
pub(super) fn relative<'p>(path: &'p str, cwd: Option<&str>) -> &'p str {
    let cwd = cwd.map(|cwd| cwd.trim_end_matches(['/', '\\'])).filter(|cwd| !cwd.is_empty());
    let rest = cwd.and_then(|cwd| path.strip_prefix(cwd)?.strip_prefix(['/', '\\']));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

fn steps(session: &Session) -> Vec<Step<'_>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut by_call: HashMap<&str, usize> = HashMap::new();
    for observation in &session.observations {
        match observation.kind {
            Kind::ToolCall => {
                if let Some(call) = observation.call.as_deref() {
                    by_call.insert(call, steps.len());
                }
                steps.push(Step { call: observation, result: None, command: shell_command(observation) });
            }
            Kind::ToolResult => {
                let named = observation.call.as_deref().map(|call| by_call.get(call).copied());
                let at = named.unwrap_or_else(|| steps.iter().rposition(|step| step.result.is_none()));
                if let Some(step) = at.and_then(|at| steps.get_mut(at)) {
                    step.result = Some(observation);
                }
            }
            _ => {}
        }
    }
    steps
}

impl Step<'_> {
    fn tool(&self) -> &str {
        self.call.tool.as_deref().unwrap_or("tool")
    }

    /// It ended, and not as it should have.
    fn exit(&self) -> Option<i32> {
        let code = self.result?.exit.filter(|code| *code != 0)?;
        // A search without a hit, two files that differ: an answer, not a failure.
        let program = self.command.as_deref().map(command_key);
        let program = program.as_deref().and_then(|command| command.split_whitespace().next());
        let asks = matches!(program, Some("grep" | "rg" | "diff" | "test" | "[" | "cmp"));
        let silent = self.result.is_none_or(|result| {
            result.body.lines().all(|line| line.trim().is_empty() || line.trim().starts_with("Exit code "))
        });
        (!(asks && code == 1 && silent)).then_some(code)
    }

    pub(super) fn failed(&self) -> bool {
        self.exit().is_some()
    }
}

fn files(steps: &[Step], cwd: Option<&str>) -> Vec<(String, usize)> {
    let mut files: Vec<(String, usize)> = Vec::new();
    let mut add = |path: &str| {
        let path = relative(path.trim(), cwd);
        match files.iter_mut().find(|(known, _)| known == path) {
            Some((_, times)) => *times += 1,
            None => files.push((path.to_owned(), 1)),
        }
    };
    for step in steps.iter().filter(|step| !step.failed()) {
        let class = tool_class(step.tool());
        let patched = patched(&step.call.body);
        if class == ToolClass::Edit && patched.is_empty() && step.call.title != step.tool() {
            add(&step.call.title);
        } else if matches!(class, ToolClass::Edit | ToolClass::Shell) {
            patched.iter().for_each(|path| add(path));
        }
    }
    files
}

/// The files that a patch in Codex's form names.
fn patched(body: &str) -> Vec<&str> {
    if !body.contains("*** Begin Patch") {
        return Vec::new();
    }
    const MARKS: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    let named = |line: &'_ str| MARKS.iter().find_map(|mark| line.trim().strip_prefix(mark).map(str::len));
    body.lines().filter_map(|line| named(line).map(|length| &line.trim()[line.trim().len() - length..])).collect()
}

fn counts<'s>(steps: &[Step<'s>]) -> Vec<(&'s str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for step in steps {
        let tool = step.call.tool.as_deref().unwrap_or("tool");
        match counts.iter_mut().find(|(known, _)| *known == tool) {
            Some((_, count)) => *count += 1,
            None => counts.push((tool, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// What a step is known by when it is tried again.
fn key(step: &Step) -> String {
    step.command.as_deref().map_or_else(|| format!("{} {}", step.tool(), step.call.title), command_key)
}

fn failures<'s>(session: &'s Session, steps: &[Step<'s>], cwd: Option<&str>) -> Vec<Failure<'s>> {
    let mut found: Vec<(String, Failure)> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let (Some(exit), Some(result)) = (step.exit(), step.result) else { continue };
        let key = key(step);
        let later = steps[at + 1..]
            .iter()
            .find(|later| later.result.is_some_and(|result| result.exit == Some(0)) && self::key(later) == key);
        let fate = match later {
            _ if is_declined(result) => Fate::Declined,
            Some(later) => Fate::Passed(later.call.seq),
            None => Fate::Stayed,
        };
        if let Some((_, known)) = found
            .iter_mut()
            .find(|(known, failure)| *known == key && (failure.fate == Fate::Declined) == (fate == Fate::Declined))
        {
            known.times += 1;
            (known.seq, known.exit, known.fate) = (step.call.seq, exit, fate);
            known.why = error_line(&result.body);
            continue;
        }
        let what = step.command.clone().unwrap_or_else(|| relative(&step.call.title, cwd).to_owned());
        let tool = step.call.tool.as_deref().unwrap_or("tool");
        let failure = Failure {
            seq: step.call.seq,
            tool,
            class: tool_class(tool),
            what,
            exit,
            why: error_line(&result.body),
            times: 1,
            fate,
        };
        found.push((key, failure));
    }
    let answered: Vec<&str> = steps.iter().filter_map(|step| step.call.call.as_deref()).collect();
    let strays = session.observations.iter().filter(|o| {
        o.kind == Kind::ToolResult
            && o.exit.is_some_and(|code| code != 0)
            && o.call.as_deref().is_some_and(|call| !answered.contains(&call))
    });
    found.extend(strays.map(|result| {
        let tool = result.tool.as_deref().unwrap_or("tool");
        let fate = if is_declined(result) { Fate::Declined } else { Fate::Stayed };
        let (exit, why) = (result.exit.unwrap_or(1), error_line(&result.body));
        let class = tool_class(tool);
        (String::new(), Failure { seq: result.seq, tool, class, what: String::new(), exit, why, times: 1, fate })
    }));
    let mut found: Vec<Failure> = found.into_iter().map(|(_, failure)| failure).collect();
    found.sort_by_key(|failure| failure.seq);
    found
}

fn tests(steps: &[Step]) -> Vec<Tests> {
    let mut found: Vec<Tests> = Vec::new();
    for step in steps {
        let (Some(command), Some(result)) = (&step.command, step.result) else { continue };
        let command = command_key(command);
        let Some((passed, line)) = test_result(&command, &result.body, result.exit) else { continue };
        match found.iter().position(|known| known.command == command) {
            Some(at) => {
                let known = found.remove(at);
                found.push(Tests { command, runs: known.runs + 1, passed, line });
            }
            None => found.push(Tests { command, runs: 1, passed, line }),
        }
    }
    found
}

fn is_interruption(observation: &Observation) -> bool {
    observation.kind == Kind::Stop && observation.body.to_ascii_lowercase().contains("interrupt")
}

/// A tool's use that a person did not want.
fn is_declined(result: &Observation) -> bool {
    const WORDS: [&str; 6] = [
        "The user doesn't want to proceed with this tool use",
        "[Operation Cancelled] Reason: User denied",
        "The user rejected this tool call",
        "The user doesn't want to take this action",
        "[Request interrupted by user",
        "User rejected",
    ];
    result.exit.is_some_and(|code| code != 0) && WORDS.iter().any(|words| result.body.trim_start().starts_with(words))
}

fn ending(session: &Session) -> Ending {
    let said = |o: &&Observation| match o.kind {
        Kind::Prompt | Kind::Answer | Kind::ToolCall | Kind::ToolResult => true,
        Kind::Stop => is_interruption(o),
        Kind::Notification | Kind::Other => is_trouble(o),
        _ => false,
    };
    let Some(last) = session.observations.iter().rfind(said) else { return Ending::Nothing };
    let seq = last.seq;
    match last.kind {
        Kind::Answer if asks(&last.body) => Ending::Question,
        Kind::Answer => Ending::Answer,
        Kind::Prompt if last.speaker == Speaker::Human => Ending::Unanswered(seq),
        Kind::Stop => Ending::Interrupted(seq),
        Kind::ToolResult if is_declined(last) => Ending::Declined(seq),
        Kind::ToolResult if last.exit.is_some_and(|code| code != 0) => Ending::Failed(seq),
        Kind::Notification | Kind::Other => Ending::Trouble(seq),
        _ => Ending::Midway(seq),
    }
}

/// A notice of the agent program that it could go no further.
fn is_trouble(observation: &Observation) -> bool {
    let text = observation.body.trim_start();
    observation.speaker == Speaker::System
        && (text.starts_with("API Error") || text.starts_with("Prompt is too long") || text.contains("limit reached"))
        && text.chars().count() < 400
}

/// Whether an answer's last words ask something.
fn asks(answer: &str) -> bool {
    let last = answer.lines().rev().map(str::trim).find(|line| line.chars().any(char::is_alphanumeric));
    last.is_some_and(|line| line.trim_end_matches(['*', '_', '`', ')', '"', ' ']).ends_with('?'))
}
