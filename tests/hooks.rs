//! Git hooks in real repositories: real commits, merges and rebases run them.
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{BIN, Sandbox};
use git_memory::git::{Lock, Locked};
use sha2::{Digest, Sha256};

const EVENTS: [&str; 3] = ["post-commit", "post-merge", "post-rewrite"];

/// A repository with one commit, and the default hooks.
fn hooked() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    sandbox.run(&["hooks", "install"]);
    sandbox
}

/// Keeps workers away from the queue, so that it can be looked at.
fn hold_worker(git_dir: &Path) -> Lock {
    match Lock::try_take(&git_dir.join("memory/worker.lock"), "test").unwrap() {
        Locked::Yes(lock) => lock,
        Locked::No(holder) => panic!("held by {holder}"),
    }
}

/// What waits in the queue: event and commit.
fn queue(git_dir: &Path) -> Vec<(String, String)> {
    let found = git_memory::ledger::queue::list(&git_dir.join("memory")).unwrap();
    assert!(found.unreadable.is_empty(), "{:?}", found.unreadable);
    found.waiting.into_iter().map(|one| (one.queued.event, one.queued.oid.unwrap_or_default())).collect()
}

fn wait_for(what: &str, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(20), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the queue holds something, then long enough for anything else to arrive.
fn settled(git_dir: &Path) -> Vec<(String, String)> {
    wait_for("the queue", || !queue(git_dir).is_empty());
    std::thread::sleep(Duration::from_millis(500));
    queue(git_dir)
}

/// Nothing arrives.
fn assert_quiet(git_dir: &Path) {
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(queue(git_dir), []);
}

/// `git commit 2>&1 | cat` in a shell; returns how long it took until `cat` saw the end.
fn piped_commit(sandbox: &Sandbox, redirections: &str) -> Duration {
    let start = Instant::now();
    let line = format!("git commit --allow-empty -qm piped {redirections} 2>&1 | cat; exit ${{PIPESTATUS[0]}}");
    let output = sandbox.program("bash").args(["-c", &line]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "the hook says nothing");
    start.elapsed()
}

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Lets an installed hook start another program.
fn point_to(sandbox: &Sandbox, event: &str, binary: &str) {
    let path = sandbox.path(".git/hooks").join(event);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(BIN));
    fs::write(&path, text.replace(BIN, binary)).unwrap();
}

/// Everything in a folder: name, mode, what a link names, bytes.
fn listing(folder: &Path) -> Vec<(String, u32, Option<PathBuf>, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut all: Vec<_> = entries
        .flatten()
        .map(|entry| {
            let meta = entry.path().symlink_metadata().unwrap();
            let link = fs::read_link(entry.path()).ok();
            let bytes = fs::read(entry.path()).unwrap_or_default();
            (entry.file_name().to_string_lossy().into_owned(), meta.permissions().mode(), link, bytes)
        })
        .collect();
    all.sort();
    all
}

// ---- what fires, and what it costs

#[test]
fn a_piped_commit_ends_while_the_worker_works_and_the_worker_empties_the_queue() {
    let mut sandbox = hooked();
    sandbox.env.push(("GIT_MEMORY_WORKER_SLEEP".into(), "4".into()));
    assert!(piped_commit(&sandbox, "") < Duration::from_secs(3));
    let git_dir = sandbox.path(".git");
    wait_for("the queue", || !queue(&git_dir).is_empty());
    assert_eq!(queue(&git_dir), [("post-commit".into(), sandbox.rev("HEAD"))]);
}

#[test]
fn no_inherited_descriptor_is_held_open() {
    let mut sandbox = hooked();
    sandbox.env.push(("GIT_MEMORY_WORKER_SLEEP".into(), "4".into()));
    assert!(piped_commit(&sandbox, "9>&1 12>&1 37>&1") < Duration::from_secs(3));
}

