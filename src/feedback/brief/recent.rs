//! The pages that changed last: among equals, the newer ones matter more.

use std::collections::HashSet;

use bstr::{BString, ByteSlice};

use crate::git;
use crate::ledger::cache;
use crate::wiki::Wiki;

/// How many commits are looked at.
const COMMITS: &str = "-200";

const FILE: &str = "recent.json";

/// The pages that the branch's last commits changed, the newest first, each once. Kept under the branch's tip: asking
/// git takes longer than all the rest of the brief.
pub(super) fn pages(wiki: &Wiki) -> git::Result<Vec<BString>> {
    let Some(tip) = wiki.tip else { return Ok(Vec::new()) };
    let key = format!("{tip} {}", wiki.root);
    if let Some(known) = cache::read::<Vec<String>>(&wiki.repo, FILE, &key) {
        return Ok(known.into_iter().map(BString::from).collect());
    }
    let log = ["log", "--first-parent", "-m", "--format=", "--name-only", "--no-renames", "-z", COMMITS];
    let git = wiki.repo.git().args(log).arg(tip.to_string()).arg("--");
    let out = if wiki.root.is_empty() { git } else { git.arg(format!(":(top,literal){}", wiki.root)) }.run()?;
    let mut seen = HashSet::new();
    let names = out.split(|&byte| byte == 0).map(|name| name.trim_start_with(|c| c == '\n').as_bstr());
    let found: Vec<BString> = names
        .filter_map(|name| wiki.page_path(name))
        .filter(|name| !name.is_empty() && seen.insert(name.to_vec()))
        .map(BString::from)
        .collect();
    let named: Vec<&str> = found.iter().filter_map(|name| name.to_str().ok()).collect();
    cache::write(&wiki.repo, FILE, &key, &named);
    Ok(found)
}
