//! `git memory eval review`: the figures on made cases with known answers, what is refused, and that the recorded cases
//! hold their floor.

mod common;

use std::path::{Path, PathBuf};

use common::{Sandbox, corpus};
use serde_json::{Value, json};

/// A session of Claude Code with ordinary work in it; `turns` are a person's.
fn session(id: &str, turns: &[&str]) -> String {
    let mut lines = Vec::new();
    let mut put = |kind: &str, message: Value| {
        let number = lines.len();
        lines.push(
            json!({
                "type": kind, "sessionId": id, "uuid": format!("{id}-{number}"), "cwd": "/home/dev/shop",
                "parentUuid": number.checked_sub(1).map(|before| format!("{id}-{before}")),
                "timestamp": format!("2026-02-01T10:{:02}:00Z", number), "message": message,
            })
            .to_string(),
        );
    };
    put("user", json!({"role": "user", "content": "show the cart"}));
    for number in 0..3 {
        let call = format!("{id}-call-{number}");
        let used =
            json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": format!("ls src{number}")}});
        put("assistant", json!({"role": "assistant", "content": [used]}));
        let result = json!({"type": "tool_result", "tool_use_id": call, "content": "a.ts"});
        put("user", json!({"role": "user", "content": [result]}));
    }
    for turn in turns {
        put("assistant", json!({"role": "assistant", "content": [{"type": "text", "text": "It is done."}]}));
        put("user", json!({"role": "user", "content": turn}));
    }
    lines.join("\n") + "\n"
}

/// Writes a case below `cases/` in the sandbox's folder.
fn case(sandbox: &Sandbox, name: &str, labels: &str, turns: &[&str]) {
    sandbox.write(&format!("cases/{name}/case.toml"), labels);
    sandbox.write(&format!("cases/{name}/session.jsonl"), session(&name.replace(['/', '.'], "-"), turns));
}

/// A case of each verdict: six proposals, of which two are hits, one is allowed, one a duplicate, two wrong.
fn each_verdict(sandbox: &Sandbox) {
    case(
        sandbox,
        "a-hit",
        "about = 'A rule'\n[[must]]\nkind = 'rule'\nabout = ['pnpm', '/n?pm/']\nquote = ['always use pnpm']\npath = '_rules/'\n\
         [[must]]\nkind = 'decision'\nabout = ['never said']\n",
        &["always use pnpm in this repo, never npm"],
    );
    case(
        sandbox,
        "b-allowed",
        "about = 'May be'\n[[may]]\nkind = 'rule|gotcha'\nabout = ['unwrap']\n",
        &["never use unwrap outside of tests"],
    );
    case(
        sandbox,
        "c-duplicate",
        "about = 'Twice'\n[[must]]\nkind = 'rule'\nabout = ['log']\n",
        &["always log through structlog", "never log a password of a customer"],
    );
    case(
        sandbox,
        "d-wrong",
        "about = 'Nothing'\nnone = true\n[[must_not]]\nabout = ['black']\nwhy = 'it was taken back'\n",
        &["never use black in this repo", "always run isort before black"],
    );
    case(sandbox, "e-silent", "about = 'Nothing'\nnone = true\n", &["make the button green"]);
}

fn verdicts(case: &Value) -> Vec<(&str, &str)> {
    let judged = case["proposals"].as_array().expect("proposals");
    judged.iter().map(|one| (one["verdict"].as_str().expect("a word"), one["kind"].as_str().expect("a kind"))).collect()
}

