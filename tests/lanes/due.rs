//! What is due for somebody's look although no feedback asks for one, and what the plan says of notes that are new.

use serde_json::{Value, json};

use crate::scene::{CLOCK, Scene, selected, text};

const PROACTIVE: [&str; 2] = ["--strategy", "proactive-maintenance"];

/// What a run would tell of: `page reason score`.
fn due(run: &Value) -> Vec<String> {
    let pages = run["plan"]["proactive"]["pages"].as_array().into_iter().flatten();
    pages.map(|page| format!("{} {} {}", text(&page["page"]), text(&page["reason"]), page["score"])).collect()
}

fn gates(run: &Value) -> Vec<String> {
    let gates = run["plan"]["gates"].as_array().expect("gates").iter().filter(|gate| gate["lane"] == "proactive");
    gates.map(|gate| format!("{} {}", text(&gate["name"]), gate["removed"])).collect()
}

fn dry(scene: &Scene) -> Value {
    scene.improve(&[&["--dry-run"][..], &PROACTIVE].concat())
}

#[test]
fn pages_that_nobody_asked_about_for_thirty_days_are_told_of_and_nothing_is_planned() {
    let mut scene = Scene::new();
    assert_eq!(scene.improve(&["--dry-run"])["plan"]["proactive"]["due"], Value::Null, "the default does not look");
    scene.day(20);
    let run = dry(&scene);
    assert_eq!((due(&run), gates(&run)), (Vec::new(), vec!["kind 1".into(), "new 3".into()]));
    scene.day(40);
    scene.sandbox.run(&["search", "midnight"]);
    scene.day(60);
    let run = dry(&scene);
    assert_eq!(due(&run), ["concepts/ports.md idle 0.5"]);
    assert_eq!((&run["plan"]["proactive"]["due"], selected(&run)), (&json!(1), Vec::new()));
    assert_eq!(gates(&run), ["kind 2", "in_use 1"]);
    scene.day(80);
    // Used once: worth more than one that never was.
    let run = dry(&scene);
    assert_eq!(due(&run), ["notes/clock.md idle 0.847", "concepts/ports.md idle 0.5"]);
    let words = scene.sandbox.run(&[&["improve", "--dry-run"][..], &PROACTIVE].concat());
    assert!(words.contains("due for a look: 2 pages; nothing is planned for them"), "{words}");
    assert!(words.contains("notes/clock.md: score 0.847, idle; used on 1 day, last on 2026-04-09"), "{words}");
    assert!(words.contains("lane proactive by builtin"), "{words}");
    let live = scene.improve(&PROACTIVE);
    assert_eq!(live["plan"], run["plan"], "the same code for both");
    assert_eq!((scene.calls(), scene.open().len()), (0, 0));
    let report = scene.sandbox.run(&["run", "show", text(&live["id"])]);
    assert!(report.contains("## Due for a look") && report.contains("concepts/ports.md: score 0.500"), "{report}");
    // After ninety days they are nobody's any more.
    scene.day(140);
    let run = dry(&scene);
    assert_eq!((due(&run), gates(&run)), (Vec::new(), vec!["kind 1".into(), "not_retrieved 3".into()]));
}

#[test]
fn pages_that_cannot_or_must_not_change_are_not_due_and_the_list_has_a_limit() {
    let mut scene = Scene::new();
    for (path, head) in [
        ("notes/old.md", "status: superseded"),
        ("notes/pinned.md", "pinned: true"),
        ("notes/a.md", "title: One"),
        ("notes/b.md", "title: Two"),
    ] {
        scene.page(path, &format!("---\n{head}\n---\n{CLOCK}"));
    }
    scene.sandbox.commit("More");
    let fix = ["--replace", "cache on 6379", "--with", "cache on 6380", "--source", "compose.yml"];
    scene.negative("ports", &fix);
    scene.day(40);
    scene.sandbox.git(&["config", "memory.strategy.proactive-maintenance.proactive.limit", "2"]);
    let run = dry(&scene);
    assert_eq!(due(&run), ["notes/a.md idle 0.5", "notes/b.md idle 0.5"]);
    assert_eq!(run["plan"]["proactive"]["due"], 3);
    assert_eq!(gates(&run), ["kind 2", "superseded 1", "protected 1", "pending 1", "limit 1"]);
    let all = scene.improve(&[&["--dry-run", "--max-pages", "9"][..], &PROACTIVE].concat());
    assert_eq!(due(&all).len(), 3);
}

#[test]
fn a_page_that_is_used_much_is_due_until_a_lane_has_looked_at_it() {
    let mut scene = Scene::new();
    for day in 25..32 {
        scene.day(day);
        for _ in 0..3 {
            scene.sandbox.run(&["search", "6379"]);
        }
    }
    scene.day(33);
    assert_eq!(due(&dry(&scene))[0], "concepts/ports.md high_salience 1.54", "seven days, however often on each");
    scene.improve(&["--page", "ports"]);
    assert_eq!(scene.calls(), 1);
    let run = dry(&scene);
    assert!(gates(&run).contains(&"seen 1".to_owned()) && due(&run).len() == 1, "{run}");
}

#[test]
fn the_plan_tells_how_many_notes_are_new_to_consolidation() {
    let mut scene = Scene::new();
    scene.day(2);
    let plan = |scene: &Scene| scene.improve(&["--dry-run", "--strategy", "catchup"])["plan"]["consolidation"].clone();
    let none = plan(&scene);
    assert_eq!((&none["pool"], &none["delta"]), (&json!(1), &json!(0)), "it was there when the wiki began");
    scene.page("notes/a.md", "# A\n\nSomething.\n");
    scene.page("notes/b.md", "# B\n\nSomething else.\n");
    scene.sandbox.commit("More");
    scene.sandbox.run(&["search", "midnight"]);
    let some = plan(&scene);
    assert_eq!((&some["pool"], &some["delta"], &some["would_run"]), (&json!(3), &json!(3), &json!(false)));
    assert_eq!(some["reason"], "3 of them are new to it, fewer than 10 (consolidate.min_dirty)");
    scene.sandbox.git(&["config", "memory.consolidate.minDirty", "3"]);
    assert_eq!(plan(&scene)["reason"], "not built");
    let few = scene.improve(&["--dry-run"])["plan"]["consolidation"].clone();
    assert_eq!((&few["delta"], text(&few["reason"])), (&Value::Null, "too few notes"));
}
