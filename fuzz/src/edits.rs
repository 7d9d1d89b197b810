//! Edits of pages: every byte outside the edit stays.

use git_memory::wiki::edit::{apply, set_field};
use git_memory::wiki::section::{Section, sections};
use git_memory::wiki::{Edit, EditOp, Layout, Page};

use crate::{SEPARATOR, in_time};

const OPS: [EditOp; 5] =
    [EditOp::Append, EditOp::AddSection, EditOp::ReplaceSection, EditOp::SetField, EditOp::ReplaceText];

/// One edit of one page: a digit for what to do, an anchor (`@` and a digit: the heading of that number), the text, the
/// page.
pub fn check(bytes: &[u8]) {
    let mut parts = bytes.splitn(3, |byte| *byte == SEPARATOR as u8);
    let (Some(head), Some(content), Some(page)) = (parts.next(), parts.next(), parts.next()) else { return };
    let (Ok(head), Ok(content)) = (std::str::from_utf8(head), std::str::from_utf8(content)) else { return };
    let Some(number) = head.chars().next().and_then(|first| first.to_digit(10)) else { return };
    let sections = in_time(bytes.len(), || sections(page));
    tile(page, &sections);
    let anchor = match head[1..].strip_prefix('@').and_then(|rest| rest.parse::<usize>().ok()) {
        Some(number) if !sections.is_empty() => {
            let section = &sections[number % sections.len()];
            format!("{} {}", "#".repeat(section.level.into()), section.title)
        }
        _ => head[1..].to_owned(),
    };
    let hash = |section: &Section| {
        (format!("{} {}", "#".repeat(section.level.into()), section.title) == anchor).then(|| section.sha256.clone())
    };
    let edit = Edit {
        op: OPS[number as usize % OPS.len()],
        section_sha256: sections.iter().find_map(hash),
        anchor: anchor.clone(),
        content: content.to_owned(),
    };
    let Ok(new) = in_time(bytes.len(), || apply(page, std::slice::from_ref(&edit))) else { return };
    assert_ne!(new, page, "an edit that changes nothing is refused");
    assert_eq!(new.starts_with(b"\xef\xbb\xbf"), page.starts_with(b"\xef\xbb\xbf"), "the BOM");
    if edit.op == EditOp::SetField {
        return field(page, &new, edit.anchor.trim());
    }
    let (before, after) = (read(page), read(&new));
    assert_eq!(before.front, after.front, "the frontmatter is not the body");
    let h1 = |sections: &[Section]| sections.iter().filter(|section| section.level == 1).count();
    assert!(h1(&git_memory::wiki::section::sections(&new)) <= h1(&sections), "an H1 came");
    let (head, tail) = common(page, &new);
    match edit.op {
        EditOp::Append | EditOp::AddSection => assert_eq!(head + tail, page.len(), "something was taken away"),
        EditOp::ReplaceSection => {
            let target = sections.iter().find(|section| hash(section).is_some()).expect("it was found");
            assert!(new.starts_with(&page[..target.heading.end]) && new.ends_with(&page[target.range.end..]));
        }
        EditOp::ReplaceText | EditOp::SetField => {
            assert!(page.len() - head - tail <= edit.anchor.len() * 2, "more than the text was replaced");
        }
    }
}

/// Sections follow each other, each begins a line, and none reaches beyond the page.
fn tile(page: &[u8], sections: &[Section]) {
    let mut last = 0;
    for section in sections {
        assert!(section.range.start >= last && section.range.end <= page.len(), "{section:?}");
        assert!(section.heading.start == section.range.start && section.heading.end <= section.range.end);
        last = section.range.start + 1;
    }
}

/// Another value for one key: the body, the other keys and the comments stay, and setting it again changes nothing.
fn field(page: &[u8], new: &[u8], key: &str) {
    let (before, after) = (read(page), read(new));
    assert_eq!(before.body, after.body, "the body moved");
    assert_eq!(after.front.fault, None, "it reads no more");
    let others = |page: &Page| page.front.keys.iter().filter(|name| *name != key).cloned().collect::<Vec<_>>();
    assert_eq!(others(&before), others(&after));
    assert!(after.front.keys.iter().any(|name| name == key), "{key:?} is not there");
    let (head, tail) = common(page, new);
    if !before.front.keys.iter().any(|name| name == key) {
        assert_eq!(head + tail, page.len(), "something was taken away");
    }
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let comments = |bytes: &[u8]| bytes.split(is_end).filter(|line| line.starts_with(b"#")).count();
    assert_eq!(comments(page), comments(new), "a comment went");
    if let Some(value) = &after.front.title.filter(|_| key == "title") {
        let again = set_field(new, key, &value.as_str().into()).expect("it was set before");
        assert_eq!(again, new, "setting it again changes something");
    }
}

fn read(page: &[u8]) -> Page {
    Page::read("notes/x.md".into(), page, &Layout::default(), "")
}

/// How many bytes two texts share at their beginning, and behind that at their end.
fn common(old: &[u8], new: &[u8]) -> (usize, usize) {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - head;
    (head, old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count())
}
