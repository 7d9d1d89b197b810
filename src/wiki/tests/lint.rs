use super::*;

fn now() -> Timestamp {
    "2026-06-01T12:00:00Z".parse().unwrap()
}

fn checks(path: &str, page_text: &str) -> Vec<(&'static str, usize, usize, Severity)> {
    let found = page(path.into(), page_text.as_bytes(), &Layout::default(), now());
    found.into_iter().map(|f| (f.check, f.line, f.column, f.severity)).collect()
}

#[test]
fn a_sound_page_has_no_findings() {
    assert_eq!(checks("gotchas/x.md", "---\ntitle: T\nkind: gotcha\nexpires_at: 2026-06-01\n---\n# T\n\ntext\n"), []);
    assert_eq!(checks("_slots/x.md", "Working.\n"), []);
}

#[test]
fn each_fault_is_found_at_its_place() {
    use Severity::{Error, Note, Warning};
    for (text, want) in [
        ("---\nkind: note\ntitle: a: b\n---\n# x\n", vec![("frontmatter", 3, 9, Error)]),
        ("---\ntitle: open\n\n# x\n", vec![("frontmatter", 1, 1, Error)]),
        ("---\nexpires_at: 2026-05-31\n---\n# x\n", vec![("expired", 2, 1, Warning)]),
        ("---\nexpires_at: soon\n---\n# x\n", vec![("bad_date", 2, 1, Warning)]),
        ("---\ntitle: a\n---\ntext\n", vec![("missing_h1", 4, 1, Note)]),
        ("text\n", vec![("missing_h1", 1, 1, Note)]),
        ("# a\n\n# b\n", vec![("extra_h1", 3, 1, Note)]),
        ("---\nkind: rule\n---\n# a\n", vec![("kind_mismatch", 2, 1, Note)]),
        ("# a\n\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n", vec![("conflict_markers", 3, 1, Error)]),
        (
            "# a\n\n```\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n```\n\nSetext\n=======\n",
            vec![("extra_h1", 11, 1, Note)],
        ),
        (" \n", vec![("empty_page", 1, 1, Note)]),
    ] {
        assert_eq!(checks("notes/x.md", text), want, "{text}");
    }
    let found = page("x.md".into(), b"# a\n\nstra\xdfe\n", &Layout::default(), now());
    assert_eq!((found[0].check, found[0].line, found[0].column), ("not_utf8", 3, 5));
}

#[test]
fn names_and_links_are_checked_over_the_whole_wiki() {
    let files = [
        ("a/README.md", "[[b]] [[gone]]\n"),
        ("a/readme.md", ""),
        ("b/b.md", "[x](../a/README.md) [y](no.md)\n\n[[c]]"),
        ("c/c.md", ""),
        ("d/c.md", ""),
        ("n/CON.md", ""),
        ("cafe\u{301}.md", ""),
        ("caf\u{e9}.md", ""),
        ("_archive/z.md", "[[nowhere]]"),
    ];
    let paths: Vec<BString> = files.iter().map(|(path, _)| BString::from(*path)).collect();
    let read =
        |path: &BStr| files.iter().find(|(name, _)| path == name.as_bytes()).map(|(_, text)| text.as_bytes().to_vec());
    let found: Vec<_> =
        tree(&paths, &read).into_iter().map(|f| (f.path.to_string(), f.check, f.line, f.column)).collect();
    let want = [
        ("a/README.md", "broken_link", 1, 7),
        ("a/readme.md", "name_collision", 1, 1),
        ("b/b.md", "broken_link", 1, 21),
        ("b/b.md", "ambiguous_link", 3, 1),
        ("caf\u{e9}.md", "name_collision", 1, 1),
        ("n/CON.md", "unportable_name", 1, 1),
    ];
    assert_eq!(found, want.map(|(path, check, line, column)| (path.to_owned(), check, line, column)));
}
