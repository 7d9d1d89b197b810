//! What of a session is kept, and whose words they are.

use super::*;

#[test]
fn the_fixtures_have_exactly_the_human_turns_that_a_reader_sees_in_them() {
    let made = "made/storage/session/a1b2c3d4e5f60718293a4b5c6d7e8f9001122334";
    let table: &[(&str, &[&str], usize, &[&str])] = &[
        ("legacy/session/proj_test/ses_s_stage0_drift.json", &[], 3, &[]),
        ("small-and-large/session/proj_test/ses_s_stage0_small.json", &["Hello"], 4, &[]),
        ("small-and-large/session/proj_test/ses_s_stage0_large.json", &["Step 1", "Step 2"], 9, &[]),
        (
            "add-tests/session/proj_present/session_add_tests.json",
            &["Can you help me add unit tests for the utils module?"],
            5,
            &[],
        ),
        (
            &format!("{made}/ses_469cf929cffeBICghRNeI7BWy6.json"),
            &["the clock test is flaky, fix it"],
            10,
            &["broken_part", "empty_part"],
        ),
        ("made/export.json", &["the clock test is flaky, fix it"], 10, &[]),
    ];
    for (path, turns, observations, kinds) in table {
        let (sessions, mut warnings) = read_file(&fixture(path));
        warnings.sort_unstable();
        assert_eq!(warnings, *kinds, "{path}");
        let [session] = &sessions[..] else { panic!("{path}: {} sessions", sessions.len()) };
        assert_eq!(prompts(session), *turns, "{path}");
        assert_eq!(session.observations.len(), *observations, "{path}: {:#?}", told(session));
    }
    for empty in [
        format!("{made}/ses_469child.json"),
        "made/storage/session/global/ses_469empty.json".into(),
        "add-tests/session/proj_present/session_parser_fix.json".into(),
    ] {
        assert_eq!(read_file(&fixture(&empty)), (vec![], vec![]), "{empty}");
    }
}

#[test]
fn a_session_tells_its_folder_version_times_and_a_title_from_the_persons_words() {
    let path = "made/storage/session/a1b2c3d4e5f60718293a4b5c6d7e8f9001122334/ses_469cf929cffeBICghRNeI7BWy6.json";
    let session = &read_file(&fixture(path)).0[0];
    assert_eq!(session.id, "ses_469cf929cffeBICghRNeI7BWy6");
    assert_eq!((session.cwd.as_deref(), session.version.as_deref()), (Some("/home/dev/proj"), Some("1.2.10")));
    assert_eq!(session.title, "the clock test is flaky, fix it");
    let times = [session.started, session.ended].map(|at| at.unwrap().to_string());
    assert_eq!(times, ["2026-03-01T10:00:00Z", "2026-03-01T10:01:25Z"]);
    assert_eq!(
        told(session),
        [
            "Prompt human: the clock test is flaky, fix it",
            "Other system: Attached clock.rs",
            "ToolCall assistant: cargo test clock",
            "ToolResult tool 101: FAILED clock::late|",
            "ToolCall assistant: filePath: /home/dev/proj/clock.rs",
            "ToolResult tool 1: File has not been read",
            "ToolCall assistant: sleep 999",
            "Answer assistant: Gotcha: the test read the real clock; use a fake one.",
            "Other system: Changed /home/dev/proj/clock.rs",
            "Compaction system: Context compacted: it was full",
        ]
    );
    let titles: Vec<_> = session.observations.iter().map(|o| o.title.as_str()).collect();
    assert_eq!((titles[2], titles[4]), ("cargo test clock", "/home/dev/proj/clock.rs"));
}

