//! The layers: built-in < user file < `.gitmemory.toml` of the wiki branch < `git config memory.*` < `GIT_MEMORY_*` < flags.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::keys::{self, Key, Type};
use super::names::{env_key, git_key, is_link};
use super::{Inputs, LEGACY, Settings, committed, strategy, text, trust};
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

/// One layer: what it says by the parts of the key.
struct Layer {
    origin: Origin,
    values: BTreeMap<Vec<String>, Value>,
    notes: Vec<String>,
}

fn is_of_strategies(path: &[String]) -> bool {
    path.first().is_some_and(|section| section == strategy::SECTION)
}

/// Lists in which no layer can take away what another one keeps out.
fn adds_up(path: &[String]) -> bool {
    matches!(path.join(".").as_str(), "redact.extra_patterns" | "capture.ignore_paths")
}

impl Layer {
    fn new(origin: Origin) -> Layer {
        Layer { origin, values: BTreeMap::new(), notes: Vec::new() }
    }

    fn file(origin: Origin, text: &str) -> Result<Layer, Error> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table: Table =
            toml::from_str(text).map_err(|fault| Error::new(&origin, at(text, fault.span(), fault.message())))?;
        let mut layer = Layer::new(origin);
        layer.table(&mut Vec::new(), table)?;
        Ok(layer)
    }

    fn table(&mut self, path: &mut Vec<String>, table: Table) -> Result<(), Error> {
        for (name, value) in table {
            path.push(name);
            let dotted = path.join(".");
            match (keys::find(&dotted), value) {
                _ if self.is_passed_over(&dotted) => {}
                (Some(key), value) => self.set(&key, value)?,
                // A strategy that says nothing is still one: all of it is as in `default`.
                (None, Value::Table(inside)) if inside.is_empty() && path.len() == 2 && is_section(&dotted) => {
                    self.values.insert(path.clone(), Value::Table(inside));
                }
                (None, Value::Table(inside)) if is_section(&dotted) || self.may_not(&dotted, None) => {
                    self.table(path, inside)?;
                }
                (None, _) if self.may_not(&dotted, None) => self.note_widening(&dotted),
                (None, _) if is_section(&dotted) => {
                    return Err(Error::new(&self.origin, format!("`{dotted}` must be a table: `[{dotted}]`")));
                }
                (None, _) => return Err(self.unknown(&dotted)),
            }
            path.pop();
        }
        Ok(())
    }

    /// What git's configuration, a variable or a flag says for a dotted key.
    fn text(&mut self, dotted: &str, texts: &[&str]) -> Result<(), Error> {
        if self.is_passed_over(dotted) {
            return Ok(());
        }
        if let Some(key) = keys::find(dotted) {
            let value = text::read(&key, texts).map_err(|fault| Error::new(&self.origin, fault))?;
            return self.set(&key, value);
        }
        // One name of a table of texts.
        match dotted.rsplit_once('.').and_then(|(table, name)| Some((keys::find(table)?, name))) {
            Some((key, name)) if key.kind == Type::Map => {
                let path = key.name.split('.').map(str::to_owned).chain([name.to_owned()]).collect();
                self.values.insert(path, Value::String(texts.last().copied().unwrap_or_default().to_owned()));
                Ok(())
            }
            _ => Err(self.unknown(dotted)),
        }
    }

    fn set(&mut self, key: &Key, value: Value) -> Result<(), Error> {
        text::check(key, &value).map_err(|fault| Error::new(&self.origin, fault))?;
        if let (Type::Tables(inside), Value::Array(tables)) = (&key.kind, &value) {
            self.check_tables(key, inside, tables)?;
        }
        if self.may_not(&key.name, Some(&value)) {
            self.note_widening(&key.name);
            return Ok(());
        }
        if matches!(self.origin, Origin::Committed(_)) && committed::says_nothing(&key.name, &value) {
            return Ok(());
        }
        let path: Vec<String> = key.name.split('.').map(str::to_owned).collect();
        if let (Type::Map, Value::Table(table)) = (&key.kind, &value) {
            for (name, value) in table {
                self.values.insert(path.iter().cloned().chain([name.clone()]).collect(), value.clone());
            }
            return Ok(());
        }
        if key.name == "approval.require_approval" && value == Value::Boolean(true) {
            self.notes.push(format!(
                "{}: `approval.require_approval = true` is read as `approval.mode = \"none\"`",
                self.origin
            ));
        }
        self.values.insert(path, value);
        // Where one layer says both, the stricter word counts, whichever comes first in the file.
        let asked = ["approval".to_owned(), "require_approval".to_owned()];
        if self.values.get(asked.as_slice()) == Some(&Value::Boolean(true)) {
            self.values.insert(vec!["approval".into(), "mode".into()], "none".into());
        }
        Ok(())
    }

    fn check_tables(&self, key: &Key, inside: &[Key], tables: &[Value]) -> Result<(), Error> {
        for (name, value) in tables.iter().filter_map(Value::as_table).flatten() {
            let Some(field) = inside.iter().find(|field| &field.name == name) else {
                let names: Vec<_> = inside.iter().map(|field| format!("`{}`", field.name)).collect();
                let message = format!("unknown key `{name}` in `[[{}]]`; the keys are {}", key.name, names.join(", "));
                return Err(Error::new(&self.origin, message));
            };
            text::check(field, value)
                .map_err(|fault| Error::new(&self.origin, format!("in `[[{}]]`: {fault}", key.name)))?;
        }
        Ok(())
    }

    fn is_passed_over(&mut self, dotted: &str) -> bool {
        let section = dotted.split('.').next().unwrap_or_default();
        let legacy = LEGACY.contains(&section);
        if legacy {
            let text = format!("{}: `{dotted}` is a key of older tools and is ignored", self.origin);
            self.notes.push(text);
        }
        legacy
    }

    /// Whether this layer is the committed file and the key (with this value) would widen what the tool may do.
    fn may_not(&self, dotted: &str, value: Option<&Value>) -> bool {
        matches!(self.origin, Origin::Committed(_)) && committed::widens(dotted, value)
    }

    /// Takes out the limits that are higher than those below.
    fn lift_nothing(&mut self, below: &BTreeMap<Vec<String>, (Value, Origin)>) {
        let lifts = |path: &[String], value: &Value| committed::lifts(path, value, below.get(path).map(|(low, _)| low));
        let lifted: Vec<_> = self.values.extract_if(.., |path, value| lifts(path, value)).collect();
        for (path, _) in lifted {
            self.note_widening(&path.join("."));
        }
    }

    fn note_widening(&mut self, dotted: &str) {
        self.notes.push(format!(
            "{}: `{dotted}` is ignored there, as it widens what the tool may do; set it in your own config or with `git config`",
            self.origin
        ));
    }

    fn unknown(&self, dotted: &str) -> Error {
        Error::new(&self.origin, format!("unknown key `{dotted}`; {}", keys::hint(dotted)))
    }
}

