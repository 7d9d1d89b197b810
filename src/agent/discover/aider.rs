//! aider's own places.

use super::Search;

/// Adds all of its session files; none when it was never used here.
pub(super) fn sessions(_search: &mut Search) {}
