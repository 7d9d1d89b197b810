//! `git memory model`: the models of the settings.

use std::io::Write;

use serde::Serialize;

use super::{Cell, Context, Exit, Meaning, Result, Table, shown};
use crate::config::trust;
use crate::model::{Checked, Models, Stage};

/// See whether the models that the settings name can be worked with.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Test(TestArgs),
}

/// Make one small call to each model of the settings, and say what works.
///
/// Says whether it can be reached, whether the key is accepted, how it is made to answer in JSON, how many tokens and
/// how long that took, and which model answered. With the built-in reviewer nothing is called. The exit code is 1 when
/// a model does not work, and 78 when the settings cannot be used or are not trusted.
#[derive(Debug, clap::Args)]
struct TestArgs {
    /// Only the model of this stage
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    stage: Option<Stage>,
}

fn stage(word: &str) -> Result<Stage, String> {
    let known = || Stage::ASKED.map(Stage::as_str).join(", ");
    let found = Stage::ASKED.into_iter().find(|stage| stage.as_str() == word);
    found.ok_or_else(|| format!("the stages are {}", known()))
}

/// What `model test --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// Whether every model can be worked with.
    works: bool,
    /// Each model once, with the stages that it serves.
    models: Vec<Checked>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    match args.verb {
        Verb::Test(args) => test(ctx, &args),
    }
}

fn test(ctx: &Context, args: &TestArgs) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    trust::models(&wiki.config.settings.model)?;
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir()).check(args.stage);
    let wrong = models.iter().filter_map(|model| model.error.as_ref()).collect::<Vec<_>>();
    let exit = match wrong.as_slice() {
        [] => Exit::Done,
        all if all.iter().any(|trouble| trouble.code == "settings") => Exit::Config,
        _ => Exit::Refused,
    };
    if ctx.json {
        ctx.print_json("model-test", &Report { works: wrong.is_empty(), models })?;
        return Ok(exit);
    }
    let mut out = ctx.out();
    for model in &models {
        show(ctx, &mut out, model)?;
    }
    out.finish()?;
    Ok(exit)
}

fn show(ctx: &Context, out: &mut impl Write, model: &Checked) -> Result<()> {
    let stages: Vec<&str> = model.stages.iter().map(|stage| stage.as_str()).collect();
    let name =
        if model.model.is_empty() { model.provider.clone() } else { format!("{}/{}", model.provider, model.model) };
    writeln!(out, "{} for {}", shown(&name), stages.join(", "))?;
    let mut table = Table::new();
    let mut row = |name: &str, cell: Cell| table.row([Cell::new(format!("  {name}")), cell]);
    if let Some(url) = &model.base_url {
        row("address", Cell::with(Meaning::Place, url));
    }
    match &model.error {
        Some(trouble) => {
            row("works", Cell::with(Meaning::Bad, "no"));
            row("because", Cell::new(&trouble.message));
            row("try", Cell::new(trouble.hint));
        }
        None if !model.called => row("works", Cell::with(Meaning::Good, "yes: nothing is called")),
        None => row("works", Cell::with(Meaning::Good, "yes")),
    }
    if let Some(structured) = model.structured {
        row("structured", Cell::new(structured.as_str()));
    }
    if let Some(name) = &model.answered_by {
        row("answered by", Cell::new(name));
    }
    if let (Some(tokens), Some(ms)) = (model.tokens, model.ms) {
        row("took", Cell::new(format!("{} + {} tokens, {ms} ms", tokens.input, tokens.output)));
    }
    table.print(ctx, out)
}
