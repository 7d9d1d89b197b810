//! Disks that are full or read-only.

use std::path::Path;

use super::common::Sandbox;
use super::scene::*;

/// A file system that a test mounted; gone with it.
struct Mount<'a> {
    sandbox: &'a Sandbox,
    at: std::path::PathBuf,
}

impl<'a> Mount<'a> {
    /// Mounts, or says why the test is skipped.
    fn new(sandbox: &'a Sandbox, at: &Path, args: &[&str]) -> Option<Mount<'a>> {
        std::fs::create_dir_all(at).expect("a folder");
        let output = sandbox.program("mount").args(args).arg(at).output().expect("mount starts");
        if !is_root(sandbox) || !output.status.success() {
            eprintln!("skipped: cannot mount: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(Mount { sandbox, at: at.to_owned() })
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = self.sandbox.program("umount").arg("-l").arg(&self.at).status();
    }
}

/// Fills what is left of the disk but for `leave` bytes.
fn fill(at: &Path, leave: u64) {
    let file = at.join("ballast");
    let block = vec![7u8; 4096];
    let mut out = std::fs::File::create(&file).expect("a file");
    let mut size = 0u64;
    while std::io::Write::write_all(&mut out, &block).is_ok() {
        size += 4096;
    }
    out.set_len(size.saturating_sub(leave)).expect("room");
    out.sync_all().expect("synced");
}

#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let outer = Sandbox::bare_folder();
    let at = outer.root().join("disk");
    let Some(_mount) = Mount::new(&outer, &at, &["-t", "tmpfs", "-o", "size=4m", "none"]) else { return };
    let mut sandbox = Sandbox::bare_folder();
    sandbox.dir = at.join("work");
    std::fs::create_dir(&sandbox.dir).expect("a folder");
    sandbox.git(&["init", "-q"]);
    sandbox.commit("Start");
    sandbox.run(&["init", "--no-hooks"]);
    let landed = propose(&sandbox, "gotchas/z.md", Z);
    sandbox.run(&["accept", &landed]);
    let big =
        format!("# Big\n\n{}", (0..600).map(|n| format!("Line {n} of many different ones.\n")).collect::<String>());
    let id = propose(&sandbox, "notes/big.md", &big);
    for leave in [0, 4096, 8192, 16384, 32768, 65536] {
        fill(&at, leave);
        for args in [
            &["accept", id.as_str()] as &[&str],
            &["revert", landed.as_str(), "--reason", "no"],
            &["reject", id.as_str(), "--reason", "no"],
        ] {
            let head = sandbox.rev("main");
            let output = sandbox.memory(args).output().expect("starts");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 1 | 75 | 128)), "{args:?} with {leave}: {output:?}");
            if code == Some(0) {
                // There was room after all: brought back for the next one.
                continue;
            }
            if args[0] != "reject" || status_now(&sandbox, &id).as_deref() == Some("pending") {
                assert!(
                    said.contains("space") || said.contains("is accepted") || said.contains("is re"),
                    "{args:?} with {leave}: {said}"
                );
            }
            let _ = head;
        }
        std::fs::remove_file(at.join("ballast")).expect("room again");
        sandbox.fsck();
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "after {leave} left");
        bring_back(&sandbox, &landed, &id);
    }
    fill(&at, 0);
    let mut command = sandbox.memory(&["propose", "notes/new.md", "--rationale", "r"]);
    let output = command.write_stdin("# New\n\nWords of it.\n").output().expect("starts");
    assert_eq!(output.status.code(), Some(128), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("space"), "{output:?}");
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions/hand-pnpm-rule.jsonl");
    for args in [vec!["capture", session.to_str().expect("a path")], vec!["improve", "--all"]] {
        let output = sandbox.memory(&args).output().expect("starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            args[0] == "improve" && output.status.code() == Some(0) || said.contains("space"),
            "{args:?}: {output:?}"
        );
    }
    std::fs::remove_file(at.join("ballast")).expect("room again");
    sandbox.fsck();
    sandbox.run(&["accept", &id]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

fn status_now(sandbox: &Sandbox, id: &str) -> Option<String> {
    let output = sandbox.memory(&["show", id, "--json"]).output().ok()?;
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    value["proposal"]["status"].as_str().map(str::to_owned)
}

/// Both proposals as they were: the one landed, the other pending.
fn bring_back(sandbox: &Sandbox, landed: &str, open: &str) {
    match status(sandbox, landed).as_str() {
        "accepted" => {}
        "reverted" => {
            sandbox.run(&["reopen", landed]);
            sandbox.run(&["accept", landed]);
        }
        other => panic!("{other}"),
    }
    match status(sandbox, open).as_str() {
        "pending" => {}
        "accepted" => {
            sandbox.run(&["revert", open, "--reason", "no"]);
            sandbox.run(&["reopen", open]);
        }
        "rejected" | "reverted" => {
            sandbox.run(&["reopen", open]);
        }
        other => panic!("{other}"),
    }
    assert_eq!(status(sandbox, open), "pending");
}

#[test]
fn a_read_only_repository_can_be_read_and_says_what_it_is() {
    let sandbox = with_page();
    let id = propose(&sandbox, "gotchas/z.md", Z);
    let landed = propose(&sandbox, "gotchas/y.md", "# Why\n\nBecause of that.\n");
    sandbox.run(&["accept", &landed]);
    std::fs::remove_dir_all(sandbox.path(".git/memory/index")).expect("no cache to start with");
    let at = sandbox.root().join("ro");
    let Some(_mount) = Mount::new(&sandbox, &at, &["--bind", "-o", "ro", sandbox.dir.to_str().expect("a path")]) else {
        return;
    };
    let mut place = Sandbox::bare_folder();
    place.dir = at;
    let before = place.state();
    for args in [&["list"] as &[&str], &["show", &id], &["diff", &id], &["status"], &["log"], &["proposal", "log", &id]]
    {
        let out = place.run(args);
        assert!(!out.trim().is_empty(), "{args:?}");
    }
    place.run(&["drain", "--dry-run"]);
    place.run(&["improve", "--dry-run"]);
    for args in [
        &["accept", id.as_str()] as &[&str],
        &["reject", id.as_str(), "--reason", "no"],
        &["revert", landed.as_str(), "--reason", "no"],
        &["rebase", id.as_str()],
    ] {
        let (_, err) = place.fails(128, args);
        assert!(err.to_lowercase().contains("read-only"), "{args:?}: {err}");
    }
    let mut command = place.memory(&["propose", "gotchas/x.md", "--rationale", "r", "--json"]);
    let output = command.write_stdin("# An X\n\nWords of it.\n").output().expect("starts");
    assert_eq!(output.status.code(), Some(128), "{output:?}");
    let error: serde_json::Value = serde_json::from_slice(&output.stdout).expect("json");
    assert_eq!(error["code"], "cannot_write", "{error}");
    assert_eq!(place.state(), before);
}

/// The commands that search, with words that [`PAGE`] has.
const SEARCHES: [&[&str]; 2] = [&["search", "second", "text"], &["context", "--task", "the second text"]];

/// Searches, which must answer; the episode, and how many warnings there were.
fn searched(sandbox: &Sandbox, args: &[&str]) -> (Option<String>, usize) {
    let output = sandbox.memory(&[args, &["--json"]].concat()).output().expect("starts");
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("json");
    assert_eq!(answer["results"][0]["path"], "notes/names.md", "{answer}");
    let said = String::from_utf8_lossy(&output.stderr);
    let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert!(warnings.iter().all(|line| line.contains("not recorded")), "{said}");
    (answer["episode"].as_str().map(str::to_owned), warnings.len())
}

#[test]
fn a_read_only_repository_is_searched_and_says_once_that_it_records_nothing() {
    let sandbox = with_page();
    let at = sandbox.root().join("ro");
    let mut place = Sandbox::bare_folder();
    // Root may write everywhere but on a file system that nobody may write.
    let mount = Mount::new(&sandbox, &at, &["--bind", "-o", "ro", sandbox.dir.to_str().expect("a path")]);
    let rights =
        |rights: &str| sandbox.program("chmod").args(["-R", rights, ".git"]).status().expect("chmod").success();
    if mount.is_some() {
        place.dir = at;
    } else if !is_root(&sandbox) {
        assert!(rights("a-w"));
        place.dir = sandbox.dir.clone();
    } else {
        return;
    }
    let before = place.git_files();
    let answers: Vec<_> = SEARCHES.iter().map(|args| searched(&place, args)).collect();
    assert_eq!(place.git_files(), before);
    drop(mount);
    assert!(rights("u+w"));
    assert_eq!(answers, [(None, 1), (None, 1)]);
    for args in SEARCHES {
        assert!(matches!(searched(&sandbox, args), (Some(_), 0)), "nothing is in the way any more");
    }
}

#[test]
fn on_a_full_disk_a_search_answers_and_leaves_no_half_of_a_record() {
    let outer = Sandbox::bare_folder();
    let at = outer.root().join("disk");
    let Some(_mount) = Mount::new(&outer, &at, &["-t", "tmpfs", "-o", "size=4m", "none"]) else { return };
    let mut sandbox = Sandbox::bare_folder();
    sandbox.dir = at.join("work");
    std::fs::create_dir(&sandbox.dir).expect("a folder");
    sandbox.git(&["init", "-q"]);
    sandbox.write("notes/names.md", PAGE);
    sandbox.commit("Start");
    sandbox.run(&["init", "--no-hooks"]);
    let mut told: Vec<String> = SEARCHES.iter().filter_map(|args| searched(&sandbox, args).0).collect();
    fill(&at, 0);
    let mut lost = 0;
    // There is room in the last block of each file, and then there is none in the middle of a record.
    for _ in 0..20 {
        for args in SEARCHES {
            match searched(&sandbox, args) {
                (Some(id), 0) => told.push(id),
                (None, 1) => lost += 1,
                other => panic!("{args:?}: {other:?}"),
            }
        }
    }
    assert!(lost > 0, "the disk is full");
    let lines = |file: &str| -> Vec<serde_json::Value> {
        let text = sandbox.read(file);
        let lines = text.lines().filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{file}: {error}: {line}"))).collect()
    };
    let ids = |lines: Vec<serde_json::Value>, of: fn(&serde_json::Value) -> &serde_json::Value| -> Vec<String> {
        lines.iter().map(|line| of(line).as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(ids(lines(".git/memory/spool.jsonl"), |line| &line["data"]["episode"]), told);
    assert_eq!(ids(lines(".git/memory/queries.jsonl"), |line| &line["episode"]), told);
    std::fs::remove_file(at.join("ballast")).expect("room again");
    assert!(matches!(searched(&sandbox, SEARCHES[0]), (Some(_), 0)));
    assert_eq!(sandbox.json(&["status"])["spool"], told.len() + 1);
}
