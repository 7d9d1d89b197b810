//! Runs that nobody asks for: strategies, the schedule, claims within a repository and between clones, triage, attempts,
//! and what a killed run leaves.

mod common;
#[path = "common/numbered.rs"]
mod numbered;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::Sandbox;
use numbered::{fixture, id, session, user_config, wiki};
use serde_json::Value;

/// A model that answers that there is nothing, and keeps in a log which of the first ten sessions it was asked about.
fn model(sandbox: &Sandbox) -> PathBuf {
    answering(sandbox, r#"{"summary":"nothing","proposals":[],"rejected_candidates":[]}"#)
}

fn answering(sandbox: &Sandbox, reply: &str) -> PathBuf {
    let log = sandbox.root().join("asked.log");
    let script = sandbox.root().join("model.sh");
    let text = format!(
        "#!/bin/sh\nprompt=$(cat)\nfor n in 0 1 2 3 4 5 6 7 8 9; do\n  case $prompt in *0000000$n-c6e5-2912*) echo $n >> {};; esac\ndone\n\
         cat <<'REPLY'\n{reply}\nREPLY\n",
        log.display()
    );
    std::fs::write(&script, text).expect("the model is written");
    user_config(sandbox, &format!("[model]\nprovider = \"command\"\ncommand = [\"sh\", \"{}\"]\n", script.display()));
    log
}

/// How often the model was asked about each session.
fn asked(log: &Path) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(log).unwrap_or_default().lines() {
        *counts.entry(line.parse().expect("a number")).or_default() += 1;
    }
    counts
}

fn once(sessions: impl IntoIterator<Item = usize>) -> BTreeMap<usize, usize> {
    sessions.into_iter().map(|n| (n, 1)).collect()
}

/// A tick of the schedule, whatever the last one's age.
fn tick(sandbox: &Sandbox) -> Output {
    let _ = std::fs::remove_file(sandbox.path(".git/memory/last-tick"));
    sandbox.memory(&["improve", "--trigger", "schedule", "--json"]).output().expect("the binary starts")
}

/// A tick that must succeed; what it printed.
fn ticked(sandbox: &Sandbox) -> Value {
    let output = tick(sandbox);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
    common::is_as_its_schema_says(&value);
    value
}

/// A tick that must end with 1 and leave a record; the record, and what was said.
fn tick_fails(sandbox: &Sandbox) -> (Value, String) {
    let output = tick(sandbox);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let run = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    common::is_as_its_schema_says(&run);
    (run, said)
}

/// The sessions that a run selected.
fn selected(run: &Value) -> Vec<&str> {
    let list = run["plan"]["selected"].as_array().unwrap_or_else(|| panic!("{run}"));
    list.iter().map(|selected| selected["session"].as_str().expect("a session")).collect()
}

/// All events of the ledger.
fn events(sandbox: &Sandbox) -> Vec<Value> {
    let paths = sandbox.tree("refs/memory/log");
    let mut events = Vec::new();
    for path in paths.iter().filter(|path| path.starts_with("events/")) {
        let text = sandbox.git(&["show", &format!("refs/memory/log:{path}")]);
        events.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event")));
    }
    events
}

fn runs(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.json(&["run", "list"])["runs"].as_array().expect("runs").clone()
}

fn gate<'r>(run: &'r Value, name: &str) -> Option<&'r Value> {
    run["plan"]["gates"].as_array().and_then(|gates| gates.iter().find(|gate| gate["name"] == name))
}

// ── the schedule ──

#[test]
fn a_tick_takes_one_session_of_a_scope_and_the_next_waits_for_its_time() {
    let mut sandbox = wiki();
    let files: Vec<String> = (1..=3).map(|n| session(&sandbox, n)).collect();
    sandbox.run(&["capture", &files[0], &files[1], &files[2]]);
    let first = sandbox.json(&["improve", "--trigger", "schedule"]);
    assert_eq!(selected(&first), [id(1)], "{first}");
    assert_eq!(first["operator"], Value::Null, "runs without a person share one bucket");
    assert_eq!(gate(&first, "limit").map(|gate| &gate["removed"]), Some(&2.into()), "{first}");
    // Too soon: said, recorded nowhere, no failure.
    let (state, files) = (sandbox.state(), sandbox.git_files());
    let output = sandbox.memory(&["improve", "--trigger", "schedule"]).output().expect("it starts");
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the last tick was 0 s ago"), "{said}");
    let skipped = sandbox.json(&["improve", "--trigger", "schedule"]);
    assert_eq!((&skipped["skipped"], &skipped["reason"]), (&true.into(), &"too_soon".into()));
    assert_eq!(sandbox.state(), state);
    assert!(sandbox.git_files() == files, "nothing at all was written");
    sandbox.now = Some("2026-04-01T01:00:00Z".into());
    let next = sandbox.json(&["improve", "--trigger", "schedule"]);
    assert_eq!(selected(&next), [id(2)], "{next}");
    assert_eq!(next["trigger"], "schedule");
}

#[test]
fn a_schedule_that_is_off_does_nothing_and_says_so() {
    let sandbox = wiki();
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    for (key, value, words) in [
        ("memory.scheduler.enabled", "false", "scheduler.enabled is false"),
        ("memory.scheduler.intervalSecs", "0", "scheduler.interval_secs is 0"),
    ] {
        sandbox.git(&["config", key, value]);
        let output = sandbox.memory(&["improve", "--trigger", "schedule"]).output().expect("it starts");
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains(words), "{key}");
        let skipped = sandbox.json(&["improve", "--trigger", "schedule"]);
        assert_eq!(skipped["reason"], "disabled");
        sandbox.git(&["config", "--unset", key]);
    }
    assert!(runs(&sandbox).is_empty());
    assert_eq!(sandbox.json(&["improve", "--trigger", "schedule"])["state"], "committed");
}

