//! What a day's calls may cost: counted in one small file, by every process that works here.
//!
//! The file is `model-budget.json` in the local folder. It is only ever replaced as a whole, under a lock that the kernel
//! lets go of when its holder dies. One that cannot be read counts as empty.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::{Error, Usage};
use crate::ledger;

const FILE: &str = "model-budget.json";
const LOCK: &str = "model-budget.lock";

/// What was spent on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Spent {
    /// In UTC.
    day: Date,
    calls: u64,
    tokens: u64,
}

/// The limits of a day, and where it is counted.
pub(super) struct Budget {
    folder: PathBuf,
    /// 0: none.
    daily_tokens: u64,
    /// 0: none.
    daily_calls: u64,
}

impl Budget {
    pub fn new(folder: &Path, daily_tokens: u64, daily_calls: u64) -> Budget {
        Budget { folder: folder.to_owned(), daily_tokens, daily_calls }
    }

    /// Counts one call, and these tokens of its prompt, before it is made.
    ///
    /// # Errors
    /// [`Error::BudgetExhausted`] when that would be more than the day has left; [`Error::Settings`] when there is a
    /// limit and the file cannot be written.
    pub fn reserve(&self, tokens: u64) -> Result<Reserved<'_>, Error> {
        let day = today();
        let mut over = None;
        let counted = self.change(day, |spent| {
            let left = self.daily_tokens.saturating_sub(spent.tokens);
            over = if self.daily_calls > 0 && spent.calls >= self.daily_calls {
                Some(format!("{} of {} calls (`model.daily_calls`) on {day}, UTC", spent.calls, self.daily_calls))
            } else if self.daily_tokens > 0 && left < tokens {
                Some(format!(
                    "{} of {} tokens (`model.daily_tokens`) on {day}, UTC, and this prompt has about {tokens}",
                    spent.tokens, self.daily_tokens
                ))
            } else {
                spent.calls = spent.calls.saturating_add(1);
                spent.tokens = spent.tokens.saturating_add(tokens);
                None
            };
        });
        if let Some(over) = over {
            return Err(Error::BudgetExhausted(over));
        }
        let is_limited = self.daily_calls > 0 || self.daily_tokens > 0;
        match counted {
            Err(fault) if is_limited => Err(Error::Settings(format!(
                "there is a daily budget, and it cannot be counted in {}: {fault}",
                self.folder.join(FILE).display()
            ))),
            _ => Ok(Reserved { budget: self, day, tokens }),
        }
    }

    /// Changes what is counted for a day. A day that is over is changed no more.
    fn change(&self, day: Date, change: impl FnOnce(&mut Spent)) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let lock = File::options().write(true).create(true).truncate(false).open(self.folder.join(LOCK))?;
        lock.lock()?;
        let path = self.folder.join(FILE);
        let known = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Spent>(&bytes).ok());
        let mut spent = match known {
            Some(spent) if spent.day == day => spent,
            // Only a clock that was set back is later than today: what it counted is not today's.
            _ => Spent { day, calls: 0, tokens: 0 },
        };
        change(&mut spent);
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer(&mut file, &spent)?;
        file.write_all(b"\n")?;
        file.persist(path)?;
        Ok(())
    }
}

fn today() -> Date {
    ledger::now().to_zoned(TimeZone::UTC).date()
}

/// One call that is counted. Left alone, it stays counted with its prompt: the server may have worked on it.
pub(super) struct Reserved<'b> {
    budget: &'b Budget,
    day: Date,
    tokens: u64,
}

impl Reserved<'_> {
    /// The call reached nobody: it does not count.
    pub fn give_back(self) {
        self.correct(|spent, tokens| {
            spent.calls = spent.calls.saturating_sub(1);
            spent.tokens = spent.tokens.saturating_sub(tokens);
        });
    }

    /// What it cost in the end.
    pub fn settle(self, usage: Usage) {
        self.correct(|spent, tokens| {
            spent.tokens = spent.tokens.saturating_sub(tokens).saturating_add(usage.input).saturating_add(usage.output);
        });
    }

    fn correct(&self, correct: impl FnOnce(&mut Spent, u64)) {
        // A call over midnight counts for the day on which it began, and that is past.
        if today() == self.day {
            // What cannot be corrected stays reserved: rather too much than too little.
            let _ = self.budget.change(self.day, |spent| correct(spent, self.tokens));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(folder: &Path) -> (u64, u64) {
        let spent: Spent = serde_json::from_slice(&std::fs::read(folder.join(FILE)).unwrap()).unwrap();
        (spent.calls, spent.tokens)
    }

    #[test]
    fn a_call_counts_from_before_it_is_made_and_is_corrected_after() {
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::new(folder.path(), 0, 0);
        let call = budget.reserve(100).unwrap();
        assert_eq!(spent(folder.path()), (1, 100));
        call.settle(Usage { input: 80, output: 20 });
        budget.reserve(50).unwrap().give_back();
        assert_eq!(spent(folder.path()), (1, 100));
        drop(budget.reserve(7));
        assert_eq!(spent(folder.path()), (2, 107));
    }

    #[test]
    fn limits_hold_for_all_who_count_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::new(folder.path(), 0, 20);
        let taken: usize = std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..8).map(|_| scope.spawn(|| (0..10).filter(|_| budget.reserve(1).is_ok()).count())).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert_eq!((taken, spent(folder.path()).0), (20, 20));
    }

    #[test]
    fn a_prompt_that_is_more_than_what_is_left_is_not_sent() {
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::new(folder.path(), 100, 0);
        budget.reserve(60).unwrap().settle(Usage { input: 60, output: 10 });
        let error = budget.reserve(31).err().unwrap();
        assert_eq!(error.code(), "budget_exhausted");
        assert!(error.to_string().contains("70 of 100 tokens"), "{error}");
        assert!(budget.reserve(30).is_ok());
    }

    #[test]
    fn a_file_that_holds_nonsense_or_another_day_counts_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::new(folder.path(), 100, 1);
        for text in
            ["", "{", "\0\0\0", "[]", r#"{"day":"1999-01-01","calls":9,"tokens":9}"#, r#"{"day":"x","calls":-1}"#]
        {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            assert!(budget.reserve(1).is_ok(), "{text}");
            assert_eq!(spent(folder.path()), (1, 1));
        }
    }
}
