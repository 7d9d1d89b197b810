use proptest::prelude::*;

use super::*;
use crate::wiki::section::sections;

const PAGE: &str = "---\ntitle: T\n---\n# T\n\nintro\n\n## Fix\n\n- one\n- two\n\n### Detail\n\nmore\n\n## Why\ntext\n";

fn edit(op: EditOp, anchor: &str, content: &str) -> Edit {
    Edit { op, anchor: anchor.into(), section_sha256: None, content: content.into() }
}

fn replace(page: &[u8], anchor: &str, content: &str) -> Edit {
    let title = anchor.trim_start_matches('#').trim();
    let found = sections(page).into_iter().find(|s| s.title == title).map(|s| s.sha256);
    Edit { section_sha256: found, ..edit(EditOp::ReplaceSection, anchor, content) }
}

fn done(page: &str, edit: Edit) -> String {
    String::from_utf8(apply(page.as_bytes(), &[edit]).unwrap()).unwrap()
}

fn fault(page: &str, edit: Edit) -> EditFault {
    apply(page.as_bytes(), &[edit]).unwrap_err()
}

#[test]
fn appended_text_stands_at_the_end_of_its_section() {
    let got = done(PAGE, edit(EditOp::Append, "## Fix", "\nlast\n"));
    assert_eq!(got, PAGE.replace("more\n\n", "more\n\nlast\n\n"));
    let got = done(PAGE, edit(EditOp::Append, "## Why", "end"));
    assert_eq!(got, format!("{PAGE}\nend\n"));
    let got = done(PAGE, edit(EditOp::Append, "", "end"));
    assert_eq!(got, format!("{PAGE}\nend\n"));
}

#[test]
fn a_list_item_joins_the_list_above_it() {
    assert_eq!(
        done("# T\n\n## A\n\n- one\n\n## B\n", edit(EditOp::Append, "## A", "- two")),
        "# T\n\n## A\n\n- one\n- two\n\n## B\n"
    );
    assert_eq!(done("## A\n\n1. one\n", edit(EditOp::Append, "## A", "2. two")), "## A\n\n1. one\n2. two\n");
}

#[test]
fn a_new_section_stands_behind_its_anchors() {
    let got = done(PAGE, edit(EditOp::AddSection, "## Fix", "## New\n\ntext"));
    assert_eq!(got, PAGE.replace("more\n\n", "more\n\n## New\n\ntext\n\n"));
    assert_eq!(done("# T\n", edit(EditOp::AddSection, "", "## New\n\ntext")), "# T\n\n## New\n\ntext\n");
}

#[test]
fn a_replaced_section_keeps_its_heading_line() {
    for content in ["new", "## Why\nnew\n", "Why\n---\n\nnew"] {
        assert_eq!(done(PAGE, replace(PAGE.as_bytes(), "## Why", content)), PAGE.replace("text\n", "new\n"));
    }
    let spaced = "## A ##\n\nold\n\n\n## B\n";
    assert_eq!(done(spaced, replace(spaced.as_bytes(), "## A", "new")), "## A ##\n\nnew\n\n\n## B\n");
    let bare = "## A\n## B\n";
    assert_eq!(done(bare, replace(bare.as_bytes(), "## A", "new")), "## A\n\nnew\n\n## B\n");
}

#[test]
fn a_section_that_was_changed_is_not_replaced() {
    let mut edit = replace(PAGE.as_bytes(), "## Why", "new");
    let changed = PAGE.replace("text", "other text");
    assert_eq!(fault(&changed, edit.clone()), EditFault::SectionHashMismatch("## Why".into()));
    edit.section_sha256 = None;
    assert_eq!(fault(PAGE, edit), EditFault::SectionHashMismatch("## Why".into()));
}

#[test]
fn each_refusal_has_its_own_reason() {
    use EditOp::{AddSection, Append};
    let twice = "## A\n\nx\n\n## A\n\ny\n";
    assert_eq!(fault(PAGE, edit(Append, "## Nope", "x")), EditFault::AnchorNotFound("## Nope".into()));
    assert_eq!(fault(PAGE, edit(Append, "### Fix", "x")), EditFault::AnchorNotFound("### Fix".into()));
    assert_eq!(fault(twice, edit(Append, "## A", "x")), EditFault::DuplicateAnchor("## A".into()));
    assert_eq!(fault(PAGE, edit(AddSection, "## Fix", "## Why\n\nx")), EditFault::DuplicateAnchor("## Why".into()));
    assert_eq!(fault(PAGE, edit(Append, "", "## Why\n\nx")), EditFault::DuplicateAnchor("## Why".into()));
    assert_eq!(fault(PAGE, edit(AddSection, "## Fix", "## WHY\n\nx")), EditFault::DuplicateAnchor("## WHY".into()));
    assert_eq!(
        fault(PAGE, edit(AddSection, "## Fix", "### New\n\nx")),
        EditFault::HeadingLevelMismatch("### New".into())
    );
    assert_eq!(
        fault(PAGE, edit(AddSection, "## Fix", "no heading")),
        EditFault::HeadingLevelMismatch("no heading".into())
    );
    assert_eq!(fault(PAGE, edit(Append, "## Fix", "x\n\n## New\n")), EditFault::HeadingLevelMismatch("## New".into()));
    assert_eq!(
        fault(PAGE, replace(PAGE.as_bytes(), "## Why", "x\n\n## New")),
        EditFault::HeadingLevelMismatch("## New".into())
    );
    assert_eq!(fault(PAGE, replace(PAGE.as_bytes(), "## Why", "text")), EditFault::NoChange);
    assert_eq!(fault(PAGE, edit(Append, "## Fix", " \n")), EditFault::NoChange);
}

