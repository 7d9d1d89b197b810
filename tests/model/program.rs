//! Programs that read the prompt and write the reply.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use git_memory::config::Model;
use git_memory::model::{Error, Models, Prompt, Reply, Stage};

use crate::stand_in::prompt;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Settings whose program is this script.
    fn script(&self, text: &str) -> Model {
        let path = self.path("model");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Model {
            provider: "command".into(),
            command: vec![path.display().to_string(), "an argument; touch gone".into()],
            timeout_secs: 20,
            ..Model::default()
        }
    }

    fn ask(&self, settings: &Model, prompt: &Prompt) -> Result<Reply, Error> {
        // As the local folder of a repository is named.
        let models = Models::new(settings, self.path("repo/.git/memory"));
        models.ask(Stage::Review, prompt).map_err(|failed| failed.error)
    }
}

#[test]
fn the_prompt_comes_on_standard_input_and_the_reply_from_standard_output() {
    let place = Place::new();
    let seen = place.path("seen");
    let script = format!(
        "cat >{0}\necho \"$1\" >{0}.args; pwd >{0}.pwd; env >{0}.env; echo working >&2\nprintf 'Sure.\\n{{\"ok\": true}}\\n'",
        seen.display()
    );
    let reply = place.ask(&place.script(&script), &prompt()).unwrap();
    assert_eq!(reply.text, "Sure.\n{\"ok\": true}\n");
    assert!(reply.usage.input > 20 && reply.usage.output > 2);
    let text = std::fs::read_to_string(&seen).unwrap();
    for part in ["You review.", "=== data ===", "\"properties\"", "one JSON value"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let told = |what: &str| std::fs::read_to_string(format!("{}.{what}", seen.display())).unwrap();
    assert_eq!(told("args"), "an argument; touch gone\n", "no shell reads the arguments");
    // Its session is recognised as our own, in whichever way it is met.
    assert!(text.starts_with("<!-- git-memory:own-session -->"), "{text}");
    assert!(told("pwd").trim_end().ends_with(".git/memory/model"), "{}", told("pwd"));
    assert!(told("env").contains("GIT_MEMORY_HOOK=0") && told("env").contains("GIT_MEMORY_RUN=model"));
}

#[test]
fn no_pipe_blocks_whatever_the_sizes() {
    let place = Place::new();
    let large = Prompt { user: "x".repeat(3 << 20), ..prompt() };
    // Writes much before it reads anything.
    let script = "head -c 3000000 /dev/zero | tr '\\0' 'y'; head -c 3000000 /dev/zero | tr '\\0' 'z' >&2; wc -c";
    let reply = place.ask(&place.script(script), &large).unwrap();
    assert!(reply.text.len() > 3_000_000 && reply.text.trim_end().ends_with(|c: char| c.is_ascii_digit()));
    // Reads nothing at all.
    assert_eq!(place.ask(&place.script("echo '{}'"), &large).unwrap().text, "{}\n");
}

#[test]
fn the_deadline_ends_the_program_and_all_that_it_started() {
    let place = Place::new();
    let pids = place.path("pids");
    let script = format!("sleep 300 & echo $! >{0}; echo $$ >>{0}; trap '' TERM; wait; sleep 300", pids.display());
    let begun = Instant::now();
    let error = place.ask(&Model { timeout_secs: 1, ..place.script(&script) }, &prompt()).unwrap_err();
    assert_eq!((error.code(), error.uses_attempt()), ("timed_out", false));
    assert!(error.to_string().contains("model.timeout_secs") && error.to_string().contains("/model"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    for pid in std::fs::read_to_string(&pids).unwrap().lines() {
        assert!(is_gone(pid), "{pid} still runs");
    }
}

#[test]
fn what_a_program_leaves_running_neither_delays_nor_survives_it() {
    let place = Place::new();
    let pids = place.path("pids");
    let script = format!("sleep 300 & echo $! >{}; echo '{{\"ok\": true}}'", pids.display());
    let begun = Instant::now();
    assert_eq!(place.ask(&place.script(&script), &prompt()).unwrap().text, "{\"ok\": true}\n");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(is_gone(std::fs::read_to_string(&pids).unwrap().trim()));
}

/// A process that was killed is gone, or waits for somebody to take note of it.
fn is_gone(pid: &str) -> bool {
    for _ in 0..100 {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        match state {
            Ok(text) if !text.rsplit(')').next().unwrap_or_default().trim().starts_with('Z') => {}
            _ => return true,
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn a_program_that_writes_without_end_is_ended() {
    let place = Place::new();
    let begun = Instant::now();
    let error = place.ask(&place.script("yes"), &prompt()).unwrap_err();
    assert_eq!(error.code(), "bad_reply");
    assert!(error.to_string().contains("more than 8 MiB") && begun.elapsed() < Duration::from_secs(15), "{error}");
}

#[test]
fn a_program_that_fails_is_told_with_the_end_of_what_it_said() {
    let place = Place::new();
    let token = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0".repeat(2).split_at(36).0);
    let script = format!("seq 1 20000 >&2; printf 'token {token} \\033[31mred\\n' >&2; exit 3");
    let error = place.ask(&place.script(&script), &prompt()).unwrap_err();
    let text = error.to_string();
    assert_eq!(error.code(), "refused");
    assert!(text.contains("exit code 3") && !text.contains(&token) && !text.contains('\u{1b}'), "{text}");
    assert!(text.len() < 1_000, "{text}");
    assert!(!error.uses_attempt(), "no session is to blame that a program fails");
    let error = place.ask(&place.script("echo 'Not logged in'; exit 1"), &prompt()).unwrap_err().to_string();
    assert!(error.contains("Not logged in"), "{error}");
    let error = place.ask(&place.script("kill -9 $$"), &prompt()).unwrap_err().to_string();
    assert!(error.contains("signal: 9") && error.contains("said nothing"), "{error}");
    for (script, word) in [("exit 0", "wrote nothing"), ("printf '\\377'", "no UTF-8")] {
        let error = place.ask(&place.script(script), &prompt()).unwrap_err();
        assert!(error.code() == "bad_reply" && error.to_string().contains(word), "{error}");
    }
}

#[test]
fn a_program_that_is_not_there_is_told_by_name() {
    let place = Place::new();
    let named = |command: &[&str]| Model {
        provider: "command".into(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        ..Model::default()
    };
    for (command, code) in [
        (&["git-memory-no-such-program"] as &[&str], "unreachable"),
        (&[], "settings"),
        (&[""], "settings"),
        (&["./tools/model"], "settings"),
    ] {
        let error = place.ask(&named(command), &prompt()).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    }
}
