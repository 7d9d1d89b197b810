use std::path::{Path, PathBuf};

use git_memory::git::{Error, Oid, Repo, Way, Worktree, fast_forward, way};

use crate::sandbox::*;

const BRANCH: &str = "refs/heads/wiki";

/// A repository with a wiki branch checked out, and a commit that wants to land on it.
struct Scene {
    sandbox: Sandbox,
    dir: PathBuf,
    old: Oid,
    new: Oid,
}

impl Scene {
    fn new() -> Scene {
        Scene::with(&[])
    }

    fn with(options: &[&str]) -> Scene {
        let sandbox = Sandbox::new();
        let files = [("page.md", "page\n"), ("mine.md", "mine\n"), ("staged.md", "staged\n"), ("old.md", "old\n")];
        let dir = sandbox.with_files("r", options, &files);
        let old = rev(&dir, "HEAD");
        let repo = Repo::open(&dir).unwrap();
        let new =
            change(&repo, old, &[("page.md", Some("landed\n")), ("new/page.md", Some("new\n")), ("old.md", None)]);
        Scene { sandbox, dir, old, new }
    }

    fn repo(&self) -> Repo {
        Repo::open(&self.dir).unwrap()
    }

    fn holder(&self) -> Worktree {
        match way(&self.repo(), BRANCH).unwrap() {
            Way::Worktree(worktree) => worktree,
            Way::Ref => panic!("nobody holds the branch"),
        }
    }

    fn busy(&self) -> String {
        match way(&self.repo(), BRANCH) {
            Err(Error::Busy { reason }) => reason,
            other => panic!("{other:?}"),
        }
    }

    /// Tries to land; whatever comes of it, nothing may have changed.
    fn refused(&self) -> Error {
        let before = state(&self.dir);
        let error = fast_forward(&self.holder(), BRANCH, self.old, self.new).unwrap_err();
        assert_eq!(state(&self.dir), before, "{error}");
        error
    }
}

/// Everything that must not change: branch, index, work tree, ORIG_HEAD, FETCH_HEAD.
fn state(dir: &Path) -> Vec<String> {
    let file = |name: &str| std::fs::read_to_string(dir.join(".git").join(name)).unwrap_or_else(|_| "none".into());
    vec![
        git(dir, &["for-each-ref"]),
        git(dir, &["ls-files", "--stage"]),
        git(dir, &["status", "--porcelain=v2", "--ignored", "--untracked-files=all"]),
        git(dir, &["diff"]),
        file("ORIG_HEAD"),
        file("FETCH_HEAD"),
        file("HEAD"),
    ]
}

#[test]
fn unrelated_work_survives_with_its_index_entries() {
    for options in [vec![], vec!["--object-format=sha256"], vec!["--ref-format=reftable"]] {
        let scene = Scene::with(&options);
        let dir = &scene.dir;
        write(dir, "mine.md", "work in progress\n");
        write(dir, "staged.md", "staged work\n");
        git(dir, &["add", "staged.md"]);
        write(dir, "added.md", "added\n");
        git(dir, &["add", "-N", "added.md"]);
        write(dir, "untracked.txt", "untracked\n");
        let entries = git(dir, &["ls-files", "--stage", "mine.md", "staged.md", "added.md"]);
        write(dir, ".git/FETCH_HEAD", "fetched\n");
        git(dir, &["update-ref", "ORIG_HEAD", &scene.old.to_string()]);
        fast_forward(&scene.holder(), BRANCH, scene.old, scene.new).unwrap();
        assert_eq!(rev(dir, "HEAD"), scene.new, "{options:?}");
        assert_eq!(git(dir, &["ls-files", "--stage", "mine.md", "staged.md", "added.md"]), entries);
        assert_eq!(
            git(dir, &["status", "--porcelain", "--untracked-files=all"]),
            " A added.md\n M mine.md\nM  staged.md\n?? untracked.txt"
        );
        assert_eq!(
            (read(dir, "page.md").as_str(), read(dir, "new/page.md").as_str(), dir.join("old.md").exists()),
            ("landed\n", "new\n", false)
        );
        assert_eq!(rev(dir, "ORIG_HEAD"), scene.old);
        assert_eq!(read(dir, ".git/FETCH_HEAD"), "fetched\n");
        assert_eq!(git(dir, &["fsck", "--strict"]), "");
    }
}

