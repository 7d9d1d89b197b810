//! `[wiki]` and `[[scope]]`: where the wiki is, and whose it is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `[wiki]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Wiki {
    /// The folder of the pages, relative to the top of the branch; empty: the top itself.
    pub root: String,
    /// The branch that holds the wiki.
    pub branch: String,
    /// Globs of pages that only a person's yes may change.
    pub protected: Vec<String>,
    /// Globs of pages that people own (protected too).
    pub human_owned: Vec<String>,
    /// What happens to a proposal for a protected page: `defer` (a person must decide) or `refuse`.
    pub protect: Protect,
    /// Another folder for a kind (`gotcha = "pitfalls"`).
    pub folders: BTreeMap<String, String>,
}

impl Default for Wiki {
    fn default() -> Self {
        Wiki {
            root: String::new(),
            branch: String::new(),
            protected: Vec::new(),
            human_owned: Vec::new(),
            protect: Protect::Defer,
            folders: BTreeMap::new(),
        }
    }
}

/// `wiki.protect`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Protect {
    /// Staged, and marked: a person must decide.
    Defer,
    /// Refused with `target_protected`.
    Refuse,
}

/// One `[[scope]]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Its name.
    pub name: String,
    /// Its folder in the wiki, relative to `wiki.root`.
    pub path: String,
    /// Remote URLs of the repositories that belong to it.
    pub repos: Vec<String>,
    /// Globs of working folders that belong to it.
    pub dirs: Vec<String>,
}
