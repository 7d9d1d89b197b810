//! The same search in every kind of repository.

use super::common::Sandbox;
use super::{found, paths, wiki};

const FOX: &str = "# Fox\n\nthe quick brown fox\n";

#[test]
fn a_linked_work_tree_and_a_bare_clone_search_the_same_pages() {
    let mut wiki = wiki(&[("notes/a.md", FOX)]);
    wiki.git(&["worktree", "add", "-q", "-b", "side", "../linked"]);
    let bare = wiki.root().join("bare.git");
    wiki.git(&["clone", "-q", "--bare", ".", &bare.display().to_string()]);
    for place in [wiki.root().join("linked"), bare] {
        wiki.dir = place;
        assert_eq!(found(&wiki, &["fox"]), ["notes/a.md"], "{}", wiki.dir.display());
    }
}

#[test]
fn a_wiki_in_a_subfolder_names_its_pages_from_its_root_and_sees_no_other_files() {
    let sandbox = Sandbox::new();
    sandbox.write("docs/notes/other.md", FOX);
    sandbox.run(&["init", "--no-hooks", "--root", "docs/wiki"]);
    sandbox.write("docs/wiki/notes/a.md", FOX);
    sandbox.commit("Write");
    assert_eq!(found(&sandbox, &["fox"]), ["notes/a.md"]);
    let inside = sandbox.json(&["-C", "docs/wiki/notes", "search", "fox", "--no-record"]);
    assert_eq!(paths(&inside), ["notes/a.md"]);
}

#[test]
fn a_code_repository_searches_the_wiki_that_it_names() {
    let mut wiki = wiki(&[("notes/a.md", FOX)]);
    let place = wiki.dir.display().to_string();
    let code = wiki.root().join("code");
    std::fs::create_dir(&code).expect("a folder");
    wiki.dir = code;
    wiki.git(&["init", "-q"]);
    wiki.git(&["config", "memory.wiki", &place]);
    assert_eq!(found(&wiki, &["fox"]), ["notes/a.md"]);
}

#[test]
fn longer_object_names_are_kept_too() {
    let sandbox = Sandbox::bare_folder();
    sandbox.git(&["init", "-q", "--object-format=sha256"]);
    sandbox.write("README.md", "# Project\n");
    sandbox.commit("Start");
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.write("notes/a.md", FOX);
    sandbox.commit("Write");
    assert_eq!(found(&sandbox, &["fox"]), ["notes/a.md"]);
    sandbox.write("notes/b.md", FOX);
    sandbox.commit("Write");
    assert_eq!(found(&sandbox, &["fox"]), ["notes/a.md", "notes/b.md"]);
}

#[test]
fn a_wiki_without_pages_has_an_empty_answer() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    assert!(found(&sandbox, &["fox"]).is_empty());
}
