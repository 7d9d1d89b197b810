//! `git memory session-start`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Context, Exit, Result, shown};
use crate::agent::{hook, log};
use crate::git::Repo;
use crate::report::brief::{self, Brief};
use crate::wiki::{OpenError, Wiki};

/// Show what an agent should know of the wiki when a session begins: the rules, the pages that changed last, what waits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Answer an agent's hook, whose input is read on standard input; never fails, says nothing where no wiki is
    #[arg(long)]
    hook: bool,
}

/// Most lines of all rules together.
const RULE_LINES: usize = 14;

/// Most characters of a line.
const WIDTH: usize = 240;

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
        writeln!(out, "{}", words(&brief))?;
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
            let words = words(&brief);
            let text = match told.cursor_version {
                Some(_) => serde_json::json!({ "additional_context": words }).to_string(),
                None => words,
            };
            let mut out = ctx.out();
            let _ = writeln!(out, "{text}").and_then(|()| out.flush());
        }
    }
}

/// About thirty lines.
fn words(brief: &Brief) -> String {
    let count = |many: usize, what: &str| if many == 1 { format!("1 {what}") } else { format!("{many} {what}s") };
    let place = if brief.root.is_empty() { String::new() } else { format!(", in {}", shown(&brief.root)) };
    let pages = count(brief.pages, "page");
    let mut lines = vec![
        format!(
            "This project has a git-memory wiki of reviewed knowledge: {pages} on branch {}{place}.",
            shown(&brief.branch)
        ),
        format!("Search it before you investigate what may be known: {}", shown(&brief.search)),
        format!("Read a page: {}", shown(&brief.read)),
    ];
    if !brief.rules.is_empty() {
        lines.push(String::new());
        lines.push("Rules in force:".into());
        let all: Vec<String> = brief.rules.iter().flat_map(rule).collect();
        lines.extend(all.iter().take(RULE_LINES).cloned());
        if all.len() > RULE_LINES {
            let paths: Vec<&str> = brief.rules.iter().map(|rule| rule.path.as_str()).collect();
            lines.push(format!("(cut; read all of them: {})", line(&paths.join(" "))));
        }
    }
    if !brief.recent.is_empty() {
        lines.push(String::new());
        lines.push("Pages that changed last:".into());
        lines.extend(brief.recent.iter().map(|page| line(&format!("- {}: {}", page.path, page.title))));
    }
    lines.push(String::new());
    if brief.pending > 0 {
        let verb = if brief.pending == 1 { "waits" } else { "wait" };
        lines.push(format!("{} {verb} for a person (`git memory proposal list`).", count(brief.pending, "proposal")));
    }
    lines.push("Do not edit pages; propose with `git memory proposal propose`. Never accept: a person decides.".into());
    lines.join("\n")
}

/// A rule's title and its text; a heading that only repeats the title is left out.
fn rule(rule: &brief::Rule) -> Vec<String> {
    let text = rule.text.lines().map(str::trim_end).filter(|text| !text.is_empty());
    let text = text.filter(|text| text.trim_start_matches('#').trim() != rule.title);
    std::iter::once(line(&format!("- {} ({})", rule.title, rule.path)))
        .chain(text.map(|text| line(&format!("  {text}"))))
        .collect()
}

/// One line of limited length without what a terminal acts on.
fn line(text: &str) -> String {
    let text = shown(text);
    match text.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.into_owned(),
    }
}
