//! Text of strangers inside a page: quoted, in code spans, shortened; nothing of it works as the page's own markup.

use std::fmt::Write;

/// Characters that stand for markup at the front of a line of a quote.
const FRONT: [&str; 5] = ["#", "=", "---", "***", "~~~"];

/// Writes text as a block quote, each line after `lead` (blanks of a list item, or nothing): at most so many characters
/// and lines, from its front and its end. Fences that are opened are closed, also where the text is cut.
pub(super) fn quote(out: &mut String, lead: &str, text: &str, most: Most) {
    let text = without_escapes(text);
    let lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
    let fences = fences(&lines);
    let mut blank = false;
    let mut put = |line: &str| {
        if line.is_empty() && std::mem::replace(&mut blank, true) {
            return;
        }
        blank = line.is_empty();
        let _ = writeln!(out, "{}", format!("{lead}> {line}").trim_end());
    };
    let (head, tail) = most.ends(&lines);
    for (at, line) in lines[..head].iter().enumerate() {
        put(&quoted(line, fences[at].is_some()));
    }
    if head < tail {
        let open = head.checked_sub(1).and_then(|last| fences[last]).filter(|end| *end >= head);
        if open.is_some() {
            put("```");
        }
        let cut = tail - head;
        put(&format!("[… {cut} {} left out …]", if cut == 1 { "line" } else { "lines" }));
        if tail < lines.len() && fences[tail].is_some() && !is_fence(lines[tail]) {
            put("```");
        }
        for (at, line) in lines.iter().enumerate().skip(tail) {
            put(&quoted(line, fences[at].is_some()));
        }
    }
}

/// How much of a text is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub characters: usize,
    pub lines: usize,
}

impl Most {
    /// How many lines from the front, and from which line on to the end. Equal when all are shown.
    fn ends(self, lines: &[&str]) -> (usize, usize) {
        let size = |line: &str| line.chars().count().min(LONGEST_LINE) + 1;
        let whole: usize = lines.iter().map(|line| size(line)).sum();
        if whole <= self.characters && lines.len() <= self.lines {
            return (lines.len(), lines.len());
        }
        let take = |lines: &mut dyn Iterator<Item = &&str>, characters: usize, most: usize| {
            let mut left = characters;
            lines
                .take(most)
                .take_while(|line| {
                    let fits = size(line) <= left;
                    left = left.saturating_sub(size(line));
                    fits
                })
                .count()
        };
        let head = take(&mut lines.iter(), self.characters * 3 / 4, self.lines * 3 / 4).max(1);
        let tail = take(&mut lines[head..].iter().rev(), self.characters / 4, self.lines / 4);
        (head, lines.len() - tail)
    }
}

/// Most characters of one line of a quote.
const LONGEST_LINE: usize = 1200;

/// For each line that belongs to a fenced block its last line: the closing fence. One that is never closed is no block.
fn fences(lines: &[&str]) -> Vec<Option<usize>> {
    let mut out = vec![None; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let mark = lines[at].trim_start();
        if is_fence(mark) {
            let ticks = mark.chars().take_while(|c| mark.starts_with(*c)).count();
            let fence = &mark[..ticks];
            let closes =
                |line: &&str| line.trim().starts_with(fence) && line.trim().trim_start_matches(&fence[..1]).is_empty();
            if let Some(end) = lines[at + 1..].iter().position(closes).map(|end| at + 1 + end) {
                out[at..=end].fill(Some(end));
                at = end;
            }
        }
        at += 1;
    }
    out
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("~~~") || line.strip_prefix("```").is_some_and(|rest| !rest.trim_start_matches('`').contains('`'))
}

/// A line inside a quote. Outside a fenced block nothing in it begins a heading, a rule, a fence, HTML, a link or an
/// image.
fn quoted(line: &str, fenced: bool) -> String {
    let line = without_controls(line);
    let line = cut(&line, LONGEST_LINE);
    if fenced {
        // The fence itself may be indented as code would be.
        return if is_fence(&line) { line.trim_start().to_owned() } else { line };
    }
    let body = line.trim_start();
    let indent = line.len() - body.len();
    // Four blanks would make code of it.
    let lead = if indent > 3 { "\u{a0}".repeat(indent.min(12)) } else { " ".repeat(indent) };
    let escape = FRONT.iter().any(|mark| body.starts_with(mark));
    format!("{lead}{}{}", if escape { "\\" } else { "" }, inert(body))
}