#[cfg(target_os = "linux")]
#[test]
fn the_worker_has_its_own_session_and_folder_and_none_of_gits_variables() {
    let mut sandbox = hooked();
    sandbox.env.push(("GIT_MEMORY_WORKER_SLEEP".into(), "4".into()));
    let linked = sandbox.root().join("linked");
    sandbox.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    sandbox.git(&["-C", linked.to_str().unwrap(), "commit", "-q", "--allow-empty", "-m", "linked"]);
    let git_dir = sandbox.path(".git");
    let target = git_dir.to_str().unwrap().as_bytes().to_vec();
    let mut worker = None;
    wait_for("the worker", || {
        worker = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).find(|process| {
            let line = fs::read(process.join("cmdline")).unwrap_or_default();
            let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
            matches!(words[..], [_, b"worker", folder, ..] if folder == target)
                // After it closed what it inherited, and before it ends.
                && fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == git_dir.join("memory"))
        });
        worker.is_some()
    });
    let worker = worker.unwrap();
    std::thread::sleep(Duration::from_millis(300));
    for stream in ["0", "1", "2"] {
        assert_eq!(fs::read_link(worker.join("fd").join(stream)).unwrap(), Path::new("/dev/null"));
    }
    let environment = fs::read(worker.join("environ")).unwrap();
    let variables: Vec<String> =
        environment.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    for name in ["GIT_DIR=", "GIT_INDEX_FILE=", "GIT_WORK_TREE=", "GIT_PREFIX=", "GIT_EDITOR="] {
        assert!(!variables.iter().any(|variable| variable.starts_with(name)), "{name} in {variables:?}");
    }
    assert!(variables.contains(&"GIT_MEMORY_HOOK=0".to_owned()));
    let stat = fs::read_to_string(worker.join("stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let own = fs::read_to_string("/proc/self/stat").unwrap();
    let own: Vec<&str> = own.rsplit(") ").next().unwrap().split(' ').collect();
    assert_ne!(fields[3], own[3], "the session is its own");
}

#[test]
fn a_missing_program_costs_nothing() {
    let mut sandbox = hooked();
    for event in EVENTS {
        point_to(&sandbox, event, "/nowhere/git-memory");
    }
    let folder = Path::new(BIN).parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap();
    let path: Vec<&str> = path.split(':').filter(|part| *part != folder).collect();
    sandbox.env.push(("PATH".into(), path.join(":")));
    assert!(piped_commit(&sandbox, "") < Duration::from_secs(2));
    assert_quiet(&sandbox.path(".git"));
}

#[test]
fn a_program_that_moved_is_found_through_path() {
    let sandbox = hooked();
    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    point_to(&sandbox, "post-commit", "/nowhere/git-memory");
    sandbox.commit("x");
    assert_eq!(settled(&git_dir).len(), 1);
}

#[test]
fn a_failing_program_costs_nothing() {
    let sandbox = hooked();
    let failing = sandbox.root().join("failing");
    script(&failing, "#!/bin/sh\necho trouble >&2\nexit 3\n");
    point_to(&sandbox, "post-commit", failing.to_str().unwrap());
    assert!(piped_commit(&sandbox, "") < Duration::from_secs(2));
}

#[test]
fn a_stuck_program_costs_nothing() {
    let sandbox = hooked();
    let (stuck, pid) = (sandbox.root().join("stuck"), sandbox.root().join("pid"));
    script(&stuck, &format!("#!/bin/sh\necho $$ >'{0}.new'\nmv '{0}.new' '{0}'\nexec sleep 1000\n", pid.display()));
    point_to(&sandbox, "post-commit", stuck.to_str().unwrap());
    assert!(piped_commit(&sandbox, "8>&1") < Duration::from_secs(2));
    wait_for("the stuck program", || pid.exists());
    let pid = fs::read_to_string(pid).unwrap();
    assert!(sandbox.program("kill").arg(pid.trim()).status().unwrap().success());
}

#[test]
fn a_program_whose_path_has_spaces_and_quotes_is_started() {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    let binary = sandbox.root().join("it's \"here\" $HOME/git-memory");
    fs::create_dir_all(binary.parent().unwrap()).unwrap();
    fs::copy(BIN, &binary).unwrap();
    assert!(sandbox.program(&binary).args(["hooks", "install"]).output().unwrap().status.success());
    assert!(sandbox.read(".git/hooks/post-commit").contains("it'\\''s"));
    sandbox.env.push(("PATH".into(), "/usr/bin:/bin".into()));
    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    sandbox.commit("x");
    assert_eq!(settled(&git_dir).len(), 1);
}

#[test]
fn hooks_are_off_when_told_so() {
    let mut sandbox = hooked();
    sandbox.env.push(("GIT_MEMORY_HOOK".into(), "0".into()));
    let _held = hold_worker(&sandbox.path(".git"));
    sandbox.commit("x");
    assert_quiet(&sandbox.path(".git"));
}

// ---- the worker

/// A wiki with the default hooks.
fn wiki() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    sandbox.write(".gitmemory.toml", "[wiki]\nroot = \"notes\"\n");
    sandbox.commit("Make a wiki");
    sandbox.git(&["config", "memory.wiki.branch", "main"]);
    sandbox.run(&["hooks", "install"]);
    sandbox
}

