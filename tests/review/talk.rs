//! Sentences as people type them to an agent at work, in a table: what is a lesson, and what only looks like one.

/// The kind of the lesson and the words, with a tab between them: `rule`, `decision`, `fact` (a gotcha, or a rule when an
/// order follows from it), or `-` for words that are no lesson. Written before the rules that read them.
const TABLE: &str = include_str!("talk.tsv");

/// The rows: kind and words.
pub fn talk() -> Vec<(&'static str, &'static str)> {
    TABLE.lines().filter_map(|line| line.split_once('\t')).collect()
}
