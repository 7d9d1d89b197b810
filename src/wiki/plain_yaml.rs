//! The YAML that nearly all frontmatter is: `key: value` lines with plain or quoted texts, and lists of them. Reading it
//! takes a tenth of what the parser takes, and indexes of ten thousand pages feel that. Anything else is left to the
//! parser, which must say the same wherever this says something.

use serde_json::Value;

/// Longest text, in bytes, and most keys of it.
const LONGEST: usize = 16 << 10;
const MOST_KEYS: usize = 64;

/// The keys and values in their order, or `None` for what takes a parser.
pub(super) fn read(text: &str) -> Option<Vec<(String, Value)>> {
    if text.len() > LONGEST {
        return None;
    }
    let mut found: Vec<(String, Value)> = Vec::with_capacity(16);
    let mut lines = text.split('\n').filter(|line| !line.trim_end_matches(' ').is_empty()).peekable();
    while let Some(line) = lines.next() {
        let (key, rest) = line.split_once(':')?;
        let is_new = found.len() < MOST_KEYS && !found.iter().any(|(other, _)| other == key);
        if !is_new || !is_key(key) || !(rest.is_empty() || rest.starts_with(' ')) {
            return None;
        }
        let rest = rest.trim_matches(' ');
        let mut value = if rest.is_empty() { Value::Null } else { inline(rest)? };
        let mut items = Vec::new();
        let mut indent = None;
        while let Some(item) = lines.next_if(|line| line.starts_with([' ', '-'])) {
            let (spaces, item) = item.split_once("- ")?;
            let fits = spaces.bytes().all(|byte| byte == b' ') && *indent.get_or_insert(spaces.len()) == spaces.len();
            items.push(scalar(item.trim_matches(' ')).filter(|_| fits && rest.is_empty())?);
        }
        if !items.is_empty() {
            value = Value::Array(items);
        }
        found.push((key.to_owned(), value));
    }
    (!found.is_empty()).then_some(found)
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && !is_special(key)
}

/// A value on the line of its key: a scalar, or a list in brackets.
fn inline(text: &str) -> Option<Value> {
    let Some(inner) = text.strip_prefix('[') else { return scalar(text) };
    let inner = inner.strip_suffix(']')?.trim_matches(' ');
    if inner.is_empty() {
        return Some(Value::Array(Vec::new()));
    }
    let item = |item: &str| {
        let item = item.trim_matches(' ');
        let bare = ['"', '\''].iter().find_map(|&quote| item.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(item);
        let plain = !bare.contains(['[', ']', '{', '}', '"', '\'', ':', '#', '?']);
        if plain { scalar(item) } else { None }
    };
    inner.split(',').map(item).collect()
}

fn scalar(text: &str) -> Option<Value> {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            let inner = inner.strip_suffix(quote)?;
            return (!inner.contains([quote, '\\']) && is_printable(inner)).then(|| inner.into());
        }
    }
    if matches!(text, "true" | "false") {
        return Some(Value::Bool(text == "true"));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits(text);
    }
    let is_text = text.starts_with(|c: char| c.is_ascii_alphabetic())
        || text.starts_with(['/', '('])
        || text.starts_with("../")
        || text.starts_with("./")
        || is_date(text)
        || is_no_number(text);
    (is_text && is_one_scalar(text) && is_printable(text) && !is_special(text)).then(|| text.into())
}

/// A number, or a text where it would lose its spelling.
fn digits(text: &str) -> Option<Value> {
    match text.len() {
        2.. if text.starts_with('0') => Some(text.into()),
        ..16 => text.parse::<u64>().ok().map(Value::from),
        _ => None,
    }
}

/// Whether there is no other key and no comment in a text.
fn is_one_scalar(text: &str) -> bool {
    !text.ends_with(':') && !text.as_bytes().windows(2).any(|pair| matches!(pair, b": " | b" #"))
}

