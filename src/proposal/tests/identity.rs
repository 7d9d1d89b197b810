//! A machine's candidate changes what a page says, never what it is: who owns it, its kind, its state, its rank.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::wiki::Frontmatter;

const PATH: &str = "notes/p.md";
const STRUCTURE: &str = "status: retired\nowner: human\npinned: true\nsuperseded_by: notes/x.md\nkind: rule";

fn world(page: &str) -> World {
    World { pages: vec![(PATH, page.into())], ..World::default() }
}

fn whole(body: &str) -> Value {
    create(json!({"operation": "update", "path": PATH, "kind": "note", "title": "T", "body_markdown": body}))
}

fn read(bytes: &[u8]) -> Page {
    Page::read(PATH.into(), bytes, &Layout::default(), "")
}

/// What a page is: its frontmatter without what a machine may set.
fn identity(page: &Page) -> (Frontmatter, Option<Kind>) {
    let mut front =
        Frontmatter { title: None, description: None, when_to_use: None, tags: vec![], ..page.front.clone() };
    front.keys.retain(|key| !["title", "description", "when_to_use", "tags"].contains(&key.as_str()));
    (front, page.kind)
}

#[test]
fn a_whole_text_brings_no_frontmatter_to_a_page_that_has_none() {
    let old = "# T\n\nSays one thing here.\n";
    for top in ["", "\n", " ", "\r", "\t\n", "---\na: b\n---\n"] {
        let valid =
            world(old).pass(whole(&format!("{top}---\n{STRUCTURE}\n---\n# T\n\nSays one thing here, and two.\n")));
        assert_eq!(after(&valid), "# T\n\nSays one thing here, and two.\n", "{top:?}");
    }
}

#[test]
fn a_mark_that_nobody_sees_on_top_of_a_text_is_refused() {
    let old = "# T\n\nSays one thing here.\n";
    for top in ["\u{feff}", "\u{feff}\n", "\n\u{feff}", "---\na: b\n---\n\n\u{feff}"] {
        let text = whole(&format!("{top}---\n{STRUCTURE}\n---\n# T\n\nSays one thing here, and two.\n"));
        world(old).refused(text, ReasonCode::ContainsInstructionOverride);
    }
}

#[test]
fn a_new_page_has_the_frontmatter_that_we_write_whatever_its_text_begins_with() {
    for top in ["", "\n", "---\na: b\n---\n"] {
        let body = format!("{top}---\n{STRUCTURE}\n---\n# T\n\nSays a thing.\n");
        let valid = World::default().pass(create(json!({"title": "T", "body_markdown": body})));
        let page = read(after(&valid).as_bytes());
        assert_eq!((page.front.owner, page.front.pinned, page.front.superseded_by), (None, false, None), "{top:?}");
        assert!(page.body.trim().starts_with("# T"), "{top:?} {}", page.body);
    }
}

#[test]
fn an_edit_brings_no_frontmatter_to_a_page_that_has_none() {
    let edits = json!([append("", &format!("---\n{STRUCTURE}\n---\n\nSays a thing."))]);
    for old in ["", "\n\n", "\u{feff}"] {
        let said = world(old).refused(update(PATH, edits.clone()), ReasonCode::AnchorNotFound);
        assert!(said.contains("frontmatter"), "{said}");
    }
}

#[test]
fn an_edit_does_not_close_a_frontmatter_that_nobody_closed() {
    let old = "---\ntitle: never closed\n\n# T\n\nSays one thing.\n";
    let edits = json!([append("", "owner: human\n\n---\n\nSays a thing.")]);
    world(old).refused(update(PATH, edits), ReasonCode::AnchorNotFound);
}

#[test]
fn a_whole_text_that_costs_a_section_or_many_lines_waits_for_a_person() {
    let old = "# T\n\none one\n\ntwo two\n\nthree three\n\nfour four\n\nfive five\n\nsix six\n\n## Fix\n\nRun it.\n";
    for (new, waits) in [
        (old.replace("## Fix\n\nRun it.\n", ""), Some("without its section \u{201c}Fix\u{201d}")),
        (old.replace("one one\n\ntwo two\n\n", ""), Some("2 of its 9 lines are gone")),
        (old.replace("one one", "1 1"), None),
        (format!("{old}\n## More\n\nAnd that.\n"), None),
    ] {
        let deferred = world(old).pass(whole(&new)).deferred;
        assert_eq!(deferred.is_some(), waits.is_some(), "{deferred:?} {new}");
        assert!(deferred.unwrap_or_default().contains(waits.unwrap_or_default()), "{new}");
    }
}

#[test]
fn a_whole_text_counts_as_the_edits_that_it_makes() {
    let old: String = (0..9).map(|n| format!("\n## S{n}\n\nText of {n}.\n")).collect();
    let world = World {
        pages: vec![(PATH, format!("# T\n{old}")), ("notes/q.md", "# Q\n\nText.\n".into())],
        ..World::default()
    };
    let new = format!("# T\n{old}").replace("Text of", "Words of");
    let lines: Vec<_> = (0..4).map(|n| append("", &format!("Line {n}."))).collect();
    let (valid, refused) = world.run(&[whole(&new), update("notes/q.md", json!(lines))]);
    assert_eq!(valid.len(), 1, "{refused:?}");
    assert_eq!(refused[0].code, ReasonCode::RunEditBudgetExceeded);
}

