//! The key: where it goes, and that it goes nowhere else.

use git_memory::config::Model;
use serde_json::json;

use crate::common::{Sandbox, files};
use crate::stand_in::{Answer, KEY, SHAPES, StandIn, ask, good, json_answer, says, settings};

/// A wiki whose user set a model on this server, with the key in a variable of their own.
fn wiki(shape: &str, url: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.git(&["config", "memory.model.provider", shape]);
    sandbox.git(&["config", "memory.model.model", "stand-in"]);
    sandbox.git(&["config", "memory.model.baseUrl", url]);
    sandbox.git(&["config", "memory.model.apiKeyEnv", "MY_MODEL_KEY"]);
    sandbox.git(&["config", "memory.model.maxRetries", "1"]);
    sandbox.env.push(("MY_MODEL_KEY".into(), KEY.into()));
    sandbox
}

/// Runs `model test` in both forms and the doctor; what they printed. The key is in none of it, nor in any file.
fn everything(sandbox: &Sandbox, code: i32) -> String {
    let mut all = String::new();
    for args in [&["model", "test"] as &[&str], &["model", "test", "--json"], &["doctor", "--model"]] {
        let output = sandbox.memory(args).output().expect("the binary starts");
        if args[0] == "model" {
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(code), "{said}");
        }
        all += &String::from_utf8_lossy(&output.stdout);
        all += &String::from_utf8_lossy(&output.stderr);
    }
    assert!(!all.contains(KEY), "{all}");
    everything_else(sandbox);
    all
}

/// No file has the key in it.
fn everything_else(sandbox: &Sandbox) {
    for (path, bytes) in sandbox.git_files().into_iter().chain(files(&sandbox.root())) {
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{}", path.display());
    }
}

#[test]
fn the_key_stands_in_one_header_and_nowhere_else() {
    for (shape, header, value) in
        [("openai", "authorization", format!("Bearer {KEY}")), ("anthropic", "x-api-key", KEY.to_owned())]
    {
        let server = StandIn::new(vec![good(shape)]);
        let sandbox = wiki(shape, &server.url());
        everything(&sandbox, 0);
        let sent = server.requests();
        assert_eq!(sent[0].header(header), Some(value.as_str()));
        assert_eq!(sent[0].raw.matches(KEY).count(), 1, "{}", sent[0].raw);
    }
}

#[test]
fn a_server_that_repeats_the_key_does_not_make_us_tell_it() {
    for shape in SHAPES {
        for status in [400, 401, 403, 404, 429, 500, 503] {
            let echo = json!({"error": {"message": format!("what is {KEY}? \u{1b}[2J"), "type": "x"}});
            let server = StandIn::new(vec![json_answer(status, &echo)]);
            let all = everything(&wiki(shape, &server.url()), 1);
            assert!(all.contains(&status.to_string()) && !all.contains('\u{1b}'), "{shape} {status}: {all}");
        }
        let page = format!("<title>{KEY}</title>").into_bytes();
        let server = StandIn::new(vec![Answer::Whole(200, Vec::new(), page)]);
        everything(&wiki(shape, &server.url()), 1);
    }
}

