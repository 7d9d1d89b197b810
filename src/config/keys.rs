//! Every dotted key with its type, default and text. They stand in `keys.jsonl`, a line each, which `keys/made.rs` makes
//! from [`Settings`](super::Settings): nothing is said twice, and a command that starts has nothing to work out.

#[cfg(test)]
mod made;

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value as Json;

use super::strategy;

/// What a key may hold.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "lowercase")]
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
            Type::Integer(least, i64::MAX) => write!(f, "a whole number, {least} or more"),
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
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
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

    /// The key in git's configuration: `memory.scheduler.intervalSecs`. The name of a strategy stays as it is.
    pub fn git_name(&self) -> String {
        if strategy::parts(&self.name).is_some() {
            return format!("memory.{}", self.name);
        }
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

/// A line for each key, with its name first.
const LINES: &str = concat!("\n", include_str!("keys.jsonl"));

/// What stands before the name of a key.
const BEFORE: &str = "\n{\"name\":\"";

/// All keys, in the order of [`Settings`](super::Settings). Those of strategies, whose names are anybody's, are
/// [`strategy::keys`].
pub fn all() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| read(LINES));
    &KEYS
}

/// The names of all keys.
pub fn names() -> impl Iterator<Item = &'static str> {
    LINES.split(BEFORE).skip(1).map(|line| line.split('"').next().unwrap_or_default())
}

/// The key of this name.
pub fn find(wanted: &str) -> Option<Key> {
    if is_of_strategies(wanted) {
        return strategy::find(wanted);
    }
    let begin = format!("{BEFORE}{wanted}\"");
    // A name with quotes in it could be made of more than a name.
    LINES[LINES.find(&begin)?..].lines().nth(1).map(key).filter(|key| key.name == wanted)
}

/// Whether a dotted name is, or would be, one of a strategy's table.
pub(super) fn is_of_strategies(name: &str) -> bool {
    name.split('.').next() == Some(strategy::SECTION)
}

/// The keys of lines.
pub(super) fn read(lines: &str) -> Vec<Key> {
    lines.lines().filter(|line| !line.is_empty()).map(key).collect()
}

fn key(line: &str) -> Key {
    serde_json::from_str(line).expect("keys.jsonl is made from keys")
}

/// Most letters of a name that are compared with those of others: each is held against each.
const COMPARED: usize = 100;

/// What to tell somebody who wrote a key that does not exist: the near key, else the keys of its section.
pub fn hint(name: &str) -> String {
    if is_of_strategies(name) {
        return strategy::hint(name);
    }
    let wanted: String = squeeze(name).chars().take(COMPARED).collect();
    let best = names()
        .map(|known| {
            let whole = strsim::damerau_levenshtein(&squeeze(known), &wanted);
            // The right key in the wrong section: one step away, but never better than a typing error.
            let tail = known.rsplit('.').next() == name.rsplit('.').next();
            (if tail { whole.min(2) } else { whole }, known)
        })
        .min_by_key(|(distance, _)| *distance);
    if let Some((distance, known)) = best
        && distance <= 2.max(wanted.len() / 4)
    {
        return format!("did you mean `{known}`?");
    }
    let section_of = |name: &'static str| name.split('.').next().unwrap_or_default();
    let section = name.split('.').next().unwrap_or_default();
    let inside: Vec<_> =
        names().filter(|known| section_of(known) == section).map(|known| format!("`{known}`")).collect();
    if inside.is_empty() {
        let mut sections: Vec<_> = names().map(section_of).collect();
        sections.dedup();
        sections.push(strategy::SECTION);
        format!("the sections are {}", sections.join(", "))
    } else {
        format!("the keys of `{section}` are {}", inside.join(", "))
    }
}

/// Letters and dots only, for comparing what people write: `intervalSecs`, `interval-secs`, `interval_secs`.
pub(super) fn squeeze(name: &str) -> String {
    name.chars().filter(|c| *c != '_' && *c != '-').map(|c| c.to_ascii_lowercase()).collect()
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
    fn a_name_of_any_length_is_told_to_be_unknown_at_once() {
        let begun = std::time::Instant::now();
        let hint = hint(&"wiki_root".repeat(200_000));
        assert!(hint.starts_with("the sections are wiki, "), "{hint}");
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }

    #[test]
    fn a_key_that_is_looked_for_alone_is_as_in_the_whole() {
        assert!(names().eq(all().iter().map(|key| key.name.as_str())));
        for key in all() {
            assert_eq!(find(&key.name).as_ref(), Some(key));
        }
        assert_eq!((find("wiki"), find("repos")), (None, None), "a section, and a key of a list's tables");
        assert_eq!(find("wiki.root\",\"doc"), None, "more than a name");
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
    fn every_key_of_a_strategy_has_text_and_default_and_bears_the_strategys_name() {
        assert_eq!(strategy::keys().len(), 17);
        for key in strategy::keys() {
            assert!(!key.doc.is_empty() && key.default.is_some(), "{key:?}");
        }
        let key = find("strategy.my_own.triage.mode").unwrap();
        assert_eq!(
            (key.name.as_str(), key.git_name().as_str()),
            ("strategy.my_own.triage.mode", "memory.strategy.my_own.triage.mode")
        );
        assert_eq!(key.kind, Type::Word(vec!["off".into(), "queue".into(), "accept".into()]));
        assert!(find("strategy.my_own.triage").is_none() && find("strategy.my own.triage.mode").is_none());
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
        let sections = hint("zzz.qqqqqqqq");
        assert!(sections.starts_with("the sections are wiki, scope, approval") && sections.ends_with(", strategy"));
    }
}
