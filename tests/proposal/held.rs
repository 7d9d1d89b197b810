//! What was held back behind another proposal: it is staged when that one is decided, and takes nothing back.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::{append, status, wiki};

const PAGE: &str = "# Names\n\n## Cause\n\nNobody looks.\n\n## Fix\n\nRun it again.\n";
const PATH: &str = "notes/names.md";

/// A wiki with one page, and a session that the next run will look at.
fn scene() -> Sandbox {
    let sandbox = wiki();
    sandbox.write(PATH, PAGE);
    sandbox.commit("Add names");
    let session = format!("{}/fixtures/sessions/made-twin-laptop.jsonl", env!("CARGO_MANIFEST_DIR"));
    sandbox.run(&["capture", &session]);
    sandbox
}

/// Proposes both at once: the first is staged, the second is held behind it. Returns the ids.
fn hold(sandbox: &Sandbox, first: &Value, second: &Value) -> (String, String) {
    sandbox.write("../batch.jsonl", format!("{first}\n{second}\n"));
    let (out, _) = sandbox.fails(1, &["propose", "--batch", "../batch.jsonl", "--json"]);
    let made: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    let outcome = |n: usize| made["results"][n]["outcome"].as_str().unwrap_or_default().to_owned();
    assert_eq!([outcome(0), outcome(1)], ["staged", "held"], "{made}");
    let id = |n: usize| made["results"][n]["id"].as_str().expect("an id").to_owned();
    (id(0), id(1))
}

/// The next run, which stages what is free by now.
fn release(sandbox: &Sandbox, id: &str) {
    let run = sandbox.json(&["improve", "--all"]);
    let made = run["proposals"].as_array().expect("a list").iter().find(|made| made["id"] == id);
    assert_eq!(made.map(|made| made["outcome"].clone()), Some(json!("staged")), "{run}");
    sandbox.fsck();
}

/// The lines that a proposal takes away and adds.
fn diff(sandbox: &Sandbox, id: &str) -> (Vec<String>, Vec<String>) {
    let text = sandbox.run(&["proposal", "diff", id]);
    let lines = |mark: char| {
        let body = text.lines().skip_while(|line| !line.starts_with("@@"));
        body.filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect()
    };
    (lines('-'), lines('+'))
}

fn to_fix(text: &str) -> Value {
    append(PATH, "Names", "## Fix", text)
}

#[test]
fn what_was_accepted_meanwhile_stays_when_a_held_edit_of_the_same_section_is_released() {
    let sandbox = scene();
    let (first, second) = hold(&sandbox, &to_fix("First addition."), &to_fix("Second thing."));
    sandbox.run(&["accept", &first, "--yes"]);
    release(&sandbox, &second);
    assert_eq!(diff(&sandbox, &second), (vec![], vec![String::new(), "Second thing.".into()]));
    sandbox.run(&["accept", &second, "--yes"]);
    assert_eq!(
        sandbox.git(&["show", &format!("main:{PATH}")]).trim(),
        format!("{PAGE}\nFirst addition.\n\nSecond thing.")
    );
}

#[test]
fn what_a_person_wrote_meanwhile_stays_when_a_held_edit_is_released() {
    let sandbox = scene();
    let (first, second) = hold(&sandbox, &to_fix("First addition."), &to_fix("Second thing."));
    sandbox.run(&["reject", &first, "--reason", "no"]);
    let corrected = PAGE.replace("Nobody looks.", "A person put it right.");
    sandbox.write(PATH, &corrected);
    sandbox.commit("Put it right");
    release(&sandbox, &second);
    assert_eq!(diff(&sandbox, &second), (vec![], vec![String::new(), "Second thing.".into()]));
    sandbox.run(&["accept", &second, "--yes"]);
    assert_eq!(sandbox.git(&["show", &format!("main:{PATH}")]).trim(), format!("{corrected}\nSecond thing."));
}

