//! Trust: what a committed config names as program, address or key variable is used only after a person said yes to
//! exactly this text and these files.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use bstr::{BStr, ByteSlice};
use sha2::{Digest, Sha256};

use super::{Config, Eval, FILE, Model, ModelStage, Origin, Settings};
use crate::git::{self, Oid, Repo};

/// What the committed config would run or call, and whether somebody here said yes to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trust {
    /// SHA-256 (hex) over the committed config and the files of the repository that it names.
    pub digest: String,
    /// The keys that need trust and what they hold, in the order of the settings.
    pub names: Vec<(String, String)>,
    /// The files that the digest covers, from the top of the tree.
    pub files: Vec<String>,
    /// Whether all of it may be used: nothing needs trust, or the digest was recorded or given by `GIT_MEMORY_TRUST`.
    pub trusted: bool,
}

/// The variable that carries a trusted digest, for machines where nobody can be asked.
pub const VARIABLE: &str = "GIT_MEMORY_TRUST";

/// What a committed file may not have done without trust: the last part of a key, in these sections.
const NEEDS_TRUST: &[(&str, &[&str])] = &[
    ("model", &["provider", "model", "command", "base_url", "api_key_env", "replies"]),
    ("eval", &["command"]),
    ("forge", &["command", "base_url", "token_env"]),
];

/// What the committed config names would be used, and nobody here said yes to it. Exit code 78.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{FILE} on the wiki branch says what to run or to call, and nobody here said that this may be done: {}", keys.join(", "))]
pub struct Untrusted {
    /// The keys.
    pub keys: Vec<String>,
}

/// What to do about it.
pub const HINT: &str = "`git memory trust` shows all of it and asks you";

/// What the committed config at `tip` names, its digest, and whether it is trusted here.
pub fn status(repo: &Repo, tip: Option<Oid>, config: &Config) -> git::Result<Trust> {
    let names = names(config);
    let mut files = BTreeMap::new();
    if let Some(tip) = tip {
        if let Some(text) = repo.file(tip, FILE.into())? {
            files.insert(FILE.to_owned(), text);
        }
        for path in names.iter().flat_map(|(_, value)| mentioned(value)) {
            if let Some(bytes) = repo.file(tip, BStr::new(&path))? {
                files.insert(path, bytes);
            }
        }
    }
    let digest = digest(&files);
    let given = std::env::var(VARIABLE).ok();
    let trusted =
        names.is_empty() || given.is_some_and(|text| same(&text, &digest)) || recorded(repo)? == Some(digest.clone());
    Ok(Trust { digest, names, files: files.into_keys().collect(), trusted })
}

/// The keys that the committed config names and nobody said yes to. In doubt none is trusted.
pub(super) fn held_back(repo: &Repo, tip: Option<Oid>, config: &Config) -> Vec<String> {
    // Naming every key takes longer than a command's start, and most wikis commit none of these sections.
    if !NEEDS_TRUST.iter().any(|(section, _)| config.commits(section)) {
        return Vec::new();
    }
    match status(repo, tip, config) {
        Ok(Trust { trusted: true, .. }) => Vec::new(),
        Ok(Trust { names, .. }) => names.into_iter().map(|(key, _)| key).collect(),
        Err(_) => names(config).into_iter().map(|(key, _)| key).collect(),
    }
}

/// Whether models may be called as the settings say.
///
/// # Errors
/// [`Untrusted`].
pub fn model(model: &Model) -> Result<(), Untrusted> {
    if model.untrusted.is_empty() { Ok(()) } else { Err(Untrusted { keys: model.untrusted.clone() }) }
}

/// Whether the program that scores changes may be run as the settings say.
///
/// # Errors
/// [`Untrusted`].
pub fn eval(eval: &Eval) -> Result<(), Untrusted> {
    if eval.untrusted.is_empty() { Ok(()) } else { Err(Untrusted { keys: eval.untrusted.clone() }) }
}

/// Whether the models may be called that some stage would call: the built-in reviewer calls nobody, whatever address
/// stands beside it.
///
/// # Errors
/// [`Untrusted`].
pub fn models(all: &Model) -> Result<(), Untrusted> {
    let stages = [&all.review, &all.judge, &all.reflect, &all.distill, &all.consolidate, &all.pair];
    let provider = |stage: &ModelStage| stage.provider.clone().unwrap_or_else(|| all.provider.clone());
    if stages.iter().all(|stage| provider(stage) == "builtin") { Ok(()) } else { model(all) }
}

/// Whether a review may use what the settings name, as far as it would.
///
/// # Errors
/// [`Untrusted`].
pub fn review(settings: &Settings) -> Result<(), Untrusted> {
    models(&settings.model)?;
    if settings.eval.command.is_empty() { Ok(()) } else { eval(&settings.eval) }
}

/// Why the files that a committed key names must not be run as they stand in the work tree, if so: they have to be those
/// of the wiki branch that trust covers. The word of one's own settings needs no such thing.
///
/// # Errors
/// When the branch cannot be read.
pub fn amiss_in_work_tree(repo: &Repo, tip: Option<Oid>, config: &Config, key: &str) -> git::Result<Option<String>> {
    let names = names(config);
    let Some((_, value)) = names.iter().find(|(name, _)| name == key) else { return Ok(None) };
    let (Some(tip), Some(top)) = (tip, repo.workdir()) else { return Ok(None) };
    for path in mentioned(value) {
        let place = top.join(&path);
        let Some(trusted) = repo.file(tip, BStr::new(&path))? else {
            if place.is_file() {
                let what = format!("{path}, which `{key}` names, is not on the wiki branch: trust covers only that");
                return Ok(Some(what));
            }
            continue;
        };
        let there = std::fs::read(place).unwrap_or_default();
        // A checkout may give it the line ends of its system.
        if there.replace("\r\n", "\n") != trusted.replace("\r\n", "\n") {
            return Ok(Some(format!("{path} in the work tree is another one than was trusted with `{key}`")));
        }
    }
    Ok(None)
}

