//! Files below `memory/index/` that can be deleted at any time: what is expensive to collect, under the state it was
//! collected from.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::git::Repo;

/// What the file holds, when it can be read and was written for this key.
pub(super) fn read<T: DeserializeOwned>(repo: &Repo, name: &str, key: &str) -> Option<T> {
    let text = fs::read(path(repo, name)).ok()?;
    let (written, value): (String, T) = serde_json::from_slice(&text).ok()?;
    (written == key).then_some(value)
}

/// Keeps it. One that cannot be written (a read-only repository) costs time, nothing else.
pub(super) fn write<T: Serialize>(repo: &Repo, name: &str, key: &str, value: &T) {
    let path = path(repo, name);
    let keep = || -> std::io::Result<()> {
        let folder = repo.memory_dir().join("index");
        fs::create_dir_all(&folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let mut writer = std::io::BufWriter::new(&mut file);
        serde_json::to_writer(&mut writer, &(key, value))?;
        std::io::Write::flush(&mut writer)?;
        drop(writer);
        file.persist(path)?;
        Ok(())
    };
    let _ = keep();
}

fn path(repo: &Repo, name: &str) -> PathBuf {
    repo.memory_dir().join("index").join(name)
}
