//! What is sent to a server, and what comes of its answers.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::stand_in::{Answer, SHAPES, StandIn, ask, good, json_answer, prompt, says, settings, with_header};

/// What the prompt is about, and the form of the answer: a server may pass over what else asks for that form.
fn in_words() -> String {
    prompt().text().trim_start_matches("You review.").trim_start().to_owned()
}

#[test]
fn chat_completions_are_asked_for_the_replys_schema() {
    let server = StandIn::new(vec![good("openai")]);
    let reply = ask(&settings("openai", &server.url())).unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_str()), ("{\"ok\":true}", "stand-in-2026"));
    assert_eq!((reply.usage.input, reply.usage.output), (11, 7));
    assert_eq!(reply.structured.map(|how| how.as_str()), Some("json_schema"));
    let sent = &server.requests()[0];
    assert_eq!(sent.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.header("authorization"), None, "there is no key");
    assert!(sent.header("user-agent").is_some_and(|agent| agent.starts_with("git-memory/")));
    assert_eq!(
        sent.body,
        json!({
            "model": "stand-in",
            "messages": [{"role": "system", "content": "You review."}, {"role": "user", "content": in_words()}],
            "max_tokens": 500,
            "response_format": {"type": "json_schema", "json_schema": {
                "name": "review", "schema": prompt().schema, "strict": true,
            }},
        })
    );
}

#[test]
fn messages_are_held_to_the_schema_by_a_tool() {
    let called = json!({
        "model": "stand-in-2026", "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 6},
        "content": [{"type": "thinking", "thinking": "{}"}, {"type": "text", "text": "I call it."},
            {"type": "tool_use", "id": "t", "name": "review", "input": {"ok": true}}],
    });
    let server = StandIn::new(vec![json_answer(200, &called)]);
    let with_temperature = git_memory::config::Model { temperature: Some(0.5), ..settings("anthropic", &server.url()) };
    let reply = ask(&with_temperature).unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.output), ("{\"ok\":true}", 6));
    assert_eq!(reply.structured.map(|how| how.as_str()), Some("tool"));
    let sent = &server.requests()[0];
    assert_eq!(sent.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(sent.header("x-api-key"), None, "there is no key");
    assert_eq!(
        sent.body,
        json!({
            "model": "stand-in", "max_tokens": 500, "system": "You review.", "temperature": 0.5,
            "messages": [{"role": "user", "content": in_words()}],
            "tools": [{"name": "review", "description": "Takes the answer.", "input_schema": prompt().schema}],
            "tool_choice": {"type": "tool", "name": "review"},
        })
    );
}

#[test]
fn an_answer_is_read_however_it_is_packed() {
    for shape in SHAPES {
        let body = says(shape, "```json\n{\"ok\":true}\n```\nThat is all.").to_string().into_bytes();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(&body).unwrap();
        let gzip = vec![("content-encoding".into(), "gzip".into()), ("content-type".into(), "application/json".into())];
        let wrong_type = vec![("content-type".into(), "text/html; charset=latin-1".into())];
        for answer in [
            Answer::Whole(200, gzip, packed.finish().unwrap()),
            Answer::Whole(200, wrong_type, body.clone()),
            Answer::Chunked(body.clone()),
        ] {
            let server = StandIn::new(vec![answer]);
            let reply = ask(&settings(shape, &server.url())).unwrap();
            assert_eq!(git_memory::model::first_json(&reply.text), Some(json!({"ok": true})), "{shape}");
            assert!(server.requests()[0].header("accept-encoding").is_some_and(|how| how.contains("gzip")));
        }
    }
}

#[test]
fn a_reply_of_two_megabytes_is_read_and_a_much_larger_one_is_refused() {
    for shape in SHAPES {
        let long = "x".repeat(2 << 20);
        let server = StandIn::new(vec![json_answer(200, &says(shape, &long))]);
        assert_eq!(ask(&settings(shape, &server.url())).unwrap().text.len(), 2 << 20);
        let longer = "x".repeat(9 << 20);
        let server = StandIn::new(vec![json_answer(200, &says(shape, &longer))]);
        let error = ask(&settings(shape, &server.url())).unwrap_err();
        assert_eq!((error.code(), server.count()), ("bad_reply", 1), "{error}");
        // Small on the wire, and the same when unpacked.
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&vec![b' '; 12 << 20]).unwrap();
        let bomb = Answer::Whole(200, vec![("content-encoding".into(), "gzip".into())], packed.finish().unwrap());
        let server = StandIn::new(vec![bomb]);
        assert_eq!(ask(&settings(shape, &server.url())).unwrap_err().code(), "bad_reply");
    }
}

