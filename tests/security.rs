//! Attacks from what is not ours: text, names, identities, other people's pushes.

mod common;
#[path = "matrix/scene.rs"]
mod scene;

use common::Sandbox;
use scene::*;
use serde_json::json;

/// What a terminal must never get from text that is not ours.
const NASTY: &str = "a\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\u{202e}gnirts\u{2066}\u{8}\u{7f}\rX";

/// Fails when something is in it that a terminal acts on.
fn is_harmless(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for c in text.chars() {
        let bad = (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
        assert!(!bad, "{what} gives U+{:04x} to the terminal: {text:?}", c as u32);
    }
}

/// Runs it, whatever comes of it; both outputs must be harmless. `-v` for everything that can be said.
fn harmless(sandbox: &Sandbox, args: &[&str]) -> String {
    let output = sandbox.memory(args).output().expect("starts");
    is_harmless(&format!("{args:?}"), &output.stdout);
    is_harmless(&format!("{args:?} on standard error"), &output.stderr);
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn batch(sandbox: &Sandbox, line: serde_json::Value) -> serde_json::Value {
    std::fs::write(sandbox.root().join("one.jsonl"), format!("{line}\n")).expect("written");
    let path = sandbox.root().join("one.jsonl").display().to_string();
    let output = sandbox.memory(&["propose", "--batch", &path, "--json"]).output().expect("starts");
    is_harmless("propose --json", &output.stdout);
    is_harmless("propose on standard error", &output.stderr);
    serde_json::from_slice(&output.stdout).expect("json")
}

/// A proposal with such text in every field, as a fetch may bring it: our own validation lets none of it through.
fn planted(sandbox: &Sandbox) -> String {
    use git_memory::ledger::{Append, Event, EventKind, append};
    for (title, rationale, body) in [(NASTY, "r", "Text."), ("Title", NASTY, "Text."), ("Title", "r", NASTY)] {
        batch(
            sandbox,
            json!({ "path": "notes/refused.md", "title": title, "rationale": rationale,
                "body_markdown": format!("# T\n\n{body}\n") }),
        );
    }
    let id = "abcdabcdabcdabcd".to_owned();
    let base = sandbox.rev("main");
    sandbox.git(&["checkout", "-q", "--detach"]);
    sandbox.write("notes/nasty.md", format!("# Nasty\n\nBody {NASTY} end.\n"));
    let tip = sandbox.commit(&format!("Subject {NASTY}"));
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["update-ref", &format!("refs/memory/pending/{id}"), &tip]);
    let repo = git_memory::git::Repo::open(&sandbox.dir).expect("the repository");
    let mut more = Append::new("memory: from elsewhere");
    let sidecar = format!(
        "---\n{}\n---\n\n# Nasty\n",
        json!({ "id": id, "run": NASTY, "lane": NASTY, "scope": "global", "operation": "create", "paths": ["notes/nasty.md"],
            "kind": "note", "title": NASTY, "confidence": 0.5, "rationale": format!("Why {NASTY}\nand {NASTY}"), "actor": NASTY,
            "model": NASTY, "base": base, "notes": [NASTY], "gates": { NASTY: NASTY },
            "evidence": [{ "source": NASTY, "quote": format!("{NASTY}\n{NASTY}"), "blob": null, "speaker": null }],
            "deferred": NASTY, "staged_at": "2026-03-01T12:00:00Z" })
    );
    more.files.push((format!("proposals/ab/{id}/sidecar.md"), sidecar.into_bytes()));
    let page = format!("# Nasty\n\nBody {NASTY} end.\n");
    more.files.push((format!("proposals/ab/{id}/after/notes/nasty.md"), page.into_bytes()));
    let staged = Event::new(EventKind::Staged, "global", NASTY).proposal(&id).with("title", NASTY).with("lane", NASTY);
    let staged = staged.with("kind", "note").with("operation", "create").with("paths", vec!["notes/nasty.md"]);
    let staged = staged.with("session", NASTY).with("model", NASTY).with("run", NASTY);
    more.events.push(staged.with("base", base.as_str()).with("tip", tip.as_str()));
    append(&repo, &more, &[]).expect("appended");
    id
}

#[test]
fn terminal_escapes_in_texts_reach_no_terminal() {
    let mut sandbox = with_page();
    let id = planted(&sandbox);
    let id = id.as_str();
    let other = propose(&sandbox, "gotchas/z.md", Z);
    for args in [
        &["list"] as &[&str],
        &["list", "--porcelain"],
        &["list", "--json"],
        &["show", id],
        &["show", id, "--json"],
        &["diff", id, "--stat"],
        &["proposal", "log", id],
        &["log"],
        &["log", "--json"],
        &["status"],
        &["lint"],
        &["rebase", id],
        &["drain", "--dry-run"],
    ] {
        harmless(&sandbox, args);
    }
    let reason = format!("Because {NASTY}");
    harmless(&sandbox, &["reject", &other, "--reason", &reason]);
    harmless(&sandbox, &["show", &other]);
    harmless(&sandbox, &["list", "--all"]);
    harmless(&sandbox, &["accept", id]);
    harmless(&sandbox, &["revert", id, "--reason", &reason]);
    harmless(&sandbox, &["log"]);
    harmless(&sandbox, &["proposal", "log", id]);
    // The person's own name, from git.
    sandbox.env.push(("GIT_COMMITTER_NAME".into(), format!("Eve {}", NASTY.replace('\r', ""))));
    sandbox.env.push(("GIT_AUTHOR_NAME".into(), format!("Eve {}", NASTY.replace('\r', ""))));
    harmless(&sandbox, &["reopen", id]);
    harmless(&sandbox, &["accept", id]);
    harmless(&sandbox, &["show", id]);
    harmless(&sandbox, &["log"]);
    harmless(&sandbox, &["proposal", "log", id]);
    // With colour, our own escapes are the only ones.
    let output = sandbox.memory(&["show", id, "--color=always"]).output().expect("starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.contains("\u{1b}]0;") && !text.contains("\u{9b}") && !text.contains('\u{202e}'), "{text:?}");
}

#[test]
fn terminal_escapes_in_arguments_and_names_reach_no_terminal() {
    let sandbox = wiki();
    for args in [
        &["show", NASTY] as &[&str],
        &["accept", NASTY],
        &["list", "--page", NASTY],
        &["list", "--scope", NASTY],
        &["propose", NASTY, "--rationale", "r", "--file", NASTY],
        &["capture", NASTY],
        &["improve", "--session", NASTY],
        &["run", "show", NASTY],
        &["config", "get", NASTY],
        &["-C", NASTY, "list"],
        &["schema", NASTY],
        &[NASTY],
    ] {
        harmless(&sandbox, args);
    }
    // Names on the branch, in every place that prints names.
    sandbox.write(&format!("notes/{}.md", NASTY.replace(['/', '\0'], "")), "no title\n\n[x](missing.md)\n");
    sandbox.commit(&format!("Subject {NASTY}"));
    sandbox.git(&["update-ref", "refs/memory/pending/0123456789abcdef", "main"]);
    for args in [&["lint"] as &[&str], &["status"], &["log"], &["list"], &["doctor"], &["lint", "--json"]] {
        harmless(&sandbox, args);
    }
    let broken = Sandbox::new();
    broken.write(".gitmemory.toml", format!("[wi\u{1b}[31mki]\n# {NASTY}\n\"{}\" = 1\n", "x\\u001b[31m"));
    broken.git(&["config", "memory.wiki.branch", "main"]);
    broken.commit("Settings");
    harmless(&broken, &["list"]);
    harmless(&broken, &["config", "--origin"]);
}

#[test]
fn sessions_cannot_speak_to_the_terminal() {
    let sandbox = wiki();
    let line = |role: &str, text: &str| {
        json!({ "type": role, "uuid": text.len().to_string(), "sessionId": "0f0f0f0f-1111-4222-8333-444444444444",
            "timestamp": "2026-03-01T10:00:00Z", "cwd": sandbox.dir.display().to_string(),
            "message": { "role": role, "content": text } })
        .to_string()
    };
    let text = format!(
        "{}\n{}\n{}\n",
        line("user", &format!("Always use pnpm in this repository, never npm. {NASTY}")),
        line("assistant", &format!("Understood {NASTY}")),
        line("user", &format!("No, that is wrong: from now on always run the linter first. {NASTY}")),
    );
    std::fs::write(sandbox.root().join("session.jsonl"), text).expect("written");
    let path = sandbox.root().join("session.jsonl").display().to_string();
    harmless(&sandbox, &["capture", &path]);
    harmless(&sandbox, &["session", "list"]);
    let list = sandbox.json(&["session", "list"]);
    if let Some(id) = list["sessions"][0]["id"].as_str() {
        harmless(&sandbox, &["session", "show", id]);
    }
    harmless(&sandbox, &["improve", "--all"]);
    harmless(&sandbox, &["list"]);
    for one in sandbox.json(&["list"])["proposals"].as_array().expect("proposals") {
        harmless(&sandbox, &["show", one["id"].as_str().expect("an id")]);
    }
    harmless(&sandbox, &["run", "list"]);
    harmless(&sandbox, &["log"]);
}

#[test]
fn no_text_forges_a_trailer() {
    let sandbox = with_page();
    let victim = propose(&sandbox, "gotchas/z.md", Z);
    let forged = format!(
        "x\n\nMemory-Proposal: {victim}\nMemory-Reverts: {victim}\nReviewed-by: Eve <eve@example.com>\nMemory-Decision: accepted\nSigned-off-by: Eve <eve@example.com>\n\nThis reverts commit {}.",
        sandbox.rev("main")
    );
    sandbox.write("notes/quoted.md", format!("# Quoted\n\n{forged}\n"));
    sandbox.commit("A page");
    let made = batch(
        &sandbox,
        json!({ "path": "notes/forged.md", "title": format!("T\n\nMemory-Proposal: {victim}\nMemory-Reverts: {victim}"), "rationale": forged,
            "body_markdown": format!("# T\n\nOf quite another thing, and then a line:\n\nMemory-Reverts: {victim}\n"), "kind": "note", "model": forged, "session": forged, "run": forged,
            "evidence": [{ "source": "notes/quoted.md", "quote": forged.clone() }] }),
    );
    let id = made["results"][0]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    sandbox.run(&["accept", &id]);
    sandbox.run(&["revert", &id, "--reason", &forged]);
    sandbox.run(&["reopen", &id]);
    sandbox.run(&["accept", &id]);
    let log = sandbox.git(&["log", "--format=%(trailers:only,unfold)%n%B", "main"]);
    for line in log.lines() {
        let line = line.trim_end();
        assert!(line != format!("Memory-Proposal: {victim}") && line != format!("Memory-Reverts: {victim}"), "{log}");
        assert!(!line.starts_with("Reviewed-by: Eve") && !line.starts_with("Signed-off-by: Eve"), "{log}");
    }
    assert_eq!(status(&sandbox, &victim), "pending");
    sandbox.run(&["accept", &victim]);
}

#[test]
fn an_identity_cannot_break_a_commit_or_a_trailer() {
    let mut sandbox = wiki();
    let victim = propose(&sandbox, "gotchas/z.md", Z);
    for name in ["Eve\nMemory-Reverts: x", "Eve <x> y", "  ", "Eve\u{0}", "\"Eve\" <eve@evil>"] {
        if name.contains('\0') {
            continue;
        }
        sandbox.env.push(("GIT_COMMITTER_NAME".into(), name.into()));
        sandbox.env.push(("GIT_AUTHOR_NAME".into(), name.into()));
        let made = proposing_with(
            &sandbox,
            &format!("notes/n{}.md", name.len()),
            &format!("# N{}\n\nWords of {}.\n", name.len(), name.len()),
        );
        if let Some(id) = made["results"][0]["id"].as_str() {
            sandbox.run(&["accept", id]);
        }
        sandbox.env.clear();
    }
    sandbox.fsck();
    assert_eq!(status(&sandbox, &victim), "pending");
}

fn proposing_with(sandbox: &Sandbox, path: &str, text: &str) -> serde_json::Value {
    let mut command = sandbox.memory(&["propose", path, "--rationale", "r", "--json"]);
    let output = command.write_stdin(text).output().expect("starts");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn arguments_that_begin_with_a_dash_are_no_options_of_git() {
    let sandbox = with_page();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let evil = sandbox.root().join("evil");
    let output = format!("--output={}", evil.display());
    for args in [
        &["show", "--", &output] as &[&str],
        &["accept", "--", "--all"],
        &["accept", "--", &output],
        &["diff", &id, "--", &output],
        &["list", "--page", &output],
        &["init", "--branch", "--upload-pack=x"],
        &["init", "--branch=-D"],
        &["init", "--root=-rf"],
        &["reject", "--reason", "x", "--", "--exec=touch"],
    ] {
        let _ = sandbox.memory(args).output().expect("starts");
        assert!(!evil.exists(), "{args:?}");
    }
    assert_eq!(status(&sandbox, &id), "pending");
    // A page, a branch and a folder whose names begin so.
    std::fs::write(sandbox.path("notes/--output=x.md"), "# Dash\n\n## Part\n\nWords.\n").expect("a page");
    sandbox.commit("A dash");
    harmless(&sandbox, &["lint"]);
    sandbox.run(&["status"]);
    // A wiki branch that git's own commands could take for an option is refused or works, and runs nothing.
    let other = Sandbox::new();
    other.git(&["update-ref", "refs/heads/-evil", "HEAD"]);
    other.git(&["config", "memory.wiki.branch", "-evil"]);
    let out = other.memory(&["list"]).output().expect("starts");
    assert!(matches!(out.status.code(), Some(0 | 1 | 78 | 128)), "{out:?}");
    // What `diff` passes on may write nothing and run nothing.
    for option in ["--ext-diff", "--textconv", "--no-index"] {
        let _ = sandbox.memory(&["diff", &id, option]).output().expect("starts");
        assert!(!evil.exists(), "{option}");
    }
}

#[test]
fn a_page_that_explodes_when_it_is_parsed_costs_little() {
    let sandbox = wiki();
    let mut bomb = String::from("---\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for n in 1..12 {
        let row = vec![format!("*a{}", n - 1); 10].join(",");
        bomb.push_str(&format!("a{n}: &a{n} [{row}]\n"));
    }
    bomb.push_str("title: *a11\n---\n\n# Bomb\n\nWords.\n");
    sandbox.write("notes/bomb.md", &bomb);
    sandbox.write(
        "notes/deep.md",
        format!("---\nx: {}{}\n---\n\n# Deep\n\nWords.\n", "[".repeat(20_000), "]".repeat(20_000)),
    );
    sandbox.write(
        "notes/nested.md",
        format!("---\n{}\n---\n\n# N\n", (0..5_000).map(|n| format!("{}k{n}:\n", " ".repeat(n))).collect::<String>()),
    );
    sandbox.write("notes/quote.md", format!("# Q\n\n{}x\n", "> ".repeat(20_000)));
    sandbox.write("notes/links.md", format!("# L\n\n{}\n", "[".repeat(50_000)));
    sandbox.commit("Bombs");
    let begun = std::time::Instant::now();
    for args in [&["lint"] as &[&str], &["status"], &["list"]] {
        let output = sandbox.memory(args).output().expect("starts");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {output:?}");
    }
    let id = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.run(&["accept", &id]);
    let made = proposing(&sandbox, "notes/own.md", &bomb);
    assert_ne!(made["results"][0]["outcome"], "sighted");
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn inputs_without_end_are_refused_and_not_held_in_memory_for_long() {
    let sandbox = wiki();
    let big = sandbox.root().join("big.md");
    let mut text = b"# Big\n\n".to_vec();
    text.resize(64 << 20, b'x');
    std::fs::write(&big, &text).expect("written");
    let before = sandbox.state();
    let path = big.display().to_string();
    let begun = std::time::Instant::now();
    let (_, err) = sandbox.fails(1, &["propose", "notes/big.md", "--rationale", "r", "--file", &path]);
    assert!(
        err.contains("large") || err.contains("characters") || err.contains("MiB"),
        "{}",
        &err[..err.len().min(500)]
    );
    assert!(err.len() < 2_000, "what is too big is not repeated");
    sandbox.fails(1, &["propose", "--batch", &path]);
    let output = sandbox.memory(&["reject", "0000000000000000", "--reason", &"x".repeat(100_000)]).output();
    assert_eq!(output.expect("starts").status.code(), Some(1));
    assert_eq!(sandbox.state(), before);
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    // An endless one.
    let mut child = sandbox.program(common::BIN);
    child.args(["propose", "notes/big.md", "--rationale", "r", "--file", "/dev/zero"]);
    let mut child = child.stderr(std::process::Stdio::null()).spawn().expect("starts");
    let begun = std::time::Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("waited") {
            break Some(status);
        }
        if begun.elapsed().as_secs() > 5 {
            child.kill().expect("killed");
            child.wait().expect("waited");
            break None;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!(status.and_then(|status| status.code()), Some(1), "an endless file is refused");
}

#[test]
fn secrets_in_every_field_are_refused_or_taken_out() {
    let sandbox = with_page();
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLQ");
    let token = format!("ghp_{}", "Zx81mPq7Lr2Tn5Vb9Ks4Wd6Fg3Hj0Yc8Ne1A");
    let open = propose(&sandbox, "gotchas/z.md", Z);
    let landed = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    sandbox.run(&["accept", &landed]);
    for secret in [&key, &token] {
        for line in [
            json!({ "path": "notes/a.md", "title": format!("A {secret}"), "rationale": "r", "body_markdown": "# A\n\nText.\n" }),
            json!({ "path": "notes/b.md", "title": "B", "rationale": format!("r {secret}"), "body_markdown": "# B\n\nText b.\n" }),
            json!({ "path": "notes/c.md", "title": "C", "rationale": "r", "body_markdown": format!("# C\n\nText {secret}.\n") }),
            json!({ "path": format!("notes/{}.md", secret.to_lowercase()), "title": "D", "rationale": "r", "body_markdown": "# D\n\nText d.\n" }),
            json!({ "path": format!("notes/{secret}.md"), "title": "E", "rationale": "r", "body_markdown": "# E\n\nText e.\n" }),
            json!({ "path": "notes/f.md", "title": "F", "rationale": "r", "body_markdown": "# F\n\nText f.\n",
                "evidence": [{ "source": "notes/names.md", "quote": format!("{secret}") }] }),
            json!({ "path": "notes/names.md", "title": "G", "rationale": "r", "operation": "update",
                "edits": [{ "op": "append", "anchor": "## One", "content": format!("Use {secret}.") }] }),
            json!({ "path": "notes/names.md", "title": "H", "rationale": "r", "operation": "update",
                "edits": [{ "op": "set_field", "field": "description", "value": format!("Use {secret}.") }] }),
            json!({ secret.as_str(): 1, "path": "notes/i.md", "title": "I", "rationale": "r", "body_markdown": "# I\n\nText i.\n" }),
        ] {
            batch(&sandbox, line);
        }
        for args in [
            &["reject", open.as_str(), "--reason", &format!("Holds {secret}")] as &[&str],
            &["reopen", &open],
            &["revert", &landed, "--reason", &format!("Holds {secret}")],
            &["reopen", &landed],
            &["accept", &landed],
        ] {
            let _ = sandbox.memory(args).output().expect("starts");
        }
    }
    // Nowhere below .git, in any object.
    let objects = sandbox.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"]);
    let mut child = sandbox.program("git");
    child.args(["cat-file", "--batch", "--batch-all-objects"]);
    let output = child.output().expect("git starts");
    assert!(objects.lines().count() > 10);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for secret in [&key, &token] {
        let at = text.find(secret.as_str());
        assert!(
            at.is_none(),
            "a secret is stored: {:?}",
            at.map(|at| &text[at.saturating_sub(300)..(at + 60).min(text.len())])
        );
        for (path, bytes) in sandbox.git_files() {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} holds a secret", path.display());
        }
    }
}

#[test]
fn a_sidecar_or_event_from_elsewhere_cannot_lead_outside() {
    use git_memory::ledger::{Append, Event, EventKind, append};
    let sandbox = wiki();
    let repo = git_memory::git::Repo::open(&sandbox.dir).expect("the repository");
    let base = sandbox.rev("main");
    // A commit that plants a hook through the paths that its own record names.
    sandbox.git(&["checkout", "-q", "--detach"]);
    sandbox.write(".github/workflows/x.yml", "evil\n");
    let tip = sandbox.commit("Evil");
    sandbox.git(&["checkout", "-q", "main"]);
    for (number, path) in
        ["../.github/workflows/x.yml", ".github/workflows/x.yml", "/etc/passwd", ".git/hooks/x", ""].iter().enumerate()
    {
        let id = format!("abcd{number}11111111111");
        let mut more = Append::new("memory: evil");
        more.events.push(
            Event::new(EventKind::Staged, "global", "Eve <eve@example.com>")
                .proposal(&id)
                .with("title", "Evil")
                .with("kind", "note")
                .with("operation", "create")
                .with("lane", "manual")
                .with("paths", vec![*path])
                .with("base", base.as_str())
                .with("tip", tip.as_str()),
        );
        append(&repo, &more, &[]).expect("appended");
        sandbox.git(&["update-ref", &format!("refs/memory/pending/{id}"), &tip]);
        let _ = sandbox.memory(&["show", &id]).output();
        let _ = sandbox.memory(&["edit", &id]).output();
        let output = sandbox.memory(&["accept", &id]).output().expect("starts");
        assert_eq!(output.status.code(), Some(1), "{path:?}: {output:?}");
        assert_eq!(sandbox.rev("main"), base, "{path:?}");
    }
    // An id that leads elsewhere.
    for id in ["../../heads/main", "zz", "é", "0", "ABCDEFABCDEFABCD"] {
        let mut more = Append::new("memory: evil");
        more.events.push(
            Event::new(EventKind::Staged, "global", "Eve <eve@example.com>")
                .proposal(id)
                .with("title", "Evil")
                .with("kind", "note")
                .with("operation", "create")
                .with("paths", vec!["notes/a.md"])
                .with("base", base.as_str())
                .with("tip", tip.as_str()),
        );
        append(&repo, &more, &[]).expect("appended");
        let list = sandbox.memory(&["list", "--all"]).output().expect("starts");
        assert!(list.status.code().is_some_and(|code| code < 2), "{id}: {list:?}");
        for args in [&["accept", "--all"] as &[&str], &["status"], &["doctor"], &["drain", "--dry-run"]] {
            let output = sandbox.memory(args).output().expect("starts");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!said.contains("bug in git-memory"), "{id} {args:?}: {said}");
        }
        assert_eq!(sandbox.rev("main"), base);
    }
}
