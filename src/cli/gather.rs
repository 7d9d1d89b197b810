//! `git memory context`.

use std::io::{Read, Write};

use serde::Serialize;

use super::revision::commit;
use super::{CliError, Context, Exit, Result, shown_lines};
use crate::feedback::{self, Recorded};
use crate::ledger;
use crate::search::context::{Part, Task};
use crate::search::{self, Pages};

/// Collect what the wiki holds for a task, ready to be put into a prompt.
///
/// The task is searched for as a whole, by its sentences and by its identifiers. The pages that stand highest in all of
/// these together are printed, each quoted and with the words it was found by, until the budget is used up; of a page
/// that is too long, the sections that fit the task.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is to be done; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    task: String,

    /// How long the text may be, in tokens of about four characters
    #[arg(long, value_name = "COUNT", default_value_t = 4_000)]
    budget_tokens: usize,

    /// Pages of all scopes, instead of the one that this folder belongs to
    #[arg(long, conflicts_with = "scope")]
    all_scopes: bool,

    /// Take the pages as they were at this commit; that is not recorded
    #[arg(long, value_name = "COMMIT")]
    at: Option<String>,

    /// Do not record what was served
    #[arg(long)]
    no_record: bool,
}

/// Longest task that is read.
const LONGEST_TASK: u64 = 1024 * 1024;

/// What `context --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gathered {
    /// The id under which it was recorded what was served; none when nothing was.
    pub episode: Option<String>,
    /// How long it was allowed to be.
    pub budget_tokens: usize,
    /// About how long it is.
    pub tokens: usize,
    /// The best first.
    pub results: Vec<Part>,
    /// All of it, as it is printed without --json.
    pub text: String,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    let scope = search::scope_here(&wiki, &ctx.dir, ctx.scope.as_deref(), args.all_scopes)?;
    let at = args.at.as_deref().map(|revision| commit(&wiki.repo, revision)).transpose()?;
    let text = if args.task == "-" { standard_input()? } else { args.task };
    let task = Task { text: &text, scope: scope.as_deref(), budget_tokens: args.budget_tokens };
    let gathered = feedback::gather(&Pages::at(&wiki, at)?, &task, !args.no_record, ledger::now())?;
    gathered.notes.iter().for_each(|note| ctx.warn(note));
    let (found, recorded) = (gathered.context, gathered.recorded);
    let episode = recorded.as_ref().and_then(|recorded| recorded.id.clone());
    if let Some(Recorded { why_not: Some(why), failed: false, .. }) = recorded
        && ctx.verbose > 0
    {
        ctx.note(format!("not recorded: {why}"));
    }
    if ctx.json {
        let (tokens, text, results) = (found.tokens(), found.text(), found.parts);
        ctx.print_json("context", &Gathered { episode, budget_tokens: args.budget_tokens, tokens, results, text })?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.out();
    write!(out, "{}", shown_lines(&found.text()))?;
    out.finish()?;
    match (found.parts.is_empty(), found.candidates) {
        (true, 0) => ctx.note("no page has any of the task's words"),
        (true, _) => ctx.note("the budget is too small for any of the pages that fit"),
        (false, _) => {}
    }
    if let Some(id) = episode {
        ctx.note(format!("episode {id}"));
    }
    Ok(Exit::Done)
}

fn standard_input() -> Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LONGEST_TASK).read_to_end(&mut bytes).map_err(CliError::from)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
