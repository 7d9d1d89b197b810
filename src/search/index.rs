//! The index of the pages of one tree: opened, brought up to date, or made.
//!
//! An index is a list of segments, and of each segment the pages that are no longer there. The main file holds the
//! segments of some tree; when the tree is another one now, the pages that differ become one more segment, in memory
//! and, for the branch's tip, in the second file. Every figure that ranking needs is counted over the pages that are
//! there, so an index gives the same answers however it came about.
//!
//! SQLite's full text search is in the program too, but takes four times as long for the first index as git takes to
//! read the pages, before anything is stemmed or folded.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bstr::{BStr, BString, ByteSlice};

use super::ask::Origin;
use super::build::Builder;
use super::segment::Segment;
use super::store::{File, Lacking, Store, Stored};
use crate::git::{self, Entry, Mode, Oid, Repo};
use crate::wiki::open::is_page;
use crate::wiki::{Layout, Page, Wiki};

/// From how many changed pages on the main file is written anew.
const MANY: usize = 64;

/// Most segments of a main file.
const MOST_SEGMENTS: usize = 12;

/// Most pages of a segment, and most bytes of text in them.
const MOST_PAGES: usize = 8_192;
const MOST_TEXT: usize = 64 << 20;

/// Fewest pages for which a second thread is started.
const FEW: usize = 128;

/// Most threads.
const MOST_THREADS: usize = 8;

/// Fewest pages that a thread takes at a time.
const HANDFUL: usize = 32;

/// An index, in memory.
pub(super) struct Index {
    /// The tree of the wiki's root.
    pub tree: Oid,
    files: Vec<Vec<u8>>,
    parts: Vec<Part>,
}

/// A segment and what is no longer there of it.
struct Part {
    file: usize,
    range: Range<usize>,
    dead: Bits,
}

/// One bit for each page; those that are not there are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bits(Vec<u8>);

impl Bits {
    /// Whether the bit is set.
    pub fn has(&self, n: u32) -> bool {
        self.0.get(n as usize / 8).is_some_and(|byte| byte >> (n % 8) & 1 == 1)
    }

    fn set(&mut self, n: u32) {
        let place = n as usize / 8;
        if self.0.len() <= place {
            self.0.resize(place + 1, 0);
        }
        self.0[place] |= 1 << (n % 8);
    }

    fn count(&self) -> usize {
        self.0.iter().map(|byte| byte.count_ones() as usize).sum()
    }
}

/// An index that was opened.
pub(super) struct Opened {
    pub index: Arc<Index>,
    pub origin: Origin,
    /// Why it could not be kept for the next search.
    pub unkept: Option<String>,
}

impl Index {
    /// The index of the pages of a tree (of the wiki's root). `keep`: the next search will ask for the same tree.
    ///
    /// # Errors
    /// When git cannot read the tree or a page.
    pub fn open(wiki: &Wiki, tree: Oid, keep: bool) -> git::Result<Opened> {
        let store = Store::of(wiki);
        let why = match store.read(File::Main) {
            Err(Lacking::Absent) => "there was none",
            Err(Lacking::Damaged) => "the one there was is damaged",
            Ok(main) => match Index::from_files(&store, main, wiki, tree, keep) {
                Ok(opened) => return Ok(opened),
                Err(why) => why,
            },
        };
        let index = Index::build(wiki, tree)?;
        let unkept = if keep { index.write_main(&store).err().map(|error| error.to_string()) } else { None };
        Ok(Opened { index: index.into(), origin: Origin::Built(why), unkept })
    }

