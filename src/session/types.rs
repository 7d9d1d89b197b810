//! What a session is, whichever agent wrote it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The agents whose files we read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex, by OpenAI.
    Codex,
    /// OpenCode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
    /// aider.
    Aider,
    /// A person's or an agent's own markdown note about a session.
    Markdown,
}

impl Agent {
    /// Its name in pages, JSON and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::OpenCode => "opencode",
            Agent::Gemini => "gemini",
            Agent::Copilot => "copilot",
            Agent::Aider => "aider",
            Agent::Markdown => "markdown",
        }
    }
}

/// Who said it. `Human` means: a person typed these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// A person, in their own words.
    Human,
    /// The model.
    Assistant,
    /// A tool's output.
    Tool,
    /// The agent program: hooks, injected context, summaries, notices.
    System,
}

/// What kind of event an observation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationKind {
    /// A person's prompt.
    Prompt,
    /// The model's answer text.
    Answer,
    /// A tool was called; `body` is its input as text.
    ToolCall,
    /// What a tool gave back.
    ToolResult,
    /// The session began.
    Start,
    /// The session ended.
    End,
    /// The model stopped (an interruption, a stop hook).
    Stop,
    /// The context was compacted.
    Compaction,
    /// A notice of the agent program.
    Notification,
    /// Anything else that is kept.
    Other,
}

/// One captured event of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Place in the session, from 1, dense.
    pub seq: u32,
    /// The identity of the line or item it came from (uuid, item id); what "already read" is keyed by.
    pub id: String,
    /// When, where the file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What kind of event.
    pub kind: ObservationKind,
    /// Whose words.
    pub speaker: Speaker,
    /// The tool's name (`Bash`, `Edit`, …) for calls and results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The call that a result answers, and that a call is known by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// A short line: the command of a shell call, the path of a file tool, the first line of a text.
    pub title: String,
    /// The text, redacted, at most 16 KiB (head and tail).
    pub body: String,
    /// A tool result: 0 for success, else the exit code (1 where only "it failed" is known).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
}

/// One agent conversation, read, filtered and redacted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The agent's own id, made safe for a ref name.
    pub id: String,
    /// Which agent.
    pub agent: Agent,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The working folder that the session recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The git branch that the session recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// First event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// Last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// From the first human words; never from injected text.
    pub title: String,
    /// The session that this one was started by, for a subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// One of our own sessions (the worker's, or one that runs our prompts): never learned from.
    #[serde(default)]
    pub own: bool,
    /// The events, in order.
    pub observations: Vec<Observation>,
}

impl Session {
    /// The human turns, in order.
    pub fn prompts(&self) -> impl Iterator<Item = &Observation> {
        self.observations.iter().filter(|o| o.speaker == Speaker::Human)
    }
}
