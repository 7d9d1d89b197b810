//! What stands in the way: said with its reason and its exit code, and nothing is changed.

use super::common::Sandbox;
use super::scene::*;

fn two_pages() -> (Sandbox, String, String) {
    let sandbox = with_page();
    let update = propose(&sandbox, "notes/names.md", &PAGE.replace("First", "Better"));
    let create = propose(&sandbox, "gotchas/z.md", Z);
    (sandbox, update, create)
}

#[test]
fn a_stale_index_lock_is_named_with_its_age_and_left() {
    let (sandbox, _, create) = two_pages();
    sandbox.run(&["accept", &create]);
    let id = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    sandbox.write(".git/index.lock", "half an index");
    for args in
        [&["accept", id.as_str()] as &[&str], &["accept", "--all"], &["revert", create.as_str(), "--reason", "no"]]
    {
        let before = sandbox.state();
        let (_, err) = sandbox.fails(75, args);
        assert!(err.contains("index.lock") && err.contains("old") && err.contains("rm "), "{err}");
        assert_eq!(sandbox.state(), before);
        assert_eq!(sandbox.read(".git/index.lock"), "half an index");
    }
    assert_eq!(sandbox.json_error(75, &["accept", &id])["code"], "busy");
    // What needs no index goes on.
    sandbox.run(&["list"]);
    sandbox.run(&["status"]);
    propose(&sandbox, "gotchas/x.md", "# An X\n\nWords of it.\n");
    sandbox.run(&["reject", &id, "--reason", "no"]);
}

#[test]
fn a_real_operation_in_progress_is_not_disturbed() {
    let (sandbox, _, create) = two_pages();
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    sandbox.write("README.md", "# Theirs\n");
    let theirs = sandbox.commit("Theirs");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.write("README.md", "# Mine\n");
    sandbox.commit("Mine");
    let landed = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    sandbox.run(&["accept", &landed]);
    for (begin, abort, word) in [
        (vec!["merge", "other"], vec!["merge", "--abort"], "merge"),
        (vec!["cherry-pick", &theirs], vec!["cherry-pick", "--abort"], "cherry-pick"),
        (vec!["rebase", "other"], vec!["rebase", "--abort"], "rebase"),
        (vec!["revert", "--no-edit", &theirs], vec!["revert", "--abort"], "revert"),
    ] {
        let begun = sandbox.try_git(&begin);
        if begun.status.success() {
            panic!("{begin:?} should stop half-way");
        }
        for args in [&["accept", create.as_str()] as &[&str], &["revert", landed.as_str(), "--reason", "no"]] {
            refused(&sandbox, 75, args, word);
        }
        sandbox.git(&abort);
    }
    sandbox.run(&["accept", &create]);
}

#[test]
fn a_bisect_of_the_branch_is_not_disturbed() {
    let (sandbox, _, create) = two_pages();
    for n in 0..4 {
        sandbox.commit(&format!("More {n}"));
    }
    sandbox.git(&["bisect", "start", "-q"]);
    sandbox.git(&["bisect", "bad"]);
    sandbox.git(&["bisect", "good", "main~4"]);
    refused(&sandbox, 75, &["accept", &create], "bisect");
    sandbox.git(&["bisect", "reset"]);
    sandbox.run(&["accept", &create]);
}

