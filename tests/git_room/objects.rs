use std::process::Command;

use git_memory::git::{Batch, Entry, Error, Mode, Person, Repo};

use crate::sandbox::*;

fn fsck(dir: &std::path::Path) {
    let out = git(dir, &["fsck", "--strict", "--full", "--no-dangling"]);
    assert_eq!(out, "");
}

#[test]
fn nothing_is_on_disk_before_the_flush_and_everything_after_it() {
    let sandbox = Sandbox::new();
    for format in ["sha1", "sha256"] {
        let dir = sandbox.with_files(format, &[&format!("--object-format={format}")], &[("a.md", "a")]);
        let repo = Repo::open(&dir).unwrap();
        for count in [3usize, 1000] {
            let head = rev(&dir, "HEAD");
            let mut batch = Batch::new(&repo);
            let mut edits = Vec::new();
            for n in 0..count {
                let oid = batch.blob(format!("{count} page {n}\n").repeat(n % 50).as_bytes()).unwrap();
                edits.push((format!("notes/{}/{n}.md", n % 7).into(), Some(Entry { mode: Mode::Blob, oid })));
            }
            let tree = batch.tree(Some(head), &edits).unwrap();
            let mut new = new_commit(tree, &[head], "many pages\n");
            new.author = Person { name: "Eve <x>\n".into(), email: "<e>".into() };
            let commit = batch.commit(&new).unwrap();
            assert_eq!(batch.repo().commit(commit).unwrap().tree, tree);
            assert!(batch.repo().file(commit, "notes/1/1.md".into()).unwrap().is_some());
            assert!(matches!(repo.commit(commit), Err(Error::Read { .. })), "visible before the flush");
            batch.flush().unwrap();
            batch.flush().unwrap();
            assert_eq!(repo.commit(commit).unwrap().author.name, "Eve x");
            git(&dir, &["update-ref", "HEAD", &commit.to_string()]);
            git(&dir, &["reset", "-q", "--hard"]);
            fsck(&dir);
            assert_eq!(repo.files(commit, "notes".into()).unwrap().len(), count.max(3));
        }
        let packs = std::fs::read_dir(dir.join(".git/objects/pack")).unwrap();
        assert_eq!(packs.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "pack")).count(), 1);
    }
}

#[test]
fn objects_that_exist_are_not_written_again() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "a")]);
    git(&dir, &["repack", "-adq"]);
    let repo = Repo::open(&dir).unwrap();
    let mut batch = Batch::new(&repo);
    let a = batch.blob(b"a").unwrap();
    let tree = batch.tree(None, &[("a.md".into(), Some(Entry { mode: Mode::Blob, oid: a }))]).unwrap();
    assert_eq!(tree, rev(&dir, "HEAD^{tree}"));
    batch.flush().unwrap();
    assert!(git(&dir, &["count-objects"]).starts_with("0 objects"));
}

#[test]
fn a_tree_edit_gives_what_the_index_of_git_would_give() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files(
        "r",
        &[],
        &[("a/b/c.md", "1"), ("a/b/d.md", "2"), ("deep/er/still/x", "3"), ("file", "4"), ("file.md", "5")],
    );
    let head = rev(&dir, "HEAD");
    let repo = Repo::open(&dir).unwrap();
    let mut batch = Batch::new(&repo);
    let oid = batch.blob(b"new").unwrap();
    let blob = |mode| Some(Entry { mode, oid });
    let edits = vec![
        ("file/below.md".into(), blob(Mode::Blob)),
        ("file".into(), None),
        ("a/b".into(), blob(Mode::Executable)),
        ("deep/er/still/x".into(), None),
        ("link".into(), blob(Mode::Link)),
        ("no/such/file".into(), None),
    ];
    let tree = batch.tree(Some(head), &edits).unwrap();
    batch.flush().unwrap();
    let listed = git(&dir, &["ls-tree", "-r", &tree.to_string()]);
    let listed: Vec<(&str, &str)> = listed.lines().map(|line| (&line[..6], line.split('\t').nth(1).unwrap())).collect();
    assert_eq!(listed, [("100755", "a/b"), ("100644", "file.md"), ("100644", "file/below.md"), ("120000", "link")]);
    assert_eq!(git(&dir, &["ls-tree", "-d", "-r", "--name-only", &tree.to_string()]), "a\nfile");
    let all: Vec<_> = ["a/b/c.md", "a/b/d.md", "deep/er/still/x", "file", "file.md"]
        .map(|path| (path.into(), None))
        .into_iter()
        .collect();
    assert_eq!(batch.tree(Some(head), &all).unwrap(), repo.empty_tree());
    for path in ["../x", ".git/config", "a//b", "", ".GIT/x", "a/.", "git~1/x"] {
        let result = batch.tree(Some(head), &[(path.into(), blob(Mode::Blob))]);
        assert!(matches!(result, Err(Error::Refused(_))), "{path}: {result:?}");
    }
}

