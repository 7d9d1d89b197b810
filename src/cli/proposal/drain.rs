//! `git memory proposal drain`.

use std::io::Write;

use serde::Serialize;

use super::super::{Context, Exit, Meaning, Result, ask, shown};
use crate::proposal::desk::{Desk, Policy};
use crate::proposal::drain::{Drained, Limits, Step, drain, plan};

/// Accept what a policy allows, close what changes nothing any more, and leave the rest.
///
/// Only marks that this repository can trust count: those of a run in it, and those in a commit of the ledger that an
/// allowed signer (gpg.ssh.allowedSignersFile) signed. What merely arrived with a fetch is left for a person, and so is
/// a proposal that no judge has passed, or that was changed after it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What may land: what triage has marked, or what approval.gated allows
    #[arg(long, value_name = "POLICY", value_enum, default_value = "staged")]
    policy: Which,

    /// Accept at most so many
    #[arg(long, value_name = "N")]
    max: Option<usize>,

    /// Only changes of at most so many lines, added and removed
    #[arg(long, value_name = "N")]
    max_changed_lines: Option<usize>,

    /// Only those that have waited for so long (12h, 7d)
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    older_than: Option<i64>,

    /// Only those of this lane
    #[arg(long, value_name = "LANE")]
    lane: Option<String>,

    /// Only say what would be done
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// What may land.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Which {
    /// What triage has marked staged
    Staged,
    /// What `approval.gated` allows
    Gated,
}

/// What `proposal drain --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Drain {
    /// Nothing was done, only said.
    pub dry_run: bool,
    /// What became of each open proposal, or would.
    pub proposals: Vec<One>,
}

/// What became of one proposal, or would.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct One {
    /// Its id.
    pub id: String,
    /// Its pages, relative to the wiki's root.
    pub paths: Vec<String>,
    /// What became of it.
    pub outcome: Fate,
    /// Why it was closed or left.
    pub reason: Option<String>,
    /// The commit that landed it.
    pub commit: Option<String>,
}

/// What became of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// It landed.
    Accepted,
    /// It was closed, procedurally.
    Closed,
    /// It waits.
    Left,
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    let policy = match args.policy {
        Which::Staged => Policy::Staged,
        Which::Gated => Policy::Gated,
    };
    let limits = Limits {
        max: args.max,
        max_changed_lines: args.max_changed_lines,
        older_than: args.older_than,
        lane: args.lane,
        run: None,
    };
    let planned = plan(&view, &wiki, policy, &limits)?;
    let count = |wanted: fn(&Step) -> bool| planned.iter().filter(|(_, step)| wanted(step)).count();
    let (accepts, closes) = (count(|step| matches!(step, Step::Accept)), count(|step| matches!(step, Step::Close(_))));
    let proposals: Vec<One> = if args.dry_run || accepts + closes == 0 {
        let one = |(item, step): (crate::proposal::Item, Step)| {
            let (outcome, reason) = match step {
                Step::Accept => (Fate::Accepted, None),
                Step::Close(reason) => (Fate::Closed, Some(reason)),
                Step::Leave(reason) => (Fate::Left, Some(reason)),
            };
            One { id: item.id().to_owned(), paths: item.proposal.paths, outcome, reason, commit: None }
        };
        planned.into_iter().map(one).collect()
    } else {
        if !ask::confirm(ctx, &format!("Accept {accepts} and close {closes} of {} proposals?", planned.len()))? {
            return Ok(Exit::Refused);
        }
        let mut desk = Desk::open(&mut wiki)?;
        let one = |(item, drained): (crate::proposal::Item, Drained)| {
            let (outcome, reason, commit) = match drained {
                Drained::Landed(commit) => (Fate::Accepted, None, Some(commit.to_string())),
                Drained::Closed(reason) => (Fate::Closed, Some(reason), None),
                Drained::Left(reason) => (Fate::Left, Some(reason), None),
            };
            One { id: item.id().to_owned(), paths: item.proposal.paths, outcome, reason, commit }
        };
        drain(&mut desk, &mut wiki, policy, &limits)?.into_iter().map(one).collect()
    };
    if ctx.json {
        ctx.print_json("drained", &Drain { dry_run: args.dry_run, proposals })?;
        return Ok(Exit::Done);
    }
    if proposals.is_empty() {
        ctx.note("no open proposals");
    }
    let mut out = ctx.paged();
    for one in &proposals {
        let word = match (one.outcome, args.dry_run) {
            (Fate::Accepted, false) => ctx.paint(Meaning::Good, "accepted"),
            (Fate::Closed, false) => ctx.paint(Meaning::Bad, "closed"),
            (Fate::Accepted, true) => ctx.paint(Meaning::Good, "would be accepted"),
            (Fate::Closed, true) => ctx.paint(Meaning::Bad, "would be closed"),
            (Fate::Left, _) => ctx.paint(Meaning::Dim, "left"),
        };
        let reason = one.reason.as_ref().map_or(String::new(), |reason| format!(": {}", shown(reason)));
        let id = ctx.paint(Meaning::Id, view.short_id(&one.id));
        writeln!(out, "{id} {} {word}{reason}", ctx.paint(Meaning::Place, shown(&one.paths.join(", "))))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}
