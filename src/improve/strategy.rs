//! Which strategy a run goes by: which lanes run, how much each takes, and what becomes of what they stage.
//!
//! One TOML file each: built in, and the user's own of the same or another name in `templates/strategies/` beside their
//! `config.toml`; and a table `[strategy.<name>]` of the settings. Each is merged deeply over `default`; the narrower
//! layer wins, absence inherits.

use std::path::PathBuf;

use toml::{Table, Value};

use crate::config::strategy::{self, DEFAULT_TEXT};
use crate::config::{Config, user_file};

pub use crate::config::strategy::{DEFAULT, Strategy, Triage, TriageMode};

const BUILT_IN: &[(&str, &str)] = &[
    (DEFAULT, DEFAULT_TEXT),
    ("quick", include_str!("../../templates/strategies/quick.toml")),
    ("thorough", include_str!("../../templates/strategies/thorough.toml")),
    ("consolidate", include_str!("../../templates/strategies/consolidate.toml")),
    ("catchup", include_str!("../../templates/strategies/catchup.toml")),
    ("reflect-distill", include_str!("../../templates/strategies/reflect-distill.toml")),
    ("proactive-maintenance", include_str!("../../templates/strategies/proactive-maintenance.toml")),
];

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

/// The strategy of this name.
///
/// # Errors
/// When there is none, or a file of the user's cannot be used.
pub fn load(name: &str, config: &Config) -> Result<Strategy, Error> {
    let known = names(config);
    if !known.iter().any(|known| known == name) {
        let hint = strategy::near(name, &known, "the strategies are");
        return Err(Error::Unknown { name: name.to_owned(), hint });
    }
    let mut whole = Table::new();
    for layer in layers(name) {
        let above = match layer {
            Layer::BuiltIn(name) => built_in(name)?,
            Layer::File(name) => file(name)?,
            Layer::Table(name) => config.strategy(name),
        };
        lay_over(&mut whole, above.unwrap_or_default());
    }
    let strategy: Strategy = whole.try_into().map_err(|fault: toml::de::Error| Error::File {
        origin: name.to_owned(),
        message: fault.message().to_owned(),
    })?;
    Ok(Strategy { name: name.to_owned(), ..strategy })
}

/// What one strategy is made of.
enum Layer<'n> {
    BuiltIn(&'n str),
    File(&'n str),
    Table(&'n str),
}

/// The layers of a strategy, the widest first: all that is said of `default`, then all that is said of its own name.
fn layers(name: &str) -> impl Iterator<Item = Layer<'_>> {
    let own = (name != DEFAULT).then_some(name);
    [DEFAULT].into_iter().chain(own).flat_map(|name| [Layer::BuiltIn(name), Layer::File(name), Layer::Table(name)])
}

/// The names there are: the built-in ones and the user's own.
pub fn names(config: &Config) -> Vec<String> {
    let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    let entries = folder().and_then(|folder| std::fs::read_dir(folder).ok());
    let files = entries.into_iter().flatten().flatten().filter_map(|entry| {
        let path = entry.path();
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        is_toml.then(|| path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned)).flatten()
    });
    let tables = config.strategies().into_iter().map(str::to_owned);
    let mut own: Vec<String> = files.chain(tables).filter(|name| !names.contains(name)).collect();
    own.sort();
    own.dedup();
    names.append(&mut own);
    names
}

/// Where the user's own files of strategies stand.
fn folder() -> Option<PathBuf> {
    Some(user_file()?.parent()?.join("templates/strategies"))
}

fn built_in(name: &str) -> Result<Option<Table>, Error> {
    let found = BUILT_IN.iter().find(|(known, _)| *known == name);
    found.map(|(name, text)| parse(&format!("the built-in strategy {name}"), text)).transpose()
}

/// The user's file of this name, if there is one.
fn file(name: &str) -> Result<Option<Table>, Error> {
    let Some(path) = folder().map(|folder| folder.join(format!("{name}.toml"))) else { return Ok(None) };
    let origin = path.display().to_string();
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&origin, &text).map(Some),
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(Error::File { origin, message: format!("cannot be read: {fault}") }),
    }
}

fn parse(origin: &str, text: &str) -> Result<Table, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fail = |message: String| Error::File { origin: origin.to_owned(), message };
    let table: Table = toml::from_str(text).map_err(|fault: toml::de::Error| {
        let line =
            fault.span().and_then(|span| text.get(..span.start)).map_or(1, |before| before.lines().count().max(1));
        fail(format!("line {line}: {}", fault.message()))
    })?;
    strategy::check(&table).map_err(fail)?;
    Ok(table)
}

fn lay_over(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => lay_over(below, above),
            (_, value) => drop(below.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Inputs};

    fn with(user: &str) -> Config {
        let inputs = Inputs { user: Some(("config.toml".into(), user.into())), ..Inputs::default() };
        config::merge(&inputs).unwrap_or_else(|error| panic!("{user}: {error}"))
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
            let s = load(name, &with("")).expect("a built-in strategy");
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
        let config =
            with("[strategy.default]\nreflect.limit = 7\ntriage.cap = 3\n[strategy.thorough]\ntriage.mode = 'queue'\n");
        let strategy = load("thorough", &config).expect("it merges");
        assert_eq!(strategy.reflect.limit(), Some(7), "the user's default");
        assert_eq!(strategy.triage.cap, 25, "the built-in thorough is narrower than the user's default");
        assert_eq!(strategy.triage.mode, TriageMode::Queue, "the user's own is narrower than the built-in");
        assert!(strategy.distill.enabled, "inherited");
        assert_eq!(load("default", &config).expect("it merges").triage.cap, 3);
        let config = with("[strategy.nightly.review]\nlimit = 2\n[strategy.plain]\n");
        assert_eq!(load("nightly", &config).expect("one of their own").review.limit(), Some(2));
        let (plain, default) =
            (load("plain", &config).expect("it is one"), load("default", &config).expect("it is there"));
        assert_eq!(Strategy { name: plain.name.clone(), ..default }, plain, "it says nothing of its own");
        assert!(
            matches!(load("nihgtly", &config), Err(Error::Unknown { hint, .. }) if hint == "did you mean `nightly`?")
        );
    }

    #[test]
    fn what_is_wrong_in_a_file_is_told_with_the_file_and_the_near_name() {
        for (text, told) in [
            ("[reflet]\nenabled = true\n", "own.toml: unknown key `reflet`; did you mean `reflect`?"),
            ("[reflect]\nlimt = 3\n", "own.toml: unknown key `reflect.limt`; did you mean `reflect.limit`?"),
            (
                "[reflect]\nlimit = -1\n",
                "own.toml: `reflect.limit` is `-1`, but must be a whole number from 0 to 1000000",
            ),
            ("[reflect]\nenabled = \"yes\"\n", "own.toml: `reflect.enabled` is `yes`, but must be true or false"),
            (
                "[triage]\nmode = \"all\"\n",
                "own.toml: `triage.mode` is `all`, but must be one of `off`, `queue`, `accept`",
            ),
            ("review = true\n", "own.toml: `review` must be a table: `[review]`"),
        ] {
            assert_eq!(parse("own.toml", text).expect_err(text).to_string(), told);
        }
        let broken = parse("own.toml", "[review]\n[").expect_err("no TOML").to_string();
        assert!(broken.starts_with("own.toml: line 2: "), "{broken}");
    }
}
