//! The state of a wiki on one screen.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sessions::{self, Captured, Standing};
use crate::feedback::spool;
use crate::git::{self, Repo};
use crate::improve::Run;
use crate::improve::run::RunState;
use crate::improve::since::Unseen;
use crate::improve::underway::{self, Underway};
use crate::ledger::{self, Cache, State, cache, queue};
use crate::proposal::{View, view};
use crate::session;
use crate::wiki::shown::json_fault;
use crate::wiki::{Kind, Wiki};

/// The state of a wiki.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Status {
    /// The wiki's branch.
    pub branch: String,
    /// Its commit; null while it is unborn.
    pub commit: Option<String>,
    /// The folder of the pages; empty: the top.
    pub root: String,
    /// The repository that holds it.
    pub repository: String,
    /// The code repository that the command ran in, when that is another one.
    pub code: Option<String>,
    /// The names of its scopes.
    pub scopes: Vec<String>,
    /// The scope that was asked for; null: all.
    pub scope: Option<String>,
    /// What stands in the repository.
    #[serde(flatten)]
    pub standing: Stands,
    /// The run at work here; null: none is.
    pub at_work: Option<Underway>,
    /// Runs here whose process died; the next run finishes them or gives them up.
    pub dead: Vec<Underway>,
    /// Events of hooks and captures that no run has looked at.
    pub queued: usize,
    /// Searches that the next run carries into the ledger.
    pub spool: usize,
    /// What cannot be read, or needs somebody's look, in words.
    pub trouble: Vec<String>,
    /// In every scope: the sessions that no run has looked at and one would look at by itself.
    #[serde(skip)]
    pub unseen: Vec<Unseen>,
}

/// What follows from the refs alone: for people, what is wrong with it, and what runs have not looked at.
type Collected = (Stands, Vec<String>, Vec<Unseen>);

/// What follows from the refs alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stands {
    /// How many pages it has.
    pub pages: usize,
    /// What waits for a decision.
    pub pending: Pending,
    /// Captured sessions.
    pub sessions: Sessions,
    /// Pages at which a lane's looks failed too often to be tried again: the page and the lane.
    #[serde(default)]
    pub parked_pages: Vec<(String, String)>,
    /// The newest runs, newest first, and those before them that failed and no good one has followed.
    pub runs: Vec<LastRun>,
    /// How many more failed before those, without a good one since.
    #[serde(default)]
    pub more_failed: usize,
}

/// What waits for a decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pending {
    /// How many.
    pub count: usize,
    /// When the oldest was staged.
    pub oldest: Option<Timestamp>,
    /// How many by lane.
    pub lanes: BTreeMap<String, usize>,
    /// How many need a person.
    pub needs_person: usize,
    /// How many do not merge any more.
    pub conflicted: usize,
    /// How many candidates are held back behind one that waits.
    pub held: usize,
    /// The ids of those that another clone staged and whose branches are not here.
    #[serde(default)]
    pub elsewhere: Vec<String>,
}

/// Captured sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sessions {
    /// How many.
    pub count: usize,
    /// How many no run has looked at.
    pub unseen: usize,
    /// Sessions whose reviews failed too often to be tried again.
    pub parked: Vec<String>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LastRun {
    /// Its id.
    pub id: String,
    /// When it began.
    pub started_at: Timestamp,
    /// How far it got.
    pub state: RunState,
    /// In a line.
    pub summary: String,
    /// Where it failed.
    pub error: Option<String>,
}

/// How many runs are shown.
const RUNS: usize = 3;

/// How many runs that failed are shown.
const FAILED: usize = 10;

/// How many runs are looked at for failures that nothing good has followed.
const LOOKED_AT: usize = 50;

/// How many queued events are a sign that no worker takes them.
const MANY_QUEUED: usize = 10;

const FILE: &str = "status.json";

