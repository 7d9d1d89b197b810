//! `git memory session-start`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Context, Exit, Result};
use crate::agent::{hook, log, session_start};
use crate::git::{self, Repo};
use crate::improve;
use crate::report::brief::{self, Brief};
use crate::report::status::Status;
use crate::search;
use crate::wiki::scope::GLOBAL;
use crate::wiki::{OpenError, Wiki};

/// Show what an agent should know of the wiki when a session begins: the rules, the pages that matter, what waits.
///
/// The same text is kept as memory.md in the repository's `memory` folder, and where memory_md.path names a file that is
/// ignored or committed, in the work tree.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Answer an agent's hook, whose input is read on standard input; never fails, says nothing where no wiki is.
    /// Completes what dead runs left, and starts a run in the background when enough has changed since the last
    #[arg(long)]
    hook: bool,

    /// Most pages of no project that are named, where the brief is about one
    #[arg(long, value_name = "N", default_value_t = brief::GLOBAL_LIMIT)]
    global_limit: usize,
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
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(ctx, args.global_limit)));
        return Ok(Exit::Done);
    }
    let wiki = ctx.wiki()?;
    let scope = search::scope_here(&wiki, &ctx.dir, ctx.scope.as_deref(), false)?;
    let brief = brief::brief(&wiki, scope.as_deref(), args.global_limit)?;
    for trouble in brief::keep(&wiki, &brief).trouble {
        ctx.warn(trouble);
    }
    if ctx.json {
        ctx.print_json("session-start", &brief)?;
    } else {
        let mut out = ctx.out();
        writeln!(out, "{}", brief.text())?;
        out.finish()?;
    }
    Ok(Exit::Done)
}

/// The brief of the folder's project; of no project where it belongs to none. Keeps memory.md.
fn told_of(wiki: &Wiki, folder: &Path, global_limit: usize) -> git::Result<(Brief, Status)> {
    let scope = search::scope_here(wiki, folder, None, false).unwrap_or_else(|_| Some(GLOBAL.to_owned()));
    let (brief, status) = brief::brief_and_status(wiki, scope.as_deref(), global_limit)?;
    for trouble in brief::keep(wiki, &brief).trouble {
        log::note(&wiki.repo.memory_dir(), &format!("session-start: {trouble}"));
    }
    Ok((brief, status))
}

/// Answers an agent, in the form that it takes. What goes wrong stands in worker.log.
fn answer(ctx: &Context, global_limit: usize) {
    if hook::is_off() {
        return;
    }
    // Before anything is opened: what is started below outlives the agent, and keeps nothing of it open.
    hook::leave();
    let mut input = Vec::new();
    let _ = std::io::stdin().lock().take(LONGEST_INPUT).read_to_end(&mut input);
    let told: Told = serde_json::from_slice(&input).unwrap_or_default();
    let named = told.cwd.iter().chain(&told.workspace_roots).find(|folder| folder.is_dir());
    let folder: &Path = named.map_or(&ctx.dir, |folder| folder);
    let Ok(repo) = Repo::above(folder) else { return };
    let memory = repo.memory_dir();
    let wiki = match Wiki::named_by(repo) {
        Err(OpenError::NoWiki { .. }) => return,
        wiki => wiki.map_err(|error| error.to_string()),
    };
    let brief = wiki
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|wiki| told_of(wiki, folder, global_limit).map_err(|error| error.to_string()));
    let mut known = None;
    match brief {
        Err(error) => log::note(&memory, &format!("session-start: {error}")),
        Ok((brief, status)) => {
            let words = brief.text();
            let text = match told.cursor_version {
                Some(_) => serde_json::json!({ "additional_context": words }).to_string(),
                None => words,
            };
            let mut out = ctx.out();
            let _ = writeln!(out, "{text}").and_then(|()| out.flush());
            known = Some(status);
        }
    }
    let Ok(wiki) = wiki else { return };
    match improve::recover(&wiki) {
        Ok(_) | Err(improve::Error::Locked(_)) => {}
        Err(error) => log::note(&memory, &format!("session-start: {error}")),
    }
    if let (Some(status), Ok(program)) = (known, std::env::current_exe())
        && let Err(error) = session_start::start_if_due(&wiki, &status, &program)
    {
        log::note(&memory, &format!("session-start: {error}"));
    }
}
