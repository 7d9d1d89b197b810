//! Times as people write them on the command line.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp, Unit};

use crate::ledger;

/// How long: `90 s`, `12h`, `7d`, `2 weeks`, `3 days ago`, in seconds; a day has 24 hours.
///
/// # Errors
/// What to write instead, for the usage error.
pub fn duration(text: &str) -> Result<i64, String> {
    let span: Span = text.parse().map_err(|_| "give a length of time such as 12h, 7d or 2w".to_owned())?;
    let seconds = span.total((Unit::Second, SpanRelativeTo::days_are_24_hours())).map_err(|error| error.to_string())?;
    Ok(seconds.abs() as i64)
}

/// A point in time: RFC 3339, a date (UTC), `today`, `yesterday`, or how long ago.
///
/// # Errors
/// What to write instead, for the usage error.
pub fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let start = |date: Date| date.to_zoned(TimeZone::UTC).map(|day| day.timestamp()).map_err(|error| error.to_string());
    let today = || ledger::now().to_zoned(TimeZone::UTC).date();
    match text {
        "today" => return start(today()),
        "yesterday" => return today().yesterday().map_err(|error| error.to_string()).and_then(start),
        _ => {}
    }
    if let Ok(date) = text.parse::<Date>() {
        return start(date);
    }
    let words = "give a date (2026-02-28), a time or a length of time (7d, 3 days ago)";
    let seconds = duration(text).map_err(|_| words.to_owned())?;
    let then = ledger::now().as_second().saturating_sub(seconds);
    Timestamp::from_second(then).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_as_people_write_them() {
        assert_eq!(duration("90s"), Ok(90));
        assert_eq!(duration("12h"), Ok(12 * 3_600));
        assert_eq!(duration("7d"), Ok(7 * 86_400));
        assert_eq!(duration("2w"), Ok(14 * 86_400));
        assert_eq!(duration("3 days ago"), Ok(3 * 86_400));
        assert!(duration("soon").is_err());
    }

    #[test]
    fn a_moment_is_a_date_or_a_time() {
        assert_eq!(moment("2026-02-28").map(|time| time.to_string()), Ok("2026-02-28T00:00:00Z".into()));
        assert!(moment("2026-02-28T10:00:00+02:00").is_ok_and(|time| time.to_string() == "2026-02-28T08:00:00Z"));
        assert!(moment("yesterday").is_ok_and(|time| time.as_second() % 86_400 == 0));
        assert!(moment("yesterday-ish").is_err());
    }

    #[test]
    fn a_length_of_time_reaches_into_the_past() {
        for text in ["2w", "14 days ago"] {
            let ago = ledger::now().as_second() - moment(text).map_or(0, Timestamp::as_second);
            assert!((14 * 86_400..14 * 86_400 + 60).contains(&ago), "{text}: {ago}");
        }
    }
}
