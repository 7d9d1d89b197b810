//! Merging two ledgers: the union of their files, which are written once under names that do not collide.
//!
//! The same two ledgers give the same commit in every clone, whichever side is whose, so that clones that merge at the
//! same time do not have to merge each other's merges.

use std::collections::{BTreeSet, HashMap};

use bstr::{BStr, BString, ByteSlice};
use jiff::Timestamp;
use ulid::Ulid;

use super::append::{ATTEMPTS, back_off, nobody};
use super::{EventKind, REF, events};
use crate::git::{self, Batch, Entry, Error, Mode, NewCommit, Oid, RefEdit, Repo};

/// Brings what another clone's ledger holds into this one's; returns the ledger's tip.
///
/// # Errors
/// [`Error::Refused`] when `theirs` is no ledger; [`Error::Busy`] when this one kept moving.
pub fn join(repo: &Repo, theirs: Oid) -> git::Result<Oid> {
    for attempt in 0..ATTEMPTS {
        let old = repo.reference(REF)?;
        let mut batch = Batch::new(repo);
        let new = match old {
            Some(ours) => merge(&mut batch, ours, theirs)?,
            None => theirs,
        };
        if old == Some(new) {
            return Ok(new);
        }
        batch.flush()?;
        let edit = RefEdit { name: REF.to_owned(), old, new: Some(new) };
        match repo.update_refs(&[edit], "memory: merge with another clone's ledger") {
            Ok(()) => return Ok(new),
            Err(Error::RefMoved { .. }) => back_off(attempt),
            Err(error) => return Err(error),
        }
    }
    Err(Error::Busy { reason: format!("other processes keep writing to {REF}; try again") })
}

/// The commit whose tree is the union of both: one of the two where it holds the other, else a merge commit with both
/// as parents. Where both have the same path with different bytes, the side stays whose proposal was staged earlier,
/// then the smaller object id.
///
/// # Errors
/// [`Error::Refused`] when a file of one side is a folder of the other, which ledgers never have.
pub fn merge(batch: &mut Batch, ours: Oid, theirs: Oid) -> git::Result<Oid> {
    if ours == theirs {
        return Ok(ours);
    }
    let (mine, other) = (batch.repo().commit(ours)?, batch.repo().commit(theirs)?);
    let edits = union(batch.repo(), ours, theirs)?;
    let tree = batch.tree(Some(mine.tree), &edits)?;
    if tree == other.tree && batch.repo().is_ancestor(ours, theirs)? {
        return Ok(theirs);
    }
    if tree == mine.tree && batch.repo().is_ancestor(theirs, ours)? {
        return Ok(ours);
    }
    let mut parents = vec![ours, theirs];
    parents.sort_unstable();
    batch.commit(&NewCommit {
        tree,
        parents,
        author: nobody(),
        committer: nobody(),
        time: mine.time.max(other.time),
        message: "memory: merge two ledgers\n".into(),
        sign: false,
    })
}

/// What of theirs comes into ours.
fn union(repo: &Repo, ours: Oid, theirs: Oid) -> git::Result<Vec<(BString, Option<Entry>)>> {
    let changes = repo.diff(Some(ours), Some(theirs))?;
    let paths = |mine: bool| -> BTreeSet<&BStr> {
        let alone = changes.iter().filter(|change| if mine { change.after.is_none() } else { change.before.is_none() });
        alone.map(|change| change.path.as_bstr()).collect()
    };
    let (alone, foreign) = (paths(true), paths(false));
    let clash = alone
        .iter()
        .find(|path| is_below(path, &foreign))
        .or_else(|| foreign.iter().find(|path| is_below(path, &alone)));
    if let Some(path) = clash {
        return Err(Error::Refused(format!("{theirs} cannot be merged into the ledger: {path} is below a file")));
    }
    let mut staged = Staged { sides: [ours, theirs], known: [None, None] };
    let mut edits = Vec::new();
    for change in &changes {
        let theirs_stays = match (change.before, change.after) {
            (None, Some(entry)) => is_file(entry),
            // A link or a submodule is nothing that a ledger holds, whoever put it there.
            (Some(entry), None) if !is_file(entry) => {
                edits.push((change.path.clone(), None));
                false
            }
            (Some(mine), Some(other)) if is_file(mine) && is_file(other) => {
                let [a, b] = staged.of(repo, change.path.as_bstr())?;
                // What has no such event comes after what has one.
                let key = |at: Option<(Timestamp, Ulid)>, oid: Oid| (at.is_none(), at, oid);
                key(b, other.oid) < key(a, mine.oid)
            }
            (Some(mine), Some(other)) => !is_file(mine) && is_file(other),
            _ => false,
        };
        if theirs_stays {
            edits.push((change.path.clone(), change.after));
        }
    }
    Ok(edits)
}

