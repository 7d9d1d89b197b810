//! `git memory hook`: what the installed hooks call.

use std::io::Write;

use super::{Context, Exit, Result, shown};
use crate::agent::{Event, hook, pre_commit};
use crate::wiki::lint::{self, Severity};

/// Called by the git hooks that `git memory hooks install` installs.
///
/// Queues the commit and starts the worker in the background. GIT_MEMORY_HOOK=0 switches it off. It never fails:
/// what went wrong stands in worker.log below the repository's `memory` folder. Only pre-commit answers with 1, when
/// a staged page has an error.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The event
    event: Event,
    /// What git gave the hook
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    if args.event == Event::PreCommit {
        return Ok(check_staged(ctx));
    }
    hook::leave();
    if let Ok(program) = std::env::current_exe() {
        // Logged already, and no trouble of the git command that runs us.
        let _ = hook::run(args.event, &args.rest, &ctx.dir, &program);
    }
    Ok(Exit::Done)
}

/// Only an error in a page stops the commit; our own trouble is said and passed over.
fn check_staged(ctx: &Context) -> Exit {
    if hook::is_off() || hook::answer_probe(Event::PreCommit) {
        return Exit::Done;
    }
    let now = jiff::Timestamp::now();
    let findings = match pre_commit::staged(&ctx.dir, &|wiki, path, bytes| lint::page(path, bytes, &wiki.layout, now)) {
        Ok(findings) => findings,
        Err(error) => {
            ctx.warn(format!("git-memory could not check the staged pages: {error}"));
            return Exit::Done;
        }
    };
    let mut err = std::io::stderr().lock();
    for finding in &findings {
        let path = finding.path.to_string();
        let path = shown(&path);
        let (line, column, message) = (finding.line, finding.column, shown(&finding.message));
        let _ = writeln!(err, "{path}:{line}:{column}: {}: {message} [{}]", severity(finding.severity), finding.check);
    }
    if findings.iter().all(|finding| finding.severity < Severity::Error) {
        return Exit::Done;
    }
    let _ = writeln!(err, "hint: mend the pages, or commit with --no-verify");
    Exit::Refused
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}
