//! The texts of queries, redacted, in a local file that only its owner may read and that is never shared: the gates ask
//! an edited page for its own past queries.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{episode, spool};
use crate::git::{self, Repo};
use crate::session::OWN_SESSION_MARKER;
use crate::wiki::shown::json_fault;
use crate::wiki::text::fold_space;

/// The file, in the local folder.
pub const FILE: &str = "queries.jsonl";

/// How many pages of an answer a query is remembered for: a page that ranked lower was hardly found by it.
pub const RANKED: usize = 10;

/// Longest query that is kept, in characters: a longer one is a document.
const LONGEST: usize = 8_000;

/// Longest past query of a page that is given, in characters.
const LONGEST_PAST: usize = 2_000;

/// Most past queries of a page that are given.
const MOST_PAST: usize = 5;

/// From this size on the older half of the file goes.
pub(super) const LARGEST: u64 = 4 << 20;

/// One query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// When.
    pub at: Timestamp,
    /// The episode.
    pub episode: String,
    /// The scope's name, or `*`.
    pub scope: String,
    /// The text, its secrets taken out.
    pub query: String,
    /// The first pages that were shown for it, best first.
    pub pages: Vec<String>,
}

impl Query {
    pub(super) fn is_worth_keeping(&self) -> bool {
        let length = self.query.chars().take(LONGEST + 1).count();
        (1..=LONGEST).contains(&length) && !self.query.trim().is_empty()
    }

    fn counts(&self, now: Timestamp) -> bool {
        counts(self.at, now)
    }
}

fn counts(at: Timestamp, now: Timestamp) -> bool {
    now.as_second() - at.as_second() <= episode::KEPT_DAYS * 86_400
}

/// What stands in place of lines that could not be read: for as long as queries count, nobody knows what they asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Lost {
    /// When that was seen.
    at: Timestamp,
    /// How many lines.
    lost_lines: u64,
}

/// All queries of the last 90 days that are known here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Queries {
    /// The queries, oldest first.
    pub asked: Vec<Query>,
    /// There is no such file: nothing was ever recorded here.
    pub absent: bool,
    /// Lines that cannot be read, in words.
    pub faults: Vec<String>,
}

/// Reads them.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn all(repo: &Repo, now: Timestamp) -> git::Result<Queries> {
    let path = repo.memory_dir().join(FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Queries { absent: true, ..Queries::default() });
        }
        Err(error) => return Err(git::Error::read(path.display().to_string(), error)),
    };
    let mut found = Queries::default();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Query>(line) {
            Ok(query) if query.counts(now) => found.asked.push(query),
            Ok(_) => {}
            Err(error) => match serde_json::from_slice::<Lost>(line) {
                Ok(lost) if !counts(lost.at, now) => {}
                Ok(lost) => {
                    let (lines, at) = (lost.lost_lines, lost.at.strftime("%Y-%m-%d"));
                    found.faults.push(format!("{}: {lines} lines could not be read on {at}", path.display()));
                }
                Err(_) => found.faults.push(format!("{}:{number}: {}", path.display(), json_fault(&error))),
            },
        }
    }
    // Of the same second: as they came.
    found.asked.sort_by_key(|query| query.at);
    Ok(found)
}

/// What was asked when a page was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastQueries {
    /// At most five, the newest first, each once.
    pub queries: Vec<String>,
    /// Nothing was ever recorded here, which is another thing than a page that nobody found.
    pub absent: bool,
    /// Lines that cannot be read, in words: any of them may have been a query of the page.
    pub faults: Vec<String>,
}

impl Queries {
    /// A page's own past queries: those for which it was among the first ten, without repetitions, documents and what
    /// agents and this tool write by themselves.
    pub fn of_page(&self, page: &str) -> PastQueries {
        let mut seen = HashSet::new();
        let mut queries = Vec::new();
        for query in self.asked.iter().rev().filter(|query| query.pages.iter().any(|other| other == page)) {
            let text = fold_space(&query.query);
            if text.is_empty() || text.chars().count() > LONGEST_PAST || is_boilerplate(&text) {
                continue;
            }
            if seen.insert(text.to_lowercase()) {
                queries.push(text);
            }
            if queries.len() == MOST_PAST {
                break;
            }
        }
        PastQueries { queries, absent: self.absent, faults: self.faults.clone() }
    }
}

/// A page's own past queries.
///
/// # Errors
/// As [`all`].
pub fn of_page(repo: &Repo, page: &str, now: Timestamp) -> git::Result<PastQueries> {
    Ok(all(repo, now)?.of_page(page))
}

/// What agents' programs and this tool put into prompts: a search for it looks for nothing.
fn is_boilerplate(text: &str) -> bool {
    const BEGINNINGS: [&str; 8] = [
        "Caveat: The messages below",
        "Base directory for this skill:",
        "Stop hook feedback:",
        "This session is being continued from a previous conversation",
        "[Request interrupted by user",
        "# AGENTS.md instructions",
        "Another language model started to solve this problem",
        "This project has a git-memory wiki",
    ];
    let tagged = text.strip_prefix('<').and_then(|rest| rest.split_once('>')).is_some_and(|(tag, _)| {
        let name = tag.split(' ').next().unwrap_or_default();
        name.contains(['-', '_']) && name.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_'))
    });
    tagged
        || text.contains(OWN_SESSION_MARKER)
        || text.contains("<!-- git-memory:")
        || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

/// Drops what is older than 90 days, and the older half of a file that grew too large. Of lines that cannot be read it
/// stays on record that there were some.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn rotate(memory: &Path, now: Timestamp) -> io::Result<()> {
    let path = memory.join(FILE);
    let Ok(found) = fs::metadata(&path) else { return Ok(()) };
    let Some(_closed) = spool::closed(memory)? else { return Ok(()) };
    let bytes = fs::read(&path)?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (mut kept, mut lost): (Vec<&[u8]>, u64) = (Vec::new(), 0);
    let mut count = 0;
    for line in lines {
        count += 1;
        let at = serde_json::from_slice::<Query>(line).map(|query| query.at);
        match at.or_else(|_| serde_json::from_slice::<Lost>(line).map(|lost| lost.at)) {
            Ok(at) if counts(at, now) => kept.push(line),
            Ok(_) => {}
            Err(_) => lost += 1,
        }
    }
    if found.len() > LARGEST {
        kept.drain(..kept.len() / 2);
    }
    if kept.len() == count {
        return Ok(());
    }
    let lost = (lost > 0).then(|| serde_json::to_vec(&Lost { at: now, lost_lines: lost })).transpose()?;
    kept.extend(lost.as_deref());
    // A temporary file is made for its owner alone (0600), and stays so when it gets its name.
    let mut new = tempfile::NamedTempFile::new_in(memory)?;
    for line in kept {
        new.write_all(line)?;
        new.write_all(b"\n")?;
    }
    new.persist(&path).map_err(|error| error.error)?;
    Ok(())
}
