//! Many new refs in one transaction: what git sees of it is what git would have done.

use git_memory::git::{Error, Oid, RefEdit, Repo};

use crate::sandbox::*;

const MANY: usize = 100;

fn all(old: Option<Oid>, new: Option<Oid>) -> Vec<RefEdit> {
    (0..MANY).map(|n| RefEdit { name: format!("refs/memory/sessions/s{n:03}"), old, new }).collect()
}

fn listed(dir: &std::path::Path) -> Vec<String> {
    let out = git(dir, &["for-each-ref", "--format=%(objectname) %(refname) %(*objectname)"]);
    out.lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn many_refs_stand_as_git_would_have_written_them_and_what_was_packed_before_stays() {
    let sandbox = Sandbox::new();
    for options in [vec![], vec!["--object-format=sha256"], vec!["--ref-format=reftable"], vec!["--bare"]] {
        let dir = sandbox.init(&format!("r{}", options.join("")), &options);
        let tree = git(&dir, &["mktree"]);
        let a = oid(&git(&dir, &["commit-tree", "-m", "a", &tree]));
        let b = oid(&git(&dir, &["commit-tree", "-m", "b", &tree]));
        git(&dir, &["tag", "-a", "-m", "one", "v1", &a.to_string()]);
        git(&dir, &["update-ref", "refs/memory/log", &a.to_string()]);
        git(&dir, &["pack-refs", "--all"]);
        let before = listed(&dir);
        let repo = Repo::open(&dir).unwrap();
        repo.update_refs(&all(None, Some(a)), "new").unwrap();
        let expected: Vec<String> = all(None, Some(a)).iter().map(|edit| format!("{a} {}", edit.name)).collect();
        let mut with_all = [before.clone(), expected].concat();
        with_all.sort_by(|x, y| x.split(' ').nth(1).cmp(&y.split(' ').nth(1)));
        assert_eq!(listed(&dir), with_all, "{options:?}");
        assert_eq!(repo.references("refs/memory/sessions/").unwrap().len(), MANY, "{options:?}");

        repo.update_refs(&all(Some(a), Some(b)), "grown").unwrap();
        assert_eq!(repo.reference("refs/memory/sessions/s042").unwrap(), Some(b), "{options:?}");
        let moved = repo.update_refs(&all(Some(a), Some(b)), "again");
        assert!(matches!(moved, Err(Error::RefMoved { .. })), "{options:?}: {moved:?}");
        git(&dir, &["update-ref", "refs/memory/sessions/s007", &a.to_string()]);
        let moved = repo.update_refs(&all(Some(b), Some(a)), "one is elsewhere");
        assert!(matches!(&moved, Err(Error::RefMoved { name }) if name.ends_with("s007")), "{options:?}: {moved:?}");
        assert_eq!(repo.reference("refs/memory/sessions/s008").unwrap(), Some(b), "all or none");

        repo.update_refs(&[RefEdit { name: "refs/memory/sessions/s008".into(), old: Some(b), new: None }], "gone")
            .unwrap();
        git(&dir, &["pack-refs", "--all", "--prune"]);
        git(&dir, &["fsck", "--strict"]);
        assert_eq!(listed(&dir).len(), before.len() + MANY - 1, "{options:?}");
    }
}

#[test]
fn no_file_is_written_for_each_of_many() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "a")]);
    let head = rev(&dir, "HEAD");
    Repo::open(&dir).unwrap().update_refs(&all(None, Some(head)), "new").unwrap();
    assert!(!dir.join(".git/refs/memory/sessions").exists());
    assert!(std::fs::read_to_string(dir.join(".git/packed-refs")).unwrap().lines().count() > MANY);
}

#[test]
fn a_ref_that_somebody_holds_is_named_and_left_alone() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "a")]);
    let lock = ".git/refs/memory/sessions/s050.lock";
    write(&dir, lock, "");
    let result = Repo::open(&dir).unwrap().update_refs(&all(None, Some(rev(&dir, "HEAD"))), "new");
    let Err(Error::Busy { reason }) = result else { panic!("{result:?}") };
    assert!(reason.contains(lock) && reason.contains("rm '"), "{reason}");
    assert!(dir.join(lock).exists());
    assert_eq!(listed(&dir).len(), 1);
}

#[test]
fn somebody_who_packs_refs_is_no_hindrance() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "a")]);
    write(&dir, ".git/packed-refs.lock", "");
    Repo::open(&dir).unwrap().update_refs(&all(None, Some(rev(&dir, "HEAD"))), "new").unwrap();
    assert_eq!(listed(&dir).len(), 1 + MANY);
    assert!(dir.join(".git/packed-refs.lock").exists());
}

#[test]
fn a_name_that_is_a_folder_or_stands_in_one_that_is_a_ref_is_refused_as_git_refuses_it() {
    let sandbox = Sandbox::new();
    for (n, (there, packed)) in
        [("/s050/below", false), ("/s050/below", true), ("", false), ("", true)].into_iter().enumerate()
    {
        let dir = sandbox.with_files(&n.to_string(), &[], &[("a.md", "a")]);
        let head = rev(&dir, "HEAD");
        git(&dir, &["update-ref", &format!("refs/memory/sessions{there}"), "HEAD"]);
        if packed {
            git(&dir, &["pack-refs", "--all"]);
        }
        assert!(Repo::open(&dir).unwrap().update_refs(&all(None, Some(head)), "new").is_err(), "{there} {packed}");
        assert_eq!(listed(&dir).len(), 2, "{there} {packed}");
    }
}

#[test]
#[cfg(unix)]
fn a_hook_for_ref_transactions_runs() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "a")]);
    let hook = dir.join(".git/hooks/reference-transaction");
    write(&dir, ".git/hooks/reference-transaction", "#!/bin/sh\ncat >> \"$(git rev-parse --git-dir)/seen\"\n");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    Repo::open(&dir).unwrap().update_refs(&all(None, Some(rev(&dir, "HEAD"))), "new").unwrap();
    let seen = std::fs::read_to_string(dir.join(".git/seen")).unwrap();
    assert!(seen.contains("refs/memory/sessions/s099"), "{seen}");
}

#[test]
fn of_several_writers_of_the_same_refs_none_is_lost() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "a")]);
    let head = rev(&dir, "HEAD");
    let names = |writer: usize| {
        let name = move |n| format!("refs/memory/sessions/w{writer}-{n:03}");
        (0..MANY).map(move |n| RefEdit { name: name(n), old: None, new: Some(head) }).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let dir = &dir;
            scope.spawn(move || {
                let repo = Repo::open(dir).unwrap();
                if writer % 3 == 2 {
                    // One by one, by git.
                    for edit in names(writer).into_iter().step_by(10) {
                        repo.update_refs(&[edit], "new").unwrap();
                    }
                    git(dir, &["pack-refs", "--all"]);
                } else {
                    repo.update_refs(&names(writer), "new").unwrap();
                }
            });
        }
    });
    assert_eq!(listed(&dir).len(), 1 + 4 * MANY + 2 * MANY / 10);
    git(&dir, &["fsck", "--strict"]);
}
