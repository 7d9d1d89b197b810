//! What of a user message a person typed.

use crate::session::wrappers::Wrappers;

/// Blocks that the program puts around or in place of a person's words.
const WRAPPERS: Wrappers = Wrappers(&[
    "session_context",
    "hook_context",
    "project_context",
    "state_snapshot",
    "tool_output_masked",
    "system-reminder",
]);

/// Beginnings of texts that the program writes as a whole.
const NOTICES: [&str; 7] = [
    "This is the Gemini CLI. We are setting up the context",
    "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
    "System: Please continue.",
    "System: Potential loop",
    "[Operation Cancelled]",
    "[The previous response was interrupted",
];

/// Where the program puts the files that a prompt names with `@`.
const FILES: (&str, &str) = ("--- Content from referenced files ---", "--- End of content ---");

/// A piece of a user message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A person's words.
    Human(String),
    /// A command of the program that a person chose (`/chat save x`).
    Command(String),
    /// A shell command that a person ran, and what it gave.
    Shell { command: String, output: String },
    /// What the model is to remember of what was compressed away.
    Summary(String),
    /// What the program added.
    Injected,
}

impl Piece {
    /// What was said in it.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Piece::Human(text) | Piece::Command(text) | Piece::Summary(text) => Some(text),
            Piece::Shell { command, .. } => Some(command),
            Piece::Injected => None,
        }
    }
}

/// Takes the texts of a message apart.
pub(super) fn pieces(texts: &[&str]) -> Vec<Piece> {
    let (mut out, mut in_files) = (Vec::new(), false);
    for text in texts {
        let mut rest = *text;
        loop {
            if in_files {
                let Some((_, after)) = rest.split_once(FILES.1) else { break };
                in_files = false;
                rest = after;
            }
            let Some((before, after)) = rest.split_once(FILES.0) else {
                out.push(piece(rest));
                break;
            };
            out.push(piece(before));
            in_files = true;
            rest = after;
        }
    }
    out.retain(|piece| *piece != Piece::Injected);
    out
}

fn piece(text: &str) -> Piece {
    let (human, blocks) = WRAPPERS.between(text);
    if human.is_empty() {
        let inner = |block: &&str| {
            block.strip_prefix("<state_snapshot>")?.strip_suffix("</state_snapshot>").map(|s| s.trim().to_owned())
        };
        let summary = blocks.iter().find_map(inner);
        return summary.map_or(Piece::Injected, Piece::Summary);
    }
    if NOTICES.iter().any(|notice| human.starts_with(notice)) || matches!(human, "?" | "Please continue.") {
        return Piece::Injected;
    }
    if let Some(rest) = human.strip_prefix("I ran the following shell command:")
        && let Some((command, output)) = rest.split_once("This produced the following result:")
    {
        return Piece::Shell { command: unfenced(command), output: unfenced(output) };
    }
    if is_command(human) { Piece::Command(human.to_owned()) } else { Piece::Human(human.to_owned()) }
}

/// Whether a text is a command of the program and no path.
fn is_command(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    text.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()).is_some_and(|name| name.chars().all(word))
}

/// The text in a fence.
fn unfenced(text: &str) -> String {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let body = inner.and_then(|inner| inner.split_once('\n')).map_or(text, |(_, body)| body);
    body.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces};

    fn human(texts: &[&str]) -> Vec<String> {
        let human = |piece| if let Piece::Human(text) = piece { Some(text) } else { None };
        pieces(texts).into_iter().filter_map(human).collect()
    }

    #[test]
    fn what_the_program_adds_is_no_persons_and_words_beside_it_are() {
        assert_eq!(human(&["<session_context>\nToday\n</session_context>", "use pnpm"]), ["use pnpm"]);
        assert_eq!(human(&["<session_context>\ncut off"]), [""; 0]);
        assert_eq!(human(&["fix it\n<hook_context>x</hook_context>"]), ["fix it"]);
        assert_eq!(human(&["strip <hook_context>x</hook_context>"]), ["strip <hook_context>x</hook_context>"]);
        for text in
            ["System: Please continue.", "/chat save a", "?", "Here is the user's editor context as a JSON object."]
        {
            assert_eq!(human(&[text]), [""; 0], "{text}");
        }
        assert_eq!(human(&["/etc/hosts is wrong"]), ["/etc/hosts is wrong"]);
    }

    #[test]
    fn named_files_are_left_out_whether_they_stand_in_the_text_or_in_parts() {
        let glued = "explain @a.rs\n--- Content from referenced files ---\nfn a() {}\n--- End of content ---\nshortly";
        assert_eq!(human(&[glued]), ["explain @a.rs", "shortly"]);
        let parts =
            ["explain @a.rs", "\n--- Content from referenced files ---\n", "never push", "\n--- End of content ---"];
        assert_eq!(human(&parts), ["explain @a.rs"]);
    }

    #[test]
    fn a_command_that_a_person_ran_in_the_shell_is_told_with_its_output() {
        let text = "I ran the following shell command:\n```sh\ngit status\n```\n\nThis produced the following result:\n```\nclean\n```";
        let expected = Piece::Shell { command: "git status".into(), output: "clean".into() };
        assert_eq!(pieces(&[text]), [expected]);
    }
}
