//! The life of a run: what it shows while it is at work, and what becomes of it when it is asked to end, or dies.
#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/numbered.rs"]
#[allow(dead_code)]
mod numbered;

mod death;
mod interrupt;
mod shown;

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{BIN, Sandbox};
use numbered::{session, user_config, wiki};
use serde_json::Value;

/// A reply that teaches nothing.
const NOTHING: &str = r#"{"summary":"nothing","proposals":[],"rejected_candidates":[]}"#;

/// A wiki with so many captured sessions that nobody has looked at.
fn wiki_with(sessions: usize) -> Sandbox {
    let sandbox = wiki();
    for n in 1..=sessions {
        sandbox.run(&["capture", "-q", &session(&sandbox, n)]);
    }
    sandbox
}

/// A model that is this shell script; it has read its prompt, as `$prompt`.
fn model(sandbox: &Sandbox, script: &str) {
    let path = sandbox.root().join("model.sh");
    std::fs::write(&path, format!("#!/bin/sh\nprompt=$(cat)\n{script}\n")).expect("the model is written");
    let settings =
        format!("[model]\nprovider = \"command\"\nmodel = \"slow\"\ncommand = [\"sh\", \"{}\"]\n", path.display());
    user_config(sandbox, &settings);
}

/// A model that says that there is nothing.
fn model_that_answers(sandbox: &Sandbox) {
    model(sandbox, &format!("echo '{NOTHING}'"));
}

/// The file in which a model that takes its time writes its own number and that of something that it started.
fn pids(sandbox: &Sandbox) -> PathBuf {
    sandbox.root().join("pids")
}

/// A model that never comes to an end.
fn model_without_end(sandbox: &Sandbox) {
    let file = pids(sandbox);
    let _ = std::fs::remove_file(&file);
    model(sandbox, &format!("sleep 300 & echo \"$$ $!\" >{0}.new; mv {0}.new {0}; wait", file.display()));
}

/// Waits until the model is at work; its number and that of what it started.
fn at_work(sandbox: &Sandbox) -> [String; 2] {
    let file = pids(sandbox);
    let text = until(|| std::fs::read_to_string(&file).ok()).expect("the model is started");
    let both: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    both.try_into().expect("two numbers")
}

/// What comes of asking again and again for twenty seconds.
fn until<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if let Some(found) = ask() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

/// Whether a process is gone, or waits for somebody to take note of it.
fn is_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().unwrap_or_default().trim().starts_with('Z') || stat.is_empty()
}

/// Starts a run in the background.
fn start(sandbox: &Sandbox, args: &[&str]) -> Child {
    let _ = std::fs::remove_file(sandbox.path(".git/memory/last-tick"));
    let mut command = sandbox.program(BIN);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

fn signal(child: &Child, name: &str) {
    let sent = std::process::Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

/// The records of all runs, newest first.
fn records(sandbox: &Sandbox) -> Vec<Value> {
    let list = sandbox.json(&["run", "list"]);
    let ids = list["runs"].as_array().expect("a list").iter().map(|run| run["id"].as_str().expect("an id").to_owned());
    ids.map(|id| sandbox.json(&["run", "show", &id])).collect()
}

fn outcomes(run: &Value) -> Vec<&str> {
    let all = run["outcomes"].as_array().expect("outcomes");
    all.iter().map(|outcome| outcome["outcome"].as_str().expect("a word")).collect()
}

/// The sessions that a run selected.
fn selected(run: &Value) -> Vec<&str> {
    let list = run["plan"]["selected"].as_array().unwrap_or_else(|| panic!("{run}"));
    list.iter().map(|selected| selected["session"].as_str().expect("a session")).collect()
}

/// Why the plan leaves out what is claimed.
fn claimed(run: &Value) -> Option<&str> {
    let gates = run["plan"]["gates"].as_array().expect("gates");
    gates.iter().find(|gate| gate["name"] == "claimed").map(|gate| gate["reason"].as_str().expect("a reason"))
}
