//! Characters that nobody sees: a model reads what is written in them, and the person who says yes does not.

/// The first character of a text that shows nothing, or shows text in another order than it has. Where writing or a
/// picture needs such a character it is none: a flag, an emoji of several, the joiners of Indic and Persian words, the
/// direction marks of Hebrew and Arabic text. A quote is as its source is: single ones of no width may stand in it.
pub(super) fn first(text: &str, quote: bool) -> Option<char> {
    let chars: Vec<char> = text.chars().collect();
    let right_to_left = text.chars().any(is_right_to_left);
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(at + 1).copied();
        let alone = !before.is_some_and(is_unseen) && !after.is_some_and(is_unseen);
        let seen = match c {
            '\n' | '\r' | '\t' => true,
            c if c.is_control() => false,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
            '\u{1f3f4}' => {
                at += flag(&chars[at + 1..]);
                true
            }
            // Joiners, and what picks the shape of the sign before it.
            '\u{200c}' | '\u{200d}' => !after.is_some_and(is_unseen) && before.is_some_and(joins),
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' | '\u{180f}' => {
                before.is_some_and(|c| !is_unseen(c) && !c.is_whitespace() && !c.is_ascii_alphabetic())
            }
            '\u{200e}' | '\u{200f}' | '\u{61c}' => right_to_left && alone,
            '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => quote && alone,
            c => !is_unseen(c),
        };
        if !seen {
            return Some(c);
        }
        at += 1;
    }
    None
}

/// How many tag letters after a black flag make a flag of a region: up to the one that ends it.
fn flag(rest: &[char]) -> usize {
    const LONGEST: usize = 7;
    let tags = rest.iter().take_while(|c| matches!(c, '\u{e0020}'..='\u{e007e}')).count();
    if (1..=LONGEST).contains(&tags) && rest.get(tags) == Some(&'\u{e007f}') { tags + 1 } else { 0 }
}

/// Whether a joiner may follow: behind a picture, its shape, or a letter of a script that has joiners.
fn joins(c: char) -> bool {
    matches!(c, '\u{fe0f}') || !c.is_ascii() && !c.is_whitespace() && !is_unseen(c)
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}') && !matches!(c, '\u{61c}')
}

/// What Unicode would have programs show nothing for, and the signs that part lines where nobody looks for it.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::first;

    #[test]
    fn what_nobody_sees_is_found() {
        for text in [
            "a\u{202e}b",
            "a\u{2066}b",
            "a\u{1b}[31m",
            "a\u{0}b",
            "a\u{e0001}b",
            "rows\u{e0072}\u{e0075}\u{e006e}",
            "🏴\u{e0067}\u{e0062} no end",
            "🏴\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e0061}\u{e006c}\u{e006c}\u{e007f}",
            "😀\u{fe0f}\u{fe01}\u{e0110}",
            "a\u{fe0f}",
            "a\u{200b}b",
            "a\u{200d}b",
            "\u{200c}\u{200b}\u{200c}",
            "نامه\u{200c}\u{200c}ها",
            "ex\u{ad}port",
            "a\u{2028}b",
            "a\u{61c}b",
            "a\u{200f}b",
            "שלום\u{200f}\u{200e}\u{200f}",
            "a\u{3164}b",
        ] {
            assert!(first(text, false).is_some(), "{text:?}");
        }
        for text in ["a\u{200b}\u{200b}b", "a\u{e0041}b", "a\u{200e}b"] {
            assert!(first(text, true).is_some(), "{text:?}");
        }
    }

    #[test]
    fn writing_and_pictures_are_left_alone() {
        for text in [
            "tab\tand\r\nlines",
            "naïve e\u{301} 日本語 葛\u{e0100} हिन्दी क्\u{200d}ष നന്\u{200d} می\u{200c}خواهم",
            "👩\u{200d}💻 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 👨\u{1f3fd}\u{200d}🚀 🏳\u{fe0f}\u{200d}🌈",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🏴",
            "גרסה 2.0\u{200f}, שלום",
        ] {
            assert_eq!(first(text, false), None, "{text:?}");
        }
        assert_eq!(first("from the web: ex\u{ad}port, a\u{200b}b", true), None);
    }
}
