//! The frontmatter block: where it stands, what it says, why it cannot be read.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value};

use super::lines::{BOM, is_blank, lines};
use super::page::{Frontmatter, Status};
use super::{Kind, plain_yaml, yaml};

/// Where a page's frontmatter stands in its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Between the two fences.
    pub yaml: Range<usize>,
    /// Where the body begins: behind the closing fence's line.
    pub body: usize,
    /// Whether there is a closing fence.
    pub closed: bool,
}

/// Finds the block: `---` on the first line (a BOM may stand before it, spaces behind it), up to `---` or `...`. A
/// first line `---` with an empty line below it is a rule of the text, not a block.
pub(super) fn find(page: &[u8]) -> Option<Block> {
    let start = text_start(page);
    let mut rest = lines(page, start);
    let first = rest.next()?;
    if page[first.text.clone()].trim_ascii_end() != b"---" {
        return None;
    }
    let yaml = first.end;
    let mut ended = None;
    for (number, line) in rest.enumerate() {
        let text = page[line.text.clone()].trim_ascii_end();
        if number == 0 && text.is_empty() {
            return None;
        }
        if text == b"---" || text == b"..." {
            return Some(Block { yaml: yaml..line.text.start, body: line.end, closed: true });
        }
        // Where a block that nobody closed stops reading like one.
        if ended.is_none() && (is_blank(text) || text.starts_with(b"# ")) {
            ended = Some(line.text.start);
        }
    }
    let end = ended.unwrap_or(page.len());
    let opens_with_key = page[yaml..end].iter().take_while(|&&b| b != b'\n').any(|&b| b == b':');
    opens_with_key.then_some(Block { yaml: yaml..end, body: end, closed: false })
}

/// The first byte behind a BOM.
pub(super) fn text_start(page: &[u8]) -> usize {
    if page.starts_with(BOM) { BOM.len() } else { 0 }
}

/// Where a page's body begins.
pub(super) fn body_start(page: &[u8]) -> usize {
    find(page).map_or_else(|| text_start(page), |block| block.body)
}

/// The keys whose values differ between the frontmatter of two pages; `None` where the blocks differ and one of them
/// cannot be read.
pub fn keys_that_differ(old: &[u8], new: &[u8]) -> Option<Vec<String>> {
    if old[..body_start(old)] == new[..body_start(new)] {
        return Some(Vec::new());
    }
    let (old, new) = (mapping(old)?, mapping(new)?);
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    Some(keys.into_iter().filter(|key| old.get(*key) != new.get(*key)).cloned().collect())
}

/// A page's frontmatter as it stands, empty where it has none.
fn mapping(page: &[u8]) -> Option<Map<String, Value>> {
    let Some(block) = find(page) else { return Some(Map::new()) };
    match yaml::parse(std::str::from_utf8(&page[block.yaml.clone()]).ok()?) {
        Ok(Value::Object(map)) if block.closed => Some(map),
        Ok(Value::Null) if block.closed => Some(Map::new()),
        _ => None,
    }
}

/// Reads the block's text. Never fails: a fault is part of what it says.
pub(super) fn read(page: &[u8], block: &Block) -> Frontmatter {
    let text = String::from_utf8_lossy(&page[block.yaml.clone()]);
    let mut front = match plain_yaml::read(&text) {
        Some(found) => from_values(found),
        None => parsed(&text),
    };
    if !block.closed {
        front = faulty(&text, "the frontmatter has no closing `---`".into(), 0, 1);
    }
    front
}

/// What the parser makes of a text.
fn parsed(text: &str) -> Frontmatter {
    match yaml::parse(text) {
        Ok(Value::Object(map)) => from_values(map.into_iter().collect()),
        Ok(Value::Null) => Frontmatter::default(),
        Ok(_) => faulty(text, "the frontmatter is not a list of `key: value` lines".into(), 1, 1),
        Err(fault) => faulty(text, fault.message, fault.line, fault.column),
    }
}

/// Frontmatter that cannot be read. What protects a page is still looked for: a stray colon elsewhere must not open a
/// pinned page to machine edits. `line` counts from the line below the opening fence.
fn faulty(text: &str, message: String, line: usize, column: usize) -> Frontmatter {
    let mut front = Frontmatter { fault: Some((message, line + 1, column)), ..Frontmatter::default() };
    for text in text.split(['\n', '\r']) {
        let Some((key, value)) = text.split_once(':') else { continue };
        let value = Value::from(value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']));
        protect(&mut front, key.trim(), &value);
    }
    front
}

/// The keys that protect a page.
fn protect(front: &mut Frontmatter, key: &str, value: &Value) {
    match key {
        "pinned" => front.pinned = is_true(value),
        "owner" => front.owner = text(value),
        "slot_kind" => front.invariant = text(value).is_some_and(|kind| kind.eq_ignore_ascii_case("invariant")),
        _ => {}
    }
}

fn from_values(values: Vec<(String, Value)>) -> Frontmatter {
    let mut front = Frontmatter::default();
    let mut kind = None;
    for (key, value) in values {
        let value = &value;
        match key.as_str() {
            "title" => front.title = text(value),
            "kind" => kind = text(value).and_then(|word| Kind::parse(&word)).or(kind),
            "type" => kind = kind.or_else(|| text(value).and_then(|word| Kind::parse(&word))),
            "description" => front.description = text(value),
            "when_to_use" => front.when_to_use = text(value),
            "tags" => front.tags = tags(value),
            "status" => front.status = text(value).map(|word| status(&word)).unwrap_or_default(),
            "priority" => front.priority = text(value).and_then(|number| number.parse().ok()),
            "expires_at" => front.expires_at = text(value),
            "supersedes" => front.supersedes = links(value),
            "superseded_by" => front.superseded_by = links(value).into_iter().next(),
            "sources" => front.sources = links(value),
            _ => protect(&mut front, &key, value),
        }
        front.keys.push(key);
    }
    front.kind = kind;
    front
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag,
        Value::String(word) => matches!(word.trim().to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "y" | "1"),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => false,
    }
}

