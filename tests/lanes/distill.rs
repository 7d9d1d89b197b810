//! What comes of a note that people use.

use serde_json::json;

use crate::scene::{Scene, text};

#[test]
fn a_note_becomes_one_lesson_that_waits_for_a_person() {
    let mut scene = Scene::new();
    // Even where everything else lands by itself.
    scene.sandbox.git(&["config", "memory.approval.mode", "all"]);
    scene.replies(&scene.lesson());
    scene.useful("clock");
    scene.improve(&[]);
    let id = scene.only();
    let shown = scene.sandbox.json(&["proposal", "show", &id]);
    let proposal = &shown["proposal"];
    assert_eq!((text(&proposal["lane"]), text(&proposal["kind"])), ("distill", "gotcha"));
    assert!(text(&proposal["deferred"]).contains("needs a person"), "{shown}");
    let evidence = shown["proposal"]["evidence"].as_array().expect("evidence");
    let quoted: Vec<(&str, &str)> = evidence.iter().map(|e| (text(&e["source"]), text(&e["quote"]))).collect();
    assert_eq!(
        quoted,
        [
            ("notes/clock.md", "Tests that read the wall clock fail around midnight."),
            ("notes/clock.md", "Inject a clock that the test sets"),
        ]
    );
    let note = scene.sandbox.read("notes/clock.md");
    scene.sandbox.run(&["proposal", "accept", &id]);
    let page = scene.sandbox.read("gotchas/inject-a-clock-into-tests.md");
    assert!(page.contains("sources: [notes/clock.md]") && page.contains("Give it a time of its own."), "{page}");
    assert_eq!(scene.sandbox.read("notes/clock.md"), note, "the note stays");
    scene.day(2);
    assert!(scene.due().is_empty());
    scene.sandbox.fsck();
}

#[test]
fn nothing_reusable_is_an_easy_answer() {
    for reply in [json!({"reason": "a dated status", "lesson": null}), json!({"reason": "a dated status"})] {
        let scene = Scene::new();
        scene.replies(&reply);
        scene.useful("clock");
        let run = scene.improve(&[]);
        assert_eq!(scene.calls(), 1);
        assert!(scene.open().is_empty());
        assert_eq!(text(&run["outcomes"][0]["reason"]), "nothing reusable: a dated status");
        let prompt = scene.prompt(1);
        assert!(prompt.contains("Nothing reusable") && prompt.contains("saved an hour"), "{prompt}");
    }
}

#[test]
fn a_lesson_that_is_nearly_there_gains_what_it_does_not_say_and_loses_no_line() {
    let existing = "# Tests and time\n\nA test that asks for the real time breaks at night, since the day may change while \
                    it runs.\n\n## Fix\n\nMock the time.\n";
    // Found by its text, by its title, or because the model says so.
    for (title, updates) in [
        ("Inject a clock into tests", json!(null)),
        ("Tests and time", json!(null)),
        ("Clocks", json!("gotchas/time.md")),
    ] {
        let scene = Scene::new();
        scene.page("gotchas/time.md", existing);
        scene.sandbox.commit("A lesson");
        let mut reply = scene.lesson();
        reply["lesson"]["title"] = json!(title);
        reply["lesson"]["updates"] = updates;
        scene.replies(&reply);
        scene.useful("clock");
        scene.improve(&[]);
        let id = scene.only();
        let shown = scene.sandbox.json(&["proposal", "show", &id]);
        assert_eq!(text(&shown["proposal"]["operation"]), "update", "{title}: {shown}");
        assert!(text(&shown["proposal"]["deferred"]).contains("needs a person"));
        scene.sandbox.run(&["proposal", "accept", &id]);
        let expected = format!("{existing}\n* Give a test a time of its own.\n");
        assert_eq!(scene.sandbox.read("gotchas/time.md"), expected, "{title}");
    }
    let scene = Scene::new();
    scene.page("gotchas/time.md", &format!("{existing}\nGive a test a time of its own.\n"));
    scene.sandbox.commit("A lesson");
    scene.replies(&scene.lesson());
    scene.useful("clock");
    let run = scene.improve(&[]);
    assert_eq!(text(&run["outcomes"][0]["reason"]), "gotchas/time.md says all of it already");
    assert!(scene.open().is_empty());
}

#[test]
fn a_lesson_that_says_more_or_nothing_new_is_refused() {
    type Change = fn(&mut serde_json::Value);
    let cases: [(Change, &str); 5] = [
        (|lesson| lesson["body_markdown"] = json!("# T\n\nSince version 4.2 it fails."), "evidence_not_found"),
        (|lesson| lesson["facts"][0]["fact"] = json!("It breaks at 03:00."), "evidence_not_found"),
        (|lesson| lesson["facts"][0]["quote"] = json!("Tests fail now and then."), "evidence_not_found"),
        (|lesson| lesson["confidence"] = json!(0.3), "confidence_below_threshold"),
        (
            |lesson| {
                lesson["body_markdown"] = json!(
                    "# T\n\nTests that read the wall clock fail around midnight. Inject a clock that the test sets, so that \
                     the same test always sees the same time."
                );
            },
            "duplicate_existing_content",
        ),
    ];
    for (change, code) in cases {
        let scene = Scene::new();
        let mut reply = scene.lesson();
        change(&mut reply["lesson"]);
        scene.replies(&reply);
        scene.useful("clock");
        let run = scene.improve_fails(&[]);
        assert_eq!(text(&run["refused"][0]["code"]), code, "{run}");
    }
}

#[test]
fn a_malformed_lesson_is_mended_once_and_then_given_up() {
    let scene = Scene::new();
    let mut reply = scene.lesson();
    reply["lesson"]["kind"] = json!("rule");
    scene.replies_at(1, &reply.to_string());
    scene.replies(&scene.lesson());
    scene.useful("clock");
    scene.improve(&[]);
    assert_eq!(scene.calls(), 2);
    assert!(scene.prompt(2).contains("none of gotcha, procedure and concept"));
    scene.only();
    let scene = Scene::new();
    let mut reply = scene.lesson();
    reply["lesson"]["updates"] = json!("gotchas/nowhere.md");
    scene.replies(&reply);
    scene.useful("clock");
    let run = scene.improve_fails(&[]);
    assert!(text(&run["outcomes"][0]["reason"]).contains("none of the lessons"), "{run}");
    assert_eq!(scene.calls(), 2);
    assert!(scene.open().is_empty());
}

#[test]
fn a_lesson_stays_in_the_scope_of_its_note() {
    let mut scene = Scene::new();
    let settings = scene.sandbox.read(".gitmemory.toml");
    scene.page(".gitmemory.toml", &format!("{settings}\n[[scope]]\nname = \"shop\"\npath = \"shop\"\n"));
    scene.page("shop/notes/time.md", &scene.sandbox.read("notes/clock.md").replace("billing", "basket"));
    scene.sandbox.commit("A scope");
    scene.replies(&scene.lesson());
    scene.useful("shop/notes/time.md");
    scene.day(2);
    let run = scene.improve(&["--scope", "shop"]);
    assert_eq!(text(&run["proposals"][0]["path"]), "shop/gotchas/inject-a-clock-into-tests.md", "{run}");
    assert!(
        scene.improve(&["--scope", "global", "--dry-run"])["plan"]["selected"].as_array().is_some_and(Vec::is_empty)
    );
}
