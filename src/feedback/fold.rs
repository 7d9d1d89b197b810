//! The ledger's feedback and outcomes, folded: the same whatever order they come in, however often.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use super::utility::{self, Days, Utility};
use super::{judged, outcome, prior};
use crate::git::{self, Repo};
use crate::ledger::{self, Cache, Event};

/// The shape of the cache; another number is passed over and rebuilt.
const SHAPE: u32 = 1;

const FILE: &str = "feedback.json";

/// Everything that feedback and outcomes say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Folded {
    /// By page.
    feedback: BTreeMap<String, Days>,
    /// By episode and page: the newest verdict that was verified.
    credits: BTreeMap<String, BTreeMap<String, Credit>>,
}

/// What an outcome says of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Credit {
    at: Timestamp,
    event: Ulid,
    scope: String,
    sign: i8,
}

/// The UTC day of a time, in days since 1970.
pub fn day(at: Timestamp) -> i64 {
    at.as_second().div_euclid(86_400)
}

/// A day as people write it.
pub fn date(day: i64) -> String {
    let at = Timestamp::from_second(day.saturating_mul(86_400)).unwrap_or_default();
    at.to_zoned(TimeZone::UTC).date().to_string()
}

impl Folded {
    /// Adds events; any that were added before change nothing.
    pub fn add(&mut self, events: &[Event]) {
        for event in events {
            if let Some((page, positive)) = judged::counted(event) {
                let days = self.feedback.entry(page.to_owned()).or_default();
                days.entry(day(event.at)).or_default().insert(event.id, positive);
            }
            let Some((episode, named)) = outcome::credits(event) else { continue };
            for (page, sign) in named {
                let new = Credit { at: event.at, event: event.id, scope: event.scope.clone(), sign };
                let pages = self.credits.entry(episode.clone()).or_default();
                let newer = pages.get(&page).is_none_or(|old| (old.at, old.event) < (new.at, new.event));
                if newer {
                    pages.insert(page, new);
                }
            }
        }
    }

    /// The utility of a page that was judged; `None`: nobody said anything.
    pub fn utility(&self, page: &str, now: Timestamp) -> Option<Utility> {
        self.feedback.get(page).map(|days| utility::of(days, day(now)))
    }

    /// The utility of every page that was judged.
    pub fn utilities(&self, now: Timestamp) -> impl Iterator<Item = (&str, Utility)> {
        self.feedback.iter().map(move |(page, days)| (page.as_str(), utility::of(days, day(now))))
    }

    /// What counts of the outcomes: the episode, the page, and +1, −1 or 0 where the newest verified verdict speaks
    /// neither for nor against the page.
    pub fn credits(&self) -> impl Iterator<Item = (&str, &str, i8)> {
        let all = self.credits.iter();
        all.flat_map(|(episode, pages)| {
            pages.iter().map(move |(page, credit)| (episode.as_str(), page.as_str(), credit.sign))
        })
    }

    /// The priors of all pages that outcomes name, by the scope and the page. `home` tells the scope of a page, for
    /// outcomes of retrievals over all scopes.
    pub fn priors<'f>(
        &'f self,
        home: impl Fn(&'f str) -> &'f str,
        now: Timestamp,
    ) -> BTreeMap<(&'f str, &'f str), f64> {
        let mut verdicts: BTreeMap<(&str, &str), Vec<(i64, i8)>> = BTreeMap::new();
        for (page, credit) in self.credits.values().flatten() {
            let scope = if credit.scope == super::episode::ALL_SCOPES { home(page) } else { credit.scope.as_str() };
            verdicts.entry((scope, page)).or_default().push((day(credit.at), credit.sign));
        }
        for said in verdicts.values_mut() {
            // The sum must not depend on which episode has which id.
            said.sort_unstable();
        }
        verdicts.into_iter().map(|(key, said)| (key, prior::of(said, day(now)))).collect()
    }
}

