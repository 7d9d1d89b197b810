//! Small edits of a page: by section, by frontmatter key; every byte outside the edit stays.

use std::ops::Range;

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};

use super::lines::{Eol, is_blank, lines};
use super::section::{self, Heading, Section};
use super::text::fold_space;
use super::{field, frontmatter};

/// One change of a section or of the frontmatter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// What to do.
    pub op: EditOp,
    /// The heading (`## Fix`), for `set_field` the frontmatter key, for `replace_text` the text that stands there.
    /// Empty with `append`: the end of the page.
    #[serde(default)]
    pub anchor: String,
    /// For `replace_section`: the SHA-256 of the section as it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_sha256: Option<String>,
    /// The new text.
    pub content: String,
}

/// What an edit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EditOp {
    /// Text at the end of a section, or of the page.
    Append,
    /// A new section after the anchor's, at the same level.
    AddSection,
    /// New text for a section.
    ReplaceSection,
    /// A frontmatter key gets a value.
    SetField,
    /// Another text for one that stands in the body exactly once.
    ReplaceText,
}

/// Why an edit cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    /// No heading reads like the anchor.
    #[error("no section `{0}`")]
    AnchorNotFound(String),
    /// Two headings read like the anchor.
    #[error("`{0}` stands there more than once")]
    DuplicateAnchor(String),
    /// The section is not the one that the edit was made for.
    #[error("section `{0}` was changed since it was read")]
    SectionHashMismatch(String),
    /// `add_section` whose heading has another level than its anchor's.
    #[error("`{0}` is not at the level of its anchor")]
    HeadingLevelMismatch(String),
    /// The body does not hold the text that is to be replaced.
    #[error("the text `{0}` does not stand there")]
    TextNotFound(String),
    /// It holds it more than once.
    #[error("the text `{0}` stands there more than once")]
    TextRepeated(String),
    /// The edit brings an H1, or aims at one.
    #[error("an edit may not touch or add an H1")]
    ExtraH1,
    /// The frontmatter does not parse: only body edits are possible.
    #[error("the frontmatter cannot be edited: {0}")]
    Frontmatter(String),
    /// The text leaves a fence or a comment open and so swallows a heading below it.
    #[error("the text would swallow the heading `{0}` below it: close its code fence or comment")]
    SwallowsHeading(String),
    /// The text leaves a fence, a comment or HTML open.
    #[error("the text ends inside a code fence, a comment or HTML")]
    LeavesOpen,
    /// The page ends inside a fence, a comment or HTML that nobody closed.
    #[error("the page ends inside a code fence, a comment or HTML: what is put there would be part of it")]
    InsideOpen,
    /// The page would be the same.
    #[error("the page already reads like that")]
    NoChange,
}

/// Applies the edits one after the other, those that replace a section first: they were made for the page as it was read.
/// Fence-aware, CRLF-safe, keeps BOM and a missing final newline.
pub fn apply(page: &[u8], edits: &[Edit]) -> Result<Vec<u8>, EditFault> {
    let mut new = page.to_vec();
    let (first, then): (Vec<_>, Vec<_>) = edits.iter().partition(|edit| edit.op == EditOp::ReplaceSection);
    for edit in first.into_iter().chain(then) {
        new = apply_one(&new, edit)?;
    }
    if new == page { Err(EditFault::NoChange) } else { Ok(new) }
}

/// Sets a frontmatter key to a value of any kind, as `set_field` does. Returns the same bytes when the key has that
/// value already.
pub fn set_field(page: &[u8], key: &str, value: &serde_json::Value) -> Result<Vec<u8>, EditFault> {
    field::set(page, key, value)
}

fn apply_one(page: &[u8], edit: &Edit) -> Result<Vec<u8>, EditFault> {
    if edit.op == EditOp::SetField {
        return field::set(page, edit.anchor.trim(), &field::value_of(edit.anchor.trim(), &edit.content));
    }
    let planned = if edit.op == EditOp::ReplaceText { exchange(page, edit) } else { plan(page, edit) };
    let Splice { range, text } = planned?;
    let new = [&page[..range.start], text.as_bytes(), &page[range.end..]].concat();
    check_structure(page, &new, &range)?;
    check_frontmatter(page, &new)?;
    Ok(new)
}

/// What an edit puts in place of which bytes.
struct Splice {
    range: Range<usize>,
    text: String,
}

