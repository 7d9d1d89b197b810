//! Fault points: places where a test kills the process to see what a crash leaves behind.
//!
//! `GIT_MEMORY_FAULT=<point>[:n]` kills the process with SIGKILL the n-th time (default: first) it passes the
//! point. Release builds have no fault points: the function is empty there.
//!
//! The points of this room; rooms above add their own:
//! * `objects.before`, `objects.after`: around making a batch of objects durable; `objects.each`: before a loose
//!   object that is complete and fsynced gets its name.
//! * `refs.before`, `refs.after`: around a ref transaction.
//! * `advance.before`, `advance.after-merge`: around the fast-forward of a checked-out branch; after it, ORIG_HEAD is
//!   not yet restored.

/// Dies here when a test asked for it.
#[inline]
pub fn point(name: &str) {
    #[cfg(debug_assertions)]
    imp::point(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

#[cfg(debug_assertions)]
mod imp {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static PASSED: AtomicUsize = AtomicUsize::new(0);

    pub fn point(name: &str) {
        let Ok(wanted) = std::env::var("GIT_MEMORY_FAULT") else {
            return;
        };
        let (point, nth) = match wanted.split_once(':') {
            Some((point, n)) => (point, n.parse().unwrap_or(1)),
            None => (wanted.as_str(), 1),
        };
        if point != name || PASSED.fetch_add(1, Ordering::SeqCst) + 1 != nth {
            return;
        }
        kill();
    }

    #[cfg(unix)]
    fn kill() {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }

    #[cfg(not(unix))]
    fn kill() {
        std::process::abort();
    }
}
