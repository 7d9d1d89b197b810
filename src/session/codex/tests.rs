use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::session::{From, ObservationKind, Outcome, Policy, ReadOptions, Redactor, Session, Speaker, Warning, read};

fn read_with(path: &Path, policy: &Policy) -> (Outcome, Vec<Warning>) {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(&[], &[]).unwrap());
    read(path, From::Auto, ReadOptions { redactor: &REDACTOR, policy }).unwrap()
}

fn open() -> Policy {
    Policy::new(true, false, &[]).unwrap()
}

fn session(outcome: Outcome) -> Option<Session> {
    match outcome {
        Outcome::Sessions(sessions) => sessions.into_iter().next(),
        Outcome::Unrecognised(line) => panic!("unrecognised: {line}"),
    }
}

fn prompts(session: &Session) -> Vec<&str> {
    session.prompts().map(|o| o.body.as_str()).collect()
}

/// A session of these bytes, in a file of its own.
fn of_bytes(bytes: &[u8], policy: &Policy) -> (Option<Session>, Vec<&'static str>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    std::fs::write(&path, bytes).unwrap();
    let (outcome, warnings) = read_with(&path, policy);
    (session(outcome), warnings.into_iter().map(|w| w.kind).collect())
}

fn of_lines(lines: &[Value]) -> Session {
    with_policy(lines, &open()).unwrap()
}

fn with_policy(lines: &[Value], policy: &Policy) -> Option<Session> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    of_bytes(text.as_bytes(), policy).0
}

fn meta(id: &str) -> Value {
    json!({"type": "session_meta", "payload": {"id": id, "cwd": "/p", "cli_version": "0.104.0"}})
}

fn item(payload: Value) -> Value {
    json!({"type": "response_item", "payload": payload})
}

fn event(payload: Value) -> Value {
    json!({"type": "event_msg", "payload": payload})
}

fn user(text: &str) -> Value {
    item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
}

fn model(text: &str) -> Value {
    item(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}))
}

fn call(id: &str, arguments: Value) -> Value {
    item(json!({"type": "function_call", "name": "shell", "arguments": arguments.to_string(), "call_id": id}))
}

fn output(id: &str, output: &str) -> Value {
    item(json!({"type": "function_call_output", "call_id": id, "output": output}))
}

fn told(session: &Session) -> Vec<(ObservationKind, &str)> {
    session.observations.iter().map(|o| (o.kind, o.body.as_str())).collect()
}

fn ids(session: &Session) -> Vec<&str> {
    session.observations.iter().map(|o| o.id.as_str()).collect()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex").join(name)
}

#[test]
fn every_generation_gives_exactly_the_turns_that_a_person_typed() {
    let table: &[(&str, &[&str], usize, &[&str])] = &[
        ("made-first-generation.jsonl", &["add a changelog"], 4, &[]),
        ("made-parent.jsonl", &["why does `make check` hang?"], 4, &[]),
        ("made-fork.jsonl", &["why does `make check` hang?", "put that in the wiki"], 6, &[]),
        ("made-cut.jsonl", &["why does `make check` hang?"], 2, &["cut_last_line"]),
        ("made-compacted.jsonl", &["long job"], 3, &[]),
        (
            "real-hello-script.jsonl",
            &[
                "add myapp directory and create myapp/hoge.py which shows result of print(1+1).",
                "cd to myapp and run python hoge.py",
            ],
            0,
            &[],
        ),
        ("real-events-only.jsonl", &["Review the code changes", "Review these other changes"], 6, &[]),
        ("real-review.jsonl", &["ls"], 2, &[]),
        ("real-payload-first.jsonl", &["apply patch"], 2, &[]),
        ("real-no-times.jsonl", &["Check git status, then read README.", "Thanks."], 0, &[]),
        ("real-script-tools.jsonl", &[], 2, &[]),
    ];
    for (name, turns, observations, kinds) in table {
        let (outcome, warnings) = read_with(&fixture(name), &open());
        let session = session(outcome).unwrap_or_else(|| panic!("{name}: no session"));
        assert_eq!(prompts(&session), *turns, "{name}");
        assert_eq!(warnings.iter().map(|w| w.kind).collect::<Vec<_>>(), *kinds, "{name}");
        if *observations > 0 {
            assert_eq!(session.observations.len(), *observations, "{name}: {:?}", told(&session));
        }
    }
    for name in ["made-opened-and-closed.jsonl", "made-rolled-back.jsonl"] {
        assert_eq!(read_with(&fixture(name), &open()).0, Outcome::Sessions(vec![]), "{name}");
    }
}

