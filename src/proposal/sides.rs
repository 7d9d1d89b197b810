//! What a proposal is shown as: the two trees between which its change stands.

use bstr::{BString, ByteSlice};

use super::error::{Refused, Result};
use super::sidecar::folder;
use super::{Item, PageChange, check};
use crate::git::{Entry, Mode, Oid};
use crate::ledger;
use crate::wiki::Wiki;

/// The two trees (or commits) between which a proposal's change stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// Before the change.
    pub before: Oid,
    /// After it.
    pub after: Oid,
    /// The folder of the pages in both.
    root: String,
}

impl Sides {
    /// Of an open proposal: its base and its branch as it is now. Of one that landed: what the landing changed. Of
    /// any other: what the ledger recorded, with a person's last version where there is one.
    pub fn of(wiki: &Wiki, item: &Item) -> Result<Sides> {
        if let (Some(tip), true) = (item.tip, item.status.is_open()) {
            return Ok(Sides { before: check::base(item)?, after: tip, root: wiki.root.clone() });
        }
        let landed = item.landing.as_ref().filter(|landing| !landing.reversal).map(|landing| landing.commit.as_str());
        if let Some(landed) = landed.or(item.proposal.landed.as_deref())
            && let Ok(after) = Oid::from_hex(landed.as_bytes())
            && let Ok(commit) = wiki.repo.commit(after)
            && let Some(&before) = commit.parents.first()
        {
            return Ok(Sides { before, after, root: wiki.root.clone() });
        }
        let none = || Refused::new("not_recorded", format!("the ledger holds no text of proposal {}", item.id()));
        let Some(ledger) = wiki.repo.reference(ledger::REF)? else { return Err(none().into()) };
        let tree = |name: &str| -> Result<Option<Oid>> {
            let path = format!("{}/{name}", folder(item.id()));
            Ok(match wiki.repo.entry(ledger, path.as_bytes().as_bstr())? {
                Some(Entry { mode: Mode::Tree, oid }) => Some(oid),
                _ => None,
            })
        };
        let (before, after) = (tree("before")?, tree("after")?);
        if before.is_none() && after.is_none() {
            return Err(none().into());
        }
        let empty = wiki.repo.empty_tree();
        let after = tree("decided")?.or(after);
        Ok(Sides { before: before.unwrap_or(empty), after: after.unwrap_or(empty), root: String::new() })
    }

    /// A page's path in both trees.
    pub fn path(&self, page: &str) -> BString {
        if self.root.is_empty() { page.into() } else { format!("{}/{page}", self.root).into() }
    }

    /// The proposal's pages on both sides.
    pub fn pages(&self, wiki: &Wiki, item: &Item) -> Result<Vec<PageChange>> {
        let empty = wiki.repo.empty_tree();
        let read = |side: Oid, page: &str| match side == empty {
            true => Ok(None),
            false => wiki.repo.file(side, self.path(page).as_ref()),
        };
        item.proposal
            .paths
            .iter()
            .map(|page| {
                Ok(PageChange { path: page.clone(), before: read(self.before, page)?, after: read(self.after, page)? })
            })
            .collect()
    }
}