fn is_file(entry: Entry) -> bool {
    entry.mode == Mode::Blob
}

fn is_below(path: &BStr, files: &BTreeSet<&BStr>) -> bool {
    path.find_iter(b"/").any(|at| files.contains(path[..at].as_bstr()))
}

/// When the proposals of two ledgers were staged; read only where files differ, which is rare.
struct Staged {
    sides: [Oid; 2],
    known: [Option<HashMap<String, (Timestamp, Ulid)>>; 2],
}

impl Staged {
    /// The first `staged` event of the proposal that a path belongs to, on each side.
    fn of(&mut self, repo: &Repo, path: &BStr) -> git::Result<[Option<(Timestamp, Ulid)>; 2]> {
        let mut parts = path.split_str("/").skip(2);
        let id = match parts.next().filter(|_| path.starts_with(b"proposals/")) {
            Some(id) => id.to_str_lossy().into_owned(),
            None => return Ok([None, None]),
        };
        let mut found = [None, None];
        for ((side, known), found) in self.sides.iter().zip(&mut self.known).zip(&mut found) {
            if known.is_none() {
                *known = Some(firsts(repo, *side)?);
            }
            *found = known.as_ref().and_then(|known| known.get(&id)).copied();
        }
        Ok(found)
    }
}

fn firsts(repo: &Repo, side: Oid) -> git::Result<HashMap<String, (Timestamp, Ulid)>> {
    let mut firsts = HashMap::new();
    for event in events(repo, None, side)?.0 {
        if let (EventKind::Staged, Some(id)) = (event.kind, event.proposal) {
            let at = (event.at, event.id);
            let first = firsts.entry(id).or_insert(at);
            *first = at.min(*first);
        }
    }
    Ok(firsts)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::{Event, segment};
    use super::*;

    fn repository() -> (tempfile::TempDir, Repo) {
        let folder = tempfile::tempdir().expect("a folder");
        let made = std::process::Command::new("git")
            .args(["init", "-q", "--bare"])
            .env_remove("GIT_DIR")
            .arg(folder.path())
            .status();
        assert!(made.expect("git starts").success());
        let repo = Repo::open(folder.path()).expect("it opens");
        (folder, repo)
    }

    /// What one clone did: proposals it staged (which, when, with what bytes), segments, and its place in history.
    #[derive(Debug, Clone)]
    struct Clone {
        proposals: Vec<(u8, u8, u8)>,
        segments: Vec<(u8, u8)>,
    }

    fn clones() -> impl Strategy<Value = Clone> {
        let proposals = prop::collection::vec((0u8..4, 0u8..3, 0u8..3), 0..4);
        (proposals, prop::collection::vec((0u8..6, 0u8..2), 0..4))
            .prop_map(|(proposals, segments)| Clone { proposals, segments })
    }

    /// The ledger of a clone, on top of `root`.
    fn ledger(batch: &mut Batch, root: Oid, clone: &Clone) -> Oid {
        let mut files = BTreeMap::new();
        for (n, at, bytes) in &clone.proposals {
            let id = format!("{n:016x}");
            let path = format!("proposals/00/{id}/sidecar.md");
            if files.contains_key(&path) {
                continue;
            }
            files.insert(path, vec![*bytes]);
            let mut event = Event::new(EventKind::Staged, "global", "A <a@example.org>").proposal(&id);
            event.at = Timestamp::from_second(i64::from(*at)).expect("a time");
            event.id = Ulid::from_parts(u64::from(*at), u128::from(*bytes) << 8 | u128::from(*n));
            files.insert(segment(&event), serde_json::to_vec(&event).expect("json"));
        }
        for (n, bytes) in &clone.segments {
            files.insert(format!("runs/2026/01/0{n}/run.json"), vec![b'a' + bytes]);
        }
        let edits: Vec<_> = files
            .into_iter()
            .map(|(path, bytes)| {
                let oid = batch.blob(&bytes).expect("a blob");
                (path.into(), Some(Entry { mode: Mode::Blob, oid }))
            })
            .collect();
        let base = batch.repo().commit(root).expect("the root").tree;
        let tree = batch.tree(Some(base), &edits).expect("a tree");
        commit(batch, tree, vec![root])
    }

    fn commit(batch: &mut Batch, tree: Oid, parents: Vec<Oid>) -> Oid {
        let (author, committer) = (nobody(), nobody());
        let message = "a ledger\n".to_owned();
        batch.commit(&NewCommit { tree, parents, author, committer, time: 7, message, sign: false }).expect("a commit")
    }

    fn root(batch: &mut Batch) -> Oid {
        let tree = batch.tree(None, &[]).expect("a tree");
        commit(batch, tree, Vec::new())
    }

    fn tree(batch: &Batch, oid: Oid) -> Oid {
        batch.repo().commit(oid).expect("a commit").tree
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whoever merges whom, and in which order, the same ledger comes of it; nothing is lost.
        #[test]
        fn merging_is_commutative_associative_and_idempotent(a in clones(), b in clones(), c in clones()) {
            let (_folder, repo) = repository();
            let mut batch = Batch::new(&repo);
            let root = root(&mut batch);
            let [a, b, c] = [a, b, c].map(|clone| ledger(&mut batch, root, &clone));
            let mut join = |x, y| merge(&mut batch, x, y).expect("they merge");
            let ab = join(a, b);
            prop_assert_eq!(ab, join(b, a), "the same commit on both sides");
            prop_assert_eq!(join(a, a), a);
            prop_assert_eq!(join(ab, b), ab, "what is known already changes nothing");
            prop_assert_eq!(join(a, ab), ab, "a clone that lags behind comes up to it");
            prop_assert_eq!(join(a, root), a);
            let (left, bc) = (join(ab, c), join(b, c));
            let right = join(a, bc);
            prop_assert_eq!(tree(&batch, left), tree(&batch, right));
            let names = |oid| -> BTreeSet<BString> {
                repo_files(&batch, oid).into_iter().collect()
            };
            let all: BTreeSet<BString> = [a, b, c].into_iter().flat_map(names).collect();
            prop_assert_eq!(names(left), all);
        }
    }

    fn repo_files(batch: &Batch, oid: Oid) -> Vec<BString> {
        batch.repo().files(oid, "".into()).expect("files").into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn the_proposal_that_was_staged_earlier_keeps_its_bytes() {
        let (_folder, repo) = repository();
        let mut batch = Batch::new(&repo);
        let root = root(&mut batch);
        for (early, late) in [(1, 2), (2, 1)] {
            let clone = |at, bytes| Clone { proposals: vec![(0, at, bytes)], segments: Vec::new() };
            let first = ledger(&mut batch, root, &clone(0, early));
            let second = ledger(&mut batch, root, &clone(1, late));
            let both = merge(&mut batch, second, first).expect("they merge");
            let path = format!("proposals/00/{:016x}/sidecar.md", 0);
            let bytes = batch.repo().file(both, path.as_str().into()).expect("read");
            assert_eq!(bytes, Some(vec![early]));
        }
    }

    #[test]
    fn history_that_drops_files_does_not_drop_them_here_and_what_is_no_file_stays_out() {
        let (_folder, repo) = repository();
        let mut batch = Batch::new(&repo);
        let root = root(&mut batch);
        let mine = ledger(&mut batch, root, &Clone { proposals: vec![(1, 1, 1)], segments: vec![(1, 1)] });
        let oid = batch.blob(b"/etc/passwd").expect("a blob");
        let link = vec![("runs/link".into(), Some(Entry { mode: Mode::Link, oid }))];
        let bare = batch.tree(None, &link).expect("a tree");
        let rewritten = commit(&mut batch, bare, vec![mine]);
        let both = merge(&mut batch, mine, rewritten).expect("they merge");
        assert_eq!(repo_files(&batch, both), repo_files(&batch, mine));
        let file = vec![("proposals".into(), Some(Entry { mode: Mode::Blob, oid }))];
        let odd = batch.tree(None, &file).expect("a tree");
        let odd = commit(&mut batch, odd, vec![root]);
        assert!(matches!(merge(&mut batch, mine, odd), Err(Error::Refused(_))));
    }
}
