//! The ticks of the schedule: whether one is due. Each machine has its own; the ledger says nothing of them.

use std::fs;
use std::path::Path;

use jiff::Timestamp;

use crate::config::Scheduler;
use crate::ledger;

/// Where the time of the last tick stands in the local folder.
const FILE: &str = "last-tick";

/// Why a tick of the schedule does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDue {
    /// `scheduler.enabled` is false.
    Disabled,
    /// `scheduler.interval_secs` is 0.
    Never,
    /// The last one is too young.
    TooSoon {
        /// How old it is, in seconds.
        age: i64,
        /// How old it must be, in seconds.
        interval: u64,
    },
}

impl NotDue {
    /// The stable word for it.
    pub fn code(self) -> &'static str {
        match self {
            NotDue::Disabled | NotDue::Never => "disabled",
            NotDue::TooSoon { .. } => "too_soon",
        }
    }
}

impl std::fmt::Display for NotDue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotDue::Disabled => f.write_str("scheduler.enabled is false"),
            NotDue::Never => f.write_str("scheduler.interval_secs is 0"),
            NotDue::TooSoon { age, interval } => {
                let rest = interval.saturating_sub(age.unsigned_abs());
                let (age, rest) = (length(age.unsigned_abs()), length(rest));
                write!(f, "the last tick was {age} ago, and the next is due ")?;
                write!(f, "in {rest} (scheduler.interval_secs is {interval})")
            }
        }
    }
}

/// Seconds as people say them.
fn length(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3_600)),
    }
}

/// Whether a tick is due now. Reads; writes nothing.
///
/// # Errors
/// Why not.
pub fn due(scheduler: &Scheduler, memory_dir: &Path) -> Result<(), NotDue> {
    if !scheduler.enabled {
        return Err(NotDue::Disabled);
    }
    if scheduler.interval_secs == 0 {
        return Err(NotDue::Never);
    }
    let last: Option<Timestamp> =
        fs::read_to_string(memory_dir.join(FILE)).ok().and_then(|text| text.trim().parse().ok());
    let age = last.map(|last| ledger::now().as_second() - last.as_second());
    match age {
        // One that lies ahead was written by a clock that was wrong.
        Some(age) if age >= 0 && age.unsigned_abs() < scheduler.interval_secs => {
            Err(NotDue::TooSoon { age, interval: scheduler.interval_secs })
        }
        _ => Ok(()),
    }
}

/// Notes that a tick is made now.
pub(super) fn note(memory_dir: &Path) {
    // One that cannot be noted is made again sooner than it should.
    let _ = fs::create_dir_all(memory_dir);
    let _ = fs::write(memory_dir.join(FILE), ledger::now().to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_due_when_the_last_one_is_old_enough() {
        let folder = tempfile::tempdir().expect("a folder");
        let scheduler = Scheduler::default();
        let last = |age: i64| {
            let at = Timestamp::from_second(ledger::now().as_second() - age).expect("a time");
            fs::write(folder.path().join(FILE), at.to_string()).expect("written");
        };
        assert_eq!(due(&scheduler, folder.path()), Ok(()), "there was none");
        last(3_000);
        assert!(matches!(due(&scheduler, folder.path()), Err(NotDue::TooSoon { age: 3_000..=3_010, .. })));
        last(3_700);
        assert_eq!(due(&scheduler, folder.path()), Ok(()));
        last(-3_000);
        assert_eq!(due(&scheduler, folder.path()), Ok(()), "a clock was wrong");
        note(folder.path());
        assert!(matches!(due(&scheduler, folder.path()), Err(NotDue::TooSoon { age: 0..=10, .. })));
        let never = Scheduler { interval_secs: 0, ..scheduler.clone() };
        assert_eq!(due(&never, folder.path()), Err(NotDue::Never));
        assert_eq!(due(&Scheduler { enabled: false, ..scheduler }, folder.path()), Err(NotDue::Disabled));
    }
}
