//! What is mended rather than refused, what a value of the frontmatter may be, and where the limits lie.

use serde_json::json;

use super::*;

const SLOT: &str = "_slots/current-focus.md";

fn slot(changes: Value) -> Value {
    create(merged(
        json!({"path": SLOT, "kind": "slot", "title": "Focus", "body_markdown": "# Focus\n\nThe release."}),
        changes,
    ))
}

fn set(key: &str, value: Value) -> Value {
    update("gotchas/openssl.md", json!([{"op": "set_field", "anchor": key, "content": value}]))
}

#[test]
fn a_create_with_edits_of_a_page_that_exists_is_an_update() {
    let raw =
        |path: &str| merged(update(path, json!([append("## Fix", "Also there.")])), json!({"operation": "create"}));
    let valid = World::default().pass(raw("gotchas/openssl.md"));
    assert_eq!((valid.candidate.operation, valid.candidate.edits.len()), (Operation::Update, 1));
    assert!(valid.notes[0].contains("became an update"), "{:?}", valid.notes);
    let unread = World { shown: Some(BTreeMap::new()), ..World::default() };
    unread.refused(raw("gotchas/openssl.md"), ReasonCode::PatchTargetNotInContext);
    World::default().refused(raw("gotchas/new.md"), ReasonCode::EmptyBody);
}

#[test]
fn a_create_that_has_many_new_sections_adds_them_in_as_few_edits_as_hold_them() {
    let sections = |chars: usize| -> String {
        (0..7).map(|n| format!("\n## S{n}\n\n{}\n", format!("w{n} ").repeat(chars / 3))).collect()
    };
    let raw = |chars| {
        let body = format!("# OpenSSL is not found\n{}", sections(chars));
        create(json!({"path": "gotchas/openssl.md", "body_markdown": body}))
    };
    let valid = World::default().pass(raw(60));
    assert_eq!(valid.candidate.edits.len(), 1);
    assert_eq!(after(&valid), format!("{OPENSSL}{}", sections(60).replace(" \n", "\n")));
    World::default().refused(raw(3_000), ReasonCode::TooManyEdits);
}

#[test]
fn of_the_slots_only_the_one_at_its_place_may_be_proposed_for() {
    for path in ["_slots/evil/current-focus.md", "_slots/a/b/current-focus.md", "_slots/other.md"] {
        World::default().refused(slot(json!({"path": path})), ReasonCode::UnsupportedPathPrefix);
    }
}

#[test]
fn the_slot_waits_for_a_person_and_a_create_of_it_overwrites_it() {
    assert!(World::default().pass(slot(json!({}))).deferred.is_some_and(|why| why.contains("slot")));
    let world = World { pages: vec![(SLOT, "# Focus\n\nOld.\n\n## More\n\nText.\n".into())], ..World::default() };
    let valid = world.pass(slot(json!({})));
    assert_eq!((valid.candidate.operation, after(&valid).as_str()), (Operation::Update, "# Focus\n\nThe release.\n"));
    assert!(valid.deferred.is_some_and(|why| why.contains("slot")));
    let unread = World { shown: Some(BTreeMap::new()), ..world };
    unread.refused(slot(json!({})), ReasonCode::PatchTargetNotInContext);
}

#[test]
fn an_h1_counts_when_it_is_the_pages_own_and_stands_first() {
    for (body, expected) in [
        ("Text.\n\n> # quoted", "# T\n\nText.\n\n> # quoted\n"),
        ("- # listed\n\nText.", "# T\n\n- # listed\n\nText.\n"),
        ("Intro.\n\n# Own\n\nText.", "# Own\n\nIntro.\n\nText.\n"),
        ("Intro.\n\nOwn\n===\n\nText.", "Own\n===\n\nIntro.\n\nText.\n"),
        ("# Own\n\n> # quoted\n\nText.", "# Own\n\n> # quoted\n\nText.\n"),
        ("---\n\n# Own\n\nText.", "# Own\n\n---\n\nText.\n"),
    ] {
        let text = after(&World::default().pass(create(json!({"title": "T", "body_markdown": body}))));
        assert!(text.ends_with(&format!("---\n\n{expected}")), "{body:?} {text}");
    }
    let two = "Intro.\n\n# One\n\nText.\n\n# Two\n\nText.";
    World::default().refused(create(json!({"body_markdown": two})), ReasonCode::ExtraH1);
}

