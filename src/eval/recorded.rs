//! What was searched for here and what came of it, read for a comparison of the two orders.

use std::collections::HashMap;

use jiff::Timestamp;

use super::metrics::Judgement;
use super::ranking::Recorded;
use crate::feedback::{self, By, find, queries};
use crate::git;
use crate::ledger::Cache;
use crate::wiki::Wiki;

/// The searches of the last 90 days that have both orders and a verified outcome, oldest first, and what could not be
/// read, in words. A page that helped is relevant, one that did harm is harmful. With a scope, only its own.
///
/// # Errors
/// When the ledger or the local list of queries cannot be read.
pub fn recorded(wiki: &Wiki, scope: Option<&str>, now: Timestamp) -> git::Result<(Vec<Recorded>, Vec<String>)> {
    let mut judged: HashMap<String, Judgement> = HashMap::new();
    for (episode, page, sign) in feedback::load(&wiki.repo, Cache::Use)?.credits() {
        let judgement = judged.entry(episode.to_owned()).or_default();
        match sign {
            1.. => drop(judgement.relevant.insert(page.to_owned(), 1)),
            0 => {}
            _ => drop(judgement.harmful.insert(page.to_owned())),
        }
    }
    judged.retain(|_, judgement| *judgement != Judgement::default());
    let (episodes, mut faults) = find::episodes(&wiki.repo, now)?;
    let asked = queries::all(&wiki.repo, now)?;
    faults.extend(asked.faults);
    let texts: HashMap<String, String> = asked.asked.into_iter().map(|query| (query.episode, query.query)).collect();
    let found = episodes
        .into_iter()
        .filter(|episode| episode.by == By::Search && episode.priors != "off")
        .filter(|episode| scope.is_none_or(|scope| episode.scope == scope))
        .filter_map(|episode| {
            let judged = judged.remove(&episode.id)?;
            // What was served is the order with priors where these are served.
            let (without, with) = match episode.priors.as_str() {
                "serve" => (episode.shadow, episode.served),
                _ => (episode.served, episode.shadow),
            };
            let query = texts.get(&episode.id).cloned();
            Some(Recorded { episode: episode.id, at: episode.at, query, without, with, judged })
        })
        .collect();
    Ok((found, faults))
}
