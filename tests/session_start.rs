//! `git memory session-start`: the brief that an agent reads, memory.md, and the run that is started behind it.

mod common;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::Sandbox;
use serde_json::Value;

/// A wiki beside the code, with a page of each sort.
fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--root", "docs/memory"]);
    for (path, text) in [
        ("_rules/pnpm.md", "# Always use pnpm\n\nNever npm.\n"),
        ("_slots/current-focus.md", "# Current focus\n\nMoving the build to Bazel.\n"),
        ("decisions/postgres.md", "# Postgres for everything\n\nOne database is enough, because backups are.\n"),
        ("decisions/old.md", "---\nstatus: superseded\n---\n# Old choice\n\nSomething else.\n"),
        ("gotchas/clock.md", "# Wall clock in tests\n\nFlaky.\n\n## Fix\n\nA fake clock.\n"),
        ("gotchas/tuesday.md", "# The build breaks on Tuesdays\n\nNobody knows why.\n"),
        ("procedures/release.md", "---\npriority: 7\n---\n# Release\n\n1. Tag it.\n"),
        ("notes/ports.md", "# Ports\n\n5433 is the database.\n"),
        ("notes/left.md", "# What is left of the move\n\n- [ ] delete the makefiles\n"),
        ("concepts/queue.md", "# The queue\n\nJobs wait in it.\n"),
        ("sessions/one.md", "# A session\n\nThings happened.\n"),
    ] {
        sandbox.write(&format!("docs/memory/{path}"), text);
    }
    sandbox.commit("Pages");
    sandbox
}

fn paths(brief: &Value, category: &str) -> Vec<String> {
    let categories = brief["categories"].as_array().expect("categories");
    let pages = categories.iter().filter(|found| found["name"] == category).flat_map(|found| found["pages"].as_array());
    pages.flatten().map(|page| page["path"].as_str().expect("a path").to_owned()).collect()
}

#[test]
fn every_sort_of_page_stands_under_its_head_in_one_line() {
    let sandbox = wiki();
    let brief = sandbox.json(&["session-start"]);
    for (category, page) in [
        ("decisions", "decisions/postgres.md"),
        ("fixes", "gotchas/clock.md"),
        ("known failures", "gotchas/tuesday.md"),
        ("commands", "procedures/release.md"),
        ("follow-ups", "notes/left.md"),
    ] {
        assert_eq!(paths(&brief, category), [page], "{category}: {brief}");
    }
    assert_eq!(paths(&brief, "background"), ["concepts/queue.md", "notes/ports.md"]);
    assert_eq!(brief["rules"][0]["text"], "# Always use pnpm\n\nNever npm.");
    assert_eq!(brief["focus"]["path"], "_slots/current-focus.md");
    let text = sandbox.run(&["session-start"]);
    for line in [
        "- Always use pnpm (_rules/pnpm.md)",
        "  Moving the build to Bazel.",
        "- procedures/release.md (7): Release",
        "- gotchas/clock.md (5): Wall clock in tests",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
    }
    assert!(!text.contains("Old choice") && !text.contains("A session"), "{text}");
    assert!(text.lines().count() <= 45 && text.lines().all(|line| line.chars().count() <= 242), "{text}");
    // Both commands that it names work.
    let search =
        text.lines().find_map(|line| line.split_once("known: ")).expect("a command").1.replace("WORDS", "bazel");
    let read = text.lines().find_map(|line| line.strip_prefix("Read a page: ")).expect("a command");
    for (command, part) in [(search, "current-focus"), (read.replace("PATH", "notes/ports.md"), "5433")] {
        let output = sandbox.program("sh").args(["-c", &command]).output().expect("sh");
        assert!(String::from_utf8_lossy(&output.stdout).contains(part), "{command}: {output:?}");
    }
}

#[test]
fn pages_are_in_the_order_of_priority_use_and_age_and_the_rest_is_counted() {
    let sandbox = wiki();
    for n in 0..7 {
        sandbox.write(&format!("docs/memory/decisions/d{n}.md"), format!("# Decision {n}\n\nWe took way {n}.\n"));
        sandbox.commit(&format!("Decision {n}"));
    }
    sandbox.write("docs/memory/decisions/pinned.md", "---\npinned: true\npriority: 3\n---\n# Pinned\n\nStays.\n");
    sandbox.commit("Pinned");
    sandbox.run(&["feedback", "decisions/d2.md", "--positive"]);
    sandbox.run(&["feedback", "decisions/d6.md", "--negative", "--reason", "no longer"]);
    let brief = sandbox.json(&["session-start"]);
    let names = ["pinned", "d2", "d5", "d4", "d3"].map(|name| format!("decisions/{name}.md"));
    assert_eq!(paths(&brief, "decisions"), names, "{brief}");
    let text = sandbox.run(&["session-start"]);
    assert!(text.contains("\nDecisions (and 4 more):\n"), "{text}");
}

