//! One frontmatter key gets a value; every other byte of the page stays.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::edit::EditFault;
use super::lines::{Eol, is_blank, lines};
use super::{frontmatter, yaml};

/// Keys whose value is a list.
const LISTS: [&str; 6] = ["tags", "aliases", "sources", "supersedes", "derives_from", "repos"];
/// Keys whose value is no text, when it reads like none.
const TYPED: [&str; 2] = ["pinned", "priority"];
/// Lines at the top of a body in which a stray frontmatter block is looked for.
const STRAY_LINES: usize = 12;

/// The value that the text of a `set_field` stands for: a list for the keys that hold lists, a truth value or number
/// for `pinned` and `priority`, else the text.
pub fn value_of(key: &str, content: &str) -> Value {
    let text = content.trim();
    if LISTS.contains(&key) {
        if let Ok(Value::Array(items)) = yaml::parse(text)
            && items.iter().all(|item| !item.is_array() && !item.is_object())
        {
            return Value::Array(items);
        }
        let items = text.split([',', '\n']).map(str::trim).filter(|item| !item.is_empty());
        return items.map(Value::from).collect();
    }
    if TYPED.contains(&key)
        && let Ok(value @ (Value::Bool(_) | Value::Number(_))) = yaml::parse(text)
    {
        return value;
    }
    Value::from(text)
}

/// Sets a key of a page's frontmatter. Only the lines of this key change; a page without frontmatter gets a block.
/// Refused (the page stays as it is) when the frontmatter does not parse, is no mapping, or when the result would
/// not read back as the same mapping with this one value.
pub fn set(page: &[u8], key: &str, value: &Value) -> Result<Vec<u8>, EditFault> {
    let refuse = |why: &str| Err(EditFault::Frontmatter(why.to_owned()));
    if key.trim().is_empty() || key.contains(['\n', '\r']) {
        return refuse("a key must be one line of text");
    }
    let entry = format!("{}: {}", yaml::scalar(key, false), yaml::inline(value, false));
    let eol = Eol::of(page).as_str();
    let Some(block) = frontmatter::find(page) else {
        if let Some(why) = no_room(page) {
            return refuse(why);
        }
        let at = frontmatter::text_start(page);
        let made = [&page[..at], format!("---{eol}{entry}{eol}---{eol}").as_bytes(), &page[at..]].concat();
        return verified(page, made, &Map::new(), key, value);
    };
    if !block.closed {
        return refuse("it has no closing `---`");
    }
    let Ok(text) = std::str::from_utf8(&page[block.yaml.clone()]) else {
        return refuse("it is not UTF-8");
    };
    let map = match yaml::parse(text) {
        Ok(Value::Object(map)) => map,
        Ok(Value::Null) => Map::new(),
        Ok(_) => return refuse("it is not a list of `key: value` lines"),
        Err(fault) => {
            return Err(EditFault::Frontmatter(format!(
                "{} (line {}, column {})",
                fault.message,
                fault.line + 1,
                fault.column
            )));
        }
    };
    if stray_block(page, block.body) {
        return refuse("a second frontmatter block stands below it");
    }
    if map.get(key) == Some(value) {
        return Ok(page.to_vec());
    }
    let new = if map.contains_key(key) {
        match replaced(text, key, value) {
            Some(new) => new,
            None => return refuse("this key cannot be changed without touching others"),
        }
    } else {
        format!("{text}{entry}{eol}")
    };
    let made = [&page[..block.yaml.start], new.as_bytes(), &page[block.yaml.end..]].concat();
    verified(page, made, &map, key, value)
}

/// Why a page that has no frontmatter must not get one on top.
fn no_room(page: &[u8]) -> Option<&'static str> {
    let start = frontmatter::text_start(page);
    let first = lines(page, start).next().map_or(&b""[..], |line| &page[line.text]);
    let text = String::from_utf8_lossy(first);
    let seen = text.trim_matches(|c: char| c.is_whitespace() || "\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}".contains(c));
    if page.contains(&0) {
        return Some("the page is not plain text");
    }
    match seen {
        "---" => Some("the page begins with a `---` that opens no frontmatter"),
        "+++" => Some("the page has TOML frontmatter"),
        "{" | "---json" | ";;;" => Some("the page has JSON frontmatter"),
        _ if stray_block(page, start) => Some("a frontmatter block stands below the first line"),
        _ => None,
    }
}

