//! `git memory trust`.

use std::io::Write;

use serde::Serialize;

use super::{Cell, CliError, Context, Exit, Meaning, Result, Table, ask};
use crate::config::trust;

/// Show what the committed settings would run or call, and say that this may be done.
///
/// What is trusted is a digest over .gitmemory.toml and every file of the repository that it names: any change makes
/// it untrusted again. Trust is recorded in this repository alone. A machine where nobody can be asked is given the
/// digest in GIT_MEMORY_TRUST.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Take trust back
    #[arg(long)]
    forget: bool,
}

/// What `trust --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// SHA-256 over the committed settings and the files that they name.
    digest: String,
    /// The settings that would run or call something.
    uses: Vec<Use>,
    /// The files that the digest covers.
    files: Vec<String>,
    /// Whether all of it may be used.
    trusted: bool,
}

/// One setting that would run or call something.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Use {
    /// The dotted key.
    key: String,
    /// The program, address or variable.
    value: String,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    if args.forget {
        let forgotten = trust::forget(&wiki.repo)?;
        ctx.note(if forgotten { "trust is taken back" } else { "nothing to do: nothing was trusted" });
    }
    let mut status = trust::status(&wiki.repo, wiki.tip, &wiki.config)?;
    let ask = !args.forget && !status.trusted;
    if !ctx.json {
        show(ctx, &status)?;
    }
    // With --json nothing is asked: only --yes records.
    if ask && (!ctx.json || ctx.yes) {
        if let Some(variable) = ask::under_agent() {
            return Err(CliError::refused(
                "needs_person",
                format!("a person has to decide what may be run here ({variable} is set: this runs under an agent)"),
            )
            .hint("run `git memory trust` yourself on a terminal"));
        }
        if ask::confirm(ctx, "May all of this be used?")? {
            trust::record(&wiki.repo, &status.digest)?;
            status.trusted = true;
            ctx.note("trusted, until one of these files changes");
        } else {
            ctx.note("not trusted; nothing of it will be used");
        }
    }
    let trusted = status.trusted;
    if ctx.json {
        let uses = status.names.into_iter().map(|(key, value)| Use { key, value }).collect();
        ctx.print_json("trust", &Report { digest: status.digest, uses, files: status.files, trusted })?;
    }
    Ok(if trusted || args.forget { Exit::Done } else { Exit::Refused })
}

fn show(ctx: &Context, status: &trust::Trust) -> Result<()> {
    let mut out = ctx.out();
    if status.names.is_empty() {
        writeln!(out, "The committed settings run and call nothing: there is nothing to trust.")?;
        return out.finish();
    }
    writeln!(out, "The committed settings would use:")?;
    let mut table = Table::new();
    for (key, value) in &status.names {
        table.row([Cell::new(format!("  {key}")), Cell::with(Meaning::Warn, value)]);
    }
    table.print(ctx, &mut out)?;
    let files: Vec<_> = status.files.iter().map(|file| super::shown(file).into_owned()).collect();
    writeln!(out, "Files: {}", files.join(", "))?;
    writeln!(out, "Digest: {}", status.digest)?;
    if status.trusted {
        writeln!(out, "{}", ctx.paint(Meaning::Good, "Trusted."))?;
    }
    out.finish()
}
