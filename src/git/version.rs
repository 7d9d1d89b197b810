//! Which git program is on PATH, and whether it is new enough.

use std::path::{Path, PathBuf};

use super::{Error, Git, Repo, Result};

/// The oldest git that has everything we ask of it.
pub(super) const NEEDED: &str = "2.43";

/// The version of a git program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl Repo {
    /// The version of the git program. Asked once: the answer is kept in [`Repo::memory_dir`] until the program's
    /// file changes.
    ///
    /// # Errors
    /// [`Error::GitVersion`] when there is none or it is too old.
    pub fn git_version(&self) -> Result<GitVersion> {
        let cache = self.memory_dir().join("git-version");
        let stamp = on_path().and_then(|path| stamp(&path));
        let known = std::fs::read_to_string(&cache).ok();
        let said = match (&stamp, known.as_deref().and_then(|text| text.split_once('\n'))) {
            (Some(stamp), Some((known, said))) if known == stamp => said.trim().to_owned(),
            _ => {
                let said = String::from_utf8_lossy(&Git::anywhere().arg("version").run()?).trim().to_owned();
                if let Some(stamp) = stamp {
                    remember(&cache, &format!("{stamp}\n{said}\n"));
                }
                said
            }
        };
        let version = parse(&said).unwrap_or(GitVersion { major: 0, minor: 0 });
        if version < parse(NEEDED).unwrap_or(version) {
            return Err(Error::GitVersion { needed: NEEDED, found: said });
        }
        Ok(version)
    }
}

/// A cache: failing to write it only means that git is asked again.
fn remember(cache: &Path, text: &str) {
    let Some(folder) = cache.parent() else { return };
    if std::fs::create_dir_all(folder).is_err() {
        return;
    }
    if let Ok(mut file) = tempfile::NamedTempFile::new_in(folder)
        && std::io::Write::write_all(&mut file, text.as_bytes()).is_ok()
    {
        let _ = file.persist(cache);
    }
}

fn on_path() -> Option<PathBuf> {
    let program = PathBuf::from(super::command::program());
    if program.components().count() > 1 {
        return Some(program);
    }
    let name = program.with_extension(std::env::consts::EXE_EXTENSION);
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

fn stamp(path: &Path) -> Option<String> {
    let file = std::fs::metadata(path).ok()?;
    let changed = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", path.display(), file.len(), changed.as_nanos()))
}

fn parse(said: &str) -> Option<GitVersion> {
    let numbers = said.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = numbers.split('.').map(str::parse);
    Some(GitVersion { major: parts.next()?.ok()?, minor: parts.next()?.ok()? })
}

#[cfg(test)]
mod tests {
    use super::{GitVersion, parse};

    #[test]
    fn versions_are_compared_by_number_and_vendors_words_passed_over() {
        assert_eq!(parse("git version 2.39.3 (Apple Git-146)"), Some(GitVersion { major: 2, minor: 39 }));
        assert_eq!(parse("git version 2.47.1.windows.2"), Some(GitVersion { major: 2, minor: 47 }));
        assert!(parse("2.9") < parse("2.43"));
        assert_eq!(parse("git"), None);
    }
}
