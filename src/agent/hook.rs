//! What a git hook starts: looks at what happened, queues it, and starts the worker.

use std::path::Path;

use jiff::Timestamp;

use super::{Event, detach, hooks, log};
use crate::git::{self, Commit, RefFormat, Repo};
use crate::ledger::queue::{self, Queued};

pub use super::detach::{hand_over, leave};

/// The policy's address as it stands in commits that land by themselves.
const POLICY: &str = "policy@git-memory.invalid";

/// Trailers of the commits that this tool makes.
const OWN_TRAILERS: [&str; 4] = ["Memory-Proposal:", "Memory-Decision:", "Memory-Reverts:", "Memory-Session:"];

/// What came of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    /// Hooks are switched off by `GIT_MEMORY_HOOK=0`.
    Off,
    /// It was only asked for a sign of life.
    Probed,
    /// Git is in the middle of a rebase, merge, cherry-pick or bisect.
    Busy,
    /// The commit is the tool's own.
    Own,
    /// There is no commit yet.
    Unborn,
    /// Queued, and the worker was started.
    Queued,
}

/// Why a hook could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git's trouble.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// `memory.wiki` names no repository.
    #[error("memory.wiki names {0}, which is no git repository")]
    BadLink(String),
    /// A file could not be written, or the worker not started.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
}

/// Whether `GIT_MEMORY_HOOK=0` switches hooks off.
pub fn is_off() -> bool {
    std::env::var_os("GIT_MEMORY_HOOK").is_some_and(|value| value == "0")
}

/// Answers a probe of `hooks status`; false when this is none.
pub fn answer_probe(event: Event) -> bool {
    let Some(path) = std::env::var_os(hooks::PROBE) else { return false };
    // Only a file that the asker made: a variable must not make us create files.
    let file = std::fs::OpenOptions::new().write(true).open(path);
    let _ = file.and_then(|mut file| std::io::Write::write_all(&mut file, event.name().as_bytes()));
    true
}

/// Runs the hook of an event in the repository at `folder`, as git's variables name it. `args` are those that git
/// gave the hook. The worker is `program`, started with `worker <git folder of the wiki>`. What goes wrong also
/// stands in the log of the repository afterwards.
///
/// # Errors
/// When the repository cannot be opened, the queue not written or the worker not started.
pub fn run(event: Event, args: &[String], folder: &Path, program: &Path) -> Result<Came, Error> {
    if is_off() {
        return Ok(Came::Off);
    }
    if answer_probe(event) {
        return Ok(Came::Probed);
    }
    // Before the variables are forgotten: git sets GIT_DIR where the folder alone does not tell.
    let here = Repo::discover(folder)?;
    let came = queue_and_start(event, args, &here, program);
    if let Err(error) = &came {
        log::note(&here.memory_dir(), &format!("hook {event}: {error}"));
    }
    came
}

fn queue_and_start(event: Event, args: &[String], here: &Repo, program: &Path) -> Result<Came, Error> {
    if is_busy(event, args, here) {
        return Ok(Came::Busy);
    }
    let Some(head) = here.reference("HEAD")? else { return Ok(Came::Unborn) };
    if is_own(&here.commit(head)?) {
        return Ok(Came::Own);
    }
    let wiki = wiki_repository(here)?;
    let memory = wiki.memory_dir();
    let queued = Queued {
        event: event.name().to_owned(),
        oid: Some(head.to_string()),
        repo: here.common_dir().to_string_lossy().into_owned(),
        at: Timestamp::now(),
    };
    queue::push(&memory, &queued).map_err(|source| Error::Io { what: "write the queue", source })?;
    let target = wiki.common_dir();
    detach::start(program, &["worker".as_ref(), target.as_os_str()], &memory)
        .map_err(|source| Error::Io { what: "start the worker", source })?;
    Ok(Came::Queued)
}

/// Whether git is in the middle of something that makes commits which are no news yet.
fn is_busy(event: Event, args: &[String], repo: &Repo) -> bool {
    let amends = args.first().is_some_and(|kind| kind == "amend");
    let folder = repo.git_dir();
    let rebase = || folder.join("rebase-merge").is_dir() || folder.join("rebase-apply").is_dir();
    let bisect = || folder.join("BISECT_LOG").exists();
    let pick = || is_set(repo, "CHERRY_PICK_HEAD");
    match event {
        // Git still has the rebase's folder when it says that the rebase is done; an amended commit inside a rebase
        // is one of those that it will speak for.
        Event::PostRewrite => amends && rebase(),
        // Git still has MERGE_HEAD when it says that a merge is done.
        Event::PostMerge => rebase() || bisect() || pick(),
        Event::PostCommit | Event::PreCommit => rebase() || bisect() || pick() || is_set(repo, "MERGE_HEAD"),
    }
}

/// Whether one of git's own heads exists in this work tree.
fn is_set(repo: &Repo, name: &str) -> bool {
    match repo.ref_format() {
        RefFormat::Files => repo.git_dir().join(name).exists(),
        RefFormat::Reftable => {
            repo.reference(name).is_ok_and(|oid| oid.is_some()) || repo.git_dir().join(name).exists()
        }
    }
}

/// Whether the tool itself made a commit.
fn is_own(commit: &Commit) -> bool {
    let text = commit.message.to_string();
    let last = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
    commit.committer.email == POLICY
        || last.lines().any(|line| OWN_TRAILERS.iter().any(|trailer| line.starts_with(trailer)))
}

/// The repository of the wiki: this one, or the one that its `memory.wiki` names.
fn wiki_repository(here: &Repo) -> Result<Repo, Error> {
    let Some(link) = here.config("memory.wiki") else { return Ok(here.clone()) };
    let base = here.workdir().unwrap_or_else(|| here.common_dir());
    Repo::open(&base.join(&link)).map_err(|_| Error::BadLink(link))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::{Oid, Person};

    fn commit(message: &str, committer: &str) -> Commit {
        let person = |email: &str| Person { name: "n".into(), email: email.into() };
        let oid = Oid::from_hex(&[b'0'; 40]).unwrap();
        Commit {
            oid,
            tree: oid,
            parents: Vec::new(),
            author: person("a@b"),
            committer: person(committer),
            time: 0,
            message: message.into(),
        }
    }

    #[test]
    fn commits_of_our_own_are_known_by_trailer_or_committer() {
        assert!(is_own(&commit("memory: update a.md\n\nwhy\n\nMemory-Proposal: 0123\nMemory-Run: 1\n", "a@b")));
        assert!(is_own(&commit("Revert\n\nMemory-Reverts: 0123\n", "a@b")));
        assert!(is_own(&commit("x", POLICY)));
    }

    #[test]
    fn a_commit_that_only_speaks_of_a_trailer_is_not_ours() {
        assert!(!is_own(&commit("Fix\n\nMemory-Proposal: is a trailer\n\nSigned-off-by: a\n", "a@b")));
        assert!(!is_own(&commit("Fix the Memory-Decision: line", "a@b")));
    }
}