#[test]
fn a_held_edit_of_a_section_that_a_person_rewrote_is_in_conflict_and_changes_nothing() {
    let sandbox = scene();
    let hash = git_memory::wiki::section::hash(b"## Fix\n\nRun it again.");
    let edit = json!({"op": "replace_section", "anchor": "## Fix", "section_sha256": hash, "content": "Stop."});
    let rewrite =
        json!({ "path": PATH, "title": "Names", "rationale": "It came up.", "operation": "update", "edits": [edit] });
    let (first, second) = hold(&sandbox, &to_fix("First addition."), &rewrite);
    sandbox.run(&["reject", &first, "--reason", "no"]);
    let corrected = PAGE.replace("Run it again.", "A person put it right.");
    sandbox.write(PATH, &corrected);
    let tip = sandbox.commit("Put it right");
    release(&sandbox, &second);
    assert_eq!(status(&sandbox, &second), "conflicted");
    sandbox.fails(1, &["accept", &second, "--yes"]);
    assert_eq!(sandbox.rev("main"), tip.trim());
}

#[test]
fn a_held_new_page_that_exists_by_now_is_in_conflict_and_does_not_replace_it() {
    let sandbox = scene();
    let page = |text: &str| {
        json!({ "path": "notes/new.md", "title": "New", "rationale": "It came up.", "operation": "create",
                "body_markdown": format!("# New\n\n{text}\n") })
    };
    let (first, second) = hold(&sandbox, &page("The first to say it."), &page("Quite another thing."));
    sandbox.run(&["accept", &first, "--yes"]);
    release(&sandbox, &second);
    assert_eq!(status(&sandbox, &second), "conflicted");
    sandbox.fails(1, &["accept", &second, "--yes"]);
    let landed = sandbox.git(&["show", "main:notes/new.md"]);
    assert!(landed.contains("The first to say it.") && !landed.contains("another"), "{landed}");
}

#[test]
fn a_held_edit_that_the_page_says_by_now_lands_nothing() {
    let sandbox = scene();
    let (first, second) = hold(&sandbox, &to_fix("First addition."), &to_fix("Second thing."));
    sandbox.run(&["reject", &first, "--reason", "no"]);
    sandbox.write(PATH, format!("{PAGE}\nSecond thing.\n"));
    let tip = sandbox.commit("Say it by hand");
    release(&sandbox, &second);
    let (_, said) = sandbox.fails(1, &["accept", &second, "--yes"]);
    assert!(said.contains("already says"), "{said}");
    assert_eq!(sandbox.rev("main"), tip.trim());
}

#[test]
fn reopening_an_edit_keeps_what_came_to_its_section_since() {
    let sandbox = scene();
    let ids = crate::batch(&sandbox, &[to_fix("Second thing.")]);
    sandbox.run(&["reject", &ids[0], "--reason", "no"]);
    sandbox.write(PATH, format!("{PAGE}\nFirst addition.\n"));
    sandbox.commit("Add by hand");
    sandbox.run(&["proposal", "reopen", &ids[0]]);
    assert_eq!(diff(&sandbox, &ids[0]), (vec![], vec![String::new(), "Second thing.".into()]));
}

#[test]
fn a_run_that_has_nothing_else_to_do_releases_what_is_held_and_a_dry_run_says_so() {
    let sandbox = scene();
    sandbox.run(&["improve", "--all"]);
    let (first, second) = hold(&sandbox, &to_fix("First addition."), &to_fix("Second thing."));
    assert_eq!(sandbox.json(&["improve", "--dry-run", "--all"])["plan"].get("released"), None, "it is still behind");
    sandbox.run(&["accept", &first, "--yes"]);
    let state = sandbox.state();
    let plan = sandbox.json(&["improve", "--dry-run", "--all"])["plan"].clone();
    assert_eq!((&plan["selected"], &plan["released"]), (&json!([]), &json!([second])));
    let words = sandbox.run(&["improve", "--dry-run", "--all"]);
    assert!(words.contains("1 proposal no longer held back would be staged"), "{words}");
    assert_eq!(sandbox.state(), state, "a dry run writes nothing");
    release(&sandbox, &second);
    let again = sandbox.json(&["improve", "--all"]);
    assert_eq!((&again["plan"].get("released"), &again["proposals"]), (&None, &json!([])), "once is enough: {again}");
}
