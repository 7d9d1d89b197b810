//! The layers as they stand in their places.

use std::path::PathBuf;

use super::names::env_key;
use super::{Error, FILE, Origin};
use crate::git::{Oid, Repo};

/// The layers as they were found, before anything is made of them.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The user's file: its name and text.
    pub user: Option<(String, String)>,
    /// The committed file: its name and text.
    pub committed: Option<(String, String)>,
    /// `git config memory.*`: the key below `memory.`, the value, the file; in the order of git's layers.
    pub git: Vec<(String, String, String)>,
    /// The environment's variables whose names begin with `GIT_MEMORY_`.
    pub env: Vec<(String, String)>,
}

impl Inputs {
    /// Reads every layer from its place.
    pub fn read(repo: &Repo, wiki: Option<Oid>) -> Result<Inputs, Error> {
        let git = repo.memory_config().into_iter().map(|(key, value, file)| (key, value, file.display().to_string()));
        Ok(Inputs { user: read_user()?, committed: read_committed(repo, wiki)?, git: git.collect(), env: read_env()? })
    }
}

/// The user's file: `$XDG_CONFIG_HOME/git-memory/config.toml`, by default below `~/.config`.
pub fn user_file() -> Option<PathBuf> {
    let base = match std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from) {
        // A relative value is to be ignored, says the XDG base directory specification.
        Some(folder) if folder.is_absolute() => folder,
        _ => std::env::home_dir()?.join(".config"),
    };
    Some(base.join("git-memory").join("config.toml"))
}

fn read_user() -> Result<Option<(String, String)>, Error> {
    let Some(path) = user_file() else { return Ok(None) };
    let name = path.display().to_string();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((name, text))),
        Err(fault) if matches!(fault.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(fault) => Err(Error { origin: name, message: format!("cannot be read: {fault}") }),
    }
}

fn read_committed(repo: &Repo, wiki: Option<Oid>) -> Result<Option<(String, String)>, Error> {
    let Some(tip) = wiki else { return Ok(None) };
    let origin = Origin::Committed(FILE.to_owned());
    let bytes = repo.file(tip, FILE.into()).map_err(|fault| Error::new(&origin, fault.to_string()))?;
    let Some(bytes) = bytes else { return Ok(None) };
    let text = String::from_utf8(bytes).map_err(|_| Error::new(&origin, "the file is not UTF-8"))?;
    Ok(Some((FILE.to_owned(), text)))
}

fn read_env() -> Result<Vec<(String, String)>, Error> {
    let mut found = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with("GIT_MEMORY_")) else { continue };
        match value.into_string() {
            Ok(value) => found.push((name.to_owned(), value)),
            // A control variable may hold any path; only a setting has to be text.
            Err(_) if env_key(name).is_none() => {}
            Err(_) => return Err(Error { origin: name.to_owned(), message: "the value is not UTF-8".into() }),
        }
    }
    found.sort();
    Ok(found)
}
