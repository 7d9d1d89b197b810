//! What a committed file cannot say: what would widen what the tool may do, and what would lift a limit.

use toml::Value;

use super::{keys, trust};

/// A key (`*`: any part) from which a committed file cannot widen what the tool may do, and the value that would widen it
/// (`None`: any). A strategy whose triage accepts is held by `approval.autonomy`, wherever it stands.
const WIDENING: &[(&str, Option<&str>)] = &[
    ("approval.mode", Some("all")),
    ("approval.autonomy", Some("true")),
    ("approval.gated.judge_at_any_temperature", Some("true")),
    ("redact.allow", None),
    ("sync", None),
    ("strategy.*.sync", Some("true")),
];

/// What a call may cost, in `[model]`: a committed file may lower it. For a single stage it may not say it at all, as a
/// narrower layer's word on `[model]` would not reach there.
const LIMITS: &[&str] = &["timeout_secs", "max_retries", "max_output_tokens", "daily_tokens", "daily_calls"];

/// Whether the key (with this value) would widen what the tool may do.
pub(super) fn widens(dotted: &str, value: Option<&Value>) -> bool {
    let is_listed = WIDENING.iter().any(|(name, only)| {
        is_within(dotted, name)
            && only.is_none_or(|only| value.is_some_and(|value| value.to_string().trim_matches('"') == only))
    });
    is_listed || matches!(*dotted.split('.').collect::<Vec<_>>(), ["model", _, limit] if LIMITS.contains(&limit))
}

/// Whether a dotted key is this one, or below it.
fn is_within(dotted: &str, key: &str) -> bool {
    let mut parts = dotted.split('.');
    key.split('.').all(|wanted| parts.next().is_some_and(|part| wanted == "*" || wanted == part))
}

/// Whether the value is a limit that is higher than the one `below`, or the built-in one. A day's budget of 0 is none.
pub(super) fn lifts(path: &[String], value: &Value, below: Option<&Value>) -> bool {
    let [section, name] = path else { return false };
    if section != "model" || !LIMITS.contains(&name.as_str()) {
        return false;
    }
    let built_in = || keys::find(&path.join("."))?.default.as_ref()?.as_i64();
    let height = |limit: i64| if limit == 0 && name.starts_with("daily_") { i64::MAX } else { limit };
    match (value.as_integer(), below.and_then(Value::as_integer).or_else(built_in)) {
        (Some(wanted), Some(known)) => height(wanted) > height(known),
        _ => true,
    }
}

/// Whether the value is empty where only a name says something: it would send calls where nobody chose to send them.
pub(super) fn says_nothing(dotted: &str, value: &Value) -> bool {
    let is_empty = match value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    is_empty && trust::needs_trust(dotted)
}
