mod databases;
mod forms;
mod turns;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::session::{From, Observation, Outcome, Policy, ReadOptions, Redactor, Session, Speaker, read};

fn read_with(path: &Path, policy: &Policy) -> std::io::Result<(Vec<Session>, Vec<&'static str>)> {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(&[], &[]).unwrap());
    match read(path, From::Auto, ReadOptions { redactor: &REDACTOR, policy })? {
        (Outcome::Sessions(sessions), warnings) => Ok((sessions, warnings.into_iter().map(|w| w.kind).collect())),
        (Outcome::Unrecognised(line), _) => panic!("{}: unrecognised: {line}", path.display()),
    }
}

fn open() -> Policy {
    Policy::new(true, false, &[]).unwrap()
}

fn read_file(path: &Path) -> (Vec<Session>, Vec<&'static str>) {
    read_with(path, &open()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/opencode").join(path)
}

fn prompts(session: &Session) -> Vec<&str> {
    session.prompts().map(|o| o.body.as_str()).collect()
}

/// Kind, speaker and the beginning of the body of each observation.
fn told(session: &Session) -> Vec<String> {
    let speaker = |o: &Observation| match o.speaker {
        Speaker::Human => "human",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
        Speaker::System => "system",
    };
    let exit = |o: &Observation| o.exit.map(|code| format!(" {code}")).unwrap_or_default();
    session
        .observations
        .iter()
        .map(|o| format!("{:?} {}{}: {}", o.kind, speaker(o), exit(o), o.body.replace('\n', "|")))
        .collect()
}

/// When a test's session begins, in milliseconds.
const BEGUN: u64 = 1_772_359_200_000;

/// A session as `opencode export` prints it: its record, and messages with their parts.
fn export(info: Value, messages: &[(Value, Vec<Value>)]) -> Value {
    let mut record = json!({
        "id": "ses_1", "directory": "/home/dev/proj", "title": "New session - 2026-03-01T10:00:00.000Z",
        "version": "1.2.10", "time": {"created": BEGUN, "updated": BEGUN + 90_000},
    });
    merge(&mut record, info);
    let message = |(at, (info, parts)): (usize, &(Value, Vec<Value>))| {
        let id = format!("msg_{at}");
        let mut own = json!({"id": id, "sessionID": record["id"], "time": {"created": BEGUN + 1000 * (at as u64 + 1)}});
        merge(&mut own, info.clone());
        let part = |(n, part): (usize, &Value)| {
            let mut own = json!({"id": format!("prt_{at}_{n}"), "sessionID": record["id"], "messageID": own["id"]});
            merge(&mut own, part.clone());
            own
        };
        let parts: Vec<Value> = parts.iter().enumerate().map(part).collect();
        json!({"info": own, "parts": parts})
    };
    let messages: Vec<Value> = messages.iter().enumerate().map(message).collect();
    json!({"info": record, "messages": messages})
}

fn merge(into: &mut Value, from: Value) {
    let Value::Object(from) = from else { return };
    for (key, value) in from {
        into[key] = value;
    }
}

fn user() -> Value {
    json!({"role": "user"})
}

fn assistant() -> Value {
    json!({"role": "assistant"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn tool(name: &str, input: Value, state: Value) -> Value {
    let mut own = json!({"status": "completed", "input": input, "output": "", "title": "", "metadata": {}});
    merge(&mut own, state);
    json!({"type": "tool", "callID": format!("call_{name}"), "tool": name, "state": own})
}

/// Reads an exported session under a policy.
fn of_export_with(document: &Value, policy: &Policy) -> (Option<Session>, Vec<&'static str>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("export.json");
    std::fs::write(&path, serde_json::to_vec_pretty(document).unwrap()).unwrap();
    let (sessions, warnings) = read_with(&path, policy).unwrap();
    (sessions.into_iter().next(), warnings)
}

fn of_export(document: &Value) -> Session {
    of_export_with(document, &open()).0.expect("a session")
}