#[test]
fn servers_that_are_busy_or_fail_are_asked_again() {
    for shape in SHAPES {
        for status in [429, 500, 502, 503, 529, 408] {
            let server =
                StandIn::new(vec![json_answer(status, &json!({"error": {"message": "overloaded"}})), good(shape)]);
            ask(&settings(shape, &server.url())).unwrap_or_else(|error| panic!("{shape} {status}: {error}"));
            assert_eq!(server.count(), 2, "{shape} {status}");
        }
    }
}

#[test]
fn a_connection_that_is_reset_or_cut_is_tried_again() {
    for shape in SHAPES {
        let body = says(shape, "{\"ok\":true}").to_string().into_bytes();
        for answer in [Answer::Reset, Answer::Cut(body), Answer::Silent(Duration::ZERO)] {
            let server = StandIn::new(vec![answer.clone(), good(shape)]);
            ask(&settings(shape, &server.url())).unwrap_or_else(|error| panic!("{shape} {answer:?}: {error}"));
            assert_eq!(server.count(), 2, "{shape}");
        }
    }
}

#[test]
fn what_keeps_failing_is_told_as_what_it_is() {
    for shape in SHAPES {
        for (status, code) in [(429, "rate_limited"), (503, "unreachable"), (500, "refused")] {
            let server = StandIn::new(vec![json_answer(status, &json!({"error": {"message": "too busy"}}))]);
            let error = ask(&settings(shape, &server.url())).unwrap_err();
            assert_eq!((error.code(), error.uses_attempt()), (code, false), "{shape} {status}: {error}");
            assert!(error.to_string().contains("too busy") && error.to_string().contains("127.0.0.1"), "{error}");
            assert!(server.count() >= 3, "{shape} {status}: asked {} times", server.count());
        }
    }
    // Nobody listens there any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = ask(&settings("openai", &format!("http://127.0.0.1:{port}/v1"))).unwrap_err();
    assert_eq!((error.code(), error.uses_attempt()), ("unreachable", false), "{error}");
    assert!(error.to_string().contains(&port.to_string()), "{error}");
}

#[test]
fn the_pause_that_a_server_asks_for_is_kept() {
    for (is_date, least) in [(false, 1_000), (true, 1_500)] {
        let then = jiff::Timestamp::now() + Duration::from_secs(3);
        let value = if is_date { then.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string() } else { "1".to_owned() };
        let server = StandIn::new(vec![with_header(429, "retry-after", &value), good("openai")]);
        ask(&settings("openai", &server.url())).unwrap();
        let sent = server.requests();
        let pause = sent[1].at - sent[0].at;
        assert!(pause >= Duration::from_millis(least) && pause < Duration::from_secs(6), "{value}: {pause:?}");
    }
}

