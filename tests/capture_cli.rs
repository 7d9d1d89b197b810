//! `git memory capture`: what comes in, what never does, and what a crash, a race or a stranger's folder changes.

mod common;

use std::collections::BTreeSet;
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

/// The lines of a Claude Code session: a person's turns, each answered.
fn lines(id: &str, cwd: &str, turns: &[&str]) -> String {
    let mut out = String::new();
    for (at, turn) in turns.iter().enumerate() {
        let line = |kind: &str, role: &str, uuid: String, content: Value, second: usize| {
            json!({
                "type": kind, "uuid": uuid, "sessionId": id, "cwd": cwd, "version": "2.1.0", "gitBranch": "main",
                "timestamp": format!("2026-02-28T10:00:{second:02}Z"), "message": {"role": role, "content": content},
            })
        };
        let user = line("user", "user", format!("{id}-u{at}"), json!(turn), 2 * at);
        let answer = json!([{"type": "text", "text": format!("Done: {turn}")}]);
        let assistant = line("assistant", "assistant", format!("{id}-a{at}"), answer, 2 * at + 1);
        out.push_str(&format!("{user}\n{assistant}\n"));
    }
    out
}

/// A file outside of the repository.
fn file(sandbox: &Sandbox, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = sandbox.root().join("files").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The corpus's Claude files and what its script writes beside them; `None`, said aloud, where they are not at hand.
fn made(sandbox: &Sandbox) -> Option<(PathBuf, PathBuf)> {
    let Some(corpus) = corpus() else {
        eprintln!("skipped: no corpus (set GIT_MEMORY_CORPUS)");
        return None;
    };
    let folder = sandbox.root().join("made");
    let done = std::process::Command::new("python3").arg(corpus.join("gen_made.py")).arg(&folder).output();
    if !done.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: python3 cannot write the made transcripts here");
        return None;
    }
    Some((corpus.join("transcripts/claude"), folder.join("claude/made")))
}

fn outcomes(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    report["sessions"].as_array().unwrap().iter().map(|s| (text(&s["id"]), text(&s["outcome"]))).collect()
}

fn sessions(sandbox: &Sandbox) -> String {
    sandbox.refs("refs/memory/sessions/")
}

/// The observations that are held, by all sessions together, as `speaker body`.
fn held(sandbox: &Sandbox) -> Vec<String> {
    let mut all = Vec::new();
    for line in sessions(sandbox).lines() {
        let name = line.split(' ').next().unwrap();
        let text = sandbox.git(&["show", &format!("{name}:observations.jsonl")]);
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            all.push(format!("{} {}", value["speaker"].as_str().unwrap(), value["body"].as_str().unwrap()));
        }
    }
    all.sort();
    all
}

/// The sessions that the ledger says were captured, with how often.
fn recorded(sandbox: &Sandbox) -> Vec<String> {
    let mut all = Vec::new();
    for path in sandbox.tree("refs/memory/log").iter().filter(|path| path.starts_with("events/")) {
        let text = sandbox.git(&["show", &format!("refs/memory/log:{path}")]);
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            if value["kind"] == "captured" {
                all.push(value["data"]["session"].as_str().unwrap().to_owned());
            }
        }
    }
    all.sort();
    all
}

