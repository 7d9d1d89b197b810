//! What changed between two texts, line by line, as git shows it.

use std::fmt::Write;
use std::ops::Range;

use gix::diff::blob::sources::byte_lines;
use gix::diff::blob::{Algorithm, Diff, InternedInput};

/// How many unchanged lines stand around a change.
const CONTEXT: usize = 3;

/// Lines that others took the place of; one of the two ranges may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of the old text, from 0.
    pub before: Range<usize>,
    /// Lines of the new one.
    pub after: Range<usize>,
}

/// Where two texts differ, top to bottom. A line ends with its line break.
pub fn changes(before: &[u8], after: &[u8]) -> Vec<Hunk> {
    let input = InternedInput::new(byte_lines(before), byte_lines(after));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| Hunk { before: range(hunk.before), after: range(hunk.after) }).collect()
}

/// A unified diff with the names of both sides in its head; empty when nothing changed.
pub fn unified(before: &str, after: &str, names: [&str; 2]) -> String {
    let hunks = changes(before.as_bytes(), after.as_bytes());
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let mut out = String::new();
    if !hunks.is_empty() {
        out.push_str(&format!("--- {}\n+++ {}\n", names[0], names[1]));
    }
    for near in hunks.chunk_by(|a, b| b.before.start - a.before.end <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (near.first(), near.last()) else { continue };
        let lead = first.before.start.min(CONTEXT);
        let trail = (old.len() - last.before.end).min(CONTEXT);
        let before = first.before.start - lead..last.before.end + trail;
        let after = first.after.start - lead..last.after.end + trail;
        let _ = writeln!(out, "@@ -{} +{} @@", numbers(&before), numbers(&after));
        let mut at = before.start;
        for hunk in near {
            put(&mut out, ' ', &old[at..hunk.before.start]);
            put(&mut out, '-', &old[hunk.before.clone()]);
            put(&mut out, '+', &new[hunk.after.clone()]);
            at = hunk.before.end;
        }
        put(&mut out, ' ', &old[at..before.end]);
    }
    out
}

/// A range as the head of a hunk has it: the first line's number from 1, and how many there are unless it is one.
fn numbers(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        length => format!("{},{length}", range.start + 1),
    }
}

fn put(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}
