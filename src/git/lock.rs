//! An operating-system lock on a file, which the kernel releases when its holder dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::{Error, Result};

/// A held lock; dropping it releases it.
pub struct Lock {
    _file: File,
}

/// What came of trying to take a lock.
pub enum Locked {
    /// We hold it.
    Yes(Lock),
    /// Somebody else does; the text is what the holder wrote into it (pid, since, what for).
    No(String),
}

impl Lock {
    /// Tries to take the lock without waiting. `note` is written into the file for whoever meets it. The file and
    /// its folder are made when missing and never deleted.
    ///
    /// # Errors
    /// [`Error::Write`] when the file cannot be made or locks do not work on its file system.
    pub fn try_take(path: &Path, note: &str) -> Result<Locked> {
        let failed = |error: std::io::Error| Error::write(path.display().to_string(), error);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                return Ok(Locked::No(holder.trim().to_owned()));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The text only informs: a full disk must not keep the lock from being held.
        let text = format!("pid {}, since {}: {note}\n", std::process::id(), now());
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
        Ok(Locked::Yes(Lock { _file: file }))
    }

    /// Whether somebody holds the lock. Writes nothing; a file that is not there, or cannot be looked at, nobody holds.
    pub fn is_held(path: &Path) -> bool {
        File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Takes the lock, waiting at most this long.
    ///
    /// # Errors
    /// As [`Lock::try_take`].
    pub fn take(path: &Path, note: &str, patience: Duration) -> Result<Locked> {
        let end = Instant::now() + patience;
        let mut pause = Duration::from_millis(5);
        loop {
            let locked = Lock::try_take(path, note)?;
            if matches!(locked, Locked::Yes(_)) || Instant::now() >= end {
                return Ok(locked);
            }
            std::thread::sleep(pause.min(end.saturating_duration_since(Instant::now())));
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }
}

fn now() -> jiff::Timestamp {
    let now = jiff::Timestamp::try_from(SystemTime::now()).unwrap_or_default();
    now.round(jiff::Unit::Second).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_learns_who_holds_the_lock_and_gets_it_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/worker.lock");
        let Locked::Yes(held) = Lock::try_take(&path, "improve").unwrap() else { panic!("free lock not taken") };
        match Lock::take(&path, "other", Duration::from_millis(20)).unwrap() {
            Locked::Yes(_) => panic!("taken twice"),
            Locked::No(text) => {
                assert!(text.contains(&format!("pid {}", std::process::id())), "{text}");
                assert!(text.ends_with(": improve"), "{text}");
            }
        }
        assert!(Lock::is_held(&path) && !Lock::is_held(&folder.path().join("another.lock")));
        drop(held);
        assert!(!Lock::is_held(&path));
        assert!(matches!(Lock::try_take(&path, "other").unwrap(), Locked::Yes(_)));
        assert!(path.exists());
    }
}
