//! Where the hooks of a repository belong, and who else looks after them.

use std::path::{Path, PathBuf};

use super::{Error, Event};
use crate::git::{self, Repo};

/// The first git that runs hooks named in its configuration.
const CONFIG_HOOKS: (u32, u32) = (2, 54);

/// Where hooks are installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `hook.git-memory-<event>.*` in the repository's configuration: several programs can have hooks there.
    Config,
    /// The folder that git looks into.
    Folder(PathBuf),
}

/// Programs that write into the hooks folder as if it were theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // their own names
pub enum Manager {
    Husky,
    Lefthook,
    PreCommit,
    Prek,
    Overcommit,
}

impl Manager {
    /// How it calls itself.
    pub fn name(self) -> &'static str {
        match self {
            Manager::Husky => "husky",
            Manager::Lefthook => "lefthook",
            Manager::PreCommit => "pre-commit",
            Manager::Prek => "prek",
            Manager::Overcommit => "overcommit",
        }
    }

    /// The lines that make it start our hooks, with the file they belong into.
    pub fn snippet(self, events: &[Event]) -> String {
        let each = |line: &dyn Fn(Event) -> String| events.iter().map(|&event| line(event)).collect::<String>();
        match self {
            Manager::Husky => each(&|event| format!("# .husky/{event}\n{}\n", command_line(event))),
            Manager::Lefthook => {
                let jobs = each(&|event| {
                    format!("{event}:\n  commands:\n    git-memory:\n      run: {}\n", command_line(event))
                });
                format!("# lefthook.yml\n{jobs}")
            }
            Manager::PreCommit | Manager::Prek => {
                let hooks = each(&|event| {
                    format!(
                        "      - id: git-memory-{event}\n        name: git-memory\n        entry: git-memory hook {event}\n        \
                         language: system\n        stages: [{event}]\n        always_run: true\n        \
                         pass_filenames: false\n"
                    )
                });
                let types = each(&|event| format!(" --hook-type {event}"));
                let name = self.name();
                format!(
                    "# .pre-commit-config.yaml, then: {name} install{types}\nrepos:\n  - repo: local\n    hooks:\n{hooks}"
                )
            }
            Manager::Overcommit => {
                let hooks = each(&|event| {
                    let camel: String = event
                        .name()
                        .split('-')
                        .map(|part| {
                            let (first, rest) = part.split_at(1);
                            first.to_uppercase() + rest
                        })
                        .collect();
                    format!(
                        "{camel}:\n  GitMemory:\n    enabled: true\n    command: ['git-memory', 'hook', '{event}']\n"
                    )
                });
                format!("# .overcommit.yml\n{hooks}")
            }
        }
    }
}

/// The line that starts our hook from somebody else's script.
fn command_line(event: Event) -> String {
    match event {
        Event::PreCommit => format!("git-memory hook {event} </dev/null"),
        _ => format!("git-memory hook {event} </dev/null >/dev/null 2>&1 &"),
    }
}

/// The lines for hooks that somebody writes by hand.
pub(super) fn script_lines(events: &[Event]) -> String {
    events.iter().map(|&event| format!("# {event}\n{}\n", command_line(event))).collect()
}

/// Where hooks of this repository belong.
///
/// # Errors
/// [`Error::HooksPath`] and [`Error::Managed`] where there is no place that is safe to write to.
pub fn find(repo: &Repo) -> Result<Place, Error> {
    if version(repo)? >= CONFIG_HOOKS {
        return Ok(Place::Config);
    }
    // A manager may have set core.hooksPath itself: naming it says more than naming the setting.
    let folder = effective_folder(repo);
    if let Some((manager, sign)) = manager(repo, folder.as_deref().ok()) {
        return Err(Error::Managed { manager, sign });
    }
    if let Some((scope, value)) = hooks_path(repo)? {
        let refuse = |why| Err(Error::HooksPath { scope: scope.clone(), value: value.clone(), why });
        if value.is_empty() {
            return refuse("git then runs no hooks; unset it, or set it to a folder of this repository");
        }
        if !matches!(scope.as_str(), "local" | "worktree") {
            return refuse("that folder serves other repositories too; call git-memory from the hooks there");
        }
    }
    Ok(Place::Folder(folder?))
}

/// The folder that git takes hooks from.
pub(super) fn effective_folder(repo: &Repo) -> Result<PathBuf, Error> {
    let out = repo.git().args(["rev-parse", "--path-format=absolute", "--git-path", "hooks"]).run()?;
    Ok(path_of(out.strip_suffix(b"\n").unwrap_or(&out)))
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// `core.hooksPath` in force: its scope and its value.
fn hooks_path(repo: &Repo) -> Result<Option<(String, String)>, Error> {
    let out = repo.git().args(["config", "--show-scope", "-z", "--get-all", "core.hooksPath"]).output()?;
    let fields: Vec<&[u8]> = out.stdout.strip_suffix(b"\0").unwrap_or_default().split(|&byte| byte == 0).collect();
    let [.., scope, value] = fields.as_slice() else { return Ok(None) };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Some((text(scope), text(value))))
}

