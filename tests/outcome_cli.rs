//! `git memory outcome`: how the task went, who says so, and which pages had a part in it.

mod common;

use common::Sandbox;
use git_memory::feedback::{self, By, Served};
use git_memory::ledger;
use git_memory::wiki::Wiki;

const CLOCK: &str = "gotchas/fake-clock.md";
const PORTS: &str = "notes/ports.md";
const PNPM: &str = "decisions/pnpm.md";

/// A wiki, and the episode of a search that showed two of its three pages.
fn searched() -> (Sandbox, String) {
    let mut sandbox = Sandbox::new();
    // The search below happens in this process, whose clock is the real one.
    sandbox.now = None;
    sandbox.run(&["init", "--no-hooks"]);
    for page in [CLOCK, PORTS, PNPM] {
        sandbox.write(page, format!("# {page}\n\ntext\n"));
    }
    sandbox.commit("Pages");
    let id = search(&sandbox);
    (sandbox, id)
}

fn search(sandbox: &Sandbox) -> String {
    let wiki = Wiki::open(&sandbox.dir).expect("a wiki");
    let served = [CLOCK, PORTS, PNPM].map(str::to_owned);
    let episode = Served {
        query: "clock",
        scope: "global",
        by: By::Search,
        priors: "shadow",
        tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        candidates: 3,
        served: &served,
        shadow: &served,
        rendered: &served[..2],
    };
    feedback::record(&wiki, &episode).id.expect("recorded")
}

fn prior(sandbox: &Sandbox, page: &str) -> Option<f64> {
    let wiki = Wiki::open(&sandbox.dir).expect("a wiki");
    let folded = feedback::load(&wiki.repo, ledger::Cache::Use).expect("folded");
    folded.priors(|_| "global", ledger::now()).get(&("global", page)).copied()
}

/// Runs a command with `--json`, which must end with this exit code; returns the object, and standard error. Behind
/// `--` an option would be the check's.
fn answer(sandbox: &Sandbox, code: i32, args: &[&str]) -> (serde_json::Value, String) {
    let (out, err) = sandbox.fails(code, &[&["--json"], args].concat());
    let value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{args:?}: {error} in {out}"));
    common::is_as_its_schema_says(&value);
    (value, err)
}

fn refused(sandbox: &Sandbox, code: &str, args: &[&str]) -> serde_json::Value {
    let before = sandbox.state();
    let (error, _) = answer(sandbox, 1, args);
    assert_eq!(error["code"], code, "{args:?}: {error}");
    assert_eq!(sandbox.state(), before, "{args:?} changed something");
    error
}

fn user<'a>(id: &'a str, outcome: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["outcome", id, "--outcome", outcome, "--verifier", "user"][..], more].concat()
}

#[test]
fn a_verified_verdict_credits_the_pages_that_were_shown_and_named() {
    let (sandbox, id) = searched();
    let report = sandbox.json(&user(&id[..6], "passed", &["--used", CLOCK]));
    assert_eq!((report["episode"].as_str(), report["verified"].as_bool()), (Some(id.as_str()), Some(true)));
    assert_eq!(prior(&sandbox, CLOCK), Some(0.2 / 5.0));
    assert_eq!(prior(&sandbox, PORTS), None);
    // The newest verdict counts, for the pages that it names.
    sandbox.run(&user(&id, "corrected", &["--harmful", "fake-clock", "--used", "ports"]));
    assert_eq!((prior(&sandbox, CLOCK), prior(&sandbox, PORTS)), (Some(-0.2 / 5.0), Some(0.0)));
    // Another search, another say.
    let other = search(&sandbox);
    sandbox.run(&user(&other, "failed", &["--harmful", CLOCK]));
    assert_eq!(prior(&sandbox, CLOCK), Some(-0.4 / 6.0));
    // The episodes went into the ledger with their outcomes.
    assert_eq!(sandbox.json(&["status"])["spool"], 0);
    sandbox.fsck();
}

#[test]
fn an_agents_own_report_stays_visible_and_credits_nothing() {
    let (sandbox, id) = searched();
    let args = ["outcome", &id, "--outcome", "passed", "--verifier", "agent_self_report", "--used", CLOCK];
    let report = sandbox.json(&args);
    assert_eq!((report["verified"].as_bool(), &report["used"][0]), (Some(false), &CLOCK.into()));
    assert_eq!(prior(&sandbox, CLOCK), None);
    sandbox.run(&user(&id, "accepted", &["--used", CLOCK]));
    sandbox.run(&args);
    sandbox.run(&user(&id, "verifier_error", &["--harmful", CLOCK]));
    assert_eq!(prior(&sandbox, CLOCK), Some(0.04), "what nobody verified takes nothing away");
    let log = sandbox.run(&["log"]);
    assert!(log.matches("outcome").count() >= 4, "{log}");
}

#[test]
fn whoever_may_not_say_it_is_refused_and_nothing_is_recorded() {
    let (mut sandbox, id) = searched();
    for verifier in ["automated_test", "external_tool", "task_system"] {
        refused(&sandbox, "missing_evidence", &["outcome", &id, "--outcome", "passed", "--verifier", verifier]);
    }
    let evidence = ["outcome", &id, "--outcome", "passed", "--verifier", "task_system", "--evidence", "ticket 7"];
    assert_eq!(sandbox.json(&evidence)["evidence"], "ticket 7");
    refused(&sandbox, "used_and_harmful", &user(&id, "passed", &["--used", CLOCK, "--harmful", "fake-clock"]));
    // Not shown, not there at all.
    let error = refused(&sandbox, "unknown_page", &user(&id, "passed", &["--used", PNPM]));
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains(PORTS)), "{error}");
    refused(&sandbox, "unknown_page", &user(&id, "passed", &["--harmful", "nowhere"]));
    sandbox.env.push(("CLAUDECODE".into(), "1".into()));
    refused(&sandbox, "needs_person", &user(&id, "passed", &[]));
    sandbox.env.push(("GIT_MEMORY_RUN".into(), "01J".into()));
    refused(&sandbox, "own_automation", &["outcome", &id, "--outcome", "passed", "--verifier", "agent_self_report"]);
}

