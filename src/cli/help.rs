//! `git memory help`, and what clap answers by itself.

use std::io::{IsTerminal, Write};

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::{Cli, CliError, ColorWhen, Context, Exit, Result};

/// Explain a command at length.
///
/// `git memory -h` and `git memory COMMAND -h` are shorter. `git memory --help` is taken by git itself, which looks
/// for a manual page: `git memory man --install` puts it in place.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command, and a command below it; nothing: git memory itself
    command: Vec<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let words = ["git-memory".to_owned()].into_iter().chain(args.command).chain(["--help".to_owned()]);
    let choice = if ctx.colored() { clap::ColorChoice::Always } else { clap::ColorChoice::Never };
    let Err(answer) = Cli::command().color(choice).try_get_matches_from(words) else {
        return Err(CliError::fatal("bug", "help was asked for and none came"));
    };
    if answer.kind() != ErrorKind::DisplayHelp {
        return Err(CliError::usage(&answer));
    }
    let mut out = ctx.paged();
    let text = answer.render();
    if ctx.colored() {
        write!(out, "{}", text.ansi())?
    } else {
        write!(out, "{text}")?
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// What clap has to say instead of arguments: help and version (done), or wrong usage.
pub(super) fn answer(error: &clap::Error, when: ColorWhen) -> Result<Exit> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let colored = super::context::color_of(Some(when), std::io::stdout().is_terminal(), || None);
            let mut out = super::Out::stdout();
            if colored {
                write!(out, "{}", error.render().ansi())?
            } else {
                write!(out, "{}", error.render())?
            }
            out.finish()?;
            Ok(Exit::Done)
        }
        _ => Err(CliError::usage(error)),
    }
}
