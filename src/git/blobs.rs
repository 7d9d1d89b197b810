//! Reading many blobs, each of them once. A pack keeps most blobs as differences to others that stand before them: in
//! the order of the pack, what a blob builds on has just been read.

use std::path::PathBuf;

use gix::objs::{Find, Kind};
use gix::odb::pack::index;

use super::command::explain;
use super::{Error, Oid, Repo, Result};

/// Most packs that are looked into for an order.
const MOST_PACKS: usize = 16;

impl Repo {
    /// The same repository, for one who reads many blobs and none of them twice.
    pub fn for_one_pass(&self) -> Repo {
        let mut repo = self.clone();
        repo.inner.objects.unset_object_cache();
        repo
    }

    /// Reads a blob as [`Repo::blob`] does, into a buffer that serves many of them.
    ///
    /// # Errors
    /// As [`Repo::blob`].
    pub fn blob_into(&self, oid: Oid, buffer: &mut Vec<u8>) -> Result<()> {
        match self.inner.objects.try_find(&oid, buffer) {
            Ok(Some(found)) if found.kind == Kind::Blob => Ok(()),
            Ok(_) => self.blob(oid).map(|bytes| *buffer = bytes),
            Err(error) => Err(Error::read(oid.to_string(), explain(&error))),
        }
    }

    /// Sorts things by where their blobs stand in packs; those that stand in none keep their order, at the end.
    pub fn sort_as_packed<T>(&self, things: &mut [T], blob: impl Fn(&T) -> Oid) {
        let hash = self.inner.object_hash();
        let packs: Vec<_> = self.largest_packs().iter().filter_map(|path| index::File::at(path, hash).ok()).collect();
        things.sort_by_cached_key(|thing| {
            let oid = blob(thing);
            let place = |(n, pack): (usize, &index::File)| Some((n, pack.pack_offset_at_index(pack.lookup(oid)?)));
            packs.iter().enumerate().find_map(place).unwrap_or((usize::MAX, 0))
        });
    }

    /// The indexes of this repository's packs, the largest first. What alternates hold is left to chance.
    fn largest_packs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.objects_dir().join("pack")).into_iter().flatten().flatten();
        let mut packs: Vec<_> = entries
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "idx"))
            .map(|entry| (entry.metadata().map_or(0, |data| data.len()), entry.path()))
            .collect();
        packs.sort_unstable_by(|a, b| b.cmp(a));
        packs.into_iter().take(MOST_PACKS).map(|(_, path)| path).collect()
    }
}
