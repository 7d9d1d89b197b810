//! The pages of captured sessions on the wiki branch, where the settings ask for it. The refs stay the truth.

use std::time::Duration;

use bstr::BString;

use crate::git::{self, Batch, Entry, Error, Lock, Locked, Mode, NewCommit, Oid, RefEdit, Way, fault};
use crate::ledger;
use crate::session;
use crate::wiki::Wiki;

/// How long a decision that is being made is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a branch that moves is followed.
const ATTEMPTS: u32 = 8;

/// Commits the pages of these sessions that the branch has not, or has otherwise, all in one commit. What cannot be
/// done now is told as a note: the next capture of these sessions does it.
pub(super) fn land(wiki: &Wiki, ids: &[&str]) -> git::Result<Option<String>> {
    let page = |id: &str| Ok(session::stored(&wiki.repo, id)?.map(|stored| Some(stored.page_blob)));
    let later = change(wiki, ids, "capture", &page)?;
    Ok(later.map(|reason| format!("the pages of the sessions were not put on the wiki branch: {reason}")))
}

/// Takes the pages of these sessions off the branch, all in one commit. The reason, when that cannot be done now.
///
/// # Errors
/// Whatever git has to say.
pub fn withdraw(wiki: &Wiki, ids: &[&str]) -> git::Result<Option<String>> {
    change(wiki, ids, "forget", &|_| Ok(Some(None)))
}

/// Where the page of a session stands on the wiki branch, in the repository, when it is there.
///
/// # Errors
/// Whatever git has to say.
pub fn on_branch(wiki: &Wiki, id: &str) -> git::Result<Option<BString>> {
    let path = path(wiki, id);
    let Some(tip) = wiki.repo.reference(&wiki.branch)? else { return Ok(None) };
    Ok(wiki.repo.entry(tip, path.as_ref())?.map(|_| path))
}

fn path(wiki: &Wiki, id: &str) -> BString {
    wiki.full_path(&format!("sessions/{id}.md"))
}

/// What the page of a session is to be; `None`: as it is.
type Wanted<'p> = &'p dyn Fn(&str) -> git::Result<Option<Option<Oid>>>;

fn change(wiki: &Wiki, ids: &[&str], verb: &str, page: Wanted) -> git::Result<Option<String>> {
    if ids.is_empty() {
        return Ok(None);
    }
    let _lock = match Lock::take(&wiki.repo.memory_dir().join("decide.lock"), verb, PATIENCE)? {
        Locked::Yes(lock) => lock,
        Locked::No(holder) => return Ok(Some(format!("another process is deciding on proposals ({holder})"))),
    };
    for _ in 0..ATTEMPTS {
        match try_to_change(wiki, ids, verb, page) {
            Ok(true) => return Ok(None),
            Ok(false) => return Ok(Some("the branch has no commit yet".into())),
            Err(Error::RefMoved { .. }) => {}
            Err(error @ (Error::Busy { .. } | Error::InTheWay { .. })) => return Ok(Some(error.to_string())),
            Err(error) => return Err(error),
        }
    }
    Ok(Some("it keeps moving".into()))
}

fn try_to_change(wiki: &Wiki, ids: &[&str], verb: &str, page: Wanted) -> git::Result<bool> {
    let repo = &wiki.repo;
    let Some(tip) = repo.reference(&wiki.branch)? else { return Ok(false) };
    let mut edits: Vec<(BString, Option<Entry>)> = Vec::new();
    let mut trailers = String::new();
    for id in ids {
        let Some(wanted) = page(id)? else { continue };
        let path = path(wiki, id);
        if repo.entry(tip, path.as_ref())?.map(|there| there.oid) == wanted {
            continue;
        }
        edits.push((path, wanted.map(|oid| Entry { mode: Mode::Blob, oid })));
        trailers.push_str(&format!("Memory-Session: {id}\n"));
    }
    if edits.is_empty() {
        return Ok(true);
    }
    let way = git::way(repo, &wiki.branch)?;
    let mut batch = Batch::new(repo);
    let tree = batch.tree(Some(repo.tree_of(tip)?), &edits)?;
    let person = repo.operator()?;
    let plural = if edits.len() == 1 { "" } else { "s" };
    let new = batch.commit(&NewCommit {
        tree,
        parents: vec![tip],
        author: person.clone(),
        committer: person,
        time: ledger::now().as_second(),
        message: format!("memory: {verb} {} session{plural}\n\n{trailers}", edits.len()),
        sign: repo.signs(),
    })?;
    batch.flush()?;
    fault::point(&format!("{verb}.before-pages"));
    match &way {
        Way::Ref => {
            let edit = RefEdit { name: wiki.branch.clone(), old: Some(tip), new: Some(new) };
            repo.update_refs(&[edit], &format!("memory: {verb}"))?;
        }
        Way::Worktree(worktree) => git::fast_forward(worktree, &wiki.branch, tip, new)?,
    }
    fault::point(&format!("{verb}.after-pages"));
    Ok(true)
}