#[test]
fn a_difference_is_told_by_file_without_renames() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a/x", "1"), ("b", "2"), ("same/y", "3")]);
    let repo = Repo::open(&dir).unwrap();
    let old = rev(&dir, "HEAD");
    let new = change(&repo, old, &[("a/x", None), ("a", Some("1")), ("b", None), ("b/deep/z", Some("2"))]);
    let changes = repo.diff(Some(old), Some(new)).unwrap();
    let told: Vec<(String, bool, bool)> =
        changes.iter().map(|c| (c.path.to_string(), c.before.is_some(), c.after.is_some())).collect();
    let expected = [("a", false, true), ("a/x", true, false), ("b", true, false), ("b/deep/z", false, true)];
    assert_eq!(told, expected.map(|(path, before, after)| (path.to_owned(), before, after)));
    assert_eq!(repo.diff(None, Some(old)).unwrap().len(), 3);
    assert!(repo.diff(Some(old), Some(old)).unwrap().is_empty());
}

#[test]
fn a_signed_commit_verifies_and_keeps_its_message() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "a")]);
    let key = sandbox.path("key");
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status().unwrap();
    assert!(made.success());
    let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
    let signers = sandbox.path("signers");
    std::fs::write(&signers, format!("ada@example.org {public}")).unwrap();
    git(&dir, &["config", "gpg.format", "ssh"]);
    git(&dir, &["config", "user.signingKey", key.to_str().unwrap()]);
    git(&dir, &["config", "gpg.ssh.allowedSignersFile", signers.to_str().unwrap()]);
    git(&dir, &["config", "commit.gpgSign", "true"]);
    let repo = Repo::open(&dir).unwrap();
    assert!(repo.signs());
    let head = rev(&dir, "HEAD");
    let mut batch = Batch::new(&repo);
    let oid = batch.blob(b"signed").unwrap();
    let tree = batch.tree(Some(head), &[("s.md".into(), Some(Entry { mode: Mode::Blob, oid }))]).unwrap();
    let message = "subject\n\n# not a comment\n> quote  \n\nTrailer: x\n";
    let mut new = new_commit(tree, &[head], message);
    new.sign = true;
    let commit = batch.commit(&new).unwrap();
    git(&dir, &["verify-commit", &commit.to_string()]);
    let read = repo.commit(commit).unwrap();
    assert_eq!(read.message, message);
    assert_eq!((read.time, read.parents), (new.time, vec![head]));
    git(&dir, &["config", "user.signingKey", "/nonexistent"]);
    assert!(matches!(batch.commit(&new), Err(Error::Sign(_))));
}

#[test]
fn what_cannot_be_written_is_named() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &[], &[("a.md", "a")]);
    let repo = Repo::open(&dir).unwrap();
    let mut batch = Batch::new(&repo);
    let oid = batch.blob(b"new bytes").unwrap();
    // A file where the folder should be made: the same to us as a full disk, and it works for root too.
    let folder = dir.join(".git/objects").join(&oid.to_string()[..2]);
    std::fs::write(&folder, "").unwrap();
    let Err(Error::Write { what, .. }) = batch.flush() else { panic!("written") };
    assert!(what.contains(folder.to_str().unwrap()), "{what}");
    std::fs::remove_file(&folder).unwrap();
    batch.flush().unwrap();
    assert_eq!(repo.blob(oid).unwrap(), b"new bytes");
}

