//! `git memory feedback`: what is said of pages, and exact fixes that become proposals.

mod common;

use std::process::Stdio;

use common::Sandbox;
use serde_json::Value;

const PORTS: &str = "---\ntitle: Ports of the services\n---\n# Ports of the services\n\nThe database listens on 5432.\n\n\
                     ## Cache\n\nThe cache listens on 6379.\nThe cache needs no password.\n";

/// A wiki with a note, a rule and a pinned page.
fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.write("notes/ports.md", PORTS);
    sandbox.write("gotchas/fake-clock.md", "# Use a fake clock\n\nTests that read the wall clock are flaky.\n");
    sandbox.write("_rules/pnpm.md", "# Always use pnpm\n\nNever npm here.\n");
    sandbox.write("notes/pinned.md", "---\npinned: true\n---\n# Pinned\n\nNobody touches 17.\n");
    sandbox.commit("Pages");
    sandbox
}

/// Every event of the ledger of this kind, in the order of its segments.
fn events(sandbox: &Sandbox, kind: &str) -> Vec<Value> {
    let paths = sandbox.tree("refs/memory/log");
    let lines = paths.iter().filter(|path| path.starts_with("events/")).flat_map(|path| {
        let text = sandbox.git(&["show", &format!("refs/memory/log:{path}")]);
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    lines
        .map(|line| serde_json::from_str::<Value>(&line).expect("an event"))
        .filter(|event| event["kind"] == kind)
        .collect()
}

fn negative<'a>(page: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["feedback", page, "--negative", "--reason", "it moved to 5433"][..], more].concat()
}

const FIX: [&str; 6] = ["--replace", "listens on 5432", "--with", "listens on 5433", "--source", "docker-compose.yml"];

/// Runs a command that must be refused with this word, and must record nothing.
fn refused(sandbox: &Sandbox, code: &str, args: &[&str]) -> String {
    let before = sandbox.state();
    let error = sandbox.json_error(1, args);
    assert_eq!(error["code"], code, "{args:?}: {error}");
    assert_eq!(sandbox.state(), before, "{args:?} changed something");
    error["message"].as_str().expect("a message").to_owned()
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

#[test]
fn a_day_of_feedback_moves_a_page_a_tenth_of_the_way() {
    let mut sandbox = wiki();
    near(&sandbox.json(&["feedback", "notes/ports.md", "--positive"])["utility"], 0.55);
    // However many say it on one day.
    near(&sandbox.json(&["feedback", "notes/ports.md", "--positive", "--reason", "saved an hour"])["utility"], 0.55);
    sandbox.now = Some("2026-03-02T09:00:00Z".into());
    let fallen = sandbox.json(&negative("notes/ports.md", &["--mode", "outdated"]));
    assert_eq!((fallen["fell"].as_bool(), fallen["verdict"].as_str()), (Some(true), Some("negative")));
    let again = sandbox.json(&negative("notes/ports.md", &[]));
    assert_eq!(again["fell"], false, "once for each fall");
    let said = sandbox.run(&negative("gotchas/fake-clock.md", &[]));
    assert!(said.contains("utility 0.45"), "{said}");
    let events = events(&sandbox, "feedback");
    assert_eq!(events.len(), 5);
    let outdated = events.iter().find(|event| event["data"]["mode"] == "outdated").expect("the mode is kept");
    assert_eq!(outdated["page"], "notes/ports.md");
    sandbox.fsck();
}

#[test]
fn a_wrong_page_for_the_task_says_nothing_against_it() {
    let sandbox = wiki();
    let report = sandbox.json(&["feedback", "notes/ports.md", "--failed-to-apply", "--reason", "other project"]);
    assert_eq!((&report["utility"], &report["verdict"]), (&Value::Null, &"failed_to_apply".into()));
    assert_eq!(events(&sandbox, "feedback").len(), 1);
}

#[test]
fn the_words_of_whoever_speaks_lose_their_secrets() {
    let sandbox = wiki();
    let secret = "q7Zk3VtLw9XbR2mYc8NfHs5JdP1aGu6TeKo4";
    let reason = format!("with DB_PASSWORD={secret} it works");
    sandbox.run(&["feedback", "notes/ports.md", "--negative", "--reason", &reason]);
    let event = &events(&sandbox, "feedback")[0];
    let kept = event["data"]["reason"].as_str().expect("a reason");
    assert!(kept.contains("[REDACTED:") && !kept.contains(secret), "{kept}");
}

#[test]
fn an_exact_fix_becomes_one_proposal_with_the_word_that_says_why() {
    let sandbox = wiki();
    let before = sandbox.git(&["rev-list", "--count", "refs/memory/log"]);
    let more = ["--replace", "The cache needs no password.", "--with", "The cache needs a password."];
    let report = sandbox.json(&negative("ports", &[&FIX[..], &more[..]].concat()));
    assert_eq!(
        (report["page"].as_str(), report["proposal"]["outcome"].as_str()),
        (Some("notes/ports.md"), Some("staged"))
    );
    let id = report["proposal"]["id"].as_str().expect("an id");
    let after = sandbox.git(&["rev-list", "--count", "refs/memory/log"]);
    assert_eq!(after.parse::<u32>().expect("a number"), before.parse::<u32>().expect("a number") + 1);
    assert_eq!(events(&sandbox, "feedback")[0]["proposal"], id);
    let shown = sandbox.json(&["proposal", "show", id]);
    assert_eq!(shown["proposal"]["lane"], "feedback");
    let message = sandbox.git(&["log", "-1", "--format=%an <%ae>%n%B", &format!("refs/memory/pending/{id}")]);
    for part in [
        "Ada Tester",
        "it moved to 5433",
        "docker-compose.yml",
        "> The database listens on 5432.",
        "Memory-Lane: feedback",
    ] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    sandbox.run(&["proposal", "accept", id]);
    let expected = PORTS.replace("5432", "5433").replace("needs no password", "needs a password");
    assert_eq!(sandbox.read("notes/ports.md"), expected);
    sandbox.fsck();
}

#[test]
fn a_fix_that_does_not_pass_records_nothing() {
    let sandbox = wiki();
    let source = ["--source", "a test"];
    let with = |old: &'static str, new: &'static str| {
        negative("notes/ports.md", &[&["--replace", old, "--with", new][..], &source[..]].concat())
    };
    let why = refused(&sandbox, "fix_refused", &with("port 1", "port 2"));
    assert!(why.contains("does not stand there"), "{why}");
    let why = refused(&sandbox, "fix_refused", &with("The cache", "The store"));
    assert!(why.contains("more than once"), "{why}");
    refused(&sandbox, "fix_refused", &with("listens on 5432", "listens on 5432"));
    refused(&sandbox, "fix_refused", &with("title: Ports", "title: Harbours"));
    refused(&sandbox, "fix_refused", &with("The database listens on 5432.", "# Another head"));
    let secret = "password=q7Zk3VtLw9XbR2mYc8NfHs5JdP1aGu6TeKo4";
    let why = refused(&sandbox, "fix_refused", &with("needs no password", secret));
    assert!(!why.contains("q7Zk3VtLw9"), "{why}");
    // One that is right does not carry one that is wrong.
    let more = ["--replace", "no such text", "--with", "x"];
    refused(&sandbox, "fix_refused", &negative("notes/ports.md", &[&FIX[..], &more[..]].concat()));
    refused(&sandbox, "missing_source", &negative("notes/ports.md", &FIX[..4]));
    refused(&sandbox, "missing_reason", &["feedback", "notes/ports.md", "--negative"]);
    refused(&sandbox, "not_negative", &[&["feedback", "notes/ports.md", "--positive"][..], &FIX[..]].concat());
    sandbox.fails(129, &negative("notes/ports.md", &["--replace", "a"]));
    sandbox.fails(129, &["feedback", "notes/ports.md"]);
    sandbox.fails(129, &["feedback", "notes/ports.md", "--positive", "--negative", "--reason", "x"]);
    assert_eq!(events(&sandbox, "feedback").len(), 0);
}

#[test]
fn a_source_that_names_a_commit_or_a_page_must_be_there() {
    let sandbox = wiki();
    let from = |source| negative("notes/ports.md", &[&FIX[..5], &[source]].concat());
    let gone = "deadbeef".repeat(5);
    for source in ["dead0beef", &gone, "notes/prts.md", "sessions/none.md", "other/README.md#there"] {
        refused(&sandbox, "unknown_source", &from(source));
    }
    refused(&sandbox, "missing_source", &from(" "));
    refused(&sandbox, "missing_source", &["feedback", "notes/ports.md", "--positive", "--source", ""]);
    assert_eq!(events(&sandbox, "feedback").len(), 0);

    sandbox.write("docs/new.md", "not committed yet");
    let commit = sandbox.rev("HEAD");
    let episode = sandbox.json(&["search", "ports"])["episode"].as_str().expect("an id").to_owned();
    let mut seen = std::collections::HashSet::new();
    for source in [
        commit.as_str(),
        &commit[..12],
        &episode,
        "gotchas/fake-clock.md#use-a-fake-clock",
        "README.md",
        "./docs/new.md",
        "https://example.org/ports.md",
        "docker compose config",
    ] {
        let report = sandbox.json(&from(source));
        seen.insert(report["proposal"]["id"].to_string());
    }
    assert_eq!((seen.len(), events(&sandbox, "feedback").len()), (1, 8));
    let id = seen.iter().next().expect("one").trim_matches('"');
    assert_eq!(sandbox.json(&from(&id[..8]))["proposal"]["outcome"], "sighted");
}

#[test]
fn protected_pages_and_rules_keep_their_protection() {
    let mut sandbox = wiki();
    let pinned = ["--replace", "touches 17", "--with", "touches 18", "--source", "x"];
    let report = sandbox.json(&negative("notes/pinned.md", &pinned));
    let id = report["proposal"]["id"].as_str().expect("an id").to_owned();
    let (_, said) = sandbox.fails(1, &["proposal", "accept", &id, "--yes"]);
    assert!(said.contains("a person has to decide"), "{said}");
    let rule = ["--replace", "Never npm here.", "--with", "Never npm nor yarn here.", "--source", "x"];
    let report = sandbox.json(&negative("_rules/pnpm.md", &rule));
    assert_eq!(report["proposal"]["outcome"], "staged");
    // An agent's word makes no rule.
    sandbox.env.push(("CLAUDECODE".into(), "1".into()));
    let other = ["--replace", "Never npm here.", "--with", "Never npm nor bun here.", "--source", "x"];
    let why = refused(&sandbox, "fix_refused", &negative("_rules/pnpm.md", &other));
    assert!(why.contains("evidence_not_human"), "{why}");
    // On other pages it counts like a person's.
    let report = sandbox.json(&negative("notes/ports.md", &FIX));
    assert_eq!(report["proposal"]["outcome"], "staged");
    let by_agent = events(&sandbox, "feedback").iter().filter(|event| event["data"]["agent"] == "CLAUDECODE").count();
    assert_eq!(by_agent, 1);
    sandbox.env.push(("GIT_MEMORY_WIKI_PROTECT".into(), "refuse".into()));
    let again = ["--replace", "touches 17", "--with", "touches 19", "--source", "x"];
    refused(&sandbox, "fix_refused", &negative("notes/pinned.md", &again));
}

#[test]
fn our_own_automation_has_no_voice() {
    let mut sandbox = wiki();
    sandbox.env.push(("GIT_MEMORY_RUN".into(), "01J0000000000000000000000".into()));
    refused(&sandbox, "own_automation", &["feedback", "notes/ports.md", "--positive"]);
}

#[test]
fn the_same_fix_twice_is_one_proposal_and_two_voices() {
    let sandbox = wiki();
    let first = sandbox.json(&negative("notes/ports.md", &FIX));
    let second = sandbox.json(&negative("notes/ports.md", &FIX));
    assert_eq!(second["proposal"]["outcome"], "sighted");
    assert_eq!(first["proposal"]["id"], second["proposal"]["id"]);
    assert_eq!(events(&sandbox, "feedback").len(), 2);
    assert_eq!(sandbox.json(&["proposal", "list"])["proposals"].as_array().map(Vec::len), Some(1));
    // Another text for the same page waits behind it.
    let other = ["--replace", "listens on 6379", "--with", "listens on 6380", "--source", "x"];
    let third = sandbox.json(&negative("notes/ports.md", &other));
    assert_eq!(third["proposal"]["outcome"], "held");
    assert_eq!(third["proposal"]["behind"], first["proposal"]["id"]);
    // A fix that was turned down does not come back by itself, another one does.
    let id = first["proposal"]["id"].as_str().expect("an id");
    sandbox.run(&["proposal", "reject", id, "--reason", "5432 is right"]);
    refused(&sandbox, "fix_refused", &negative("notes/ports.md", &FIX));
    let fourth = ["--replace", "listens on 5432", "--with", "listens on 5434", "--source", "x"];
    assert_eq!(sandbox.json(&negative("notes/ports.md", &fourth))["proposal"]["outcome"], "staged");
}

#[test]
fn a_page_that_is_superseded_leaves_the_answers_by_a_persons_word_only() {
    let mut sandbox = wiki();
    let by = ["--superseded-by", "gotchas/fake-clock.md"];
    refused(&sandbox, "same_page", &negative("notes/ports.md", &["--superseded-by", "ports"]));
    refused(&sandbox, "unknown_page", &negative("notes/ports.md", &["--superseded-by", "nowhere"]));
    sandbox.env.push(("CLAUDECODE".into(), "1".into()));
    let report = sandbox.json(&negative("notes/ports.md", &by));
    assert_eq!(report["proposal"], Value::Null);
    assert_eq!(events(&sandbox, "feedback")[0]["data"]["superseded_by"], "gotchas/fake-clock.md");
    sandbox.env.pop();
    let report = sandbox.json(&negative("notes/ports.md", &by));
    let id = report["proposal"]["id"].as_str().expect("an id").to_owned();
    let shown = sandbox.json(&["proposal", "show", &id]);
    assert!(shown.to_string().contains("takes a page out of the answers"), "{shown}");
    sandbox.run(&["proposal", "accept", &id]);
    let page = sandbox.read("notes/ports.md");
    assert!(page.contains("status: superseded\nsuperseded_by: gotchas/fake-clock.md\n"), "{page}");
}

#[test]
fn a_page_is_named_as_people_name_it() {
    let sandbox = wiki();
    for name in [
        "notes/ports.md",
        "./notes/ports.md",
        "notes/ports",
        "ports",
        "por",
        "Ports of the services",
        "ports-of-the-services",
    ] {
        assert_eq!(sandbox.json(&["feedback", name, "--positive"])["page"], "notes/ports.md", "{name}");
    }
    sandbox.write("gotchas/ports.md", "# Ports again\n\ntext\n");
    sandbox.commit("Another");
    let why = refused(&sandbox, "ambiguous", &["feedback", "ports", "--positive"]);
    assert!(why.contains("gotchas/ports.md, notes/ports.md"), "{why}");
    let error = sandbox.json_error(1, &["feedback", "notes/prts.md", "--positive"]);
    assert_eq!(error["code"], "unknown_page");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("notes/ports.md")), "{error}");
}

