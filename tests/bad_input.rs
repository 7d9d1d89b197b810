//! Bad input: a clear error with its exit code, an error object with `--json`, and nothing lost.

mod common;
#[path = "matrix/scene.rs"]
mod scene;

use common::Sandbox;
use scene::*;

/// The error's word, after everything that every error has to be: one to three lines that say what to do, the same
/// words on both outputs, no change, no backtrace.
fn error(sandbox: &Sandbox, code: i32, args: &[&str]) -> String {
    let before = sandbox.state();
    let (_, err) = sandbox.fails(code, args);
    assert!(!err.trim().is_empty(), "{args:?} says nothing");
    assert!(
        err.lines().count() <= 4 && !err.contains("panicked") && !err.contains("bug in git-memory"),
        "{args:?}: {err}"
    );
    let object = sandbox.json_error(code, args);
    assert!(!object["message"].as_str().unwrap_or_default().is_empty(), "{object}");
    assert_eq!(sandbox.state(), before, "{args:?}");
    object["code"].as_str().expect("a code").to_owned()
}

#[test]
fn ids_that_are_unknown_ambiguous_or_too_short() {
    let sandbox = wiki();
    // Sixteen first digits and enough proposals: two share their first digits; an empty prefix is never all of them.
    let lines: String = (0..70)
        .map(|n| {
            let text = format!("# Page {n}\n\nFact number {n} of many.\n");
            let line = serde_json::json!({ "path": format!("notes/p{n}.md"), "title": format!("Page {n}"),
                "rationale": "r", "body_markdown": text });
            format!("{line}\n")
        })
        .collect();
    sandbox.write("../batch.jsonl", lines);
    let made = sandbox.json(&["propose", "--batch", "../batch.jsonl"]);
    let ids: Vec<&str> =
        made["results"].as_array().expect("results").iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids.len(), 70, "{made}");
    for verb in ["show", "diff", "accept", "reopen", "edit", "rebase"] {
        assert_eq!(error(&sandbox, 1, &[verb, "ffff0000ffff0000"]), "unknown_id", "{verb}");
        assert_eq!(error(&sandbox, 1, &[verb, &ids[0][..3]]), "id_too_short", "{verb}");
        assert_eq!(error(&sandbox, 1, &[verb, ""]), "id_too_short", "{verb}");
        for strange in ["../../../x", "*", "refs/memory/log", "HEAD", "ünïcödé", "a b\nc d"] {
            let code = error(&sandbox, 1, &[verb, strange]);
            assert!(["unknown_id", "id_too_short"].contains(&code.as_str()), "{verb} {strange}: {code}");
        }
    }
    for verb in ["reject", "revert"] {
        assert_eq!(error(&sandbox, 1, &[verb, "ffff0000ffff0000", "--reason", "no"]), "unknown_id");
        assert_eq!(error(&sandbox, 1, &[verb, &ids[0][..2], "--reason", "no"]), "id_too_short");
    }
    // Longer than an id, and in capitals.
    assert_eq!(error(&sandbox, 1, &["show", &format!("{}0", ids[0])]), "unknown_id");
    sandbox.run(&["show", &ids[0].to_uppercase()]);
    // One bad id among good ones: nothing is decided.
    assert_eq!(error(&sandbox, 1, &["accept", ids[0], "ffff0000ffff0000"]), "unknown_id");
}

#[test]
fn an_ambiguous_prefix_names_its_candidates() {
    use git_memory::ledger::{Append, Event, EventKind, append};
    let sandbox = wiki();
    let repo = git_memory::git::Repo::open(&sandbox.dir).expect("the repository");
    let mut more = Append::new("memory: two alike");
    let base = sandbox.rev("main");
    for id in ["abcd111111111111", "abcd222222222222"] {
        more.events.push(
            Event::new(EventKind::Staged, "global", "Ada Tester <ada@example.com>")
                .proposal(id)
                .with("title", "Alike")
                .with("kind", "note")
                .with("operation", "create")
                .with("lane", "manual")
                .with("paths", vec!["notes/a.md"])
                .with("base", base.as_str())
                .with("tip", base.as_str()),
        );
    }
    append(&repo, &more, &[]).expect("appended");
    let object = sandbox.json_error(1, &["show", "abcd"]);
    assert_eq!(object["code"], "ambiguous_id");
    let message = object["message"].as_str().expect("a message");
    assert!(message.contains("abcd111111111111") && message.contains("abcd222222222222"), "{message}");
    assert_eq!(error(&sandbox, 1, &["accept", "abcd"]), "ambiguous_id");
    let list = sandbox.run(&["list"]);
    assert!(list.contains("abcd111") && list.contains("abcd222"), "{list}");
}

