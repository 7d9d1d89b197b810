//! Where an exact fix comes from: what is named as a commit or a page has to be there.

use std::path::{Component, Path};

use super::context::session_of;
use super::error::{Refused, Result};
use super::{NotFound, View};
use crate::feedback::find;
use crate::git::Repo;
use crate::ledger::{self, Cache};
use crate::session;
use crate::wiki::Wiki;

/// Fewest digits that are taken for an abbreviated id: what git prints.
const SHORTEST: usize = 7;

/// Digits of whole commit ids.
const WHOLE: [usize; 2] = [40, 64];

/// Looks for what a source names, where its form says that it is a commit or another id, or a page. An address, a
/// command, a program's file or words are taken as they are.
///
/// # Errors
/// `unknown_source` when nothing of that name is here.
pub fn check(wiki: &Wiki, source: &str) -> Result<()> {
    if is_id(source) && !has_id(wiki, source)? {
        let what = format!("the source {source} is no commit, session, proposal or episode that is known here");
        return Err(Refused::new("unknown_source", what)
            .hint("nothing was recorded; of what is elsewhere, give the address as --source")
            .into());
    }
    if is_page_name(source) && !has_page(wiki, source)? {
        return Err(Refused::new("unknown_source", format!("the source {source} is no page and no file here"))
            .hint("nothing was recorded; name a page from the wiki's root, another file from the top of its repository")
            .into());
    }
    Ok(())
}

/// Whether it looks like an id: digits of a commit, as git prints them. Short ones that may be a number, or a word, are
/// none.
fn is_id(source: &str) -> bool {
    let digits = source.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mixed = source.contains(|c: char| c.is_ascii_digit()) && source.contains(|c: char| c.is_ascii_alphabetic());
    digits && (WHOLE.contains(&source.len()) || mixed && (SHORTEST..WHOLE[0]).contains(&source.len()))
}

fn has_id(wiki: &Wiki, id: &str) -> Result<bool> {
    for repo in repositories(wiki) {
        if repo.resolve(id)?.is_some() {
            return Ok(true);
        }
    }
    let sessions = wiki.repo.references(session::REFS)?;
    if sessions.iter().any(|(name, _)| name[session::REFS.len()..].starts_with(id)) {
        return Ok(true);
    }
    let (episodes, _) = find::episodes(&wiki.repo, ledger::now())?;
    if episodes.iter().any(|episode| episode.id.starts_with(id)) {
        return Ok(true);
    }
    Ok(!matches!(View::load(wiki, Cache::Use)?.find(id), Err(NotFound::Unknown(_))))
}

/// Whether it looks like the path of a page, with or without a heading behind `#`.
fn is_page_name(source: &str) -> bool {
    let path = source.split('#').next().unwrap_or(source);
    let plain = Path::new(path).components().all(|part| matches!(part, Component::CurDir | Component::Normal(_)));
    path.ends_with(".md") && plain && !path.contains(char::is_whitespace) && !path.contains("://")
}

fn has_page(wiki: &Wiki, source: &str) -> Result<bool> {
    let path = source.split('#').next().unwrap_or(source);
    let page = wiki.page_name(path);
    if wiki.bytes(&page)?.is_some() {
        return Ok(true);
    }
    if let Some(id) = session_of(&page)
        && session::stored(&wiki.repo, id)?.is_some()
    {
        return Ok(true);
    }
    for repo in repositories(wiki) {
        let head = repo.reference("HEAD")?;
        if head.map(|head| repo.entry(head, path.trim_start_matches("./").into())).transpose()?.flatten().is_some()
            || repo.workdir().is_some_and(|top| top.join(path).is_file())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn repositories(wiki: &Wiki) -> impl Iterator<Item = &Repo> {
    [Some(&wiki.repo), wiki.code.as_ref()].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_the_form_of_an_id_or_a_page_is_looked_for() {
        let whole = "0123456789".repeat(4);
        for id in ["d4dffbe", "12a4567890", whole.as_str()] {
            assert!(is_id(id) && !is_page_name(id), "{id}");
        }
        for page in ["notes/ports.md", "./README.md", "notes/ports.md#the-cache", "sessions/a1.md"] {
            assert!(is_page_name(page) && !is_id(page), "{page}");
        }
        for other in [
            "",
            "x",
            "1234567",
            "defaced",
            "d4dffb",
            "D4DFFBE",
            "docker-compose.yml",
            "cargo test",
            "/etc/notes.md",
            "../notes.md",
            "the upstream README.md",
            "https://example.org/README.md",
            "v1.2.3",
        ] {
            assert!(!is_id(other) && !is_page_name(other), "{other}");
        }
    }
}
