//! A command failed, something was changed, the same command passed, and somebody said why.

use super::cause::{self, Lesson};
use super::judge::{self, pattern};
use super::lexicon::LOOKERS;
use super::{compose, signal};
use crate::proposal::Candidate;
use crate::session::{
    Observation, ObservationKind, Session, ToolClass, command_key as key, shell_command as command, tool_class,
};
use crate::wiki::Kind;

/// Why a mended failure is proposed.
const MENDED: &str = "A command failed, then passed after a change, and its cause was stated.";
/// Why a stated cause is, that no second run confirmed.
const STATED: &str = "A command failed, and its root cause and fix were both stated.";

pattern!(
    TRANSIENT,
    r"(?ix)\b(?:time[d]?[\s-]?out|timeout|connection\s(?:refused|reset|closed)|could\snot\sresolve|couldn't\sresolve|name\sresolution|temporary\sfailure|network\sis|no\sroute|enotfound|econn\w+|etimedout|429|50[234]\b|rate\slimit|too\smany\srequests|service\sunavailable|bad\sgateway
        |command\snot\sfound|not\srecognized\sas|no\ssuch\scommand|shim\sbinary|executable\sfile\snot\sfound|is\snot\sinstalled|no\sspace\sleft|out\sof\smemory|cannot\sallocate|killed|sigkill|sigterm
        |index\.lock|could\snot\sget\slock|resource\stemporarily|broken\spipe|doesn't\swant\sto\sproceed|tool_use_error|interrupted|permission\sto\suse|has\sbeen\sdenied|ssl_error_syscall|tls\shandshake|remote\send\shung)\b"
);
pattern!(
    ERROR_LINE,
    r"(?i)\b(?:\w*errors?|failed|failure|fatal|panicked|\w*exception|cannot|can't|could not|unable|undefined|unresolved|denied|missing|invalid|not found)\b|^E\s+assert\b"
);
pattern!(ANSI, r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07");

/// A run of a shell command and how it ended.
struct Run<'s> {
    /// Where its result stands.
    at: usize,
    command: String,
    result: &'s Observation,
    passed: bool,
}

/// Gotchas from failures, one candidate each.
pub fn find(session: &Session, turns: &[super::Turn]) -> Vec<Candidate> {
    let runs = runs(session);
    let mut out: Vec<Candidate> = Vec::new();
    // A failure that was mended tells more than one that was only explained, and one explanation is one lesson.
    let mut explained: Vec<String> = Vec::new();
    for mended in [true, false] {
        for (index, failed) in runs.iter().enumerate() {
            if failed.passed || is_transient(failed) || !says_something(&failed.command) {
                continue;
            }
            let next = runs[index + 1..].iter().find(|run| core(&run.command) == core(&failed.command));
            // The last failure before it passes is the one that the change mended.
            if next.is_some_and(|next| !next.passed || !something_changed(session, failed, next))
                || next.is_some() != mended
            {
                continue;
            }
            let until = turn_end(session, turns, next.map_or(failed.at, |next| next.at));
            let said = failed.at + 1..until;
            let Some(lesson) = cause::lesson(session, said, &failed.command, &failed.result.body) else { continue };
            let known = explained.contains(&lesson.cause);
            if !mended && (known || !lesson.labelled || lesson.fix.is_none()) {
                continue;
            }
            explained.push(lesson.cause.clone());
            out.extend(candidate(session, failed, next, lesson));
        }
    }
    out
}

fn candidate(session: &Session, failed: &Run, passed: Option<&Run>, lesson: Lesson) -> Option<Candidate> {
    let symptom = symptom(&failed.result.body)?;
    let command = shown_command(&failed.command);
    let title = compose::title(lesson.fix.as_deref().filter(|fix| is_short_order(fix)).unwrap_or(&lesson.cause));
    if title.split_whitespace().count() < 3 || judge::is_local(&command) || judge::is_unsafe(&command) {
        return None;
    }
    let mut body = format!("{}\n\n## Symptom\n\n{}\n", compose::heading(&title), compose::fenced("text", &symptom));
    body.push_str(&format!("\n## Cause\n\n{}\n", compose::sentence(&lesson.cause)));
    if let Some(fix) = &lesson.fix {
        body.push_str(&format!("\n## Fix\n\n{}\n", compose::sentence(fix)));
    }
    body.push_str(&format!("\n## Seen with\n\n{}\n", compose::fenced("sh", &command)));
    let mut evidence = lesson.quotes;
    evidence.extend(compose::quote(session, failed.result, &symptom));
    evidence.dedup();
    let (confidence, rationale) = match passed {
        Some(_) => {
            let gains = [(lesson.labelled, signal::GIVES_A_REASON), (lesson.fix.is_some(), signal::GIVES_A_REASON)];
            (signal::sum(signal::FAILED_THEN_PASSED, &gains), MENDED)
        }
        None => (signal::STATED_CAUSE_AND_FIX, STATED),
    };
    Some(compose::page(Kind::Gotcha, &title, body, confidence, rationale, evidence))
}

