//! The search itself, on nothing but marks: the first is good, the last bad, and between them good turns bad once.

use std::ops::RangeInclusive;

/// What is known of one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Not tried.
    Open,
    /// The command passes.
    Good,
    /// It fails.
    Bad,
    /// It cannot tell.
    Skip,
}

/// The last that is known to be good, and the first that is known to be bad.
fn bounds(marks: &[Mark]) -> (usize, usize) {
    let bad = marks.iter().position(|mark| *mark == Mark::Bad).unwrap_or(marks.len().saturating_sub(1));
    let good = marks[..bad].iter().rposition(|mark| *mark == Mark::Good).unwrap_or(0);
    (good, bad)
}

/// Which to try next: the one nearest to the middle of those that may still have turned it bad. `None`: as much is
/// known as can be.
pub(super) fn next(marks: &[Mark]) -> Option<usize> {
    let (good, bad) = bounds(marks);
    let open = (good + 1..bad).filter(|at| marks[*at] == Mark::Open);
    open.min_by_key(|at| (2 * at).abs_diff(good + bad))
}

/// Those that may have turned it bad: one, or more where some between cannot tell.
pub(super) fn suspects(marks: &[Mark]) -> RangeInclusive<usize> {
    let (good, bad) = bounds(marks);
    good + 1..=bad
}

/// How many are left that may have to be tried.
pub(super) fn left(marks: &[Mark]) -> usize {
    let (good, bad) = bounds(marks);
    (good + 1..bad).filter(|at| marks[*at] == Mark::Open).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches among `count` commits of which `first` is the first bad one; the trials needed and the suspects.
    fn search(count: usize, first: usize, skips: &[usize]) -> (usize, RangeInclusive<usize>) {
        let mut marks = vec![Mark::Open; count];
        marks[0] = Mark::Good;
        marks[count - 1] = Mark::Bad;
        let mut trials = 0;
        while let Some(at) = next(&marks) {
            assert_eq!(marks[at], Mark::Open, "none is tried twice");
            trials += 1;
            marks[at] = match at {
                at if skips.contains(&at) => Mark::Skip,
                at if at < first => Mark::Good,
                _ => Mark::Bad,
            };
        }
        (trials, suspects(&marks))
    }

    #[test]
    fn the_first_bad_one_is_found_with_as_few_trials_as_halving_takes() {
        for count in 2..70 {
            for first in 1..count {
                let (trials, found) = search(count, first, &[]);
                assert_eq!(found, first..=first, "{count} {first}");
                let halvings = (count - 1).next_power_of_two().trailing_zeros() as usize;
                assert!(trials <= halvings, "{trials} trials for {count}");
            }
        }
    }

    #[test]
    fn one_that_cannot_tell_is_passed_over_and_at_worst_named_too() {
        for count in 3..14 {
            for first in 1..count {
                for skip in 1..count - 1 {
                    let (_, found) = search(count, first, &[skip]);
                    let expected = match skip {
                        skip if skip == first => first..=first + 1,
                        skip if skip + 1 == first => skip..=first,
                        _ => first..=first,
                    };
                    assert_eq!(found, expected, "{count} {first} {skip}");
                }
            }
        }
    }

    #[test]
    fn when_none_between_can_tell_all_of_them_are_suspects() {
        assert_eq!(search(6, 3, &[1, 2, 3, 4]), (4, 1..=5));
    }
}