#[test]
fn an_orig_head_that_was_not_there_is_not_there_afterwards() {
    for options in [vec![], vec!["--ref-format=reftable"]] {
        let scene = Scene::with(&options);
        fast_forward(&scene.holder(), BRANCH, scene.old, scene.new).unwrap();
        assert_ne!(try_git(&scene.dir, &["rev-parse", "--verify", "ORIG_HEAD"]).0, Some(0), "{options:?}");
        assert_eq!(rev(&scene.dir, BRANCH), scene.new);
    }
}

#[test]
fn edits_and_files_in_the_way_are_refused_and_named() {
    type Obstacle = (&'static str, fn(&Path), &'static str);
    let obstacles: [Obstacle; 6] = [
        ("dirty", |dir| write(dir, "page.md", "my edit\n"), "page.md"),
        (
            "staged",
            |dir| {
                write(dir, "page.md", "my edit\n");
                git(dir, &["add", "page.md"]);
            },
            "page.md",
        ),
        ("untracked", |dir| write(dir, "new/page.md", "mine\n"), "new/page.md"),
        (
            "ignored",
            |dir| {
                write(dir, ".git/info/exclude", "new/\n");
                write(dir, "new/page.md", "mine, ignored\n");
            },
            "new/page.md",
        ),
        ("a file where a folder comes", |dir| write(dir, "new", "mine\n"), "new"),
        ("edited, to be deleted", |dir| write(dir, "old.md", "my edit\n"), "old.md"),
    ];
    for (name, obstacle, file) in obstacles {
        let scene = Scene::new();
        obstacle(&scene.dir);
        match scene.refused() {
            Error::InTheWay { worktree, reason } => {
                assert_eq!(worktree, scene.dir);
                assert!(reason.contains(file), "{name}: {reason}");
                assert!(!reason.contains("Please") && !reason.contains('\n'), "{name}: {reason}");
            }
            other => panic!("{name}: {other}"),
        }
    }
}

#[test]
fn a_foreign_index_lock_is_named_with_its_age_and_left_alone() {
    let scene = Scene::new();
    let holder = scene.holder();
    write(&scene.dir, ".git/index.lock", "");
    let reason = scene.busy();
    assert!(reason.contains(".git/index.lock") && reason.contains(" s old") && reason.contains("rm '"), "{reason}");
    let late = fast_forward(&holder, BRANCH, scene.old, scene.new);
    assert!(matches!(late, Err(Error::Busy { .. })), "{late:?}");
    assert!(scene.dir.join(".git/index.lock").exists());
    assert_eq!(rev(&scene.dir, "HEAD"), scene.old);
}

#[test]
fn an_operation_in_progress_is_not_disturbed() {
    for options in [vec![], vec!["--ref-format=reftable"]] {
        for operation in ["merge", "cherry-pick", "revert"] {
            let scene = Scene::with(&options);
            let dir = &scene.dir;
            let other = commit_files(dir, &[("mine.md", "other\n")], "other");
            git(dir, &["reset", "-q", "--hard", "HEAD~1"]);
            commit_files(dir, &[("mine.md", "this\n")], "this");
            let args = match operation {
                "merge" => vec!["merge", "-q", &other],
                "cherry-pick" => vec!["cherry-pick", &other],
                _ => vec!["revert", "--no-edit", &other],
            };
            assert_ne!(try_git(dir, &args).0, Some(0));
            let reason = scene.busy();
            assert!(reason.contains(operation), "{options:?} {operation}: {reason}");
        }
    }
}

