//! Blocks between tags that a program puts into or around a person's words.

/// The names of the tags.
pub(super) struct Wrappers(pub &'static [&'static str]);

impl Wrappers {
    /// The tag that opens at the front of the text, when it is a wrapper's, and the length of the tag.
    fn opening(&self, text: &str) -> Option<(&'static str, usize)> {
        let rest = text.strip_prefix('<')?;
        let tag = self
            .0
            .iter()
            .copied()
            .filter(|tag| rest.starts_with(tag) && rest[tag.len()..].starts_with(['>', ' ', '\n']))
            .max_by_key(|tag| tag.len())?;
        let length = rest.find('>')? + 2;
        Some((tag, length))
    }

    /// The length of the wrapper block at the front of the text. One that is never closed is the program's to its end,
    /// unless a sentence goes on behind the tag.
    pub(super) fn block_at_start(&self, text: &str) -> Option<usize> {
        self.closed_block(text).or_else(|| {
            let (_, length) = self.opening(text)?;
            (!text[length..].starts_with([' ', '`', ',', '.'])).then_some(text.len())
        })
    }

    /// The length of the wrapper block at the front of the text that ends with its closing tag. Blocks of the same tag may
    /// nest.
    pub(super) fn closed_block(&self, text: &str) -> Option<usize> {
        let (tag, mut at) = self.opening(text)?;
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        let mut depth = 1;
        while depth > 0 {
            let next_close = text[at..].find(&close)?;
            match text[at..at + next_close].find(&open) {
                Some(next_open) => {
                    depth += 1;
                    at += next_open + open.len();
                }
                None => {
                    depth -= 1;
                    at += next_close + close.len();
                }
            }
        }
        Some(at)
    }

    /// Where the wrapper block starts that the text ends with.
    pub(super) fn block_at_end(&self, text: &str) -> Option<usize> {
        let tag =
            self.0.iter().copied().find(|tag| {
                text.strip_suffix('>').and_then(|t| t.strip_suffix(tag)).is_some_and(|t| t.ends_with("</"))
            })?;
        let open = format!("<{tag}");
        // The first place from which one block reaches to the very end.
        text.match_indices(&open).map(|(at, _)| at).take(64).find(|&at| {
            let own_line = at == 0 || text[..at].ends_with('\n');
            let on_lines = self.opening(&text[at..]).is_some_and(|(_, length)| text[at + length..].starts_with('\n'));
            (own_line || on_lines) && self.closed_block(&text[at..]) == Some(text.len() - at)
        })
    }

    /// What stands between the wrapper blocks at both ends of the text, and the blocks.
    pub(super) fn between<'t>(&self, text: &'t str) -> (&'t str, Vec<&'t str>) {
        let (mut rest, mut blocks) = (text.trim(), Vec::new());
        while let Some(length) = self.block_at_start(rest) {
            blocks.push(&rest[..length]);
            rest = rest[length..].trim_start();
        }
        while let Some(start) = self.block_at_end(rest) {
            blocks.push(&rest[start..]);
            rest = rest[..start].trim_end();
        }
        (rest, blocks)
    }

    /// Wrapper blocks that stand on lines of their own between the person's words, outside code fences.
    pub(super) fn without_inner_blocks(&self, text: &str) -> (String, String) {
        if !text.contains("\n<") {
            return (text.to_owned(), String::new());
        }
        let (mut human, mut injected, mut fenced, mut at) = (String::new(), String::new(), false, 0);
        while at < text.len() {
            let rest = &text[at..];
            let line = rest.find('\n').map_or(rest, |end| &rest[..=end]);
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            let block = if fenced { None } else { self.closed_block(rest) };
            match block {
                Some(length) if rest[length..].starts_with('\n') || rest.len() == length => {
                    injected.push_str(&rest[..length]);
                    injected.push('\n');
                    at += (length + 1).min(rest.len());
                }
                _ => {
                    human.push_str(line);
                    at += line.len();
                }
            }
        }
        (human.trim().to_owned(), injected.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::Wrappers;

    #[test]
    fn blocks_at_the_ends_go_and_a_sentence_about_them_stays() {
        let human = |text| Wrappers(&["hook_context", "session_context"]).between(text).0;
        assert_eq!(
            human("<session_context>\nx\n</session_context>\nuse pnpm\n<hook_context>y</hook_context>"),
            "use pnpm"
        );
        assert_eq!(human("<hook_context>only</hook_context>"), "");
        assert_eq!(human("<session_context>\ncut off"), "");
        for text in
            ["strip <hook_context>x</hook_context>", "<hook_context> is a wrapper", "<hook_contexts>a</hook_contexts>"]
        {
            assert_eq!(human(text), text);
        }
    }
}
