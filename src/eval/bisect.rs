//! Bisect: which accepted proposal made a command fail, by trying it on the branch as it was after each of its commits.

mod search;
mod trial;

use serde::Serialize;

use super::landed::{landed, subject};
use crate::git::{self, Commit, Oid, ThrowAways, Watch};
use crate::ledger::{Cache, Status};
use crate::proposal::View;
use crate::proposal::trailers::taken_back;
use crate::wiki::Wiki;
use search::{Mark, next, suspects};
use trial::Ended;

/// What to try.
pub struct Ask<'a> {
    /// A command line for the shell; run at the top of a work tree of the commit.
    pub command: &'a str,
    /// A commit on which it is known to pass; else the one before the first accepted proposal.
    pub good: Option<Oid>,
    /// What the command prints is dropped.
    pub quiet: bool,
}

/// Why nothing can be told.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the words stand beside
pub enum Error {
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error("{branch} has no commit with an accepted proposal")]
    NothingAccepted { branch: String },
    #[error("{good} is not one of the commits of {branch} itself")]
    NotOnBranch { good: String, branch: String },
    #[error("{good} is the newest commit of {branch}: nothing was accepted after it")]
    NothingBetween { good: String, branch: String },
    #[error("the command ends with {code} on {commit} already, where it should pass: {subject}")]
    FailsOnGood { commit: String, subject: String, code: i32 },
    #[error("the command passes on {commit}, the newest commit of {branch}: nothing made it fail")]
    PassesOnTip { commit: String, branch: String },
    #[error("the command ends with 125 on {commit}, which says that it cannot tell there")]
    SkipsEnd { commit: String },
    #[error("the command cannot be run: {reason}")]
    CannotRun { reason: String },
    #[error("the command ended with {status} on {commit}")]
    Broke { status: String, commit: String },
    #[error("stopped before it was found; the work trees are removed")]
    Interrupted,
}

/// What a command said of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It passed.
    Good,
    /// It failed.
    Bad,
    /// It cannot tell (125).
    Skip,
}

/// One commit that was tried.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    /// The commit.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// What the command said.
    pub verdict: Verdict,
    /// Its exit code.
    pub code: i32,
}

/// A commit that may have made the command fail.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Suspect {
    /// The commit.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// Who wrote it.
    pub author: String,
    /// The proposals that it landed; none for a person's own commit.
    pub proposals: Vec<Landed>,
    /// The proposal or the commit that it takes back.
    pub takes_back: Option<String>,
    /// The commands that take it back.
    pub undo: Vec<String>,
}

/// A proposal that a suspect landed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Landed {
    /// Its id.
    pub id: String,
    /// Its title; nothing where there is no ledger.
    pub title: Option<String>,
    /// Its pages, relative to the wiki's root; empty where there is no ledger.
    pub paths: Vec<String>,
    /// Where it stands now; nothing where there is no ledger.
    pub status: Option<Status>,
    /// Who let it in: the reviewer, else the author of the landing.
    pub approved_by: String,
}

/// What was found.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Found {
    /// The command.
    pub command: String,
    /// A commit on which it passes.
    pub good: String,
    /// The newest commit, on which it fails.
    pub bad: String,
    /// What was tried, in order.
    pub steps: Vec<Step>,
    /// The commit that made it fail; several, oldest first, where the command could not tell on those between.
    pub suspects: Vec<Suspect>,
}

