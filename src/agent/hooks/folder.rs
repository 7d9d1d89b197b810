//! Hooks as scripts in the folder that git looks into.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::shim::{self, Mark, Recipe};
use super::{Done, Error, Event, Options};
use crate::git::Repo;

/// What stands in the place of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// A script of ours: its text and its mark.
    Ours(String, Mark),
    /// Somebody else's hook.
    Foreign,
}

/// Looks at the place of a hook. A symbolic link is never ours.
pub(super) fn look(path: &Path) -> Result<Found, Error> {
    let Some(meta) = lstat(path)? else { return Ok(Found::Nothing) };
    if !meta.is_file() {
        return Ok(Found::Foreign);
    }
    let bytes = fs::read(path).map_err(|e| Error::io("read", path, e))?;
    Ok(match String::from_utf8(bytes).ok().and_then(|text| Some((shim::mark(&text)?, text))) {
        Some((mark, text)) => Found::Ours(text, mark),
        None => Found::Foreign,
    })
}

/// Where the hook that stood there before is kept.
pub(super) fn legacy_path(hook: &Path) -> PathBuf {
    let mut name = hook.as_os_str().to_owned();
    name.push(".legacy");
    name.into()
}

pub(super) fn install(repo: &Repo, folder: &Path, event: Event, options: &Options) -> Result<Done, Error> {
    let hook = folder.join(event.name());
    let kept = legacy_path(&hook);
    let mut recipe = Recipe {
        event,
        binary: &options.binary,
        templates: options.templates.as_deref(),
        legacy: false,
        made_folder: false,
    };
    let mut legacy = None;
    let done = match look(&hook)? {
        Found::Ours(text, mark) => {
            (recipe.legacy, recipe.made_folder) = (mark.legacy, mark.made_folder);
            if text == render(&recipe)? && is_executable(&hook)? {
                remember(repo, event)?;
                return Ok(Done::Unchanged);
            }
            if !mark.intact && !options.force {
                return Ok(edited(&hook));
            }
            Done::Replaced
        }
        Found::Nothing => {
            recipe.made_folder = lstat(folder)?.is_none() || made_for_another(folder)?;
            // Our script was deleted by hand while the hook it called is still kept.
            recipe.legacy = remembered(repo).contains(&event) && lstat(&kept)?.is_some();
            Done::Installed { legacy: recipe.legacy.then(|| kept.clone()) }
        }
        Found::Foreign if lstat(&kept)?.is_some() => {
            return Ok(Done::Refused(format!(
                "{} is another program's, and {} is taken; remove one of them first",
                hook.display(),
                kept.display()
            )));
        }
        Found::Foreign => {
            recipe.legacy = true;
            legacy = Some(&kept);
            Done::Installed { legacy: Some(kept.clone()) }
        }
    };
    let text = render(&recipe)?;
    fs::create_dir_all(folder).map_err(|e| Error::io("make", folder, e))?;
    // Ready before anything is moved: the moment without a hook is two renames long.
    let script = write_aside(folder, &text).map_err(|e| Error::io("write into", folder, e))?;
    if let Some(kept) = legacy {
        fs::rename(&hook, kept).map_err(|e| Error::io("move", &hook, e))?;
    }
    if let Err(error) = script.persist(&hook) {
        if let Some(kept) = legacy {
            fs::rename(kept, &hook).map_err(|e| Error::io("move back", kept, e))?;
        }
        return Err(Error::io("write", &hook, error.error));
    }
    remember(repo, event)?;
    Ok(done)
}

pub(super) fn uninstall(repo: &Repo, folder: &Path, event: Event, force: bool) -> Result<Done, Error> {
    let hook = folder.join(event.name());
    let kept = legacy_path(&hook);
    let (restore, made_folder) = match look(&hook)? {
        Found::Foreign => {
            if remembered(repo).contains(&event) && lstat(&kept)?.is_some() {
                return Ok(Done::Refused(format!(
                    "{} is no longer ours; the hook before it is kept in {}",
                    hook.display(),
                    kept.display()
                )));
            }
            forget(repo, event)?;
            return Ok(Done::Absent);
        }
        Found::Nothing => (remembered(repo).contains(&event), false),
        Found::Ours(_, mark) if !mark.intact && !force => return Ok(edited(&hook)),
        Found::Ours(_, mark) => (mark.legacy, mark.made_folder),
    };
    let restored = restore && lstat(&kept)?.is_some();
    let ours = lstat(&hook)?.is_some();
    if restored {
        // Windows does not rename over a file.
        #[cfg(windows)]
        let _ = fs::remove_file(&hook);
        fs::rename(&kept, &hook).map_err(|e| Error::io("move back", &kept, e))?;
    } else if ours {
        fs::remove_file(&hook).map_err(|e| Error::io("remove", &hook, e))?;
    }
    if made_folder {
        // Fails while anything else stands there, and then it should stay.
        let _ = fs::remove_dir(folder);
    }
    forget(repo, event)?;
    Ok(if ours || restored { Done::Removed { restored } } else { Done::Absent })
}

/// Whether the folder was made for another hook of ours: the last of them to go takes it along.
fn made_for_another(folder: &Path) -> Result<bool, Error> {
    for event in Event::ALL {
        if let Found::Ours(_, mark) = look(&folder.join(event.name()))?
            && mark.made_folder
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn render(recipe: &Recipe<'_>) -> Result<String, Error> {
    let place = recipe.templates.unwrap_or(recipe.binary);
    recipe.render().map_err(|e| Error::io("read the template in", place, e))
}

fn edited(hook: &Path) -> Done {
    Done::Refused(format!("{} was edited by hand; --force overwrites it", hook.display()))
}

fn lstat(path: &Path) -> Result<Option<fs::Metadata>, Error> {
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("look at", path, error)),
    }
}

fn write_aside(folder: &Path, text: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix(".git-memory-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o755))?;
    }
    Ok(file)
}

#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> Result<bool, Error> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::metadata(path).map_err(|e| Error::io("look at", path, e))?.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_executable(_path: &Path) -> Result<bool, Error> {
    Ok(true)
}

/// The events that were installed, so that a script which somebody deleted is missed.
pub(super) fn remembered(repo: &Repo) -> Vec<Event> {
    let text = fs::read_to_string(record(repo)).unwrap_or_default();
    text.lines().filter_map(Event::parse).collect()
}

fn remember(repo: &Repo, event: Event) -> Result<(), Error> {
    let mut events = remembered(repo);
    if events.contains(&event) {
        return Ok(());
    }
    events.push(event);
    write_record(repo, &events)
}

fn forget(repo: &Repo, event: Event) -> Result<(), Error> {
    let events = remembered(repo);
    if !events.contains(&event) {
        return Ok(());
    }
    write_record(repo, &events.into_iter().filter(|&other| other != event).collect::<Vec<_>>())
}

fn record(repo: &Repo) -> PathBuf {
    repo.memory_dir().join("hooks")
}

fn write_record(repo: &Repo, events: &[Event]) -> Result<(), Error> {
    let path = record(repo);
    let text: String = events.iter().map(|event| format!("{event}\n")).collect();
    fs::create_dir_all(repo.memory_dir())
        .and_then(|()| fs::write(&path, text))
        .map_err(|e| Error::io("write", &path, e))
}
