//! Files below `memory/index/` that can be deleted at any time: what is expensive to collect, under the state it was
//! collected from.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::git::Repo;

/// What the file holds, when it can be read and was written for this key.
pub fn read<T: DeserializeOwned>(repo: &Repo, name: &str, key: &str) -> Option<T> {
    known(repo, name).and_then(|(written, value)| (written == key).then_some(value))
}

/// What the file holds and the key that it was written for, when it can be read.
pub fn known<T: DeserializeOwned>(repo: &Repo, name: &str) -> Option<(String, T)> {
    serde_json::from_slice(&fs::read(path(repo, name)).ok()?).ok()
}

/// Keeps it. One that cannot be written (a read-only repository) costs time, nothing else.
pub fn write<T: Serialize>(repo: &Repo, name: &str, key: &str, value: &T) {
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
