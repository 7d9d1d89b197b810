//! Times as agents write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

/// A time as a text; without a zone it is UTC.
pub(super) fn of_text(text: &str) -> Option<Timestamp> {
    let local = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse().ok().or_else(|| Some(local()?.timestamp()))
}

/// A time as a number: of milliseconds since 1970, or of seconds where it is too small for that.
pub(super) fn of_number(number: f64) -> Option<Timestamp> {
    if number > 1e11 {
        Timestamp::from_millisecond(number as i64).ok()
    } else {
        Timestamp::from_second(number as i64).ok()
    }
}

/// A field that may not be there.
///
/// # Errors
/// When it is there and no time.
pub(super) fn of_field(value: Option<&Value>) -> Result<Option<Timestamp>, ()> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => of_text(text).map(Some).ok_or(()),
        Some(other) => other.as_f64().and_then(of_number).map(Some).ok_or(()),
    }
}