/// A scalar's text; a list's texts with commas between; nothing for what is empty.
fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Array(_) => {
            let mut all = Vec::new();
            flatten(value, &mut all);
            all.join(", ")
        }
        Value::Null | Value::Object(_) => String::new(),
    };
    (!text.is_empty()).then_some(text)
}

/// The texts of a list, or of one text alone. `[[a]]` without quotes is a list in a list, and means `a`.
fn flatten(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flatten(item, into)),
        Value::Object(_) | Value::Null => {}
        scalar => into.extend(text(scalar)),
    }
}

/// Tags: a list, or one text with commas or spaces between; a leading `#` does not count.
fn tags(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    match value {
        Value::String(text) => all.extend(text.split([',', ' ']).map(str::to_owned)),
        other => flatten(other, &mut all),
    }
    let bare = all.iter().map(|tag| tag.trim().trim_start_matches('#').to_owned());
    bare.filter(|tag| !tag.is_empty()).collect()
}

/// Names of pages: plain, or as wiki links.
fn links(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    flatten(value, &mut all);
    all.into_iter()
        .map(|link| match link.strip_prefix("[[").and_then(|link| link.strip_suffix("]]")) {
            Some(inner) => inner.split('|').next().unwrap_or(inner).trim().to_owned(),
            None => link,
        })
        .collect()
}

fn status(word: &str) -> Status {
    match word.to_ascii_lowercase().as_str() {
        "stale" => Status::Stale,
        "superseded" => Status::Superseded,
        "retired" | "archived" => Status::Retired,
        _ => Status::Active,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(page: &str) -> Frontmatter {
        read(page.as_bytes(), &find(page.as_bytes()).expect("a block"))
    }

    #[test]
    fn fences_are_found_whatever_their_line_ends() {
        for page in [
            "---\ntitle: a\n---\n# x\n",
            "\u{feff}---\r\ntitle: a\r\n---\r\n# x\r\n",
            "---  \ntitle: a\n---\t\n# x\n",
            "---\ntitle: a\n...\n# x\n",
            "---\rtitle: a\r---\r# x\r",
            "---\ntitle: a\n---",
        ] {
            let block = find(page.as_bytes()).unwrap();
            assert_eq!(front(page).title.as_deref(), Some("a"), "{page:?}");
            assert!(page[block.body..].is_empty() || page[block.body..].starts_with("# x"));
        }
        assert_eq!(find("---\n---\n# x\n".as_bytes()).unwrap().body, 8);
    }

    #[test]
    fn a_rule_at_the_top_is_no_frontmatter() {
        assert_eq!(find(b"---\n\nJust a rule.\n\n---\n"), None);
        assert_eq!(find(b"---\nno key, never closed\n"), None);
        assert_eq!(find(b"> quote\n\n---\nname: x\n---\n"), None);
        assert_eq!(find("\u{200b}---\ntitle: zw\n---\n".as_bytes()), None);
    }

    #[test]
    fn a_block_that_nobody_closed_ends_where_the_text_begins() {
        let page = "---\ntitle: never closed\n\n# x\n\ntext\n";
        let block = find(page.as_bytes()).unwrap();
        assert_eq!(&page[block.body..], "\n# x\n\ntext\n");
        assert!(front(page).fault.is_some());
    }

    #[test]
    fn a_faults_place_is_counted_in_the_file() {
        let fault = front("\u{feff}---\r\nkind: note\r\ntitle: a: b\r\n---\r\n").fault.unwrap();
        assert_eq!((fault.1, fault.2), (3, 9));
    }

    #[test]
    fn protection_survives_a_fault() {
        let front = front("---\ntitle: a: b\npinned: true # by me\nowner: \"human\"\nslot_kind: invariant\n---\n");
        assert!(front.fault.is_some() && front.pinned && front.invariant);
        assert_eq!(front.owner.as_deref(), Some("human"));
    }

    #[test]
    fn loose_values_are_understood() {
        let front = front(
            "---\ntitle: 1409\ntags: '#a, b'\nsupersedes: [[old/page]]\nsuperseded_by: \"[[new|alias]]\"\npinned: yes\nstatus: Superseded\ntype: pitfall\nexpires_at: 2025-01-01\n---\n",
        );
        assert_eq!(front.title.as_deref(), Some("1409"));
        assert_eq!(front.tags, ["a", "b"]);
        assert_eq!(front.supersedes, ["old/page"]);
        assert_eq!(front.superseded_by.as_deref(), Some("new"));
        assert!(front.pinned);
        assert_eq!(front.status, Status::Superseded);
        assert_eq!(front.kind, Some(Kind::Gotcha));
        assert_eq!(front.expires_at.as_deref(), Some("2025-01-01"));
    }

    #[test]
    fn empty_values_are_absent() {
        let front = front("---\ntitle:\ntags: #foo\naliases: null\n---\n");
        assert_eq!((front.title, front.tags.len(), front.fault), (None, 0, None));
        assert_eq!(front.keys, ["title", "tags", "aliases"]);
    }
}