#[test]
fn pages_that_no_wiki_may_have() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--root", "docs/memory"]);
    let before = sandbox.state();
    let outside = sandbox.root().join("outside.md").display().to_string();
    for path in [
        "../outside.md",
        "notes/../../../outside.md",
        "notes/../../README.md",
        &outside,
        "/etc/passwd.md",
        ".git/x.md",
        "notes/.git/x.md",
        ".GIT/x.md",
        "git~1/x.md",
        "notes/.gitattributes",
        "notes/con.md",
        "notes/LPT1.md",
        "notes/a:b.md",
        "notes/a\\..\\b.md",
        "notes/a?.md",
        "notes/tab\there.md",
        "notes/new\nline.md",
        "notes/esc\u{1b}[31m.md",
        "notes/bidi\u{202e}dm.md",
        "notes/zero\u{200b}width.md",
        "notes/trailing./x.md",
        "notes/a.txt",
        "notes/",
        "notes",
        ".md",
        "notes/.md",
        "-rf.md",
        "notes/-rf.md",
        "--output=x.md",
        "sessions/x.md",
        "_pending/auto-improve/x.md",
        "elsewhere/x.md",
        "toplevel.md",
    ] {
        let made = proposing(&sandbox, path, "# A page\n\nWith words.\n");
        // Refused before it got so far as a result, or as one: never staged.
        let refused = made["results"][0]["outcome"] == "refused" || made["schema"] == "git-memory.error/1";
        assert!(refused, "{path:?}: {made}");
    }
    let long = format!("notes/{}.md", "x".repeat(300));
    let deep = format!("notes/{}a.md", "d/".repeat(600));
    for path in [long, deep] {
        assert_eq!(proposing(&sandbox, &path, "# A page\n\nWith words.\n")["results"][0]["outcome"], "refused");
    }
    assert_eq!(sandbox.state(), before);
    assert!(!sandbox.root().join("outside.md").exists());
}

#[test]
fn a_protected_page_where_the_settings_refuse() {
    let sandbox = with_page();
    sandbox.write("notes/pinned.md", "---\npinned: true\n---\n\n# Pinned\n\nWords.\n");
    let known = sandbox.read(".gitmemory.toml");
    let text = if known.contains("[wiki]\n") {
        known.replace("[wiki]\n", "[wiki]\nprotect = \"refuse\"\n")
    } else {
        format!("{known}\n[wiki]\nprotect = \"refuse\"\n")
    };
    sandbox.write(".gitmemory.toml", text);
    sandbox.commit("Refuse");
    let made = proposing(&sandbox, "notes/pinned.md", "# Pinned\n\nOther words.\n");
    assert_eq!(made["results"][0]["code"], "target_protected", "{made}");
    sandbox.write(".gitmemory.toml", known);
    sandbox.commit("Stage");
    let id = propose(&sandbox, "notes/pinned.md", "# Pinned\n\nOther words.\n");
    let shown = sandbox.run(&["show", &id]);
    assert!(shown.contains("person"), "{shown}");
}

#[test]
fn texts_that_are_no_pages() {
    let sandbox = wiki();
    let before = sandbox.state();
    for (text, code) in
        [(&b""[..], "empty_body"), (b"   \n\n\t\n", "empty_body"), (b"# Page\n\n\xff\xfe not unicode", "not_utf8")]
    {
        let mut command = sandbox.memory(&["propose", "notes/a.md", "--rationale", "r", "--json"]);
        let output = command.write_stdin(text).output().expect("starts");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("json");
        assert_eq!(value["code"], code, "{value}");
    }
    for text in ["# Page\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", "# Page\n\nNull\0byte.\n"] {
        let made = proposing(&sandbox, "notes/a.md", text);
        assert_ne!(made["results"][0]["outcome"], "staged", "{text:?}: {made}");
    }
    assert_eq!(sandbox.state(), before);
}

