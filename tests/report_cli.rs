//! What the reading commands say: `status`, `log`, `doctor`, `session`, in every kind of place, and over damage.

mod common;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use common::Sandbox;
use git_memory::git::Repo;
use git_memory::session::{From, Outcome, Policy, ReadOptions, Redactor, capture, read};
use serde_json::Value;

/// A repository with a wiki in `root`.
fn wiki(root: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--root", root, "--no-hooks"]);
    sandbox
}

/// Proposes a page; returns the proposal's id.
fn propose(sandbox: &Sandbox, page: &str, title: &str) -> String {
    let file = sandbox.root().join("draft.md");
    let text = format!("# {title}\n\nThe build of {page} needs the flag, or it fails after an hour without a word.\n");
    std::fs::write(&file, text).unwrap();
    let draft = file.to_str().unwrap();
    let made = sandbox.json(&["propose", page, "--file", draft, "--rationale", "it cost us an afternoon"]);
    made["results"][0]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

/// Captures sessions of the fixtures.
fn captured(sandbox: &Sandbox, names: &[&str]) -> Vec<String> {
    let redactor = Redactor::new(&[], &[]).unwrap();
    let policy = Policy::new(true, false, &[]).unwrap();
    let options = ReadOptions { redactor: &redactor, policy: &policy };
    let mut sessions = Vec::new();
    for name in names {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions").join(name);
        let (outcome, _) = read(&path, From::Auto, options).unwrap();
        let Outcome::Sessions(found) = outcome else { panic!("{name} is not recognised") };
        sessions.extend(found.into_iter().map(|session| (session, "global".to_owned())));
    }
    let repo = Repo::open(&sandbox.dir).unwrap();
    let done = capture(&repo, sessions, common::NOW.parse().unwrap()).unwrap();
    done.into_iter().map(|kept| kept.id).collect()
}

/// Puts a file into the ledger's tree, as no command of ours would.
fn into_ledger(sandbox: &Sandbox, path: &str, text: &str) {
    let index = sandbox.root().join("ledger.index");
    let git = |args: &[&str], input: &str| {
        let mut command = assert_cmd::Command::from_std(sandbox.program("git"));
        let output = command.env("GIT_INDEX_FILE", &index).args(args).write_stdin(input).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    git(&["read-tree", "refs/memory/log"], "");
    let blob = git(&["hash-object", "-w", "--stdin"], text);
    git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}")], "");
    let tree = git(&["write-tree"], "");
    let commit = git(&["commit-tree", &tree, "-p", "refs/memory/log", "-m", "by hand"], "");
    git(&["update-ref", "refs/memory/log", &commit], "");
}

fn porcelain(sandbox: &Sandbox) -> Vec<(String, String)> {
    let text = sandbox.run(&["status", "--porcelain"]);
    text.lines().map(|line| line.split_once(' ').map(|(k, v)| (k.to_owned(), v.to_owned())).unwrap()).collect()
}

fn value(lines: &[(String, String)], key: &str) -> String {
    lines.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone()).unwrap_or_default()
}

fn levels(report: &Value, name: &str) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap();
    let of = checks.iter().filter(|check| check["name"] == name);
    of.map(|check| check["level"].as_str().unwrap().to_owned()).collect()
}

/// `doctor --json`, which must end with this exit code.
fn doctor(sandbox: &Sandbox, code: i32) -> Value {
    let (text, _) = sandbox.fails(code, &["doctor", "--json"]);
    serde_json::from_str(&text).unwrap()
}

/// Where the check with this name and level says what, with its fix.
fn told(report: &Value, name: &str, level: &str) -> (String, String) {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name && check["level"] == level);
    let found = found.unwrap_or_else(|| panic!("no {level} {name} in {report}"));
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    (text("message"), text("fix"))
}