#[test]
fn a_commit_in_a_wiki_is_queued_and_worked_through() {
    let sandbox = wiki();
    let git_dir = sandbox.path(".git");
    let held = hold_worker(&git_dir);
    sandbox.commit("x");
    assert_eq!(settled(&git_dir).len(), 1);
    drop(held);
    sandbox.commit("y");
    wait_for("an empty queue", || queue(&git_dir).is_empty());
    assert!(!git_dir.join("memory/worker.log").exists());
}

fn event(oid: &str) -> git_memory::ledger::queue::Queued {
    git_memory::ledger::queue::Queued {
        event: "post-commit".into(),
        oid: Some(oid.into()),
        repo: "r".into(),
        at: jiff::Timestamp::UNIX_EPOCH,
    }
}

#[test]
fn what_is_queued_while_a_worker_ends_is_not_left_behind() {
    let sandbox = wiki();
    let git_dir = sandbox.path(".git");
    let memory = git_dir.join("memory");
    git_memory::ledger::queue::push(&memory, &event("aa")).unwrap();
    let seen = std::cell::RefCell::new(Vec::new());
    let pass = |_: &git_memory::wiki::Wiki, queued: &[git_memory::ledger::queue::Queued]| {
        if seen.borrow().is_empty() {
            // A second worker meets the lock, and leaves its event to the first.
            git_memory::ledger::queue::push(&memory, &event("bb")).unwrap();
            let second = git_memory::agent::worker::run(&git_dir, &|_, _| panic!("two at work"));
            assert_eq!(second.unwrap(), git_memory::agent::worker::Ended::OtherAtWork);
        }
        seen.borrow_mut().extend(queued.iter().filter_map(|one| one.oid.clone()));
        Ok(())
    };
    git_memory::agent::worker::run(&git_dir, &pass).unwrap();
    assert_eq!(*seen.borrow(), ["aa", "bb"]);
    assert_eq!(queue(&git_dir), []);
}

#[test]
fn a_failed_pass_keeps_its_events_and_says_so_in_the_log() {
    let sandbox = wiki();
    let git_dir = sandbox.path(".git");
    git_memory::ledger::queue::push(&git_dir.join("memory"), &event("aa")).unwrap();
    // A program that another test starts at this moment may still share the lock of the run before.
    let run = |pass: git_memory::agent::worker::Pass| {
        let mut ended = None;
        wait_for("the lock", || {
            ended = Some(git_memory::agent::worker::run(&git_dir, pass));
            !matches!(ended, Some(Ok(git_memory::agent::worker::Ended::OtherAtWork)))
        });
        ended.unwrap().unwrap_err().to_string()
    };
    assert_eq!(run(&|_, _| Err("no room".into())), "no room");
    assert!(run(&|_, _| panic!("broken")).contains("broken"));
    assert_eq!(queue(&git_dir).len(), 1);
    let log = sandbox.read(".git/memory/worker.log");
    assert!(log.contains("worker: no room\n") && log.contains("this is a bug in git-memory: broken\n"), "{log}");
}

// ---- what is queued

#[test]
fn a_rebase_of_ten_commits_queues_once() {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    sandbox.git(&["switch", "-qc", "topic"]);
    for n in 0..10 {
        sandbox.write(&format!("{n}.txt"), "x\n");
        sandbox.commit(&format!("topic {n}"));
    }
    sandbox.git(&["switch", "-q", "main"]);
    sandbox.write("main.txt", "x\n");
    sandbox.commit("main");
    sandbox.git(&["switch", "-q", "topic"]);
    sandbox.run(&["hooks", "install"]);
    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    sandbox.git(&["rebase", "-q", "main"]);
    assert_eq!(settled(&git_dir), [("post-rewrite".into(), sandbox.rev("HEAD"))]);
}

#[test]
fn a_rebase_with_fixups_queues_once() {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    for message in ["one", "fixup! one", "two", "fixup! two"] {
        sandbox.write(&format!("{message}.txt"), "x\n");
        sandbox.commit(message);
    }
    sandbox.run(&["hooks", "install"]);
    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    sandbox.env.push(("GIT_SEQUENCE_EDITOR".into(), "true".into()));
    sandbox.git(&["rebase", "-q", "-i", "--autosquash", "HEAD~4"]);
    assert_eq!(settled(&git_dir), [("post-rewrite".into(), sandbox.rev("HEAD"))]);
}

#[test]
fn an_amended_commit_is_queued_once() {
    let sandbox = hooked();
    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    sandbox.git(&["commit", "-q", "--amend", "-m", "Start again"]);
    let waiting = settled(&git_dir);
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].1, sandbox.rev("HEAD"));
}

