//! Sections of a page: a heading and what stands below it, up to the next heading of its level or a higher one.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};
use sha2::{Digest, Sha256};

use super::frontmatter;
use super::lines::{is_blank, lf, lines};

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// 1 to 6.
    pub level: u8,
    /// The heading's text without its marks.
    pub title: String,
    /// From the heading's first byte to the section's end, in the page's bytes.
    pub range: Range<usize>,
    /// The heading line alone.
    pub heading: Range<usize>,
    /// SHA-256 (hex) of the section's bytes with `\n` line ends and trailing white space trimmed.
    pub sha256: String,
}

/// A heading of the page itself: not one in a quote, a list, a fence or a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    pub level: u8,
    pub title: String,
    /// Its line (for an underlined heading: its lines) with the line end.
    pub range: Range<usize>,
}

/// The sections of a page's bytes, in order, frontmatter and fenced code passed over.
pub fn sections(page: &[u8]) -> Vec<Section> {
    let headings = headings(page);
    let mut sections = Vec::with_capacity(headings.len());
    for (n, heading) in headings.iter().enumerate() {
        let next = headings[n + 1..].iter().find(|other| other.level <= heading.level);
        let range = heading.range.start..next.map_or(page.len(), |next| next.range.start);
        sections.push(Section {
            level: heading.level,
            title: heading.title.clone(),
            sha256: hash(&page[range.clone()]),
            range,
            heading: heading.range.clone(),
        });
    }
    sections
}

/// What [`Section::sha256`] holds for these bytes.
pub fn hash(section: &[u8]) -> String {
    let text = String::from_utf8_lossy(section);
    // Bytes that are not UTF-8 must count as themselves, not as their replacement.
    let plain = if text.contains('\u{fffd}') { without_cr(section) } else { lf(&text).into_bytes() };
    let digest = Sha256::digest(plain.trim_ascii_end());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn without_cr(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    for line in lines(bytes, 0) {
        plain.extend_from_slice(&bytes[line.text.clone()]);
        if line.end > line.text.end {
            plain.push(b'\n');
        }
    }
    plain
}

/// The headings of a page's body, in order, with ranges in the page's bytes.
pub(super) fn headings(page: &[u8]) -> Vec<Heading> {
    let start = frontmatter::body_start(page);
    let body = same_length_text(&page[start..]);
    let mut found = Vec::new();
    let mut depth = 0usize;
    for (event, range) in Parser::new_ext(&body, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                if depth == 0 {
                    found.push(heading(page, level as u8, start + range.start..start + range.end));
                }
                depth += 1;
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

/// The markdown that we read: tables and footnotes as people write them, nothing that changes headings.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_WIKILINKS
}

/// The bytes as text of the same length, so that offsets agree: bytes that are not UTF-8 become `?`.
pub(super) fn same_length_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

/// The heading that the parser found, stretched to whole lines, with its text.
fn heading(page: &[u8], level: u8, range: Range<usize>) -> Heading {
    let start = page[..range.start].iter().rposition(|&b| b == b'\n' || b == b'\r').map_or(0, |at| at + 1);
    // A heading on the very first line begins behind the BOM.
    let start = start.max(frontmatter::text_start(page).min(range.start));
    let mut texts = Vec::new();
    let mut end = start;
    for line in lines(page, start) {
        if line.text.start >= range.end && !texts.is_empty() {
            break;
        }
        end = line.end;
        texts.push(String::from_utf8_lossy(&page[line.text]).trim().to_owned());
    }
    let title = match texts.as_slice() {
        [line] => atx_text(line),
        // The last line of several is the underline.
        [lines @ .., _] => lines.join(" "),
        [] => String::new(),
    };
    Heading { level, title, range: start..end }
}

/// The text of `## Text ##`.
pub fn atx_text(line: &str) -> String {
    let text = line.trim().trim_start_matches('#').trim();
    let bare = text.trim_end_matches('#');
    // Closing marks count only behind a space: `C#` keeps its own.
    if bare.len() < text.len() && (bare.is_empty() || bare.ends_with([' ', '\t'])) {
        bare.trim().to_owned()
    } else {
        text.to_owned()
    }
}

/// Where the text before `end` (not before `from`) ends when blank lines are left off: behind the last line that
/// holds something, its line end included.
pub(super) fn text_end(page: &[u8], from: usize, end: usize) -> usize {
    lines(&page[..end], from).filter(|line| !is_blank(&page[line.text.clone()])).last().map_or(from, |line| line.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(page: &[u8]) -> Vec<(u8, String, String)> {
        let text = |range: Range<usize>| String::from_utf8_lossy(&page[range]).into_owned();
        sections(page).into_iter().map(|s| (s.level, s.title, text(s.range))).collect()
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level_or_a_higher_one() {
        let got = list(b"---\ntitle: a\n---\nintro\n# A\n## B\ntext\n### C\nc\n## D ##\nd");
        let want = [
            (1, "A", "# A\n## B\ntext\n### C\nc\n## D ##\nd"),
            (2, "B", "## B\ntext\n### C\nc\n"),
            (3, "C", "### C\nc\n"),
            (2, "D", "## D ##\nd"),
        ];
        assert_eq!(got, want.map(|(l, t, s)| (l, t.to_owned(), s.to_owned())));
    }

    #[test]
    fn what_only_looks_like_a_heading_is_none() {
        let page =
            b"```\n# a\n```\n~~~md\n# b\n```\n# c\n~~~\n\n    # d\n\n<!--\n# e\n-->\n\n> # f\n\n- # g\n\n#h\n\n---\n";
        assert_eq!(list(page), []);
    }

    #[test]
    fn underlined_headings_and_bytes_of_any_kind_are_read() {
        let page = b"\xef\xbb\xbfTit\xdfel\r\n====\r\n\r\ntext\r\n\r\nSecond\r\nline\r\n---\r\nx\r\n";
        let got = sections(page);
        assert_eq!(got.len(), 2);
        assert_eq!((got[0].level, got[0].range.start, got[0].title.as_str()), (1, 3, "Tit\u{fffd}el"));
        assert_eq!(&page[got[1].heading.clone()], b"Second\r\nline\r\n---\r\n");
        assert_eq!(got[1].title, "Second line");
    }

    #[test]
    fn the_hash_passes_over_line_ends_and_trailing_space() {
        assert_eq!(hash(b"## A\r\nb\r\n\r\n"), hash(b"## A\nb"));
        assert_ne!(hash(b"## A\nb\xff"), hash(b"## A\nb\xfe"));
        assert_ne!(hash(b"## A\n b"), hash(b"## A\nb"));
        assert_eq!(hash(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn marks_that_belong_to_the_text_stay() {
        assert_eq!(atx_text("## C#"), "C#");
        assert_eq!(atx_text("## A ## "), "A");
        assert_eq!(atx_text("##"), "");
    }
}
