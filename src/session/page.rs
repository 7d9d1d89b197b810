//! `page.md`: what the session did, what failed, how it ended.
//!
//! What people, models and tools said is data: every line of it stands indented, quoted or in a code span, so that it
//! can form no heading, no frontmatter and no fence of the page.

use std::fmt::Write;

use super::{Observation, ObservationKind as Kind, Session, Speaker};

/// How many lines of the index are shown at either end.
const INDEX_END: usize = 250;

/// Most characters of a prompt and of the last answer on the page.
const LONGEST_PROMPT: usize = 1500;
const LONGEST_ANSWER: usize = 2500;

/// The page of a session: frontmatter, prompts, outcome, use of tools, index of observations. The same session gives
/// the same bytes.
pub fn page(session: &Session, scope: &str) -> String {
    let mut out = frontmatter(session, scope);
    prompts(&mut out, session);
    outcome(&mut out, session);
    tools(&mut out, session);
    index(&mut out, session);
    out
}

fn frontmatter(session: &Session, scope: &str) -> String {
    let agent = session.agent.as_str();
    let mut out = String::from("---\n");
    // JSON strings are YAML strings, whatever is in them.
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(out, "{name}: {}", serde_json::Value::from(value));
    };
    field("title", &session.title);
    field("session_id", &session.id);
    field("agent", agent);
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
    let _ = write!(out, "\n# {}\n\n", plain(&session.title));
    let mut facts = Vec::new();
    facts.extend(session.cwd.as_deref().map(|cwd| format!("folder {}", span(cwd))));
    facts.extend(session.branch.as_deref().filter(|b| !b.is_empty()).map(|branch| format!("branch {}", span(branch))));
    facts.extend(session.version.as_deref().map(|version| format!("{agent} {}", span(version))));
    if !facts.is_empty() {
        let _ = writeln!(out, "{}\n", facts.join(" · "));
    }
    out
}

fn prompts(out: &mut String, session: &Session) {
    out.push_str("## Prompts\n\n");
    let mut any = false;
    for (at, prompt) in session.prompts().enumerate() {
        any = true;
        let number = format!("{}. ", at + 1);
        let body = shortened(&prompt.body, LONGEST_PROMPT);
        for (n, line) in body.lines().enumerate() {
            let lead = if n == 0 { number.clone() } else { " ".repeat(number.len()) };
            let line = quoted(line);
            let _ = writeln!(out, "{}", format!("{lead}> {line}").trim_end());
        }
        out.push('\n');
    }
    if !any {
        out.push_str("No person said anything in this session.\n\n");
    }
}

fn outcome(out: &mut String, session: &Session) {
    out.push_str("## Outcome\n\n");
    let files = changed(session);
    if !files.is_empty() {
        out.push_str("Changed:\n\n");
        for (path, times) in files.iter().take(40) {
            let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
            let _ = writeln!(out, "- {}{times}", span(path));
        }
        if files.len() > 40 {
            let _ = writeln!(out, "- and {} more", files.len() - 40);
        }
        out.push('\n');
    }
    match session.observations.iter().rfind(|o| o.kind == Kind::Answer) {
        Some(answer) => {
            out.push_str("Last answer:\n\n");
            quote(out, &shortened(&answer.body, LONGEST_ANSWER));
        }
        None => out.push_str("The model gave no answer.\n"),
    }
    out.push('\n');
}