#[test]
fn it_works_wherever_the_wiki_is() {
    let sandbox = wiki();
    let wiki = sandbox.dir.display().to_string();
    // A bare repository, a linked work tree, a subdirectory, a code repository that names the wiki.
    sandbox.git(&["clone", "-q", "--bare", &wiki, "../bare.git"]);
    sandbox.git(&["-C", "../bare.git", "config", "memory.wiki.branch", "main"]);
    sandbox.git(&["worktree", "add", "-q", "../linked", "-b", "side"]);
    sandbox.git(&["init", "-q", "../code"]);
    sandbox.git(&["-C", "../code", "config", "memory.wiki", &wiki]);
    for place in ["../bare.git", "../linked", "notes", "../code"] {
        let report = sandbox.json(&["-C", place, "feedback", "notes/ports.md", "--positive"]);
        near(&report["utility"], 0.55);
    }
    assert_eq!(events(&sandbox, "feedback").len(), 3);
    let fix = [&["-C", "../bare.git"][..], &negative("notes/ports.md", &FIX)[..]].concat();
    assert_eq!(sandbox.json(&fix)["proposal"]["outcome"], "staged");
}

#[test]
fn sixteen_voices_at_once_are_all_heard() {
    let sandbox = wiki();
    let children: Vec<_> = (0..16)
        .map(|n| {
            let mut command = sandbox.program(common::BIN);
            let verdict = if n % 4 == 0 { "--failed-to-apply" } else { "--positive" };
            command.args(["feedback", "notes/ports.md", verdict, "--reason", &format!("voice {n}")]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(events(&sandbox, "feedback").len(), 16);
    near(&sandbox.json(&["feedback", "notes/ports.md", "--failed-to-apply"])["utility"], 0.55);
    sandbox.fsck();
}

#[test]
fn feedback_with_a_fix_survives_a_kill_at_every_point() {
    for point in
        ["stage.before-ledger", "objects.before", "ledger.before", "refs.before", "refs.after", "stage.after-ledger"]
    {
        let sandbox = wiki();
        let output = sandbox
            .program(common::BIN)
            .args(negative("notes/ports.md", &FIX))
            .env("GIT_MEMORY_FAULT", point)
            .output()
            .expect("the binary starts");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(9), "it passes {point}");
        sandbox.fsck();
        // Both or neither.
        let (said, staged) = (events(&sandbox, "feedback").len(), sandbox.refs("refs/memory/pending/").lines().count());
        assert_eq!(said, staged, "after {point}");
        let report = sandbox.json(&negative("notes/ports.md", &FIX));
        let expected = if said == 0 { "staged" } else { "sighted" };
        assert_eq!(report["proposal"]["outcome"], expected, "after {point}");
    }
}
