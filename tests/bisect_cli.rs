//! `git memory bisect`: which accept made a command fail, on real histories, without touching anybody's work tree.

mod common;
#[path = "matrix/scene.rs"]
mod scene;

use common::Sandbox;
use scene::*;
use serde_json::{Value, json};

/// Fails on a tree that has `BAD` in a page.
const NO_BAD: &str = "! grep -rq BAD --include=*.md .";

/// A wiki with nine accepted proposals, of which this one is bad. Returns their ids.
fn nine(bad: usize) -> (Sandbox, Vec<String>) {
    let sandbox = wiki();
    let ids = grow(&sandbox, bad);
    (sandbox, ids)
}

fn grow(sandbox: &Sandbox, bad: usize) -> Vec<String> {
    let page = |number: usize| {
        let word = if number == bad { "BAD" } else { "good" };
        let text = format!("# Page number {number}\n\nThe {word} fact {number}.\n");
        json!({ "path": format!("notes/page-{number}.md"), "title": format!("Page number {number}"),
                "rationale": "It came up.", "body_markdown": text })
    };
    let lines: String = (1..=9).map(|number| format!("{}\n", page(number))).collect();
    let output = sandbox.memory(&["propose", "--batch", "-", "--json"]).write_stdin(lines).output().expect("starts");
    let value: Value = serde_json::from_slice(&output.stdout).expect("json");
    let results = value["results"].as_array().unwrap_or_else(|| panic!("{value}"));
    let ids: Vec<String> = results.iter().filter_map(|one| one["id"].as_str().map(str::to_owned)).collect();
    let mut words = vec!["accept"];
    words.extend(ids.iter().map(String::as_str));
    sandbox.run(&words);
    assert_eq!(sandbox.refs("refs/memory/pending"), "", "all landed");
    ids
}

/// The proposal that was found, when it is one.
fn found(value: &Value) -> &str {
    let suspects = value["suspects"].as_array().expect("suspects");
    assert_eq!(suspects.len(), 1, "{value}");
    suspects[0]["proposals"][0]["id"].as_str().unwrap_or_else(|| panic!("{value}"))
}

/// The JSON of a bisect that does not end with one suspect.
fn failing(sandbox: &Sandbox, args: &[&str]) -> Value {
    let mut all = args.to_vec();
    all.push("--json");
    let (out, _) = sandbox.fails(1, &all);
    serde_json::from_str(&out).expect("json")
}

#[test]
fn the_accept_that_made_a_command_fail_is_found_and_nothing_of_the_persons_is_touched() {
    let (sandbox, ids) = nine(6);
    let landing = sandbox.json(&["show", &ids[5]])["proposal"]["landed"].clone();
    sandbox.write("notes/page-1.md", "# Changed\n");
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    sandbox.write("untracked.txt", "untracked\n");
    // A bisect of git's own is going on.
    sandbox.git(&["bisect", "start"]);
    sandbox.git(&["bisect", "bad"]);
    let (before, log) = (sandbox.state(), sandbox.git(&["bisect", "log"]));

    let value = sandbox.json(&["bisect", "--run", NO_BAD]);
    assert_eq!(found(&value), ids[5]);
    let suspect = &value["suspects"][0];
    assert_eq!(suspect["commit"], landing);
    assert_eq!(suspect["undo"], json!([format!("git memory proposal revert {}", ids[5])]));
    assert_eq!(suspect["proposals"][0]["paths"], json!(["notes/page-6.md"]));
    assert_eq!(suspect["proposals"][0]["approved_by"], "Ada Tester <ada@example.com>");
    assert!(value["steps"].as_array().is_some_and(|steps| steps.len() <= 2 + 4), "by halving: {value}");

    assert_eq!(sandbox.state(), before);
    assert_eq!(sandbox.git(&["bisect", "log"]), log);
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
    assert!(!sandbox.path(".git/worktrees").exists() && !sandbox.path(".git/memory/look.folder").exists());
    sandbox.fsck();

    let shown = sandbox.run(&["bisect", "-q", "--run", NO_BAD]);
    assert!(shown.contains(&format!("proposal {}", ids[5])) && shown.contains("notes/page-6.md"), "{shown}");
    assert!(shown.contains(&format!("git memory proposal revert {}", ids[5])), "{shown}");
    sandbox.git(&["bisect", "reset"]);
    sandbox.git(&["checkout", "-q", "-f", "main"]);
    let revert = suspect["undo"][0].as_str().expect("a command").replace("git memory ", "");
    let mut words: Vec<&str> = revert.split(' ').collect();
    words.extend(["--reason", "It broke the check."]);
    sandbox.run(&words);
    assert_eq!(sandbox.json_error(1, &["bisect", "--run", NO_BAD])["code"], "passes_on_tip");
}

