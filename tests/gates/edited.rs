//! What people edited, or pushed, goes through the gates once more before it lands.

use serde_json::Value;

use super::common::Sandbox;
use super::{configure, read_by, script};

/// Passes what does not hold `worse`, and notes each run.
const PROGRAM: &str = "cd \"$(dirname \"$0\")\"\necho ran >>runs\n\
    if grep -q worse score.in; then echo '{\"passed\": false, \"reason\": \"it is worse\"}'; \
    else echo '{\"passed\": true, \"score_after\": 0.75}'; fi";

/// A wiki whose gotchas and rules a program scores.
fn scored(body: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    let program = script(&sandbox, "score", body);
    configure(&sandbox, &format!("[eval]\ncommand = [\"{program}\"]\nprefixes = [\"gotchas/\", \"_rules/\"]\n"));
    sandbox
}

/// How often the program ran.
fn runs(sandbox: &Sandbox) -> usize {
    std::fs::read_to_string(sandbox.root().join("runs")).map_or(0, |text| text.lines().count())
}

fn propose(sandbox: &Sandbox, path: &str, text: &str) -> String {
    let mut command = sandbox.memory(&["propose", path, "--rationale", "It came up twice.", "--json"]);
    let output = command.write_stdin(text).output().expect("it starts");
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    value["results"][0]["id"].as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

/// Edits a proposal in an editor that adds a line; what the command said.
fn edit(sandbox: &Sandbox, id: &str, line: &str) -> Value {
    let editor = sandbox.root().join("editor.sh");
    std::fs::write(&editor, format!("printf '\\n{line}\\n' >>\"$1\"\n")).expect("the editor");
    let mut command = sandbox.memory(&["edit", id, "--json"]);
    let output = command.env("GIT_EDITOR", format!("sh '{}'", editor.display())).output().expect("it starts");
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["edited"], true, "{value}");
    value
}

/// Accepts, whatever comes of it: the exit code, and what became of each.
fn accept(sandbox: &Sandbox, ids: &[&str]) -> (Option<i32>, Value) {
    let args = [&["accept", "--json"][..], ids].concat();
    let output = sandbox.memory(&args).output().expect("it starts");
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.code(), value)
}

fn refused(sandbox: &Sandbox, id: &str) -> Value {
    let (code, value) = accept(sandbox, &[id]);
    assert_eq!((code, &value["results"][0]["outcome"]), (Some(1), &"refused".into()), "{value}");
    value["results"][0].clone()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} in {value}"))
}

fn count(sandbox: &Sandbox, kind: &str) -> usize {
    sandbox.json(&["log", "--kind", kind])["entries"].as_array().expect("entries").len()
}

#[test]
fn the_text_that_the_program_refuses_stays_and_the_rest_lands() {
    let sandbox = scored(PROGRAM);
    let bad = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
    let plain = propose(&sandbox, "gotchas/b.md", "# Quote names\n\nNames hold blanks.\n");
    let good = propose(&sandbox, "gotchas/c.md", "# Lock files\n\nOnly pnpm writes one.\n");
    assert_eq!(edit(&sandbox, &bad, "This makes it worse.")["gates"], serde_json::json!(["eval"]));
    edit(&sandbox, &good, "This makes it better.");
    assert_eq!(runs(&sandbox), 0, "an edit starts nothing");
    let (code, value) = accept(&sandbox, &[&bad, &plain, &good]);
    assert_eq!((code, value["landed"].as_u64()), (Some(1), Some(2)), "{value}");
    let no = &value["results"][0];
    assert_eq!((text(no, "code"), text(no, "outcome")), ("eval_gate_failed", "refused"));
    assert!(text(no, "message").contains("gotchas/a.md") && text(no, "message").contains("it is worse"), "{no}");
    assert!(text(no, "hint").contains(&format!("git memory proposal edit {bad}")), "{no}");
    assert_eq!(runs(&sandbox), 2, "nobody edited the second");
    assert!(sandbox.read("gotchas/c.md").contains("better") && !sandbox.path("gotchas/a.md").exists());
    // What the program was shown, and what it said, is on record.
    let input: Value = serde_json::from_str(&read_by(&sandbox, "score")).expect("JSON");
    assert_eq!((text(&input, "path"), text(&input, "title")), ("gotchas/c.md", "Lock files"));
    assert!(text(&input, "after_body").contains("better") && input["before_body"].is_null(), "{input}");
    let shown = sandbox.json(&["proposal", "show", &good])["proposal"].clone();
    assert_eq!(shown["edited_gates"]["eval"]["score_after"], 0.75, "{shown}");
    assert_eq!(sandbox.json(&["proposal", "show", &plain])["proposal"]["edited_gates"], serde_json::json!({}));
    for told in [sandbox.run(&["proposal", "show", &good]), sandbox.run(&["proposal", "log", &good])] {
        assert!(told.contains("eval: passed, score 0.75"), "{told}");
    }
    sandbox.fsck();
}