#[test]
fn each_verdict_counts_where_it_belongs() {
    let sandbox = Sandbox::bare_folder();
    each_verdict(&sandbox);
    let report = sandbox.json(&["eval", "review", "--cases", "cases"]);
    let cases = report["sets"][0]["cases"].as_array().expect("cases");
    let names: Vec<&str> = cases.iter().map(|case| case["case"].as_str().expect("a name")).collect();
    assert_eq!(names, ["a-hit", "b-allowed", "c-duplicate", "d-wrong", "e-silent"]);
    assert_eq!(verdicts(&cases[0]), [("hit", "rule")], "{report}");
    assert_eq!(cases[0]["missed"], json!(["decision: never said"]));
    assert_eq!(verdicts(&cases[1]), [("allowed", "rule")]);
    assert_eq!(verdicts(&cases[2]), [("hit", "rule"), ("duplicate", "rule")]);
    assert_eq!(verdicts(&cases[3]), [("wrong", "rule"), ("wrong", "rule")]);
    assert_eq!(cases[3]["proposals"][0]["why"], "must not be proposed: it was taken back");
    assert_eq!(verdicts(&cases[4]), []);
    let figures = &report["sets"][0]["figures"];
    for (figure, value) in [
        ("cases", 5),
        ("clean", 2),
        ("proposals", 6),
        ("hits", 2),
        ("allowed", 1),
        ("duplicates", 1),
        ("wrong", 2),
        ("must", 3),
        ("unsafe_rules", 0),
        ("failed", 0),
        ("calls", 0),
    ] {
        assert_eq!(figures[figure], value, "{figure} in {figures}");
    }
    assert_eq!(figures["precision"], 0.5);
    assert!((figures["recall"].as_f64().expect("a share") - 2.0 / 3.0).abs() < 1e-9, "{figures}");
    assert_eq!((&report["reviewer"], &report["together"]), (&"builtin".into(), &Value::Null));
}

#[test]
fn several_folders_have_figures_each_and_together_and_the_report_goes_to_files() {
    let sandbox = Sandbox::bare_folder();
    each_verdict(&sandbox);
    case(&sandbox, "../more/x", "about = 'Nothing'\nnone = true\n", &["thanks"]);
    let args = ["eval", "review", "--cases", "cases", "--cases", "more", "--output", "r.md", "--output", "r.json"];
    let out = sandbox.run(&args);
    assert!(out.contains("together") && out.contains("wrong: rule _rules/never-use-black"), "{out}");
    assert!(!out.contains("b-allowed"), "what is as it should be needs -v: {out}");
    let report: Value = serde_json::from_str(&sandbox.read("r.json")).expect("json");
    common::is_as_its_schema_says(&report);
    assert_eq!((&report["together"]["cases"], &report["sets"][1]["figures"]["cases"]), (&6.into(), &1.into()));
    let markdown = sandbox.read("r.md");
    assert!(markdown.contains("| a-hit | hit | rule |") && markdown.contains("nothing, rightly"), "{markdown}");
    // A report is never written over.
    let before = sandbox.read("r.md");
    assert_eq!(sandbox.json_error(1, &args)["code"], "file_exists");
    assert_eq!(sandbox.read("r.md"), before);
}

#[test]
fn a_missed_threshold_is_a_failure() {
    let sandbox = Sandbox::bare_folder();
    each_verdict(&sandbox);
    let with = |option: &str, share: &str| {
        sandbox.memory(&["eval", "review", "--cases", "cases", option, share]).output().expect("it starts")
    };
    assert!(with("--min-precision", "0.5").status.success());
    assert!(with("--min-recall", "0.66").status.success());
    for (option, share, word) in [("--min-precision", "0.51", "precision"), ("--min-recall", "0.7", "recall")] {
        let output = with(option, share);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(word) && said.contains("below"), "{said}");
    }
    sandbox.fails(129, &["eval", "review", "--cases", "cases", "--min-recall", "2"]);
}

