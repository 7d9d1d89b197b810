use std::path::Path;

use crate::session::gather::prefixes::{hold, turns};
use crate::session::lines::Damage;
use crate::session::{Given, ObservationKind as Kind, Policy, ReadOptions, Redactor, Session, Speaker};

const DOCUMENT: &str = include_str!("../../../fixtures/gemini/session.json");
const LINES: &str = include_str!("../../../fixtures/gemini/session.jsonl");
const REWRITTEN: &str = include_str!("../../../fixtures/gemini/rewritten.jsonl");

fn sessions(text: &[u8], path: &str, options: ReadOptions, damage: &mut Damage) -> Vec<Session> {
    let mut sessions = Vec::new();
    let mut give = |given: Given| sessions.push(given.session);
    super::read(text, Path::new(path), options, None, damage, &mut give).unwrap();
    sessions
}

fn read_with(text: &[u8], path: &str, policy: &Policy) -> (Vec<Session>, Vec<&'static str>) {
    let redactor = Redactor::new(&[], &[]).unwrap();
    let mut damage = Damage::default();
    let options = ReadOptions { redactor: &redactor, policy };
    let sessions = sessions(text, path, options, &mut damage);
    (sessions, damage.warnings("f").into_iter().map(|warning| warning.kind).collect())
}

fn read(text: &str) -> Session {
    let policy = Policy::new(true, false, &[]).unwrap();
    let (mut sessions, damage) = read_with(text.as_bytes(), "session-x.json", &policy);
    assert_eq!((sessions.len(), damage.len()), (1, 0), "{damage:?}");
    sessions.remove(0)
}

fn told(session: &Session) -> Vec<String> {
    let line = |o: &crate::session::Observation| {
        let exit = o.exit.map(|code| format!(" {code}")).unwrap_or_default();
        format!("{:?}{exit} {}", o.kind, o.title)
    };
    session.observations.iter().map(line).collect()
}

#[test]
fn a_document_gives_its_turns_calls_results_and_notices() {
    let session = read(DOCUMENT);
    assert_eq!(session.id, "5b0e6c1d-2f4a-4c7b-8e9d-a1b2c3d4e5f6");
    assert_eq!(
        told(&session),
        [
            "Notification Update successful! The new version will be used on your next run.",
            "Prompt The sorter test fails on my machine but not in CI. Find out why, and keep the public API as it is.",
            "Answer I will run the test first.",
            "ToolCall cargo test --test sorter",
            "ToolResult 101 Command: cargo test --test sorter",
            "Answer The order depends on the locale of the machine.",
            "ToolCall /home/dev/parcel/src/sort.rs",
            "ToolResult 0 pub fn sort(names: &mut [String]) {",
            "ToolCall /home/dev/parcel/src/sort.rs",
            "ToolResult 1 [Operation Cancelled] Reason: User denied execution.",
            "Prompt No. Never change the order in the library: set LC_ALL=C in the test, see @tests/sorter.rs",
            "ToolCall /home/dev/parcel/tests/sorter.rs",
            "ToolResult 0 Successfully overwrote file: /home/dev/parcel/tests/sorter.rs.",
            "Notification /memory show",
            "Notification [API Error: The model is overloaded. Please try again later.]",
            "Answer The test sets `LC_ALL=C` now; the library is unchanged and all three tests pass.",
        ]
    );
    assert!(session.observations.iter().all(|o| (o.speaker == Speaker::Human) == (o.kind == Kind::Prompt)));
    let result = session.observations.iter().find(|o| o.exit == Some(101)).unwrap();
    assert_eq!(result.tool.as_deref(), Some("Bash"));
}

#[test]
fn a_document_is_the_same_on_one_line_and_on_many() {
    let compact: serde_json::Value = serde_json::from_str(DOCUMENT).unwrap();
    assert_eq!(read(&compact.to_string()), read(DOCUMENT));
    assert_eq!(read(&format!("\u{feff}{}", DOCUMENT.replace('\n', "\r\n"))), read(DOCUMENT));
    // Longer than what is looked at to tell the two apart.
    let long = compact.to_string().replace("I will run the test first.", &format!("I will {}", "x".repeat(1 << 19)));
    assert_eq!(turns(&[read(&long)]), turns(&[read(DOCUMENT)]));
}

#[test]
fn a_message_that_is_written_again_replaces_itself_and_its_call_counts_once() {
    let session = read(LINES);
    assert_eq!(
        told(&session),
        [
            "Prompt Releases are cut with `just release`, never with cargo publish by hand. Cut 0.4.1.",
            "Answer Cutting the release.",
            "ToolCall just release 0.4.1",
            "ToolResult 2 Output: error: working tree is dirty: CHANGELOG.md",
            "Answer The changelog is not committed yet; shall I commit it?",
            "Prompt yes, and write the date in it",
            "Answer Committed the changelog with the date and released 0.4.1.",
        ]
    );
    assert_eq!(session.ended.unwrap().to_string(), "2026-02-10T09:09:20Z");
}

#[test]
fn a_history_that_is_recorded_again_adds_nothing_and_what_was_taken_back_is_gone() {
    let session = read(REWRITTEN);
    assert_eq!(
        turns(std::slice::from_ref(&session)),
        ["use tabs in the Makefile", "delete the cache folder", "add a clean target"]
    );
    let answers: Vec<_> = session.observations.iter().filter(|o| o.kind == Kind::Answer).map(|o| &o.title).collect();
    assert_eq!(answers, ["Done: tabs.", "Added `make clean`."]);
    assert_eq!(session.observations.iter().filter(|o| o.kind == Kind::Compaction).count(), 1);
}

