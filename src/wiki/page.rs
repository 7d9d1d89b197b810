//! A page, read: never an error, whatever its bytes.

use bstr::{BStr, BString, ByteSlice};

use super::lines::{is_blank, lf, lines};
use super::{Kind, Layout, frontmatter, section, yaml};

/// Where a page stands in its life (`status:`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// In use.
    #[default]
    Active,
    /// Not used for long.
    Stale,
    /// Another page took its place.
    Superseded,
    /// In the archive.
    Retired,
}

/// What a page's frontmatter says; keys that are absent or unusable are `None` or empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frontmatter {
    /// `title`
    pub title: Option<String>,
    /// `kind` or `type`
    pub kind: Option<Kind>,
    /// `description`
    pub description: Option<String>,
    /// `when_to_use`
    pub when_to_use: Option<String>,
    /// `tags`
    pub tags: Vec<String>,
    /// `status`
    pub status: Status,
    /// `owner`
    pub owner: Option<String>,
    /// `pinned`
    pub pinned: bool,
    /// `priority`, a whole number
    pub priority: Option<u8>,
    /// `slot_kind: invariant`
    pub invariant: bool,
    /// `expires_at`, as written
    pub expires_at: Option<String>,
    /// `supersedes`
    pub supersedes: Vec<String>,
    /// `superseded_by`
    pub superseded_by: Option<String>,
    /// `sources`
    pub sources: Vec<String>,
    /// Every key that stands there, in order.
    pub keys: Vec<String>,
    /// Why it could not be parsed: message, line and column (from 1) in the file.
    pub fault: Option<(String, usize, usize)>,
}

/// A page of the wiki, read from its bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Relative to the wiki's root.
    pub path: BString,
    /// From the frontmatter, else the H1, else the file name.
    pub title: String,
    /// From the folder, else the frontmatter.
    pub kind: Option<Kind>,
    /// What the frontmatter says.
    pub front: Frontmatter,
    /// Whether there is a frontmatter block at all.
    pub has_frontmatter: bool,
    /// The text below the frontmatter, as UTF-8 (bad bytes replaced), with `\n` line ends, without BOM.
    pub body: String,
    /// Whether the file is UTF-8.
    pub utf8: bool,
}

impl Page {
    /// Reads a page. `path` is relative to the wiki's root; `scope_path` is the folder of its scope (empty: none).
    pub fn read(path: &BStr, bytes: &[u8], layout: &Layout, scope_path: &str) -> Page {
        let block = frontmatter::find(bytes);
        let front = block.as_ref().map(|block| frontmatter::read(bytes, block)).unwrap_or_default();
        let start = block.as_ref().map_or_else(|| frontmatter::text_start(bytes), |block| block.body);
        let body = lf(&bytes[start..].to_str_lossy());
        let title = front.title.clone().or_else(|| first_h1(bytes, start)).unwrap_or_else(|| stem(path));
        let name = path.to_str_lossy();
        let kind = layout.kind_of(within(&name, scope_path)).or(front.kind);
        Page {
            path: path.to_owned(),
            title,
            kind,
            front,
            has_frontmatter: block.is_some(),
            body,
            utf8: std::str::from_utf8(bytes).is_ok(),
        }
    }

    /// `owner: human`
    pub fn is_human_owned(&self) -> bool {
        self.front.owner.as_deref().is_some_and(|owner| owner.eq_ignore_ascii_case("human"))
    }
}

/// The path within its scope's folder.
fn within<'p>(path: &'p str, scope_path: &str) -> &'p str {
    let scope_path = scope_path.trim_matches('/');
    if scope_path.is_empty() {
        return path;
    }
    path.strip_prefix(scope_path).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

