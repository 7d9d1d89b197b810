//! `git memory run`.

use std::io::Write;

use super::{Cell, CliError, Context, Exit, Meaning, Result, Table, age, shown_lines};
use crate::git::Repo;
use crate::improve::Run;
use crate::ledger;

/// Look at the runs of improve.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the runs, newest first
    List {
        /// So many at most
        #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
        limit: usize,
    },
    /// Show the report of a run
    Show {
        /// The run's id, or how it begins
        id: String,
    },
}

/// The runs, as `run list --json` prints them.
#[derive(Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Runs {
    /// Newest first.
    runs: Vec<Listed>,
}

#[derive(Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Listed {
    id: String,
    trigger: &'static str,
    state: crate::improve::run::RunState,
    started_at: jiff::Timestamp,
    summary: String,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    match args.action {
        Action::List { limit } => list(ctx, &wiki.repo, limit),
        Action::Show { id } => show(ctx, &wiki.repo, &id),
    }
}

fn list(ctx: &Context, repo: &Repo, limit: usize) -> Result<Exit> {
    let mut folders = folders(repo)?;
    folders.reverse();
    let mut runs = Vec::new();
    for folder in folders.into_iter().take(limit) {
        if let Some(run) = read(repo, &folder)? {
            runs.push(Listed {
                summary: run.summary(),
                id: run.id,
                trigger: run.trigger.as_str(),
                state: run.state,
                started_at: run.started_at,
            });
        }
    }
    if ctx.json {
        ctx.print_json("runs", &Runs { runs })?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    let mut table = Table::new();
    let now = ledger::now();
    for run in &runs {
        table.row([
            Cell::with(Meaning::Id, &run.id),
            Cell::new(age(run.started_at, now)),
            Cell::new(run.trigger),
            Cell::with(if run.state.is_bad() { Meaning::Bad } else { Meaning::Good }, run.state.words()),
            Cell::new(&run.summary),
        ]);
    }
    if table.is_empty() {
        writeln!(out, "no runs yet")?;
    }
    table.print(ctx, &mut out)?;
    out.finish()?;
    Ok(Exit::Done)
}

fn show(ctx: &Context, repo: &Repo, id: &str) -> Result<Exit> {
    let wanted = id.to_ascii_uppercase();
    let found: Vec<String> = folders(repo)?
        .into_iter()
        .filter(|folder| folder.rsplit('/').next().is_some_and(|run| wanted.len() >= 4 && run.starts_with(&wanted)))
        .collect();
    let [folder] = &found[..] else {
        let message = match found.len() {
            0 => format!("no run `{id}`"),
            many => format!("`{id}` is ambiguous: {many} runs begin so"),
        };
        return Err(CliError::refused("unknown_id", message).hint("`git memory run list` shows the ids"));
    };
    let Some(run) = read(repo, folder)? else {
        return Err(CliError::refused("bad_record", format!("the record of run {id} cannot be read")));
    };
    if ctx.json {
        ctx.print_json("run", &run)?;
        return Ok(Exit::Done);
    }
    let mut out = ctx.paged();
    write!(out, "{}", shown_lines(&run.report()))?;
    out.finish()?;
    Ok(Exit::Done)
}

/// The folders of all runs in the ledger, oldest first.
fn folders(repo: &Repo) -> Result<Vec<String>> {
    let Some(tip) = repo.reference(ledger::REF)? else { return Ok(Vec::new()) };
    let files = repo.files(tip, "runs".into())?;
    Ok(files
        .into_iter()
        .filter_map(|file| file.path.to_string().strip_suffix("/run.json").map(str::to_owned))
        .collect())
}

fn read(repo: &Repo, folder: &str) -> Result<Option<Run>> {
    let bytes = ledger::file(repo, &format!("{folder}/run.json"))?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}
