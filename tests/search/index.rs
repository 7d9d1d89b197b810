//! The index: kept up to date, made anew when it is of no use, and never the reason for another answer.

use std::fs;
use std::path::PathBuf;

use git_memory::search::{Ask, Kept, Origin, Pages, Signals};
use git_memory::wiki::Wiki;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::common::Sandbox;
use super::{answer, found, paths, wiki};

const PAGES: [(&str, &str); 3] = [
    ("notes/a.md", "# Alpha\n\nthe quick brown fox\n"),
    ("notes/b.md", "# Beta\n\nthe lazy dog and the fox\n"),
    ("notes/c.md", "# Gamma\n\nnothing here\n"),
];

/// The index's files.
fn files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.path(".git/memory/index");
    let mut all: Vec<PathBuf> = fs::read_dir(folder).map_or(Vec::new(), |found| {
        found.flatten().map(|entry| entry.path()).filter(|path| path.to_string_lossy().contains("/search-")).collect()
    });
    all.sort();
    all
}

/// What `-v` tells of the index.
fn told(sandbox: &Sandbox) -> String {
    let output = sandbox.memory(&["search", "--no-record", "-v", "fox"]).output().expect("the binary starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_index_is_made_once_and_then_brought_up_to_date() {
    let wiki = wiki(&PAGES);
    assert!(told(&wiki).contains("there was none"));
    assert!(told(&wiki).contains("was up to date"));
    wiki.write("notes/d.md", "another fox");
    fs::remove_file(wiki.path("notes/a.md")).expect("removed");
    wiki.commit("Change");
    assert!(told(&wiki).contains("2 changed"));
    assert!(told(&wiki).contains("was up to date"));
    assert_eq!(found(&wiki, &["fox"]), ["notes/d.md", "notes/b.md"]);
    // A commit that changes no page changes nothing.
    wiki.commit("Empty");
    assert!(told(&wiki).contains("was up to date"));
}

#[test]
fn a_damaged_index_is_made_anew_and_the_search_answers() {
    let wiki = wiki(&PAGES);
    let right = answer(&wiki, &["fox"]);
    let file = files(&wiki).pop().expect("a file");
    let good = fs::read(&file).expect("read");
    let mut damaged: Vec<Vec<u8>> = vec![Vec::new(), vec![0; good.len()], b"gmsearch".to_vec(), vec![0xff; 100_000]];
    damaged.extend((1..good.len()).step_by(good.len() / 7 + 1).map(|length| good[..length].to_vec()));
    for place in (0..good.len()).step_by(good.len() / 29 + 1) {
        let mut other = good.clone();
        other[place] ^= 0x55;
        damaged.push(other);
    }
    let opened = Wiki::open(&wiki.dir).expect("a wiki");
    for bytes in damaged {
        fs::write(&file, &bytes).expect("written");
        let pages = Pages::at(&opened, None).expect("pages");
        let ask = Ask { text: "fox", limit: 10, ..Ask::default() };
        let answer = pages.search(&ask, &Signals::default()).expect("an answer");
        assert!(matches!(answer.index, Origin::Built(_)), "{} bytes", bytes.len());
        assert_eq!(answer.hits.len(), 2);
        assert_eq!(fs::read(&file).expect("read").len(), good.len());
    }
    assert_eq!(answer(&wiki, &["fox"]), right);
}

#[test]
fn the_second_file_counts_only_with_the_one_it_was_made_for() {
    let wiki = wiki(&PAGES);
    told(&wiki);
    let [main] = files(&wiki).try_into().expect("one file");
    let old = fs::read(&main).expect("read");
    wiki.write("notes/d.md", "another fox");
    wiki.commit("Change");
    told(&wiki);
    assert_eq!(files(&wiki).len(), 2);
    let right = answer(&wiki, &["fox"]);
    // As if another process had written the main file anew: what was added to the old one is added to nothing.
    fs::remove_file(&main).expect("removed");
    let more = files(&wiki).pop().expect("the second file");
    let added = fs::read(&more).expect("read");
    told(&wiki);
    fs::write(&more, &added).expect("written");
    assert_eq!(answer(&wiki, &["fox"]), right);
    fs::write(&main, &old).expect("written");
    assert_eq!(answer(&wiki, &["fox"]), right);
    fs::write(&more, &added[..added.len() / 2]).expect("written");
    assert_eq!(answer(&wiki, &["fox"]), right);
}

#[test]
fn sixteen_processes_that_find_no_index_all_answer() {
    let wiki = wiki(&PAGES);
    let right = answer(&wiki, &["fox"]);
    for round in 0..2 {
        for file in files(&wiki) {
            match round {
                0 => fs::remove_file(file).expect("removed"),
                _ => fs::write(file, b"rubbish").expect("written"),
            }
        }
        let start = |_| {
            let mut command = wiki.program(super::common::BIN);
            command.args(["search", "--no-record", "--json", "fox"]).stdout(std::process::Stdio::piped());
            command.stderr(std::process::Stdio::piped()).spawn().expect("it starts")
        };
        let all: Vec<_> = (0..16).map(start).collect();
        for child in all {
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{output:?}");
            let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("json");
            assert_eq!(paths(&value), paths(&right));
        }
        assert!(told(&wiki).contains("was up to date"));
    }
    assert!(files(&wiki).iter().all(|file| !file.to_string_lossy().ends_with(".part")));
}

#[cfg(unix)]
#[test]
fn a_repository_that_cannot_be_written_is_searched_all_the_same() {
    let wiki = wiki(&PAGES);
    // A file where the folder should be: whoever runs this may be allowed to write everywhere.
    fs::create_dir_all(wiki.path(".git/memory")).expect("a folder");
    let _ = fs::remove_dir_all(wiki.path(".git/memory/index"));
    fs::write(wiki.path(".git/memory/index"), b"").expect("a file");
    let said = told(&wiki);
    assert!(said.contains("was not kept"), "{said}");
    assert_eq!(found(&wiki, &["fox"]).len(), 2);
}

#[test]
fn the_pages_of_another_commit_are_searched_without_touching_the_index() {
    let wiki = wiki(&PAGES);
    let first = wiki.rev("HEAD");
    wiki.write("notes/a.md", "# Alpha\n\nno such thing\n");
    wiki.write("notes/d.md", "a fox, a fox\n");
    wiki.commit("Change");
    assert_eq!(found(&wiki, &["fox"]), ["notes/d.md", "notes/b.md"]);
    let before: Vec<Vec<u8>> = files(&wiki).iter().map(|file| fs::read(file).expect("read")).collect();
    assert_eq!(found(&wiki, &["fox", "--at", "HEAD~1"]).len(), 2);
    assert!(found(&wiki, &["fox", "--at", &first]).contains(&"notes/a.md".to_owned()));
    let after: Vec<Vec<u8>> = files(&wiki).iter().map(|file| fs::read(file).expect("read")).collect();
    assert_eq!(before, after);
    assert_eq!(wiki.json_error(1, &["search", "fox", "--at", "nowhere"])["code"], "unknown_revision");
}

#[test]
fn an_index_that_is_held_serves_every_commit_of_its_tree_and_no_other() {
    let sandbox = wiki(&PAGES);
    let kept = Kept::default();
    let search = |at: &str| {
        let wiki = Wiki::open(&sandbox.dir).expect("a wiki");
        let commit = wiki.repo.resolve(at).expect("resolved").expect("a commit");
        let ask = Ask { text: "fox", limit: 10, ..Ask::default() };
        let pages = kept.pages(&wiki, Some(commit)).expect("pages");
        let answer = pages.search(&ask, &Signals::default()).expect("an answer");
        (answer.index, answer.hits.len())
    };
    assert!(matches!(search("HEAD"), (Origin::Built(_), 2)), "nothing is written for a commit that was named");
    sandbox.commit("The same pages");
    assert_eq!(search("HEAD"), (Origin::Warm, 2));
    sandbox.write("notes/c.md", "# Gamma\n\na fox after all\n");
    sandbox.commit("Other pages");
    assert!(matches!(search("HEAD"), (Origin::Built(_), 3)));
    assert!(matches!(search("HEAD~1"), (Origin::Built(_), 2)));
}

#[test]
fn an_index_of_commits_that_are_gone_is_made_anew() {
    let wiki = wiki(&PAGES);
    told(&wiki);
    wiki.git(&["commit", "-q", "--amend", "-m", "Other"]);
    wiki.write("notes/a.md", "other text with a fox");
    wiki.git(&["add", "-A"]);
    wiki.git(&["commit", "-q", "--amend", "-m", "Other"]);
    wiki.git(&["reflog", "expire", "--expire=now", "--all"]);
    wiki.git(&["gc", "-q", "--prune=now"]);
    assert!(told(&wiki).contains("is gone"));
    assert_eq!(found(&wiki, &["fox"]).len(), 2);
}

/// One change of the pages.
#[derive(Debug, Clone)]
enum Edit {
    Write(u8, Vec<u8>),
    Remove(u8),
    Move(u8, u8),
    Many(u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (0..12u8, prop::collection::vec(0..10u8, 1..12)).prop_map(|(page, words)| Edit::Write(page, words)),
        2 => (0..12u8).prop_map(Edit::Remove),
        2 => (0..12u8, 0..12u8).prop_map(|(from, to)| Edit::Move(from, to)),
        1 => (0..10u8).prop_map(Edit::Many),
    ]
}

const WORDS: [&str; 10] =
    ["alpha", "beta", "gamma", "OPENSSL_DIR", "src/a.rs", "configured", "foxes", "the", "merge queue", "naïve"];

fn apply(sandbox: &Sandbox, edit: &Edit) {
    let path = |page: u8| sandbox.path(format!("notes/sub{}/p{page}.md", page % 3));
    match edit {
        Edit::Write(page, words) => {
            let text: Vec<&str> = words.iter().map(|word| WORDS[*word as usize]).collect();
            let heir = if words.len() == 5 { "superseded_by: notes/sub1/p1.md\n" } else { "" };
            let text = format!("---\ntitle: Page {page}\n{heir}---\n\n# Page\n\n{}\n", text.join(" "));
            let path = path(*page);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("written");
        }
        Edit::Remove(page) => drop(fs::remove_file(path(*page))),
        Edit::Move(from, to) => {
            fs::create_dir_all(path(*to).parent().expect("a folder")).expect("folders");
            let _ = fs::rename(path(*from), path(*to));
        }
        Edit::Many(word) => {
            for page in 0..70 {
                sandbox.write(&format!("notes/many/{page}.md"), format!("{} {page}\n", WORDS[*word as usize]));
            }
        }
    }
}

#[test]
fn an_index_that_was_brought_up_to_date_answers_as_one_made_anew() {
    let mut runner = TestRunner::new(Config { cases: 6, failure_persistence: None, ..Config::default() });
    let commits = prop::collection::vec(prop::collection::vec(edit(), 1..5), 1..7);
    let done = runner.run(&commits, |commits| {
        let sandbox = wiki(&PAGES);
        let kept = sandbox.path(".git/memory/index");
        let aside = sandbox.path(".git/memory/aside");
        for edits in &commits {
            edits.iter().for_each(|edit| apply(&sandbox, edit));
            sandbox.commit("Change");
            let opened = Wiki::open(&sandbox.dir).expect("a wiki");
            let stored = Pages::at(&opened, None).expect("pages");
            fs::rename(&kept, &aside).expect("moved");
            let fresh = Pages::at(&opened, opened.tip).expect("pages");
            let _ = fs::remove_dir_all(&kept);
            fs::rename(&aside, &kept).expect("moved back");
            prop_assert_eq!(stored.facts(), fresh.facts());
            for text in ["alpha", "fox openssl_dir", "\"merge queue\" the", "conf* naive", "page a.rs gamma"] {
                let ask = Ask { text, limit: 100, explain: true, ..Ask::default() };
                let (a, b) = (stored.search(&ask, &Signals::default()), fresh.search(&ask, &Signals::default()));
                let (a, b) = (a.expect("an answer"), b.expect("an answer"));
                prop_assert_eq!(a.hits, b.hits);
                prop_assert_eq!((a.candidates, a.tree), (b.candidates, b.tree));
            }
        }
        Ok(())
    });
    done.expect("the same answers");
}
