//! YAML, read with low limits and written so that every reader sees the same value.

use serde_json::{Map, Number, Value};

/// Longest frontmatter that is parsed, in bytes. Real ones stay below 20 KiB.
const MAX_BYTES: usize = 128 * 1024;

/// Why a text is not usable YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub message: String,
    /// From 1, in the text.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// Reads one document. Numbers that would lose their spelling (`0755`, `1_000`) stay strings.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    if text.len() > MAX_BYTES {
        return Err(Fault { message: "the frontmatter is longer than 128 KiB".into(), line: 1, column: 1 });
    }
    let options = serde_saphyr::options! {
        // An alias bomb or deep nesting ends here, not in memory or on the stack.
        budget: serde_saphyr::budget! {
            max_depth: 32,
            flow_nesting_limit: 32,
            max_events: 40_000,
            max_nodes: 20_000,
            max_aliases: 200,
            max_anchors: 100,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
            max_replay_stack_depth: 8,
        },
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        strict_booleans: true,
        null_as_string: true,
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<Value>(text, options).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |at| (at.line() as usize, at.column() as usize));
        Fault { message: plain_words(&error.without_snippet().to_string()), line, column }
    })
}

/// The parser's message without its place (we say that ourselves) and without advice to programmers.
fn plain_words(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let text = match first.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
        Some((place, text)) if place.contains("column") => text,
        _ => first,
    };
    // The parser's own renderer puts the place behind the words.
    let text = match text.rfind(" at line ") {
        Some(cut) => &text[..cut],
        None => text,
    };
    let text = text.split(", set ").next().unwrap_or(text).split("; use ").next().unwrap_or(text);
    if text.contains("mapping values are not allowed") {
        return "a value that holds `: ` must be quoted".into();
    }
    if text.contains("multiple YAML documents") {
        return "a second document starts inside the frontmatter".into();
    }
    if text.is_empty() { "this is not YAML".into() } else { text.to_owned() }
}

/// One line for a value: a plain or double-quoted scalar, or a flow collection. `flow`: it stands inside one.
pub(super) fn inline(value: &Value, flow: bool) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => plain_number(number),
        Value::String(text) => scalar(text, flow),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(item, true)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", scalar(key, true), inline(value, true))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

/// A number that YAML reads as one: an exponent needs a sign and a point for older readers.
fn plain_number(number: &Number) -> String {
    let text = number.to_string();
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let point = if mantissa.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
            format!("{mantissa}{point}e{sign}{exponent}")
        }
        None => text,
    }
}

/// Appends `key: value` lines, nested collections as blocks below `indent` spaces.
pub(super) fn push_entry(out: &mut String, key: &str, value: &Value, indent: usize) {
    push_indent(out, indent);
    out.push_str(&scalar(key, false));
    out.push(':');
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            push_map(out, map, indent + 2);
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array() || is_long(item)) => {
            out.push('\n');
            for item in items {
                push_item(out, item, indent + 2);
            }
        }
        _ => {
            out.push(' ');
            out.push_str(&inline(value, false));
            out.push('\n');
        }
    }
}

fn push_map(out: &mut String, map: &Map<String, Value>, indent: usize) {
    for (key, value) in map {
        push_entry(out, key, value, indent);
    }
}

fn push_item(out: &mut String, item: &Value, indent: usize) {
    match item {
        Value::Object(map) if !map.is_empty() => {
            let start = out.len();
            push_map(out, map, indent + 2);
            // The first key stands behind the dash.
            out.replace_range(start + indent..start + indent + 1, "-");
        }
        _ => {
            push_indent(out, indent);
            out.push_str("- ");
            out.push_str(&inline(item, false));
            out.push('\n');
        }
    }
}

fn push_indent(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn is_long(item: &Value) -> bool {
    item.as_str().is_some_and(|text| text.len() > 60)
}

/// A string as a scalar on one line: plain where no reader could take it for anything else.
pub(super) fn scalar(text: &str, flow: bool) -> String {
    if is_safe_plain(text, flow) { text.to_owned() } else { quoted(text) }
}

/// Plain scalars are allowed only in a narrow form, so that no YAML version or reader disagrees about them.
fn is_safe_plain(text: &str, flow: bool) -> bool {
    if is_date(text) {
        return true;
    }
    let Some(first) = text.chars().next() else { return false };
    if !(first.is_alphabetic() || first == '_' || first == '/' || first.is_ascii_digit()) || text.ends_with([' ', ':'])
    {
        return false;
    }
    if text.contains(": ") || text.contains(" #") || text.len() > 1000 {
        return false;
    }
    let allowed = |c: char| {
        c.is_alphanumeric() && !c.is_control()
            || matches!(
                c,
                ' ' | '_'
                    | '-'
                    | '.'
                    | '/'
                    | '('
                    | ')'
                    | '+'
                    | '='
                    | ';'
                    | '@'
                    | '~'
                    | '\''
                    | '’'
                    | '–'
                    | '—'
                    | '<'
                    | '>'
                    | '$'
                    | '^'
                    | '*'
                    | '&'
                    | '!'
                    | '?'
                    | '#'
                    | '%'
                    | '|'
            )
            || (matches!(c, ',' | ':') && !flow)
    };
    if !text.chars().all(allowed) {
        return false;
    }
    // What begins like a number must show early that it is none (`3rd`, `v1` is fine, `12e3` and `1:30` are not).
    if first.is_ascii_digit()
        && !text.chars().any(|c| c.is_alphabetic() && !"eExXoObB_".contains(c) && !c.is_ascii_hexdigit())
    {
        return false;
    }
    !is_word_of_yaml(text)
}

/// Words that some YAML version reads as something other than a string.
fn is_word_of_yaml(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "nan" | "inf" | "infinity"
    )
}