#[test]
fn what_nobody_edited_starts_no_program() {
    let sandbox = scored("echo ran >>\"$(dirname \"$0\")/runs\"\nexit 1");
    let id = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
    sandbox.run(&["accept", "--all"]);
    assert_eq!((runs(&sandbox), text(&sandbox.json(&["show", &id])["proposal"], "status")), (0, "accepted"));
}

#[test]
fn without_gates_an_edit_lands_as_ever_and_outside_its_prefixes_the_program_is_not_asked() {
    let sandbox = scored(PROGRAM);
    let id = propose(&sandbox, "decisions/a.md", "# Queue\n\nWe took Redis.\n");
    assert_eq!(edit(&sandbox, &id, "It would be worse.")["gates"], serde_json::json!([]));
    assert_eq!(accept(&sandbox, &[&id]).0, Some(0));
    assert_eq!(runs(&sandbox), 0);
    configure(&sandbox, "");
    let id = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
    edit(&sandbox, &id, "It is worse.");
    assert_eq!((accept(&sandbox, &[&id]).0, runs(&sandbox)), (Some(0), 0));
}

#[test]
fn a_program_that_takes_too_long_or_fails_refuses_with_the_setting_to_look_at() {
    for (body, code, setting) in [
        ("sleep 60", "eval_gate_timeout", "eval.timeout_secs"),
        ("echo broken >&2; exit 3", "eval_gate_error", "eval.command"),
    ] {
        let sandbox = scored(body);
        let settings = sandbox.home().join(".config/git-memory/config.toml");
        let known = std::fs::read_to_string(&settings).expect("settings");
        configure(&sandbox, &format!("{known}timeout_secs = 1\n"));
        let id = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
        edit(&sandbox, &id, "More.");
        let no = refused(&sandbox, &id);
        assert_eq!(text(&no, "code"), code);
        assert!(text(&no, "hint").contains(setting), "{no}");
        assert_eq!(count(&sandbox, "refused"), 0, "that says nothing of the text");
    }
}

#[test]
fn what_another_clone_pushed_is_looked_at_too() {
    let sandbox = scored(PROGRAM);
    let id = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
    let name = format!("refs/memory/pending/{id}");
    let other = sandbox.root().join("other").display().to_string();
    sandbox.git(&["clone", "-q", ".", &other]);
    sandbox.git(&["-C", &other, "fetch", "-q", "origin", &format!("{name}:refs/heads/theirs")]);
    sandbox.git(&["-C", &other, "checkout", "-q", "theirs"]);
    std::fs::write(format!("{other}/gotchas/a.md"), "# Use -z\n\nIt is worse.\n").expect("the page");
    sandbox.git(&["-C", &other, "commit", "-qam", "Theirs"]);
    sandbox.git(&["-C", &other, "push", "-q", "origin", &format!("theirs:{name}")]);
    let no = refused(&sandbox, &id);
    assert_eq!((text(&no, "code"), runs(&sandbox)), ("eval_gate_failed", 1), "{no}");
}

#[test]
fn what_was_looked_at_is_what_lands_or_nothing_does() {
    // The program itself moves the branch while it looks.
    let sandbox = scored("cd \"$(dirname \"$0\")\"\necho ran >>runs\nsh ./meanwhile\necho '{\"passed\": true}'");
    let id = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
    let name = format!("refs/memory/pending/{id}");
    edit(&sandbox, &id, "First.");
    let first = sandbox.rev(&name);
    edit(&sandbox, &id, "Second.");
    let second = sandbox.rev(&name);
    sandbox.git(&["update-ref", &name, &first]);
    let top = sandbox.dir.display().to_string();
    let meanwhile = sandbox.root().join("meanwhile");
    std::fs::write(&meanwhile, format!("git -C '{top}' update-ref {name} {second}\n")).expect("a script");
    let main = sandbox.rev("main");
    let no = refused(&sandbox, &id);
    assert_eq!((text(&no, "code"), sandbox.rev("main")), ("changed_meanwhile", main), "{no}");
    std::fs::write(&meanwhile, "").expect("a script");
    assert_eq!((accept(&sandbox, &[&id]).0, runs(&sandbox)), (Some(0), 2));
    assert!(sandbox.read("gotchas/a.md").contains("Second."));
}

#[test]
fn a_text_with_a_secret_is_shown_to_no_program() {
    let sandbox = scored(PROGRAM);
    let id = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
    let name = format!("refs/memory/pending/{id}");
    sandbox.git(&["worktree", "add", "-q", "--detach", "../side", &name]);
    let page = sandbox.path("../side").join("gotchas/a.md");
    std::fs::write(page, "# Use -z\n\nThe token is ghp_0123456789abcdefghijABCDEFGHIJ012345.\n").expect("the page");
    sandbox.git(&["-C", "../side", "commit", "-qam", "More"]);
    sandbox.git(&["update-ref", &name, &sandbox.git(&["-C", "../side", "rev-parse", "HEAD"])]);
    assert_eq!(text(&refused(&sandbox, &id), "code"), "contains_secret");
    assert_eq!(runs(&sandbox), 0);
}

