//! `git memory feedback`.

use std::io::Write;

use super::{CliError, Context, Exit, Meaning, Result, ask, shown};
use crate::feedback::{Feedback, Mode, Replacement, Verdict};
use crate::proposal::feedback::{Given, give};
use crate::proposal::propose::Writer;

/// Say of a page that it helped, or what is wrong with it.
///
/// What is said moves the page's utility, by a tenth of the way for all that is said in one day, and fades with time.
/// With --replace and --with the exact fix becomes a proposal at once: each text must stand in the page exactly once,
/// and --source tells where the right one comes from. A fix that does not pass records nothing.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("verdict").required(true).args(["positive", "negative", "failed_to_apply"])))]
pub struct Args {
    /// The page: its path, its name, its title, or the beginning of one that fits no other
    page: String,

    /// It helped
    #[arg(long)]
    positive: bool,

    /// It is wrong; say why with --reason
    #[arg(long)]
    negative: bool,

    /// It was the wrong page for the task, which says nothing against the page
    #[arg(long)]
    failed_to_apply: bool,

    /// Why, in a sentence
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// What is wrong with it
    #[arg(long, value_name = "MODE", value_enum)]
    mode: Option<Mode>,

    /// A text of the page that is to be replaced; may be given more than once, each with its --with
    #[arg(long, value_name = "OLD", allow_hyphen_values = true)]
    replace: Vec<String>,

    /// What is to stand there instead
    #[arg(long, value_name = "NEW", allow_hyphen_values = true)]
    with: Vec<String>,

    /// The page that takes its place
    #[arg(long, value_name = "PAGE")]
    superseded_by: Option<String>,

    /// Where the right text comes from: a commit, a session, a page, an address, a command. A commit, another id or a
    /// page must be there
    #[arg(long, value_name = "WHERE")]
    source: Option<String>,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    if args.replace.len() != args.with.len() {
        let what = format!("--replace is given {} times, --with {} times", args.replace.len(), args.with.len());
        return Err(CliError::new(Exit::Usage, "usage", what).hint("give each --replace OLD its --with NEW"));
    }
    let verdict = match (args.positive, args.negative) {
        (true, _) => Verdict::Positive,
        (_, true) => Verdict::Negative,
        _ => Verdict::FailedToApply,
    };
    let feedback = Feedback {
        page: args.page,
        verdict,
        mode: args.mode,
        reason: args.reason,
        replace: args.replace.into_iter().zip(args.with).map(|(old, new)| Replacement { old, new }).collect(),
        superseded_by: args.superseded_by,
        source: args.source,
    };
    let (operator, agent) = (wiki.repo.operator()?, ask::under_agent());
    let writer = Writer { person: operator.clone(), operator, by_hand: agent.is_none(), deferred: None };
    let given = give(&mut wiki, feedback, &writer, agent.as_deref())?;
    if given.proposal.is_some() {
        super::proposal::materialize(ctx);
    }
    if ctx.json {
        ctx.print_json("feedback", &given)?;
    } else {
        print(ctx, &given)?;
    }
    Ok(Exit::Done)
}

fn print(ctx: &Context, given: &Given) -> Result<()> {
    let mut out = ctx.out();
    let page = ctx.paint(Meaning::Place, shown(&given.page));
    let said = given.verdict.as_str().replace('_', " ");
    match given.utility {
        Some(utility) => writeln!(out, "{page}: {said}; utility {utility:.2}")?,
        None => writeln!(out, "{page}: {said}")?,
    }
    if let Some(fix) = &given.proposal {
        let id = ctx.paint(Meaning::Id, &fix.id);
        match (fix.outcome.as_str(), &fix.behind) {
            ("held", Some(behind)) => writeln!(out, "the fix is {id}, held behind {behind} until that is decided")?,
            ("sighted", _) => writeln!(out, "the fix waits already as {id}")?,
            (outcome, _) => writeln!(out, "the fix is {outcome} as {id}")?,
        }
    }
    out.finish()?;
    given.notes.iter().for_each(|note| ctx.note(note));
    if given.fell {
        ctx.note(format!("{} fell below neutral: it is due for a review", given.page));
    }
    if let Some(fix) = given.proposal.as_ref().filter(|fix| fix.outcome == "staged") {
        ctx.hint(format!("`git memory proposal show {0}`, `git memory proposal accept {0}`", &fix.id[..7]));
    }
    Ok(())
}
