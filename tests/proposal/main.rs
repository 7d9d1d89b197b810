//! The commands on proposals, on real repositories: what lands, where, what is left alone, and what is refused.

#[path = "../common/mod.rs"]
mod common;

mod commands;
mod held;
mod landing;
#[cfg(unix)]
mod terminal;

use common::Sandbox;
use serde_json::{Value, json};

/// A repository with a wiki at its top, on the branch that is checked out.
pub fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    sandbox
}

/// Proposes a page's text; returns the id.
pub fn propose(sandbox: &Sandbox, path: &str, text: &str) -> String {
    let value = proposing(sandbox, path, text);
    assert_eq!(value["results"][0]["outcome"], "staged", "{value}");
    value["results"][0]["id"].as_str().expect("an id").to_owned()
}

pub fn proposing(sandbox: &Sandbox, path: &str, text: &str) -> Value {
    let mut command = sandbox.memory(&["propose", path, "--rationale", "It came up twice.", "--json"]);
    let output = command.write_stdin(text).output().expect("the binary starts");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Proposes many at once; returns the ids.
pub fn batch(sandbox: &Sandbox, lines: &[Value]) -> Vec<String> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    sandbox.write("../batch.jsonl", text);
    let value = sandbox.json(&["propose", "--batch", "../batch.jsonl"]);
    let results = value["results"].as_array().expect("results");
    results.iter().map(|made| made["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()).collect()
}

/// An edit of one section.
pub fn append(path: &str, title: &str, anchor: &str, text: &str) -> Value {
    let edit = json!({ "op": "append", "anchor": anchor, "content": text });
    json!({ "path": path, "title": title, "rationale": "It came up.", "operation": "update", "edits": [edit] })
}

pub fn status(sandbox: &Sandbox, id: &str) -> String {
    let value = sandbox.json(&["show", id]);
    value["proposal"]["status"].as_str().expect("a status").to_owned()
}

/// A small page.
pub const Z: &str = "# Use -z\n\nNames hold newlines.\n";

pub const PAGE: &str = "# Names\n\n## One\n\nFirst text.\n\n## Two\n\nSecond text.\n";

/// A wiki with one page of two sections.
pub fn with_page() -> Sandbox {
    let sandbox = wiki();
    sandbox.write("notes/names.md", PAGE);
    sandbox.commit("Write a page");
    sandbox
}

/// What history, refs and tree must look like after an accept.
pub fn landed(sandbox: &Sandbox, branch: &str, id: &str, path: &str, before: &str) {
    assert_eq!(sandbox.rev(&format!("{branch}^1")), before, "one step from where the branch was");
    assert_eq!(sandbox.rev(&format!("{branch}^2^")), before, "the change was made there");
    let message = sandbox.git(&["log", "-1", "--format=%B", branch]);
    for line in [format!("Memory-Proposal: {id}"), "Memory-Decision: accepted".into(), "Memory-Policy: manual".into()] {
        assert!(message.lines().any(|known| known == line), "{line} in {message}");
    }
    assert_eq!(sandbox.git(&["diff", "--name-only", before, branch]), path);
    assert_eq!(sandbox.refs("refs/memory/pending"), "");
    assert_eq!(
        sandbox.git(&["log", "-1", "--format=%an <%ae> %cn", branch]),
        "Ada Tester <ada@example.com> Ada Tester"
    );
    sandbox.fsck();
}