/// Records a digest as trusted in this repository, in place of any earlier one. Never in the wiki: nobody can trust
/// something on another's behalf.
pub fn record(repo: &Repo, digest: &str) -> git::Result<()> {
    let path = file(repo);
    let fail = |fault: std::io::Error| git::Error::write(path.display().to_string(), fault);
    let folder = repo.memory_dir();
    std::fs::create_dir_all(&folder).map_err(fail)?;
    // A temporary file is made for its owner alone (0600), and stays so when it gets its name.
    let mut new = tempfile::NamedTempFile::new_in(&folder).map_err(fail)?;
    writeln!(new, "{digest}").map_err(fail)?;
    new.as_file().sync_all().map_err(fail)?;
    new.persist(&path).map_err(|fault| fail(fault.error))?;
    Ok(())
}

/// Takes trust back; whether there was any.
pub fn forget(repo: &Repo) -> git::Result<bool> {
    let path = file(repo);
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(fault) => Err(git::Error::write(path.display().to_string(), fault)),
    }
}

fn file(repo: &Repo) -> PathBuf {
    repo.memory_dir().join("trust")
}

fn recorded(repo: &Repo) -> git::Result<Option<String>> {
    let path = file(repo);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(git::Error::read(path.display().to_string(), fault)),
    }
}

fn same(given: &str, digest: &str) -> bool {
    given.trim().eq_ignore_ascii_case(digest)
}

/// The keys that need trust and have their value from the committed file.
fn names(config: &Config) -> Vec<(String, String)> {
    let committed = config.entries().into_iter().filter(|entry| matches!(entry.origin, Origin::Committed(_)));
    let needed = committed.filter(|entry| needs_trust(&entry.key));
    let texts = needed.map(|entry| {
        let text = match entry.value {
            serde_json::Value::String(text) => text,
            serde_json::Value::Array(items) => {
                items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Vec<_>>().join(" ")
            }
            value => value.to_string(),
        };
        (entry.key, text)
    });
    // The built-in reviewer runs and calls nothing.
    texts.filter(|(key, text)| !(key.ends_with(".provider") && text == "builtin")).collect()
}

/// Whether a committed file says this only with somebody's yes.
pub(super) fn needs_trust(key: &str) -> bool {
    let Some((section, rest)) = key.split_once('.') else { return false };
    let last = rest.rsplit('.').next().unwrap_or(rest);
    NEEDS_TRUST.iter().any(|(name, parts)| *name == section && parts.contains(&last))
}

/// The words of a value that may be files of the repository.
fn mentioned(value: &str) -> impl Iterator<Item = String> {
    let words = value.split_whitespace().map(|word| word.trim_matches(['"', '\'']).trim_start_matches("./"));
    words.filter(|word| !word.is_empty() && !word.starts_with(['/', '-'])).map(str::to_owned)
}

/// Each part with its length before it, so that no two sets of files read the same.
fn digest(files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut hash = Sha256::new();
    hash.update(b"git-memory trust 1\n");
    for (path, bytes) in files {
        for part in [path.as_bytes(), bytes.as_slice()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Inputs, merge};
    use super::*;

    fn committed(text: &str) -> Config {
        merge(&Inputs { committed: Some((FILE.into(), text.into())), ..Inputs::default() }).unwrap()
    }

    #[test]
    fn only_a_committed_provider_needs_trust_and_the_built_in_one_does_not() {
        let names_of = |config: &Config| names(config).into_iter().map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(names_of(&committed("model.provider = \"command\"")), ["model.provider"]);
        assert!(names_of(&committed("model.provider = \"builtin\"")).is_empty());
        let own = Inputs { user: Some(("u".into(), "model.provider = \"command\"".into())), ..Inputs::default() };
        assert!(names_of(&merge(&own).unwrap()).is_empty());
    }

    #[test]
    fn commands_addresses_and_key_variables_need_trust_at_every_stage() {
        for key in ["model.command", "model.judge.base_url", "model.review.api_key_env", "model.model", "eval.command"]
        {
            assert!(needs_trust(key), "{key}");
        }
        for key in ["model.temperature", "wiki.root", "approval.mode", "command"] {
            assert!(!needs_trust(key), "{key}");
        }
    }

    #[test]
    fn a_change_of_the_config_or_of_a_named_file_changes_the_digest() {
        let files = |config: &str, tool: &str| {
            BTreeMap::from([(FILE.to_owned(), config.as_bytes().to_vec()), ("t".into(), tool.as_bytes().to_vec())])
        };
        let first = digest(&files("a", "b"));
        assert_eq!(first, digest(&files("a", "b")));
        assert_eq!(first.len(), 64);
        for other in [files("a", "c"), files("ab", ""), files("", "ab")] {
            assert_ne!(first, digest(&other));
        }
    }

    #[test]
    fn words_that_may_be_files_of_the_repository_are_found() {
        let words: Vec<_> = mentioned("./tools/eval.sh --fast /bin/sh 'tools/b.py'").collect();
        assert_eq!(words, ["tools/eval.sh", "tools/b.py"]);
    }
}
