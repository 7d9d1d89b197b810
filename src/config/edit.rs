//! Setting one key in the text of a config file; everything else, comments too, stays as it is.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::keys::{self, Type};
use super::layer::at;
use super::{Error, text};

/// The file's text with `key` set to `value`, which is read as a flag's value is (lists separated by commas or as a
/// TOML list). `file` names the file in errors.
///
/// # Errors
/// A text that is no TOML, an unknown key, a value that the key may not hold.
pub fn set(file: &str, old: &str, key: &str, value: &str) -> Result<String, Error> {
    let fail = |message: String| Error { origin: file.to_owned(), message };
    let (path, new) = typed(key, value).map_err(fail)?;
    let mut document: DocumentMut =
        old.parse().map_err(|fault: toml_edit::TomlError| fail(at(old, fault.span(), fault.message())))?;
    // Comments at the end of the file belong to no table: a new section is put below them.
    let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    let before = document.to_string();
    insert(document.as_table_mut(), &path, new).map_err(fail)?;
    let after = document.to_string();
    let text = match after.strip_prefix(&before) {
        Some(section) if section.trim_start().starts_with('[') && !trailing.is_empty() => {
            format!("{before}{}\n\n{}", trailing.trim_end_matches('\n'), section.trim_start())
        }
        _ => after + &trailing,
    };
    Ok(if old.contains("\r\n") { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text })
}

/// What `key` would hold, in its type; `None` where it is no key of its own, or may not hold that.
pub fn value(key: &str, value: &str) -> Option<toml::Value> {
    text::read(&keys::find(key)?, &[value]).ok()
}

/// The file's text without `key`. `file` names the file in errors.
///
/// # Errors
/// A text that is no TOML, an unknown key.
pub fn unset(file: &str, old: &str, key: &str) -> Result<String, Error> {
    let fail = |message: String| Error { origin: file.to_owned(), message };
    let is_known = |key: &str| keys::find(key).is_some();
    let is_in_map = key.rsplit_once('.').is_some_and(|(table, _)| is_known(table));
    if !is_known(key) && !is_in_map {
        return Err(fail(format!("unknown key `{key}`; {}", keys::hint(key))));
    }
    let mut document: DocumentMut =
        old.parse().map_err(|fault: toml_edit::TomlError| fail(at(old, fault.span(), fault.message())))?;
    let mut table: Option<&mut dyn TableLike> = Some(document.as_table_mut());
    let (sections, name) = key.rsplit_once('.').unwrap_or(("", key));
    for section in sections.split('.').filter(|section| !section.is_empty()) {
        table = table.and_then(|table| table.get_mut(section)?.as_table_like_mut());
    }
    if table.and_then(|table| table.remove(name)).is_none() {
        return Ok(old.to_owned());
    }
    let text = document.to_string();
    Ok(if old.contains("\r\n") { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text })
}

/// The parts of the key, and the value in the key's type.
fn typed(key: &str, value: &str) -> Result<(Vec<String>, Value), String> {
    let parts = key.split('.').map(str::to_owned).collect();
    if let Some(found) = keys::find(key) {
        let value = text::read(&found, &[value])?;
        return Ok((parts, plain(value)));
    }
    match key.rsplit_once('.').and_then(|(table, name)| Some((keys::find(table)?, name))) {
        Some((table, name)) if table.kind == Type::Map && !name.is_empty() => Ok((parts, Value::from(value))),
        _ => Err(format!("unknown key `{key}`; {}", keys::hint(key))),
    }
}

fn plain(value: toml::Value) -> Value {
    match value {
        toml::Value::Boolean(v) => v.into(),
        toml::Value::Integer(v) => v.into(),
        toml::Value::Float(v) => v.into(),
        toml::Value::String(v) => v.into(),
        toml::Value::Datetime(v) => v.to_string().into(),
        toml::Value::Array(items) => Value::Array(items.into_iter().map(plain).collect::<Array>()),
        toml::Value::Table(table) => {
            Value::InlineTable(table.into_iter().map(|(name, value)| (name, plain(value))).collect::<InlineTable>())
        }
    }
}

