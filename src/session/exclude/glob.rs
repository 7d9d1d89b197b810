//! Whether two patterns have a name in common.

use super::CASE_INSENSITIVE;

/// A place in a part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Atom {
    /// This character.
    Char(char),
    /// Any one character, or one of some.
    One,
    /// Any characters; never a dot at the front.
    Any,
    /// Any characters at all: a variable.
    Free,
}

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// A name, written out or with holes.
    Name(Vec<Atom>),
    /// Any parts, also none: `**`.
    Deep,
    /// A part of which nothing is known, and that counts for no name.
    Unknown,
}

impl Segment {
    pub(super) fn literal(part: &str) -> Segment {
        Segment::Name(part.chars().map(|c| Atom::Char(folded(c))).collect())
    }

    fn meets(&self, other: &Segment) -> bool {
        match (self, other) {
            (Segment::Name(a), Segment::Name(b)) => meet(a, b),
            (Segment::Deep, _) | (_, Segment::Deep) => true,
            _ => false,
        }
    }
}

pub(super) fn folded(c: char) -> char {
    if CASE_INSENSITIVE { c.to_lowercase().next().unwrap_or(c) } else { c }
}

/// Whether some name fits both.
fn meet(a: &[Atom], b: &[Atom]) -> bool {
    // A shell's hole is never a dot at the front.
    let hidden = |open: &[Atom], name: &[Atom]| {
        matches!(open.first(), Some(Atom::One | Atom::Any)) && name.first() == Some(&Atom::Char('.'))
    };
    if hidden(b, a) {
        return false;
    }
    // reach[j]: what was read of `a` can meet the first j atoms of `b`.
    let mut reach = vec![false; b.len() + 1];
    let any = |atom: Atom| matches!(atom, Atom::Any | Atom::Free);
    reach[0] = true;
    for j in 0..b.len() {
        reach[j + 1] = reach[j] && any(b[j]);
    }
    for atom in a {
        let mut next = vec![false; b.len() + 1];
        next[0] = reach[0] && any(*atom);
        for j in 0..b.len() {
            next[j + 1] = match (atom, b[j]) {
                (atom, _) if any(*atom) => reach[j + 1] || next[j] || reach[j],
                (_, other) if any(other) => next[j] || reach[j + 1] || reach[j],
                (Atom::Char(x), Atom::Char(y)) => reach[j] && *x == y,
                _ => reach[j],
            };
        }
        reach = next;
    }
    reach[b.len()]
}

fn written(run: &[Atom]) -> String {
    run.iter().filter_map(|atom| if let Atom::Char(c) = atom { Some(*c) } else { None }).collect()
}

/// Most parts of a path that are tried as a path; of a longer one every part counts.
const MOST: usize = 256;

/// A line of gitignore that excludes.
pub(super) struct Pattern {
    segments: Vec<Segment>,
    /// It means folders only, so that a path goes on below it or says that it is one.
    folder: bool,
    /// What stands in every name that fits.
    sure: String,
}

impl Pattern {
    /// `None` for an empty line, a comment, an exception.
    pub(super) fn new(line: &str) -> Option<Pattern> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with(['#', '!']) {
            return None;
        }
        let folder = line.ends_with('/');
        let mut segments: Vec<Segment> = Vec::new();
        for part in line.split('/').filter(|part| !part.is_empty()) {
            segments.push(if part == "**" { Segment::Deep } else { Segment::Name(atoms(part)) });
        }
        // `**/` in front and `/**` behind add nothing: every part of a path is tried, and what is below one goes with it.
        let end = segments.iter().rposition(|segment| *segment != Segment::Deep)?;
        segments.truncate(end + 1);
        let start = segments.iter().position(|segment| *segment != Segment::Deep)?;
        segments.drain(..start);
        let runs = segments.iter().flat_map(|segment| match segment {
            Segment::Name(atoms) => atoms.split(|atom| !matches!(atom, Atom::Char(_))).map(written).collect(),
            _ => Vec::new(),
        });
        let sure = runs.max_by_key(String::len).unwrap_or_default();
        Some(Pattern { segments, folder, sure })
    }

    /// Whether a text may hold a name that fits; false for most texts, at little cost.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        match CASE_INSENSITIVE {
            true => text.to_lowercase().contains(&self.sure),
            false => text.contains(&self.sure),
        }
    }

    /// Whether a path could be one that the pattern excludes: the pattern fits somewhere in it. `folders`: its last part
    /// may be a folder.
    pub(super) fn meets(&self, path: &[Segment], folders: bool) -> bool {
        if path.len() > MOST {
            return path.iter().any(|part| self.segments.last().is_some_and(|last| last.meets(part)));
        }
        (0..path.len()).any(|from| self.fits(&self.segments, &path[from..], folders))
    }

    fn fits(&self, pattern: &[Segment], path: &[Segment], folders: bool) -> bool {
        let Some((first, rest)) = pattern.split_first() else { return folders || !self.folder || !path.is_empty() };
        if *first == Segment::Deep {
            return (0..=path.len()).any(|skipped| self.fits(rest, &path[skipped..], folders));
        }
        let Some((here, below)) = path.split_first() else { return false };
        if *here == Segment::Deep {
            return self.fits(rest, path, folders)
                || self.fits(rest, below, true)
                || self.fits(pattern, below, folders);
        }
        first.meets(here) && self.fits(rest, below, folders)
    }
}

fn atoms(part: &str) -> Vec<Atom> {
    let mut out = Vec::new();
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' if out.last() == Some(&Atom::Any) => {}
            '*' => out.push(Atom::Any),
            '?' => out.push(Atom::One),
            '\\' => out.extend(chars.next().map(|c| Atom::Char(folded(c)))),
            '[' if chars.as_str().get(1..).is_some_and(|rest| rest.contains(']')) => {
                chars.next();
                chars.by_ref().find(|c| *c == ']');
                out.push(Atom::One);
            }
            c => out.push(Atom::Char(folded(c))),
        }
    }
    out
}

/// The parts of a path as it is meant: without empty ones, `.`, the home folder, and what `..` takes back.
pub(super) fn parts<T>(all: impl Iterator<Item = (impl AsRef<str>, T)>) -> Vec<T> {
    let mut out = Vec::new();
    for (name, part) in all {
        match name.as_ref() {
            "" | "." | "~" => {}
            ".." => drop(out.pop()),
            _ => out.push(part),
        }
    }
    out
}
