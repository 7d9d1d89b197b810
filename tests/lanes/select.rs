//! Which pages are looked at, and when again.

use serde_json::json;

use crate::scene::{Scene, selected, text};

const REFLECT: [&str; 1] = ["reflect concepts/ports.md"];
const DISTILL: [&str; 1] = ["distill notes/clock.md"];

#[test]
fn a_negative_asks_for_a_look_for_thirty_days_and_once() {
    let mut scene = Scene::new();
    assert!(scene.due().is_empty());
    scene.negative("ports", &[]);
    scene.day(30);
    let run = scene.improve(&["--dry-run"]);
    assert_eq!(selected(&run), REFLECT);
    let item = &run["plan"]["selected"][0];
    assert_eq!(text(&item["reason"]), "negative_feedback");
    assert_eq!(text(&item["blob"]), scene.sandbox.rev("HEAD:concepts/ports.md"));
    scene.day(32);
    assert!(scene.due().is_empty(), "after thirty days it is forgotten");
    scene.negative("ports", &[]);
    scene.day(33);
    scene.improve(&[]);
    assert_eq!(scene.calls(), 1);
    scene.day(34);
    assert!(scene.due().is_empty());
    assert!(scene.gates("reflect").contains(&"seen 1".to_owned()), "{:?}", scene.gates("reflect"));
    scene.improve(&[]);
    assert_eq!(scene.calls(), 1, "it was looked at");
    scene.negative("ports", &[]);
    assert_eq!(scene.due(), REFLECT, "a newer signal");
}

#[test]
fn what_is_no_complaint_plans_nothing() {
    let mut scene = Scene::new();
    scene.useful("ports");
    assert!(scene.gates("reflect").contains(&"not_negative 1".to_owned()), "{:?}", scene.gates("reflect"));
    scene.day(2);
    scene.sandbox.run(&["feedback", "pnpm", "--failed-to-apply", "--reason", "another project"]);
    scene.sandbox.run(&["feedback", "clock", "--failed-to-apply", "--reason", "another language"]);
    assert!(scene.due().is_empty());
    // Our own automation has no voice, even if its words got into the ledger.
    scene.sandbox.env.push(("GIT_MEMORY_RUN".into(), "01J0000000000000000000000".into()));
    scene.sandbox.fails(1, &["feedback", "ports", "--negative", "--reason", "no"]);
    scene.sandbox.env.pop();
    assert!(scene.due().is_empty());
    assert_eq!(scene.calls(), 0);
}

#[test]
fn a_complaint_whose_exact_fix_was_accepted_plans_nothing() {
    let mut scene = Scene::new();
    let fix = ["--replace", "cache on 6379", "--with", "cache on 6380", "--source", "compose.yml"];
    let given = scene.negative("ports", &fix);
    assert_eq!(scene.due(), REFLECT);
    let id = text(&given["proposal"]["id"]).to_owned();
    scene.sandbox.run(&["proposal", "accept", &id]);
    scene.day(2);
    assert!(scene.due().is_empty());
    assert!(scene.gates("reflect").contains(&"fix_accepted 1".to_owned()));
    scene.sandbox.run(&["proposal", "revert", &id]);
    assert_eq!(scene.due(), REFLECT, "the fix was taken back");
}

#[test]
fn a_pending_proposal_and_a_rejection_keep_the_lane_away() {
    let mut scene = Scene::new();
    scene.revise();
    scene.negative("ports", &[]);
    scene.improve(&[]);
    let id = scene.only();
    scene.day(2);
    scene.negative("ports", &[]);
    assert!(scene.due().is_empty());
    assert!(scene.gates("reflect").contains(&"pending 1".to_owned()), "{:?}", scene.gates("reflect"));
    scene.sandbox.run(&["proposal", "reject", &id, "--reason", "it was right"]);
    // Neither a newer word nor another text of the page brings it back before 14 days are over.
    scene.day(3);
    scene.edit("concepts/ports.md", "All about servers", "All about our servers");
    scene.negative("ports", &[]);
    scene.day(15);
    assert!(scene.due().is_empty());
    assert!(scene.gates("reflect").contains(&"rejected 1".to_owned()), "{:?}", scene.gates("reflect"));
    scene.day(17);
    assert_eq!(scene.due(), REFLECT);
    assert_eq!(scene.calls(), 1);
}

