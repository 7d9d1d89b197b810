//! Strategies: which lanes run, how much each takes, and what becomes of what they stage.
//!
//! One TOML file each: built in, and the user's own of the same or another name in `templates/strategies/` beside their
//! `config.toml`. Each is merged deeply over `default`; the narrower layer wins, absence inherits.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::config::user_file;

const BUILT_IN: &[(&str, &str)] = &[
    (DEFAULT, include_str!("../../templates/strategies/default.toml")),
    ("quick", include_str!("../../templates/strategies/quick.toml")),
    ("thorough", include_str!("../../templates/strategies/thorough.toml")),
    ("consolidate", include_str!("../../templates/strategies/consolidate.toml")),
    ("catchup", include_str!("../../templates/strategies/catchup.toml")),
    ("reflect-distill", include_str!("../../templates/strategies/reflect-distill.toml")),
    ("proactive-maintenance", include_str!("../../templates/strategies/proactive-maintenance.toml")),
];

/// The one that the others are merged over.
pub const DEFAULT: &str = "default";

/// What a run does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Strategy {
    /// Its name: that of its file, without `.toml`.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Lane {
    /// Whether it runs.
    pub enabled: bool,
    /// At most so many of a run; 0: no limit of the strategy's own.
    limit: usize,
}

impl Lane {
    /// At most so many of a run.
    pub fn limit(self) -> Option<usize> {
        (self.limit > 0).then_some(self.limit)
    }
}

/// A lane that works where enough has gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Pool {
    /// Whether it runs.
    pub enabled: bool,
    /// The fewest pages that it runs over.
    pub pool: usize,
}

/// `[proactive]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Proactive {
    /// Whether it runs.
    pub enabled: bool,
    /// Days without a search, read or judgement.
    pub days: u32,
    /// At most so many of a run.
    pub limit: usize,
}

/// `[triage]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Triage {
    /// What it does.
    pub mode: TriageMode,
    /// At most so many are accepted after a run.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Sync {
    /// Whether what landed is committed for others.
    pub commit: bool,
    /// Whether it is pushed.
    pub push: bool,
}

/// Why there is no such strategy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// None has this name.
    #[error("no strategy is named `{name}`; {hint}")]
    Unknown {
        /// The name.
        name: String,
        /// The near one, or all of them.
        hint: String,
    },
    /// A file cannot be used.
    #[error("{origin}: {message}")]
    File {
        /// The file.
        origin: String,
        /// What is wrong with it.
        message: String,
    },
}

impl Strategy {
    /// The strategy of this name.
    ///
    /// # Errors
    /// When there is none, or a file of the user's cannot be used.
    pub fn load(name: &str) -> Result<Strategy, Error> {
        let known = names();
        if !known.iter().any(|known| known == name) {
            return Err(Error::Unknown { name: name.to_owned(), hint: near(name, &known, "the strategies are") });
        }
        let own = |name: &str| read(name);
        merge(name, &[own(DEFAULT)?, if name == DEFAULT { None } else { own(name)? }])
    }
}

/// The names there are: the built-in ones and the user's own.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    let entries = folder().and_then(|folder| std::fs::read_dir(folder).ok());
    let own = entries.into_iter().flatten().flatten().filter_map(|entry| {
        let path = entry.path();
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        is_toml.then(|| path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned)).flatten()
    });
    let mut own: Vec<String> = own.filter(|name| !names.contains(name)).collect();
    own.sort_unstable();
    names.append(&mut own);
    names
}

/// Where the user's own strategies stand.
fn folder() -> Option<PathBuf> {
    Some(user_file()?.parent()?.join("templates/strategies"))
}

/// The user's file of this name: where it stands, and its text.
fn read(name: &str) -> Result<Option<(String, String)>, Error> {
    let Some(path) = folder().map(|folder| folder.join(format!("{name}.toml"))) else { return Ok(None) };
    let origin = path.display().to_string();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((origin, text))),
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(Error::File { origin, message: format!("cannot be read: {fault}") }),
    }
}

