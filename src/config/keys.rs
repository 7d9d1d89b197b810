//! Every dotted key with its type, default and text, derived from [`Settings`] so that nothing is said twice.

use std::sync::LazyLock;

use serde_json::Value as Json;

use super::{Settings, Wiki};

/// What a key may hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A whole number between these two.
    Integer(i64, i64),
    /// A number between these two, where there are bounds.
    Number(Option<f64>, Option<f64>),
    /// Any text.
    Text,
    /// One of these words.
    Word(Vec<String>),
    /// A list of texts.
    List,
    /// A table from names to texts.
    Map,
    /// A list of tables (`[[scope]]`) with these keys.
    Tables(Vec<Key>),
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Bool => f.write_str("true or false"),
            Type::Integer(0, i64::MAX) => f.write_str("a whole number, 0 or more"),
            Type::Integer(least, most) => write!(f, "a whole number from {least} to {most}"),
            Type::Number(Some(least), Some(most)) => write!(f, "a number from {least} to {most}"),
            Type::Number(..) => f.write_str("a number"),
            Type::Text => f.write_str("a text"),
            Type::Word(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
                write!(f, "one of {}", words.join(", "))
            }
            Type::List => f.write_str("a list of texts"),
            Type::Map => f.write_str("a table of texts"),
            Type::Tables(_) => f.write_str("a list of tables"),
        }
    }
}

/// One setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// `scheduler.interval_secs`
    pub name: String,
    /// What it is for.
    pub doc: String,
    /// What it may hold.
    pub kind: Type,
    /// What holds when no layer says anything; `None` for a key that is simply absent.
    pub default: Option<Json>,
}

impl Key {
    /// The section of the key (`approval.gated` of `approval.gated.lanes`), empty for a key at the top.
    pub fn section(&self) -> &str {
        self.name.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// The key in git's configuration: `memory.scheduler.intervalSecs`.
    pub fn git_name(&self) -> String {
        let mut out = String::from("memory.");
        let mut raise = false;
        for c in self.name.chars() {
            match c {
                '_' => raise = true,
                c if raise => {
                    out.push(c.to_ascii_uppercase());
                    raise = false;
                }
                c => out.push(c),
            }
        }
        out
    }

    /// The environment variable: `GIT_MEMORY_SCHEDULER_INTERVAL_SECS`.
    pub fn env_name(&self) -> String {
        format!("GIT_MEMORY_{}", self.name.replace('.', "_").to_ascii_uppercase())
    }
}

/// All keys, in the order of [`Settings`].
pub fn all() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
        let schema: Json = schemars::schema_for!(Settings).into();
        let defaults = serde_json::to_value(Settings::default()).expect("settings are plain data");
        let mut keys = Vec::new();
        collect(&schema, &schema, "", Some(&defaults), &mut keys);
        keys
    });
    &KEYS
}

/// The keys among which those of a dotted name's section are. Making all of them takes longer than the rest of a
/// command's start, and most wikis set nothing but what `init` wrote: the root and the branch.
pub(super) fn around(name: &str) -> &'static [Key] {
    static WIKI: LazyLock<Vec<Key>> = LazyLock::new(|| {
        let schema: Json = schemars::schema_for!(Wiki).into();
        let defaults = serde_json::to_value(Wiki::default()).expect("settings are plain data");
        let mut keys = Vec::new();
        collect(&schema, &schema, "wiki", Some(&defaults), &mut keys);
        keys
    });
    if name.split('.').next() == Some("wiki") { &WIKI } else { all() }
}

/// The key of this name.
pub fn find(name: &str) -> Option<&'static Key> {
    around(name).iter().find(|key| key.name == name)
}

/// What to tell somebody who wrote a key that does not exist: the near key, else the keys of its section.
pub fn hint(name: &str) -> String {
    let wanted = squeeze(name);
    let best = all()
        .iter()
        .map(|key| {
            let whole = strsim::damerau_levenshtein(&squeeze(&key.name), &wanted);
            // The right key in the wrong section: one step away, but never better than a typing error.
            let tail = key.name.rsplit('.').next() == name.rsplit('.').next();
            (if tail { whole.min(2) } else { whole }, key)
        })
        .min_by_key(|(distance, _)| *distance);
    if let Some((distance, key)) = best
        && distance <= 2.max(wanted.len() / 4)
    {
        return format!("did you mean `{}`?", key.name);
    }
    let section = name.split('.').next().unwrap_or_default();
    let inside: Vec<_> = all().iter().filter(|key| key.name.split('.').next() == Some(section)).collect();
    if inside.is_empty() {
        let mut sections: Vec<_> = all().iter().map(|key| key.name.split('.').next().unwrap_or_default()).collect();
        sections.dedup();
        format!("the sections are {}", sections.join(", "))
    } else {
        let names: Vec<_> = inside.iter().map(|key| format!("`{}`", key.name)).collect();
        format!("the keys of `{section}` are {}", names.join(", "))
    }
}

/// Letters and dots only, for comparing what people write: `intervalSecs`, `interval-secs`, `interval_secs`.
pub(super) fn squeeze(name: &str) -> String {
    name.chars().filter(|c| *c != '_' && *c != '-').map(|c| c.to_ascii_lowercase()).collect()
}