fn insert(table: &mut dyn TableLike, path: &[String], mut value: Value) -> Result<(), String> {
    let [name, rest @ ..] = path else { return Ok(()) };
    if rest.is_empty() {
        // A trailing comment is part of the old value's decor, and would go with it.
        if let Some(old) = table.get(name).and_then(Item::as_value) {
            *value.decor_mut() = old.decor().clone();
        }
        match table.get_mut(name) {
            Some(item) => *item = Item::Value(value),
            None => {
                table.insert(name, Item::Value(value));
            }
        }
        return Ok(());
    }
    if table.get(name).is_none() {
        let mut section = Table::new();
        // `[approval.gated]` needs no empty `[approval]` above it.
        section.set_implicit(rest.len() > 1);
        table.insert(name, Item::Table(section));
    }
    match table.get_mut(name).and_then(Item::as_table_like_mut) {
        Some(inside) => {
            insert(inside, rest, value)?;
            Ok(())
        }
        None => Err(format!("`{name}` is no table in this file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_other_keys_stay_as_they_are() {
        let old = "# ours\n[approval]   # policy\nmode = \"gated\"  # for now\n\n# odd\nautonomy=false\n";
        let new = set("f", old, "approval.mode", "none").unwrap();
        assert_eq!(new, old.replace("\"gated\"", "\"none\""));
    }

    #[test]
    fn new_keys_go_into_their_section_and_new_sections_to_the_end() {
        let old = "[wiki]\nroot = \"docs\" # here\n";
        let new = set("f", old, "wiki.protected", "a.md, b.md").unwrap();
        assert_eq!(new, "[wiki]\nroot = \"docs\" # here\nprotected = [\"a.md\", \"b.md\"]\n");
        let new = set("f", old, "approval.gated.min_confidence", "0.9").unwrap();
        assert_eq!(new, "[wiki]\nroot = \"docs\" # here\n\n[approval.gated]\nmin_confidence = 0.9\n");
        assert_eq!(set("f", "", "scheduler.interval_secs", "60").unwrap(), "[scheduler]\ninterval_secs = 60\n");
    }

    #[test]
    fn a_comment_at_the_end_stays_with_what_stands_above_it() {
        let old = "[wiki]\nroot = \"a\"\n# protected = []\n";
        let new = set("f", old, "accept.style", "squash").unwrap();
        assert_eq!(new, format!("{old}\n[accept]\nstyle = \"squash\"\n"));
        assert_eq!(set("f", "# mine\n", "wiki.root", "b").unwrap(), "# mine\n\n[wiki]\nroot = \"b\"\n");
    }

    #[test]
    fn dotted_and_inline_tables_are_edited_where_they_stand() {
        assert_eq!(set("f", "wiki.root = \"a\" # x\n", "wiki.root", "b").unwrap(), "wiki.root = \"b\" # x\n");
        assert_eq!(set("f", "wiki = { root = \"a\" }\n", "wiki.root", "b").unwrap(), "wiki = { root = \"b\" }\n");
        assert_eq!(set("f", "", "wiki.folders.gotcha", "traps").unwrap(), "[wiki.folders]\ngotcha = \"traps\"\n");
    }

    #[test]
    fn line_ends_stay_those_of_the_file() {
        let old = "[wiki]\r\nroot = \"a\"\r\n";
        assert_eq!(set("f", old, "wiki.branch", "w").unwrap(), "[wiki]\r\nroot = \"a\"\r\nbranch = \"w\"\r\n");
    }

    #[test]
    fn what_is_taken_back_leaves_the_rest_as_it_is() {
        let old =
            "# ours\n[model]\nmodel = \"m\" # mine\n\n[model.judge]\nmodel = \"j\"\n[wiki]\nfolders.gotcha = \"a\"\n";
        assert_eq!(unset("f", old, "model.judge.model").unwrap(), old.replace("model = \"j\"\n", ""));
        assert_eq!(unset("f", old, "wiki.folders.gotcha").unwrap(), old.replace("folders.gotcha = \"a\"\n", ""));
        assert_eq!(unset("f", old, "model.pair.model").unwrap(), old);
        assert!(unset("f", old, "model.modle").unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_file_and_reason() {
        assert!(set("f", "", "wiki.rot", "x").unwrap_err().to_string().contains("did you mean `wiki.root`?"));
        assert!(set("f", "", "approval.mode", "x").unwrap_err().to_string().starts_with("f: `approval.mode` is `x`"));
        assert!(set("f", "[wiki\n", "wiki.root", "x").unwrap_err().to_string().starts_with("f: line 1, column "));
        assert!(set("f", "wiki = 3\n", "wiki.root", "x").is_err());
    }
}