/// Built-in default ◀ the user's default ◀ the built-in one of this name ◀ the user's one of this name.
fn merge(name: &str, [all, own]: &[Option<(String, String)>; 2]) -> Result<Strategy, Error> {
    let built_in = |name: &str| {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        found.map(|(name, text)| (format!("the built-in strategy {name}"), (*text).to_owned()))
    };
    let reference = parse(&built_in(DEFAULT).expect("`default` is built in"))?;
    let mut whole = reference.clone();
    let named = if name == DEFAULT { None } else { built_in(name) };
    for layer in [all.clone(), named, own.clone()].into_iter().flatten() {
        let table = parse(&layer)?;
        check(&layer.0, &mut Vec::new(), &table, &reference)?;
        lay_over(&mut whole, table);
    }
    let strategy: Strategy = whole.try_into().map_err(|fault: toml::de::Error| Error::File {
        origin: name.to_owned(),
        message: fault.message().to_owned(),
    })?;
    Ok(Strategy { name: name.to_owned(), ..strategy })
}

fn parse((origin, text): &(String, String)) -> Result<Table, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    toml::from_str(text).map_err(|fault: toml::de::Error| {
        let line =
            fault.span().and_then(|span| text.get(..span.start)).map_or(1, |before| before.lines().count().max(1));
        Error::File { origin: origin.clone(), message: format!("line {line}: {}", fault.message()) }
    })
}

fn lay_over(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => lay_over(below, above),
            (_, value) => drop(below.insert(key, value)),
        }
    }
}

/// Every key of a strategy stands in `default`, with a value of its type.
fn check(origin: &str, path: &mut Vec<String>, table: &Table, reference: &Table) -> Result<(), Error> {
    let fail = |message: String| Err(Error::File { origin: origin.to_owned(), message });
    for (key, value) in table {
        path.push(key.clone());
        let name = path.join(".");
        match (reference.get(key), value) {
            (None, _) => {
                path.pop();
                let place = if path.is_empty() { String::new() } else { format!("{}.", path.join(".")) };
                let known: Vec<String> = reference.keys().map(|key| format!("{place}{key}")).collect();
                return fail(format!("unknown key `{name}`; {}", near(&name, &known, "the keys are")));
            }
            (Some(Value::Table(reference)), Value::Table(table)) => check(origin, path, table, reference)?,
            (Some(Value::Table(_)), _) => return fail(format!("`{name}` must be a table: `[{name}]`")),
            (Some(Value::Boolean(_)), value) if !value.is_bool() => {
                return fail(format!("`{name}` must be true or false"));
            }
            (Some(Value::Integer(_)), value) if value.as_integer().is_none_or(|n| !(0..=MOST).contains(&n)) => {
                return fail(format!("`{name}` must be a whole number from 0 to {MOST}"));
            }
            (Some(Value::String(_)), value) if !MODES.iter().any(|mode| value.as_str() == Some(mode)) => {
                return fail(format!("`{name}` must be one of `{}`", MODES.join("`, `")));
            }
            _ => {}
        }
        path.pop();
    }
    Ok(())
}

/// The greatest number that a strategy may hold.
const MOST: i64 = 1_000_000;

/// The words of `triage.mode`, the one key that holds a word.
const MODES: [&str; 3] = ["off", "queue", "accept"];

/// Most letters of a name that are compared with those of others: each is held against each.
const COMPARED: usize = 100;

