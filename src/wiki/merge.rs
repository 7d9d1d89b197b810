//! A section-wise merge of one page, for what a line-wise merge calls a conflict.

use super::frontmatter;
use super::lines::{Eol, lines};
use super::section;

/// Merges two changes of one page by section: sections that only one side touched are taken from it, sections added
/// at the same place stand one after the other (ours first). `None` where both changed the same section, or the
/// frontmatter, differently; also where headings were reordered or cannot be told apart. Bytes that only one side
/// has come out as that side wrote them; what is taken from `theirs` gets the line ends of `ours`.
pub fn by_section(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let eol = Eol::of(ours);
    let (base, ours, theirs) = (Parts::of(base)?, Parts::of(ours)?, Parts::of(theirs)?);
    let front = three_way(&base.front, &ours.front, &theirs.front)?;
    let order = merged_order(&base, &ours, &theirs)?;
    let mut merged: Vec<&Chunk> = Vec::new();
    for key in order {
        let (b, o, t) = (base.get(key), ours.get(key), theirs.get(key));
        let text = |chunk: Option<&Chunk>| chunk.map(|chunk| chunk.plain.clone());
        let pick = match (b, o, t) {
            // Added on both sides: the same text is one section.
            (None, Some(o), Some(t)) => (o.plain == t.plain).then_some(Some(o))?,
            _ if text(t) == text(b) => o,
            _ if text(o) == text(b) => t,
            _ if text(o) == text(t) => o,
            _ => return None,
        };
        merged.extend(pick);
    }
    Some(assemble(front, &merged, eol, ours.final_newline))
}

/// One heading with what stands below it up to the next heading of any level, or the text above the first heading.
struct Chunk {
    key: String,
    /// As it stands, without the blank lines at its end.
    text: Vec<u8>,
    /// The blank lines below it, line end of the last text line included.
    gap: Vec<u8>,
    /// Its text with `\n` line ends, for comparing.
    plain: Vec<u8>,
    /// Nothing stood below it on its side.
    last: bool,
}

/// A page in pieces.
struct Parts {
    front: Vec<u8>,
    chunks: Vec<Chunk>,
    final_newline: bool,
}

impl Parts {
    /// `None` when two sections have the same headings above and on them: nobody could tell which is which.
    fn of(page: &[u8]) -> Option<Parts> {
        let body = frontmatter::body_start(page);
        let headings = section::headings(page);
        let mut starts = vec![(body, String::new())];
        let mut above: Vec<(u8, String)> = Vec::new();
        for heading in headings {
            above.retain(|(level, _)| *level < heading.level);
            above.push((heading.level, heading.title));
            let key = above.iter().map(|(level, title)| format!("{level} {title}")).collect::<Vec<_>>().join("\n");
            starts.push((heading.range.start, key));
        }
        let mut chunks: Vec<Chunk> = Vec::with_capacity(starts.len());
        for (n, (start, key)) in starts.iter().enumerate() {
            let end = starts.get(n + 1).map_or(page.len(), |(next, _)| *next);
            if chunks.iter().any(|chunk| chunk.key == *key) {
                return None;
            }
            let text_end = section::text_end(page, *start, end);
            let bare = page[*start..text_end].len() - line_end_len(&page[*start..text_end]);
            let text = page[*start..*start + bare].to_vec();
            chunks.push(Chunk {
                key: key.clone(),
                plain: plain(&text),
                text,
                gap: page[*start + bare..end].to_vec(),
                last: end == page.len(),
            });
        }
        let final_newline = page.is_empty() || line_end_len(page) > 0;
        Some(Parts { front: page[..body].to_vec(), chunks, final_newline })
    }

    fn get(&self, key: &str) -> Option<&Chunk> {
        self.chunks.iter().find(|chunk| chunk.key == key)
    }
}

fn line_end_len(bytes: &[u8]) -> usize {
    if bytes.ends_with(b"\r\n") { 2 } else { usize::from(bytes.ends_with(b"\n") || bytes.ends_with(b"\r")) }
}

/// `\n` line ends, for comparing.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for line in lines(bytes, 0) {
        out.extend_from_slice(&bytes[line.text]);
        out.push(b'\n');
    }
    out
}