#[test]
fn an_episode_that_is_not_known_is_refused_with_the_near_ones() {
    let (sandbox, id) = searched();
    let wrong: String =
        id.chars().map(|c| if c == 'f' { '0' } else { char::from(c as u8 + u8::from(c != '9')) }).collect();
    let error = refused(&sandbox, "unknown_episode", &user(&wrong, "passed", &[]));
    let hint = error["hint"].as_str().expect("a hint");
    assert!(hint.contains(&id) && hint.contains(CLOCK), "{hint}");
    refused(&sandbox, "too_short", &user(&id[..3], "passed", &[]));
    // In the ledger as well as in the spool.
    sandbox.run(&["improve"]);
    assert_eq!(sandbox.json(&["status"])["spool"], 0);
    assert_eq!(sandbox.json(&user(&id[..4], "passed", &[]))["episode"], id.as_str());
    let none = Sandbox::new();
    none.run(&["init", "--no-hooks"]);
    let error = refused(&none, "unknown_episode", &user(&id, "passed", &[]));
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("none is recorded")), "{error}");
}

#[test]
fn a_check_that_is_run_here_attests_what_it_says() {
    let (sandbox, id) = searched();
    let said = sandbox.run(&["outcome", &id, "--used", CLOCK, "--run", "--", "sh", "-c", "echo checked; exit 0"]);
    assert!(said.starts_with("checked\n") && said.contains("passed"), "{said}");
    assert_eq!(prior(&sandbox, CLOCK), Some(0.04));
    let args = ["outcome", &id, "--harmful", CLOCK, "--run", "--", "sh", "-c", "echo broken; exit 3"];
    let (report, err) = answer(&sandbox, 1, &args);
    assert!(err.contains("broken"), "{err}");
    assert_eq!((report["outcome"].as_str(), report["verifier"].as_str()), (Some("failed"), Some("automated_test")));
    assert_eq!(report["run"]["exit"], 3);
    assert_eq!(report["run"]["head"], sandbox.rev("HEAD").as_str());
    assert_eq!(report["run"]["command"], "sh -c 'echo broken; exit 3'");
    assert_eq!(prior(&sandbox, CLOCK), Some(-0.04));
    // A claim that the check does not bear out.
    let args = ["outcome", &id, "--outcome", "passed", "--verifier", "external_tool", "--run", "--", "false"];
    let (_, err) = sandbox.fails(1, &args);
    assert!(err.contains("you said passed, but the check says failed"), "{err}");
    // A check that cannot be run says nothing about the pages.
    let args = ["outcome", &id, "--used", CLOCK, "--run", "--", "no-such-program"];
    let (report, err) = answer(&sandbox, 1, &args);
    assert!(err.contains("cannot run no-such-program"), "{err}");
    assert_eq!((report["outcome"].as_str(), prior(&sandbox, CLOCK)), (Some("verifier_error"), Some(-0.04)));
}

#[test]
fn a_check_runs_only_for_a_claim_that_is_in_order() {
    let (mut sandbox, id) = searched();
    let touch = ["--run", "--", "touch", "../ran"];
    for (code, args) in [
        ("unknown_episode", vec!["outcome", "ffffffffffffffff"]),
        ("unknown_page", vec!["outcome", &id, "--used", "nowhere"]),
        ("bad_verifier", vec!["outcome", &id, "--outcome", "passed", "--verifier", "user"]),
        ("bad_outcome", vec!["outcome", &id, "--outcome", "accepted", "--verifier", "automated_test"]),
    ] {
        refused(&sandbox, code, &[&args[..], &touch[..]].concat());
    }
    sandbox.fails(129, &["outcome", &id, "--run"]);
    sandbox.fails(129, &["outcome", &id]);
    sandbox.fails(129, &["outcome", &id, "--outcome", "passed", "--verifier", "user", "--", "true"]);
    assert!(!sandbox.path("../ran").exists());
    // Under an agent a check is worth as much, and what it searches is no use of the wiki.
    sandbox.env.push(("CLAUDECODE".into(), "1".into()));
    let program = format!("{} feedback {CLOCK} --positive", common::BIN);
    let said = sandbox.memory(&["outcome", &id, "--run", "--", "sh", "-c", &program]).output().expect("it starts");
    assert_eq!(said.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&said.stderr).contains("our own automation"), "{said:?}");
}

#[test]
fn secrets_in_a_command_are_not_kept() {
    let (sandbox, id) = searched();
    let secret = "q7Zk3VtLw9XbR2mYc8NfHs5JdP1aGu6TeKo4";
    let (report, _) = answer(&sandbox, 0, &["outcome", &id, "--run", "--", "true", &format!("--api-key={secret}")]);
    let command = report["run"]["command"].as_str().expect("a command");
    assert!(command.contains("[REDACTED:") && !command.contains(secret), "{command}");
}
