//! Git's configuration.

use std::path::PathBuf;

use bstr::{BString, ByteSlice};

use super::{Repo, Result};

impl Repo {
    /// One value from git's configuration (all layers), last one wins. `key` is `section[.sub].name`. Configuration
    /// is read once, when the repository is opened.
    pub fn config(&self, key: &str) -> Option<String> {
        self.inner.config_snapshot().string(key).map(|value| value.to_str_lossy().into_owned())
    }

    /// A boolean from git's configuration, by git's rules for booleans.
    pub fn config_bool(&self, key: &str) -> Option<bool> {
        self.inner.config_snapshot().boolean(key)
    }

    /// All values of the section `memory` (and its subsections) as `(key, value, origin)`, in the order of git's
    /// layers; `key` is below `memory.`, spelled as git keeps it (`scheduler.intervalSecs`); `origin` is the file, or
    /// `command line` for the environment and `git -c`. A key without a value is `true`.
    pub fn memory_config(&self) -> Vec<(String, String, PathBuf)> {
        let snapshot = self.inner.config_snapshot();
        let mut values = Vec::new();
        for section in snapshot.plumbing().sections_by_name("memory").into_iter().flatten() {
            let origin = section.meta().path.clone().unwrap_or_else(|| PathBuf::from("command line"));
            let prefix =
                section.header().subsection_name().map(|name| format!("{}.", name.to_str_lossy())).unwrap_or_default();
            for name in distinct(section.value_names()) {
                let mut of_name: Vec<BString> = section.values(&name);
                if section.value_implicit(&name) == Some(None) {
                    of_name.pop();
                    of_name.push("true".into());
                }
                for value in of_name {
                    let value = value.to_str_lossy().into_owned();
                    values.push((format!("{prefix}{name}"), value, origin.clone()));
                }
            }
        }
        values
    }

    /// The addresses of all remotes.
    pub fn remotes(&self) -> Vec<String> {
        let snapshot = self.inner.config_snapshot();
        let sections = snapshot.plumbing().sections_by_name("remote").into_iter().flatten();
        sections
            .filter(|section| section.header().subsection_name().is_some())
            .flat_map(|section| section.values("url"))
            .map(|url| url.to_str_lossy().into_owned())
            .collect()
    }

    /// The names of all remotes.
    pub fn remote_names(&self) -> Vec<String> {
        self.inner.remote_names().into_iter().map(|name| name.to_str_lossy().into_owned()).collect()
    }

    /// Sets a value in this repository's local config file. A [`Repo`] that is open already keeps the value it read.
    ///
    /// # Errors
    /// [`Error::Command`](super::Error::Command) when git refuses the key or cannot write the file.
    pub fn set_config(&self, key: &str, value: &str) -> Result<()> {
        self.git().args(["config", "--local", "--replace-all", key, value]).run().map(drop)
    }

    /// Takes all values of a key out of the repository's configuration.
    pub fn unset_config(&self, key: &str) -> Result<()> {
        self.git().args(["config", "--local", "--unset-all", key]).run().map(drop)
    }

    /// Whether the repository's own configuration has the key.
    pub fn has_local_config(&self, key: &str) -> bool {
        self.git().args(["config", "--local", "--get-all", key]).run().is_ok()
    }
}

/// The names without repetitions (git compares them without case), in the order of their first appearance.
fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if !seen.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
            seen.push(name);
        }
    }
    seen
}
