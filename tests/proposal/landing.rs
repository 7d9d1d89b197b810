//! What lands and what does not: accept, revert, reopen, and what stands in the way.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::{PAGE, Z, append, batch, landed, propose, proposing, status, wiki, with_page};

#[test]
fn accept_lands_on_the_branch_that_is_checked_out_and_moves_its_work_tree() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", "# Use -z\n\nNames hold newlines.\n");
    let before = sandbox.rev("main");
    let reviewed = sandbox.git(&["show", &format!("refs/memory/pending/{id}:gotchas/z.md")]);
    let out = sandbox.run(&["accept", &id[..7]]);
    assert!(out.contains("landed"), "{out}");
    landed(&sandbox, "main", &id, "gotchas/z.md", &before);
    assert_eq!(sandbox.read("gotchas/z.md").trim_end(), reviewed, "what was reviewed is what landed");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let again = sandbox.json(&["proposal", "accept", &id]);
    assert_eq!(again["results"][0]["outcome"], "already");
}

#[test]
fn accept_lands_on_a_branch_that_nobody_has_checked_out() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--branch", "wiki"]);
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let (before, head, state) = (sandbox.rev("wiki"), sandbox.rev("HEAD"), sandbox.state());
    sandbox.run(&["accept", &id]);
    landed(&sandbox, "wiki", &id, "gotchas/z.md", &before);
    assert_eq!(sandbox.rev("HEAD"), head);
    assert_eq!((sandbox.state().index, sandbox.state().files), (state.index, state.files));
}

#[test]
fn accept_lands_in_a_bare_repository() {
    let mut sandbox = Sandbox::new();
    sandbox.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    sandbox.dir = sandbox.root().join("bare.git");
    sandbox.run(&["init", "--no-hooks", "--branch", "main"]);
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let before = sandbox.rev("main");
    sandbox.run(&["accept", &id]);
    landed(&sandbox, "main", &id, "gotchas/z.md", &before);
    sandbox.run(&["revert", &id, "--reason", "no"]);
    assert!(!sandbox.tree("main").contains(&"gotchas/z.md".to_owned()));
    sandbox.fsck();
}

#[test]
fn accept_moves_the_linked_work_tree_that_holds_the_branch() {
    let mut sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--branch", "wiki"]);
    sandbox.git(&["worktree", "add", "-q", "../linked", "wiki"]);
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let before = sandbox.rev("wiki");
    sandbox.run(&["accept", &id]);
    landed(&sandbox, "wiki", &id, "gotchas/z.md", &before);
    sandbox.dir = sandbox.root().join("linked");
    assert!(sandbox.read("gotchas/z.md").contains("# Use -z"));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    // And from within it, with the variables that a hook would have.
    let second = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    sandbox.env.push(("GIT_PREFIX".into(), "gotchas/".into()));
    sandbox.run(&["accept", &second]);
    assert!(sandbox.path("gotchas/y.md").is_file());
}

#[test]
fn unrelated_dirty_and_staged_files_survive() {
    let sandbox = with_page();
    let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    sandbox.write("README.md", "# Dirty\n");
    sandbox.write("untracked.txt", "mine\n");
    sandbox.git(&["update-ref", "ORIG_HEAD", "HEAD"]);
    let others = |text: String| -> Vec<String> {
        text.lines().filter(|line| !line.ends_with("notes/names.md")).map(str::to_owned).collect()
    };
    let before = sandbox.state();
    sandbox.run(&["accept", &id]);
    let after = sandbox.state();
    assert_eq!(others(after.index), others(before.index));
    assert_eq!(others(after.status), others(before.status));
    assert_eq!(after.heads, before.heads);
    assert!(sandbox.read("notes/names.md").contains("Better text."));
    assert_eq!(sandbox.read("README.md"), "# Dirty\n");
    sandbox.fsck();
}