#[test]
fn a_fork_has_its_parents_ids_for_what_it_copied_and_its_own_for_the_rest() {
    let parent = session(read_with(&fixture("made-parent.jsonl"), &open()).0).unwrap();
    let fork = session(read_with(&fixture("made-fork.jsonl"), &open()).0).unwrap();
    assert_eq!(ids(&fork)[..4], ids(&parent)[..]);
    assert!(fork.parent.is_none() && fork.id.ends_with("02"));
}

#[test]
fn the_same_words_in_two_sessions_or_twice_in_one_are_different_turns() {
    let one = of_lines(&[meta("one"), user("continue"), model("a"), user("continue"), model("b")]);
    let two = of_lines(&[meta("two"), user("continue"), model("a"), user("continue"), model("b")]);
    let mut all = ids(&one);
    all.extend(ids(&two));
    assert_eq!(all.len(), 8);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 8);
}

#[test]
fn what_items_and_events_both_tell_counts_once_in_any_order() {
    let said = |text: &str| event(json!({"type": "user_message", "message": text}));
    let answered = |text: &str| event(json!({"type": "agent_message", "message": text}));
    let expected = [
        (ObservationKind::Prompt, "a\nb"),
        (ObservationKind::Answer, "one"),
        (ObservationKind::Prompt, "a\nb"),
        (ObservationKind::Answer, "two"),
    ];
    let (a, b) = (user("a\nb"), said("a\nb"));
    let (one, one_told, two, two_told) = (model("one"), answered("one"), model("two"), answered("two"));
    for lines in [
        vec![&a, &b, &one, &one_told, &a, &b, &two, &two_told],
        vec![&b, &a, &one_told, &one, &b, &a, &two_told, &two],
        vec![&a, &one, &a, &two],
        vec![&b, &one_told, &b, &two_told],
        vec![&a, &one, &b, &two_told],
        vec![&a, &b, &one_told, &b, &two, &two_told],
    ] {
        let lines: Vec<Value> = std::iter::once(meta("s")).chain(lines.into_iter().cloned()).collect();
        assert_eq!(told(&of_lines(&lines)), expected);
    }
}

#[test]
fn a_last_answer_that_no_other_line_tells_is_taken_from_the_end_of_the_turn() {
    let end = event(json!({"type": "task_complete", "last_agent_message": "Done."}));
    let expected = [(ObservationKind::Prompt, "go"), (ObservationKind::Answer, "Done.")];
    assert_eq!(told(&of_lines(&[meta("s"), user("go"), end.clone()])), expected);
    assert_eq!(told(&of_lines(&[meta("s"), user("go"), model("Done."), end])), expected);
}

#[test]
fn a_prompt_that_is_sent_again_after_an_interruption_counts_once() {
    let stopped = event(json!({"type": "turn_aborted", "reason": "interrupted"}));
    let session = of_lines(&[
        meta("s"),
        user("do it"),
        user("<turn_aborted>The user interrupted the previous turn on purpose.</turn_aborted>"),
        stopped,
        user("do it"),
        model("Done."),
        user("do it"),
    ]);
    assert_eq!(prompts(&session), ["do it", "do it"]);
    assert_eq!(session.observations.iter().filter(|o| o.kind == ObservationKind::Stop).count(), 1);
}

