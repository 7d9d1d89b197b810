//! Runs that are killed.

use super::numbered::id;
use super::*;

/// A run that is killed while its model is at work; the model's number and that of what it started.
fn killed(sandbox: &Sandbox, args: &[&str]) -> [String; 2] {
    model_without_end(sandbox);
    let mut run = start(sandbox, args);
    let pids = at_work(sandbox);
    run.kill().expect("it is killed");
    run.wait().expect("it is gone");
    pids
}

fn stale(sandbox: &mut Sandbox) {
    sandbox.env.push(("GIT_MEMORY_JOURNAL_STALE".into(), "1".into()));
}

#[test]
fn the_run_after_a_death_says_when_it_is_put_right_and_is_no_success() {
    let mut sandbox = wiki_with(1);
    killed(&sandbox, &["improve"]);
    let plan = sandbox.json(&["improve", "--dry-run"]);
    assert!(claimed(&plan).is_some_and(|why| why.starts_with("the last run died; it is put right in ")), "{plan}");
    let error = sandbox.json_error(75, &["improve"]);
    assert!(error["message"].as_str().is_some_and(|why| why.contains("the last run died")), "{error}");
    // That was no tick of the schedule: the next one is not put off by an hour.
    sandbox.json_error(75, &["improve", "--trigger", "schedule"]);
    assert!(!sandbox.path(".git/memory/last-tick").exists());
    let skipped = sandbox.json(&["improve", "--skip-if-locked"]);
    assert_eq!(skipped["reason"], "locked", "{skipped}");
    stale(&mut sandbox);
    model_that_answers(&sandbox);
    assert_eq!(selected(&sandbox.json(&["improve"])), [id(1)]);
}

#[test]
fn what_another_session_needs_does_not_wait_for_a_dead_run() {
    let sandbox = wiki_with(2);
    killed(&sandbox, &["improve"]);
    model_that_answers(&sandbox);
    assert_eq!(selected(&sandbox.json(&["improve"])), [id(1)], "the dead run had the newest one");
}

#[test]
fn a_dry_run_after_a_death_plans_what_the_live_run_does_and_writes_nothing() {
    for damaged in [false, true] {
        let mut sandbox = wiki_with(2);
        killed(&sandbox, &["improve", "--all"]);
        model_that_answers(&sandbox);
        let journal = sandbox.path(".git/memory/journal");
        let is_journal = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
        let file = journal.read_dir().expect("a folder").flatten().map(|entry| entry.path()).find(is_journal);
        if damaged {
            std::fs::write(file.expect("a journal"), "{\"id\":").expect("damaged");
        }
        stale(&mut sandbox);
        let (state, files) = (sandbox.state(), sandbox.git_files());
        let words = sandbox.run(&["improve", "--dry-run", "--all"]);
        assert!(words.contains("1 dead run would be put right first"), "{words}");
        let planned = sandbox.json(&["improve", "--dry-run", "--all"]);
        assert!(sandbox.state() == state && sandbox.git_files() == files, "nothing at all was written");
        let live = sandbox.json(&["improve", "--all"]);
        assert_eq!((selected(&planned), &planned["recovered"]), (vec![id(1).as_str(), &id(2)], &1.into()), "{planned}");
        assert_eq!((&live["plan"], &live["recovered"]), (&planned["plan"], &planned["recovered"]));
        let report = sandbox.run(&["run", "show", live["id"].as_str().expect("an id")]);
        assert!(report.contains("| put right before | 1 dead run |"), "{report}");
    }
}

#[test]
fn a_dry_run_beside_a_live_one_leaves_its_claims_to_it() {
    let mut sandbox = wiki_with(1);
    model_without_end(&sandbox);
    let mut run = start(&sandbox, &["improve"]);
    at_work(&sandbox);
    stale(&mut sandbox);
    let planned = sandbox.json(&["improve", "--dry-run"]);
    assert_eq!((selected(&planned), claimed(&planned)), (vec![], Some("another run is at it")), "{planned}");
    run.kill().expect("it is killed");
    run.wait().expect("it is gone");
}

#[test]
fn a_journal_that_cannot_be_read_leaves_a_record_and_people_are_told() {
    let mut sandbox = wiki_with(1);
    killed(&sandbox, &["improve", "--trigger", "schedule"]);
    let journal = sandbox.path(".git/memory/journal");
    for entry in journal.read_dir().expect("a folder").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "json") {
            std::fs::write(entry.path(), "{\"id\":").expect("damaged");
        }
    }
    stale(&mut sandbox);
    model_that_answers(&sandbox);
    assert_eq!(selected(&sandbox.json(&["improve"])), [id(1)], "its claim is let go");
    let all = records(&sandbox);
    let dead = all.iter().find(|run| run["state"] == "abandoned").expect("the dead run");
    assert_eq!(dead["trigger"], "schedule", "{dead}");
    assert_eq!((selected(dead), &dead["error"]), (vec![id(1).as_str()], &"its journal cannot be read".into()));
    let status = sandbox.json(&["status"]);
    let trouble = status["trouble"].as_array().expect("a list").iter().filter_map(Value::as_str);
    let told: Vec<&str> = trouble.filter(|line| line.contains(".malformed") && line.contains("delete it")).collect();
    assert_eq!(told.len(), 1, "{status}");
    let doctor = sandbox.memory(&["doctor", "--json"]).output().expect("it starts").stdout;
    let doctor: Value = serde_json::from_slice(&doctor).expect("json");
    let checks = doctor["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["name"] == "runs").expect("it is among them");
    assert!(check["fix"].as_str().is_some_and(|fix| fix.starts_with("rm ")), "{check}");
    // And again nothing more comes of it.
    sandbox.run(&["improve", "--trigger", "session-start"]);
    assert_eq!(records(&sandbox).len(), 2);
}

#[test]
#[cfg(target_os = "linux")]
fn the_model_of_a_killed_run_dies_with_it_and_the_next_run_ends_what_it_started() {
    let mut sandbox = wiki_with(1);
    let [model, started] = killed(&sandbox, &["improve"]);
    assert!(until(|| is_gone(&model).then_some(())).is_some(), "the model lives on");
    assert!(!is_gone(&started), "nobody has told it to end");
    // A process that is nobody's business, under a note that names its number and another's beginning.
    let mut other = std::process::Command::new("sleep").arg("300").spawn().expect("sleep");
    let process = |pid: u32| serde_json::json!({"pid": pid, "began": "1"});
    let note = serde_json::json!({"program": process(other.id()), "by": process(other.id())});
    sandbox.write(".git/memory/programs/other.json", note.to_string());
    stale(&mut sandbox);
    model_that_answers(&sandbox);
    sandbox.run(&["improve"]);
    assert!(until(|| is_gone(&started).then_some(())).is_some(), "what the model started lives on");
    assert!(other.try_wait().expect("it can be asked").is_none(), "a process that only has the number is left alone");
    other.kill().expect("it ends");
    other.wait().expect("it is gone");
    assert_eq!(sandbox.path(".git/memory/programs").read_dir().expect("the folder").count(), 0);
}
