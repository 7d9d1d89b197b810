//! Text of strangers where forges and CI read along: what they act on is made plain words.

use std::sync::LazyLock;

use regex::Regex;

/// `[skip ci]` and its like, for whatever program it is meant.
static SKIPS: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\[((?:skip|no)[ -][\w.-]+|[\w.-]+[ -]skip)\]"));

/// The mark of Azure Pipelines.
static NO_CI: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\*+NO_CI\*+"));

/// A word that closes an issue, and the issue.
static CLOSES: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b((?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)\b:?)(\s+)((?:issues?\s+)?(?:[\w./-]*#\d|(?-i:GH)-\d|https?://))",
    )
});

/// A person or a team by name. What stands behind a letter is an address, behind a slash or a tick a package.
static NAMES: LazyLock<Regex> = LazyLock::new(|| regex(r"(^|[^\w/`.])@([[:alnum:]])"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is ours and tested")
}

/// The same words, which skip no check, close no issue and call nobody.
pub(super) fn inert(text: &str) -> String {
    let text = SKIPS.replace_all(text, "($1)");
    let text = NO_CI.replace_all(&text, "NO_CI");
    let text = CLOSES.replace_all(&text, "$1$2— $3");
    NAMES.replace_all(&text, "$1@ $2").into_owned()
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn what_forges_and_ci_act_on_becomes_plain_words() {
        for (text, plain) in [
            ("The export [skip ci]", "The export (skip ci)"),
            ("[CI Skip] [no ci] [skip-actions] ***NO_CI***", "(CI Skip) (no ci) (skip-actions) NO_CI"),
            ("Closes #1, fixes: o/r#2", "Closes — #1, fixes: — o/r#2"),
            ("resolved\nGH-3", "resolved\n— GH-3"),
            (
                "Fixing issue #4 (fixed https://example.org/o/r/issues/5)",
                "Fixing — issue #4 (fixed — https://example.org/o/r/issues/5)",
            ),
            ("cc @torvalds,@o/team", "cc @ torvalds,@ o/team"),
        ] {
            assert_eq!(inert(text), plain);
        }
    }

    #[test]
    fn other_words_stay_as_they_are() {
        for text in [
            "Step #2 of [the list] is skipped in CI, see #12.",
            "git@example.org: mail ada@example.org, `@types/node`, node_modules/@types",
            "The fix is to close the file; arr[no] and [skip]",
        ] {
            assert_eq!(inert(text), text);
        }
    }
}
