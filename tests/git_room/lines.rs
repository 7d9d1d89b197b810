//! Diffs against git's own.

use git_memory::git::{changes, unified};

use crate::sandbox::*;

/// Texts that differ in every way a diff has to deal with.
fn texts() -> Vec<String> {
    let numbered = |range: std::ops::RangeInclusive<u32>| range.map(|n| format!("line {n}\n")).collect::<String>();
    let long = numbered(1..=40);
    vec![
        String::new(),
        "one\n".into(),
        "one".into(),
        "one\ntwo".into(),
        long.clone(),
        long.replace("line 3\n", "").replace("line 20\n", "line twenty\nand more\n"),
        long.replace("line 9\n", "").replace("line 16\n", ""),
        long.replace("line 9\n", "").replace("line 17\n", ""),
        format!("before\n{long}after"),
        long.replace('\n', "\r\n"),
    ]
}

#[test]
fn a_diff_is_what_git_shows_and_git_applies_it() {
    let sandbox = Sandbox::new();
    let dir = sandbox.init("r", &[]);
    for (n, before) in texts().iter().enumerate() {
        for (m, after) in texts().iter().enumerate() {
            write(&dir, "a", before);
            write(&dir, "b", after);
            let ours = unified(before, after, ["a/page", "b/page"]);
            let (_, theirs, _) = try_git(
                &dir,
                &["-c", "core.autocrlf=false", "diff", "--no-index", "--no-color", "--histogram", "a", "b"],
            );
            let body = |text: &str| {
                let lines = text.lines().skip_while(|line| !line.starts_with("@@"));
                let head = |line: &str| line.split(" @@ ").next().unwrap().trim_end_matches(" @@").to_owned();
                lines.map(|line| if line.starts_with("@@") { head(line) } else { line.to_owned() }).collect::<Vec<_>>()
            };
            assert_eq!(body(&ours), body(&theirs), "{n} to {m}");
            assert_eq!(ours.is_empty(), before == after, "{n} to {m}");
            if !ours.is_empty() && !before.is_empty() && !after.is_empty() {
                write(&dir, "page", before);
                write(&dir, "change.patch", &ours);
                git(&dir, &["-c", "core.autocrlf=false", "apply", "change.patch"]);
                assert_eq!(std::fs::read_to_string(dir.join("page")).unwrap(), *after, "{n} to {m}");
            }
        }
    }
}

#[test]
fn changes_are_ranges_of_lines() {
    let hunks = changes(b"a\nb\nc\n", b"a\nx\ny\nc\nd\n");
    let ranges: Vec<_> = hunks.into_iter().map(|hunk| (hunk.before, hunk.after)).collect();
    assert_eq!(ranges, [(1..2, 1..3), (3..3, 4..5)]);
}