#[test]
fn merges_are_queued_clean_or_not_and_picks_and_bisects_are_not() {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    let branch = |name: &str, file: &str, text: &str| {
        sandbox.git(&["switch", "-qc", name, "main"]);
        sandbox.write(file, text);
        sandbox.commit(name);
        sandbox.git(&["switch", "-q", "main"]);
    };
    branch("clean", "clean.txt", "x\n");
    branch("clash", "README.md", "theirs\n");
    branch("pick", "pick.txt", "x\n");
    sandbox.write("README.md", "ours\n");
    sandbox.commit("ours");
    sandbox.run(&["hooks", "install"]);
    let git_dir = sandbox.path(".git");
    let held = hold_worker(&git_dir);

    sandbox.git(&["cherry-pick", "pick"]);
    assert_quiet(&git_dir);

    sandbox.git(&["merge", "-q", "--no-edit", "clean"]);
    let merge = sandbox.rev("HEAD");
    assert_eq!(settled(&git_dir), [("post-merge".into(), merge.clone())]);

    assert!(!sandbox.try_git(&["merge", "-q", "clash"]).status.success());
    sandbox.write("README.md", "both\n");
    sandbox.commit("resolved");
    wait_for("the resolved merge", || queue(&git_dir).len() == 2);
    assert_eq!(queue(&git_dir)[1], ("post-commit".into(), sandbox.rev("HEAD")));

    sandbox.git(&["bisect", "start"]);
    sandbox.commit("while bisecting");
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(queue(&git_dir).len(), 2);
    drop(held);
}

#[test]
fn our_own_commits_are_no_trigger() {
    let sandbox = hooked();
    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    sandbox.commit("memory: update a.md\n\nBecause.\n\nMemory-Proposal: 0123456789abcdef\nMemory-Run: x");
    assert_quiet(&git_dir);
}

#[test]
fn a_linked_work_tree_and_a_subfolder_queue_into_the_shared_folder() {
    let sandbox = hooked();
    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    let linked = sandbox.root().join("linked");
    sandbox.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    fs::create_dir_all(linked.join("deep")).unwrap();
    let deep = linked.join("deep");
    sandbox.git(&["-C", deep.to_str().unwrap(), "commit", "-q", "--allow-empty", "-m", "linked"]);
    assert_eq!(settled(&git_dir), [("post-commit".into(), sandbox.rev("linked"))]);
    assert!(!git_dir.join("worktrees/linked/memory").exists());
}

#[test]
fn a_commit_of_some_paths_leaves_the_index_to_git() {
    let sandbox = hooked();
    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    sandbox.write("a.txt", "a\n");
    sandbox.write("b.txt", "b\n");
    sandbox.git(&["add", "a.txt", "b.txt"]);
    sandbox.git(&["commit", "-q", "-m", "only a", "a.txt"]);
    settled(&git_dir);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "A  b.txt");
}

#[test]
fn a_code_repository_queues_in_the_repository_of_its_wiki() {
    let sandbox = hooked();
    let wiki = sandbox.root().join("wiki");
    sandbox.git(&["init", "-q", wiki.to_str().unwrap()]);
    sandbox.git(&["config", "memory.wiki", "../wiki"]);
    let _held = hold_worker(&wiki.join(".git"));
    sandbox.commit("code");
    assert_eq!(settled(&wiki.join(".git")), [("post-commit".into(), sandbox.rev("HEAD"))]);
    assert_eq!(queue(&sandbox.path(".git")), []);
}

#[test]
fn a_wiki_that_is_gone_is_told_of_in_the_log_and_nowhere_else() {
    let sandbox = hooked();
    sandbox.git(&["config", "memory.wiki", "../gone"]);
    assert!(piped_commit(&sandbox, "") < Duration::from_secs(3));
    let log = sandbox.path(".git/memory/worker.log");
    wait_for("the log", || fs::metadata(&log).is_ok_and(|log| log.len() > 0));
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("hook post-commit: memory.wiki names ../gone"), "{text}");
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_first_commit_of_a_repository_is_queued() {
    let mut sandbox = Sandbox::empty();
    sandbox.now = None;
    sandbox.run(&["hooks", "install"]);
    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    sandbox.write("a", "a");
    sandbox.commit("first");
    assert_eq!(settled(&git_dir).len(), 1);
}

// ---- install and uninstall

#[test]
fn installing_twice_changes_nothing() {
    let sandbox = hooked();
    let before = listing(&sandbox.path(".git/hooks"));
    let said = sandbox.json(&["hooks", "install"]);
    assert_eq!(said["schema"], "git-memory.hooks-changed/1");
    assert!(said["hooks"].as_array().unwrap().iter().all(|hook| hook["result"] == "unchanged"), "{said}");
    assert_eq!(listing(&sandbox.path(".git/hooks")), before);
}