#[test]
fn what_is_in_the_way_is_named_and_nothing_changes() {
    let sandbox = with_page();
    let update = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    let create = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.write("notes/names.md", "mine\n");
    sandbox.write("gotchas/z.md", "mine\n");
    let unchanged = |code: i32, id: &str, word: &str| {
        let before = sandbox.state();
        let error = sandbox.json_error(code, &["accept", id]);
        assert!(error["message"].as_str().is_some_and(|text| text.contains(word)), "{word}: {error}");
        assert_eq!(sandbox.state(), before);
        assert_eq!(status(&sandbox, id), "pending");
    };
    unchanged(1, &update, "notes/names.md");
    unchanged(1, &create, "gotchas/z.md");
    sandbox.write(".git/info/exclude", "gotchas/z.md\n");
    unchanged(1, &create, "gotchas/z.md");
    std::fs::remove_file(sandbox.path("gotchas/z.md")).expect("removed");
    sandbox.git(&["checkout", "-q", "notes/names.md"]);

    sandbox.write(".git/index.lock", "");
    unchanged(75, &create, "index.lock");
    assert!(sandbox.path(".git/index.lock").is_file(), "a lock is never removed");
    std::fs::remove_file(sandbox.path(".git/index.lock")).expect("removed");

    let head = sandbox.rev("HEAD");
    sandbox.write(".git/MERGE_HEAD", format!("{head}\n"));
    unchanged(75, &create, "merge");
    std::fs::remove_file(sandbox.path(".git/MERGE_HEAD")).expect("removed");

    sandbox.git(&["worktree", "add", "-q", "--force", "../second", "main"]);
    unchanged(75, &create, "second");
    sandbox.git(&["worktree", "remove", "--force", "../second"]);
    sandbox.run(&["accept", &update, &create]);
}

#[test]
fn the_users_merge_settings_change_nothing() {
    let sandbox = with_page();
    let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    sandbox.write("other.txt", "more\n");
    sandbox.write(".gitattributes", "*.md merge=evil diff=evil\n");
    sandbox.commit("Move on");
    for (key, value) in [
        ("merge.ff", "false"),
        ("merge.autoStash", "true"),
        ("merge.verifySignatures", "true"),
        ("branch.main.mergeOptions", "--squash --no-commit"),
        ("merge.evil.driver", "false"),
        ("merge.renames", "true"),
        ("core.editor", "false"),
        ("commit.gpgSign", "false"),
        ("commit.template", "/nowhere"),
    ] {
        sandbox.git(&["config", key, value]);
    }
    let config = sandbox.state().config;
    sandbox.run(&["accept", &id]);
    assert!(sandbox.read("notes/names.md").contains("Better text."));
    assert_eq!(sandbox.state().config, config);
    assert_eq!(sandbox.git(&["rev-list", "--parents", "-1", "HEAD"]).split(' ').count(), 3);
}

#[test]
fn two_proposals_for_different_sections_of_one_page_both_land() {
    let sandbox = with_page();
    let ids = batch(
        &sandbox,
        &[
            append("notes/names.md", "One more", "## One", "Added to one.\n"),
            append("notes/names.md", "Two more", "## Two", "Added to two.\n"),
        ],
    );
    sandbox.run(&["accept", &ids[0]]);
    sandbox.run(&["accept", &ids[1]]);
    let page = sandbox.read("notes/names.md");
    assert!(page.contains("Added to one.") && page.contains("Added to two."), "{page}");
    sandbox.fsck();
}

#[test]
fn a_second_proposal_for_the_same_target_is_held_back() {
    let sandbox = with_page();
    let first = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    let made = proposing(&sandbox, "notes/names.md", &PAGE.replace("Second", "Another"));
    let out = &made["results"][0];
    assert_eq!((&out["outcome"], &out["behind"]), (&json!("held"), &json!(first)), "{out}");
    assert_eq!(out["target"], "notes/names.md");
    let mut command = sandbox.memory(&["propose", "notes/names.md", "--rationale", "x"]);
    let output = command.write_stdin(PAGE.replace("Second", "A third")).output().expect("starts");
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(err.contains(&first) && err.contains("notes/names.md"), "{err}");
}

#[test]
fn a_real_conflict_is_recorded_and_changes_nothing_else() {
    let sandbox = with_page();
    let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First text", "Their text"));
    sandbox.write("notes/names.md", PAGE.replace("First text", "My text"));
    let head = sandbox.commit("Change the same line");
    let (_, err) = sandbox.fails(1, &["accept", &id]);
    assert!(err.contains("notes/names.md") && err.contains("conflict"), "{err}");
    assert_eq!(sandbox.rev("main"), head);
    assert_eq!(status(&sandbox, &id), "conflicted");
    let list = sandbox.run(&["list"]);
    assert!(list.contains("conflicted"), "{list}");
    sandbox.fails(1, &["rebase", &id]);
    let other = propose(&sandbox, "gotchas/z.md", Z);
    let value: Value = {
        let (out, _) = sandbox.fails(1, &["accept", "--all", "--json"]);
        serde_json::from_str(&out).expect("json")
    };
    assert_eq!(value["landed"], 1, "the others land: {value}");
    assert_eq!(status(&sandbox, &other), "accepted");
}

