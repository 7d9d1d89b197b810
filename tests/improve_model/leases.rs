//! Claims of a run that takes longer than a lease.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::scene::{Scene, gotcha, lesson, reply};
use crate::common::BIN;

/// How many changes the judge looks at, each for a second.
const CHANGES: usize = 5;

/// A scene whose model finds several changes, which a slow judge looks at one by one; and a second clone. Both know the
/// session, and claim through one remote.
fn two_clones() -> (Scene, PathBuf) {
    let mut scene = Scene::new();
    let change = |n: usize| {
        let title = ["Redis", "Ports", "Compose", "Exports", "Timing"][n];
        gotcha(json!({
            "path": format!("gotchas/{}.md", title.to_lowercase()), "title": format!("{title} of the export tests"),
            "body_markdown": format!("# {title} of the export tests\n\n{title}: start it with `docker compose up redis-test`.\n"),
        }))
    };
    scene.replies(&reply(&(0..CHANGES).map(change).collect::<Vec<_>>()));
    let judge = scene.outside("judge.sh");
    let log = scene.outside("judged");
    let score = json!({"score": 3, "reason": "not sure"});
    let verdict = json!({"durable": score, "actionable": score, "non_redundant": score, "grounded": score});
    std::fs::write(&judge, format!("cat >/dev/null; echo one >>'{}'; sleep 1; echo '{verdict}'\n", log.display()))
        .expect("the judge");
    scene.set("model.judge.provider", "command");
    scene.set("model.judge.command", &format!("sh {}", judge.display()));
    scene.capture(1, &lesson());
    let sandbox = &scene.sandbox;
    let (bare, other) = (scene.outside("remote.git"), scene.outside("other"));
    let (bare_text, other_text) = (bare.display().to_string(), other.display().to_string());
    sandbox.git(&["init", "-q", "--bare", &bare_text]);
    sandbox.git(&["remote", "add", "origin", &bare_text]);
    sandbox.git(&["push", "-q", "origin", "main", "refs/memory/*:refs/memory/*"]);
    sandbox.git(&["clone", "-q", &bare_text, &other_text]);
    sandbox.git(&["-C", &other_text, "fetch", "-q", "origin", "refs/memory/*:refs/memory/*"]);
    let model = scene.outside("model.sh").display().to_string();
    for home in [&sandbox.dir, &other] {
        for (key, value) in [
            ("sync.remote", "origin"),
            ("sync.claims", "true"),
            ("capture.keepRawDays", "20000"),
            ("capture.keepDays", "20000"),
            ("model.provider", "command"),
            ("model.command", &format!("sh {model}")),
            ("model.judge.provider", "command"),
            ("model.judge.command", &format!("sh {}", judge.display())),
        ] {
            sandbox.git(&[
                "-C",
                &home.display().to_string(),
                "config",
                "--replace-all",
                &format!("memory.{key}"),
                value,
            ]);
        }
    }
    // Leases end by the real clock.
    scene.sandbox.now = None;
    (scene, other)
}

fn tick(scene: &Scene, home: &Path, lease: &str) -> std::process::Child {
    let _ = std::fs::remove_file(home.join(".git/memory/last-tick"));
    let mut command = scene.sandbox.program(BIN);
    command.args(["improve", "--trigger", "schedule", "--json"]).current_dir(home).env("GIT_MEMORY_LEASE", lease);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn ended(child: std::process::Child) -> Value {
    let output = child.wait_with_output().expect("it ends");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error} in {out}{err}"))
}

fn wait_for(done: impl Fn() -> bool) {
    let clock = Instant::now();
    while !done() && clock.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_slow_judge_does_not_outlast_the_claim_and_no_other_clone_takes_the_session_over() {
    let (scene, other) = two_clones();
    let judged = || std::fs::read_to_string(scene.outside("judged")).unwrap_or_default().lines().count();
    let first = tick(&scene, &scene.sandbox.dir, "2");
    wait_for(|| judged() >= CHANGES - 1);
    // The lease that it began with has ended by now.
    let second = ended(tick(&scene, &other, "2"));
    assert_eq!(second["plan"]["selected"], json!([]), "{second}");
    let gates = second["plan"]["gates"].as_array().expect("gates");
    assert!(gates.iter().any(|gate| gate["name"] == "claimed" && gate["removed"] == 1), "{second}");
    let first = ended(first);
    assert_eq!(first["proposals"].as_array().map(Vec::len), Some(CHANGES), "{first}");
    assert_eq!((scene.calls(), judged()), (1, CHANGES), "each was asked about once");
    let log = scene.sandbox.git(&["log", "--format=%s", "refs/memory/log"]);
    assert!(log.contains(" claims again 1 session"), "{log}");
    // What the first one let go reaches the second, which has nothing to do.
    assert_eq!(ended(tick(&scene, &other, "2"))["plan"]["selected"], json!([]));
    assert_eq!((scene.calls(), judged()), (1, CHANGES));
}

#[test]
fn a_run_whose_claims_cannot_be_made_longer_lets_go_what_it_has_not_done() {
    let (scene, _) = two_clones();
    let first = tick(&scene, &scene.sandbox.dir, "2");
    let judged = || std::fs::read_to_string(scene.outside("judged")).unwrap_or_default().lines().count();
    wait_for(|| judged() >= 1);
    std::fs::rename(scene.outside("remote.git"), scene.outside("gone.git")).expect("the remote goes away");
    let output = first.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let run: Value = serde_json::from_slice(&output.stdout).expect("json");
    assert_eq!((&run["state"], &run["outcomes"][0]["outcome"]), (&"failed".into(), &"unavailable".into()), "{run}");
    assert!(run["error"].as_str().is_some_and(|why| why.contains("the claims could not be made longer")), "{run}");
    assert_eq!(run["proposals"], json!([]), "another clone may be at it by now");
    assert!(judged() < CHANGES, "and nobody is asked any more");
}
