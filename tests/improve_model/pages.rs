//! Which pages stand in a prompt, how much of them, and what of them can be changed.

use serde_json::{Value, json};

use crate::scene::{Agent, Ran, Scene, codes, gotcha, lesson, reply};

#[test]
fn pages_of_every_kind_are_shown_with_what_edits_need_and_retired_ones_are_not() {
    let scene = Scene::new();
    let kinds = ["gotchas", "decisions", "concepts", "procedures", "_rules", "notes"];
    for folder in kinds {
        let text = format!("# Redis in {folder}\n\nThe export tests need Redis.\n\n## Port\n\nIt is 6379.\n");
        scene.page(&format!("{folder}/redis-{}.md", folder.trim_start_matches('_')), &text);
    }
    scene.page(
        "gotchas/gone.md",
        "---\nstatus: retired\n---\n# Export tests and Redis\n\nThe export tests need Redis.\n",
    );
    scene.page("notes/garden.md", "---\ndescription: Where tomatoes grow\n---\n# Garden\n\nTomatoes like the sun.\n");
    scene.page("_slots/current-focus.md", "# Focus\n\nThe release.\n");
    scene.capture(1, &lesson());
    scene.improve();
    let asked = scene.asked();
    let pages = asked["pages"].as_array().expect("a list");
    let paths: Vec<&str> = pages.iter().map(|page| page["path"].as_str().expect("a path")).collect();
    assert_eq!(paths[0], "_slots/current-focus.md", "who overwrites the slot must know it");
    assert!(kinds.iter().all(|folder| paths.iter().any(|path| path.starts_with(folder))), "{paths:?}");
    assert!(!paths.contains(&"notes/garden.md"), "it has nothing to do with the session: {paths:?}");
    assert!(pages.len() == 7 && !asked.to_string().contains("gone.md"), "{paths:?}");
    let index = asked["index"].as_array().expect("a list");
    assert!(
        index.contains(&json!({
            "path": "notes/garden.md", "title": "Garden", "description": "Where tomatoes grow"
        })),
        "{index:?}"
    );
    // An edit with the section's hash lands; one with another hash, or of a page that was not shown, does not.
    let page = pages.iter().find(|page| page["path"] == "gotchas/redis-gotchas.md").expect("the page");
    assert_eq!(page["sections"][0]["anchor"], "## Port");
    let hash = page["sections"][0]["section_sha256"].clone();
    let edit = |hash: Value| {
        gotcha(json!({
            "operation": "update", "path": "gotchas/redis-gotchas.md", "body_markdown": null,
            "edits": [{"op": "replace_section", "anchor": "## Port", "section_sha256": hash,
                "content": "It is 6380 for the tests."}]
        }))
    };
    scene.replies(&reply(&[edit(json!("00")), edit(hash)]));
    scene.capture(2, &lesson());
    let run = scene.improve();
    assert_eq!(codes(&run), ["section_hash_mismatch"], "{run}");
    let id = run["proposals"][0]["id"].as_str().expect("an id");
    let diff = scene.sandbox.run(&["proposal", "diff", id]);
    assert!(diff.contains("-It is 6379.") && diff.contains("+It is 6380 for the tests."), "{diff}");
}

#[test]
fn only_pages_that_were_shown_can_be_changed() {
    let scene = Scene::new();
    scene.set("improve.max_patchable_pages", "1");
    scene.page("gotchas/redis.md", "# Redis for the export tests\n\nThe export tests need Redis on a port.\n");
    scene.page("notes/garden.md", "# Garden\n\nTomatoes like the sun.\n");
    scene.capture(1, &lesson());
    let update = |path: &str, kind: &str| {
        let edits = json!([{"op": "append", "anchor": "", "section_sha256": null, "content": "More of it."}]);
        gotcha(json!({"operation": "update", "path": path, "kind": kind, "body_markdown": null, "edits": edits}))
    };
    scene.replies(&reply(&[update("notes/garden.md", "note"), update("gotchas/redis.md", "gotcha")]));
    let run = scene.improve();
    let shown: Vec<Value> =
        scene.asked()["pages"].as_array().expect("pages").iter().map(|p| p["path"].clone()).collect();
    assert_eq!(shown.len(), 1);
    // Whichever of the two is nearest: the garden is not.
    assert_eq!(codes(&run)[0], "patch_target_not_in_context", "{run}");
}

