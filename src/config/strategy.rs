//! What a strategy says: the shape that files of `templates/strategies/` and tables `[strategy.<name>]` share.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::keys::{self, Key};
use super::text;

/// The strategy that the others are laid over.
pub const DEFAULT: &str = "default";

/// The built-in one of that name: every key with its default.
pub const DEFAULT_TEXT: &str = include_str!("../../templates/strategies/default.toml");

/// The section of the settings that holds tables of strategies.
pub(super) const SECTION: &str = "strategy";

/// A line for each key, as `keys/made.rs` makes them.
pub(super) const LINES: &str = include_str!("strategy.jsonl");

/// How the documentation writes a key of such a table, before the name in the strategy.
pub(super) const PLACE: &str = "strategy.<name>.";

/// What a run does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Strategy {
    /// Its name: that of its file without `.toml`, or of its table.
    #[serde(skip)]
    pub name: String,
    /// Sessions into lessons.
    pub review: Lane,
    /// Descriptions that were judged wrong.
    pub reflect: Lane,
    /// Notes into lessons.
    pub distill: Lane,
    /// Notes into concepts; several notes into one lesson where this runs.
    pub promote: Pool,
    /// Near-duplicates and successors.
    pub pair: Pool,
    /// Pages that nothing has asked about.
    pub proactive: Proactive,
    /// What becomes of what is marked staged.
    pub triage: Triage,
    /// What goes to the remote at the end.
    pub sync: Sync,
}

/// A lane that works on one thing at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lane {
    /// Whether the lane runs.
    pub enabled: bool,
    /// At most so many of a run; 0: no limit of the strategy's own.
    #[cfg_attr(test, schemars(range(max = 1_000_000)))]
    limit: usize,
}

impl Lane {
    /// At most so many of a run.
    pub fn limit(self) -> Option<usize> {
        (self.limit > 0).then_some(self.limit)
    }
}

/// A lane that works where enough has gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pool {
    /// Whether the lane runs.
    pub enabled: bool,
    /// The fewest pages that the lane runs over.
    #[cfg_attr(test, schemars(range(max = 1_000_000)))]
    pub pool: usize,
}

/// `[proactive]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proactive {
    /// Whether pages that are due for a look are listed.
    pub enabled: bool,
    /// Days without a search, read or judgement.
    #[cfg_attr(test, schemars(range(max = 1_000_000)))]
    pub days: u32,
    /// At most so many are listed; 0: all.
    #[cfg_attr(test, schemars(range(max = 1_000_000)))]
    pub limit: usize,
}

/// `[triage]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Triage {
    /// What becomes of proposals that are marked staged: `off`, `queue` (they wait) or `accept` (up to the cap).
    pub mode: TriageMode,
    /// At most so many are accepted after a run.
    #[cfg_attr(test, schemars(range(max = 1_000_000)))]
    pub cap: usize,
}

/// What triage does with proposals that are marked staged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TriageMode {
    /// Nothing.
    #[default]
    Off,
    /// They wait for a person.
    Queue,
    /// They land.
    Accept,
}

impl TriageMode {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            TriageMode::Off => "off",
            TriageMode::Queue => "queue",
            TriageMode::Accept => "accept",
        }
    }
}

/// `[sync]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sync {
    /// Whether what landed is committed for others.
    pub commit: bool,
    /// Whether it is pushed.
    pub push: bool,
}

/// The keys of a table `[strategy.<name>]`, with the values of the built-in `default`.
pub fn keys() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| keys::read(LINES));
    &KEYS
}

/// The key of a dotted name: `strategy.nightly.reflect.limit`.
pub(super) fn find(dotted: &str) -> Option<Key> {
    let (name, inside) = parts(dotted).filter(|(name, _)| is_name(name))?;
    let key = keys().iter().find(|key| key.name.strip_prefix(PLACE) == Some(inside))?;
    Some(Key { name: format!("{SECTION}.{name}.{inside}"), ..key.clone() })
}

/// The name of the strategy and the key in it.
pub(super) fn parts(dotted: &str) -> Option<(&str, &str)> {
    dotted.strip_prefix(SECTION)?.strip_prefix('.')?.split_once('.')
}

