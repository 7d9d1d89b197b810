//! What stands in place of a secret.

use std::sync::LazyLock;

use bstr::Finder;

use super::{Span, ceil};

/// What every replacement begins with.
pub const MARK: &str = "[REDACTED:";

/// Finds [`MARK`].
static MARKS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MARK));

/// Most bytes that a kind has, and most digits in it.
const LONGEST_KIND: usize = 24;
const MOST_DIGITS: usize = 2;

pub(super) fn has_marks(text: &str) -> bool {
    text.len() > MARK.len() && MARKS.find(text.as_bytes()).is_some()
}

/// The length of the mark that a text begins with: one that we could have set, so that a secret cannot pass as its kind.
fn mark(text: &str) -> Option<usize> {
    let kind = text.strip_prefix(MARK)?;
    let kind = &kind[..kind.as_bytes().iter().take(LONGEST_KIND + 1).position(|b| *b == b']')?];
    let letters = kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let digits = kind.bytes().filter(u8::is_ascii_digit).count();
    (letters && digits <= MOST_DIGITS).then_some(MARK.len() + kind.len() + 1)
}

/// The end of the mark that a place is inside of: its words tell of secrets, and are none.
pub(super) fn end_of_mark(text: &str, at: usize) -> Option<usize> {
    let from = ceil(text, at.saturating_sub(MARK.len() + LONGEST_KIND));
    let start = from + text[from..at].rfind(MARK)?;
    mark(&text[start..]).map(|length| start + length).filter(|end| *end > at)
}

/// A text without its marks.
pub(super) fn without_marks(text: &str) -> String {
    let whole = Span { start: 0, end: text.len(), kind: "" };
    around_marks(text, whole).iter().map(|part| &text[part.start..part.end]).collect()
}

/// The parts of a span that are no marks.
pub(super) fn around_marks(text: &str, span: Span) -> Vec<Span> {
    let mut parts = Vec::new();
    let mut at = end_of_mark(text, span.start).unwrap_or(span.start).min(span.end);
    let mut from = at;
    while let Some(start) = text[from..span.end].find(MARK).map(|start| from + start) {
        from = start + MARK.len();
        if let Some(length) = mark(&text[start..]) {
            parts.push(Span { start: at, end: start, ..span });
            at = (start + length).min(span.end);
            from = at;
        }
    }
    let whole = at == span.start && parts.is_empty();
    parts.push(Span { start: at, ..span });
    // Signs between marks are no secret.
    parts.retain(|part| whole || text[part.start..part.end].contains(char::is_alphanumeric));
    parts
}
