//! What a run makes of a model that answers badly, not at all, or cannot be asked.

use serde_json::{Value, json};

use crate::common::{BIN, Sandbox};
use crate::stand_in::{KEY, StandIn, json_answer, says};

/// A wiki with captured sessions that a model on this server reviews.
fn wiki(url: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    let recorded = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    sandbox.run(&["capture", "-q", recorded.to_str().expect("a path")]);
    for (key, value) in [
        ("model.provider", "openai"),
        ("model.model", "stand-in"),
        ("model.baseUrl", url),
        ("model.maxRetries", "0"),
        ("improve.minObservations", "1"),
        ("improve.minSessionDurationSecs", "1"),
        ("improve.includeRawFallback", "true"),
    ] {
        sandbox.git(&["config", &format!("memory.{key}"), value]);
    }
    sandbox
}

/// The record of a run over some sessions, which fails.
fn fails(sandbox: &Sandbox) -> Value {
    let (run, errors) = sandbox.fails(1, &["improve", "--max-sessions", "3", "--json"]);
    serde_json::from_str(&run).unwrap_or_else(|error| panic!("{error}: {run}{errors}"))
}

fn outcomes(run: &Value) -> Vec<&str> {
    let all = run["outcomes"].as_array().expect("outcomes");
    all.iter().map(|outcome| outcome["outcome"].as_str().expect("a word")).collect()
}

