//! The gates between validation and staging, in order: eval, judge, retrieval. Each says what it looked at, into the
//! sidecar; one that did not look never passes anything.

use serde_json::{Map, Value, json};

use super::lanes::Bench;
use super::run::{Call, Response};
use crate::proposal::Refusal;
use crate::proposal::policy::Marks;
use crate::proposal::validate::Valid;

/// What the gates say of one valid change.
#[derive(Default)]
pub struct Verdict {
    /// What each gate said, for the sidecar.
    pub gates: Map<String, Value>,
    /// What was asked, of whom.
    pub calls: Vec<Call>,
    /// The replies that came.
    pub responses: Vec<Response>,
    /// Why it is refused, if so.
    pub refused: Option<Refusal>,
    /// Why a person must decide, if so.
    pub deferred: Option<String>,
    /// What this run's policy may trust.
    pub marks: Marks,
}

/// Takes one valid change of a lane through the gates.
pub fn pass(bench: &Bench<'_>, _valid: &Valid, _lane: &str) -> Verdict {
    let mut verdict = Verdict::default();
    let provider = &bench.wiki.config.settings.model.provider;
    verdict
        .gates
        .insert("judge".into(), json!({"passed": false, "reason": format!("no judge with the {provider} reviewer")}));
    verdict
}