#[test]
fn the_screen_tells_what_waits_and_what_to_do_next() {
    let sandbox = wiki("docs/memory");
    let output = sandbox.memory(&["status"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("branch main at") && out.contains("0 pages in docs/memory"), "{out}");
    assert!(out.contains("Pending   nothing") && err.contains("git memory capture"), "{out}{err}");

    propose(&sandbox, "gotchas/flag.md", "The build needs a flag");
    let rule = propose(&sandbox, "_rules/tabs.md", "Tabs, never spaces");
    let id = propose(&sandbox, "notes/ports.md", "The port is 8081");
    sandbox.run(&["accept", &id]);
    let mut later = sandbox;
    later.now = Some("2026-03-05T12:00:00Z".into());
    let output = later.memory(&["status"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("2 proposals, the oldest 4 d old (2 manual)"), "{out}");
    assert!(out.contains("1 needs a person") && err.contains("git memory review"), "{out}{err}");
    assert!(out.contains("1 page in docs/memory"), "{out}");

    let lines = porcelain(&later);
    assert_eq!(value(&lines, "pending"), "2");
    assert_eq!(value(&lines, "pending.lane.manual"), "2");
    assert_eq!(value(&lines, "pending.needs-person"), "1");
    assert_eq!(value(&lines, "pending.oldest"), "2026-03-01T12:00:00Z");
    assert_eq!(value(&lines, "pages"), "1");
    assert_eq!(value(&lines, "commit"), later.rev("main"));
    let zero = later.run(&["status", "--porcelain", "-z"]);
    let ends: Vec<String> = lines.iter().map(|(key, value)| format!("{key} {value}\0")).collect();
    assert_eq!(zero, ends.concat());

    let json = later.json(&["status"]);
    assert_eq!((&json["schema"], &json["pending"]["count"]), (&"git-memory.status/1".into(), &2.into()));
    later.run(&["reject", &rule, "--reason", "we use spaces"]);
    assert_eq!(value(&porcelain(&later), "pending"), "1");
    later.fails(129, &["status", "-z"]);
}

#[test]
fn what_was_kept_is_never_told_for_another_state() {
    let sandbox = wiki("");
    assert_eq!(value(&porcelain(&sandbox), "pending"), "0");
    let id = propose(&sandbox, "notes/a.md", "A first thing");
    assert_eq!(value(&porcelain(&sandbox), "pending"), "1");
    // By hand, without an event of the ledger.
    sandbox.git(&["merge", "-q", "--no-ff", "-m", "By hand", &format!("refs/memory/pending/{id}")]);
    let lines = porcelain(&sandbox);
    assert_eq!((value(&lines, "pending").as_str(), value(&lines, "pages").as_str()), ("0", "2"));
    captured(&sandbox, &["hand-pnpm-rule.jsonl"]);
    assert_eq!(value(&porcelain(&sandbox), "sessions.unseen"), "1");
    sandbox
        .write(".git/memory/queue/1.json", r#"{"event":"post-commit","repo":"/r/.git","at":"2026-03-01T12:00:00Z"}"#);
    sandbox.write(".git/memory/queue/2.json", "{");
    let lines = porcelain(&sandbox);
    assert_eq!(value(&lines, "queued"), "1");
    assert!(value(&lines, "trouble").contains("2.json"), "{lines:?}");
}

#[test]
fn every_kind_of_place_is_told_of() {
    let main = wiki("docs/memory");
    propose(&main, "notes/a.md", "A first thing");
    captured(&main, &["hand-pnpm-rule.jsonl"]);
    let check = |sandbox: &Sandbox| {
        for args in [&["status"][..], &["status", "--porcelain"], &["log"], &["lint"], &["session", "list"]] {
            sandbox.run(args);
        }
        assert_eq!(sandbox.json(&["status"])["pending"]["count"], 1, "{}", sandbox.dir.display());
        assert_eq!(sandbox.json(&["session", "list"])["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(sandbox.json(&["doctor"])["healthy"], true);
        assert!(sandbox.run(&["log", "--kind", "staged"]).contains("notes/a.md"));
    };
    check(&main);

    let mut place = wiki("docs/memory");
    propose(&place, "notes/a.md", "A first thing");
    captured(&place, &["hand-pnpm-rule.jsonl"]);
    let top = place.dir.clone();
    // A linked worktree on another branch.
    place.git(&["worktree", "add", "-q", "-b", "work", "../linked"]);
    place.dir = place.root().join("linked");
    check(&place);
    // A folder below the top.
    place.dir = top.join("docs/memory/notes");
    std::fs::create_dir_all(&place.dir).unwrap();
    check(&place);
    // A bare repository with the same refs.
    place.dir = place.root();
    place.git(&["clone", "-q", "--mirror", top.to_str().unwrap(), "bare.git"]);
    place.dir = place.root().join("bare.git");
    place.git(&["config", "memory.wiki.branch", "main"]);
    check(&place);
    // A code repository that names a separate wiki.
    place.dir = place.root().join("code");
    std::fs::create_dir_all(&place.dir).unwrap();
    place.git(&["init", "-q"]);
    place.git(&["config", "memory.wiki", "../bare.git"]);
    check(&place);
    let lines = porcelain(&place);
    assert!(value(&lines, "repository").ends_with("bare.git") && value(&lines, "code").ends_with("code"), "{lines:?}");

    // A branch that is never checked out.
    let orphan = Sandbox::new();
    orphan.run(&["init", "--branch", "wiki", "--no-hooks"]);
    propose(&orphan, "notes/a.md", "A first thing");
    captured(&orphan, &["hand-pnpm-rule.jsonl"]);
    check(&orphan);
    let (message, _) = told(&orphan.json(&["doctor"]), "wiki", "ok");
    assert!(message.contains("checked out nowhere"), "{message}");
}

#[test]
fn no_repository_no_wiki_and_no_commit_are_three_different_answers() {
    let nothing = Sandbox::bare_folder();
    for command in ["status", "log", "lint", "doctor"] {
        assert_eq!(nothing.json_error(128, &[command])["code"], "not_a_repository");
    }
    let plain = Sandbox::new();
    for command in [&["status"][..], &["log"], &["lint"], &["session", "list"]] {
        let error = plain.json_error(128, command);
        assert_eq!(error["code"], "no_wiki");
        assert!(error["hint"].as_str().unwrap().contains("git memory init"), "{error}");
    }
    assert_eq!(levels(&doctor(&plain, 1), "wiki"), ["broken"]);

    let unborn = Sandbox::empty();
    unborn.git(&["config", "memory.wiki.branch", "main"]);
    let lines = porcelain(&unborn);
    assert_eq!((value(&lines, "commit").as_str(), value(&lines, "pages").as_str()), ("-", "0"));
    let (_, err) = unborn.fails(0, &["status"]);
    assert!(err.contains("git memory init"), "{err}");
    assert_eq!(unborn.json(&["lint"])["pages"], 0);
    assert_eq!(unborn.json(&["log"])["entries"].as_array().unwrap().len(), 0);
    let (message, fix) = told(&doctor(&unborn, 1), "wiki", "broken");
    assert!(message.contains("no commit yet") && fix == "git memory init", "{message}");
}

#[test]
fn a_scope_narrows_what_is_told_and_an_unknown_one_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--scope", "shop=shop"]);
    propose(&sandbox, "notes/a.md", "A first thing");
    assert_eq!(sandbox.json(&["status", "--scope", "shop"])["pending"]["count"], 0);
    assert_eq!(sandbox.json(&["status"])["pending"]["count"], 1);
    for command in ["status", "log", "lint"] {
        assert_eq!(sandbox.json_error(1, &[command, "--scope", "nope"])["code"], "scope_unresolved");
    }
}

#[test]
fn a_broken_line_of_the_ledger_is_told_and_hides_nothing_else() {
    let sandbox = wiki("");
    propose(&sandbox, "notes/a.md", "A first thing");
    into_ledger(&sandbox, "events/2026/03/01/zz.jsonl", "{\"v\":1,\n");
    let expect = |sandbox: &Sandbox| {
        let lines = porcelain(sandbox);
        assert_eq!(value(&lines, "pending"), "1");
        assert!(value(&lines, "trouble").contains("events/2026/03/01/zz.jsonl:1"), "{lines:?}");
    };
    expect(&sandbox);
    expect(&sandbox);
    let (out, err) = sandbox.fails(0, &["log"]);
    assert!(out.contains("notes/a.md") && err.contains("zz.jsonl:1"), "{out}{err}");
    let (message, fix) = told(&doctor(&sandbox, 1), "ledger", "broken");
    assert!(message.contains("zz.jsonl:1") && fix.contains("events/2026/03/01/zz.jsonl"), "{message} {fix}");
}

#[test]
fn corrupt_caches_are_made_again() {
    let sandbox = wiki("");
    propose(&sandbox, "notes/a.md", "A first thing");
    captured(&sandbox, &["hand-pnpm-rule.jsonl"]);
    let before = sandbox.run(&["status", "--porcelain"]);
    let index = sandbox.path(".git/memory/index");
    let names: Vec<PathBuf> = std::fs::read_dir(&index).unwrap().flatten().map(|entry| entry.path()).collect();
    for name in ["ledger.json", "status.json", "sessions.json"] {
        assert!(names.contains(&index.join(name)), "{names:?}");
    }
    for garbage in ["", "{", "[\"1\",{}]", "null", "[\"x\",[{},[]]]"] {
        for name in &names {
            std::fs::write(name, garbage).unwrap();
        }
        assert_eq!(sandbox.run(&["status", "--porcelain"]), before, "{garbage}");
        assert_eq!(sandbox.json(&["proposal", "list"])["proposals"].as_array().unwrap().len(), 1);
    }
    std::fs::remove_dir_all(sandbox.path(".git/memory")).unwrap();
    assert_eq!(sandbox.run(&["status", "--porcelain"]), before);
}

#[test]
fn a_ref_that_a_crash_left_empty_is_an_error_and_doctor_names_its_file() {
    let sandbox = wiki("");
    let id = propose(&sandbox, "notes/a.md", "A first thing");
    sandbox.write(&format!(".git/refs/memory/pending/{id}"), "");
    let error = sandbox.json_error(128, &["status"]);
    assert!(error["hint"].as_str().unwrap().contains("git memory doctor"), "{error}");
    let (message, fix) = told(&doctor(&sandbox, 1), "refs", "broken");
    assert!(message.contains(&id) && message.contains("empty") && fix.starts_with("rm '"), "{message} {fix}");
    let (out, _) = sandbox.fails(1, &["doctor", "--problems"]);
    assert!(out.contains("broken") && !out.contains("ok   "), "{out}");
}

#[test]
fn refs_and_ledger_that_do_not_fit_are_told_with_the_command_that_mends_them() {
    let sandbox = wiki("");
    let id = propose(&sandbox, "notes/a.md", "A first thing");
    let tip = sandbox.rev(&format!("refs/memory/pending/{id}"));
    assert_eq!(levels(&doctor(&sandbox, 0), "proposals"), ["ok"]);
    sandbox.git(&["update-ref", "-d", &format!("refs/memory/pending/{id}")]);
    let (message, fix) = told(&doctor(&sandbox, 1), "proposals", "broken");
    assert!(message.contains("is gone"), "{message}");
    assert_eq!(fix, format!("git memory proposal reopen {id}"));
    let words: Vec<&str> = fix.split(' ').skip(1).collect();
    sandbox.git(&words);
    assert_eq!(levels(&doctor(&sandbox, 0), "proposals"), ["ok"]);

    sandbox.git(&["update-ref", "refs/memory/pending/0123456789abcdef", &tip]);
    let (message, fix) = told(&doctor(&sandbox, 1), "proposals", "broken");
    assert!(message.contains("no such proposal"), "{message}");
    let words: Vec<&str> = fix.split("git ").last().unwrap().split(' ').collect();
    sandbox.git(&words);
    doctor(&sandbox, 0);

    captured(&sandbox, &["hand-pnpm-rule.jsonl"]);
    let gone = "1".repeat(40);
    sandbox.write(".git/refs/memory/sessions/lost", format!("{gone}\n"));
    let report = doctor(&sandbox, 1);
    let (message, _) = told(&report, "refs", "broken");
    assert!(message.contains("refs/memory/sessions/lost") && message.contains("missing"), "{message}");
    // One session that cannot be read hides no other.
    let (out, err) = sandbox.fails(0, &["session", "list"]);
    assert!(out.contains("603b2d81") && err.contains("refs/memory/sessions/lost"), "{out}{err}");
}

#[test]
fn what_another_clone_staged_is_no_trouble_and_can_be_made_here() {
    let sandbox = wiki("");
    let id = propose(&sandbox, "notes/a.md", "A first thing");
    let top = tempfile::tempdir().unwrap();
    let bare = top.path().join("bare").display().to_string();
    let other = top.path().join("other").display().to_string();
    sandbox.git(&["init", "-q", "--bare", &bare]);
    sandbox.git(&["push", "-q", &bare, "main", "refs/memory/log"]);
    sandbox.git(&["clone", "-q", "-b", "main", &bare, &other]);
    sandbox.git(&["-C", &other, "fetch", "-q", "origin", "refs/memory/log:refs/memory/log"]);
    sandbox.git(&["-C", &other, "config", "memory.wiki.branch", "main"]);
    let status = || sandbox.json(&["-C", &other, "status"]);
    let there = status();
    assert_eq!((&there["pending"]["elsewhere"], &there["trouble"]), (&serde_json::json!([id]), &serde_json::json!([])));
    let said = sandbox.run(&["-C", &other, "status"]);
    let how = format!("`git memory proposal reopen {}`", &id[..8]);
    assert!(said.contains("1 staged elsewhere") && said.contains(&how) && !said.contains("Trouble"), "{said}");
    assert_eq!(sandbox.json(&["status"])["pending"]["elsewhere"], serde_json::json!([]), "here it has its branch");
    sandbox.run(&["-C", &other, "proposal", "reopen", &id]);
    assert_eq!(status()["pending"]["elsewhere"], serde_json::json!([]));
    sandbox.run(&["-C", &other, "accept", &id]);
    assert!(sandbox.git(&["-C", &other, "show", "main:notes/a.md"]).contains("A first thing"));
    // A branch that was here and is gone is another matter.
    sandbox.git(&["update-ref", "-d", &format!("refs/memory/pending/{id}")]);
    assert!(sandbox.json(&["status"])["trouble"].to_string().contains("is gone"));
}

#[test]
fn a_run_at_work_and_one_that_died_are_told_of() {
    let sandbox = wiki("");
    captured(&sandbox, &["hand-pnpm-rule.jsonl"]);
    let mut run = sandbox.json(&["improve", "--dry-run"]);
    run.as_object_mut().unwrap().remove("schema");
    let id = run["id"].as_str().unwrap().to_owned();
    let journal = sandbox.path(format!(".git/memory/journal/{id}.json"));
    std::fs::create_dir_all(journal.parent().unwrap()).unwrap();
    std::fs::write(&journal, run.to_string()).unwrap();
    let status = sandbox.json(&["status"]);
    assert_eq!((&status["dead"][0]["id"], &status["at_work"]), (&id.as_str().into(), &Value::Null), "{status}");
    let output = sandbox.memory(&["status"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains(&format!("Died      {id}")) && err.contains("what a dead run left"), "{out}{err}");
    assert_eq!(value(&porcelain(&sandbox), "dead"), format!("{id} manual 2026-03-01T12:00:00Z"));

    let lock = std::fs::File::create(sandbox.path(".git/memory/worker.lock")).unwrap();
    lock.lock().unwrap();
    let status = sandbox.json(&["status"]);
    assert_eq!((&status["at_work"]["id"], &status["dead"]), (&id.as_str().into(), &serde_json::json!([])), "{status}");
    assert!(sandbox.run(&["status"]).contains(&format!("At work   {id}")));
    drop(lock);
    std::fs::rename(&journal, journal.with_extension("malformed")).unwrap();
    assert!(sandbox.json(&["status"])["trouble"][0].as_str().unwrap().contains("malformed"));
}

#[test]
fn a_local_folder_that_cannot_be_written_stops_no_reading() {
    let sandbox = wiki("");
    propose(&sandbox, "notes/a.md", "A first thing");
    std::fs::remove_dir_all(sandbox.path(".git/memory")).unwrap();
    sandbox.write(".git/memory", "a file");
    let lines = porcelain(&sandbox);
    assert_eq!(value(&lines, "pending"), "1");
    assert!(value(&lines, "trouble").contains("queue"), "{lines:?}");
    for args in [&["log"][..], &["lint"], &["session", "list"], &["proposal", "list"]] {
        sandbox.run(args);
    }
    let (message, fix) = told(&doctor(&sandbox, 1), "folder", "broken");
    assert!(message.contains("is a file") && fix.starts_with("rm '"), "{message} {fix}");
}

#[test]
fn locks_that_were_left_behind_are_told_with_their_age_and_stay() {
    let sandbox = wiki("");
    let lock = sandbox.path(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    assert_eq!(levels(&doctor(&sandbox, 0), "locks"), ["warning"]);
    let old = SystemTime::now() - Duration::from_secs(3 * 3600);
    std::fs::File::options().write(true).open(&lock).unwrap().set_modified(old).unwrap();
    let (message, fix) = told(&doctor(&sandbox, 1), "locks", "broken");
    assert!(message.contains("3 h") && fix.contains(&format!("rm '{}'", lock.display())), "{message} {fix}");
    assert!(lock.exists());
}

#[test]
fn identity_and_signing_are_tried() {
    let sandbox = wiki("");
    assert_eq!(levels(&doctor(&sandbox, 0), "signing"), Vec::<String>::new());
    let key = sandbox.root().join("key");
    let made = sandbox.program("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status();
    sandbox.git(&["config", "commit.gpgSign", "true"]);
    sandbox.git(&["config", "gpg.format", "ssh"]);
    sandbox.git(&["config", "user.signingKey", "/nonexistent"]);
    let before = sandbox.git_files();
    let (message, fix) = told(&doctor(&sandbox, 1), "signing", "broken");
    assert!(message.contains("signing does not work") && fix.contains("commit.gpgSign false"), "{message}");
    if made.is_ok_and(|status| status.success()) {
        sandbox.git(&["config", "user.signingKey", key.to_str().unwrap()]);
        assert_eq!(levels(&doctor(&sandbox, 0), "signing"), ["ok"]);
    }
    let objects = |files: &[(PathBuf, Vec<u8>)]| files.iter().filter(|(path, _)| path.starts_with("objects")).count();
    assert_eq!(objects(&sandbox.git_files()), objects(&before), "the signed commit is nowhere");

    std::fs::write(sandbox.home().join("gitconfig"), "[init]\n\tdefaultBranch = main\n").unwrap();
    sandbox.git(&["config", "commit.gpgSign", "false"]);
    let (_, fix) = told(&doctor(&sandbox, 1), "identity", "broken");
    assert!(fix.contains("user.name"), "{fix}");
}

#[test]
fn doctor_tells_of_settings_trust_and_hooks() {
    let sandbox = wiki("");
    let report = doctor(&sandbox, 0);
    let (message, fix) = told(&report, "hooks", "note");
    assert!(message.contains("post-commit") && fix == "git memory hooks install", "{message}");
    sandbox.run(&["hooks", "install"]);
    assert_eq!(levels(&doctor(&sandbox, 0), "hooks"), ["ok", "ok", "ok"]);
    std::fs::remove_file(sandbox.path(".git/hooks/post-commit")).ok();
    let (message, _) = told(&doctor(&sandbox, 1), "hooks", "broken");
    assert!(message.contains("deleted"), "{message}");
    sandbox.run(&["hooks", "uninstall"]);

    sandbox.write(".gitmemory.toml", format!("{}\n[model]\nprovider = \"openai\"\n", sandbox.read(".gitmemory.toml")));
    sandbox.commit("Name a model");
    let (message, fix) = told(&doctor(&sandbox, 0), "trust", "warning");
    assert!(message.contains("model.provider") && fix == "git memory trust", "{message} {fix}");
    sandbox.git(&["config", "memory.nonsense", "1"]);
    let (message, _) = told(&doctor(&sandbox, 1), "configuration", "broken");
    assert!(message.contains("nonsense"), "{message}");
}

#[test]
fn reftable_and_shallow_repositories_get_a_clear_word() {
    let sandbox = wiki("");
    propose(&sandbox, "notes/a.md", "A first thing");
    let top = sandbox.dir.clone();
    let mut place = sandbox;
    place.dir = place.root();
    place.git(&["clone", "-q", "--depth", "1", &format!("file://{}", top.display()), "shallow"]);
    place.dir = place.root().join("shallow");
    let (message, fix) = told(&doctor(&place, 0), "repository", "warning");
    assert!(message.contains("shallow") && fix == "git fetch --unshallow", "{message} {fix}");
    place.run(&["status"]);
    place.run(&["log"]);

    let reftable = Sandbox::bare_folder();
    if !reftable.try_git(&["init", "-q", "--ref-format=reftable"]).status.success() {
        eprintln!("skipped: this git knows no reftable");
        return;
    }
    reftable.run(&["init", "--no-hooks"]);
    propose(&reftable, "notes/a.md", "A first thing");
    assert_eq!(value(&porcelain(&reftable), "pending"), "1");
    let (message, _) = told(&doctor(&reftable, 0), "repository", "ok");
    assert!(message.contains("reftable"), "{message}");
}

#[test]
fn the_log_tells_one_story_newest_first_and_can_be_narrowed() {
    let mut sandbox = wiki("docs/memory");
    let first = propose(&sandbox, "notes/a.md", "A first thing");
    sandbox.now = Some("2026-03-02T12:00:00Z".into());
    sandbox.run(&["accept", &first]);
    let second = propose(&sandbox, "gotchas/b.md", "A second thing");
    sandbox.now = Some("2026-03-04T12:00:00Z".into());
    sandbox.run(&["reject", &second, "--reason", "known already"]);
    sandbox.git(&["pull", "-q", "."]);
    sandbox.write("docs/memory/notes/a.md", "# Rewritten\n");
    let commit = sandbox.commit("Rewrite a note\n\nBody");
    sandbox.now = Some("2026-03-05T12:00:00Z".into());

    let log = sandbox.run(&["log"]);
    let lines: Vec<&str> = log.lines().collect();
    let of =
        |word: &str| lines.iter().position(|line| line.contains(word)).unwrap_or_else(|| panic!("{word} in {log}"));
    assert!(of("Rewrite a note") < of("accepted") && of("rejected") < of("accepted"), "{log}");
    assert!(of("accepted") < of("watermark"), "{log}");
    let rejected = lines[of("rejected")];
    assert_eq!(rejected, format!("   1 d rejected   {} gotchas/b.md — known already (by Ada Tester)", &second[..12]));
    // A landing is told once, by its event.
    assert_eq!(log.matches("A first thing").count(), 2, "{log}");

    let count = |args: &[&str]| {
        let mut all = vec!["log"];
        all.extend(args);
        sandbox.json(&all)["entries"].as_array().unwrap().clone()
    };
    assert_eq!(count(&["--proposal", &first[..6]]).len(), 2);
    assert_eq!(count(&["--kind", "commit"])[0]["id"], commit.as_str());
    let page = count(&["--page", "docs/memory/notes/a.md"]);
    assert_eq!(page.len(), 3, "{page:?}");
    assert_eq!(page[0]["id"], commit.as_str());
    assert_eq!(count(&["--since", "2 days ago"]).len(), 2);
    assert_eq!(count(&["--since", "2026-03-02"]).len(), 4);
    assert_eq!(count(&["--kind", "staged", "-n", "1"])[0]["proposal"], second.as_str());
    let all = count(&[]);
    for most in 0..=all.len() {
        assert_eq!(count(&["-n", &most.to_string()]), all[..most]);
    }
    assert!(count(&["--run", "01NONE"]).is_empty() && count(&["--session", "none"]).is_empty());
    sandbox.fails(129, &["log", "--kind", "nonsense"]);
    sandbox.fails(129, &["log", "--since", "soonish"]);
    assert_eq!(sandbox.run(&["log", "--run", "01NONE"]), "");
}

#[test]
fn events_in_a_segment_of_the_day_before_stand_where_they_belong() {
    let mut sandbox = wiki("");
    sandbox.now = Some("2026-03-02T00:00:30Z".into());
    propose(&sandbox, "notes/a.md", "A first thing");
    let event = |id: &str, at: &str, reason: &str| {
        format!(
            r#"{{"v":1,"id":"{id}","kind":"outcome","at":"{at}","scope":"global","actor":"x","data":{{"reason":"{reason}"}}}}"#
        )
    };
    let lines = [
        event("01KJM9QGR00000000000000001", "2026-03-01T23:59:59Z", "before midnight"),
        event("01KJM9QGR00000000000000002", "2026-03-02T00:01:00Z", "after midnight"),
    ];
    into_ledger(&sandbox, "events/2026/03/01/by-hand.jsonl", &(lines.join("\n") + "\n"));
    let entries = sandbox.json(&["log", "-n", "3"])["entries"].as_array().unwrap().clone();
    let told: Vec<&str> = entries.iter().filter_map(|entry| entry["detail"].as_str()).collect();
    assert_eq!(told, ["after midnight", "A first thing", "before midnight"]);
}

#[test]
fn sessions_are_listed_and_shown() {
    let sandbox = wiki("");
    let names = ["hand-pnpm-rule.jsonl", "hand-queue-decision.jsonl", "hand-sqlx-offline-gotcha.jsonl"];
    let ids = captured(&sandbox, &names);
    assert_eq!(ids.len(), 3);
    let list = sandbox.run(&["session", "list"]);
    assert_eq!(list.lines().count(), 4, "{list}");
    assert!(list.contains("unseen") && list.contains("claude"), "{list}");
    let rows = sandbox.json(&["session", "list"])["sessions"].as_array().unwrap().clone();
    assert!(rows.iter().all(|row| row["standing"] == "unseen" && row["prompts"].as_u64() > Some(0)), "{rows:?}");
    assert_eq!(sandbox.json(&["session", "list", "-n", "1"])["sessions"], Value::Array(rows[..1].to_vec()));

    let id = ids[0].as_str();
    let page = sandbox.run(&["session", "show", &id[..8]]);
    assert_eq!(page, sandbox.git(&["show", &format!("refs/memory/sessions/{id}:page.md")]) + "\n");
    let lines = sandbox.run(&["session", "show", id, "--observations"]);
    let shown = sandbox.json(&["session", "show", id, "--observations"]);
    assert_eq!(lines.lines().count(), shown["events"].as_array().unwrap().len());
    assert!(lines.contains("prompt"), "{lines}");
    assert_eq!(sandbox.json(&["session", "show", id])["page"], page.as_str());

    assert_eq!(sandbox.json_error(1, &["session", "show", "ab"])["code"], "id_too_short");
    assert_eq!(sandbox.json_error(1, &["session", "show", "abcdefgh"])["code"], "unknown_id");
}

#[test]
fn sessions_tell_what_became_of_them() {
    let sandbox = wiki("");
    let ids =
        captured(&sandbox, &["hand-pnpm-rule.jsonl", "hand-queue-decision.jsonl", "hand-sqlx-offline-gotcha.jsonl"]);
    let blob = |id: &str| sandbox.rev(&format!("refs/memory/sessions/{id}:observations.jsonl"));
    let event = |n: usize, kind: &str, id: &str, more: &str| {
        format!(
            r#"{{"v":1,"id":"01KJM9QGR0000000000000000{n}","kind":"{kind}","at":"2026-03-01T12:00:0{n}Z","scope":"global","actor":"x","data":{{"session":"{id}","blob":"{}",{more}}}}}"#,
            blob(id)
        )
    };
    let lines = [
        event(1, "released", &ids[0], r#""outcome":"done""#),
        event(2, "skipped", &ids[1], r#""reason":"no_human_turn""#),
        event(3, "released", &ids[2], r#""outcome":"failed""#),
        event(4, "released", &ids[2], r#""outcome":"failed""#),
        event(5, "released", &ids[2], r#""outcome":"failed""#),
    ];
    into_ledger(&sandbox, "events/2026/03/01/by-hand.jsonl", &(lines.join("\n") + "\n"));
    let rows = sandbox.json(&["session", "list"])["sessions"].as_array().unwrap().clone();
    let of = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap().clone();
    assert_eq!(of(&ids[0])["standing"], "reviewed");
    assert_eq!((&of(&ids[1])["standing"], &of(&ids[1])["reason"]), (&"skipped".into(), &"no_human_turn".into()));
    assert_eq!(of(&ids[2])["standing"], "parked");
    let lines = porcelain(&sandbox);
    assert_eq!((value(&lines, "sessions.unseen").as_str(), value(&lines, "parked")), ("0", ids[2].clone()));
    assert!(sandbox.run(&["status"]).contains("1 parked after failed reviews"));
}

#[test]
fn what_is_printed_with_json_is_what_its_schema_says() {
    let sandbox = wiki("");
    propose(&sandbox, "notes/a.md", "A first thing");
    sandbox.write("notes/x.md", "---\n: [\n---\n");
    sandbox.commit("A broken page");
    let id = captured(&sandbox, &["hand-pnpm-rule.jsonl"]).remove(0);
    let commands: [&[&str]; 7] = [
        &["status"],
        &["log"],
        &["lint", "--fail-on", "error"],
        &["doctor"],
        &["session", "list"],
        &["session", "show", &id],
        &["session", "show", &id, "--observations"],
    ];
    for args in commands {
        let mut all = args.to_vec();
        all.push("--json");
        let output = sandbox.memory(&all).output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let name = value["schema"].as_str().unwrap().to_owned();
        let schema: Value = serde_json::from_str(&sandbox.run(&["schema", &name])).unwrap();
        assert!(jsonschema::is_valid(&schema, &value), "{value} against {schema}");
    }
}

#[test]
fn reading_changes_nothing_but_what_can_be_deleted() {
    let sandbox = wiki("docs/memory");
    propose(&sandbox, "notes/a.md", "A first thing");
    captured(&sandbox, &["hand-pnpm-rule.jsonl"]);
    let outside = |sandbox: &Sandbox| -> Vec<(PathBuf, Vec<u8>)> {
        let files = sandbox.git_files().into_iter();
        files.filter(|(path, _)| !path.starts_with("memory")).collect()
    };
    let (state, files) = (sandbox.state(), outside(&sandbox));
    for args in [&["status"][..], &["log"], &["lint"], &["lint", "docs"], &["doctor"], &["session", "list"]] {
        sandbox.run(args);
    }
    assert_eq!(sandbox.state(), state);
    assert_eq!(outside(&sandbox), files);
}
