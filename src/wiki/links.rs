//! Links between pages: wiki links and relative markdown links, and which page they mean.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use bstr::{BStr, BString, ByteSlice};
use pulldown_cmark::{Event, LinkType, Parser, Tag};

use super::{frontmatter, open, path, section};

/// Where a link leads, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `[[name]]`, without heading, alias and white space; never empty.
    Name(String),
    /// `[text](path)` without fragment and query, percent signs decoded; never a URL and never empty.
    Path(String),
}

/// One link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub target: Target,
    /// The whole link, in the page's bytes.
    pub range: Range<usize>,
}

/// The links of a page to other pages, in order; none from code, comments or frontmatter, none to URLs or to headings
/// of the page itself.
pub fn links(page: &[u8]) -> Vec<Link> {
    let start = frontmatter::body_start(page);
    let text = section::same_length_text(&page[start..]);
    let mut found = Vec::new();
    for (event, range) in Parser::new_ext(&text, section::options()).into_offset_iter() {
        let (Event::Start(Tag::Link { link_type, dest_url, .. })
        | Event::Start(Tag::Image { link_type, dest_url, .. })) = event
        else {
            continue;
        };
        let target = match link_type {
            LinkType::WikiLink { .. } => {
                // `[[1]](url)` is an ordinary link whose text has brackets.
                if text[range.end..].starts_with('(') { None } else { wiki_name(&dest_url) }
            }
            LinkType::Autolink | LinkType::Email => None,
            _ => relative_path(&dest_url),
        };
        if let Some(target) = target {
            found.push(Link { target, range: start + range.start..start + range.end });
        }
    }
    found
}

/// The page that `[[…]]` names; `None` for what only looks like a link (a shell's test, a heading of this page).
fn wiki_name(written: &str) -> Option<Target> {
    let name = written.split(['#', '|', '^']).next().unwrap_or(written).trim().trim_end_matches('\\').trim();
    let code = name.starts_with(['-', '!', ':', '$', '"', '\'']) || name.contains(['$', '"', '=', '<', '>']);
    (!name.is_empty() && !code && !has_scheme(name)).then(|| Target::Name(name.to_owned()))
}

fn relative_path(written: &str) -> Option<Target> {
    let path = written.split(['#', '?']).next().unwrap_or(written).trim();
    if path.is_empty() || path.starts_with("//") || has_scheme(path) {
        return None;
    }
    Some(Target::Path(decoded(path).into_owned()))
}

/// `https:`, `mailto:`, `C:` …
fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    })
}

/// `%20` and its like read; what is no valid escape or no UTF-8 stays as written.
fn decoded(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| bytes[at] == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).map_or(Cow::Borrowed(path), Cow::Owned)
}

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// A file or a folder that exists, by its path.
    One(BString),
    /// Several pages bear the name.
    Several(Vec<BString>),
    /// Nothing.
    Missing,
    /// It cannot be told from the wiki alone: it leads outside, or to what is no page.
    Unknown,
}

/// The files of a wiki by the names under which links find them.
#[derive(Debug, Default)]
pub struct Index {
    by_path: HashMap<String, Vec<BString>>,
    by_name: HashMap<String, Vec<BString>>,
    by_title: HashMap<String, Vec<BString>>,
    folders: HashSet<String>,
}