#[test]
fn turns_that_were_taken_back_are_left_out() {
    let back = |turns: u32| event(json!({"type": "thread_rolled_back", "num_turns": turns}));
    let lines = |turns| {
        vec![
            meta("s"),
            user("one"),
            model("1"),
            user("two"),
            call("c", json!({"command": ["ls"]})),
            model("2"),
            back(turns),
            output("c", "late"),
            user("three"),
            model("3"),
        ]
    };
    assert_eq!(prompts(&of_lines(&lines(0))), ["one", "two", "three"]);
    assert_eq!(prompts(&of_lines(&lines(2))), ["three"]);
    assert_eq!(prompts(&of_lines(&lines(9))), ["three"]);
    let session = of_lines(&lines(1));
    let bodies: Vec<_> = session.observations.iter().map(|o| o.body.as_str()).collect();
    assert_eq!(bodies, ["one", "1", "three", "3"]);
}

#[test]
fn a_call_and_its_result_are_matched_by_id_and_a_result_that_is_told_twice_counts_once() {
    let ended = event(json!({
        "type": "exec_command_end", "call_id": "b", "command": ["bash", "-lc", "make b"], "aggregated_output": "bad\n",
        "exit_code": 2,
    }));
    let session = of_lines(&[
        meta("s"),
        user("go"),
        call("a", json!({"command": ["bash", "-lc", "make a"]})),
        call("b", json!({"cmd": "make b"})),
        ended,
        output("b", "Process exited with code 2\nOutput:\nbad\n"),
        output("a", "{\"output\":\"fine\",\"metadata\":{\"exit_code\":0}}"),
    ]);
    let tools: Vec<_> = session.observations[1..]
        .iter()
        .map(|o| (o.kind, o.call.as_deref().unwrap(), o.title.as_str(), o.exit, o.tool.as_deref()))
        .collect();
    let (called, gave, shell) = (ObservationKind::ToolCall, ObservationKind::ToolResult, Some("shell"));
    let expected = [
        (called, "a", "make a", None, shell),
        (called, "b", "make b", None, shell),
        (gave, "b", "bad", Some(2), shell),
        (gave, "a", "fine", Some(0), shell),
    ];
    assert_eq!(tools, expected);
}

#[test]
fn calls_that_only_events_tell_are_calls_too() {
    let session = of_lines(&[
        meta("s"),
        event(json!({"type": "user_message", "message": "go"})),
        event(
            json!({"type": "exec_command_end", "call_id": "a", "command": ["ls", "-a"], "stdout": "x", "exit_code": 0}),
        ),
        event(json!({
            "type": "mcp_tool_call_end", "call_id": "b", "invocation": {"server": "docs", "tool": "find", "arguments": {"query": "q"}},
            "result": {"Err": "no such page"},
        })),
        event(json!({
            "type": "patch_apply_end", "call_id": "c", "success": true, "stdout": "ok",
            "changes": {"/p/a.rs": {"type": "update"}, "/p/b.rs": {"type": "add"}},
        })),
        event(json!({"type": "item_completed", "item": {
            "type": "CommandExecution", "id": "a", "command": ["ls", "-a"], "aggregated_output": "x", "exit_code": 0,
        }})),
        event(
            json!({"type": "item_completed", "item": {"type": "AgentMessage", "id": "m", "content": [{"type": "Text", "text": "Done."}]}}),
        ),
    ]);
    let tools: Vec<_> =
        session.observations[1..].iter().map(|o| (o.tool.as_deref(), o.title.as_str(), o.exit)).collect();
    let expected = [
        (Some("exec_command"), "ls -a", None),
        (Some("exec_command"), "x", Some(0)),
        (Some("docs.find"), "q", None),
        (Some("docs.find"), "no such page", Some(1)),
        (Some("apply_patch"), "/p/a.rs, /p/b.rs", None),
        (Some("apply_patch"), "ok", Some(0)),
        (None, "Done.", None),
    ];
    assert_eq!(tools, expected);
}

