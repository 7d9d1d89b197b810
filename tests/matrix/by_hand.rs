//! Work that people do with plain git: landings, reverts and resets by hand are recognised.

use super::common::Sandbox;
use super::scene::*;

fn one() -> (Sandbox, String, String) {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let name = format!("refs/memory/pending/{id}");
    (sandbox, id, name)
}

/// The next decision completes the bookkeeping: the ledger says it, the pending ref is gone.
fn completed(sandbox: &Sandbox, id: &str) {
    assert_eq!(status(sandbox, id), "accepted");
    let again = sandbox.json(&["accept", id]);
    assert_eq!(again["results"][0]["outcome"], "already");
    assert_eq!(sandbox.refs("refs/memory/pending"), "");
    let log = sandbox.run(&["proposal", "log", id]);
    assert!(log.contains("accepted"), "{log}");
    sandbox.fsck();
}

/// It can be taken back and brought again like any other.
fn round_again(sandbox: &Sandbox, id: &str) {
    sandbox.run(&["revert", id, "--reason", "no"]);
    assert!(!sandbox.path("gotchas/z.md").exists());
    sandbox.run(&["reopen", id]);
    sandbox.run(&["accept", id]);
    assert!(sandbox.path("gotchas/z.md").is_file());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_merge_by_hand_is_an_accept() {
    let (sandbox, id, name) = one();
    sandbox.git(&["merge", "-q", "--no-ff", "--no-edit", &name]);
    completed(&sandbox, &id);
    round_again(&sandbox, &id);
}

#[test]
fn a_fast_forward_by_hand_is_an_accept() {
    let (sandbox, id, name) = one();
    sandbox.git(&["merge", "-q", "--ff-only", &name]);
    completed(&sandbox, &id);
    round_again(&sandbox, &id);
}

#[test]
fn a_squash_with_the_trailer_line_is_an_accept_and_one_without_is_none() {
    let (sandbox, id, name) = one();
    sandbox.git(&["merge", "-q", "--squash", &name]);
    sandbox.git(&[
        "commit",
        "-q",
        "-m",
        &format!("Take it\n\nBy hand (#12)\n\n* Memory\n\nMemory-Proposal: {id}\n\nMore text."),
    ]);
    completed(&sandbox, &id);
    round_again(&sandbox, &id);

    let (sandbox, id, name) = one();
    sandbox.git(&["merge", "-q", "--squash", &name]);
    sandbox.git(&["commit", "-q", "-m", "Take it"]);
    assert_eq!(status(&sandbox, &id), "pending");
    let value = sandbox.fails(1, &["accept", &id, "--json"]).0;
    assert!(value.contains("no_change"), "{value}");
}

#[test]
fn a_cherry_pick_by_hand_is_an_accept() {
    let (sandbox, id, name) = one();
    sandbox.commit("Move on");
    sandbox.git(&["cherry-pick", &name]);
    completed(&sandbox, &id);
    round_again(&sandbox, &id);
}

#[test]
fn a_merge_of_a_branch_that_holds_the_proposal_is_an_accept() {
    let (sandbox, id, name) = one();
    sandbox.git(&["checkout", "-q", "-b", "work", &name]);
    sandbox.write("code.rs", "fn main() {}\n");
    sandbox.commit("More work");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["merge", "-q", "--no-ff", "--no-edit", "work"]);
    completed(&sandbox, &id);
}

#[test]
fn an_octopus_of_proposals_accepts_all_of_them() {
    let (sandbox, first, one) = one();
    let second = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    let two = format!("refs/memory/pending/{second}");
    sandbox.git(&["merge", "-q", "--no-ff", "--no-edit", &one, &two]);
    assert_eq!(status(&sandbox, &first), "accepted");
    assert_eq!(status(&sandbox, &second), "accepted");
}

