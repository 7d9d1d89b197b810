//! What is known already: pages, proposals that wait, and what was turned down.

use serde_json::json;

use super::*;

fn past(path: &str, body: &str) -> Past {
    Past {
        id: "0123456789abcdef".parse().unwrap(),
        operation: Operation::Create,
        paths: vec![path.into()],
        kind: Kind::Gotcha,
        scope: "global".into(),
        title: "Something else".into(),
        body: body.into(),
        added: String::new(),
        quotes: Vec::new(),
        reason: "it is not true".into(),
    }
}

#[test]
fn duplicate_existing_path() {
    let world = World::default();
    let other = json!({"path": "gotchas/openssl.md", "title": "OpenSSL", "body_markdown": "The library was never installed at all on this machine."});
    world.refused(create(other), ReasonCode::DuplicateExistingPath);
    let known =
        json!({"path": "gotchas/openssl.md", "title": "OpenSSL", "body_markdown": "## Fix\n\nSet it in the job."});
    let what = world.refused(create(known), ReasonCode::DuplicateExistingPath);
    assert_eq!(what, "already known: gotchas/openssl.md holds all of it");
    let what =
        world.refused(create(json!({"path": "notes/Readme.md", "kind": "note"})), ReasonCode::DuplicateExistingPath);
    assert!(what.starts_with("notes/README.md exists"), "{what}");
}

#[test]
fn a_create_whose_page_exists_adds_the_sections_that_it_lacks() {
    let body = "# OpenSSL is not found\n\n## Fix\n\nSet it in the job.\n\n## On macOS\n\nInstall it with Homebrew.\n";
    let valid = World::default().pass(create(json!({"path": "gotchas/openssl.md", "body_markdown": body})));
    assert_eq!(valid.candidate.operation, Operation::Update);
    assert_eq!(after(&valid), format!("{OPENSSL}\n## On macOS\n\nInstall it with Homebrew.\n"));
    assert_ne!(valid.id, valid.asked);
}

#[test]
fn duplicate_existing_title() {
    let what = World::default().refused(
        create(json!({"title": "openssl is NOT found!", "body_markdown": "Something quite different happened here."})),
        ReasonCode::DuplicateExistingTitle,
    );
    assert!(what.starts_with("already known: gotchas/openssl.md"), "{what}");
}

#[test]
fn duplicate_existing_content() {
    let world = World::default();
    let restated = "# Homebrew\n\n## Cause\n\nThe build cannot find OpenSSL on the runner, so set OPENSSL_DIR to the Homebrew folder first.\n";
    for (path, kind) in [("gotchas/brew.md", "gotcha"), ("concepts/brew.md", "concept")] {
        let raw = create(json!({"path": path, "kind": kind, "title": "Homebrew", "body_markdown": restated}));
        let what = world.refused(raw, ReasonCode::DuplicateExistingContent);
        assert!(what.starts_with("already known: gotchas/openssl.md"), "{what}");
    }
    let equal =
        json!({"path": "notes/new.md", "kind": "note", "title": "Other", "body_markdown": "# Readme\nHello there."});
    world.refused(create(equal), ReasonCode::DuplicateExistingContent);
    let new = format!(
        "{restated}\nOn Linux the distribution's package is enough, and nothing needs to be set for it at all.\n"
    );
    world.pass(create(json!({"path": "gotchas/brew.md", "title": "Homebrew", "body_markdown": new})));
}

#[test]
fn already_rejected() {
    let id = World::default().pass(create(json!({}))).id;
    let same = World { rejected: vec![Past { id: id.clone(), ..past("gotchas/a.md", "") }], ..World::default() };
    let (_, refused) = same.run(&[create(json!({}))]);
    assert_eq!((refused[0].code, refused[0].proposal.as_ref()), (ReasonCode::AlreadyRejected, Some(&id)));
    assert!(refused[0].reason.contains("it is not true"));
    let body = "Well: npm writes a second lock file that the job refuses.";
    let reworded = World { rejected: vec![past("gotchas/lockfile.md", body)], ..World::default() };
    reworded.refused(create(json!({})), ReasonCode::AlreadyRejected);
    let other = World {
        rejected: vec![past("gotchas/lockfile.md", "Quite another thing was said there before.")],
        ..World::default()
    };
    other.pass(create(json!({})));
}

