//! What only a person at a terminal may decide, on a pseudo-terminal.

use std::process::Command;

use rexpect::session::{PtySession, spawn_command};

use crate::common::{BIN, Sandbox};
use crate::{propose, status, wiki};

const PATIENCE: Option<u64> = Some(20_000);

/// The binary on a terminal of its own.
fn terminal(sandbox: &Sandbox, args: &[&str]) -> PtySession {
    let mut command: Command = sandbox.program(BIN);
    command.args(args);
    spawn_command(command, PATIENCE).expect("a terminal")
}

/// Runs without any terminal; the exit code and standard error.
fn without_terminal(sandbox: &Sandbox, args: &[&str]) -> (Option<i32>, String) {
    let output = sandbox.program("setsid").arg("-w").arg(BIN).args(args).output().expect("starts");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_rule_is_accepted_by_a_persons_yes_on_the_terminal_alone() {
    let mut sandbox = wiki();
    let id = propose(&sandbox, "_rules/z.md", "# Always use -z\n\nNames hold newlines.\n");
    let head = sandbox.rev("main");

    let (code, err) = without_terminal(&sandbox, &["accept", &id, "--yes"]);
    assert!(code == Some(1) && err.contains("person"), "{code:?} {err}");
    let (code, _) = without_terminal(&sandbox, &["accept", "--all", "--yes"]);
    assert_eq!(code, Some(1));

    sandbox.env.push(("CLAUDECODE".into(), "1".into()));
    let mut agent = terminal(&sandbox, &["accept", &id, "--yes"]);
    let said = agent.exp_eof().expect("it ends by itself");
    assert!(said.contains("CLAUDECODE"), "{said}");
    sandbox.env.pop();

    let mut declined = terminal(&sandbox, &["accept", &id, "--yes"]);
    declined.exp_string("Always use -z").expect("the change is shown");
    declined.exp_string("Type yes to agree").expect("the question");
    declined.send_line("y").expect("typed");
    declined.exp_eof().expect("it ends");
    assert_eq!(sandbox.rev("main"), head, "y is not yes");

    let mut agreed = terminal(&sandbox, &["accept", &id]);
    agreed.exp_string("Type yes to agree").expect("the question");
    agreed.send_line("yes").expect("typed");
    let said = agreed.exp_eof().expect("it ends");
    assert!(said.contains("landed"), "{said}");
    assert_eq!(status(&sandbox, &id), "accepted");

    let (code, err) = without_terminal(&sandbox, &["revert", &id, "--yes", "--reason", "no"]);
    assert!(code == Some(1) && err.contains("person"), "taking a rule back needs a person too: {code:?} {err}");
    let mut revert = terminal(&sandbox, &["revert", &id, "--reason", "no"]);
    revert.exp_string("Type yes to agree").expect("the question");
    revert.send_line("yes").expect("typed");
    revert.exp_eof().expect("it ends");
    assert_eq!(status(&sandbox, &id), "reverted");
}

#[test]
fn a_review_walks_the_queue_and_sums_up() {
    let mut sandbox = wiki();
    sandbox.now = Some("2026-03-01T12:00:00Z".into());
    let first = propose(&sandbox, "gotchas/a.md", "# Alpha\n\nA fact.\n");
    sandbox.now = Some("2026-03-01T12:00:01Z".into());
    let second = propose(&sandbox, "gotchas/b.md", "# Beta\n\nAnother fact.\n");
    sandbox.now = Some("2026-03-01T12:00:02Z".into());
    let third = propose(&sandbox, "gotchas/c.md", "# Gamma\n\nA third fact.\n");
    let mut review = terminal(&sandbox, &["review"]);
    review.exp_string("+# Alpha").expect("the change");
    review.exp_string("[a,r,e,s,d,q,?]").expect("the keys");
    review.send_line("?").expect("typed");
    review.exp_string("skip it").expect("the help");
    review.send_line("a").expect("typed");
    review.exp_string("+# Beta").expect("the next");
    review.exp_string("[a,r,e,s,d,q,?]").expect("the keys");
    review.send_line("r").expect("typed");
    review.exp_string("Why").expect("the question");
    review.send_line("Not so.").expect("typed");
    review.exp_string("+# Gamma").expect("the next");
    review.exp_string("[a,r,e,s,d,q,?]").expect("the keys");
    review.send_line("q").expect("typed");
    review.exp_string("accepted 1, rejected 1, left 1").expect("the sum");
    review.exp_eof().expect("it ends");
    let states = [&first, &second, &third].map(|id| status(&sandbox, id));
    assert_eq!(states, ["accepted", "rejected", "pending"]);
    assert_eq!(sandbox.json(&["show", &second])["proposal"]["reason"], "Not so.");
}

#[test]
fn a_review_without_a_terminal_says_what_to_do_instead() {
    let sandbox = wiki();
    assert_eq!(sandbox.json_error(1, &["review"])["code"], "needs_terminal");
}

#[test]
fn a_rejection_asks_for_its_reason_on_a_terminal() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/a.md", "# Alpha\n\nA fact.\n");
    let mut reject = terminal(&sandbox, &["reject", &id]);
    reject.exp_string("Why is it rejected").expect("the question");
    reject.send_line("Not so.").expect("typed");
    reject.exp_eof().expect("it ends");
    assert_eq!(sandbox.json(&["show", &id])["proposal"]["reason"], "Not so.");
}
