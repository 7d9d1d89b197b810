//! Which branch the wiki is on, or will be.

use bstr::ByteSlice;

use crate::cli::{CliError, Result};
use crate::config::FILE;
use crate::git::{Oid, Repo};

const HEADS: &str = "refs/heads/";

/// The key by which a repository records its wiki's branch.
pub const KEY: &str = "memory.wiki.branch";

/// Finds the branch, without `refs/heads/`: the recorded one, the one asked for, the one that the settings at HEAD or
/// on a remote's branch name, the one that is checked out.
pub fn choose(repo: &Repo, asked: Option<&str>) -> Result<String> {
    let short = |name: &str| name.strip_prefix(HEADS).unwrap_or(name).to_owned();
    let asked = asked.map(short);
    if let Some(recorded) = repo.config(KEY).map(|name| short(&name)) {
        return match asked {
            Some(asked) if asked != recorded => {
                Err(CliError::refused("already_initialised", format!("the wiki is on {recorded} already"))
                    .hint(format!("leave --branch out; `git config {KEY}` is where the branch is recorded")))
            }
            _ => Ok(recorded),
        };
    }
    if let Some(asked) = asked {
        let checked = repo.git().args(["check-ref-format", "--branch", &asked]).output()?;
        // `@{-1}` and its like are expanded there: only a name that comes back as it was is a name.
        return match checked.code {
            Some(0) if checked.stdout.trim_ascii_end() == asked.as_bytes() => Ok(asked),
            _ => Err(CliError::refused("bad_branch", format!("'{asked}' cannot be the name of a branch"))),
        };
    }
    let head = repo.head_branch()?;
    if let Some(head) = &head
        && let Some(tip) = repo.reference(head)?
        && let Some(settings) = repo.file(tip, FILE.into())?
    {
        return Ok(named(&settings).unwrap_or_else(|| short(head)));
    }
    for (name, tip) in repo.references("refs/remotes/")? {
        let Some((_, branch)) = name.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/')) else {
            continue;
        };
        if branch != "HEAD" && repo.file(tip, FILE.into())?.and_then(|text| named(&text)).as_deref() == Some(branch) {
            return Ok(branch.to_owned());
        }
    }
    head.map(|head| short(&head)).ok_or_else(|| {
        CliError::refused("detached", "HEAD is on no branch").hint("name the wiki's branch with --branch")
    })
}

/// The branch that committed settings name. Settings that do not parse name none; they are reported when they are
/// loaded.
fn named(settings: &[u8]) -> Option<String> {
    let table: toml::Table = toml::from_str(settings.to_str().ok()?).ok()?;
    let branch = table.get("wiki")?.get("branch")?.as_str()?;
    (!branch.is_empty()).then(|| branch.to_owned())
}

/// A remote's branch of this name: `(refs/remotes/origin/wiki, commit)`.
pub fn on_remote(repo: &Repo, branch: &str) -> Result<Option<(String, Oid)>> {
    let mut found: Vec<(String, Oid)> = repo
        .references("refs/remotes/")?
        .into_iter()
        .filter(|(name, _)| {
            let rest = name.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'));
            rest.is_some_and(|(_, rest)| rest == branch)
        })
        .collect();
    if found.iter().any(|(_, tip)| *tip != found[0].1) {
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(", ");
        return Err(CliError::refused("ambiguous_branch", format!("{branch} is another on each of {names}"))
            .hint(format!("make the branch that you mean: git branch {branch} REMOTE/{branch}")));
    }
    Ok(if found.is_empty() { None } else { Some(found.remove(0)) })
}
