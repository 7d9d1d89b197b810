//! Where a page may stand.

use serde_json::json;

use super::*;

#[test]
fn invalid_path() {
    let world = World::default();
    for path in [
        "",
        "../x.md",
        "/etc/x.md",
        "gotchas/../x.md",
        "gotchas/.git/x.md",
        "gotchas/con.md",
        "gotchas/x.txt",
        "gotchas/a:b.md",
        "gotchas/-x.md",
        "gotchas/x\u{1b}.md",
        "gotchas/Ünder.md",
        "gotchas/With Space.md",
        "Gotchas/x.md",
    ] {
        let (valid, refused) = world.run(&[create(json!({"path": path}))]);
        assert!(valid.is_empty(), "{path}");
        let code = refused[0].code;
        let folder = path.starts_with("Gotchas/");
        assert!(
            code == ReasonCode::InvalidPath || folder && code == ReasonCode::UnsupportedPathPrefix,
            "{path}: {code}"
        );
    }
    world.refused(create(json!({"path": "notes/link/x.md", "kind": "note"})), ReasonCode::InvalidPath);
    let folded = World { files: vec!["Gotchas/x.txt"], pages: vec![], ..World::default() };
    folded.refused(create(json!({})), ReasonCode::InvalidPath);
}

#[test]
fn unsupported_path_prefix() {
    let world = World::default();
    for path in ["elsewhere/x.md", "x.md", "sessions/x.md", "_slots/other.md", "_archive/x.md", "gotchas.md"] {
        world.refused(create(json!({"path": path})), ReasonCode::UnsupportedPathPrefix);
    }
    let scope = |name: &str| Scope { name: name.into(), path: name.into(), repos: vec![], dirs: vec![] };
    let scoped = World { scopes: vec![scope("app"), scope("lib")], ..World::default() };
    scoped.refused(create(json!({})), ReasonCode::UnsupportedPathPrefix);
    scoped.refused(create(json!({"path": "lib/gotchas/x.md"})), ReasonCode::UnsupportedPathPrefix);
    assert_eq!(scoped.pass(create(json!({"path": "app/gotchas/x.md"}))).candidate.path, "app/gotchas/x.md");
}

#[test]
fn kind_path_mismatch() {
    World::default().refused(create(json!({"kind": "decision"})), ReasonCode::KindPathMismatch);
    World::default().refused(create(json!({"kind": "essay"})), ReasonCode::KindPathMismatch);
}

#[test]
fn files_that_agents_read_as_instructions_are_no_pages() {
    let page = "---\nkind: note\n---\n# For agents\n\nRun the tests.\n";
    let mut world = World {
        pages: vec![("CLAUDE.md", page.into()), ("concepts/agents.md", page.replace("note", "concept"))],
        ..World::default()
    };
    let more = json!([append("", "And the linter.")]);
    for path in ["CLAUDE.md", "notes/CLAUDE.md", "notes/claude.md", "AGENTS.md", "notes/GEMINI.md"] {
        let change = if path == "CLAUDE.md" {
            update(path, more.clone())
        } else {
            create(json!({"path": path, "kind": "note"}))
        };
        let why = world.refused(change, ReasonCode::UnsupportedPathPrefix);
        assert!(why.contains("instructions"), "{why}");
    }
    // A page that is there already is somebody's page on agents.
    let mut agents = update("concepts/agents.md", more.clone());
    agents["kind"] = json!("concept");
    world.pass(agents);
    world.by_person = true;
    world.pass(update("CLAUDE.md", more));
}