fn plan(page: &[u8], edit: &Edit) -> Result<Splice, EditFault> {
    let content = Content::read(&edit.content)?;
    let anchor = edit.anchor.trim();
    if anchor.is_empty() {
        return at_the_end(page, edit.op, &content);
    }
    let sections = section::sections(page);
    let target = find(&sections, anchor)?;
    match edit.op {
        EditOp::Append => {
            content.only_below(target.level, None)?;
            insertion(page, target.range.clone(), &content)
        }
        EditOp::AddSection => {
            content.one_section(target.level)?;
            refuse_duplicates(&sections, &content, target.level)?;
            insertion(page, target.range.clone(), &content)
        }
        EditOp::ReplaceSection => {
            if edit.section_sha256.as_deref().is_none_or(|hash| !hash.eq_ignore_ascii_case(&target.sha256)) {
                return Err(EditFault::SectionHashMismatch(anchor.to_owned()));
            }
            replacement(page, target, content)
        }
        EditOp::SetField | EditOp::ReplaceText => Err(EditFault::AnchorNotFound(anchor.to_owned())),
    }
}

/// The one place in the body where the text stands, with the page's own line ends, and what comes there.
fn exchange(page: &[u8], edit: &Edit) -> Result<Splice, EditFault> {
    let eol = Eol::of(page);
    let (old, new) = (eol.apply(&super::lines::lf(&edit.anchor)), eol.apply(&super::lines::lf(&edit.content)));
    if old.trim().is_empty() || old == new {
        return Err(EditFault::NoChange);
    }
    let start = frontmatter::body_start(page);
    let shown = || edit.anchor.chars().take(80).collect::<String>();
    let at = page[start..].find(old.as_bytes()).ok_or_else(|| EditFault::TextNotFound(shown()))? + start;
    if page[at + 1..].find(old.as_bytes()).is_some() {
        return Err(EditFault::TextRepeated(shown()));
    }
    Ok(Splice { range: at..at + old.len(), text: new.to_string() })
}

/// The one section that the anchor names: by level and text, or by text alone where the anchor has no marks.
fn find<'s>(sections: &'s [Section], anchor: &str) -> Result<&'s Section, EditFault> {
    let marks = anchor.bytes().take_while(|&b| b == b'#').count();
    let (level, title) = match anchor[marks..].chars().next() {
        None | Some(' ' | '\t') if marks > 0 => (Some(marks), section::atx_text(anchor)),
        _ => (None, anchor.to_owned()),
    };
    if level == Some(1) {
        return Err(EditFault::ExtraH1);
    }
    let title = fold_space(&title);
    let fits = |s: &&Section| level.is_none_or(|level| usize::from(s.level) == level) && fold_space(&s.title) == title;
    let mut found = sections.iter().filter(fits);
    match (found.next(), found.next()) {
        (None, _) => Err(EditFault::AnchorNotFound(anchor.to_owned())),
        (Some(_), Some(_)) => Err(EditFault::DuplicateAnchor(anchor.to_owned())),
        (Some(only), None) if only.level == 1 => Err(EditFault::ExtraH1),
        (Some(only), None) => Ok(only),
    }
}

/// An edit's text without blank lines at its ends, with its headings.
struct Content {
    text: String,
    headings: Vec<Heading>,
}

impl Content {
    fn read(content: &str) -> Result<Content, EditFault> {
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        let plain = super::lines::lf(content);
        let start = plain.len() - plain.trim_start().len();
        // Spaces before the first word stay: they may be indented code.
        let start = plain[..start].rfind('\n').map_or(0, |at| at + 1);
        let text = plain[start..].trim_end().to_owned();
        if text.trim().is_empty() {
            return Err(EditFault::NoChange);
        }
        let headings = headings_of(&text);
        if headings.iter().any(|heading| heading.level == 1) {
            return Err(EditFault::ExtraH1);
        }
        if leaves_open(&text) {
            return Err(EditFault::LeavesOpen);
        }
        Ok(Content { text, headings })
    }

    /// Its first heading, when the text begins with it.
    fn leading(&self) -> Option<&Heading> {
        self.headings.first().filter(|heading| heading.range.start == 0)
    }

    /// Refuses headings that would end a section of this level; `but` is the one that may stand there.
    fn only_below(&self, level: u8, but: Option<&Heading>) -> Result<(), EditFault> {
        match self.headings.iter().find(|heading| heading.level <= level && Some(*heading) != but) {
            Some(heading) => Err(EditFault::HeadingLevelMismatch(shown(heading))),
            None => Ok(()),
        }
    }

