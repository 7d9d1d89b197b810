//! Commits as people name them.

use super::{CliError, Result};
use crate::git::{Oid, Repo};

/// The commit of a repository that a person's words name.
///
/// # Errors
/// `unknown_revision` when they name none.
pub fn commit(repo: &Repo, revision: &str) -> Result<Oid> {
    repo.resolve(revision)?.ok_or_else(|| {
        let place = repo.workdir().unwrap_or_else(|| repo.common_dir());
        CliError::refused("unknown_revision", format!("'{revision}' names no commit in {}", place.display()))
            .hint("give a branch, a tag, a commit's id or its beginning")
    })
}