#[test]
fn after_the_rejection_of_a_lesson_its_note_rests_for_thirty_days() {
    let mut scene = Scene::new();
    scene.replies(&scene.lesson());
    scene.useful("clock");
    scene.improve(&[]);
    let id = scene.only();
    scene.day(2);
    scene.sandbox.run(&["proposal", "reject", &id, "--reason", "too thin"]);
    scene.day(31);
    scene.useful("clock");
    scene.edit("notes/clock.md", "midnight", "midnight UTC");
    assert!(scene.due().is_empty());
    assert!(scene.gates("distill").contains(&"rejected 1".to_owned()), "{:?}", scene.gates("distill"));
    scene.day(33);
    assert_eq!(scene.due(), DISTILL);
    // A procedural rejection is no verdict on the lesson.
    let mut scene = Scene::new();
    scene.replies(&scene.lesson());
    scene.useful("clock");
    scene.improve(&[]);
    let id = scene.only();
    scene.day(2);
    scene.sandbox.run(&["proposal", "reject", &id, "--procedural"]);
    scene.useful("clock");
    assert_eq!(scene.due(), DISTILL);
}

#[test]
fn a_note_is_looked_at_again_when_it_changed_or_something_new_was_said() {
    let mut scene = Scene::new();
    scene.replies(&json!({"reason": "only a status", "lesson": null}));
    scene.useful("clock");
    assert_eq!(scene.due(), DISTILL);
    scene.day(2);
    scene.improve(&[]);
    scene.day(3);
    assert!(scene.due().is_empty());
    assert!(scene.gates("distill").contains(&"seen 1".to_owned()), "{:?}", scene.gates("distill"));
    scene.edit("notes/clock.md", "midnight", "midnight UTC");
    assert_eq!(scene.due(), DISTILL, "another text");
    scene.improve(&[]);
    scene.day(4);
    assert!(scene.due().is_empty());
    scene.useful("clock");
    assert_eq!(scene.due(), DISTILL, "a newer signal");
}

#[test]
fn notes_that_are_wrong_only_praised_or_superseded_are_left_alone() {
    let mut scene = Scene::new();
    scene.sandbox.run(&["feedback", "clock", "--positive"]);
    assert!(scene.gates("distill").contains(&"bare_positive 1".to_owned()), "{:?}", scene.gates("distill"));
    scene.useful("clock");
    assert_eq!(scene.due(), DISTILL);
    scene.negative("clock", &["--mode", "incomplete"]);
    assert!(scene.due().contains(&DISTILL[0].to_owned()), "something is missing, nothing is wrong");
    scene.negative("clock", &["--mode", "outdated"]);
    assert!(scene.gates("distill").contains(&"flagged_wrong 1".to_owned()), "{:?}", scene.gates("distill"));
    scene.day(2);
    scene.edit("notes/clock.md", "midnight", "midnight UTC");
    assert!(scene.due().contains(&DISTILL[0].to_owned()), "it was changed since");
    scene.edit("notes/clock.md", "# How we", "---\nsuperseded_by: concepts/ports.md\n---\n# How we");
    assert!(scene.gates("distill").contains(&"superseded 1".to_owned()), "{:?}", scene.gates("distill"));
}