/// Collects the state, of one scope where one is named. What follows from the refs is kept under their values, so
/// that asking again costs no more in a ledger with many events.
///
/// # Errors
/// When the repository cannot be read, or a ref of ours is broken: no number is better than a wrong one.
pub fn status(wiki: &Wiki, scope: Option<&str>) -> git::Result<Status> {
    let key = key(wiki, scope)?;
    let (standing, mut trouble, unseen): Collected = match cache::read(&wiki.repo, FILE, &key) {
        Some(known) => known,
        None => {
            let found = collect(wiki, scope)?;
            // What could not be read may be readable next time.
            if found.1.is_empty() {
                cache::write(&wiki.repo, FILE, &key, &found);
            }
            found
        }
    };
    let memory = wiki.repo.memory_dir();
    let queued = match queue::list(&memory) {
        Ok(queue) => {
            let files = queue.unreadable.iter();
            trouble.extend(files.map(|(path, why)| format!("cannot read {} in the queue: {why}", path.display())));
            queue.waiting.len()
        }
        Err(error) => {
            trouble.push(format!("cannot read the queue in {}: {error}", memory.display()));
            0
        }
    };
    let journals = underway::journals(&memory);
    let aside = |path: &PathBuf| {
        format!("the journal of a run could not be read; it stands in {}, delete it when you looked", path.display())
    };
    trouble.extend(journals.malformed.iter().map(aside));
    let spool = spool::waiting(&wiki.repo);
    trouble.extend(spool.faults.iter().map(|fault| format!("a line of the spool cannot be read: {fault}")));
    let corrupt = spool::corrupt(&wiki.repo);
    trouble.extend(corrupt.iter().map(|file| {
        format!("lines of the spool could not be read; they stand in {}, delete it when you looked", file.display())
    }));
    let log = memory.join("worker.log");
    if queued > MANY_QUEUED && log.exists() {
        trouble.push(format!("the worker does not keep up; {} may say why", log.display()));
    }
    Ok(Status {
        branch: wiki.branch_name().to_owned(),
        commit: wiki.tip.map(|tip| tip.to_string()),
        root: wiki.root.clone(),
        repository: place(&wiki.repo),
        code: wiki.code.as_ref().map(place),
        scopes: wiki.scopes.all.iter().map(|scope| scope.name.clone()).collect(),
        scope: scope.map(str::to_owned),
        standing,
        at_work: journals.at_work,
        dead: journals.dead,
        queued,
        spool: spool.events.len(),
        trouble,
        unseen,
    })
}

fn place(repo: &Repo) -> String {
    repo.workdir().unwrap_or_else(|| repo.common_dir()).display().to_string()
}

