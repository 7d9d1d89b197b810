//! What comes out of a program, read beside it, so that neither its silence nor its flood can hold us up.

use std::io::Read;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A pipe that is being read.
pub(super) struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    most: usize,
    ended: Receiver<()>,
}

impl Pipe {
    /// Reads all of it, and stops where it is longer than `most` bytes.
    pub(super) fn all(from: impl Read + Send + 'static, most: usize) -> Pipe {
        Pipe::read(from, most, |kept, most| kept.len() <= most)
    }

    /// Reads all of it, and keeps whole lines of its last `most` bytes: no half of a secret stays.
    pub(super) fn end_of(from: impl Read + Send + 'static, most: usize) -> Pipe {
        Pipe::read(from, most, |kept, most| {
            if let Some(over) = kept.len().checked_sub(most).filter(|over| *over > 0) {
                let line = kept[over..].iter().position(|byte| *byte == b'\n');
                kept.drain(..line.map_or(kept.len(), |at| over + at + 1));
            }
            true
        })
    }

    /// The thread ends with the pipe. One that something holds open for ever costs a thread, nothing else.
    fn read(
        mut from: impl Read + Send + 'static,
        most: usize,
        goes_on: impl Fn(&mut Vec<u8>, usize) -> bool + Send + 'static,
    ) -> Pipe {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (tell, ended) = mpsc::channel();
        let kept = bytes.clone();
        std::thread::spawn(move || {
            let mut piece = [0; 8 << 10];
            while let Ok(count) = from.read(&mut piece)
                && count > 0
            {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&piece[..count]);
                if !goes_on(&mut kept, most) {
                    break;
                }
            }
            drop(tell);
        });
        Pipe { bytes, most, ended }
    }

    /// Whether it was longer than what is kept of it.
    pub(super) fn is_too_long(&self) -> bool {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).len() > self.most
    }

    /// Waits until nobody can write to it any more, or until then.
    pub(super) fn wait_for_its_end(&self, until: Instant) {
        let _ = self.ended.recv_timeout(until.saturating_duration_since(Instant::now()));
    }

    /// What came out of it so far.
    pub(super) fn said(self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
