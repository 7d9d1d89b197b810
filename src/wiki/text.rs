//! Comparing texts.

use std::collections::HashSet;

/// Words per shingle: long enough that an accidental match means something.
const SHINGLE: usize = 5;

/// White space folded to single spaces, ends trimmed. What "verbatim but for white space" means.
pub fn fold_space(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

/// What two titles or sentences share when they say the same: folded white space, case and punctuation.
pub fn normal(text: &str) -> String {
    words(text).join(" ")
}

/// The share (0 to 1) of `a`'s distinct five-word shingles that `b` holds too; 0 when `a` has none.
///
/// A text of fewer than five words counts as one shingle of all its words, which `b` holds when it has those words in
/// a row.
pub fn shingle_overlap(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    let size = a.len().min(SHINGLE);
    if size == 0 || b.len() < size {
        return 0.0;
    }
    let ours: HashSet<&[String]> = a.windows(size).collect();
    let theirs: HashSet<&[String]> = b.windows(size).collect();
    let shared = ours.iter().filter(|shingle| theirs.contains(*shingle)).count();
    shared as f64 / ours.len() as f64
}

/// The words of a text, in lower case, without punctuation.
fn words(text: &str) -> Vec<String> {
    let lower: String = text.chars().flat_map(char::to_lowercase).collect();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_of_any_kind_folds_to_one_space() {
        assert_eq!(fold_space("  use\tpnpm,\r\n\u{a0} not  npm \n"), "use pnpm, not npm");
        assert_eq!(fold_space(" \n"), "");
    }

    #[test]
    fn case_and_punctuation_do_not_make_another_title() {
        assert_eq!(normal("Use `pnpm`, not NPM!"), normal("use pnpm not npm"));
        assert_ne!(normal("use pnpm"), normal("use npm"));
    }

    #[test]
    fn overlap_is_the_share_of_the_first_texts_shingles() {
        let a = "one two three four five six";
        assert_eq!(shingle_overlap(a, a), 1.0);
        assert_eq!(shingle_overlap(a, "zero one two three four five"), 0.5);
        assert_eq!(shingle_overlap("", a), 0.0);
        assert_eq!(shingle_overlap("two three", a), 1.0);
        assert_eq!(shingle_overlap("three two", a), 0.0);
    }
}