#[test]
fn only_what_a_person_typed_is_human() {
    let mut added = text("<system-reminder>plan mode</system-reminder>");
    added["synthetic"] = true.into();
    let mut ignored = text("shown to the person only");
    ignored["ignored"] = true.into();
    let subtask = json!({"type": "subtask", "prompt": "look at the tests", "description": "look", "agent": "explore"});
    let agent = json!({"type": "agent", "name": "explore"});
    let mut summary = assistant();
    summary["summary"] = true.into();
    let document = export(
        json!({}),
        &[
            (user(), vec![text("use pnpm"), added.clone(), text("not npm"), ignored]),
            (user(), vec![subtask, agent]),
            (user(), vec![added]),
            (user(), vec![json!({"type": "compaction", "auto": false})]),
            (summary, vec![text("What was done so far")]),
            (user(), vec![text("  \n")]),
        ],
    );
    let session = of_export(&document);
    assert_eq!(
        told(&session),
        [
            "Prompt human: use pnpm|not npm",
            "Other system: look at the tests",
            "Compaction system: Context compacted",
            "Compaction system: What was done so far",
        ]
    );
    // The prompts of a session that an agent started are the agent's.
    let child = of_export(&export(json!({"parentID": "ses_0"}), &[(user(), vec![text("look at the tests")])]));
    assert_eq!(
        (told(&child), child.parent.as_deref()),
        (vec!["Other system: look at the tests".into()], Some("ses_0"))
    );
    assert!(child.title.starts_with("New session"), "{}", child.title);
}

