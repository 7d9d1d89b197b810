//! A program scores changes.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::common::Sandbox;
use super::{configure, improve, landed, open, prints, read_by, script, the_one, wiki};

/// Everything that is validated would land, so that only the gate stands in the way.
fn with(sandbox: &Sandbox, command: &str, more: &str) {
    let eval = format!("[eval]\ncommand = [\"{command}\", \"an argument; rm -rf $HOME\"]\nprefixes = [\"gotchas/\"]\n");
    configure(sandbox, &format!("approval.mode = \"all\"\n{eval}{more}"));
}

fn scored_by(answer: &str) -> Sandbox {
    let sandbox = wiki("");
    let program = script(&sandbox, "score", answer);
    with(&sandbox, &program, "");
    sandbox
}

/// The one refusal of a run: its code and reason.
fn refusal(run: &Value) -> (&str, &str) {
    assert_eq!(run["refused"].as_array().map(Vec::len), Some(1), "{run}");
    let refused = &run["refused"][0];
    (refused["code"].as_str().expect("a code"), refused["reason"].as_str().expect("a reason"))
}

#[test]
fn a_pass_lands_and_its_scores_and_digests_are_on_record() {
    let sandbox = scored_by(&prints(
        r#"{"passed": true, "score_before": 0.5, "score_after": 0.75, "reason": "better\u001b[2J"}"#,
    ));
    configure(
        &sandbox,
        &std::fs::read_to_string(sandbox.home().join(".config/git-memory/config.toml"))
            .unwrap()
            .replace("\"all\"", "\"none\""),
    );
    improve(&sandbox);
    let input: Value = serde_json::from_str(&read_by(&sandbox, "score")).expect("JSON on its standard input");
    let keys: Vec<&str> = input.as_object().expect("an object").keys().map(String::as_str).collect();
    let wanted = ["path", "kind", "operation", "title", "confidence", "rationale", "before_body", "after_body", "base"];
    assert_eq!(keys, wanted);
    assert_eq!((&input["operation"], &input["before_body"]), (&"create".into(), &Value::Null), "{input}");
    assert_eq!(input["base"], sandbox.rev("main").as_str());
    assert!(input["after_body"].as_str().is_some_and(|body| body.trim_start().starts_with("# ")), "{input}");
    let gate = the_one(&sandbox)["gates"]["eval"].clone();
    assert_eq!((&gate["passed"], &gate["score_after"]), (&true.into(), &0.75.into()), "{gate}");
    for digest in ["command_sha256", "after_sha256", "result_sha256"] {
        assert_eq!(gate[digest].as_str().map(str::len), Some(64), "{digest} in {gate}");
    }
    let shown = sandbox.run(&["proposal", "show", &open(&sandbox)[0]]);
    assert!(shown.contains("eval: passed, score 0.5 before, 0.75 after: better\n"), "{shown}");
    assert!(!shown.contains('\u{1b}') && !gate.to_string().contains("\\u001b"), "{gate}");
    let log = sandbox.git(&["grep", "-h", "eval: passed", "refs/memory/log"]);
    assert!(log.contains("* eval: passed, score 0.5 before, 0.75 after"), "the sidecar: {log}");
}

