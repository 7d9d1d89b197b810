//! `git memory session-start`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Context, Exit, Result};
use crate::agent::{hook, log};
use crate::git::Repo;
use crate::report::brief;
use crate::wiki::{OpenError, Wiki};

/// Show what an agent should know of the wiki when a session begins: the rules, the pages that changed last, what waits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Answer an agent's hook, whose input is read on standard input; never fails, says nothing where no wiki is
    #[arg(long)]
    hook: bool,
}

/// Longest input of a hook that is read.
const LONGEST_INPUT: u64 = 1024 * 1024;

/// The part of an agent's hook input that matters here.
#[derive(Debug, Default, Deserialize)]
struct Told {
    cwd: Option<PathBuf>,
    /// Cursor names its folders so.
    #[serde(default)]
    workspace_roots: Vec<PathBuf>,
    /// Only Cursor says this.
    cursor_version: Option<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    if args.hook {
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(ctx)));
        return Ok(Exit::Done);
    }
    let wiki = ctx.wiki()?;
    if let Some(name) = &ctx.scope {
        wiki.scopes.named(name)?;
    }
    let brief = brief::brief(&wiki, ctx.scope.as_deref())?;
    if ctx.json {
        ctx.print_json("session-start", &brief)?;
    } else {
        let mut out = ctx.out();
        writeln!(out, "{}", brief.text())?;
        out.finish()?;
    }
    Ok(Exit::Done)
}

/// Answers an agent, in the form that it takes. What goes wrong stands in worker.log.
fn answer(ctx: &Context) {
    if hook::is_off() {
        return;
    }
    let mut input = Vec::new();
    let _ = std::io::stdin().lock().take(LONGEST_INPUT).read_to_end(&mut input);
    let told: Told = serde_json::from_slice(&input).unwrap_or_default();
    let named = told.cwd.iter().chain(&told.workspace_roots).find(|folder| folder.is_dir());
    let folder: &Path = named.map_or(&ctx.dir, |folder| folder);
    let Ok(repo) = Repo::above(folder) else { return };
    let memory = repo.memory_dir();
    let brief = match Wiki::named_by(repo) {
        Ok(wiki) => brief::brief(&wiki, None).map_err(|error| error.to_string()),
        Err(OpenError::NoWiki { .. }) => return,
        Err(error) => Err(error.to_string()),
    };
    match brief {
        Err(error) => log::note(&memory, &format!("session-start: {error}")),
        Ok(brief) => {
            let words = brief.text();
            let text = match told.cursor_version {
                Some(_) => serde_json::json!({ "additional_context": words }).to_string(),
                None => words,
            };
            let mut out = ctx.out();
            let _ = writeln!(out, "{text}").and_then(|()| out.flush());
        }
    }
}
