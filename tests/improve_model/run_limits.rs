//! The limits of a run hold over all of it, however many sessions it looks at.

use serde_json::{Value, json};

use crate::scene::{Scene, codes, gotcha, lesson, nothing, reply};

fn numbered(n: usize) -> Value {
    let body = format!("Thing number {n} tells that machine {n} breaks on port {n}.");
    gotcha(json!({"path": format!("gotchas/n{n}.md"), "title": format!("Number {n}"), "body_markdown": body}))
}

/// Two sessions, and what the model says to each.
fn two(first: &[Value], second: &[Value]) -> Scene {
    let scene = Scene::new();
    scene.capture(1, &lesson());
    scene.capture(2, &lesson());
    scene.replies_at(1, &reply(first));
    scene.replies_at(2, &reply(second));
    scene.replies(&nothing());
    scene
}

#[test]
fn a_second_session_brings_a_run_no_further_than_its_limit() {
    let scene = two(&[numbered(1), numbered(2)], &[numbered(2), numbered(3), numbered(4)]);
    scene.set("improve.max_proposals_per_run", "3");
    let run = scene.sandbox.json(&["improve", "--all"]);
    assert_eq!(codes(&run), ["max_proposals_exceeded"], "{run}");
    let paths: Vec<&str> =
        run["proposals"].as_array().expect("a list").iter().map(|made| made["path"].as_str().expect("text")).collect();
    // The second is found again in the other session: no proposal more.
    assert_eq!(paths, ["gotchas/n1.md", "gotchas/n2.md", "gotchas/n2.md", "gotchas/n3.md"]);
    assert_eq!(run["proposals"][2]["outcome"], "sighted");
    // What was left out by the limit alone can be asked for again by name.
    let last = run["calls"][1]["session"].as_str().expect("a session").to_owned();
    scene.replies(&reply(&[numbered(4)]));
    let again = scene.sandbox.json(&["improve", "--session", &last]);
    assert_eq!((again["proposals"][0]["path"].as_str(), scene.calls()), (Some("gotchas/n4.md"), 3), "{again}");
}

#[test]
fn a_run_that_has_its_proposals_asks_nobody_more_and_leaves_the_rest_for_the_next() {
    let scene = two(&[numbered(1), numbered(2)], &[numbered(3)]);
    scene.set("improve.max_proposals_per_run", "2");
    let run = scene.sandbox.json(&["improve", "--all"]);
    assert_eq!((run["state"].as_str(), scene.calls()), (Some("committed"), 1), "{run}");
    let second = &run["outcomes"][1];
    assert_eq!(second["outcome"], "let_go");
    assert!(second["reason"].as_str().is_some_and(|why| why.contains("improve.max_proposals_per_run")), "{second}");
    let next = scene.sandbox.json(&["improve", "--all"]);
    assert_eq!(next["calls"][0]["session"], second["subject"], "no attempt is used up");
    assert_eq!(next["proposals"][0]["path"], "gotchas/n3.md");
}

#[test]
fn the_edits_of_a_run_are_counted_over_its_sessions() {
    let edits = |path: &str, count: usize| {
        let edit = |n| json!({"op": "append", "anchor": "", "section_sha256": null, "content": format!("Line {n}.")});
        let edits: Vec<Value> = (0..count).map(edit).collect();
        gotcha(json!({"operation": "update", "path": path, "body_markdown": null, "edits": edits}))
    };
    let scene = two(&[edits("gotchas/a.md", 5)], &[edits("gotchas/b.md", 4), edits("gotchas/b.md", 3)]);
    scene.page("gotchas/a.md", "# Export tests and Redis\n\nThe export tests need Redis on a port.\n");
    scene.page("gotchas/b.md", "# Export job and Redis\n\nThe export job needs Redis on a port.\n");
    let run = scene.sandbox.json(&["improve", "--all"]);
    assert_eq!(codes(&run), ["run_edit_budget_exceeded"], "{run}");
    assert_eq!(run["proposals"].as_array().map(Vec::len), Some(2), "{run}");
}