#[test]
fn permissions_of_a_shared_repository_are_kept() {
    let sandbox = Sandbox::new();
    let dir = sandbox.with_files("r", &["--shared=group"], &[("a.md", "a")]);
    let repo = Repo::open(&dir).unwrap();
    let mut batch = Batch::new(&repo);
    let oid = batch.blob(b"shared bytes").unwrap();
    batch.flush().unwrap();
    assert_eq!(git(&dir, &["cat-file", "blob", &oid.to_string()]), "shared bytes");
    assert!(git(&dir, &["count-objects", "-v"]).contains("in-pack: 0"));
}

#[test]
fn a_long_chain_of_commits_on_a_big_folder_makes_a_small_pack() {
    let sandbox = Sandbox::new();
    for format in ["sha1", "sha256"] {
        let dir = sandbox.with_files(format, &[&format!("--object-format={format}")], &[("a.md", "a")]);
        let repo = Repo::open(&dir).unwrap();
        let mut batch = Batch::new(&repo);
        let mut tip = rev(&dir, "HEAD");
        let blob = |batch: &mut Batch, text: String| {
            let oid = batch.blob(text.as_bytes()).unwrap();
            Some(Entry { mode: Mode::Blob, oid })
        };
        let many: Vec<_> =
            (0..600).map(|n| (format!("notes/{n}.md").into(), blob(&mut batch, format!("page {n}\n")))).collect();
        for n in 0..60 {
            let edits = match n {
                0 => many.clone(),
                _ => vec![(format!("notes/{}.md", n * 37 % 700).into(), blob(&mut batch, format!("edit {n}\n")))],
            };
            let tree = batch.tree(Some(tip), &edits).unwrap();
            tip = batch.commit(&new_commit(tree, &[tip], "edit\n")).unwrap();
        }
        batch.flush().unwrap();
        git(&dir, &["update-ref", "HEAD", &tip.to_string()]);
        fsck(&dir);
        let pack = git(&dir, &["count-objects", "-v"]);
        let size: usize = pack.lines().find_map(|line| line.strip_prefix("size-pack: ")).unwrap().parse().unwrap();
        assert!(size < 200, "{size} KiB");
        let mut at = tip;
        while let Some(&parent) = repo.commit(at).unwrap().parents.first() {
            assert!(!repo.diff(Some(parent), Some(at)).unwrap().is_empty());
            at = parent;
        }
    }
}

/// Needs a file system of its own, which only root can mount.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_leaves_a_sound_repository() {
    let sandbox = Sandbox::new();
    let small = sandbox.path("small");
    std::fs::create_dir(&small).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&small).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return;
    }
    let result = std::panic::catch_unwind(|| {
        let dir = sandbox.with_files("small/r", &[], &[("a.md", "a")]);
        let repo = Repo::open(&dir).unwrap();
        for (count, size) in [(3u64, 600_000usize), (100, 20_000)] {
            let mut batch = Batch::new(&repo);
            let mut noise = count;
            for _ in 0..count {
                let bytes: Vec<u8> = (0..size)
                    .map(|_| {
                        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        (noise >> 56) as u8
                    })
                    .collect();
                batch.blob(&bytes).unwrap();
            }
            let result = batch.flush();
            let Err(Error::Write { what, reason }) = &result else { panic!("{count}: {result:?}") };
            assert!(what.contains(".git/objects") && reason.contains("No space left"), "{what}: {reason}");
            git(&dir, &["prune", "--expire=now"]);
            fsck(&dir);
        }
        std::fs::write(small.join("rest"), vec![0; 1 << 20]).unwrap_err();
        let edit =
            git_memory::git::RefEdit { name: "refs/memory/deep/new".into(), old: None, new: Some(rev(&dir, "HEAD")) };
        let result = repo.update_refs(&[edit], "full");
        assert!(matches!(result, Err(Error::Write { .. })), "{result:?}");
    });
    Command::new("umount").arg("-l").arg(&small).status().unwrap();
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}
