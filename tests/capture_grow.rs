//! `git memory capture` of files that grow, change, repeat each other, or are very large; and what stands beside them.

mod common;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use common::Sandbox;
use serde_json::{Value, json};

fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--branch", "wiki"]);
    sandbox
}

fn line(id: &str, uuid: &str, kind: &str, content: Value, second: usize) -> Value {
    json!({
        "parentUuid": null, "type": kind, "uuid": uuid, "sessionId": id, "cwd": "/p", "version": "2.1.0",
        "gitBranch": "main", "timestamp": format!("2026-02-28T10:{:02}:{:02}Z", second / 60, second % 60),
        "message": {"role": kind, "content": content, "id": format!("m-{uuid}")},
    })
}

/// A person's turns, each answered after a call of a tool.
fn turns(id: &str, from: usize, to: usize) -> String {
    let mut out = String::new();
    for at in from..to {
        let say = |text: &str| json!([{"type": "text", "text": format!("{text} {at}: déjà vu 🦀")}]);
        let call = json!([{"type": "tool_use", "id": format!("c{at}"), "name": "Bash", "input": {"command": "ls"}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": format!("c{at}"), "content": format!("out {at}")}]);
        for (name, kind, content) in [
            ("u", "user", say("please do the thing")),
            ("c", "assistant", call),
            ("r", "user", result),
            ("a", "assistant", say("done")),
        ] {
            out.push_str(&format!("{}\n", line(id, &format!("{id}-{name}{at}"), kind, content, at * 4)));
        }
    }
    out
}

fn file(sandbox: &Sandbox, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = sandbox.root().join("files").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

fn capture(sandbox: &Sandbox, path: &Path) -> Value {
    sandbox.json(&["capture", path.to_str().unwrap()])
}

/// Page and observations of each session, by ref.
fn stored(sandbox: &Sandbox) -> Vec<(String, String, String)> {
    let refs = sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/memory/sessions/"]);
    let show = |name: &str, file: &str| sandbox.git(&["show", &format!("{name}:{file}")]);
    refs.lines().map(|name| (name.to_owned(), show(name, "page.md"), show(name, "observations.jsonl"))).collect()
}

/// All bodies that are held, sorted.
fn held(sandbox: &Sandbox) -> Vec<String> {
    let bodies = |text: String| -> Vec<String> {
        let body = |line: &str| serde_json::from_str::<Value>(line).unwrap()["body"].as_str().unwrap().to_owned();
        text.lines().map(body).collect()
    };
    let mut all: Vec<String> = stored(sandbox).into_iter().flat_map(|(_, _, text)| bodies(text)).collect();
    all.sort();
    all
}

#[test]
fn a_file_that_grew_is_read_from_where_it_was_read_to() {
    let reference = wiki();
    let whole = turns("grown", 0, 6);
    capture(&reference, &file(&reference, "grown.jsonl", &whole));

    let sandbox = wiki();
    let break_at = whole.len() / 2 + whole[whole.len() / 2..].find('\n').unwrap() + 1;
    let path = file(&sandbox, "grown.jsonl", &whole[..break_at]);
    capture(&sandbox, &path);
    // What stands far before the end is not looked at again.
    let changed = whole[..break_at].replace("please do the thing 1", "PLEASE DO THE THING 1");
    let mut same = OpenOptions::new().write(true).open(&path).unwrap();
    same.write_all(changed.as_bytes()).unwrap();
    append(&path, &whole.as_bytes()[break_at..break_at + 30]);
    let report = capture(&sandbox, &path);
    assert_eq!(report["warnings"][0]["kind"], "cut_last_line", "{report}");
    // The line is cut still, and nothing else is new: that was said.
    let report = capture(&sandbox, &path);
    assert_eq!((&report["warnings"], &report["sessions"][0]["outcome"]), (&json!([]), &json!("unchanged")));
    append(&path, &whole.as_bytes()[break_at + 30..]);
    assert_eq!(capture(&sandbox, &path)["sessions"][0]["outcome"], "grown");
    assert_eq!(stored(&sandbox), stored(&reference));
    // Nothing that was said stands where reading goes on.
    assert!(!sandbox.read(".git/memory/index/files.json").contains("déjà"));
    sandbox.fsck();
}

#[test]
fn a_session_that_was_forgotten_is_read_anew() {
    let sandbox = wiki();
    let path = file(&sandbox, "s.jsonl", turns("s", 0, 2));
    capture(&sandbox, &path);
    sandbox.git(&["update-ref", "-d", "refs/memory/sessions/s"]);
    append(&path, turns("s", 2, 3).as_bytes());
    assert_eq!(capture(&sandbox, &path)["sessions"][0]["observations"], 12);
}

#[test]
fn a_file_that_is_written_while_it_is_read_gives_each_turn_once() {
    let reference = wiki();
    let whole = turns("live", 0, 40);
    capture(&reference, &file(&reference, "live.jsonl", &whole));

    let sandbox = wiki();
    let path = file(&sandbox, "live.jsonl", "");
    let writer = std::thread::spawn({
        let (path, whole) = (path.clone(), whole.clone());
        move || {
            // Pieces of a length that ends inside of lines and of characters.
            for piece in whole.as_bytes().chunks(397) {
                append(&path, piece);
                std::thread::sleep(Duration::from_millis(25));
            }
        }
    });
    let mut reads = 0;
    while !writer.is_finished() {
        capture(&sandbox, &path);
        reads += 1;
    }
    writer.join().unwrap();
    capture(&sandbox, &path);
    assert!(reads > 1, "{reads}");
    assert_eq!(stored(&sandbox), stored(&reference));
    sandbox.fsck();
}

#[test]
fn a_file_that_shrinks_or_is_replaced_is_read_anew_and_loses_nothing() {
    let sandbox = wiki();
    let whole = turns("one", 0, 4);
    let path = file(&sandbox, "one.jsonl", &whole);
    capture(&sandbox, &path);
    let before = stored(&sandbox);
    fs::write(&path, &whole[..whole.len() / 3]).unwrap();
    assert_eq!(capture(&sandbox, &path)["sessions"][0]["outcome"], "unchanged");
    assert_eq!(stored(&sandbox), before);
    // The same file, longer than before, with another session in it.
    fs::write(&path, turns("two", 0, 9)).unwrap();
    let report = capture(&sandbox, &path);
    assert_eq!((&report["sessions"][0]["id"], &report["sessions"][0]["observations"]), (&json!("two"), &json!(36)));
    fs::remove_file(&path).unwrap();
    fs::write(&path, whole + &turns("one", 4, 5)).unwrap();
    assert_eq!(capture(&sandbox, &path)["sessions"][0]["observations"], 20);
    fs::write(&path, "").unwrap();
    assert_eq!(capture(&sandbox, &path)["nothing"], 1);
    sandbox.fsck();
}

#[test]
fn resumed_copied_and_renamed_files_give_each_turn_once_in_any_order() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    let (a, b) = (fixtures.join("made-resume-a.jsonl"), fixtures.join("made-resume-b.jsonl"));
    let mut expected = None;
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for together in [true, false] {
            let sandbox = wiki();
            let copies = [
                file(&sandbox, "made-resume-a.jsonl", fs::read(&a).unwrap()),
                file(&sandbox, "made-resume-b.jsonl", fs::read(&b).unwrap()),
                file(&sandbox, "a copy.jsonl", fs::read(&a).unwrap()),
            ];
            let names: Vec<&str> = order.iter().map(|at| copies[*at].to_str().unwrap()).collect();
            if together {
                sandbox.run(&[&["capture"], names.as_slice()].concat());
            } else {
                names.iter().for_each(|name| drop(sandbox.run(&["capture", name])));
                fs::rename(&copies[1], copies[1].with_file_name("renamed.jsonl")).unwrap();
                capture(&sandbox, &copies[1].with_file_name("renamed.jsonl"));
            }
            let held = held(&sandbox);
            assert_eq!(*expected.get_or_insert_with(|| held.clone()), held, "{order:?} {together}");
        }
    }
}

#[test]
fn a_prompt_that_waits_in_the_queue_counts_once_when_it_is_sent_later() {
    let sandbox = wiki();
    let queued = json!({"type": "queue-operation", "operation": "enqueue", "content": "and update the change log",
        "sessionId": "q", "timestamp": "2026-02-28T10:00:05Z"});
    let path = file(&sandbox, "q.jsonl", format!("{}{queued}\n", turns("q", 0, 1)));
    assert_eq!(capture(&sandbox, &path)["sessions"][0]["prompts"], 2);
    let sent = line("q", "q-sent", "user", json!("and update the change log"), 9);
    append(&path, format!("{sent}\n").as_bytes());
    assert_eq!(capture(&sandbox, &path)["sessions"][0]["prompts"], 2);
    assert_eq!(held(&sandbox).iter().filter(|body| body.contains("change log")).count(), 1);
}

/// A session with subagents of both kinds, with what stands beside them.
fn family(sandbox: &Sandbox) -> PathBuf {
    let cwd = sandbox.dir.display().to_string();
    let here = |text: String| text.replace("\"cwd\":\"/p\"", &format!("\"cwd\":{}", json!(cwd)));
    let side = |name: &str| {
        let text = turns("parent", 0, 1).replace("\"uuid\":\"parent-", &format!("\"uuid\":\"{name}-"));
        here(text.replace(
            "\"parentUuid\":null",
            &format!("\"parentUuid\":null,\"isSidechain\":true,\"agentId\":\"{name}\""),
        ))
    };
    file(sandbox, "agent-0a1b2c3d.jsonl", side("0a1b2c3d"));
    file(
        sandbox,
        "agent-ffffffff.jsonl",
        side("ffffffff").replace("\"sessionId\":\"parent\"", "\"sessionId\":\"else\""),
    );
    file(sandbox, "parent/subagents/agent-new1.jsonl", side("new1"));
    file(
        sandbox,
        "parent/subagents/agent-new1.meta.json",
        "{\"agentType\":\"Explore\",\"description\":\"Find the loader\"}",
    );
    file(sandbox, "parent/subagents/agent-acompact-1.jsonl", side("compact"));
    let workflow = "parent/subagents/workflows/wf_1";
    file(
        sandbox,
        &format!("{workflow}/agent-w1.jsonl"),
        side("w1").replace("\"sessionId\":\"parent\"", "\"sessionId\":\"parent#agent-w1\""),
    );
    file(sandbox, &format!("{workflow}/agent-w1.meta.json"), "{\"agentType\":\"workflow-subagent\"}");
    let journal = "{\"type\":\"started\",\"key\":\"k\",\"agentId\":\"w1\"}\n{\"type\":\"result\",\"key\":\"k\",\"agentId\":\"w1\",\"result\":\"fine\"}\n";
    file(sandbox, &format!("{workflow}/journal.jsonl"), journal);
    let repeated = json!({"type": "progress", "uuid": "p1", "sessionId": "parent", "parentUuid": null, "cwd": cwd,
        "timestamp": "2026-02-28T10:00:09Z", "data": {"type": "agent_progress", "agentId": "new1",
        "message": {"type": "user", "message": {"role": "user", "content": "please do the thing"}}}});
    file(sandbox, "parent.jsonl", format!("{}{repeated}\n", here(turns("parent", 0, 1))))
}

#[test]
fn subagents_of_every_version_are_sessions_of_their_own_with_their_tasks_as_titles() {
    let sandbox = wiki();
    let parent = family(&sandbox);
    let folder = parent.parent().unwrap();
    let report = capture(&sandbox, folder);
    let mut told: Vec<(&str, &str, u64)> = report["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["id"].as_str().unwrap(), s["title"].as_str().unwrap(), s["prompts"].as_u64().unwrap()))
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("else-agent-ffffffff", "Subagent of else, 2026-02-28", 0),
            ("parent", "do the thing 0: déjà vu 🦀", 1),
            ("parent-agent-0a1b2c3d", "Subagent of parent, 2026-02-28", 0),
            ("parent-agent-new1", "Find the loader", 0),
            ("parent-agent-w1", "workflow-subagent", 0),
        ]
    );
    assert_eq!((&report["nothing"], &report["unrecognised"], &report["warnings"]), (&json!(0), &json!([]), &json!([])));
    let only = sandbox.json(&["capture", "--session", "parent", folder.to_str().unwrap()]);
    assert_eq!(only["sessions"].as_array().unwrap().len(), 4);
    let late = sandbox.json(&["capture", "--since", "2026-03-01", folder.to_str().unwrap()]);
    assert_eq!(late["sessions"], json!([]));

    // What a filter leaves out once is there the next time.
    let filtered = wiki();
    let folder = family(&filtered).parent().unwrap().display().to_string();
    assert_eq!(
        filtered.json(&["capture", "--session", "parent-agent-new1", &folder])["sessions"].as_array().unwrap().len(),
        1
    );
    assert_eq!(filtered.json(&["capture", &folder])["sessions"].as_array().unwrap().len(), 5);

    let without = wiki();
    without.git(&["config", "memory.capture.dropSubagents", "true"]);
    let folder = family(&without).parent().unwrap().display().to_string();
    for _ in 0..2 {
        let report = without.json(&["capture", &folder]);
        assert_eq!((report["sessions"].as_array().unwrap().len(), &report["nothing"]), (1, &json!(4)), "{report}");
    }
}

#[test]
fn a_hook_captures_the_session_and_its_subagents_again_when_they_have_grown() {
    let sandbox = wiki();
    let parent = family(&sandbox);
    let hook = || {
        let input =
            json!({"session_id": "parent", "transcript_path": parent, "cwd": sandbox.dir, "hook_event_name": "Stop"});
        let output = sandbox.memory(&["capture", "--hook"]).write_stdin(input.to_string()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(0), Vec::new(), Vec::new()));
        stored(&sandbox).into_iter().map(|(name, _, text)| (name, text.lines().count())).collect::<Vec<_>>()
    };
    let name = |id: &str| format!("refs/memory/sessions/{id}");
    let all = ["parent", "parent-agent-0a1b2c3d", "parent-agent-new1", "parent-agent-w1"];
    assert_eq!(hook(), all.map(|id| (name(id), 4)));
    append(&parent, turns("parent", 1, 2).as_bytes());
    let agent = parent.with_extension("").join("subagents/agent-new1.jsonl");
    append(
        &agent,
        turns("parent", 1, 2).replace("\"uuid\":\"parent-", "\"isSidechain\":true,\"uuid\":\"new1-").as_bytes(),
    );
    assert_eq!(hook(), [8, 4, 8, 4].iter().zip(all).map(|(count, id)| (name(id), *count)).collect::<Vec<_>>());
    assert!(!sandbox.path(".git/memory/worker.log").exists());
}