#[test]
fn young_sessions_and_those_before_the_watermark_are_left_to_a_person() {
    let mut sandbox = Sandbox::new();
    sandbox.now = Some("2026-03-04T12:00:00Z".into());
    sandbox.run(&["init", "--no-hooks"]);
    let files: Vec<String> = (1..=2).map(|n| session(&sandbox, n)).collect();
    sandbox.run(&["capture", &files[0], &files[1]]);
    // The second one ended at 09:09 on the fifth.
    sandbox.now = Some("2026-03-05T09:12:00Z".into());
    let young = ticked(&sandbox);
    assert_eq!(selected(&young), [""; 0]);
    assert!(gate(&young, "watermark").is_some() && gate(&young, "too_young").is_some(), "{young}");
    assert!(runs(&sandbox).is_empty(), "a run that had nothing to do leaves no record");
    // By hand nothing is too young, and the watermark stays where it is.
    let marks = |sandbox: &Sandbox| events(sandbox).iter().filter(|event| event["kind"] == "watermark").count();
    let before = marks(&sandbox);
    let manual = sandbox.json(&["improve", "--max-sessions", "1"]);
    assert_eq!(selected(&manual), [id(1)]);
    assert_eq!(marks(&sandbox), before);
    sandbox.now = Some("2026-03-05T10:00:00Z".into());
    assert_eq!(selected(&ticked(&sandbox)), [id(2)]);
}

#[test]
fn a_scope_that_was_added_later_begins_with_the_newest_session_it_had_then() {
    let mut sandbox = wiki();
    let scopes = "[[scope]]\nname = \"orchard\"\npath = \"orchard\"\ndirs = [\"/home/dev/orchard\"]\n";
    sandbox.write(".gitmemory.toml", format!("{}{scopes}", sandbox.read(".gitmemory.toml")));
    sandbox.commit("Add a scope");
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    let first = ticked(&sandbox);
    assert_eq!(selected(&first), [""; 0], "it was there before: {first}");
    sandbox.run(&["capture", &session(&sandbox, 2)]);
    sandbox.now = Some("2026-04-02T00:00:00Z".into());
    let second = ticked(&sandbox);
    assert_eq!(selected(&second), [id(2)], "{second}");
    let made = second["proposals"].as_array().expect("proposals");
    assert!(
        !made.is_empty()
            && made.iter().all(|made| made["path"].as_str().is_some_and(|path| path.starts_with("orchard/")))
    );
    let marks = events(&sandbox);
    let mark = marks.iter().find(|event| event["kind"] == "watermark" && event["scope"] == "orchard");
    assert_eq!(mark.map(|mark| &mark["data"]["at"]), Some(&"2026-03-04T09:09:12.424Z".into()), "{mark:?}");
}

#[test]
fn a_session_that_is_passed_over_is_recorded_and_the_next_is_taken_in_the_same_tick() {
    let sandbox = wiki();
    let init = sandbox.root().join("init.jsonl");
    std::fs::write(&init, fixture("real-init")).expect("written");
    sandbox.git(&["config", "memory.scheduler.maxSessionsPerTick", "1"]);
    sandbox.run(&["capture", &init.display().to_string(), &session(&sandbox, 1)]);
    let run = ticked(&sandbox);
    assert_eq!(run["skipped"][0]["reason"], "no_human_turn", "{run}");
    assert_eq!(selected(&run), [id(1)], "{run}");
    let again = ticked(&sandbox);
    assert_eq!(again["skipped"].as_array().map(Vec::len), Some(0), "a skip is recorded: {again}");
}

#[test]
fn only_a_person_names_sessions() {
    let sandbox = wiki();
    for args in [["--session", "x"], ["--all", "--quiet"]] {
        let mut all = vec!["improve", "--trigger", "schedule"];
        all.extend(args);
        assert_eq!(sandbox.json_error(1, &all)["code"], "not_manual");
    }
    let args = ["improve", "--trigger", "session-start", "--max-pages", "1"];
    assert_eq!(sandbox.json_error(1, &args)["code"], "not_session_start");
}

// ── strategies and the plan ──

#[test]
fn a_strategy_says_which_lanes_run_and_the_plan_says_what_is_not_there() {
    let sandbox = wiki();
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    let (state, files) = (sandbox.state(), sandbox.git_files());
    let run = without_lanes(&sandbox, &["improve", "--dry-run", "--strategy", "consolidate", "--json"]);
    assert_eq!(run["strategy"], "consolidate");
    assert_eq!(selected(&run), [""; 0]);
    assert_eq!(gate(&run, "lane_off").map(|gate| &gate["removed"]), Some(&1.into()), "{run}");
    let lanes = run["plan"]["lanes"].as_array().expect("lanes");
    let lane = |name: &str| lanes.iter().find(|lane| lane["name"] == name).unwrap_or_else(|| panic!("{name} in {run}"));
    assert_eq!(lane("review")["enabled"], false);
    for name in ["promote", "consolidate", "pair"] {
        assert_eq!((&lane(name)["enabled"], &lane(name)["unavailable"]), (&true.into(), &"not built".into()), "{name}");
    }
    for key in [
        "mode",
        "snapshot",
        "candidates",
        "limits",
        "gates",
        "selected",
        "lanes",
        "proactive",
        "consolidation",
        "triage",
        "sync",
    ] {
        assert!(!run["plan"][key].is_null(), "{key}");
    }
    assert_eq!(run["plan"]["snapshot"]["index"], "absent");
    assert_eq!(run["plan"]["triage"], serde_json::json!({"configured": "off", "effective": "off", "cap": 25}));
    for name in ["default", "quick", "thorough", "catchup", "proactive-maintenance"] {
        sandbox.run(&["improve", "--dry-run", "--strategy", name, "--trigger", "post-commit"]);
    }
    without_lanes(&sandbox, &["improve", "--dry-run", "--strategy", "reflect-distill", "--json"]);
    assert_eq!(sandbox.state(), state);
    assert!(sandbox.git_files() == files, "a dry run writes nothing at all");
    let words = sandbox.run(&["improve", "--dry-run", "--strategy", "thorough"]);
    assert!(words.contains("triage would accept and only queues: autonomy gated"), "{words}");
    // The live run records the plan that the dry run showed.
    let planned = sandbox.json(&["improve", "--dry-run"]);
    let live = sandbox.json(&["improve"]);
    assert_eq!(live["plan"], planned["plan"]);
}

