//! What may be captured of a session: the wiki's settings, or those of the folder that the session ran in.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::Exclusions;

/// The file whose `[capture]` table rules for everything below its folder.
const FILE: &str = ".gitmemory.toml";

/// What may be captured.
#[derive(Clone)]
pub struct Policy {
    /// Nothing is captured when false.
    pub enabled: bool,
    /// What subagents did is left out.
    pub drop_subagents: bool,
    /// Paths whose events are dropped.
    pub exclusions: Arc<Exclusions>,
    /// The policy could not be read: only that the session began and ended is kept.
    pub metadata_only: bool,
    /// The folders of projects, for sessions that record only a hash of theirs.
    pub folders: Arc<[String]>,
}

/// The part of the file that is read here; the rest is the business of the settings.
#[derive(Deserialize)]
struct Settings {
    #[serde(default)]
    capture: Table,
}

#[derive(Deserialize, Default)]
struct Table {
    enabled: Option<bool>,
    drop_subagents: Option<bool>,
    ignore_paths: Option<Vec<String>>,
}

impl Policy {
    /// From the wiki's settings.
    ///
    /// # Errors
    /// In words, when a pattern is no gitignore pattern.
    pub fn new(enabled: bool, drop_subagents: bool, ignore_paths: &[String]) -> Result<Policy, String> {
        let exclusions = Arc::new(Exclusions::new(ignore_paths)?);
        Ok(Policy { enabled, drop_subagents, exclusions, metadata_only: false, folders: Arc::default() })
    }

    /// The policy for a session that ran in this folder: the nearest `.gitmemory.toml` at or above it rules; what it
    /// leaves open, and a session without one, follow `self`. One that cannot be read lets nothing but metadata pass.
    pub fn for_cwd(&self, cwd: Option<&str>) -> Policy {
        let folders = cwd.map(Path::new).filter(|cwd| cwd.is_absolute()).into_iter().flat_map(Path::ancestors);
        for folder in folders {
            match std::fs::read_to_string(folder.join(FILE)) {
                Ok(text) => return self.with(&text).unwrap_or_else(|| self.closed()),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(_) => return self.closed(),
            }
        }
        self.clone()
    }

    fn with(&self, text: &str) -> Option<Policy> {
        let table = toml::from_str::<Settings>(text).ok()?.capture;
        let exclusions = match table.ignore_paths {
            Some(patterns) => Arc::new(Exclusions::new(&patterns).ok()?),
            None => self.exclusions.clone(),
        };
        Some(Policy {
            enabled: table.enabled.unwrap_or(self.enabled),
            drop_subagents: table.drop_subagents.unwrap_or(self.drop_subagents),
            exclusions,
            metadata_only: false,
            folders: self.folders.clone(),
        })
    }

    fn closed(&self) -> Policy {
        Policy { metadata_only: true, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::Policy;

    #[test]
    fn the_nearest_file_above_the_folder_rules_and_an_unreadable_one_closes() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        let base = Policy::new(true, false, &["*.key".into()]).unwrap();
        let cwd = deep.to_str().unwrap();
        assert!(base.for_cwd(Some(cwd)).exclusions.path("x/y.key"));
        std::fs::write(dir.path().join("a/.gitmemory.toml"), "[capture]\nignore_paths = [\"secrets/\"]\n").unwrap();
        let near = base.for_cwd(Some(cwd));
        assert!(near.exclusions.path("/p/secrets/x") && !near.exclusions.path("y.key"));
        std::fs::write(deep.join(".gitmemory.toml"), "[capture\n").unwrap();
        assert!(base.for_cwd(Some(cwd)).metadata_only);
        std::fs::write(deep.join(".gitmemory.toml"), "[capture]\nenabled = false\n").unwrap();
        assert!(!base.for_cwd(Some(cwd)).enabled);
        assert!(base.for_cwd(None).enabled);
    }
}
