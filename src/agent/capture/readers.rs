//! Reading files side by side, and ahead of what stores them: most of a capture's time is reading and redacting, and
//! no file needs another.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::Job;
use crate::session::{self, Ending, From, Given, ReadOptions};

/// How many files are read before the first of them is taken.
const AHEAD: usize = 512;

/// How many bytes of text are read before the first of them are taken.
const LIMIT: usize = 16 << 20;

/// What comes of reading a file.
pub(super) enum Read {
    /// A session, or a part of one.
    Given(Given),
    /// It was the last.
    End(io::Result<Ending>),
}

/// Reads the files, as many at a time as there are processors, while `take` is called with what they give, in their
/// order.
pub(super) fn read_ahead<E>(
    jobs: &[Job],
    from: From,
    options: ReadOptions,
    take: &mut dyn FnMut(&Job, Read) -> Result<(), E>,
) -> Result<(), E> {
    let desk = Desk::default();
    let threads = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let _watch = Watch { desk: &desk, is_taker: false };
                while let Some(at) = desk.next(jobs.len()) {
                    let job = &jobs[at];
                    let bookmark = job.bookmark.as_ref().and_then(|text| serde_json::from_str(text.get()).ok());
                    let mut give = |given| desk.put(at, Read::Given(given));
                    let ending = session::read_on(&job.path, from, options, bookmark, &mut give);
                    desk.put(at, Read::End(ending));
                }
            });
        }
        let _watch = Watch { desk: &desk, is_taker: true };
        jobs.iter().enumerate().try_for_each(|(at, job)| {
            loop {
                // A reader that panics ends the scope.
                let Some(read) = desk.take(at) else { return Ok(()) };
                let is_last = matches!(read, Read::End(_));
                take(job, read)?;
                if is_last {
                    return Ok(());
                }
            }
        })
    })
}

/// What was read and not taken yet.
#[derive(Default)]
struct Desk {
    inner: Mutex<Inner>,
    moved: Condvar,
}

#[derive(Default)]
struct Inner {
    /// The next file to be read, and the one whose parts are taken.
    next: usize,
    taken: usize,
    waiting: HashMap<usize, VecDeque<(Read, usize)>>,
    held: usize,
    /// Nothing more is wanted or will come.
    closed: bool,
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'d>(&self, inner: MutexGuard<'d, Inner>) -> MutexGuard<'d, Inner> {
        self.moved.wait(inner).unwrap_or_else(PoisonError::into_inner)
    }

    /// The file to be read next, once it is not too far ahead.
    fn next(&self, count: usize) -> Option<usize> {
        let mut inner = self.lock();
        loop {
            if inner.closed || inner.next == count {
                return None;
            }
            if inner.next < inner.taken + AHEAD {
                inner.next += 1;
                return Some(inner.next - 1);
            }
            inner = self.wait(inner);
        }
    }

    /// Puts down what a file gave, once there is room for it.
    fn put(&self, file: usize, read: Read) {
        let size = match &read {
            Read::Given(given) => super::size(&given.session),
            Read::End(_) => 0,
        };
        let mut inner = self.lock();
        loop {
            let is_first = inner.taken == file && inner.waiting.get(&file).is_none_or(VecDeque::is_empty);
            if inner.closed {
                return;
            }
            if size == 0 || is_first || inner.held < LIMIT {
                break;
            }
            inner = self.wait(inner);
        }
        inner.held += size;
        inner.waiting.entry(file).or_default().push_back((read, size));
        self.moved.notify_all();
    }

    /// Takes what a file gave, once there is something; `None` when nothing will come.
    fn take(&self, file: usize) -> Option<Read> {
        let mut inner = self.lock();
        inner.taken = file;
        self.moved.notify_all();
        loop {
            if let Some((read, size)) = inner.waiting.get_mut(&file).and_then(VecDeque::pop_front) {
                inner.held -= size;
                if matches!(read, Read::End(_)) {
                    inner.waiting.remove(&file);
                }
                self.moved.notify_all();
                return Some(read);
            }
            if inner.closed {
                return None;
            }
            inner = self.wait(inner);
        }
    }
}

/// Closes the desk when a reader panics, or when the taker goes: nobody waits for the other then.
struct Watch<'d> {
    desk: &'d Desk,
    is_taker: bool,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.is_taker || thread::panicking() {
            self.desk.lock().closed = true;
            self.desk.moved.notify_all();
        }
    }
}
