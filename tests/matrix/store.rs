//! A damaged store: said in clear words, the rest goes on, and an error never turns into "no proposals".

use super::common::Sandbox;
use super::scene::*;

/// Two proposals, one of them decided.
fn scene() -> (Sandbox, String, String) {
    let sandbox = wiki();
    let done = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.run(&["accept", &done]);
    let open = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    (sandbox, done, open)
}

/// Replaces files of the ledger's tree in a commit on top of it.
fn damage(sandbox: &Sandbox, paths: &[(String, &[u8])]) {
    let mut other = Sandbox::bare_folder();
    sandbox.git(&["worktree", "add", "-q", "--detach", "../ledger", "refs/memory/log"]);
    other.dir = sandbox.root().join("ledger");
    for (path, bytes) in paths {
        other.write(path, bytes);
    }
    other.git(&["add", "-A"]);
    other.git(&["commit", "-q", "-m", "Damage"]);
    let tip = other.git(&["rev-parse", "HEAD"]);
    sandbox.git(&["update-ref", "refs/memory/log", &tip]);
    sandbox.git(&["worktree", "remove", "--force", "../ledger"]);
}

#[test]
fn a_segment_that_does_not_parse_is_reported_and_the_rest_is_used() {
    let (sandbox, done, open) = scene();
    damage(
        &sandbox,
        &[
            (
                "events/2026/03/01/01KJMW0000000000000000000A.jsonl".into(),
                b"{\"v\":1,\"kind\":\"staged\"\n\xff\xfe garbage",
            ),
            ("events/2026/03/01/01KJMW0000000000000000000B.jsonl".into(), b""),
            ("events/2026/03/01/not-an-ulid.jsonl".into(), b"[1,2,3]\n"),
            ("events/2026/03/01/01KJMW0000000000000000000C.jsonl".into(), b"null\n42\n\"x\"\n{}\n"),
        ],
    );
    for cached in [true, false] {
        if !cached {
            std::fs::remove_dir_all(sandbox.path(".git/memory/index")).expect("the cache");
        }
        assert_eq!(status(&sandbox, &done), "accepted");
        assert_eq!(status(&sandbox, &open), "pending");
        let list = sandbox.run(&["list"]);
        assert!(list.contains(&open[..7]), "{list}");
        let text = sandbox.run(&["status"]);
        assert!(text.contains("01KJMW0000000000000000000A"), "{text}");
    }
    sandbox.run(&["accept", &open]);
    assert_eq!(status(&sandbox, &open), "accepted");
}

#[test]
fn caches_that_are_damaged_are_made_again() {
    let (sandbox, done, open) = scene();
    let folder = sandbox.path(".git/memory/index");
    for bytes in [&b""[..], b"{", b"\0\0\0\0", b"{\"shape\":1}", b"null", b"[]"] {
        let mut found = 0;
        for entry in std::fs::read_dir(&folder).expect("the cache").flatten() {
            if entry.path().is_file() {
                std::fs::write(entry.path(), bytes).expect("damaged");
                found += 1;
            }
        }
        assert!(found > 0, "something is cached");
        assert_eq!(status(&sandbox, &done), "accepted");
        assert_eq!(sandbox.json(&["list"])["proposals"][0]["id"], open);
    }
    // A folder where a file should be, and a cache that cannot be made.
    std::fs::remove_dir_all(&folder).expect("removed");
    std::fs::write(&folder, "a file in the way").expect("written");
    assert_eq!(status(&sandbox, &open), "pending");
    sandbox.run(&["accept", &open]);
    assert_eq!(status(&sandbox, &open), "accepted");
}

#[test]
fn a_cache_of_another_time_is_not_believed() {
    let (sandbox, done, open) = scene();
    let folder = sandbox.path(".git/memory/index");
    let kept: Vec<_> = super::common::files(&folder);
    sandbox.run(&["accept", &open]);
    sandbox.run(&["revert", &done, "--reason", "no"]);
    for (path, bytes) in kept {
        std::fs::write(folder.join(path), bytes).expect("an old cache");
    }
    assert_eq!(status(&sandbox, &open), "accepted");
    assert_eq!(status(&sandbox, &done), "reverted");
}

