//! What kind of page stands where.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The kind of a page; it follows the folder, and `kind:` or `type:` counts where the folder says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A pitfall with its cause and what to do.
    Gotcha,
    /// A choice and its reason.
    Decision,
    /// Stable knowledge of the domain or the project.
    Concept,
    /// Steps that are worth repeating.
    Procedure,
    /// A standing instruction of a person.
    Rule,
    /// A fact that fits nowhere else.
    Note,
    /// Working state that is overwritten.
    Slot,
    /// What happened in one session.
    Session,
}

/// What a kind is for: how it ages and who may change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Sessions.
    Episodic,
    /// Notes.
    Memory,
    /// Gotchas, decisions, concepts, procedures.
    Semantic,
    /// Rules.
    Policy,
    /// Slots.
    WorkingState,
}

impl Kind {
    /// Every kind, in the order in which people read them.
    pub const ALL: [Kind; 8] = [
        Kind::Rule,
        Kind::Decision,
        Kind::Gotcha,
        Kind::Procedure,
        Kind::Concept,
        Kind::Note,
        Kind::Slot,
        Kind::Session,
    ];

    /// The word for it, as it stands in frontmatter, trailers and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Gotcha => "gotcha",
            Kind::Decision => "decision",
            Kind::Concept => "concept",
            Kind::Procedure => "procedure",
            Kind::Rule => "rule",
            Kind::Note => "note",
            Kind::Slot => "slot",
            Kind::Session => "session",
        }
    }

    /// Reads the word, and the spellings that people and models use for it (`pitfall`, `how-to`, `adr` …).
    pub fn parse(word: &str) -> Option<Kind> {
        Some(match word.trim().to_ascii_lowercase().as_str() {
            "gotcha" | "gotchas" | "pitfall" | "pitfalls" | "trap" | "caveat" => Kind::Gotcha,
            "decision" | "decisions" | "adr" => Kind::Decision,
            "concept" | "concepts" => Kind::Concept,
            "procedure" | "procedures" | "how-to" | "howto" | "runbook" | "playbook" => Kind::Procedure,
            "rule" | "rules" | "_rules" | "policy" => Kind::Rule,
            "note" | "notes" | "memory" => Kind::Note,
            "slot" | "slots" | "_slots" => Kind::Slot,
            "session" | "sessions" => Kind::Session,
            _ => return None,
        })
    }

    /// The folder that it has unless configured otherwise.
    pub fn default_folder(self) -> &'static str {
        match self {
            Kind::Gotcha => "gotchas",
            Kind::Decision => "decisions",
            Kind::Concept => "concepts",
            Kind::Procedure => "procedures",
            Kind::Rule => "_rules",
            Kind::Note => "notes",
            Kind::Slot => "_slots",
            Kind::Session => "sessions",
        }
    }

    /// What it is for.
    pub fn tier(self) -> Tier {
        match self {
            Kind::Session => Tier::Episodic,
            Kind::Note => Tier::Memory,
            Kind::Gotcha | Kind::Decision | Kind::Concept | Kind::Procedure => Tier::Semantic,
            Kind::Rule => Tier::Policy,
            Kind::Slot => Tier::WorkingState,
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// Which folder holds which kind (`wiki.folders`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    folders: BTreeMap<Kind, String>,
}

impl Default for Layout {
    fn default() -> Self {
        Layout { folders: Kind::ALL.into_iter().map(|kind| (kind, kind.default_folder().to_owned())).collect() }
    }
}

impl Layout {
    /// The default folders with some of them replaced. Trailing slashes do not count.
    pub fn with(overrides: impl IntoIterator<Item = (Kind, String)>) -> Layout {
        let mut layout = Layout::default();
        for (kind, folder) in overrides {
            layout.folders.insert(kind, folder.trim_matches('/').to_owned());
        }
        layout
    }

    /// The folder of a kind, without a slash at its end.
    pub fn folder(&self, kind: Kind) -> &str {
        &self.folders[&kind]
    }

    /// The kind of the folder that a path (relative to its scope's folder) stands in, the deepest folder first.
    pub fn kind_of(&self, path: &str) -> Option<Kind> {
        self.folders
            .iter()
            .filter(|(_, folder)| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/')))
            .max_by_key(|(_, folder)| folder.len())
            .map(|(kind, _)| *kind)
    }
}