fn nothing() -> Value {
    says("openai", r#"{"summary":"","proposals":[],"rejected_candidates":[]}"#)
}

#[test]
fn a_refused_key_and_an_empty_account_end_the_lane_after_one_call() {
    for status in [401, 402, 403] {
        let server = StandIn::new(vec![json_answer(status, &json!({"error": {"message": "no"}}))]);
        let sandbox = wiki(&server.url());
        for _ in 0..4 {
            assert_eq!(outcomes(&fails(&sandbox)), ["unavailable", "let_go", "let_go"], "{status}");
        }
        assert_eq!(server.count(), 4, "{status}: each run asks once, and none of the three attempts is used up");
    }
}

#[test]
fn a_server_that_says_no_to_the_call_uses_no_attempt_of_a_session() {
    for (status, words) in [(404, "model stand-in not found"), (400, "prompt is too long"), (413, "too much")] {
        let server = StandIn::new(vec![json_answer(status, &json!({"error": {"message": words}}))]);
        let sandbox = wiki(&server.url());
        for _ in 0..4 {
            assert_eq!(outcomes(&fails(&sandbox)), ["unavailable"; 3], "{status}");
        }
    }
}

#[test]
fn a_call_that_brought_nothing_is_on_record_with_what_it_cost() {
    let mut cut = nothing();
    cut["choices"][0]["finish_reason"] = "length".into();
    let sandbox = wiki(&StandIn::new(vec![json_answer(200, &cut)]).url());
    sandbox.git(&["config", "memory.model.dailyCalls", "1"]);
    let run = fails(&sandbox);
    let calls = run["calls"].as_array().expect("calls");
    assert_eq!((&calls[0]["model"], &calls[0]["tokens"]), (&json!("stand-in"), &json!({"input": 11, "output": 7})));
    assert!(calls[0].get("unmade").is_none() && calls[0]["error"].as_str().is_some_and(|why| why.contains("cut off")));
    assert_eq!((calls.len(), &calls[1]["unmade"]), (2, &json!(true)), "the day's budget was spent: {run}");
}

#[test]
fn settings_that_cannot_be_used_end_with_78_before_anything_is_claimed() {
    for (key, value, word) in [
        ("model.baseUrl", "https://models.example/v1", "NOT_SET_ANYWHERE is not set"),
        ("model.baseUrl", "models.example/v1", "model.base_url"),
        ("model.apiKeyEnv", KEY, "model.api_key_env"),
        ("model.model", "", "model.model"),
        ("model.provider", "replay", "model.replies"),
    ] {
        let sandbox = wiki("http://127.0.0.1:1/v1");
        sandbox.git(&["config", "memory.model.apiKeyEnv", "NOT_SET_ANYWHERE"]);
        sandbox.git(&["config", &format!("memory.{key}"), value]);
        let plan = sandbox.json(&["improve", "--dry-run"]);
        let lane = &plan["plan"]["lanes"][0];
        assert_eq!(lane["name"], "review");
        assert!(lane["unavailable"].as_str().is_some_and(|why| why.contains(word)), "{lane}");
        let error = sandbox.json_error(78, &["improve"]);
        assert!(error["message"].as_str().is_some_and(|why| why.contains(word) && !why.contains(KEY)), "{error}");
        assert_eq!(sandbox.json(&["run", "list"])["runs"], json!([]), "{key}");
    }
}

#[test]
fn a_record_holds_no_secret_that_somebody_wrote_into_the_settings() {
    let sandbox = wiki("https://user:swordfish77@models.example/v1?key=swordfish77");
    sandbox.git(&["config", "memory.model.provider", "builtin"]);
    sandbox.git(&["config", "memory.model.apiKeyEnv", "sk-live-swordfish77"]);
    sandbox.git(&["config", "memory.model.judge.apiKeyEnv", "sk-live-swordfish77"]);
    sandbox.git(&["config", "memory.model.command", "program --api-key swordfish77 --token=swordfish77 --verbose"]);
    let run = sandbox.json(&["improve"]);
    let objects = sandbox.git(&["cat-file", "--batch", "--batch-all-objects"]);
    assert!(objects.contains("--verbose") && !objects.contains("swordfish77"), "the record is among them");
    let model = &run["config"]["model"];
    assert_eq!(model["command"], json!(["program", "--api-key", "[REDACTED]", "--token=[REDACTED]", "--verbose"]));
    assert_eq!((&model["base_url"], &model["judge"]["api_key_env"]), (&json!("[REDACTED]"), &json!("[REDACTED]")));
}

#[test]
fn an_own_prompt_that_is_empty_is_not_sent() {
    let server = StandIn::new(vec![json_answer(200, &nothing())]);
    let sandbox = wiki(&server.url());
    let folder = sandbox.home().join(".config/git-memory/templates/prompts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("review.md"), "\u{feff} \n").unwrap();
    let run = fails(&sandbox);
    assert!(run["error"].as_str().is_some_and(|why| why.contains("review.md") && why.contains("empty")), "{run}");
    assert_eq!(server.count(), 0);
}

#[test]
fn a_reply_that_a_dead_run_left_counts_for_the_model_that_gave_it() {
    for (model, calls) in [("stand-in", 1), ("another", 2)] {
        let server = StandIn::new(vec![json_answer(200, &nothing())]);
        let mut sandbox = wiki(&server.url());
        let mut command = sandbox.program(BIN);
        command.args(["improve"]).env("GIT_MEMORY_FAULT", "improve.after-reply").output().expect("the binary starts");
        sandbox.git(&["config", "memory.model.model", model]);
        sandbox.env.push(("GIT_MEMORY_JOURNAL_STALE".into(), "1".into()));
        sandbox.run(&["improve"]);
        assert_eq!(server.count(), calls, "{model}");
    }
}

#[test]
fn a_draft_in_the_reasoning_is_no_reply() {
    let draft = r#"<think>Maybe {"summary":"a draft","proposals":[],"rejected_candidates":[]}?</think>"#;
    let whole = r#"Here it is: {"summary":"the reply","proposals":[],"rejected_candidates":[]}"#;
    let server = StandIn::new(vec![json_answer(200, &says("openai", &format!("{draft}{whole}")))]);
    let run = wiki(&server.url()).json(&["improve"]);
    assert_eq!(run["calls"][0]["summary"], "the reply", "{run}");
}

#[test]
fn the_usual_variable_of_a_provider_is_sent_to_its_own_host_alone() {
    for (shape, variable) in [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")] {
        let server = StandIn::new(vec![json_answer(200, &says(shape, "{\"ok\":true}"))]);
        let mut sandbox = wiki(&server.url());
        sandbox.git(&["config", "memory.model.provider", shape]);
        sandbox.env.push((variable.into(), KEY.into()));
        sandbox.run(&["model", "test"]);
        assert!(server.requests().iter().all(|sent| !sent.raw.contains(KEY)), "{shape}");
        sandbox.git(&["config", "memory.model.apiKeyEnv", variable]);
        sandbox.run(&["model", "test"]);
        assert!(server.requests().last().is_some_and(|sent| sent.raw.contains(KEY)), "{shape}");
    }
}

#[test]
fn a_proxy_that_cannot_be_used_is_told_and_not_gone_around() {
    let mut sandbox = wiki("http://models.example/v1");
    sandbox.env.push(("ALL_PROXY".into(), "socks5://u:swordfish77@127.0.0.1:1".into()));
    let (text, _) = sandbox.fails(1, &["model", "test", "--stage", "review"]);
    assert!(text.contains("ALL_PROXY") && !text.contains("swordfish77"), "{text}");
}
