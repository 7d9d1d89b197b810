//! What a person at a terminal sees of a run while it is at work.

use rexpect::session::spawn_command;

use super::numbered::id;
use super::*;

#[test]
fn a_terminal_shows_what_is_asked_and_of_whom_while_a_model_takes_its_time() {
    let sandbox = wiki_with(2);
    model(&sandbox, &format!("sleep 2; echo '{NOTHING}'"));
    let mut command = sandbox.program(BIN);
    command.args(["improve", "--all"]).env("TERM", "xterm-256color");
    let mut terminal = spawn_command(command, Some(20_000)).expect("a terminal");
    let said = terminal.exp_eof().expect("it ends by itself");
    for n in 1..=2 {
        assert!(said.contains(&format!("{}/2 review asks command/slow: {}", n - 1, &id(n)[..13])), "{said}");
    }
    assert!(said.contains("review: 2 sessions"), "{said}");
}

#[test]
fn a_quiet_run_and_one_in_a_pipe_show_nothing_of_that() {
    let sandbox = wiki_with(1);
    model(&sandbox, &format!("sleep 2; echo '{NOTHING}'"));
    let mut command = sandbox.program(BIN);
    command.args(["improve", "-q"]).env("TERM", "xterm-256color");
    let mut terminal = spawn_command(command, Some(20_000)).expect("a terminal");
    assert_eq!(terminal.exp_eof().expect("it ends by itself"), "");
    let output = sandbox.memory(&["improve", "--session", &id(1)]).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
