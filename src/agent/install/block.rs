//! The block of ours in a file of instructions: from a line that is the start mark to one that is the end mark.

use std::ops::Range;

use super::Fault;

/// The line above the block.
pub(super) const START: &str = "<!-- git-memory:start -->";
/// The line below it.
pub(super) const END: &str = "<!-- git-memory:end -->";

/// Where the block stands, with both marks and the end of its last line.
///
/// # Errors
/// Marks that make no block: one without the other, two of one, the wrong order.
pub(super) fn find(text: &str) -> Result<Option<Range<usize>>, Fault> {
    let mut fence: Option<(char, usize)> = None;
    let (mut start, mut end): (Option<usize>, Option<usize>) = (None, None);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let here = at;
        at += line.len();
        let bare = line.trim_end();
        if let Some(mark) = fence_of(bare) {
            match fence {
                None => fence = Some((mark.0, mark.1)),
                // Only marks alone on their line, and not fewer of them, close it.
                Some((kind, many)) if kind == mark.0 && mark.1 >= many && mark.2 => fence = None,
                Some(_) => {}
            }
        }
        if fence.is_some() {
            continue;
        }
        // A mark that follows a BOM stands at the beginning of its line all the same.
        match (bare.trim_start_matches('\u{feff}'), start, end) {
            (START, None, None) => start = Some(here + (bare.len() - START.len())),
            (START, ..) => return Err(Fault::at(text, here, format!("a second {START}"))),
            (END, Some(_), None) => end = Some(at),
            (END, None, _) => return Err(Fault::at(text, here, format!("{END} without {START} above it"))),
            (END, Some(_), Some(_)) => return Err(Fault::at(text, here, format!("a second {END}"))),
            _ => {}
        }
    }
    match (start, end) {
        (Some(start), Some(end)) => Ok(Some(start..end)),
        (Some(start), None) => Err(Fault::at(text, start, format!("{START} without {END} below it"))),
        (None, _) => Ok(None),
    }
}

/// The kind and number of marks of a line that opens or closes a code fence, and whether nothing follows them.
fn fence_of(line: &str) -> Option<(char, usize, bool)> {
    let inner = line.trim_start_matches(' ');
    if line.len() - inner.len() > 3 {
        return None;
    }
    let kind = inner.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let many = inner.chars().take_while(|&c| c == kind).count();
    let rest = &inner[many..];
    (many >= 3 && !(kind == '`' && rest.contains('`'))).then(|| (kind, many, rest.trim().is_empty()))
}

/// The text with the block at its end, below an empty line. `block` has both marks and ends with a line end.
///
/// # Errors
/// When the end of the text is inside a code fence.
pub(super) fn add(text: &str, block: &str) -> Result<String, Fault> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let block = if end == "\r\n" { block.replace('\n', "\r\n") } else { block.to_owned() };
    let gap = match text {
        _ if text.trim_start_matches('\u{feff}').is_empty() => String::new(),
        _ if !text.ends_with('\n') => end.repeat(2),
        _ if text.ends_with("\n\n") || text.ends_with("\n\r\n") => String::new(),
        _ => end.to_owned(),
    };
    let new = format!("{text}{gap}{block}");
    match find(&new)? {
        Some(_) => Ok(new),
        None => Err(Fault::new("a code fence is not closed, so that a block at the end would be part of it")),
    }
}

/// The text without the block and the empty line above it.
///
/// # Errors
/// As [`find`].
pub(super) fn strip(text: &str) -> Result<String, Fault> {
    let Some(range) = find(text)? else { return Ok(text.to_owned()) };
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let shorter = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).unwrap_or(before);
    let before = if shorter.is_empty() || shorter.ends_with('\n') { shorter } else { before };
    Ok(format!("{before}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> String {
        format!("{START}\nours\n{END}\n")
    }

    #[test]
    fn a_block_goes_to_the_end_and_comes_out_again() {
        for text in ["", "# Mine\n", "# Mine\n\n", "a\r\nb\r\n", "\u{feff}"] {
            let new = add(text, &block()).unwrap();
            assert!(find(&new).unwrap().is_some(), "{new:?}");
            assert_eq!(strip(&new).unwrap().trim_end(), text.trim_end(), "{text:?}");
            assert!(!text.contains("\r\n") || !new.replace("\r\n", "").contains('\n'));
        }
        assert_eq!(add("# Mine", &block()).unwrap(), format!("# Mine\n\n{}", block()));
    }

    #[test]
    fn marks_count_only_alone_on_their_lines_and_outside_of_fences() {
        let quoted = format!("`{START}` and `{END}`\n> {START}\n```md\n{START}\n```\n~~~\n{END}\n```\n~~~\n  {END}x\n");
        assert_eq!(find(&quoted).unwrap(), None);
        let both = add(&quoted, &block()).unwrap();
        assert_eq!(find(&both).unwrap(), Some(quoted.len() + 1..both.len()));
    }

    #[test]
    fn marks_that_make_no_block_are_errors_with_their_lines() {
        for (text, line, word) in [
            (format!("a\n{START}\nb\n"), 2, "without"),
            (format!("{END}\n{START}\n"), 1, "above"),
            (format!("{START}\n{START}\n{END}\n"), 2, "second"),
            (format!("{START}\n{END}\n{END}\n"), 3, "second"),
        ] {
            let fault = find(&text).unwrap_err();
            assert_eq!(fault.line, Some(line), "{text}");
            assert!(fault.message.contains(word), "{}", fault.message);
        }
        assert!(add("```\nopen\n", &block()).is_err());
    }
}
