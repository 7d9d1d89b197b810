//! The day's budget.

use git_memory::config::Model;
use git_memory::model::{Models, Stage, Usage};
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::stand_in::{SHAPES, StandIn, ask_in, counted as in_all, good, json_answer, prompt, says, settings};

fn counted(folder: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("model-budget.json")).unwrap()).unwrap()
}

#[test]
fn calls_and_tokens_are_counted_and_no_more_are_made_than_the_day_has() {
    for shape in SHAPES {
        let folder = tempfile::tempdir().unwrap();
        let server = StandIn::new(vec![good(shape)]);
        let settings = Model { daily_calls: 2, ..settings(shape, &server.url()) };
        let models = Models::new(&settings, folder.path().to_owned());
        for _ in 0..2 {
            models.ask(Stage::Review, &prompt()).unwrap();
        }
        let error = models.ask(Stage::Judge, &prompt()).unwrap_err().error;
        assert_eq!((error.code(), error.uses_attempt(), server.count()), ("budget_exhausted", false, 2), "{error}");
        let counted = counted(folder.path());
        assert_eq!((&counted["calls"], &counted["tokens"]), (&json!(2), &json!(36)));
    }
}

#[test]
fn tokens_run_out_too() {
    let folder = tempfile::tempdir().unwrap();
    let server = StandIn::new(vec![good("openai")]);
    let needed = prompt().tokens() as u64;
    let settings = Model { daily_tokens: needed + 17, ..settings("openai", &server.url()) };
    let models = Models::new(&settings, folder.path().to_owned());
    models.ask(Stage::Review, &prompt()).unwrap();
    let error = models.ask(Stage::Review, &prompt()).unwrap_err().error;
    assert_eq!((error.code(), server.count()), ("budget_exhausted", 1), "{error}");
}

#[test]
fn each_try_that_reaches_the_server_counts_and_the_others_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let busy = json_answer(503, &json!({"error": {"message": "busy"}}));
    let server = StandIn::new(vec![busy.clone(), busy, good("openai")]);
    let models = Models::new(&settings("openai", &server.url()), folder.path().to_owned());
    models.ask(Stage::Review, &prompt()).unwrap();
    assert_eq!(counted(folder.path())["calls"], 3);
    assert_eq!(counted(folder.path())["tokens"], 18, "what a server declined cost nothing");
    let nobody = Models::new(&settings("openai", "http://127.0.0.1:1/v1"), folder.path().to_owned());
    nobody.ask(Stage::Review, &prompt()).unwrap_err();
    assert_eq!(counted(folder.path())["calls"], 3);
}

#[test]
fn a_name_that_nobody_knows_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Model { max_retries: 0, ..settings("openai", "http://nobody.invalid:8080/v1") };
    let failed = ask_in(folder.path(), &settings).unwrap_err();
    assert_eq!((failed.error.code(), in_all(folder.path())), ("unreachable", (0, 0)), "{}", failed.error);
    assert!(failed.error.to_string().contains("nobody.invalid"), "{}", failed.error);
}

#[test]
fn what_a_server_was_paid_for_counts_though_nothing_came_of_it() {
    let mut cut = says("openai", "{\"ok\":tr");
    cut["choices"][0]["finish_reason"] = "length".into();
    let mut withheld = says("openai", "");
    withheld["choices"][0]["finish_reason"] = "content_filter".into();
    let mut refused = says("anthropic", "No.");
    refused["stop_reason"] = "refusal".into();
    for (shape, value) in [("openai", cut), ("openai", withheld), ("anthropic", refused)] {
        let folder = tempfile::tempdir().unwrap();
        let server = StandIn::new(vec![json_answer(200, &value)]);
        let failed = ask_in(folder.path(), &settings(shape, &server.url())).unwrap_err();
        assert_eq!(failed.usage, Some(Usage { input: 11, output: 7 }), "{value}");
        assert_eq!(in_all(folder.path()), (1, 18), "{value}");
    }
}

#[test]
fn numbers_of_tokens_that_no_call_can_have_break_nothing() {
    for (shape, names) in
        [("openai", ["prompt_tokens", "completion_tokens"]), ("anthropic", ["input_tokens", "output_tokens"])]
    {
        let folder = tempfile::tempdir().unwrap();
        let mut value = says(shape, "{\"ok\":true}");
        for name in names {
            value["usage"][name] = u64::MAX.into();
        }
        value["usage"]["cache_read_input_tokens"] = u64::MAX.into();
        let server = StandIn::new(vec![json_answer(200, &value), good(shape)]);
        ask_in(folder.path(), &settings(shape, &server.url())).unwrap();
        ask_in(folder.path(), &settings(shape, &server.url())).unwrap();
        assert!(in_all(folder.path()).1 < 1_000_000_000);
    }
}

#[test]
fn a_program_counts_as_well_and_processes_count_together() {
    let mut sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.git(&["config", "memory.model.provider", "command"]);
    sandbox.git(&["config", "memory.model.command", "cat"]);
    sandbox.git(&["config", "memory.model.dailyCalls", "3"]);
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = sandbox.program(crate::common::BIN);
            command.args(["model", "test", "--json"]).stdout(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let codes: Vec<String> = children
        .into_iter()
        .map(|child| {
            let report: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
            report["models"][0]["error"]["code"].as_str().unwrap_or("none").to_owned()
        })
        .collect();
    let exhausted = codes.iter().filter(|code| *code == "budget_exhausted").count();
    assert_eq!(exhausted, 5, "{codes:?}");
    // The next day, in UTC, is a new one; and a file that holds nonsense keeps nobody from working.
    sandbox.now = Some("2026-03-02T00:00:01Z".into());
    let again = |sandbox: &Sandbox| sandbox.memory(&["model", "test"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&again(&sandbox).stdout).contains("budget"));
    sandbox.write(".git/memory/model-budget.json", b"\0\xff{");
    assert!(!String::from_utf8_lossy(&again(&sandbox).stdout).contains("budget"));
}