#[test]
fn an_h1_is_neither_touched_nor_added() {
    for anchor in ["# T", "T"] {
        assert_eq!(fault(PAGE, edit(EditOp::Append, anchor, "x")), EditFault::ExtraH1);
    }
    for content in ["# New", "x\n\nNew\n===\n", "x\n\n# New\n"] {
        assert_eq!(fault(PAGE, edit(EditOp::Append, "## Fix", content)), EditFault::ExtraH1);
    }
    let fenced = edit(EditOp::Append, "## Fix", "```sh\n# a comment\n```");
    assert!(done(PAGE, fenced).contains("more\n\n```sh\n# a comment\n```\n\n## Why"));
}

#[test]
fn a_text_that_leaves_a_fence_open_is_refused_and_so_is_one_put_inside_an_open_fence() {
    for content in ["```sh\nx", "<!-- x"] {
        for anchor in ["## Fix", ""] {
            assert_eq!(fault(PAGE, edit(EditOp::Append, anchor, content)), EditFault::LeavesOpen);
        }
        let open = format!("{PAGE}\n{content}\n");
        assert_eq!(fault(&open, edit(EditOp::Append, "## Why", "x")), EditFault::InsideOpen);
        assert!(apply(open.as_bytes(), &[edit(EditOp::Append, "## Fix", "x")]).is_ok(), "nothing is open there");
    }
}

#[test]
fn a_section_is_replaced_before_anything_is_added_to_it() {
    let (add, other) = (edit(EditOp::Append, "## Why", "added"), replace(PAGE.as_bytes(), "## Why", "new"));
    let expected = PAGE.replace("text\n", "new\n\nadded\n");
    for edits in [[add.clone(), other.clone()], [other.clone(), add]] {
        assert_eq!(apply(PAGE.as_bytes(), &edits).unwrap(), expected.as_bytes());
    }
    let twice = apply(PAGE.as_bytes(), &[other.clone(), other]);
    assert_eq!(twice, Err(EditFault::SectionHashMismatch("## Why".into())));
}

#[test]
fn an_anchor_inside_a_fence_is_no_anchor() {
    let page = "# T\n\n```\n## Fix\n```\n\n~~~\n## Why\n";
    for anchor in ["## Fix", "## Why"] {
        assert_eq!(fault(page, edit(EditOp::Append, anchor, "x")), EditFault::AnchorNotFound(anchor.into()));
    }
}

#[test]
fn line_ends_bom_and_a_missing_final_newline_stay() {
    let page = "\u{feff}---\r\ntitle: a\r\n---\r\n# a\r\n\r\n## B\r\n\r\nlast";
    let got = done(page, edit(EditOp::Append, "## B", "x\ny\n"));
    assert_eq!(got, format!("{page}\r\n\r\nx\r\ny"));
    let got = done(page, replace(page.as_bytes(), "## B", "new\nline\n"));
    assert_eq!(got, page.replace("last", "new\r\nline"));
    let broken = "---\r\ntitle: a: b\r\n---\r\n## B\r\n";
    assert_eq!(done(broken, edit(EditOp::Append, "## B", "x")), format!("{broken}\r\nx\r\n"));
}

#[test]
fn a_field_is_set_by_an_edit() {
    let got = done(PAGE, edit(EditOp::SetField, "description", "what: it is"));
    assert_eq!(got, PAGE.replace("title: T\n", "title: T\ndescription: \"what: it is\"\n"));
    assert_eq!(fault(PAGE, edit(EditOp::SetField, "title", "T")), EditFault::NoChange);
    assert!(matches!(fault("---\na: b: c\n---\n", edit(EditOp::SetField, "title", "T")), EditFault::Frontmatter(_)));
}

#[test]
fn edits_see_what_the_ones_before_them_made() {
    let edits = [edit(EditOp::AddSection, "## Fix", "## New\n\nx"), edit(EditOp::Append, "## New", "y")];
    let got = String::from_utf8(apply(PAGE.as_bytes(), &edits).unwrap()).unwrap();
    assert!(got.contains("## New\n\nx\n\ny\n\n## Why"));
}