/// Walks the schema of a table and adds its keys.
fn collect(root: &Json, table: &Json, prefix: &str, defaults: Option<&Json>, keys: &mut Vec<Key>) {
    let Some(properties) = table.get("properties").and_then(Json::as_object) else { return };
    for (name, property) in properties {
        let dotted = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let schema = resolve(root, property);
        let default = defaults.and_then(|table| table.get(name));
        if schema.get("properties").is_some() {
            collect(root, schema, &dotted, default, keys);
            continue;
        }
        let doc = property.get("description").or_else(|| schema.get("description"));
        let kind = kind_of(root, schema);
        // A list of tables is left out of the serialised defaults while it is empty.
        let default = match (&kind, default) {
            (Type::Tables(_), None) => Some(Json::Array(Vec::new())),
            (_, default) => default.cloned(),
        };
        keys.push(Key { name: dotted, doc: unwrap_lines(doc.and_then(Json::as_str).unwrap_or("")), kind, default });
    }
}

/// Doc comments are broken into lines where the source is; the text is one paragraph.
fn unwrap_lines(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Follows `$ref`, also where it stands under `allOf` or `anyOf` beside null.
fn resolve<'s>(root: &'s Json, schema: &'s Json) -> &'s Json {
    if let Some(name) = schema.get("$ref").and_then(Json::as_str).and_then(|path| path.strip_prefix("#/$defs/")) {
        return resolve(root, &root["$defs"][name]);
    }
    for group in ["allOf", "anyOf"] {
        if let Some(parts) = schema.get(group).and_then(Json::as_array)
            && let Some(part) = parts.iter().find(|part| part.get("type").and_then(Json::as_str) != Some("null"))
        {
            return resolve(root, part);
        }
    }
    schema
}

fn kind_of(root: &Json, schema: &Json) -> Type {
    if let Some(words) = words_of(schema) {
        return Type::Word(words);
    }
    let name = match &schema["type"] {
        Json::Array(names) => names.iter().filter_map(Json::as_str).find(|name| *name != "null").unwrap_or("string"),
        name => name.as_str().unwrap_or("string"),
    };
    match name {
        "boolean" => Type::Bool,
        "integer" => {
            let most = if schema["format"] == "uint32" { u32::MAX.into() } else { i64::MAX };
            Type::Integer(schema["minimum"].as_i64().unwrap_or(0), schema["maximum"].as_i64().unwrap_or(most))
        }
        "number" => Type::Number(schema["minimum"].as_f64(), schema["maximum"].as_f64()),
        "array" => {
            let items = resolve(root, &schema["items"]);
            if items.get("properties").is_some() {
                let mut keys = Vec::new();
                collect(root, items, "", None, &mut keys);
                Type::Tables(keys)
            } else {
                Type::List
            }
        }
        "object" => Type::Map,
        _ => Type::Text,
    }
}

/// The words of an enum: `enum: [..]`, or `oneOf` of constants where its variants have texts.
fn words_of(schema: &Json) -> Option<Vec<String>> {
    let list = |values: &Json| values.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect();
    if let Some(words) = schema.get("enum").and_then(list) {
        return Some(words);
    }
    let parts = schema.get("oneOf")?.as_array()?;
    let mut words = Vec::new();
    for part in parts {
        match part.get("const").and_then(Json::as_str) {
            Some(word) => words.push(word.to_owned()),
            None => words.extend(words_of(part)?),
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_a_key_with_text_and_default() {
        let names: Vec<_> = all().iter().map(|key| key.name.as_str()).collect();
        for name in ["wiki.root", "scope", "approval.gated.min_confidence", "wiki.folders", "model.provider"] {
            assert!(names.contains(&name), "{name} is missing in {names:?}");
        }
        for key in all() {
            assert!(!key.doc.is_empty(), "{} has no text", key.name);
            let may_be_absent = matches!(&*key.name, "approval.require_approval" | "model.temperature")
                || key.section().starts_with("model.");
            assert_eq!(key.default.is_none(), may_be_absent, "{} has no default, or one too many", key.name);
        }
    }

    #[test]
    fn the_section_that_is_made_alone_is_as_in_the_whole() {
        let whole: Vec<_> = all().iter().filter(|key| key.section() == "wiki").collect();
        assert_eq!(around("wiki.root").iter().collect::<Vec<_>>(), whole);
    }

    #[test]
    fn types_are_those_of_the_settings() {
        let kind = |name: &str| find(name).unwrap().kind.clone();
        assert_eq!(kind("approval.mode"), Type::Word(vec!["gated".into(), "all".into(), "none".into()]));
        assert_eq!(kind("approval.require_approval"), Type::Bool);
        assert_eq!(kind("scheduler.interval_secs"), Type::Integer(0, i64::MAX));
        assert_eq!(kind("pending.expire_days"), Type::Integer(0, u32::MAX.into()));
        assert_eq!(kind("improve.min_confidence"), Type::Number(Some(0.0), Some(1.0)));
        assert_eq!(kind("wiki.protected"), Type::List);
        assert_eq!(kind("wiki.folders"), Type::Map);
        assert!(matches!(kind("scope"), Type::Tables(keys) if keys.len() == 4));
    }

    #[test]
    fn names_in_git_and_in_the_environment() {
        let key = find("scheduler.interval_secs").unwrap();
        assert_eq!(key.git_name(), "memory.scheduler.intervalSecs");
        assert_eq!(key.env_name(), "GIT_MEMORY_SCHEDULER_INTERVAL_SECS");
    }

    #[test]
    fn an_unknown_key_gets_the_near_one_or_its_section() {
        assert_eq!(hint("improve.min_confidense"), "did you mean `improve.min_confidence`?");
        assert_eq!(hint("schedule.interval_secs"), "did you mean `scheduler.interval_secs`?");
        assert_eq!(hint("improve.on_session_start_of_the_day").split(" are ").next(), Some("the keys of `improve`"));
        assert!(hint("zzz.qqqqqqqq").starts_with("the sections are wiki, scope, approval"));
    }
}
