//! The layers: built-in < user file < `.gitmemory.toml` of the wiki branch < `git config memory.*` < `GIT_MEMORY_*` < flags.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::keys::{self, Key};
use super::layer::{Layer, env_layer, git_layers};
use super::{Inputs, Settings, strategy, trust};
use crate::git::{Oid, Repo};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// The user's own file.
    User(String),
    /// `.gitmemory.toml` on the wiki branch.
    Committed(String),
    /// `git config`; the file.
    Git(String),
    /// The environment variable.
    Env(String),
    /// A flag.
    Flag,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("built in"),
            Origin::User(file) | Origin::Git(file) => f.write_str(file),
            Origin::Committed(file) => write!(f, "{file} on the wiki branch"),
            Origin::Env(variable) => f.write_str(variable),
            Origin::Flag => f.write_str("command line"),
        }
    }
}

/// Why the configuration cannot be used. Exit code 78.
#[derive(Debug, thiserror::Error)]
#[error("{origin}: {message}")]
pub struct Error {
    /// The file or variable.
    pub origin: String,
    /// What is wrong, and the near key where one is unknown.
    pub message: String,
}

impl Error {
    pub(super) fn new(origin: &Origin, message: impl Into<String>) -> Error {
        Error { origin: origin.to_string(), message: message.into() }
    }
}

/// The settings in force, and where each came from.
#[derive(Debug, Clone)]
pub struct Config {
    /// The settings.
    pub settings: Settings,
    /// What the layers said, by the parts of the key. Later layers have replaced earlier ones.
    values: BTreeMap<Vec<String>, (Value, Origin)>,
    /// The keys of the committed file that nobody trusted.
    untrusted: Vec<String>,
    /// Notes for the person (legacy keys that are ignored, keys that a committed config may not set).
    pub notes: Vec<String>,
}

/// One line of `git memory config`: a key, what holds, and whose word it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The dotted key.
    pub key: String,
    /// What holds.
    pub value: serde_json::Value,
    /// Whose word it is.
    pub origin: Origin,
}

impl Config {
    /// Loads every layer. `wiki` is the tip of the wiki branch, `None` when unborn.
    pub fn load(repo: &Repo, wiki: Option<Oid>) -> Result<Config, Error> {
        let mut config = merge(&Inputs::read(repo, wiki)?)?;
        config.untrusted = trust::held_back(repo, wiki, &config);
        config.mark();
        Ok(config)
    }

    /// Whether the committed file decides on a key of this section.
    pub(super) fn commits(&self, section: &str) -> bool {
        let is_committed = |(path, (_, origin)): (&Vec<String>, &(Value, Origin))| {
            path.first().is_some_and(|name| name == section) && matches!(origin, Origin::Committed(_))
        };
        self.values.iter().any(is_committed)
    }

    /// Tells the sections whose values must not be used.
    fn mark(&mut self) {
        let of = |section: &str| {
            let keys = self.untrusted.iter().filter(|key| key.split('.').next() == Some(section));
            keys.cloned().collect::<Vec<_>>()
        };
        (self.settings.model.untrusted, self.settings.eval.untrusted) = (of("model"), of("eval"));
    }

    /// Where the value of a dotted key (`scheduler.interval_secs`) came from.
    pub fn origin(&self, key: &str) -> &Origin {
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        let inside = self.values.iter().rev().find(|(name, _)| name.starts_with(&path));
        inside.map_or(&Origin::Default, |(_, (_, origin))| origin)
    }

    /// Every key with what holds and whose word it is; absent optional keys are left out.
    pub fn entries(&self) -> Vec<Entry> {
        let settings = serde_json::to_value(&self.settings).expect("settings are plain data");
        let value = |key: &Key| match settings.pointer(&format!("/{}", key.name.replace('.', "/"))) {
            Some(value) => Some(value.clone()),
            None => key.default.clone(),
        };
        let entry = |key: &Key| {
            Some(Entry { key: key.name.clone(), value: value(key)?, origin: self.origin(&key.name).clone() })
        };
        let of_strategies = self.values.iter().filter(|(path, (value, _))| is_of_strategies(path) && !value.is_table());
        let of_strategies = of_strategies.map(|(path, (value, origin))| Entry {
            key: path.join("."),
            value: serde_json::to_value(value).expect("settings are plain data"),
            origin: origin.clone(),
        });
        keys::all().iter().filter_map(entry).chain(of_strategies).collect()
    }

