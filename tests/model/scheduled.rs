//! Ticks of the schedule at a server that asks for a pause, refuses the key, or says nothing for long.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{BIN, Sandbox};
use crate::stand_in::{Answer, StandIn, json_answer, says, with_header};

/// A wiki that was begun before its one session, which a model on this server reviews by the clock.
fn wiki(url: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = Some("2025-01-01T00:00:00Z".into());
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.now = Some("2026-04-01T00:00:00Z".into());
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions/hand-pnpm-rule.jsonl");
    sandbox.run(&["capture", "-q", session.to_str().expect("a path")]);
    for (key, value) in [
        ("model.provider", "openai"),
        ("model.model", "stand-in"),
        ("model.baseUrl", url),
        ("model.timeoutSecs", "3"),
        ("model.judge.provider", "builtin"),
    ] {
        sandbox.git(&["config", &format!("memory.{key}"), value]);
    }
    sandbox
}

fn nothing() -> Answer {
    json_answer(200, &says("openai", r#"{"summary":"","proposals":[],"rejected_candidates":[]}"#))
}

/// A tick an hour after the last one, which fails; the run as it is printed, and what was said beside it.
fn tick_fails(sandbox: &Sandbox) -> (Value, String) {
    let (run, said) = sandbox.fails(1, &["improve", "--trigger", "schedule", "--json"]);
    (serde_json::from_str(&run).unwrap_or_else(|error| panic!("{error}: {run}{said}")), said)
}

#[test]
fn a_tick_that_is_asked_for_a_pause_ends_in_time_and_the_next_one_does_the_work() {
    let mut answers = vec![with_header(429, "Retry-After", "3600"); 4];
    answers.push(nothing());
    let server = StandIn::new(answers);
    let mut sandbox = wiki(&server.url());
    for hour in 0..4 {
        sandbox.now = Some(format!("2026-04-01T0{hour}:00:00Z"));
        let clock = Instant::now();
        let (run, said) = tick_fails(&sandbox);
        assert!(clock.elapsed() < Duration::from_secs(10), "{:?}", clock.elapsed());
        assert_eq!((&run["state"], &run["outcomes"][0]["outcome"]), (&"failed".into(), &"unavailable".into()), "{run}");
        assert!(run["calls"][0]["error"].as_str().is_some_and(|why| why.starts_with("rate_limited: ")), "{run}");
        assert!(said.contains("asks for a pause of 3600 s"), "{said}");
        assert_eq!(run["failure"]["code"], "model_unavailable");
        assert_eq!(server.count(), hour + 1, "a pause beyond the deadline is not begun");
    }
    assert_eq!(sandbox.json(&["run", "list"])["runs"].as_array().map(Vec::len), Some(4), "each is on record");
    assert_eq!(sandbox.json(&["status"])["sessions"]["parked"], json!([]), "no attempt is used up");
    sandbox.now = Some("2026-04-01T04:00:00Z".into());
    let next = sandbox.json(&["improve", "--trigger", "schedule"]);
    assert_eq!((&next["state"], &next["outcomes"][0]["outcome"]), (&"committed".into(), &"done".into()), "{next}");
}

#[test]
fn a_short_pause_within_the_deadline_is_kept_and_the_same_tick_does_the_work() {
    let server = StandIn::new(vec![with_header(429, "Retry-After", "1"), nothing()]);
    let run = wiki(&server.url()).json(&["improve", "--trigger", "schedule"]);
    assert_eq!((&run["state"], server.count()), (&"committed".into(), 2), "{run}");
    let at = server.requests().iter().map(|request| request.at).collect::<Vec<_>>();
    assert!(at[1] - at[0] >= Duration::from_secs(1));
}

#[test]
fn a_tick_whose_key_is_refused_asks_once_says_whose_key_and_uses_no_attempt() {
    let server = StandIn::new(vec![json_answer(401, &json!({"error": {"message": "no such key"}}))]);
    let mut sandbox = wiki(&server.url());
    sandbox.git(&["config", "memory.model.apiKeyEnv", "STAND_IN_KEY"]);
    sandbox.env.push(("STAND_IN_KEY".into(), crate::stand_in::KEY.into()));
    for hour in 0..4 {
        sandbox.now = Some(format!("2026-04-01T0{hour}:00:00Z"));
        let (run, said) = tick_fails(&sandbox);
        assert_eq!((&run["state"], &run["outcomes"][0]["outcome"]), (&"failed".into(), &"unavailable".into()), "{run}");
        assert!(run["calls"][0]["error"].as_str().is_some_and(|why| why.starts_with("authentication: ")), "{run}");
        assert!(said.contains("refuses the key") && said.contains("STAND_IN_KEY"), "{said}");
        assert!(!said.contains(crate::stand_in::KEY) && !run.to_string().contains(crate::stand_in::KEY));
        assert_eq!(server.count(), hour + 1, "it is not tried again with the same key");
    }
    assert_eq!(sandbox.json(&["status"])["sessions"]["parked"], json!([]));
}

#[test]
fn a_tick_that_is_asked_to_end_lets_go_of_a_server_that_says_nothing() {
    for answer in [Answer::Silent(Duration::from_secs(60)), with_header(429, "Retry-After", "50")] {
        let server = StandIn::new(vec![answer]);
        let sandbox = wiki(&server.url());
        sandbox.git(&["config", "memory.model.timeoutSecs", "100"]);
        let mut command = sandbox.program(BIN);
        command.args(["improve", "--trigger", "schedule"]).stdin(Stdio::null());
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let clock = Instant::now();
        while server.count() == 0 && clock.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        // The second one is in its pause by then.
        std::thread::sleep(Duration::from_millis(300));
        let clock = Instant::now();
        std::process::Command::new("kill").arg(run.id().to_string()).status().expect("kill starts");
        let status = run.wait().expect("it ends");
        assert!(clock.elapsed() < Duration::from_secs(10), "{:?}", clock.elapsed());
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
        let runs = sandbox.json(&["run", "list"]);
        assert_eq!(runs["runs"][0]["state"], "interrupted", "{runs}");
    }
}