/// The near name, or all of them.
fn near(name: &str, known: &[String], all: &str) -> String {
    let name: String = name.chars().take(COMPARED).collect();
    let best = known.iter().map(|known| (strsim::damerau_levenshtein(known, &name), known)).min();
    match best {
        Some((distance, known)) if distance <= 2.max(name.len() / 4) => format!("did you mean `{known}`?"),
        _ => format!("{all} `{}`", known.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in(name: &str) -> Strategy {
        merge(name, &[None, None]).expect("a built-in strategy")
    }

    fn own(name: &str, text: &str) -> Result<Strategy, Error> {
        merge(name, &[None, Some(("own.toml".into(), text.into()))])
    }

    #[test]
    fn the_built_in_strategies_are_as_the_table_says() {
        // review, reflect, distill, promote, pair, proactive, triage, cap, sync
        let table = [
            ("default", [true, true, true, true, true, false], "off", 25, true),
            ("quick", [true, true, false, false, false, false], "off", 25, true),
            ("thorough", [true, true, true, true, true, false], "accept", 25, true),
            ("consolidate", [false, false, false, true, true, false], "off", 25, true),
            ("catchup", [true, false, false, true, true, false], "off", 100, true),
            ("reflect-distill", [false, true, true, false, false, false], "accept", 15, false),
            ("proactive-maintenance", [false, true, true, false, false, true], "accept", 100, false),
        ];
        assert_eq!(table.len(), BUILT_IN.len());
        for (name, lanes, mode, cap, sync) in table {
            let s = built_in(name);
            let on = [s.review.enabled, s.reflect.enabled, s.distill.enabled, s.promote.enabled, s.pair.enabled];
            assert_eq!([&on[..], &[s.proactive.enabled]].concat(), lanes, "{name}");
            assert_eq!((s.triage.mode.as_str(), s.triage.cap), (mode, cap), "{name}");
            assert_eq!((s.sync.commit, s.sync.push), (sync, sync), "{name}");
            let pool = if name == "catchup" { 0 } else { 500 };
            assert_eq!((s.promote.pool, s.pair.pool), (pool, pool), "{name}");
            assert_eq!((s.reflect.limit(), s.review.limit()), (Some(25), None), "{name}");
            assert_eq!((s.proactive.days, s.proactive.limit), (30, 100), "{name}");
        }
    }

    #[test]
    fn the_narrower_layer_wins_and_absence_inherits() {
        let all = Some(("all.toml".to_owned(), "[reflect]\nlimit = 7\n[triage]\ncap = 3\n".to_owned()));
        let mine = Some(("mine.toml".to_owned(), "[triage]\nmode = \"queue\"\n".to_owned()));
        let strategy = merge("thorough", &[all, mine]).expect("it merges");
        assert_eq!(strategy.reflect.limit(), Some(7), "the user's default");
        assert_eq!(strategy.triage.cap, 25, "the built-in thorough is narrower than the user's default");
        assert_eq!(strategy.triage.mode, TriageMode::Queue, "the user's own is narrower than the built-in");
        assert!(strategy.distill.enabled, "inherited");
        assert_eq!(own("nightly", "[review]\nlimit = 2\n").expect("one of their own").review.limit(), Some(2));
    }

    #[test]
    fn what_is_wrong_in_a_file_is_told_with_the_file_and_the_near_name() {
        for (text, told) in [
            ("[reflet]\nenabled = true\n", "own.toml: unknown key `reflet`; did you mean `reflect`?"),
            ("[reflect]\nlimt = 3\n", "own.toml: unknown key `reflect.limt`; did you mean `reflect.limit`?"),
            ("[reflect]\nlimit = -1\n", "own.toml: `reflect.limit` must be a whole number from 0 to 1000000"),
            ("[reflect]\nenabled = \"yes\"\n", "own.toml: `reflect.enabled` must be true or false"),
            ("[triage]\nmode = \"all\"\n", "own.toml: `triage.mode` must be one of `off`, `queue`, `accept`"),
            ("review = true\n", "own.toml: `review` must be a table: `[review]`"),
        ] {
            assert_eq!(own("quick", text).expect_err(text).to_string(), told);
        }
        let broken = own("quick", "[review]\n[").expect_err("no TOML").to_string();
        assert!(broken.starts_with("own.toml: line 2: "), "{broken}");
    }
}