#[test]
fn the_first_the_last_and_one_behind_a_good_commit_are_found() {
    for bad in [1, 9] {
        let (sandbox, ids) = nine(bad);
        assert_eq!(found(&sandbox.json(&["bisect", "--run", NO_BAD])), ids[bad - 1]);
    }
    let (sandbox, ids) = nine(8);
    let good = sandbox.json(&["show", &ids[6]])["proposal"]["landed"].as_str().expect("a commit").to_owned();
    let value = sandbox.json(&["bisect", "--run", NO_BAD, "--good", &good[..12]]);
    assert_eq!((found(&value), &value["good"]), (ids[7].as_str(), &good.as_str().into()));
    let change = format!("{good}^2");
    assert_eq!(sandbox.json_error(1, &["bisect", "--run", NO_BAD, "--good", &change])["code"], "not_on_branch");
    assert_eq!(sandbox.json_error(1, &["bisect", "--run", NO_BAD, "--good", "main"])["code"], "nothing_between");
    assert_eq!(sandbox.json_error(1, &["bisect", "--run", NO_BAD, "--good", "nope"])["code"], "unknown_revision");
}

#[test]
fn a_commit_on_which_the_command_cannot_tell_is_passed_over_or_named_too() {
    let (sandbox, ids) = nine(6);
    // It cannot tell while page 5 is the newest.
    let skip = format!("test -e notes/page-5.md -a ! -e notes/page-6.md && exit 125; {NO_BAD}");
    let value = failing(&sandbox, &["bisect", "--run", &skip]);
    let named: Vec<&Value> =
        value["suspects"].as_array().expect("suspects").iter().map(|one| &one["proposals"][0]["id"]).collect();
    assert_eq!(named, [&json!(ids[4]), &json!(ids[5])], "{value}");
    let skip = format!("test -e notes/page-3.md -a ! -e notes/page-5.md && exit 125; {NO_BAD}");
    assert_eq!(found(&sandbox.json(&["bisect", "--run", &skip])), ids[5]);
}

#[test]
fn starts_that_cannot_lead_anywhere_are_told() {
    let (sandbox, _) = nine(6);
    let before = sandbox.state();
    for (command, code) in [
        ("false", "fails_on_good"),
        ("true", "passes_on_tip"),
        ("exit 125", "cannot_tell"),
        ("no-such-program-anywhere", "cannot_run"),
        ("exit 200", "broke"),
        ("kill -SEGV $$", "broke"),
    ] {
        let error = sandbox.json_error(1, &["bisect", "-q", "--run", command]);
        assert_eq!(error["code"], code, "{command}: {error}");
    }
    assert_eq!(sandbox.state(), before);
    let empty = wiki();
    assert_eq!(empty.json_error(1, &["bisect", "--run", "false"])["code"], "nothing_accepted");
    sandbox.fails(129, &["bisect"]);
}