/// A day, perhaps with a time behind it.
fn is_date(text: &str) -> bool {
    let Some((day, rest)) = text.split_at_checked(10) else { return false };
    let fits = |(n, byte): (usize, u8)| if matches!(n, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    day.bytes().enumerate().all(fits) && (rest.is_empty() || rest.starts_with([' ', 'T']))
}

/// It begins with a digit and holds what stands in no number, whatever its base.
fn is_no_number(text: &str) -> bool {
    let [b'0'..=b'9', second, ..] = text.as_bytes() else { return false };
    let in_base = second.is_ascii_alphabetic();
    let foreign = |byte: u8| match byte.to_ascii_lowercase() {
        b'a' | b'c' | b'd' | b'f' => !in_base,
        byte => matches!(byte, b'g'..=b'n' | b'p'..=b'w' | b'y' | b'z' | b'/' | b'&' | b'('),
    };
    text.bytes().any(foreign)
}

fn is_printable(text: &str) -> bool {
    let ascii = |byte: u8| (b' '..=b'~').contains(&byte);
    let wide = |c: char| {
        (' '..='~').contains(&c)
            || (c >= '\u{a1}' && c.is_alphanumeric())
            || matches!(c, '–' | '—' | '‘' | '’' | '“' | '”' | '…' | '→')
    };
    text.bytes().all(ascii) || text.chars().all(wide)
}

/// Words that may be more than a text.
fn is_special(text: &str) -> bool {
    const WORDS: [&str; 11] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];
    text.len() <= 5 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) || text.eq_ignore_ascii_case("infinity")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::yaml;
    use super::*;

    fn object(found: Vec<(String, Value)>) -> Value {
        Value::Object(found.into_iter().collect())
    }

    #[test]
    fn ordinary_frontmatter_takes_no_parser() {
        let text = "title: \"OMAE2009-79748.pdf\"\nslug: omae-2009\nadded: 2026-04-07\ningested: 2026-04-07 10:31 UTC\n\
                    tags: [a, b-c]\nissue: 77\nnumber: 052\nother: 03a-3\nnone: []\nempty:\nsources:\n  - https://example.org/x\n  - 'b c'\nwhen_to_use: it's \
                    broken, or (x) is\n";
        let map = object(read(text).expect("read"));
        assert_eq!(map["sources"][0], "https://example.org/x");
        assert_eq!(map, yaml::parse(text).expect("yaml"));
    }

    #[test]
    fn what_could_mean_something_else_is_left_to_the_parser() {
        for text in [
            "a: b: c",
            "a: 1.5",
            "a: 1:30",
            "a: 0xaf",
            "a: 1af",
            "a: 12345678901234567890",
            "a: 1e5",
            "a: 0x1f",
            "a: 0o7",
            "a: 1_000",
            "a: .5",
            "a: -x",
            "a: yes",
            "a: &x b",
            "a: *x",
            "a: !t b",
            "a: |\n  b",
            "a: b # c",
            "a: b\n  c",
            "a: {b: c}",
            "a: [[b]]",
            "a: \"b\\n\"",
            "a: 'it''s'",
            "a: b\na: c",
            "a:b",
            "- a",
            "a:\n  - b\n - c",
            "a:\n  b: c",
            "a: #b",
            "a: @b",
            "a: `b`",
            "a: %b",
            "a: -",
            "a: ~",
            "a:\n- b: c",
            "",
            "a: [b, [c]]",
            "a: [b, ]",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_says_what_the_parser_says(
            parts in prop::collection::vec(
                prop_oneof![
                    Just("a"), Just("key"), Just("b c"), Just(": "), Just(":"), Just("\n"), Just("\n  - "), Just("\n- "), Just(" "),
                    Just("- "), Just("["), Just("]"), Just(", "), Just("\""), Just("'"), Just("#"), Just(" #"), Just("2026-04-07"),
                    Just("T10:00"), Just("yes"), Just("null"), Just("é"), Just("—"), Just("\u{2028}"), Just("&"), Just("*"), Just("!"),
                    Just("|"), Just(">"), Just("?"), Just("{"), Just("}"), Just("%"), Just("@"), Just("\\"), Just("1"), Just("."),
                    Just("-"), Just("1e"), Just("0x"), Just("0o"), Just("g"), Just("/"), Just("("), Just("0334"), Just("true"), Just("1_0"), Just("12"), Just("0"), Just("f"), Just("b"), Just("x: y\n"), Just("tags:\n"), Just("t: "), Just("\u{a0}"), Just("..."), Just("---"),
                ],
                0..16,
            )
        ) {
            let text = parts.concat();
            if let Some(map) = read(&text) {
                prop_assert_eq!(yaml::parse(&text), Ok(object(map)), "{:?}", text);
            }
        }
    }
}
