//! Ctrl-C and termination as something that can be asked for, so that what was begun is put away first.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use signal_hook::consts::TERM_SIGNALS;
use signal_hook::{flag, low_level};

/// While one lives, the first signal to end only sets a mark; the second ends the process.
pub struct Watch(());

/// How many watches live.
static WATCHES: Mutex<usize> = Mutex::new(0);

/// What the handlers of signals go by.
struct Marks {
    /// The next signal ends the process, as if nobody watched.
    ends: Arc<AtomicBool>,
    /// The last signal that came; 0: none.
    signal: Arc<AtomicUsize>,
}

/// The handlers, from the first watch on.
static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let marks = Marks { ends: Arc::new(AtomicBool::new(true)), signal: Arc::default() };
    for signal in signals() {
        // Where that is not possible, the signal ends the process as it always does. Handlers are called in this order.
        let _ = flag::register_conditional_default(signal, marks.ends.clone())
            .and_then(|_| flag::register(signal, marks.ends.clone()))
            .and_then(|_| flag::register_usize(signal, marks.signal.clone(), signal.unsigned_abs() as usize));
    }
    marks
});

impl Watch {
    /// Begins to watch.
    pub fn begin() -> Watch {
        let mut watches = WATCHES.lock().unwrap_or_else(PoisonError::into_inner);
        *watches += 1;
        if *watches == 1 {
            MARKS.signal.store(0, Ordering::SeqCst);
            MARKS.ends.store(false, Ordering::SeqCst);
        }
        Watch(())
    }

    /// Ends the process as the signal that came would have, unless somebody else watches too and has more to put away.
    pub fn pass_on(self) {
        let is_last = *WATCHES.lock().unwrap_or_else(PoisonError::into_inner) == 1;
        if is_last {
            end_as_asked();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watches = WATCHES.lock().unwrap_or_else(PoisonError::into_inner);
        *watches -= 1;
        if *watches == 0 {
            MARKS.ends.store(true, Ordering::SeqCst);
        }
    }
}

/// Whether the process was asked to end while somebody watched.
pub fn asked_to_end() -> bool {
    MARKS.signal.load(Ordering::SeqCst) != 0
}

/// Ends the process as the signal that came would have: who waits for it sees that it was interrupted (130, 143). Does
/// nothing when none came.
pub fn end_as_asked() {
    let Ok(signal @ 1..) = i32::try_from(MARKS.signal.load(Ordering::SeqCst)) else { return };
    let _ = low_level::emulate_default_handler(signal);
    // Whoever does not die of it ends nevertheless.
    std::process::exit(128 + signal);
}

/// The signals that ask a process to end, but for those that whoever started it has it ignore (`nohup`, `&` in a script).
fn signals() -> impl Iterator<Item = i32> {
    let ignored = ignored();
    #[cfg(unix)]
    let hangup = [signal_hook::consts::SIGHUP];
    #[cfg(not(unix))]
    let hangup = [];
    let all = TERM_SIGNALS.iter().copied().chain(hangup);
    all.filter(move |signal| ignored >> (signal - 1) & 1 == 0)
}

/// The signals that this process ignores, as bits, where the system tells.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
