//! How the parts of a prompt share the room that there is. A token is four characters.

use serde_json::Value;

use super::{Error, Parts};
use crate::model::Prompt;
use crate::session::{drop_least, ends};

/// Kept back for what a provider adds around a prompt.
const KEPT_BACK: usize = 1_000;

/// The most tokens of each part. What the session leaves of the room is for more of the pages.
pub(super) struct Shares {
    /// Of the whole prompt.
    pub room: usize,
    /// Of the index: so much tells what there is near the session, whatever the size of the wiki.
    pub index: usize,
    /// Of the pages that are given, at least.
    pub pages: usize,
    /// Of what was turned down.
    pub rejected: usize,
    /// Of the session's page.
    pub page: usize,
}

impl Shares {
    pub fn of(max_input_tokens: usize) -> Shares {
        Shares {
            room: max_input_tokens.saturating_sub(KEPT_BACK),
            index: max_input_tokens / 12,
            pages: max_input_tokens / 4,
            rejected: max_input_tokens / 6,
            page: max_input_tokens / 3,
        }
    }
}

/// The tokens of a value as it stands in a prompt.
pub(super) fn tokens(value: &Value) -> usize {
    // Indented as in the block of data: each line stands two steps in.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    (text.chars().count() + 4 * text.lines().count()).div_ceil(4)
}

/// The first of some things whose values stand within a share together.
pub(super) fn within<T>(all: impl IntoIterator<Item = T>, share: usize, value: impl Fn(&T) -> &Value) -> Vec<T> {
    let mut used = 0;
    let fits = |one: &T| {
        used += tokens(value(one));
        used <= share
    };
    all.into_iter().take_while(fits).collect()
}

/// A text that stands in a prompt with at most so many tokens.
pub(super) fn cut(text: &str, most: usize) -> String {
    let mut chars = text.chars().count().min(most * 4);
    loop {
        let cut = ends(text, chars);
        let size = tokens(&Value::from(cut.as_str()));
        if size <= most || chars == 0 {
            return cut;
        }
        // Escapes make it longer than its characters.
        chars = (chars * most / size).min(chars - 1);
    }
}

/// The prompt, once enough was left out: observations first, the least worth first; only where that is not enough, the
/// pages farthest from the session, the end of the index, the oldest of what was turned down.
pub(super) fn fit(parts: &mut Parts<'_>, room: usize, make: impl Fn(&Parts<'_>) -> Prompt) -> Result<Prompt, Error> {
    loop {
        let prompt = make(parts);
        let size = prompt.tokens();
        if size <= room {
            return Ok(prompt);
        }
        let dropped = drop_least(&mut parts.observations);
        parts.dropped += usize::from(dropped);
        if dropped || parts.pages.pop().is_some() {
            continue;
        }
        if parts.index.pop().is_some() {
            parts.index_left_out += 1;
        } else if parts.rejected.pop().is_none() {
            return Err(Error::NoRoom(size));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_stands_in_its_share_whatever_is_escaped_in_it() {
        for text in ["a".repeat(10_000), "\"\\\n".repeat(5_000), "日本".repeat(4_000)] {
            let cut = cut(&text, 500);
            assert!(tokens(&Value::from(cut.as_str())) <= 500 && cut.chars().count() > 500, "{}", cut.len());
        }
        assert_eq!(cut("short", 500), "short");
        assert_eq!(cut("", 0), "");
    }
}