#[test]
fn a_pass_under_mode_all_lands() {
    let sandbox = scored_by(&prints(r#"{"passed": true}"#));
    let run = improve(&sandbox);
    assert_eq!(run["proposals"][0]["outcome"], "accepted", "{run}");
    assert!(landed(&sandbox) && open(&sandbox).is_empty());
    let call = run["calls"].as_array().expect("calls").iter().find(|call| call["stage"] == "eval").expect("a call");
    assert_eq!(call["input_sha256"].as_str().map(str::len), Some(64), "{run}");
}

#[test]
fn whatever_is_no_clear_yes_refuses_the_one_proposal() {
    for (answer, code, part) in [
        (prints(r#"{"passed": false, "reason": "worse"}"#), "eval_gate_failed", "worse"),
        (prints(r#"{"passed": true, "score_before": 2, "score_after": 1}"#), "eval_gate_failed", "min_delta"),
        (prints(r#"{"score_after": 1}"#), "eval_gate_error", "`passed` is missing"),
        (prints(r#"{"passed": "yes"}"#), "eval_gate_error", "neither true nor false"),
        (prints("<html>no</html>"), "eval_gate_error", "no JSON object"),
        (prints(r#"{"passed": true} and more"#), "eval_gate_error", "no JSON object"),
        (String::new(), "eval_gate_error", "no JSON object"),
        ("printf '\\377\\376'".into(), "eval_gate_error", "not UTF-8"),
        (prints(r#"{"passed": true}"#) + "\necho broken >&2\nexit 3", "eval_gate_error", "broken"),
        ("kill -9 $$".into(), "eval_gate_error", "signal"),
        ("yes '{'".into(), "eval_gate_error", "65536 bytes"),
    ] {
        let sandbox = scored_by(&answer);
        let run = improve(&sandbox);
        let (found, reason) = refusal(&run);
        assert_eq!(found, code, "{answer}: {reason}");
        assert!(reason.contains(part), "{answer}: {reason}");
        assert!(open(&sandbox).is_empty() && !landed(&sandbox), "{answer}");
    }
    let sandbox = wiki("");
    with(&sandbox, "/nowhere/at-all", "");
    assert_eq!(refusal(&improve(&sandbox)).0, "eval_gate_error");
}

#[test]
fn one_that_takes_too_long_is_killed_with_what_it_started() {
    let sandbox = wiki("");
    let mark = sandbox.root().join("mark");
    // The grandchild holds the pipe open.
    let program = script(&sandbox, "score", &format!("(sleep 3; touch '{}') &\nsleep 60", mark.display()));
    with(&sandbox, &program, "timeout_secs = 1");
    let clock = Instant::now();
    assert_eq!(refusal(&improve(&sandbox)).0, "eval_gate_timeout");
    assert!(clock.elapsed() < Duration::from_secs(20), "{:?}", clock.elapsed());
    std::thread::sleep(Duration::from_millis(3_500));
    assert!(!mark.exists(), "the grandchild lives on");
}

#[test]
fn the_program_sees_no_key_of_a_model_or_a_forge() {
    let sandbox = wiki("");
    let seen = sandbox.root().join("seen");
    let program = script(&sandbox, "score", &format!("env >'{}'\n{}", seen.display(), prints(r#"{"passed": true}"#)));
    with(&sandbox, &program, "[model.judge]\napi_key_env = \"JUDGES_KEY\"\n");
    let names = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GH_TOKEN", "GITHUB_TOKEN", "JUDGES_KEY"];
    let mut command = sandbox.memory(&["improve", "--json"]);
    command.envs(names.map(|name| (name, "a-value-of-the-user")));
    assert!(command.env("OTHERS", "are-seen").output().expect("the binary starts").status.success());
    let seen = std::fs::read_to_string(seen).expect("the program ran");
    assert!(seen.contains("are-seen") && !seen.contains("a-value-of-the-user"), "{seen}");
}

#[test]
fn secrets_and_floods_of_the_program_are_kept_from_the_record() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let reason = format!("{{\"passed\": false, \"reason\": \"token {secret} {}\"}}", "long ".repeat(400));
    let sandbox = scored_by(&prints(&reason));
    let run = improve(&sandbox);
    let (_, reason) = refusal(&run);
    assert!(!run.to_string().contains(secret), "{reason}");
    assert!(reason.chars().count() <= 300, "{reason}");
    let log = sandbox.program("git").args(["grep", "-q", secret, "refs/memory/log"]).status().expect("git starts");
    assert_eq!(log.code(), Some(1), "it stands nowhere in the ledger");
}

#[test]
fn only_pages_of_its_prefixes_are_scored_and_without_a_program_there_is_no_gate() {
    let sandbox = wiki("");
    let program = script(&sandbox, "score", "exit 1");
    configure(&sandbox, &format!("[eval]\ncommand = [\"{program}\"]\n"));
    improve(&sandbox);
    let proposal = the_one(&sandbox);
    assert_eq!(proposal["gates"]["eval"]["checked"], false, "{proposal}");
    let sandbox = wiki("");
    improve(&sandbox);
    assert_eq!(the_one(&sandbox)["gates"].as_object().map(|gates| gates.contains_key("eval")), Some(false));
}

#[test]
fn a_committed_program_runs_only_once_it_is_trusted_and_as_it_was_trusted() {
    let sandbox = wiki("approval.mode = \"none\"\n");
    let ran = sandbox.root().join("ran");
    let program = format!("#!/bin/sh\ntouch '{}'\necho '{{\"passed\": true}}'\n", ran.display());
    sandbox.write("tools/score.sh", &program);
    let known = sandbox.read(".gitmemory.toml");
    let eval = "[eval]\ncommand = [\"tools/score.sh\"]\nprefixes = [\"gotchas/\"]\n";
    sandbox.write(".gitmemory.toml", format!("{known}\n{eval}"));
    sandbox.git(&["update-index", "--add", "--chmod=+x", "tools/score.sh"]);
    let made = std::process::Command::new("chmod").arg("+x").arg(sandbox.path("tools/score.sh")).status();
    assert!(made.is_ok_and(|status| status.success()));
    sandbox.commit("Score");
    let before = sandbox.refs("refs/memory");
    let error = sandbox.json_error(78, &["improve"]);
    assert_eq!(error["code"], "untrusted", "{error}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("eval.command")), "{error}");
    assert_eq!(sandbox.refs("refs/memory"), before, "nothing was claimed");
    sandbox.run(&["improve", "--dry-run"]);
    assert!(!ran.exists());
    sandbox.run(&["trust", "--yes"]);
    // What stands in the work tree is what would run.
    sandbox.write("tools/score.sh", format!("{program}\n# changed\n"));
    let run = improve(&sandbox);
    assert_eq!(refusal(&run).0, "eval_gate_error", "{run}");
    assert!(!ran.exists());
    sandbox.write("tools/score.sh", &program);
    let session = sandbox.json(&["session", "list"])["sessions"][0]["id"].as_str().expect("an id").to_owned();
    sandbox.run(&["improve", "--session", &session]);
    assert!(ran.exists());
    assert_eq!(the_one(&sandbox)["gates"]["eval"]["passed"], true);
}