/// Reads and folds the ledger; what was folded before is kept under the ledger's commit, where the cache may be written.
///
/// # Errors
/// When the ledger cannot be read.
pub fn load(repo: &Repo, cache: Cache) -> git::Result<Folded> {
    ledger::keep(repo, FILE, SHAPE, cache, Folded::add)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::ledger::EventKind;

    const DAY: i64 = 86_400;

    /// An event of a small world: three pages, three episodes, a year.
    fn event() -> impl Strategy<Value = Event> {
        let word = |words: &'static [&'static str]| prop::sample::select(words);
        (
            (any::<bool>(), any::<u64>(), 0..400i64, 0..3usize, 0..3usize),
            word(&["positive", "negative", "failed_to_apply"]),
            word(&["passed", "accepted", "observed_used", "corrected", "failed", "abandoned", "verifier_error"]),
            word(&["user", "automated_test", "agent_self_report"]),
            prop::option::weighted(0.1, Just("01J".to_owned())),
            word(&["global", "web", "*"]),
        )
            .prop_map(|((judges, id, day, page, episode), verdict, outcome, verifier, run, scope)| {
                let page = ["a.md", "b.md", "c.md"][page];
                let kind = if judges { EventKind::Feedback } else { EventKind::Outcome };
                let mut event = Event::new(kind, scope, "A <a@b>").page(page).run(run.as_deref());
                event.id = Ulid(u128::from(id));
                event.at = Timestamp::from_second(20_000 * DAY + day * DAY + (id % 80_000) as i64).unwrap_or_default();
                event
                    .with("verdict", verdict)
                    .with("episode", format!("000000000000000{episode}"))
                    .with("outcome", outcome)
                    .with("verifier", verifier)
                    .with("used", json!([page]))
                    .with("harmful", json!(["c.md"]))
            })
    }

    fn folded(events: &[Event]) -> Folded {
        let mut folded = Folded::default();
        folded.add(events);
        folded
    }

    type Numbers = (Vec<(String, f64, Vec<i64>)>, Vec<(String, f64)>);

    fn numbers(folded: &Folded) -> Numbers {
        let now = Timestamp::from_second(20_500 * DAY).unwrap_or_default();
        let utilities = folded.utilities(now).map(|(page, u)| (page.to_owned(), u.value, u.falls)).collect();
        let priors = folded.priors(|_| "global", now);
        (utilities, priors.into_iter().map(|((scope, page), prior)| (format!("{scope} {page}"), prior)).collect())
    }

    proptest! {
        /// Two ledgers, merged in either order, with what both have: the same numbers, to the last bit.
        #[test]
        fn merged_ledgers_give_the_same_numbers_in_any_order(
            mine in prop::collection::vec(event(), 0..20),
            theirs in prop::collection::vec(event(), 0..20),
            both in prop::collection::vec(event(), 0..10),
            seed in any::<u64>(),
        ) {
            let (mut left, mut right) = (folded(&[mine.clone(), both.clone()].concat()), folded(&[both.clone(), theirs.clone()].concat()));
            left.add(&[theirs.clone(), both.clone()].concat());
            right.add(&mine);
            let mut all = [mine, theirs, both].concat();
            all.sort_by_key(|event| (event.id.0 as u64).wrapping_mul(seed | 1));
            let rebuilt = folded(&all);
            prop_assert_eq!(&left, &right);
            prop_assert_eq!(&left, &rebuilt);
            let (utilities, priors) = numbers(&rebuilt);
            prop_assert_eq!(numbers(&left), (utilities.clone(), priors.clone()));
            prop_assert!(utilities.iter().all(|(_, value, _)| (0.0..=1.0).contains(value)));
            prop_assert!(priors.iter().all(|(_, prior)| prior.abs() < 0.2));
        }

        #[test]
        fn what_is_kept_reads_back(events in prop::collection::vec(event(), 0..20)) {
            let folded = folded(&events);
            let kept = serde_json::to_string(&folded).unwrap();
            prop_assert_eq!(serde_json::from_str::<Folded>(&kept).unwrap(), folded);
        }
    }

    fn outcome(number: u64, outcome: &str, verifier: &str, used: &[&str], harmful: &[&str]) -> Event {
        let mut event = Event::new(EventKind::Outcome, "global", "A <a@b>")
            .with("episode", "0123456789abcdef")
            .with("outcome", outcome)
            .with("verifier", verifier)
            .with("used", json!(used))
            .with("harmful", json!(harmful));
        event.id = Ulid(u128::from(number));
        event.at = Timestamp::from_second(number as i64).unwrap_or_default();
        event
    }

    fn signs(events: &[Event]) -> Vec<(String, i8)> {
        folded(events).credits().map(|(_, page, sign)| (page.to_owned(), sign)).collect()
    }

    #[test]
    fn only_a_verified_verdict_credits_a_page_and_the_newest_counts() {
        let passed = outcome(1, "passed", "user", &["a.md"], &["b.md"]);
        assert_eq!(signs(std::slice::from_ref(&passed)), [("a.md".to_owned(), 1), ("b.md".to_owned(), 0)]);
        let failed = outcome(2, "failed", "automated_test", &["a.md"], &["b.md"]);
        assert_eq!(signs(&[failed.clone(), passed.clone()]), [("a.md".to_owned(), 0), ("b.md".to_owned(), -1)]);
        // Another page's verdict stays.
        let other = outcome(3, "corrected", "user", &[], &["a.md"]);
        assert_eq!(signs(&[passed.clone(), other]), [("a.md".to_owned(), -1), ("b.md".to_owned(), 0)]);
        // What nobody verified takes nothing away.
        let report = outcome(4, "failed", "agent_self_report", &[], &["a.md"]);
        let broken = outcome(5, "verifier_error", "user", &[], &["a.md"]);
        assert_eq!(signs(&[passed, report.clone(), broken]), [("a.md".to_owned(), 1), ("b.md".to_owned(), 0)]);
        assert!(signs(std::slice::from_ref(&report)).is_empty());
    }
}