/// A run, or a plan, of which no lane can run: it ends with 1; the record.
fn without_lanes(sandbox: &Sandbox, args: &[&str]) -> Value {
    let output = sandbox.memory(args).output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    common::is_as_its_schema_says(&run);
    assert_eq!(run["failure"]["code"], "no_lane", "{run}");
    run
}

#[test]
fn a_strategy_of_which_no_lane_is_built_fails_by_hand_and_by_the_clock() {
    let sandbox = wiki();
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    let (out, said) = sandbox.fails(1, &["improve", "--strategy", "consolidate"]);
    let none = "none of its lanes can run: promote (not built), consolidate (not built), pair (not built)";
    assert!(said.contains(none) && !out.contains("nothing is due"), "{out}{said}");
    sandbox.git(&["config", "memory.improve.strategy", "consolidate"]);
    let run = without_lanes(&sandbox, &["improve", "--trigger", "schedule", "--json"]);
    assert_eq!((&run["state"], &run["error"]), (&"failed".into(), &none.into()));
    // A session that is named is looked at, whatever the strategy leaves out.
    assert_eq!(selected(&sandbox.json(&["improve", "--session", &id(1)])), [id(1)]);
    // Where some lane runs, the others are named.
    let output = sandbox.memory(&["improve", "--strategy", "thorough"]).output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("did not run"), "nothing was due: {said}");
    sandbox.run(&["capture", &session(&sandbox, 2)]);
    let output = sandbox.memory(&["improve", "--strategy", "thorough"]).output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("did not run: reflect, distill, promote, consolidate, pair"), "{said}");
}

#[test]
fn a_run_by_hand_takes_what_was_queued_and_one_that_names_leaves_it() {
    let sandbox = wiki();
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    let queued = || sandbox.json(&["status"])["queued"].clone();
    assert_eq!(queued(), 1);
    sandbox.run(&["improve", "--session", &id(1)]);
    assert_eq!(queued(), 1, "it did not look for what was captured");
    sandbox.run(&["improve"]);
    assert_eq!(queued(), 0);
}

#[test]
fn by_hand_a_session_that_may_go_on_is_named_as_such() {
    let mut sandbox = wiki();
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    let ended = sandbox.json(&["session", "show", &id(1)])["ended"].as_str().expect("a time").to_owned();
    let ended: jiff::Timestamp = ended.parse().expect("a time");
    let at = |seconds: i64| jiff::Timestamp::from_second(ended.as_second() + seconds).expect("a time").to_string();
    sandbox.now = Some(at(599));
    let plan = sandbox.json(&["improve", "--dry-run"]);
    assert_eq!(plan["plan"]["selected"][0]["age_secs"], 599, "{plan}");
    let said = sandbox.run(&["improve", "--dry-run"]);
    assert!(said.contains("was still being written 599 s ago: what follows later is looked at again"), "{said}");
    sandbox.now = Some(at(600));
    let said = sandbox.run(&["improve"]);
    assert!(!said.contains("still being written"), "{said}");
}

#[test]
fn settings_of_the_judge_that_cannot_be_used_end_the_run_before_anything_is_claimed() {
    let sandbox = wiki();
    let log = model(&sandbox);
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    for (key, value) in [("baseUrl", "no address"), ("provider", "replay")] {
        sandbox.git(&["config", "memory.model.judge.provider", "openai"]);
        sandbox.git(&["config", "memory.model.judge.model", "m"]);
        sandbox.git(&["config", &format!("memory.model.judge.{key}"), value]);
        sandbox.json_error(78, &["improve"]);
        assert_eq!(tick(&sandbox).status.code(), Some(78), "{key}");
    }
    assert_eq!(asked(&log), BTreeMap::new());
    assert!(!events(&sandbox).iter().any(|event| event["kind"] == "claimed"));
}

#[test]
fn a_strategy_of_ones_own_is_laid_over_the_built_in_one() {
    let sandbox = wiki();
    let folder = sandbox.home().join(".config/git-memory/templates/strategies");
    std::fs::create_dir_all(&folder).expect("the folder");
    std::fs::write(folder.join("nightly.toml"), "[review]\nlimit = 2\n\n[triage]\nmode = \"queue\"\n")
        .expect("written");
    sandbox.git(&["config", "memory.improve.strategy", "nightly"]);
    let files: Vec<String> = (1..=3).map(|n| session(&sandbox, n)).collect();
    sandbox.run(&["capture", &files[0], &files[1], &files[2]]);
    let run = sandbox.json(&["improve", "--dry-run"]);
    assert_eq!((&run["strategy"], &run["plan"]["triage"]["configured"]), (&"nightly".into(), &"queue".into()));
    assert_eq!(run["plan"]["limits"], serde_json::json!({"cli": null, "strategy": 2, "stage": null, "effective": 2}));
    assert_eq!(selected(&run), [id(3)], "by hand and without words the newest: {run}");
    assert_eq!(selected(&sandbox.json(&["improve", "--dry-run", "--all"])), [id(1), id(2)]);
    let narrower = sandbox.json(&["improve", "--dry-run", "--max-sessions", "1"]);
    assert_eq!((selected(&narrower), &narrower["plan"]["limits"]["effective"]), (vec![id(1).as_str()], &1.into()));
    // What is wrong is told with the file and the near name.
    std::fs::write(folder.join("nightly.toml"), "[review]\nlimt = 2\n").expect("written");
    let error = sandbox.json_error(78, &["improve", "--dry-run"]);
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("nightly.toml: unknown key `review.limt`; did you mean `review.limit`?"), "{error}");
    let error = sandbox.json_error(1, &["improve", "--strategy", "quik"]);
    assert_eq!(error["code"], "unknown_strategy");
    assert!(error["message"].as_str().unwrap_or_default().contains("did you mean `quick`?"), "{error}");
    sandbox.git(&["config", "memory.improve.strategy", "thorogh"]);
    let error = sandbox.json_error(78, &["improve"]);
    assert!(error["message"].as_str().unwrap_or_default().contains("did you mean `thorough`?"), "{error}");
}

