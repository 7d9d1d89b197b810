//! Hooks that git finds in its configuration.

use super::super::shim::{self, Mark, Recipe};
use super::{Done, Error, Event, Options};
use crate::git::Repo;

/// The section that names our hook: git takes no event's own name there.
fn section(event: Event) -> String {
    format!("hook.git-memory-{event}")
}

/// The values of a key in the repository's own configuration file.
fn local(repo: &Repo, key: &str) -> Result<Vec<String>, Error> {
    let out = repo.git().args(["config", "--local", "-z", "--get-all", key]).output()?;
    Ok(out
        .stdout
        .split(|&byte| byte == 0)
        .filter(|v| !v.is_empty())
        .map(|v| String::from_utf8_lossy(v).into())
        .collect())
}

/// The command that is configured for an event, with its mark where it is ours.
pub(super) fn installed(repo: &Repo, event: Event) -> Result<Option<(String, Option<Mark>)>, Error> {
    let command = local(repo, &format!("{}.command", section(event)))?.pop();
    Ok(command.map(|command| {
        let mark = shim::mark_of_command(&command);
        (command, mark)
    }))
}

/// Whether git would run it: its event is named, and it is not switched off.
pub(super) fn is_on(repo: &Repo, event: Event) -> Result<bool, Error> {
    let named = local(repo, &format!("{}.event", section(event)))?.iter().any(|value| value == event.name());
    Ok(named && repo.config_bool(&format!("{}.enabled", section(event))) != Some(false))
}

fn edited(event: Event) -> Done {
    Done::Refused(format!("{}.command was edited by hand; --force overwrites it", section(event)))
}

pub(super) fn install(repo: &Repo, event: Event, options: &Options) -> Result<Done, Error> {
    let command =
        recipe(event, options).command().map_err(|e| Error::io("read the template of", &options.binary, e))?;
    let before = installed(repo, event)?;
    let done = match &before {
        None => Done::Installed { legacy: None },
        Some((old, _)) if *old == command && is_on(repo, event)? => return Ok(Done::Unchanged),
        Some((_, Some(mark))) if mark.intact => Done::Replaced,
        Some(_) if options.force => Done::Replaced,
        Some(_) => return Ok(edited(event)),
    };
    // The command first: an event without a command is an error to git.
    for (key, value) in [("command", command.as_str()), ("event", event.name())] {
        repo.git().args(["config", "--local", "--replace-all", &format!("{}.{key}", section(event)), value]).run()?;
    }
    Ok(done)
}

pub(super) fn uninstall(repo: &Repo, event: Event, force: bool) -> Result<Done, Error> {
    match installed(repo, event)? {
        None => return Ok(Done::Absent),
        Some((_, Some(mark))) if mark.intact => {}
        Some(_) if force => {}
        Some(_) => return Ok(edited(event)),
    }
    repo.git().args(["config", "--local", "--remove-section", &section(event)]).run()?;
    Ok(Done::Removed { restored: false })
}

fn recipe(event: Event, options: &Options) -> Recipe<'_> {
    Recipe {
        event,
        binary: &options.binary,
        templates: options.templates.as_deref(),
        legacy: false,
        made_folder: false,
    }
}
