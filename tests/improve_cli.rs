//! `git memory improve` from outside: the plan, what a dry run leaves alone, what comes of a run, and the worker that
//! a commit starts.

mod common;

use std::time::{Duration, Instant};

use common::Sandbox;
use serde_json::Value;

fn fixture(name: &str) -> String {
    format!("{}/fixtures/sessions/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

/// A wiki that was begun before the sessions of the fixtures.
fn wiki() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = Some("2025-01-01T00:00:00Z".into());
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.now = Some("2026-04-01T00:00:00Z".into());
    sandbox
}

fn open(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.json(&["proposal", "list"])["proposals"].as_array().expect("a list").clone()
}

fn ids(proposals: &[Value]) -> Vec<&str> {
    proposals.iter().map(|proposal| proposal["id"].as_str().expect("an id")).collect()
}

#[test]
fn a_dry_run_plans_and_writes_nothing_at_all() {
    let sandbox = wiki();
    sandbox.run(&["capture", &fixture("made-twin-laptop"), &fixture("real-init"), &fixture("real-geese")]);
    // The cache is behind the ledger now: a dry run must not bring it up to date.
    let (state, files) = (sandbox.state(), sandbox.git_files());
    let run = sandbox.json(&["improve", "--all", "--dry-run"]);
    sandbox.run(&["improve", "--all", "--dry-run"]);
    assert_eq!(sandbox.state(), state);
    assert!(sandbox.git_files() == files, "no object, ref, index or cache file came, went or changed");
    assert_eq!(run["state"], "planned");
    assert_eq!(run["plan"]["candidates"]["in_scope"], 3);
    assert_eq!(run["plan"]["selected"].as_array().map(Vec::len), Some(2), "{run}");
    assert_eq!(run["plan"]["skipped"][0]["reason"], "no_human_turn", "{run}");
    // The live run looks at exactly what was planned.
    let live = sandbox.json(&["improve", "--all"]);
    assert_eq!(live["plan"]["selected"], run["plan"]["selected"]);
}

#[test]
fn without_words_the_newest_session_is_next_and_a_skip_does_not_block_the_queue() {
    let sandbox = wiki();
    // The newest of these has no human turn.
    sandbox.run(&["capture", &fixture("real-init"), &fixture("real-least-nested-path")]);
    let first = sandbox.json(&["improve"]);
    assert_eq!(first["calls"][0]["session"].as_str().map(|id| &id[..8]), Some("71c9afe9"), "{first}");
    assert_eq!(first["skipped"][0]["reason"], "no_human_turn");
    let second = sandbox.json(&["improve"]);
    assert_eq!(second["calls"].as_array().map(Vec::len), Some(0), "{second}");
    assert_eq!(second["skipped"].as_array().map(Vec::len), Some(0), "a skip is recorded: {second}");
}

#[test]
fn a_run_is_on_record_and_says_what_came_of_it() {
    let sandbox = wiki();
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    let run = sandbox.json(&["improve"]);
    let id = run["id"].as_str().expect("an id");
    let shown = sandbox.json(&["run", "show", id]);
    for key in ["id", "trigger", "plan", "calls", "proposals", "refused", "state", "version"] {
        assert_eq!(shown[key], run[key], "{key}");
    }
    assert_eq!(run["state"], "committed");
    let report = sandbox.run(&["run", "show", id]);
    let proposal = run["proposals"][0]["id"].as_str().expect("a proposal");
    assert!(report.contains(proposal) && report.contains("review: 1 session, 1 proposal"), "{report}");
    let tree = sandbox.tree("refs/memory/log");
    for name in ["run.json", "REPORT.md"] {
        assert!(
            tree.iter().any(|path| path.starts_with("runs/") && path.ends_with(&format!("{id}/{name}"))),
            "{tree:?}"
        );
    }
    let subjects = sandbox.git(&["log", "--format=%s", "refs/memory/log"]);
    assert!(subjects.contains(&format!("run {id} review: 1 session, 1 proposal")), "{subjects}");
    sandbox.fsck();
}

#[test]
fn the_same_lesson_in_another_session_is_a_sighting_and_no_second_proposal() {
    let sandbox = wiki();
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    sandbox.run(&["improve"]);
    let before = open(&sandbox);
    sandbox.run(&["capture", &fixture("made-twin-desktop")]);
    let run = sandbox.json(&["improve"]);
    assert_eq!(run["proposals"][0]["outcome"], "sighted", "{run}");
    assert_eq!(run["refused"].as_array().map(Vec::len), Some(0));
    let after = open(&sandbox);
    assert_eq!(ids(&after), ids(&before));
    assert_eq!(after[0]["sightings"], 1);
    // Rejected on merit, it stays rejected when it is met again.
    let id = ids(&after)[0].to_owned();
    sandbox.run(&["proposal", "reject", &id, "--reason", "everybody knows"]);
    let session = sandbox.json(&["session", "list"])["sessions"][0]["id"].as_str().expect("an id").to_owned();
    let again = sandbox.json(&["improve", "--session", &session]);
    assert_eq!(again["proposals"][0]["detail"], "rejected", "{again}");
    assert!(open(&sandbox).is_empty());
}

#[test]
fn a_lesson_that_the_wiki_has_lost_comes_back_for_a_person() {
    let sandbox = wiki();
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    sandbox.run(&["improve"]);
    let id = ids(&open(&sandbox))[0].to_owned();
    sandbox.run(&["proposal", "accept", &id]);
    let page = sandbox.tree("main").into_iter().find(|path| path.starts_with("gotchas/export")).expect("the page");
    let session = sandbox.json(&["session", "list"])["sessions"][0]["id"].as_str().expect("an id").to_owned();
    let known = sandbox.json(&["improve", "--session", &session]);
    assert_eq!(known["proposals"][0]["outcome"], "sighted", "the wiki has it: {known}");
    std::fs::remove_file(sandbox.path(&page)).expect("the page goes");
    sandbox.commit("Tidy up");
    let run = sandbox.json(&["improve", "--session", &session]);
    assert_eq!(run["proposals"][0]["outcome"], "reopened", "{run}");
    let back = &open(&sandbox)[0];
    assert_eq!(
        (back["id"].as_str(), back["deferred"].as_str()),
        (Some(id.as_str()), Some("the wiki had it and lost it"))
    );
    sandbox.run(&["proposal", "accept", &id]);
    assert!(sandbox.tree("main").contains(&page));
    sandbox.fsck();
}

#[test]
fn a_second_run_at_once_is_told_to_try_again_or_skips() {
    let sandbox = wiki();
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    let path = sandbox.path(".git/memory/worker.lock");
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
    let held = std::fs::File::options().create(true).append(true).open(&path).expect("the lock's file");
    held.lock().expect("the lock");
    assert_eq!(sandbox.json_error(75, &["improve"])["code"], "busy");
    let skipped = sandbox.json(&["improve", "--skip-if-locked"]);
    assert_eq!(skipped["skipped"], true);
    drop(held);
    sandbox.run(&["improve"]);
    assert_eq!(open(&sandbox).len(), 1);
}

#[test]
fn bad_input_is_a_clear_error() {
    let sandbox = wiki();
    assert_eq!(sandbox.json_error(1, &["improve", "--session", "nobody"])["code"], "unknown_session");
    assert_eq!(sandbox.json_error(1, &["improve", "--scope", "nowhere"])["code"], "scope_unresolved");
    assert_eq!(sandbox.json_error(1, &["run", "show", "01ARZ3"])["code"], "unknown_id");
    let (_, err) = sandbox.fails(129, &["improve", "--all", "--session", "x"]);
    assert!(err.contains("--session"), "{err}");
}

/// Waits until what the worker does has come about.
fn wait_for(what: &str, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_commit_sets_off_a_review_of_what_was_captured_and_of_nothing_older_than_the_wiki() {
    let mut sandbox = Sandbox::new();
    // The wiki begins between the two sessions.
    sandbox.now = Some("2026-03-02T00:00:00Z".into());
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.run(&["hooks", "install"]);
    sandbox.run(&["capture", &fixture("made-twin-laptop"), &fixture("hand-pnpm-rule")]);
    // Too young: its end is nine minutes ago.
    sandbox.now = Some("2026-03-03T09:18:00Z".into());
    let queue = sandbox.path(".git/memory/queue");
    let is_empty = || queue.read_dir().is_ok_and(|mut files| files.next().is_none());
    sandbox.write("a.txt", "1");
    sandbox.commit("Work");
    wait_for("the worker to look at the first commit", is_empty);
    assert!(open(&sandbox).is_empty());
    sandbox.now = Some("2026-03-03T10:00:00Z".into());
    sandbox.write("a.txt", "2");
    sandbox.commit("More work");
    wait_for("the worker's proposals", || !sandbox.refs("refs/memory/pending/").is_empty());
    wait_for("the worker to end", is_empty);
    let found = open(&sandbox);
    assert!(found.iter().all(|item| item["kind"] == "rule"), "only the younger session was reviewed: {found:?}");
    let runs = sandbox.json(&["run", "list"]);
    assert_eq!(runs["runs"][0]["trigger"], "post-commit");
    sandbox.write("../note.md", "# A note\n\nWhat a person noted by hand.\n");
    // Accepting fires the same hook, which knows our own commits and queues nothing.
    let note = sandbox.json(&[
        "proposal",
        "propose",
        "notes/a.md",
        "--title",
        "A note",
        "--rationale",
        "So",
        "--file",
        "../note.md",
    ]);
    sandbox.run(&["proposal", "accept", note["results"][0]["id"].as_str().expect("an id")]);
    std::thread::sleep(Duration::from_millis(300));
    assert!(is_empty(), "our own commit is no trigger");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    sandbox.fsck();
}

#[test]
fn with_approval_mode_all_a_gotcha_lands_under_the_bots_name_and_a_rule_waits() {
    let sandbox = wiki();
    sandbox.git(&["config", "memory.approval.mode", "all"]);
    sandbox.run(&["capture", &fixture("made-twin-laptop"), &fixture("hand-pnpm-rule")]);
    let run = sandbox.json(&["improve", "--all"]);
    let gotcha = run["proposals"].as_array().expect("proposals").iter().find(|made| made["outcome"] == "accepted");
    let gotcha = gotcha.unwrap_or_else(|| panic!("{run}"));
    let message =
        sandbox.git(&["log", "-1", "--format=%an <%ae>%n%cn <%ce>%n%B", gotcha["detail"].as_str().expect("a commit")]);
    let bot = "git-memory policy <policy@git-memory.invalid>";
    assert!(message.starts_with(&format!("{bot}\n{bot}\n")), "{message}");
    for line in ["Memory-Decision: auto-accepted", "Memory-Policy: all", "Memory-Model: builtin", "Memory-Lane: review"]
    {
        assert!(message.lines().any(|found| found == line), "{line} in {message}");
    }
    assert!(!message.contains("Reviewed-by"), "{message}");
    let left = open(&sandbox);
    assert!(!left.is_empty() && left.iter().all(|item| item["kind"] == "rule"), "{left:?}");
    assert_eq!(run["waiting"].as_array().map(Vec::len), Some(left.len()), "it says why each waits: {run}");
    // Under `gated`, which is the default, nothing lands without a judge.
    let gated = wiki();
    gated.run(&["capture", &fixture("made-twin-laptop")]);
    let run = gated.json(&["improve"]);
    assert_eq!(run["waiting"][0][1], "no judge has passed it", "{run}");
    assert_eq!(open(&gated).len(), 1);
}

#[test]
fn open_proposals_stand_as_files_where_that_is_asked_for() {
    let sandbox = wiki();
    sandbox.git(&["config", "memory.pending.materialize", "true"]);
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    sandbox.run(&["improve"]);
    let id = ids(&open(&sandbox))[0].to_owned();
    let file = format!("_pending/auto-improve/{id}.md");
    assert!(sandbox.read(&file).contains("OPENSSL_DIR"));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "git does not see it");
    sandbox.write("_pending/auto-improve/mine.md", "a person's own note");
    sandbox.run(&["proposal", "reject", &id, "--reason", "no"]);
    assert!(!sandbox.path(&file).exists());
    assert!(sandbox.path("_pending/auto-improve/mine.md").exists(), "what it did not write stays");
}

#[test]
fn what_was_kept_long_enough_goes() {
    let mut sandbox = wiki();
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    let id = sandbox.json(&["session", "list"])["sessions"][0]["id"].as_str().expect("an id").to_owned();
    let name = format!("refs/memory/sessions/{id}");
    sandbox.now = Some("2026-07-15T00:00:00Z".into());
    sandbox.run(&["improve"]);
    assert_eq!(sandbox.tree(&name), ["ids", "meta.json", "page.md"], "after 90 days the observations are gone");
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    assert_eq!(sandbox.tree(&name), ["ids", "meta.json", "page.md"], "and do not come back");
    sandbox.now = Some("2027-06-01T00:00:00Z".into());
    sandbox.run(&["improve"]);
    assert_eq!(sandbox.refs("refs/memory/sessions/"), "", "after a year the session is gone");
    sandbox.fsck();
}

#[test]
fn what_nobody_decided_in_time_expires_and_can_be_reopened() {
    let mut sandbox = wiki();
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    sandbox.run(&["improve"]);
    let id = ids(&open(&sandbox))[0].to_owned();
    sandbox.now = Some("2026-07-15T00:00:00Z".into());
    sandbox.run(&["improve"]);
    assert!(open(&sandbox).is_empty());
    assert_eq!(sandbox.json(&["proposal", "show", &id])["proposal"]["status"], "expired");
    assert_eq!(sandbox.refs("refs/memory/pending/"), "");
    sandbox.run(&["proposal", "reopen", &id]);
    assert_eq!(ids(&open(&sandbox)), [id.as_str()]);
}
