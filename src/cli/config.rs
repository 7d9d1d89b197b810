//! `git memory config`.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Cell, CliError, Context, Exit, Meaning, Result, Table, shown};
use crate::config::{self, Config, Inputs, Origin, edit, keys};
use crate::git::Repo;
use crate::model;
use crate::wiki::{OpenError, Wiki};

/// Show the settings and where each comes from, or change one.
///
/// Later wins: built in, the user's file ($XDG_CONFIG_HOME/git-memory/config.toml), .gitmemory.toml on the wiki
/// branch, `git config memory.*` (the same names in camelCase: memory.scheduler.intervalSecs), GIT_MEMORY_*
/// variables, options. With -v every setting is explained.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// Show where each value comes from
    #[arg(long)]
    origin: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    List(List),
    Get(Get),
    Set(Set),
    Unset(Unset),
}

/// List all settings; this is what `config` alone does.
#[derive(Debug, clap::Args)]
struct List {
    /// Show where each value comes from
    #[arg(long)]
    origin: bool,
}

/// Print one setting.
#[derive(Debug, clap::Args)]
struct Get {
    /// The setting, with dots: scheduler.interval_secs
    key: String,

    /// Show where the value comes from
    #[arg(long)]
    origin: bool,
}

/// Change one setting. Comments and everything else in the file stay as they are.
#[derive(Debug, clap::Args)]
struct Set {
    /// The setting, with dots: scheduler.interval_secs
    key: String,

    /// The value; lists are separated by commas
    value: String,

    #[command(flatten)]
    place: Place,
}

/// Take one setting back, so that what lies below counts again.
#[derive(Debug, clap::Args)]
struct Unset {
    /// The setting, with dots: model.judge.model
    key: String,

    #[command(flatten)]
    place: Place,
}

/// Which file is changed.
#[derive(Debug, clap::Args)]
struct Place {
    /// In this repository's git config, for you alone (the default)
    #[arg(long, group = "where")]
    local: bool,

    /// In your own file, for all your wikis
    #[arg(long, group = "where")]
    user: bool,

    /// In .gitmemory.toml of the checked-out wiki branch, for everybody once you commit it
    #[arg(long, group = "where")]
    wiki: bool,
}

/// A key, and what it is to hold; `None`: nothing any more.
#[derive(Clone, Copy)]
struct Change<'a> {
    key: &'a str,
    value: Option<&'a str>,
}

impl Change<'_> {
    /// The text of a file, changed so.
    fn apply(self, file: &str, old: &str) -> std::result::Result<String, config::Error> {
        match self.value {
            Some(value) => edit::set(file, old, self.key, value),
            None => edit::unset(file, old, self.key),
        }
    }
}

/// What `config --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Settings {
    /// Every setting.
    settings: Vec<Setting>,
    /// What a person should know: keys that were passed over.
    notes: Vec<String>,
}

/// One setting; `config get --json` prints one.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Setting {
    /// The dotted key.
    key: String,
    /// What holds.
    value: serde_json::Value,
    /// Whose word it is: a file, a variable, `built in`.
    origin: String,
}

/// What `config set --json` and `config unset --json` print.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changed {
    /// The dotted key.
    key: String,
    /// The file that was written.
    file: String,
    /// Whether the file is another now.
    changed: bool,
    /// The place whose word still counts for this key, when it is not this file.
    overridden_by: Option<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    match args.action {
        None => list(ctx, args.origin),
        Some(Action::List(list_args)) => list(ctx, list_args.origin || args.origin),
        Some(Action::Get(get_args)) => get(ctx, &get_args.key, get_args.origin || args.origin),
        Some(Action::Set(args)) => change(ctx, &args.place, Change { key: &args.key, value: Some(&args.value) }),
        Some(Action::Unset(args)) => change(ctx, &args.place, Change { key: &args.key, value: None }),
    }
}

