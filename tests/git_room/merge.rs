use std::collections::BTreeMap;

use git_memory::git::{Batch, Entry, MergeOutcome, Mode, Oid, Repo, merge};

use crate::sandbox::*;

/// A generator that gives the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

const PATHS: [&str; 12] = ["a", "b", "b.md", "c/a", "c/b", "c/d/a", "c/d/b", "c", "e/a", "e/f/a", "e/f", "g"];

type Files = BTreeMap<&'static str, (Mode, String)>;

fn text(dice: &mut Dice) -> String {
    let (place, word) = (dice.roll(6), dice.roll(3));
    (0..6).map(|line| format!("line {line} {}\n", if line == place { word } else { 0 })).collect()
}

/// Puts a file, taking away what its path collides with.
fn put(files: &mut Files, path: &'static str, file: (Mode, String)) {
    files.retain(|other, _| !other.starts_with(&format!("{path}/")) && !path.starts_with(&format!("{other}/")));
    files.insert(path, file);
}

fn edited(dice: &mut Dice, files: &Files) -> Files {
    let mut files = files.clone();
    for _ in 0..1 + dice.roll(4) {
        let path = PATHS[dice.roll(PATHS.len())];
        match dice.roll(6) {
            0 | 1 => drop(files.remove(path)),
            2 => {
                // A rename.
                let Some(file) = files.remove(path) else { continue };
                put(&mut files, PATHS[dice.roll(PATHS.len())], file);
            }
            3 => {
                let mode = [Mode::Executable, Mode::Link][dice.roll(2)];
                if let Some(file) = files.get_mut(path) {
                    file.0 = mode;
                }
            }
            _ => {
                let file = (Mode::Blob, text(dice));
                put(&mut files, path, file);
            }
        }
    }
    files
}

fn tree(batch: &mut Batch, files: &Files) -> Oid {
    let edits: Vec<_> = files
        .iter()
        .map(|(path, (mode, text))| {
            let oid = batch.blob(text.as_bytes()).unwrap();
            ((*path).into(), Some(Entry { mode: *mode, oid }))
        })
        .collect();
    batch.tree(None, &edits).unwrap()
}

#[test]
fn the_short_way_gives_what_git_gives() {
    let sandbox = Sandbox::new();
    let dir = sandbox.init("r", &[]);
    let repo = Repo::open(&dir).unwrap();
    let mut dice = Dice(99);
    let mut batch = Batch::new(&repo);
    let mut cases = Vec::new();
    for _ in 0..300 {
        let mut base = Files::new();
        for _ in 0..8 {
            let file = (Mode::Blob, text(&mut dice));
            put(&mut base, PATHS[dice.roll(PATHS.len())], file);
        }
        let (ours, theirs) = (edited(&mut dice, &base), edited(&mut dice, &base));
        cases.push([&base, &ours, &theirs].map(|files| tree(&mut batch, files)));
    }
    batch.flush().unwrap();
    let (mut clean, mut conflicting) = (0, 0);
    for [base, ours, theirs] in cases {
        let mut batch = Batch::new(&repo);
        let outcome = merge(&mut batch, base, ours, theirs).unwrap();
        let (code, out, err) = try_git(
            &dir,
            &[
                "-c",
                "merge.directoryRenames=false",
                "merge-tree",
                "--write-tree",
                "-z",
                "-X",
                "find-renames=100%",
                &format!("--merge-base={base}"),
                &ours.to_string(),
                &theirs.to_string(),
            ],
        );
        let by_git = oid(out.split('\0').next().unwrap());
        match (&outcome, code) {
            (MergeOutcome::Clean(tree), Some(0)) => {
                assert_eq!(*tree, by_git, "{base} {ours} {theirs}");
                clean += 1;
            }
            (MergeOutcome::Conflicts(list), Some(1)) => {
                assert!(!list.is_empty(), "{out}");
                assert!(list.iter().all(|conflict| conflict.reason.contains("CONFLICT")), "{list:?}\n{out}");
                conflicting += 1;
            }
            _ => panic!("{base} {ours} {theirs}: {outcome:?}, git {code:?} {out} {err}"),
        }
    }
    assert!(clean > 150 && conflicting > 30, "clean {clean}, conflicting {conflicting}");
}

