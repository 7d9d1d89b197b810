//! JSON as people write it, with comments and trailing commas: read, and a member or an element put in. Every other byte
//! stays as it is, but for white space that an empty object or list holds.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::{Fault, record};

/// A byte order mark, and what follows it.
pub(super) fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

/// Comments and trailing commas, and else what JSON allows.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Reads a text whose value is an object, if it has any.
///
/// # Errors
/// When it is no JSON, or no object.
pub(super) fn parse(text: &str) -> Result<CstRootNode, Fault> {
    let (_, bare) = split_mark(text);
    let root = CstRootNode::parse(bare, &options()).map_err(|error| Fault {
        line: Some(error.line_display()),
        message: format!("this is no JSON: {} (column {})", error.kind(), error.column_display()),
    })?;
    match root.value() {
        Some(value) if value.as_object().is_none() => Err(no_object()),
        _ => Ok(root),
    }
}

pub(super) fn no_object() -> Fault {
    Fault::new("this is no JSON object")
}

/// The text with one more member at the end of the object to which `path` leads, one insertion after the other.
///
/// # Errors
/// As [`parse`], and when there is no such object.
pub(super) fn with_member(text: &str, path: &[&str], name: &str, value: &Value) -> Result<Vec<String>, Fault> {
    let (mark, bare) = split_mark(text);
    let root = parse(text)?;
    let top = root.object_value_or_create().ok_or_else(no_object)?;
    let object = path.iter().try_fold(top, |object: CstObject, name| object.object_value(name));
    object.ok_or_else(no_object)?.append(name, input(value));
    let mut new = root.to_string();
    // A file that is made ends with a line end; one that is there ends as it did.
    if bare.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    insertions(mark, bare, path, new, &format!("{}:{value}", Value::from(name)))
}

/// The text with one more element at the end of the list to which `path` leads and `name` in it, one insertion after
/// the other.
///
/// # Errors
/// As [`parse`], and when there is no such list.
pub(super) fn with_element(text: &str, path: &[&str], name: &str, value: &Value) -> Result<Vec<String>, Fault> {
    let (mark, bare) = split_mark(text);
    let root = parse(text)?;
    let object = path.iter().try_fold(root.object_value(), |object, name| Some(object?.object_value(name))).flatten();
    object.and_then(|object| object.array_value(name)).ok_or_else(no_object)?.append(input(value));
    let path: Vec<&str> = path.iter().copied().chain([name]).collect();
    insertions(mark, bare, &path, root.to_string(), &value.to_string())
}

/// The insertions that make the text the new one. Where that lays out anew what was there, what is added is put behind
/// the last member or element as it is.
fn insertions(mark: &str, bare: &str, path: &[&str], new: String, added: &str) -> Result<Vec<String>, Fault> {
    let pure = |texts: &[&str]| record::only_insert(&record::steps(bare, texts.iter().copied()));
    let texts = if pure(&[&new]) {
        vec![new]
    } else {
        let (before, after) = bare.split_at(end_of_last(bare, path)?);
        // A comment behind the last one stays there: the comma comes before it.
        let comma = format!("{before},{after}");
        if pure(&[&comma, &new]) { vec![comma, new] } else { vec![format!("{before},{added}{after}")] }
    };
    Ok(texts.into_iter().map(|text| format!("{mark}{text}")).collect())
}

/// Where the last member or element of an object or list ends.
fn end_of_last(text: &str, path: &[&str]) -> Result<usize, Fault> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options()).map_err(|e| Fault::new(e.to_string()))?;
    let mut value = parsed.value.as_ref();
    for name in path {
        value = value.and_then(ast::Value::as_object).and_then(|object| object.get(name)).map(|member| &member.value);
    }
    let end = match value {
        Some(ast::Value::Object(object)) => object.properties.last().map(|member| member.range().end),
        Some(ast::Value::Array(list)) => list.elements.last().map(|element| element.range().end),
        _ => None,
    };
    end.filter(|&at| text.is_char_boundary(at)).ok_or_else(no_object)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_on_one_line_stays_on_it() {
        let text = "\u{feff}{\"\u{e9}\":{\"b\":[1],},\"c\":2}\r\n";
        let new = with_member(text, &["\u{e9}"], "d", &json!({"e": [true]})).unwrap();
        assert_eq!(new.last().unwrap(), "\u{feff}{\"\u{e9}\":{\"b\":[1],\"d\":{\"e\":[true]},},\"c\":2}\r\n");
    }

    #[test]
    fn an_object_on_lines_gets_one_more() {
        let text = "{\r\n\t\"a\": 1 // one\r\n}";
        let new = with_member(text, &[], "b", &json!([2])).unwrap();
        assert_eq!(new, [text.replace('1', "1,"), "{\r\n\t\"a\": 1, // one\r\n\t\"b\": [2]\r\n}".into()]);
        let new = with_element("{\n  \"a\": [\n    1, // one\n  ],\n}\n", &[], "a", &json!("x")).unwrap();
        assert_eq!(new, ["{\n  \"a\": [\n    1, // one\n    \"x\",\n  ],\n}\n"]);
        let new = with_element("{\"a\": [\n  1 // one\n]}", &[], "a", &json!(2)).unwrap();
        assert_eq!(new.len(), 2);
        assert!(new[1].contains("1, // one\n"), "{new:?}");
    }
}
