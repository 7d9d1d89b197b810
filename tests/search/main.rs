//! Search and context: what is found, in which order, and that it is the same however the index came about.

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod gathered;
mod index;
mod places;

use common::Sandbox;
use serde_json::Value;

/// A wiki on the branch that is checked out, with these pages.
pub fn wiki(pages: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    for (path, text) in pages {
        sandbox.write(path, text);
    }
    sandbox.commit("Write pages");
    sandbox
}

/// The answer to a search.
pub fn answer(sandbox: &Sandbox, args: &[&str]) -> Value {
    let mut all = vec!["search", "--no-record"];
    all.extend(args);
    sandbox.json(&all)
}

/// The paths that a search finds, in order.
pub fn found(sandbox: &Sandbox, args: &[&str]) -> Vec<String> {
    paths(&answer(sandbox, args))
}

/// The paths of an answer.
pub fn paths(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().expect("results");
    results.iter().map(|result| result["path"].as_str().expect("a path").to_owned()).collect()
}