#[test]
fn a_rebase_or_bisect_of_the_branch_anywhere_is_not_disturbed() {
    let scene = Scene::new();
    let dir = &scene.dir;
    commit_files(dir, &[("mine.md", "two\n")], "two");
    let linked = scene.sandbox.path("linked");
    git(dir, &["switch", "-q", "--detach"]);
    git(dir, &["worktree", "add", "-q", linked.to_str().unwrap(), "wiki"]);
    // A rebase that stops at once: HEAD is detached then, no work tree holds the branch by name.
    let output = std::process::Command::new("git")
        .current_dir(&linked)
        .env("GIT_SEQUENCE_EDITOR", "echo break >")
        .args(["rebase", "-q", "-i", "HEAD~1"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let reason = scene.busy();
    assert!(reason.contains("rebase") && reason.contains("linked"), "{reason}");
    git(&linked, &["rebase", "--abort"]);
    assert!(matches!(way(&scene.repo(), BRANCH).unwrap(), Way::Worktree(holder) if holder.path == linked));

    git(&linked, &["bisect", "start", "HEAD", "HEAD~1"]);
    git(&linked, &["switch", "-q", "--detach"]);
    let reason = scene.busy();
    assert!(reason.contains("bisect"), "{reason}");
    git(&linked, &["bisect", "reset"]);
    assert!(way(&scene.repo(), BRANCH).is_ok());
}

#[test]
fn two_work_trees_that_hold_the_branch_are_too_many_and_a_vanished_one_is_none() {
    let scene = Scene::new();
    let linked = scene.sandbox.path("linked");
    git(&scene.dir, &["worktree", "add", "-q", "--force", linked.to_str().unwrap(), "wiki"]);
    let reason = scene.busy();
    assert!(reason.contains("two work trees") && reason.contains("linked"), "{reason}");
    std::fs::remove_dir_all(&linked).unwrap();
    assert_eq!(scene.holder().path, scene.dir);
    git(&scene.dir, &["switch", "-qc", "other"]);
    assert_eq!(way(&scene.repo(), BRANCH).unwrap(), Way::Ref);
}

#[test]
fn a_bare_repository_is_advanced_by_ref_and_its_linked_work_tree_by_merge() {
    let scene = Scene::new();
    let bare = scene.sandbox.path("bare.git");
    git(&scene.dir, &["update-ref", "refs/heads/next", &scene.new.to_string()]);
    git(&scene.dir, &["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let repo = Repo::open(&bare).unwrap();
    assert_eq!(way(&repo, BRANCH).unwrap(), Way::Ref);
    let linked = scene.sandbox.path("linked");
    git(&bare, &["worktree", "add", "-q", linked.to_str().unwrap(), "wiki"]);
    let Way::Worktree(holder) = way(&repo, BRANCH).unwrap() else { panic!("not held") };
    assert_eq!(holder.path, linked);
    fast_forward(&holder, BRANCH, scene.old, scene.new).unwrap();
    assert_eq!(read(&linked, "page.md"), "landed\n");
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
    assert_eq!(rev(&bare, "wiki"), scene.new);
}

#[test]
fn a_branch_that_moved_or_left_is_busy() {
    let scene = Scene::new();
    let holder = scene.holder();
    let newer = oid(&commit_files(&scene.dir, &[("mine.md", "two\n")], "two"));
    for old in [scene.old, newer] {
        let result = fast_forward(&holder, BRANCH, old, scene.new);
        assert!(matches!(result, Err(Error::Busy { .. })), "{result:?}");
        assert_eq!(rev(&scene.dir, "HEAD"), newer);
    }
    git(&scene.dir, &["switch", "-q", "--detach"]);
    assert!(matches!(fast_forward(&holder, BRANCH, newer, scene.new), Err(Error::Busy { .. })));
}

#[test]
fn hostile_settings_change_nothing() {
    let scene = Scene::new();
    let dir = &scene.dir;
    for (key, value) in [
        ("merge.ff", "false"),
        ("merge.autoStash", "true"),
        ("merge.verifySignatures", "true"),
        ("branch.wiki.mergeOptions", "--no-ff --squash --no-commit"),
        ("pull.rebase", "true"),
        ("commit.gpgSign", "true"),
        ("user.signingKey", "nobody"),
        ("submodule.recurse", "true"),
        ("merge.log", "true"),
        ("merge.evil.driver", "false"),
        ("core.quotePath", "true"),
        ("status.showUntrackedFiles", "no"),
        ("color.ui", "always"),
        ("core.autocrlf", "true"),
        ("gc.auto", "1"),
    ] {
        git(dir, &["config", key, value]);
    }
    write(dir, ".git/info/attributes", "*.md merge=evil\n");
    write(dir, "page.md", "my edit\n");
    assert!(matches!(scene.refused(), Error::InTheWay { reason, .. } if reason.contains("page.md")));
    git(dir, &["checkout", "-q", "page.md"]);
    let marks = scene.sandbox.path("marks");
    write(dir, ".git/hooks/post-merge", &format!("#!/bin/sh\necho $GIT_MEMORY_HOOK > '{}'\nexit 1\n", marks.display()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let hook = dir.join(".git/hooks/post-merge");
        std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    fast_forward(&scene.holder(), BRANCH, scene.old, scene.new).unwrap();
    assert_eq!(rev(dir, "HEAD"), scene.new);
    assert_eq!(git(dir, &["status", "--porcelain"]), "");
    assert_eq!(std::fs::read_to_string(marks).unwrap(), "0\n");
    assert!(!dir.join(".git/ORIG_HEAD").exists());
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    let scene = Scene::new();
    let dir = &scene.dir;
    git(dir, &["sparse-checkout", "set", "--no-cone", "/mine.md", "/page.md"]);
    fast_forward(&scene.holder(), BRANCH, scene.old, scene.new).unwrap();
    assert_eq!(read(dir, "page.md"), "landed\n");
    assert!(!dir.join("new/page.md").exists());
    assert_eq!(git(dir, &["status", "--porcelain"]), "");
}

#[test]
fn a_branch_with_an_equals_sign_and_a_work_tree_apart_from_its_repository_work_too() {
    let scene = Scene::new();
    let dir = scene.sandbox.path("apart");
    let git_dir = scene.sandbox.path("store");
    git(&scene.sandbox.path(""), &["clone", "-q", "--separate-git-dir", "store", "r", "apart"]);
    git(&dir, &["switch", "-qc", "a=b"]);
    git(&dir, &["fetch", "-q", "../r", &scene.new.to_string()]);
    let repo = Repo::open(&dir).unwrap();
    assert_eq!(repo.git_dir(), git_dir);
    let Way::Worktree(holder) = way(&repo, "refs/heads/a=b").unwrap() else { panic!("not held") };
    assert_eq!(holder.path, dir);
    fast_forward(&holder, "refs/heads/a=b", scene.old, scene.new).unwrap();
    assert_eq!(read(&dir, "page.md"), "landed\n");
}

#[test]
fn a_landing_that_was_killed_after_the_checkout_is_completed_by_the_next() {
    let scene = Scene::new();
    let dir = &scene.dir;
    // What a git killed between its two steps leaves: index and work tree are new, the branch is old.
    git(dir, &["read-tree", "-m", "-u", &scene.old.to_string(), &scene.new.to_string()]);
    assert_eq!(rev(dir, "HEAD"), scene.old);
    fast_forward(&scene.holder(), BRANCH, scene.old, scene.new).unwrap();
    assert_eq!((rev(dir, "HEAD"), git(dir, &["status", "--porcelain"])), (scene.new, String::new()));
}

#[test]
fn a_branch_without_a_commit_takes_its_first_one_and_staged_files_stay() {
    let scene = Scene::new();
    let dir = scene.sandbox.init("fresh", &[]);
    git(&dir, &["fetch", "-q", "../r", &scene.new.to_string()]);
    write(&dir, "staged.txt", "staged\n");
    git(&dir, &["add", "staged.txt"]);
    write(&dir, "new/page.md", "in the way\n");
    let repo = Repo::open(&dir).unwrap();
    let Way::Worktree(holder) = way(&repo, BRANCH).unwrap() else { panic!("not held") };
    let refused = fast_forward(&holder, BRANCH, repo.null_oid(), scene.new);
    assert!(matches!(refused, Err(Error::InTheWay { .. })), "{refused:?}");
    assert_eq!(read(&dir, "new/page.md"), "in the way\n");
    std::fs::remove_file(dir.join("new/page.md")).unwrap();
    fast_forward(&holder, BRANCH, repo.null_oid(), scene.new).unwrap();
    assert_eq!((rev(&dir, "HEAD"), git(&dir, &["status", "--porcelain"])), (scene.new, "A  staged.txt".to_owned()));
}

#[test]
fn a_landing_killed_at_any_point_leaves_the_branch_old_or_new_and_is_completed() {
    for (point, landed) in [("advance.before", false), ("advance.after-merge", true)] {
        let scene = Scene::new();
        write(&scene.dir, "mine.md", "work in progress\n");
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "advance::land_in_a_child", "--ignored", "--nocapture"])
            .env("LAND_IN", &scene.dir)
            .env("LAND", format!("{} {}", scene.old, scene.new))
            .env("GIT_MEMORY_FAULT", point)
            .output()
            .unwrap()
            .status;
        assert!(!status.success(), "{point} was not passed");
        let tip = rev(&scene.dir, "HEAD");
        assert_eq!(tip, if landed { scene.new } else { scene.old }, "{point}");
        assert_eq!(git(&scene.dir, &["status", "--porcelain"]), " M mine.md", "{point}");
        fast_forward(&scene.holder(), BRANCH, tip, scene.new).unwrap();
        assert_eq!(rev(&scene.dir, "HEAD"), scene.new);
        assert_eq!(git(&scene.dir, &["fsck", "--strict"]), "");
    }
}

#[test]
#[ignore = "the child of another test"]
fn land_in_a_child() {
    // The parent sealed the environment already.
    let (Some(dir), Ok(commits)) = (std::env::var_os("LAND_IN"), std::env::var("LAND")) else { return };
    let (old, new) = commits.split_once(' ').unwrap();
    let Way::Worktree(holder) = way(&Repo::open(dir.as_ref()).unwrap(), BRANCH).unwrap() else { panic!("not held") };
    fast_forward(&holder, BRANCH, oid(old), oid(new)).unwrap();
}
