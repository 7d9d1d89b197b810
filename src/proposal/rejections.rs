//! What was rejected on merit, as far as candidates may repeat it. A wiki may have thousands of rejections: few are read.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::context::{Author, past, session_of};
use super::error::Result;
use super::validate::{self, Gist, Past};
use super::{Candidate, Item, Sidecar, View, citation};
use crate::ledger::{self, Status};
use crate::wiki::Wiki;
use crate::wiki::path::fold;
use crate::wiki::scope::Scope;

/// For how many days a rejection is remembered.
const DAYS: i64 = 180;

/// Most that are read for one look.
const MOST: usize = 100;

/// Proposals that were rejected on merit.
pub(super) struct Rejections {
    /// The newest first.
    items: Vec<Item>,
    /// The words of their titles; made when they are first asked for.
    titles: OnceCell<Vec<BTreeSet<String>>>,
}

/// What rejections are looked for with.
struct Wanted {
    ids: BTreeSet<String>,
    paths: BTreeSet<String>,
    sessions: BTreeSet<String>,
    words: Vec<Gist>,
}

/// How near a rejection stands to what is wanted, the farthest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Near {
    /// So many words of its title stand in a candidate.
    Title(usize),
    /// It is about the same page, or rests on the same session.
    Place,
    /// It is the very same change.
    Same,
}

impl Rejections {
    /// Those of the last half year. What a forgotten session taught is not among them.
    pub fn of(view: &View) -> Rejections {
        let since = ledger::now().as_second() - DAYS * 86_400;
        let turned_down = |item: &&Item| item.status == Status::Rejected && item.proposal.merit;
        let recent = |item: &&Item| item.proposal.changed_at.as_second() >= since;
        let stands = |item: &&Item| view.state.withdrawn_from(item.id()).is_none();
        let mut items: Vec<Item> =
            view.items.iter().filter(turned_down).filter(recent).filter(stands).cloned().collect();
        items.sort_by_key(|item| Reverse(item.proposal.changed_at));
        Rejections { items, titles: OnceCell::new() }
    }

    /// Those that candidates may repeat: of the same page, of the same session, or with a title of which half stands in a
    /// candidate.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn near(
        &self,
        wiki: &Wiki,
        scope: &Scope,
        author: &Author<'_>,
        candidates: &[&Candidate],
    ) -> Result<Vec<Past>> {
        if candidates.is_empty() || self.items.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = Wanted::by(scope, author, candidates);
        let titles = self
            .titles
            .get_or_init(|| self.items.iter().map(|item| Gist::of(&item.proposal.title).words().clone()).collect());
        let mut near: Vec<(Near, &Item)> = self
            .items
            .iter()
            .zip(titles)
            .filter_map(|(item, title)| Some((wanted.nearness(item, title)?, item)))
            .collect();
        // Among those that are equally near the newest stay first.
        near.sort_by_key(|(near, _)| Reverse(*near));
        near.truncate(MOST);
        let read = |(_, item): (Near, &Item)| Ok(Past { quotes: wanted.quotes(wiki, item), ..past(wiki, item)? });
        near.into_iter().map(read).collect()
    }
}

impl Wanted {
    fn by(scope: &Scope, author: &Author<'_>, candidates: &[&Candidate]) -> Wanted {
        let sources = candidates.iter().flat_map(|candidate| &candidate.evidence);
        let sessions =
            sources.filter_map(|it| session_of(&citation::whole(&it.source, author.session)).map(str::to_owned));
        Wanted {
            ids: candidates.iter().map(|candidate| validate::id_of(scope, candidate).to_string()).collect(),
            paths: candidates.iter().map(|candidate| fold(candidate.path.as_str().into())).collect(),
            sessions: sessions.collect(),
            words: candidates.iter().map(|candidate| Gist::of(&text_of(candidate))).collect(),
        }
    }

    fn nearness(&self, item: &Item, title: &BTreeSet<String>) -> Option<Near> {
        if self.ids.contains(item.id()) {
            return Some(Near::Same);
        }
        let proposal = &item.proposal;
        let there = proposal.paths.iter().any(|path| self.paths.contains(&fold(path.as_str().into())));
        if there || proposal.session.as_ref().is_some_and(|session| self.sessions.contains(session)) {
            return Some(Near::Place);
        }
        let shared = self.words.iter().map(|gist| title.intersection(gist.words()).count()).max()?;
        (shared > 0 && shared * 2 >= title.len()).then_some(Near::Title(shared))
    }

    /// What a proposal quoted, and from where, when that may be what a candidate quotes. A sidecar that cannot be read
    /// quotes nothing.
    fn quotes(&self, wiki: &Wiki, item: &Item) -> Vec<(String, String)> {
        // What people and agents proposed by hand names no session, whatever it quotes.
        if item.proposal.session.as_ref().is_some_and(|session| !self.sessions.contains(session)) {
            return Vec::new();
        }
        let sidecar = Sidecar::load(&wiki.repo, item.id()).unwrap_or_default();
        let evidence = sidecar.map(|sidecar| sidecar.evidence).unwrap_or_default();
        evidence.into_iter().map(|evidence| (evidence.source, evidence.quote)).collect()
    }
}

/// Every text of a candidate in which the words of a title may stand.
fn text_of(candidate: &Candidate) -> String {
    let edits = candidate.edits.iter().map(|edit| edit.content.as_str());
    let texts = [candidate.title.as_str(), candidate.body_markdown.as_deref().unwrap_or_default()];
    texts.into_iter().chain(edits).collect::<Vec<_>>().join("\n")
}
