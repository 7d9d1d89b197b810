//! The index that was opened last, for a process that asks again and again.

use std::sync::{Arc, Mutex, PoisonError};

use super::ask::Origin;
use super::index::{Index, Opened};
use super::{Error, Pages, root_tree};
use crate::git::Oid;
use crate::wiki::Wiki;

/// The index that was opened last, held until another tree is asked for. It holds what a tree holds and nothing of the
/// wiki's settings, so that the tree alone tells whether it still serves.
#[derive(Default)]
pub struct Kept(Mutex<Option<Arc<Index>>>);

impl Kept {
    /// The pages at a commit or tree, as [`Pages::at`] opens them, and from the index that is held where it is theirs.
    /// Others who ask meanwhile wait: most of them want the same one.
    ///
    /// # Errors
    /// As [`Pages::at`].
    pub fn pages<'w>(&self, wiki: &'w Wiki, treeish: Option<Oid>) -> Result<Pages<'w>, Error> {
        let tree = root_tree(wiki, treeish)?;
        let is_tip = treeish.is_none();
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match held.take().filter(|index| index.tree == tree) {
            Some(index) => Opened { index, origin: Origin::Warm, unkept: None },
            None => Index::open(wiki, tree, is_tip)?,
        };
        *held = Some(opened.index.clone());
        Ok(Pages { wiki, opened, is_tip })
    }
}
