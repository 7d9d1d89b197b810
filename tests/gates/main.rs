//! The gates from outside: programs and models that answer in every way there is, what lands, what waits, what is
//! refused, and whose marks count.

#[path = "../common/mod.rs"]
mod common;

#[cfg(unix)]
mod edited;
#[path = "../model/stand_in.rs"]
#[allow(dead_code)]
mod stand_in;

#[cfg(unix)]
mod eval;
#[cfg(unix)]
mod judge;
#[cfg(unix)]
mod marks;
#[cfg(unix)]
mod retrieval;

use common::Sandbox;
use serde_json::Value;

/// A recorded session.
pub fn fixture(name: &str) -> String {
    format!("{}/fixtures/sessions/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

/// A wiki that was begun before the sessions of the fixtures, with one session captured that teaches one gotcha, and
/// these settings of the user's own.
pub fn wiki(settings: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = Some("2025-01-01T00:00:00Z".into());
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.now = Some("2026-04-01T00:00:00Z".into());
    configure(&sandbox, settings);
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    sandbox
}

/// The user's own settings.
pub fn configure(sandbox: &Sandbox, settings: &str) {
    let folder = sandbox.home().join(".config/git-memory");
    std::fs::create_dir_all(&folder).expect("the folder");
    std::fs::write(folder.join("config.toml"), settings).expect("the settings");
}

/// A shell script beside the working folder; returns its path. What it reads is kept in `<name>.in`.
pub fn script(sandbox: &Sandbox, name: &str, body: &str) -> String {
    let path = sandbox.root().join(name);
    let kept = sandbox.root().join(format!("{name}.in"));
    std::fs::write(&path, format!("#!/bin/sh\ncat >'{}'\n{body}\n", kept.display())).expect("the script");
    let made = std::process::Command::new("chmod").arg("+x").arg(&path).status();
    assert!(made.is_ok_and(|status| status.success()), "chmod");
    path.display().to_string()
}

/// What a script read last.
pub fn read_by(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.root().join(format!("{name}.in"))).unwrap_or_default()
}

/// A script's line that prints a text as it is.
pub fn prints(text: &str) -> String {
    format!("cat <<'ANSWER'\n{text}\nANSWER")
}

/// Runs improve, whatever comes of it; returns the run.
pub fn improve(sandbox: &Sandbox) -> Value {
    let output = sandbox.memory(&["improve", "--all", "--json"]).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = text.lines().next().unwrap_or_default();
    serde_json::from_str(first).unwrap_or_else(|error| panic!("{error}: {text}{:?}", output.stderr))
}

/// The ids of the open proposals.
pub fn open(sandbox: &Sandbox) -> Vec<String> {
    let list = sandbox.json(&["proposal", "list"]);
    let all = list["proposals"].as_array().expect("a list");
    all.iter().map(|proposal| proposal["id"].as_str().expect("an id").to_owned()).collect()
}

/// The one open proposal, as `show --json` has it.
pub fn the_one(sandbox: &Sandbox) -> Value {
    let ids = open(sandbox);
    assert_eq!(ids.len(), 1, "{ids:?}");
    sandbox.json(&["proposal", "show", &ids[0]])["proposal"].clone()
}

/// Whether the wiki's branch is where it was.
pub fn landed(sandbox: &Sandbox) -> bool {
    sandbox.tree("main").iter().any(|path| path.starts_with("gotchas/") && path.ends_with(".md"))
}