#[test]
fn status_proves_that_the_hooks_fire() {
    let sandbox = hooked();
    let said = sandbox.json(&["hooks", "status"]);
    for hook in &said["hooks"].as_array().unwrap()[..3] {
        assert_eq!((&hook["state"], &hook["fires"]), (&"installed".into(), &true.into()), "{said}");
    }
    assert_eq!(queue(&sandbox.path(".git")), [], "a probe is no event");
    let hook = sandbox.path(".git/hooks/post-merge");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o644)).unwrap();
    let (out, _) = sandbox.fails(1, &["hooks", "status"]);
    assert!(out.contains("installed, does not fire"), "{out}");
    sandbox.run(&["hooks", "install"]);
    sandbox.run(&["hooks", "status"]);
}

#[test]
fn a_hook_that_was_deleted_by_hand_is_missed() {
    let sandbox = hooked();
    fs::remove_file(sandbox.path(".git/hooks/post-commit")).unwrap();
    let (out, err) = sandbox.fails(1, &["hooks", "status"]);
    assert!(out.contains("was installed, and deleted since"), "{out}");
    assert!(err.contains("git memory hooks install"), "{err}");
}

#[test]
fn an_edited_hook_is_not_overwritten_without_word() {
    let sandbox = hooked();
    let path = sandbox.path(".git/hooks/post-commit");
    let edited = fs::read_to_string(&path).unwrap() + "# mine\n";
    fs::write(&path, &edited).unwrap();
    for action in ["install", "uninstall"] {
        let (out, _) = sandbox.fails(1, &["hooks", action, "--events", "post-commit"]);
        assert!(out.contains("edited by hand") && out.contains("--force"), "{out}");
        assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    }
    sandbox.run(&["hooks", "install", "--force"]);
    assert!(!fs::read_to_string(&path).unwrap().contains("# mine"));
}