#[test]
fn a_revert_by_hand_is_a_revert() {
    let (sandbox, id, _) = one();
    sandbox.run(&["accept", &id]);
    let landed = sandbox.rev("main");
    sandbox.git(&["revert", "--no-edit", "-m", "1", &landed]);
    assert_eq!(status(&sandbox, &id), "reverted");
    sandbox.fails(1, &["accept", &id]);
    sandbox.run(&["reopen", &id]);
    sandbox.run(&["accept", &id]);
    assert!(sandbox.path("gotchas/z.md").is_file());
    // Taken back and brought back by hand: a revert of the revert is a landing again.
    let landed = sandbox.rev("main");
    sandbox.git(&["revert", "--no-edit", "-m", "1", &landed]);
    assert_eq!(status(&sandbox, &id), "reverted");
    sandbox.git(&["revert", "--no-edit", "HEAD"]);
    assert!(sandbox.path("gotchas/z.md").is_file());
    assert_eq!(status(&sandbox, &id), "accepted");
}

#[test]
fn a_landing_by_hand_and_its_revert_by_hand_before_we_looked_is_a_revert() {
    let (sandbox, id, name) = one();
    sandbox.git(&["merge", "-q", "--no-ff", "--no-edit", &name]);
    let landed = sandbox.rev("main");
    sandbox.git(&["revert", "--no-edit", "-m", "1", &landed]);
    assert_eq!(status(&sandbox, &id), "reverted");
    sandbox.run(&["reopen", &id]);
    sandbox.run(&["accept", &id]);
    assert!(sandbox.path("gotchas/z.md").is_file());
}

#[test]
fn a_branch_that_was_reset_after_an_accept_is_told_of_and_the_proposal_can_come_back() {
    let (sandbox, id, _) = one();
    let before = sandbox.rev("main");
    sandbox.run(&["accept", &id]);
    sandbox.git(&["reset", "-q", "--hard", &before]);
    let (text, list) = (sandbox.run(&["status"]), sandbox.run(&["list", "--all"]));
    assert!(text.contains(&id[..7]), "status names it: {text}");
    assert!(list.contains("accepted"), "{list}");
    let show = sandbox.run(&["show", &id]);
    assert!(show.contains("reopen"), "{show}");
    sandbox.run(&["reopen", &id]);
    assert_eq!(status(&sandbox, &id), "pending");
    sandbox.run(&["accept", &id]);
    assert!(sandbox.path("gotchas/z.md").is_file());
    assert_eq!(status(&sandbox, &id), "accepted");
    assert!(!sandbox.run(&["status"]).contains(&id[..7]));
}

#[test]
fn a_pending_branch_that_was_deleted_by_hand_is_told_of_and_can_come_back() {
    let (sandbox, id, name) = one();
    sandbox.git(&["update-ref", "-d", &name]);
    let list = sandbox.run(&["list"]);
    assert!(list.contains(&id[..7]), "an open proposal is not lost from the list: {list}");
    let (out, err) = sandbox.fails(1, &["accept", &id]);
    assert!(format!("{out}{err}").contains("branch"), "{out}{err}");
    let said = sandbox.run(&["status"]);
    assert!(said.contains(&id[..7]), "{said}");
    sandbox.run(&["reopen", &id]);
    sandbox.run(&["accept", &id]);
    assert!(sandbox.path("gotchas/z.md").is_file());
}

#[test]
fn a_pending_ref_that_no_record_knows_is_told_of() {
    let (sandbox, id, _) = one();
    sandbox.git(&["update-ref", "refs/memory/pending/0123456789abcdef", "main"]);
    sandbox.git(&["update-ref", "refs/memory/pending/not-an-id", "main"]);
    let list = sandbox.run(&["list"]);
    assert!(list.contains(&id[..7]), "{list}");
    let text = sandbox.run(&["status"]);
    assert!(text.contains("0123456789abcdef") || text.contains("0123456"), "{text}");
    sandbox.run(&["accept", &id]);
    assert!(!sandbox.refs("refs/memory/pending/0123456789abcdef").is_empty(), "what is not ours to know is kept");
}

#[test]
fn a_person_who_writes_the_trailer_of_another_lands_only_what_they_name() {
    // Anybody who may write the branch may land; the text of a page or of a title may not.
    let (sandbox, id, _) = one();
    let line = format!("# Title\n\nMemory-Proposal: {id}\n\nWords.\n");
    let other = propose(&sandbox, "notes/forged.md", &line);
    sandbox.run(&["accept", &other]);
    assert_eq!(status(&sandbox, &id), "pending");
}
