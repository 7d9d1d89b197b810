//! Text that is not ours, made safe for a terminal; and times as people say them.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with control characters, terminal escapes and characters that reorder or hide text made visible
/// (`\x1b`, `\u{202e}`). Line ends too: it stays on one line. Tabs stay.
pub fn shown(text: &str) -> Cow<'_, str> {
    escape(text, false)
}

/// As [`shown`], but line ends stay (CRLF becomes LF).
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escape(text, true)
}

/// JSON text in which characters that a terminal would act on are escaped: JSON itself asks that only of the first 32.
/// It reads back as the same.
pub fn json_shown(text: &str) -> Cow<'_, str> {
    let kept = |c: char| c == '\n' || !is_dangerous(c);
    if text.chars().all(kept) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if kept(c) {
            safe.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(safe, "\\u{unit:04x}");
        }
    }
    Cow::Owned(safe)
}

/// What is wrong with a text that is no JSON of ours, without any of its words.
pub fn json_fault(error: &serde_json::Error) -> String {
    let said = error.to_string();
    // What names a field names one of ours; all else quotes what stands there.
    if !error.is_data() || said.starts_with("missing field") || said.starts_with("duplicate field") {
        return said;
    }
    format!("a value is none that may stand there at line {} column {}", error.line(), error.column())
}

fn escape(text: &str, lines: bool) -> Cow<'_, str> {
    let kept = |c: char| c == '\t' || (lines && c == '\n') || !is_dangerous(c);
    let plain = |byte: u8| (b' '..=b'~').contains(&byte);
    if text.bytes().all(plain) || text.chars().all(kept) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if lines && c == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        // Writing to a String cannot fail.
        let _ = match c {
            c if kept(c) => {
                safe.push(c);
                Ok(())
            }
            '\n' => safe.write_str("\\n"),
            '\r' => safe.write_str("\\r"),
            c if (c as u32) < 0x100 => write!(safe, "\\x{:02x}", c as u32),
            c => write!(safe, "\\u{{{:x}}}", c as u32),
        };
    }
    Cow::Owned(safe)
}

/// Control characters, and the invisible ones that change the order of what is read or hide in it. The zero-width
/// joiners stay: scripts and emoji need them.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// How long ago: `3 h`, `2 d`. The future, as a clock that went back gives it, is `now`.
pub fn age(then: jiff::Timestamp, now: jiff::Timestamp) -> String {
    span(now.duration_since(then).as_secs())
}

/// A number of seconds in its largest whole unit: `now` (below a second), `40 s`, `5 min`, `3 h`, `2 d`, `6 w`, `2 y`.
pub fn span(seconds: i64) -> String {
    const UNITS: [(i64, &str); 6] =
        [(31_557_600, "y"), (7 * 86_400, "w"), (86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    // Weeks only from two months on: "13 d" says more than "1 w".
    for (length, unit) in UNITS {
        let least = if unit == "w" { 60 * 86_400 } else { length };
        if seconds >= least {
            return format!("{} {unit}", seconds / length);
        }
    }
    "now".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_and_bidi_characters_become_visible() {
        assert_eq!(shown("a\x1b[31mred\x07"), "a\\x1b[31mred\\x07");
        assert_eq!(shown("ab\u{202e}cd\u{9b}31m"), "ab\\u{202e}cd\\x9b31m");
        assert_eq!(shown("two\nlines\r\n"), "two\\nlines\\r\\n");
        assert_eq!(shown_lines("two\r\nlines\rx"), "two\nlines\\rx");
    }

    #[test]
    fn json_reads_back_as_the_same_and_holds_nothing_that_a_terminal_acts_on() {
        let nasty = "a\u{9b}2J\u{7f}\u{202e}\u{e0041}\n\u{1b}";
        let text = serde_json::to_string(nasty).expect("json");
        let safe = json_shown(&text);
        assert!(safe.is_ascii(), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).expect("json"), nasty);
    }

    #[test]
    fn ordinary_text_of_any_script_is_not_copied() {
        assert!(matches!(shown("größe\t日本 👩\u{200d}💻"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_wrong_with_json_is_told_without_its_words() {
        #[derive(Debug, serde::Deserialize)]
        #[allow(dead_code)]
        struct Record {
            at: u64,
        }
        for (text, told) in [
            (r#"{"at":"hunter2"}"#, "a value is none that may stand there at line 1 column 15"),
            (r#""hunter2""#, "a value is none that may stand there at line 1 column 9"),
            (r#"{"hunter2":1}"#, "missing field `at` at line 1 column 13"),
            (r#"{"at":hunter2}"#, "expected value at line 1 column 7"),
        ] {
            assert_eq!(json_fault(&serde_json::from_str::<Record>(text).unwrap_err()), told);
        }
    }

    #[test]
    fn spans_are_said_in_their_largest_useful_unit() {
        let words = [0, 59, 60, 7_199, 90_000, 20 * 86_400, 90 * 86_400, 800 * 86_400].map(span);
        assert_eq!(words, ["now", "59 s", "1 min", "1 h", "1 d", "20 d", "12 w", "2 y"]);
    }
}