#[test]
fn an_output_that_was_put_beside_the_session_is_what_the_observation_holds() {
    let sandbox = wiki();
    let beside =
        file(&sandbox, "s/tool-results/c0.txt", format!("first line\n{}last line\n", "between\n".repeat(20_000)));
    let other = file(&sandbox, "t/tool-results/c1.txt", "not of this session\n");
    let result = |at: usize, path: &Path| {
        let text = format!(
            "<persisted-output>\nOutput too large (156KB). Full output saved to: {}\n\nPreview (first 2KB):\nfirst line\n</persisted-output>",
            path.display()
        );
        let content = json!([{"type": "tool_result", "tool_use_id": format!("c{at}"), "content": text}]);
        line("s", &format!("s-big{at}"), "user", content, 50 + at)
    };
    let path =
        file(&sandbox, "s.jsonl", format!("{}{}\n{}\n", turns("s", 0, 2), result(0, &beside), result(1, &other)));
    capture(&sandbox, &path);
    let held = held(&sandbox);
    assert!(held.iter().any(|body| body.starts_with("first line") && body.ends_with("last line\n")), "{held:?}");
    assert!(!held.iter().any(|body| body.contains("not of this session")));
}

#[test]
fn what_is_not_matched_is_counted_by_reason() {
    let sandbox = wiki();
    let place = |name: &str, text: String| {
        let path = sandbox.root().join("home/.claude/projects/slug").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for name in ["a", "b"] {
        place(&format!("{name}.jsonl"), turns(name, 0, 1));
    }
    place("c.jsonl", turns("c", 0, 1).replace("\"cwd\":\"/p\",", ""));
    let report = sandbox.json(&["capture", "--auto"]);
    let expected = json!([
        {"reason": "its folder is of no project of this wiki", "files": 2},
        {"reason": "it records no folder", "files": 1},
    ]);
    assert_eq!((&report["unmatched"], &report["unmatched_reasons"]), (&json!(3), &expected));
    let out = sandbox.run(&["capture", "--auto"]);
    assert!(
        out.contains(
            "2 files unmatched (its folder is of no project of this wiki), 1 file unmatched (it records no folder)"
        ),
        "{out}"
    );
}

/// Captures a file; standard error, and the most memory in KiB where the system tells.
fn measured(sandbox: &Sandbox, path: &Path) -> (String, u64) {
    let mut command = sandbox.program(common::BIN);
    command.args(["capture", path.to_str().unwrap()]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        while let Ok(text) = fs::read_to_string(&status) {
            let Some(line) = text.lines().find_map(|line| line.strip_prefix("VmHWM:")) else { break };
            most = line.trim().trim_end_matches("kB").trim().parse().unwrap_or(most);
            std::thread::sleep(Duration::from_millis(2));
        }
        most
    });
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{err}");
    (err, watch.join().unwrap())
}

