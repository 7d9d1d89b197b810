//! The proposals as they stand: the ledger's word, the pending refs, and what landed, which decides.

use std::collections::HashMap;

use jiff::Timestamp;

use super::landings::{Landing, Landings};
use crate::git::{self, Oid, Repo};
use crate::ledger::{self, Cache, Failed, Proposal, State, Status};
use crate::wiki::{Kind, Wiki};

/// The prefix of the pending refs.
pub const PENDING: &str = "refs/memory/pending/";

/// One proposal as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What the ledger knows.
    pub proposal: Proposal,
    /// Where it stands, history having had its say.
    pub status: Status,
    /// The commit of its pending ref.
    pub tip: Option<Oid>,
    /// The newest landing or reversal on the branch.
    pub landing: Option<Landing>,
    /// The ledger lags behind: history or the refs say something else (a crash, or work by hand).
    pub lagging: bool,
}

impl Item {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.proposal.id
    }

    /// Whether its pending branch holds something else than what was recorded.
    pub fn was_edited(&self) -> bool {
        let recorded = Oid::from_hex(self.proposal.tip.as_bytes()).ok();
        self.proposal.edited || (self.tip.is_some() && self.tip != recorded)
    }

    /// The last accept that was refused for what its text says, when it is open and that is still its text.
    pub fn refused_as_it_is(&self) -> Option<&Failed> {
        let tip = self.tip.filter(|_| self.status.is_open())?.to_string();
        self.proposal.failed.as_ref().filter(|failed| failed.tip == tip)
    }

    /// It waits for a decision and its branch is gone.
    pub fn is_lost(&self) -> bool {
        self.status.is_open() && self.tip.is_none()
    }

    /// It waits for a decision, and was staged in another clone: what its branch holds was never here. Ledgers travel, the
    /// branches of proposals do not.
    pub fn is_elsewhere(&self, repo: &Repo) -> bool {
        let recorded = Oid::from_hex(self.proposal.tip.as_bytes());
        self.is_lost() && recorded.is_ok_and(|tip| repo.commit(tip).is_err())
    }

    /// The ledger says accepted and no landing stands on the branch (it was reset, or has not arrived yet).
    pub fn is_missing(&self) -> bool {
        self.status == Status::Accepted && self.landing.is_none()
    }
}

/// All proposals, and the state they were read from.
pub struct View {
    /// By id.
    pub items: Vec<Item>,
    /// The folded ledger, but for its proposals, which are the items.
    pub state: State,
    /// Ids of pending refs that the ledger knows nothing of.
    pub strays: Vec<String>,
}

/// Why an id names no proposal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// Under four characters.
    #[error("`{0}` is too short: give at least 4 characters of the id")]
    TooShort(String),
    /// Nothing begins with it.
    #[error("no proposal `{0}`")]
    Unknown(String),
    /// Several do.
    #[error("`{prefix}` is ambiguous: {}", .candidates.join(", "))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// The ids that begin with it.
        candidates: Vec<String>,
    },
}

impl View {
    /// Reads refs, ledger and history.
    pub fn load(wiki: &Wiki, cache: Cache) -> git::Result<View> {
        let mut state = ledger::load(&wiki.repo, cache)?;
        let mut tips: HashMap<String, Oid> = wiki
            .repo
            .references(PENDING)?
            .into_iter()
            .map(|(name, oid)| (name[PENDING.len()..].to_owned(), oid))
            .collect();
        let landings = Landings::load(&wiki.repo, wiki.tip, cache)?;
        let items = std::mem::take(&mut state.proposals)
            .into_values()
            .map(|mut proposal| {
                let tip = tips.remove(&proposal.id);
                if let Some(session) = state.withdrawn_from(&proposal.id) {
                    let reason = format!("its evidence is withdrawn: session {session} was forgotten");
                    proposal.deferred.get_or_insert(reason);
                }
                item(proposal, tip, &landings)
            })
            .collect();
        let mut strays: Vec<String> = tips.into_keys().collect();
        strays.sort_unstable();
        Ok(View { items, state, strays })
    }

