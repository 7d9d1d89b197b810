//! JSON documents that may be damaged, and fields of any type.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::session::lines::{self, Damage};
use crate::session::times;

/// The value of a document; `None`, noted as damage, when nothing can be read of it.
pub(super) fn value(bytes: &[u8], damage: &mut Damage) -> Option<Value> {
    if bytes.iter().all(|b| b.is_ascii_whitespace() || *b == 0) {
        damage.note("empty_part", 1);
        return None;
    }
    let text = lines::text(bytes, 1, damage);
    if let Ok(value) = serde_json::from_str(&text) {
        return Some(value);
    }
    if let Some((text, kind)) = lines::repaired(&text)
        && let Ok(value) = serde_json::from_str(&text)
    {
        damage.note(kind, 1);
        return Some(value);
    }
    damage.note("broken_part", 1);
    None
}

/// The keys of the object that a document is; `None` when it is none.
pub(super) fn keys(bytes: &[u8]) -> Option<Vec<String>> {
    let object: HashMap<String, IgnoredAny> = serde_json::from_slice(bytes).ok()?;
    Some(object.into_keys().collect())
}

/// A field that is a text and says something.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str().filter(|text| !text.trim().is_empty())
}

/// Whether a field is true.
pub(super) fn is_true(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool) == Some(true)
}

/// A time in milliseconds since 1970, at a path such as `/time/created`.
pub(super) fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    times::of_number(value.pointer(pointer)?.as_f64().filter(|at| *at > 0.0)?)
}
