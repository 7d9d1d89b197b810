//! How `schemas.jsonl` is made: from the types that tools take and answer, as agents' clients want schemas: everything in
//! place, no `null` beside a type, no formats of Rust's own.

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

use super::{LINES, Schemas};
use crate::config::made;
use crate::mcp::tools::TOOLS;

#[test]
fn schemas_are_made_from_what_tools_take_and_answer() {
    let tools: Vec<Schemas> = TOOLS.iter().map(|row| (row.made)()).collect();
    made::is("src/mcp/schema/schemas.jsonl", LINES, &tools);
}

/// The schemas of a tool.
pub(crate) fn tool<I: JsonSchema, O: JsonSchema>(name: &str) -> Schemas {
    Schemas { name: name.to_owned(), input: of::<I>(Shape::Input), output: of::<O>(Shape::Output) }
}

/// What a schema is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// What a tool takes: what may be left out is not said to be null.
    Input,
    /// What a tool answers.
    Output,
}

/// The schema of a type.
fn of<T: JsonSchema>(shape: Shape) -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.contract = if shape == Shape::Input { Contract::Deserialize } else { Contract::Serialize };
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema, shape);
    let mut members = match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    members.remove("title");
    // The tool's own description says it.
    members.remove("description");
    members.entry("type").or_insert_with(|| "object".into());
    members.entry("properties").or_insert_with(|| Map::new().into());
    members
}

fn plain(schema: &mut Value, shape: Shape) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| plain(item, shape)),
        Value::Object(members) => {
            let foreign = |format: &Value| format.as_str().is_some_and(|name| name.starts_with(['u', 'i', 'd']));
            if members.get("type").is_some_and(|kind| !kind.is_object()) && members.get("format").is_some_and(foreign) {
                members.remove("format");
            }
            match shape {
                Shape::Input => without_null(members),
                Shape::Output => words_alone(members),
            }
            members.values_mut().for_each(|member| plain(member, shape));
        }
        _ => {}
    }
}

fn without_null(members: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = members.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = &kinds[..] {
            let only = only.clone();
            members.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(choices)) = members.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    let Some(Value::Array(choices)) = members.get_mut("anyOf") else { return };
    choices.retain(|choice| choice["type"] != "null");
    if let [Value::Object(only)] = &choices[..] {
        let only = only.clone();
        members.remove("anyOf");
        for (name, value) in only {
            members.entry(name).or_insert(value);
        }
    }
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
}

/// A choice of words as nothing but the words: who reads an answer is not to choose among them.
fn words_alone(members: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = members.get("oneOf") else { return };
    let word = |choice: &Value| choice.get("const").filter(|word| word.is_string()).cloned();
    if let Some(words) = choices.iter().map(word).collect::<Option<Vec<Value>>>() {
        members.remove("oneOf");
        members.insert("type".into(), "string".into());
        members.insert("enum".into(), words.into());
    }
}
