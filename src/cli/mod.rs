//! The command line: one file per command; each parses, calls one room, and prints. Human text and JSON are made
//! here and nowhere else.
//!
//! A command is a struct of arguments whose doc comment is its help, and a function
//! `run(&Context, Args) -> Result<Exit>`. It is named in [`Command`] and in [`Command::run`], and what it prints with
//! `--json` in `schema/made.rs`.

mod agent;
mod args;
pub mod ask;
mod context;
mod error;
mod moment;
pub mod output;
mod packed;
mod pager;
mod progress;
mod quick;
mod revision;
mod sarif;
pub mod schema;
mod table;

mod bisect;
mod blame;
mod capture;
mod completions;
mod config;
mod demo;
mod doctor;
mod eval;
mod feedback;
mod gather;
mod help;
mod hook;
mod hooks;
mod improve;
mod init;
mod lint;
mod log;
mod man;
mod mcp;
mod model;
mod outcome;
pub mod proposal;
mod review;
mod run;
mod search;
mod session;
mod session_start;
mod status;
mod trust;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

pub use args::{ColorWhen, Globals};
pub use context::{Context, Meaning};
pub use error::{CliError, ErrorObject, Exit, Result};
pub use output::Out;
pub use progress::Progress;
pub use revision::commit;
pub use table::{Cell, Table};

pub use crate::wiki::shown::{age, shown, shown_lines, span};

/// Turns what coding agents did into knowledge that people have reviewed.
///
/// The knowledge is a wiki: markdown pages in a git repository. Sessions of agents go in; small page edits with
/// their evidence come out as proposals, which a person or a policy accepts or rejects. There is no server and no
/// database: the repository is the store and its history is the audit log.
#[derive(Debug, clap::Parser)]
#[command(
    name = "git-memory",
    bin_name = "git memory",
    version,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 100,
    after_help = "`git memory help [COMMAND]` says more."
)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// What can be asked for.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Init(init::Args),
    Capture(capture::Args),
    Improve(improve::Args),
    Review(review::Args),
    Proposal(proposal::Args),
    #[command(flatten)]
    Short(proposal::Short),
    Run(run::Args),
    Search(search::Args),
    Context(gather::Args),
    Session(session::Args),
    Feedback(feedback::Args),
    Outcome(outcome::Args),
    Status(status::Args),
    Log(log::Args),
    Blame(blame::Args),
    Bisect(bisect::Args),
    Eval(eval::Args),
    Lint(lint::Args),
    Doctor(doctor::Args),
    Config(config::Args),
    Trust(trust::Args),
    Model(model::Args),
    Hooks(hooks::Args),
    Agent(agent::Args),
    SessionStart(session_start::Args),
    Mcp(mcp::Args),
    #[command(hide = true)]
    Hook(hook::Args),
    #[command(hide = true)]
    Worker(worker::Args),
    Demo(demo::Args),
    Completions(completions::Args),
    Man(man::Args),
    Schema(schema::Args),
    Help(help::Args),
}

impl Command {
    fn run(self, ctx: &Context) -> Result<Exit> {
        match self {
            Command::Init(args) => init::run(ctx, args),
            Command::Capture(args) => capture::run(ctx, args),
            Command::Improve(args) => improve::run(ctx, args),
            Command::Review(args) => review::run(ctx, args),
            Command::Proposal(args) => proposal::run(ctx, args),
            Command::Short(verb) => verb.run(ctx),
            Command::Run(args) => run::run(ctx, args),
            Command::Search(args) => search::run(ctx, args),
            Command::Context(args) => gather::run(ctx, args),
            Command::Session(args) => session::run(ctx, args),
            Command::Feedback(args) => feedback::run(ctx, args),
            Command::Outcome(args) => outcome::run(ctx, args),
            Command::Status(args) => status::run(ctx, args),
            Command::Log(args) => log::run(ctx, args),
            Command::Blame(args) => blame::run(ctx, args),
            Command::Bisect(args) => bisect::run(ctx, args),
            Command::Eval(args) => eval::run(ctx, args),
            Command::Lint(args) => lint::run(ctx, args),
            Command::Doctor(args) => doctor::run(ctx, args),
            Command::Config(args) => config::run(ctx, args),
            Command::Trust(args) => trust::run(ctx, args),
            Command::Model(args) => model::run(ctx, args),
            Command::Hooks(args) => hooks::run(ctx, args),
            Command::Agent(args) => agent::run(ctx, args),
            Command::SessionStart(args) => session_start::run(ctx, args),
            Command::Mcp(args) => mcp::run(ctx, args),
            Command::Hook(args) => hook::run(ctx, args),
            Command::Worker(args) => worker::run(ctx, args),
            Command::Demo(args) => demo::run(ctx, args),
            Command::Completions(args) => completions::run(ctx, args),
            Command::Man(args) => man::run(ctx, args),
            Command::Schema(args) => schema::run(ctx, args),
            Command::Help(args) => help::run(ctx, args),
        }
    }
}

/// The whole process: reads the arguments, runs the command, reports what went wrong, and gives the exit code.
pub fn main() -> ExitCode {
    error::install_panic_hook();
    let args: Vec<OsString> = std::env::args_os().collect();
    let early = args::Early::scan(&args);
    let done =
        std::panic::catch_unwind(|| run(args, &early)).unwrap_or_else(|panic| Err(CliError::from_panic(&*panic)));
    match done {
        Ok(exit) => exit.into(),
        Err(error) => error.report(early.json),
    }
}

fn run(args: Vec<OsString>, early: &args::Early) -> Result<Exit> {
    if let Some(cli) = quick::parse(&args) {
        return cli.command.run(&Context::new(cli.globals)?);
    }
    let mut command = Cli::command().color(early.color.for_clap());
    let matches = match command.try_get_matches_from_mut(args) {
        Ok(matches) => matches,
        Err(error) => return help::answer(&error, early.color),
    };
    let cli = Cli::from_arg_matches(&matches).map_err(|error| CliError::usage(&error.format(&mut command)))?;
    let ctx = Context::new(cli.globals)?;
    cli.command.run(&ctx)
}
