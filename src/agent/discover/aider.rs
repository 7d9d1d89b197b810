//! aider's own places.

use super::folders::work_trees;
use super::{Found, Search};
use crate::wiki::Wiki;

/// The file in the top folder of a work tree in which aider keeps what was said there.
const HISTORY: &str = ".aider.chat.history.md";

/// Adds the histories in the work trees of the wiki's repositories.
pub(super) fn sessions(wiki: &Wiki, search: &mut Search) {
    let histories = work_trees(wiki).into_iter().map(|folder| folder.join(HISTORY)).filter(|path| path.is_file());
    search.files.extend(histories.map(|path| Found { path, named: false }));
}
