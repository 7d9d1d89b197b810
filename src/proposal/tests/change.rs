//! What a candidate does to pages: edits and their anchors, limits, slots, retirements.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;

#[test]
fn empty_body() {
    let world = World::default();
    for body in [json!(null), json!(" \n"), json!("# Only a heading\n"), json!("# A\n\n## B\n\n---\n")] {
        world.refused(create(json!({"body_markdown": body})), ReasonCode::EmptyBody);
    }
    world.refused(update("gotchas/openssl.md", json!([])), ReasonCode::EmptyBody);
}

#[test]
fn body_too_large() {
    let body = "word ".repeat(6_500);
    World::default().refused(create(json!({"body_markdown": body})), ReasonCode::BodyTooLarge);
    World::default().refused(create(json!({"title": "t".repeat(201)})), ReasonCode::BodyTooLarge);
}

#[test]
fn page_budget_exceeded() {
    let body = "word ".repeat(1_700);
    World::default().pass(create(json!({"body_markdown": body})));
    let rule = merged(rule("sessions/s1#1", "Use pnpm, not npm."), json!({"body_markdown": body}));
    World::default().refused(rule, ReasonCode::PageBudgetExceeded);
    let procedure = json!({"path": "procedures/x.md", "kind": "procedure", "body_markdown": body});
    World::default().refused(create(procedure), ReasonCode::PageBudgetExceeded);
}

#[test]
fn target_protected() {
    let refuse = World { protect: Protect::Refuse, ..World::default() };
    let pinned = update("gotchas/pinned.md", json!([append("", "More of it.")]));
    let what = refuse.refused(pinned.clone(), ReasonCode::TargetProtected);
    assert!(what.contains("pinned"), "{what}");
    let locked = create(json!({"path": "decisions/locked-a.md", "kind": "decision"}));
    refuse.refused(locked.clone(), ReasonCode::TargetProtected);
    assert!(World::default().pass(pinned).deferred.unwrap().contains("pinned"));
    assert!(World::default().pass(locked).deferred.unwrap().starts_with("protected page: "));
}

#[test]
fn patch_target_not_in_context() {
    let world = World::default();
    let edits = json!([append("", "More.")]);
    world.refused(update("gotchas/none.md", edits.clone()), ReasonCode::PatchTargetNotInContext);
    let what = world.refused(update("gotchas/OpenSSL.md", edits.clone()), ReasonCode::PatchTargetNotInContext);
    assert!(what.ends_with("did you mean gotchas/openssl.md?"), "{what}");
    let all = |path: &str| Shown::from([(path.to_owned(), Extent::Whole)]);
    let shown = World { shown: Some(all("notes/crlf.md")), ..World::default() };
    shown.refused(update("gotchas/openssl.md", edits.clone()), ReasonCode::PatchTargetNotInContext);
    shown.pass(update("notes/crlf.md", edits));
}

#[test]
fn of_a_page_that_was_shown_in_part_only_sections_that_were_shown_whole_change() {
    let part = Extent::Sections(BTreeSet::from(["Fix".to_owned()]));
    let world = World { shown: Some(Shown::from([("gotchas/openssl.md".to_owned(), part)])), ..World::default() };
    world.pass(update("gotchas/openssl.md", json!([append("## Fix", "Also there.")])));
    world.pass(update("gotchas/openssl.md", json!([append(" Fix ", "Also there.")])));
    let set = json!([{"op": "set_field", "anchor": "description", "content": "All of it"}]);
    let add = json!([{"op": "add_section", "anchor": "## Fix", "content": "## More\n\nMore of it."}]);
    for edits in [json!([append("", "More.")]), json!([append("## Fix", "x y"), append("## Cause", "x y")]), set, add] {
        world.refused(update("gotchas/openssl.md", edits), ReasonCode::PatchTargetNotInContext);
    }
    let whole = create(json!({"operation": "update", "path": "gotchas/openssl.md"}));
    world.refused(whole, ReasonCode::PatchTargetNotInContext);
}

#[test]
fn too_many_edits() {
    let edits: Vec<_> = (0..6).map(|n| append("", &format!("Line {n}."))).collect();
    World::default().refused(update("gotchas/openssl.md", json!(edits)), ReasonCode::TooManyEdits);
}

#[test]
fn edit_too_large() {
    let edits = json!([append("", &"x".repeat(4_001))]);
    World::default().refused(update("gotchas/openssl.md", edits), ReasonCode::EditTooLarge);
}

#[test]
fn changed_chars_too_large() {
    let edits: Vec<_> = (0..4).map(|n| append("", &format!("{n} {}", "word ".repeat(790)))).collect();
    World::default().refused(update("gotchas/openssl.md", json!(edits)), ReasonCode::ChangedCharsTooLarge);
    let body = json!({"operation": "update", "path": "gotchas/openssl.md", "body_markdown": "new ".repeat(3_100)});
    World::default().refused(create(body), ReasonCode::ChangedCharsTooLarge);
}