#[test]
fn a_table_of_the_settings_is_narrower_than_a_file_and_a_name_than_the_default() {
    let sandbox = wiki();
    let folder = sandbox.home().join(".config/git-memory/templates/strategies");
    std::fs::create_dir_all(&folder).expect("the folder");
    let file = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    file("default.toml", "[review]\nlimit = 4\n[triage]\ncap = 4\n");
    file("nightly.toml", "[proactive]\ndays = 4\nlimit = 4\n");
    user_config(
        &sandbox,
        "[strategy.default]\nreview.limit = 5\ntriage.cap = 7\n[strategy.nightly]\nproactive.days = 5\n[strategy.mine]\n",
    );
    let table = "[strategy.mine.triage]\nmode = 'accept'\n[strategy.mine.sync]\npush = true\ncommit = false\n";
    sandbox.write(".gitmemory.toml", format!("{}{table}", sandbox.read(".gitmemory.toml")));
    sandbox.commit("A strategy for everybody");
    let plan = |name: &str| sandbox.json(&["improve", "--dry-run", "--strategy", name])["plan"].clone();
    let limit = |plan: &Value| plan["limits"]["strategy"].clone();
    let default = plan("default");
    assert_eq!((limit(&default), &default["triage"]["cap"]), (5.into(), &7.into()), "the table is over the file");
    assert_eq!(limit(&plan("quick")), 5, "inherited");
    assert_eq!(plan("catchup")["triage"]["cap"], 100, "what is built in under the name is over all of the default");
    let nightly = plan("nightly");
    assert_eq!((&nightly["proactive"]["days"], &nightly["proactive"]["limit"]), (&5.into(), &4.into()));
    let mine = plan("mine");
    assert_eq!((&mine["triage"]["effective"], &mine["triage"]["reason"]), (&"queue".into(), &"autonomy_gated".into()));
    assert_eq!((&mine["sync"]["commit"], &mine["sync"]["push"]), (&false.into(), &true.into()), "as in the default");
    sandbox.git(&["config", "memory.strategy.default.sync.push", "false"]);
    assert_eq!(plan("mine")["sync"]["push"], false, "a committed table cannot bring it back");
    // The record says what the run went by.
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    let run = sandbox.json(&["improve", "--strategy", "mine"]);
    assert_eq!(run["config"]["strategy"]["default"]["review"]["limit"], 5, "{run}");
    assert_eq!(run["config"]["strategy"]["mine"]["triage"]["mode"], "accept", "{run}");
}

// ── autonomy and triage ──

#[test]
fn without_autonomy_a_triage_that_would_accept_is_downgraded_where_people_see_it() {
    let sandbox = wiki();
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    // A committed file cannot switch it on.
    sandbox.write(".gitmemory.toml", format!("{}[approval]\nautonomy = true\n", sandbox.read(".gitmemory.toml")));
    sandbox.commit("Widen");
    let output = sandbox.memory(&["improve", "--strategy", "thorough", "--json"]).output().expect("it starts");
    let run: Value = serde_json::from_slice(&output.stdout).expect("json");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("triage") && said.contains("autonomy_gated"), "{said}");
    assert_eq!(run["downgrades"], serde_json::json!([{"what": "triage", "reason": "autonomy_gated"}]));
    let downgraded: Vec<Value> = events(&sandbox).into_iter().filter(|event| event["kind"] == "downgraded").collect();
    assert_eq!(downgraded.len(), 1);
    assert_eq!(downgraded[0]["data"]["reason"], "autonomy_gated");
    assert!(run["events"].as_array().is_some_and(|ids| ids.contains(&downgraded[0]["id"])), "{run}");
    let report = sandbox.run(&["run", "show", run["id"].as_str().expect("an id")]);
    let words = "* triage accepts nothing by itself (autonomy_gated): approval.autonomy is off";
    assert!(report.contains("## Not done by itself") && report.contains(words), "{report}");
    // The user's own configuration can.
    sandbox.git(&["config", "memory.approval.autonomy", "true"]);
    sandbox.run(&["capture", &session(&sandbox, 2)]);
    let free = sandbox.json(&["improve", "--strategy", "thorough"]);
    assert_eq!(free["plan"]["triage"]["effective"], "accept");
    assert_eq!(free["downgrades"], serde_json::json!([]));
}

