//! `git memory session`: lists, pages, forgetting, and how long sessions are kept.

mod common;

use common::Sandbox;
use serde_json::{Value, json};

const BRANCH: &str = "wiki";

/// A wiki on a branch that is checked out nowhere.
fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks", "--branch", BRANCH]);
    sandbox
}

fn fixture(name: &str) -> String {
    format!("{}/fixtures/sessions/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

/// A session of one turn for each text; `parent`: a subagent's.
fn session(sandbox: &Sandbox, file: &str, id: &str, day: &str, turns: &[(&str, &str)]) -> String {
    let mut lines = String::new();
    for (at, (uuid, words)) in turns.iter().enumerate() {
        let line = |kind: &str, uuid: String, content: Value| {
            json!({
                "type": kind, "uuid": uuid, "sessionId": id, "cwd": "/p", "version": "2.1.0", "gitBranch": "main",
                "isSidechain": file.contains("agent-"), "agentId": if file.contains("agent-") { Some("x") } else { None },
                "timestamp": format!("{day}T10:00:{at:02}Z"), "message": {"role": kind, "content": content},
            })
        };
        let answer = json!([{"type": "text", "text": format!("Done: {words}")}]);
        lines += &format!("{}\n", line("user", (*uuid).to_owned(), json!(words)));
        lines += &format!("{}\n", line("assistant", format!("{uuid}-a"), answer));
    }
    sandbox.write(&format!("../files/{file}"), lines);
    sandbox.root().join("files").join(file).display().to_string()
}

fn ids(sandbox: &Sandbox) -> Vec<String> {
    let list = sandbox.json(&["session", "list"]);
    list["sessions"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

/// Everything in the repository that holds a word: objects by their names, local files by their paths.
fn holders(sandbox: &Sandbox, word: &str) -> Vec<String> {
    let names = sandbox.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"]);
    let mut found: Vec<String> = names
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, kind)| {
            let output = sandbox.try_git(&["cat-file", kind, name]);
            String::from_utf8_lossy(&output.stdout).contains(word)
        })
        .map(|(name, kind)| format!("{kind} {name}"))
        .collect();
    let files = sandbox
        .git_files()
        .into_iter()
        .filter(|(path, bytes)| !path.starts_with("objects") && String::from_utf8_lossy(bytes).contains(word));
    found.extend(files.map(|(path, _)| path.display().to_string()));
    found
}

fn purge(sandbox: &Sandbox, report: &Value) {
    let remains = report["remains"].as_array().unwrap();
    let commands = remains.iter().flat_map(|place| place["commands"].as_array().unwrap()).map(|c| c.as_str().unwrap());
    let own: Vec<&str> = commands.filter(|c| c.starts_with("git reflog") || c.starts_with("git gc")).collect();
    assert_eq!(own.len(), 2, "{report}");
    for command in own {
        sandbox.git(&command.split(' ').skip(1).collect::<Vec<_>>());
    }
}

#[test]
fn sessions_are_listed_by_agent_and_time_and_in_lines_for_scripts() {
    let sandbox = wiki();
    let old = session(&sandbox, "old.jsonl", "11111111-old", "2026-01-02", &[("o1", "rename\tmain to run")]);
    let new = session(&sandbox, "new.jsonl", "11112222-new", "2026-02-27", &[("n1", "Add a fake clock")]);
    sandbox.write("../files/note.md", "---\nsession_id: a-note\n---\n## Prompts\n\n1. Always smoke test a release.\n");
    let note = sandbox.root().join("files/note.md").display().to_string();
    sandbox.run(&["capture", &old, &new, &note]);
    let listed = |args: &[&str]| {
        let all = [&["session", "list"], args].concat();
        let list = sandbox.json(&all);
        list["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(&["--agent", "claude"]), ["11112222-new", "11111111-old"]);
    assert_eq!(listed(&["--agent", "claude", "--since", "7d"]), ["11112222-new"]);
    assert_eq!(listed(&["--agent", "markdown"]).len(), 1);
    assert_eq!(listed(&["--scope", "global", "-n", "1"]).len(), 1);
    sandbox.fails(129, &["session", "list", "--agent", "nobody"]);

    let lines = sandbox.run(&["session", "list", "--porcelain", "--agent", "claude"]);
    let fields: Vec<Vec<&str>> = lines.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(
        fields[0][..9],
        ["11112222-new", "claude", "global", "2026-02-27T10:00:00Z", "1", "2", "unseen", "-", "raw"]
    );
    assert_eq!(fields[0][9], "Add a fake clock");
    let nul = sandbox.run(&["session", "list", "--porcelain", "-z"]);
    assert_eq!(nul.matches('\0').count(), 3);

    assert_eq!(sandbox.json_error(1, &["session", "show", "1111"])["code"], "ambiguous_id");
    assert_eq!(sandbox.json_error(1, &["session", "show", "2222"])["code"], "unknown_id");
    assert!(sandbox.run(&["session", "show", "11112"]).contains("# Add a fake clock"));
    assert_eq!(sandbox.run(&["session", "show", "11112", "--prompts"]), "#1 Add a fake clock\n\n");
    assert_eq!(sandbox.json(&["session", "show", "11112", "--prompts"])["words"], json!(["Add a fake clock"]));
}

#[test]
fn a_forgotten_session_is_gone_and_stays_away_until_it_is_wanted_back() {
    let mut sandbox = wiki();
    let parent = session(&sandbox, "11111111-p.jsonl", "11111111-p", "2026-02-27", &[("p1", "the xylophone plan")]);
    session(
        &sandbox,
        "11111111-p/subagents/agent-x.jsonl",
        "11111111-p",
        "2026-02-27",
        &[("s1", "Look at xylophones")],
    );
    let other = session(&sandbox, "22222222-o.jsonl", "22222222-o", "2026-02-27", &[("o1", "Add a fake clock")]);
    let folder = sandbox.root().join("files").display().to_string();
    sandbox.run(&["capture", &folder]);
    assert_eq!(ids(&sandbox).len(), 3);
    assert!(!holders(&sandbox, "xylophone").is_empty());

    let before = sandbox.git_files();
    let would = sandbox.json(&["session", "forget", "1111", "--dry-run"]);
    assert_eq!((would["dry_run"].as_bool(), would["sessions"].as_array().unwrap().len()), (Some(true), 2));
    let objects = |files: &[(std::path::PathBuf, Vec<u8>)]| {
        files.iter().filter(|(path, _)| !path.starts_with("memory")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(objects(&sandbox.git_files()), objects(&before), "--dry-run changes nothing");
    assert_eq!(sandbox.json_error(1, &["session", "forget", "1111"])["code"], "needs_answer");
    assert_eq!(sandbox.json_error(1, &["session", "forget", "9999", "--yes"])["code"], "unknown_id");

    let report = sandbox.json(&["session", "forget", "1111", "--yes"]);
    assert_eq!(ids(&sandbox), ["22222222-o"]);
    assert!(sandbox.refs("refs/memory/sessions/").lines().count() == 1);
    purge(&sandbox, &report);
    assert_eq!(holders(&sandbox, "xylophone"), Vec::<String>::new());
    sandbox.fsck();

    for path in [&parent, &folder] {
        let again = sandbox.run(&["capture", path]);
        assert!(again.contains("forgotten: left out"), "{again}");
    }
    let again = sandbox.json(&["capture", &folder]);
    assert_eq!(again["forgotten"].as_array().unwrap().len(), 2, "{again}");
    assert_eq!(ids(&sandbox), ["22222222-o"]);
    let (_, said) = sandbox.fails(1, &["capture", &parent, "--session", "11111111-p"]);
    assert!(said.contains("--again` brings it back"), "{said}");

    sandbox.now = Some("2026-03-01T12:01:00Z".into());
    sandbox.run(&["capture", &folder, "--session", "11111111-p", "--again"]);
    assert_eq!(ids(&sandbox).len(), 3);
    // From then on it is a session like others.
    let grown = session(
        &sandbox,
        "11111111-p.jsonl",
        "11111111-p",
        "2026-02-28",
        &[("p1", "the xylophone plan"), ("p2", "and more of it")],
    );
    assert!(sandbox.run(&["capture", &grown, &other]).contains("1 grown"));
    sandbox.now = Some("2026-03-01T12:02:00Z".into());
    sandbox.run(&["session", "forget", "11111111-p", "--yes"]);
    assert_eq!(ids(&sandbox), ["22222222-o"]);
    assert!(sandbox.run(&["log", "--kind", "purged"]).contains("purged"));
}

#[test]
fn an_agent_cannot_forget() {
    let mut sandbox = wiki();
    sandbox.run(&["capture", &fixture("real-geese")]);
    sandbox.env.push(("CLAUDECODE".into(), "1".into()));
    let id = ids(&sandbox).remove(0);
    assert_eq!(sandbox.json_error(1, &["session", "forget", &id, "--yes"])["code"], "needs_person");
    assert_eq!(ids(&sandbox), [id]);
}

#[test]
fn a_copy_of_a_forgotten_session_does_not_bring_its_lines_back() {
    let sandbox = wiki();
    let a = session(&sandbox, "a.jsonl", "11111111-a", "2026-02-26", &[("u1", "the xylophone plan")]);
    let turns = [("u1", "the xylophone plan"), ("u2", "Add a fake clock")];
    let b = session(&sandbox, "b.jsonl", "22222222-b", "2026-02-27", &turns);
    sandbox.run(&["capture", &a, &b]);
    let report = sandbox.json(&["session", "forget", "11111111-a", "--yes"]);
    assert!(
        report["remains"].to_string().contains("git memory session forget 22222222-b"),
        "its title tells: {report}"
    );
    let turns = [("u1", "the xylophone plan"), ("u2", "Add a fake clock"), ("u3", "and another")];
    let b = session(&sandbox, "b.jsonl", "22222222-b", "2026-02-28", &turns);
    sandbox.run(&["capture", &a, &b]);
    let words = sandbox.json(&["session", "show", "22222222-b", "--prompts"])["words"].clone();
    assert_eq!(words, json!(["Add a fake clock", "and another"]));
    assert_eq!(ids(&sandbox), ["22222222-b"]);
    // One that comes later has no word of it, not even in its title.
    let turns = [("u1", "the xylophone plan"), ("c2", "Rename main to run")];
    let c = session(&sandbox, "c.jsonl", "33333333-c", "2026-02-28", &turns);
    sandbox.run(&["capture", &c]);
    assert!(!sandbox.run(&["session", "show", "33333333-c"]).contains("xylophone"));
}

#[test]
fn the_page_on_the_branch_goes_too_and_what_still_holds_it_is_told() {
    for checked_out in [false, true] {
        let sandbox = Sandbox::new();
        let branch = if checked_out { "main" } else { BRANCH };
        sandbox.run(&["init", "--no-hooks", "--branch", branch, "--root", "docs"]);
        sandbox.git(&["config", "memory.capture.pages", "wiki"]);
        sandbox.git(&["remote", "add", "origin", "../elsewhere.git"]);
        let file = session(&sandbox, "a.jsonl", "11111111-a", "2026-02-26", &[("u1", "the xylophone plan")]);
        sandbox.run(&["capture", &file]);
        let page = "docs/sessions/11111111-a.md".to_owned();
        assert!(sandbox.tree(branch).contains(&page));
        let report = sandbox.json(&["session", "forget", "11111111-a", "--yes"]);
        assert!(!sandbox.tree(branch).contains(&page), "{report}");
        assert!(!sandbox.path(&page).exists());
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
        let told = report["remains"].to_string();
        for part in ["filter-repo", "docs/sessions/11111111-a.md", "git gc --prune=now", "git push origin --delete"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        purge(&sandbox, &report);
        // Only the page's blob stays, in the history that the report names.
        let left = holders(&sandbox, "xylophone");
        let blob = sandbox.git(&["log", "--format=%H", "-1", "--diff-filter=A", branch, "--", &page]);
        let blob = sandbox.rev(&format!("{blob}:{page}"));
        assert_eq!(left, [format!("blob {blob}")], "checked out: {checked_out}");
        sandbox.run(&["capture", &file]);
        assert!(!sandbox.tree(branch).contains(&page), "it does not come back");
    }
}

#[test]
fn what_is_printed_leaves_no_word_of_it_in_any_object() {
    if !Sandbox::empty().try_git(&["filter-repo", "--version"]).status.success() {
        eprintln!("skipped: no git-filter-repo");
        return;
    }
    for branch in ["main", BRANCH] {
        let sandbox = Sandbox::new();
        sandbox.run(&["init", "--no-hooks", "--branch", branch, "--root", "docs"]);
        sandbox.git(&["config", "memory.capture.pages", "wiki"]);
        let other = session(&sandbox, "o.jsonl", "22222222-o", "2026-02-27", &[("o1", "Add a fake clock")]);
        sandbox.run(&["capture", &fixture("hand-sqlx-offline-gotcha"), &fixture("hand-pnpm-rule"), &other]);
        sandbox.run(&["improve", "--all"]);
        let words = ["sqlx", "query cache", "query-cache", "DATABASE_URL"];
        assert!(words.iter().all(|word| !holders(&sandbox, word).is_empty()));
        let list = sandbox.json(&["session", "list"]);
        let rows = list["sessions"].as_array().unwrap();
        let about = |row: &&Value| row["title"].as_str().unwrap().contains("DATABASE_URL");
        let id = rows.iter().find(about).unwrap()["id"].as_str().unwrap();
        let report = sandbox.json(&["session", "forget", id, "--yes"]);
        let proposals = sandbox.json(&["list"])["proposals"].as_array().unwrap().len();
        let remains = report["remains"].as_array().unwrap();
        for command in remains.iter().flat_map(|place| place["commands"].as_array().unwrap()) {
            let output = sandbox.program("sh").args(["-c", command.as_str().unwrap()]).output().unwrap();
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        }
        for word in words {
            assert_eq!(holders(&sandbox, word), [""; 0], "{word}, {branch}");
        }
        // All else is there, and what was forgotten stays away.
        let left = sandbox.json(&["list"])["proposals"].as_array().unwrap().len();
        assert!(left > 0 && left + report["proposals"].as_array().unwrap().len() == proposals, "{left} of {proposals}");
        assert_eq!(ids(&sandbox).len(), 2);
        sandbox.run(&["doctor"]);
        sandbox.git(&["fsck", "--strict"]);
        sandbox.run(&["capture", &fixture("hand-sqlx-offline-gotcha")]);
        assert_eq!(ids(&sandbox).len(), 2);
    }
}

#[test]
fn a_busy_branch_keeps_the_page_and_the_second_call_takes_it() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.git(&["config", "memory.capture.pages", "wiki"]);
    let file = session(&sandbox, "a.jsonl", "11111111-a", "2026-02-26", &[("u1", "the xylophone plan")]);
    sandbox.run(&["capture", &file]);
    let page = "sessions/11111111-a.md";
    sandbox.write(page, "somebody is at work here\n");
    let error = sandbox.fails(75, &["session", "forget", "11111111-a", "--yes"]).1;
    assert!(error.contains("still stands") && error.contains("forget 11111111-a"), "{error}");
    assert_eq!(sandbox.read(page), "somebody is at work here\n");
    sandbox.git(&["checkout", "--", page]);
    sandbox.run(&["session", "forget", "11111111-a", "--yes"]);
    assert!(!sandbox.tree("main").contains(&page.to_owned()));
    let purged = sandbox.json(&["log", "--kind", "purged"])["entries"].as_array().unwrap().len();
    assert_eq!(purged, 1, "it is recorded once");
}

#[test]
fn proposals_that_quote_it_are_marked_and_no_policy_accepts_them() {
    let mut sandbox = wiki();
    sandbox.run(&["capture", &fixture("hand-sqlx-offline-gotcha")]);
    sandbox.run(&["improve", "--all"]);
    let proposals = sandbox.json(&["proposal", "list"])["proposals"].as_array().unwrap().clone();
    assert!(!proposals.is_empty());
    let id = proposals[0]["id"].as_str().unwrap();
    assert_eq!(proposals[0]["deferred"], Value::Null);
    let session = ids(&sandbox).remove(0);
    let report = sandbox.json(&["session", "forget", &session, "--yes"]);
    assert_eq!(report["proposals"].as_array().unwrap().len(), proposals.len(), "{report}");
    assert!(report["remains"].to_string().contains(&format!("git memory proposal reject {id}")), "{report}");
    let shown = sandbox.json(&["proposal", "show", id]);
    let deferred = shown["proposal"]["deferred"].as_str().unwrap();
    assert!(deferred.contains("its evidence is withdrawn") && deferred.contains(&session), "{deferred}");
    sandbox.git(&["config", "memory.approval.mode", "all"]);
    let drained = sandbox.json(&["proposal", "drain", "--policy", "gated", "--dry-run"]);
    assert_eq!(drained["proposals"][0]["outcome"], "left", "{drained}");
    // Brought back, it counts again.
    sandbox.now = Some("2026-03-01T12:01:00Z".into());
    sandbox.run(&["capture", &fixture("hand-sqlx-offline-gotcha"), "--session", &session, "--again"]);
    assert_eq!(sandbox.json(&["proposal", "show", id])["proposal"]["deferred"], Value::Null);
}

#[test]
fn forgetting_survives_a_kill_at_every_point() {
    for point in [
        "forget.before-ledger",
        "objects.before",
        "ledger.before",
        "refs.before",
        "refs.after",
        "forget.after-ledger",
        "forget.before-pages",
        "forget.after-pages",
        "forget.before-caches",
        "forget.after-caches",
    ] {
        let sandbox = wiki();
        sandbox.git(&["config", "memory.capture.pages", "wiki"]);
        let file = session(&sandbox, "a.jsonl", "11111111-a", "2026-02-26", &[("u1", "the xylophone plan")]);
        sandbox.run(&["capture", &file]);
        let mut command = sandbox.program(common::BIN);
        command.args(["session", "forget", "11111111-a", "--yes"]).env("GIT_MEMORY_FAULT", point);
        let output = command.output().expect("the binary starts");
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, Some(9), "{point}: {}", String::from_utf8_lossy(&output.stderr));
        sandbox.fsck();
        sandbox.run(&["session", "forget", "11111111-a", "--yes"]);
        sandbox.fsck();
        assert!(ids(&sandbox).is_empty(), "{point}");
        assert!(!sandbox.tree(BRANCH).contains(&"sessions/11111111-a.md".to_owned()), "{point}");
        let events = sandbox.json(&["log", "--kind", "purged"])["entries"].as_array().unwrap().len();
        assert_eq!(events, 1, "{point}: it is recorded once");
        assert!(sandbox.run(&["capture", &file]).contains("forgotten: left out"), "{point}");
        sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
        sandbox.git(&["gc", "-q", "--prune=now"]);
        let left = holders(&sandbox, "xylophone");
        assert!(left.len() == 1 && left[0].starts_with("blob "), "{point}: {left:?}");
    }
}

#[test]
fn observations_go_first_then_the_session_and_nothing_comes_back() {
    let mut sandbox = wiki();
    let a = session(&sandbox, "a.jsonl", "11111111-a", "2026-02-26", &[("u1", "the xylophone plan")]);
    let b = session(&sandbox, "b.jsonl", "22222222-b", "2026-02-27", &[("u1", "the xylophone plan"), ("u2", "clock")]);
    sandbox.run(&["capture", &a, &b]);

    // Ninety days later an ordinary capture, of anything, lets the observations go.
    sandbox.now = Some("2026-06-01T12:00:00Z".into());
    let c = session(&sandbox, "c.jsonl", "33333333-c", "2026-05-31", &[("c1", "Add a fake clock")]);
    sandbox.run(&["capture", &c]);
    let list = sandbox.run(&["session", "list"]);
    assert_eq!(list.matches("raw dropped").count(), 2, "{list}");
    assert!(sandbox.run(&["session", "show", "11111111-a"]).contains("> the xylophone plan"), "the page stays");
    let error = sandbox.json_error(1, &["session", "show", "11111111-a", "--observations"]);
    assert_eq!(error["code"], "observations_dropped");
    assert_eq!(sandbox.tree("refs/memory/sessions/11111111-a"), ["ids", "meta.json", "page.md"]);
    let again = sandbox.json(&["capture", &a, &b]);
    assert!(again["sessions"].as_array().unwrap().iter().all(|s| s["outcome"] == "unchanged"), "{again}");
    // A later copy of the same conversation does not bring the lines back either.
    let d =
        session(&sandbox, "d.jsonl", "44444444-d", "2026-05-31", &[("u1", "the xylophone plan"), ("d2", "and more")]);
    sandbox.run(&["capture", &d]);
    let words = sandbox.json(&["session", "show", "44444444-d", "--prompts"])["words"].clone();
    assert_eq!(words, json!(["and more"]));

    sandbox.now = Some("2027-03-15T12:00:00Z".into());
    sandbox.run(&["capture", &c]);
    assert_eq!(ids(&sandbox), ["44444444-d", "33333333-c"]);
    let again = sandbox.run(&["capture", &a, &b]);
    assert!(again.contains("2 sessions forgotten: left out"), "{again}");
    let turns = [("u1", "the xylophone plan"), ("d2", "and more"), ("d3", "and another")];
    let d = session(&sandbox, "d.jsonl", "44444444-d", "2027-03-01", &turns);
    sandbox.run(&["capture", &d]);
    assert!(!sandbox.run(&["session", "show", "44444444-d"]).contains("> the xylophone plan"));
    sandbox.run(&["capture", &a, "--session", "11111111-a", "--again"]);
    assert!(ids(&sandbox).contains(&"11111111-a".to_owned()));
    sandbox.fsck();
}

#[test]
fn a_reviewed_session_stays_reviewed_when_its_observations_go() {
    let mut sandbox = wiki();
    sandbox.run(&["capture", &fixture("hand-queue-decision")]);
    sandbox.run(&["improve", "--all"]);
    sandbox.now = Some("2026-06-01T12:00:00Z".into());
    sandbox.run(&["improve", "--all"]);
    let row = sandbox.json(&["session", "list"])["sessions"][0].clone();
    assert_eq!((row["standing"].as_str(), row["raw_dropped"].as_bool()), (Some("reviewed"), Some(true)), "{row}");
}