#[test]
fn calls_have_results_with_their_exit_codes_and_trouble_is_noticed() {
    let bash = |state: Value| tool("bash", json!({"command": "make"}), state);
    let mut stopped = assistant();
    stopped["error"] = json!({"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}});
    let mut failed = assistant();
    failed["error"] = json!({"name": "APIError", "data": {"message": "overloaded", "statusCode": 529}});
    let retry = json!({"type": "retry", "attempt": 1, "error": {"name": "APIError", "data": {"message": "busy"}}});
    let document = export(
        json!({}),
        &[
            (assistant(), vec![bash(json!({"output": "ok", "metadata": {"exit": 0}, "title": "Build it"}))]),
            (assistant(), vec![bash(json!({"output": "no", "metadata": {"exit": 2}}))]),
            (assistant(), vec![bash(json!({"output": "timeout", "metadata": {"exit": null}}))]),
            (assistant(), vec![bash(json!({"status": "error", "error": "denied"}))]),
            (assistant(), vec![bash(json!({"status": "pending"}))]),
            (stopped, vec![retry]),
            (failed, vec![]),
        ],
    );
    let session = of_export(&document);
    assert_eq!(
        told(&session),
        [
            "ToolCall assistant: make",
            "ToolResult tool 0: ok",
            "ToolCall assistant: make",
            "ToolResult tool 2: no",
            "ToolCall assistant: make",
            "ToolResult tool 1: timeout",
            "ToolCall assistant: make",
            "ToolResult tool 1: denied",
            "ToolCall assistant: make",
            "Notification system: Tried again: APIError: busy",
            "Stop system: MessageAbortedError: The operation was aborted.",
            "Notification system: APIError: overloaded",
        ]
    );
    let first = &session.observations[0];
    assert_eq!(
        (first.title.as_str(), first.id.as_str(), first.call.as_deref()),
        ("make", "prt_0_0", Some("call_bash"))
    );
    assert_eq!(session.observations[1].id, "prt_0_0.result");
}

#[test]
fn what_a_person_took_back_and_what_a_fork_copied_is_left_out() {
    let turns = [
        (user(), vec![text("one")]),
        (assistant(), vec![text("first"), text("second")]),
        (user(), vec![text("two")]),
        (assistant(), vec![text("third")]),
    ];
    let said = |info: Value| told(&of_export(&export(info, &turns)));
    let whole = said(json!({}));
    assert_eq!(whole.len(), 5);
    assert_eq!(said(json!({"revert": {"messageID": "msg_2"}})), whole[..3]);
    assert_eq!(said(json!({"revert": {"messageID": "msg_1", "partID": "prt_1_1"}})), whole[..2]);
    assert_eq!(said(json!({"revert": {"messageID": "msg_9"}})), whole);
    // The fork began after the second message.
    assert_eq!(said(json!({"time": {"created": BEGUN + 2500}})), whole[3..]);
}

#[test]
fn excluded_paths_take_call_result_attachment_and_change_along() {
    let policy = Policy::new(true, false, &[".env".into(), "secrets/".into()]).unwrap();
    let mut attached = text("Called the Read tool with the following input: {\"filePath\":\"/p/.env\"}\nKEY=1");
    attached["synthetic"] = true.into();
    let file = json!({"type": "file", "mime": "text/plain", "filename": ".env", "url": "file:///p/.env?start=1"});
    let other =
        json!({"type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64,AAAAsecret"});
    let document = export(
        json!({}),
        &[
            (user(), vec![text("look"), file, attached, other]),
            (
                assistant(),
                vec![
                    tool(
                        "bash",
                        json!({"command": "cat ./.env | head", "description": "look"}),
                        json!({"output": "KEY=1"}),
                    ),
                    tool("read", json!({"filePath": "/p/secrets/a.txt"}), json!({"output": "KEY=1"})),
                    tool("edit", json!({"filePath": "/p/a.md", "newString": "cat .env"}), json!({"output": "ok"})),
                    tool("apply_patch", json!({"patchText": "*** Update File: secrets/b\n+KEY=1"}), json!({})),
                    json!({"type": "patch", "hash": "1", "files": ["/p/secrets/b", "/p/a.md"]}),
                    json!({"type": "patch", "hash": "2", "files": ["/p/.env"]}),
                ],
            ),
        ],
    );
    let session = of_export_with(&document, &policy).0.unwrap();
    let told = told(&session);
    assert_eq!(
        told,
        [
            "Prompt human: look",
            "Other system: Attached a.png",
            "ToolCall assistant: filePath: /p/a.md|newString: cat .env",
            "ToolResult tool 0: ok",
            "Other system: Changed /p/a.md",
        ]
    );
    assert!(!format!("{session:?}").contains("AAAAsecret"));
}

#[test]
fn the_policy_of_the_sessions_folder_rules() {
    let dir = tempfile::tempdir().unwrap();
    let cwd = dir.path().to_str().unwrap();
    let rules = |text: &str| std::fs::write(dir.path().join(".gitmemory.toml"), text).unwrap();
    let turns = [(user(), vec![text("hello there")]), (assistant(), vec![text("hello")])];
    let document = export(json!({"directory": cwd}), &turns);
    let child = export(json!({"directory": cwd, "parentID": "ses_0"}), &turns);
    let read = |document: &Value| of_export_with(document, &open()).0;
    assert_eq!(read(&document).unwrap().observations.len(), 2);
    rules("[capture]\ndrop_subagents = true\n");
    assert!(read(&document).is_some() && read(&child).is_none());
    rules("[capture]\nenabled = false\n");
    assert_eq!(read(&document), None);
    rules("[capture\n");
    let closed = read(&document).unwrap();
    assert_eq!(told(&closed), ["Start system: ", "End system: "]);
    assert_eq!((closed.title.as_str(), closed.cwd), ("", None));
    // Where only a message tells the folder, it counts as well.
    let mut late = assistant();
    late["path"] = json!({"cwd": cwd, "root": cwd});
    assert_eq!(
        told(&read(&export(json!({"directory": ""}), &[(late, vec![text("x")])])).unwrap())[0],
        "Start system: "
    );
}

#[test]
fn our_own_sessions_are_marked() {
    let marked = format!("<!-- {} -->\nReview this", crate::session::OWN_SESSION_MARKER);
    assert!(of_export(&export(json!({}), &[(user(), vec![text(&marked)])])).own);
    let folder = json!({"directory": "/home/dev/proj/.git/memory/work"});
    assert!(of_export(&export(folder, &[(user(), vec![text("x y z")])])).own);
}

#[test]
fn secrets_are_taken_out_before_anything_is_kept() {
    let secret = ["gh", "p_", "912QBrTVzLvmcw24LoNx1iyXBNZvHYBrRuNk"].concat();
    let call = tool(
        "bash",
        json!({"command": format!("curl -H 'token {secret}'")}),
        json!({"output": secret, "title": secret}),
    );
    let title = json!({"title": format!("Use {secret}")});
    let session = of_export(&export(title, &[(assistant(), vec![call, json!({"type": "patch", "files": [secret]})])]));
    assert!(!format!("{session:?}").contains(&secret[8..]), "{session:?}");
}

#[test]
fn a_part_that_stands_twice_counts_once() {
    let said = |words: &str| json!({"type": "text", "text": words, "id": "prt_same"});
    let answers = vec![said("one"), said("two")];
    let session = of_export(&export(json!({}), &[(user(), vec![text("fix it")]), (assistant(), answers)]));
    let told: Vec<&str> = session.observations.iter().map(|o| o.body.as_str()).collect();
    assert_eq!(told, ["fix it", "one"]);
}
