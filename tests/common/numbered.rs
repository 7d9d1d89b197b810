//! Sessions that are told apart by their numbers, in a wiki that was begun before them.

use serde_json::Value;

use crate::common::Sandbox;

pub fn fixture(name: &str) -> String {
    let path = format!("{}/fixtures/sessions/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A wiki that was begun before the sessions of the fixtures; the clock stands a month after them.
pub fn wiki() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = Some("2025-01-01T00:00:00Z".into());
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.now = Some("2026-04-01T00:00:00Z".into());
    sandbox
}

/// The n-th session: like the fixture, but for its ids and the day on which it happened. Returns the file.
pub fn session(sandbox: &Sandbox, n: usize) -> String {
    let text = fixture("hand-pnpm-rule")
        .replace("603b2d81-", &format!("{n:08x}-"))
        .replace("2026-03-03T", &format!("2026-03-{:02}T", n + 3));
    let ids = with_own_ids(&text, n);
    let path = sandbox.root().join(format!("session-{n}.jsonl"));
    std::fs::write(&path, ids).expect("the session is written");
    path.display().to_string()
}

/// Every id of a message or call gets digits of its session, so that no line counts as a copy of another session's.
fn with_own_ids(text: &str, n: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut value: Value = serde_json::from_str(line).expect("a line of JSON");
        renamed(&mut value, n);
        out.push_str(&value.to_string());
        out.push('\n');
    }
    out
}

fn renamed(value: &mut Value, n: usize) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if ["uuid", "parentUuid", "id", "tool_use_id"].contains(&key.as_str()) => {
                        *text = format!("{n:04x}{}", text.get(4..).unwrap_or_default());
                    }
                    value => renamed(value, n),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| renamed(item, n)),
        _ => {}
    }
}

/// The id of the n-th session.
pub fn id(n: usize) -> String {
    format!("{n:08x}-c6e5-2912-a363-87fc8cf0edde")
}

pub fn user_config(sandbox: &Sandbox, text: &str) {
    let folder = sandbox.home().join(".config/git-memory");
    std::fs::create_dir_all(&folder).expect("the folder");
    std::fs::write(folder.join("config.toml"), text).expect("the configuration");
}