#[test]
fn every_file_of_the_corpus_is_read_or_named_as_unknown_and_a_second_time_changes_nothing() {
    let sandbox = wiki();
    let Some((real, made)) = made(&sandbox) else { return };
    let paths = walkdir::WalkDir::new(&real).sort_by_file_name().into_iter();
    let files = paths.map(|entry| entry.unwrap().into_path()).filter(|path| path.is_file());
    let (known, unknown): (Vec<PathBuf>, Vec<PathBuf>) =
        files.partition(|path| path.extension().is_some_and(|end| end == "jsonl"));
    for (files, code) in [(&known, 0), (&unknown, 1)] {
        let mut args = vec!["capture", "--json"];
        args.extend(files.iter().map(|path| path.to_str().unwrap()));
        let output = sandbox.memory(&args).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        common::is_as_its_schema_says(&report);
        assert_eq!(output.status.code(), Some(code), "{report}");
        assert_eq!(report["unrecognised"].as_array().unwrap().len(), if code == 0 { 0 } else { files.len() });
    }
    let report = sandbox.json(&["capture", made.to_str().unwrap()]);
    let warnings: BTreeSet<(String, u64, String)> = report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| {
            let name = Path::new(w["file"].as_str().unwrap()).file_name().unwrap().to_str().unwrap();
            (name[..2].to_owned(), w["line"].as_u64().unwrap(), w["kind"].as_str().unwrap().to_owned())
        })
        .collect();
    let expected = [
        ("01", 5, "cut_last_line"),
        ("02", 3, "invalid_utf8"),
        ("03", 3, "glued_objects"),
        ("05", 1, "bom"),
        ("06", 3, "lone_surrogate"),
        ("12", 1, "not_an_object"),
        ("12", 5, "unknown_type"),
        ("12", 7, "odd_message"),
        ("12", 9, "bad_timestamp"),
        ("12", 12, "too_deep"),
        ("15", 3, "nul_padding"),
        ("20", 3, "lone_surrogate"),
    ];
    assert_eq!(warnings, expected.map(|(file, line, kind)| (file.to_owned(), line, kind.to_owned())).into());
    let state = (sandbox.state(), recorded(&sandbox));
    for folder in [&real, &made] {
        let again = sandbox.json(&["capture", folder.to_str().unwrap()]);
        assert!(outcomes(&again).iter().all(|(_, outcome)| outcome == "unchanged"), "{again}");
    }
    assert_eq!((sandbox.state(), recorded(&sandbox)), state);
    sandbox.fsck();
}

#[test]
fn no_secret_reaches_anything_that_is_written_or_said() {
    let sandbox = wiki();
    let Some((_, made)) = made(&sandbox) else { return };
    let values: serde_json::Map<String, Value> =
        serde_json::from_slice(&fs::read(made.join("11-secrets.expected.json")).unwrap()).unwrap();
    let github = values.values().filter_map(Value::as_str).find(|value| value.starts_with("ghp_")).unwrap();
    // A secret in the file's name, and one in a line that no reader knows.
    let named = file(&sandbox, &format!("{github}.jsonl"), fs::read(made.join("11-secrets.jsonl")).unwrap());
    let unknown = file(&sandbox, &format!("{github}.dat"), format!("token {github}\n"));
    let mut said = Vec::new();
    let absent = format!("/absent/{github}");
    let runs: [&[&str]; 6] = [
        &["capture", "-v", &named, &unknown, &absent],
        &["capture", "--json", &named, &unknown],
        &["improve", "--all", "--json"],
        &["improve", "--all"],
        &["proposal", "list", "--all", "--json"],
        &["run", "list"],
    ];
    for args in runs {
        let output = sandbox.memory(args).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}");
        said.extend_from_slice(&output.stdout);
        said.extend_from_slice(&output.stderr);
    }
    assert!(String::from_utf8_lossy(&said).contains("no reader knows this file"));
    let objects = sandbox.program("git").args(["cat-file", "--batch-all-objects", "--batch"]).output().unwrap();
    assert!(String::from_utf8_lossy(&objects.stdout).contains("[REDACTED:"), "the session is not there");
    let mut places: Vec<(PathBuf, Vec<u8>)> = vec![("objects".into(), objects.stdout), ("output".into(), said)];
    for (path, bytes) in sandbox.git_files().into_iter().chain(common::files(&sandbox.dir)) {
        places.push(("a file's name".into(), path.as_os_str().as_encoded_bytes().to_vec()));
        places.push((path, bytes));
    }
    for value in values.values().filter_map(Value::as_str) {
        let random = value.rsplit(['-', '_', ':', '@', '/', '=']).max_by_key(|part| part.len()).unwrap().as_bytes();
        let pieces: Vec<&[u8]> = random.windows(12).chain([value.as_bytes()]).collect();
        let is_in = finder(&pieces);
        for (place, bytes) in &places {
            assert!(!is_in(bytes), "a piece of {value:?} stands in {}", place.display());
        }
    }
}

