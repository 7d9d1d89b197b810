//! The storage trees, the export, and files that are damaged or no sessions.

use std::fs;

use super::*;

/// Writes files below a folder.
fn tree(files: &[(&str, Value)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, value) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    }
    dir
}

fn record() -> Value {
    json!({"id": "ses_1", "version": "1", "title": "t", "directory": "/p", "time": {"created": 1_700_000_000_000_u64}})
}

fn refused(path: &Path) -> String {
    read_with(path, &open()).unwrap_err().to_string()
}

#[test]
fn a_tree_is_read_in_each_of_its_layouts() {
    let message = |role: &str, at: u64| json!({"id": format!("msg_{role}"), "sessionID": "ses_1", "role": role, "time": {"created": at}});
    let part = |message: &str, words: &str| json!({"id": format!("prt_{message}"), "messageID": message, "type": "text", "text": words});
    let (user, assistant) = (message("user", 1_700_000_001_000), message("assistant", 1_700_000_002_000));
    let (asked, answered) = (part("msg_user", "one two three"), part("msg_assistant", "done"));
    let expected = ["Prompt human: one two three", "Answer assistant: done"];
    let now = tree(&[
        ("session/p/ses_1.json", record()),
        ("message/ses_1/msg_user.json", user.clone()),
        ("message/ses_1/msg_assistant.json", assistant.clone()),
        ("part/msg_user/prt_1.json", asked.clone()),
        ("part/msg_assistant/prt_2.json", answered.clone()),
    ]);
    let flat = tree(&[
        ("session/p/ses_1.json", record()),
        ("message/ses_1/msg_user.json", user.clone()),
        ("message/ses_1/msg_assistant.json", assistant.clone()),
        ("part/prt_1.json", asked.clone()),
        ("part/prt_2.json", answered.clone()),
        ("part/prt_3.json", part("msg_of_another_session", "no")),
    ]);
    let own = tree(&[
        ("session/info/ses_1.json", record()),
        ("session/message/ses_1/msg_user.json", user.clone()),
        ("session/message/ses_1/msg_assistant.json", assistant.clone()),
        ("session/part/ses_1/msg_user/prt_1.json", asked.clone()),
        ("session/part/ses_1/msg_assistant/prt_2.json", answered),
    ]);
    for (dir, path) in
        [(&now, "session/p/ses_1.json"), (&flat, "session/p/ses_1.json"), (&own, "session/info/ses_1.json")]
    {
        let (sessions, warnings) = read_file(&dir.path().join(path));
        assert_eq!((told(&sessions[0]), warnings), (expected.map(str::to_owned).to_vec(), vec![]), "{path}");
        let further = crate::session::further_files(&dir.path().join(path));
        assert_eq!(further.len(), if dir.path() == flat.path() { 5 } else { 4 }, "{further:?}");
    }
    // Parts inside of the message, and the time beside them.
    let mut whole = json!({"id": "msg_user", "role": "user", "metadata": {"time": {"created": 1_700_000_001_000_u64}}});
    whole["parts"] = json!([{"type": "text", "text": "one two three"}, {"type": "step-start"}]);
    let call =
        json!({"state": "result", "toolCallId": "c", "toolName": "bash", "args": {"command": "ls"}, "result": "a"});
    let mut answer = json!({"id": "msg_x", "role": "assistant"});
    answer["parts"] = json!([{"type": "tool-invocation", "toolInvocation": call}]);
    let oldest = tree(&[
        ("session/info/ses_1.json", record()),
        ("session/message/ses_1/msg_user.json", whole),
        ("session/message/ses_1/msg_x.json", answer),
    ]);
    let session = &read_file(&oldest.path().join("session/info/ses_1.json")).0[0];
    let mut said = told(session);
    said.sort();
    assert_eq!(said, ["Prompt human: one two three", "ToolCall assistant: ls", "ToolResult tool 0: a"]);
}

#[test]
fn damage_costs_what_is_damaged_and_is_told_once_a_kind() {
    let part =
        |n: u8, words: &str| json!({"id": format!("prt_{n}"), "messageID": "msg_1", "type": "text", "text": words});
    let dir = tree(&[
        ("session/p/ses_1.json", record()),
        (
            "message/ses_1/msg_1.json",
            json!({"id": "msg_1", "role": "user", "time": {"created": 1_700_000_001_000_u64}}),
        ),
        ("part/msg_1/prt_1.json", part(1, "keep this")),
        ("part/msg_1/prt_5.json", json!({"id": "prt_5", "messageID": "msg_1", "type": "hologram"})),
    ]);
    let at = |name: &str| dir.path().join("part/msg_1").join(name);
    fs::write(at("prt_2.json"), r#"{"id":"prt_2","messageID":"msg_1","type":"text","text":"half \ud83d"}"#).unwrap();
    fs::write(at("prt_3.json"), "{\"id\":\"prt_3\",\"mess").unwrap();
    fs::write(at("prt_4.json"), "").unwrap();
    fs::write(at("prt_6.json"), b"{\"id\":\"prt_6\",\"type\":\"text\",\"text\":\"Latin \xe9\"}").unwrap();
    fs::create_dir(at("prt_7.json")).unwrap();
    fs::write(dir.path().join("message/ses_1/msg_2.json"), "null").unwrap();
    fs::write(dir.path().join("message/ses_1/msg_3.json"), "\0\0\0\0").unwrap();
    let (sessions, mut warnings) = read_file(&dir.path().join("session/p/ses_1.json"));
    assert_eq!(prompts(&sessions[0]), ["keep this\nhalf \u{fffd}\nLatin \u{fffd}"]);
    warnings.sort_unstable();
    let kinds = [
        "broken_part",
        "empty_part",
        "invalid_utf8",
        "lone_surrogate",
        "odd_message",
        "unknown_type",
        "unreadable_part",
    ];
    assert_eq!(warnings, kinds);
}

#[test]
fn damage_inside_an_export_costs_one_message_only() {
    let document = export(json!({}), &[(user(), vec![text("CUT")]), (assistant(), vec![text("fine")])]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("e.json");
    fs::write(&path, document.to_string().replace("CUT", r"an emoji \ud83d cut")).unwrap();
    let (sessions, warnings) = read_file(&path);
    assert_eq!(told(&sessions[0]), ["Prompt human: an emoji \u{fffd} cut", "Answer assistant: fine"]);
    assert_eq!(warnings, ["lone_surrogate"]);
}

#[test]
fn pieces_and_strangers_are_refused_in_clear_words() {
    let made = fixture("made/storage");
    let piece = "part of an OpenCode session: name its session file or the storage folder";
    let message = "message/ses_469cf929cffeBICghRNeI7BWy6/msg_b96306d83001UHECFoapZ6W4q0.json";
    assert_eq!(refused(&made.join(message)), piece);
    assert_eq!(refused(&made.join("part/msg_b96306dcompact/prt_b963060200.json")), piece);
    let alone = tree(&[("elsewhere/here/ses_1.json", record())]);
    let path = alone.path().join("elsewhere/here/ses_1.json");
    assert_eq!(refused(&path), "an OpenCode session without its messages: name it inside the storage folder");
    // An id is no way out of the tree.
    let mut out = record();
    out["id"] = "../../../etc".into();
    let dir = tree(&[("session/p/ses_1.json", out)]);
    assert!(refused(&dir.path().join("session/p/ses_1.json")).starts_with("an OpenCode session without"));
}
