//! `git memory mcp` from outside: real clients, and frames that no client would send.

#[path = "../common/mod.rs"]
mod common;
mod server;

mod behave;
mod clients;
mod frames;
mod tools;

use common::Sandbox;

/// A wiki below `memory/` with a few pages.
pub fn wiki() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = Some("2025-01-01T00:00:00Z".into());
    sandbox.run(&["init", "--root", "memory", "--no-hooks"]);
    sandbox.write(
        "memory/gotchas/openssl-dir.md",
        "# The build does not find OpenSSL\n\nSet `OPENSSL_DIR` to the folder of the libraries.\n\n## Fix\n\nExport it in \
         the shell profile.\n",
    );
    sandbox.write("memory/_rules/pnpm.md", "# Always use pnpm\n\nNever npm.\n");
    sandbox.write("memory/decisions/sqlite.md", "# SQLite holds the state\n\nOne file, no server to run.\n");
    sandbox.commit("Pages");
    sandbox.now = Some("2026-04-01T00:00:00Z".into());
    sandbox
}

/// The file of a recorded session.
pub fn fixture(name: &str) -> String {
    format!("{}/fixtures/sessions/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

/// What proposes a page that passes all checks.
pub fn proposal(name: &str, text: &str) -> serde_json::Value {
    serde_json::json!({
        "path": format!("gotchas/{name}.md"),
        "rationale": "It cost an hour and will come up again.",
        "text": text,
        "evidence": [{ "source": "gotchas/openssl-dir.md", "quote": "Set `OPENSSL_DIR` to the folder" }],
    })
}