#[test]
fn a_page_that_says_what_the_readme_says_gives_its_place_to_another() {
    let sandbox = wiki();
    sandbox.write("AGENTS.md", "Postgres for everything: one database is enough, because backups are.\n");
    let brief = sandbox.json(&["session-start"]);
    assert_eq!(paths(&brief, "decisions"), Vec::<String>::new(), "{brief}");
    sandbox.write("AGENTS.md", "Use the database.\n");
    assert_eq!(paths(&sandbox.json(&["session-start"]), "decisions"), ["decisions/postgres.md"]);
}

#[test]
fn what_waits_for_people_is_told() {
    let sandbox = wiki();
    let fix = ["--replace", "5433", "--with", "5434", "--source", "compose", "--reason", "moved", "--negative"];
    sandbox.run(&[&["feedback", "ports"][..], &fix[..]].concat());
    let brief = sandbox.json(&["session-start"]);
    assert_eq!((brief["pending"].as_u64(), brief["oldest"].as_str()), (Some(1), Some("2026-03-01T12:00:00Z")));
    let text = sandbox.run(&["session-start"]);
    assert!(text.contains("1 proposal waits for a person, the oldest since 2026-03-01"), "{text}");
    // What does not work is no secret.
    sandbox.write(".git/memory/queue/broken.json", "{");
    let text = sandbox.run(&["session-start"]);
    assert!(text.contains("Not well:\n- cannot read"), "{text}");
}

#[test]
fn a_brief_is_of_one_project_and_at_most_two_pages_of_no_project() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--scope", "web=web", "--scope", "api=api"]);
    let config = sandbox.read(".gitmemory.toml");
    let web = format!("dirs = [\"{}\"]", sandbox.path("web-code").display());
    let dirs = config.replacen("dirs = []", &web, 1);
    sandbox.write(".gitmemory.toml", &dirs);
    for (path, title) in [
        ("web/decisions/react.md", "React"),
        ("api/decisions/axum.md", "Axum"),
        ("decisions/a.md", "For all A"),
        ("decisions/b.md", "For all B"),
        ("decisions/c.md", "For all C"),
        ("_rules/all.md", "Rule for all"),
        ("api/_rules/api.md", "Rule of the API"),
    ] {
        sandbox.write(path, format!("# {title}\n\n{title} it is.\n"));
    }
    sandbox.commit("Pages");
    std::fs::create_dir(sandbox.path("web-code")).expect("a folder");
    for args in [&["--scope", "web", "session-start"][..], &["-C", "web-code", "session-start"][..]] {
        let text = sandbox.run(args);
        assert!(
            text.contains("(6): React") && !text.contains("Axum") && !text.contains("of the API"),
            "{args:?} {text}"
        );
        assert!(text.contains("Rule for all") && text.contains("For all B") && !text.contains("For all C"), "{text}");
    }
    let text = sandbox.run(&["--scope", "web", "session-start", "--global-limit", "0"]);
    assert!(!text.contains("For all"), "{text}");
    // A folder of no project: by hand an error that says what to do, in a hook what is of no project.
    let (_, err) = sandbox.fails(1, &["session-start"]);
    assert!(err.contains("dirs"), "{err}");
    let mut command = sandbox.memory(&["session-start", "--hook"]);
    let output = command.write_stdin("{}").output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("For all A") && !text.contains("React") && !text.contains("Axum"), "{text}");
}

#[test]
fn memory_md_is_kept_in_the_local_folder_and_written_only_when_it_changed() {
    let sandbox = wiki();
    let before = sandbox.git(&["status", "--porcelain", "--ignored"]);
    sandbox.run(&["session-start"]);
    let file = sandbox.path(".git/memory/memory.md");
    let text = std::fs::read_to_string(&file).expect("memory.md");
    assert!(text.starts_with("<!-- git-memory:memory.md -->\n# Memory\n\nThis project has"), "{text}");
    assert!(text.contains("- gotchas/clock.md (5): Wall clock in tests\n"), "{text}");
    let written = std::fs::metadata(&file).expect("a file").modified().expect("a time");
    sandbox.run(&["session-start"]);
    assert_eq!(std::fs::metadata(&file).expect("a file").modified().expect("a time"), written);
    assert_eq!(sandbox.git(&["status", "--porcelain", "--ignored"]), before);
}

