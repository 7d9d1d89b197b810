//! The pages of sessions, as people read them. `tests/pages/<name>.md` is the page of `fixtures/sessions/<name>.jsonl`;
//! with `GIT_MEMORY_BLESS=1` the files are written anew.

use std::path::Path;

use git_memory::session::{self, From, Outcome, Policy, ReadOptions, Redactor};

fn page(name: &str) -> String {
    let (redactor, policy) = (Redactor::new(&[], &[]).unwrap(), Policy::new(true, false, &[]).unwrap());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions").join(format!("{name}.jsonl"));
    let options = ReadOptions { redactor: &redactor, policy: &policy };
    let (outcome, _) = session::read(&path, From::Auto, options).unwrap();
    let Outcome::Sessions(sessions) = outcome else { panic!("{name} is no session") };
    session::page(&sessions[0], "global")
}

#[test]
fn the_pages_of_the_fixtures_are_as_they_are_to_be() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    for name in [
        "hand-sqlx-offline-gotcha",
        "real-geese",
        "real-init",
        "real-least-nested-path",
        "real-lint-keep-parameters",
        "real-too-tentative",
    ] {
        let (file, page) = (folder.join(format!("{name}.md")), page(name));
        if std::env::var_os("GIT_MEMORY_BLESS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &page).unwrap();
        }
        assert_eq!(page, std::fs::read_to_string(&file).unwrap_or_default(), "{name}");
    }
}

#[test]
fn no_page_has_a_heading_of_its_session_or_a_fence_that_stays_open() {
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let page = page(&name);
        let body = page.split_once("\n---\n").unwrap().1;
        let headings: Vec<&str> = body.lines().filter(|line| line.starts_with("## ")).collect();
        assert!(
            headings.iter().all(|h| ["## Prompts", "## Outcome", "## Tool use", "## Observations"].contains(h)),
            "{name}"
        );
        assert!(!body.contains("\n```") && !body.contains("\n<"), "{name}");
        let fences = body.lines().filter(|line| line.trim_start().trim_start_matches("> ").starts_with("```")).count();
        assert_eq!(fences % 2, 0, "{name}");
    }
}