/// A rejected lesson about lock files, under another path and another title.
fn lock_files() -> Past {
    let body = "# Lock files\n\nThe job refuses the second lock file that npm writes. Only pnpm makes the lock file.\n";
    Past { title: "Lock files".into(), ..past("gotchas/lock-files.md", body) }
}

#[test]
fn a_rejected_lesson_comes_back_neither_in_other_words_nor_in_another_place() {
    let reworded = World { rejected: vec![lock_files()], ..World::default() };
    let what = reworded.refused(create(json!({})), ReasonCode::AlreadyRejected);
    assert!(what.contains("in other words") && what.contains("it is not true"), "{what}");
    // As an edit of another page too, of which only what it brings counts.
    let line = "npm writes a second lock file, and the job refuses it: pnpm alone makes the lock file.";
    reworded.refused(update("gotchas/openssl.md", json!([append("", line)])), ReasonCode::AlreadyRejected);
    let added = "The job refuses a second lock file of npm: pnpm alone makes the lock file.";
    let edit = Past { operation: Operation::Update, added: added.into(), ..past("gotchas/openssl.md", OPENSSL) };
    let edited = World { rejected: vec![edit], ..World::default() };
    edited.refused(update("gotchas/openssl.md", json!([append("", line)])), ReasonCode::AlreadyRejected);
    edited.pass(update("gotchas/openssl.md", json!([append("", "On Linux the distribution's package is enough.")])));
}

#[test]
fn another_lesson_than_the_rejected_one_passes() {
    let world = |past: Past| World { rejected: vec![past], ..World::default() };
    let other = "# Lock files\n\nThe lock file has to be committed, or the release job builds other versions.\n";
    world(lock_files()).pass(create(json!({"title": "Commit the lock file", "body_markdown": other})));
    let kept = "# Two lock files\n\nnpm writes a second lock file that the job refuses.\n";
    let decision =
        json!({"path": "decisions/lock.md", "kind": "decision", "title": "Two locks", "body_markdown": kept});
    world(lock_files()).pass(create(decision));
    world(Past { scope: "backend".into(), ..lock_files() }).pass(create(json!({})));
    World { by_person: true, ..world(lock_files()) }.pass(create(json!({})));
}

#[test]
fn the_same_words_of_the_same_session_teach_the_same_lesson_once() {
    let quoting = |source: &str, quote: &str| World {
        rejected: vec![Past { quotes: vec![(source.into(), quote.into())], ..lock_files() }],
        ..World::default()
    };
    let body = "# The second lock file\n\nThe npm client writes package-lock.json beside the lock file of pnpm.\n";
    let decision = json!({"path": "decisions/lock.md", "kind": "decision", "title": "A second lock file",
        "body_markdown": body});
    quoting("sessions/s1.md", "Use pnpm, not npm.").refused(create(decision.clone()), ReasonCode::AlreadyRejected);
    quoting("sessions/s2#1", "Use pnpm, not npm.").pass(create(decision.clone()));
    quoting("sessions/s1#1", "Never push on Fridays.").pass(create(decision));
    // One sentence may hold two lessons.
    let friday = "# Fridays\n\nDeploys wait until Monday.\n";
    let other = json!({"path": "decisions/fri.md", "kind": "decision", "title": "Fridays", "body_markdown": friday});
    quoting("sessions/s1#1", "Use pnpm, not npm.").pass(create(other));
}

#[test]
fn already_pending() {
    let id = World::default().pass(create(json!({}))).id;
    let same = World { pending: vec![Past { id: id.clone(), ..past("gotchas/a.md", "") }], ..World::default() };
    let (_, refused) = same.run(&[create(json!({}))]);
    assert_eq!((refused[0].code, refused[0].proposal.as_ref()), (ReasonCode::AlreadyPending, Some(&id)));
    // Another text for the same new page is not refused: staging holds it back behind the first.
    World { pending: vec![past("gotchas/lockfile.md", "")], ..World::default() }.pass(create(json!({})));
    let title = Past { title: "The Lock File is made by pnpm.".into(), ..past("gotchas/b.md", "") };
    World { pending: vec![title], ..World::default() }.refused(create(json!({})), ReasonCode::AlreadyPending);
    let (valid, refused) = World::default()
        .run(&[create(json!({})), create(json!({"title": "Another", "body_markdown": "Another text."}))]);
    assert_eq!((valid.len(), refused[0].code), (1, ReasonCode::AlreadyPending));
}
