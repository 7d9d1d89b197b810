//! The utility of a page: what its feedback comes to, by day.

use std::collections::BTreeMap;

use ulid::Ulid;

/// What a page begins with, and what time brings it back to.
pub const NEUTRAL: f64 = 0.5;

/// How far one day's feedback moves a page.
const STEP: f64 = 0.1;

/// Days in which what was said loses half of its weight.
pub const HALF_LIFE_DAYS: f64 = 90.0;

/// A page's feedback: by UTC day (since 1970), each event with whether it was positive.
pub type Days = BTreeMap<i64, BTreeMap<Ulid, bool>>;

/// Where a page stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Utility {
    /// 0 to 1; 0.5 is neutral.
    pub value: f64,
    /// The days on which it fell from neutral or better to less, each once: it is due for a review.
    pub falls: Vec<i64>,
}

/// What so many days leave of a weight.
pub(super) fn left_after(days: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "days of some years")]
    let days = days.max(0) as f64;
    (-days / HALF_LIFE_DAYS).exp2()
}

/// Computes it from all feedback up to now. All of one day is one batch, however many spoke: its share of positives is
/// what the page moves toward. The first negative on a page that nobody had judged before is no fall.
pub fn of(days: &Days, today: i64) -> Utility {
    let mut utility = Utility { value: NEUTRAL, falls: Vec::new() };
    let mut last = None;
    for (&day, batch) in days.iter().filter(|(_, batch)| !batch.is_empty()) {
        let before = faded(utility.value, last.map_or(0, |last| day - last));
        let positives = batch.values().filter(|positive| **positive).count();
        #[expect(clippy::cast_precision_loss, reason = "the feedback of one day")]
        let share = positives as f64 / batch.len() as f64;
        utility.value = (before + STEP * (share - before)).clamp(0.0, 1.0);
        if last.is_some() && before >= NEUTRAL && utility.value < NEUTRAL {
            utility.falls.push(day);
        }
        last = Some(day);
    }
    utility.value = faded(utility.value, last.map_or(0, |last| today - last));
    utility
}

fn faded(value: f64, days: i64) -> f64 {
    NEUTRAL + (value - NEUTRAL) * left_after(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feedback as (day, positive).
    fn days(said: &[(i64, bool)]) -> Days {
        let mut days = Days::new();
        for (number, (day, positive)) in (1u128..).zip(said) {
            days.entry(*day).or_default().insert(Ulid(number), *positive);
        }
        days
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    #[test]
    fn a_page_begins_neutral_and_one_day_moves_it_a_tenth_of_the_way() {
        near(of(&Days::new(), 100).value, 0.5);
        near(of(&days(&[(0, true)]), 0).value, 0.55);
        near(of(&days(&[(0, false)]), 0).value, 0.45);
        near(of(&days(&[(0, true), (0, false)]), 0).value, 0.5);
    }

    #[test]
    fn many_voices_of_one_day_count_as_one() {
        near(of(&days(&[(0, false); 40]), 0).value, 0.45);
        near(of(&days(&[(0, true), (0, true), (0, true), (0, false)]), 0).value, 0.525);
    }

    #[test]
    fn time_brings_it_back_by_half_in_ninety_days() {
        near(of(&days(&[(0, true)]), 90).value, 0.525);
        near(of(&days(&[(0, false)]), 180).value, 0.4875);
        let second = 0.525 + 0.1 * (1.0 - 0.525);
        near(of(&days(&[(0, true), (90, true)]), 90).value, second);
        // A clock that went back makes nothing older or younger.
        near(of(&days(&[(10, true)]), 3).value, 0.55);
    }

    #[test]
    fn a_fall_is_told_once_and_not_for_the_first_word_on_a_page() {
        assert!(of(&days(&[(0, false), (1, false)]), 1).falls.is_empty());
        let said = [(0, true), (1, false), (2, false), (3, true), (4, true), (5, false)];
        let utility = of(&days(&said), 5);
        assert_eq!(utility.falls, [1, 5]);
        assert_eq!(of(&days(&[(0, true), (0, false), (1, false)]), 1).falls, [1]);
    }
}