#[test]
fn one_deadline_holds_for_all_tries() {
    let begun = Instant::now();
    let server = StandIn::new(vec![with_header(429, "retry-after", "60")]);
    let error = ask(&settings("openai", &server.url())).unwrap_err();
    assert_eq!(
        (error.code(), server.count()),
        ("rate_limited", 1),
        "a pause beyond the deadline is not begun: {error}"
    );
    assert!(error.to_string().contains("60 s") && error.to_string().contains("model.timeout_secs"), "{error}");
    let body = says("openai", "{\"ok\":true}").to_string().into_bytes();
    for answer in [Answer::Silent(Duration::from_secs(30)), Answer::Slow(body, Duration::from_millis(200))] {
        let server = StandIn::new(vec![answer]);
        let brief = git_memory::config::Model { timeout_secs: 1, ..settings("openai", &server.url()) };
        let error = ask(&brief).unwrap_err();
        assert_eq!((error.code(), error.uses_attempt()), ("timed_out", false), "{error}");
        assert!(
            error.to_string().contains("127.0.0.1:") && error.to_string().contains("model.timeout_secs"),
            "{error}"
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[test]
fn an_account_without_money_is_not_asked_again() {
    let empty = json!({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}});
    let server = StandIn::new(vec![json_answer(429, &empty)]);
    let error = ask(&settings("openai", &server.url())).unwrap_err();
    assert_eq!((error.code(), error.is_for_all(), server.count()), ("no_credit", true, 1), "{error}");
    for (shape, status, words) in [
        ("openai", 402, "Insufficient credits. Add more"),
        ("anthropic", 400, "Your credit balance is too low to access the API"),
    ] {
        let server = StandIn::new(vec![json_answer(status, &json!({"error": {"message": words}}))]);
        let error = ask(&settings(shape, &server.url())).unwrap_err();
        assert_eq!((error.code(), error.uses_attempt(), server.count()), ("no_credit", false, 1), "{error}");
    }
}

#[test]
fn an_error_in_the_place_of_a_choice_is_tried_again() {
    let mut inside = says("openai", "");
    inside["choices"][0] =
        json!({"finish_reason": "error", "message": {"content": ""}, "error": {"code": 502, "message": "upstream"}});
    let mut nameless = says("openai", "half");
    nameless["choices"][0]["finish_reason"] = "error".into();
    let limited = json!({"error": {"code": "rate_limit_exceeded", "message": "slow down"}});
    for (value, code) in [(inside, "unreachable"), (nameless, "unreachable"), (limited, "rate_limited")] {
        let server = StandIn::new(vec![json_answer(200, &value), good("openai")]);
        ask(&settings("openai", &server.url())).unwrap_or_else(|error| panic!("{value}: {error}"));
        assert_eq!(server.count(), 2);
        let server = StandIn::new(vec![json_answer(200, &value)]);
        let once = git_memory::config::Model { max_retries: 0, ..settings("openai", &server.url()) };
        assert_eq!(ask(&once).unwrap_err().code(), code, "{value}");
    }
}

#[test]
fn a_model_that_only_reasoned_is_told_so() {
    let mut value = says("openai", "");
    value["choices"][0]["message"]["reasoning_content"] = "I think {\"ok\": true}".into();
    let thought = json!({"stop_reason": "end_turn", "content": [{"type": "thinking", "thinking": "hm"}]});
    for (shape, value) in [("openai", value), ("anthropic", thought)] {
        let server = StandIn::new(vec![json_answer(200, &value)]);
        let error = ask(&settings(shape, &server.url())).unwrap_err().to_string();
        assert!(error.contains("reasoned") && error.contains("model.max_output_tokens"), "{error}");
    }
}

#[test]
fn no_server_takes_the_pause_between_two_tries_away() {
    for value in ["0", "Sun, 01 Mar 2020 11:00:00 GMT"] {
        let server = StandIn::new(vec![with_header(429, "retry-after", value), good("openai")]);
        ask(&settings("openai", &server.url())).unwrap();
        let sent = server.requests();
        assert!(sent[1].at - sent[0].at >= Duration::from_millis(200), "{value}: {:?}", sent[1].at - sent[0].at);
    }
}

#[test]
fn an_address_is_taken_as_manuals_give_it_and_a_wrong_one_is_told() {
    for (shape, path) in [("openai", "/chat/completions"), ("anthropic", "/messages")] {
        let server = StandIn::new(vec![good(shape)]);
        ask(&settings(shape, &format!("{}{path}/", server.url()))).unwrap();
        assert_eq!(server.requests()[0].line, format!("POST /v1{path} HTTP/1.1"));
        let server = StandIn::new(vec![Answer::Whole(404, Vec::new(), b"404 page not found".to_vec())]);
        let error = ask(&settings(shape, &server.url())).unwrap_err();
        assert!(error.to_string().contains("ends like /v1") && !error.uses_attempt(), "{error}");
    }
    let error = ask(&settings("openai", "127.0.0.1:11434")).unwrap_err().to_string();
    assert!(error.contains("http://"), "{error}");
}

#[test]
fn a_page_instead_of_json_is_refused_with_its_title() {
    for shape in SHAPES {
        let page = b"<!DOCTYPE html><html><head><title>Sign in\n to Wifi</title></head></html>".to_vec();
        let server = StandIn::new(vec![Answer::Whole(200, vec![("content-type".into(), "text/html".into())], page)]);
        let error = ask(&settings(shape, &server.url())).unwrap_err();
        assert_eq!(error.code(), "bad_reply");
        assert!(error.to_string().contains("200 from 127.0.0.1") && error.to_string().contains("\"Sign in to Wifi\""));
        for body in ["", "null", "[]", "{}", "{\"choices\":[]}", "{\"content\":[]}", "\u{0}", "{\"choices\":"] {
            let server = StandIn::new(vec![Answer::Whole(200, Vec::new(), body.into())]);
            let error = ask(&settings(shape, &server.url())).unwrap_err();
            assert_eq!((error.code(), server.count()), ("bad_reply", 1), "{shape} {body:?}: {error}");
        }
    }
}

#[test]
fn replies_that_are_cut_withheld_or_declined_are_no_replies() {
    let cut = |reason: &str| {
        let mut value = says("openai", "{\"ok\":tr");
        value["choices"][0]["finish_reason"] = reason.into();
        value
    };
    let mut declined = says("openai", "");
    declined["choices"][0]["message"] = json!({"content": null, "refusal": "I cannot\u{1b}[31m help"});
    let mut stopped = says("anthropic", "{\"ok\":tr");
    stopped["stop_reason"] = "max_tokens".into();
    let mut refused = says("anthropic", "No.");
    refused["stop_reason"] = "refusal".into();
    for (shape, value, code, word) in [
        ("openai", cut("length"), "bad_reply", "model.max_output_tokens"),
        ("openai", cut("content_filter"), "refused", "filter"),
        ("openai", declined, "refused", "declines: I cannot help"),
        ("anthropic", stopped, "bad_reply", "model.max_output_tokens"),
        ("anthropic", refused, "refused", "declines"),
    ] {
        let server = StandIn::new(vec![json_answer(200, &value)]);
        let error = ask(&settings(shape, &server.url())).unwrap_err();
        assert_eq!((error.code(), server.count()), (code, 1), "{error}");
        assert!(error.to_string().contains(word), "{error}");
        assert!(error.uses_attempt(), "{error}");
    }
}

#[test]
fn content_in_parts_and_servers_that_count_no_tokens_are_read() {
    let parts = json!([{"type": "text", "text": "{\"ok\""}, {"type": "text", "text": ":true}"}]);
    let server = StandIn::new(vec![json_answer(200, &json!({"choices": [{"message": {"content": parts}}]}))]);
    let reply = ask(&settings("openai", &server.url())).unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_str()), ("{\"ok\":true}", "stand-in"));
    assert!(reply.usage.input > 10 && reply.usage.output > 0, "characters are counted instead: {:?}", reply.usage);
}

#[test]
fn an_error_inside_a_good_status_is_an_error() {
    let busy = json!({"error": {"message": "provider is busy", "code": 503}});
    let server = StandIn::new(vec![json_answer(200, &busy), good("openai")]);
    ask(&settings("openai", &server.url())).unwrap();
    assert_eq!(server.count(), 2);
    let server = StandIn::new(vec![json_answer(200, &json!({"error": {"message": "no credit", "code": "x"}}))]);
    assert_eq!(ask(&settings("openai", &server.url())).unwrap_err().code(), "refused");
}

#[test]
fn an_unknown_model_is_refused_at_once() {
    for shape in SHAPES {
        let server = StandIn::new(vec![json_answer(404, &json!({"error": {"message": "no model stand-in"}}))]);
        let error = ask(&settings(shape, &server.url())).unwrap_err();
        assert_eq!((error.code(), server.count()), ("refused", 1));
        assert!(error.to_string().contains("404") && error.to_string().contains("no model stand-in"), "{error}");
    }
    let nameless = git_memory::config::Model { model: String::new(), ..settings("openai", "http://127.0.0.1:1/v1") };
    assert_eq!(ask(&nameless).unwrap_err().code(), "settings");
}
