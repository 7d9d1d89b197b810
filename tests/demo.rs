//! The demonstration: it works for somebody who has nothing, touches nothing of theirs, and what it tells them to type
//! works.

mod common;

use common::{Sandbox, line_matches};

/// The demonstration in a folder of the sandbox; its output.
fn demo(sandbox: &Sandbox) -> String {
    sandbox.run(&["demo", "play"])
}

/// The commands at the end, in their order.
fn next(output: &str) -> Vec<String> {
    let (_, end) = output.split_once("# Now you.").expect("the end");
    end.lines().skip(1).filter(|line| !line.starts_with('#') && !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn a_person_without_identity_configuration_or_terminal_sees_the_whole_loop() {
    let mut sandbox = Sandbox::bare_folder();
    sandbox.now = None;
    std::fs::remove_file(sandbox.home().join("gitconfig")).expect("removed");
    let before = common::files(&sandbox.home());
    let started = std::time::Instant::now();
    let output = demo(&sandbox);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    assert_eq!(common::files(&sandbox.home()), before);
    for line in ["$ git memory init", "$ git memory capture", "$ git memory improve", "$ git memory proposal list"] {
        assert!(output.contains(line), "{line} is missing in {output}");
    }
    sandbox.dir = sandbox.path("play/wiki");
    let subjects = sandbox.git(&["log", "--first-parent", "--format=%s"]);
    let subjects: Vec<&str> = subjects.lines().collect();
    assert!(
        matches!(&subjects[..], [revert, accept, start] if revert.starts_with("Revert \"memory: accept ")
        && accept.starts_with("memory: accept ") && *start == "memory: start the wiki"),
        "{subjects:?}"
    );
    assert_eq!(sandbox.git(&["rev-parse", "HEAD^{tree}"]), sandbox.git(&["rev-parse", "HEAD~2^{tree}"]));
    assert!(!sandbox.refs("refs/memory/pending").is_empty(), "nothing waits");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    sandbox.fsck();
}

#[test]
fn the_commands_that_it_ends_with_work_as_they_stand() {
    let mut sandbox = Sandbox::bare_folder();
    sandbox.now = None;
    // The binary is not on the PATH, as after `cargo run`.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let tools = std::env::split_paths(&path).filter(|folder| !folder.join("git-memory").exists());
    let tools = std::env::join_paths(tools).expect("a PATH").into_string().expect("UTF-8");
    sandbox.env.push(("PATH".into(), tools));
    let commands = next(&demo(&sandbox));
    assert!(commands[0].starts_with("export PATH="), "{commands:?}");
    assert!(commands.iter().any(|command| command.starts_with("git memory accept ")), "{commands:?}");
    // What asks the person is tested on a terminal elsewhere; here it must get as far as refusing an agent.
    let script = commands.iter().map(|command| match command.split(' ').nth(2) {
        Some("review") => format!("{command} </dev/null; [ $? -eq 1 ] || exit 1"),
        Some("accept") => format!("CLAUDECODE=1 {command} 2>&1 </dev/null | grep 'a person has to decide' || exit 1"),
        _ => format!("{command} || exit 1"),
    });
    let script = script.collect::<Vec<_>>().join("\n");
    let output = sandbox.program("sh").arg("-c").arg(&script).output().expect("sh");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{said}");
}

#[test]
fn a_persons_own_settings_change_nothing_and_are_not_changed() {
    let mut sandbox = Sandbox::bare_folder();
    sandbox.now = None;
    let config = "[user]\n\tname = Ada\n\temail = ada@example.com\n[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = false\n\
                  [core]\n\thooksPath = /nowhere\n[memory \"approval\"]\n\tmode = all\n[merge]\n\tff = only\n";
    std::fs::write(sandbox.home().join("gitconfig"), config).expect("written");
    sandbox.env.push(("GIT_DIR".into(), "/nowhere".into()));
    sandbox.env.push(("GIT_MEMORY_APPROVAL_MODE".into(), "all".into()));
    demo(&sandbox);
    assert_eq!(std::fs::read_to_string(sandbox.home().join("gitconfig")).expect("read"), config);
    sandbox.env.clear();
    sandbox.dir = sandbox.path("play/wiki");
    assert_eq!(sandbox.git(&["log", "-1", "--format=%an <%ae>"]), "Ada <ada@example.com>");
}

#[test]
fn inside_another_repository_it_makes_its_own() {
    let mut sandbox = Sandbox::new();
    sandbox.now = None;
    let before = sandbox.refs("");
    demo(&sandbox);
    assert_eq!(sandbox.refs(""), before);
    assert!(!sandbox.try_git(&["config", "--local", "memory.wiki.branch"]).status.success());
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let sandbox = Sandbox::bare_folder();
    sandbox.write("play/mine.txt", "mine");
    let (_, err) = sandbox.fails(1, &["demo", "play"]);
    assert!(err.contains("is no empty folder"), "{err}");
    assert_eq!(common::files(&sandbox.path("play")).len(), 1);
}

#[test]
fn json_tells_what_was_run_and_what_it_printed() {
    let mut sandbox = Sandbox::bare_folder();
    sandbox.now = None;
    let report = sandbox.json(&["demo", "play"]);
    let commands: Vec<&str> =
        report["steps"].as_array().expect("steps").iter().filter_map(|step| step["command"].as_str()).collect();
    assert!(commands.contains(&"git memory improve --all"), "{commands:?}");
    assert!(report["waiting"].is_string(), "{report}");
}

#[test]
fn the_picture_in_the_readme_is_of_a_real_session() {
    let mut sandbox = Sandbox::bare_folder();
    sandbox.now = None;
    let output = masked(&demo(&sandbox));
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("README.md");
    let picture =
        readme.split("```text demo\n").nth(1).and_then(|rest| rest.split("\n```").next()).expect("the picture");
    let mut lines = output.lines();
    for expected in masked(picture).lines().filter(|line| !line.is_empty() && *line != "…") {
        assert!(lines.any(|line| line_matches(expected, line)), "`{expected}` is not, or not there, in\n{output}");
    }
}

/// A text without what differs from run to run: object names and ids.
fn masked(text: &str) -> String {
    let is_hex = |word: &str| word.len() >= 7 && word.chars().all(|c| c.is_ascii_hexdigit());
    let word = |word: &str| if is_hex(word) { "#".to_owned() } else { word.to_owned() };
    text.lines()
        .map(|line| line.trim_end().split(' ').map(word).collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}
