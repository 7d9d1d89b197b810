//! A wiki, its sessions, and a model that answers from files.

use std::path::PathBuf;

use crate::common::Sandbox;
use serde_json::{Value, json};

/// A sandbox with a wiki and a model, which counts its calls.
pub struct Scene {
    pub sandbox: Sandbox,
}

impl Scene {
    /// A wiki that was begun before its sessions, with a model that says that there is nothing.
    pub fn new() -> Scene {
        let mut sandbox = Sandbox::new();
        sandbox.now = Some("2025-01-01T00:00:00Z".into());
        sandbox.run(&["init", "--no-hooks"]);
        sandbox.now = Some("2026-04-01T00:00:00Z".into());
        let scene = Scene { sandbox };
        let script = format!(
            "#!/bin/sh\nset -e\ncd '{}'\necho call >> calls\ncat > prompt\n\
             n=$(wc -l < calls | tr -d ' ')\nif [ -f reply-$n ]; then exec cat reply-$n; fi\nexec cat reply\n",
            scene.sandbox.root().display()
        );
        let program = scene.outside("model.sh");
        std::fs::write(&program, script).expect("a script");
        scene.set("model.provider", "command");
        // Nobody judges here: what is told apart are the review's own calls.
        scene.set("model.judge.provider", "builtin");
        scene.sandbox.git(&["config", "--add", "memory.model.command", "sh"]);
        scene.sandbox.git(&["config", "--add", "memory.model.command", &program.display().to_string()]);
        scene.replies(&nothing());
        scene
    }

    /// A file beside the work tree.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.sandbox.root().join(name)
    }

    pub fn set(&self, key: &str, value: &str) {
        self.sandbox.git(&["config", &camel(key), value]);
    }

    /// What the model will say.
    pub fn replies(&self, reply: &Value) {
        self.says(&reply.to_string());
    }

    /// What it will say to this call, counted from 1.
    pub fn replies_at(&self, call: usize, reply: &Value) {
        std::fs::write(self.outside(&format!("reply-{call}")), reply.to_string()).expect("a reply");
    }

    pub fn says(&self, text: &str) {
        std::fs::write(self.outside("reply"), text).expect("a reply");
    }

    /// How often the model was asked.
    pub fn calls(&self) -> usize {
        std::fs::read_to_string(self.outside("calls")).unwrap_or_default().lines().count()
    }

    /// What it was asked last: the data block.
    pub fn asked(&self) -> Value {
        let prompt = std::fs::read_to_string(self.outside("prompt")).expect("a prompt");
        data_of(&prompt)
    }

    /// Captures a session with these events; returns its id.
    pub fn capture(&self, number: u8, events: &[Said<'_>]) -> String {
        let id = format!("aaaaaaaa-0000-4000-8000-0000000000{number:02}");
        let file = self.outside(&format!("{id}.jsonl"));
        std::fs::write(&file, transcript(&id, events)).expect("a transcript");
        self.sandbox.run(&["capture", &file.display().to_string()]);
        id
    }

    /// A wiki page on the branch.
    pub fn page(&self, path: &str, text: &str) {
        self.sandbox.write(path, text);
        self.sandbox.commit(path);
    }

    pub fn improve(&self) -> Value {
        self.sandbox.json(&["improve"])
    }

    /// Runs improve, which must end with code 1; returns the record of that run.
    pub fn improve_fails(&self) -> (Value, String) {
        let (run, said) = self.sandbox.fails(1, &["improve", "--json"]);
        (serde_json::from_str(&run).unwrap_or_else(|error| panic!("{error}: {run}")), said)
    }
}

/// `memory.improve.minObservations` for `improve.min_observations`.
fn camel(key: &str) -> String {
    let mut out = String::from("memory.");
    let mut up = false;
    for c in key.chars() {
        match c {
            '_' => up = true,
            c if up => {
                out.push(c.to_ascii_uppercase());
                up = false;
            }
            c => out.push(c),
        }
    }
    out
}