#[test]
fn two_edits_of_one_page_merge_and_two_of_one_line_conflict_in_the_text_alone() {
    let sandbox = Sandbox::new();
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n";
    for format in ["sha1", "sha256"] {
        let dir =
            sandbox.with_files(format, &[&format!("--object-format={format}")], &[("p.md", lines), ("q.md", "q")]);
        let base = rev(&dir, "HEAD");
        let repo = Repo::open(&dir).unwrap();
        let first = change(&repo, base, &[("p.md", Some(&lines.replace('1', "one")))]);
        let last = change(&repo, base, &[("p.md", Some(&lines.replace('8', "eight")))]);
        let other = change(&repo, base, &[("p.md", Some(&lines.replace('1', "ONE")))]);
        let gone = change(&repo, base, &[("p.md", None)]);
        let mut batch = Batch::new(&repo);
        let MergeOutcome::Clean(tree) = merge(&mut batch, base, first, last).unwrap() else { panic!("conflict") };
        let text = batch.repo().file(tree, "p.md".into()).unwrap().unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), lines.replace('1', "one").replace('8', "eight"));
        for (theirs, text_only) in [(other, true), (gone, false)] {
            let MergeOutcome::Conflicts(list) = merge(&mut batch, base, first, theirs).unwrap() else {
                panic!("merged")
            };
            assert_eq!(list.len(), 1);
            assert_eq!((list[0].path.to_string().as_str(), list[0].text_only), ("p.md", text_only), "{list:?}");
            assert!(list[0].reason.starts_with("CONFLICT"), "{list:?}");
        }
    }
}

#[test]
fn merge_drivers_and_attributes_change_nothing() {
    let sandbox = Sandbox::new();
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n";
    let dir = sandbox.with_files("r", &[], &[("p.md", lines), (".gitattributes", "*.md merge=evil\n")]);
    write(&dir, ".git/info/attributes", "*.md merge=union\n");
    write(&sandbox.path(""), "global", "*.md -merge\n");
    for (key, value) in [
        ("merge.evil.driver", "echo evil > %A"),
        ("merge.default", "evil"),
        ("core.attributesFile", sandbox.path("global").to_str().unwrap()),
        ("merge.directoryRenames", "true"),
        ("merge.renormalize", "true"),
        ("merge.conflictStyle", "zdiff3"),
    ] {
        git(&dir, &["config", key, value]);
    }
    let base = rev(&dir, "HEAD");
    let repo = Repo::open(&dir).unwrap();
    let first = change(&repo, base, &[("p.md", Some(&lines.replace('1', "one")))]);
    let last = change(&repo, base, &[("p.md", Some(&lines.replace('8', "eight")))]);
    let other = change(&repo, base, &[("p.md", Some(&lines.replace('1', "ONE")))]);
    let mut batch = Batch::new(&repo);
    let MergeOutcome::Clean(tree) = merge(&mut batch, base, first, last).unwrap() else { panic!("conflict") };
    let text = repo.file(tree, "p.md".into()).unwrap().unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), lines.replace('1', "one").replace('8', "eight"));
    let outcome = merge(&mut batch, base, first, other).unwrap();
    assert!(matches!(&outcome, MergeOutcome::Conflicts(list) if list[0].text_only), "{outcome:?}");
}

#[test]
fn paths_of_any_bytes_are_named_as_they_are() {
    let sandbox = Sandbox::new();
    let name = "new\nline\t\"é\".md";
    let dir = sandbox.with_files("r", &[], &[(name, "1\n")]);
    let base = rev(&dir, "HEAD");
    let repo = Repo::open(&dir).unwrap();
    let ours = change(&repo, base, &[(name, Some("2\n"))]);
    let theirs = change(&repo, base, &[(name, Some("3\n"))]);
    let MergeOutcome::Conflicts(list) = merge(&mut Batch::new(&repo), base, ours, theirs).unwrap() else {
        panic!("merged")
    };
    assert_eq!(list[0].path, name);
}
