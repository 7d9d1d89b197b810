//! `git memory bisect`.

use std::io::Write;

use super::{CliError, Context, Exit, Meaning, Result, shown};
use crate::eval::bisect::{self, Ask, Found, Suspect, Verdict, bisect};

/// Find the accepted proposal that made a command fail.
///
/// The command is tried on the wiki branch as it was after each of its commits, by halving, each time in a work tree of
/// its own that is thrown away; your work tree, index and HEAD, and a `git bisect` that is going on, are not touched. It
/// runs with the shell at the top of that work tree. Exit code 0 says that the commit is good, 125 that it cannot tell
/// there, anything else up to 127 that it is bad; 128 and more, or a signal, ends the search.
///
/// What the command prints goes to standard error; -q drops it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command line to try
    #[arg(long, value_name = "CMD", required = true)]
    run: String,

    /// A commit of the branch on which it passes [default: the one before the first accepted proposal]
    #[arg(long, value_name = "COMMIT", hide_default_value = true)]
    good: Option<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let wiki = ctx.wiki()?;
    let good = args.good.as_deref().map(|revision| super::commit(&wiki.repo, revision)).transpose()?;
    let ask = Ask { command: &args.run, good, quiet: ctx.quiet };
    let found = bisect(&wiki, &ask, |step, left| {
        let verdict = match step.verdict {
            Verdict::Good => "good",
            Verdict::Bad => "bad",
            Verdict::Skip => "cannot tell",
        };
        ctx.note(format!("{} {verdict}, {left} left: {}", short(&step.commit), step.subject));
    })?;
    if ctx.json {
        ctx.print_json("bisect", &found)?;
    } else {
        let mut out = ctx.out();
        print(ctx, &found, &mut out)?;
        out.finish()?;
    }
    Ok(if found.suspects.len() == 1 { Exit::Done } else { Exit::Refused })
}

fn print(ctx: &Context, found: &Found, out: &mut impl Write) -> Result<()> {
    if found.suspects.len() > 1 {
        writeln!(out, "One of these made it fail; the command cannot tell on those between:\n")?;
    }
    for suspect in &found.suspects {
        print_one(ctx, suspect, out)?;
    }
    Ok(())
}

fn print_one(ctx: &Context, suspect: &Suspect, out: &mut impl Write) -> Result<()> {
    let commit = ctx.paint(Meaning::Id, short(&suspect.commit));
    let subject = shown(&suspect.subject);
    for landed in &suspect.proposals {
        let id = ctx.paint(Meaning::Id, &landed.id);
        let title = landed.title.as_deref().unwrap_or(&suspect.subject);
        writeln!(out, "proposal {id} {}", ctx.paint(Meaning::Head, shown(title)))?;
        if !landed.paths.is_empty() {
            writeln!(out, "  {}", ctx.paint(Meaning::Place, shown(&landed.paths.join(", "))))?;
        }
        writeln!(out, "  landed as {commit}, accepted by {}", shown(&landed.approved_by))?;
        if let Some(status) = landed.status.filter(|status| *status != crate::ledger::Status::Accepted) {
            writeln!(out, "  now {status}")?;
        }
    }
    if suspect.proposals.is_empty() {
        writeln!(out, "commit {commit} {}", ctx.paint(Meaning::Head, subject))?;
        let back = suspect.takes_back.as_ref().map(|what| format!(", takes back {}", shown(short(what))));
        writeln!(out, "  by {}, no proposal{}", shown(&suspect.author), back.unwrap_or_default())?;
    }
    writeln!(out, "{}", ctx.paint(Meaning::Dim, format!("  git show -m --first-parent {}", short(&suspect.commit))))?;
    for command in &suspect.undo {
        writeln!(out, "{}", ctx.paint(Meaning::Dim, format!("  {command}")))?;
    }
    Ok(())
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

impl From<bisect::Error> for CliError {
    fn from(error: bisect::Error) -> CliError {
        use bisect::Error as E;
        let (code, hint) = match error {
            E::Git(error) => return error.into(),
            E::NothingAccepted { .. } => ("nothing_accepted", "name a commit on which it passes with --good"),
            E::NotOnBranch { .. } => ("not_on_branch", "`git log --first-parent` of the branch lists its commits"),
            E::NothingBetween { .. } => ("nothing_between", "name an older commit with --good"),
            E::FailsOnGood { .. } => ("fails_on_good", "name another commit, on which it passes, with --good"),
            E::PassesOnTip { .. } => ("passes_on_tip", "see that the command fails where you expect it to"),
            E::SkipsEnd { .. } => ("cannot_tell", "name a commit on which it can tell with --good"),
            E::CannotRun { .. } => {
                ("cannot_run", "it is run with the shell at the top of a work tree of the wiki branch")
            }
            E::Broke { .. } => ("broke", "nothing was changed; a command that cannot tell ends with 125"),
            E::Interrupted => ("interrupted", "nothing was changed; run it again to begin anew"),
        };
        CliError::refused(code, error.to_string()).hint(hint)
    }
}