#[test]
fn messages_that_stand_only_in_a_set_are_read_and_new_prompts_after_it_too() {
    let text = concat!(
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-02-10T09:00:00Z"}"#,
        "\n",
        r#"{"$set":{"messages":[{"id":"a","type":"user","content":[{"text":"one"}]}]}}"#,
        "\n",
        r#"{"$set":{"messages":[{"id":"a","type":"user","content":[{"text":"one"}]},{"id":"b","type":"user","content":"two"}]}}"#,
        "\n",
        r#"{"$set":{"messages":[]}}"#,
        "\n",
    );
    let session = read(text);
    assert_eq!(turns(std::slice::from_ref(&session)), ["one", "two"]);
    let ids: Vec<_> = session.observations.iter().map(|o| o.id.as_str()).collect();
    assert_eq!(ids, ["s.a", "s.b"]);
}

#[test]
fn an_excluded_path_takes_the_call_and_its_result_away() {
    let policy = Policy::new(true, false, &["sort.rs".into()]).unwrap();
    let (sessions, _) = read_with(DOCUMENT.as_bytes(), "x", &policy);
    let text = format!("{sessions:?}");
    assert!(!text.contains("sort.rs") && !text.contains("collate") && text.contains("sorter.rs"));
    let command = DOCUMENT.replace("cargo test --test sorter", "cat .env | head");
    let policy = Policy::new(true, false, &[".env".into()]).unwrap();
    let (sessions, _) = read_with(command.as_bytes(), "x", &policy);
    assert!(!format!("{sessions:?}").contains("locale de_DE"));
}

#[test]
fn a_subagent_says_nothing_as_a_person_and_is_left_out_where_the_policy_says_so() {
    let text = LINES.replace("\"kind\":\"main\"", "\"kind\":\"subagent\"");
    let policy = Policy::new(true, false, &[]).unwrap();
    let (sessions, _) = read_with(text.as_bytes(), "/t/chats/parent-1/scout-3.jsonl", &policy);
    assert_eq!((sessions[0].id.as_str(), sessions[0].parent.as_deref()), ("parent-1-agent-scout-3", Some("parent-1")));
    assert_eq!(sessions[0].prompts().count(), 0);
    let dropping = Policy::new(true, true, &[]).unwrap();
    assert_eq!(read_with(text.as_bytes(), "/t/chats/parent-1/scout-3.jsonl", &dropping).0, []);
}

#[test]
fn damage_is_told_once_and_the_rest_is_used() {
    let policy = Policy::new(true, false, &[]).unwrap();
    let broken = LINES.replacen("{\"$set\":{\"lastUpdated\"", "{\"$set\":{\"lastUp", 1).replacen(
        "yes, and write",
        "yes \\ud83d and write",
        1,
    ) + "{\"odd\":1}\nnot json\n{\"id\":\"x\",\"type\":\"later\"}\n{\"id\":\"cut";
    let (sessions, kinds) = read_with(broken.as_bytes(), "x", &policy);
    assert_eq!(turns(&sessions).len(), 2);
    assert_eq!(turns(&sessions)[1], "yes \u{fffd} and write the date in it");
    assert_eq!(kinds, ["broken_line", "lone_surrogate", "unknown_type", "not_an_object", "cut_last_line"]);
}

#[test]
fn the_folder_is_told_by_what_stands_beside_the_file_or_by_the_hash_of_a_known_one() {
    let mut policy = Policy::new(true, false, &[]).unwrap();
    assert_eq!(read_with(DOCUMENT.as_bytes(), "x", &policy).0[0].cwd, None);
    policy.folders = ["/home/dev/other".to_owned(), "/home/dev/parcel".to_owned()].into();
    assert_eq!(read_with(DOCUMENT.as_bytes(), "x", &policy).0[0].cwd.as_deref(), Some("/home/dev/parcel"));
    assert_eq!(read_with(LINES.as_bytes(), "x", &policy).0[0].cwd.as_deref(), Some("/home/dev/parcel"));
    let dir = tempfile::tempdir().unwrap();
    let chats = dir.path().join(".gemini/tmp/parcel/chats");
    std::fs::create_dir_all(&chats).unwrap();
    let file = chats.join("session-1.json");
    let file = file.to_str().unwrap();
    std::fs::write(dir.path().join(".gemini/projects.json"), r#"{"projects":{"/from/registry":"parcel"}}"#).unwrap();
    assert_eq!(read_with(DOCUMENT.as_bytes(), file, &policy).0[0].cwd.as_deref(), Some("/from/registry"));
    std::fs::write(chats.parent().unwrap().join(".project_root"), "/from/marker\n").unwrap();
    assert_eq!(read_with(DOCUMENT.as_bytes(), file, &policy).0[0].cwd.as_deref(), Some("/from/marker"));
}

#[test]
fn a_file_cut_anywhere_gives_the_first_of_its_turns() {
    for (text, in_order) in [(DOCUMENT, true), (LINES, true), (REWRITTEN, false)] {
        hold(text.as_bytes(), in_order, |bytes, options| sessions(bytes, "session-x", options, &mut Damage::default()));
    }
}
