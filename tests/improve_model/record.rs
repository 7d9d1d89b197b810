//! What stays of a run: its record, its report, and what was asked.

use serde_json::{Value, json};

use crate::scene::{Scene, gotcha, lesson, nothing, reply};

/// Every text and number of a value with the way to it.
fn leaves(value: &Value, way: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.push((way.to_owned(), text.clone())),
        Value::Number(number) => found.push((way.to_owned(), number.to_string())),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, way, found)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            if way.ends_with("/blobs") {
                found.push((way.to_owned(), name.clone()));
            }
            leaves(value, &format!("{way}/{name}"), found);
        }),
        Value::Null | Value::Bool(_) => {}
    }
}

#[test]
fn the_report_says_all_that_the_record_says() {
    let scene = Scene::new();
    scene.page("gotchas/redis.md", "# Redis for the export tests\n\nThe export tests need Redis on a port.\n");
    scene.capture(1, &lesson());
    let long = "because it was seen once and never again; ".repeat(12);
    scene.replies(&json!({
        "summary": "A port that tests need.",
        "proposals": [gotcha(json!({})), gotcha(json!({"path": "elsewhere/x.md", "title": "Elsewhere"}))],
        "rejected_candidates": [{"reason": long, "evidence": "the \"job\" | fails", "path": "notes/x.md"}]
    }));
    let run = scene.improve();
    let id = run["id"].as_str().expect("an id");
    let file = |name: &str| {
        let list = scene.sandbox.git(&["ls-tree", "-r", "--name-only", "refs/memory/log"]);
        let path = list.lines().find(|line| line.ends_with(&format!("{id}/{name}"))).expect("a file").to_owned();
        scene.sandbox.git(&["show", &format!("refs/memory/log:{path}")])
    };
    let record: Value = serde_json::from_str(&file("run.json")).expect("JSON");
    let report = file("REPORT.md");
    let mut all = Vec::new();
    leaves(&record, "", &mut all);
    assert!(all.len() > 60, "{all:?}");
    for (way, text) in all {
        // Said in other words.
        if matches!(way.as_str(), "/outcomes/outcome" | "/plan/mode") {
            continue;
        }
        let written = text.replace('|', "\\|").replace('<', "&lt;").replace('`', "'");
        let written = written.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(report.contains(&written), "{way} = {text}, which is not in:\n{report}");
    }
}

#[test]
fn what_was_asked_can_be_read_again_until_a_session_is_forgotten() {
    let scene = Scene::new();
    let id = scene.capture(1, &lesson());
    let run = scene.improve();
    let call = &run["calls"][0];
    assert_eq!(call["read"]["ledger"].as_str().map(str::len), call["read"]["commit"].as_str().map(str::len), "{call}");
    let folder = scene.sandbox.dir.join(".git/memory/prompts");
    let kept = folder.join(format!("{}.txt", call["prompt_sha256"].as_str().expect("a hash")));
    let sent = std::fs::read_to_string(scene.outside("prompt")).expect("a prompt");
    let text = std::fs::read_to_string(&kept).expect("the prompt is kept");
    assert!(sent.contains(text.trim()), "{text}");
    scene.sandbox.run(&["session", "forget", &id, "--yes"]);
    assert!(!folder.exists() && !scene.sandbox.dir.join(".git/memory/responses").exists());
}

#[test]
fn a_run_that_is_no_success_says_why_in_its_object() {
    let scene = Scene::new();
    scene.capture(1, &lesson());
    scene.replies(&reply(&[gotcha(json!({"path": "elsewhere/x.md"}))]));
    let (run, said) = scene.improve_fails();
    assert_eq!((&run["schema"], &run["failure"]["code"]), (&json!("git-memory.run/1"), &json!("all_refused")), "{run}");
    let message = run["failure"]["message"].as_str().expect("a message");
    assert!(said.contains(message) && run["failure"]["hint"].is_string(), "{said}");
    scene.capture(2, &lesson());
    scene.replies(&nothing());
    assert_eq!(scene.improve()["failure"], Value::Null);
}