/// The files that editing tools wrote, in order, with how often; failed calls do not count.
fn changed(session: &Session) -> Vec<(&str, usize)> {
    let failed = |call: &Observation| {
        session
            .observations
            .iter()
            .any(|o| o.kind == Kind::ToolResult && o.call.is_some() && o.call == call.call && o.exit != Some(0))
    };
    let mut files: Vec<(&str, usize)> = Vec::new();
    for call in session.observations.iter().filter(|o| o.kind == Kind::ToolCall) {
        let edits =
            matches!(call.tool.as_deref(), Some("Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "apply_patch"));
        if edits && !failed(call) {
            match files.iter_mut().find(|(path, _)| *path == call.title) {
                Some((_, times)) => *times += 1,
                None => files.push((&call.title, 1)),
            }
        }
    }
    files
}

fn tools(out: &mut String, session: &Session) {
    let calls = || session.observations.iter().filter(|o| o.kind == Kind::ToolCall);
    let failures: Vec<&Observation> = session
        .observations
        .iter()
        .filter(|o| o.kind == Kind::ToolResult && o.exit.is_some_and(|code| code != 0))
        .collect();
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for call in calls() {
        let tool = call.tool.as_deref().unwrap_or("tool");
        match counts.iter_mut().find(|(known, _)| *known == tool) {
            Some((_, count)) => *count += 1,
            None => counts.push((tool, 1)),
        }
    }
    if counts.is_empty() && failures.is_empty() {
        return;
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    out.push_str("## Tool use\n\n");
    let listed: Vec<String> = counts.iter().map(|(tool, count)| format!("{} {count}", span(tool))).collect();
    let _ = writeln!(out, "{}\n", listed.join(" · "));
    if failures.is_empty() {
        return;
    }
    out.push_str("Failed:\n\n");
    for failure in failures.iter().take(40) {
        let call = calls().find(|call| call.call.is_some() && call.call == failure.call);
        let what = call.map_or(failure.tool.as_deref().unwrap_or("tool"), |call| &call.title);
        let tool = failure.tool.as_deref().filter(|tool| *tool != "Bash").map(|tool| format!("{} ", plain(tool)));
        let seen = call.map_or(failure.seq, |call| call.seq);
        let _ = writeln!(
            out,
            "- #{seen} {}{} → exit {}: {}",
            tool.unwrap_or_default(),
            span(what),
            failure.exit.unwrap_or(1),
            span(error_line(&failure.body))
        );
    }
    if failures.len() > 40 {
        let _ = writeln!(out, "- and {} more", failures.len() - 40);
    }
    out.push('\n');
}

/// The line of a failed tool's output that says what went wrong.
fn error_line(output: &str) -> &str {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("Exit code "));
    let telling = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        ["error", "failed", "fatal", "panic", "not found", "cannot", "denied", "exception", "no such"]
            .iter()
            .any(|w| lower.contains(w))
    };
    let line = lines().find(telling).or_else(|| lines().next()).unwrap_or("no output");
    let line = line.strip_prefix("<tool_use_error>").unwrap_or(line);
    line.strip_suffix("</tool_use_error>").unwrap_or(line)
}

fn index(out: &mut String, session: &Session) {
    out.push_str("## Observations\n\n");
    let all = &session.observations;
    let left_out = all.len().saturating_sub(2 * INDEX_END);
    for (at, observation) in all.iter().enumerate() {
        if left_out > 0 && at >= INDEX_END && at < INDEX_END + left_out {
            if at == INDEX_END {
                let _ = writeln!(out, "\n{left_out} observations between are not shown.\n");
            }
            continue;
        }
        let _ = writeln!(out, "- #{} {}", observation.seq, entry(observation));
    }
}

fn entry(observation: &Observation) -> String {
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
    let title = shortened(&observation.title, 100);
    if title.is_empty() { format!("{what}{tool}{exit}") } else { format!("{what}{tool}{exit}: {}", span(&title)) }
}

/// Text as a block quote.
fn quote(out: &mut String, text: &str) {
    for line in text.lines() {
        let line = quoted(line);
        let _ = writeln!(out, "{}", format!("> {line}").trim_end());
    }
}

/// A line inside a quote: what would begin a heading, a fence or a rule there is escaped, and HTML cannot begin.
fn quoted(line: &str) -> String {
    let body = line.trim_start();
    let indent = line.len() - body.len();
    let escape = body.starts_with(['#', '=']) || body.starts_with("---") || body.starts_with("***");
    // Four blanks would make code of it, and a tab too.
    let lead = if indent > 3 { "\u{a0}".repeat(indent.min(12)) } else { " ".repeat(indent) };
    let body = without_controls(body).replace('<', "\\<");
    format!("{lead}{}{body}", if escape { "\\" } else { "" })
}

/// Text as a code span on one line.
fn span(text: &str) -> String {
    let text = without_controls(text);
    let text = text.trim();
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let ticks = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Text on one line in which no mark of markdown works.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in without_controls(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '#' | '|' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn without_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// At most so many characters, from the front and the back.
fn shortened(text: &str, most: usize) -> String {
    let text = text.trim();
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most * 3 / 4).collect();
    let tail: String = text.chars().skip(count - most / 5).collect();
    let gap = if text.contains('\n') { "\n[…]\n" } else { " […] " };
    format!("{}{gap}{}", head.trim_end(), tail.trim_start())
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, Observation, ObservationKind, Session, Speaker};
    use super::page;

    fn observation(seq: u32, kind: ObservationKind, speaker: Speaker, body: &str) -> Observation {
        let title = body.lines().next().unwrap_or_default().to_owned();
        let id = format!("u{seq}");
        Observation { seq, id, at: None, kind, speaker, tool: None, call: None, title, body: body.into(), exit: None }
    }

    fn session(observations: Vec<Observation>) -> Session {
        Session {
            id: "s1".into(),
            agent: Agent::Claude,
            version: None,
            cwd: None,
            branch: None,
            started: None,
            ended: None,
            title: "Fix: the \"build\"".into(),
            parent: None,
            own: false,
            observations,
        }
    }

    #[test]
    fn text_of_the_session_forms_no_heading_frontmatter_or_fence_of_the_page() {
        let evil = "---\ntitle: owned\n---\n# Heading\n## Prompts\n```\n<script>alert(1)</script>\n===";
        let page = page(
            &session(vec![
                observation(1, ObservationKind::Prompt, Speaker::Human, evil),
                observation(2, ObservationKind::Answer, Speaker::Assistant, evil),
            ]),
            "global",
        );
        let body = page.split("\n---\n").nth(1).unwrap();
        let headings: Vec<_> = body.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(headings, ["# Fix: the \"build\"", "## Prompts", "## Outcome", "## Observations"]);
        assert!(!page.contains("\n```") && !page.contains("\n<"));
        assert!(!body.contains(" # Heading") && !body.contains(" <script>"));
    }

    #[test]
    fn failing_commands_are_listed_with_their_exit_and_the_line_that_says_why() {
        let mut call = observation(1, ObservationKind::ToolCall, Speaker::Assistant, "cargo test");
        (call.tool, call.call) = (Some("Bash".into()), Some("c1".into()));
        let mut result = observation(
            2,
            ObservationKind::ToolResult,
            Speaker::Tool,
            "Exit code 101\nrunning 1\nerror: linking failed",
        );
        (result.tool, result.call, result.exit) = (Some("Bash".into()), Some("c1".into()), Some(101));
        let page = page(&session(vec![call, result]), "global");
        assert!(page.contains("- #1 `cargo test` → exit 101: `error: linking failed`"), "{page}");
    }

    #[test]
    fn a_long_index_shows_its_first_and_last_lines() {
        let many =
            (1..=600).map(|n| observation(n, ObservationKind::Answer, Speaker::Assistant, &format!("a{n}"))).collect();
        let page = page(&session(many), "global");
        let index = page.split("## Observations").nth(1).unwrap();
        assert_eq!(index.lines().filter(|line| line.starts_with("- #")).count(), 500);
        assert!(index.contains("100 observations between are not shown."));
    }
}
