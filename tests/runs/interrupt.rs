//! Runs that are asked to end.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use super::numbered::id;
use super::*;

/// Starts a run, waits until its model is at work, and asks it to end. Returns what it said.
fn interrupted(sandbox: &Sandbox, args: &[&str], name: &str, number: i32) -> String {
    model_without_end(sandbox);
    let run = start(sandbox, args);
    let pids = at_work(sandbox);
    let clock = Instant::now();
    signal(&run, name);
    let output = run.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(number), "{said}");
    assert!(clock.elapsed() < Duration::from_secs(10), "{:?}", clock.elapsed());
    for pid in pids {
        assert!(until(|| is_gone(&pid).then_some(())).is_some(), "{pid} of the model lives on");
    }
    said
}

#[test]
fn a_run_that_is_asked_to_end_ends_its_model_and_uses_no_attempt() {
    let mut sandbox = wiki_with(1);
    let tick = ["improve", "--trigger", "schedule"];
    for (hour, (name, number)) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("INT", 2)].into_iter().enumerate() {
        sandbox.now = Some(format!("2026-04-01T0{hour}:30:00Z"));
        let said = interrupted(&sandbox, &tick, name, number);
        assert!(said.contains("the run was interrupted"), "{said}");
        let last = &records(&sandbox)[0];
        assert_eq!((&last["state"], outcomes(last)), (&"interrupted".into(), vec!["unavailable"]), "{last}");
        assert_eq!(last["calls"][0]["error"], "interrupted: the call was interrupted", "{last}");
        assert!(!sandbox.path(".git/memory/journal").read_dir().is_ok_and(|mut left| left.next().is_some()));
    }
    // Nothing is in the way of the next run: no claim, no wait, no parked session.
    model_that_answers(&sandbox);
    let _ = std::fs::remove_file(sandbox.path(".git/memory/last-tick"));
    let next = sandbox.json(&tick);
    assert_eq!((selected(&next), outcomes(&next)), (vec![id(1).as_str()], vec!["done"]), "{next}");
    sandbox.fsck();
}

#[test]
fn what_was_done_before_an_interruption_stays_done() {
    let sandbox = wiki_with(2);
    model_without_end(&sandbox);
    let file = pids(&sandbox);
    let first = format!("case $prompt in *00000001-c6e5-2912*) echo '{NOTHING}'; exit;; esac");
    let rest = format!("sleep 300 & echo \"$$ $!\" >{0}.new; mv {0}.new {0}; wait", file.display());
    model(&sandbox, &format!("{first}\n{rest}"));
    let run = start(&sandbox, &["improve", "--all", "--json"]);
    at_work(&sandbox);
    signal(&run, "INT");
    let output = run.wait_with_output().expect("it ends");
    let told: Value = serde_json::from_slice(&output.stdout).expect("one object");
    common::is_as_its_schema_says(&told);
    assert_eq!((&told["state"], outcomes(&told)), (&"interrupted".into(), vec!["done", "unavailable"]), "{told}");
    assert_eq!(told["failure"]["code"], "interrupted", "{told}");
    model_that_answers(&sandbox);
    assert_eq!(selected(&sandbox.json(&["improve", "--all"])), [id(2)]);
}

#[test]
fn what_no_judge_could_look_at_before_an_interruption_is_not_staged_but_looked_at_again() {
    let sandbox = wiki();
    let twin = format!("{}/fixtures/sessions/made-twin-laptop.jsonl", env!("CARGO_MANIFEST_DIR"));
    sandbox.run(&["capture", "-q", &twin]);
    interrupted_at_the_judge(&sandbox);
    let last = &records(&sandbox)[0];
    assert_eq!((&last["state"], outcomes(last)), (&"interrupted".into(), vec!["unavailable"]), "{last}");
    assert_eq!(sandbox.json(&["proposal", "list"])["proposals"], serde_json::json!([]));
    user_config(&sandbox, "");
    let next = sandbox.json(&["improve"]);
    assert_eq!(next["proposals"][0]["outcome"], "staged", "{next}");
}

/// The built-in reviewer proposes, and the judge never comes to an end.
fn interrupted_at_the_judge(sandbox: &Sandbox) {
    model_without_end(sandbox);
    let script = sandbox.root().join("model.sh");
    let judge = format!("[model.judge]\nprovider = \"command\"\ncommand = [\"sh\", \"{}\"]\n", script.display());
    user_config(sandbox, &judge);
    let run = start(sandbox, &["improve"]);
    at_work(sandbox);
    signal(&run, "TERM");
    assert_eq!(run.wait_with_output().expect("it ends").status.signal(), Some(15));
}

#[test]
fn a_shell_sees_the_exit_code_of_the_signal() {
    let sandbox = wiki_with(1);
    model_without_end(&sandbox);
    // The shell waits for the run, which another process interrupts.
    let script = format!(
        "{} improve -q & run=$!; while ! [ -e {} ]; do sleep 0.05; done; kill -TERM $run; wait $run; echo $?",
        common::BIN,
        pids(&sandbox).display()
    );
    let output = sandbox.program("sh").arg("-c").arg(script).output().expect("a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "143", "{output:?}");
}