fn three_way<'v>(base: &[u8], ours: &'v [u8], theirs: &'v [u8]) -> Option<&'v [u8]> {
    let (b, o, t) = (plain(base), plain(ours), plain(theirs));
    if t == b || o == t {
        Some(ours)
    } else if o == b {
        Some(theirs)
    } else {
        None
    }
}

/// The keys of all three, each side's additions behind what they follow there. `None` when a side changed the order
/// of sections that all know.
fn merged_order<'p>(base: &'p Parts, ours: &'p Parts, theirs: &'p Parts) -> Option<Vec<&'p str>> {
    let keys = |parts: &'p Parts| parts.chunks.iter().map(|chunk| chunk.key.as_str()).collect::<Vec<&'p str>>();
    let (base, ours, theirs) = (keys(base), keys(ours), keys(theirs));
    for side in [&ours, &theirs] {
        let known: Vec<_> = side.iter().filter(|key| base.contains(key)).collect();
        let still: Vec<_> = base.iter().filter(|key| side.contains(key)).collect();
        if known != still {
            return None;
        }
    }
    // The additions behind each base section, in the order of the side that made them. A base section that is gone
    // from a side keeps its place: what follows it there stands behind the one before.
    let additions = |side: &[&'p str]| {
        let mut behind: Vec<(&'p str, Vec<&'p str>)> = base.iter().map(|key| (*key, Vec::new())).collect();
        let mut at = 0;
        for key in side {
            match base.iter().position(|known| known == key) {
                Some(n) => at = n,
                None => behind[at].1.push(key),
            }
        }
        behind
    };
    let (from_ours, from_theirs) = (additions(&ours), additions(&theirs));
    let mut order: Vec<&str> = Vec::new();
    for ((key, mine), (_, other)) in from_ours.into_iter().zip(from_theirs) {
        order.push(key);
        order.extend(mine);
        for key in other {
            if !order.contains(&key) && !ours.contains(&key) {
                order.push(key);
            }
        }
    }
    // A section that both added at different places stands once, where ours put it.
    let mut seen = std::collections::HashSet::new();
    Some(order.into_iter().filter(|key| seen.insert(*key)).collect())
}

/// Puts the pieces together: blank lines as they were, one where a piece that was last no longer is.
fn assemble(front: &[u8], chunks: &[&Chunk], eol: Eol, final_newline: bool) -> Vec<u8> {
    let mut page = with_eol(front, eol);
    let shown: Vec<&&Chunk> = chunks.iter().filter(|chunk| !chunk.text.is_empty() || !chunk.gap.is_empty()).collect();
    for (n, chunk) in shown.iter().enumerate() {
        page.extend_from_slice(&with_eol(&chunk.text, eol));
        let is_last = n + 1 == shown.len();
        if is_last {
            if chunk.last {
                page.extend_from_slice(&with_eol(&chunk.gap, eol));
            }
            let has = line_end_len(&page) > 0;
            if final_newline && !has {
                page.extend_from_slice(eol.as_str().as_bytes());
            } else if !final_newline {
                while line_end_len(&page) > 0 {
                    page.truncate(page.len() - line_end_len(&page));
                }
            }
        } else if chunk.last && !chunk.text.is_empty() {
            page.extend_from_slice(eol.as_str().as_bytes());
            page.extend_from_slice(eol.as_str().as_bytes());
        } else {
            page.extend_from_slice(&with_eol(&chunk.gap, eol));
        }
    }
    page
}

