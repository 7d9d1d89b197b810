//! `git memory schema`: what `--json` prints, as JSON Schemas.

use std::io::Write;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::output::schema_id;
use super::{CliError, Context, ErrorObject, Exit, Result};

/// One kind of output: its name (`git-memory.<name>/1`) and how its schema is made.
pub struct Output {
    /// The name.
    pub name: &'static str,
    make: fn(&mut SchemaGenerator) -> Schema,
}

const fn output<T: JsonSchema>(name: &'static str) -> Output {
    Output { name, make: |generator| generator.root_schema_for::<T>() }
}

/// Everything that `--json` prints. A new output is one more row.
pub const OUTPUTS: &[Output] = &[
    output::<super::agent::Changed>("agent-changed"),
    output::<super::agent::Found>("agent-status"),
    output::<crate::eval::bisect::Found>("bisect"),
    output::<crate::report::blame::Blame>("blame"),
    output::<super::capture::Shown>("capture"),
    output::<super::config::Settings>("config"),
    output::<super::config::Changed>("config-set"),
    output::<super::config::Setting>("config-value"),
    output::<super::gather::Gathered>("context"),
    output::<super::demo::Report>("demo"),
    output::<super::doctor::Report>("doctor"),
    output::<ErrorObject>("error"),
    output::<crate::proposal::feedback::Given>("feedback"),
    output::<super::eval::counterfactual::Effects>("eval-counterfactual"),
    output::<crate::eval::ranking::Comparison>("eval-outcome-ranking"),
    output::<crate::eval::retrieval::Report>("eval-retrieval"),
    output::<crate::eval::review::Report>("eval-review"),
    output::<super::init::Report>("init"),
    output::<super::hooks::Changed>("hooks-changed"),
    output::<super::hooks::Found>("hooks-status"),
    output::<super::lint::Report>("lint"),
    output::<super::log::Log>("log"),
    output::<super::man::Installed>("man-install"),
    output::<super::model::Report>("model-test"),
    output::<crate::improve::print::Printed>("prompt"),
    output::<crate::improve::Run>("run"),
    output::<super::run::Runs>("runs"),
    output::<super::proposal::list::Proposals>("proposals"),
    output::<super::proposal::show::Shown>("proposal"),
    output::<super::proposal::diff::Diff>("proposal-diff"),
    output::<super::proposal::log::Log>("proposal-log"),
    output::<super::proposal::accept::Decided>("accepted"),
    output::<super::proposal::reject::Rejected>("rejected"),
    output::<super::proposal::reopen::Reopened>("reopened"),
    output::<super::proposal::revert::Reverts>("reverted"),
    output::<super::proposal::edit::Edited>("edited"),
    output::<super::proposal::rebase::Rebases>("rebased"),
    output::<super::proposal::drain::Drain>("drained"),
    output::<super::proposal::propose::Proposed>("proposed"),
    output::<super::search::Results>("search"),
    output::<crate::feedback::Outcome>("outcome"),
    output::<super::session::Shown>("session"),
    output::<crate::report::brief::Brief>("session-start"),
    output::<super::session::List>("sessions"),
    output::<super::session::forget::Forgotten>("session-forgotten"),
    output::<super::status::Report>("status"),
    output::<SchemaList>("schema-list"),
    output::<super::improve::Skipped>("skipped"),
    output::<super::trust::Report>("trust"),
];

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
#[derive(Debug, Serialize, JsonSchema)]
struct SchemaList {
    /// Names that `git memory schema` takes.
    schemas: Vec<String>,
}

/// The schema of one output, with the member `schema` that stands first in it.
pub fn schema_of(output: &Output) -> Schema {
    let mut schema = (output.make)(&mut schemars::generate::SchemaSettings::draft2020_12().into_generator());
    let id = schema_id(output.name);
    let object = schema.ensure_object();
    object.insert("title".into(), id.clone().into());
    let properties = object.entry("properties").or_insert_with(|| serde_json::json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("schema".into(), serde_json::json!({ "const": id }));
    }
    let required = object.entry("required").or_insert_with(|| serde_json::json!([]));
    if let Some(required) = required.as_array_mut() {
        required.insert(0, "schema".into());
    }
    schema
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let Some(wanted) = args.name else {
        let names: Vec<String> = OUTPUTS.iter().map(|output| output.name.to_owned()).collect();
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
    let output =
        OUTPUTS.iter().find(|output| output.name == wanted || schema_id(output.name) == wanted).ok_or_else(|| {
            CliError::refused("unknown_schema", format!("no schema is named '{wanted}'"))
                .hint("`git memory schema` lists the names")
        })?;
    let mut out = ctx.paged();
    serde_json::to_writer_pretty(&mut out, &schema_of(output)).map_err(std::io::Error::from)?;
    writeln!(out)?;
    out.finish()?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_demands_its_own_name_and_no_name_is_there_twice() {
        let mut names = std::collections::BTreeSet::new();
        for output in OUTPUTS {
            assert!(names.insert(output.name), "{} is there twice", output.name);
            let schema = schema_of(output);
            assert_eq!(schema.pointer("/properties/schema/const"), Some(&schema_id(output.name).into()));
        }
    }

    #[test]
    fn an_error_is_what_its_schema_says() {
        let object = CliError::refused("busy", "no").hint("later").object();
        let mut bytes = Vec::new();
        super::super::output::json(&mut bytes, "error", &object).expect("written");
        let value: serde_json::Value = serde_json::from_slice(&bytes).expect("json");
        let schema = serde_json::to_value(schema_of(&output::<ErrorObject>("error"))).expect("schema");
        assert!(jsonschema::is_valid(&schema, &value), "{value} against {schema}");
        assert!(!jsonschema::is_valid(&schema, &serde_json::json!({"code": "x", "message": "y"})));
    }
}