/// The first H1's text, markdown marks kept. `body`: where the text begins.
fn first_h1(bytes: &[u8], body: usize) -> Option<String> {
    // Nearly always it is the first line, and no parser is needed to see that.
    let first = lines(bytes, body).find(|line| !is_blank(&bytes[line.text.clone()]));
    if let Some(text) = first.map(|line| &bytes[line.text])
        && text.starts_with(b"# ")
        && let Ok(text) = std::str::from_utf8(text)
    {
        let title = section::atx_text(text);
        if !title.is_empty() {
            return Some(title);
        }
    }
    section::headings(bytes)
        .into_iter()
        .find(|heading| heading.level == 1 && !heading.title.is_empty())
        .map(|h| h.title)
}

/// The file name without its extension.
fn stem(path: &BStr) -> String {
    let name = path.rsplit(|&b| b == b'/').next().unwrap_or_default();
    let stem = match name.iter().rposition(|&b| b == b'.') {
        Some(dot) if dot > 0 => &name[..dot],
        _ => name,
    };
    stem.to_str_lossy().into_owned()
}

/// A new page's bytes: frontmatter with these keys in this order (strings quoted where YAML needs it), then the body
/// with one final newline. What comes out parses back. Without keys there is no frontmatter.
pub fn compose(front: &[(&str, serde_json::Value)], body: &str) -> String {
    let mut page = String::with_capacity(body.len() + 256);
    if !front.is_empty() {
        page.push_str("---\n");
        for (key, value) in front {
            yaml::push_entry(&mut page, key, value, 0);
        }
        page.push_str("---\n\n");
    }
    let body = lf(body);
    let body = body.trim_start_matches('\n').trim_end();
    if !body.is_empty() {
        page.push_str(body);
        page.push('\n');
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(path: &str, bytes: &[u8]) -> Page {
        Page::read(path.into(), bytes, &Layout::default(), "")
    }

    #[test]
    fn the_title_comes_from_frontmatter_then_h1_then_the_name() {
        assert_eq!(read("notes/x.md", b"---\ntitle: A\n---\n# B\n").title, "A");
        assert_eq!(read("notes/x.md", b"```\n# no\n```\n\nB `c`\n=====\n").title, "B `c`");
        assert_eq!(read("notes/x.md", b"<!--\n# no\n-->\n\n## no\n\n# yes #\n").title, "yes");
        assert_eq!(read("notes/a.b.md", b"text\n").title, "a.b");
        assert_eq!(read("notes/x.md", b"---\ntitle: Governance: manifest\n---\n# From H1\n").title, "From H1");
    }

    #[test]
    fn the_kind_follows_the_folder_within_the_scope() {
        assert_eq!(read("gotchas/x.md", b"---\nkind: note\n---\n").kind, Some(Kind::Gotcha));
        assert_eq!(read("misc/x.md", b"---\ntype: decision\n---\n").kind, Some(Kind::Decision));
        assert_eq!(read("misc/x.md", b"x").kind, None);
        let page = Page::read("acme/_rules/x.md".into(), b"x", &Layout::default(), "acme");
        assert_eq!(page.kind, Some(Kind::Rule));
    }

    #[test]
    fn the_body_is_text_with_plain_line_ends() {
        let page = read("x.md", b"\xef\xbb\xbf---\r\ntitle: a\r\n---\r\n# a\r\nstra\xdfe\r\n");
        assert_eq!((page.body.as_str(), page.utf8), ("# a\nstra\u{fffd}e\n", false));
    }

    #[test]
    fn a_composed_page_reads_back() {
        let page = compose(
            &[("title", json!("A: b")), ("tags", json!(["x", "yes"])), ("pinned", json!(true))],
            "\n# A\r\n\r\ntext\n\n",
        );
        assert_eq!(page, "---\ntitle: \"A: b\"\ntags: [x, \"yes\"]\npinned: true\n---\n\n# A\n\ntext\n");
        let read = read("x.md", page.as_bytes());
        assert_eq!(
            (read.front.title.as_deref(), read.front.tags, read.front.pinned),
            (Some("A: b"), vec!["x".to_owned(), "yes".into()], true)
        );
        assert_eq!(compose(&[], "text"), "text\n");
    }
}
