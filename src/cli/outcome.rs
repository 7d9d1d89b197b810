//! `git memory outcome`.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, ExitStatus, Stdio};

use super::{CliError, Context, Exit, Meaning, Result, ask, shown};
use crate::feedback::outcome::{self, Attested, Claim, Outcome, Verifier, Went};
use crate::feedback::{Error, automation};
use crate::ledger;

/// Tell how the task went that a search or context was made for.
///
/// Pages that were shown in that episode and had a part in the success or failure are named with --used and --harmful.
/// They are credited only by a verdict that others than the agent itself can answer for: a person's, or a tool's with
/// evidence. With --run, the check is run here, and its command, exit status and HEAD are recorded; the exit code is 0
/// when the check passed and 1 when it did not.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The episode's id, as the search printed it, or the beginning of it
    episode: String,

    /// How it went [with --run, the check says]
    #[arg(long, value_name = "OUTCOME", value_enum, required_unless_present = "run")]
    outcome: Option<Went>,

    /// Who says so [with --run: automated_test]
    #[arg(long, value_name = "VERIFIER", value_enum, required_unless_present = "run")]
    verifier: Option<Verifier>,

    /// A page that had a part in the success; may be given more than once
    #[arg(long, value_name = "PAGE")]
    used: Vec<String>,

    /// A page that had a part in the failure; may be given more than once
    #[arg(long, value_name = "PAGE")]
    harmful: Vec<String>,

    /// Where the verdict can be looked up
    #[arg(long, value_name = "REF")]
    evidence: Option<String>,

    /// Run the check that stands after `--`
    #[arg(long, requires = "command")]
    run: bool,

    /// The check and its arguments
    #[arg(last = true, value_name = "CMD", requires = "run")]
    command: Vec<OsString>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    let claim = Claim {
        episode: args.episode,
        went: args.outcome,
        verifier: args.verifier.unwrap_or(Verifier::AutomatedTest),
        used: args.used,
        harmful: args.harmful,
        evidence: args.evidence,
        runs: args.run,
        under_agent: ask::under_agent(),
    };
    let checked = outcome::check(&wiki, claim, ledger::now())?;
    let attested = args.run.then(|| attest(ctx, &args.command));
    if let Some((_, Some(trouble))) = &attested {
        ctx.warn(trouble);
    }
    let told = args.outcome;
    let outcome = checked.record(&wiki, attested.map(|(attested, _)| attested))?;
    if let Some(told) = told.filter(|told| *told != outcome.outcome) {
        ctx.warn(format!("you said {}, but the check says {}", word(&told), word(&outcome.outcome)));
    }
    let well = outcome.run.is_none() || outcome.outcome == Went::Passed;
    if ctx.json {
        ctx.print_json("outcome", &outcome)?;
    } else {
        print(ctx, &outcome)?;
    }
    Ok(if well { Exit::Done } else { Exit::Refused })
}

/// Runs the check where we are. Its output passes through; with `--json` all of it to standard error, where it spoils
/// nothing. Returns what it attests, and why it could not be started.
fn attest(ctx: &Context, command: &[OsString]) -> (Attested, Option<String>) {
    let line = command.iter().map(|arg| quoted(&arg.to_string_lossy())).collect::<Vec<_>>().join(" ");
    let head = ctx.repo().ok().and_then(|repo| repo.reference("HEAD").ok().flatten()).map(|oid| oid.to_string());
    let ran = start(ctx, command);
    let trouble = ran.as_ref().err().map(|error| format!("cannot run {line}: {error}"));
    let exit = ran.ok().and_then(|status| status.code());
    (Attested { command: line, exit, head }, trouble)
}

fn start(ctx: &Context, command: &[OsString]) -> std::io::Result<ExitStatus> {
    let (program, args) = command.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut check = Command::new(program);
    // What the check searches is no use of the wiki.
    check.args(args).current_dir(&ctx.dir).env(automation::VARIABLE, "outcome");
    if ctx.json {
        check.stdout(Stdio::from(std::io::stderr()));
    }
    check.status()
}

/// A word for the shell, quoted where that is needed.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@,+=%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

fn print(ctx: &Context, outcome: &Outcome) -> Result<()> {
    let mut out = ctx.out();
    let id = ctx.paint(Meaning::Id, &outcome.episode);
    writeln!(out, "{id}: {} ({})", word(&outcome.outcome), word(&outcome.verifier))?;
    for (pages, part) in [(&outcome.used, "used"), (&outcome.harmful, "harmful")] {
        for page in pages {
            writeln!(out, "  {part}: {}", ctx.paint(Meaning::Place, shown(page)))?;
        }
    }
    out.finish()?;
    let named = !outcome.used.is_empty() || !outcome.harmful.is_empty();
    if named && !outcome.verified {
        ctx.note("nobody verified it: it is kept, and credits no page");
    }
    Ok(())
}

/// The word as it stands in the ledger, for people.
fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().replace('_', " ")
}

impl From<Error> for CliError {
    fn from(error: Error) -> CliError {
        match error {
            Error::Git(error) => error.into(),
            Error::Refused(refused) => refused.into(),
        }
    }
}