/// Every finished shell command, in the order of the results.
fn runs(session: &Session) -> Vec<Run<'_>> {
    let mut out = Vec::new();
    for (at, result) in session.observations.iter().enumerate() {
        let (ObservationKind::ToolResult, Some(exit)) = (result.kind, result.exit) else { continue };
        let call = session.observations[..at].iter().rfind(|o| {
            o.kind == ObservationKind::ToolCall && if result.call.is_some() { o.call == result.call } else { true }
        });
        if let Some(command) = call.and_then(command) {
            out.push(Run { at, command, result, passed: exit == 0 });
        }
    }
    out
}

fn shown_command(command: &str) -> String {
    key(command)
}

/// Whether success or failure of the command says something about the project.
pub fn says_something(command: &str) -> bool {
    let whole = key(command);
    let key = without_env(&whole);
    let mut words = key.split_whitespace();
    let program = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let looks = LOOKERS.contains(&program)
        || (program == "git"
            && matches!(
                second,
                "status"
                    | "diff"
                    | "log"
                    | "show"
                    | "branch"
                    | "add"
                    | "stash"
                    | "remote"
                    | "rev-parse"
                    | "blame"
                    | "fetch"
                    | "checkout"
                    | "switch"
                    | "commit"
                    | "push"
                    | "pull"
                    | "-C"
            ))
        || (program == "gh")
        || (matches!(program, "python" | "python3" | "node" | "perl" | "ruby") && matches!(second, "-c" | "-e" | "-"));
    !looks
        && !program.is_empty()
        && key.chars().count() <= 200
        && !key.contains("<<")
        && !command.contains('\n')
        && !is_inspection(key)
}

/// The command without the variables set before it: setting one may be what mends it.
fn core(command: &str) -> String {
    pattern!(VARIABLES, r"^(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)+");
    let key = key(command);
    let set = VARIABLES.find(&key).map_or(0, |found| found.end());
    key[set..].to_owned()
}

/// The command that `env -u NAME …` starts.
fn without_env(command: &str) -> &str {
    pattern!(ENV, r"^env\s+(?:(?:-u\s*\S+|-i|-|--unset=\S+|[A-Za-z_][A-Za-z0-9_]*=\S*)\s+)+");
    ENV.find(command).map_or(command, |found| &command[found.end()..])
}

fn is_inspection(key: &str) -> bool {
    key.ends_with("--version") || key.ends_with("--help") || key.ends_with(" -V") || key.ends_with(" -h")
}

fn is_transient(failed: &Run) -> bool {
    failed.result.exit == Some(127) || TRANSIENT.is_match(&failed.result.body)
}

/// Where the words about a result end: at the next turn of the person, whose words still count when they state a cause.
fn turn_end(session: &Session, turns: &[super::Turn], at: usize) -> usize {
    turns.iter().map(|turn| turn.at).find(|turn| *turn > at).map_or(session.observations.len(), |turn| turn + 1)
}

/// Whether anything but looking was done between the two runs, or the command itself was changed around its core.
fn something_changed(session: &Session, failed: &Run, passed: &Run) -> bool {
    compose::fold(&failed.command) != compose::fold(&passed.command)
        || session.observations[failed.at + 1..passed.at].iter().any(|o| {
            o.kind == ObservationKind::ToolCall
                && match command(o) {
                    Some(command) => {
                        key(&command) != key(&passed.command) && !judge::is_question(&command) && changes(&command)
                    }
                    None => o.tool.as_deref().is_some_and(|tool| tool_class(tool) == ToolClass::Edit),
                }
        })
}

fn changes(command: &str) -> bool {
    const MOVERS: &[&str] = &["sed", "rm", "cp", "mv", "ln", "chmod", "mkdir", "touch", "export", "unset", "tee"];
    let key = compose::fold(command);
    let program = key.split_whitespace().next().unwrap_or_default();
    says_something(command)
        || MOVERS.contains(&program)
        || key.contains(" > ")
        || key.contains(" >> ")
        || program.contains('=')
}

/// The line of the output that says what failed, free of what belongs to one machine.
fn symptom(output: &str) -> Option<String> {
    let clean = ANSI.replace_all(output, "");
    let lines = clean.lines().map(compose::fold).filter(|line| {
        let length = line.chars().count();
        (8..=200).contains(&length)
            && !line.starts_with("Exit code")
            && !judge::is_local(line)
            && !judge::is_unsafe(line)
    });
    let mut lines = lines.filter(|line| ERROR_LINE.is_match(line)).peekable();
    lines.peek().cloned()
}

/// A fix that can be a title: an order of a few words.
fn is_short_order(fix: &str) -> bool {
    let first = fix.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    (3..=12).contains(&fix.split_whitespace().count()) && super::lexicon::ORDERS.contains(&first.as_str())
}
