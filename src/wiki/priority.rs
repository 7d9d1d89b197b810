//! The priority of a page: what to look at first, from 3 (can wait) to 7.

use super::Kind;

/// The least.
pub const LEAST: u8 = 3;

/// The most.
pub const MOST: u8 = 7;

/// What a kind stands for by itself.
pub fn of_kind(kind: Kind) -> u8 {
    match kind {
        Kind::Rule => MOST,
        Kind::Decision => 6,
        Kind::Gotcha | Kind::Procedure => 5,
        Kind::Concept => 4,
        Kind::Note | Kind::Slot | Kind::Session => LEAST,
    }
}

/// The priority of a page that nobody gave one: its kind's, one more where its text says that something was seen to
/// work, one less for a failure whose remedy it does not tell.
pub fn infer(kind: Kind, text: &str) -> u8 {
    let text = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let seen = says(&["verified", "tests pass", "test passes", "passed", "passes now", "works now", "exit code 0"]);
    let remedied =
        kind != Kind::Gotcha || says(&["fix", "instead", "workaround", "solution", "resolved", "set ", "use "]);
    let number = of_kind(kind) + u8::from(seen && kind != Kind::Rule) - u8::from(!remedied);
    number.clamp(LEAST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_to_work_comes_before_what_is_only_known_to_fail() {
        assert_eq!(infer(Kind::Rule, "Never npm."), 7);
        assert_eq!(infer(Kind::Gotcha, "Use a fake clock instead; verified in CI."), 6);
        assert_eq!(infer(Kind::Gotcha, "Use a fake clock instead."), 5);
        assert_eq!(infer(Kind::Gotcha, "The build breaks on Tuesdays."), 4);
        assert_eq!(infer(Kind::Note, "Something."), 3);
        assert_eq!(infer(Kind::Decision, "Verified."), 7);
    }
}
