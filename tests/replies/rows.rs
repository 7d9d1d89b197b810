//! The table: one row for each reply.

use std::path::PathBuf;

use serde::Deserialize;

/// One reply and what must come of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The heading that it stands under.
    pub group: String,
    /// Its file, without `.json` or `.txt`.
    pub name: String,
    /// What it is.
    pub about: String,
    /// It is too large for a file: how the test writes it.
    pub made: Option<String>,
    /// Pages whose proposals wait afterwards.
    #[serde(default)]
    pub staged: Vec<String>,
    /// Codes of what was refused, in any order; `code x 7` stands for seven.
    #[serde(default)]
    pub refused: Vec<String>,
    /// Pages that the policy landed.
    #[serde(default)]
    pub accepted: Vec<String>,
    /// Pages of proposals that were known already: pending, or rejected.
    #[serde(default)]
    pub sighted: Vec<String>,
    /// Text of the first page that was staged or landed.
    #[serde(default)]
    pub holds: Vec<String>,
    /// The reply is refused as a whole.
    #[serde(default)]
    pub whole: bool,
    /// What the judge answers; none: there is no judge.
    pub judge: Option<String>,
    /// More of the user's settings.
    pub settings: Option<String>,
    /// How `git memory improve` ends.
    pub exit: i32,
}

#[derive(Deserialize)]
struct Table {
    reply: Vec<Row>,
}

/// Where the replies are.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/replies")
}

/// All rows, in order.
pub fn all() -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("expected.toml")).expect("the table");
    toml::from_str::<Table>(&text).expect("rows").reply
}

impl Row {
    /// The reply as it would come.
    pub fn reply(&self) -> Vec<u8> {
        if let Some(made) = &self.made {
            return super::made::reply(made);
        }
        let file = |end: &str| std::fs::read(folder().join(format!("{}.{end}", self.name)));
        file("json").or_else(|_| file("txt")).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// The codes, each as often as it is expected, sorted.
    pub fn codes(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for entry in &self.refused {
            let (code, count) = entry.split_once(" x ").unwrap_or((entry, "1"));
            all.extend(std::iter::repeat_n(code.to_owned(), count.parse().expect("a count")));
        }
        all.sort();
        all
    }
}
