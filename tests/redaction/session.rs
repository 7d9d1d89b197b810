//! A session with a secret in every place that a session has.

use serde_json::{Value, json};

use super::secrets::{Chance, Secret, escaped, spelled};

/// Every string of a line that a secret is put into, by its pointer.
const PLACES: &[&str] = &[
    "/uuid",
    "/parentUuid",
    "/sessionId",
    "/cwd",
    "/gitBranch",
    "/version",
    "/requestId",
    "/slug",
    "/agentId",
    "/message/id",
    "/message/model",
    "/message/content/0/text",
    "/message/content/1/id",
    "/message/content/1/name",
    "/message/content/1/input/command",
    "/message/content/1/input/description",
    "/message/content/1/input/deep/0/x",
    "/message/content/1/input/key",
];

/// The same for lines of results, and for what is no turn.
const OTHERS: &[&str] = &[
    "/message/content/0/content",
    "/message/content/0/tool_use_id",
    "/toolUseResult/stdout",
    "/toolUseResult/file",
    "/message/content/1/content/0/text",
    "/summary",
    "/customTitle",
    "/content",
    "/subtype",
    "/operation",
    "/type",
    "/attachment/prompt",
    "/attachment/type",
    "/hookErrors/0",
    "/message/content/2/text",
    "/timestamp",
    "/error/message",
];

fn turn(n: usize, cwd: &str) -> Value {
    json!({
        "type": "assistant", "uuid": format!("u{n}"), "parentUuid": "p", "sessionId": "planted", "cwd": cwd, "gitBranch": "main",
        "version": "2.1.0", "requestId": "r", "slug": "s", "agentId": "a", "timestamp": "2026-03-01T10:00:00Z",
        "message": { "role": "assistant", "id": format!("m{n}"), "model": "x", "content": [
            { "type": "text", "text": "I run it." },
            { "type": "tool_use", "id": format!("t{n}"), "name": "Bash",
              "input": { "command": "ls", "description": "d", "deep": [{ "x": "y" }], "key": "v" } } ] }
    })
}

fn other(n: usize, cwd: &str, kind: &str) -> Value {
    json!({
        "type": kind, "uuid": format!("o{n}"), "sessionId": "planted", "cwd": cwd, "timestamp": "2026-03-01T10:00:01Z",
        "summary": "s", "customTitle": "t", "content": "c", "subtype": "informational", "operation": "enqueue",
        "attachment": { "type": "queued_command", "prompt": "p" }, "hookErrors": ["e"], "error": { "message": "m" },
        "toolUseResult": { "stdout": "s", "file": "f" },
        "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": format!("t{n}"), "content": "ok" },
            { "type": "tool_result", "tool_use_id": format!("x{n}"), "content": [{ "type": "text", "text": "ok" }] },
            { "type": "text", "text": "always use pnpm in this repository, never npm" } ] }
    })
}

/// A secret beside words, or alone where a name stands.
fn put(line: &mut Value, place: &str, text: &str) {
    if let Some(field) = line.pointer_mut(place) {
        *field = json!(text);
    }
}

pub fn session(chance: &mut Chance, secrets: &[Secret], cwd: &str) -> String {
    let mut out = String::new();
    let mut write = |line: String, chance: &mut Chance| {
        out.push_str(&line);
        out.push_str(if chance.below(4) == 0 { "\r\n" } else { "\n" });
    };
    let first = json!({ "type": "user", "uuid": "first", "sessionId": "planted", "cwd": cwd, "timestamp": "2026-03-01T10:00:00Z",
        "message": { "role": "user", "content": "No, that is wrong: always run the linter before you commit" } });
    write(first.to_string(), chance);
    for (n, secret) in secrets.iter().cycle().take(secrets.len() * 4).enumerate() {
        let mut line = if chance.below(2) == 0 {
            let mut line = turn(n, cwd);
            put(&mut line, PLACES[chance.below(PLACES.len())], &spelled(secret, chance));
            line
        } else {
            let kinds = ["user", "system", "attachment", "queue-operation", "summary", "custom-title"];
            let mut line = other(n, cwd, kinds[chance.below(kinds.len())]);
            put(&mut line, OTHERS[chance.below(OTHERS.len())], &spelled(secret, chance));
            line
        };
        // Parted between two blocks: before the random part is long enough to matter, or in the middle of it.
        if chance.below(5) == 0 && !secret.text.contains('\n') {
            let at = 3 + chance.below(secret.text.len() - 3);
            let blocks = [&secret.text[..at], &secret.text[at..]].map(|text| json!({ "type": "text", "text": text }));
            line = turn(n, cwd);
            if let Some(content) = line.pointer_mut("/message/content") {
                *content = json!(blocks);
            }
        }
        write(escaped(&line, chance), chance);
    }
    // A line that no reader knows, and one that was cut.
    write(format!("{{\"type\": \"user\", \"message\": {}", json!(secrets[0].text)), chance);
    out
}