#[test]
fn anchors() {
    let world = World::default();
    world.refused(update("notes/twice.md", json!([append("## A", "x y z")])), ReasonCode::DuplicateAnchor);
    world.refused(update("gotchas/openssl.md", json!([append("## Nope", "x y z")])), ReasonCode::AnchorNotFound);
    world
        .refused(update("gotchas/openssl.md", json!([append("# OpenSSL is not found", "x y z")])), ReasonCode::ExtraH1);
    world.refused(update("gotchas/openssl.md", json!([append("", "# New\n\nx y z")])), ReasonCode::ExtraH1);
    let deeper = json!([{"op": "add_section", "anchor": "## Fix", "content": "### Deeper\n\nx y z"}]);
    world.refused(update("gotchas/openssl.md", deeper), ReasonCode::HeadingLevelMismatch);
    let open_fence = json!([append("", "ok text"), {"op": "replace_section", "anchor": "## Fix", "content": "x"}]);
    world.refused(update("gotchas/openssl.md", open_fence), ReasonCode::SectionHashMismatch);
    let field = json!([{"op": "set_field", "anchor": "description", "content": "x"}]);
    world.refused(update("notes/broken.md", field.clone()), ReasonCode::AnchorNotFound);
    world.pass(update("notes/broken.md", json!([append("", "Body edits work.")])));
    let text = after(&world.pass(update("notes/README.md", field)));
    assert!(text.contains("description: x"), "{text}");
}

#[test]
fn section_hash_mismatch() {
    let world = World::default();
    let replace = |hash: &str| json!([{"op": "replace_section", "anchor": "## Fix", "section_sha256": hash, "content": "Export it."}]);
    world.refused(update("gotchas/openssl.md", replace("00")), ReasonCode::SectionHashMismatch);
    let hash = sections(OPENSSL.as_bytes()).into_iter().find(|s| s.title == "Fix").unwrap().sha256;
    let valid = world.pass(update("gotchas/openssl.md", replace(&hash)));
    assert_eq!(after(&valid), OPENSSL.replace("Set it in the job.", "Export it."));
}

#[test]
fn extra_h1() {
    for body in ["# A\n\ntext\n\n# B\n\nmore", "# A\n\ntext\n\nB\n====\n\nmore", "# A\n\ntext\n\n<h1>B</h1>\n"] {
        World::default().refused(create(json!({"body_markdown": body})), ReasonCode::ExtraH1);
    }
    World::default().pass(create(json!({"body_markdown": "# A\n\n```sh\n# a comment here\n```\n"})));
}

#[test]
fn what_stands_in_the_page_already_is_not_held_against_an_edit() {
    let world = World { pages: vec![("notes/old.md", "# Old\n\nTODO: fill in the rest\n".into())], ..World::default() };
    world.pass(update("notes/old.md", json!([append("", "A new fact about it.")])));
}

#[test]
fn no_change() {
    let world = World::default();
    let same = json!({"operation": "update", "path": "notes/README.md", "kind": "note", "body_markdown": "# Readme\n\nHello there."});
    world.refused(create(same), ReasonCode::NoChange);
    let field = json!([{"op": "set_field", "anchor": "title", "content": "OpenSSL is not found"}]);
    world.refused(update("gotchas/openssl.md", field), ReasonCode::NoChange);
}

#[test]
fn an_edit_keeps_every_other_byte() {
    let text = after(&World::default().pass(update("notes/crlf.md", json!([append("## A", "two words")]))));
    assert_eq!(text, "# Crlf\r\n\r\n## A\r\n\r\none\r\n\r\ntwo words\r\n");
}

#[test]
fn a_retirement_moves_the_page_to_the_archive_and_waits_for_a_person() {
    let world = World { operations: vec![Operation::Retire], ..World::default() };
    let valid = world.pass(create(json!({"operation": "retire", "path": "gotchas/openssl.md", "body_markdown": null})));
    assert!(valid.deferred.is_some());
    assert_eq!(valid.changes["gotchas/openssl.md"].after, None);
    let moved = String::from_utf8(valid.changes["_archive/gotchas/openssl.md"].after.clone().unwrap()).unwrap();
    assert!(moved.contains("status: retired"), "{moved}");
}

#[test]
fn the_slot_is_overwritten_as_a_whole() {
    let world = World { pages: vec![("_slots/current-focus.md", "# Focus\n\nOld.\n".into())], ..World::default() };
    let raw = json!({"operation": "update", "path": "_slots/current-focus.md", "kind": "slot", "title": "Focus", "body_markdown": "# Focus\n\nThe release."});
    assert_eq!(after(&world.pass(create(raw))), "# Focus\n\nThe release.\n");
}

#[test]
fn edits_of_the_same_page_from_two_candidates_both_pass() {
    let (valid, refused) = World::default().run(&[
        update("gotchas/openssl.md", json!([append("## Fix", "Also on macOS.")])),
        update("gotchas/openssl.md", json!([append("", "## See also\n\nThe runner's page.")])),
    ]);
    assert_eq!((valid.len(), refused.len()), (2, 0), "{refused:?}");
}
