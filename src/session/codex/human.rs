//! What of a user message a person typed.

use crate::session::wrappers::Wrappers;

/// Blocks that the program puts into or around a prompt.
const WRAPPERS: Wrappers = Wrappers(&[
    "INSTRUCTIONS",
    "apps_instructions",
    "codex_internal_context",
    "collaboration_mode",
    "environment_context",
    "goal_context",
    "hook_prompt",
    "model_switch",
    "permissions instructions",
    "personality_spec",
    "plugins_instructions",
    "realtime_conversation",
    "recommended_plugins",
    "skill",
    "skills_instructions",
    "subagent_notification",
    "turn_aborted",
    "user_action",
    "user_instructions",
    "user_shell_command",
]);

/// How the project's instructions begin, in front of their block.
const INSTRUCTIONS: &str = "# AGENTS.md instructions";

/// What stands before the words of a person who typed them into an editor or the desktop program.
const REQUEST: &str = "## My request for Codex:";

/// How such texts begin.
const EDITORS: &[&str] =
    &["# Context from my IDE setup", "# Files mentioned by the user", "# Applications mentioned by the user", REQUEST];

/// Beginnings of texts that the program writes as a whole.
const NOTICES: &[&str] = &[
    "Another language model started to solve this problem",
    "The following is the Codex agent history",
    "Warning: The maximum number of unified exec processes",
    "Warning: apply_patch was requested via",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
];

/// A text, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts<'t> {
    /// The person's own words; empty when there are none.
    pub human: String,
    /// What the program added, block by block.
    pub injected: Vec<&'t str>,
}

/// Takes a text apart. A tag is a wrapper only as a whole block at either end of the text or on lines of its own: a
/// person who writes about the tags keeps the sentence.
pub(super) fn parts(text: &str) -> Parts<'_> {
    let mut parts = Parts::default();
    let mut rest = text.trim();
    while let Some(length) = injected_at_start(rest).filter(|length| *length > 0) {
        parts.injected.push(rest[..length].trim());
        rest = rest[length..].trim_start();
    }
    while let Some(start) = WRAPPERS.block_at_end(rest) {
        parts.injected.push(&rest[start..]);
        rest = rest[..start].trim_end();
    }
    if is_image_tag(rest) || NOTICES.iter().any(|notice| rest.starts_with(notice)) {
        return parts;
    }
    parts.human = WRAPPERS.without_inner_blocks(rest).0;
    parts
}

/// How much of the front of a text is the program's.
fn injected_at_start(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix(INSTRUCTIONS)
        && (rest.starts_with(" for ") || rest.contains("\n<INSTRUCTIONS>"))
    {
        // Their text may itself speak of the tag: the last one closes the block.
        let end = "</INSTRUCTIONS>";
        return Some(text.rfind(end).map_or(text.len(), |at| at + end.len()));
    }
    if EDITORS.iter().any(|front| text.starts_with(front)) {
        return text.find(REQUEST).map(|at| at + REQUEST.len());
    }
    WRAPPERS.block_at_start(text)
}

/// `<image>`, `<image name=…>`, `</image>` stand around an image that is a block of its own.
fn is_image_tag(text: &str) -> bool {
    text == "[image]"
        || text == "</image>"
        || text.starts_with("<image") && text.ends_with('>') && !text.contains('\n') && text.matches('<').count() == 1
}

/// The working folder that a block about the surroundings tells.
pub fn cwd(injected: &str) -> Option<&str> {
    let inside = injected.strip_prefix("<environment_context>")?;
    let tagged = inside.split_once("<cwd>").and_then(|(_, rest)| Some(rest.split_once("</cwd>")?.0));
    let told = || inside.lines().find_map(|line| line.trim().strip_prefix("Current working directory:"));
    tagged.or_else(told).map(str::trim).filter(|cwd| !cwd.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{cwd, parts};

    fn human(text: &str) -> String {
        parts(text).human
    }

    #[test]
    fn what_the_program_writes_is_not_human() {
        for text in [
            "# AGENTS.md instructions for /home/dev/proj\n\n<INSTRUCTIONS>\nAlways run make check.\n</INSTRUCTIONS>",
            "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\na </INSTRUCTIONS> b\n</INSTRUCTIONS>\n\
             <environment_context>\n<cwd>/p</cwd>\n</environment_context>",
            "# AGENTS.md instructions for /p\n\nAlways run make check.",
            "<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
            "<user_instructions>\nx\n</user_instructions>",
            "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>",
            "<environment_context><cwd>/tmp/large</cwd><project_name>large</project_name></environment_context>",
            "<recommended_plugins>\nx\n</recommended_plugins>",
            "<skill>\n<name>x</name>\n</skill>",
            "<turn_aborted>The user interrupted the previous turn on purpose.</turn_aborted>",
            "<subagent_notification>{\"agent_id\":\"x\"}</subagent_notification>",
            "<goal_context>\nreach it\n</goal_context>",
            "<codex_internal_context source=\"goal\">\nreach it\n</codex_internal_context>",
            "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>",
            "Another language model started to solve this problem and produced a summary",
            "<image name=[Image #1]>",
            "</image>",
            "[image]",
        ] {
            assert_eq!(human(text), "", "{text}");
        }
    }

    #[test]
    fn text_beside_a_wrapper_is_kept() {
        let env = "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>";
        assert_eq!(human(&format!("{env}\nrename main to run")), "rename main to run");
        assert_eq!(human(&format!("rename main to run\n{env}")), "rename main to run");
        assert_eq!(human(&format!("one\n{env}\ntwo")), "one\ntwo");
        let agents = "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>";
        assert_eq!(human(&format!("{agents}\n\n{env}\nuse pnpm")), "use pnpm");
        let editor = "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nuse pnpm";
        assert_eq!(human(editor), "use pnpm");
    }

    #[test]
    fn a_person_who_writes_about_the_tags_keeps_the_sentence() {
        for text in [
            "<environment_context> is a wrapper; strip it",
            "Why does Codex send `<turn_aborted>` and <skill> blocks?",
            "# AGENTS.md is missing, write one",
            "# AGENTS.md instructions are too long, cut them",
            "what is ## My request for Codex: good for",
            "see:\n```\n<environment_context>\nx\n</environment_context>\n```\nand strip it",
        ] {
            assert_eq!(human(text), text);
        }
    }

    #[test]
    fn the_folder_is_told_by_every_version() {
        assert_eq!(cwd("<environment_context>\n  <cwd>/a b</cwd>\n</environment_context>"), Some("/a b"));
        assert_eq!(
            cwd("<environment_context>\nCurrent working directory: /c\nApproval policy: never\n</environment_context>"),
            Some("/c")
        );
        assert_eq!(cwd("<skill><cwd>/x</cwd></skill>"), None);
    }
}