/// The version of the git in use, `(major, minor)`.
fn version(repo: &Repo) -> Result<(u32, u32), Error> {
    #[cfg(debug_assertions)]
    if let Some(version) = std::env::var("GIT_MEMORY_TEST_GIT_VERSION").ok().and_then(|text| parse_version(&text)) {
        return Ok(version);
    }
    let out = repo.git().arg("version").run()?;
    let text = String::from_utf8_lossy(&out);
    let number = text.trim().strip_prefix("git version ").unwrap_or_default();
    parse_version(number).ok_or_else(|| git::Error::read("the version of git", text.trim()).into())
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The manager of this repository's hooks, and the file that shows it.
fn manager(repo: &Repo, folder: Option<&Path>) -> Option<(Manager, String)> {
    const FILES: [(&str, Manager); 18] = [
        (".husky", Manager::Husky),
        (".huskyrc", Manager::Husky),
        (".huskyrc.json", Manager::Husky),
        ("lefthook.yml", Manager::Lefthook),
        ("lefthook.yaml", Manager::Lefthook),
        ("lefthook.toml", Manager::Lefthook),
        ("lefthook.json", Manager::Lefthook),
        (".lefthook.yml", Manager::Lefthook),
        (".lefthook.yaml", Manager::Lefthook),
        (".lefthook.toml", Manager::Lefthook),
        (".lefthook.json", Manager::Lefthook),
        (".config/lefthook.yml", Manager::Lefthook),
        (".config/lefthook.yaml", Manager::Lefthook),
        ("prek.toml", Manager::Prek),
        (".pre-commit-config.yaml", Manager::PreCommit),
        (".pre-commit-config.yml", Manager::PreCommit),
        (".overcommit.yml", Manager::Overcommit),
        (".overcommit.yaml", Manager::Overcommit),
    ];
    // What stands in the hooks folder is in force, so it is asked before what a file only announces.
    let installed = folder.and_then(|folder| {
        let entries = std::fs::read_dir(folder).ok()?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort_unstable();
        paths.iter().find_map(|path| Some((manager_of_script(path)?, path.display().to_string())))
    });
    let husky_folder = folder
        .filter(|folder| folder.components().any(|part| part.as_os_str() == ".husky"))
        .map(|folder| (Manager::Husky, folder.display().to_string()));
    let announced = repo.workdir().and_then(|top| {
        let (name, manager) = FILES.iter().find(|(name, _)| top.join(name).exists())?;
        Some((*manager, (*name).to_owned()))
    });
    husky_folder.or(installed).or(announced)
}

/// The manager that generated a hook script.
fn manager_of_script(path: &Path) -> Option<Manager> {
    // Git's own samples mention nobody, and a program instead of a script names its manager nowhere.
    if path.extension().is_some() || !path.is_file() || path.metadata().ok()?.len() > 64 * 1024 {
        return None;
    }
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).to_ascii_lowercase();
    if super::super::shim::mark(&text).is_some() {
        return None;
    }
    [
        ("file generated by pre-commit", Manager::PreCommit),
        ("file generated by prek", Manager::Prek),
        ("lefthook", Manager::Lefthook),
        ("husky", Manager::Husky),
        ("overcommit", Manager::Overcommit),
    ]
    .into_iter()
    .find_map(|(sign, manager)| text.contains(sign).then_some(manager))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_with_and_without_a_vendor() {
        assert_eq!(parse_version("2.47.3"), Some((2, 47)));
        assert_eq!(parse_version("2.54.0.windows.1"), Some((2, 54)));
        assert_eq!(parse_version("2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(parse_version("next"), None);
    }

    #[test]
    fn each_manager_is_known_by_the_script_it_generates() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("post-commit");
        for (text, manager) in [
            ("# File generated by pre-commit: https://pre-commit.com\n", Some(Manager::PreCommit)),
            ("# File generated by prek\n", Some(Manager::Prek)),
            ("call_lefthook run \"post-commit\" \"$@\"\n", Some(Manager::Lefthook)),
            (". \"$(dirname \"$0\")/_/husky.sh\"\n", Some(Manager::Husky)),
            ("# Entrypoint for Overcommit hook integration.\n", Some(Manager::Overcommit)),
            ("make tags\n", None),
        ] {
            std::fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
            assert_eq!(manager_of_script(&path), manager, "{text}");
        }
    }

    #[test]
    fn every_snippet_names_every_event() {
        for manager in [Manager::Husky, Manager::Lefthook, Manager::PreCommit, Manager::Prek, Manager::Overcommit] {
            for event in Event::DEFAULT {
                assert!(manager.snippet(&Event::DEFAULT).contains(event.name()), "{}", manager.name());
            }
        }
    }
}
