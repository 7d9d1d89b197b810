//! Reading files side by side: most of a capture's time is reading and redacting, and no file needs another.

use std::io;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::session::{self, From, Outcome, ReadOptions, Warning};

/// What reading a file gave.
pub(super) type Read = io::Result<(Outcome, Vec<Warning>)>;

/// Reads the files, as many at a time as there are processors; what they gave, in their order.
pub(super) fn read_all(paths: &[&Path], from: From, options: ReadOptions) -> Vec<Read> {
    let next = AtomicUsize::new(0);
    let reader = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(at) else { return done };
            done.push((at, session::read(path, from, options)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(paths.len());
    let mut read = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(reader)).collect();
        let mut read = reader();
        for other in others {
            read.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        read
    });
    read.sort_by_key(|(at, _)| *at);
    read.into_iter().map(|(_, read)| read).collect()
}
