//! Real clients: the protocol's own SDK for Python, and its inspector.
//!
//! `scripts/test` installs them into `target/tools`. Where that is not possible the tests say so and pass.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{BIN, Sandbox};
use crate::{fixture, proposal, wiki};

/// A file of the installed tools.
fn tool(path: &str) -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"));
    let file = target.join("tools").join(path);
    if !file.exists() {
        eprintln!("skipped: {} is not there; scripts/test installs it", file.display());
        return None;
    }
    Some(file)
}

/// Asks through the SDK; the answer to `initialize` stands first.
fn python(sandbox: &Sandbox, python: &Path, requests: Value) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.py");
    let mut command = sandbox.program(python);
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("python starts");
    let input = json!([[BIN, "mcp"], requests]).to_string();
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[test]
fn the_sdk_drives_every_tool_and_finds_every_answer_as_its_schema_says() {
    let Some(program) = tool("python/bin/python") else { return };
    let sandbox = wiki();
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    let answers = python(
        &sandbox,
        &program,
        json!([
            ["tools", null],
            ["call", ["memory_search", { "query": "openssl" }]],
            ["call", ["memory_context", { "task": "The build does not find OpenSSL. Mend it." }]],
            ["call", ["memory_feedback", { "page": "decisions/sqlite.md", "verdict": "positive" }]],
            ["call", ["memory_read", { "path": "gotchas/openssl-dir.md" }]],
            ["call", ["memory_propose", proposal("one", "# One\n\nSet the folder before the build.\n")]],
            ["call", ["memory_improve", {}]],
            ["call", ["memory_proposals", {}]],
            ["call", ["memory_lint", {}]],
            ["call", ["memory_status", {}]],
            ["resources", null],
            ["templates", null],
            ["read", "git-memory:///gotchas/openssl-dir.md"],
            ["prompts", null],
            ["prompt", "session_brief"],
            ["ping", null],
            ["call", ["memory_read", { "path": "nothing.md" }]],
            ["call", ["memory_accept", {}]],
            ["call", ["memory_read", { "path": "x.md", "force": true }]],
        ]),
    );
    let [begun, tools, searched, gathered, judged, read, proposed, improved, proposals, linted, status, rest @ ..] =
        &answers[..]
    else {
        panic!("{answers:?}");
    };
    assert_eq!(begun["serverInfo"]["name"], "git-memory");
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(10), "{tools}");
    for answer in [searched, gathered, judged, read, proposed, improved, proposals, linted, status] {
        assert_eq!(answer["isError"], false, "{answer}");
        assert!(answer["structuredContent"].is_object(), "{answer}");
    }
    let episode = &searched["structuredContent"]["episode"];
    assert!(episode.is_string() && gathered["structuredContent"]["episode"].is_string(), "{searched} {gathered}");
    assert_eq!(proposed["structuredContent"]["outcome"], "staged");
    assert!(proposals["structuredContent"]["total"].as_u64().is_some_and(|total| total >= 2), "{proposals}");
    let [resources, templates, page, prompts, prompt, ping, missing, accept, forced] = rest else {
        panic!("{rest:?}");
    };
    assert_eq!(resources["resources"].as_array().map(Vec::len), Some(3), "{resources}");
    assert!(templates["resourceTemplates"][0]["uriTemplate"].is_string());
    assert!(page["contents"][0]["text"].as_str().is_some_and(|text| text.contains("OPENSSL_DIR")), "{page}");
    assert_eq!(prompts["prompts"][0]["name"], "session_brief");
    assert!(prompt["messages"][0]["content"]["text"].as_str().is_some_and(|text| text.contains("Always use pnpm")));
    assert!(ping["raised"].is_null(), "{ping}");
    assert_eq!(missing["isError"], true, "{missing}");
    assert!(accept["raised"].as_str().is_some_and(|words| words.contains("no tool is named")), "{accept}");
    assert!(forced["content"][0]["text"].as_str().is_some_and(|words| words.contains("unknown field `force`")));
    let outcome = json!({ "episode": episode, "outcome": "accepted", "used": ["gotchas/openssl-dir.md"] });
    let answers = python(&sandbox, &program, json!([["call", ["memory_outcome", outcome]]]));
    assert_eq!(answers[1]["structuredContent"]["verifier"], "agent_self_report", "{answers:?}");
    sandbox.fsck();
}

#[test]
fn the_inspector_lists_calls_and_reads() {
    let Some(inspector) = tool("inspector/node_modules/.bin/mcp-inspector") else { return };
    let sandbox = wiki();
    let ask = |method: &str, more: &[&str]| -> Value {
        let mut command = sandbox.program("node");
        command.arg(&inspector).args(["--cli", BIN, "mcp", "--method", method]).args(more);
        let output = command.output().expect("node starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{method}: {said}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{method}: {error}: {said}"))
    };
    assert_eq!(ask("tools/list", &[])["tools"].as_array().map(Vec::len), Some(10));
    let read = ["--tool-name", "memory_read", "--tool-arg", "path=decisions/sqlite.md"];
    assert_eq!(ask("tools/call", &read)["structuredContent"]["kind"], "decision");
    let search = ["--tool-name", "memory_search", "--tool-arg", "query=pnpm"];
    assert_eq!(ask("tools/call", &search)["structuredContent"]["results"][0]["path"], "_rules/pnpm.md");
    assert_eq!(ask("resources/list", &[])["resources"].as_array().map(Vec::len), Some(3));
    let page = ask("resources/read", &["--uri", "git-memory:///_rules/pnpm.md"]);
    assert_eq!(page["contents"][0]["text"], "# Always use pnpm\n\nNever npm.\n");
    assert_eq!(ask("prompts/list", &[])["prompts"][0]["name"], "session_brief");
    let brief = ask("prompts/get", &["--prompt-name", "session_brief"]);
    assert!(brief["messages"][0]["content"]["text"].as_str().is_some_and(|text| text.contains("Never npm")));
}
