//! Servers that cannot do all that they are asked for.

use git_memory::config::Model;
use serde_json::{Value, json};

use crate::stand_in::{Answer, StandIn, ask, good, json_answer, settings};

fn says_no(status: u16, message: &str) -> Answer {
    json_answer(status, &json!({"error": {"message": message, "type": "invalid_request_error"}}))
}

fn format(body: &Value) -> Option<&str> {
    body.pointer("/response_format/type").and_then(Value::as_str)
}

#[test]
fn a_server_without_schemas_is_asked_for_an_object_and_then_for_nothing() {
    for status in [400, 422, 500] {
        let no = says_no(status, "response_format is not supported");
        let server = StandIn::new(vec![no.clone(), no, good("openai")]);
        let settings = settings("openai", &server.url());
        let reply = ask(&settings).unwrap();
        assert_eq!(reply.structured.map(|how| how.as_str()), Some("none"), "{status}");
        let sent = server.requests();
        let formats: Vec<_> = sent.iter().map(|request| format(&request.body)).collect();
        assert_eq!(formats, [Some("json_schema"), Some("json_object"), None], "{status}");
        let words = |nth: usize| sent[nth].body["messages"][1]["content"].as_str().unwrap_or_default().to_owned();
        // Some take the schema, and go by the words alone.
        assert!((0..3).all(|nth| words(nth).contains("\"properties\"")), "the schema stands in the prompt");
        // The next call begins where this one ended.
        ask(&settings).unwrap();
        assert_eq!(server.count(), 4, "{status}");
        assert_eq!(format(&server.requests()[3].body), None);
    }
}

#[test]
fn a_failure_that_says_nothing_of_schemas_is_first_taken_for_an_accident() {
    let server = StandIn::new(vec![says_no(500, "internal error"), good("openai")]);
    let reply = ask(&settings("openai", &server.url())).unwrap();
    assert_eq!(reply.structured.map(|how| how.as_str()), Some("json_schema"));
    // Twice is no accident.
    let no = says_no(500, "internal error");
    let server = StandIn::new(vec![no.clone(), no, good("openai")]);
    let reply = ask(&settings("openai", &server.url())).unwrap();
    assert_eq!(reply.structured.map(|how| how.as_str()), Some("json_object"));
    // It was a guess all the same: the next call begins with the schema again.
    ask(&settings("openai", &server.url())).unwrap();
    assert_eq!(format(&server.requests()[3].body), Some("json_schema"));
}

#[test]
fn a_limit_of_the_reply_that_is_too_high_is_lowered_to_what_the_server_names() {
    for (shape, words) in [
        (
            "openai",
            "max_tokens is too large: 500. This model supports at most 300 completion tokens, whereas you provided 500.",
        ),
        ("anthropic", "max_tokens: 500 > 300, which is the maximum allowed number of output tokens for m-20241022"),
    ] {
        let server = StandIn::new(vec![says_no(400, words), good(shape)]);
        let settings = settings(shape, &server.url());
        let reply = ask(&settings).unwrap();
        assert_eq!(reply.text, "{\"ok\":true}");
        ask(&settings).unwrap();
        let limits: Vec<Value> = server.requests().iter().map(|sent| sent.body["max_tokens"].clone()).collect();
        assert_eq!(limits, [json!(500), json!(300), json!(300)], "what was learned is kept");
        // Where it says no again, a person has to know which setting it is about.
        let server = StandIn::new(vec![says_no(400, words)]);
        let error = ask(&self::settings(shape, &server.url())).unwrap_err();
        assert!(error.to_string().contains("model.max_output_tokens") && !error.uses_attempt(), "{error}");
        assert_eq!(server.count(), 2);
    }
}

#[test]
fn a_messages_server_without_tools_is_asked_in_words() {
    let server = StandIn::new(vec![says_no(400, "tools are not supported"), good("anthropic")]);
    let reply = ask(&settings("anthropic", &server.url())).unwrap();
    assert_eq!((reply.text.as_str(), reply.structured.map(|how| how.as_str())), ("{\"ok\":true}", Some("none")));
    let body = &server.requests()[1].body;
    assert!(body.get("tools").is_none() && body["messages"][0]["content"].as_str().unwrap().contains("\"properties\""));
}

#[test]
fn newer_models_get_the_newer_name_of_the_limit_and_no_temperature() {
    let server = StandIn::new(vec![
        says_no(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        says_no(400, "Unsupported value: 'temperature' does not support 0.2 with this model."),
        good("openai"),
    ]);
    let settings = Model { temperature: Some(0.2), ..settings("openai", &server.url()) };
    let reply = ask(&settings).unwrap();
    assert_eq!(reply.structured.map(|how| how.as_str()), Some("json_schema"), "the schema was not to blame");
    ask(&settings).unwrap();
    let bodies: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!((&bodies[0]["max_tokens"], &bodies[0]["temperature"]), (&json!(500), &json!(0.2)));
    assert_eq!((&bodies[1]["max_completion_tokens"], bodies[1].get("max_tokens")), (&json!(500), None));
    for body in &bodies[2..] {
        assert_eq!((&body["max_completion_tokens"], body.get("temperature")), (&json!(500), None));
    }
    assert_eq!(bodies.len(), 4, "what was learned is kept");
}

#[test]
fn the_judge_is_asked_at_temperature_zero_where_the_server_takes_one() {
    let server = StandIn::new(vec![says_no(400, "`temperature` is deprecated for this model"), good("anthropic")]);
    let settings = Model { temperature: Some(0.7), ..settings("anthropic", &server.url()) };
    let folder = tempfile::tempdir().unwrap();
    let models = git_memory::model::Models::new(&settings, folder.path().to_owned());
    models.ask(git_memory::model::Stage::Judge, &crate::stand_in::prompt()).unwrap();
    let sent = server.requests();
    assert_eq!((&sent[0].body["temperature"], sent[1].body.get("temperature")), (&json!(0.0), None));
}

#[test]
fn a_refusal_that_nothing_helps_is_told_in_its_first_words_and_teaches_nothing() {
    let server = StandIn::new(vec![says_no(400, "stand-in is no chat model"), says_no(400, "other words")]);
    let settings = settings("openai", &server.url());
    let error = ask(&settings).unwrap_err();
    assert_eq!((error.code(), error.uses_attempt()), ("refused", false));
    assert!(error.to_string().contains("no chat model"), "{error}");
    ask(&settings).unwrap_err();
    assert_eq!(format(&server.requests()[3].body), Some("json_schema"));
}

#[test]
fn a_prompt_that_is_too_long_is_sent_once() {
    for words in [
        "This model's maximum context length is 4096 tokens",
        "prompt is too long: 300000 tokens > 200000 maximum",
        "the request exceeds the available context size",
    ] {
        let server = StandIn::new(vec![says_no(400, words)]);
        let error = ask(&settings("openai", &server.url())).unwrap_err();
        assert_eq!((error.code(), error.uses_attempt(), server.count()), ("refused", false, 1), "{error}");
        assert!(error.to_string().contains("improve.max_input_tokens"), "{error}");
    }
}
