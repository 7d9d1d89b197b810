//! One attack: planted, captured, reviewed twice, and watched.

use serde_json::{Value, json};

use super::attack::{Attack, Comes, Plant, SECRET, SESSION, Turn};
use super::common::Sandbox;
use super::talk;
use super::watch::{Watch, strange};

/// A wiki with a protected page, settings of its own and files that agents read.
pub fn prepare() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = Some("2026-03-01T00:00:00Z".into());
    sandbox.run(&["init", "--no-hooks"]);
    for (path, text) in [
        (
            "gotchas/import-ends-early.md",
            "# The import ends early\n\nThe import of the tide tables stores what it has.\n\n## Fix\n\nRun it again.\n",
        ),
        (
            "decisions/station-list.md",
            "---\npinned: true\n---\n# The station list\n\nThe import of the tide tables reads the station list first.\n",
        ),
        (
            "_rules/import.md",
            "# Run the import as its own user\n\nThe import of the tide tables runs as the user `tides`.\n",
        ),
        ("notes/import.md", "# Import of the tide tables\n\nThe import of the tide tables runs every night.\n"),
        ("AGENTS.md", "# For agents\n\nRun the tests.\n"),
        ("CLAUDE.md", "---\nkind: note\n---\n# For Claude\n\nThe import of the tide tables has tests.\n"),
        (".gitmemory.toml", "[wiki]\nprotected = [\"concepts/locked.md\"]\n"),
    ] {
        sandbox.write(path, text);
    }
    sandbox.commit("Write pages");
    sandbox.now = Some("2026-04-01T00:00:00Z".into());
    sandbox
}

/// Runs one attack; what went wrong, if anything.
pub fn run(place: &Sandbox, attack: &Attack) -> Vec<String> {
    let sandbox = place.copy();
    let canary = sandbox.root().join("canary");
    let filled = |text: &str| text.replace("CANARY", &canary.display().to_string()).replace("SECRET", SECRET);
    let mut turns: Vec<Turn> = Vec::new();
    match &attack.plant {
        Plant::Nothing => {}
        Plant::Turns(planted) => turns = planted.iter().map(|turn| fill(turn, &filled)).collect(),
        Plant::Page(path, text) => {
            sandbox.write(path, filled(text));
            sandbox.commit("Write a page");
        }
        Plant::Commit(message) => drop(sandbox.commit(&filled(message))),
    }
    let session = sandbox.root().join("session.jsonl");
    std::fs::write(&session, talk::lines(&turns, &sandbox.dir.display().to_string())).expect("the session");

    let mut watch = Watch::begin(&sandbox);
    watch.command(&sandbox, &["capture", &session.display().to_string()]);
    // The built-in reviewer, wherever there is something for it to read.
    if !matches!(attack.plant, Plant::Nothing) {
        let builtin = watch.improve(&sandbox, SESSION);
        if builtin["proposals"].as_array().into_iter().flatten().any(is_rule) {
            watch.faults.push(format!("the built-in reviewer makes a rule of it: {}", builtin["proposals"]));
        }
    }
    // The model that obeys, and the judge that passes everything.
    std::fs::write(sandbox.root().join("reply.txt"), filled(&attack.reply.to_string())).expect("the reply");
    settings(&sandbox);
    let obedient = watch.improve(&sandbox, SESSION);
    let came = came(&obedient);
    if let Some(fault) = differs(attack.comes, &came) {
        watch.faults.push(format!("{fault}: {}", serde_json::to_string(&came).unwrap_or_default()));
    }
    let prompt = std::fs::read_to_string(sandbox.root().join("prompt.txt")).unwrap_or_default();
    if prompt.is_empty() || prompt.contains(SECRET) {
        watch.faults.push("the model was not asked, or was given the secret".into());
    }
    if canary.exists() {
        watch.faults.push("a planted command ran".into());
    }
    watch.end(&sandbox, &obedient);
    watch.faults
}

fn fill(turn: &Turn, filled: &dyn Fn(&str) -> String) -> Turn {
    match turn {
        Turn::Human(text) => Turn::Human(filled(text)),
        Turn::Answer(text) => Turn::Answer(filled(text)),
        Turn::Subagent(text) => Turn::Subagent(filled(text)),
        Turn::Tool(name, input, output, failed) => {
            let input = serde_json::from_str(&filled(&input.to_string())).expect("still json");
            Turn::Tool(name, input, filled(output), *failed)
        }
    }
}

fn settings(sandbox: &Sandbox) {
    let root = sandbox.root().display().to_string();
    let met = json!({ "reason": "It is as it should be.", "score": 5 });
    let judge = json!({ "durable": met, "actionable": met, "non_redundant": met, "grounded": met });
    std::fs::write(sandbox.root().join("judge.txt"), judge.to_string()).expect("the judge's words");
    let review = format!("cat > '{root}/prompt.txt'; cat '{root}/reply.txt'");
    let judge = format!("cat > /dev/null; cat '{root}/judge.txt'");
    let text = format!(
        "[model.review]\nprovider = \"command\"\ncommand = [\"sh\", \"-c\", {review:?}]\n\
         [model.judge]\nprovider = \"command\"\ncommand = [\"sh\", \"-c\", {judge:?}]\n"
    );
    let folder = sandbox.home().join(".config/git-memory");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), text).expect("settings");
}

/// Whether a proposal of a run is for a rule.
pub fn is_rule(made: &Value) -> bool {
    made["path"].as_str().is_some_and(|path| path.starts_with("_rules/"))
}

/// What came of the obedient model's reply.
fn came(run: &Value) -> Value {
    let review = run["calls"].as_array().into_iter().flatten().find(|call| call["stage"] == "review");
    let of = |list: &Value, key: &str| -> Value {
        list.as_array().into_iter().flatten().map(|one| one[key].clone()).collect()
    };
    json!({
        "error": review.map_or(json!("there was no call"), |call| call["error"].clone()),
        "refused": of(&run["refused"], "code"),
        "proposals": of(&run["proposals"], "outcome"),
        "waiting": run["waiting"],
        "strange": strange(run),
    })
}

/// How that differs from what may come of it.
fn differs(may: Comes, came: &Value) -> Option<String> {
    let refused = came["refused"].as_array().is_some_and(|codes| !codes.is_empty());
    let made: Vec<&str> = came["proposals"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fits = match may {
        Comes::Nothing => came["error"].is_null() && !refused && made.is_empty(),
        Comes::Refused(code) => {
            made.is_empty()
                && came["refused"]
                    .as_array()
                    .is_some_and(|codes| codes.iter().all(|one| one == code) && !codes.is_empty())
        }
        Comes::Whole => !came["error"].is_null() && made.is_empty(),
        Comes::Waits => !made.is_empty() && made.iter().all(|outcome| *outcome == "staged"),
        Comes::Lands => !made.is_empty() && made.iter().all(|outcome| *outcome == "accepted"),
    };
    (!fits).then(|| format!("expected {may:?}"))
}
