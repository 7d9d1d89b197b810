//! The one repository that all replies meet, and the run of one reply.

use std::path::Path;

use serde_json::{Value, json};

use super::came::Came;
use super::common::{Sandbox, State, files};
use super::rows::{self, Row};

/// The session that the replies are about.
pub const SESSION: &str = "5e551011-0000-4000-8000-0000000000b1";

/// The place before any reply.
pub struct Place {
    sandbox: Sandbox,
    state: State,
    waiting: Vec<(String, String)>,
}

/// A repository with the pages of `fixtures/replies/wiki`, the session captured, one proposal that waits and one that
/// was rejected.
pub fn prepare() -> Place {
    let mut sandbox = Sandbox::new();
    sandbox.now = Some("2026-03-01T00:00:00Z".into());
    sandbox.run(&["init", "--no-hooks"]);
    // Line ends are committed as they are.
    sandbox.write(".git/info/attributes", "* -text\n");
    for (path, bytes) in files(&rows::folder().join("wiki")) {
        sandbox.write(&path.to_string_lossy(), bytes);
    }
    sandbox.commit("Write pages");
    sandbox.now = Some("2026-04-01T00:00:00Z".into());
    sandbox.run(&["capture", &rows::folder().join("session.jsonl").display().to_string()]);
    propose(
        &sandbox,
        "gotchas/ask-slowly.md",
        "Wait between two requests",
        "The export counts requests and closes the connection of whoever asks too often.",
    );
    let rejected = propose(
        &sandbox,
        "gotchas/export-needs-a-vpn.md",
        "The export needs a VPN",
        "Outside the harbour network every transfer of the export is cut off unless the VPN is up.",
    );
    sandbox.run(&["reject", &rejected, "--reason", "the export is public"]);
    Place { state: sandbox.state(), waiting: waiting(&sandbox), sandbox }
}

fn propose(sandbox: &Sandbox, path: &str, title: &str, text: &str) -> String {
    let mut command = sandbox.memory(&["propose", "--rationale", "It came up.", "--json", "--", path]);
    let output = command.write_stdin(format!("# {title}\n\n{text}\n")).output().expect("the binary starts");
    let value: Value = serde_json::from_slice(&output.stdout).expect("json");
    assert_eq!(value["results"][0]["outcome"], "staged", "{value}");
    value["results"][0]["id"].as_str().expect("an id").to_owned()
}

/// What the judge prints.
fn judged(word: &str) -> String {
    let one = |score: Value| json!({ "reason": "The quote says so.", "score": score });
    let all = |score: Value| json!({ "durable": one(score.clone()), "actionable": one(score.clone()), "non_redundant": one(score.clone()), "grounded": one(score) });
    let mut reply = all(json!(5));
    match word {
        "pass" => {}
        "hold" => reply["actionable"] = one(json!(3)),
        "refuse" => reply = all(json!(1)),
        "partial" => drop(reply.as_object_mut().expect("an object").remove("grounded")),
        "extra" => reply["beautiful"] = one(json!(5)),
        "words" => reply = all(json!("five")),
        "nine" => reply["durable"] = one(json!(9)),
        "twice" => return format!("The page says {reply}. I say {}", all(json!(1))),
        "silent" => return String::new(),
        other => panic!("no judge answers `{other}`"),
    }
    reply.to_string()
}

/// The user's settings: a program that prints the reply, and one that is the judge.
fn settings(sandbox: &Sandbox, row: &Row) -> String {
    let root = sandbox.root().display().to_string();
    let print = |name: &str| {
        // It reads all of the prompt and keeps it beside the reply.
        let script = format!("cat > '{root}/{name}-prompt.txt'; cat '{root}/{name}.txt'");
        format!("provider = \"command\"\ncommand = [\"sh\", \"-c\", {script:?}]\n")
    };
    let mut text = format!("{}\n[model.review]\n{}", row.settings.as_deref().unwrap_or_default(), print("reply"));
    match row.judge.as_deref() {
        None => {}
        Some("broken") => text.push_str("\n[model.judge]\nprovider = \"command\"\ncommand = [\"false\"]\n"),
        Some(word) => {
            std::fs::write(sandbox.root().join("judge.txt"), judged(word)).expect("the judge's words");
            text.push_str(&format!("\n[model.judge]\n{}", print("judge")));
        }
    }
    text
}

