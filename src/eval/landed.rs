//! What a commit of the branch landed.

use bstr::ByteSlice;

use crate::git::Commit;
use crate::proposal::trailers::{Trailers, trailers};
use crate::proposal::{Item, View};

/// The proposals that a commit landed, each with what the ledger knows: those that its message names, else those that
/// it merged by hand or by a forge under a message of its own.
pub(super) fn landed<'v>(view: &'v View, commit: &Commit) -> Vec<(Trailers, Option<&'v Item>)> {
    let named = trailers(commit.message.as_ref());
    if !named.is_empty() {
        let known = |id: &str| view.items.iter().find(|item| item.id() == id);
        return named
            .into_iter()
            .map(|named| (known(&named.proposal), named))
            .map(|(item, named)| (named, item))
            .collect();
    }
    let oid = commit.oid.to_string();
    let here = view
        .items
        .iter()
        .filter(|item| item.landing.as_ref().is_some_and(|landing| !landing.reversal && landing.commit == oid));
    here.map(|item| (Trailers { proposal: item.id().to_owned(), ..Trailers::default() }, Some(item))).collect()
}

/// The first line of a commit's message.
pub(super) fn subject(commit: &Commit) -> String {
    commit.message.lines().next().unwrap_or_default().to_str_lossy().into_owned()
}
