//! How long to wait before the next try.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::git::asked_to_end;

/// The pause before the first retry; it doubles with each.
const FIRST: Duration = Duration::from_millis(500);

/// Longest pause that no server asked for.
const LONGEST: Duration = Duration::from_secs(20);

/// Longest pause that a server can ask for: a day is more than any deadline here.
const MOST: Duration = Duration::from_secs(86_400);

/// The pause after `tries` retries. It grows, and half of it is left to chance, so that many who failed together do not
/// come back together; what the server asked for, and a little more, is the least.
pub(super) fn before(tries: u32, asked: Option<Duration>) -> Duration {
    let chance = f64::from(u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or(0)) / f64::from(u32::MAX);
    let own = FIRST.saturating_mul(1 << tries.min(10)).min(LONGEST).mul_f64(0.5 + chance / 2.0);
    asked.map_or(own, |asked| own.max(asked + Duration::from_millis(250).mul_f64(chance)))
}

/// Waits so long. False when the process is asked to end meanwhile.
pub(super) fn wait(pause: Duration) -> bool {
    let end = Instant::now() + pause;
    while !asked_to_end() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
    false
}

/// `Retry-After`: seconds, or a date of HTTP.
pub(super) fn asked_for(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        // What is no length of time is none.
        return (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(MOST.as_secs_f64())));
    }
    let then = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::try_from(then.duration_since(now)).unwrap_or_default().min(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_ask_in_seconds_or_name_a_time() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let asked = |text| asked_for(text, now);
        assert_eq!(asked("7"), Some(Duration::from_secs(7)));
        assert_eq!(asked(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(asked("Sun, 01 Mar 2026 12:00:30 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(asked("Sun, 01 Mar 2026 11:00:00 GMT"), Some(Duration::ZERO));
        for long in ["1e300", "Wed, 02 Mar 2033 12:00:00 GMT"] {
            assert_eq!(asked(long), Some(MOST), "{long}");
        }
        for nonsense in ["soon", "-3", "NaN", ""] {
            assert_eq!(asked(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn pauses_grow_and_differ_and_never_undercut_what_was_asked() {
        assert!(before(0, None) <= FIRST && before(0, None) >= FIRST / 2);
        assert!(before(3, None) >= FIRST * 4);
        assert!(before(60, None) <= LONGEST);
        assert!(before(3, Some(Duration::ZERO)) >= FIRST * 4, "no server takes the pause away");
        assert!(before(0, Some(Duration::from_secs(9))) >= Duration::from_secs(9));
        let some: std::collections::BTreeSet<_> = (0..32).map(|_| before(2, None)).collect();
        assert!(some.len() > 1);
    }
}
