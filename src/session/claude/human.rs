//! What of a user line's text a person typed.

use crate::session::wrappers::Wrappers;

/// Blocks that the program puts into or around a prompt.
const WRAPPERS: Wrappers = Wrappers(&[
    "system-reminder",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "teammate-message",
    "user-prompt-submit-hook",
    "user-memory-input",
    "new-diagnostics",
    "persisted-output",
    "system_instruction",
    "system-instruction",
    "background-task-output",
]);

/// Beginnings of texts that the program writes as a whole.
const NOTICES: &[&str] = &[
    "Caveat: The messages below",
    "Base directory for this skill:",
    "Stop hook feedback:",
    "Operation stopped by hook:",
    "[Compacted:",
    "Implement the following plan:",
    "This session is being continued from a previous conversation",
];

/// Bracketed marks at the front of a text, with the person's words possibly behind them.
const MARKS: &[&str] = &["[Request interrupted by user", "[Image"];

/// What the program puts before the words of a person who rejects a tool's use.
const REJECTION: &str = "The user doesn't want to proceed with this tool use";

/// A text, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// The person's own words; empty when there are none.
    pub human: String,
    /// What the program added.
    pub injected: String,
    /// The text says that the person stopped the model.
    pub interrupted: bool,
}

/// Takes a text apart. A tag is a wrapper only as a whole block at either end of the text or on lines of its own: a
/// person who writes about the tags keeps the sentence.
pub(super) fn parts(text: &str) -> Parts {
    let mut parts = Parts::default();
    let mut rest = text.trim();
    loop {
        if let Some(length) = WRAPPERS.block_at_start(rest) {
            // What follows a notice of a task is part of the notice.
            let length = if rest.starts_with("<task-notification") { rest.len() } else { length };
            parts.inject(&rest[..length]);
            rest = rest[length..].trim_start();
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            let length = rest.find(']').map_or(rest.len(), |at| at + 1);
            parts.interrupted |= mark.starts_with("[Request");
            parts.inject(&rest[..length]);
            rest = rest[length..].trim_start();
        } else {
            break;
        }
    }
    while let Some(start) = WRAPPERS.block_at_end(rest) {
        parts.inject(&rest[start..]);
        rest = rest[..start].trim_end();
    }
    if NOTICES.iter().any(|notice| rest.starts_with(notice)) {
        parts.inject(rest);
        rest = "";
    }
    let (human, inner) = WRAPPERS.without_inner_blocks(rest);
    parts.human = human;
    if !inner.is_empty() {
        parts.inject(&inner);
    }
    parts
}

/// The words that a person gave when rejecting a tool's use; `None` when the result is no rejection.
pub(super) fn rejection(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix(REJECTION)?;
    let words = rest.split_once("the user said:").map_or("", |(_, words)| words);
    Some(words.split("\n\nNote: The user's next message").next().unwrap_or(words).trim())
}

impl Parts {
    fn inject(&mut self, text: &str) {
        if !self.injected.is_empty() {
            self.injected.push('\n');
        }
        self.injected.push_str(text.trim());
    }
}

#[cfg(test)]
mod tests {
    use super::{parts, rejection};

    fn human(text: &str) -> String {
        parts(text).human
    }

    #[test]
    fn text_beside_a_wrapper_is_kept() {
        assert_eq!(
            human("<ide_selection>lines 3-9\nfn main() {}\n</ide_selection>\nrename main to run"),
            "rename main to run"
        );
        assert_eq!(
            human("<system-reminder>\nnoise\n</system-reminder>\nnever push on Fridays"),
            "never push on Fridays"
        );
        assert_eq!(human("fix it\n<system-reminder>\nnoise\n</system-reminder>"), "fix it");
        assert_eq!(human("fix it<system-reminder>\nnoise\n</system-reminder>"), "fix it");
        assert_eq!(human("one\n<system-reminder>\nnoise\n</system-reminder>\ntwo"), "one\ntwo");
        assert_eq!(human("[Image #1] make this button blue"), "make this button blue");
    }

    #[test]
    fn a_person_who_writes_about_the_tags_keeps_the_sentence() {
        for text in [
            "Document that `<command-name>` and <system-reminder> are wrappers the parser must strip.",
            "<system-reminder> is a wrapper; strip it",
            "strip <system-reminder>x</system-reminder>",
            "strip this:\n<system-reminder>foo\nplease",
            "why does it print `</system-reminder>`",
            "see:\n```\n<system-reminder>\nx\n</system-reminder>\n```\nand strip it",
        ] {
            assert_eq!(human(text), text);
        }
    }

    #[test]
    fn what_the_program_writes_is_not_human() {
        for text in [
            "<command-name>/clear</command-name>\n  <command-message>clear</command-message>\n  <command-args></command-args>",
            "<local-command-stdout></local-command-stdout>",
            "<teammate-message teammate_id=\"a\">hi</teammate-message>",
            "<bash-input>git status</bash-input>",
            "Caveat: The messages below were generated",
            "Implement the following plan:\n\n# Plan",
            "[Request interrupted by user for tool use]",
            "Stop hook feedback:\nrun the tests",
            "<task-notification>\nnever closed",
            "<task-notification>\ndone\n</task-notification>\nFull transcript available at: /tmp/x",
            "Operation stopped by hook: Warning",
        ] {
            assert_eq!(human(text), "", "{text}");
        }
        assert!(parts("[Request interrupted by user]").interrupted);
    }

    #[test]
    fn a_block_that_repeats_its_own_closing_tag_cannot_break_out_when_it_nests() {
        let text = "<system-reminder>a <system-reminder>b</system-reminder> c</system-reminder>\nreal";
        assert_eq!(human(text), "real");
    }

    #[test]
    fn the_words_of_a_rejection_are_found() {
        let text = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to \
                    proceed, the user said:\nuse pnpm\n\nNote: The user's next message may contain a correction.";
        assert_eq!(rejection(text), Some("use pnpm"));
        assert_eq!(rejection("The user doesn't want to proceed with this tool use. STOP"), Some(""));
        assert_eq!(rejection("fine"), None);
    }
}