/// The bytes with the page's line ends. A page that mixes them keeps its own mixture.
fn with_eol(bytes: &[u8], eol: Eol) -> Vec<u8> {
    if Eol::of(bytes) == eol {
        return bytes.to_vec();
    }
    let mut out = Vec::with_capacity(bytes.len());
    for line in lines(bytes, 0) {
        out.extend_from_slice(&bytes[line.text.clone()]);
        if line.end > line.text.end {
            out.extend_from_slice(eol.as_str().as_bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BASE: &str = "---\ntitle: T\n---\n# T\n\nintro\n\n## A\n\na\n\n## B\n\nb\n";

    fn merge(ours: &str, theirs: &str) -> Option<String> {
        by_section(BASE.as_bytes(), ours.as_bytes(), theirs.as_bytes()).map(|page| String::from_utf8(page).unwrap())
    }

    #[test]
    fn changes_of_different_sections_go_together() {
        let ours = BASE.replace("\na\n", "\na1\n");
        let theirs = BASE.replace("\nb\n", "\nb1\n");
        assert_eq!(merge(&ours, &theirs).unwrap(), ours.replace("\nb\n", "\nb1\n"));
        let theirs = BASE.replace("title: T", "title: U");
        assert_eq!(merge(&ours, &theirs).unwrap(), ours.replace("title: T", "title: U"));
    }

    #[test]
    fn sections_added_at_one_place_stand_in_a_row() {
        let ours = format!("{BASE}\n## C\n\nc\n");
        let theirs = format!("{BASE}\n## D\n\nd\n");
        assert_eq!(merge(&ours, &theirs).unwrap(), format!("{BASE}\n## C\n\nc\n\n## D\n\nd\n"));
        assert_eq!(merge(&ours, &ours).unwrap(), ours);
    }

    #[test]
    fn a_section_that_both_changed_is_a_conflict() {
        assert_eq!(merge(&BASE.replace("\na\n", "\na1\n"), &BASE.replace("\na\n", "\na2\n")), None);
        assert_eq!(merge(&BASE.replace("## A\n\na\n\n", ""), &BASE.replace("\na\n", "\na2\n")), None);
        assert_eq!(merge(&format!("{BASE}\n## C\n\nc\n"), &format!("{BASE}\n## C\n\nd\n")), None);
        assert_eq!(merge(&BASE.replace("title: T", "title: U"), &BASE.replace("title: T", "title: V")), None);
        let twice = format!("{BASE}\n## A\n\nagain\n");
        assert_eq!(merge(&twice, BASE), None);
    }

    #[test]
    fn a_section_that_one_side_dropped_stays_away() {
        let ours = BASE.replace("## A\n\na\n\n", "");
        let theirs = BASE.replace("\nb\n", "\nb1\n");
        assert_eq!(merge(&ours, &theirs).unwrap(), ours.replace("\nb\n", "\nb1\n"));
    }

    #[test]
    fn line_ends_and_a_missing_final_newline_are_ours() {
        let ours = BASE.replace("\na\n", "\na1\n").replace('\n', "\r\n");
        let ours = ours.trim_end();
        let merged = merge(ours, &format!("{BASE}\n## D\n\nd\n")).unwrap();
        assert_eq!(merged, format!("{ours}\r\n\r\n## D\r\n\r\nd"));
    }

    fn side() -> impl Strategy<Value = String> {
        let section = |title: &'static str| {
            let body = prop::sample::select(vec!["x", "y", "x\n\n```\n# z\n```"]);
            prop::option::of(body)
                .prop_map(move |body| body.map(|body| format!("## {title}\n\n{body}\n\n")).unwrap_or_default())
        };
        (section("A"), section("B"), section("C"), section("D"))
            .prop_map(|(a, b, c, d)| format!("# T\n\n{a}{b}{c}{d}").trim_end().to_owned() + "\n")
    }

    proptest! {
        #[test]
        fn an_unchanged_side_gives_the_other(base in side(), changed in side()) {
            let (b, c) = (base.as_bytes(), changed.as_bytes());
            prop_assert_eq!(by_section(b, b, c), Some(c.to_vec()));
            prop_assert_eq!(by_section(b, c, b), Some(c.to_vec()));
            prop_assert_eq!(by_section(b, c, c), Some(c.to_vec()));
        }

        #[test]
        fn each_section_of_a_merge_is_one_sides(base in side(), ours in side(), theirs in side()) {
            if let Some(merged) = by_section(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()) {
                let parts = |page: &[u8]| Parts::of(page).unwrap().chunks.into_iter().map(|c| (c.key, c.plain)).collect::<Vec<_>>();
                let (o, t) = (parts(ours.as_bytes()), parts(theirs.as_bytes()));
                for chunk in parts(&merged) {
                    prop_assert!(o.contains(&chunk) || t.contains(&chunk), "{:?}", chunk);
                }
            }
        }
    }
}
