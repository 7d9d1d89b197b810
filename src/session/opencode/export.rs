//! The document that `opencode export` prints.

use std::io;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::parts::{About, Message, Part, Reading, in_order};
use super::{foreign, json, second};
use crate::session::lines::{self, Damage};
use crate::session::{ReadOptions, Session};
use crate::wiki::shown::json_fault;

/// The document, its messages not yet looked into.
#[derive(Deserialize)]
struct Export<'t> {
    #[serde(borrow)]
    info: &'t RawValue,
    #[serde(borrow)]
    messages: Vec<&'t RawValue>,
}

/// Reads the one session of the document. What is damaged inside a message costs that message only.
pub(super) fn read(bytes: Vec<u8>, options: ReadOptions, damage: &mut Damage) -> io::Result<Vec<Session>> {
    let text = lines::text(&bytes, 1, damage);
    let export: Export =
        serde_json::from_str(&text).map_err(|error| foreign(&format!("no export: {}", json_fault(&error))))?;
    let about = json::value(export.info.get().as_bytes(), damage).as_ref().and_then(About::read);
    let Some(about) = about else { return Ok(Vec::new()) };
    let mut messages: Vec<(String, Value)> = Vec::new();
    for raw in export.messages {
        let Some(value) = json::value(raw.get().as_bytes(), damage) else { continue };
        let id = value.pointer("/info/id").or_else(|| value.get("id")).and_then(Value::as_str);
        match id.map(str::to_owned) {
            Some(id) => messages.push((id, value)),
            None => damage.note("odd_message", 1),
        }
    }
    in_order(&mut messages);
    let mut reading = Reading::new(about, options);
    for (id, mut value) in messages {
        match value.get_mut("info").map(Value::take) {
            Some(info) => {
                let parts = parts(value.get_mut("parts").map(Value::take).unwrap_or_default());
                reading.message(Message { id, info, parts }, damage);
            }
            None => {
                let kind = json::text(&value, "type").unwrap_or_default();
                if let Some(message) = second::message(&id, kind, &value) {
                    reading.message(message, damage);
                }
            }
        }
    }
    Ok(reading.finish().into_iter().collect())
}

/// The parts of a list.
fn parts(list: Value) -> Vec<Part> {
    let Value::Array(items) = list else { return Vec::new() };
    items.into_iter().filter_map(|value| Some(Part { id: json::text(&value, "id")?.to_owned(), value })).collect()
}
