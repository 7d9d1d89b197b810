//! Claims of pages between clones.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::common::BIN;
use crate::scene::{Scene, text};

/// A scene, and a second clone that knows the same feedback, both with claims through one bare remote; and a model that
/// takes its time and keeps in a log what it was asked.
struct Two {
    scene: Scene,
    homes: [PathBuf; 2],
}

impl Two {
    fn new() -> Two {
        let mut scene = Scene::new();
        scene.day(2);
        scene.negative("ports", &[]);
        scene.useful("clock");
        let sandbox = &scene.sandbox;
        let (bare, other) = (sandbox.root().join("remote.git"), sandbox.root().join("other"));
        let (bare_text, other_text) = (bare.display().to_string(), other.display().to_string());
        sandbox.git(&["init", "-q", "--bare", &bare_text]);
        sandbox.git(&["remote", "add", "origin", &bare_text]);
        sandbox.git(&["push", "-q", "origin", "main", "refs/memory/log"]);
        sandbox.git(&["clone", "-q", &bare_text, &other_text]);
        sandbox.git(&["-C", &other_text, "fetch", "-q", "origin", "refs/memory/log:refs/memory/log"]);
        std::fs::remove_file(other.join(".git/FETCH_HEAD")).expect("the user's own fetch left it");
        let homes = [sandbox.dir.clone(), other];
        for home in &homes {
            for (key, value) in [("memory.sync.remote", "origin"), ("memory.sync.claims", "true")] {
                sandbox.git(&["-C", &home.display().to_string(), "config", key, value]);
            }
        }
        let script = sandbox.root().join("slow.sh");
        let log = sandbox.root().join("asked.log");
        let answers = format!(
            "if grep -q '^You read one note'; then echo distill >>'{log}'; sleep 1; echo '{}'\n\
             else echo reflect >>'{log}'; sleep 1; echo '{}'; fi\n",
            json!({"reason": "a status", "lesson": null}),
            json!({"confidence": 0.9, "patch": {"description": "On which port the database and the cache listen"}}),
            log = log.display()
        );
        std::fs::write(&script, answers).expect("the model");
        let program = format!("provider = 'command'\ncommand = ['sh', '{}']\n", script.display());
        scene.settings(&format!("[model.reflect]\n{program}[model.distill]\n{program}"));
        Two { scene, homes }
    }

    /// Starts a tick of the schedule in a clone.
    fn tick(&self, home: &Path) -> Child {
        let _ = std::fs::remove_file(home.join(".git/memory/last-tick"));
        let mut command = self.scene.sandbox.program(BIN);
        let args = ["improve", "--trigger", "schedule", "--strategy", "reflect-distill", "--json"];
        command.args(args).current_dir(home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    }

    /// A tick that must succeed.
    fn ticked(&self, home: &Path) -> Value {
        ended(self.tick(home))
    }

    /// What the model was asked, sorted.
    fn asked(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.scene.sandbox.root().join("asked.log")).unwrap_or_default();
        let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

fn ended(child: Child) -> Value {
    let output = child.wait_with_output().expect("it ends");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error} in {out}{err}"))
}

#[test]
fn of_two_clones_that_race_for_a_page_one_asks_the_model() {
    for _ in 0..2 {
        let two = Two::new();
        let racing = two.homes.each_ref().map(|home| two.tick(home));
        let runs = racing.map(ended);
        assert_eq!(two.asked(), ["distill", "reflect"], "{runs:?}");
        // Whatever they know of each other by now, nobody asks again, and their ledgers become one.
        for home in [0, 1, 0] {
            two.ticked(&two.homes[home]);
        }
        assert_eq!(two.asked(), ["distill", "reflect"]);
        let ledgers = two
            .homes
            .each_ref()
            .map(|home| two.scene.sandbox.git(&["-C", &home.display().to_string(), "rev-parse", "refs/memory/log"]));
        assert_eq!(ledgers[0], ledgers[1]);
        two.scene.sandbox.fsck();
    }
}

#[test]
fn a_page_that_another_clone_claimed_is_left_to_it() {
    let mut two = Two::new();
    two.scene.sandbox.env.push(("GIT_MEMORY_FAULT".into(), "claim.after-push".into()));
    assert!(!two.tick(&two.homes[0]).wait().expect("it ends").success(), "it dies when the remote has its claims");
    two.scene.sandbox.env.pop();
    let run = two.ticked(&two.homes[1]);
    let gates = run["plan"]["gates"].as_array().expect("gates").iter().filter(|gate| gate["name"] == "claimed");
    let lanes: Vec<&str> = gates.map(|gate| text(&gate["lane"])).collect();
    assert_eq!((lanes, two.asked()), (vec!["reflect", "distill"], Vec::new()), "{run}");
    // The next run of the first one lets go what the dead one held, and takes it.
    two.scene.sandbox.env.push(("GIT_MEMORY_JOURNAL_STALE".into(), "1".into()));
    two.ticked(&two.homes[0]);
    two.ticked(&two.homes[1]);
    assert_eq!(two.asked(), ["distill", "reflect"]);
}