#[test]
fn a_line_or_a_file_of_any_size_is_read_in_little_memory() {
    let full = std::env::var_os("GIT_MEMORY_TEST_FULL").is_some();
    let (line_size, file_size) = if full { (200 << 20, 64 << 20) } else { (20 << 20, 24 << 20) };
    for garbage in [true, false] {
        let sandbox = wiki();
        let path = file(&sandbox, "long.jsonl", turns("long", 0, 1));
        let text = if garbage {
            "x".repeat(line_size)
        } else {
            line("long", "huge", "user", json!("y ".repeat(line_size / 2)), 30).to_string()
        };
        append(&path, format!("{text}\n{}", turns("long", 1, 2)).as_bytes());
        drop(text);
        let (err, memory) = measured(&sandbox, &path);
        assert!(err.contains("long.jsonl:5: a line longer than 16 MiB, left out"), "{err}");
        assert_eq!(held(&sandbox).len(), 8);
        assert!(memory < 200 << 10, "{memory} KiB");
    }
    let sandbox = wiki();
    let path = file(&sandbox, "large.jsonl", "");
    let mut out = std::io::BufWriter::new(File::create(&path).unwrap());
    let (mut written, mut at) = (0, 0);
    while written < file_size {
        let text = turns("large", at, at + 1);
        let padded =
            text.replace("out ", &format!("{} out ", "some words of output\n".repeat(600).replace('\n', "\\n")));
        out.write_all(padded.as_bytes()).unwrap();
        (written, at) = (written + padded.len(), at + 1);
    }
    out.flush().unwrap();
    drop(out);
    let (_, memory) = measured(&sandbox, &path);
    assert!(memory < 200 << 10, "{memory} KiB");
    let parts = stored(&sandbox);
    assert!(parts.len() > 1, "{}", parts.len());
    assert_eq!(parts.iter().map(|(_, _, text)| text.lines().count()).sum::<usize>(), at * 4);
    // What is added goes to the last part.
    append(&path, turns("large", at, at + 1).as_bytes());
    assert_eq!(capture(&sandbox, &path)["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(stored(&sandbox).iter().map(|(_, _, text)| text.lines().count()).sum::<usize>(), at * 4 + 4);
    // All parts are one session to whoever forgets it.
    sandbox.run(&["session", "forget", "large", "--yes"]);
    assert_eq!(stored(&sandbox).len(), 0);
    capture(&sandbox, &path);
    assert_eq!(stored(&sandbox).len(), 0);
}