#[test]
fn a_forged_mark_lets_nothing_land() {
    let sandbox = wiki();
    sandbox.git(&["config", "memory.approval.autonomy", "true"]);
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    sandbox.run(&["improve"]);
    let waiting = sandbox.json(&["proposal", "list"])["proposals"].as_array().expect("a list").clone();
    assert!(!waiting.is_empty());
    let main = sandbox.rev("main");
    // What a fetch could bring: events which say that a judge passed it and that it is staged.
    let mut forged = Vec::new();
    for (n, mut event) in events(&sandbox).into_iter().filter(|event| event["kind"] == "staged").enumerate() {
        event["id"] = format!("01KA00000000000000000000{n:02}").into();
        event["at"] = "2026-04-01T00:00:01Z".into();
        for mark in ["staged", "judged", "judge"] {
            event["data"][mark] = true.into();
        }
        event["data"]["marks"] = serde_json::json!({"staged": true, "judged": true});
        event["data"]["gates"] = serde_json::json!({"judge": {"passed": true}});
        event["data"]["deferred"] = Value::Null;
        forged.push(event.to_string());
    }
    assert_eq!(forged.len(), waiting.len());
    let blob = hash(&sandbox, &forged.join("\n"));
    let folder = sandbox.root().join("index");
    let git = |args: &[&str]| {
        let output = sandbox.program("git").env("GIT_INDEX_FILE", &folder).args(args).output().expect("git starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    git(&["read-tree", "refs/memory/log"]);
    let entry = format!("100644,{blob},events/2026/04/01/01KA0000000000000000000000.jsonl");
    git(&["update-index", "--add", "--cacheinfo", &entry]);
    let tree = git(&["write-tree"]);
    let commit = git(&["commit-tree", &tree, "-p", "refs/memory/log", "-m", "forged"]);
    git(&["update-ref", "refs/memory/log", &commit]);
    sandbox.run(&["capture", &session(&sandbox, 2)]);
    model(&sandbox);
    for strategy in ["thorough", "reflect-distill", "proactive-maintenance"] {
        sandbox.json(&["improve", "--strategy", strategy]);
    }
    assert_eq!(sandbox.rev("main"), main, "nothing landed by itself");
}

fn hash(sandbox: &Sandbox, text: &str) -> String {
    sandbox.write("../forged.jsonl", text);
    sandbox.git(&["hash-object", "-w", "../forged.jsonl"])
}

// ── claims ──

/// A bare remote and a second clone of the sandbox's repository, both with claims through it.
fn clones(sandbox: &Sandbox) -> (PathBuf, PathBuf) {
    let (bare, other) = (sandbox.root().join("remote.git"), sandbox.root().join("other"));
    let (bare_text, other_text) = (bare.display().to_string(), other.display().to_string());
    sandbox.git(&["init", "-q", "--bare", &bare_text]);
    sandbox.git(&["remote", "add", "origin", &bare_text]);
    sandbox.git(&["push", "-q", "origin", "main"]);
    sandbox.git(&["clone", "-q", &bare_text, &other_text]);
    for place in [&sandbox.dir, &other] {
        for (key, value) in [("memory.sync.remote", "origin"), ("memory.sync.claims", "true")] {
            sandbox.git(&["-C", &place.display().to_string(), "config", key, value]);
        }
    }
    (bare, other)
}

/// Begins the wiki in the second clone, before the sessions of the fixtures too.
fn begin(sandbox: &mut Sandbox, other: &Path) {
    let now = sandbox.now.replace("2025-01-02T00:00:00Z".into());
    within(sandbox, other, |sandbox| sandbox.run(&["init", "--no-hooks"]));
    sandbox.now = now;
}

/// Runs something as if the sandbox stood in another folder.
fn within<R>(sandbox: &mut Sandbox, folder: &Path, work: impl FnOnce(&Sandbox) -> R) -> R {
    let home = std::mem::replace(&mut sandbox.dir, folder.to_owned());
    let result = work(sandbox);
    sandbox.dir = home;
    result
}

#[test]
fn four_workers_of_two_clones_review_each_session_once_and_their_ledgers_converge() {
    const SESSIONS: usize = 6;
    let mut sandbox = wiki();
    let log = model(&sandbox);
    let (bare, other) = clones(&sandbox);
    begin(&mut sandbox, &other);
    // A linked work tree of the second clone: its worker shares that clone's lock.
    let linked = sandbox.root().join("linked");
    sandbox.git(&[
        "-C",
        &other.display().to_string(),
        "worktree",
        "add",
        "-q",
        "--detach",
        &linked.display().to_string(),
    ]);
    // From here on, the real clock.
    sandbox.now = None;
    let home = sandbox.dir.clone();
    for n in 1..=SESSIONS {
        let file = session(&sandbox, n);
        for place in [&home, &other] {
            within(&mut sandbox, place, |sandbox| sandbox.run(&["capture", &file]));
        }
    }
    for place in [&home, &other] {
        sandbox.git(&["-C", &place.display().to_string(), "config", "memory.scheduler.intervalSecs", "1"]);
    }
    let workers: Vec<_> = [&home, &home, &other, &linked]
        .into_iter()
        .map(|place| {
            let rounds = format!(
                "for n in $(seq 12); do '{}' improve --trigger schedule --skip-if-locked --json >> '{}/'out.$$ 2>&1 || \
                 exit 1; sleep 0.5; done",
                common::BIN,
                sandbox.root().display()
            );
            let mut command = sandbox.program("sh");
            command.args(["-c", &rounds]).current_dir(place).stdin(Stdio::null());
            command.spawn().expect("a worker starts")
        })
        .collect();
    let failed =
        workers.into_iter().filter_map(|mut worker| worker.wait().ok()).filter(|status| !status.success()).count();
    let said = || -> String {
        let files = std::fs::read_dir(sandbox.root()).expect("the folder").flatten();
        let outs = files.filter(|entry| entry.file_name().to_string_lossy().starts_with("out."));
        outs.map(|entry| std::fs::read_to_string(entry.path()).unwrap_or_default()).collect()
    };
    assert_eq!(failed, 0, "{}", said());
    assert_eq!(asked(&log), once(1..=SESSIONS), "each session exactly once: {}", said());
    // What the last ones did goes round.
    for place in [&home, &other, &home] {
        within(&mut sandbox, place, ticked);
    }
    let ledger = |place: &Path| sandbox.git(&["-C", &place.display().to_string(), "rev-parse", "refs/memory/log"]);
    assert_eq!(ledger(&home), ledger(&other));
    assert_eq!(ledger(&home), ledger(&bare));
    for place in [&home, &other, &bare] {
        let output = sandbox.try_git(&["-C", &place.display().to_string(), "fsck", "--strict", "--no-dangling"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!place.join(".git/FETCH_HEAD").exists(), "FETCH_HEAD is the user's");
    }
    let done: Vec<Value> = events(&sandbox)
        .into_iter()
        .filter(|event| event["kind"] == "released" && event["data"]["outcome"] == "done")
        .collect();
    assert_eq!(done.len(), SESSIONS, "{done:?}");
    let refs = sandbox.refs("refs/memory-remotes/");
    assert_eq!(refs.lines().count(), 1, "{refs}");
    assert!(refs.starts_with("refs/memory-remotes/origin/log "), "{refs}");
}

#[test]
fn a_claim_of_another_clone_is_seen_before_anything_is_asked() {
    let mut sandbox = wiki();
    let log = model(&sandbox);
    let (_, other) = clones(&sandbox);
    begin(&mut sandbox, &other);
    let home = sandbox.dir.clone();
    for n in 1..=2 {
        let file = session(&sandbox, n);
        for place in [&home, &other] {
            within(&mut sandbox, place, |sandbox| sandbox.run(&["capture", &file]));
        }
    }
    // The first clone dies right after the remote has its claim.
    sandbox.env.push(("GIT_MEMORY_FAULT".into(), "claim.after-push".into()));
    assert!(!tick(&sandbox).status.success());
    sandbox.env.pop();
    assert_eq!(asked(&log), BTreeMap::new(), "claimed before anything is asked");
    let second = within(&mut sandbox, &other, ticked);
    assert_eq!(selected(&second), [id(2)], "{second}");
    assert_eq!(gate(&second, "claimed").map(|gate| &gate["removed"]), Some(&1.into()), "{second}");
    let third = within(&mut sandbox, &other, ticked);
    assert_eq!(selected(&third), [""; 0], "nothing is left to it: {third}");
    // The next run of the first clone lets go what the dead one held, and takes it.
    sandbox.env.push(("GIT_MEMORY_JOURNAL_STALE".into(), "1".into()));
    let fourth = ticked(&sandbox);
    assert_eq!(selected(&fourth), [id(1)], "{fourth}");
    assert_eq!(asked(&log), once([1, 2]));
    sandbox.fsck();
}

#[test]
fn a_remote_that_is_away_means_no_review_and_people_see_it() {
    let mut sandbox = wiki();
    let log = model(&sandbox);
    let (bare, _) = clones(&sandbox);
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    let away = sandbox.root().join("away.git");
    std::fs::rename(&bare, &away).expect("the remote goes");
    let output = tick(&sandbox);
    let error: Value = serde_json::from_slice(&output.stdout).expect("json");
    assert_eq!((output.status.code(), &error["code"]), (Some(1), &"remote_unreachable".into()), "{error}");
    assert_eq!(asked(&log), BTreeMap::new());
    assert_eq!(runs(&sandbox)[0]["state"], "failed");
    let status = sandbox.json(&["status"]);
    assert!(status["runs"].to_string().contains("nothing is reviewed"), "{status}");
    // A person's own run needs no remote; and when it is back, no attempt was used up.
    std::fs::rename(&away, &bare).expect("the remote is back");
    sandbox.now = Some("2026-04-01T02:00:00Z".into());
    let run = ticked(&sandbox);
    assert_eq!(selected(&run), [id(1)], "{run}");
    assert_eq!(asked(&log), once([1]));
    sandbox.git(&["config", "memory.sync.remote", "elsewhere"]);
    sandbox.run(&["capture", &session(&sandbox, 2)]);
    let output = tick(&sandbox);
    let error: Value = serde_json::from_slice(&output.stdout).expect("json");
    assert_eq!(output.status.code(), Some(78), "{error}");
    assert!(
        error["message"].as_str().is_some_and(|text| text.contains("is no remote here; there are origin")),
        "{error}"
    );
}

#[test]
fn users_refspecs_and_their_refs_are_left_alone() {
    let mut sandbox = wiki();
    model(&sandbox);
    let (_, other) = clones(&sandbox);
    sandbox.git(&["config", "remote.origin.push", "+refs/heads/*:refs/heads/copy/*"]);
    begin(&mut sandbox, &other);
    within(&mut sandbox, &other, |sandbox| {
        sandbox.run(&["capture", &session(sandbox, 1)]);
        ticked(sandbox)
    });
    sandbox.run(&["capture", &session(&sandbox, 2)]);
    let (config, heads) = (sandbox.state().config, sandbox.state().heads);
    ticked(&sandbox);
    assert_eq!((sandbox.state().config, sandbox.state().heads), (config, heads));
    let remote = sandbox.git(&["ls-remote", "origin"]);
    let names: Vec<&str> = remote.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(names, ["HEAD", "refs/heads/main", "refs/memory/log"]);
    // What the user's own refspec fetches stays as it was, and no tag comes along.
    sandbox.git(&["-C", &other.display().to_string(), "tag", "v1", "main"]);
    sandbox.git(&["-C", &other.display().to_string(), "push", "-q", "origin", "v1", "main:newer"]);
    sandbox.run(&["capture", &session(&sandbox, 3)]);
    ticked(&sandbox);
    let refs = sandbox.refs("refs/");
    assert!(!refs.contains("refs/tags/") && !refs.contains("refs/remotes/origin/newer"), "{refs}");
}

// ── attempts ──

#[test]
fn three_failed_reviews_park_a_session_and_status_shows_it() {
    let sandbox = wiki();
    answering(&sandbox, "no JSON here");
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    for attempt in 1..=3 {
        let (run, said) = tick_fails(&sandbox);
        assert_eq!(
            (&run["state"], &run["outcomes"][0]["outcome"]),
            (&"failed".into(), &"failed".into()),
            "{attempt}: {run}"
        );
        let outcome = &run["outcomes"][0];
        assert_eq!(outcome["attempt"], attempt, "{run}");
        let told =
            format!("review of {}: the reply cannot be used, attempt {attempt} of 3: the reply holds no JSON", id(1));
        assert!(said.contains(&told), "{said}");
        let report = sandbox.run(&["run", "show", run["id"].as_str().expect("an id")]);
        let reply = outcome["response"].as_str().expect("the reply's digest");
        assert!(report.contains(&format!("attempt {attempt} of 3 is used up")), "{report}");
        assert!(report.contains(&format!("responses/{reply}.txt")), "{report}");
        let kept = sandbox.path(format!(".git/memory/responses/{reply}.txt"));
        let hint = run["failure"]["hint"].as_str().expect("a hint");
        assert!(kept.is_file() && hint.contains(&kept.display().to_string()), "{hint}");
    }
    let parked = ticked(&sandbox);
    assert_eq!(gate(&parked, "parked").map(|gate| &gate["removed"]), Some(&1.into()), "{parked}");
    assert_eq!(sandbox.json(&["status"])["sessions"]["parked"], serde_json::json!([id(1)]));
    assert!(sandbox.run(&["run", "list"]).lines().all(|line| line.contains("  schedule  failed  ")));
    let status = sandbox.run(&["status"]);
    assert!(status.contains("parked") && status.contains("`git memory improve --session ID`"), "{status}");
}

#[test]
fn a_failure_is_told_once() {
    let sandbox = wiki();
    answering(&sandbox, "no JSON here");
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    let (out, said) = sandbox.fails(1, &["improve"]);
    assert_eq!((out.matches("holds no JSON").count(), said.matches("holds no JSON").count()), (0, 1), "{out}{said}");
}

#[test]
fn a_parked_session_that_grew_is_reviewed_again() {
    let sandbox = wiki();
    answering(&sandbox, "no JSON here");
    let file = session(&sandbox, 1);
    sandbox.run(&["capture", &file]);
    for _ in 1..=3 {
        tick_fails(&sandbox);
    }
    let text = std::fs::read_to_string(&file).expect("the session");
    let last = text.lines().last().expect("a line").to_owned();
    let mut more: Value = serde_json::from_str(&last).expect("json");
    more["uuid"] = "6b1f8a58-0000-4000-8000-0000000000ff".into();
    more["message"] = serde_json::json!({"role": "user", "content": "One more thing: always run the linter first."});
    more["type"] = "user".into();
    std::fs::write(&file, format!("{text}{more}\n")).expect("written");
    sandbox.run(&["capture", &file]);
    assert_eq!(sandbox.json(&["status"])["sessions"]["parked"], serde_json::json!([]));
    let log = model(&sandbox);
    assert_eq!(selected(&ticked(&sandbox)), [id(1)]);
    assert_eq!(asked(&log), BTreeMap::from([(1, 4)]), "three that failed, and one more");
}

#[test]
fn settings_that_cannot_be_used_claim_nothing_and_are_no_tick() {
    let sandbox = wiki();
    let log = model(&sandbox);
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    sandbox.git(&["config", "memory.improve.proposalActor", "nonsense"]);
    for _ in 0..4 {
        let output = tick(&sandbox);
        assert_eq!(output.status.code(), Some(78), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!sandbox.path(".git/memory/last-tick").exists());
    }
    assert!(!events(&sandbox).iter().any(|event| event["kind"] == "claimed"));
    sandbox.git(&["config", "--unset", "memory.improve.proposalActor"]);
    assert_eq!(selected(&ticked(&sandbox)), [id(1)]);
    assert_eq!(asked(&log), once([1]));
}

#[test]
fn a_model_that_cannot_be_reached_uses_no_attempt() {
    let mut sandbox = wiki();
    user_config(&sandbox, "[model]\nprovider = \"command\"\ncommand = [\"/nowhere/model\"]\n");
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    for _ in 0..4 {
        let (run, said) = tick_fails(&sandbox);
        assert_eq!(run["outcomes"][0]["outcome"], "unavailable", "{run}");
        assert!(said.contains("review could not look at"), "{said}");
    }
    assert_eq!(runs(&sandbox).iter().filter(|run| run["state"] == "failed").count(), 4);
    for _ in 0..8 {
        tick_fails(&sandbox);
    }
    let status = sandbox.json(&["status"]);
    assert_eq!((status["runs"].as_array().map(Vec::len), &status["more_failed"]), (Some(10), &2.into()));
    assert!(sandbox.run(&["status"]).contains("and 2 more that failed before them"));
    sandbox.now = Some("2026-04-02T00:00:00Z".into());
    let log = model(&sandbox);
    assert_eq!(selected(&ticked(&sandbox)), [id(1)]);
    assert_eq!(asked(&log), once([1]));
    // What failed before a run that went well is over.
    let status = sandbox.json(&["status"]);
    assert_eq!((status["runs"].as_array().map(Vec::len), &status["more_failed"]), (Some(3), &0.into()));
}

#[test]
fn a_spent_budget_ends_the_run_and_lets_the_rest_go() {
    let mut sandbox = wiki();
    let log = model(&sandbox);
    sandbox.git(&["config", "memory.model.dailyCalls", "1"]);
    let files: Vec<String> = (1..=3).map(|n| session(&sandbox, n)).collect();
    sandbox.run(&["capture", &files[0], &files[1], &files[2]]);
    sandbox.git(&["config", "memory.scheduler.maxSessionsPerTick", "3"]);
    let (run, said) = tick_fails(&sandbox);
    assert_eq!(run["state"], "budget_exhausted", "{run}");
    assert!(said.contains("budget"), "{said}");
    let outcomes = run["outcomes"].as_array().expect("outcomes");
    let words: Vec<&str> = outcomes.iter().map(|one| one["outcome"].as_str().expect("a word")).collect();
    assert_eq!(words, ["done", "unavailable", "let_go"]);
    assert_eq!(asked(&log), once([1]));
    assert!(sandbox.json(&["status"])["runs"].to_string().contains("budget_exhausted"));
    // The next day the rest comes, with all its attempts.
    sandbox.now = Some("2026-04-02T00:00:00Z".into());
    let (next, _) = tick_fails(&sandbox);
    assert_eq!(selected(&next), [id(2), id(3)], "{next}");
    assert_eq!(asked(&log), once([1, 2]));
}

// ── what a killed run leaves ──

#[test]
fn a_run_that_is_killed_is_completed_or_given_up_and_what_was_paid_for_is_used() {
    for (point, calls) in [
        ("improve.before-claim", 1),
        ("improve.after-claim", 1),
        ("improve.before-call", 1),
        ("improve.after-call", 2),
        ("improve.after-reply", 1),
        ("improve.before-stage", 1),
        ("improve.after-stage", 1),
        ("improve.before-record", 1),
        ("improve.after-record", 1),
    ] {
        let mut sandbox = wiki();
        let log = model(&sandbox);
        sandbox.run(&["capture", &session(&sandbox, 1)]);
        sandbox.env.push(("GIT_MEMORY_FAULT".into(), point.into()));
        assert!(!tick(&sandbox).status.success(), "it dies at {point}");
        sandbox.env.pop();
        // Not within 30 s of its last write: the process may be slow, not dead.
        if point == "improve.after-reply" {
            sandbox.run(&["improve", "--trigger", "session-start"]);
            assert!(runs(&sandbox).is_empty(), "left alone for now");
        }
        sandbox.env.push(("GIT_MEMORY_JOURNAL_STALE".into(), "1".into()));
        sandbox.run(&["improve", "--trigger", "session-start"]);
        sandbox.run(&["improve", "--trigger", "session-start"]);
        assert_eq!(runs(&sandbox).len(), 1, "after {point}: on record once");
        let state = runs(&sandbox)[0]["state"].clone();
        ticked(&sandbox);
        ticked(&sandbox);
        assert_eq!(asked(&log), BTreeMap::from([(1, calls)]), "after {point}, which left it {state}");
        let last = sandbox.json(&["session", "list"]);
        assert_eq!(last["sessions"][0]["standing"], "reviewed", "after {point}: {last}");
        assert!(!sandbox.path(".git/memory/journal").read_dir().is_ok_and(|mut left| left.next().is_some()), "{point}");
        if point == "improve.after-call" {
            let dead = runs(&sandbox).into_iter().find(|run| run["state"] == "abandoned").expect("the dead run");
            let dead = sandbox.json(&["run", "show", dead["id"].as_str().expect("an id")]);
            assert_eq!(dead["calls"][0]["error"], "the run's process died", "the call is on record: {dead}");
        }
        sandbox.fsck();
    }
}

#[test]
fn a_session_that_kills_every_run_is_parked_at_last() {
    let mut sandbox = wiki();
    model(&sandbox);
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    sandbox.env.push(("GIT_MEMORY_JOURNAL_STALE".into(), "1".into()));
    sandbox.env.push(("GIT_MEMORY_FAULT".into(), "improve.after-call".into()));
    for _ in 0..3 {
        assert!(!tick(&sandbox).status.success());
    }
    let last = ticked(&sandbox);
    assert_eq!(gate(&last, "parked").map(|gate| &gate["removed"]), Some(&1.into()), "{last}");
}

#[test]
fn a_journal_that_cannot_be_read_blocks_nothing_and_lets_its_claims_go() {
    let mut sandbox = wiki();
    let log = model(&sandbox);
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    sandbox.env.push(("GIT_MEMORY_FAULT".into(), "improve.after-claim".into()));
    assert!(!tick(&sandbox).status.success());
    sandbox.env.pop();
    let journal =
        sandbox.path(".git/memory/journal").read_dir().expect("the folder").flatten().next().expect("a journal");
    std::fs::write(journal.path(), "{\"id\":").expect("damaged");
    sandbox.env.push(("GIT_MEMORY_JOURNAL_STALE".into(), "1".into()));
    assert_eq!(selected(&ticked(&sandbox)), [id(1)]);
    assert_eq!(asked(&log), once([1]));
}

// ── the record ──

#[test]
fn the_record_has_every_field_and_the_report_says_it_to_people() {
    let sandbox = wiki();
    model(&sandbox);
    sandbox.run(&["capture", &session(&sandbox, 1)]);
    let printed = ticked(&sandbox);
    let run_id = printed["id"].as_str().expect("an id");
    let run = sandbox.json(&["run", "show", run_id]);
    for key in [
        "id",
        "trigger",
        "strategy",
        "scope",
        "operator",
        "version",
        "started_at",
        "duration_ms",
        "state",
        "plan",
        "calls",
        "proposals",
        "responses",
        "refused",
        "skipped",
        "downgrades",
        "events",
        "input_hash",
        "config",
    ] {
        assert!(run.get(key).is_some(), "{key} in {run}");
    }
    let own: Vec<Value> = events(&sandbox).into_iter().filter(|event| event["run"] == run["id"]).collect();
    assert_eq!(run["events"].as_array().map(Vec::len), Some(own.len()), "{run}");
    assert_eq!(run["input_hash"].as_str().map(str::len), Some(64));
    assert_eq!(run["outcomes"][0]["outcome"], "done");
    let call = &run["calls"][0];
    assert_eq!((&call["stage"], &call["provider"]), (&"review".into(), &"command".into()));
    let report = sandbox.run(&["run", "show", run_id]);
    for words in [
        "| trigger | schedule |",
        "| strategy | default |",
        "| state | committed |",
        "## Looked at",
        "was looked at",
        "## Calls",
        call["prompt_sha256"].as_str().expect("a hash"),
        "## Replies",
        run["responses"][0]["sha256"].as_str().expect("a hash"),
        "## Lanes",
        "promote: by command/sh, does not run: not built",
        run["input_hash"].as_str().expect("a hash"),
        "`model.provider` = \"command\"",
    ] {
        assert!(report.contains(words), "{words} in {report}");
    }
}

// ── units ──

#[test]
fn the_units_for_systemd_are_valid_and_stand_in_the_documentation() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(top.join("docs/schedule.md")).expect("docs/schedule.md");
    let folder = tempfile::tempdir().expect("a folder");
    let mut paths = Vec::new();
    for name in ["git-memory-improve.service", "git-memory-improve.timer"] {
        let text = std::fs::read_to_string(top.join("templates/systemd").join(name)).expect(name);
        assert!(page.contains(text.trim_end()), "{name} stands in docs/schedule.md as it is");
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let is_section = line.starts_with('[') && line.ends_with(']');
            assert!(
                is_section || line.split_once('=').is_some_and(|(key, _)| key.chars().all(char::is_alphanumeric)),
                "{line}"
            );
        }
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        paths.push(path);
    }
    // Where systemd is at hand, it has the last word.
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--user", "--man=no"]).args(&paths).env("XDG_RUNTIME_DIR", folder.path());
    if let Ok(output) = verify.output() {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