#[test]
fn a_hook_of_an_older_version_is_replaced() {
    let sandbox = hooked();
    let path = sandbox.path(".git/hooks/post-commit");
    let new = fs::read_to_string(&path).unwrap();
    let stated = new.split("digest=").nth(1).unwrap()[..16].to_owned();
    let blank = new.replace(&format!("digest={stated}"), "digest=-").replace("version=1 ", "version=0 ");
    let digest: String = Sha256::digest(blank.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    fs::write(&path, blank.replace("digest=-", &format!("digest={digest}"))).unwrap();
    assert_eq!(sandbox.json(&["hooks", "status"])["hooks"][0]["state"], "outdated");
    assert_eq!(sandbox.json(&["hooks", "install"])["hooks"][0]["result"], "replaced");
    assert_eq!(fs::read_to_string(&path).unwrap(), new);
}

#[test]
fn a_users_own_template_is_used() {
    let sandbox = Sandbox::new();
    let template = sandbox.home().join(".config/git-memory/hooks/shim.sh");
    script(&template, "#!/bin/sh\n# house rules\n@BINARY@ hook @EVENT@ </dev/null >/dev/null 2>&1 &\n");
    sandbox.run(&["hooks", "install"]);
    assert!(sandbox.read(".git/hooks/post-merge").contains("# house rules"));
    sandbox.run(&["hooks", "status"]);
}

#[test]
fn a_foreign_hook_comes_first_with_its_arguments_and_stdin_and_its_status_is_passed_on() {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    script(
        &sandbox.path(".git/hooks/post-rewrite"),
        "#!/bin/sh\necho \"$# $1\" >../args\ncat >../stdin\necho said by the old hook >&2\nexit 7\n",
    );
    let said = sandbox.json(&["hooks", "install"]);
    assert!(said["hooks"][2]["detail"].as_str().unwrap().contains("post-rewrite.legacy"), "{said}");
    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    let old = sandbox.rev("HEAD");
    let output = sandbox.try_git(&["commit", "-q", "--amend", "-m", "again"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("said by the old hook"));
    assert_eq!(fs::read_to_string(sandbox.root().join("args")).unwrap(), "1 amend\n");
    assert_eq!(fs::read_to_string(sandbox.root().join("stdin")).unwrap(), format!("{old} {}\n", sandbox.rev("HEAD")));
    assert_eq!(settled(&git_dir).len(), 1);
    let direct = sandbox.program(".git/hooks/post-rewrite").arg("amend").output().unwrap();
    assert_eq!(direct.status.code(), Some(7));
}

#[test]
fn a_refusing_foreign_pre_commit_still_refuses() {
    let sandbox = Sandbox::new();
    script(&sandbox.path(".git/hooks/pre-commit"), "#!/bin/sh\necho no >&2\nexit 1\n");
    sandbox.run(&["hooks", "install", "--events", "pre-commit"]);
    let output = sandbox.try_git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    assert!(!output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "no\n");
}

#[test]
fn status_does_not_run_the_foreign_hook() {
    let sandbox = Sandbox::new();
    script(&sandbox.path(".git/hooks/post-commit"), "#!/bin/sh\ntouch ran\n");
    sandbox.run(&["hooks", "install"]);
    sandbox.run(&["hooks", "status"]);
    assert!(!sandbox.path("ran").exists());
}

#[test]
fn uninstall_restores_byte_for_byte() {
    let sandbox = Sandbox::new();
    let hooks = sandbox.path(".git/hooks");
    script(&hooks.join("post-commit"), "#!/bin/sh\r\n# caf\u{e9}\nexit 0");
    fs::set_permissions(hooks.join("post-commit"), fs::Permissions::from_mode(0o750)).unwrap();
    script(&sandbox.root().join("shared-hook"), "#!/bin/sh\nexit 0\n");
    symlink("../../../shared-hook", hooks.join("post-merge")).unwrap();
    fs::write(hooks.join("post-rewrite"), b"\x00\xff not executable").unwrap();
    let (before, config) = (listing(&hooks), sandbox.read(".git/config"));
    sandbox.run(&["hooks", "install", "--events", "post-commit,post-merge,post-rewrite,pre-commit"]);
    assert_eq!(fs::read_link(hooks.join("post-merge.legacy")).unwrap(), Path::new("../../../shared-hook"));
    sandbox.run(&["hooks", "uninstall"]);
    assert_eq!(listing(&hooks), before);
    assert_eq!(sandbox.read(".git/config"), config);
}

#[test]
fn a_folder_that_was_made_for_the_hooks_goes_with_the_last_of_them() {
    let sandbox = Sandbox::new();
    fs::remove_dir_all(sandbox.path(".git/hooks")).unwrap();
    sandbox.run(&["hooks", "install"]);
    sandbox.run(&["hooks", "uninstall", "--events", "post-commit"]);
    assert!(sandbox.path(".git/hooks").exists());
    sandbox.run(&["hooks", "uninstall"]);
    assert!(!sandbox.path(".git/hooks").exists());
    assert!(sandbox.run(&["hooks", "uninstall"]).contains("no hooks of git-memory here"));
}

#[test]
fn a_foreign_hook_survives_that_our_script_was_deleted() {
    let sandbox = Sandbox::new();
    let hook = sandbox.path(".git/hooks/post-commit");
    script(&hook, "#!/bin/sh\ntouch ran\n");
    let before = listing(&sandbox.path(".git/hooks"));
    sandbox.run(&["hooks", "install"]);
    fs::remove_file(&hook).unwrap();
    sandbox.run(&["hooks", "install"]);
    sandbox.commit("x");
    assert!(sandbox.path("ran").exists());
    fs::remove_file(&hook).unwrap();
    sandbox.run(&["hooks", "uninstall"]);
    assert_eq!(listing(&sandbox.path(".git/hooks")), before);
}

#[test]
fn a_taken_legacy_name_is_never_overwritten_nor_called() {
    let sandbox = Sandbox::new();
    let hooks = sandbox.path(".git/hooks");
    script(&hooks.join("post-commit"), "#!/bin/sh\nexit 0\n");
    script(&hooks.join("post-commit.legacy"), "#!/bin/sh\ntouch ran\n");
    script(&hooks.join("post-merge.legacy"), "#!/bin/sh\ntouch ran\n");
    let before = listing(&hooks);
    let (out, _) = sandbox.fails(1, &["hooks", "install", "--events", "post-commit"]);
    assert!(out.contains("refused"), "{out}");
    assert_eq!(listing(&hooks), before);
    sandbox.run(&["hooks", "install", "--events", "post-merge"]);
    sandbox.program(hooks.join("post-merge")).arg("0").output().unwrap();
    assert!(!sandbox.path("ran").exists());
    sandbox.run(&["hooks", "uninstall"]);
    assert_eq!(listing(&hooks), before);
}

// ---- where hooks belong

#[test]
fn a_local_hooks_path_is_where_the_hooks_go_and_fire() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "core.hooksPath", "my hooks"]);
    sandbox.run(&["hooks", "install"]);
    assert!(sandbox.path("my hooks/post-commit").exists());
    assert!(!sandbox.path(".git/hooks/post-commit").exists());
    sandbox.run(&["hooks", "status"]);
}