    /// From the stored index; why not, when that is of no use.
    fn from_files(store: &Store, main: Stored, wiki: &Wiki, tree: Oid, keep: bool) -> Result<Opened, &'static str> {
        let stamp = main.stamp;
        let more = store.read(File::More).ok().filter(|more| more.base == Some(stamp));
        let main = Index::of_main(main).ok_or("the one there was is damaged")?;
        if main.tree == tree {
            return Ok(Opened { index: main.into(), origin: Origin::Warm, unkept: None });
        }
        if let Some(more) = more.filter(|more| more.tree == tree.as_bytes()) {
            let index = main.with_more(more).ok_or("the one there was is damaged")?;
            return Ok(Opened { index: index.into(), origin: Origin::Warm, unkept: None });
        }
        let gone = "what it was made from is gone";
        let changes = wiki.repo.diff(Some(main.tree), Some(tree)).map_err(|_| gone)?;
        let mut stale = HashSet::new();
        let mut fresh = Vec::new();
        for change in changes.into_iter().filter(|change| covers(change.path.as_ref())) {
            if let Some(oid) = change.after.and_then(file) {
                fresh.push((change.path.clone(), oid));
            }
            stale.insert(change.path);
        }
        let changed = stale.len();
        let count = main.parts.len();
        let index = main.changed(wiki, tree, &stale, &fresh).map_err(|_| "what changed cannot be read")?;
        if keep && index.is_worn() {
            return Err("too much had changed");
        }
        let kept = match keep {
            false => Ok(()),
            true if changed >= MANY => index.write_main(store),
            true => index.write_more(store, stamp, count),
        };
        let unkept = kept.err().map(|error| error.to_string());
        Ok(Opened { index: index.into(), origin: Origin::Updated(changed), unkept })
    }

    fn of_main(main: Stored) -> Option<Index> {
        let tree = Oid::try_from(&main.tree[..]).ok()?;
        let mut dead = main.dead.into_iter().map(Bits);
        let parts =
            main.segments.into_iter().map(|range| Part { file: 0, range, dead: dead.next().unwrap_or_default() });
        let index = Index { tree, parts: parts.collect(), files: vec![main.bytes] };
        index.is_whole().then_some(index)
    }

    fn with_more(mut self, more: Stored) -> Option<Index> {
        self.tree = Oid::try_from(&more.tree[..]).ok()?;
        for (part, dead) in self.parts.iter_mut().zip(more.dead) {
            part.dead = Bits(dead);
        }
        let file = self.files.len();
        self.parts.extend(more.segments.into_iter().map(|range| Part { file, range, dead: Bits::default() }));
        self.files.push(more.bytes);
        self.is_whole().then_some(self)
    }

    fn is_whole(&self) -> bool {
        self.parts.iter().all(|part| Segment::read(&self.files[part.file][part.range.clone()]).is_some())
    }

    /// The segments, each with what is no longer there of it.
    pub fn segments(&self) -> Vec<(Segment<'_>, &Bits)> {
        let read = |part: &Part| Segment::read(&self.files[part.file][part.range.clone()]);
        self.parts.iter().filter_map(|part| Some((read(part)?, &part.dead))).collect()
    }

    fn build(wiki: &Wiki, tree: Oid) -> git::Result<Index> {
        let files = wiki.repo.files(tree, BStr::new(""))?;
        let mut pages: Vec<(BString, Oid)> = files
            .into_iter()
            .filter(|found| covers(found.path.as_ref()))
            .filter_map(|found| Some((found.path, file(found.entry)?)))
            .collect();
        wiki.repo.sort_as_packed(&mut pages, |(_, oid)| *oid);
        let mut index = Index { tree, files: Vec::new(), parts: Vec::new() };
        index.add(segments(&wiki.repo, &pages)?);
        Ok(index)
    }

    /// The index with these pages gone, and those added.
    fn changed(
        mut self,
        wiki: &Wiki,
        tree: Oid,
        stale: &HashSet<BString>,
        fresh: &[(BString, Oid)],
    ) -> git::Result<Index> {
        let mut dead: Vec<Bits> = self.parts.iter().map(|part| part.dead.clone()).collect();
        for ((segment, _), dead) in self.segments().iter().zip(&mut dead) {
            for number in 0..segment.docs {
                if segment.doc(number).is_some_and(|doc| stale.contains(doc.path)) {
                    dead.set(number);
                }
            }
        }
        for (part, dead) in self.parts.iter_mut().zip(dead) {
            part.dead = dead;
        }
        self.tree = tree;
        self.add(segments(&wiki.repo, fresh)?);
        Ok(self)
    }

    fn add(&mut self, segments: Vec<Vec<u8>>) {
        for bytes in segments {
            self.parts.push(Part { file: self.files.len(), range: 0..bytes.len(), dead: Bits::default() });
            self.files.push(bytes);
        }
    }

    /// Whether it is better made anew.
    fn is_worn(&self) -> bool {
        let (mut docs, mut dead) = (0, 0);
        for (segment, gone) in self.segments() {
            docs += segment.docs as usize;
            dead += gone.count();
        }
        self.parts.len() > MOST_SEGMENTS + docs / MOST_PAGES || dead * 3 > docs
    }

    fn bytes(&self, parts: &[Part]) -> Vec<&[u8]> {
        parts.iter().map(|part| &self.files[part.file][part.range.clone()]).collect()
    }

    fn dead(&self, parts: &[Part]) -> Vec<Vec<u8>> {
        parts.iter().map(|part| part.dead.0.clone()).collect()
    }

    fn write_main(&self, store: &Store) -> std::io::Result<()> {
        store.write(File::Main, self.tree.as_bytes(), None, &self.dead(&self.parts), &self.bytes(&self.parts))
    }

    /// Writes what stands behind the first `count` segments, which are those of the main file.
    fn write_more(&self, store: &Store, base: (u32, u32), count: usize) -> std::io::Result<()> {
        let (old, new) = self.parts.split_at(count);
        store.write(File::More, self.tree.as_bytes(), Some(base), &self.dead(old), &self.bytes(new))
    }
}