#[test]
fn two_work_trees_on_the_branch_are_too_many() {
    let (sandbox, update, create) = two_pages();
    sandbox.run(&["accept", &create]);
    sandbox.git(&["worktree", "add", "-q", "--force", "../second", "main"]);
    refused(&sandbox, 75, &["accept", &update], "second");
    refused(&sandbox, 75, &["revert", &create, "--reason", "no"], "second");
    // One whose folder is gone is none.
    std::fs::remove_dir_all(sandbox.root().join("second")).expect("removed");
    sandbox.run(&["accept", &update]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn work_in_progress_of_every_sort_survives_with_equal_bytes_and_index_entries() {
    let (sandbox, update, create) = two_pages();
    for name in ["staged.txt", "both.txt", "dirty.txt", "gone.txt", "removed.txt", "moved.txt"] {
        sandbox.write(name, format!("{name}\n"));
    }
    sandbox.commit("Files");
    sandbox.write("staged.txt", "staged\n");
    sandbox.write("both.txt", "staged\n");
    sandbox.write("new.txt", "new\n");
    sandbox.git(&["add", "staged.txt", "both.txt", "new.txt"]);
    sandbox.git(&["rm", "-q", "removed.txt"]);
    sandbox.git(&["mv", "moved.txt", "notes/moved.txt"]);
    sandbox.write("both.txt", "and then dirty\n");
    sandbox.write("dirty.txt", "dirty\n");
    sandbox.write("intended.txt", "later\n");
    sandbox.git(&["add", "-N", "intended.txt"]);
    std::fs::remove_file(sandbox.path("gone.txt")).expect("removed");
    sandbox.write("untracked/a.txt", "mine\n");
    sandbox.write(".git/info/exclude", "*.ignored\n");
    sandbox.write("gotchas/x.ignored", "mine\n");
    sandbox.git(&["update-index", "--assume-unchanged", "README.md"]);
    sandbox.git(&["stash", "list"]);
    let ours = ["notes/names.md", "gotchas/z.md"];
    let others = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !ours.iter().any(|page| line.ends_with(page))).map(str::to_owned).collect()
    };
    let before = sandbox.state();
    let steps: [&[&str]; 4] = [
        &["accept", &update, &create],
        &["revert", &update, "--reason", "no"],
        &["reopen", &update],
        &["accept", &update],
    ];
    for args in steps {
        sandbox.run(args);
        let after = sandbox.state();
        assert_eq!(others(&after.index), others(&before.index), "{args:?}");
        assert_eq!(others(&after.status), others(&before.status), "{args:?}");
        let kept = |state: &super::common::State| -> Vec<_> {
            let files = state.files.iter();
            files.filter(|(path, _)| !ours.iter().any(|page| path.ends_with(page))).cloned().collect()
        };
        assert_eq!(kept(&after), kept(&before), "{args:?}");
    }
    for page in ours {
        let landed = sandbox.git(&["log", "--first-parent", "-1", "--format=%H", "--", page]);
        assert!(!landed.is_empty());
    }
    let touched = sandbox.git(&["log", "-m", "--first-parent", "--name-only", "--format=", "main~4..main"]);
    assert!(touched.lines().all(|line| line.is_empty() || ours.contains(&line)), "{touched}");
    sandbox.fsck();
}

#[test]
fn what_overlaps_is_refused_whichever_way_it_overlaps() {
    let (sandbox, update, create) = two_pages();
    // Dirty, staged, staged and dirty.
    sandbox.write("notes/names.md", "mine\n");
    refused(&sandbox, 1, &["accept", &update], "notes/names.md");
    sandbox.git(&["add", "notes/names.md"]);
    refused(&sandbox, 1, &["accept", &update], "notes/names.md");
    sandbox.write("notes/names.md", PAGE);
    refused(&sandbox, 1, &["accept", &update], "notes/names.md");
    sandbox.git(&["reset", "-q", "--hard"]);
    // Deleted in the index.
    sandbox.git(&["rm", "-q", "--cached", "notes/names.md"]);
    refused(&sandbox, 1, &["accept", &update], "notes/names.md");
    sandbox.git(&["reset", "-q", "--hard"]);
    // Untracked, staged as new, ignored, a folder and a link in the way.
    sandbox.write("gotchas/z.md", "mine\n");
    refused(&sandbox, 1, &["accept", &create], "gotchas/z.md");
    sandbox.git(&["add", "gotchas/z.md"]);
    refused(&sandbox, 1, &["accept", &create], "gotchas/z.md");
    sandbox.git(&["rm", "-q", "--cached", "gotchas/z.md"]);
    sandbox.write(".git/info/exclude", "*.md\n");
    refused(&sandbox, 1, &["accept", &create], "gotchas/z.md");
    std::fs::remove_file(sandbox.path("gotchas/z.md")).expect("removed");
    sandbox.write(".git/info/exclude", "");
    sandbox.write("gotchas/z.md/inner.txt", "mine\n");
    refused(&sandbox, 1, &["accept", &create], "gotchas/z.md");
    std::fs::remove_dir_all(sandbox.path("gotchas/z.md")).expect("removed");
    // All at once: nothing of the chain lands when one page is in the way.
    sandbox.write("gotchas/z.md", "mine\n");
    refused(&sandbox, 1, &["accept", "--all"], "gotchas/z.md");
    std::fs::remove_file(sandbox.path("gotchas/z.md")).expect("removed");
    sandbox.run(&["accept", "--all"]);
    // A revert removes the page: an edit of it is in the way.
    sandbox.write("gotchas/z.md", "mine\n");
    refused(&sandbox, 1, &["revert", &create, "--reason", "no"], "gotchas/z.md");
}

