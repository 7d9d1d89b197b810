//! The process dies at each durable step: what it leaves is either before or after, and the next run completes it.

mod common;

use common::Sandbox;

/// A wiki with one proposal staged and, on request, nothing else.
fn wiki_with_a_proposal(checked_out: bool) -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    if checked_out {
        sandbox.run(&["init", "--no-hooks"]);
    } else {
        sandbox.run(&["init", "--no-hooks", "--branch", "wiki"]);
    }
    let id = propose(&sandbox, "gotchas/fake-clock.md", "Use a fake clock");
    (sandbox, id)
}

fn propose(sandbox: &Sandbox, path: &str, title: &str) -> String {
    sandbox.write("../text.md", format!("# {title}\n\nTests of {title} that read the wall clock are flaky.\n"));
    let made = sandbox.json(&[
        "proposal",
        "propose",
        path,
        "--title",
        title,
        "--rationale",
        "Seen twice",
        "--file",
        "../text.md",
    ]);
    made["results"][0]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

/// Runs the command with a fault point; it must die there.
fn dies(sandbox: &Sandbox, point: &str, args: &[&str]) {
    let mut command = sandbox.program(common::BIN);
    let output = command.args(args).env("GIT_MEMORY_FAULT", point).output().expect("the binary starts");
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    assert_eq!(signal, Some(9), "{args:?} passes {point}: {}", String::from_utf8_lossy(&output.stderr));
}

fn status_of(sandbox: &Sandbox, id: &str) -> String {
    let shown = sandbox.json(&["proposal", "show", id]);
    shown["proposal"]["status"].as_str().unwrap_or_else(|| panic!("{shown}")).to_owned()
}

/// How many commits of the branch carry the trailer line.
fn landings(sandbox: &Sandbox, branch: &str, line: &str) -> usize {
    sandbox.git(&["log", "--first-parent", "--format=%B", branch]).lines().filter(|found| *found == line).count()
}

/// Nothing broken, the work tree equals its branch, and every pending ref belongs to an open proposal.
fn is_sound(sandbox: &Sandbox) {
    sandbox.fsck();
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let open = open(sandbox);
    for line in sandbox.refs("refs/memory/pending/").lines() {
        let id = line.split(' ').next().and_then(|name| name.rsplit('/').next()).expect("an id");
        // A ref that a crash left behind a decision goes with the next decision.
        let closed = status_of(sandbox, id);
        assert!(
            open.iter().any(|known| known == id) || closed == "accepted" || closed == "reverted",
            "{line}: {closed}"
        );
    }
    for id in &open {
        assert!(sandbox.refs("refs/memory/pending/").contains(id.as_str()), "{id} is open and has its ref");
    }
}

fn accept_survives(point: &str, checked_out: bool) {
    let (sandbox, id) = wiki_with_a_proposal(checked_out);
    let branch = if checked_out { "main" } else { "wiki" };
    let before = sandbox.rev(branch);
    dies(&sandbox, point, &["proposal", "accept", &id]);
    is_sound(&sandbox);
    let moved = sandbox.rev(branch) != before;
    let status = status_of(&sandbox, &id);
    assert_eq!(status, if moved { "accepted" } else { "pending" }, "after {point}");
    sandbox.run(&["proposal", "accept", &id]);
    is_sound(&sandbox);
    assert_eq!(status_of(&sandbox, &id), "accepted");
    assert_eq!(landings(&sandbox, branch, &format!("Memory-Proposal: {id}")), 1, "it landed once");
    // The next decision completes the bookkeeping, whatever was left.
    let other = propose(&sandbox, "gotchas/other.md", "Something else");
    sandbox.run(&["proposal", "reject", &other, "--reason", "no"]);
    assert_eq!(sandbox.refs("refs/memory/pending/"), "");
    let log = sandbox.json(&["proposal", "log", &id]).to_string();
    assert_eq!(log.matches("\"accepted\"").count(), 1, "{log}");
}

#[test]
fn accept_on_a_checked_out_branch_survives_a_kill_at_every_point() {
    for point in [
        "objects.before",
        "objects.after",
        "accept.before-advance",
        "advance.before",
        "advance.after-merge",
        "accept.after-advance",
        "ledger.before",
        "refs.before",
        "refs.after",
        "ledger.after",
        "accept.after-ledger",
    ] {
        accept_survives(point, true);
    }
}

#[test]
fn accept_on_a_branch_that_is_not_checked_out_survives_a_kill_at_every_point() {
    for point in [
        "objects.before",
        "objects.after",
        "accept.before-advance",
        "ledger.before",
        "refs.before",
        "refs.after",
        "ledger.after",
        "accept.after-ledger",
    ] {
        accept_survives(point, false);
    }
}

#[test]
fn reject_survives_a_kill_at_every_point() {
    for point in
        ["reject.before-ledger", "objects.before", "ledger.before", "refs.before", "refs.after", "reject.after-ledger"]
    {
        let (sandbox, id) = wiki_with_a_proposal(true);
        dies(&sandbox, point, &["proposal", "reject", &id, "--reason", "no"]);
        is_sound(&sandbox);
        if status_of(&sandbox, &id) == "pending" {
            sandbox.run(&["proposal", "reject", &id, "--reason", "no"]);
        }
        assert_eq!(status_of(&sandbox, &id), "rejected", "after {point}");
        assert_eq!(sandbox.refs("refs/memory/pending/"), "");
        is_sound(&sandbox);
    }
}

#[test]
fn revert_survives_a_kill_at_every_point() {
    for point in [
        "objects.before",
        "revert.before-advance",
        "advance.before",
        "advance.after-merge",
        "revert.after-advance",
        "ledger.before",
        "refs.before",
        "refs.after",
        "revert.after-ledger",
    ] {
        let (sandbox, id) = wiki_with_a_proposal(true);
        sandbox.run(&["proposal", "accept", &id]);
        let landed = sandbox.rev("main");
        dies(&sandbox, point, &["proposal", "revert", &id, "--reason", "wrong"]);
        is_sound(&sandbox);
        let moved = sandbox.rev("main") != landed;
        assert_eq!(status_of(&sandbox, &id), if moved { "reverted" } else { "accepted" }, "after {point}");
        if !moved {
            sandbox.run(&["proposal", "revert", &id, "--reason", "wrong"]);
        }
        assert_eq!(status_of(&sandbox, &id), "reverted");
        assert_eq!(landings(&sandbox, "main", &format!("Memory-Reverts: {id}")), 1, "it was taken back once");
        assert!(!sandbox.tree("main").contains(&"gotchas/fake-clock.md".to_owned()));
        // And it can come back, whatever the crash left.
        sandbox.run(&["proposal", "reopen", &id]);
        sandbox.run(&["proposal", "accept", &id]);
        assert!(sandbox.tree("main").contains(&"gotchas/fake-clock.md".to_owned()), "after {point}");
        is_sound(&sandbox);
    }
}

/// A wiki with one captured session that nobody has looked at.
fn wiki_with_a_session() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    sandbox.run(&["capture", &fixtures.join("made-twin-laptop.jsonl").display().to_string()]);
    sandbox
}