#[test]
fn a_zero_byte_ref_is_an_error_that_names_it() {
    let (sandbox, _, open) = scene();
    for name in [format!("refs/memory/pending/{open}"), "refs/memory/log".to_owned()] {
        let file = sandbox.path(format!(".git/{name}"));
        let kept = std::fs::read(&file).expect("a loose ref");
        std::fs::write(&file, "").expect("a crash");
        for args in [&["list"] as &[&str], &["accept", "--all"], &["accept", &open], &["status"]] {
            let output = sandbox.memory(args).output().expect("starts");
            let (out, said) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr).into_owned());
            let lists = out.contains(&open[..7]) || said.contains(&name);
            assert!(lists, "{args:?} with an empty {name}: {out}{said}");
            assert!(!said.contains("no open proposals") && !out.contains("no open proposals"), "{out}{said}");
        }
        std::fs::write(&file, kept).expect("mended");
    }
    sandbox.run(&["accept", &open]);
}

#[test]
fn a_ref_that_names_a_missing_object_stops_nothing_else() {
    let (sandbox, done, open) = scene();
    let other = propose(&sandbox, "gotchas/x.md", "# An X\n\nWords of it.\n");
    let file = sandbox.path(format!(".git/refs/memory/pending/{open}"));
    let kept = std::fs::read(&file).expect("a loose ref");
    std::fs::write(&file, format!("{}\n", "1".repeat(40))).expect("damaged");
    let output = sandbox.memory(&["list"]).output().expect("starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(&open[..7]), "{said}");
    assert_eq!(status(&sandbox, &done), "accepted");
    let output = sandbox.memory(&["accept", &open]).output().expect("starts");
    assert!(!output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(&open) || said.contains("1111111"), "{said}");
    sandbox.run(&["accept", &other]);
    std::fs::write(&file, kept).expect("mended");
    sandbox.run(&["accept", &open]);
}

#[test]
fn a_sidecar_that_is_gone_or_garbage_is_told_of_and_others_are_shown() {
    let (sandbox, done, open) = scene();
    let sidecar = format!("proposals/{}/{open}/sidecar.md", &open[..2]);
    damage(&sandbox, &[(sidecar, b"---\n{{{{ not yaml\n\xff\xfe")]);
    let list = sandbox.run(&["list"]);
    assert!(list.contains(&open[..7]), "{list}");
    let output = sandbox.memory(&["show", &open]).output().expect("starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("sidecar"), "{said}");
    sandbox.run(&["show", &done]);
}

#[test]
fn a_missing_blob_of_the_ledger_is_an_error_and_not_an_empty_list() {
    let (sandbox, _, open) = scene();
    std::fs::remove_dir_all(sandbox.path(".git/memory/index")).expect("the cache");
    let entry = sandbox.git(&["ls-tree", "-r", "refs/memory/log", "--", "events"]);
    let oid = entry.split_whitespace().nth(2).expect("a blob").to_owned();
    let file = sandbox.path(format!(".git/objects/{}/{}", &oid[..2], &oid[2..]));
    if !file.exists() {
        sandbox.git(&["repack", "-q", "-d"]);
        eprintln!("skipped: the object is packed");
        return;
    }
    std::fs::remove_file(&file).expect("removed");
    let output = sandbox.memory(&["list"]).output().expect("starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() || said.contains(&open[..7]), "{said}");
    assert!(said.contains(&oid) || said.contains(&open[..7]), "{said}");
    // The damage itself is told of somewhere.
    let output = sandbox.memory(&["status"]).output().expect("starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(&oid), "{said}");
}

#[test]
fn a_ledger_of_something_else_is_said_to_be_none() {
    let (sandbox, _, _) = scene();
    let kept = sandbox.rev("refs/memory/log");
    let blob = sandbox.rev("main:README.md");
    sandbox.git(&["update-ref", "refs/memory/log", &blob]);
    let output = sandbox.memory(&["list"]).output().expect("starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(128) && said.contains("refs/memory/log"), "{output:?}");
    sandbox.git(&["update-ref", "refs/memory/log", &kept]);
    sandbox.run(&["list"]);
}

#[test]
fn packed_refs_and_garbage_collection_lose_nothing() {
    let (sandbox, done, open) = scene();
    sandbox.git(&["pack-refs", "--all"]);
    sandbox.git(&["-c", "gc.pruneExpire=now", "-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now"]);
    assert_eq!(status(&sandbox, &done), "accepted");
    sandbox.run(&["accept", &open]);
    sandbox.run(&["revert", &done, "--reason", "no"]);
    sandbox.git(&["-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now"]);
    sandbox.run(&["reopen", &done]);
    sandbox.run(&["accept", &done]);
    sandbox.fsck();
}
