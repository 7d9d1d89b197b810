//! How `keys.jsonl` is made: from the schema of [`Settings`], whose doc comments are the texts.

use serde_json::Value as Json;

use super::{Key, LINES, Type};
use crate::config::strategy::{self, DEFAULT_TEXT, Strategy};
use crate::config::{Settings, made};

#[test]
fn keys_are_made_from_the_settings() {
    let schema: Json = schemars::schema_for!(Settings).into();
    let defaults = serde_json::to_value(Settings::default()).expect("settings are plain data");
    let mut keys = Vec::new();
    collect(&schema, &schema, "", Some(&defaults), &mut keys);
    made::is("src/config/keys.jsonl", LINES.trim_start(), &keys);
}

#[test]
fn keys_of_strategies_are_made_from_the_built_in_default() {
    let schema: Json = schemars::schema_for!(Strategy).into();
    let defaults: toml::Table = toml::from_str(DEFAULT_TEXT).expect("the built-in default is TOML");
    let defaults = serde_json::to_value(defaults).expect("plain data");
    let mut keys = Vec::new();
    collect(&schema, &schema, strategy::PLACE.trim_end_matches('.'), Some(&defaults), &mut keys);
    made::is("src/config/strategy.jsonl", strategy::LINES, &keys);
}

/// Walks the schema of a table and adds its keys.
fn collect(root: &Json, table: &Json, prefix: &str, defaults: Option<&Json>, keys: &mut Vec<Key>) {
    let Some(properties) = table.get("properties").and_then(Json::as_object) else { return };
    for (name, property) in properties {
        let dotted = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let schema = resolve(root, property);
        let default = defaults.and_then(|table| table.get(name));
        if schema.get("properties").is_some() {
            collect(root, schema, &dotted, default, keys);
            continue;
        }
        let doc = property.get("description").or_else(|| schema.get("description"));
        let kind = kind_of(root, schema);
        // A list of tables is left out of the serialised defaults while it is empty.
        let default = match (&kind, default) {
            (Type::Tables(_), None) => Some(Json::Array(Vec::new())),
            (_, default) => default.cloned(),
        };
        keys.push(Key { name: dotted, doc: unwrap_lines(doc.and_then(Json::as_str).unwrap_or("")), kind, default });
    }
}

/// Doc comments are broken into lines where the source is; the text is one paragraph.
fn unwrap_lines(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Follows `$ref`, also where it stands under `allOf` or `anyOf` beside null.
fn resolve<'s>(root: &'s Json, schema: &'s Json) -> &'s Json {
    if let Some(name) = schema.get("$ref").and_then(Json::as_str).and_then(|path| path.strip_prefix("#/$defs/")) {
        return resolve(root, &root["$defs"][name]);
    }
    for group in ["allOf", "anyOf"] {
        if let Some(parts) = schema.get(group).and_then(Json::as_array)
            && let Some(part) = parts.iter().find(|part| part.get("type").and_then(Json::as_str) != Some("null"))
        {
            return resolve(root, part);
        }
    }
    schema
}

fn kind_of(root: &Json, schema: &Json) -> Type {
    if let Some(words) = words_of(schema) {
        return Type::Word(words);
    }
    let name = match &schema["type"] {
        Json::Array(names) => names.iter().filter_map(Json::as_str).find(|name| *name != "null").unwrap_or("string"),
        name => name.as_str().unwrap_or("string"),
    };
    match name {
        "boolean" => Type::Bool,
        "integer" => {
            let most = if schema["format"] == "uint32" { u32::MAX.into() } else { i64::MAX };
            Type::Integer(schema["minimum"].as_i64().unwrap_or(0), schema["maximum"].as_i64().unwrap_or(most))
        }
        "number" => Type::Number(schema["minimum"].as_f64(), schema["maximum"].as_f64()),
        "array" => {
            let items = resolve(root, &schema["items"]);
            if items.get("properties").is_some() {
                let mut keys = Vec::new();
                collect(root, items, "", None, &mut keys);
                Type::Tables(keys)
            } else {
                Type::List
            }
        }
        "object" => Type::Map,
        _ => Type::Text,
    }
}

/// The words of an enum: `enum: [..]`, or `oneOf` of constants where its variants have texts.
fn words_of(schema: &Json) -> Option<Vec<String>> {
    let list = |values: &Json| values.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect();
    if let Some(words) = schema.get("enum").and_then(list) {
        return Some(words);
    }
    let parts = schema.get("oneOf")?.as_array()?;
    let mut words = Vec::new();
    for part in parts {
        match part.get("const").and_then(Json::as_str) {
            Some(word) => words.push(word.to_owned()),
            None => words.extend(words_of(part)?),
        }
    }
    Some(words)
}