#[test]
fn a_rewritten_branch_is_mended_by_rebase() {
    let sandbox = with_page();
    let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    sandbox.git(&["commit", "-q", "--amend", "-m", "Say it otherwise"]);
    let value: Value = serde_json::from_str(&sandbox.fails(1, &["accept", &id, "--json"]).0).expect("json");
    assert_eq!(value["results"][0]["code"], "stale_base");
    assert_eq!(status(&sandbox, &id), "conflicted");
    sandbox.run(&["rebase", &id]);
    assert_eq!(status(&sandbox, &id), "pending");
    sandbox.run(&["accept", &id]);
    assert!(sandbox.read("notes/names.md").contains("Better text."));
}

#[test]
fn sections_added_at_one_place_are_merged_after_one_yes() {
    let sandbox = with_page();
    let id = propose(&sandbox, "notes/names.md", &format!("{PAGE}\n## Theirs\n\nTheir section.\n"));
    sandbox.write("notes/names.md", format!("{PAGE}\n## Mine\n\nMy section.\n"));
    sandbox.commit("Add a section");
    let (_, err) = sandbox.fails(1, &["accept", &id]);
    assert!(err.contains("merged by section"), "{err}");
    sandbox.run(&["accept", &id, "--yes"]);
    let page = sandbox.read("notes/names.md");
    assert!(page.contains("My section.") && page.contains("Their section.") && !page.contains("<<<<"), "{page}");
}

#[test]
fn a_reverted_proposal_comes_back_with_a_fresh_commit() {
    let sandbox = with_page();
    let id = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    let before = sandbox.read("notes/names.md");
    let first = sandbox.rev(&format!("refs/memory/pending/{id}"));
    sandbox.run(&["accept", &id]);
    let landed = sandbox.rev("main");
    sandbox.run(&["revert", &id, "--reason", "It is wrong."]);
    assert_eq!(sandbox.read("notes/names.md"), before, "the old bytes are back");
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.contains(&format!("This reverts commit {landed}")) && message.contains("It is wrong."),
        "{message}"
    );
    assert!(message.contains(&format!("Memory-Reverts: {id}")), "{message}");
    assert_eq!(status(&sandbox, &id), "reverted");
    sandbox.fails(1, &["accept", &id]);

    sandbox.run(&["reopen", &id]);
    assert_ne!(sandbox.rev(&format!("refs/memory/pending/{id}")), first);
    sandbox.run(&["accept", &id]);
    assert!(sandbox.read("notes/names.md").contains("Better text."), "accepting it again is no silent nothing");
    assert_eq!(status(&sandbox, &id), "accepted");
    let log = sandbox.json(&["proposal", "log", &id]);
    let kinds: Vec<&str> =
        log["entries"].as_array().expect("entries").iter().filter_map(|e| e["what"].as_str()).collect();
    let events: Vec<&&str> = kinds.iter().filter(|kind| **kind != "commit").collect();
    assert_eq!(events, [&"accepted", &"reopened", &"reverted", &"accepted", &"staged"]);
    sandbox.fsck();
}

#[test]
fn a_revert_that_later_changes_forbid_becomes_a_proposal() {
    let sandbox = with_page();
    let first = propose(&sandbox, "notes/names.md", &PAGE.replace("First text", "Better text"));
    sandbox.run(&["accept", &first]);
    let now = sandbox.read("notes/names.md");
    let second = propose(&sandbox, "notes/names.md", &now.replace("Better text", "Best text"));
    sandbox.run(&["accept", &second]);
    let head = sandbox.rev("main");
    let (out, _) = sandbox.fails(1, &["revert", &first, "--reason", "no", "--json"]);
    let value: Value = serde_json::from_str(&out).expect("json");
    assert_eq!(value["proposed"][0]["later"], json!([second]), "{value}");
    let proposal = value["proposed"][0]["proposal"].as_str().expect("an id").to_owned();
    assert_eq!(sandbox.rev("main"), head);
    assert_eq!(status(&sandbox, &proposal), "pending");
    sandbox.run(&["accept", &proposal]);
    assert!(sandbox.read("notes/names.md").contains("First text."));
}

/// Puts a commit onto a pending branch, as a push would.
fn push_onto(sandbox: &Sandbox, id: &str, path: &str, text: &str) {
    sandbox.git(&["checkout", "-q", "--detach", &format!("refs/memory/pending/{id}")]);
    sandbox.write(path, text);
    let commit = sandbox.commit("Pushed");
    sandbox.git(&["update-ref", &format!("refs/memory/pending/{id}"), &commit]);
    sandbox.git(&["checkout", "-q", "main"]);
}

