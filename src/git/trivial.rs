//! The part of a merge that needs no thought: paths that at most one side changed. No blob is read.

use std::cmp::Ordering;

use bstr::{BStr, ByteSlice};
use gix::objs::tree::{EntryMode, name_order};
use gix::objs::{Kind, TreeRefIter};

use super::command::explain;
use super::{Batch, Error, Oid, Result};

/// What stands at a name, its mode exactly as the tree has it.
type Item = (EntryMode, Oid);

/// What base, ours and theirs have at a name.
type Sides = [Option<Item>; 3];

/// Things of a folder by their names.
type Named<'t, T> = Vec<(&'t BStr, T)>;

/// A merge in which no path needed thought so far.
pub(super) struct Trivial<'b> {
    batch: &'b mut Batch,
    both_deleted: bool,
}

impl Trivial<'_> {
    /// The merged tree; `None` when git has to be asked: some path was changed on both sides, or a file that both
    /// sides deleted may have been renamed by one of them.
    pub(super) fn merge(batch: &mut Batch, base: Oid, ours: Oid, theirs: Oid) -> Result<Option<Oid>> {
        if base == ours || ours == theirs {
            return Ok(Some(theirs));
        }
        if base == theirs {
            return Ok(Some(ours));
        }
        let mut merge = Trivial { batch, both_deleted: false };
        let Some(tree) = merge.folder([Some(base), Some(ours), Some(theirs)])? else { return Ok(None) };
        if merge.both_deleted && (merge.adds(base, ours)? || merge.adds(base, theirs)?) {
            return Ok(None);
        }
        match tree {
            Some(tree) => Ok(Some(tree)),
            None => merge.batch.put(Kind::Tree, b"").map(Some),
        }
    }

    fn adds(&self, base: Oid, side: Oid) -> Result<bool> {
        Ok(self.batch.repo().diff(Some(base), Some(side))?.iter().any(|change| change.before.is_none()))
    }

    /// The merged folder, `Some(None)` when nothing is left in it.
    fn folder(&mut self, sides: [Option<Oid>; 3]) -> Result<Option<Option<Oid>>> {
        let bytes = [self.bytes(sides[0])?, self.bytes(sides[1])?, self.bytes(sides[2])?];
        let hash = self.batch.repo().empty_tree().kind();
        let lists = [listed(&bytes[0], hash)?, listed(&bytes[1], hash)?, listed(&bytes[2], hash)?];
        let (mut merged, changed) = compare(&lists);
        for (name, sides) in changed {
            match self.name(sides)? {
                None => return Ok(None),
                Some(None) => {}
                Some(Some(item)) => merged.push((name, item)),
            }
        }
        if merged.is_empty() {
            return Ok(Some(None));
        }
        merged.sort_unstable_by(|(a, (a_mode, _)), (b, (b_mode, _))| {
            name_order(a, a_mode.is_tree(), b, b_mode.is_tree())
        });
        let mut tree = Vec::with_capacity(bytes[1].len() + 64);
        for (name, (mode, oid)) in merged {
            tree.extend_from_slice(mode.as_bytes(&mut [0; 6]));
            tree.push(b' ');
            tree.extend_from_slice(name);
            tree.push(0);
            tree.extend_from_slice(oid.as_slice());
        }
        self.batch.put(Kind::Tree, &tree).map(|oid| Some(Some(oid)))
    }

    /// What the merge has at a name where the three are not all equal.
    fn name(&mut self, [base, ours, theirs]: Sides) -> Result<Option<Option<Item>>> {
        let folder = |side: Option<Item>| side.is_none_or(|(mode, _)| mode.is_tree());
        let oid = |side: Option<Item>| side.map(|(_, oid)| oid);
        let folders = folder(base) && folder(ours) && folder(theirs);
        if ours == theirs {
            // A folder in the place of a file deletes it as well.
            self.both_deleted |= base.is_some_and(|(mode, _)| !mode.is_tree()) && folder(ours);
            if base.is_none_or(|(mode, _)| !mode.is_tree()) {
                return Ok(Some(ours));
            }
            // Equal changes of a folder: descend only to learn whether they deleted anything.
            if !folders {
                self.both_deleted = true;
                return Ok(Some(ours));
            }
        } else if base == ours {
            return Ok(Some(theirs));
        } else if base == theirs {
            return Ok(Some(ours));
        }
        if !folders {
            return Ok(None);
        }
        let merged = self.folder([oid(base), oid(ours), oid(theirs)])?;
        Ok(merged.map(|tree| tree.map(|oid| (gix::objs::tree::EntryKind::Tree.into(), oid))))
    }

    fn bytes(&self, tree: Option<Oid>) -> Result<Vec<u8>> {
        tree.map_or(Ok(Vec::new()), |oid| self.batch.repo().tree_bytes(oid))
    }
}

fn listed(bytes: &[u8], hash: gix::hash::Kind) -> Result<Named<'_, Item>> {
    TreeRefIter::from_bytes(bytes, hash)
        .map(|entry| {
            let entry = entry.map_err(|error| Error::read("a tree", explain(&error)))?;
            Ok((entry.filename, (entry.mode, entry.oid.to_owned())))
        })
        .collect()
}

/// Walks three sorted lists at once: what is equal in all of them, and by name what is not. A file and a folder of
/// one name stand at different places in the order, so they meet only in the second part.
fn compare<'t>(lists: &[Named<'t, Item>; 3]) -> (Named<'t, Item>, Named<'t, Sides>) {
    let mut equal = Vec::with_capacity(lists[1].len() + 1);
    let mut found: Named<'t, Sides> = Vec::new();
    let mut at = [0usize; 3];
    loop {
        let heads = [0, 1, 2].map(|side| lists[side].get(at[side]));
        let order = |a: &(&BStr, Item), b: &(&BStr, Item)| name_order(a.0, a.1.0.is_tree(), b.0, b.1.0.is_tree());
        let Some(first) = heads.iter().flatten().min_by(|a, b| order(a, b)) else { break };
        let mut sides: Sides = [None; 3];
        for side in 0..3 {
            if let Some(head) = heads[side].filter(|head| order(head, first) == Ordering::Equal) {
                sides[side] = Some(head.1);
                at[side] += 1;
            }
        }
        if sides[0] == sides[1] && sides[1] == sides[2] {
            equal.push((first.0.as_bytes().as_bstr(), first.1));
            continue;
        }
        found.push((first.0, sides));
    }
    // Nearly sorted as it is.
    found.sort_by_key(|(name, _)| *name);
    let mut changed: Named<'t, Sides> = Vec::with_capacity(found.len());
    for (name, sides) in found {
        match changed.last_mut().filter(|(known, _)| *known == name) {
            Some((_, known)) => *known = [0, 1, 2].map(|side| known[side].or(sides[side])),
            None => changed.push((name, sides)),
        }
    }
    (equal, changed)
}