/// A digest over everything that [`collect`] reads.
fn key(wiki: &Wiki, scope: Option<&str>) -> git::Result<String> {
    let mut all = Sha256::new();
    let mut add = |text: &str| {
        all.update(text.as_bytes());
        all.update([0]);
    };
    add(env!("CARGO_PKG_VERSION"));
    add(&wiki.branch);
    add(&wiki.root);
    add(scope.unwrap_or("\u{1}"));
    for oid in [wiki.tip, wiki.repo.reference(ledger::REF)?] {
        add(&oid.map_or_else(String::new, |oid| oid.to_string()));
    }
    for prefix in [view::PENDING, session::REFS] {
        for (name, oid) in wiki.repo.references(prefix)? {
            add(&name);
            add(&oid.to_string());
        }
    }
    Ok(all.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn collect(wiki: &Wiki, scope: Option<&str>) -> git::Result<Collected> {
    let within = |name: &str| scope.is_none_or(|scope| scope == name);
    let view = View::load(wiki, Cache::Use)?;
    let mut trouble: Vec<String> =
        view.state.faults.iter().map(|fault| format!("a part of the ledger cannot be read: {fault}")).collect();
    let open: Vec<_> = view.open().into_iter().filter(|item| within(&item.proposal.scope)).collect();
    let mut pending = Pending {
        count: open.len(),
        oldest: open.first().map(|item| item.proposal.staged_at),
        held: view.state.held.len(),
        ..Pending::default()
    };
    for item in &open {
        *pending.lanes.entry(item.proposal.lane.clone()).or_default() += 1;
        pending.needs_person +=
            usize::from(item.proposal.deferred.is_some() || item.proposal.kind == Kind::Rule.as_str());
        pending.conflicted += usize::from(item.status == ledger::Status::Conflicted);
        pending.elsewhere.extend(item.is_elsewhere(&wiki.repo).then(|| item.id().to_owned()));
    }
    trouble.extend(astray(wiki, &view));
    let found = sessions::list(&wiki.repo)?;
    trouble.extend(found.faults.iter().map(|fault| format!("a session cannot be read: {fault}")));
    let unseen = unseen(&found.all, &view.state);
    let mut sessions = Sessions::default();
    for captured in found.all.iter().filter(|captured| within(&captured.meta.scope)) {
        sessions.count += 1;
        match captured.standing {
            Standing::Unseen => sessions.unseen += 1,
            Standing::Parked => sessions.parked.push(captured.meta.id.clone()),
            Standing::Reviewed | Standing::Skipped(_) => {}
        }
    }
    let pages = wiki.pages()?;
    let mut count = 0;
    let mut parked_pages = Vec::new();
    for (path, blob) in &pages {
        let path = path.to_string();
        if !within(&wiki.scopes.of_page(&path).name) {
            continue;
        }
        count += 1;
        if let Some(lanes) = view.state.pages.get(&path) {
            let blob = blob.to_string();
            let parked = lanes.iter().filter(|(_, looked)| looked.is_parked(&blob));
            parked_pages.extend(parked.map(|(lane, _)| (path.clone(), lane.clone())));
        }
    }
    let (runs, more_failed) = runs(&wiki.repo, &mut trouble)?;
    Ok((Stands { pages: count, pending, sessions, parked_pages, runs, more_failed }, trouble, unseen))
}

/// The sessions that no run has looked at, but for those that ended before the wiki began to review by itself.
fn unseen(all: &[Captured], state: &State) -> Vec<Unseen> {
    let unseen = all.iter().filter(|captured| captured.standing == Standing::Unseen).map(|captured| &captured.meta);
    let unseen =
        unseen.map(|meta| (meta, Unseen { captured: meta.captured, ended: meta.ended.unwrap_or(meta.captured) }));
    let begun = |meta: &session::Meta, ended| state.watermarks.get(&meta.scope).is_some_and(|mark| ended > *mark);
    unseen.filter(|(meta, unseen)| begun(meta, unseen.ended)).map(|(_, unseen)| unseen).collect()
}

/// Proposals whose branch, record or landing is not where it should be.
fn astray(wiki: &Wiki, view: &View) -> Vec<String> {
    let mut trouble = Vec::new();
    for item in &view.items {
        let (id, branch) = (item.id(), wiki.branch_name());
        if item.is_lost() && !item.is_elsewhere(&wiki.repo) {
            trouble
                .push(format!("the branch of proposal {id} is gone; `git memory proposal reopen {id}` makes it again"));
        }
        // Below the cut of a shallow history a landing cannot be seen.
        if item.is_missing() && !wiki.repo.is_shallow() {
            trouble.push(format!(
                "proposal {id} was accepted, and {branch} does not hold it: fetch the branch, or `git memory proposal \
                 reopen {id}`"
            ));
        }
    }
    let name = |id: &String| format!("{}{id} belongs to no proposal that the ledger knows", view::PENDING);
    trouble.extend(view.strays.iter().map(name));
    trouble
}

/// The newest runs and those before them that failed; how many more did.
fn runs(repo: &Repo, trouble: &mut Vec<String>) -> git::Result<(Vec<LastRun>, usize)> {
    let (mut runs, mut more_failed) = (Vec::new(), 0);
    // What failed before a run that went well is over; what is left of it is parked, and told of.
    let mut is_over = false;
    for folder in newest_runs(repo, LOOKED_AT)? {
        if runs.len() >= RUNS && is_over {
            break;
        }
        let bytes = ledger::file(repo, &format!("{folder}/run.json"))?.unwrap_or_default();
        let run: Run = match serde_json::from_slice(&bytes) {
            Ok(run) => run,
            Err(error) => {
                trouble.push(format!("the record {folder}/run.json cannot be read: {}", json_fault(&error)));
                continue;
            }
        };
        is_over |= !run.state.is_bad();
        if runs.len() < RUNS || run.state.is_bad() && runs.len() < FAILED {
            runs.push(LastRun {
                summary: run.summary(),
                id: run.id.clone(),
                started_at: run.started_at,
                state: run.state,
                error: went_wrong(&run),
            });
        } else {
            more_failed += usize::from(run.state.is_bad());
        }
    }
    Ok((runs, more_failed))
}

/// What went wrong in a run, with what it was about. One that did the rest is none that failed, and tells it all the same.
fn went_wrong(run: &Run) -> Option<String> {
    let failed = run.ended(&["failed"]).next().filter(|_| run.state != RunState::BudgetExhausted);
    let Some(failed) = failed else { return run.error.clone() };
    let reason = failed.reason.as_deref().unwrap_or("it did not say why");
    Some(format!("{} of {}: {reason}", failed.lane, failed.subject))
}

/// The folders of the newest runs in the ledger, newest first. Reads only the days that it needs.
///
/// # Errors
/// When a tree of the ledger cannot be read.
pub fn newest_runs(repo: &Repo, most: usize) -> git::Result<Vec<String>> {
    let Some(tip) = repo.reference(ledger::REF)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut folders = vec![String::from("runs")];
    // Depth first, newest first: years, months, days, runs.
    while let Some(folder) = folders.pop() {
        if folder.matches('/').count() == 4 {
            found.push(folder);
            if found.len() == most {
                break;
            }
            continue;
        }
        let mut names = repo.folder(tip, folder.as_str().into())?;
        names.sort_unstable();
        folders.extend(names.into_iter().map(|name| format!("{folder}/{name}")));
    }
    Ok(found)
}
