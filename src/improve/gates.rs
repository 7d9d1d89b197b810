//! The gates between validation and staging: each says what it looked at, into the sidecar.
//!
//! The built-in reviewer has no judge. A gate that did not look never passes anything: it says so, and what it would
//! have had to pass waits for a person.

use serde_json::{Map, Value, json};

use crate::proposal::validate::Valid;
use crate::wiki::Wiki;

/// What each gate says of one valid change.
pub fn look(wiki: &Wiki, _valid: &Valid) -> Map<String, Value> {
    let mut gates = Map::new();
    let provider = &wiki.config.settings.model.provider;
    gates.insert("judge".into(), json!({"passed": false, "reason": format!("no judge with the {provider} reviewer")}));
    gates
}