#[test]
fn words_of_earlier_versions_are_held_against_history_and_those_of_a_run_never_count() {
    let mut scene = Scene::new();
    scene.day(2);
    scene.useful("clock");
    let said = json!({
        "v": 1, "id": "01KJPPPPPP0000000000000000", "kind": "feedback", "at": "2026-03-02T11:00:00Z", "scope": "global",
        "actor": "A <a@b>", "page": "notes/clock.md", "data": {"verdict": "negative", "reason": "it is wrong"},
    });
    let mut by_run = said.clone();
    by_run["id"] = json!("01KJPPPPPP0000000000000001");
    by_run["run"] = json!("01KJPPPPPP0000000000000002");
    scene.forge(&by_run);
    assert_eq!(scene.due(), DISTILL);
    // It does not tell which text it was said of.
    scene.forge(&said);
    assert!(scene.gates("distill").contains(&"flagged_wrong 1".to_owned()), "{:?}", scene.gates("distill"));
    scene.day(3);
    scene.edit("notes/clock.md", "midnight", "midnight UTC");
    assert!(scene.due().contains(&DISTILL[0].to_owned()), "it was changed since");
}

#[test]
fn a_page_that_nobody_used_for_ninety_days_and_that_is_not_new_is_out_of_scope() {
    let mut scene = Scene::new();
    scene.day(95);
    let gates = scene.gates("reflect");
    assert!(gates.contains(&"not_retrieved 4".to_owned()), "{gates:?} (with the file README.md)");
    scene.sandbox.run(&["search", "6379"]);
    let gates = scene.gates("reflect");
    assert!(gates.contains(&"not_retrieved 3".to_owned()), "a search is a use: {gates:?}");
    scene.page("notes/new.md", "# New\n\nA page of today.\n");
    scene.sandbox.commit("One more");
    let gates = scene.gates("reflect");
    assert!(gates.contains(&"not_retrieved 3".to_owned()) && gates.contains(&"no_feedback 2".to_owned()), "{gates:?}");
    // By name everything can be looked at.
    let run = scene.improve(&["--dry-run", "--page", "_rules/pnpm.md"]);
    assert_eq!(selected(&run), ["reflect _rules/pnpm.md"]);
}

#[test]
fn a_page_is_named_on_the_command_line() {
    let mut scene = Scene::new();
    scene.useful("clock");
    let run = scene.improve(&["--dry-run", "--page", "ports", "--page", "notes/clock.md"]);
    assert_eq!(selected(&run), ["reflect concepts/ports.md", "reflect notes/clock.md", "distill notes/clock.md"]);
    assert_eq!(text(&run["plan"]["selected"][0]["reason"]), "named");
    let run = scene.improve(&["--page", "clock", "--lane", "distill"]);
    assert_eq!(selected(&run), DISTILL);
    assert_eq!(scene.calls(), 1);
    assert_eq!(scene.sandbox.json_error(1, &["improve", "--page", "nowhere"])["code"], "unknown_page");
    let error = scene.sandbox.json_error(1, &["improve", "--page", "ports", "--lane", "distill"]);
    assert_eq!(error["code"], "nothing_selected");
    let why = "concepts/ports.md (distill: it is of kind concept, and the lane works on notes alone)";
    assert!(text(&error["message"]).contains(why), "{error}");
    // Of several, the one that is dropped is named too.
    let args = ["improve", "--page", "ports", "--page", "clock", "--lane", "distill"];
    let output = scene.sandbox.memory(&args).output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&format!("not looked at: {why}")) && !said.contains("notes/clock.md ("), "{said}");
    scene.sandbox.fails(129, &["improve", "--lane", "distill"]);
    scene.sandbox.fails(129, &["improve", "--page", "ports", "--all"]);
    // The same input is not asked about again, not even by name.
    scene.revise();
    scene.improve(&["--page", "ports"]);
    let (id, calls) = (scene.only(), scene.calls());
    let error = scene.sandbox.json_error(1, &["improve", "--page", "ports"]);
    assert!(text(&error["message"]).contains("a proposal of the lane for it waits"), "{error}");
    scene.sandbox.run(&["proposal", "reject", &id, "--procedural"]);
    scene.day(2);
    let run = scene.improve(&["--page", "ports"]);
    assert_eq!((scene.calls(), text(&run["outcomes"][0]["reason"])), (calls, "unchanged"));
    assert_eq!(text(&run["outcomes"][0]["outcome"]), "skipped");
}