#[test]
fn a_new_body_keeps_what_stands_above_it() {
    assert_eq!(
        replace_body(b"\xef\xbb\xbf---\r\ntitle: a: b\r\n---\r\n\r\n# old\r\n", "# new\n\nx\n").unwrap(),
        "\u{feff}---\r\ntitle: a: b\r\n---\r\n\r\n# new\r\n\r\nx\r\n".as_bytes()
    );
    assert_eq!(replace_body(b"# old", "# new\n").unwrap(), b"# new");
    assert_eq!(replace_body(b"---\na: b\n---", "# new").unwrap(), b"---\na: b\n---\n# new\n");
    assert_eq!(replace_body(b"", "# new").unwrap(), b"# new\n");
}

#[test]
fn dashes_in_a_text_neither_close_nor_begin_a_frontmatter() {
    let refused = |got: Result<Vec<u8>, EditFault>| matches!(got, Err(EditFault::Frontmatter(_)));
    let exchange = |page: &str, old: &str, new: &str| apply(page.as_bytes(), &[edit(EditOp::ReplaceText, old, new)]);
    let ruled = "a\n\n---\n\nb";
    let open = "---\ntitle: x\n\ntext\n";
    assert!(refused(apply(open.as_bytes(), &[edit(EditOp::Append, "", ruled)])));
    assert!(refused(exchange(open, "text", ruled)));
    assert!(refused(replace_body(open.as_bytes(), ruled)));
    let pinned = "---\npinned: true\n---\n";
    assert!(refused(apply(b"", &[edit(EditOp::Append, "", pinned)])));
    assert!(refused(exchange("---\n\ntext\n", "---\n\ntext", pinned)));
    assert!(refused(replace_body(b"", pinned)));
    for page in ["---\ntitle: x\n---\ntext\n", "text\n", "---\n\ntext\n"] {
        assert!(done(page, edit(EditOp::Append, "", ruled)).ends_with("\na\n\n---\n\nb\n"), "{page}");
    }
}

/// Pages of the pieces that make editing hard.
fn page() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"# T\n",
        b"## A\n",
        b"## B\n",
        b"### C\n",
        b"## A ##\n",
        b"text\n",
        b"\n",
        b"  \n",
        b"```\n",
        b"~~~\n",
        b"<!--\n",
        b"-->\n",
        b"- item\n",
        b"> q\n",
        b"===\n",
        b"---\n",
        b"Set\n---\n",
        b"    # code\n",
        b"\xff\xfe\n",
        b"a | b\n",
        b"1. x\n",
        b"<div>\n",
        b"[a]: b\n",
        b"[^1]: x\n",
        b"|-|\n",
        b"\t# tab\n",
        b"\0\n",
        b"title: x\n",
        b"...\n",
    ];
    let body = prop::collection::vec(prop::sample::select(pieces), 0..16);
    let top = prop::sample::select(vec![&b""[..], b"## A\n", b"# T\n\n## A\ntext\n"]);
    let front = prop::sample::select(vec![
        &b""[..],
        b"---\ntitle: a # c\n---\n",
        b"---\na: b: c\n---\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf---\nx: 1\n---\n",
    ]);
    let eol = prop::sample::select(vec!["\n", "\r\n", "\r"]);
    (front, top, body, eol, any::<bool>()).prop_map(|(front, top, body, eol, cut)| {
        let bytes = [front, top, &body.concat()].concat();
        let mut page: Vec<u8> = Vec::new();
        for byte in bytes {
            if byte == b'\n' { page.extend_from_slice(eol.as_bytes()) } else { page.push(byte) }
        }
        if cut {
            while matches!(page.last(), Some(b'\n' | b'\r')) {
                page.pop();
            }
        }
        page
    })
}

