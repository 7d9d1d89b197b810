//! The time, and ids that sort by it.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use ulid::{Generator, Ulid};

/// The time now, in whole milliseconds. Debug builds take `GIT_MEMORY_NOW` (RFC 3339) for it where that is set.
pub fn now() -> Timestamp {
    #[cfg(debug_assertions)]
    if let Some(fixed) = std::env::var("GIT_MEMORY_NOW").ok().and_then(|text| text.parse().ok()) {
        return fixed;
    }
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// A new id; ids of one process ascend even within one millisecond.
pub fn new_id() -> Ulid {
    static GENERATOR: Mutex<Generator> = Mutex::new(Generator::new());
    let mut generator = GENERATOR.lock().unwrap_or_else(PoisonError::into_inner);
    let at = std::time::UNIX_EPOCH + std::time::Duration::from_millis(now().as_millisecond().unsigned_abs());
    generator.generate_from_datetime(at).unwrap_or_else(|_| Ulid::from_datetime(at))
}
