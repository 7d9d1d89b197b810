//! `git memory capture` of Codex's files: what is told in several of them, found where Codex keeps them, or broken.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Sandbox, corpus};
use serde_json::{Value, json};

/// A wiki in the working folder.
fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--branch", "wiki"]);
    sandbox
}

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex").join(name).display().to_string()
}

/// The observations that are held, by all sessions together, as `speaker body`.
fn held(sandbox: &Sandbox) -> Vec<String> {
    let mut all = Vec::new();
    for line in sandbox.refs("refs/memory/sessions/").lines() {
        let name = line.split(' ').next().unwrap();
        for line in sandbox.git(&["show", &format!("{name}:observations.jsonl")]).lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            all.push(format!("{} {}", value["speaker"].as_str().unwrap(), value["body"].as_str().unwrap()));
        }
    }
    all.sort();
    all
}

/// A session file of Codex's in the sandbox's home, of a person who says these words in this folder.
fn place(sandbox: &Sandbox, path: &str, id: &str, cwd: &Path, words: &str) -> PathBuf {
    let path = sandbox.home().join(path);
    let lines = [
        json!({"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": {"id": id, "cwd": cwd}}),
        json!({"timestamp": "2026-03-01T10:00:01Z", "type": "event_msg", "payload": {"type": "user_message", "message": words}}),
    ];
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    path
}

fn ids(report: &Value) -> Vec<&str> {
    report["sessions"].as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap()).collect()
}

#[test]
fn a_fork_adds_its_tail_only_in_any_order_and_in_calls_of_their_own() {
    let (parent, fork) = (fixture("made-parent.jsonl"), fixture("made-fork.jsonl"));
    let expected = [
        "assistant The test waits on stdin; run it with </dev/null.",
        "assistant Written to gotchas/make-check-hangs.md.",
        "assistant make check",
        "human put that in the wiki",
        "human why does `make check` hang?",
        "tool timeout after 120s",
    ];
    for order in [[&parent, &fork], [&fork, &parent]] {
        let together = wiki();
        together.run(&["capture", order[0], order[1]]);
        assert_eq!(held(&together), expected);
        let apart = wiki();
        apart.run(&["capture", order[0]]);
        apart.run(&["capture", order[1]]);
        assert_eq!(held(&apart), expected);
        let again = apart.json(&["capture", order[0], order[1]]);
        assert!(again["sessions"].as_array().unwrap().iter().all(|session| session["outcome"] == "unchanged"));
    }
}

#[test]
fn codexs_own_places_give_this_projects_sessions_each_once() {
    let sandbox = wiki();
    let here = sandbox.dir.clone();
    let at = |name: &str| format!(".codex/{name}");
    let day = "sessions/2026/03/01/rollout-2026-03-01T10-00-00-";
    place(&sandbox, &at(&format!("{day}one.jsonl")), "one", &here, "use pnpm");
    place(&sandbox, &at(&format!("{day}other.jsonl")), "other", &sandbox.root().join("elsewhere"), "not ours");
    let archived = place(&sandbox, &at("archived_sessions/rollout-old.jsonl"), "old", &here, "use uv");
    let pack = |path: &Path| {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let packed = ruzstd::encoding::compress_to_vec(fs::read(path).unwrap().as_slice(), level);
        fs::write(path.with_extension("jsonl.zst"), packed).unwrap();
    };
    pack(&archived);
    fs::remove_file(&archived).unwrap();
    // An older packed copy beside a plain file that has grown.
    let grown = place(&sandbox, &at(&format!("{day}two.jsonl")), "two", &here, "first");
    pack(&grown);
    place(&sandbox, &at(&format!("{day}two.jsonl")), "two", &here, "first and more");
    for list in ["history.jsonl", "session_index.jsonl"] {
        fs::write(sandbox.home().join(at(list)), "{\"session_id\":\"one\",\"ts\":1,\"text\":\"use pnpm\"}\n").unwrap();
    }
    let report = sandbox.json(&["capture", "--auto"]);
    let mut found = ids(&report);
    found.sort_unstable();
    assert_eq!(found, ["old", "one", "two"]);
    assert_eq!(report["unmatched"], 1);
    assert_eq!(held(&sandbox), ["human first and more", "human use pnpm", "human use uv"]);
    let (_, err) = sandbox.fails(1, &["capture", sandbox.home().join(at("history.jsonl")).to_str().unwrap()]);
    assert!(err.contains("one of Codex's indexes"), "{err}");
}

