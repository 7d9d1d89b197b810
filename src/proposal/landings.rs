//! What landed decides: landings and reversals on the wiki branch's first-parent history.

use std::collections::{HashMap, HashSet};
use std::fs;

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};

use super::message::{PROPOSAL, REVERTS};
use crate::git::{self, Commit, Oid, Repo};
use crate::ledger::Cache;

/// The newest thing that history says about a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landing {
    /// The commit.
    pub commit: String,
    /// It takes the landing back.
    pub reversal: bool,
    /// For a landing: the commit it merged, if it is a merge.
    pub merged: Option<String>,
}

/// Landings and reversals by proposal, the newest of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landings {
    /// By proposal: what messages name, and the change commits that merges brought in.
    named: HashMap<String, Placed>,
    /// By commit: second and further parents of merges.
    merged: HashMap<String, Placed>,
    /// Every landing commit.
    commits: HashSet<String>,
    /// Commits that were taken back by hand (`This reverts commit …`), with the newest commit that did.
    undone: HashMap<String, String>,
    /// How many commits were looked at: the place of the next one.
    count: u64,
}

/// A landing and its place in history: the newer has the greater number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Placed {
    at: u64,
    landing: Landing,
}

#[derive(Serialize, Deserialize)]
struct Cached {
    shape: u32,
    tip: String,
    landings: Landings,
}

const SHAPE: u32 = 3;

/// How many commits of people are looked through for the change commit below them.
const EDITS: usize = 16;

impl Landings {
    /// Reads the history from `tip` down, or only what is new since the cache was written.
    pub fn load(repo: &Repo, tip: Option<Oid>, cache: Cache) -> git::Result<Landings> {
        let Some(tip) = tip else { return Ok(Landings::default()) };
        let path = repo.memory_dir().join("index").join("landings.json");
        let cached = fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Cached>(&bytes).ok())
            .filter(|cached| cached.shape == SHAPE);
        let known = cached.as_ref().and_then(|cached| Oid::from_hex(cached.tip.as_bytes()).ok());
        if known == Some(tip)
            && let Some(cached) = cached
        {
            return Ok(cached.landings);
        }
        let (mut commits, met) = repo.first_parents(tip, known)?;
        let mut landings = match cached {
            Some(cached) if met => cached.landings,
            _ => Landings::default(),
        };
        commits.reverse();
        for commit in &commits {
            landings.add(repo, commit);
        }
        if cache == Cache::Use
            && let Some(folder) = path.parent()
        {
            let cached = Cached { shape: SHAPE, tip: tip.to_string(), landings: landings.clone() };
            // A cache that cannot be written (a read-only repository) costs time, nothing else.
            let _ = fs::create_dir_all(folder).and_then(|()| {
                let mut file = tempfile::NamedTempFile::new_in(folder)?;
                serde_json::to_writer(std::io::BufWriter::new(&mut file), &cached)?;
                file.persist(&path).map(drop).map_err(|error| error.error)
            });
        }
        Ok(landings)
    }

    /// One commit, newer than all before.
    fn add(&mut self, repo: &Repo, commit: &Commit) {
        self.count += 1;
        let at = self.count;
        let oid = commit.oid.to_string();
        let others = commit.parents.get(1..).unwrap_or_default();
        for parent in others {
            let landing = Landing { commit: oid.clone(), reversal: false, merged: Some(parent.to_string()) };
            self.merged.insert(parent.to_string(), Placed { at, landing });
        }
        let mut names = false;
        let mut takes_back = false;
        let mut undone = Vec::new();
        for line in commit.message.lines() {
            let line = line.to_str_lossy();
            if let Some(id) = value(&line, PROPOSAL) {
                names = true;
                self.landed(id, at, &oid, others.first());
            } else if let Some(id) = value(&line, REVERTS) {
                takes_back = true;
                let landing = Landing { commit: oid.clone(), reversal: true, merged: None };
                self.named.insert(id, Placed { at, landing });
            } else if let Some(rest) = line.strip_prefix("This reverts commit ") {
                undone.push(rest.chars().take_while(char::is_ascii_hexdigit).collect::<String>());
            }
        }
        // Where the trailer says which proposal was taken back, the others of that landing stay.
        if !takes_back {
            self.undone.extend(undone.into_iter().map(|reverted| (reverted, oid.clone())));
        }
        if !names && !takes_back {
            for parent in others {
                if let Some(id) = self.merged_by_hand(repo, *parent) {
                    self.landed(id, at, &oid, Some(parent));
                }
            }
        }
    }

    fn landed(&mut self, id: String, at: u64, commit: &str, merged: Option<&Oid>) {
        self.commits.insert(commit.to_owned());
        let landing = Landing { commit: commit.to_owned(), reversal: false, merged: merged.map(Oid::to_string) };
        self.named.insert(id, Placed { at, landing });
    }

    /// The proposal whose change commit stands on a branch that was merged under a message of its own (by hand, or
    /// by a forge), below commits with which people edited it.
    fn merged_by_hand(&self, repo: &Repo, parent: Oid) -> Option<String> {
        let mut next = Some(parent);
        for _ in 0..EDITS {
            let Some(oid) = next else { break };
            if self.commits.contains(&oid.to_string()) {
                break;
            }
            // Cut off by a shallow clone: nothing more can be told.
            let Ok(commit) = repo.commit(oid) else { break };
            let lines: Vec<_> = commit.message.lines().map(|line| line.to_str_lossy()).collect();
            if lines.iter().any(|line| line.starts_with("Memory-Decision:") || value(line, REVERTS).is_some()) {
                break;
            }
            if let Some(id) = lines.iter().find_map(|line| value(line, PROPOSAL)) {
                return Some(id);
            }
            next = commit.parents.first().copied();
        }
        None
    }

    /// What history says last about a proposal with one of these tips. A merge of a tip by hand counts even when its
    /// message names nothing, and so does a revert by hand, and the revert of that.
    pub fn of(&self, id: &str, tips: &[&str]) -> Option<Landing> {
        let merged = tips.iter().filter_map(|tip| self.merged.get(*tip));
        let mut landing = merged.chain(self.named.get(id)).max_by_key(|placed| placed.at)?.landing.clone();
        while let Some(next) = self.undone.get(&landing.commit) {
            landing = Landing { commit: next.clone(), reversal: !landing.reversal, merged: None };
        }
        Some(landing)
    }
}

/// The id behind a trailer's key at the start of a line; 16 hex digits and nothing else.
pub(super) fn value(line: &str, key: &str) -> Option<String> {
    let id = line.strip_prefix(key)?.strip_prefix(':')?.trim();
    (id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit())).then(|| id.to_owned())
}