/// The settings of the wiki, or, where there is none yet, those that one would have here.
fn load(ctx: &Context) -> Result<Config> {
    match Wiki::open(&ctx.dir) {
        Ok(wiki) => Ok(wiki.config),
        Err(OpenError::NoWiki { .. }) => Ok(Config::load(&ctx.repo()?, None)?),
        Err(error) => Err(error.into()),
    }
}

fn list(ctx: &Context, origin: bool) -> Result<Exit> {
    let config = load(ctx)?;
    let entries = config.entries();
    if ctx.json {
        let settings = entries
            .into_iter()
            .map(|entry| Setting { key: entry.key, value: entry.value, origin: entry.origin.to_string() })
            .collect();
        ctx.print_json("config", &Settings { settings, notes: config.notes })?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    let mut table = Table::new();
    for entry in &entries {
        let meaning = if entry.origin == Origin::Default { Meaning::Dim } else { Meaning::Head };
        if ctx.verbose > 0
            && let Some(key) = keys::find(&entry.key)
        {
            table.print(ctx, &mut out)?;
            table = Table::new();
            for line in key.doc.lines() {
                writeln!(out, "{}", ctx.paint(Meaning::Dim, format!("# {line}")))?;
            }
        }
        let value = match words(&entry.value) {
            empty if empty.is_empty() => "\"\"".to_owned(),
            value => value,
        };
        let cells = [Cell::with(meaning, &entry.key), Cell::new(value)];
        table.row(cells.into_iter().chain(origin.then(|| Cell::with(Meaning::Dim, entry.origin.to_string()))));
    }
    table.print(ctx, &mut out)?;
    out.finish()?;
    for note in &config.notes {
        ctx.note(format!("note: {note}"));
    }
    Ok(Exit::Done)
}

fn get(ctx: &Context, key: &str, origin: bool) -> Result<Exit> {
    let config = load(ctx)?;
    let Some(found) = config.entries().into_iter().find(|entry| entry.key == key) else {
        return Err(match keys::find(key) {
            Some(_) => CliError::refused("unset", format!("{key} is not set")),
            None => CliError::refused("unknown_key", format!("no setting is named '{key}'")).hint(keys::hint(key)),
        });
    };
    if ctx.json {
        let origin = found.origin.to_string();
        ctx.print_json("config-value", &Setting { key: found.key, value: found.value, origin })?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.out();
    let value = words(&found.value);
    if origin {
        writeln!(out, "{}\t{}", shown(&found.origin.to_string()), shown(&value))?;
    } else {
        writeln!(out, "{}", shown(&value))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn change(ctx: &Context, place: &Place, change: Change<'_>) -> Result<Exit> {
    if let Some(value) = change.value.and_then(|value| edit::value(change.key, value)) {
        model::amiss(change.key, &value)
            .map_err(|error| CliError::new(Exit::Config, "config", error.to_string()).hint("nothing was written"))?;
    }
    let done = if place.user {
        let path = config::user_file().ok_or_else(|| {
            CliError::fatal("no_home", "your home folder cannot be told").hint("set HOME or XDG_CONFIG_HOME")
        })?;
        change_file(&path, change)?
    } else if place.wiki {
        change_wiki(ctx, change)?
    } else {
        change_git(ctx, change)?
    };
    let winner = change.value.and_then(|_| overridden_by(ctx, place, &done));
    if ctx.json {
        ctx.print_json("config-set", &Changed { overridden_by: winner, ..done })?;
        return Ok(Exit::Done);
    }
    match (done.changed, change.value) {
        (true, Some(value)) => ctx.note(format!("{} = {value} in {}", change.key, done.file)),
        (true, None) => ctx.note(format!("{} is not set any more in {}", change.key, done.file)),
        (false, Some(_)) => ctx.note(format!("nothing to do: {} says so already", done.file)),
        (false, None) => ctx.note(format!("nothing to do: {} does not set it", done.file)),
    }
    if let Some(winner) = winner {
        ctx.warn(format!("{winner} says something else, and that counts"));
    }
    if place.wiki && done.changed {
        ctx.hint(format!("commit {} for it to count", config::FILE));
    }
    Ok(Exit::Done)
}

/// The place whose word counts for the key when it is not the one that was just written. A configuration that does
/// not load (it may be in the middle of being mended) tells nothing.
fn overridden_by(ctx: &Context, place: &Place, done: &Changed) -> Option<String> {
    if place.wiki {
        return None;
    }
    let origin = load(ctx).ok()?.origin(&done.key).clone();
    match &origin {
        Origin::Env(_) | Origin::Flag => Some(origin.to_string()),
        Origin::Git(_) if !place.user => None,
        Origin::User(file) if *file == done.file => None,
        Origin::Default => None,
        _ => Some(origin.to_string()),
    }
}

fn change_file(path: &Path, change: Change<'_>) -> Result<Changed> {
    let name = path.display().to_string();
    let old = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(CliError::fatal("cannot_read", format!("cannot read {name}: {error}"))),
    };
    let new = change.apply(&name, &old)?;
    if new != old {
        replace(path, &new)
            .map_err(|error| CliError::fatal("cannot_write", format!("cannot write {name}: {error}")))?;
    }
    Ok(Changed { key: change.key.to_owned(), file: name, changed: new != old, overridden_by: None })
}

/// Writes beside the file and renames, so that a crash leaves the old file or the new one. A link is followed and
/// permissions stay.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(old) = path.metadata() {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

fn change_wiki(ctx: &Context, change: Change<'_>) -> Result<Changed> {
    let wiki = ctx.wiki()?;
    let place = wiki
        .repo
        .worktrees()?
        .into_iter()
        .find(|tree| !tree.bare && !tree.prunable && tree.branch.as_deref() == Some(wiki.branch.as_str()))
        .ok_or_else(|| {
            let branch = wiki.branch_name();
            CliError::refused("not_checked_out", format!("the wiki branch {branch} is checked out nowhere")).hint(
                format!("`git worktree add ../wiki {branch}` checks it out; or set it for you alone with --local"),
            )
        })?;
    let path: PathBuf = place.path.join(config::FILE);
    let done = change_file(&path, change)?;
    // The whole file again, as everybody will read it: some keys do not count when they are committed.
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let inputs = Inputs { committed: Some((config::FILE.into(), text)), ..Inputs::default() };
    for note in config::merge(&inputs)?.notes {
        ctx.warn(note);
    }
    Ok(done)
}

fn change_git(ctx: &Context, change: Change<'_>) -> Result<Changed> {
    // Says whether the key may hold the value before git's config is touched.
    change.apply("git config", "")?;
    let repo = wiki_repo(ctx)?;
    let name = git_name(change.key);
    let changed = match change.value {
        Some(value) => repo.config(&name).as_deref() != Some(value),
        None => repo.has_local_config(&name),
    };
    match change.value {
        Some(value) if changed => repo.set_config(&name, value)?,
        None if changed => repo.unset_config(&name)?,
        _ => {}
    }
    let file = repo.common_dir().join("config").display().to_string();
    Ok(Changed { key: change.key.to_owned(), file, changed, overridden_by: None })
}

/// The repository of the wiki, also when its settings do not load: `set` may be mending them.
fn wiki_repo(ctx: &Context) -> Result<Repo> {
    let here = ctx.repo()?;
    match here.config("memory.wiki") {
        None => Ok(here),
        Some(link) => {
            let base = here.workdir().unwrap_or_else(|| here.common_dir());
            Ok(Repo::open(&base.join(&link)).map_err(|_| OpenError::BadLink { path: link })?)
        }
    }
}

/// The key in git's configuration; the last part of one name of a table stays as it is.
fn git_name(key: &str) -> String {
    if let Some(found) = keys::find(key) {
        return found.git_name();
    }
    match key.rsplit_once('.').and_then(|(table, name)| Some((keys::find(table)?, name))) {
        Some((table, name)) => format!("{}.{name}", table.git_name()),
        None => format!("memory.{key}"),
    }
}

/// A value as people write it.
fn words(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
