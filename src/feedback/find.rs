//! What a word on the command line names: an episode, a page.

use std::collections::HashSet;

use bstr::ByteSlice;
use jiff::Timestamp;

use super::{Episode, Error, Refused, spool};
use crate::git::{self, Repo};
use crate::ledger::{self, Event};
use crate::search::Pages;
use crate::wiki::Wiki;
use crate::wiki::path::slug;

/// Fewest characters of an id that name an episode.
const SHORTEST: usize = 4;

/// Most names that a refusal lists.
const LISTED: usize = 5;

/// Most letters of a name that are compared with those of others: each is held against each.
const COMPARED: usize = 100;

/// Every episode that counts, in the spool and in the ledger, oldest first, and what could not be read, in words.
///
/// # Errors
/// When the ledger cannot be read.
pub fn episodes(repo: &Repo, now: Timestamp) -> git::Result<(Vec<Episode>, Vec<String>)> {
    let waiting = spool::waiting(repo);
    let (mut events, mut faults) = (waiting.events, waiting.faults);
    if let Some(tip) = repo.reference(ledger::REF)? {
        let (more, broken) = ledger::events(repo, None, tip)?;
        events.extend(more);
        faults.extend(broken);
    }
    Ok((counted(events, now), faults))
}

/// The episodes among events, each once, oldest first.
fn counted(events: Vec<Event>, now: Timestamp) -> Vec<Episode> {
    let mut seen = HashSet::new();
    let mut found: Vec<Episode> = events
        .iter()
        .filter_map(Episode::of)
        .filter(|episode| episode.counts(now) && seen.insert(episode.id.clone()))
        .collect();
    found.sort_unstable_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    found
}

/// The episode that a prefix names: in the spool, where the newest are, or in the ledger.
///
/// # Errors
/// [`Error::Refused`] when the prefix is too short, names nothing, or several.
pub fn episode(repo: &Repo, prefix: &str, now: Timestamp) -> Result<Episode, Error> {
    let prefix = prefix.trim().to_ascii_lowercase();
    if prefix.len() < SHORTEST {
        let what = format!("`{prefix}` is too short: give at least {SHORTEST} characters of the episode's id");
        return Err(Refused::new("too_short", what).into());
    }
    let (all, faults) = episodes(repo, now)?;
    let fits: Vec<&Episode> = all.iter().filter(|episode| episode.id.starts_with(&prefix)).collect();
    match fits[..] {
        [one] => Ok(one.clone()),
        [] => {
            let mut refused = Refused::new("unknown_episode", format!("no episode `{prefix}` of the last 90 days"));
            if let Some(fault) = faults.first() {
                refused.message.push_str(&format!(" (and a part of the record cannot be read: {fault})"));
            }
            let near = near(&all, &prefix);
            Err(if near.is_empty() {
                refused.hint("none is recorded here; `git memory search` prints the id of each")
            } else {
                refused.hint(format!("the nearest are {near}"))
            }
            .into())
        }
        _ => {
            let ids: Vec<&str> = fits.iter().take(LISTED).map(|episode| episode.id.as_str()).collect();
            Err(Refused::new("ambiguous", format!("`{prefix}` is ambiguous: {}", ids.join(", "))).into())
        }
    }
}

/// The episodes whose ids are most like this, the newest first among equals.
fn near(all: &[Episode], prefix: &str) -> String {
    let prefix: String = prefix.chars().take(COMPARED).collect();
    let mut by: Vec<(usize, &Episode)> = all
        .iter()
        .rev()
        .map(|episode| {
            let start: String = episode.id.chars().take(prefix.chars().count()).collect();
            (strsim::damerau_levenshtein(&start, &prefix), episode)
        })
        .collect();
    by.sort_by_key(|(distance, _)| *distance);
    let names = by.iter().take(LISTED).map(|(_, episode)| {
        let first = episode.rendered.first().map_or("nothing", String::as_str);
        format!("{} ({}, showed {first})", episode.id, episode.at.strftime("%Y-%m-%d %H:%M"))
    });
    names.collect::<Vec<_>>().join("; ")
}

/// The one of these pages that is meant: its path, its name with or without `.md`, or the beginning of either that
/// fits no other.
///
/// # Errors
/// When none fits, or several.
pub fn among(pages: &[String], given: &str) -> Result<String, Refused> {
    let given = given.trim().trim_start_matches("./");
    if let Some(page) = pages.iter().find(|page| *page == given) {
        return Ok(page.clone());
    }
    let name = |page: &str| page.rsplit('/').next().unwrap_or(page).to_owned();
    let bare = |page: &str| page.strip_suffix(".md").unwrap_or(page).to_owned();
    let ways: [&dyn Fn(&str) -> bool; 3] =
        [&|page| bare(page) == bare(given), &|page| bare(&name(page)) == bare(given), &|page| {
            page.starts_with(given) || name(page).starts_with(given)
        }];
    for fits in ways {
        let found: Vec<&String> = pages.iter().filter(|page| !given.is_empty() && fits(page)).collect();
        match found[..] {
            [] => {}
            [one] => return Ok(one.clone()),
            _ => {
                let names: Vec<&str> = found.iter().take(LISTED).map(|page| page.as_str()).collect();
                return Err(Refused::new("ambiguous", format!("`{given}` is ambiguous: {}", names.join(", "))));
            }
        }
    }
    Err(Refused::new("unknown_page", format!("no such page: {given}")))
}

/// The page of the wiki that is meant: as [`among`], or by the slug of its title.
///
/// # Errors
/// [`Error::Refused`] when none fits, or several.
pub fn page(wiki: &Wiki, given: &str) -> Result<String, Error> {
    let paths: Vec<String> = wiki.pages()?.iter().map(|(path, _)| path.to_str_lossy().into_owned()).collect();
    // Names from the top of the tree are understood too, as completion by the shell gives them.
    let inside = wiki.page_path(given.into()).map(|path| path.to_string()).filter(|_| !wiki.root.is_empty());
    let refused = match among(&paths, inside.as_deref().unwrap_or(given)) {
        Ok(page) => return Ok(page),
        Err(refused) if refused.code != "unknown_page" => return Err(refused.into()),
        Err(refused) => refused,
    };
    let wanted = slug(given);
    let titles = Pages::at(wiki, None).map(|pages| pages.facts()).unwrap_or_default();
    let titled: Vec<String> =
        titles.iter().filter(|page| slug(&page.title) == wanted).map(|page| page.path.to_string()).collect();
    match &titled[..] {
        [one] => Ok(one.clone()),
        [] => {
            let given: String = given.chars().take(COMPARED).collect();
            let mut near: Vec<(usize, &String)> =
                paths.iter().map(|path| (strsim::damerau_levenshtein(path, &given), path)).collect();
            near.sort_unstable();
            let near: Vec<&str> = near.iter().take(3).map(|(_, path)| path.as_str()).collect();
            Err(if near.is_empty() { refused } else { refused.hint(format!("did you mean {}?", near.join(", "))) }
                .into())
        }
        several => {
            let names = several.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
            Err(Refused::new("ambiguous", format!("`{given}` is the title of several pages: {names}")).into())
        }
    }
}
