//! With which commit of the branch a commit of its history arrived there.

use std::collections::{HashMap, HashSet};

use crate::git::{self, Commit, Oid, Repo};
use crate::proposal::trailers::{Trailers, trailers};

/// The first-parent history of a branch, and what its merges brought.
pub(super) struct History {
    /// The branch's own commits.
    own: HashSet<Oid>,
    /// By commit that was asked for: the branch's own commit that brought it.
    brought: HashMap<Oid, Commit>,
}

/// How many commits of people are looked through for the change commit below them.
const EDITS: usize = 16;

impl History {
    /// Reads the history of `tip` as far as it tells how the wanted commits arrived.
    pub fn read(repo: &Repo, tip: Oid, wanted: &HashSet<Oid>) -> git::Result<History> {
        let (chain, _) = repo.first_parents(tip, None)?;
        let own: HashSet<Oid> = chain.iter().map(|commit| commit.oid).collect();
        let mut brought = HashMap::new();
        let mut missing: HashSet<Oid> = wanted.iter().copied().filter(|oid| !own.contains(oid)).collect();
        let mut seen: HashSet<Oid> = HashSet::new();
        // The oldest first: what two merges reach came with the older one.
        for merge in chain.iter().rev() {
            let mut next: Vec<Oid> = merge.parents.iter().skip(1).copied().collect();
            while let Some(oid) = next.pop().filter(|_| !missing.is_empty()) {
                if own.contains(&oid) || !seen.insert(oid) {
                    continue;
                }
                if missing.remove(&oid) {
                    brought.insert(oid, merge.clone());
                }
                // What a shallow clone cut off tells nothing more.
                next.extend(repo.commit(oid).map(|commit| commit.parents).unwrap_or_default());
            }
        }
        brought.extend(chain.into_iter().filter(|commit| wanted.contains(&commit.oid)).map(|own| (own.oid, own)));
        Ok(History { own, brought })
    }

    /// The branch's own commit that brought this one: itself, or a merge.
    pub fn landing(&self, commit: Oid) -> Option<&Commit> {
        self.brought.get(&commit)
    }

    /// The proposals that a commit belongs to: those it names, else the one on whose branch a person made it.
    pub fn proposals(&self, repo: &Repo, commit: &Commit) -> Vec<Trailers> {
        let mut at = commit.clone();
        for _ in 0..=EDITS {
            let named = trailers(at.message.as_ref());
            if !named.is_empty() || self.own.contains(&at.oid) {
                return named;
            }
            let Some(below) = at.parents.first().filter(|oid| !self.own.contains(*oid)) else { break };
            let Ok(commit) = repo.commit(*below) else { break };
            at = commit;
        }
        Vec::new()
    }
}
