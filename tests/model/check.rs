//! `git memory model test` and `git memory doctor --model`.

use serde_json::json;

use crate::common::Sandbox;
use crate::stand_in::{StandIn, good, json_answer, says};

fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    sandbox
}

fn set(sandbox: &Sandbox, key: &str, value: &str) {
    sandbox.git(&["config", &format!("memory.model.{key}"), value]);
}

#[test]
fn the_built_in_reviewer_works_and_nothing_is_called() {
    let sandbox = wiki();
    let report = sandbox.json(&["model", "test"]);
    assert_eq!((&report["works"], report["models"].as_array().map(Vec::len)), (&json!(true), Some(1)));
    assert_eq!((&report["models"][0]["provider"], &report["models"][0]["called"]), (&json!("builtin"), &json!(false)));
    assert!(sandbox.run(&["model", "test"]).contains("nothing is called"));
    assert!(sandbox.run(&["doctor", "--model"]).contains("builtin: nothing is called"));
    assert!(!sandbox.run(&["doctor"]).contains("nothing is called"));
}

#[test]
fn each_model_is_called_once_and_what_it_can_do_is_told() {
    let (one, two) = (StandIn::new(vec![good("openai")]), StandIn::new(vec![good("anthropic")]));
    let sandbox = wiki();
    for (key, value) in [
        ("provider", "openai"),
        ("model", "small"),
        ("baseUrl", one.url().as_str()),
        ("judge.provider", "anthropic"),
        ("judge.model", "large"),
        ("judge.baseUrl", two.url().as_str()),
        ("reflect.provider", "builtin"),
    ] {
        set(&sandbox, key, value);
    }
    let report = sandbox.json(&["model", "test"]);
    let models = report["models"].as_array().unwrap();
    let said: Vec<_> =
        models.iter().map(|model| (&model["stages"], &model["structured"], &model["answered_by"])).collect();
    let (by, none) = (json!("stand-in-2026"), json!(null));
    let stages = [json!(["review", "distill"]), json!(["judge"]), json!(["reflect"])];
    let (schema, tool) = (json!("json_schema"), json!("tool"));
    assert_eq!(said, [(&stages[0], &schema, &by), (&stages[1], &tool, &by), (&stages[2], &none, &none)]);
    assert_eq!(models[0]["tokens"], json!({"input": 11, "output": 7}));
    assert!(models[0]["ms"].is_number());
    assert_eq!((one.count(), two.count()), (1, 1));
    assert_eq!(sandbox.json(&["model", "test", "--stage", "judge"])["models"].as_array().map(Vec::len), Some(1));
    assert_eq!((one.count(), two.count()), (1, 2));
    let text = sandbox.run(&["model", "test"]);
    for word in ["openai/small for review, distill", "json_schema", "stand-in-2026", "11 + 7 tokens", "anthropic/large"]
    {
        assert!(text.contains(word), "{word} is not in {text}");
    }
    assert!(sandbox.run(&["doctor", "--model"]).contains("small answers"));
}

#[test]
fn a_stage_with_limits_of_its_own_is_asked_with_them() {
    let server = StandIn::new(vec![good("openai")]);
    let sandbox = wiki();
    for (key, value) in
        [("provider", "openai"), ("model", "m"), ("baseUrl", &server.url()), ("judge.maxOutputTokens", "900")]
    {
        set(&sandbox, key, value);
    }
    let report = sandbox.json(&["model", "test"]);
    assert_eq!(report["models"].as_array().map(Vec::len), Some(2));
    let limits: Vec<_> = server.requests().iter().map(|sent| sent.body["max_tokens"].clone()).collect();
    assert_eq!(limits, [json!(16_000), json!(900)], "those of the settings, whole");
}

#[test]
fn what_to_do_is_told_by_what_went_wrong() {
    for (status, word) in [(401, "model.api_key_env"), (402, "account"), (404, "model.base_url"), (429, "wait")] {
        let server = StandIn::new(vec![json_answer(status, &json!({"error": {"message": "no"}}))]);
        let sandbox = wiki();
        for (key, value) in [("provider", "openai"), ("model", "m"), ("baseUrl", &server.url()), ("maxRetries", "0")] {
            set(&sandbox, key, value);
        }
        let (text, _) = sandbox.fails(1, &["model", "test"]);
        assert!(text.contains("try ") && text.contains(word), "{status}: {text}");
        let (text, _) = sandbox.fails(1, &["doctor", "--model"]);
        assert!(text.contains(word), "{status}: {text}");
    }
}

#[test]
fn a_command_is_set_as_it_is_typed_and_known_by_its_program() {
    let sandbox = wiki();
    sandbox.run(&["config", "set", "model.provider", "command"]);
    sandbox.run(&["config", "set", "model.command", "sh -c 'cat >/dev/null; echo {\\\"ok\\\": true}'"]);
    set(&sandbox, "baseUrl", "http://127.0.0.1:1/v1");
    let report = sandbox.json(&["model", "test", "--stage", "review"]);
    assert_eq!((&report["works"], &report["models"][0]["model"]), (&json!(true), &json!("sh")), "{report}");
    let model = &report["models"][0];
    assert_eq!((&model["answered_by"], &model["base_url"]), (&json!(null), &json!(null)), "nobody said so");
}

#[test]
fn a_model_that_does_not_do_as_asked_is_told_and_ends_with_1() {
    let server = StandIn::new(vec![json_answer(200, &says("openai", "Hello! How can I help?"))]);
    let sandbox = wiki();
    set(&sandbox, "provider", "openai");
    set(&sandbox, "model", "small");
    set(&sandbox, "baseUrl", &server.url());
    let (text, _) = sandbox.fails(1, &["model", "test", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    crate::common::is_as_its_schema_says(&report);
    assert_eq!((&report["works"], &report["models"][0]["error"]["code"]), (&json!(false), &json!("bad_reply")));
    let (text, _) = sandbox.fails(1, &["doctor", "--model"]);
    assert!(text.contains("broken") && text.contains("not the JSON that was asked for"), "{text}");
}

#[test]
fn settings_that_cannot_be_used_end_with_78_and_a_wrong_stage_with_129() {
    let sandbox = wiki();
    set(&sandbox, "provider", "opanai");
    let (_, errors) = sandbox.fails(78, &["model", "test"]);
    assert!(errors.contains("opanai") && errors.contains("`openai`"), "{errors}");
    set(&sandbox, "provider", "builtin");
    let (_, errors) = sandbox.fails(129, &["model", "test", "--stage", "revue"]);
    assert!(errors.contains("the stages are review, judge, reflect, distill"), "{errors}");
    sandbox.fails(129, &["model", "test", "--stage", "pair"]);
    set(&sandbox, "provider", "replay");
    sandbox.fails(78, &["model", "test"]);
    set(&sandbox, "replies", "/nowhere/at/all");
    sandbox.fails(1, &["model", "test"]);
    set(&sandbox, "replies", &sandbox.root().display().to_string());
    sandbox.run(&["model", "test"]);
}