/// The JSON between the marked lines of a prompt.
fn data_of(prompt: &str) -> Value {
    let from = prompt.find("\n=== data ").expect("a block of data");
    let start = from + 1 + prompt[from + 1..].find('\n').expect("a line");
    let end = prompt.find("\n=== end ").expect("its end");
    serde_json::from_str(&prompt[start..end]).expect("JSON")
}

/// One event of a transcript.
pub enum Said<'a> {
    Person(&'a str),
    Agent(&'a str),
    /// A command, its output, whether it failed.
    Ran(&'a str, &'a str, bool),
    Edited(&'a str),
}
pub use Said::{Agent, Edited, Person, Ran};

/// A Claude transcript with half a minute between its lines.
fn transcript(id: &str, events: &[Said<'_>]) -> String {
    let mut lines = Vec::new();
    let mut line = |kind: &str, role: &str, content: Value| {
        let n = lines.len();
        let at = format!("2026-03-01T{:02}:{:02}:{:02}.000Z", 10 + n / 120, n / 2 % 60, n % 2 * 30);
        lines.push(
            json!({
                "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/home/dev/proj",
                "sessionId": id, "version": "2.1.37", "gitBranch": "main", "type": kind,
                "uuid": format!("{id}-{n}"), "timestamp": at, "message": {"role": role, "content": content}
            })
            .to_string(),
        );
    };
    for (n, event) in events.iter().enumerate() {
        match event {
            Person(text) => line("user", "user", json!(text)),
            Agent(text) => line("assistant", "assistant", json!([{"type": "text", "text": text}])),
            Ran(command, output, failed) => {
                let call = format!("toolu_{n}");
                let input = json!({"command": command});
                let used = json!([{"type": "tool_use", "id": call, "name": "Bash", "input": input}]);
                line("assistant", "assistant", used);
                let result =
                    json!([{"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}]);
                line("user", "user", result);
            }
            Edited(path) => {
                let call = format!("toolu_{n}");
                let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
                let used = json!([{"type": "tool_use", "id": call, "name": "Edit", "input": input}]);
                line("assistant", "assistant", used);
                line("user", "user", json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]));
            }
        }
    }
    lines.join("\n") + "\n"
}

/// A session that teaches something: a failure, its cause, its fix, and a rule in a person's words.
pub fn lesson() -> Vec<Said<'static>> {
    vec![
        Person("The export job fails on my laptop, find out why"),
        Ran("cargo test -p export", "error: could not connect to redis at 127.0.0.1:6379", true),
        Agent("Root cause: the export tests expect Redis on port 6380, and nothing listens there."),
        Edited("/home/dev/proj/crates/export/tests/redis.rs"),
        Ran("REDIS_PORT=6380 cargo test -p export", "test result: ok. 12 passed", false),
        Agent("Fixed: start Redis with `docker compose up redis-test` before the export tests."),
        Person("From now on always run the export tests with just test-export, not with cargo directly."),
    ]
}

pub fn nothing() -> Value {
    json!({"summary": "Nothing to learn.", "proposals": [], "rejected_candidates": []})
}

/// A good candidate about [`lesson`], with some fields replaced (null: left out).
pub fn gotcha(changes: Value) -> Value {
    let mut base = json!({
        "operation": "create", "path": "gotchas/redis-port.md", "kind": "gotcha", "confidence": 0.85,
        "title": "Export tests need Redis on port 6380",
        "rationale": "Whoever runs the export tests without it loses time.",
        "evidence": [{"source": "obs:4", "quote": "the export tests expect Redis on port 6380"}],
        "body_markdown": "# Export tests need Redis on port 6380\n\nStart it with `docker compose up redis-test`.\n",
        "edits": []
    });
    let (Value::Object(fields), Value::Object(changes)) = (&mut base, changes) else { unreachable!() };
    for (key, value) in changes {
        if value.is_null() {
            fields.remove(&key)
        } else {
            fields.insert(key, value)
        };
    }
    base
}

pub fn reply(proposals: &[Value]) -> Value {
    json!({"summary": "A port that tests need.", "proposals": proposals, "rejected_candidates": []})
}

pub fn codes(run: &Value) -> Vec<&str> {
    run["refused"].as_array().expect("a list").iter().map(|refusal| refusal["code"].as_str().expect("a code")).collect()
}
