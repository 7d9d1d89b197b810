//! `git memory man`.

use std::io::Write;
use std::path::PathBuf;

use clap::CommandFactory;
use serde::Serialize;

use super::{Cli, CliError, Context, Exit, Result, shown};

/// Print the manual page, or put the pages where `man` finds them.
///
/// `git memory --help` asks git for a manual page named git-memory: --install puts it, and one page for each
/// command, into $XDG_DATA_HOME/man/man1 (~/.local/share/man/man1).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command whose page is printed; nothing: git memory itself
    command: Option<String>,

    /// Write all pages where `man` finds them
    #[arg(long, conflicts_with = "command")]
    install: bool,

    /// Write them into this folder instead
    #[arg(long, value_name = "DIR", requires = "install")]
    dir: Option<PathBuf>,
}

/// What `man --install --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Installed {
    /// The folder.
    pub dir: String,
    /// The files in it.
    pub pages: Vec<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut root = Cli::command();
    root.set_bin_name("git-memory");
    root.build();
    if args.install {
        return install(ctx, &root, args.dir);
    }
    let page = match &args.command {
        None => whole(&root)?,
        Some(name) => {
            let command = root.get_subcommands().find(|command| command.get_name() == name.as_str());
            one(command.ok_or_else(|| {
                CliError::refused("unknown_command", format!("no command is named '{name}'"))
                    .hint("`git memory -h` lists the commands")
            })?)?
        }
    };
    let mut out = ctx.out();
    out.write_all(&page)?;
    out.finish()?;
    Ok(Exit::Done)
}

fn install(ctx: &Context, root: &clap::Command, dir: Option<PathBuf>) -> Result<Exit> {
    let dir = match dir {
        Some(dir) => ctx.dir.join(dir),
        None => data_home()
            .ok_or_else(|| {
                CliError::fatal("no_home", "neither XDG_DATA_HOME nor HOME is set").hint("name a folder with --dir")
            })?
            .join("man/man1"),
    };
    let mut pages = vec![("git-memory.1".to_owned(), whole(root)?)];
    for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
        pages.push((format!("git-memory-{}.1", command.get_name()), one(command)?));
    }
    let failed = |path: &std::path::Path, error: std::io::Error| {
        CliError::fatal("cannot_write", format!("cannot write {}: {error}", shown(&path.to_string_lossy())))
            .hint("name another folder with --dir")
    };
    std::fs::create_dir_all(&dir).map_err(|error| failed(&dir, error))?;
    for (name, page) in &pages {
        let path = dir.join(name);
        std::fs::write(&path, page).map_err(|error| failed(&path, error))?;
    }
    let done = Installed { dir: dir.display().to_string(), pages: pages.into_iter().map(|(name, _)| name).collect() };
    if ctx.json {
        ctx.print_json("man-install", &done)?;
    } else {
        ctx.note(format!("{} pages in {}; `git memory --help` shows the first", done.pages.len(), done.dir));
    }
    Ok(Exit::Done)
}

fn data_home() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")))
}

/// The page of one command.
fn one(command: &clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).manual("Git Memory Manual").source("git-memory").render(&mut page)?;
    Ok(page)
}

/// The page of everything: its own parts, then every command with its options.
fn whole(root: &clap::Command) -> Result<Vec<u8>> {
    let man = clap_mangen::Man::new(root.clone()).manual("Git Memory Manual").source("git-memory");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    man.render_subcommands_section(&mut page)?;
    for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
        let part = clap_mangen::Man::new(command.clone());
        writeln!(page, ".SH \"GIT MEMORY {}\"", command.get_name().to_uppercase())?;
        let mut text = Vec::new();
        part.render_description_section(&mut text)?;
        part.render_synopsis_section(&mut text)?;
        // A command's parts stand one level below the command.
        page.extend_from_slice(String::from_utf8_lossy(&text).replace(".SH ", ".SS ").as_bytes());
    }
    man.render_version_section(&mut page)?;
    Ok(page)
}