#[test]
fn memory_md_stands_in_the_work_tree_only_where_it_was_wanted() {
    let sandbox = wiki();
    sandbox.git(&["config", "memory.memoryMd.path", "docs/memory.md"]);
    let refused = |why: &str| {
        let (code, said) = {
            let output = sandbox.memory(&["session-start"]).output().expect("it starts");
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        assert!(code == Some(0) && said.contains(why), "{why} is not in {said}");
    };
    refused("neither ignored by git nor committed");
    assert!(!sandbox.path("docs/memory.md").exists());
    sandbox.write(".git/info/exclude", "docs/memory.md\n");
    sandbox.run(&["session-start"]);
    assert!(sandbox.read("docs/memory.md").contains("Wall clock in tests"));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    // A file of somebody else's, ignored or not, stays.
    sandbox.write("docs/memory.md", "my notes\n");
    refused("it is not ours");
    assert_eq!(sandbox.read("docs/memory.md"), "my notes\n");
    // Committed on purpose.
    std::fs::remove_file(sandbox.path("docs/memory.md")).expect("gone");
    sandbox.write(".git/info/exclude", "");
    sandbox.write("docs/memory.md", "<!-- git-memory:memory.md -->\n");
    sandbox.commit("Keep the brief");
    sandbox.run(&["session-start"]);
    assert!(sandbox.read("docs/memory.md").contains("Wall clock in tests"));
    for path in ["../outside.md", "/etc/x.md", ".git/hooks/x.md", "docs/x.txt"] {
        sandbox.git(&["config", "memory.memoryMd.path", path]);
        refused("memory_md.path names");
    }
    assert!(!sandbox.path("../outside.md").exists());
    #[cfg(unix)]
    {
        std::fs::create_dir(sandbox.root().join("elsewhere")).expect("a folder");
        std::os::unix::fs::symlink(sandbox.root().join("elsewhere"), sandbox.path("link")).expect("a link");
        sandbox.write(".git/info/exclude", "link\n");
        sandbox.git(&["config", "memory.memoryMd.path", "link/memory.md"]);
        refused("symbolic link");
    }
}

// ── the run in the background ──

/// A wiki that was begun before the session of the fixture, with its clock a month after it.
fn begun() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = Some("2025-01-01T00:00:00Z".into());
    sandbox.run(&["init", "--no-hooks", "--root", "docs/memory"]);
    sandbox.now = Some("2026-04-01T00:00:00Z".into());
    sandbox
}

/// Changes so many pages, and as many files that are none.
fn change(sandbox: &Sandbox, first: usize, count: usize) {
    for n in first..first + count {
        sandbox.write(&format!("docs/memory/notes/n{n}.md"), format!("# Note {n}\n\nIt says {n}.\n"));
        sandbox.write(&format!("src/{n}.md"), format!("{n}\n"));
    }
    sandbox.commit("Pages");
}

/// Captures the fixture's session, which is then one that no run has seen.
fn capture(sandbox: &Sandbox) {
    let fixture = format!("{}/fixtures/sessions/hand-pnpm-rule.jsonl", env!("CARGO_MANIFEST_DIR"));
    sandbox.run(&["capture", &fixture]);
}