#[test]
fn a_value_of_the_frontmatter_is_one_line_that_says_something() {
    let world = World::default();
    for (key, value, code) in [
        ("title", json!("x".repeat(201)), ReasonCode::EditTooLarge),
        ("description", json!("x".repeat(501)), ReasonCode::EditTooLarge),
        ("when_to_use", json!("x".repeat(501)), ReasonCode::EditTooLarge),
        ("tags", json!("x, ".repeat(300) + &"y".repeat(501)), ReasonCode::EditTooLarge),
        ("title", json!(""), ReasonCode::EmptyBody),
        ("description", Value::Null, ReasonCode::EmptyBody),
        ("description", json!(" \n"), ReasonCode::EmptyBody),
        ("tags", json!([]), ReasonCode::EmptyBody),
        ("title", json!(["a", "b"]), ReasonCode::UnsupportedOperation),
        ("title", json!({"a": "b"}), ReasonCode::UnsupportedOperation),
        ("description", json!(true), ReasonCode::UnsupportedOperation),
    ] {
        world.refused(set(key, value), code);
    }
    for (key, value, line) in [
        ("description", json!("two\n lines"), "description: two lines"),
        ("title", json!("Python 3.11"), "title: Python 3.11"),
        ("tags", json!(["Build", "macOS"]), "tags: [build, macos]"),
    ] {
        let text = after(&world.pass(set(key, value)));
        assert!(text.lines().any(|known| known == line), "{line} {text}");
    }
}

#[test]
fn aliases_that_are_null_or_empty_hide_none_that_says_something() {
    let quotes = json!([{"source": "sessions/s1#1", "quote": "Use pnpm,  not npm."}]);
    for evidence in [Value::Null, json!([]), json!("")] {
        let mut raw = create(json!({"evidence": null, "quotes": quotes}));
        raw["evidence"] = evidence;
        World::default().pass(raw);
    }
    let mut raw = update("gotchas/openssl.md", Value::Null);
    raw["edits"] = Value::Null;
    raw["patches"] = json!([{"op": "append", "anchor": "", "heading": "## Fix", "content": "", "text": "Also there."}]);
    assert!(after(&World::default().pass(raw)).ends_with("Also there.\n"));
    let mut raw = create(json!({"body_markdown": null}));
    raw["content"] = raw["title"].clone();
    raw["body_markdown"] = json!("");
    raw["content"] = json!("npm writes a second lock file that the job refuses.");
    World::default().pass(raw);
}

#[test]
fn what_models_put_around_names_and_hashes_costs_nothing() {
    for path in ["\"gotchas/lockfile.md\"", "'gotchas/lockfile'", "pages/gotchas/lockfile.md", "./gotchas/lockfile.md"]
    {
        assert_eq!(World::default().pass(create(json!({"path": path}))).candidate.path, "gotchas/lockfile.md");
    }
    for source in ["obs:1.", "\"obs:1\"", "obs:1:"] {
        World::default().pass(create(json!({"evidence": [{"source": source, "quote": "Use pnpm,  not npm."}]})));
    }
    let hash = sections(OPENSSL.as_bytes()).into_iter().find(|section| section.title == "Fix").unwrap().sha256;
    for hash in [format!("sha256:{hash}"), format!("`{hash}`")] {
        let edit =
            json!([{"op": "replace_section", "anchor": "## Fix", "section_sha256": hash, "content": "Export it."}]);
        World::default().pass(update("gotchas/openssl.md", edit));
    }
}

#[test]
fn a_quote_without_a_source_is_looked_for_in_the_session_at_hand() {
    let candidate = World::default()
        .with(|context| normalise(&create(json!({"evidence": ["Use pnpm,  not npm."]})), context).unwrap());
    let [evidence] = &candidate.evidence[..] else { panic!("{candidate:?}") };
    assert_eq!((evidence.source.as_str(), evidence.quote.as_str()), ("session", "Use pnpm,  not npm."));
}

#[test]
fn a_share_is_no_confidence_unless_it_is_a_part_of_a_whole() {
    for share in ["-3/-3", "4/3", "-1/4", "0/0", "1/-1", "nan/1"] {
        World::default().refused(create(json!({"confidence": share})), ReasonCode::ConfidenceOutOfRange);
    }
    assert_eq!(World::default().pass(create(json!({"confidence": "4/5"}))).candidate.confidence, 0.8);
}