#[test]
fn a_long_session_and_a_large_wiki_fit_into_the_prompt() {
    let scene = Scene::new();
    let filler = "All work and no play makes a long page. ".repeat(12);
    for n in 0..600 {
        scene.sandbox.write(&format!("notes/n{n:03}.md"), format!("# Subject {n}\n\n{filler}{n}\n"));
    }
    scene.page("gotchas/redis.md", "# Redis for the export tests\n\nThe export tests need Redis on port 6379.\n");
    let long = "error: \"quoted\"\tand more\n".repeat(300);
    let mut events = lesson();
    for _ in 0..150 {
        events.push(Ran("cargo test -p export", &long, true));
        events.push(Agent("It failed again, the root cause is not known."));
    }
    scene.capture(1, &events);
    let run = scene.improve();
    let call = &run["calls"][0];
    let asked = scene.asked();
    let printed = |scene: &Scene| {
        scene.sandbox.json(&["improve", "--print-prompt", "--session", "aaaaaaaa-0000-4000-8000-000000000001"])
    };
    assert!(printed(&scene)["tokens"].as_u64().expect("a number") <= 23_000);
    let observations = asked["observations"].as_array().expect("a list");
    assert!(observations.len() <= 48 && observations.len() > 5, "{}", observations.len());
    assert_eq!(call["read"]["observations"].as_u64(), Some(observations.len() as u64));
    assert_eq!(call["read"]["dropped"].as_u64(), Some(48 - observations.len() as u64));
    assert_eq!(observations[0]["source"], "obs:1");
    let texts = observations.iter().map(|o| o["text"].as_str().expect("text").chars().count());
    assert!(texts.max().is_some_and(|most| most <= 1_500));
    // The index tells of the nearest first, and how much more there is.
    assert_eq!(asked["index"][0]["path"], "gotchas/redis.md");
    let index = asked["index"].as_array().expect("a list").len();
    let left_out = usize::try_from(asked["index_left_out"].as_u64().expect("a number")).expect("few");
    assert!(index > 20 && left_out > 400 && index + left_out > 600, "{index} {left_out}");
    // With less room, less is shown; with none, that is said.
    scene.set("improve.max_input_tokens", "9000");
    let less = printed(&scene);
    assert!(less["tokens"].as_u64().expect("a number") <= 8_000, "{}", less["tokens"]);
    assert!(less["read"]["dropped"].as_u64() > call["read"]["dropped"].as_u64());
    scene.set("improve.max_input_tokens", "3000");
    let (_, said) = scene.sandbox.fails(78, &["improve", "--print-prompt", "--session", "aaaaaaaa"]);
    assert!(said.contains("improve.max_input_tokens"), "{said}");
}

/// A page of more than 8,000 characters, whose middle section is cut.
fn long() -> String {
    let filler = |word: &str, lines: usize| format!("Redis for the export tests on a {word} port.\n").repeat(lines);
    format!(
        "# Redis and exports\n\n## Begin\n\n{}\n## Middle\n\n{}\n## End\n\n{}",
        filler("first", 20),
        filler("cut", 220),
        filler("last", 20)
    )
}