impl Index {
    /// From the paths of all files, relative to the wiki's root. Pages in the archive are found by their old paths.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p BString>) -> Index {
        let mut index = Index::default();
        for file in paths {
            let folded = path::fold(file.as_ref());
            let live = folded.strip_prefix("_archive/").unwrap_or(&folded).to_owned();
            for (at, _) in folded.match_indices('/') {
                index.folders.insert(folded[..at].to_owned());
            }
            if open::is_page(live.as_bytes().as_bstr()) {
                let bare = without_extension(&live);
                let name = bare.rsplit('/').next().unwrap_or(bare);
                index.by_name.entry(name.to_owned()).or_default().push(file.clone());
                index.by_path.entry(bare.to_owned()).or_default().push(file.clone());
            }
            if live != folded {
                index.by_path.entry(folded).or_default().push(file.clone());
            }
            index.by_path.entry(live).or_default().push(file.clone());
        }
        index
    }

    /// Makes a page findable by its title too.
    pub fn add_title(&mut self, title: &str, page: &BStr) {
        self.by_title.entry(path::fold(title.as_bytes().as_bstr())).or_default().push(page.to_owned());
    }

    /// What a link on `page` leads to. Case does not count where nothing fits exactly.
    pub fn resolve(&self, page: &BStr, target: &Target) -> Resolved {
        match target {
            Target::Name(name) => self.by_wiki_name(page, name),
            Target::Path(written) => self.by_relative_path(page, written),
        }
    }

    fn by_relative_path(&self, page: &BStr, written: &str) -> Resolved {
        let folded = path::fold(written.as_bytes().as_bstr());
        let last = folded.rsplit('/').next().unwrap_or(&folded);
        let is_page_like =
            last.is_empty() || last.ends_with(".md") || last.ends_with(".markdown") || !last.contains('.');
        let folder = path::fold(folder_of(page));
        let whole = match folded.strip_prefix('/') {
            // A path of the machine or of a web site, not of the wiki.
            Some(from_root) if self.is_foreign(from_root) => None,
            Some(from_root) => joined("", from_root),
            None => joined(&folder, &folded),
        };
        match whole {
            None => Resolved::Unknown,
            Some(whole) if whole.is_empty() || self.folders.contains(&whole) => Resolved::One(whole.into()),
            Some(whole) => match self.by_path.get(&whole) {
                Some(found) => exact_or_first(found, written),
                None if is_page_like => Resolved::Missing,
                None => Resolved::Unknown,
            },
        }
    }

    /// Whether a path from the root begins with a folder that the wiki does not have.
    fn is_foreign(&self, from_root: &str) -> bool {
        from_root.split_once('/').is_some_and(|(first, _)| !self.folders.contains(first))
    }

    fn by_wiki_name(&self, page: &BStr, name: &str) -> Resolved {
        let folded = path::fold(name.as_bytes().as_bstr());
        let bare = without_extension(folded.trim_matches('/'));
        let folder = path::fold(folder_of(page));
        if let Some(found) = self.by_path.get(bare) {
            return exact_or_first(found, name);
        }
        if let Some(found) = joined(&folder, bare).and_then(|whole| self.by_path.get(&whole)) {
            return exact_or_first(found, name);
        }
        let last = bare.rsplit('/').next().unwrap_or(bare);
        let fits = |file: &&BString| {
            let file = path::fold(file.as_ref());
            bare == last || without_extension(&file).ends_with(&format!("/{bare}"))
        };
        let found: Vec<BString> = self.by_name.get(last).into_iter().flatten().filter(fits).cloned().collect();
        match found.len() {
            0 => match self.by_title.get(&folded).map(Vec::as_slice) {
                Some([one]) => Resolved::One(one.clone()),
                Some(several) => Resolved::Several(several.to_vec()),
                None if self.by_path.contains_key(&folded) => Resolved::One(folded.into()),
                // A picture or another attachment: what is no page is not ours to check.
                None if is_attachment(&folded) => Resolved::Unknown,
                None => Resolved::Missing,
            },
            1 => Resolved::One(found[0].clone()),
            _ => exact_or_several(found, name),
        }
    }
}

