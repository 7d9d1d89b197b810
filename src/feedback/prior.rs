//! The prior of a page: what verified outcomes say of it.

use super::utility::left_after;

/// How far outcomes may lean at most.
const SCALE: f64 = 0.20;

/// Outcomes that stand for not knowing: few verdicts say little.
const UNKNOWN: f64 = 4.0;

/// Computes it from verdicts as (day, +1 or −1 or 0), each weighing half after 90 days: from −0.2 to 0.2.
pub fn of(verdicts: impl IntoIterator<Item = (i64, i8)>, today: i64) -> f64 {
    let (mut good, mut bad) = (0.0, 0.0);
    for (day, sign) in verdicts {
        match sign {
            1.. => good += left_after(today - day),
            0 => {}
            ..0 => bad += left_after(today - day),
        }
    }
    SCALE * (good - bad) / (good + bad + UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_grows_with_evidence_and_fades() {
        assert_eq!(of([], 0), 0.0);
        assert!((of([(0, 1)], 0) - 0.04).abs() < 1e-12);
        assert!((of([(0, -1)], 0) + 0.04).abs() < 1e-12);
        assert!((of([(0, 1), (0, -1)], 0)).abs() < 1e-12);
        assert!((of([(0, 1)], 90) - 0.2 * 0.5 / 4.5).abs() < 1e-12);
        assert!(of(std::iter::repeat_n((0, 1), 10_000), 0) < 0.2);
        assert_eq!(of([(0, 0)], 0), 0.0);
    }
}
