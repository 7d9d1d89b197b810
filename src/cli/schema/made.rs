//! How `schemas.jsonl` is made: from the types that commands print with `--json`.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::json;

use super::{LINES, Output, SchemaList};
use crate::cli::ErrorObject;
use crate::cli::output::schema_id;
use crate::config::made;

/// An output's name, and how its schema is made.
type Row = (&'static str, fn(&mut SchemaGenerator) -> Schema);

const fn row<T: JsonSchema>(name: &'static str) -> Row {
    (name, |generator| generator.root_schema_for::<T>())
}

/// Everything that `--json` prints. A new output is one more row.
const OUTPUTS: &[Row] = &[
    row::<crate::cli::agent::Changed>("agent-changed"),
    row::<crate::cli::agent::Found>("agent-status"),
    row::<crate::eval::bisect::Found>("bisect"),
    row::<crate::report::blame::Blame>("blame"),
    row::<crate::cli::capture::Shown>("capture"),
    row::<crate::cli::config::Settings>("config"),
    row::<crate::cli::config::Changed>("config-set"),
    row::<crate::cli::config::Setting>("config-value"),
    row::<crate::cli::gather::Gathered>("context"),
    row::<crate::cli::demo::Report>("demo"),
    row::<crate::cli::doctor::Report>("doctor"),
    row::<ErrorObject>("error"),
    row::<crate::proposal::feedback::Given>("feedback"),
    row::<crate::cli::eval::counterfactual::Effects>("eval-counterfactual"),
    row::<crate::eval::ranking::Comparison>("eval-outcome-ranking"),
    row::<crate::eval::retrieval::Report>("eval-retrieval"),
    row::<crate::eval::review::Report>("eval-review"),
    row::<crate::cli::init::Report>("init"),
    row::<crate::cli::hooks::Changed>("hooks-changed"),
    row::<crate::cli::hooks::Found>("hooks-status"),
    row::<crate::cli::lint::Report>("lint"),
    row::<crate::cli::log::Log>("log"),
    row::<crate::cli::man::Installed>("man-install"),
    row::<crate::cli::model::Report>("model-test"),
    row::<crate::improve::print::Printed>("prompt"),
    row::<crate::cli::improve::Told>("run"),
    row::<crate::cli::run::Runs>("runs"),
    row::<crate::cli::proposal::list::Proposals>("proposals"),
    row::<crate::cli::proposal::show::Shown>("proposal"),
    row::<crate::cli::proposal::diff::Diff>("proposal-diff"),
    row::<crate::cli::proposal::log::Log>("proposal-log"),
    row::<crate::cli::proposal::accept::Decided>("accepted"),
    row::<crate::cli::proposal::reject::Rejected>("rejected"),
    row::<crate::cli::proposal::reopen::Reopened>("reopened"),
    row::<crate::cli::proposal::revert::Reverts>("reverted"),
    row::<crate::cli::proposal::edit::Edited>("edited"),
    row::<crate::cli::proposal::rebase::Rebases>("rebased"),
    row::<crate::cli::proposal::drain::Drain>("drained"),
    row::<crate::cli::proposal::propose::Proposed>("proposed"),
    row::<crate::cli::search::Results>("search"),
    row::<crate::feedback::Outcome>("outcome"),
    row::<crate::cli::session::Shown>("session"),
    row::<crate::report::brief::Brief>("session-start"),
    row::<crate::cli::session::List>("sessions"),
    row::<crate::cli::session::forget::Forgotten>("session-forgotten"),
    row::<crate::cli::status::Report>("status"),
    row::<SchemaList>("schema-list"),
    row::<crate::cli::improve::Skipped>("skipped"),
    row::<crate::cli::trust::Report>("trust"),
];

#[test]
fn schemas_are_made_from_what_is_printed() {
    let outputs: Vec<Output> = OUTPUTS.iter().map(output).collect();
    made::is("src/cli/schema/schemas.jsonl", &LINES, &outputs);
}

/// The schema of one output, with the member `schema` that stands first in it.
fn output((name, make): &Row) -> Output {
    let mut schema = make(&mut SchemaSettings::draft2020_12().into_generator());
    let id = schema_id(name);
    let object = schema.ensure_object();
    object.insert("title".into(), id.clone().into());
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("schema".into(), json!({ "const": id }));
    }
    let required = object.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        required.insert(0, "schema".into());
    }
    Output { name: (*name).to_owned(), schema: schema.into() }
}