/// Whether something that reads like frontmatter stands near the top of the body: its author meant it, and a value
/// set elsewhere would not be seen, or hide it.
fn stray_block(page: &[u8], body: usize) -> bool {
    let top: Vec<&[u8]> = lines(page, body).take(STRAY_LINES).map(|line| page[line.text].trim_ascii_end()).collect();
    for (n, line) in top.iter().enumerate() {
        if line.starts_with(b"#") || line.starts_with(b"```") || line.starts_with(b"~~~") {
            return false;
        }
        if *line == b"---" && top.get(n + 1).is_some_and(|next| is_key_line(next)) {
            // Text directly above would make the fence an underline.
            return n == 0 || is_blank(top[n - 1]);
        }
    }
    false
}

/// `word: …`
fn is_key_line(line: &[u8]) -> bool {
    let key: usize = line.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
    key > 0 && line.get(key) == Some(&b':') && matches!(line.get(key + 1), None | Some(b' ' | b'\t'))
}

/// The block's text with another value for a key that stands there. The place is found by a lossless parser, which is
/// given a plain word to put there; the word then makes room for our own spelling.
fn replaced(text: &str, key: &str, value: &Value) -> Option<String> {
    let mut word = String::from("GITMEMORYVALUE");
    while text.contains(&word) {
        word.push('X');
    }
    // A comment before the first key is no part of the parser's document.
    let head = lines(text.as_bytes(), 0)
        .take_while(|line| text[line.text.clone()].starts_with('#') || is_blank(text[line.text.clone()].as_bytes()))
        .last()
        .map_or(0, |line| line.end);
    let document = yaml_edit::Document::from_str(&text[head..]).ok()?;
    let mapping = document.as_mapping()?;
    mapping.set(key, word.as_str());
    let edited = document.to_string();
    if edited.matches(&word).count() != 1 {
        return None;
    }
    let new = format!("{}{}", &text[..head], edited.replace(&word, &yaml::inline(value, false)));
    touches_only(text, &new, key).then_some(new)
}

/// Whether the lines that differ are this key's alone: the first begins with the key, the rest continue it.
fn touches_only(old: &str, new: &str, key: &str) -> bool {
    let split = |text: &str| -> Vec<String> {
        lines(text.as_bytes(), 0).map(|line| text[line.text.start..line.end].to_owned()).collect()
    };
    let (before, after) = (split(old), split(new));
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let most = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let (gone, come) = (&before[head..before.len() - tail], &after[head..after.len() - tail]);
    let [first, rest @ ..] = gone else { return false };
    let named = first.trim_start_matches(['"', '\'']).starts_with(key);
    let continues =
        |line: &String| is_blank(line.as_bytes()) || line.starts_with([' ', '\t', '-', ']', '}', '"', '\'']);
    let ends = |line: &str| line.trim_start_matches(|c| c != '\r' && c != '\n').to_owned();
    named && rest.iter().all(continues) && come.len() == 1 && ends(&come[0]) == ends(first)
}

