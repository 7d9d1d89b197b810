//! The command line's base: help, usage, exit codes, pipes, schemas, completions, manual pages.

mod common;

use common::Sandbox;

#[test]
fn usage_errors_exit_with_129_and_say_so_in_json_too() {
    let sandbox = Sandbox::bare_folder();
    let (out, err) = sandbox.fails(129, &["schemaa"]);
    assert!(out.is_empty() && err.contains("schema"), "a near command is named: {err}");
    let error = sandbox.json_error(129, &["schema", "--nonsense"]);
    assert_eq!(error["code"], "usage");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("--nonsense")), "{error}");
    sandbox.fails(129, &[]);
    sandbox.fails(129, &["help", "nonsense"]);
}

#[test]
fn short_help_is_short_and_long_help_is_long() {
    let sandbox = Sandbox::bare_folder();
    let short = sandbox.run(&["-h"]);
    let long = sandbox.run(&["help"]);
    assert!(short.contains("git memory") && short.contains("completions"), "{short}");
    assert!(long.len() > short.len() && long.contains("audit log"), "{long}");
    assert!(sandbox.run(&["help", "man"]).contains("--install"));
    assert!(sandbox.run(&["--version"]).contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn it_is_a_git_command() {
    let sandbox = Sandbox::bare_folder();
    assert!(sandbox.git(&["memory", "-h"]).contains("Usage: git memory"));
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let sandbox = Sandbox::bare_folder();
    let script = format!("{} completions bash | head -n 1; echo \"${{PIPESTATUS[0]}}\"", common::BIN);
    let output = sandbox.program("bash").args(["-c", &script]).output().expect("bash starts");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let status = String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned();
    assert!(status == "141" || status == "0", "{status}");
}

#[test]
fn every_schema_that_is_listed_can_be_shown() {
    let sandbox = Sandbox::bare_folder();
    let list = sandbox.json(&["schema"]);
    let names = list["schemas"].as_array().expect("names");
    assert!(!names.is_empty());
    for name in names {
        let text = sandbox.run(&["schema", name.as_str().expect("a name")]);
        let schema: serde_json::Value = serde_json::from_str(&text).expect("json");
        jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    assert_eq!(sandbox.json_error(1, &["schema", "nonsense"])["code"], "unknown_schema");
}

#[test]
fn bash_completes_under_gits_own_completion() {
    let sandbox = Sandbox::bare_folder();
    let script = sandbox.run(&["completions", "bash"]);
    sandbox.write("complete.bash", script);
    let ask = r#"
        source ./complete.bash
        ask() { COMPREPLY=(); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _git_memory; echo "${COMPREPLY[*]}"; }
        COMP_WORDS=(git memory compl); __git_cmd_idx=1; ask
        COMP_WORDS=(git -C . memory schema --js); __git_cmd_idx=3; ask
    "#;
    let output = sandbox.program("bash").args(["-c", ask]).output().expect("bash starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said.lines().collect::<Vec<_>>(), ["completions", "--json"], "{output:?}");
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(sandbox.run(&["completions", shell]).contains("git-memory"), "{shell}");
    }
}

#[test]
fn manual_pages_are_put_where_man_finds_them() {
    let sandbox = Sandbox::bare_folder();
    assert!(sandbox.run(&["man"]).contains(".TH git-memory 1"));
    assert!(sandbox.run(&["man", "schema"]).contains("git\\-memory\\-schema"));
    sandbox.run(&["man", "--install"]);
    let page = std::fs::read_to_string(sandbox.home().join(".local/share/man/man1/git-memory.1")).expect("a page");
    assert!(page.contains("GIT MEMORY SCHEMA"));
    let done = sandbox.json(&["man", "--install", "--dir", "pages"]);
    assert!(sandbox.path("pages/git-memory-help.1").is_file(), "{done}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let sandbox = Sandbox::bare_folder();
    assert_eq!(sandbox.json_error(128, &["-C", "nowhere", "schema"])["code"], "no_directory");
}

#[test]
fn a_long_object_arrives_whole_through_a_slow_pipe() {
    let sandbox = Sandbox::new();
    let allowed = vec!["x".repeat(1_000); 300];
    let settings = format!("[redact]\nallow = {}\n", serde_json::to_string(&allowed).expect("a list"));
    std::fs::create_dir_all(sandbox.home().join(".config/git-memory")).expect("a folder");
    std::fs::write(sandbox.home().join(".config/git-memory/config.toml"), settings).expect("written");
    let script = format!("{} config get redact.allow --json | (sleep 0.3; cat)", common::BIN);
    let output = sandbox.program("bash").args(["-c", &script]).output().expect("bash starts");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("whole");
    assert_eq!(value["value"].as_array().map(Vec::len), Some(300));
}

#[test]
fn colour_follows_the_option_then_the_environment() {
    let mut sandbox = Sandbox::new();
    let colored = |sandbox: &Sandbox, args: &[&str]| sandbox.run(args).contains('\u{1b}');
    assert!(!colored(&sandbox, &["config"]));
    assert!(colored(&sandbox, &["config", "--color", "always"]));
    assert!(colored(&sandbox, &["--color=always", "-h"]));
    sandbox.env.push(("CLICOLOR_FORCE".into(), "1".into()));
    assert!(colored(&sandbox, &["config"]));
    assert!(!colored(&sandbox, &["config", "--color=never"]));
    sandbox.env.push(("NO_COLOR".into(), "1".into()));
    assert!(!colored(&sandbox, &["config"]));
}

#[cfg(unix)]
mod terminal {
    use super::common::{BIN, Sandbox};
    use rexpect::session::{PtySession, spawn_command};

    fn start(sandbox: &Sandbox, args: &[&str]) -> PtySession {
        let mut command = sandbox.program(BIN);
        command.args(args);
        spawn_command(command, Some(10_000)).expect("a terminal")
    }

    #[test]
    fn long_output_goes_through_the_pager() {
        let mut sandbox = Sandbox::bare_folder();
        sandbox.env.push(("GIT_PAGER".into(), "sed s/^/paged:/".into()));
        let mut session = start(&sandbox, &["help"]);
        session.exp_string("paged:").expect("through the pager");
        let mut session = start(&sandbox, &["--no-pager", "help"]);
        assert!(!session.exp_eof().expect("the end").contains("paged:"));
    }

    #[test]
    fn questions_are_asked_on_a_terminal() {
        let sandbox = Sandbox::new();
        let mut session = start(&sandbox, &["init", "--root", "memory"]);
        session.exp_string("merges)? [y/N] ").expect("a question");
        session.send_line("y").expect("answered");
        session.exp_string("hooks? [y/N] ").expect("a question");
        session.send_line("n").expect("answered");
        session.exp_string("The wiki is on").expect("done");
        session.exp_eof().expect("the end");
        assert_eq!(sandbox.git(&["config", "branch.main.rebase"]), "merges");
        assert!(!sandbox.path(".git/hooks/post-commit").exists());
    }
}