/// The layers of git's configuration: one for each file, in git's order, so that each key keeps its origin.
fn git_layers(found: &[(String, String, String)]) -> Result<Vec<Layer>, Error> {
    // A list gathers its values over all files, as git's own lists do; its origin is the last file that adds to it.
    let mut by_key: BTreeMap<String, (Vec<&str>, &str)> = BTreeMap::new();
    let mut order = Vec::new();
    for (key, value, file) in found {
        if !key.contains('.') && is_link(key) {
            continue;
        }
        let name = git_key(key);
        let entry = by_key.entry(name.clone()).or_insert_with(|| {
            order.push(name);
            (Vec::new(), file)
        });
        entry.0.push(value);
        entry.1 = file;
    }
    let mut layers = Vec::new();
    for name in order {
        let (values, file) = &by_key[&name];
        let mut layer = Layer::new(Origin::Git(format!("{file} (git config)")));
        layer.text(&name, values)?;
        layers.push(layer);
    }
    Ok(layers)
}

fn env_layer(name: &str, value: &str) -> Result<Option<Layer>, Error> {
    let Some(key) = env_key(name) else { return Ok(None) };
    let mut layer = Layer::new(Origin::Env(name.to_owned()));
    layer.text(&key, &[value])?;
    Ok(Some(layer))
}

/// Whether keys stand below this name.
fn is_section(dotted: &str) -> bool {
    if keys::is_of_strategies(dotted) {
        return strategy::is_section(dotted);
    }
    keys::names().any(|name| name.strip_prefix(dotted).is_some_and(|rest| rest.starts_with('.')))
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

/// A message with the line and column (from 1) that it is about.
pub(super) fn at(text: &str, span: Option<std::ops::Range<usize>>, message: &str) -> String {
    let Some(before) = span.and_then(|span| text.get(..span.start)) else { return message.to_owned() };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}: {message}")
}

#[cfg(test)]
#[path = "tests/layers.rs"]
mod tests;