#[test]
fn batches_of_everything_but_proposals() {
    let sandbox = wiki();
    let before = sandbox.state();
    for text in [
        "null\n42\n\"x\"\n[]\n{}\n",
        "{\"path\":42,\"title\":[],\"body_markdown\":{}}\n",
        "{\"path\":\"notes/a.md\"}\n",
        "{\"path\":\"notes/a.md\",\"title\":\"A\",\"rationale\":\"r\",\"body_markdown\":\"# A\\n\",\"operation\":\"delete\"}\n",
        "{\"path\":\"notes/a.md\",\"title\":\"A\",\"rationale\":\"r\",\"edits\":[{\"op\":\"append\",\"anchor\":\"## No\",\"content\":\"x\"}],\"operation\":\"update\"}\n",
    ] {
        sandbox.write("../batch.jsonl", text);
        let (out, _) = sandbox.fails(1, &["propose", "--batch", "../batch.jsonl", "--json"]);
        let value: serde_json::Value = serde_json::from_str(&out).expect("json");
        let results = value["results"].as_array().expect("results");
        assert!(results.iter().all(|made| made["outcome"] == "refused" && made["code"] != ""), "{value}");
        assert_eq!(results.len(), text.lines().count());
    }
    let deep = format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    sandbox.write("../batch.jsonl", deep);
    sandbox.fails(1, &["propose", "--batch", "../batch.jsonl"]);
    assert_eq!(error(&sandbox, 1, &["propose", "--batch", "../nowhere.jsonl"]), "cannot_read");
    assert_eq!(error(&sandbox, 1, &["propose", "--batch", ".."]), "cannot_read");
    assert_eq!(sandbox.state(), before);
}

#[test]
fn settings_that_nobody_knows() {
    let sandbox = with_page();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let known = sandbox.read(".gitmemory.toml");
    for (text, word) in [
        ("[improve]\nmax_sesions = 3\n", "max_sesions"),
        ("[wiki]\nprotect = \"maybe\"\n", "protect"),
        ("this is not toml", ".gitmemory.toml"),
        ("[approval]\nmode = \"everything\"\n", "mode"),
        ("wiki = 3\n", "wiki"),
    ] {
        sandbox.write(".gitmemory.toml", format!("{text}\n"));
        sandbox.commit("Break the settings");
        for args in [&["list"] as &[&str], &["accept", &id], &["status"]] {
            let (_, err) = sandbox.fails(78, args);
            assert!(err.contains(word) && err.contains(".gitmemory.toml"), "{args:?}: {err}");
        }
        assert_eq!(sandbox.json_error(78, &["list"])["code"], "config");
        sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    }
    sandbox.git(&["config", "memory.improve.maxSesions", "3"]);
    let (_, err) = sandbox.fails(78, &["list"]);
    assert!(err.contains("max_sesions"), "{err}");
    sandbox.git(&["config", "--unset", "memory.improve.maxSesions"]);
    assert_eq!(sandbox.read(".gitmemory.toml"), known);
    sandbox.run(&["accept", &id]);
}

