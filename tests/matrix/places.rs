//! Every kind of place that a wiki can be in, and be worked on from.

use super::common::Sandbox;
use super::scene::*;

/// Another folder of the same sandbox to run in.
fn at(sandbox: &Sandbox, folder: &str) -> Sandbox {
    let mut other = Sandbox::bare_folder();
    other.dir = sandbox.root().join(folder);
    other
}

fn clean(sandbox: &Sandbox) {
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_main_work_tree() {
    let sandbox = wiki();
    the_loop(&sandbox, &sandbox, "main", "");
    clean(&sandbox);
    assert_eq!(sandbox.read("gotchas/z.md"), sandbox.git(&["show", "main:gotchas/z.md"]) + "\n");
}

#[test]
fn a_linked_work_tree_that_does_not_hold_the_branch() {
    let sandbox = wiki();
    sandbox.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = at(&sandbox, "side");
    let before = side.state();
    the_loop(&side, &sandbox, "main", "");
    clean(&sandbox);
    clean(&side);
    assert!(sandbox.path("gotchas/z.md").is_file() && !side.path("gotchas/z.md").exists());
    assert_eq!(side.state().files, before.files);
    assert_eq!(side.git(&["symbolic-ref", "HEAD"]), "refs/heads/side");
}

#[test]
fn a_linked_work_tree_that_holds_the_branch() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--branch", "wiki"]);
    sandbox.git(&["worktree", "add", "-q", "../side", "wiki"]);
    let side = at(&sandbox, "side");
    the_loop(&side, &sandbox, "wiki", "");
    clean(&sandbox);
    clean(&side);
    assert!(side.path("gotchas/z.md").is_file() && !sandbox.path("gotchas").exists());
}

#[test]
fn a_bare_repository() {
    let sandbox = Sandbox::bare_folder();
    sandbox.git(&["init", "-q", "--bare"]);
    sandbox.run(&["init", "--no-hooks"]);
    the_loop(&sandbox, &sandbox, "main", "");
}

#[test]
fn a_bare_repository_whose_branch_a_linked_work_tree_holds() {
    let sandbox = Sandbox::bare_folder();
    sandbox.git(&["init", "-q", "--bare"]);
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.git(&["worktree", "add", "-q", "../side", "main"]);
    let side = at(&sandbox, "side");
    the_loop(&sandbox, &sandbox, "main", "");
    clean(&side);
    assert!(side.path("gotchas/z.md").is_file());
    let id = propose(&side, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    side.run(&["accept", &id]);
    clean(&side);
}

#[test]
fn a_subfolder_as_root_from_another_subfolder() {
    let sandbox = Sandbox::new();
    sandbox.write("src/deep/x.rs", "");
    sandbox.commit("Code");
    sandbox.run(&["init", "--no-hooks", "--root", "docs/memory"]);
    let deep = at(&sandbox, "work/src/deep");
    the_loop(&deep, &sandbox, "main", "docs/memory/");
    clean(&sandbox);
    assert_eq!(deep.json(&["list", "--all"])["proposals"][0]["paths"][0], "gotchas/z.md");
}

#[test]
fn an_orphan_branch_that_nobody_checks_out_while_head_is_detached() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--branch", "wiki"]);
    sandbox.git(&["checkout", "-q", "--detach"]);
    sandbox.write("README.md", "# Dirty\n");
    let before = sandbox.state();
    the_loop(&sandbox, &sandbox, "wiki", "");
    let after = sandbox.state();
    assert_eq!((after.index, after.status, after.files), (before.index, before.status, before.files));
}

#[test]
fn a_detached_head_beside_the_wiki_branch() {
    let sandbox = wiki();
    sandbox.git(&["checkout", "-q", "--detach"]);
    let before = sandbox.state();
    the_loop(&sandbox, &sandbox, "main", "");
    let after = sandbox.state();
    assert_eq!((after.index, after.status, after.files), (before.index, before.status, before.files));
    clean(&sandbox);
}

