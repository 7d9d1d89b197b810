//! A real model behind a real server: llama.cpp with a small model, where `scripts/test` installed it. What it says is
//! nonsense; that it comes in the form that was asked for is what is tested.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::common::Sandbox;

struct Llm {
    child: Child,
    port: u16,
}

impl Drop for Llm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `target/tools/llm`, as `scripts/test` makes it.
fn python() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target"));
    let folder = target.join("tools/llm");
    folder.join("ready").exists().then(|| folder.join("bin/python"))
}

fn start() -> Option<Llm> {
    let python = python()?;
    let port = std::net::TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/model/serve.py");
    let mut child = Command::new(python)
        .arg(script)
        .arg(port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("python starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let ready = lines.by_ref().map_while(Result::ok).any(|line| line.starts_with("listening"));
    let llm = Llm { child, port };
    assert!(ready, "the model's server did not start");
    Some(llm)
}

#[test]
fn a_real_model_answers_in_the_form_that_was_asked_for() {
    let Some(llm) = start() else {
        eprintln!("skipped: no llama.cpp with a model; scripts/test installs it");
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    let url = format!("http://127.0.0.1:{}/v1", llm.port);
    for (key, value) in [("provider", "openai"), ("model", "smollm2"), ("baseUrl", &url), ("maxOutputTokens", "600")] {
        sandbox.git(&["config", &format!("memory.model.{key}"), value]);
    }
    let report = sandbox.json(&["model", "test", "--stage", "review"]);
    let model = &report["models"][0];
    assert_eq!((&model["works"], &model["structured"]), (&true.into(), &"json_schema".into()), "{report}");
    assert!(model["tokens"]["input"].as_u64() > Some(0) && model["tokens"]["output"].as_u64() > Some(0), "{report}");

    let settings = git_memory::config::Model {
        provider: "openai".into(),
        model: "smollm2".into(),
        base_url: url,
        max_output_tokens: 600,
        temperature: Some(0.0),
        ..Default::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let models = git_memory::model::Models::new(&settings, folder.path().to_owned());
    let prompt = git_memory::model::Prompt {
        system: "Grade the text.".into(),
        user: "A page about migrations.".into(),
        schema_name: "grade",
        schema: serde_json::json!({
            "type": "object", "additionalProperties": false, "required": ["grade", "words"],
            "properties": {
                "grade": {"type": "integer", "minimum": 1, "maximum": 5},
                "words": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 20}},
            },
        }),
    };
    let reply = models.ask(git_memory::model::Stage::Judge, &prompt).unwrap();
    let value = git_memory::model::first_json(&reply.text).expect("JSON");
    assert!(jsonschema::is_valid(&prompt.schema, &value), "{value}");
}