/// The ids of the open proposals.
fn open(sandbox: &Sandbox) -> Vec<String> {
    let list = sandbox.json(&["proposal", "list"]);
    let items = list["proposals"].as_array().expect("a list");
    items.iter().map(|item| item["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn improve_survives_a_kill_at_every_point() {
    let undisturbed = wiki_with_a_session();
    undisturbed.run(&["improve"]);
    let expected = open(&undisturbed);
    assert!(!expected.is_empty(), "the session teaches something");
    for point in [
        "improve.before-claim",
        "ledger.before",
        "refs.after",
        "improve.after-claim",
        "improve.before-stage",
        "stage.before-ledger",
        "stage.after-ledger",
        "improve.after-stage",
        "improve.before-record",
        "improve.after-record",
    ] {
        let mut sandbox = wiki_with_a_session();
        dies(&sandbox, point, &["improve"]);
        is_sound(&sandbox);
        sandbox.env.push(("GIT_MEMORY_JOURNAL_STALE".into(), "1".into()));
        let run = sandbox.json(&["improve"]);
        is_sound(&sandbox);
        assert_eq!(open(&sandbox), expected, "after {point}: {run}");
        // Each run that claimed something is on record, with a final state.
        for run in sandbox.json(&["run", "list"])["runs"].as_array().expect("runs") {
            let state = run["state"].as_str().expect("a state");
            assert!(["staged", "committed", "abandoned"].contains(&state), "after {point}: {run}");
        }
        // Unchanged input: nothing more comes of it.
        let again = sandbox.json(&["improve", "--all"]);
        assert_eq!(again["calls"].as_array().map(Vec::len), Some(0), "after {point}: {again}");
        assert!(!sandbox.path(".git/memory/journal").read_dir().is_ok_and(|mut left| left.next().is_some()));
    }
}