    /// Refuses what is not exactly one section of this level.
    fn one_section(&self, level: u8) -> Result<(), EditFault> {
        match self.leading() {
            Some(first) if first.level == level => self.only_below(level, Some(first)),
            Some(other) => Err(EditFault::HeadingLevelMismatch(shown(other))),
            None => Err(EditFault::HeadingLevelMismatch(self.text.lines().next().unwrap_or_default().to_owned())),
        }
    }
}

/// The headings of a text that has no frontmatter, whatever its first line.
fn headings_of(text: &str) -> Vec<Heading> {
    // An empty line before it keeps a `---` at the top from opening a frontmatter block.
    let mut headings = section::headings(format!("\n{text}").as_bytes());
    for heading in &mut headings {
        heading.range = heading.range.start - 1..heading.range.end - 1;
    }
    headings
}

fn shown(heading: &Heading) -> String {
    format!("{} {}", "#".repeat(usize::from(heading.level)), heading.title)
}

/// An edit without an anchor: the end of the page.
fn at_the_end(page: &[u8], op: EditOp, content: &Content) -> Result<Splice, EditFault> {
    let sections = section::sections(page);
    match op {
        EditOp::Append => {}
        EditOp::AddSection => content.one_section(2)?,
        EditOp::ReplaceSection | EditOp::SetField | EditOp::ReplaceText => {
            return Err(EditFault::AnchorNotFound(String::new()));
        }
    }
    refuse_duplicates(&sections, content, 2)?;
    insertion(page, frontmatter::body_start(page)..page.len(), content)
}

/// Refuses a heading of this level that the page has already: nobody could name either of them any more.
fn refuse_duplicates(sections: &[Section], content: &Content, level: u8) -> Result<(), EditFault> {
    for heading in content.headings.iter().filter(|heading| heading.level == level) {
        let title = fold_space(&heading.title).to_lowercase();
        if sections.iter().any(|s| s.level == level && fold_space(&s.title).to_lowercase() == title) {
            return Err(EditFault::DuplicateAnchor(shown(heading)));
        }
    }
    Ok(())
}

/// The text put behind the last line of a part of the page, an empty line before it; the empty lines that were there
/// stay below it.
fn insertion(page: &[u8], part: Range<usize>, content: &Content) -> Result<Splice, EditFault> {
    // Where a heading follows, it is a heading: nothing is open there.
    if part.end == page.len() && leaves_open(&section::same_length_text(&page[frontmatter::body_start(page)..])) {
        return Err(EditFault::InsideOpen);
    }
    let eol = Eol::of(page).as_str();
    let at = section::text_end(page, part.start, part.end);
    let before = &page[part.start..at];
    let open_end = !before.is_empty() && !before.ends_with(b"\n") && !before.ends_with(b"\r");
    let mut text = String::new();
    if open_end {
        text.push_str(eol);
    }
    if !joins(before, &content.text) && (!before.is_empty() || part.start > frontmatter::text_start(page)) {
        text.push_str(eol);
    }
    text.push_str(&Eol::of(page).apply(&content.text));
    if !open_end {
        text.push_str(eol);
    }
    // What follows at once must not become part of the inserted paragraph.
    if page.get(at..).is_some_and(|rest| lines(rest, 0).next().is_some_and(|line| !is_blank(&rest[line.text]))) {
        text.push_str(eol);
    }
    Ok(Splice { range: at..at, text })
}

/// Whether a text without frontmatter ends inside a code fence, a comment or HTML: a heading put below it would be none.
pub fn leaves_open(text: &str) -> bool {
    let probe = format!("\n{text}\n\n");
    let at = probe.len();
    !section::headings(format!("{probe}# x\n").as_bytes()).iter().any(|heading| heading.range.start == at)
}

/// Whether the text goes on with the list that the part ends with.
fn joins(before: &[u8], text: &str) -> bool {
    let last = lines(before, 0).last().map_or(&b""[..], |line| &before[line.text]);
    let marker = |line: &[u8]| match line {
        [mark @ (b'-' | b'*' | b'+'), b' ', ..] => Some(*mark),
        [b'0'..=b'9', .., _] => {
            let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
            match line.get(digits..digits + 2) {
                Some([mark @ (b'.' | b')'), b' ']) => Some(*mark),
                _ => None,
            }
        }
        _ => None,
    };
    marker(last).is_some() && marker(last) == marker(text.as_bytes())
}

