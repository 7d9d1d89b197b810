//! `page.md`: what the session did, what failed, how it ended.
//!
//! What people, models and tools said is data: every line of it stands indented, quoted or in a code span, so that it
//! can form no heading, no frontmatter and no fence of the page.

mod facts;
mod output;
mod text;

use std::collections::HashMap;
use std::fmt::Write;

use facts::{Ending, Facts, Failure, Fate, relative};
use text::{Most, plain, quote, short, span};

use super::tools::ToolClass;
use super::{Observation, ObservationKind as Kind, Session, Speaker};

/// How many lines of the index are shown at either end.
const INDEX_END: usize = 250;

/// How much of a prompt is shown, and of each where there are many.
const PROMPT: Most = Most { characters: 1500, lines: 30 };
const PROMPT_OF_MANY: Most = Most { characters: 600, lines: 12 };
const MANY: usize = 20;

/// How much of the task of a subagent, and of the last answer, is shown.
const TASK: Most = Most { characters: 800, lines: 16 };
const ANSWER: Most = Most { characters: 2500, lines: 50 };

/// Most entries of each list.
const LISTED: usize = 40;

/// The page of a session: frontmatter, prompts, outcome, use of tools, index of observations. The same session gives
/// the same bytes.
pub fn page(session: &Session, scope: &str) -> String {
    let facts = Facts::of(session);
    let mut out = frontmatter(session, scope);
    head(&mut out, session, &facts);
    prompts(&mut out, session);
    outcome(&mut out, session, &facts);
    tools(&mut out, &facts);
    index(&mut out, session);
    out
}

fn frontmatter(session: &Session, scope: &str) -> String {
    let mut out = String::from("---\n");
    // JSON strings are YAML strings, whatever is in them.
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(out, "{name}: {}", serde_json::Value::from(value));
    };
    field("title", &session.title);
    field("session_id", &session.id);
    field("agent", session.agent.as_str());
    field("tier", "episodic");
    if let Some(at) = session.started {
        field("started", &at.to_string());
    }
    if let Some(at) = session.ended {
        field("ended", &at.to_string());
    }
    field("scope", scope);
    if let Some(parent) = &session.parent {
        field("parent", parent);
    }
    let _ = writeln!(out, "observations: {}\n---", session.observations.len());
    out
}

/// The title, what happened in one line, and where it happened.
fn head(out: &mut String, session: &Session, facts: &Facts) {
    let _ = write!(out, "\n# {}\n\n", plain(&session.title));
    let _ = writeln!(out, "{}\n", summary(session, facts));
    let agent = session.agent.as_str();
    let mut place = Vec::new();
    place.extend(session.cwd.as_deref().map(|cwd| format!("folder {}", span(cwd))));
    place.extend(session.branch.as_deref().filter(|b| !b.is_empty()).map(|branch| format!("branch {}", span(branch))));
    place.extend(session.version.as_deref().map(|version| format!("{agent} {}", span(version))));
    place.extend(session.parent.as_deref().map(|parent| format!("subagent of {}", span(parent))));
    if !place.is_empty() {
        let _ = writeln!(out, "{}\n", place.join(" · "));
    }
}