/// A line's text in which code spans stay, and HTML, links and images do not work.
fn inert(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\\' => {
                // What is escaped stays so.
                let next = rest[1..].chars().next().filter(char::is_ascii_punctuation).map_or(0, char::len_utf8);
                out.push_str(&rest[..1 + next]);
                1 + next
            }
            '`' => {
                let ticks = rest.len() - rest.trim_start_matches('`').len();
                match code_span(rest, ticks) {
                    Some(end) => {
                        out.push_str(&rest[..end]);
                        end
                    }
                    None => {
                        out.push_str(&"\\`".repeat(ticks));
                        ticks
                    }
                }
            }
            '<' => {
                out.push_str("\\<");
                1
            }
            '[' if rest[1..].starts_with('[') => {
                out.push_str("\\[\\[");
                2
            }
            ']' if rest[1..].starts_with(['(', '[', ':']) => {
                out.push_str("\\]");
                1
            }
            c => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

/// Where the code span ends that begins with so many ticks.
fn code_span(text: &str, ticks: usize) -> Option<usize> {
    let mut at = ticks;
    loop {
        at += text[at..].find('`')?;
        let run = text[at..].len() - text[at..].trim_start_matches('`').len();
        at += run;
        if run == ticks {
            return Some(at);
        }
    }
}

/// Text as a code span on one line.
pub(super) fn span(text: &str) -> String {
    let text = without_controls(&without_escapes(text));
    let text = text.trim();
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let ticks = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Text on one line in which no mark of markdown works.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in without_controls(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '#' | '|' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// One line, its white space folded, at most so many characters, cut at a word.
pub(super) fn short(text: &str, most: usize) -> String {
    cut(&crate::wiki::text::fold_space(&without_escapes(text)), most)
}

/// At most so many characters, cut at a word where one ends near.
fn cut(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let head = &text[..end];
    let word = head.rfind(' ').filter(|at| *at > head.len() * 2 / 3).unwrap_or(head.len());
    format!("{}…", head[..word].trim_end())
}

/// A text without the sequences that colour a terminal.
pub(super) fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let parameters = rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | '?'));
        let last = parameters.chars().next().filter(char::is_ascii_alphabetic).map_or(0, char::len_utf8);
        rest = &parameters[last..];
    }
    out.push_str(rest);
    out
}

/// Control characters, and those that reorder or hide what is read, as blanks; a tab as four.
fn without_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push_str("    "),
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}') => {
                out.push(' ');
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Most, quote, short, span};

    fn quoted(text: &str) -> String {
        let mut out = String::new();
        quote(&mut out, "", text, Most { characters: 1000, lines: 20 });
        out
    }

    #[test]
    fn html_links_and_headings_do_not_work_and_code_stays_as_it_is() {
        assert_eq!(quoted("# a <b> `<c>` ![i](u) [l](u) [[w]]"), "> \\# a \\<b> `<c>` ![i\\](u) [l\\](u) \\[\\[w]]\n");
        assert_eq!(quoted("a ` b\nc` <script> `d"), "> a \\` b\n> c` <script> `d\n");
        assert_eq!(quoted("\\<b> \\` <i>`"), "> \\<b> \\` \\<i>\\`\n");
        assert_eq!(quoted("```\n# x <b>\n```\n# y"), "> ```\n> # x <b>\n> ```\n> \\# y\n");
        assert_eq!(quoted("```\n# never closed <b>"), "> \\`\\`\\`\n> \\# never closed \\<b>\n");
    }

    #[test]
    fn a_fence_is_closed_where_the_text_is_cut() {
        let text = format!("see\n```\n{}```\nend", "line\n".repeat(50));
        let shown = quoted(&text);
        assert!(shown.contains("> line\n> ```\n> [… 34 lines left out …]\n> ```\n> line\n"), "{shown}");
        assert!(shown.ends_with("> ```\n> end\n"), "{shown}");
        assert_eq!(shown.matches("> ```").count() % 2, 0);
    }

    #[test]
    fn a_line_is_cut_at_a_word_and_colours_go() {
        assert_eq!(short("\u{1b}[31merror\u{1b}[0m:  no such thing here", 16), "error: no such…");
        assert_eq!(span("a`b\u{1b}[1m\n"), "``a`b``");
    }
}
