//! `git memory mcp`.

use super::{CliError, Context, Exit, Result};
use crate::mcp::{self, Advice};

/// Serve the wiki to a coding agent over the Model Context Protocol, on standard input and output.
///
/// For the settings of an agent, not for the terminal: standard output carries messages only. Agents search, read,
/// give feedback, propose and look; nothing of it accepts, rejects or reverts a proposal. The wiki is the one that
/// other commands find from the folder (-C names another), looked up at each call: where there is none yet, the tools
/// say so. With --scope only that scope and `global` are served. Ends when the client closes standard input.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub(super) fn run(ctx: &Context, _args: Args) -> Result<Exit> {
    mcp::serve(ctx.dir.clone(), ctx.scope.clone(), advise);
    Ok(Exit::Done)
}

/// What the command line would say.
fn advise(error: mcp::Error) -> Advice {
    let error = CliError::from(error);
    Advice { code: error.code.to_owned(), message: error.message, hint: error.hint }
}

impl From<mcp::Error> for CliError {
    fn from(error: mcp::Error) -> CliError {
        use mcp::Error as E;
        match error {
            E::Open(error) => error.into(),
            E::Git(error) => error.into(),
            E::Proposal(error) => error.into(),
            E::Improve(error) => error.into(),
            E::Lint(error) => error.into(),
            E::Search(error) => error.into(),
            E::Feedback(error) => error.into(),
            E::Scope(error) => error.into(),
            E::Arguments(_) => CliError::refused("bad_arguments", error.to_string())
                .hint("the tool's input schema names what it takes"),
            E::NoPage(_) => CliError::refused("no_such_page", error.to_string())
                .hint("give the path from the wiki's root, as memory_search names it"),
        }
    }
}