/// Text of the pieces that frontmatter and structure are made of.
fn text() -> impl Strategy<Value = String> {
    let lines = vec![
        "---",
        "---",
        "---",
        " ---",
        "--- ",
        "...",
        "+++",
        "status: retired",
        "owner: human",
        "pinned: true",
        "superseded_by: notes/x.md",
        "kind: rule",
        "slot_kind: invariant",
        "supersedes: [a]",
        "priority: 9",
        "title: x",
        "",
        "",
        " ",
        "\u{feff}",
        "# T",
        "## A",
        "## N",
        "### S",
        "Says a thing.",
        "- item",
        "> # q",
        "Set",
        "===",
        "```",
        "<!--",
        "-->",
        "<div>",
        "    code",
        "\t",
    ];
    let line = prop::sample::select(lines);
    let eol = prop::sample::select(vec!["\n", "\n", "\r\n", "\r"]);
    (prop::sample::select(vec!["", "", "\u{feff}", "\n", "\r", " "]), prop::collection::vec(line, 1..9), eol)
        .prop_map(|(top, lines, eol)| format!("{top}{}", lines.join(eol)))
}

fn page() -> impl Strategy<Value = String> {
    let front = prop::sample::select(vec![
        "",
        "",
        "\u{feff}",
        "---\ntitle: T # c\n---\n",
        "---\npriority: 5\nowner: team\n---\n",
        "---\na: b: c\n---\n",
        "---\ntitle: open\n",
        "---\nstatus: stale\r\nkind: note\n...\n",
    ]);
    let top = prop::sample::select(vec!["", "# T\n\n## A\n\nSays one.\n", "# T\n\nSays one.\n\n## A\n"]);
    (front, top, text()).prop_map(|(front, top, text)| format!("{front}{top}{text}"))
}

fn edits() -> impl Strategy<Value = Vec<(usize, &'static str, String)>> {
    let anchor = prop::sample::select(vec!["", "", "## A", "## A", "title", "description", "tags", "owner", "pinned"]);
    prop::collection::vec((0..4usize, anchor, text()), 1..4)
}

/// The edits as a reply has them, with the hashes of what was read.
fn spelled(page: &str, edits: &[(usize, &'static str, String)]) -> Value {
    let hash = |anchor: &str| {
        let title = anchor.trim_start_matches('#').trim().to_owned();
        sections(page.as_bytes()).into_iter().find(|section| section.title == title).map(|section| section.sha256)
    };
    let one = |(op, anchor, text): &(usize, &'static str, String)| {
        let op = match anchor.starts_with(|c: char| c.is_ascii_lowercase()) {
            true => "set_field",
            false => ["append", "add_section", "replace_section", "append"][*op],
        };
        let content = if op == "add_section" { format!("## N\n\n{text}") } else { text.clone() };
        json!({"op": op, "anchor": anchor, "content": content, "section_sha256": hash(anchor)})
    };
    edits.iter().map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_text_changes_what_a_page_is(page in page(), body in text(), edits in edits(), by_edits in any::<bool>()) {
        let spelled = spelled(&page, &edits);
        let raw = if by_edits { update(PATH, spelled.clone()) } else { whole(&body) };
        let (valid, _) = world(&page).run(&[raw]);
        let Some(valid) = valid.first() else { return Ok(()) };
        let new = after(valid);
        let (was, is) = (read(page.as_bytes()), read(new.as_bytes()));
        prop_assert_eq!(identity(&is), identity(&was), "{:?}", new);
        let sets = |key: &str| by_edits && edits.iter().any(|(_, anchor, _)| *anchor == key);
        for (key, same) in [
            ("title", is.front.title == was.front.title),
            ("description", is.front.description == was.front.description),
            ("when_to_use", is.front.when_to_use == was.front.when_to_use),
            ("tags", is.front.tags == was.front.tags),
        ] {
            prop_assert!(same || sets(key), "{} {:?}", key, new);
        }
        // One edit alone: every byte that it does not mean stands where it stood.
        if let (true, [(_, _, _)]) = (by_edits, &edits[..]) {
            let (old, new) = (page.as_bytes(), new.as_bytes());
            let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
            let most = old.len().min(new.len()) - head;
            let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
            match spelled[0]["op"].as_str() {
                Some("append" | "add_section") => prop_assert_eq!(head + tail, old.len(), "{:?}", new),
                Some("replace_section") => {
                    let section = sections(old).into_iter().find(|section| section.title == "A").unwrap();
                    let kept = new.starts_with(&old[..section.heading.end]) && new.ends_with(&old[section.range.end..]);
                    prop_assert!(kept, "{:?}", new);
                }
                _ => prop_assert!(is.body == was.body, "{:?}", new),
            }
        }
    }

    #[test]
    fn no_text_makes_a_new_page_more_than_its_kind(body in text(), title in "\\PC{1,12}") {
        let raw = create(json!({"title": title, "body_markdown": body}));
        let (valid, _) = World::default().run(&[raw]);
        let Some(valid) = valid.first() else { return Ok(()) };
        let page = Page::read(valid.candidate.path.as_str().into(), after(valid).as_bytes(), &Layout::default(), "");
        let known = ["title", "kind", "tier", "priority", "priority_by", "sources", "generated"];
        prop_assert_eq!(&page.front.keys, &known);
        prop_assert_eq!(page.kind, Some(Kind::Gotcha));
    }
}