#[test]
fn a_persons_commit_and_a_revert_are_named_as_what_they_are() {
    let sandbox = with_page();
    let id = propose(&sandbox, "gotchas/z.md", "# Use -z\n\nThe GUARD stands here.\n");
    sandbox.run(&["accept", &id]);
    sandbox.write("notes/names.md", PAGE.replace("First", "BAD"));
    let person = sandbox.commit("Break it");
    let good = propose(&sandbox, "gotchas/y.md", "# Another\n\nThing.\n");
    sandbox.run(&["accept", &good]);
    let value = sandbox.json(&["bisect", "--run", NO_BAD]);
    let suspect = &value["suspects"][0];
    assert_eq!((&suspect["commit"], &suspect["proposals"]), (&person.as_str().into(), &json!([])));
    assert_eq!(suspect["undo"], json!([format!("git revert {person}")]));

    sandbox.run(&["revert", &id, "--reason", "no"]);
    let guarded = sandbox.json(&["show", &id])["proposal"]["landed"].as_str().expect("a commit").to_owned();
    let value = sandbox.json(&["bisect", "--run", "grep -rq GUARD .", "--good", &guarded]);
    assert_eq!(value["suspects"][0]["takes_back"], id, "{value}");
}

#[test]
fn squashed_landings_and_merges_by_hand_are_found() {
    let sandbox = wiki();
    sandbox.git(&["config", "memory.accept.style", "squash"]);
    let ids = grow(&sandbox, 2);
    assert_eq!(found(&sandbox.json(&["bisect", "--run", NO_BAD])), ids[1]);
    let by_hand = propose(&sandbox, "gotchas/z.md", "# Use -z\n\nAWFUL.\n");
    sandbox.git(&["merge", "-q", "--no-ff", "-m", "Take it", &format!("refs/memory/pending/{by_hand}")]);
    assert_eq!(found(&sandbox.json(&["bisect", "--run", "! grep -rq AWFUL ."])), by_hand);
}

#[test]
fn it_works_on_a_bare_repository_an_orphan_branch_and_from_a_code_repository() {
    let bare = Sandbox::bare_folder();
    bare.git(&["init", "-q", "--bare"]);
    bare.run(&["init", "--no-hooks"]);
    let ids = grow(&bare, 3);
    let before = bare.state();
    assert_eq!(found(&bare.json(&["bisect", "--run", NO_BAD])), ids[2]);
    assert_eq!(bare.state(), before);

    let orphan = Sandbox::new();
    orphan.run(&["init", "--no-hooks", "--branch", "wiki"]);
    let ids = grow(&orphan, 4);
    let before = orphan.state();
    assert_eq!(found(&orphan.json(&["bisect", "--run", &format!("test ! -e README.md && {NO_BAD}")])), ids[3]);
    assert_eq!(orphan.state(), before);

    orphan.git(&["init", "-q", "../code"]);
    let mut code = Sandbox::bare_folder();
    code.dir = orphan.root().join("code");
    code.git(&["config", "memory.wiki", "../work"]);
    assert_eq!(found(&code.json(&["bisect", "--run", NO_BAD])), ids[3]);
}

#[test]
fn the_command_runs_in_a_work_tree_of_its_own_without_the_persons_hooks() {
    let (mut sandbox, ids) = nine(5);
    let out = sandbox.root().join("out");
    sandbox.write(".git/hooks/post-checkout", format!("#!/bin/sh\ntouch {}/hook\n", sandbox.root().display()));
    sandbox.program("chmod").args(["+x", ".git/hooks/post-checkout"]).status().expect("chmod");
    let command = format!(
        "{{ echo \"$GIT_MEMORY_RUN $(git rev-parse --show-toplevel) $(pwd -P)\"; git status --porcelain; }} >>{}; \
         echo loud; echo dirt >dirt; test -e notes/page-1.md && echo x >notes/page-1.md; {NO_BAD}",
        out.display()
    );
    // As git itself would start it in an alias or a hook.
    sandbox.env.push(("GIT_DIR".into(), sandbox.path(".git").display().to_string()));
    sandbox.env.push(("GIT_WORK_TREE".into(), sandbox.dir.display().to_string()));
    sandbox.env.push(("GIT_INDEX_FILE".into(), sandbox.path(".git/index").display().to_string()));
    let value = sandbox.json(&["bisect", "--run", &command]);
    assert_eq!(found(&value), ids[4]);
    let told = std::fs::read_to_string(out).expect("what the command wrote");
    assert_eq!(told.lines().count(), value["steps"].as_array().expect("steps").len(), "each is clean: {told}");
    let mut places = std::collections::HashSet::new();
    for line in told.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!((words[0], words[1]), ("bisect", words[2]), "{line}");
        assert!(!words[1].starts_with(&sandbox.root().display().to_string()), "{line}");
        assert!(places.insert(words[1].to_owned()), "a fresh one each time: {told}");
        assert!(!std::path::Path::new(words[1]).exists());
    }
    assert!(!sandbox.root().join("hook").exists(), "the person's hook ran");
    let quiet = sandbox.memory(&["bisect", "-q", "--run", &command]).output().expect("starts");
    assert!(!String::from_utf8_lossy(&quiet.stderr).contains("loud"));
}