/// Tries the command on commits of the branch until it is known with which of them it began to fail. `tell` hears of
/// each trial as it ends, with the number of commits that are left.
///
/// # Errors
/// What keeps it from being told: each of [`Error`]'s.
pub fn bisect(wiki: &Wiki, ask: &Ask<'_>, mut tell: impl FnMut(&Step, usize)) -> Result<Found, Error> {
    let view = View::load(wiki, Cache::Use)?;
    let points = points(wiki, &view, ask.good)?;
    let last = points.len() - 1;
    let _watch = Watch::begin();
    let mut looks = ThrowAways::begin(&wiki.repo, "bisect")?;
    let mut steps = Vec::new();
    let mut marks = vec![Mark::Open; points.len()];
    let mut attempt = |at: usize, marks: &mut Vec<Mark>| -> Result<i32, Error> {
        let commit = &points[at];
        let ended = try_out(&mut looks, commit.oid, ask);
        if git::asked_to_end() {
            return Err(Error::Interrupted);
        }
        let code = match ended? {
            Ended::Code(code @ 0..=127) => code,
            Ended::Code(code) => return Err(broke(format!("exit status {code}"), commit)),
            Ended::Signal(status) => return Err(broke(status, commit)),
        };
        let (mark, verdict) = match code {
            0 => (Mark::Good, Verdict::Good),
            125 => (Mark::Skip, Verdict::Skip),
            _ => (Mark::Bad, Verdict::Bad),
        };
        marks[at] = mark;
        let step = Step { commit: commit.oid.to_string(), subject: subject(commit), verdict, code };
        tell(&step, search::left(marks));
        steps.push(step);
        Ok(code)
    };
    let (first, newest) = (&points[0], &points[last]);
    match attempt(0, &mut marks)? {
        0 => {}
        125 => return Err(Error::SkipsEnd { commit: first.oid.to_string() }),
        code @ (126 | 127) => {
            return Err(Error::CannotRun { reason: format!("the shell ends with {code}: no such program") });
        }
        code => {
            return Err(Error::FailsOnGood { commit: first.oid.to_string(), subject: subject(first), code });
        }
    }
    match attempt(last, &mut marks)? {
        0 => {
            let branch = wiki.branch_name().to_owned();
            return Err(Error::PassesOnTip { commit: newest.oid.to_string(), branch });
        }
        125 => return Err(Error::SkipsEnd { commit: newest.oid.to_string() }),
        _ => {}
    }
    while let Some(at) = next(&marks) {
        attempt(at, &mut marks)?;
    }
    Ok(Found {
        command: ask.command.to_owned(),
        good: first.oid.to_string(),
        bad: newest.oid.to_string(),
        steps,
        suspects: suspects(&marks).map(|at| suspect(&view, &points[at])).collect(),
    })
}

/// The branch's own commits from one that is good to the tip, oldest first: two at least.
fn points(wiki: &Wiki, view: &View, good: Option<Oid>) -> Result<Vec<Commit>, Error> {
    let branch = || wiki.branch_name().to_owned();
    let Some(tip) = wiki.tip else { return Err(Error::NothingAccepted { branch: branch() }) };
    let (mut points, met) = wiki.repo.first_parents(tip, good)?;
    match good {
        Some(good) if good == tip => {
            return Err(Error::NothingBetween { good: good.to_string(), branch: branch() });
        }
        Some(good) if !met => return Err(Error::NotOnBranch { good: good.to_string(), branch: branch() }),
        Some(good) => points.push(wiki.repo.commit(good)?),
        None => {
            // From the newest to the oldest: the one below the first that landed something.
            let first = points.iter().rposition(|commit| !landed(view, commit).is_empty());
            let below = first.map(|first| first + 1).filter(|below| *below < points.len());
            points.truncate(below.ok_or_else(|| Error::NothingAccepted { branch: branch() })? + 1);
        }
    }
    points.reverse();
    Ok(points)
}

fn try_out(looks: &mut ThrowAways<'_>, commit: Oid, ask: &Ask<'_>) -> Result<Ended, Error> {
    let look = looks.make(commit)?;
    trial::run(ask.command, look.path(), ask.quiet)
        .map_err(|error| Error::CannotRun { reason: format!("there is no shell to run it: {error}") })
}

fn broke(status: String, commit: &Commit) -> Error {
    Error::Broke { status, commit: commit.oid.to_string() }
}

fn suspect(view: &View, commit: &Commit) -> Suspect {
    let proposals: Vec<Landed> = landed(view, commit)
        .into_iter()
        .map(|(named, item)| Landed {
            id: named.proposal,
            title: item.map(|item| item.proposal.title.clone()),
            paths: item.map(|item| item.proposal.paths.clone()).unwrap_or_default(),
            status: item.map(|item| item.status),
            approved_by: named.reviewed_by.unwrap_or_else(|| commit.author.to_string()),
        })
        .collect();
    let takes_back = taken_back(commit.message.as_ref()).map(|taken| taken.proposal.unwrap_or(taken.commit));
    let stands = |landed: &&Landed| landed.status.is_none_or(|status| status == Status::Accepted);
    let mut undo: Vec<String> =
        proposals.iter().filter(stands).map(|landed| format!("git memory proposal revert {}", landed.id)).collect();
    if proposals.is_empty() {
        let parent = if commit.parents.len() > 1 { "-m 1 " } else { "" };
        undo.push(format!("git revert {parent}{}", commit.oid));
    }
    Suspect {
        subject: subject(commit),
        author: commit.author.to_string(),
        proposals,
        takes_back,
        undo,
        commit: commit.oid.to_string(),
    }
}
