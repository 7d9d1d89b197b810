//! Which pages stand in the brief: by category, the most important first.

use std::cmp::Reverse;
use std::collections::HashMap;

use bstr::{BString, ByteSlice};

use super::restated::Documents;
use super::{Category, Line};
use crate::feedback::NEUTRAL;
use crate::git;
use crate::search::{Facts, Signals};
use crate::wiki::{Kind, Page, Status, Wiki, priority};

/// Most pages of a category.
const MOST: usize = 5;

/// So many pages of a kind are read at most to fill its categories.
const READ: usize = 20;

/// The categories, in the order in which they stand there.
const NAMES: [&str; 6] = ["decisions", "fixes", "known failures", "commands", "follow-ups", "background"];

pub(super) struct Chooser<'a> {
    wiki: &'a Wiki,
    use_of: &'a Signals,
    recent: HashMap<BString, usize>,
    documents: Documents,
}

impl<'a> Chooser<'a> {
    pub fn new(wiki: &'a Wiki, use_of: &'a Signals, recent: Vec<BString>, documents: Documents) -> Chooser<'a> {
        let recent = recent.into_iter().enumerate().map(|(place, path)| (path, place)).collect();
        Chooser { wiki, use_of, recent, documents }
    }

    /// The best pages of each category, without empty ones.
    pub fn categories(&mut self, pages: &[&Facts]) -> git::Result<Vec<Category>> {
        let mut found: Vec<Category> =
            NAMES.iter().map(|name| Category { name: (*name).to_owned(), pages: Vec::new(), more: 0 }).collect();
        for kind in [
            Some(Kind::Decision),
            Some(Kind::Gotcha),
            Some(Kind::Procedure),
            Some(Kind::Concept),
            Some(Kind::Note),
            None,
        ] {
            let mut left = READ;
            for page in self.ordered(pages.iter().filter(|page| page.kind == kind).copied()) {
                let full = |names: &[usize]| names.iter().all(|&n| found[n].pages.len() == MOST);
                let possible = possible(kind);
                if left == 0 || full(possible) {
                    // What was not read is counted where most of its kind stand.
                    found[possible[0]].more += 1;
                    continue;
                }
                left -= 1;
                let read = self.read(page)?;
                if self.documents.state(&read.body) {
                    continue;
                }
                let category = &mut found[category(kind, &read)];
                if category.pages.len() < MOST {
                    category.pages.push(line(page));
                } else {
                    category.more += 1;
                }
            }
        }
        found.retain(|category| !category.pages.is_empty());
        Ok(found)
    }

    /// The best of these pages, whatever their category.
    pub fn best(&mut self, pages: &[&Facts], most: usize) -> git::Result<Vec<Line>> {
        let told = |kind| !matches!(kind, Some(Kind::Rule | Kind::Slot | Kind::Session));
        let mut best = Vec::new();
        for page in self.ordered(pages.iter().filter(|page| told(page.kind)).copied()).into_iter().take(READ) {
            if best.len() == most {
                break;
            }
            if !self.documents.state(&self.read(page)?.body) {
                best.push(line(page));
            }
        }
        Ok(best)
    }

    /// In use, the most important first: pinned, then by priority, by utility, by how lately they changed.
    fn ordered<'p>(&self, pages: impl Iterator<Item = &'p Facts>) -> Vec<&'p Facts> {
        let mut pages: Vec<&Facts> = pages.filter(|page| page.status == Status::Active).collect();
        pages.sort_by_cached_key(|page| {
            let utility = self.use_of.utility.get(&page.path).copied().unwrap_or(NEUTRAL);
            #[expect(clippy::cast_possible_truncation, reason = "a number from 0 to 100")]
            let utility = (utility * 100.0).round() as i32;
            let recent = self.recent.get(&page.path).copied().unwrap_or(usize::MAX);
            (Reverse((page.pinned, priority_of(page), utility)), recent, &page.path)
        });
        pages
    }

    fn read(&self, page: &Facts) -> git::Result<Page> {
        Ok(self.wiki.read(page.path.as_ref(), &self.wiki.repo.blob(page.blob)?))
    }
}

/// The page's own number, else that of its kind.
fn priority_of(page: &Facts) -> u8 {
    page.priority.unwrap_or_else(|| page.kind.map_or(priority::LEAST, priority::of_kind))
}

fn line(page: &Facts) -> Line {
    Line { path: page.path.to_str_lossy().into_owned(), title: page.title.clone(), priority: priority_of(page) }
}

/// The categories that a page of this kind may stand in, the usual one first.
fn possible(kind: Option<Kind>) -> &'static [usize] {
    match kind {
        Some(Kind::Decision) => &[0],
        Some(Kind::Gotcha) => &[1, 2],
        Some(Kind::Procedure) => &[3],
        Some(Kind::Note) => &[5, 4],
        _ => &[5],
    }
}

fn category(kind: Option<Kind>, page: &Page) -> usize {
    match kind {
        Some(Kind::Gotcha) if !tells_a_fix(page) => 2,
        Some(Kind::Note) if is_follow_up(page) => 4,
        _ => possible(kind)[0],
    }
}

/// Whether a section says what helps; a failure without one is only known.
fn tells_a_fix(page: &Page) -> bool {
    const WORDS: [&str; 9] =
        ["fix", "solution", "workaround", "resolution", "remedy", "what to do", "instead", "how to", "answer"];
    let headings = page.body.lines().filter(|line| line.starts_with('#')).skip(1);
    headings.map(str::to_lowercase).any(|heading| WORDS.iter().any(|word| heading.contains(word)))
}

/// Whether something in it is still to be done.
fn is_follow_up(page: &Page) -> bool {
    let open = |line: &str| line.trim_start().starts_with("- [ ] ") || line.trim_start().starts_with("* [ ] ");
    let word = |text: &str| {
        let text = text.to_lowercase();
        ["follow-up", "follow up", "todo", "next step"].iter().any(|word| text.contains(word))
    };
    word(&page.title) || page.front.tags.iter().any(|tag| word(tag)) || page.body.lines().any(open)
}