#[test]
fn a_tip_with_foreign_paths_never_lands_them() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    push_onto(&sandbox, &id, "evil.sh", "rm -rf /\n");
    let head = sandbox.rev("main");
    let (_, err) = sandbox.fails(1, &["accept", &id]);
    assert!(err.contains("evil.sh"), "{err}");
    sandbox.fails(1, &["rebase", &id]);
    assert_eq!(sandbox.rev("main"), head);
}

#[test]
fn a_tip_that_people_changed_is_checked_again() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLQ");
    push_onto(&sandbox, &id, "gotchas/z.md", &format!("# Use -z\n\nThe key is {key}.\n"));
    let (_, err) = sandbox.fails(1, &["accept", &id]);
    assert!(err.contains("secret"), "{err}");
    push_onto(&sandbox, &id, "gotchas/z.md", "# Use -z\n\nA person's words.\n");
    let (_, err) = sandbox.fails(1, &["accept", &id]);
    assert!(err.contains("secret") && err.contains("rebase"), "it would stand in the wiki's history: {err}");
    sandbox.run(&["rebase", &id]);
    sandbox.run(&["accept", &id]);
    assert!(sandbox.read("gotchas/z.md").contains("A person's words."));
    assert!(!sandbox.git(&["log", "-p", "main"]).contains(&key));
}

#[test]
fn an_unrelated_base_never_lands() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let tree = sandbox.rev(&format!("refs/memory/pending/{id}^{{tree}}"));
    let orphan = sandbox.git(&["commit-tree", "-m", "Orphan", &tree]);
    sandbox.git(&["update-ref", &format!("refs/memory/pending/{id}"), &orphan]);
    let head = sandbox.rev("main");
    let (_, err) = sandbox.fails(1, &["accept", &id]);
    assert!(err.contains("recorded base"), "{err}");
    assert_eq!(sandbox.rev("main"), head);
}

#[test]
fn accept_all_of_thirty_is_one_advance() {
    let sandbox = wiki();
    let page = |n: usize| {
        json!({ "path": format!("notes/page-{n}.md"), "title": format!("Page number {n}"), "rationale": "r",
                "body_markdown": format!("# Page number {n}\n\nThe fact {n}.\n") })
    };
    batch(&sandbox, &(0..30).map(page).collect::<Vec<_>>());
    let entries = |sandbox: &Sandbox| sandbox.git(&["reflog", "show", "main"]).lines().count();
    let before = entries(&sandbox);
    let value = sandbox.json(&["accept", "--all"]);
    assert_eq!(value["landed"], 30);
    assert_eq!(entries(&sandbox), before + 1);
    assert_eq!(sandbox.git(&["rev-list", "--count", "--merges", "main"]), "30");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.refs("refs/memory/pending"), "");
    sandbox.fsck();
    assert_eq!(sandbox.json(&["accept", "--all"])["landed"], 0);
}

#[test]
fn a_linear_history_takes_ordinary_commits() {
    let sandbox = wiki();
    sandbox.git(&["config", "memory.accept.style", "squash"]);
    let id = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.run(&["accept", &id]);
    assert_eq!(sandbox.git(&["rev-list", "--count", "--merges", "main"]), "0");
    assert_eq!(status(&sandbox, &id), "accepted");
    sandbox.run(&["revert", &id, "--reason", "no"]);
    assert!(!sandbox.path("gotchas/z.md").exists());
    assert_eq!(status(&sandbox, &id), "reverted");
}

#[test]
fn what_lands_is_signed_where_git_signs() {
    let sandbox = wiki();
    let key = sandbox.root().join("key");
    let made = sandbox.program("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status();
    assert!(made.is_ok_and(|status| status.success()), "ssh-keygen makes a key");
    let public = std::fs::read_to_string(key.with_extension("pub")).expect("the public key");
    let signers = sandbox.root().join("signers");
    std::fs::write(&signers, format!("ada@example.com {public}")).expect("signers");
    for (name, value) in [
        ("gpg.format", "ssh"),
        ("commit.gpgSign", "true"),
        ("user.signingKey", &key.with_extension("pub").display().to_string()),
        ("gpg.ssh.allowedSignersFile", &signers.display().to_string()),
    ] {
        sandbox.git(&["config", name, value]);
    }
    let id = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.git(&["verify-commit", &format!("refs/memory/pending/{id}")]);
    sandbox.run(&["accept", &id]);
    sandbox.git(&["verify-commit", "main"]);
    sandbox.run(&["revert", &id, "--reason", "no"]);
    sandbox.git(&["verify-commit", "main"]);
}