/// The made page, if it reads back as the old mapping with this one value and the body did not move.
fn verified(
    page: &[u8],
    made: Vec<u8>,
    map: &Map<String, Value>,
    key: &str,
    value: &Value,
) -> Result<Vec<u8>, EditFault> {
    let mut want = map.clone();
    want.insert(key.to_owned(), value.clone());
    let read = frontmatter::find(&made).filter(|block| block.closed).and_then(|block| {
        let text = std::str::from_utf8(&made[block.yaml.clone()]).ok()?;
        Some((yaml::parse(text).ok()?, block.body))
    });
    match read {
        Some((Value::Object(got), body)) if got == want && made[body..] == page[frontmatter::body_start(page)..] => {
            Ok(made)
        }
        _ => Err(EditFault::Frontmatter("the result would not read back as meant".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn set_to(page: &str, key: &str, value: Value) -> String {
        String::from_utf8(set(page.as_bytes(), key, &value).unwrap()).unwrap()
    }

    #[test]
    fn a_new_value_changes_its_own_lines_only() {
        for (page, key, value, want) in [
            (
                "---\ntitle: a # why\nb: 1\n---\n# x\n",
                "title",
                json!("new: v"),
                "---\ntitle: \"new: v\" # why\nb: 1\n---\n# x\n",
            ),
            (
                "\u{feff}---\r\ntitle: a\r\nb: 1\r\n---\r\nx",
                "title",
                json!("x"),
                "\u{feff}---\r\ntitle: x\r\nb: 1\r\n---\r\nx",
            ),
            (
                "\u{feff}---\r\ntitle: a\r\n---\r\nx",
                "description",
                json!("two\nlines"),
                "\u{feff}---\r\ntitle: a\r\ndescription: \"two\\nlines\"\r\n---\r\nx",
            ),
            (
                "---\n# keep\nzeta: >-\n  a\n  b\n# me\n\"alpha\": 'x'   # too\n---",
                "zeta",
                json!("x"),
                "---\n# keep\nzeta: x\n# me\n\"alpha\": 'x'   # too\n---",
            ),
            (
                "---\n# keep\nzeta: 1\n\"alpha\": 'x'   # too\n---",
                "alpha",
                json!("z"),
                "---\n# keep\nzeta: 1\n\"alpha\": z   # too\n---",
            ),
            ("---\ntags:\n- a\n- b\nb: 1\n---\n", "tags", json!(["c", "d e"]), "---\ntags: [c, d e]\nb: 1\n---\n"),
            ("---\ntitle:\ntags: #foo\n---\n", "title", json!("x"), "---\ntitle: x\ntags: #foo\n---\n"),
            ("---\n---\n# x\n", "pinned", json!(true), "---\npinned: true\n---\n# x\n"),
            ("# x\r\n", "status", json!("stale"), "---\r\nstatus: stale\r\n---\r\n# x\r\n"),
            ("---\ntitle: sp\n...\n# x\n", "title", json!("z"), "---\ntitle: z\n...\n# x\n"),
        ] {
            assert_eq!(set_to(page, key, value), want);
        }
    }

    #[test]
    fn frontmatter_that_cannot_be_read_is_never_edited() {
        for page in [
            "---\ntitle: Governance: manifest\n---\n",
            "---\ntitle: never closed\n\n# x\n",
            "---\n\nJust a rule.\n\n---\n",
            "---\njust a string\n---\n",
            "---\n- a\n---\n",
            "---\ntitle: one\ntitle: two\n---\n",
            "---\ntitle: A\n--- extra ---\ncode: b\n---\n",
            "+++\ntitle = \"t\"\n+++\n",
            "{\n \"title\": \"json\"\n}\n",
            "\u{200b}---\ntitle: zw\n---\n",
            "---\npermalink: p\n---\n\n---\nname: n\n---\n",
            "> quote\n\n---\nname: late\n---\nbody\n",
            "---\n{title: a}\n---\n",
        ] {
            for key in ["title", "status"] {
                let got = set(page.as_bytes(), key, &json!("new"));
                assert!(matches!(got, Err(EditFault::Frontmatter(_))), "{page:?} {key} {got:?}");
            }
        }
    }

    #[test]
    fn the_text_of_an_edit_becomes_the_kind_of_value_that_the_key_holds() {
        assert_eq!(value_of("tags", "a, b c"), json!(["a", "b c"]));
        assert_eq!(value_of("tags", "[\"a\", b]"), json!(["a", "b"]));
        assert_eq!(value_of("pinned", "true"), json!(true));
        assert_eq!(value_of("title", " true "), json!("true"));
    }

    proptest! {
        #[test]
        fn the_body_and_the_other_keys_never_change(
            text in "\\PC{0,30}", other in "[a-z]{1,8}", body in "\\PC{0,40}", crlf in any::<bool>(), bom in any::<bool>(), has in any::<bool>(),
        ) {
            let eol = if crlf { "\r\n" } else { "\n" };
            let title = if has { format!("title: old # c{eol}") } else { String::new() };
            let front = format!("{}---{eol}# c{eol}{title}z_{other}: 'v'  # d{eol}", if bom { "\u{feff}" } else { "" });
            let page = format!("{front}---{eol}# H{eol}{body}");
            let made = String::from_utf8(set(page.as_bytes(), "title", &json!(text)).unwrap()).unwrap();
            let tail = format!("---{eol}# H{eol}{body}");
            let other = format!("z_{other}: 'v'  # d{eol}");
            prop_assert!(made.ends_with(&tail) && made.contains(&other));
            if crlf {
                let head = made.strip_suffix(&tail).unwrap();
                prop_assert_eq!(head.matches('\n').count(), head.matches("\r\n").count());
            }
        }
    }
}