fn summary(session: &Session, facts: &Facts) -> String {
    let mut parts = Vec::new();
    if let (Some(started), Some(ended)) = (session.started, session.ended) {
        parts.extend(duration(ended.as_second() - started.as_second()));
    }
    parts.push(match session.prompts().count() {
        0 => "no prompt".to_owned(),
        prompts => count(prompts, "prompt"),
    });
    if !facts.files.is_empty() {
        parts.push(format!("changed {}", count(facts.files.len(), "file")));
    }
    let commands: Vec<&Failure> =
        facts.failures.iter().filter(|f| f.class == ToolClass::Shell && f.fate != Fate::Declined).collect();
    if !commands.is_empty() {
        let passed = commands.iter().filter(|failure| matches!(failure.fate, Fate::Passed(_))).count();
        let later = match passed {
            0 => String::new(),
            passed if passed == commands.len() && passed == 1 => " and passed later".to_owned(),
            passed => format!(" ({passed} passed later)"),
        };
        parts.push(format!("{} failed{later}", count(commands.len(), "command")));
    }
    if let Some(tests) = facts.tests.last() {
        parts.push(format!("tests {}", if tests.passed { "passed" } else { "failed" }));
    }
    if !facts.commits.is_empty() {
        parts.push(count(facts.commits.len(), "commit"));
    }
    if facts.interruptions > 0 {
        parts.push(count(facts.interruptions, "interruption"));
    }
    parts.push(
        match facts.ending {
            Ending::Answer => "ended with an answer",
            Ending::Question => "ended with a question",
            Ending::Interrupted(_) => "ended by an interruption",
            Ending::Declined(_) => "ended with a tool's use that was declined",
            Ending::Unanswered(_) => "ended with a prompt that got no answer",
            Ending::Failed(_) => "ended with a failure",
            Ending::Midway(_) => "ended in the middle of its work",
            Ending::Trouble(_) => "ended with an error of the agent",
            Ending::Nothing => "nothing was said",
        }
        .to_owned(),
    );
    parts.join(" · ")
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// `40 s`, `12 min`, `3 h 20 min`, `2 d 4 h`.
fn duration(seconds: i64) -> Option<String> {
    let of = |whole: i64, unit: &str, part: i64, small: &str| {
        if part == 0 { format!("{whole} {unit}") } else { format!("{whole} {unit} {part} {small}") }
    };
    Some(match seconds {
        ..1 => return None,
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => of(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => of(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    })
}

fn prompts(out: &mut String, session: &Session) {
    out.push_str("## Prompts\n\n");
    let most = if session.prompts().count() > MANY { PROMPT_OF_MANY } else { PROMPT };
    let mut said: HashMap<&str, usize> = HashMap::new();
    for (number, prompt) in (1..).zip(session.prompts()) {
        let words = prompt.body.trim();
        if let Some(before) = said.get(words).filter(|_| words.len() > 80) {
            let _ = writeln!(out, "{number}. The words of {before} again.\n");
            continue;
        }
        said.entry(words).or_insert(number);
        let lead = format!("{number}. ");
        let mut text = String::new();
        quote(&mut text, &" ".repeat(lead.len()), words, most);
        let _ = writeln!(out, "{lead}{}", text.trim_start());
    }
    if said.is_empty() {
        out.push_str("No person said anything in this session.\n\n");
        // What a program, or another agent, set it to.
        let task = session
            .observations
            .iter()
            .take_while(|o| o.kind != Kind::Answer)
            .find(|o| o.speaker == Speaker::System && matches!(o.kind, Kind::Other | Kind::Notification));
        if let Some(task) = task.filter(|task| !task.body.trim().is_empty()) {
            out.push_str(if session.parent.is_some() { "Its task:\n\n" } else { "It began with:\n\n" });
            quote(out, "", &slash_command(&task.body).unwrap_or_else(|| task.body.clone()), TASK);
            out.push('\n');
        }
    }
}

/// `/name arguments`, where the text is what the agent's program makes of a slash command.
fn slash_command(text: &str) -> Option<String> {
    let inside = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
    };
    let name = inside("command-name").filter(|name| !name.is_empty())?;
    Some(format!("{name} {}", inside("command-args").unwrap_or_default()).trim().to_owned())
}

fn outcome(out: &mut String, session: &Session, facts: &Facts) {
    out.push_str("## Outcome\n\n");
    if !facts.files.is_empty() {
        let lines = facts.files.iter().map(|(path, times)| match times {
            1 => span(path),
            times => format!("{} ({times} times)", span(path)),
        });
        list(out, "Changed:", lines);
    }
    if !facts.commits.is_empty() {
        let lines = facts.commits.iter().map(|commit| match &commit.at {
            Some((id, branch)) => format!("{} on {}: {}", span(id), span(branch), span(&commit.subject)),
            None => span(&commit.subject),
        });
        list(out, "Committed:", lines);
    }
    if !facts.tests.is_empty() {
        let lines = facts.tests.iter().map(|tests| {
            let runs = if tests.runs == 1 { String::new() } else { format!(" ({} runs)", tests.runs) };
            let line = tests.line.as_deref().map(|line| format!(": {}", span(line))).unwrap_or_default();
            format!(
                "{}{runs} {}{line}",
                span(&short(&tests.command, 120)),
                if tests.passed { "passed" } else { "failed" }
            )
        });
        list(out, "Tests:", lines);
    }
    let last = match facts.ending {
        Ending::Interrupted(seq) => Some(("A person interrupted it", seq)),
        Ending::Declined(seq) => Some(("It ended when a person declined a tool's use", seq)),
        Ending::Unanswered(seq) => Some(("The last prompt got no answer", seq)),
        Ending::Failed(seq) => Some(("It ended with a failure", seq)),
        Ending::Midway(seq) => Some(("It ended in the middle of its work", seq)),
        Ending::Trouble(seq) => Some(("It ended with an error of the agent", seq)),
        Ending::Answer | Ending::Question | Ending::Nothing => None,
    };
    if let Some((words, seq)) = last {
        let at = session.observations.iter().find(|o| o.seq == seq);
        let title =
            at.map(|o| short(relative(&o.title, session.cwd.as_deref()), 160)).filter(|title| !title.is_empty());
        let title = title.map(|title| format!(": {}", span(&title))).unwrap_or_default();
        let _ = writeln!(out, "{words} (#{seq}){title}\n");
    }
    match session.observations.iter().rfind(|o| o.kind == Kind::Answer) {
        Some(answer) => {
            out.push_str("Last answer:\n\n");
            quote(out, "", &answer.body, ANSWER);
        }
        None => out.push_str("The model gave no answer.\n"),
    }
    out.push('\n');
}

fn list(out: &mut String, head: &str, lines: impl ExactSizeIterator<Item = String>) {
    let left_out = lines.len().saturating_sub(LISTED);
    let _ = writeln!(out, "{head}\n");
    for line in lines.take(LISTED) {
        let _ = writeln!(out, "- {line}");
    }
    if left_out > 0 {
        let _ = writeln!(out, "- and {left_out} more");
    }
    out.push('\n');
}

fn tools(out: &mut String, facts: &Facts) {
    if facts.counts.is_empty() && facts.failures.is_empty() {
        return;
    }
    out.push_str("## Tool use\n\n");
    if !facts.counts.is_empty() {
        let listed: Vec<String> = facts.counts.iter().map(|(tool, count)| format!("{} {count}", span(tool))).collect();
        let _ = writeln!(out, "{}\n", listed.join(" · "));
    }
    let (declined, failed): (Vec<_>, Vec<_>) = facts.failures.iter().partition(|f| f.fate == Fate::Declined);
    if !failed.is_empty() {
        list(out, "Failed:", failed.iter().map(|failure| failed_line(failure)));
    }
    if !declined.is_empty() {
        list(out, "Declined by a person:", declined.iter().map(|failure| called(failure)));
    }
}

fn called(failure: &Failure) -> String {
    let tool = if failure.class == ToolClass::Shell { String::new() } else { format!("{} ", plain(failure.tool)) };
    let what = short(&failure.what, 200);
    let what = if what.is_empty() || what == failure.tool { String::new() } else { span(&what) };
    format!("#{} {}", failure.seq, format!("{tool}{what}").trim_end())
}

fn failed_line(failure: &Failure) -> String {
    let exit = if failure.class == ToolClass::Shell { format!("exit {}: ", failure.exit) } else { String::new() };
    let times = if failure.times == 1 { String::new() } else { format!(" ({} times)", failure.times) };
    let fate = if let Fate::Passed(seq) = failure.fate { format!("; passed later (#{seq})") } else { String::new() };
    format!("{}{times} → {exit}{}{fate}", called(failure), span(&failure.why))
}

fn index(out: &mut String, session: &Session) {
    out.push_str("## Observations\n\n");
    let all = &session.observations;
    let cwd = session.cwd.as_deref();
    if all.len() <= 2 * INDEX_END {
        all.iter().for_each(|observation| entry(out, observation, cwd));
        return;
    }
    all[..INDEX_END].iter().for_each(|observation| entry(out, observation, cwd));
    let _ = writeln!(out, "\n{} observations between are not shown.\n", all.len() - 2 * INDEX_END);
    all[all.len() - INDEX_END..].iter().for_each(|observation| entry(out, observation, cwd));
}

fn entry(out: &mut String, observation: &Observation, cwd: Option<&str>) {
    let what = match (observation.kind, observation.speaker) {
        (Kind::Prompt, _) => "prompt",
        (Kind::Answer, _) => "answer",
        (Kind::ToolCall, _) => "call",
        (Kind::ToolResult, _) => "result",
        (Kind::Start, _) => "start",
        (Kind::End, _) => "end",
        (Kind::Stop, _) => "stop",
        (Kind::Compaction, _) => "compaction",
        (Kind::Notification, _) => "notice",
        (Kind::Other, Speaker::System) => "system",
        (Kind::Other, _) => "other",
    };
    let tool = observation.tool.as_deref().map(|tool| format!(" {}", plain(tool))).unwrap_or_default();
    let exit = observation.exit.filter(|code| *code != 0).map(|code| format!(" (exit {code})")).unwrap_or_default();
    let title = short(relative(&observation.title, cwd), 100);
    let title = if title.is_empty() { title } else { format!(": {}", span(&title)) };
    let _ = writeln!(out, "- #{} {what}{tool}{exit}{title}", observation.seq);
}

#[cfg(test)]
mod tests;