#[cfg(unix)]
#[test]
fn a_link_in_the_work_tree_leads_no_page_elsewhere() {
    let (sandbox, update, create) = two_pages();
    let outside = sandbox.root().join("outside");
    std::fs::create_dir_all(&outside).expect("a folder");
    std::fs::write(outside.join("names.md"), PAGE).expect("a file");
    // The folder of the page is replaced by a link to somewhere else.
    std::fs::remove_dir_all(sandbox.path("gotchas")).expect("removed");
    std::os::unix::fs::symlink(&outside, sandbox.path("gotchas")).expect("a link");
    let output = sandbox.memory(&["accept", &create]).output().expect("starts");
    assert!(!outside.join("z.md").exists(), "{output:?}");
    if output.status.code() == Some(0) {
        assert!(sandbox.path("gotchas").symlink_metadata().is_ok_and(|meta| meta.is_dir()));
    } else {
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(status(&sandbox, &create), "pending");
    }
    // A page replaced by a link.
    std::fs::remove_file(sandbox.path("notes/names.md")).expect("removed");
    std::os::unix::fs::symlink(outside.join("names.md"), sandbox.path("notes/names.md")).expect("a link");
    refused(&sandbox, 1, &["accept", &update], "notes/names.md");
    assert_eq!(std::fs::read_to_string(outside.join("names.md")).expect("the file"), PAGE);
}

#[test]
fn a_work_tree_that_cannot_be_reached_is_busy() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--branch", "wiki"]);
    sandbox.git(&["worktree", "add", "-q", "../linked", "wiki"]);
    sandbox.git(&["worktree", "lock", "../linked"]);
    let id = propose(&sandbox, "gotchas/z.md", Z);
    // As a disk that is not plugged in: locked, so not prunable.
    std::fs::rename(sandbox.root().join("linked"), sandbox.root().join("away")).expect("renamed");
    refused(&sandbox, 75, &["accept", &id], "linked");
    std::fs::rename(sandbox.root().join("away"), sandbox.root().join("linked")).expect("renamed");
    sandbox.run(&["accept", &id]);
}

#[test]
fn a_lock_on_a_ref_is_named_and_left() {
    let sandbox = wiki();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    for name in ["refs/memory/log.lock", "refs/heads/main.lock"] {
        let lock = format!(".git/{name}");
        sandbox.write(&lock, "");
        let output = sandbox.memory(&["accept", &id]).output().expect("starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(75) && said.contains(".lock"), "{name}: {output:?}");
        assert!(sandbox.path(&lock).is_file());
        std::fs::remove_file(sandbox.path(&lock)).expect("removed");
        sandbox.fsck();
        if status(&sandbox, &id) == "accepted" {
            // The branch had moved before the ledger could be written: the landing counts, nothing is undone.
            assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
            sandbox.run(&["revert", &id, "--reason", "no"]);
            sandbox.run(&["reopen", &id]);
        }
        assert_eq!(status(&sandbox, &id), "pending");
    }
    sandbox.run(&["accept", &id]);
}

#[test]
fn a_branch_whose_upstream_has_diverged_is_not_taken_further_apart() {
    let origin = with_page();
    let clone = Sandbox::bare_folder();
    clone.git(&["clone", "-q", origin.dir.to_str().expect("a path"), "."]);
    clone.run(&["init"]);
    let id = propose(&clone, "gotchas/z.md", Z);
    origin.write("README.md", "# Moved on\n");
    origin.commit("Move on");
    clone.git(&["fetch", "-q"]);
    clone.run(&["accept", &id]);
    assert!(clone.rev("main^1") == origin.rev("main"), "the upstream is taken in first");
    let second = propose(&clone, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    origin.commit("Further");
    clone.git(&["fetch", "-q"]);
    refused(&clone, 1, &["accept", &second], "diverged");
}