#[test]
fn the_end_of_a_turn_captures_its_session_by_the_threads_id() {
    let sandbox = wiki();
    let id = "019c0000-0000-7000-8000-00000000000a";
    let path = format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{id}.jsonl");
    place(&sandbox, &path, id, &sandbox.dir, "use pnpm");
    let cwd = sandbox.dir.display().to_string();
    let told = json!({"type": "agent-turn-complete", "thread-id": id, "turn-id": "t", "cwd": cwd,
        "input-messages": ["use pnpm"], "last-assistant-message": "Done."});
    sandbox.memory(&["capture", "--hook"]).write_stdin(told.to_string()).assert().success();
    assert_eq!(held(&sandbox), ["human use pnpm"]);
    // A session without a file of its own name: what is new in this project is captured.
    let other = "019c0000-0000-7000-8000-00000000000b";
    place(&sandbox, &path.replace(id, other), other, &sandbox.dir, "use uv");
    let told = json!({"type": "agent-turn-complete", "thread_id": "019c0000-absent", "cwd": cwd});
    sandbox.memory(&["capture", "--hook"]).write_stdin(told.to_string()).assert().success();
    assert_eq!(held(&sandbox), ["human use pnpm", "human use uv"]);
    // What another agent tells of is looked for in that one's places only.
    let third = "019c0000-0000-7000-8000-00000000000c";
    place(&sandbox, &path.replace(id, third), third, &sandbox.dir, "use bun");
    for session in ["ses_1", third] {
        let told = json!({"agent": "opencode", "session_id": session, "cwd": cwd, "hook_event_name": "session.idle"});
        sandbox.memory(&["capture", "--hook"]).write_stdin(told.to_string()).assert().success();
    }
    assert_eq!(held(&sandbox), ["human use pnpm", "human use uv"]);
}

#[test]
fn no_secret_of_a_session_is_written_or_said() {
    let sandbox = wiki();
    let secret = ["gh", "p_", "912QBrTVzLvmcw24LoNx1iyXBNZvHYBrRuNk"].concat();
    let line = |payload: Value| json!({"type": "response_item", "payload": payload}).to_string();
    let message = |role: &str, kind: &str| {
        line(json!({"type": "message", "role": role, "content": [{"type": kind, "text": format!("token {secret}")}]}))
    };
    let lines = [
        json!({"type": "session_meta", "payload": {"id": secret, "cwd": format!("/p/{secret}"), "git": {"branch": secret}}}).to_string(),
        message("user", "input_text"),
        line(json!({"type": "function_call", "name": "shell", "call_id": secret, "arguments": json!({"command": ["bash", "-lc", format!("echo {secret}")]}).to_string()})),
        line(json!({"type": "function_call_output", "call_id": secret, "output": json!({"output": format!("{secret}\n"), "metadata": {"exit_code": 0}}).to_string()})),
        line(json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "p", "input": format!("*** Begin Patch\n*** Add File: {secret}\n+{secret}\n*** End Patch")})),
        line(json!({"type": "agent_message", "author": secret, "recipient": "b", "content": [{"type": "input_text", "text": secret}]})),
        json!({"type": "compacted", "payload": {"message": secret}}).to_string(),
        message("assistant", "output_text"),
    ];
    let path = sandbox.root().join("s.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    let said = sandbox.run(&["capture", path.to_str().unwrap(), "--json"]);
    assert!(said.contains("\"prompts\": 1") || said.contains("\"prompts\":1"), "{said}");
    let written =
        sandbox.refs("refs/") + &said + &sandbox.git(&["cat-file", "--batch", "--batch-all-objects", "--buffer"]);
    assert!(!written.contains(&secret[4..16]) && written.contains("[REDACTED:"));
}

#[test]
fn every_file_of_the_corpus_is_captured_or_named_and_a_second_time_changes_nothing() {
    let Some(corpus) = corpus() else { return eprintln!("skipped: no corpus (set GIT_MEMORY_CORPUS)") };
    let sandbox = wiki();
    let folder = corpus.join("transcripts/codex").display().to_string();
    let first = sandbox.json(&["capture", &folder]);
    assert_eq!((first["unrecognised"].clone(), first["failed"].clone()), (json!([]), json!([])), "{first}");
    let before = sandbox.refs("refs/memory/sessions/");
    let second = sandbox.json(&["capture", &folder]);
    assert!(second["sessions"].as_array().unwrap().iter().all(|session| session["outcome"] == "unchanged"));
    assert_eq!(sandbox.refs("refs/memory/sessions/"), before);
}

#[test]
fn parents_forks_and_subagents_of_the_corpus_hold_each_turn_once_in_any_order() {
    let Some(corpus) = corpus() else { return eprintln!("skipped: no corpus (set GIT_MEMORY_CORPUS)") };
    let families: &[(&str, &[&str], usize)] = &[
        ("agtrace", &["rollout-parent-019b88e0.jsonl", "rollout-subagent-019b88e5.jsonl"], 1),
        (
            "agtrace",
            &["codex_parent_with_spawns.jsonl", "codex_subagent_matched.jsonl", "codex_subagent_unmatched.jsonl"],
            2,
        ),
        ("codexbar/live-fork-4d90-52bf/codex-home/archived_sessions", &["parent.jsonl", "child.jsonl"], 0),
    ];
    for (folder, files, humans) in families {
        let path = |name: &&str| corpus.join("transcripts/codex").join(folder).join(name).display().to_string();
        let mut order: Vec<String> = files.iter().map(path).collect();
        let mut seen: Option<Vec<String>> = None;
        for _ in 0..2 {
            let sandbox = wiki();
            for file in &order {
                sandbox.run(&["capture", file]);
            }
            let held = held(&sandbox);
            assert_eq!(held.iter().filter(|line| line.starts_with("human ")).count(), *humans, "{folder}");
            assert!(seen.as_ref().is_none_or(|seen| *seen == held));
            seen = Some(held);
            order.reverse();
        }
    }
}
