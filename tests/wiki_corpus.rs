//! The wiki room over collected wikis: a made one with every quirk, and real ones.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use bstr::{BStr, BString, ByteSlice};
use git_memory::wiki::edit::{self, EditFault};
use git_memory::wiki::lint::{self, Finding, Severity};
use git_memory::wiki::open::is_page;
use git_memory::wiki::{Edit, EditOp, Layout, Page, Status, section};

type Files = BTreeMap<BString, Vec<u8>>;

/// All regular files below a folder, symbolic links left out, by their paths from it.
fn read_all(root: &Path) -> Files {
    let entries = walkdir::WalkDir::new(root).into_iter().map(|entry| entry.unwrap());
    entries
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(root).unwrap();
            let path = path_bytes(path);
            (path, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

fn path_bytes(path: &Path) -> BString {
    <[u8] as bstr::ByteSlice>::from_path(path).map_or_else(|| path.to_string_lossy().as_bytes().into(), BString::from)
}

/// The made wiki, written by its script.
fn made() -> Option<Files> {
    let corpus = common::corpus()?;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("wiki");
    let done = Command::new("python3").arg(corpus.join("gen_made_wiki.py")).arg(&root).status();
    if !done.as_ref().is_ok_and(|status| status.success()) {
        eprintln!("skipped: the made wiki cannot be written here ({done:?})");
        return None;
    }
    Some(read_all(&root))
}

fn lint_all(files: &Files) -> Vec<Finding> {
    let now = "2026-06-01T00:00:00Z".parse().unwrap();
    let paths: Vec<BString> = files.keys().cloned().collect();
    let mut found: Vec<Finding> = files
        .iter()
        .filter(|(path, _)| is_page(path.as_bstr()))
        .flat_map(|(path, bytes)| lint::page(path.as_bstr(), bytes, &Layout::default(), now))
        .collect();
    found.extend(lint::tree(&paths, &|path: &BStr| files.get(path).cloned()));
    found
}

fn read(files: &Files, path: &str) -> Page {
    Page::read(path.into(), &files[path.as_bytes().as_bstr()], &Layout::default(), "")
}

fn set(key: &str, content: &str) -> Edit {
    Edit { op: EditOp::SetField, anchor: key.into(), section_sha256: None, content: content.into() }
}

#[test]
fn every_page_of_the_made_wiki_is_read() {
    let Some(files) = made() else { return };
    let pages: Vec<_> = files.iter().filter(|(path, _)| is_page(path.as_bstr())).collect();
    assert!(pages.len() > 90, "{}", pages.len());
    for (path, bytes) in pages {
        let page = Page::read(path.as_bstr(), bytes, &Layout::default(), "");
        assert!(!page.title.trim().is_empty(), "{path}");
        for section in section::sections(bytes) {
            assert!(section.range.end <= bytes.len());
        }
    }
    let titles = [
        ("notes/frontmatter/unquoted-colon.md", "x"),
        ("notes/frontmatter/multi-doc.md", "x"),
        ("notes/frontmatter/no-close.md", "x"),
        ("notes/frontmatter/eof-close.md", "eof"),
        ("notes/frontmatter/hr-first.md", "hr-first"),
        ("notes/frontmatter/spaces-after-fence.md", "sp"),
        ("notes/frontmatter/dots-close.md", "dots"),
        ("notes/frontmatter/types.md", "1409"),
        ("notes/frontmatter/null-values.md", "x"),
        ("notes/frontmatter/fence-in-body.md", "body rules"),
        ("notes/bytes/bom-crlf.md", "crlf"),
        ("notes/bytes/cr-only.md", "crlf"),
        ("notes/bytes/mixed-eol.md", "crlf"),
        ("gotchas/h1-differs.md", "From frontmatter"),
        ("notes/bytes/nul.md", "nul"),
    ];
    for (path, title) in titles {
        assert_eq!(read(&files, path).title, title, "{path}");
    }
    assert_eq!(read(&files, "gotchas/superseded.md").front.status, Status::Superseded);
    assert!(read(&files, "gotchas/pinned.md").front.pinned && read(&files, "_slots/invariants.md").front.invariant);
}

#[test]
fn metadata_edits_change_their_own_lines_or_nothing() {
    let Some(files) = made() else { return };
    let mut refused = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| is_page(path.as_bstr())) {
        let page = Page::read(path.as_bstr(), bytes, &Layout::default(), "");
        let new = match edit::apply(bytes, &[set("description", "what: it is # for")]) {
            Ok(new) => new,
            Err(EditFault::Frontmatter(_)) => {
                refused.push(path.to_string());
                continue;
            }
            Err(other) => panic!("{path}: {other}"),
        };
        let after = Page::read(path.as_bstr(), &new, &Layout::default(), "");
        assert_eq!(after.front.description.as_deref(), Some("what: it is # for"), "{path}");
        assert_eq!((after.body, after.front.tags, after.kind), (page.body, page.front.tags, page.kind), "{path}");
        let crlf_only = |bytes: &[u8]| bytes.find_iter("\n").all(|at| at > 0 && bytes[at - 1] == b'\r');
        assert!(!bytes.contains_str("\r\n") || !crlf_only(bytes) || crlf_only(&new), "{path}");
        assert_eq!(bytes.starts_with(b"\xef\xbb\xbf"), new.starts_with(b"\xef\xbb\xbf"), "{path}");
    }
    for name in [
        "unquoted-colon",
        "leading-star",
        "wikilink-in-list",
        "tabs",
        "windows-path",
        "multi-doc",
        "two-blocks",
        "quote-first",
        "no-close",
        "hr-first",
        "scalar-fm",
        "list-fm",
        "dup-keys",
        "template-braces",
        "toml",
        "json",
    ] {
        assert!(refused.contains(&format!("notes/frontmatter/{name}.md")), "{name} was edited");
    }
    for name in ["crlf", "bom", "bom-crlf", "mixed-eol", "cr-only", "only-frontmatter", "no-final-newline"] {
        assert!(!refused.contains(&format!("notes/bytes/{name}.md")), "{name} was refused");
    }
    for name in [
        "eof-close",
        "spaces-after-fence",
        "dots-close",
        "anchors",
        "comment-and-order",
        "types",
        "null-values",
        "long-line",
        "nested",
        "emoji-key",
        "case-keys",
        "empty-fm",
    ] {
        assert!(!refused.contains(&format!("notes/frontmatter/{name}.md")), "{name} was refused");
    }
}

#[test]
fn body_edits_work_on_every_page_and_keep_all_its_bytes() {
    let Some(files) = made() else { return };
    for (path, bytes) in files.iter().filter(|(path, _)| is_page(path.as_bstr())) {
        let edit = Edit { op: EditOp::Append, anchor: String::new(), section_sha256: None, content: "one\ntwo".into() };
        let new = edit::apply(bytes, &[edit]).unwrap_or_else(|fault| panic!("{path}: {fault}"));
        assert!(new.starts_with(bytes.trim_ascii_end()), "{path}");
    }
}

#[test]
fn lint_names_each_quirk_of_the_made_wiki() {
    let Some(files) = made() else { return };
    let found = lint_all(&files);
    let has = |path: &str, check: &str| found.iter().any(|f| f.path == path && f.check == check);
    for (path, check) in [
        ("notes/frontmatter/unquoted-colon.md", "frontmatter"),
        ("notes/frontmatter/tabs.md", "frontmatter"),
        ("notes/frontmatter/dup-keys.md", "frontmatter"),
        ("notes/bytes/conflict.md", "conflict_markers"),
        ("notes/bytes/conflict-nested.md", "conflict_markers"),
        ("notes/bytes/latin1.md", "not_utf8"),
        ("notes/bytes/utf16.md", "not_utf8"),
        ("gotchas/expired.md", "expired"),
        ("gotchas/many-h1.md", "extra_h1"),
        ("gotchas/readme.md", "name_collision"),
        ("gotchas/openssl-dir.md", "name_collision"),
        ("notes/names/CON.md", "unportable_name"),
        ("notes/names/-rf.md", "unportable_name"),
        ("notes/links.md", "broken_link"),
        ("sessions/empty.md", "empty_page"),
    ] {
        assert!(has(path, check), "no {check} at {path}: {found:#?}");
    }
    assert!(!has("notes/bytes/about-conflicts.md", "conflict_markers"));
    let colon = found.iter().find(|f| f.path == "notes/frontmatter/unquoted-colon.md").unwrap();
    assert_eq!((colon.line, colon.column, colon.severity), (2, 18, Severity::Error));
}

#[test]
fn real_wikis_do_not_drown_in_findings() {
    let Some(corpus) = common::corpus() else { return };
    for name in ["adr", "agent-memory", "agent-solutions", "til"] {
        let files = read_all(&corpus.join("wikis").join(name));
        let pages = files.keys().filter(|path| is_page(path.as_bstr())).count();
        let start = std::time::Instant::now();
        let found = lint_all(&files);
        let took = start.elapsed();
        let mut counts: BTreeMap<(Severity, &str), usize> = BTreeMap::new();
        for finding in &found {
            *counts.entry((finding.severity, finding.check)).or_default() += 1;
        }
        eprintln!("{name}: {pages} pages, {took:?}, {counts:?}");
        if std::env::var_os("GIT_MEMORY_SHOW").is_some() {
            for f in found.iter().filter(|f| f.severity > Severity::Note) {
                eprintln!("  {}:{}:{} {:?} {} {}", f.path, f.line, f.column, f.severity, f.check, f.message);
            }
        }
        let errors = found.iter().filter(|f| f.severity == Severity::Error).count();
        assert!(errors * 50 <= pages, "{name}: {errors} errors on {pages} pages");
    }
}
