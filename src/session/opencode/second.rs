//! Messages as OpenCode 2 keeps them: one record each, with its content inside. They are turned into a message with
//! parts, which is how all other forms have them.

use serde_json::{Value, json};

use super::json;
use super::parts::{Message, Part};

/// A record as a message with parts; `None` for one that is no part of the conversation.
pub(super) fn message(id: &str, kind: &str, data: &Value) -> Option<Message> {
    let mut info = json!({ "id": id, "role": "assistant", "time": data.get("time") });
    let parts = match kind {
        "user" => {
            info["role"] = "user".into();
            user(id, data)
        }
        "assistant" => {
            if let Some(error) = data.get("error") {
                info["error"] = failure(error);
            }
            assistant(id, data)
        }
        "shell" => vec![shell(id, data)],
        "compaction" => {
            info["summary"] = true.into();
            let summary = json::text(data, "summary").unwrap_or("Context compacted");
            vec![part(id, json!({ "type": "text", "text": summary }))]
        }
        _ => return None,
    };
    Some(Message { id: id.to_owned(), info, parts })
}

fn part(id: &str, value: Value) -> Part {
    Part { id: id.to_owned(), value }
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn user(id: &str, data: &Value) -> Vec<Part> {
    let mut parts = vec![part(id, json!({ "type": "text", "text": data.get("text") }))];
    for (at, file) in list(data, "files").iter().enumerate() {
        let url = file.get("uri").or_else(|| file.get("url"));
        let value = json!({ "type": "file", "filename": file.get("name"), "mime": file.get("mime"), "url": url });
        parts.push(part(&format!("{id}.file{at}"), value));
    }
    parts
}

fn assistant(id: &str, data: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    for (at, item) in list(data, "content").iter().enumerate() {
        let id = format!("{id}.{at}");
        match json::text(item, "type") {
            Some("text") => parts.push(part(&id, item.clone())),
            Some("tool") => parts.push(part(&id, tool(item))),
            _ => {}
        }
    }
    if let Some(retry) = data.get("retry") {
        let error = failure(retry.get("error").unwrap_or(&Value::Null));
        let value = json!({ "type": "retry", "attempt": retry.get("attempt"), "error": error });
        parts.push(part(&format!("{id}.retry"), value));
    }
    if let Some(files) = data.pointer("/snapshot/files") {
        parts.push(part(&format!("{id}.patch"), json!({ "type": "patch", "files": files })));
    }
    parts
}

fn tool(item: &Value) -> Value {
    let none = Value::Null;
    let state = item.get("state").unwrap_or(&none);
    let output: Vec<&str> = list(state, "content").iter().filter_map(|content| json::text(content, "text")).collect();
    let status = json::text(state, "status").unwrap_or("completed");
    let error = state.get("error").map(|error| failure(error)["data"]["message"].clone());
    json!({
        "type": "tool",
        "tool": item.get("name"),
        "callID": item.get("id"),
        "state": {
            "status": if status == "streaming" { "pending" } else { status },
            "input": state.get("input"),
            "output": output.join("\n"),
            "error": error,
            "metadata": state.get("metadata").or_else(|| state.get("structured")),
            "time": {
                "start": item.pointer("/time/ran").or_else(|| item.pointer("/time/created")),
                "end": item.pointer("/time/completed"),
            },
        },
    })
}

/// A command that the person ran.
fn shell(id: &str, data: &Value) -> Part {
    let output = data.pointer("/output/output").or_else(|| data.get("output"));
    let running = json::text(data, "status") == Some("running")
        || data.get("status").is_none() && data.pointer("/time/completed").is_none();
    let call = data.get("shellID").or_else(|| data.get("callID"));
    let stopped = matches!(json::text(data, "status"), Some("timeout" | "killed"));
    let exit = data.get("exit").cloned().or_else(|| stopped.then(|| 1.into()));
    let value = json!({
        "type": "tool",
        "tool": "shell",
        "callID": call,
        "state": {
            "status": if running { "running" } else { "completed" },
            "input": { "command": data.get("command") },
            "output": output,
            "metadata": exit.map(|exit| json!({ "exit": exit })),
            "time": { "start": data.pointer("/time/created"), "end": data.pointer("/time/completed") },
        },
    });
    part(id, value)
}

/// An error as the other forms have it.
fn failure(error: &Value) -> Value {
    let message = json::text(error, "message").or_else(|| error.as_str()).or_else(|| json::text(error, "type"));
    json!({ "name": error.get("type").or_else(|| error.get("name")), "data": { "message": message } })
}