/// What to tell somebody who wrote a key that no strategy has.
pub(super) fn hint(dotted: &str) -> String {
    let Some((name, inside)) = parts(dotted).filter(|(name, _)| is_name(name)) else {
        return format!("a strategy stands under a name of letters, digits, `-` and `_`: `[{SECTION}.nightly.review]`");
    };
    let place = format!("{SECTION}.{name}.");
    let section = inside.split('.').next().unwrap_or_default();
    let all = || keys().iter().filter_map(|key| key.name.strip_prefix(PLACE));
    let of_section: Vec<&str> = all().filter(|key| key.split('.').next() == Some(section)).collect();
    if of_section.is_empty() {
        let mut sections: Vec<String> =
            all().filter_map(|key| key.split('.').next()).map(|section| format!("{place}{section}")).collect();
        sections.dedup();
        return near(&format!("{place}{section}"), &sections, "the tables are");
    }
    let known: Vec<String> = of_section.iter().map(|key| format!("{place}{key}")).collect();
    near(dotted, &known, "the keys are")
}

/// Whether keys of strategies stand below this name.
pub(super) fn is_section(dotted: &str) -> bool {
    match parts(dotted) {
        _ if dotted == SECTION => true,
        None => dotted.strip_prefix(SECTION).and_then(|rest| rest.strip_prefix('.')).is_some_and(is_name),
        Some((name, inside)) => {
            let of_strategy =
                |key: &Key| key.name.strip_prefix(PLACE)?.strip_prefix(inside)?.strip_prefix('.').map(drop);
            is_name(name) && keys().iter().any(|key| of_strategy(key).is_some())
        }
    }
}

/// The dotted key that a variable means whose name goes on with `rest` in lower case. Variables know no `-`: `_` stands
/// for it in the name of a strategy.
pub(super) fn of_variable(rest: &str) -> String {
    let end = |key: &Key| Some(key.name.strip_prefix(PLACE)?.replace('.', "_"));
    let found = keys().iter().find_map(|key| {
        let name = rest.strip_suffix(&end(key)?)?.strip_suffix('_').filter(|name| !name.is_empty())?;
        Some(format!("{SECTION}.{}.{}", name.replace('_', "-"), key.name.strip_prefix(PLACE)?))
    });
    found.unwrap_or_else(|| format!("{SECTION}.{}", rest.replace('_', ".")))
}

/// Whether a table may have this name: it stands in dotted keys, in git's configuration and in the names of files.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// What a file of a strategy says is checked as the settings are: every key is known and of its type.
///
/// # Errors
/// What is wrong, in words.
pub fn check(table: &Table) -> Result<(), String> {
    let known: Vec<&str> = keys().iter().filter_map(|key| key.name.strip_prefix(PLACE)).collect();
    for (section, value) in table {
        let inside: Vec<&str> =
            known.iter().copied().filter(|name| name.split('.').next() == Some(section.as_str())).collect();
        if inside.is_empty() {
            let mut sections: Vec<&str> = known.iter().filter_map(|name| name.split('.').next()).collect();
            sections.dedup();
            return Err(unknown(section, &sections));
        }
        let Value::Table(table) = value else { return Err(format!("`{section}` must be a table: `[{section}]`")) };
        for (name, value) in table {
            let whole = format!("{section}.{name}");
            let Some(key) = keys().iter().find(|key| key.name.strip_prefix(PLACE) == Some(&whole)) else {
                return Err(unknown(&whole, &inside));
            };
            text::check(&Key { name: whole, ..key.clone() }, value)?;
        }
    }
    Ok(())
}

fn unknown(name: &str, known: &[impl AsRef<str>]) -> String {
    format!("unknown key `{name}`; {}", near(name, known, "the keys are"))
}

/// What to tell somebody who wrote a name that does not exist: the near one, or all of them.
pub fn near(name: &str, known: &[impl AsRef<str>], all: &str) -> String {
    let known = known.iter().map(AsRef::as_ref);
    let best = known.clone().map(|known| (strsim::damerau_levenshtein(known, name), known)).min();
    match best {
        Some((distance, known)) if distance <= 2.max(name.len() / 4) => format!("did you mean `{known}`?"),
        _ => format!("{all} `{}`", known.collect::<Vec<_>>().join("`, `")),
    }
}
