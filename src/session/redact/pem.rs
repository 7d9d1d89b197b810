//! Private key blocks, whole or cut.

use super::{Span, floor};

const KIND: &str = "private-key";

/// What is known of the blocks while a text is gone through from its front.
#[derive(Default)]
pub(super) struct Blocks {
    /// Everything before this belongs to a block that was found.
    covered: usize,
}

impl Blocks {
    /// The block that the words `PRIVATE KEY` at `start..end` open or close.
    pub(super) fn at(&mut self, text: &str, start: usize, end: usize) -> Option<Span> {
        if start < self.covered {
            return None;
        }
        let line = &text[floor(text, start.saturating_sub(40))..start];
        let (opens, mark) = match (line.rfind("BEGIN"), line.rfind("END")) {
            (Some(begin), close) if close.is_none_or(|close| close < begin) => (true, begin),
            (_, Some(close)) => (false, close),
            _ => return None,
        };
        let mark = start - line.len() + mark;
        let after = text[end..].trim_start_matches(" BLOCK").trim_start_matches(' ');
        if !text[..mark].trim_end().ends_with("---") || !after.starts_with("---") {
            return None;
        }
        let dashes = text[..mark].trim_end().trim_end_matches('-').len();
        let span = if opens { self.opened(text, dashes, end)? } else { closed(text, dashes, end, self.covered)? };
        self.covered = span.end;
        Some(span)
    }

    fn opened(&self, text: &str, from: usize, end: usize) -> Option<Span> {
        let rest = &text[end..];
        let close = rest.match_indices("END").find_map(|(at, _)| {
            let tail = &rest[at..floor(rest, at + 64)];
            let name = tail.find("PRIVATE KEY").filter(|&n| n < 30 && rest[..at].trim_end().ends_with("---"))?;
            let after = end + at + name + "PRIVATE KEY".len();
            Some(after + dashes_after(&text[after..]))
        });
        // Without an end the block was cut somewhere: all that follows may be key. A bare mention has no key after it.
        match close {
            Some(to) => Some(Span { start: from, end: to, kind: KIND }),
            None => {
                let near = &rest[..floor(rest, 600)];
                let has_key = near.split(|c: char| !is_base64(c)).any(|run| run.len() >= 24 && !is_word(run));
                has_key.then_some(Span { start: from, end: text.len(), kind: KIND })
            }
        }
    }
}

/// A block whose head is missing: from the start of its base64 lines.
fn closed(text: &str, dashes: usize, end: usize, least: usize) -> Option<Span> {
    let dashes = dashes.max(least);
    let mut from = dashes;
    let before = &text[least..dashes];
    // On one line with escaped breaks, as inside JSON.
    let run = before.trim_end_matches(|c: char| is_base64(c) || c == '\\').len();
    if before.len() - run >= 16 {
        from = least + run;
    }
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    if core(&before[line_start..]).is_empty() {
        let mut above = &before[..line_start];
        let mut last = true;
        while let Some(lines) = above.strip_suffix('\n') {
            let start = lines.rfind('\n').map_or(0, |at| at + 1);
            let core = core(&lines[start..]);
            // The last line of a key may be short, and the first one when the text was cut inside it.
            let long_enough = core.len() >= 16 || last && core.len() >= 2 || start == 0 && least == 0 && !is_word(core);
            if core.is_empty() || !core.chars().all(is_base64) || !long_enough {
                break;
            }
            from = least + start;
            above = &above[..start];
            last = false;
        }
    }
    let to = end + dashes_after(&text[end..]);
    (from < dashes).then_some(Span { start: from, end: to, kind: KIND })
}

/// A line without what viewers put before it: numbers, arrows, diff marks, quotes.
fn core(line: &str) -> &str {
    let line = line.trim();
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['→', '|', ':', '\t', ' ']);
    line.trim_matches(|c: char| matches!(c, '"' | '\'' | ',' | '>' | ' ' | '\\' | '\r' | '-'))
}

fn dashes_after(text: &str) -> usize {
    let text_after = text.strip_prefix(" BLOCK").unwrap_or(text);
    let skipped = text.len() - text_after.len();
    skipped + text_after.len() - text_after.trim_start_matches('-').len()
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
}

fn is_word(run: &str) -> bool {
    run.bytes().all(|b| b.is_ascii_lowercase()) || run.bytes().all(|b| b.is_ascii_uppercase())
}