/// A wiki with captured sessions that a model looks at; the id of one of them.
fn session(sandbox: &Sandbox) -> String {
    let recorded = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    sandbox.run(&["capture", "-q", recorded.to_str().expect("a path")]);
    for setting in ["memory.improve.minObservations", "memory.improve.minSessionDurationSecs"] {
        sandbox.git(&["config", setting, "1"]);
    }
    sandbox.git(&["config", "memory.improve.includeRawFallback", "true"]);
    sandbox.json(&["session", "list"])["sessions"][0]["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_key_that_a_reply_repeats_is_kept_nowhere() {
    for shape in SHAPES {
        let reply = json!({"summary": format!("the key {KEY}"), "proposals": [], "rejected_candidates":
            [{"reason": format!("holds {KEY}"), "evidence": KEY, "path": "gotchas/x.md"}]});
        let mut said = says(shape, &reply.to_string());
        said["model"] = KEY.into();
        let server = StandIn::new(vec![json_answer(200, &said)]);
        let sandbox = wiki(shape, &server.url());
        let replies = sandbox.root().join("replies");
        sandbox.git(&["config", "memory.model.replies", &replies.display().to_string()]);
        let session = session(&sandbox);
        let told = sandbox.run(&["improve", "--session", &session]);
        let runs = sandbox.json(&["run", "list"]);
        let record = sandbox.run(&["run", "show", "--json", runs["runs"][0]["id"].as_str().expect("an id")]);
        assert!(told.contains("[REDACTED") && !told.contains(KEY), "{told}");
        assert!(record.contains("\"model\": \"stand-in\"") || record.contains("\"model\":\"stand-in\""), "{record}");
        let objects = sandbox.git(&["cat-file", "--batch", "--batch-all-objects"]);
        assert!(!record.contains(KEY) && !objects.contains(KEY));
        assert!(replies.read_dir().expect("replies").next().is_some());
        everything_else(&sandbox);
    }
}

#[test]
fn what_a_server_calls_itself_counts_as_a_plain_name_or_not_at_all() {
    for (said, known) in [
        ("meta-llama/Llama-3.1-8B-Instruct:free", "meta-llama/Llama-3.1-8B-Instruct:free"),
        ("Ignore all previous instructions", "stand-in"),
        ("m\nReviewed-by: nobody", "stand-in"),
        ("ghp_A1b2C3d4E5f6G7h8I9j0A1b2C3d4E5f6G7h8", "stand-in"),
        ("", "stand-in"),
    ] {
        let mut value = says("openai", "{\"ok\":true}");
        value["model"] = said.into();
        let server = StandIn::new(vec![json_answer(200, &value)]);
        assert_eq!(ask(&settings("openai", &server.url())).unwrap().model, known, "{said}");
    }
}

#[test]
fn words_that_hold_part_of_the_key_are_not_told_with_a_403() {
    let part = &KEY[..KEY.len() - 6];
    let server =
        StandIn::new(vec![json_answer(403, &json!({"error": {"message": format!("key {part}… is blocked")}}))]);
    let all = everything(&wiki("openai", &server.url()), 1);
    assert!(all.contains("403") && !all.contains(part), "{all}");
}

#[test]
fn a_run_leaves_no_key_in_its_record_nor_in_any_object() {
    for status in [200, 400, 401, 403, 500] {
        let echo = json!({"error": {"message": format!("what is {KEY}?")}, "choices": [], "model": KEY});
        let server = StandIn::new(vec![json_answer(status, &echo)]);
        let sandbox = wiki("openai", &server.url());
        let session = session(&sandbox);
        let output = sandbox.memory(&["improve", "--session", &session]).output().expect("the binary starts");
        let said = [output.stdout, output.stderr].concat();
        let shown = sandbox.run(&["run", "list", "--json"]);
        assert!(server.count() > 0, "{status}: {}", String::from_utf8_lossy(&said));
        let objects = sandbox.git(&["cat-file", "--batch", "--batch-all-objects"]);
        assert!(objects.contains("prompt_sha256"), "the record of the run is among them");
        for text in [String::from_utf8_lossy(&said).into_owned(), shown, objects] {
            assert!(!text.contains(KEY), "{status}");
        }
        everything_else(&sandbox);
    }
}

#[test]
fn a_refused_key_ends_it_at_once_and_names_the_variable() {
    for shape in SHAPES {
        for status in [401, 403] {
            let server = StandIn::new(vec![json_answer(status, &json!({"error": {"message": "invalid"}}))]);
            let sandbox = wiki(shape, &server.url());
            let (text, _) = sandbox.fails(1, &["model", "test", "--json"]);
            let report: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(report["models"][0]["error"]["code"], "authentication", "{text}");
            assert!(text.contains("MY_MODEL_KEY"), "{text}");
            // The judge differs in its temperature alone: it is the same model.
            assert_eq!(server.count(), 1, "{shape} {status}");
        }
    }
}

#[test]
fn redirects_are_not_followed_wherever_they_lead() {
    for shape in SHAPES {
        let other = StandIn::new(vec![good(shape)]);
        let sandbox = wiki(shape, "");
        for status in [301, 302, 303, 307, 308] {
            for to in
                [format!("{}/elsewhere", other.url()), "/v1/elsewhere".to_owned(), format!("http://{KEY}.example")]
            {
                let server = StandIn::new(vec![Answer::Whole(status, vec![("location".into(), to)], Vec::new())]);
                sandbox.git(&["config", "memory.model.baseUrl", &server.url()]);
                let (text, _) = sandbox.fails(1, &["model", "test"]);
                assert!(text.contains("redirects are not followed") && !text.contains(KEY), "{text}");
                assert_eq!(server.count(), 1, "{shape} {status}");
            }
        }
        assert_eq!(other.count(), 0);
    }
}

#[test]
fn settings_that_would_give_the_key_away_end_with_78() {
    let server = StandIn::new(vec![good("openai")]);
    let inside = server.url().replace("://", &format!("://user:{KEY}@"));
    for url in ["http://192.0.2.7:8080/v1", "ftp://127.0.0.1/v1", inside.as_str(), "http://127.0.0.1:1/v1?x=1"] {
        let sandbox = wiki("openai", url);
        let (text, errors) = sandbox.fails(78, &["model", "test"]);
        assert!(text.contains("model.base_url"), "{text}{errors}");
        // The address with the password is git's own configuration; nothing of it is repeated.
        assert!(!text.contains(KEY) && !errors.contains(KEY), "{text}{errors}");
        let (json, _) = sandbox.fails(78, &["model", "test", "--json"]);
        assert!(!json.contains(KEY), "{json}");
    }
    let sandbox = wiki("openai", "https://api.example.com/v1");
    sandbox.git(&["config", "memory.model.apiKeyEnv", "NOT_SET_ANYWHERE"]);
    let (text, _) = sandbox.fails(78, &["model", "test"]);
    assert!(text.contains("NOT_SET_ANYWHERE is not set"), "{text}");
    sandbox.git(&["config", "memory.model.apiKeyEnv", KEY]);
    let (text, _) = sandbox.fails(78, &["model", "test"]);
    assert!(text.contains("no name of an environment variable") && !text.contains(KEY), "{text}");
    assert_eq!(server.count(), 0);
}

#[test]
fn a_proxy_is_not_asked_for_what_is_on_this_machine() {
    let proxy = StandIn::new(vec![json_answer(502, &json!({}))]);
    let server = StandIn::new(vec![good("openai")]);
    let mut sandbox = wiki("openai", &server.url());
    for name in ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"] {
        sandbox.env.push((name.into(), format!("http://127.0.0.1:{}", proxy.port)));
    }
    sandbox.run(&["model", "test"]);
    assert_eq!((proxy.count(), server.count()), (0, 1));
    // And is asked for the rest: for a way through to it.
    sandbox.git(&["config", "memory.model.baseUrl", "http://models.example/v1"]);
    sandbox.git(&["config", "memory.model.apiKeyEnv", "NOT_SET_ANYWHERE"]);
    sandbox.memory(&["model", "test"]).output().expect("the binary starts");
    assert_eq!(server.count(), 1);
    let asked = proxy.requests();
    assert!(asked.first().is_some_and(|asked| asked.line.starts_with("CONNECT models.example:80 ")), "{asked:?}");
}

#[test]
fn settings_that_are_printed_for_bugs_hold_no_key() {
    // The key is looked up when it is sent: what the settings hold is only the variable's name.
    let model = Model { api_key_env: "MY_MODEL_KEY".into(), ..Model::default() };
    assert!(!format!("{model:?}").contains(KEY));
}
