//! What agents' tools do, whatever each agent calls them; and the commands of those that run commands.

use std::sync::LazyLock;

use regex::Regex;

use super::{Observation, ObservationKind};
use crate::wiki::text::fold_space;

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolClass {
    /// It runs a shell command.
    Shell,
    /// It writes a file.
    Edit,
    /// It looks at files or their names.
    Read,
    /// Anything else.
    Other,
}

/// The names, in lower case, by which agents call their tools.
const TABLE: &[(ToolClass, &[&str])] = &[
    (
        ToolClass::Shell,
        &[
            "bash",
            "container.exec",
            "exec_command",
            "execute_command",
            "local_shell",
            "local_shell_call",
            "powershell",
            "run_command",
            "run_shell_command",
            "run_terminal_cmd",
            "shell",
            "shell_command",
            "terminal",
        ],
    ),
    (
        ToolClass::Edit,
        &[
            "apply_patch",
            "create",
            "create_file",
            "edit",
            "edit_file",
            "multiedit",
            "notebookedit",
            "patch",
            "replace",
            "replace_in_file",
            "search_replace",
            "str_replace",
            "str_replace_editor",
            "write",
            "write_file",
            "write_to_file",
        ],
    ),
    (
        ToolClass::Read,
        &[
            "codesearch",
            "file_search",
            "glob",
            "grep",
            "grep_search",
            "list",
            "list_dir",
            "list_directory",
            "list_files",
            "ls",
            "notebookread",
            "read",
            "read_file",
            "read_many_files",
            "search_file_content",
            "search_files",
            "view",
        ],
    ),
];

/// What the tool of this name does.
pub fn tool_class(name: &str) -> ToolClass {
    let name = name.to_ascii_lowercase();
    TABLE.iter().find(|(_, names)| names.contains(&name.as_str())).map_or(ToolClass::Other, |(class, _)| *class)
}

/// The shell command of a tool call.
pub fn shell_command(call: &Observation) -> Option<String> {
    let tool = call.tool.as_deref().unwrap_or_default();
    if call.kind != ObservationKind::ToolCall || tool_class(tool) != ToolClass::Shell {
        return None;
    }
    let input: Option<serde_json::Value> = serde_json::from_str(&call.body).ok();
    let command = input.as_ref().and_then(|value| value.get("command")).and_then(|value| value.as_str());
    // The title may be cut; the body is the command, unless other inputs stand around it.
    let command = command.map_or_else(
        || {
            let (title, body) = (fold_space(&call.title), fold_space(&call.body));
            if body.starts_with(&title) { call.body.clone() } else { call.title.clone() }
        },
        str::to_owned,
    );
    let command = command.trim().to_owned();
    (!command.is_empty()).then_some(command)
}

static MOVE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^cd\s+\S+\s*(?:&&|;)\s*"));
static SET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:export\s+)?[A-Za-z_][A-Za-z0-9_]*=(?:'[^']*'|\x22[^\x22]*\x22|\$\([^)]*\)|\S*)\s*(?:&&|;)?\s*")
});
static CUT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\s*(?:2>&1)?\s*(?:\|\s*(?:head|tail|cat|tee)\b[^|;&]*)*$"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a fixed pattern")
}

/// What makes two runs runs of the same command: no move to a folder before it, no variables, no cutting of its output.
pub fn command_key(command: &str) -> String {
    let mut text = fold_space(command);
    loop {
        let shorter = SET.replace(&MOVE.replace(&text, ""), "").into_owned();
        if shorter == text || shorter.is_empty() {
            break;
        }
        text = shorter;
    }
    let shorter = CUT.replace(&text, "").into_owned();
    shorter.trim_end_matches("2>&1").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{TABLE, ToolClass, command_key, tool_class};

    #[test]
    fn the_tools_of_every_agent_are_told_apart_by_name() {
        for (name, class) in [
            ("Bash", ToolClass::Shell),
            ("exec_command", ToolClass::Shell),
            ("run_shell_command", ToolClass::Shell),
            ("MultiEdit", ToolClass::Edit),
            ("apply_patch", ToolClass::Edit),
            ("replace", ToolClass::Edit),
            ("create", ToolClass::Edit),
            ("Grep", ToolClass::Read),
            ("read_many_files", ToolClass::Read),
            ("Task", ToolClass::Other),
            ("mcp__shell", ToolClass::Other),
        ] {
            assert_eq!(tool_class(name), class, "{name}");
        }
        let mut names: Vec<&str> = TABLE.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "each name stands once");
    }

    #[test]
    fn the_same_command_is_known_in_other_clothes() {
        assert_eq!(command_key("cd /p && RUST_LOG=x cargo  test 2>&1 | tail -20"), "cargo test");
        assert_eq!(command_key("cargo test"), "cargo test");
    }
}
