//! The checks of single pages and of their names; reports, never changes.

use std::collections::HashMap;

use bstr::{BStr, BString, ByteSlice};
use jiff::Timestamp;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};

use super::lines::lines;
use super::links::{self, Index, Resolved, Target};
use super::{Kind, Layout, Page, frontmatter, open, path, section};

/// How bad a finding is, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Should be mended.
    Warning,
    /// Something does not work because of it.
    Error,
}

/// One thing that is wrong with one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The page, relative to the wiki's root.
    pub path: BString,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// How bad.
    pub severity: Severity,
    /// The check's stable name (`frontmatter`, `missing_h1`, `conflict_markers`, `expired`, `name_collision` …).
    pub check: &'static str,
    /// In words, with what to do.
    pub message: String,
}

/// Checks one page by itself. What its folder and frontmatter say is enough; no finding of a page with conflict
/// markers speaks of its headings, since the markers make and hide some.
pub fn page(path: &BStr, bytes: &[u8], layout: &Layout, now: Timestamp) -> Vec<Finding> {
    let page = Page::read(path, bytes, layout, "");
    let mut report = Report { path, findings: Vec::new() };
    if let Err(error) = std::str::from_utf8(bytes) {
        let wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
        let what = if wide { "the page is UTF-16" } else { "the page is not UTF-8" };
        let at = position(bytes, if wide { 0 } else { error.valid_up_to() });
        report.add(at, Severity::Warning, "not_utf8", format!("{what}; save it as UTF-8"));
    }
    if bytes.trim_ascii().is_empty() {
        report.add((1, 1), Severity::Note, "empty_page", "the page is empty".into());
        return report.findings;
    }
    if let Some((message, line, column)) = &page.front.fault {
        let message = format!("the frontmatter cannot be read: {message}");
        report.add((*line, *column), Severity::Error, "frontmatter", message);
    }
    if let Some(expires) = &page.front.expires_at {
        expiry(&mut report, bytes, expires, now);
    }
    if let (Some(folder), Some(said)) = (layout.kind_of(&path.to_str_lossy()), page.front.kind)
        && folder != said
    {
        let message = format!("the page says that it is a {said}, its folder says {folder}; the folder counts");
        report.add(key_position(bytes, &["kind", "type"]), Severity::Note, "kind_mismatch", message);
    }
    match conflict_marker(bytes) {
        Some(line) => {
            let message = "a merge conflict is left in the page; choose a side and remove the markers".into();
            report.add((line, 1), Severity::Error, "conflict_markers", message);
        }
        None => headings(&mut report, bytes, &page),
    }
    report.findings
}

/// The line (from 1) of the first conflict marker that is followed by its partners, outside code blocks.
pub fn conflict_marker(page: &[u8]) -> Option<usize> {
    page.find(b"<<<<<<<")?;
    let mut code: Option<Vec<std::ops::Range<usize>>> = None;
    let mut open: Option<usize> = None;
    let mut middle = false;
    for (n, line) in lines(page, 0).enumerate() {
        let text = &page[line.text.clone()];
        let marker = |mark: &[u8]| text.starts_with(mark) && matches!(text.get(mark.len()), None | Some(b' '));
        let (starts, parts, ends) = (marker(b"<<<<<<<"), marker(b"======="), marker(b">>>>>>>"));
        if !(starts || parts || ends) {
            continue;
        }
        let code = code.get_or_insert_with(|| code_blocks(page));
        if code.iter().any(|block| block.contains(&line.text.start)) {
            continue;
        }
        if starts {
            open = open.or(Some(n + 1));
        } else if parts {
            middle = open.is_some();
        } else if middle {
            return open;
        }
    }
    None
}

/// Where code blocks stand, in the page's bytes.
fn code_blocks(page: &[u8]) -> Vec<std::ops::Range<usize>> {
    let start = frontmatter::body_start(page);
    let text = section::same_length_text(&page[start..]);
    let mut blocks = Vec::new();
    for (event, range) in Parser::new_ext(&text, section::options()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) | Event::End(TagEnd::CodeBlock) => {
                blocks.push(start + range.start..start + range.end);
            }
            _ => {}
        }
    }
    blocks
}

fn headings(report: &mut Report<'_>, bytes: &[u8], page: &Page) {
    let found: Vec<_> = section::headings(bytes).into_iter().filter(|heading| heading.level == 1).collect();
    if let [_, second, ..] = found.as_slice() {
        let message = format!("a second H1, `{}`; a page has one title", second.title);
        report.add(position(bytes, second.range.start), Severity::Note, "extra_h1", message);
    }
    // Slots are working state; what has no text has no title to miss.
    if found.is_empty() && page.kind != Some(Kind::Slot) && !page.body.trim().is_empty() {
        let at = position(bytes, frontmatter::body_start(bytes));
        let message = match page.front.title {
            Some(_) => "no H1; the title is the frontmatter's",
            None => "neither an H1 nor a `title`; the file name is the title",
        };
        report.add(at, Severity::Note, "missing_h1", message.into());
    }
}