#[test]
fn a_wiki_repository_apart_from_the_code() {
    let wiki = wiki();
    let code = at(&wiki, "code");
    std::fs::create_dir_all(wiki.root().join("code/src")).expect("folders");
    code.git(&["init", "-q"]);
    code.write("src/x.rs", "");
    code.commit("Code");
    code.git(&["config", "memory.wiki", "../work"]);
    code.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let before = code.state();
    let id = the_loop(&code, &wiki, "main", "");
    clean(&wiki);
    for folder in ["code/src", "side"] {
        let place = at(&wiki, folder);
        assert_eq!(status(&place, &id), "accepted", "{folder}");
        let other = propose(&place, &format!("notes/{}.md", folder.len()), &format!("# Note of {folder}\n\nWords.\n"));
        place.run(&["accept", &other]);
        clean(&wiki);
    }
    assert_eq!(code.state(), before, "the code repository is as it was");
    assert_eq!(code.refs("refs/memory"), "");
}

#[test]
fn a_repository_with_longer_ids() {
    let sandbox = Sandbox::bare_folder();
    sandbox.git(&["init", "-q", "--object-format=sha256"]);
    sandbox.run(&["init", "--no-hooks"]);
    the_loop(&sandbox, &sandbox, "main", "");
    clean(&sandbox);
}

#[test]
fn a_repository_with_a_reftable() {
    let sandbox = Sandbox::bare_folder();
    if !sandbox.try_git(&["init", "-q", "--ref-format=reftable"]).status.success() {
        eprintln!("skipped: this git has no reftable");
        return;
    }
    sandbox.run(&["init", "--no-hooks"]);
    the_loop(&sandbox, &sandbox, "main", "");
    clean(&sandbox);
    sandbox.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = at(&sandbox, "side");
    let id = propose(&side, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    sandbox.git(&["update-ref", "ORIG_HEAD", "HEAD~1"]);
    let kept = sandbox.rev("ORIG_HEAD");
    side.run(&["accept", &id]);
    assert_eq!(sandbox.rev("ORIG_HEAD"), kept);
    clean(&sandbox);
}

#[test]
fn a_shallow_clone() {
    let origin = with_page();
    for n in 0..3 {
        origin.commit(&format!("More {n}"));
    }
    let clone = Sandbox::bare_folder();
    clone.git(&["clone", "-q", "--depth=1", &format!("file://{}", origin.dir.display()), "."]);
    clone.run(&["init", "--no-hooks"]);
    the_loop(&clone, &clone, "main", "");
    clean(&clone);
    // A proposal that was made below the cut has no base here: said, never guessed.
    let id = propose(&clone, "notes/names.md", &PAGE.replace("First", "Better"));
    let tip = clone.rev("main");
    clone.git(&["commit", "-q", "--allow-empty", "-m", "On top"]);
    let shallow = clone.rev("main");
    clone.git(&["branch", "--unset-upstream"]);
    let cut = clone.read(".git/shallow");
    clone.write(".git/shallow", format!("{cut}{shallow}\n"));
    let before = clone.rev("main");
    let (out, err) = clone.fails(1, &["accept", &id]);
    assert!(format!("{out}{err}").contains("shallow"), "{out}{err}");
    assert_eq!(clone.rev("main"), before);
    assert_ne!(before, tip);
}

#[test]
fn a_submodule_as_wiki() {
    let upstream = wiki();
    let sandbox = Sandbox::new();
    sandbox.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        upstream.dir.to_str().expect("a path"),
        "memory",
    ]);
    sandbox.commit("Add the wiki");
    let inside = at(&sandbox, "work/memory");
    inside.run(&["init", "--no-hooks"]);
    the_loop(&inside, &inside, "main", "");
    clean(&inside);
    sandbox.git(&["config", "memory.wiki", "memory"]);
    let id = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    sandbox.run(&["accept", &id]);
    clean(&inside);
}