    /// The names of the strategies that have a table here.
    pub fn strategies(&self) -> Vec<&str> {
        let paths = self.values.keys().filter(|path| is_of_strategies(path));
        let mut names: Vec<&str> = paths.filter_map(|path| Some(path.get(1)?.as_str())).collect();
        names.dedup();
        names
    }

    /// The table `[strategy.<name>]`, all layers together; `None` where no layer has one. It was checked when it was
    /// read, and is made only for those who ask.
    pub fn strategy(&self, name: &str) -> Option<Table> {
        let inside =
            self.values.iter().filter(|(path, _)| is_of_strategies(path) && path.get(1).is_some_and(|n| n == name));
        let mut table = None;
        for (path, (value, _)) in inside {
            put(table.get_or_insert_with(Table::new), &path[2..], value.clone());
        }
        table
    }

    /// What a flag says: it wins over every layer.
    pub fn set_flag(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let mut layer = Layer::new(Origin::Flag);
        layer.text(key, &[value])?;
        self.add(layer);
        self.settle()
    }

    /// Puts a layer above those that are there.
    fn add(&mut self, mut layer: Layer) {
        if matches!(layer.origin, Origin::Committed(_)) {
            layer.lift_nothing(&self.values);
        }
        for (path, value) in layer.values {
            let value = match (self.values.remove(&path), value) {
                (Some((Value::Array(mut below), _)), Value::Array(above)) if adds_up(&path) => {
                    below.extend(above.into_iter().filter(|item| !below.contains(item)).collect::<Vec<_>>());
                    Value::Array(below)
                }
                (_, value) => value,
            };
            self.values.insert(path, (value, layer.origin.clone()));
        }
        self.notes.extend(layer.notes);
    }

    /// Makes the settings of what the layers said.
    fn settle(&mut self) -> Result<(), Error> {
        let mut table = Table::new();
        for (path, (value, _)) in self.values.iter().filter(|(path, _)| !is_of_strategies(path)) {
            put(&mut table, path, value.clone());
        }
        // Every value was checked on its own, with its origin; what is left to fail is our own mistake.
        let settings = serde_json::to_value(table).and_then(serde_json::from_value);
        self.settings = settings.map_err(|fault| Error::new(&Origin::Default, fault.to_string()))?;
        self.mark();
        Ok(())
    }
}

/// Makes the settings of the layers. Nothing is read: the same inputs give the same settings.
pub fn merge(inputs: &Inputs) -> Result<Config, Error> {
    let mut config =
        Config { settings: Settings::default(), values: BTreeMap::new(), untrusted: Vec::new(), notes: Vec::new() };
    if let Some((file, text)) = &inputs.user {
        config.add(Layer::file(Origin::User(file.clone()), text)?);
    }
    if let Some((file, text)) = &inputs.committed {
        config.add(Layer::file(Origin::Committed(file.clone()), text)?);
    }
    for layer in git_layers(&inputs.git)? {
        config.add(layer);
    }
    for (name, value) in &inputs.env {
        if let Some(layer) = env_layer(name, value)? {
            config.add(layer);
        }
    }
    config.settle()?;
    Ok(config)
}

fn is_of_strategies(path: &[String]) -> bool {
    path.first().is_some_and(|section| section == strategy::SECTION)
}

/// Lists in which no layer can take away what another one keeps out.
fn adds_up(path: &[String]) -> bool {
    matches!(path.join(".").as_str(), "redact.extra_patterns" | "capture.ignore_paths")
}

fn put(table: &mut Table, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => {
            table.insert(name.clone(), value);
        }
        [name, rest @ ..] => {
            let inside = table.entry(name.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inside) = inside {
                put(inside, rest, value);
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/layers.rs"]
mod tests;
