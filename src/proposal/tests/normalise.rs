//! A candidate as a model spells it.

use serde_json::json;

use super::*;

#[test]
fn spellings_of_enums_cost_nothing() {
    let world = World::default();
    for (operation, kind) in
        [("Create", "pitfall"), ("create-or-update", "Gotchas"), ("full_page", "GOTCHA"), ("new page", "trap")]
    {
        let valid = world.pass(create(json!({"operation": operation, "kind": kind})));
        assert_eq!((valid.candidate.operation, valid.candidate.kind), (Operation::Create, Kind::Gotcha), "{operation}");
    }
    let valid = world
        .pass(create(json!({"operation": "upsert", "kind": null, "path": "./gotchas/lockfile", "confidence": "80%"})));
    assert_eq!((valid.candidate.path.as_str(), valid.candidate.confidence), ("gotchas/lockfile.md", 0.8));
    for said in [json!(80), json!("80"), json!("80 %"), json!("8/10"), json!("80/100"), json!(" 0.8 ")] {
        assert_eq!(world.pass(create(json!({"confidence": said}))).candidate.confidence, 0.8, "{said}");
    }
    for kind in ["page", "Lesson", "gotchas/", "caveat"] {
        assert_eq!(world.pass(create(json!({"kind": kind}))).candidate.kind, Kind::Gotcha, "{kind}");
    }
    let edit = json!([{"op": "append-to-section", "heading": "## Fix", "text": "Also on macOS."}]);
    assert_eq!(world.pass(update("gotchas/openssl.md", edit)).candidate.edits[0].op, EditOp::Append);
}

#[test]
fn a_missing_h1_comes_from_the_title_and_a_missing_title_from_the_h1() {
    let world = World::default();
    let valid = world.pass(create(json!({"body_markdown": "npm writes a second lock file that the job refuses."})));
    assert!(after(&valid).contains("\n# The lock file is made by pnpm\n\nnpm writes"), "{}", after(&valid));
    assert_eq!(valid.notes, ["H1 added from the title"]);
    let same = world.pass(create(json!({"title": null})));
    assert_eq!(same.candidate.title, "The lock file is made by pnpm");
    assert_eq!(same.id, valid.id);
}

#[test]
fn a_frontmatter_in_the_body_is_left_out() {
    let body = "---\ntitle: x\npinned: true\n---\n# The lock file is made by pnpm\n\nnpm writes a second lock file.\n";
    let text = after(&World::default().pass(create(json!({"body_markdown": body}))));
    assert!(!text.contains("pinned"), "{text}");
    assert_eq!(text.matches("---").count(), 2, "{text}");
}

#[test]
fn unsupported_operation() {
    let world = World::default();
    let code = ReasonCode::UnsupportedOperation;
    world.refused(json!("text"), code);
    world.refused(create(json!({"operation": "delete"})), code);
    world.refused(create(json!({"operation": "retire", "path": "gotchas/openssl.md"})), code);
    world.refused(create(json!({"operation": "supersede"})), code);
    world.refused(
        update("gotchas/openssl.md", json!([{"op": "delete_section", "anchor": "## Fix", "content": ""}])),
        code,
    );
    world.refused(
        update("gotchas/openssl.md", json!([{"op": "set_field", "anchor": "pinned", "content": "false"}])),
        code,
    );
    world.refused(create(json!({"edits": [append("", "x")]})), code);
    let slot = json!({"operation": "update", "path": "_slots/current-focus.md", "kind": "slot", "body_markdown": null, "edits": [append("", "x")]});
    world.refused(create(slot), code);
}

#[test]
fn confidence_out_of_range() {
    for said in [
        json!(1.01),
        json!(-0.1),
        json!(1e15),
        json!(101),
        json!(84.5),
        json!("high"),
        json!(null),
        json!("nan"),
        json!("8/0"),
        json!(true),
    ] {
        World::default().refused(create(json!({"confidence": said})), ReasonCode::ConfidenceOutOfRange);
    }
}