#[cfg(unix)]
mod stopped {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    /// A bisect that is in the middle of a trial, and the work tree of that.
    fn underway(sandbox: &Sandbox) -> (Child, String) {
        let place = sandbox.root().join("place");
        let _ = std::fs::remove_file(&place);
        let command = format!("pwd -P >{0}.new && mv {0}.new {0}; exec sleep 60", place.display());
        let mut program = sandbox.program(common::BIN);
        program.args(["bisect", "--run", &command]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = program.spawn().expect("starts");
        let path = until(|| std::fs::read_to_string(&place).ok());
        (child, path.trim_end().to_owned())
    }

    fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < end, "it did not come");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn send(child: &Child, signal: &str) {
        let status = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
        assert!(status.success());
    }

    fn worktrees(sandbox: &Sandbox) -> usize {
        sandbox.git(&["worktree", "list"]).lines().count()
    }

    #[test]
    fn ctrl_c_and_termination_put_everything_away_at_once() {
        let (sandbox, _) = nine(5);
        for signal in ["-INT", "-TERM"] {
            let (child, path) = underway(&sandbox);
            assert_eq!(worktrees(&sandbox), 2);
            send(&child, signal);
            let output = child.wait_with_output().expect("ends");
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            assert!(String::from_utf8_lossy(&output.stderr).contains("stopped"), "{output:?}");
            assert!(!std::path::Path::new(&path).exists());
            assert_eq!(worktrees(&sandbox), 1);
        }
    }

    /// What `git memory doctor` says of work trees.
    fn told(sandbox: &Sandbox) -> Vec<String> {
        let report = sandbox.json(&["doctor"]);
        let checks = report["checks"].as_array().expect("checks").iter();
        checks.filter(|check| check["name"] == "worktrees").map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_killed_process_left_is_told_by_doctor_and_removed_by_the_next() {
        let (sandbox, ids) = nine(5);
        sandbox.git(&["worktree", "add", "-q", "--detach", "../mine"]);
        sandbox.git(&["worktree", "add", "-q", "--detach", "../gone"]);
        std::fs::remove_dir_all(sandbox.root().join("gone")).expect("removed");
        let (mut child, path) = underway(&sandbox);
        let (_, err) = sandbox.fails(75, &["bisect", "--run", NO_BAD]);
        assert!(err.contains("another process"), "{err}");
        assert_eq!(told(&sandbox), [""; 0], "it is at work");
        send(&child, "-KILL");
        // What the command holds open stays so until it ends.
        child.wait().expect("ends");
        assert!(std::path::Path::new(&path).exists());
        assert_eq!(worktrees(&sandbox), 4);
        let told_now = told(&sandbox);
        assert!(told_now.len() == 1 && told_now[0].contains(&format!("--force '{path}'")), "{told_now:?}");
        assert_eq!(found(&sandbox.json(&["bisect", "--run", NO_BAD])), ids[4]);
        assert!(!std::path::Path::new(&path).exists());
        assert!(!std::path::Path::new(&path).parent().expect("its folder").exists());
        // What is not ours stays, the person's missing one too.
        assert_eq!((worktrees(&sandbox), told(&sandbox)), (3, vec![]));
        assert!(sandbox.root().join("mine").exists());
    }
}