#[test]
fn a_hooks_path_that_is_not_this_repositorys_is_refused_with_the_reason_and_a_snippet() {
    let sandbox = Sandbox::new();
    let shared = sandbox.root().join("shared");
    let before = sandbox.git_files();
    sandbox.git(&["config", "--global", "core.hooksPath", shared.to_str().unwrap()]);
    let (_, err) = sandbox.fails(1, &["hooks", "install"]);
    assert!(err.contains("core.hooksPath") && err.contains("global"), "{err}");
    assert!(err.contains("git-memory hook post-commit </dev/null >/dev/null 2>&1 &"), "{err}");
    assert!(!shared.exists());
    sandbox.git(&["config", "--global", "--unset", "core.hooksPath"]);
    assert_eq!(sandbox.git_files(), before);

    sandbox.git(&["config", "core.hooksPath", ""]);
    let before = sandbox.git_files();
    assert_eq!(sandbox.json_error(1, &["hooks", "install"])["code"], "hooks_path");
    assert_eq!(sandbox.git_files(), before);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_hook_manager_gets_a_snippet_and_nothing_is_written() {
    for (file, name) in [
        (".husky/pre-commit", "husky"),
        ("lefthook.yml", "lefthook"),
        (".pre-commit-config.yaml", "pre-commit"),
        ("prek.toml", "prek"),
        (".overcommit.yml", "overcommit"),
        (".git/hooks/pre-push", "lefthook"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(file, "#!/bin/sh\n# call_lefthook\n");
        let before = sandbox.state();
        let (files, hooks) = (sandbox.git_files(), listing(&sandbox.path(".git/hooks")));
        let (_, err) = sandbox.fails(1, &["hooks", "install"]);
        assert!(err.contains(&format!("{name} manages the hooks")), "{file}: {err}");
        assert!(err.contains("git-memory") && err.contains("post-commit"), "{file}: {err}");
        assert_eq!(sandbox.state(), before, "{file}");
        assert_eq!((sandbox.git_files(), listing(&sandbox.path(".git/hooks"))), (files, hooks), "{file}");
    }
}

#[test]
fn a_bare_repository_can_have_hooks() {
    let mut sandbox = Sandbox::bare_folder();
    sandbox.git(&["init", "-q", "--bare", "bare.git"]);
    sandbox.dir = sandbox.path("bare.git");
    sandbox.run(&["hooks", "install"]);
    sandbox.run(&["hooks", "status"]);
    sandbox.run(&["hooks", "uninstall"]);
}

#[test]
fn a_git_that_reads_hooks_from_its_configuration_gets_them_there() {
    let mut sandbox = hooked();
    sandbox.env.push(("GIT_MEMORY_TEST_GIT_VERSION".into(), "2.54.0".into()));
    // A manager is no hindrance there.
    sandbox.write("lefthook.yml", "pre-commit:\n");
    let config = sandbox.read(".git/config");
    sandbox.run(&["hooks", "install"]);
    for event in EVENTS {
        assert!(!sandbox.path(".git/hooks").join(event).exists(), "it would fire twice");
        assert_eq!(sandbox.git(&["config", "--local", &format!("hook.git-memory-{event}.event")]), event);
    }
    let before = sandbox.read(".git/config");
    assert!(sandbox.run(&["hooks", "install"]).contains("unchanged"));
    assert_eq!(sandbox.read(".git/config"), before);
    sandbox.run(&["hooks", "status"]);

    let git_dir = sandbox.path(".git");
    let _held = hold_worker(&git_dir);
    let command = sandbox.git(&["config", "--local", "hook.git-memory-post-rewrite.command"]);
    // As git runs it: through a shell, with the hook's arguments behind it.
    let ran = sandbox.program("sh").args(["-c", &format!("{command} \"$@\""), &command, "rebase"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(settled(&git_dir), [("post-rewrite".into(), sandbox.rev("HEAD"))]);

    sandbox.run(&["hooks", "uninstall"]);
    assert_eq!(sandbox.read(".git/config"), config);
}

// ---- pre-commit

#[test]
fn a_pre_commit_without_its_program_or_with_a_failing_one_lets_the_commit_through() {
    let mut sandbox = Sandbox::new();
    sandbox.run(&["hooks", "install", "--events", "pre-commit"]);
    let failing = sandbox.root().join("failing");
    script(&failing, "#!/bin/sh\nexit 101\n");
    point_to(&sandbox, "pre-commit", failing.to_str().unwrap());
    sandbox.commit("through");
    let text = sandbox.read(".git/hooks/pre-commit").replace(failing.to_str().unwrap(), "/nowhere/git-memory");
    sandbox.write(".git/hooks/pre-commit", text);
    sandbox.env.push(("PATH".into(), "/usr/bin:/bin".into()));
    sandbox.commit("through again");
}

#[test]
fn a_pre_commit_has_a_time_limit_with_and_without_the_timeout_program() {
    let sandbox = Sandbox::new();
    sandbox.run(&["hooks", "install", "--events", "pre-commit"]);
    let stuck = sandbox.root().join("stuck");
    script(&stuck, "#!/bin/sh\nexec /bin/sleep 1000\n");
    point_to(&sandbox, "pre-commit", stuck.to_str().unwrap());
    let hook = sandbox.path(".git/hooks/pre-commit");
    let text = fs::read_to_string(&hook).unwrap().replace("limit=10\n", "limit=1\n");
    fs::write(&hook, &text).unwrap();
    let start = Instant::now();
    sandbox.commit("in time");
    assert!(start.elapsed() < Duration::from_secs(6));

    let tools = sandbox.root().join("tools");
    fs::create_dir(&tools).unwrap();
    symlink("/bin/sleep", tools.join("sleep")).unwrap();
    let run = |text: &str| {
        fs::write(&hook, text).unwrap();
        let start = Instant::now();
        let output = sandbox.program(&hook).env("PATH", &tools).output().unwrap();
        assert!(start.elapsed() < Duration::from_secs(6));
        output.status.code()
    };
    assert_eq!(run(&text), Some(0));
    let findings = sandbox.root().join("findings");
    script(&findings, "#!/bin/sh\nexit 1\n");
    assert_eq!(run(&text.replace(stuck.to_str().unwrap(), findings.to_str().unwrap())), Some(1));
}

#[test]
fn a_pre_commit_looks_at_the_staged_pages_of_the_wiki_only() {
    let sandbox = wiki();
    sandbox.write("notes/old.md", "# Old\n");
    sandbox.commit("old");
    for path in ["notes/staged.md", "notes/_pending/p.md", "notes/code.rs", "outside.md"] {
        sandbox.write(path, "staged\n");
    }
    sandbox.git(&["add", "-A"]);
    sandbox.write("notes/staged.md", "not staged\n");
    sandbox.write("notes/old.md", "not staged\n");
    let seen = std::cell::RefCell::new(Vec::new());
    let check = |_: &git_memory::wiki::Wiki, path: &bstr::BStr, bytes: &[u8]| {
        seen.borrow_mut().push((path.to_string(), String::from_utf8_lossy(bytes).into_owned()));
        Vec::new()
    };
    git_memory::agent::pre_commit::staged(&sandbox.dir, &check).unwrap();
    assert_eq!(*seen.borrow(), [("staged.md".into(), "staged\n".into())]);
    sandbox.git(&["switch", "-qc", "elsewhere"]);
    git_memory::agent::pre_commit::staged(&sandbox.dir, &|_, _, _| panic!("another branch has no pages")).unwrap();
}

#[test]
fn a_pre_commit_refuses_a_broken_page_and_reads_what_will_be_committed() {
    let sandbox = wiki();
    sandbox.run(&["hooks", "install", "--events", "pre-commit"]);
    sandbox.write("notes/good.md", "# Good\n\nText.\n");
    sandbox.commit("good");
    let broken = "# Broken\n\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n";
    sandbox.write("notes/broken.md", broken);
    sandbox.git(&["add", "-A"]);
    let before = sandbox.state();
    let output = sandbox.try_git(&["commit", "-q", "-m", "x"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("broken.md:3:1: error:") && said.contains("--no-verify"), "{said}");
    assert_eq!(sandbox.state(), before);
    // Only some paths: the broken page stays behind, in an index that git keeps for later.
    sandbox.write("notes/good.md", "# Good\n\nBetter.\n");
    sandbox.git(&["commit", "-q", "-m", "only good", "notes/good.md"]);
    assert!(!sandbox.try_git(&["commit", "-q", "-m", "x", "notes/broken.md"]).status.success());
    sandbox.git(&["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "x"]);
    // What was broken before is no matter of this commit.
    sandbox.write("other.txt", "x\n");
    sandbox.commit("other");
    // Our own trouble stops nobody.
    sandbox.write(".gitmemory.toml", "nonsense = [");
    sandbox.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qam", "bad settings"]);
    sandbox.write("notes/good.md", "# Good\n\nBest.\n");
    sandbox.commit("best");
}
