//! One layer of the settings: read, checked key by key, and without what its place may not say.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::keys::{self, Key, Type};
use super::layers::{Error, Origin};
use super::names::{env_key, git_key, is_link};
use super::{LEGACY, committed, strategy, text};

/// One layer.
pub(super) struct Layer {
    /// Whose word it is.
    pub origin: Origin,
    /// What it says, by the parts of the key.
    pub values: BTreeMap<Vec<String>, Value>,
    /// What a person should know of it.
    pub notes: Vec<String>,
}

impl Layer {
    pub fn new(origin: Origin) -> Layer {
        Layer { origin, values: BTreeMap::new(), notes: Vec::new() }
    }

    pub fn file(origin: Origin, text: &str) -> Result<Layer, Error> {
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
    pub fn text(&mut self, dotted: &str, texts: &[&str]) -> Result<(), Error> {
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
    pub fn lift_nothing(&mut self, below: &BTreeMap<Vec<String>, (Value, Origin)>) {
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
pub(super) fn git_layers(found: &[(String, String, String)]) -> Result<Vec<Layer>, Error> {
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

pub(super) fn env_layer(name: &str, value: &str) -> Result<Option<Layer>, Error> {
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

/// A message with the line and column (from 1) that it is about.
pub(super) fn at(text: &str, span: Option<std::ops::Range<usize>>, message: &str) -> String {
    let Some(before) = span.and_then(|span| text.get(..span.start)) else { return message.to_owned() };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}: {message}")
}