/// Runs `git memory improve` with one reply in a copy of the place.
pub fn answer(place: &Place, row: &Row) -> Came {
    let sandbox = place.sandbox.copy();
    std::fs::write(sandbox.root().join("reply.txt"), row.reply()).expect("the reply");
    let folder = sandbox.home().join(".config/git-memory");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), settings(&sandbox, row)).expect("settings");
    let output = sandbox.memory(&["improve", "--session", SESSION, "--json"]).output().expect("the binary starts");
    let mut came = Came { exit: output.status.code().unwrap_or(-1), ..Came::default() };
    came.said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    speaks_no_escapes(&mut came, &output.stdout, &output.stderr);
    let mut values = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let Some(Ok(run)) = values.next() else {
        came.broken.push("there is no run".into());
        return came;
    };
    recorded(&sandbox, &run, &mut came);
    let waits = waiting(&sandbox);
    if let Some((id, _)) = place.waiting.iter().find(|known| !waits.contains(known)) {
        came.broken.push(format!("{id} waited before and waits no more"));
    }
    came.staged = waits.into_iter().filter(|one| !place.waiting.contains(one)).map(|(_, page)| page).collect();
    came.staged.sort();
    if let Some(id) = run["proposals"][0]["id"].as_str() {
        let page = run["proposals"][0]["path"].as_str().unwrap_or_default();
        let tip = format!("refs/memory/pending/{id}:{page}");
        let landed = format!("main:{page}");
        let text = [tip, landed]
            .iter()
            .map(|name| sandbox.try_git(&["cat-file", "blob", name]))
            .find(|out| out.status.success());
        came.text = text.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    }
    unharmed(&sandbox, &place.state, &mut came);
    came
}

/// The proposals that wait: id and page.
fn waiting(sandbox: &Sandbox) -> Vec<(String, String)> {
    let output = sandbox.memory(&["proposal", "list", "--json"]).output().expect("the binary starts");
    let list: Value = serde_json::from_slice(&output.stdout).expect("json");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = list["proposals"].as_array().expect("a list").iter();
    rows.map(|one| (text(&one["id"]), text(&one["paths"][0]))).collect()
}

/// What the run's record says, which is what the command said.
fn recorded(sandbox: &Sandbox, run: &Value, came: &mut Came) {
    let id = run["id"].as_str().unwrap_or_default();
    let shown = sandbox.memory(&["run", "show", id, "--json"]).output().expect("the binary starts");
    let kept: Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
    if kept["refused"] != run["refused"] || kept["calls"] != run["calls"] {
        came.broken.push("the run's record is another than what was printed".into());
    }
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    came.refused = list(&run["refused"]).iter().map(|one| one["code"].as_str().unwrap_or("?").to_owned()).collect();
    came.refused.sort();
    for refused in list(&run["refused"]) {
        if refused["reason"].as_str().unwrap_or_default().len() < 20 {
            came.broken.push(format!("a refusal says too little: {refused}"));
        }
    }
    let made = list(&run["proposals"]);
    let pages = |outcome: &str| -> Vec<String> {
        let with = made.iter().filter(|made| made["outcome"] == outcome);
        with.map(|made| made["path"].as_str().unwrap_or_default().to_owned()).collect()
    };
    (came.accepted, came.sighted) = (pages("accepted"), pages("sighted"));
    let review = list(&run["calls"]).into_iter().find(|call| call["stage"] == "review");
    match review {
        Some(call) => came.whole = call["error"].as_str().map(str::to_owned),
        None => came.broken.push("no call is on record".into()),
    }
    if came.whole.is_some() && !(made.is_empty() && came.refused.is_empty()) {
        came.broken.push("a reply that was refused whole left something".into());
    }
}

/// Text of a reply may reach a terminal, its escapes may not.
fn speaks_no_escapes(came: &mut Came, out: &[u8], err: &[u8]) {
    for c in [out, err].into_iter().flat_map(|bytes| String::from_utf8_lossy(bytes).chars().collect::<Vec<_>>()) {
        if (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            came.broken.push(format!("U+{:04X} reaches the terminal", u32::from(c)));
            return;
        }
    }
}

/// Nothing but `refs/memory` changes; with what the policy landed, exactly those pages do.
fn unharmed(sandbox: &Sandbox, before: &State, came: &mut Came) {
    let after = sandbox.state();
    let outside =
        |refs: &str| refs.lines().filter(|line| !line.contains("refs/memory/")).collect::<Vec<_>>().join("\n");
    if came.accepted.is_empty() {
        let same = outside(&after.refs) == outside(&before.refs) && after.files == before.files;
        if !same || after.index != before.index || after.status != before.status {
            came.broken.push("the branch, the index or the work tree changed".into());
        }
    } else {
        let changed = sandbox.git(&["diff", "--name-only", "main@{1}", "main"]);
        let mut pages = came.accepted.clone();
        pages.sort();
        if changed.lines().collect::<Vec<_>>() != pages {
            came.broken.push(format!("{changed} changed on the branch"));
        }
    }
    if after.config != before.config || after.heads != before.heads {
        came.broken.push("git's configuration or its heads changed".into());
    }
    let fsck = sandbox.try_git(&["fsck", "--strict", "--no-dangling"]);
    if !fsck.status.success() {
        came.broken.push(format!("git fsck: {}", String::from_utf8_lossy(&fsck.stderr)));
    }
    if Path::new(&sandbox.root().join("outside.md")).exists() {
        came.broken.push("a path left the wiki".into());
    }
}