#[test]
fn without_a_model_the_lanes_say_so_and_a_named_page_is_an_error() {
    let mut scene = Scene::without_model();
    scene.negative("ports", &[]);
    let run = scene.improve(&["--dry-run"]);
    assert!(selected(&run).is_empty());
    let lanes = run["plan"]["lanes"].as_array().expect("lanes");
    let reflect = lanes.iter().find(|lane| lane["name"] == "reflect").expect("the lane");
    assert_eq!((&reflect["enabled"], text(&reflect["unavailable"])), (&json!(true), "no model"));
    assert_eq!(scene.sandbox.json_error(78, &["improve", "--page", "ports"])["code"], "no_model");
    scene.model(&["reflect"]);
    let run = scene.improve(&["--dry-run"]);
    assert_eq!(selected(&run), REFLECT);
    let lane = &run["plan"]["lanes"].as_array().expect("lanes")[1];
    assert_eq!(
        (text(&lane["provider"]), text(&lane["model"]), &lane["unavailable"]),
        ("command", "test-1", &json!(null))
    );
}

#[test]
fn the_page_that_was_judged_last_comes_first_and_a_limit_holds() {
    let mut scene = Scene::new();
    scene.negative("ports", &[]);
    scene.day(2);
    scene.negative("clock", &["--mode", "incomplete"]);
    let run = scene.improve(&["--dry-run", "--max-pages", "1"]);
    assert_eq!(selected(&run), ["reflect notes/clock.md", "distill notes/clock.md"]);
    assert_eq!(scene.due().len(), 3);
    let gate = run["plan"]["gates"].as_array().expect("gates").iter().find(|gate| gate["name"] == "limit");
    assert_eq!(gate.map(|gate| (&gate["removed"], &gate["lane"])), Some((&json!(1), &json!("reflect"))));
}

#[test]
fn a_dry_run_selects_what_a_live_one_does_and_writes_nothing() {
    let mut scene = Scene::new();
    scene.negative("ports", &[]);
    scene.useful("clock");
    scene.day(2);
    // In the spool only, which a dry run leaves there.
    scene.sandbox.run(&["search", "ports"]);
    let (state, files) = (scene.sandbox.state(), scene.sandbox.git_files());
    let dry = scene.improve(&["--dry-run"]);
    assert_eq!(scene.sandbox.state(), state);
    assert!(scene.sandbox.git_files() == files, "no object, ref, index or cache file came, went or changed");
    assert_eq!(scene.calls(), 0);
    scene.replies_at(2, &json!({"reason": "a status", "lesson": null}).to_string());
    let live = scene.improve(&[]);
    for key in ["selected", "gates", "lanes"] {
        assert_eq!(live["plan"][key], dry["plan"][key], "{key}");
    }
    assert_eq!(selected(&live), [REFLECT[0], DISTILL[0]]);
    assert_eq!(scene.calls(), 2);
}

#[test]
fn pages_and_sessions_are_looked_at_in_one_run_and_a_named_session_alone() {
    let scene = Scene::new();
    let fixture = format!("{}/fixtures/sessions/made-twin-laptop.jsonl", env!("CARGO_MANIFEST_DIR"));
    scene.sandbox.run(&["capture", &fixture]);
    scene.negative("ports", &[]);
    let id = text(&scene.sandbox.json(&["session", "list"])["sessions"][0]["id"]).to_owned();
    let run = scene.improve(&["--dry-run", "--session", &id]);
    assert_eq!(run["plan"]["selected"].as_array().map(Vec::len), Some(1), "{run}");
    let run = scene.improve(&[]);
    assert_eq!(run["plan"]["selected"].as_array().map(Vec::len), Some(2), "{run}");
    let subjects = scene.sandbox.git(&["log", "--format=%s", "refs/memory/log"]);
    assert!(subjects.contains("claims 1 session, 1 page"), "{subjects}");
    assert!(subjects.contains("review, reflect: 1 session, 1 page, 1 proposal"), "{subjects}");
}