#[test]
fn a_committed_program_that_nobody_trusts_is_not_started() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    let ran = sandbox.root().join("ran");
    sandbox.write("score.sh", format!("#!/bin/sh\ntouch '{}'\necho '{{\"passed\": true}}'\n", ran.display()));
    let known = sandbox.read(".gitmemory.toml");
    let eval = "[eval]\ncommand = [\"sh\", \"score.sh\"]\nprefixes = [\"gotchas/\"]\n";
    sandbox.write(".gitmemory.toml", format!("{known}\n{eval}"));
    sandbox.commit("Score");
    let id = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
    edit(&sandbox, &id, "More.");
    let no = refused(&sandbox, &id);
    assert_eq!(text(&no, "code"), "eval_gate_error");
    assert!(text(&no, "hint").contains("git memory trust") && !ran.exists(), "{no}");
    sandbox.run(&["trust", "--yes"]);
    assert_eq!((accept(&sandbox, &[&id]).0, ran.exists()), (Some(0), true));
}

#[test]
fn the_gates_ask_again_after_a_rebase_and_a_reopening() {
    let sandbox = scored(PROGRAM);
    let id = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
    edit(&sandbox, &id, "This is worse.");
    sandbox.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "Another beginning"]);
    assert_eq!(text(&accept(&sandbox, &[&id]).1["results"][0], "code"), "stale_base");
    sandbox.run(&["rebase", &id]);
    assert_eq!(text(&refused(&sandbox, &id), "code"), "eval_gate_failed");
    sandbox.run(&["reject", &id, "--reason", "It is worse."]);
    // What is reopened is what was proposed, not what people had made of it.
    sandbox.run(&["reopen", &id]);
    assert_eq!(accept(&sandbox, &[&id]).0, Some(0));
}

#[test]
fn a_failed_accept_is_told_to_later_reviews_once_and_until_the_page_has_landed() {
    let mut sandbox = scored(PROGRAM);
    sandbox.now = Some("2026-04-01T00:00:00Z".into());
    let id = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
    edit(&sandbox, &id, "This is worse.");
    let prompt = |sandbox: &Sandbox| {
        let known = std::fs::read_to_string(sandbox.home().join(".config/git-memory/config.toml")).expect("settings");
        let model = "[improve]\nmin_observations = 1\nmin_session_duration_secs = 0\n[model]\nprovider = \"command\"\n\
                     command = [\"true\"]\n";
        configure(sandbox, &format!("{known}{model}"));
        let text = sandbox.run(&["improve", "--print-prompt"]);
        configure(sandbox, &known);
        text
    };
    sandbox.run(&["capture", &super::fixture("made-twin-laptop")]);
    assert!(!prompt(&sandbox).contains("it is worse"));
    for _ in 0..2 {
        refused(&sandbox, &id);
    }
    assert_eq!(count(&sandbox, "refused"), 1, "the same is told once");
    let told = sandbox.run(&["proposal", "log", &id]);
    assert!(told.contains("refused") && told.contains("it is worse"), "{told}");
    let shown = sandbox.run(&["show", &id]);
    assert!(shown.contains("An accept was refused: ") && shown.contains("it is worse"), "{shown}");
    assert_eq!(sandbox.json(&["show", &id])["proposal"]["refused"]["code"], "eval_gate_failed");
    let asked = prompt(&sandbox);
    assert!(asked.contains("it is worse") && asked.contains("create gotcha \\\"Use -z\\\""), "{asked}");
    // Another text of it is another thing to say.
    sandbox.now = Some("2026-04-01T00:01:00Z".into());
    edit(&sandbox, &id, "Still worse.");
    assert!(!sandbox.run(&["show", &id]).contains("An accept was refused"));
    refused(&sandbox, &id);
    assert_eq!(count(&sandbox, "refused"), 2);
    let editor = "sed -i /worse/d";
    let output = sandbox.memory(&["edit", &id]).env("GIT_EDITOR", editor).output().expect("it starts");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(accept(&sandbox, &[&id]).0, Some(0));
    assert!(!prompt(&sandbox).contains("it is worse"), "what landed in the end was not turned down");
}

#[test]
fn what_fails_for_the_moment_or_for_its_form_is_told_to_nobody() {
    let sandbox = scored(PROGRAM);
    let id = propose(&sandbox, "gotchas/a.md", "# Use -z\n\nNames hold newlines.\n");
    sandbox.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "Another beginning"]);
    accept(&sandbox, &[&id]);
    sandbox.run(&["rebase", &id]);
    let rule = propose(&sandbox, "_rules/a.md", "# Never push on Fridays\n\nNever push on Fridays.\n");
    assert_eq!(accept(&sandbox, &[&rule]).0, Some(1), "a person has to say yes");
    assert_eq!(count(&sandbox, "refused"), 0);
}