#[test]
fn an_excluded_path_takes_the_call_and_every_telling_of_its_result_along() {
    let policy = Policy::new(true, false, &[".env*".into()]).unwrap();
    let secret = "the excluded words";
    let ended = event(json!({
        "type": "exec_command_end", "call_id": "a", "command": ["bash", "-lc", "cat .env"], "stdout": secret, "exit_code": 0,
    }));
    let patch = item(json!({
        "type": "custom_tool_call", "name": "apply_patch", "call_id": "p",
        "input": format!("*** Begin Patch\n*** Update File: .env.local\n+{secret}\n*** End Patch"),
    }));
    let patched = item(json!({"type": "custom_tool_call_output", "call_id": "p", "output": secret}));
    let typed = user(&format!(
        "<user_shell_command>\n<command>\ncat .env\n</command>\n<result>\n{secret}\n</result>\n</user_shell_command>"
    ));
    let asked = call("a", json!({"command": ["bash", "-lc", "cat .env | head"]}));
    let gave = output("a", secret);
    for lines in [
        vec![asked.clone(), ended.clone(), gave.clone()],
        vec![ended, asked.clone(), gave.clone()],
        vec![gave, asked],
        vec![patch, patched],
        vec![typed],
        vec![user(&format!("<subagent_notification>{secret} in .env</subagent_notification>"))],
        vec![
            item(json!({"type": "function_call", "name": "read", "arguments": {"path": "/p/.env"}})),
            item(json!({"type": "function_call_output", "output": secret})),
        ],
    ] {
        let lines: Vec<Value> =
            [meta("s"), user("go")].into_iter().chain(lines).chain([call("z", json!({"cmd": "ls"}))]).collect();
        let session = with_policy(&lines, &policy).unwrap();
        assert!(!serde_json::to_string(&session).unwrap().contains(secret));
        assert_eq!(session.observations.len(), 2);
    }
}

#[test]
fn lines_of_excluded_files_are_left_out_of_what_other_calls_gave() {
    let policy = Policy::new(true, false, &[".env*".into()]).unwrap();
    let lines = [
        meta("s"),
        user("go"),
        call("a", json!({"cmd": "grep -rn key"})),
        output("a", "Process exited with code 0\nOutput:\nsrc/a.rs:1:key()\n.env:2:key=hidden words\n"),
    ];
    let session = with_policy(&lines, &policy).unwrap();
    let body = &session.observations[2].body;
    assert!(body.contains("src/a.rs:1:key()") && !body.contains("hidden words"), "{body}");
}

#[test]
fn a_subagents_prompts_are_no_persons_and_what_it_copied_is_its_parents() {
    const PARENT: &str = "019df057-8ee2-7543-974a-b0bb0bf3567d";
    const CHILD: &str = "019df066-0000-7000-8000-000000000000";
    let turn = |id: &str| event(json!({"type": "task_started", "turn_id": id}));
    let copied = [turn("019df057-c63b-7ef1-a47d-68e25a48a06f"), user("fix the parser"), model("I will ask somebody.")];
    let head = json!({"type": "session_meta", "payload": {
        "id": CHILD, "cwd": "/p", "parent_thread_id": PARENT, "forked_from_id": PARENT,
        "source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}},
    }});
    let own = [turn("019df066-cccf-7412-9071-aa9b9185cf82"), user("look at the lexer"), model("It is fine.")];
    let lines: Vec<Value> = [head, meta(PARENT)].into_iter().chain(copied).chain(own).collect();
    let session = of_lines(&lines);
    assert_eq!(session.parent.as_deref(), Some(PARENT));
    assert!(session.title.starts_with("Subagent of 019df057"), "{}", session.title);
    assert!(prompts(&session).is_empty());
    assert_eq!(
        told(&session),
        [(ObservationKind::Other, "look at the lexer"), (ObservationKind::Answer, "It is fine.")]
    );
    assert!(with_policy(&lines, &Policy::new(true, true, &[]).unwrap()).is_none());
    let review = json!({"type": "session_meta", "payload": {"id": "r", "cwd": "/p", "source": {"subagent": "review"}}});
    assert!(prompts(&of_lines(&[review, user("Review the code changes")])).is_empty());
}