#[test]
fn of_a_long_page_only_the_sections_that_are_shown_whole_can_be_changed() {
    let scene = Scene::new();
    scene.page("notes/long.md", &long());
    scene.capture(1, &lesson());
    scene.improve();
    let asked = scene.asked();
    let page = asked["pages"].as_array().expect("pages").iter().find(|p| p["path"] == "notes/long.md").expect("it");
    assert_eq!((&page["may_be_changed"], &page["shown_whole"]), (&json!(true), &json!(false)));
    assert!(page["body"].as_str().expect("text").chars().count() <= 8_000);
    let sections = page["sections"].as_array().expect("a list");
    let anchors: Vec<(&str, bool)> =
        sections.iter().map(|s| (s["anchor"].as_str().expect("text"), s["section_sha256"].is_string())).collect();
    assert_eq!(anchors, [("## Begin", true), ("## Middle", false), ("## End", true)]);
    let edit = |op: &str, anchor: &str, hash: Value, content: &str| {
        let edits = json!([{"op": op, "anchor": anchor, "section_sha256": hash, "content": content}]);
        gotcha(json!({
            "operation": "update", "path": "notes/long.md", "kind": "note", "body_markdown": null, "edits": edits
        }))
    };
    let hash = sections[2]["section_sha256"].clone();
    scene.replies(&reply(&[
        edit("append", "## Middle", Value::Null, "More of it."),
        edit("append", "", Value::Null, "More of it."),
        edit("add_section", "## End", Value::Null, "## More\n\nMore of it."),
        edit("set_field", "description", Value::Null, "All about Redis"),
        gotcha(json!({
            "operation": "update", "path": "notes/long.md", "kind": "note", "body_markdown": "# All\n\nNew.", "edits": []
        })),
        edit("append", "## Begin", Value::Null, "A fact of the begin."),
        edit("replace_section", "End", hash, "Another end."),
    ]));
    scene.capture(2, &lesson());
    let run = scene.improve();
    assert_eq!(codes(&run), ["patch_target_not_in_context"; 5], "{run}");
    let made = run["proposals"].as_array().expect("a list");
    assert_eq!(made.len(), 2, "{run}");
    let diff = scene.sandbox.run(&["proposal", "diff", made[1]["id"].as_str().expect("an id")]);
    assert!(diff.contains("+Another end."), "{diff}");
}

#[test]
fn pages_take_the_room_that_a_short_session_leaves_and_the_record_counts_those_that_do_not_fit() {
    let scene = Scene::new();
    let text = |n: usize| {
        let line = format!("The export tests of part {n} need Redis on port 63{n:02}.\n");
        format!("# Redis for the export tests, part {n}\n\n{}", line.repeat(130))
    };
    for n in 0..5 {
        scene.page(&format!("gotchas/redis-{n}.md"), &text(n));
    }
    scene.page("notes/tiny.md", "# Tests\n\nTests of the port.\n");
    scene.capture(1, &lesson());
    let run = scene.improve();
    let asked = scene.asked();
    let pages = asked["pages"].as_array().expect("a list");
    let whole: usize = pages.iter().map(|page| page["body"].as_str().expect("text").len()).sum();
    assert!(pages.len() >= 5 && whole > 4 * 24_000 / 4, "more than a quarter of the prompt: {} {whole}", pages.len());
    assert_eq!(run["calls"][0]["read"]["pages_dropped"], json!(0), "{}", run["calls"][0]["read"]);
    // Where room is short, the farthest are left out, and no small one takes the place of a nearer one.
    scene.set("improve.max_input_tokens", "12000");
    let less = scene.sandbox.json(&["improve", "--print-prompt", "--session", "aaaaaaaa"]);
    let read = &less["read"];
    let (shown, dropped) =
        (read["pages"].as_u64().expect("a number"), read["pages_dropped"].as_u64().expect("a number"));
    assert!(shown > 0 && dropped > 0 && shown + dropped == pages.len() as u64, "{read}");
    let kept: Vec<&String> = read["blobs"].as_object().expect("blobs").keys().filter(|k| k.ends_with(".md")).collect();
    assert!(kept.iter().all(|path| *path != "notes/tiny.md"), "{kept:?}");
}