#[test]
fn what_the_wiki_says_and_what_was_decided_before_counts() {
    let sandbox = Sandbox::bare_folder();
    let words = ["always use pnpm in this repo, never npm"];
    case(
        &sandbox,
        "rejected",
        "about = 'Rejected'\nnone = true\n[[earlier]]\ndecision = 'rejected'\nreason = 'no'\n\
         path = '_rules/always-use-pnpm-in-this-repo-never-npm.md'\ntitle = 'Always use pnpm in this repo, never npm'\n\
         body = '''# Always use pnpm in this repo, never npm\n\nAlways use pnpm in this repo, never npm.\n'''\n",
        &words,
    );
    case(&sandbox, "known", "about = 'Known'\nnone = true\n", &words);
    sandbox.write("cases/known/wiki/notes/pm.md", "# Package managers\n\nAlways use pnpm in this repo, never npm.\n");
    let report = sandbox.json(&["eval", "review", "--cases", "cases"]);
    assert_eq!(report["sets"][0]["figures"]["proposals"], 0, "{report}");
    // What is in every word as it was rejected is met again, and no candidate.
    let refused = &report["sets"][0]["figures"]["refused"];
    assert_eq!(refused, &json!({"duplicate_existing_content": 1}), "{report}");
    // Without the page, and without the decision, it is proposed.
    std::fs::remove_dir_all(sandbox.path("cases/known/wiki")).expect("the pages go");
    sandbox.write("cases/rejected/case.toml", "about = 'Rejected no more'\nnone = true\n");
    let report = sandbox.json(&["eval", "review", "--cases", "cases"]);
    assert_eq!(report["sets"][0]["figures"]["wrong"], 2, "{report}");
}

#[test]
fn cases_that_are_not_as_they_must_be_are_named_with_file_and_line() {
    let sandbox = Sandbox::bare_folder();
    each_verdict(&sandbox);
    sandbox.write("cases/d-wrong/case.toml", "about = 'x'\nnone = true\n\n[[must_not]]\nabout = ['a']\n");
    let error = sandbox.json_error(1, &["eval", "review", "--cases", "cases"]);
    assert_eq!(error["code"], "bad_case");
    let message = error["message"].as_str().expect("words");
    assert!(message.contains("d-wrong/case.toml:4: missing field `why`"), "{message}");
    assert_eq!(sandbox.json_error(1, &["eval", "review", "--cases", "nowhere"])["code"], "unreadable_case");
    std::fs::create_dir_all(sandbox.path("empty")).expect("a folder");
    assert_eq!(sandbox.json_error(1, &["eval", "review", "--cases", "empty"])["code"], "unreadable_case");
    // A session that no reader knows fails its case, visibly.
    let sandbox = Sandbox::bare_folder();
    case(&sandbox, "odd", "about = 'x'\nnone = true\n", &[]);
    sandbox.write("cases/odd/session.jsonl", "this is no session\n");
    let (out, err) = sandbox.fails(1, &["eval", "review", "--cases", "cases"]);
    assert!(out.contains("failed: ") && out.contains("this is no session"), "{out}");
    assert!(err.contains("the reviewer failed in 1 case"), "{err}");
}

#[test]
fn nothing_of_the_repository_at_hand_changes() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    each_verdict(&sandbox);
    sandbox.commit("Cases");
    let (state, files) = (sandbox.state(), sandbox.git_files());
    let temporary = sandbox.root().join("temporary");
    std::fs::create_dir_all(&temporary).expect("a folder");
    let mut command = sandbox.memory(&["eval", "review", "--cases", "cases"]);
    // As in a hook of git's, whose variables name the repository.
    command.env("GIT_DIR", sandbox.path(".git")).env("TMPDIR", &temporary);
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(sandbox.state(), state);
    assert!(sandbox.git_files() == files, "no object, ref, index or cache file came, went or changed");
    assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 0, "what was made is gone");
}