fn is_attachment(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && (2..=5).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// The file whose spelling is the link's, else the first: they differ by case alone, which is a finding of its own.
fn exact_or_first(found: &[BString], written: &str) -> Resolved {
    let last = written.rsplit('/').next().unwrap_or(written);
    let exact = found.iter().find(|file| file.find(last).is_some());
    exact.or(found.first()).map_or(Resolved::Missing, |file| Resolved::One(file.clone()))
}

/// Several pages bear a name: one alone that spells it exactly is meant.
fn exact_or_several(found: Vec<BString>, written: &str) -> Resolved {
    let last = without_extension(written).rsplit('/').next().unwrap_or(written).to_owned();
    let spelled = |file: &&BString| {
        let file = file.to_str_lossy();
        without_extension(&file).rsplit('/').next() == Some(last.as_str())
    };
    let exact: Vec<&BString> = found.iter().filter(spelled).collect();
    match exact.as_slice() {
        [one] => Resolved::One((*one).clone()),
        _ => Resolved::Several(found),
    }
}

/// A path without the ending of a page.
pub fn without_extension(path: &str) -> &str {
    path.strip_suffix(".md").or_else(|| path.strip_suffix(".markdown")).unwrap_or(path)
}

fn folder_of(page: &BStr) -> &BStr {
    page.rfind_byte(b'/').map_or(&b""[..], |at| &page[..at]).as_bstr()
}

/// A relative path from a folder, `.` and `..` resolved; `None` when it leads out of the wiki.
fn joined(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(page: &str) -> Vec<Target> {
        links(page.as_bytes()).into_iter().map(|link| link.target).collect()
    }

    fn name(text: &str) -> Target {
        Target::Name(text.into())
    }

    fn path(text: &str) -> Target {
        Target::Path(text.into())
    }

    #[test]
    fn links_are_found_where_a_reader_sees_them() {
        let page = "---\nx: \"[[front]]\"\n---\n[[a]] [[b/c#H|al]] ![[d]] [[#here]] [[]] [[ e ]]\n\n| t |\n|-|\n| [[f\\|L]] |\n\n`[[code]]`\n\n```\n[[fence]]\n```\n\n<!-- [[comment]] -->\n\n[x](../y.md#z) [enc](a%20b.md) [u](https://e.org/a.md) [m](mailto:a@b) [h](#h) [r][r] [[1]](https://e.org)\n\n[r]: z.md\n\n[[ -f $x ]]\n";
        let want =
            [name("a"), name("b/c"), name("d"), name("e"), name("f"), path("../y.md"), path("a b.md"), path("z.md")];
        assert_eq!(targets(page), want);
    }

    #[test]
    fn a_link_finds_its_page_by_path_name_or_title() {
        let files: Vec<BString> = [
            "gotchas/openssl-dir.md",
            "notes/a.md",
            "concepts/a.md",
            "concepts/Big.md",
            "_archive/notes/old.md",
            "pic.png",
        ]
        .map(BString::from)
        .into();
        let mut index = Index::new(&files);
        index.add_title("A title", "concepts/Big.md".into());
        let at = |target: Target| index.resolve("notes/x.md".into(), &target);
        for (target, want) in [
            (name("openssl-dir"), "gotchas/openssl-dir.md"),
            (name("OPENSSL-DIR"), "gotchas/openssl-dir.md"),
            (name("gotchas/openssl-dir.md"), "gotchas/openssl-dir.md"),
            (name("big"), "concepts/Big.md"),
            (name("A title"), "concepts/Big.md"),
            (name("notes/old"), "_archive/notes/old.md"),
            (name("a"), "notes/a.md"),
            (path("../gotchas/openssl-dir.md"), "gotchas/openssl-dir.md"),
            (path("/concepts/a.md"), "concepts/a.md"),
            (path("../concepts/"), "concepts"),
            (path("../pic.png"), "pic.png"),
        ] {
            assert_eq!(at(target.clone()), Resolved::One(want.into()), "{target:?}");
        }
        assert_eq!(
            index.resolve("x.md".into(), &name("a")),
            Resolved::Several(vec!["notes/a.md".into(), "concepts/a.md".into()])
        );
        assert_eq!(at(name("nope")), Resolved::Missing);
        assert_eq!(at(path("nope.md")), Resolved::Missing);
        assert_eq!(at(path("../../outside.md")), Resolved::Unknown);
        assert_eq!(at(path("nope.png")), Resolved::Unknown);
        assert_eq!(at(path("/Users/me/x.md")), Resolved::Unknown);
        assert_eq!(at(path("/notes/nope.md")), Resolved::Missing);
    }
}
