//! Whether what the committed settings would run or call may be used here.

use crate::config::trust;
use crate::git;
use crate::model::{Models, Stage};
use crate::wiki::Wiki;

/// The settings of a committed file that a run would use and that nobody here trusted: programs, addresses, names of
/// keys. Where every stage is the built-in reviewer's, what is said about models is used by nobody.
pub fn untrusted(wiki: &Wiki, models: &Models) -> git::Result<Vec<String>> {
    let status = trust::status(&wiki.repo, wiki.tip, &wiki.config)?;
    if status.trusted {
        return Ok(Vec::new());
    }
    let asks = Stage::ALL.iter().any(|stage| models.has(*stage));
    let used = |key: &String| key.starts_with("eval.") || asks && key.starts_with("model.");
    Ok(status.names.into_iter().map(|(key, _)| key).filter(used).collect())
}