fn expiry(report: &mut Report<'_>, bytes: &[u8], expires: &str, now: Timestamp) {
    let at = key_position(bytes, &["expires_at"]);
    let end = expires.parse::<Timestamp>().ok().or_else(|| {
        // A day ends at its end, in UTC.
        let day = expires.parse::<jiff::civil::Date>().ok()?;
        Some(day.tomorrow().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    });
    match end {
        None => {
            let message = format!("`expires_at: {expires}` is neither a day nor a time; write 2026-03-01");
            report.add(at, Severity::Warning, "bad_date", message);
        }
        Some(end) if end <= now => {
            let message = format!("expired on {expires}; retire the page or move the date");
            report.add(at, Severity::Warning, "expired", message);
        }
        Some(_) => {}
    }
}

/// Findings of one page.
struct Report<'p> {
    path: &'p BStr,
    findings: Vec<Finding>,
}

impl Report<'_> {
    fn add(&mut self, (line, column): (usize, usize), severity: Severity, check: &'static str, message: String) {
        self.findings.push(Finding { path: self.path.to_owned(), line, column, severity, check, message });
    }
}

/// Line and column (from 1, in characters) of a byte.
fn position(bytes: &[u8], at: usize) -> (usize, usize) {
    Positions::of(bytes).at(at)
}

/// The beginnings of a page's lines, for telling many places in it.
struct Positions<'b> {
    bytes: &'b [u8],
    starts: Vec<usize>,
}

impl Positions<'_> {
    fn of(bytes: &[u8]) -> Positions<'_> {
        Positions { bytes, starts: lines(bytes, 0).map(|line| line.text.start).collect() }
    }

    fn at(&self, at: usize) -> (usize, usize) {
        let row = self.starts.partition_point(|&start| start <= at).max(1);
        let start = match row {
            1 => frontmatter::text_start(self.bytes).min(at),
            _ => self.starts[row - 1],
        };
        (row, self.bytes[start..at].to_str_lossy().chars().count() + 1)
    }
}

/// Where one of these keys stands in the frontmatter, else the first line.
fn key_position(bytes: &[u8], keys: &[&str]) -> (usize, usize) {
    let Some(block) = frontmatter::find(bytes) else { return (1, 1) };
    let is_key = |text: &[u8]| {
        keys.iter().any(|key| text.strip_prefix(key.as_bytes()).is_some_and(|rest| rest.starts_with(b":")))
    };
    let line = lines(&bytes[..block.yaml.end], block.yaml.start).find(|line| is_key(&bytes[line.text.clone()]));
    line.map_or((1, 1), |line| position(bytes, line.text.start))
}

/// Checks the names of all files of the wiki against each other and against what file systems allow, and the links
/// between pages (`read` gives a page's bytes). Findings are sorted by path and line.
pub fn tree(paths: &[BString], read: &dyn Fn(&BStr) -> Option<Vec<u8>>) -> Vec<Finding> {
    let mut findings = names(paths);
    let mut index = Index::new(paths);
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| open::is_page(path.as_bstr())) {
        let Some(bytes) = read(path.as_ref()) else { continue };
        let page = Page::read(path.as_ref(), &bytes, &Layout::default(), "");
        index.add_title(&page.title, path.as_ref());
        let links = links::links(&bytes);
        if !links.is_empty() {
            let positions = Positions::of(&bytes);
            found.extend(links.into_iter().map(|link| (path, positions.at(link.range.start), link.target)));
        }
    }
    for (path, at, target) in found {
        let mut report = Report { path: path.as_ref(), findings: Vec::new() };
        let shown = match &target {
            Target::Name(name) => format!("[[{name}]]"),
            Target::Path(path) => format!("({path})"),
        };
        match index.resolve(path.as_ref(), &target) {
            Resolved::Missing => {
                report.add(at, Severity::Warning, "broken_link", format!("{shown} leads to no page"));
            }
            Resolved::Several(pages) => {
                let pages: Vec<String> = pages.iter().take(5).map(|page| format!("`{page}`")).collect();
                let message = format!("{shown} could be any of {}; write the folder too", pages.join(", "));
                report.add(at, Severity::Warning, "ambiguous_link", message);
            }
            Resolved::One(_) | Resolved::Unknown => {}
        }
        findings.append(&mut report.findings);
    }
    findings.sort_by(|a, b| (&a.path, a.line, a.column, a.check).cmp(&(&b.path, b.line, b.column, b.check)));
    findings
}

/// Names that fold together, and names that some system cannot hold.
fn names(paths: &[BString]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen: HashMap<String, &BString> = HashMap::with_capacity(paths.len());
    let mut sorted: Vec<&BString> = paths.iter().collect();
    sorted.sort_unstable();
    for path in sorted {
        let mut report = Report { path: path.as_ref(), findings: Vec::new() };
        match seen.get(&path::fold(path.as_ref())) {
            Some(first) if *first != path => {
                let message =
                    format!("the name cannot stand beside `{first}` where case or accents do not count; rename one");
                report.add((1, 1), Severity::Error, "name_collision", message);
            }
            _ => {
                seen.insert(path::fold(path.as_ref()), path);
            }
        }
        match path.to_str() {
            Err(_) => {
                report.add(
                    (1, 1),
                    Severity::Warning,
                    "unportable_name",
                    "the name is not UTF-8; rename the file".into(),
                );
            }
            Ok(text) => {
                // Git's own files may well stand in a wiki.
                let parts = text.split('/').filter(|part| !part.starts_with(".git"));
                if let Some(reason) = parts.filter_map(path::unportable).next() {
                    report.add((1, 1), Severity::Warning, "unportable_name", format!("{reason}; rename the file"));
                }
            }
        }
        findings.append(&mut report.findings);
    }
    findings
}

#[cfg(test)]
#[path = "tests/lint.rs"]
mod tests;
