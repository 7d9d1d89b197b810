use std::path::Path;

use crate::session::gather::prefixes::{hold, turns};
use crate::session::lines::Damage;
use crate::session::{Given, ObservationKind as Kind, Policy, ReadOptions, Redactor, Session};

const EVENTS: &str = include_str!("../../../fixtures/copilot/events.jsonl");

fn sessions(text: &[u8], options: ReadOptions, damage: &mut Damage) -> Vec<Session> {
    let mut sessions = Vec::new();
    let mut give = |given: Given| sessions.push(given.session);
    super::read(text, Path::new("/s/abc/events.jsonl"), options, None, damage, &mut give).unwrap();
    sessions
}

fn read_with(text: &str, policy: &Policy) -> (Vec<Session>, Vec<&'static str>) {
    let redactor = Redactor::new(&[], &[]).unwrap();
    let mut damage = Damage::default();
    let options = ReadOptions { redactor: &redactor, policy };
    let sessions = sessions(text.as_bytes(), options, &mut damage);
    (sessions, damage.warnings("f").into_iter().map(|warning| warning.kind).collect())
}

fn open() -> Policy {
    Policy::new(true, false, &[]).unwrap()
}

#[test]
fn events_give_turns_calls_results_and_what_went_wrong() {
    let (sessions, damage) = read_with(EVENTS, &open());
    assert_eq!(damage, [""; 0]);
    let session = &sessions[0];
    assert_eq!(session.id, "9a8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d");
    assert_eq!(session.cwd.as_deref(), Some("/home/dev/parcel"));
    assert_eq!((session.branch.as_deref(), session.version.as_deref()), (Some("main"), Some("0.0.421")));
    let told: Vec<String> = session
        .observations
        .iter()
        .map(|o| format!("{:?}{} {}", o.kind, o.exit.map(|code| format!(" {code}")).unwrap_or_default(), o.title))
        .collect();
    assert_eq!(
        told,
        [
            "Notification Hook sessionStart: lint hook not found",
            "Prompt Why does the importer drop the last row? Write a failing test before you fix it.",
            "Answer I'll look at the importer.",
            "ToolCall /home/dev/parcel/src/import.rs",
            "ToolResult 0 1. for row in rows.windows(2) { push(row[0]); }",
            "ToolCall /home/dev/parcel/tests/last_row.rs",
            "ToolResult 0 Created file /home/dev/parcel/tests/last_row.rs with 84 characters",
            "ToolCall cargo test --test last_row",
            "ToolResult 101 assertion failed: left: 1, right: 2",
            "Other <skill-context name=\"rust-style\">Prefer iterators.</skill-context>",
            "Other List all callers of import()",
            "Answer Two callers: main and sync.",
            "Stop user initiated",
            "Prompt use chunks, not windows",
            "ToolCall /home/dev/parcel/src/import.rs",
            "ToolResult 1 The user rejected this tool call.",
            "Compaction The importer used windows(2).",
            "Notification Request failed with status 429",
            "Answer The importer uses `chunks(1)` now and the test passes.",
        ]
    );
    let dropping = Policy::new(true, true, &[]).unwrap();
    assert!(!format!("{:?}", read_with(EVENTS, &dropping).0).contains("Two callers"));
}

#[test]
fn an_excluded_path_takes_the_call_and_its_result_away() {
    let policy = Policy::new(true, false, &["import.rs".into(), "last_row".into()]).unwrap();
    let text = format!("{:?}", read_with(EVENTS, &policy).0);
    assert!(!text.contains("windows(2) {") && !text.contains("left: 1") && !text.contains("src/import.rs"), "{text}");
    assert!(text.contains("use chunks, not windows"));
}

#[test]
fn unknown_events_are_told_once_and_what_was_taken_back_is_gone() {
    let line = |kind: &str, data: &str, id: usize| {
        format!(
            "{{\"type\":\"{kind}\",\"data\":{data},\"id\":\"{id}\",\"timestamp\":\"2026-02-11T15:00:00Z\",\"parentId\":null}}\n"
        )
    };
    let text = EVENTS.to_owned()
        + &line("galaxy.moved", "{}", 1)
        + &line("galaxy.stopped", "{}", 2)
        + &line("session.something_new", "{}", 3)
        + &line("user.message", r#"{"content":"taken back"}"#, 4)
        + &line("session.snapshot_rewind", r#"{"upToEventId":"4","eventsRemoved":1}"#, 5)
        + &line("user.message", r#"{"content":"kept"}"#, 6)
        + &line("user.message", r#"{"content":"kept"}"#, 6)
        + "{\"type\":\"user.message\",\"data\":{\"cont";
    let (sessions, kinds) = read_with(&text, &open());
    assert_eq!(kinds, ["unknown_type", "cut_last_line"]);
    assert_eq!(turns(&sessions)[2..], ["kept"]);
    assert!(sessions[0].observations.iter().any(|o| o.id.ends_with("d.6") && o.kind == Kind::Prompt));
}

#[test]
fn a_file_cut_anywhere_gives_the_first_of_its_turns() {
    hold(EVENTS.as_bytes(), true, |bytes, options| sessions(bytes, options, &mut Damage::default()));
}