/// `2026-03-01`, or such a day with a time of day: readers give a date or this very string, both are meant.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = |range: std::ops::Range<usize>, pattern: &str| {
        bytes.get(range).is_some_and(|part| {
            part.iter().zip(pattern.bytes()).all(|(b, p)| if p == b'0' { b.is_ascii_digit() } else { *b == p })
        })
    };
    match bytes.len() {
        10 => shape(0..10, "0000-00-00"),
        20.. => shape(0..20, "0000-00-00T00:00:00Z") && bytes.len() == 20,
        _ => false,
    }
}

/// A double-quoted scalar: every character that YAML or an editor could change is escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{85}' | '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04X}", c as u32));
            }
            c if c.is_control() => out.push_str(&format!("\\x{:02X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn words_and_numbers_that_are_strings_get_quotes() {
        for text in [
            "null", "Yes", "no", "1.10", "0755", "0x1F", "12:30", "1e3", "", " a", "a ", "a: b", "a #b", "- a", "#a",
            "[a", "@a", "`a", "a:", "{{x}}",
        ] {
            assert!(scalar(text, false).starts_with('"'), "{text:?} stands plain");
        }
        for text in
            ["Use pnpm, not npm", "2026-03-01", "2026-03-01T10:00:00Z", "gotchas/openssl-dir.md", "Straße", "3rd try"]
        {
            assert_eq!(scalar(text, false), text);
        }
        assert_eq!(scalar("a, b", true), "\"a, b\"");
    }

    #[test]
    fn nested_values_read_back() {
        let value = json!({"generated": {"by": "git-memory", "run": "01J"}, "tags": ["a", "b: c"], "evidence": [{"source": "x", "quote": "a\n# b"}, {"source": "y", "n": {"m": [1, null]}}], "none": [], "map": {}});
        let mut out = String::new();
        push_map(&mut out, value.as_object().unwrap(), 0);
        assert_eq!(parse(&out).unwrap(), value, "{out}");
        assert!(out.contains("evidence:\n  - source: x\n    quote: "), "{out}");
    }

    #[test]
    fn a_fault_says_what_and_where_in_plain_words() {
        let fault = parse("kind: note\ntitle: Governance: manifest\n").unwrap_err();
        assert_eq!((fault.line, fault.column), (2, 18));
        assert_eq!(fault.message, "a value that holds `: ` must be quoted");
        let fault = parse("a: 1\na: 2\n").unwrap_err();
        assert_eq!(
            (fault.line, fault.message.contains("duplicate"), fault.message.contains("Policy")),
            (2, true, false)
        );
    }

    #[test]
    fn bombs_end_early() {
        let nested = "[".repeat(40_000);
        assert!(parse(&nested).is_err());
        let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
        for (i, c) in ('b'..='k').enumerate() {
            let before = (b'a' + i as u8) as char;
            bomb.push_str(&format!("{c}: &{c} [{}]\n", vec![format!("*{before}"); 10].join(", ")));
        }
        assert!(parse(&bomb).is_err());
        assert!(parse(&"k: v\n".repeat(300_000)).is_err());
    }

    /// Strings that YAML readers stumble over.
    fn hostile() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            ": ",
            " #",
            "#",
            "- ",
            "-",
            "\"",
            "'",
            "\n",
            "\r\n",
            "\t",
            "null",
            "yes",
            "NO",
            "~",
            "1",
            "0755",
            "1e5",
            "0x1f",
            ".5",
            "1.10",
            "12:30:45",
            "[",
            "]",
            "{",
            "}",
            ",",
            "&a",
            "*a",
            "!b",
            "|",
            ">",
            "%",
            "@",
            "`",
            "---",
            "...",
            "\\",
            "é",
            "日本",
            "\u{feff}",
            "\u{a0}",
            "\u{2028}",
            "\u{85}",
            "\u{7}",
            "🗂️",
            "word",
            " ",
            "2026-03-01",
            "?",
            ":",
            "<<",
            "=",
        ]);
        prop::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn whatever_is_written_reads_back(text in prop_oneof![hostile(), any::<String>()], key in hostile(), number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
            let value = json!({"plain": text, "list": [text, {"deep": text}], "flow": {"n": number, "l": ["a", text]}, "i": [1, -2, u64::MAX]});
            let mut out = String::new();
            push_map(&mut out, value.as_object().unwrap(), 0);
            let read = parse(&out).map_err(|fault| TestCaseError::fail(format!("{fault:?}\n{out}")))?;
            prop_assert_eq!(read, value, "{}", out);
            let line = format!("{}: {}\n", scalar(&key, false), inline(&json!([text]), false));
            prop_assert_eq!(parse(&line).ok(), Some(json!({key: [text]})), "{}", line);
        }
    }
}
