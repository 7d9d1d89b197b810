//! Whether outcomes may decide on the order of an answer: only after they were shown to cost nothing.

use std::fs;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::Priors;
use crate::git::{self, Repo};
use crate::wiki::Wiki;

/// Raised when priors are computed or applied in another way: what was shown of the old way says nothing of the new.
pub const FORMULA: u32 = 1;

/// Days for which a verdict holds.
const HOLDS_DAYS: i64 = 30;

/// Fewest queries that a verdict rests on.
pub const FEWEST_QUERIES: usize = 20;

/// The file, in the local folder.
const FILE: &str = "outcome-ranking.json";

/// What comparing the two orders on recorded queries showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// How priors are computed and applied: [`FORMULA`].
    pub formula: u32,
    /// When.
    pub at: Timestamp,
    /// The ledger's commit.
    pub ledger: Option<String>,
    /// How many queries with known good pages were compared.
    pub queries: usize,
    /// For how many the order differed.
    pub changed: usize,
    /// Whether any figure was worse with priors.
    pub loss: bool,
}

/// Keeps a verdict in place of any earlier one. Local: it speaks of what was asked here.
///
/// # Errors
/// When the file cannot be written.
pub fn record(repo: &Repo, verdict: &Verdict) -> git::Result<()> {
    let path = repo.memory_dir().join(FILE);
    let failed = |error: std::io::Error| git::Error::write(path.display().to_string(), error);
    fs::create_dir_all(repo.memory_dir()).map_err(failed)?;
    let file = tempfile::NamedTempFile::new_in(repo.memory_dir()).map_err(failed)?;
    serde_json::to_writer(&file, verdict).map_err(|error| failed(error.into()))?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// The verdict that is known here; one that cannot be read is none.
pub fn verdict(repo: &Repo) -> Option<Verdict> {
    serde_json::from_slice(&fs::read(repo.memory_dir().join(FILE)).ok()?).ok()
}

/// The setting as it is in force, and why `serve` is refused where it is.
pub fn mode(wiki: &Wiki, now: Timestamp) -> (Priors, Option<String>) {
    match wiki.config.settings.search.priors {
        Priors::Serve => match objection(verdict(&wiki.repo).as_ref(), now) {
            None => (Priors::Serve, None),
            Some(why) => {
                let what = format!("search.priors is `serve`, but {why}: outcomes stay in shadow");
                (Priors::Shadow, Some(format!("{what}; run `git memory eval outcome-ranking`")))
            }
        },
        other => (other, None),
    }
}

fn objection(verdict: Option<&Verdict>, now: Timestamp) -> Option<String> {
    let Some(verdict) = verdict else { return Some("nothing was compared here yet".into()) };
    if verdict.formula != FORMULA {
        return Some("what was compared was another version's order".into());
    }
    if verdict.loss {
        return Some("the comparison on recorded queries showed a loss".into());
    }
    if verdict.queries < FEWEST_QUERIES {
        return Some(format!("only {} queries were compared ({FEWEST_QUERIES} are needed)", verdict.queries));
    }
    if now.as_second() - verdict.at.as_second() > HOLDS_DAYS * 86_400 {
        return Some(format!("the comparison is older than {HOLDS_DAYS} days"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serving_needs_a_fresh_comparison_without_loss() {
        let now = Timestamp::from_second(100 * 86_400).expect("a time");
        let good =
            Verdict { formula: FORMULA, at: now, ledger: None, queries: FEWEST_QUERIES, changed: 3, loss: false };
        assert_eq!(objection(Some(&good), now), None);
        let old = Timestamp::from_second(60 * 86_400).expect("a time");
        for bad in [
            Verdict { loss: true, ..good.clone() },
            Verdict { formula: FORMULA + 1, ..good.clone() },
            Verdict { queries: FEWEST_QUERIES - 1, ..good.clone() },
            Verdict { at: old, ..good },
        ] {
            assert!(objection(Some(&bad), now).is_some(), "{bad:?}");
        }
        assert!(objection(None, now).is_some());
    }
}