/// Starts what an agent's hook starts.
fn hook(sandbox: &Sandbox) -> Child {
    let mut command = sandbox.program(common::BIN);
    command.args(["session-start", "--hook"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

/// An agent's hook from start to end, which never fails; whether it started a run.
fn starts_a_run(sandbox: &Sandbox) -> bool {
    let noted = || std::fs::read_to_string(sandbox.path(".git/memory/last-run.json")).expect("the last run is noted");
    let before = noted();
    let output = hook(sandbox).wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("This project has"), "{output:?}");
    noted() != before
}

/// Whether what an agent's hook queued is still there.
fn is_at_work(sandbox: &Sandbox) -> bool {
    let queue = std::fs::read_dir(sandbox.path(".git/memory/queue")).into_iter().flatten().flatten();
    let mut texts = queue.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    texts.any(|text| text.contains("session-start"))
}

/// The runs on record, when the worker has nothing left to do.
fn runs(sandbox: &Sandbox) -> Vec<Value> {
    let end = Instant::now() + Duration::from_secs(60);
    while is_at_work(sandbox) {
        assert!(
            Instant::now() < end,
            "{}",
            std::fs::read_to_string(sandbox.path(".git/memory/worker.log")).unwrap_or_default()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let list = sandbox.json(&["run", "list"])["runs"].as_array().expect("runs").clone();
    list.iter().map(|run| sandbox.json(&["run", "show", run["id"].as_str().expect("an id")])).collect()
}

#[test]
fn ten_pages_or_sessions_that_changed_since_the_last_run_start_one_and_nine_do_not() {
    let mut sandbox = begun();
    capture(&sandbox);
    change(&sandbox, 0, 8);
    assert!(!starts_a_run(&sandbox), "nine");
    assert!(runs(&sandbox).is_empty());
    change(&sandbox, 8, 1);
    assert!(starts_a_run(&sandbox), "ten");
    let first = runs(&sandbox);
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!((&first[0]["trigger"], &first[0]["operator"]), (&"session-start".into(), &Value::Null));
    assert_eq!(first[0]["outcomes"][0]["lane"], "review", "{first:?}");
    assert!(!starts_a_run(&sandbox), "counted since that run");
    sandbox.now = Some("2026-04-02T00:00:00Z".into());
    change(&sandbox, 20, 9);
    assert!(!starts_a_run(&sandbox), "nine since that run");
    // A run by hand counts as the last one.
    sandbox.run(&["improve"]);
    change(&sandbox, 30, 9);
    assert!(!starts_a_run(&sandbox), "nine since the run by hand");
    change(&sandbox, 40, 1);
    assert!(starts_a_run(&sandbox));
    assert_eq!(runs(&sandbox).len(), 1, "it found nothing to do");
    sandbox.fsck();
}

#[test]
fn of_agents_that_start_at_once_one_starts_a_run() {
    let sandbox = begun();
    capture(&sandbox);
    change(&sandbox, 0, 12);
    let at_once: Vec<Child> = (0..4).map(|_| hook(&sandbox)).collect();
    for child in at_once {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    assert_eq!(runs(&sandbox).len(), 1);
    assert!(!starts_a_run(&sandbox));
    assert_eq!(runs(&sandbox).len(), 1);
}

#[test]
fn no_run_is_started_where_none_may_go_by_itself() {
    let mut sandbox = begun();
    change(&sandbox, 0, 12);
    for (key, value) in [
        ("memory.consolidate.minDirty", "0"),
        ("memory.consolidate.minDirty", "13"),
        ("memory.scheduler.enabled", "false"),
        ("memory.scheduler.intervalSecs", "0"),
    ] {
        sandbox.git(&["config", key, value]);
        assert!(!starts_a_run(&sandbox), "{key}");
        sandbox.git(&["config", "--unset", key]);
    }
    sandbox.run(&["session-start"]);
    sandbox.env.push(("GIT_MEMORY_HOOK".into(), "0".into()));
    let output = hook(&sandbox).wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stdout.is_empty());
    sandbox.env.pop();
    assert!(!sandbox.path(".git/memory/session-start.lock").exists(), "neither by hand nor with hooks off");
    assert!(starts_a_run(&sandbox));
}

#[test]
fn sessions_that_are_too_young_or_from_before_the_wiki_do_not_count() {
    let mut sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.git(&["config", "memory.consolidate.minDirty", "1"]);
    // It ended at 09:09 on the third.
    sandbox.now = Some("2026-03-03T09:12:00Z".into());
    capture(&sandbox);
    assert!(!starts_a_run(&sandbox), "too young");
    sandbox.now = Some("2026-03-03T09:30:00Z".into());
    assert!(starts_a_run(&sandbox), "old enough since then");
    assert_eq!(runs(&sandbox).len(), 1);
    let mut late = Sandbox::new();
    late.now = Some("2026-04-01T00:00:00Z".into());
    late.run(&["init", "--no-hooks"]);
    late.git(&["config", "memory.consolidate.minDirty", "1"]);
    late.now = Some("2026-04-02T00:00:00Z".into());
    capture(&late);
    assert!(!starts_a_run(&late), "it ended before the wiki began");
}

#[test]
fn a_clone_counts_from_when_the_wiki_began() {
    let mut sandbox = begun();
    change(&sandbox, 0, 9);
    std::fs::remove_file(sandbox.path(".git/memory/last-run.json")).expect("as in a clone");
    let output = hook(&sandbox).wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(!starts_a_run(&sandbox), "nine");
    sandbox.now = Some("2026-04-01T01:00:00Z".into());
    change(&sandbox, 9, 1);
    assert!(starts_a_run(&sandbox), "ten");
}

#[test]
fn the_agent_does_not_wait_for_the_run() {
    let sandbox = begun();
    let folder = sandbox.home().join(".config/git-memory");
    std::fs::create_dir_all(&folder).expect("the folder");
    let script = sandbox.root().join("slow.sh");
    let reply = r#"{"summary":"nothing","proposals":[],"rejected_candidates":[]}"#;
    std::fs::write(&script, format!("cat >/dev/null\nsleep 15\necho '{reply}'\n")).expect("the model");
    let model = format!("[model]\nprovider = 'command'\ncommand = ['sh', '{}']\n", script.display());
    std::fs::write(folder.join("config.toml"), model).expect("written");
    capture(&sandbox);
    change(&sandbox, 0, 9);
    let begun = Instant::now();
    assert!(starts_a_run(&sandbox), "and its output ended");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(is_at_work(&sandbox));
    assert_eq!(runs(&sandbox).len(), 1);
}