    /// The proposal that a unique prefix (of at least 4 characters) names.
    pub fn find(&self, prefix: &str) -> Result<&Item, NotFound> {
        let prefix = prefix.to_ascii_lowercase();
        if prefix.len() < 4 {
            return Err(NotFound::TooShort(prefix));
        }
        let found: Vec<&Item> = self.items.iter().filter(|item| item.id().starts_with(&prefix)).collect();
        match found[..] {
            [] => Err(NotFound::Unknown(prefix)),
            [item] => Ok(item),
            _ => Err(NotFound::Ambiguous {
                prefix,
                candidates: found.iter().take(5).map(|item| item.id().to_owned()).collect(),
            }),
        }
    }

    /// The shortest prefix, of at least seven digits, that names this proposal and no other.
    pub fn short_id<'i>(&self, id: &'i str) -> &'i str {
        // The items stand in the order of their ids.
        let at = self.items.partition_point(|item| item.id() < id);
        let common = |other: Option<&Item>| {
            other
                .filter(|other| other.id() != id)
                .map_or(0, |other| other.id().bytes().zip(id.bytes()).take_while(|(a, b)| a == b).count())
        };
        let next = if self.items.get(at).is_some_and(|item| item.id() == id) { at + 1 } else { at };
        let longest =
            common(at.checked_sub(1).and_then(|before| self.items.get(before))).max(common(self.items.get(next)));
        &id[..(longest + 1).max(7).min(id.len())]
    }

    /// The proposals that are asked for, oldest first.
    pub fn chosen(&self, wanted: &Wanted) -> Vec<&Item> {
        let mut chosen: Vec<&Item> = self.items.iter().filter(|item| wanted.has(item)).collect();
        chosen.sort_unstable_by(|a, b| (a.proposal.staged_at, a.id()).cmp(&(b.proposal.staged_at, b.id())));
        chosen
    }

    /// The open proposals, oldest first.
    pub fn open(&self) -> Vec<&Item> {
        self.chosen(&Wanted::default())
    }
}

/// Which proposals are asked for; by default those that are open.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// In one of these states; none is named: open ones, or with `all` every one.
    pub states: Vec<Status>,
    /// In every state.
    pub all: bool,
    /// Of this lane.
    pub lane: Option<String>,
    /// For pages of this kind.
    pub kind: Option<Kind>,
    /// Of this scope.
    pub scope: Option<String>,
    /// For this page, or pages below this folder, relative to the wiki's root.
    pub page: Option<String>,
    /// Staged since then.
    pub since: Option<Timestamp>,
}

impl Wanted {
    fn has(&self, item: &Item) -> bool {
        let proposal = &item.proposal;
        let state = match &self.states[..] {
            [] => self.all || item.status.is_open(),
            states => states.contains(&item.status),
        };
        let below = |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let at = |page: &String| {
            let page = page.trim_end_matches('/');
            proposal.paths.iter().any(|path| path == page || below(path, page))
        };
        state
            && self.lane.as_ref().is_none_or(|lane| *lane == proposal.lane)
            && self.kind.is_none_or(|kind| kind.as_str() == proposal.kind)
            && self.scope.as_ref().is_none_or(|scope| *scope == proposal.scope)
            && self.since.is_none_or(|since| proposal.staged_at >= since)
            && self.page.as_ref().is_none_or(at)
    }
}

fn item(proposal: Proposal, tip: Option<Oid>, landings: &Landings) -> Item {
    let tip_text = tip.map_or_else(|| proposal.tip.clone(), |tip| tip.to_string());
    let landing = landings
        .of(&proposal.id, &[&tip_text, &proposal.tip])
        // What was known when it was reopened no longer counts.
        .filter(|landing| proposal.seen.as_deref() != Some(landing.commit.as_str()))
        // An empty branch that equals its base has landed nothing.
        .filter(|landing| landing.merged.as_deref() != Some(proposal.base.as_str()));
    let status = match &landing {
        Some(landing) if landing.reversal => match proposal.status {
            Status::Accepted => Status::Reverted,
            other => other,
        },
        Some(_) => match proposal.status {
            Status::Pending | Status::Conflicted | Status::Expired | Status::Rejected => Status::Accepted,
            other => other,
        },
        None => proposal.status,
    };
    let status = match (&landing, status, proposal.status) {
        (Some(landing), _, Status::Pending | Status::Conflicted) if landing.reversal => Status::Reverted,
        // The same landing that was reverted in the ledger, and reverted again by hand, stays reverted.
        (Some(landing), _, Status::Reverted) if !landing.reversal => Status::Accepted,
        _ => status,
    };
    let lagging = status != proposal.status || (!status.is_open() && tip.is_some());
    Item { proposal, status, tip, landing, lagging }
}
