//! Sixteen processes decide in one repository: every decision lands once, none is lost, none hangs.

mod common;

use std::collections::HashMap;
use std::process::Stdio;

use common::Sandbox;

const PROCESSES: usize = 16;

fn stage(sandbox: &Sandbox, count: usize) -> Vec<String> {
    let lines: Vec<String> = (0..count)
        .map(|n| {
            serde_json::json!({
                "operation": "create",
                "path": format!("gotchas/lesson-{n}.md"),
                "title": format!("Lesson number {n}"),
                "kind": "gotcha",
                "confidence": 0.9,
                "rationale": "Seen twice",
                "body_markdown": format!("# Lesson number {n}\n\nThe {n}th thing that went wrong was thing {n}.\n"),
            })
            .to_string()
        })
        .collect();
    sandbox.write("../batch.jsonl", lines.join("\n"));
    let made = sandbox.json(&["proposal", "propose", "--batch", "../batch.jsonl"]);
    let results = made["results"].as_array().expect("results");
    results
        .iter()
        .map(|result| {
            assert_eq!(result["outcome"], "staged", "{result}");
            result["id"].as_str().expect("an id").to_owned()
        })
        .collect()
}

/// Runs one command for each list of arguments, all at once; returns the exit codes.
fn at_once(sandbox: &Sandbox, commands: &[Vec<String>]) -> Vec<i32> {
    let children: Vec<_> = commands
        .iter()
        .map(|args| {
            let mut command = sandbox.program(common::BIN);
            command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("the binary starts")
        })
        .collect();
    children
        .into_iter()
        .zip(commands)
        .map(|(child, args)| {
            let output = child.wait_with_output().expect("it ends");
            let code = output.status.code();
            assert!(
                matches!(code, Some(0 | 1 | 75)),
                "{args:?} ended with {:?}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
            code.unwrap_or_default()
        })
        .collect()
}

fn words(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

fn statuses(sandbox: &Sandbox) -> HashMap<String, String> {
    sandbox.json(&["proposal", "list", "--all"])["proposals"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| {
            (item["id"].as_str().expect("an id").to_owned(), item["status"].as_str().expect("a status").to_owned())
        })
        .collect()
}

#[test]
fn sixteen_processes_decide_and_capture_and_nothing_is_lost() {
    for checked_out in [true, false] {
        let sandbox = Sandbox::new();
        let branch = if checked_out { "main" } else { "wiki" };
        sandbox.run(&["init", "--no-hooks", "--branch", branch]);
        let ids = stage(&sandbox, PROCESSES);
        let session = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions/hand-pnpm-rule.jsonl");
        let session = session.display().to_string();
        let commands: Vec<Vec<String>> = ids
            .iter()
            .enumerate()
            .map(|(n, id)| match n % 4 {
                0 | 1 => words(&["proposal", "accept", id]),
                2 => words(&["proposal", "reject", id, "--reason", "no"]),
                _ => words(&["capture", &session]),
            })
            .collect();
        let codes = at_once(&sandbox, &commands);
        sandbox.fsck();
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
        let statuses = statuses(&sandbox);
        let log = sandbox.git(&["log", "--first-parent", "--format=%B", branch]);
        for (n, (id, code)) in ids.iter().zip(&codes).enumerate() {
            let landed = log.lines().filter(|line| *line == format!("Memory-Proposal: {id}")).count();
            let (status, lands) = match (n % 4, code) {
                (0 | 1, 0) => ("accepted", 1),
                (2, 0) => ("rejected", 0),
                _ => ("pending", 0),
            };
            assert_eq!((statuses[id].as_str(), landed), (status, lands), "{id} after exit {code}");
        }
        assert!(codes.iter().filter(|code| **code == 0).count() >= PROCESSES / 2, "{codes:?}");
        let sessions = sandbox.refs("refs/memory/sessions/");
        assert_eq!(sessions.lines().count(), 1, "one session, captured by several: {sessions}");
    }
}

#[test]
fn one_proposal_accepted_by_sixteen_lands_once_and_each_hears_the_truth() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    let ids = stage(&sandbox, 1);
    let commands: Vec<_> = (0..PROCESSES).map(|_| words(&["proposal", "accept", &ids[0]])).collect();
    let codes = at_once(&sandbox, &commands);
    assert!(codes.contains(&0), "{codes:?}");
    let log = sandbox.git(&["log", "--first-parent", "--format=%B", "main"]);
    assert_eq!(log.lines().filter(|line| *line == format!("Memory-Proposal: {}", ids[0])).count(), 1);
    assert_eq!(statuses(&sandbox)[&ids[0]], "accepted");
    sandbox.fsck();
}

#[test]
fn an_accept_and_a_reject_of_one_proposal_give_one_decision() {
    for _ in 0..4 {
        let sandbox = Sandbox::new();
        sandbox.run(&["init", "--no-hooks"]);
        let ids = stage(&sandbox, 1);
        let codes = at_once(
            &sandbox,
            &[words(&["proposal", "accept", &ids[0]]), words(&["proposal", "reject", &ids[0], "--reason", "no"])],
        );
        let status = statuses(&sandbox)[&ids[0]].clone();
        let winner = if status == "accepted" { 0 } else { 1 };
        assert_eq!((codes[winner], codes[1 - winner]), (0, 1), "{status}");
        let there = sandbox.tree("main").contains(&"gotchas/lesson-0.md".to_owned());
        assert_eq!(there, status == "accepted");
    }
}
