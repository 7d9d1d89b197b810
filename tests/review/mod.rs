//! Sessions in short, and rows of what the built-in reviewer makes of them.

pub mod lessons;
pub mod near;
pub mod rules;
pub mod said;
pub mod talk;
pub mod wording;

use git_memory::proposal::Candidate;
use git_memory::session::{Agent, Observation, ObservationKind, Session, Speaker};

/// An event of a session, in short.
#[derive(Clone, Copy)]
pub enum E {
    /// A person's turn.
    H(&'static str),
    /// The agent's answer.
    A(&'static str),
    /// A shell command, its exit code, its output.
    Run(&'static str, i32, &'static str),
    /// A file was edited.
    Edit(&'static str),
    /// A tool's output that is no shell command's.
    Tool(&'static str),
    /// Text that the agent program put in.
    Injected(&'static str),
}
use E::*;

/// A session of these events.
pub fn session(id: &str, events: &[E]) -> Session {
    let mut observations = Vec::new();
    let mut push = |kind, speaker, tool: Option<&str>, call: Option<String>, title: &str, body: String, exit| {
        let seq = observations.len() as u32 + 1;
        let title = title.lines().next().unwrap_or_default().to_owned();
        let id = format!("{id}-{seq}");
        let tool = tool.map(str::to_owned);
        observations.push(Observation { seq, id, at: None, kind, speaker, tool, call, title, body, exit });
    };
    for (n, event) in events.iter().enumerate() {
        let call = Some(format!("call-{n}"));
        match *event {
            H(text) => push(ObservationKind::Prompt, Speaker::Human, None, None, text, text.into(), None),
            A(text) => push(ObservationKind::Answer, Speaker::Assistant, None, None, text, text.into(), None),
            Run(command, exit, output) => {
                push(
                    ObservationKind::ToolCall,
                    Speaker::Assistant,
                    Some("Bash"),
                    call.clone(),
                    command,
                    command.into(),
                    None,
                );
                push(ObservationKind::ToolResult, Speaker::Tool, Some("Bash"), call, output, output.into(), Some(exit));
            }
            Edit(path) => {
                push(
                    ObservationKind::ToolCall,
                    Speaker::Assistant,
                    Some("Edit"),
                    call.clone(),
                    path,
                    path.into(),
                    None,
                );
                push(ObservationKind::ToolResult, Speaker::Tool, Some("Edit"), call, "ok", "ok".into(), Some(0));
            }
            Tool(text) => {
                push(ObservationKind::ToolResult, Speaker::Tool, Some("WebFetch"), call, text, text.into(), Some(0))
            }
            Injected(text) => push(ObservationKind::Other, Speaker::System, None, None, text, text.into(), None),
        }
    }
    Session {
        id: id.into(),
        agent: Agent::Claude,
        version: None,
        cwd: Some("/home/dev/proj".into()),
        branch: None,
        started: None,
        ended: None,
        title: String::new(),
        parent: None,
        own: false,
        observations,
    }
}

/// Candidates as `path | title`.
pub fn listed(candidates: &[Candidate]) -> Vec<String> {
    candidates.iter().map(|c| format!("{} | {}", c.path, c.title)).collect()
}

/// A row: why it is there, the session, and what comes out of it as `path | title`.
pub type Row = (&'static str, &'static [E], &'static [&'static str]);
