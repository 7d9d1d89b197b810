//! What the tools take and answer, as JSON Schemas. They stand in `schemas.jsonl`, a line for each tool, which
//! `schema/made.rs` makes from the types.

#[cfg(test)]
pub(super) mod made;

use serde::Deserialize;
use serde_json::{Map, Value};

const LINES: &str = include_str!("schema/schemas.jsonl");

/// The schemas of a tool.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct Schemas {
    /// The tool's name.
    #[cfg_attr(not(test), expect(dead_code, reason = "the line has been found by it"))]
    name: String,
    /// What it takes.
    pub input: Map<String, Value>,
    /// What it answers.
    pub output: Map<String, Value>,
}

/// The schemas of the tool of this name.
pub fn of(name: &str) -> Schemas {
    let begin = format!("{{\"name\":\"{name}\",");
    let line = LINES.lines().find(|line| line.starts_with(&begin)).expect("there is a line for every tool");
    serde_json::from_str(line).expect("schemas.jsonl is made from schemas")
}