#[test]
fn forks_in_which_a_person_goes_on_with_the_same_words_keep_them() {
    const PARENT: &str = "019df057-8ee2-7543-974a-b0bb0bf3567d";
    let forks = ["019df066-0000-7000-8000-000000000001", "019df066-0000-7000-8000-000000000002"].map(|id| {
        let head = json!({"type": "session_meta", "payload": {"id": id, "cwd": "/p", "forked_from_id": PARENT}});
        let turn = |id: &str| json!({"type": "turn_context", "payload": {"turn_id": id, "cwd": "/p"}});
        of_lines(&[
            head,
            turn("019df057-c63b-7ef1-a47d-68e25a48a06f"),
            user("fix the parser"),
            turn("019df066-cccf-7412-9071-aa9b9185cf82"),
            user("continue"),
        ])
    });
    assert_eq!(ids(&forks[0])[0], ids(&forks[1])[0]);
    assert_ne!(ids(&forks[0])[1], ids(&forks[1])[1]);
}

#[test]
fn what_a_compaction_keeps_is_no_new_turn_and_is_told_once() {
    let compacted = json!({"type": "compacted", "payload": {"message": "the summary", "replacement_history": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "long job"}]},
    ]}});
    let event = event(json!({"type": "context_compacted"}));
    let expected = [(ObservationKind::Prompt, "long job"), (ObservationKind::Compaction, "the summary")];
    assert_eq!(told(&of_lines(&[meta("s"), user("long job"), compacted.clone(), event.clone()])), expected);
    assert_eq!(told(&of_lines(&[meta("s"), user("long job"), event, compacted])), expected);
}

#[test]
fn the_session_is_described_by_its_record_and_named_by_the_first_words_of_a_person() {
    let head = json!({"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": {
        "id": "s", "cwd": "/p", "cli_version": "0.104.0", "git": {"branch": "topic"}, "instructions": "x",
    }});
    let words = json!({"timestamp": "2026-03-01T10:05:00Z", "type": "response_item", "payload": {
        "type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"},
            {"type": "input_text", "text": "rename main to run"},
        ],
    }});
    let session = of_lines(&[head, words]);
    assert_eq!((session.id.as_str(), session.title.as_str()), ("s", "rename main to run"));
    assert_eq!(session.version.as_deref(), Some("0.104.0"));
    assert_eq!((session.cwd.as_deref(), session.branch.as_deref()), (Some("/p"), Some("topic")));
    assert_eq!(session.started.unwrap().to_string(), "2026-03-01T10:00:00Z");
    assert_eq!(session.ended.unwrap().to_string(), "2026-03-01T10:05:00Z");
    assert_eq!(session.observations[0].speaker, Speaker::Human);
}

#[test]
fn a_session_of_ours_is_known_by_its_mark() {
    let marked = format!("<!-- {} -->\nReview this", crate::session::OWN_SESSION_MARKER);
    assert!(of_lines(&[meta("s"), user(&marked)]).own);
    assert!(!of_lines(&[meta("s"), user("Review this")]).own);
}

