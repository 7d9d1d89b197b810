//! `git memory schema`: what `--json` prints, as JSON Schemas. They stand in `schemas.jsonl`, a line each, which
//! `schema/made.rs` makes from the types.

#[cfg(test)]
mod made;

use std::io::Write;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::output::schema_id;
use super::packed::{packed, unpacked};
use super::{CliError, Context, Exit, Result};

/// A line for each output, with its name first.
static LINES: LazyLock<String> = LazyLock::new(|| unpacked(packed!("src/cli/schema/schemas.jsonl")));

/// What stands before the name in a line.
const BEFORE: &str = "{\"name\":\"";

/// One kind of output.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Serialize))]
struct Output {
    /// Its name, as in `git-memory.<name>/1`.
    #[cfg_attr(not(test), expect(dead_code, reason = "the line has been found by it"))]
    name: String,
    /// What it holds.
    schema: Value,
}

/// The names of all outputs.
pub fn names() -> impl Iterator<Item = &'static str> {
    LINES.lines().map(name)
}

/// The schema of one output, with the member `schema` that stands first in it; takes `error` and `git-memory.error/1`.
pub fn find(wanted: &str) -> Option<Value> {
    let line = LINES.lines().find(|line| name(line) == wanted || schema_id(name(line)) == wanted)?;
    let output: Output = serde_json::from_str(line).expect("schemas.jsonl is made from outputs");
    Some(output.schema)
}

fn name(line: &'static str) -> &'static str {
    line[BEFORE.len()..].split('"').next().unwrap_or_default()
}

/// Show the JSON Schema of what a command prints with --json.
///
/// Without a name, lists the names. Every object that is printed with --json names its schema in its first member,
/// as `git-memory.<name>/<version>`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The schema: `error`, `git-memory.error/1` …
    name: Option<String>,
}

/// The names there are.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SchemaList {
    /// Names that `git memory schema` takes.
    schemas: Vec<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let Some(wanted) = args.name else {
        let names: Vec<String> = names().map(str::to_owned).collect();
        if ctx.json {
            ctx.print_json("schema-list", &SchemaList { schemas: names })?;
            return Ok(Exit::Done);
        }
        let mut out = ctx.out();
        for name in names {
            writeln!(out, "{name}")?;
        }
        out.finish()?;
        return Ok(Exit::Done);
    };
    let schema = find(&wanted).ok_or_else(|| {
        CliError::refused("unknown_schema", format!("no schema is named '{wanted}'"))
            .hint("`git memory schema` lists the names")
    })?;
    let mut out = ctx.paged();
    serde_json::to_writer_pretty(&mut out, &schema).map_err(std::io::Error::from)?;
    writeln!(out)?;
    out.finish()?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_demands_its_own_name_and_no_name_is_there_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for name in names() {
            assert!(seen.insert(name), "{name} is there twice");
            let schema = find(name).expect("it is listed");
            assert_eq!(schema.pointer("/properties/schema/const"), Some(&schema_id(name).into()));
            assert_eq!(find(&schema_id(name)), Some(schema));
        }
    }

    #[test]
    fn an_error_is_what_its_schema_says() {
        let object = CliError::refused("busy", "no").hint("later").object();
        let mut bytes = Vec::new();
        super::super::output::json(&mut bytes, "error", &object).expect("written");
        let value: Value = serde_json::from_slice(&bytes).expect("json");
        let schema = find("error").expect("it is listed");
        assert!(jsonschema::is_valid(&schema, &value), "{value} against {schema}");
        assert!(!jsonschema::is_valid(&schema, &serde_json::json!({"code": "x", "message": "y"})));
    }
}
