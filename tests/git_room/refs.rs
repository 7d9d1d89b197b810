use std::sync::atomic::{AtomicUsize, Ordering};

use git_memory::git::{Error, RefEdit, Repo};

use crate::sandbox::*;

fn edit(name: &str, old: Option<git_memory::git::Oid>, new: Option<git_memory::git::Oid>) -> RefEdit {
    RefEdit { name: name.to_owned(), old, new }
}

/// The same behaviour in every way git stores objects and refs.
fn kinds() -> Vec<Vec<&'static str>> {
    vec![vec![], vec!["--object-format=sha256"], vec!["--ref-format=reftable"], vec!["--bare"]]
}

#[test]
fn a_transaction_applies_all_edits_or_none() {
    let sandbox = Sandbox::new();
    for options in kinds() {
        let dir = sandbox.init(&options.join(""), &options);
        let tree = git(&dir, &["mktree"]);
        let a = oid(&git(&dir, &["commit-tree", "-m", "a", &tree]));
        let b = oid(&git(&dir, &["commit-tree", "-m", "b", &tree]));
        let repo = Repo::open(&dir).unwrap();
        repo.update_refs(&[edit("refs/memory/x", None, Some(a)), edit("refs/memory/y/z", None, Some(b))], "new")
            .unwrap();
        assert_eq!(repo.reference("refs/memory/x").unwrap(), Some(a), "{options:?}");
        assert_eq!(
            repo.references("refs/memory/").unwrap(),
            [("refs/memory/x".to_owned(), a), ("refs/memory/y/z".to_owned(), b)],
            "{options:?}"
        );
        for (wrong, name) in [
            (edit("refs/memory/x", Some(b), Some(b)), "refs/memory/x"),
            (edit("refs/memory/x", Some(b), None), "refs/memory/x"),
            (edit("refs/memory/x", None, Some(b)), "refs/memory/x"),
            (edit("refs/memory/gone", Some(b), Some(a)), "refs/memory/gone"),
            (edit("refs/memory/gone", Some(b), None), "refs/memory/gone"),
            (edit("refs/memory/x", None, None), "refs/memory/x"),
        ] {
            let result = repo.update_refs(&[edit("refs/memory/y/z", Some(b), Some(a)), wrong.clone()], "no");
            assert!(
                matches!(&result, Err(Error::RefMoved { name: moved }) if moved == name),
                "{options:?} {wrong:?}: {result:?}"
            );
            assert_eq!(repo.reference("refs/memory/y/z").unwrap(), Some(b));
        }
        repo.update_refs(&[edit("refs/memory/x", Some(a), Some(a)), edit("refs/memory/y/z", Some(b), None)], "del")
            .unwrap();
        assert_eq!(repo.references("refs/memory/").unwrap().len(), 1, "{options:?}");
        assert_eq!(repo.reference("refs/memory/y/z").unwrap(), None);
        assert_eq!(repo.head_branch().unwrap().as_deref(), Some("refs/heads/wiki"), "{options:?}");
        assert_eq!(repo.reference("HEAD").unwrap(), None, "unborn");
        git(&dir, &["pack-refs", "--all"]);
        assert_eq!(repo.reference("refs/memory/x").unwrap(), Some(a), "{options:?} packed");
        git(&dir, &["symbolic-ref", "refs/memory/link", "refs/memory/x"]);
        assert_eq!(repo.reference("refs/memory/link").unwrap(), Some(a), "{options:?} symbolic");
        assert!(repo.references("refs/mem").is_ok());
    }
}

#[test]
fn a_foreign_lock_is_named_and_left_alone() {
    let sandbox = Sandbox::new();
    for (format, lock) in [("files", ".git/refs/memory/x.lock"), ("reftable", ".git/reftable/tables.list.lock")] {
        let dir = sandbox.with_files(format, &[&format!("--ref-format={format}")], &[("a.md", "a")]);
        let repo = Repo::open(&dir).unwrap();
        write(&dir, lock, "");
        let result = repo.update_refs(&[edit("refs/memory/x", None, Some(rev(&dir, "HEAD")))], "m");
        let Err(Error::Busy { reason }) = result else { panic!("{format}: {result:?}") };
        assert!(reason.contains(lock) && reason.contains("old") && reason.contains("rm '"), "{reason}");
        assert!(dir.join(lock).exists());
    }
}

#[test]
fn a_zero_byte_ref_is_an_error_and_not_an_empty_list() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "a")]);
    write(&dir, ".git/refs/memory/pending/x", "");
    let repo = Repo::open(&dir).unwrap();
    assert!(matches!(repo.reference("refs/memory/pending/x"), Err(Error::Read { .. })));
    assert!(matches!(repo.references("refs/memory/pending/"), Err(Error::Read { .. })));
}

#[test]
fn of_many_writers_each_lands_once() {
    let sandbox = Sandbox::new();
    for options in [vec![], vec!["--ref-format=reftable"]] {
        let dir = sandbox.with_files(&options.join(""), &options, &[("a.md", "a")]);
        let start = rev(&dir, "HEAD");
        let repo = Repo::open(&dir).unwrap();
        repo.update_refs(&[edit("refs/memory/log", None, Some(start))], "start").unwrap();
        let lost = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let repo = Repo::open(&dir).unwrap();
                    for _ in 0..2 {
                        loop {
                            let old = repo.reference("refs/memory/log").unwrap().unwrap();
                            let new = change(&repo, old, &[]);
                            match repo.update_refs(&[edit("refs/memory/log", Some(old), Some(new))], "append") {
                                Ok(()) => break,
                                Err(Error::RefMoved { .. } | Error::Busy { .. }) => {
                                    lost.fetch_add(1, Ordering::Relaxed)
                                }
                                Err(other) => panic!("{other}"),
                            };
                        }
                    }
                });
            }
        });
        assert_eq!(git(&dir, &["rev-list", "--count", "refs/memory/log", "^HEAD"]), "16", "lost {lost:?}");
    }
}

#[test]
fn refs_are_listed_while_others_delete_and_pack_them() {
    let sandbox = Sandbox::new();
    let dir = sandbox.init("busy", &[]);
    let tree = git(&dir, &["mktree"]);
    let a = oid(&git(&dir, &["commit-tree", "-m", "a", &tree]));
    let names: Vec<String> = (0..40).map(|n| format!("refs/memory/pending/{n:02}")).collect();
    let kept = edit("refs/memory/pending/kept", None, Some(a));
    Repo::open(&dir).unwrap().update_refs(&[kept], "new").unwrap();
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let repo = Repo::open(&dir).unwrap();
            for round in 0..12 {
                let all = |old, new| names.iter().map(|name| edit(name, old, new)).collect::<Vec<_>>();
                repo.update_refs(&all(None, Some(a)), "new").unwrap();
                if round % 3 == 0 {
                    git(&dir, &["pack-refs", "--all"]);
                }
                repo.update_refs(&all(Some(a), None), "gone").unwrap();
            }
            done.store(1, Ordering::SeqCst);
        });
        while done.load(Ordering::SeqCst) == 0 {
            let listed = Repo::open(&dir).unwrap().references("refs/memory/pending/").unwrap();
            assert!(listed.iter().any(|(name, _)| name == "refs/memory/pending/kept"));
        }
    });
}
