//! Where a quote stands in a text, and how much of the words there it holds.

/// One place where a quote stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// How many words it holds whole.
    pub whole: usize,
    /// It begins and ends where words do.
    pub uncut: bool,
    /// It is all of a sentence.
    pub sentence: bool,
}

/// The places where a quote stands. White space is folded in both.
pub(super) fn places<'t>(text: &'t str, quote: &'t str) -> impl Iterator<Item = Place> + 't {
    text.match_indices(quote).map(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + quote.len()..]);
        let cut_at_start = before.ends_with(spells) && quote.starts_with(spells);
        let cut_at_end = after.starts_with(spells) && quote.ends_with(spells);
        let pieces = usize::from(cut_at_start) + usize::from(cut_at_end);
        let begins = before.trim_end().chars().next_back().is_none_or(ends_sentence);
        let ends = ends_sentence(quote.trim_end().chars().next_back().unwrap_or('.'))
            || after.trim_start().chars().next().is_none_or(ends_sentence);
        Place {
            whole: count(quote).saturating_sub(pieces),
            uncut: pieces == 0,
            sentence: pieces == 0 && begins && ends,
        }
    })
}

/// How many words a text has. Where words are not parted by spaces, each sign is one.
fn count(text: &str) -> usize {
    let signs = text.chars().filter(|c| c.is_alphanumeric() && !spells(*c)).count();
    signs + text.split(|c| !spells(c)).filter(|word| !word.is_empty()).count()
}

/// Whether a sign spells words that are parted from each other. Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese
/// begin a word anywhere, or hang endings on it.
fn spells(c: char) -> bool {
    c.is_alphanumeric()
        && !matches!(u32::from(c),
            0x0e00..=0x0eff | 0x1000..=0x109f | 0x1100..=0x11ff | 0x1780..=0x17ff | 0x2e80..=0xa4cf | 0xa960..=0xa97f
            | 0xac00..=0xd7ff | 0xf900..=0xfaff | 0xff66..=0xffdc | 0x20000..=0x3ffff)
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ':' | ';' | '…' | '。' | '！' | '？')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, quote: &str) -> Option<(usize, bool, bool)> {
        places(text, quote).next().map(|place| (place.whole, place.uncut, place.sentence))
    }

    #[test]
    fn words_that_a_quote_cuts_do_not_count() {
        let text = "Find out why. Never deploy on Fridays! Always squash. The exit code is 0";
        for (quote, whole, uncut, sentence) in [
            ("ind ou", 0, false, false),
            ("ever deploy on Fri", 2, false, false),
            ("Never deploy on Fridays", 4, true, true),
            ("deploy on Fridays!", 3, true, false),
            ("Always squash.", 2, true, true),
            ("squash", 1, true, false),
            ("exit code is 0", 4, true, false),
        ] {
            assert_eq!(place(text, quote), Some((whole, uncut, sentence)), "{quote}");
        }
        assert_eq!(place(text, "deploys"), None);
    }

    #[test]
    fn writing_without_spaces_has_words_anywhere() {
        assert_eq!(place("测试前先运行迁移。", "先运行迁移"), Some((5, true, false)));
        assert_eq!(place("必ずテストを先に書く", "テストを先に"), Some((6, true, false)));
        assert_eq!(place("배포는 금요일에 하지 마세요", "금요일"), Some((3, true, false)));
        assert_eq!(place("Straße überqueren", "raße"), Some((0, false, false)));
    }
}