/// Whether any of the pieces stands in a text.
fn finder<'p>(pieces: &'p [&'p [u8]]) -> impl Fn(&[u8]) -> bool + 'p {
    move |text| pieces.iter().any(|piece| bstr::ByteSlice::find(text, piece).is_some())
}

#[test]
fn a_resumed_copy_adds_its_tail_only_in_any_order_and_in_calls_of_their_own() {
    let reference = wiki();
    let Some((_, made)) = made(&reference) else { return };
    let (a, b) = (made.join("04-resume-a.jsonl"), made.join("04-resume-b.jsonl"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    reference.run(&["capture", a, b]);
    let expected = held(&reference);
    assert_eq!(expected.iter().filter(|line| line.contains("use pnpm")).count(), 1, "{expected:?}");
    let calls: [&[&[&str]]; 3] =
        [&[&["capture", b, a]], &[&["capture", a], &["capture", b]], &[&["capture", b], &["capture", a]]];
    for calls in calls {
        let sandbox = wiki();
        for call in calls {
            sandbox.run(call);
        }
        assert_eq!(held(&sandbox), expected, "{calls:?}");
        sandbox.fsck();
    }
}

#[test]
fn a_cut_line_is_read_once_when_the_file_has_grown() {
    let sandbox = wiki();
    let whole = lines("grown", "/p", &["use pnpm", "and lint first"]);
    let cut = whole.len() - 40;
    let path = file(&sandbox, "s.jsonl", &whole[..cut]);
    let first = sandbox.json(&["capture", &path]);
    assert_eq!(first["warnings"][0]["kind"], "cut_last_line", "{first}");
    assert_eq!(first["sessions"][0]["observations"], 3);
    file(&sandbox, "s.jsonl", &whole);
    let second = sandbox.json(&["capture", &path]);
    assert_eq!(outcomes(&second), [("grown".into(), "grown".into())]);
    assert_eq!(second["sessions"][0]["observations"], 4);
    let refs = sandbox.refs("refs/memory/");
    assert_eq!(outcomes(&sandbox.json(&["capture", &path]))[0].1, "unchanged");
    assert_eq!(sandbox.refs("refs/memory/"), refs);
    assert_eq!(recorded(&sandbox), ["grown", "grown"]);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_captured() {
    let sandbox = wiki();
    let good = file(&sandbox, "in/good.jsonl", lines("good", "/p", &["hello there"]));
    let unknown = file(&sandbox, "in/unknown.jsonl", "x = 1\n");
    let note = file(&sandbox, "note.md", "## Prompts\n1. always run the linter\n\n## Outcome\nDone.\n");
    let absent = format!("{}/absent", sandbox.root().display());
    let (out, err) = sandbox.fails(1, &["capture", &good, &unknown, &note, &absent]);
    assert!(err.contains("unknown.jsonl: no reader knows this file; its first line is: x = 1"), "{err}");
    assert!(err.contains("absent: there is no such file or folder"), "{err}");
    assert!(out.contains("2 sessions: 2 new"), "{out}");
    assert_eq!(sessions(&sandbox).lines().count(), 2);

    let folder = format!("{}/files/in", sandbox.root().display());
    let output = sandbox.memory(&["capture", &folder]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a file that no reader knows was passed over"));
    let output = sandbox.memory(&["capture", "-v", &folder]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown.jsonl: no reader knows"));

    let nothing = file(&sandbox, "empty.jsonl", "\n\n");
    assert!(sandbox.run(&["capture", &nothing]).starts_with("nothing to learn; 1 file without"));
    sandbox.fails(129, &["capture"]);
    sandbox.fails(129, &["capture", "--auto", &good]);
    sandbox.fails(1, &["capture", "--session", "elsewhere", &good]);
    sandbox.run(&["capture", "--session", "good", &good]);
    let late = sandbox.json(&["capture", "--since", "2026-03-01", &good]);
    assert_eq!(outcomes(&late), []);
    assert_eq!(outcomes(&sandbox.json(&["capture", "--since", "3d", &good])).len(), 1);
}

#[test]
fn capture_can_be_switched_off_by_the_wiki_and_by_the_sessions_own_folder() {
    let sandbox = wiki();
    let path = file(&sandbox, "s.jsonl", lines("off", sandbox.dir.to_str().unwrap(), &["hello"]));
    sandbox.write(".gitmemory.toml", "[capture]\nenabled = false\n");
    assert!(sandbox.run(&["capture", &path]).starts_with("nothing to learn"));
    fs::remove_file(sandbox.path(".gitmemory.toml")).unwrap();
    sandbox.git(&["config", "memory.capture.enabled", "false"]);
    let output = sandbox.memory(&["capture", &path]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("capture.enabled is false"));
    assert_eq!(sandbox.json(&["capture", &path])["enabled"], false);
    assert_eq!(sessions(&sandbox), "");
    sandbox.git(&["config", "memory.capture.enabled", "true"]);
    sandbox.run(&["capture", &path]);
    assert_eq!(sessions(&sandbox).lines().count(), 1);
    sandbox.git(&["config", "memory.redact.extraPatterns", "("]);
    assert_eq!(sandbox.json_error(78, &["capture", &path])["code"], "config");
}

#[test]
fn our_own_sessions_are_passed_over() {
    let sandbox = wiki();
    let marked = format!("<!-- {} -->\nReview this", git_memory::session::OWN_SESSION_MARKER);
    let own = file(&sandbox, "own.jsonl", lines("own", "/p", &[&marked]));
    let inside = sandbox.dir.join(".git/memory/work").display().to_string();
    let worker = file(&sandbox, "worker.jsonl", lines("worker", &inside, &["hello"]));
    let report = sandbox.json(&["capture", &own, &worker]);
    assert_eq!((&report["own"], sessions(&sandbox)), (&json!(2), String::new()), "{report}");
}

#[test]
fn a_session_whose_scope_cannot_be_told_is_not_stored() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--branch", "wiki", "--scope", "app=app"]);
    let path = file(&sandbox, "s.jsonl", lines("lost", "/nowhere/at/all", &["hello"]));
    let (_, err) = sandbox.fails(1, &["capture", &path]);
    assert!(err.contains("not stored: no scope's `dirs` or `repos` match") && err.contains("--scope NAME"), "{err}");
    assert_eq!(sessions(&sandbox), "");
    sandbox.fails(1, &["capture", "--scope", "none", &path]);
    let report = sandbox.json(&["capture", "--scope", "app", &path]);
    assert_eq!(report["sessions"][0]["scope"], "app");
}

#[test]
fn bare_repositories_linked_worktrees_and_a_separate_wiki_keep_sessions_in_the_wikis_repository() {
    let text = lines("s", "/p", &["use pnpm"]);
    let bare = Sandbox::bare_folder();
    bare.git(&["init", "-q", "--bare"]);
    bare.run(&["init"]);
    bare.run(&["capture", &file(&bare, "s.jsonl", &text)]);
    assert_eq!(sessions(&bare).lines().count(), 1);
    bare.fsck();

    let mut sandbox = wiki();
    let state = sandbox.state();
    let path = file(&sandbox, "s.jsonl", &text);
    sandbox.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = sandbox.root().join("side");
    let main = std::mem::replace(&mut sandbox.dir, side);
    sandbox.run(&["capture", &path]);
    sandbox.dir = main;
    assert_eq!(sessions(&sandbox).lines().count(), 1);
    let after = sandbox.state();
    assert_eq!((after.index, after.status, after.files), (state.index, state.status, state.files));

    let mut code = wiki();
    let path = file(&code, "s.jsonl", &text);
    let folder = code.root().join("code");
    let wiki = std::mem::replace(&mut code.dir, folder);
    fs::create_dir(&code.dir).unwrap();
    code.git(&["init", "-q"]);
    code.git(&["config", "memory.wiki", wiki.to_str().unwrap()]);
    code.run(&["capture", &path]);
    assert_eq!(code.refs("refs/"), "");
    code.dir = wiki;
    assert_eq!(sessions(&code).lines().count(), 1);
}

#[test]
fn the_agents_own_places_give_only_sessions_of_this_wikis_projects() {
    let sandbox = wiki();
    let root = sandbox.root();
    sandbox.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    for name in ["named", "other"] {
        fs::create_dir(root.join(name)).unwrap();
        sandbox.git(&["-C", root.join(name).to_str().unwrap(), "init", "-q"]);
    }
    let at = |name: &str| root.join(name).display().to_string();
    sandbox.git(&["-C", &at("named"), "config", "memory.wiki", &at("work")]);
    let place = |name: &str, cwd: &str| {
        let path = root.join("home/.claude/projects/slug").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
        fs::write(path, lines(&id, cwd, &[&format!("hello from {id}")])).unwrap();
    };
    place("main-1.jsonl", &at("work"));
    place("deep-1.jsonl", &at("work/src/gone"));
    place("side-1.jsonl", &at("side"));
    place("named-1.jsonl", &at("named"));
    place("other-1.jsonl", &at("other"));
    place("home-1.jsonl", &at("home/gone"));
    let report = sandbox.json(&["capture", "--auto"]);
    let ids: BTreeSet<String> = outcomes(&report).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["deep-1", "main-1", "named-1", "side-1"].map(str::to_owned).into());
    assert_eq!(report["unmatched"], 2);
    let output = sandbox.memory(&["capture", "--auto", "-v", "--session", "main-1"]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("other-1.jsonl: unmatched: its folder is of no project of this wiki"), "{err}");
    let elsewhere = wiki();
    assert!(elsewhere.run(&["capture", "--auto"]).contains("no file was found"));
}

#[test]
fn an_agents_hook_captures_its_session_and_is_never_loud() {
    let mut sandbox = wiki();
    let cwd = sandbox.dir.display().to_string();
    let path = file(&sandbox, "hooked.jsonl", lines("hooked", &cwd, &["use pnpm"]));
    file(
        &sandbox,
        "hooked/subagents/agent-77.jsonl",
        lines("hooked", &cwd, &["look around"]).replace("hooked-", "sub-"),
    );
    let call = |sandbox: &Sandbox, input: String| {
        let output = sandbox.memory(&["capture", "--hook"]).write_stdin(input).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!((output.stdout, output.stderr), (Vec::new(), Vec::new()));
    };
    let input = json!({"session_id": "hooked", "transcript_path": path, "cwd": cwd, "hook_event_name": "SessionEnd"});
    let home = std::mem::replace(&mut sandbox.dir, PathBuf::from("/"));
    call(&sandbox, input.to_string());
    sandbox.dir = home.clone();
    assert_eq!(sessions(&sandbox).lines().count(), 2, "{}", sessions(&sandbox));
    assert_eq!(fs::read_dir(sandbox.path(".git/memory/queue")).unwrap().count(), 1);
    assert!(!sandbox.path(".git/memory/worker.log").exists());

    let secret = "ghp_".to_owned() + &"a1B2".repeat(9);
    let absent =
        json!({"transcript_path": format!("/absent/{secret}.jsonl"), "cwd": cwd, "hook_event_name": "PreCompact"});
    for input in [absent.to_string(), "{\"cwd\"".into(), String::new(), "{}".into()] {
        call(&sandbox, input);
    }
    let log = sandbox.read(".git/memory/worker.log");
    assert!(log.contains("capture PreCompact: ") && log.contains("there is no such file"), "{log}");
    assert!(log.contains("no JSON object") && !log.contains(&secret), "{log}");
    // Where no wiki is, nothing at all is made.
    let bare = Sandbox::new();
    let before = bare.git_files();
    call(&bare, json!({"transcript_path": path, "cwd": bare.dir}).to_string());
    assert_eq!(bare.git_files(), before);
}

#[test]
fn a_capture_killed_anywhere_is_completed_by_the_next_one() {
    for pages in ["ref", "wiki"] {
        for point in ["before-refs", "after-refs", "after-ledger", "before-pages", "after-pages"] {
            let mut sandbox = wiki();
            sandbox.git(&["config", "memory.capture.pages", pages]);
            let path = file(&sandbox, "s.jsonl", lines("killed", "/p", &["use pnpm"]));
            let kill = |sandbox: &Sandbox| {
                let mut command = sandbox.memory(&["capture", &path]);
                let output = command.env("GIT_MEMORY_FAULT", format!("capture.{point}")).output().unwrap();
                let reached = pages == "wiki" || !point.ends_with("pages");
                assert_eq!(output.status.code().is_none(), reached, "{point}");
                sandbox.fsck();
            };
            kill(&sandbox);
            sandbox.run(&["capture", &path]);
            assert_eq!(recorded(&sandbox), ["killed"], "{point}");
            assert_eq!(sessions(&sandbox).lines().count(), 1, "{point}");

            // The same for what a session has grown by.
            sandbox.now = Some("2026-03-01T12:30:00Z".into());
            file(&sandbox, "s.jsonl", lines("killed", "/p", &["use pnpm", "and lint"]));
            kill(&sandbox);
            sandbox.run(&["capture", &path]);
            assert_eq!(recorded(&sandbox), ["killed", "killed"], "{point}");
            let refs = sandbox.refs("refs/");
            sandbox.run(&["capture", &path]);
            assert_eq!(sandbox.refs("refs/"), refs, "{point}");
            assert_eq!(sandbox.tree("wiki").contains(&"sessions/killed.md".to_owned()), pages == "wiki");
            sandbox.fsck();
        }
    }
}

#[test]
fn pages_stand_on_the_wiki_branch_in_one_commit_when_the_settings_say_so() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--root", "memory"]);
    sandbox.git(&["config", "memory.capture.pages", "wiki"]);
    sandbox.write("README.md", "# Changed\n");
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    let (a, b) = (lines("aa", "/p", &["use pnpm"]), lines("bb", "/p", &["use cargo"]));
    let (a, b) = (file(&sandbox, "a.jsonl", a), file(&sandbox, "b.jsonl", b));
    let before = sandbox.rev("HEAD");
    sandbox.run(&["capture", &a, &b]);
    assert_eq!(sandbox.rev("HEAD^"), before);
    let message = sandbox.git(&["log", "-1", "--format=%an%n%B"]);
    assert_eq!(message.trim_end(), "Ada Tester\nmemory: capture 2 sessions\n\nMemory-Session: aa\nMemory-Session: bb");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M README.md\nA  staged.txt");
    let page = sandbox.rev("refs/memory/sessions/aa:page.md");
    assert_eq!(sandbox.rev("HEAD:memory/sessions/aa.md"), page);
    let tip = sandbox.rev("HEAD");
    sandbox.run(&["capture", &a, &b]);
    assert_eq!(sandbox.rev("HEAD"), tip);

    // A file in the way: the session is kept, the page waits.
    let c = file(&sandbox, "c.jsonl", lines("cc", "/p", &["use make"]));
    sandbox.write("memory/sessions/cc.md", "mine\n");
    let output = sandbox.memory(&["capture", &c]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("were not put on the wiki branch"));
    assert_eq!((sandbox.rev("HEAD"), sandbox.read("memory/sessions/cc.md")), (tip, "mine\n".into()));
    assert_eq!(sessions(&sandbox).lines().count(), 3);
    fs::remove_file(sandbox.path("memory/sessions/cc.md")).unwrap();
    sandbox.run(&["capture", &c]);
    assert!(sandbox.tree("HEAD").contains(&"memory/sessions/cc.md".to_owned()));
    sandbox.fsck();
}

#[test]
fn eight_captures_at_once_store_each_turn_once() {
    let sandbox = wiki();
    let mut expected = Vec::new();
    let mut paths = Vec::new();
    for n in 0..6 {
        let text = lines(&format!("s{n}"), "/p", &[&format!("turn one of {n}"), &format!("turn two of {n}")]);
        for turn in ["one", "two"] {
            expected.push(format!("human turn {turn} of {n}"));
            expected.push(format!("assistant Done: turn {turn} of {n}"));
        }
        paths.push(file(&sandbox, &format!("s{n}.jsonl"), text));
    }
    // Copies of the first under another name and id, as a resumed session has them.
    let copy = fs::read_to_string(&paths[0]).unwrap().replace("\"sessionId\":\"s0\"", "\"sessionId\":\"s0copy\"");
    paths.push(file(&sandbox, "copy.jsonl", copy));
    expected.sort();
    let children: Vec<_> = (0..8)
        .map(|n| {
            let mut command = sandbox.program(common::BIN);
            command.arg("capture").args(paths.iter().cycle().skip(n).take(5));
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(held(&sandbox), expected);
    let stored: Vec<String> = sessions(&sandbox)
        .lines()
        .map(|line| line.split(' ').next().unwrap().rsplit('/').next().unwrap().to_owned())
        .collect();
    assert_eq!(recorded(&sandbox), stored);
    sandbox.fsck();
}

#[test]
fn a_capture_queues_once_and_wakes_the_worker_only_when_asked_to() {
    let sandbox = wiki();
    let queue = || fs::read_dir(sandbox.path(".git/memory/queue")).map_or(0, |entries| entries.count());
    for n in 0..3 {
        let path = file(&sandbox, "s.jsonl", lines(&format!("s{n}"), "/p", &["hello"]));
        sandbox.run(&["capture", &path]);
        assert_eq!(queue(), 1);
    }
    sandbox.git(&["config", "memory.improve.onSessionEnd", "true"]);
    let path = file(&sandbox, "t.jsonl", lines("t", "/p", &["hello"]));
    sandbox.run(&["capture", &path]);
    for _ in 0..200 {
        if queue() == 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the worker did not empty the queue");
}
