//! `git memory capture` of Gemini CLI, Copilot CLI and aider: where their sessions are found, whose they are, and that
//! no reader takes another agent's file for its own.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::Sandbox;
use git_memory::session::{Agent, From, Outcome, Policy, ReadOptions, Redactor, read};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A wiki in the working folder.
fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--branch", "wiki"]);
    sandbox
}

fn place(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn hash(folder: &Path) -> String {
    Sha256::digest(folder.to_str().unwrap().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A fixture of Gemini CLI that ran in this folder, under a session id of its own.
fn gemini(name: &str, folder: &Path, id: &str) -> String {
    let text = fixture(name);
    let old = text.split("sessionId\"").nth(1).unwrap().split('"').nth(1).unwrap().to_owned();
    let unlike = |text: String| text.replace("\"3f2a", &format!("\"{}", &id[..4]));
    unlike(text.replace(&hash(Path::new("/home/dev/parcel")), &hash(folder)).replace(&old, id))
}

fn ids(report: &Value) -> Vec<&str> {
    let mut ids: Vec<&str> = report["sessions"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn gemini_sessions_are_found_by_the_hash_of_a_work_tree_or_by_what_stands_beside_them() {
    let mut sandbox = wiki();
    sandbox.commit("start");
    let linked = sandbox.root().join("linked");
    sandbox.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let tmp = sandbox.home().join(".gemini/tmp");
    let inside = sandbox.dir.join("crates/app");
    fs::create_dir_all(&inside).unwrap();
    let chats = |name: &str, file: &str| tmp.join(name).join("chats").join(file);
    place(chats(&hash(&sandbox.dir), "session-1.json"), &gemini("gemini/session.json", &sandbox.dir, "aaaa-main"));
    place(chats(&hash(&linked), "session-2.jsonl"), &gemini("gemini/session.jsonl", &linked, "bbbb-linked"));
    place(chats("app", "session-3.jsonl"), &gemini("gemini/session.jsonl", &inside, "cccc-inside"));
    place(tmp.join("app/.project_root"), inside.to_str().unwrap());
    let elsewhere = sandbox.root().join("elsewhere");
    place(chats("other", "session-4.json"), &gemini("gemini/session.json", &elsewhere, "dddd-other"));
    place(chats("app", "logs.json"), "[]");
    let report = sandbox.json(&["capture", "--auto"]);
    assert_eq!(ids(&report), ["aaaa-main", "bbbb-linked", "cccc-inside"], "{report}");
    assert_eq!(report["unmatched"], 1);
    assert_eq!(report["warnings"].as_array().unwrap().len(), 0, "{report}");
    let output = sandbox.memory(&["capture", "--auto", "-v"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("session-4.json: unmatched: "), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("3 unchanged"));
    sandbox.env.push(("GEMINI_CLI_HOME".into(), sandbox.root().join("nowhere").display().to_string()));
    assert!(sandbox.run(&["capture", "--auto"]).contains("no file was found"));
}

#[test]
fn copilot_sessions_are_found_in_both_layouts_and_nothing_else_of_their_folders_is() {
    let mut sandbox = wiki();
    let state = sandbox.root().join("copilot/session-state");
    sandbox.env.push(("COPILOT_HOME".into(), sandbox.root().join("copilot").display().to_string()));
    let events = |folder: &Path, id: &str| {
        let text = fixture("copilot/events.jsonl").replace("/home/dev/parcel", folder.to_str().unwrap());
        text.replace("9a8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d", id).replace("\"c0b1", &format!("\"{}", &id[..4]))
    };
    place(state.join("aaaa-new/events.jsonl"), &events(&sandbox.dir, "aaaa-new"));
    place(state.join("aaaa-new/workspace.yaml"), "id: aaaa-new\n");
    place(state.join("aaaa-new/files/data.jsonl"), "{\"row\":1}\n");
    place(state.join("bbbb-old.jsonl"), &events(&sandbox.dir, "bbbb-old"));
    place(state.join("cccc-other/events.jsonl"), &events(&sandbox.root(), "cccc-other"));
    let report = sandbox.json(&["capture", "--auto"]);
    assert_eq!(ids(&report), ["aaaa-new", "bbbb-old"], "{report}");
    assert_eq!((&report["unmatched"], report["unrecognised"].as_array().unwrap().len()), (&Value::from(1), 0));
}

#[test]
fn aider_histories_are_found_in_the_work_trees_and_grow_by_what_is_new() {
    let sandbox = wiki();
    sandbox.commit("start");
    let linked = sandbox.root().join("linked");
    sandbox.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let history = fixture("aider/history.md");
    let first = &history[..history.find("# aider chat started at 2026-02-13").unwrap()];
    place(sandbox.dir.join(".aider.chat.history.md"), first);
    place(linked.join(".aider.chat.history.md"), &history);
    place(sandbox.dir.join("deeper/.aider.chat.history.md"), &history);
    let report = sandbox.json(&["capture", "--auto"]);
    assert_eq!(report["sessions"].as_array().unwrap().len(), 3, "{report}");
    place(sandbox.dir.join(".aider.chat.history.md"), &history);
    let report = sandbox.json(&["capture", "--auto"]);
    let became: Vec<&str> =
        report["sessions"].as_array().unwrap().iter().map(|s| s["outcome"].as_str().unwrap()).collect();
    assert_eq!(became.iter().filter(|outcome| **outcome == "unchanged").count(), 3, "{report}");
    assert_eq!(became.iter().filter(|outcome| **outcome == "new").count(), 1);
}

#[test]
fn the_policy_above_the_folder_that_a_hash_stands_for_rules() {
    let sandbox = wiki();
    sandbox.write(".gitmemory.toml", "[capture]\nignore_paths = [\"sort.rs\"]\n");
    let file = sandbox.root().join("session.json");
    place(file.clone(), &gemini("gemini/session.json", &sandbox.dir, "aaaa-main"));
    sandbox.run(&["capture", file.to_str().unwrap()]);
    let held = sandbox.git(&["show", "refs/memory/sessions/aaaa-main:observations.jsonl"]);
    assert!(held.contains("LC_ALL=C") && !held.contains("sort.rs") && !held.contains("collate"));
    sandbox.write(".gitmemory.toml", "[capture]\nenabled = false\n");
    place(file.clone(), &gemini("gemini/session.json", &sandbox.dir, "bbbb-main"));
    assert!(sandbox.run(&["capture", file.to_str().unwrap()]).contains("nothing to learn"));
}

#[test]
fn pages_tell_what_was_asked_what_failed_and_what_was_changed() {
    let sandbox = wiki();
    let history = sandbox.root().join("files/history.md");
    place(history.clone(), &fixture("aider/history.md"));
    let page = |file: &str, id: &str| {
        sandbox.run(&["capture", "--json", file]);
        sandbox.git(&["show", &format!("refs/memory/sessions/{id}:page.md")])
    };
    let path = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name).display().to_string();
    let gemini = page(&path("gemini/session.json"), "5b0e6c1d-2f4a-4c7b-8e9d-a1b2c3d4e5f6");
    for line in [
        "2. > No. Never change the order in the library: set LC_ALL=C in the test, see @tests/sorter.rs",
        "- `/home/dev/parcel/tests/sorter.rs`",
        "- #9 Edit `/home/dev/parcel/src/sort.rs`",
        "- #4 `cargo test --test sorter` → exit 101: ``assertion `left == right` failed: locale de_DE sorts differently``",
    ] {
        assert!(gemini.lines().any(|known| known == line), "{line}\n{gemini}");
    }
    assert!(!gemini.contains("- `/home/dev/parcel/src/sort.rs`\n"), "a refused edit changed nothing\n{gemini}");
    let copilot = page(&path("copilot/events.jsonl"), "9a8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d");
    assert!(copilot.contains("2. > use chunks, not windows\n") && copilot.contains("- `tests/last_row.rs`"));
    assert!(copilot.contains("`cargo test --test last_row` → exit 101"), "{copilot}");
    let report = sandbox.json(&["capture", history.to_str().unwrap()]);
    let id = report["sessions"][0]["id"].as_str().unwrap().to_owned();
    let aider = page(history.to_str().unwrap(), &id);
    assert!(aider.contains("Never sleep in tests; inject the clock.") && aider.contains("- `src/queue.py`"), "{aider}");
    if std::env::var_os("SHOW_PAGES").is_some() {
        println!("{gemini}\n\n{copilot}\n\n{aider}");
    }
}

#[test]
fn each_file_is_told_by_its_content_whatever_it_is_called() {
    const CLAUDE: &str =
        r#"{"type":"user","uuid":"u1","sessionId":"s","cwd":"/p","message":{"role":"user","content":"use pnpm"}}"#;
    const CODEX: &str = concat!(
        r#"{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"a","timestamp":"2026-03-01T10:00:00Z","cwd":"/p","originator":"codex_cli_rs","cli_version":"0.50.0"}}"#,
        "\n",
        r#"{"timestamp":"2026-03-01T10:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"use pnpm"}}"#,
        "\n",
    );
    const OPENCODE: &str = r#"{"info":{"id":"ses_1","directory":"/p","title":"t","time":{"created":1,"updated":2}},"messages":[{"info":{"id":"msg_1","role":"user","sessionID":"ses_1","time":{"created":1}},"parts":[{"id":"prt_1","type":"text","text":"use pnpm"}]}]}"#;
    const NOTE: &str = "# Release\n\n## Prompts\n\n1. use pnpm\n\n## Outcome\n\n#### Done\n\n> quoted\n";
    let files: [(Option<Agent>, String); 9] = [
        (Some(Agent::Claude), CLAUDE.into()),
        (None, CODEX.into()),
        (None, OPENCODE.into()),
        (Some(Agent::Gemini), fixture("gemini/session.json")),
        (Some(Agent::Gemini), serde_json::from_str::<Value>(&fixture("gemini/session.json")).unwrap().to_string()),
        (Some(Agent::Gemini), fixture("gemini/session.jsonl")),
        (Some(Agent::Copilot), fixture("copilot/events.jsonl")),
        (Some(Agent::Aider), fixture("aider/history.md")),
        (Some(Agent::Markdown), NOTE.into()),
    ];
    let (redactor, policy) = (Redactor::new(&[], &[]).unwrap(), Policy::new(true, false, &[]).unwrap());
    let options = ReadOptions { redactor: &redactor, policy: &policy };
    let dir = tempfile::tempdir().unwrap();
    for (agent, text) in &files {
        for name in ["x.jsonl", "x.md", "x.json", "x"] {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            let found = match read(&path, From::Auto, options).unwrap().0 {
                Outcome::Sessions(sessions) => sessions.first().map(|session| session.agent),
                Outcome::Unrecognised(_) => None,
            };
            match agent {
                Some(_) => assert_eq!(found, *agent, "{name}: {text:.80}"),
                None => {
                    assert!(!matches!(found, Some(Agent::Gemini | Agent::Copilot | Agent::Aider)), "{name}: {text:.80}")
                }
            }
        }
    }
}