/// New text below a heading that stays as it is.
fn replacement(page: &[u8], target: &Section, content: Content) -> Result<Splice, EditFault> {
    let repeated = content
        .leading()
        .filter(|first| first.level == target.level && fold_space(&first.title) == fold_space(&target.title));
    content.only_below(target.level, repeated)?;
    let skip = repeated.map_or(0, |heading| heading.range.end);
    let body = content.text[skip..].trim_start_matches('\n');
    if body.trim().is_empty() {
        return Err(EditFault::NoChange);
    }
    let eol = Eol::of(page);
    let below = target.heading.end..target.range.end;
    let gap: usize = lines(&page[..below.end], below.start)
        .take_while(|line| is_blank(&page[line.text.clone()]))
        .last()
        .map_or(below.start, |line| line.end);
    let end = section::text_end(page, below.start, below.end);
    let mut text = String::new();
    let start = if end == below.start {
        // The heading stood alone.
        if page[..below.start].ends_with(b"\n") || page[..below.start].ends_with(b"\r") {
            text.push_str(eol.as_str());
        } else {
            text.push_str(eol.as_str());
            text.push_str(eol.as_str());
        }
        below.start
    } else {
        gap
    };
    text.push_str(&eol.apply(body));
    let had_end = page[..end].ends_with(b"\n") || page[..end].ends_with(b"\r");
    if had_end {
        text.push_str(eol.as_str());
    }
    if end == target.range.end && end < page.len() {
        // The next heading followed at once: an underlined one would take in the new text.
        text.push_str(eol.as_str());
    }
    Ok(Splice { range: start..end, text })
}

/// The headings outside the edited bytes are the same as before.
fn check_structure(old: &[u8], new: &[u8], range: &Range<usize>) -> Result<(), EditFault> {
    let (before, after) = (section::headings(old), section::headings(new));
    let tail: Vec<&Heading> = before.iter().filter(|heading| heading.range.start >= range.end).collect();
    let head = before.iter().filter(|heading| heading.range.end <= range.start).count();
    let kept = after.len().checked_sub(tail.len()).is_some_and(|start| {
        start >= head && after[start..].iter().zip(&tail).all(|(a, b)| a.level == b.level && a.title == b.title)
    });
    match tail.first() {
        Some(lost) if !kept => Err(EditFault::SwallowsHeading(shown(lost))),
        _ if after.iter().filter(|h| h.level == 1).count() > before.iter().filter(|h| h.level == 1).count() => {
            Err(EditFault::ExtraH1)
        }
        _ => Ok(()),
    }
}

/// The frontmatter stands where it stood. A `---` in the text would close one that nobody closed, and at the top of a page
/// without any begin one.
fn check_frontmatter(old: &[u8], new: &[u8]) -> Result<(), EditFault> {
    let place = |page: &[u8]| frontmatter::find(page).map(|block| block.closed.then_some(block.yaml));
    if place(old) == place(new) {
        Ok(())
    } else {
        Err(EditFault::Frontmatter("a `---` of the text would begin or close it".into()))
    }
}

/// Puts a new body under the page's frontmatter; the frontmatter's bytes, BOM, line ends, the empty lines above the
/// body and a missing final newline stay.
///
/// # Errors
/// [`EditFault::Frontmatter`]: the body would become part of the frontmatter.
pub fn replace_body(page: &[u8], body: &str) -> Result<Vec<u8>, EditFault> {
    let eol = Eol::of(page);
    let start = frontmatter::body_start(page);
    let gap =
        lines(page, start).take_while(|line| is_blank(&page[line.text.clone()])).last().map_or(start, |line| line.end);
    let mut new = page[..gap].to_vec();
    let ends = |bytes: &[u8]| bytes.ends_with(b"\n") || bytes.ends_with(b"\r");
    if start > frontmatter::text_start(page) && !ends(&new) {
        new.extend_from_slice(eol.as_str().as_bytes());
    }
    let plain = super::lines::lf(body);
    let text = plain.trim_start_matches('\n').trim_end();
    new.extend_from_slice(eol.apply(text).as_bytes());
    if !text.is_empty() && (gap == page.len() || ends(page)) {
        new.extend_from_slice(eol.as_str().as_bytes());
    }
    check_frontmatter(page, &new)?;
    Ok(new)
}

#[cfg(test)]
#[path = "tests/edit.rs"]
mod tests;