fn any_edit() -> impl Strategy<Value = (EditOp, &'static str, String)> {
    let op = prop::sample::select(vec![EditOp::Append, EditOp::AddSection, EditOp::ReplaceSection, EditOp::SetField]);
    let anchor = prop::sample::select(vec!["", "## A", "## A", "## B", "### C", "B", "## Set", "title", "x"]);
    let line = prop::sample::select(vec![
        "new", "new", "- item", "### M", "```", "> q", "", "===", "a\r\nb", "-->", "    code",
    ]);
    (op, anchor, prop::collection::vec(line, 1..4)).prop_map(|(op, anchor, lines)| {
        let heading = match (op, anchor) {
            (EditOp::AddSection, "### C") => "### N\n",
            (EditOp::AddSection, _) => "## N\n",
            _ => "",
        };
        (op, anchor, format!("{heading}{}", lines.join("\n")))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn bytes_outside_an_edit_never_change(page in page(), (op, anchor, content) in any_edit()) {
        let mut edit = edit(op, anchor, &content);
        if op == EditOp::ReplaceSection {
            edit = replace(&page, anchor, &content);
        }
        let Ok(new) = apply(&page, &[edit.clone()]) else { return Ok(()) };
        let bom = page.starts_with(b"\xef\xbb\xbf");
        prop_assert_eq!(new.starts_with(b"\xef\xbb\xbf"), bom);
        let ends = |bytes: &[u8]| bytes.ends_with(b"\n") || bytes.ends_with(b"\r");
        if op != EditOp::SetField {
            // An edit at the end of a page without final newline leaves it without.
            if !page.is_empty() && !ends(&page) && frontmatter::body_start(&page) < page.len() {
                prop_assert!(!ends(&new), "{:?}", new.as_slice());
            }
            let head = page.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let most = page.len().min(new.len()) - head;
            let tail = page.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
            if op != EditOp::ReplaceSection {
                prop_assert_eq!(head + tail, page.len(), "something was taken away");
            } else {
                let title = anchor.trim_start_matches('#').trim();
                let section = sections(&page).into_iter().find(|s| s.title == title).unwrap();
                prop_assert!(new.starts_with(&page[..section.heading.end]) && new.ends_with(&page[section.range.end..]));
            }
        }
        // Line ends of one kind stay of one kind.
        let bare_lf = |bytes: &[u8]| bytes.iter().enumerate().any(|(i, &b)| b == b'\n' && (i == 0 || bytes[i - 1] != b'\r'));
        if !bare_lf(&page) && page.windows(2).any(|two| two == b"\r\n") {
            prop_assert!(!bare_lf(&new), "{:?}", String::from_utf8_lossy(&new));
        }
        // The same edit can be told apart afterwards: headings are those of before and of the text.
        let count = |bytes: &[u8]| sections(bytes).iter().filter(|s| s.level == 1).count();
        prop_assert!(count(&new) <= count(&page));
    }

    #[test]
    fn sections_tile_the_page_in_order(page in page()) {
        let mut last = 0;
        for section in sections(&page) {
            prop_assert!(section.range.start >= last && section.range.end <= page.len());
            prop_assert!(section.heading.start == section.range.start && section.heading.end <= section.range.end);
            let before = &page[..section.range.start];
            prop_assert!(before.is_empty() || before.ends_with(b"\n") || before.ends_with(b"\r") || before == b"\xef\xbb\xbf");
            last = section.range.start + 1;
        }
    }

    #[test]
    fn any_bytes_are_a_page(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let page = crate::wiki::Page::read("notes/x.md".into(), &bytes, &crate::wiki::Layout::default(), "");
        prop_assert!(!page.title.is_empty());
        let _ = apply(&bytes, &[edit(EditOp::Append, "", "x")]);
        let _ = apply(&bytes, &[edit(EditOp::SetField, "title", "x")]);
    }
}

#[test]
fn a_text_that_stands_there_once_is_replaced_and_every_other_byte_stays() {
    let exchange = |page: &[u8], old: &str, new: &str| {
        let edit = Edit { op: EditOp::ReplaceText, anchor: old.into(), section_sha256: None, content: new.into() };
        apply(page, &[edit])
    };
    let page = b"\xef\xbb\xbf---\r\ntitle: port 1\r\n---\r\n# Ports\r\n\r\nThe port is 1.\r\nSee 2,\r\nand 2.\r\n";
    let after = exchange(page, "The port is 1.\nSee", "The port is 5433.\nLook at").unwrap();
    let expected =
        "\u{feff}---\r\ntitle: port 1\r\n---\r\n# Ports\r\n\r\nThe port is 5433.\r\nLook at 2,\r\nand 2.\r\n";
    assert_eq!(after, expected.as_bytes());
    assert_eq!(exchange(page, "port is 3", "x"), Err(EditFault::TextNotFound("port is 3".into())));
    assert_eq!(exchange(page, " 2", "x"), Err(EditFault::TextRepeated(" 2".into())));
    assert_eq!(exchange(b"aaa\n", "aa", "x"), Err(EditFault::TextRepeated("aa".into())));
    // The frontmatter is not the body.
    assert_eq!(exchange(page, "title: port", "x"), Err(EditFault::TextNotFound("title: port".into())));
    for (old, new) in [("", "x"), (" \n", "x"), ("Ports", "Ports")] {
        assert_eq!(exchange(page, old, new), Err(EditFault::NoChange), "{old:?}");
    }
    let sections = b"# A\n\ntext\n\n## B\n\nmore\n";
    assert!(matches!(exchange(sections, "text", "```\ntext"), Err(EditFault::SwallowsHeading(_))));
    assert_eq!(exchange(sections, "text", "# C"), Err(EditFault::ExtraH1));
}