#[test]
fn places_that_are_no_repository_or_no_wiki() {
    let sandbox = Sandbox::bare_folder();
    for args in [&["list"] as &[&str], &["status"], &["accept", "--all"], &["improve"], &["log"], &["lint"]] {
        assert_eq!(sandbox.json_error(128, args)["code"], "not_a_repository", "{args:?}");
        let (_, err) = sandbox.fails(128, args);
        assert!(err.starts_with("fatal: ") && err.contains("git memory init"), "{err}");
    }
    let output = sandbox.memory(&["-C", "nowhere", "list"]).output().expect("starts");
    assert_eq!(output.status.code(), Some(128), "{output:?}");
    assert!(std::fs::read_dir(&sandbox.dir).expect("the folder").next().is_none(), "nothing was made");

    let plain = Sandbox::new();
    let before = (plain.state(), plain.git_files());
    for args in [&["list"] as &[&str], &["status"], &["accept", "--all"], &["improve"]] {
        assert_eq!(plain.json_error(128, args)["code"], "no_wiki", "{args:?}");
    }
    assert_eq!((plain.state(), plain.git_files()), before);

    plain.git(&["config", "memory.wiki", "../nowhere"]);
    assert_eq!(plain.json_error(78, &["list"])["code"], "bad_link");
    plain.git(&["config", "memory.wiki", "."]);
    let output = plain.memory(&["list", "--json"]).output().expect("starts");
    assert!(matches!(output.status.code(), Some(78 | 128)), "a wiki that is the repository itself: {output:?}");

    // A repository whose HEAD is gone, and one that is a file.
    let broken = Sandbox::new();
    std::fs::remove_file(broken.path(".git/HEAD")).expect("removed");
    let output = broken.memory(&["list"]).output().expect("starts");
    assert_eq!(output.status.code(), Some(128), "{output:?}");
    let file = Sandbox::bare_folder();
    file.write(".git", "gitdir: /nowhere/at/all\n");
    let output = file.memory(&["list"]).output().expect("starts");
    assert_eq!(output.status.code(), Some(128), "{output:?}");
}

#[test]
fn a_wiki_branch_that_is_gone_is_said() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--branch", "wiki"]);
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let tip = sandbox.rev("wiki");
    sandbox.git(&["branch", "-q", "-D", "wiki"]);
    for args in [&["accept", id.as_str()] as &[&str], &["rebase", &id]] {
        let output = sandbox.memory(args).output().expect("starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(1 | 128)) && said.contains("wiki"), "{args:?}: {output:?}");
    }
    assert!(!sandbox.refs("refs/memory/pending").is_empty());
    sandbox.git(&["branch", "wiki", &tip]);
    sandbox.run(&["accept", &id]);
}

#[test]
fn a_transcript_that_no_reader_knows() {
    let sandbox = wiki();
    let before = sandbox.refs("refs/");
    for (name, bytes) in [
        ("picture.png", &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..]),
        ("empty.jsonl", b""),
        ("other.jsonl", b"{\"hello\":\"world\"}\n{\"foo\":1}\n"),
        ("half.jsonl", b"{\"type\":\"user\",\"mess"),
        ("zeros.jsonl", &[0u8; 4096]),
        ("archive.zip", b"PK\x03\x04\x14\0\0\0"),
    ] {
        std::fs::write(sandbox.root().join(name), bytes).expect("a file");
        let path = sandbox.root().join(name).display().to_string();
        let output = sandbox.memory(&["capture", &path]).output().expect("starts");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(said.contains(name) || said.contains("without anything to learn from"), "{name}: {said}");
        assert!(!said.contains("panicked"), "{said}");
        assert_eq!(sandbox.refs("refs/memory/sessions"), "", "{name}: {said}");
    }
    let (_, err) = sandbox.fails(1, &["capture", "../archive.zip"]);
    assert!(err.contains("archive.zip: a zip archive: unpack it first"), "{err}");
    let output = sandbox.memory(&["capture", "../nowhere.jsonl"]).output().expect("starts");
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(
        sandbox.refs("refs/heads"),
        before.lines().filter(|line| line.starts_with("refs/heads")).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn reviews_of_sessions_that_are_not_there() {
    let sandbox = wiki();
    let output = sandbox.memory(&["improve", "--session", "nothing-like-it"]).output().expect("starts");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("nothing-like-it"), "{said}");
}

#[test]
fn words_that_are_no_command() {
    let sandbox = wiki();
    for args in [
        &["nonsense"] as &[&str],
        &["accept"],
        &["accept", "--all", "abcd"],
        &["show"],
        &["propose"],
        &["list", "--status", "odd"],
        &["drain", "--policy", "all"],
        &["drain", "--max", "-1"],
        &["list", "-z"],
    ] {
        let (_, err) = sandbox.fails(129, args);
        assert!(!err.is_empty(), "{args:?}");
        assert_eq!(sandbox.json_error(129, args)["code"], "usage", "{args:?}");
    }
}