#[test]
fn damage_costs_what_is_damaged_only() {
    let good = format!("{}\n{}\n", meta("s"), user("use pnpm"));
    let deep = format!(
        "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call\",\"name\":\"x\",\"call_id\":\"c\",\"arguments\":{}1{}}}}}\n",
        "[".repeat(300),
        "]".repeat(300)
    );
    let glued = format!("{}{}\n", model("one"), model("two"));
    let behind = format!("{{\"type\":\"event_msg\",\"payload\":{{\"x\":\"cut{}\n", model("three"));
    let half = "{\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"a \\ud83d b\"}}\n";
    let control = "{\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"c \u{1} d\"}}\n";
    let cases: &[(Vec<u8>, &[&str], usize)] = &[
        (good.clone().into_bytes(), &[], 1),
        ([b"\xef\xbb\xbf", good.as_bytes()].concat(), &["bom"], 1),
        (good.replace('\n', "\r\n").into_bytes(), &[], 1),
        ([good.as_bytes(), &[0; 4096]].concat(), &["nul_padding"], 1),
        ([good.as_bytes(), deep.as_bytes()].concat(), &["too_deep"], 2),
        ([good.as_bytes(), glued.as_bytes()].concat(), &["glued_objects"], 3),
        ([good.as_bytes(), behind.as_bytes()].concat(), &["broken_line"], 2),
        ([good.as_bytes(), half.as_bytes(), half.as_bytes()].concat(), &["lone_surrogate"], 3),
        ([good.as_bytes(), control.as_bytes()].concat(), &["control_character"], 2),
        ([good.as_bytes(), b"{\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"caf\xe9\"}}\n"].concat(), &["invalid_utf8"], 2),
        ([good.as_bytes(), b"[1]\n{\"type\":7}\n{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\"}}\n"].concat(), &["not_an_object", "unknown_type", "odd_message"], 1),
        (good.as_bytes()[..good.len() - 9].to_vec(), &["cut_last_line"], 0),
    ];
    for (bytes, kinds, count) in cases {
        let (session, warnings) = of_bytes(bytes, &open());
        assert_eq!(warnings, *kinds);
        let session = session.map_or(0, |session| {
            assert_eq!(prompts(&session), ["use pnpm"]);
            session.observations.len()
        });
        assert_eq!(session, *count, "{kinds:?}");
    }
}

#[test]
fn a_file_that_is_cut_or_spoilt_anywhere_is_read_without_a_crash() {
    for name in ["made-fork.jsonl", "real-script-tools.jsonl", "real-payload-first.jsonl"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        for end in (0..bytes.len()).step_by(97) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("s.jsonl");
            std::fs::write(&path, &bytes[..end]).unwrap();
            read_with(&path, &open());
            for spoilt in [b'"', b'{', b'\\', b'\n', 0x80] {
                let mut bytes = bytes.clone();
                bytes[end] = spoilt;
                std::fs::write(&path, bytes).unwrap();
                read_with(&path, &open());
            }
        }
    }
}

#[test]
fn indexes_are_told_to_be_none() {
    let dir = tempfile::tempdir().unwrap();
    let lists = [
        ("session_index.jsonl", &b"{\"id\":\"a\",\"thread_name\":\"x\",\"updated_at\":\"y\"}\n"[..]),
        ("history.jsonl", b"{\"session_id\":\"a\",\"ts\":1,\"text\":\"x\"}\n"),
        ("state_5.sqlite", b"SQLite format 3\0 ... CREATE TABLE threads (id TEXT, rollout_path TEXT)"),
    ];
    for (name, bytes) in lists {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let redactor = Redactor::new(&[], &[]).unwrap();
        let error = read(&path, From::Auto, ReadOptions { redactor: &redactor, policy: &open() }).unwrap_err();
        assert!(error.to_string().contains("index"), "{name}: {error}");
    }
}