/// Whether the file at a path (relative to the wiki's root) is searched: a page that is no template.
fn covers(path: &BStr) -> bool {
    let is_template = |part: &[u8]| {
        let stem = part.rfind_byte(b'.').map_or(part, |dot| &part[..dot]);
        let name = stem.trim_start_with(|c| c == '_');
        [&b"template"[..], b"templates", b"adr-template"].iter().any(|word| name.eq_ignore_ascii_case(word))
    };
    is_page(path) && !path.split(|&byte| byte == b'/').any(is_template)
}

fn file(entry: Entry) -> Option<Oid> {
    matches!(entry.mode, Mode::Blob | Mode::Executable).then_some(entry.oid)
}

/// Segments of these pages, made by as many threads as are of use.
fn segments(repo: &Repo, pages: &[(BString, Oid)]) -> git::Result<Vec<Vec<u8>>> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS));
    let queue = Queue { pages, threads, next: AtomicUsize::new(0) };
    if pages.len() < FEW || threads == 1 {
        return take_pages(repo, &queue);
    }
    std::thread::scope(|scope| {
        let queue = &queue;
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let repo = repo.for_one_pass();
                scope.spawn(move || take_pages(&repo, queue))
            })
            .collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(all)
    })
}

/// Pages that several threads share.
struct Queue<'p> {
    pages: &'p [(BString, Oid)],
    threads: usize,
    next: AtomicUsize,
}

impl<'p> Queue<'p> {
    /// The next pages: many at first, because neighbours build on each other; few in the end, so that all threads are
    /// done at the same time. None when none are left.
    fn take(&self) -> &'p [(BString, Oid)] {
        let behind = |from: usize| {
            let left = self.pages.len() - from;
            from + (left / (2 * self.threads)).max(HANDFUL).min(left)
        };
        let taken = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |from| Some(behind(from)));
        let (Ok(from) | Err(from)) = taken;
        &self.pages[from..behind(from)]
    }
}

/// Takes pages until none are left.
fn take_pages(repo: &Repo, queue: &Queue<'_>) -> git::Result<Vec<Vec<u8>>> {
    // Which folder makes which kind is looked up when somebody asks: settings may change without the tree.
    let layout = Layout::default();
    let mut done = Vec::new();
    let room = (queue.pages.len() / queue.threads).min(MOST_PAGES);
    let mut builder = Builder::with_room(room);
    let mut bytes = Vec::new();
    loop {
        let pages = queue.take();
        for (path, oid) in pages {
            repo.blob_into(*oid, &mut bytes)?;
            builder.add(&Page::read(path.as_ref(), &bytes, &layout, ""), oid.as_bytes());
            if builder.len() >= MOST_PAGES || builder.text() >= MOST_TEXT {
                done.push(std::mem::replace(&mut builder, Builder::with_room(room)).finish());
            }
        }
        if pages.is_empty() {
            if builder.len() > 0 {
                done.push(builder.finish());
            }
            return Ok(done);
        }
    }
}