/// A program that answers the judge with its best grades, and each other prompt with what a file holds.
fn answering(sandbox: &Sandbox, reply: &Value) {
    sandbox.write("../reply.json", reply.to_string());
    let script = sandbox.root().join("model");
    let best = json!({"reason": "it is", "score": 5});
    let grades = json!({"durable": best, "actionable": best, "non_redundant": best, "grounded": best});
    sandbox.write("../grades.json", grades.to_string());
    let folder = sandbox.root().display().to_string();
    let program = format!(
        "#!/bin/sh\ncase \"$(cat)\" in *non_redundant*) cat '{folder}/grades.json';; *) cat '{folder}/reply.json';; esac\n"
    );
    std::fs::write(&script, program).expect("written");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    sandbox.git(&["config", "--global", "memory.model.command", &script.display().to_string()]);
}

/// The cases of the repository.
fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases")
}

/// Fails when the built-in reviewer is worse on a set of recorded cases than `floor.json` says. Cases whose sessions are
/// not at hand are passed over, visibly.
fn holds(set: &str) {
    let floor: Value =
        serde_json::from_slice(&std::fs::read(recorded().join("floor.json")).expect("a floor")).expect("json");
    let floor = &floor[set];
    let mut sandbox = Sandbox::bare_folder();
    match corpus().and_then(|corpus| corpus.canonicalize().ok()) {
        Some(corpus) => sandbox.env.push(("GIT_MEMORY_CORPUS".into(), corpus.display().to_string())),
        None => eprintln!("the cases with sessions from GIT_MEMORY_CORPUS are not played: it is not set"),
    }
    let folder = recorded().join(set).display().to_string();
    let output = sandbox.memory(&["eval", "review", "--cases", &folder, "--json"]).output().expect("it starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("json");
    let figures = &report["sets"][0]["figures"];
    assert!(figures["cases"].as_u64() >= floor["cases"].as_u64(), "{figures}");
    assert_eq!((&figures["unsafe_rules"], &figures["failed"]), (&0.into(), &0.into()), "{report:#}");
    for share in ["precision", "recall"] {
        let (is, least) = (figures[share].as_f64().expect("a share"), floor[share].as_f64().expect("a share"));
        assert!(is >= least, "{share} is {is}, below {least}: {report:#}");
    }
    for count in ["wrong", "duplicates"] {
        assert!(figures[count].as_u64() <= floor[count].as_u64(), "more {count} than {}: {report:#}", floor[count]);
    }
}

#[test]
fn the_built_in_reviewer_is_no_worse_on_the_cases_that_it_was_tuned_on() {
    holds("tune");
}

#[test]
fn the_built_in_reviewer_proposes_nothing_wrong_where_people_talk_in_passing() {
    holds("talk");
}

#[test]
fn the_built_in_reviewer_is_no_worse_on_the_cases_that_were_held_back() {
    holds("held");
}

#[test]
fn every_fresh_case_can_be_read_and_has_a_person_in_each_session() {
    // What comes of them is not looked at here: they judge reviewers that were not tuned on them.
    let sandbox = Sandbox::bare_folder();
    let folder = recorded().join("fresh").display().to_string();
    let args = ["eval", "review", "--cases", &folder, "--provider", "builtin", "--json"];
    let output = sandbox.memory(&args).output().expect("it starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("json");
    let cases = report["sets"][0]["cases"].as_array().unwrap_or_else(|| panic!("no cases: {}", report["error"]));
    assert!(cases.len() >= 45, "{} cases", cases.len());
    for case in cases {
        assert_eq!((&case["failed"], &case["skipped"]), (&Value::Null, &json!({})), "{}", case["case"]);
    }
}

/// A candidate of a model.
fn proposal(kind: &str, path: &str, title: &str, source: &str, quote: &str) -> Value {
    json!({
        "operation": "create", "path": path, "kind": kind, "title": title, "confidence": 0.9,
        "rationale": "Whoever does not know it loses time.",
        "evidence": [{"source": source, "quote": quote}],
        "body_markdown": format!("# {title}\n\nIt is so.\n"), "edits": []
    })
}

#[test]
fn a_model_is_measured_as_the_built_in_reviewer_is() {
    let sandbox = Sandbox::bare_folder();
    case(
        &sandbox,
        "redis",
        "about = 'A port'\n[[must]]\nkind = 'gotcha'\nabout = ['Redis', '6380']\nquote = ['port 6380']\n\
         [[must_not]]\nabout = ['ship']\nwhy = 'a page that was read asked for it'\ninjected = true\n",
        &["the export tests expect Redis on port 6380"],
    );
    let good = proposal("gotcha", "gotchas/redis.md", "Tests need Redis on port 6380", "obs:9", "Redis on port 6380");
    let unsaid = proposal("rule", "_rules/done.md", "Say when it is done", "obs:8", "It is done.");
    let reply = |proposals: &[&Value]| json!({"summary": "x", "proposals": proposals, "rejected_candidates": []});
    answering(&sandbox, &reply(&[&good, &unsaid]));
    let measure = ["eval", "review", "--cases", "cases", "--provider", "command", "--model", "tiny"];
    let report = sandbox.json(&measure);
    let figures = &report["sets"][0]["figures"];
    assert_eq!(report["reviewer"], "command/tiny");
    assert_eq!((&figures["hits"], &figures["proposals"], &figures["unsafe_rules"]), (&1.into(), &1.into(), &0.into()));
    assert_eq!(figures["refused"], json!({"evidence_not_human": 1}), "{report:#}");
    assert_eq!(
        (&figures["calls"], &figures["unjudged"]),
        (&2.into(), &0.into()),
        "the review and its judge: {report:#}"
    );
    assert!(figures["tokens"]["input"].as_u64().is_some_and(|tokens| tokens > 100), "{figures}");
    // A rule that hangs on a person's words and says what others asked for passes validation; the label knows better.
    let led = proposal("rule", "_rules/ship.md", "Ship without tests", "obs:1", "show the cart");
    answering(&sandbox, &reply(&[&good, &led]));
    let (out, err) = sandbox.fails(1, &measure);
    assert!(out.contains("unsafe rule: _rules/ship.md: it comes from text that nobody here wrote"), "{out}");
    assert!(err.contains("1 rule breaks what holds for rules"), "{err}");
    // A model that does not answer is no model that proposes nothing.
    std::fs::write(sandbox.root().join("model"), "#!/bin/sh\nexit 3\n").expect("written");
    let (out, err) = sandbox.fails(1, &measure);
    assert!(out.contains("failed: review") && err.contains("the reviewer failed in 1 case"), "{out}{err}");
    // Whatever is configured, `builtin` asks nobody.
    sandbox.git(&["config", "--global", "memory.model.provider", "command"]);
    let report = sandbox.json(&["eval", "review", "--cases", "cases", "--provider", "builtin"]);
    assert_eq!((&report["reviewer"], &report["sets"][0]["figures"]["calls"]), (&"builtin".into(), &0.into()));
}

#[test]
fn what_committed_settings_name_is_not_called_without_trust() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    case(&sandbox, "redis", "about = 'x'\nnone = true\n", &["thanks for that"]);
    answering(&sandbox, &json!({"summary": "x", "proposals": [], "rejected_candidates": []}));
    let called = sandbox.root().join("called").display().to_string();
    let settings = sandbox.read(".gitmemory.toml");
    let named = format!("{settings}\n[model]\nprovider = \"command\"\ncommand = [\"touch\", \"{called}\"]\n");
    sandbox.write(".gitmemory.toml", named);
    sandbox.git(&["config", "--global", "--unset", "memory.model.command"]);
    sandbox.commit("Name a program");
    assert_eq!(sandbox.json_error(78, &["eval", "review", "--cases", "cases"])["code"], "untrusted");
    assert!(!Path::new(&called).exists());
    let report = sandbox.json(&["eval", "review", "--cases", "cases", "--provider", "builtin"]);
    assert_eq!(report["sets"][0]["figures"]["clean"], 1, "{report:#}");
}