#[test]
fn packed_files_are_read_and_of_broken_ones_what_can_be_unpacked() {
    let plain: String = (0..400).map(|n| format!("{}\n", user(&format!("prompt number {n} of many")))).collect();
    let plain = format!("{}\n{plain}", meta("s"));
    let packed = ruzstd::encoding::compress_to_vec(plain.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rollout-s.jsonl.zst");
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(&[], &[]).unwrap());
        read(&path, From::Auto, ReadOptions { redactor: &REDACTOR, policy: &open() })
    };
    let (outcome, warnings) = read(&packed).unwrap();
    assert_eq!((session(outcome).unwrap().prompts().count(), warnings.len()), (400, 0));
    let two = [
        packed.clone(),
        ruzstd::encoding::compress_to_vec(
            format!("{}\n", user("more")).as_bytes(),
            ruzstd::encoding::CompressionLevel::Fastest,
        ),
    ]
    .concat();
    assert_eq!(session(read(&two).unwrap().0).unwrap().prompts().count(), 401);
    let error = read(&packed[..6]).unwrap_err().to_string();
    assert!(error.contains("cannot be unpacked"), "{error}");
    // Blocks are unpacked whole: a long file loses its last one only.
    let long = plain.repeat(10);
    let packed = ruzstd::encoding::compress_to_vec(long.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    let (outcome, warnings) = read(&packed[..packed.len() * 3 / 4]).unwrap();
    assert!(session(outcome).unwrap().prompts().count() > 400);
    assert!(warnings.iter().any(|w| w.kind == "broken_archive"), "{warnings:?}");
}

#[test]
fn every_file_of_the_corpus_is_read() {
    let named = std::env::var_os("GIT_MEMORY_CORPUS").map(PathBuf::from);
    let corpus =
        named.unwrap_or(Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus")).join("transcripts/codex");
    if !corpus.is_dir() {
        return eprintln!("skipped: no corpus (set GIT_MEMORY_CORPUS)");
    }
    let turns: &[(&str, usize)] = &[
        ("agent-sessions/codex_050_legacy.jsonl", 0),
        ("agent-sessions/codex_051_usage.jsonl", 0),
        ("agent-sessions/codex_052_raw.jsonl", 0),
        ("agent-sessions/codex_053_rate_limit.jsonl", 0),
        ("agent-sessions/large.jsonl", 6),
        ("agent-sessions/schema_drift.jsonl", 1),
        // Two of three that are spelt alike stand in different places and streams.
        ("agent-sessions/small.jsonl", 3),
        ("agentsview/blockquotes_session.jsonl", 1),
        ("agentsview/fc_args_1.jsonl", 1),
        ("agentsview/fc_args_2.jsonl", 1),
        ("agentsview/fc_stdin.jsonl", 1),
        ("agentsview/function_calls.jsonl", 1),
        ("agentsview/standard_session.jsonl", 1),
        ("agtrace/codex_parent_with_spawns.jsonl", 2),
        ("agtrace/codex_session.jsonl", 2),
        ("agtrace/codex_subagent_matched.jsonl", 0),
        ("agtrace/codex_subagent_unmatched.jsonl", 0),
        ("agtrace/rollout-parent-019b88e0.jsonl", 1),
        ("agtrace/rollout-subagent-019b88e5.jsonl", 0),
        ("ccfullsearch/codex_session.jsonl", 1),
        ("codexbar/harness-smoke/codex-home/archived_sessions/child.jsonl", 0),
        ("codexbar/harness-smoke/codex-home/sessions/2026/07/11/parent.jsonl", 0),
        ("codexbar/live-fork-4d90-52bf/codex-home/archived_sessions/child.jsonl", 0),
        ("codexbar/live-fork-4d90-52bf/codex-home/archived_sessions/parent.jsonl", 0),
        ("hyperweave/codex_session.jsonl", 5),
        ("polylogue/functions_exec_multiple.jsonl", 0),
        ("polylogue/functions_exec_single.jsonl", 0),
        ("polylogue/interleaved_stream.jsonl", 2),
        ("polylogue/text_only_stream.jsonl", 1),
        ("polylogue/tool_call_stream.jsonl", 1),
        ("skillcam/codex-session.jsonl", 1),
    ];
    for (name, count) in turns {
        let session = session(read_with(&corpus.join(name), &open()).0);
        assert_eq!(session.map_or(0, |session| session.prompts().count()), *count, "{name}");
    }
}