#[test]
fn limits_count_what_is_said_and_not_what_stands_between() {
    let of = |chars: usize| {
        format!("# T\n\n{}", "word ".repeat(chars / 5)).chars().take(chars - 1).collect::<String>() + "x"
    };
    let raw = |chars: usize| create(json!({"title": "T", "body_markdown": of(chars)}));
    World::default().pass(raw(32_000));
    World::default().refused(raw(32_001), ReasonCode::BodyTooLarge);
    let procedure = |chars: usize| merged(raw(chars), json!({"path": "procedures/t.md", "kind": "procedure"}));
    World::default().pass(procedure(8_000));
    World::default().refused(procedure(8_001), ReasonCode::PageBudgetExceeded);
    let edits = |chars: usize| {
        let one = |n: usize| {
            append("", &format!("{n}{}", "word ".repeat(800)).chars().take(chars - 1).chain(['x']).collect::<String>())
        };
        update("gotchas/openssl.md", json!([one(1), one(2), one(3)]))
    };
    World::default().pass(edits(4_000));
    let one_more =
        World { limits: Improve { max_changed_chars_per_proposal: 11_999, ..Improve::default() }, ..World::default() };
    one_more.refused(edits(4_000), ReasonCode::ChangedCharsTooLarge);
}

#[test]
fn a_quote_is_kept_in_its_measure_whatever_white_space_it_came_with() {
    let quote = format!("Use pnpm,{}not npm.", "\n".repeat(18_000));
    let valid = World::default().pass(create(json!({"evidence": [{"source": "sessions/s1#1", "quote": quote}]})));
    assert_eq!(valid.candidate.evidence[0].quote, "Use pnpm, not npm.");
}

#[test]
fn text_that_ends_inside_a_fence_or_a_comment_is_refused_and_nothing_is_put_there() {
    for open in ["```sh\nmake", "~~~\nmake", "Text. <!-- x", "<!-- x", "<pre>\nx"] {
        let body = format!("# T\n\nSays a thing.\n\n{open}\n");
        let (valid, refused) = World::default().run(&[create(json!({"title": "T", "body_markdown": body}))]);
        let inline = open.starts_with("Text.");
        assert_eq!(valid.is_empty(), !inline, "{open:?}: a comment that begins inside a line ends with its paragraph");
        assert!(refused.iter().all(|refusal| refusal.code == ReasonCode::TruncationMarker), "{refused:?}");
        if !inline {
            World::default().refused(
                update("gotchas/openssl.md", json!([append("", &format!("Text.\n\n{open}"))])),
                ReasonCode::TruncationMarker,
            );
            let world = World { pages: vec![("notes/open.md", body)], ..World::default() };
            world.refused(update("notes/open.md", json!([append("", "More text.")])), ReasonCode::AnchorNotFound);
        }
    }
    World::default()
        .pass(update("gotchas/openssl.md", json!([append("", "- ```\n  make\n  ```\n\n<div>\n\nx\n\n</div>")])));
}

#[test]
fn edits_of_one_section_come_to_the_same_in_any_order() {
    let world = World::default();
    let hash = sections(OPENSSL.as_bytes()).into_iter().find(|section| section.title == "Fix").unwrap().sha256;
    let replace = json!({"op": "replace_section", "anchor": "## Fix", "section_sha256": hash, "content": "Export it."});
    let add = append("## Fix", "Also on macOS.");
    let expected = OPENSSL.replace("Set it in the job.", "Export it.\n\nAlso on macOS.");
    for edits in [json!([replace, add]), json!([add, replace])] {
        assert_eq!(after(&world.pass(update("gotchas/openssl.md", edits))), expected);
    }
    world.refused(update("gotchas/openssl.md", json!([replace, replace])), ReasonCode::SectionHashMismatch);
}

#[test]
fn a_new_section_differs_from_those_that_are_there_by_more_than_case() {
    let edit = json!([{"op": "add_section", "anchor": "## Fix", "content": "## FIX\n\nAlso on macOS."}]);
    World::default().refused(update("gotchas/openssl.md", edit), ReasonCode::DuplicateAnchor);
    World::default().refused(
        update("gotchas/openssl.md", json!([append("", "## fix\n\nAlso on macOS.")])),
        ReasonCode::DuplicateAnchor,
    );
}
