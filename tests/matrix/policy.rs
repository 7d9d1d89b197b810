//! What may land without a person, and what may not whatever the settings say.

use super::common::{BIN, Sandbox};
use super::scene::*;

/// A wiki with a captured session that teaches a rule and, on request, others.
fn improved(settings: &[(&str, &str)]) -> Sandbox {
    let sandbox = wiki();
    for (key, value) in settings {
        sandbox.git(&["config", key, value]);
    }
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    let mut sessions: Vec<_> = std::fs::read_dir(&fixtures).expect("fixtures").flatten().map(|e| e.path()).collect();
    sessions.sort();
    for session in sessions.iter().filter(|path| path.extension().is_some_and(|kind| kind == "jsonl")) {
        let _ = sandbox.memory(&["capture", &session.display().to_string()]).output();
    }
    sandbox.run(&["improve", "--all"]);
    sandbox
}

fn open(sandbox: &Sandbox) -> Vec<serde_json::Value> {
    sandbox.json(&["list"])["proposals"].as_array().expect("proposals").clone()
}

fn landed(sandbox: &Sandbox) -> String {
    sandbox.git(&[
        "log",
        "--first-parent",
        "--merges",
        "--format=%an <%ae>|%cn|%(trailers:unfold,separator=%x7c)",
        "main",
    ])
}

#[test]
fn gated_accepts_nothing_that_no_judge_has_passed() {
    let sandbox = improved(&[]);
    assert!(!open(&sandbox).is_empty(), "the sessions teach something");
    assert_eq!(landed(&sandbox), "");
    sandbox.run(&["drain", "--policy", "gated", "--yes"]);
    assert_eq!(landed(&sandbox), "");
}

#[test]
fn all_lands_what_is_no_rule_under_the_bots_name() {
    let sandbox = improved(&[("memory.approval.mode", "all")]);
    let left = open(&sandbox);
    let landed = landed(&sandbox);
    assert!(!landed.is_empty(), "something landed; left: {left:?}");
    for line in landed.lines() {
        assert!(line.starts_with("git-memory policy <policy@git-memory.invalid>|git-memory policy|"), "{line}");
        for trailer in ["Memory-Decision: auto-accepted", "Memory-Policy: all", "Memory-Model: builtin"] {
            assert!(line.contains(trailer), "{trailer} in {line}");
        }
        assert!(!line.contains("Reviewed-by") && !line.contains("Memory-Kind: rule"), "{line}");
    }
    assert!(left.iter().any(|one| one["kind"] == "rule"), "the rule waits: {left:?}");
    assert!(left.iter().all(|one| one["kind"] == "rule" || one["deferred"] != serde_json::Value::Null), "{left:?}");
    assert!(!sandbox.tree("main").iter().any(|path| path.starts_with("_rules/") && path.ends_with(".md")));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    sandbox.fsck();
}

#[test]
fn require_approval_is_read_as_none() {
    for settings in [
        &[("memory.approval.mode", "none")][..],
        &[("memory.approval.mode", "all"), ("memory.approval.requireApproval", "true")],
    ] {
        let sandbox = improved(settings);
        assert!(!open(&sandbox).is_empty());
        assert_eq!(landed(&sandbox), "", "{settings:?}");
    }
}

#[test]
fn a_committed_file_may_not_widen_what_lands() {
    let sandbox = wiki();
    let known = sandbox.read(".gitmemory.toml");
    sandbox.write(".gitmemory.toml", format!("{known}\n[approval]\nmode = \"all\"\nautonomy = true\n"));
    sandbox.commit("Widen");
    let session = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    for entry in std::fs::read_dir(session).expect("fixtures").flatten() {
        let _ = sandbox.memory(&["capture", &entry.path().display().to_string()]).output();
    }
    let output = sandbox.memory(&["improve", "--all"]).output().expect("starts");
    assert!(output.status.success(), "{output:?}");
    assert!(!open(&sandbox).is_empty());
    assert_eq!(landed(&sandbox), "");
    let output = sandbox.memory(&["config", "--origin"]).output().expect("starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("approval.mode"), "{said}");
    assert!(said.contains("ignored") || said.contains("not from a committed"), "a note tells of it: {said}");
}

/// Under each of these nobody is there who could decide on a rule.
#[test]
fn no_yes_but_a_persons_lands_a_rule() {
    let sandbox = wiki();
    let id = propose(&sandbox, "_rules/z.md", "# Always use -z\n\nNames hold newlines.\n");
    let head = sandbox.rev("main");
    let environments: [&[(&str, &str)]; 6] = [
        &[],
        &[("CLAUDECODE", "1")],
        &[("CODEX_SANDBOX", "seatbelt")],
        &[("OPENCODE", "1")],
        &[("CURSOR_AGENT", "1")],
        &[("GIT_MEMORY_YES", "1"), ("CI", "true")],
    ];
    for variables in environments {
        for args in [&["accept", &id, "--yes"] as &[&str], &["accept", "--all", "--yes"], &["review", "--yes"]] {
            let mut command = sandbox.program("setsid");
            command.args(["-w", BIN]).args(args).envs(variables.iter().copied());
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
            let mut child = command.stderr(std::process::Stdio::piped()).spawn().expect("starts");
            let _ = std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), b"yes\ny\nyes\na\nyes\n");
            let output = child.wait_with_output().expect("it ends");
            assert_eq!(output.status.code(), Some(1), "{variables:?} {args:?}: {output:?}");
        }
    }
    sandbox.run(&["drain", "--policy", "gated", "--yes"]);
    sandbox.git(&["config", "memory.approval.mode", "all"]);
    sandbox.run(&["drain", "--policy", "gated", "--yes"]);
    assert_eq!(sandbox.rev("main"), head);
    assert_eq!(status(&sandbox, &id), "pending");
}
