//! The hook that looks at the staged pages before a commit.

use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use super::detach;
use crate::git::{self, Oid};
use crate::wiki::lint::Finding;
use crate::wiki::open::is_page;
use crate::wiki::{OpenError, Wiki};

/// Why the staged pages cannot be checked. The commit goes on then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// The wiki's trouble.
    #[error(transparent)]
    Wiki(#[from] OpenError),
}

/// Checks one page: path relative to the wiki's root, bytes.
pub type Check<'a> = &'a dyn Fn(&Wiki, &BStr, &[u8]) -> Vec<Finding>;

/// The findings of the pages that are staged in the repository at `folder`. None where the commit goes to another
/// branch than the wiki's, or the wiki is in another repository.
///
/// # Errors
/// When the wiki cannot be opened or the index not be read.
pub fn staged(folder: &Path, check: Check<'_>) -> Result<Vec<Finding>, Error> {
    let wiki = Wiki::open(folder)?;
    if wiki.code.is_some() || wiki.repo.head_branch()?.as_deref() != Some(wiki.branch.as_str()) {
        return Ok(Vec::new());
    }
    let mut git = wiki.repo.git().args([
        "diff",
        "--cached",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "--no-relative",
        "--no-ext-diff",
        "--diff-filter=AMT",
    ]);
    if let Some(index) = detach::inherited_index(folder) {
        git = git.env("GIT_INDEX_FILE", index);
    }
    let mut findings = Vec::new();
    for (path, oid) in staged_files(&git.run()?) {
        let Some(page) = wiki.page_path(path.as_ref()).filter(|page| is_page(page)) else { continue };
        findings.extend(check(&wiki, page, &wiki.repo.blob(oid)?));
    }
    Ok(findings)
}

/// Paths and blobs of the regular files in the output of `git diff --raw -z`.
fn staged_files(raw: &[u8]) -> Vec<(BString, Oid)> {
    let mut fields = raw.split(|&byte| byte == 0);
    let mut files = Vec::new();
    while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
        let words: Vec<&[u8]> = head.strip_prefix(b":").unwrap_or_default().split(|&byte| byte == b' ').collect();
        if let [_, mode, _, oid, _] = words[..]
            && mode.starts_with(b"100")
            && let Ok(oid) = Oid::from_hex(oid)
        {
            files.push((path.as_bstr().to_owned(), oid));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_lines_give_regular_files_whatever_their_names() {
        let oid = "1".repeat(40);
        let zero = "0".repeat(40);
        let raw = format!(
            ":000000 100644 {zero} {oid} A\0a b\n.md\0:000000 120000 {zero} {oid} A\0link.md\0:100644 100755 {oid} {oid} M\0x.md\0"
        );
        let paths: Vec<BString> = staged_files(raw.as_bytes()).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["a b\n.md", "x.md"]);
        assert!(staged_files(b"").is_empty());
    }
}