#[test]
fn a_branch_that_was_reset_makes_what_waits_stale_until_it_is_rebased() {
    let sandbox = with_page();
    sandbox.commit("Soon gone");
    let update = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    let create = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    sandbox.commit("Another way");
    let head = sandbox.rev("main");
    for id in [&update, &create] {
        let (out, _) = sandbox.fails(1, &["accept", id, "--json"]);
        assert!(out.contains("stale_base") && out.contains("rebase"), "{out}");
        assert_eq!(status(&sandbox, id), "conflicted");
    }
    assert_eq!(sandbox.rev("main"), head);
    sandbox.run(&["rebase", &update]);
    sandbox.run(&["rebase", &create]);
    let value = sandbox.json(&["accept", "--all"]);
    assert_eq!(value["landed"], 2, "{value}");
    clean(&sandbox);
    assert!(sandbox.read("notes/names.md").contains("Better text.") && sandbox.path("gotchas/z.md").is_file());
    assert!(!sandbox.git(&["log", "--format=%s", "main"]).contains("Soon gone"), "what was reset does not come back");
}

#[test]
fn an_unborn_branch_is_said_and_init_mends_it() {
    let sandbox = Sandbox::empty();
    sandbox.git(&["config", "memory.wiki.branch", "main"]);
    let mut command = sandbox.memory(&["propose", "notes/a.md", "--rationale", "r", "--json"]);
    let output = command.write_stdin(Z).output().expect("starts");
    assert!(matches!(output.status.code(), Some(1 | 128)), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("git memory init"), "{said}");
    assert_eq!(sandbox.refs("refs/"), "");
    sandbox.run(&["init", "--no-hooks"]);
    the_loop(&sandbox, &sandbox, "main", "");
}

#[test]
fn a_clock_that_goes_back_changes_no_decision() {
    let mut sandbox = wiki();
    sandbox.now = Some("2026-03-05T12:00:00Z".into());
    let id = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.now = Some("2026-03-01T12:00:00Z".into());
    let list = sandbox.run(&["list"]);
    assert!(list.contains("now"), "an age is never negative: {list}");
    sandbox.run(&["accept", &id]);
    assert_eq!(status(&sandbox, &id), "accepted");
    sandbox.now = Some("2025-01-01T00:00:00Z".into());
    sandbox.run(&["revert", &id, "--reason", "no"]);
    assert_eq!(status(&sandbox, &id), "reverted");
    sandbox.now = Some("2024-01-01T00:00:00Z".into());
    sandbox.run(&["reopen", &id]);
    assert_eq!(status(&sandbox, &id), "pending");
    sandbox.run(&["accept", &id]);
    assert_eq!(status(&sandbox, &id), "accepted");
    std::fs::remove_dir_all(sandbox.path(".git/memory/index")).expect("the cache");
    assert_eq!(status(&sandbox, &id), "accepted", "and what is read without a cache is the same");
    sandbox.fsck();
}

#[cfg(target_os = "linux")]
#[test]
fn paths_and_locales_that_are_not_unicode() {
    use std::os::unix::ffi::OsStrExt;
    let mut sandbox = Sandbox::bare_folder();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9 r\xe9po");
    sandbox.dir = sandbox.root().join(name);
    std::fs::create_dir(&sandbox.dir).expect("a folder");
    sandbox.env.push(("LC_ALL".into(), "POSIX".into()));
    sandbox.git(&["init", "-q"]);
    std::fs::write(sandbox.dir.join(std::ffi::OsStr::from_bytes(b"n\xe4me.txt")), "x").expect("a file");
    sandbox.commit("Start");
    sandbox.run(&["init", "--no-hooks"]);
    std::fs::write(sandbox.dir.join(std::ffi::OsStr::from_bytes(b"notes/\xff\xfe.md")), "# Odd\n\nWords.\n")
        .expect("a page");
    sandbox.commit("An odd page");
    the_loop(&sandbox, &sandbox, "main", "");
    clean(&sandbox);
    sandbox.run(&["status"]);
    sandbox.env.push(("LC_ALL".into(), "de_DE.UTF-8".into()));
    sandbox.env.push(("LANGUAGE".into(), "de".into()));
    let id = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    sandbox.run(&["accept", &id]);
    clean(&sandbox);
}
