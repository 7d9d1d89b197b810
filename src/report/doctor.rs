//! What may be wrong with the machine, the repository and the refs, each with its fix. Looks only; the one thing it
//! writes is a file in the local folder, to see whether that can be done, and it takes it away again.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;

use super::sessions;
use crate::config::{self, Origin};
use crate::git::{self, Oid, RefFormat, Repo, ThrowAways};
use crate::improve::journal::Journal;
use crate::ledger::{self, Cache, queue};
use crate::model::{Checked, Models};
use crate::proposal::{View, view};
use crate::wiki::Wiki;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Good to know.
    Note,
    /// Works, but not as well as it could.
    Warning,
    /// Something does not work because of it.
    Broken,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    /// What was looked at (`git`, `repository`, `wiki`, `configuration`, `trust`, `hooks`, `folder`, `refs`,
    /// `proposals`, `ledger`, `sessions`, `model`, `queue`, `runs`, `locks`, `worktrees`, `identity`, `signing`).
    pub name: &'static str,
    /// How it is.
    pub level: Level,
    /// In words.
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Check {
    /// A check without a fix.
    pub fn new(name: &'static str, level: Level, message: impl Into<String>) -> Check {
        Check { name, level, message: message.into(), fix: None }
    }

    /// The same with what to do.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Check {
        self.fix = Some(fix.into());
        self
    }
}

/// Locks younger than this may belong to a process that is at work.
const FRESH: Duration = Duration::from_secs(600);

/// Everything about the repository itself: git, formats, the local folder, refs, locks, work trees that were left
/// behind, identity, signing.
pub fn repository(repo: &Repo) -> Vec<Check> {
    let mut checks = vec![git(repo)];
    checks.extend(format(repo));
    checks.extend(folder(repo));
    checks.extend(refs(repo));
    checks.extend(locks(repo));
    checks.extend(looks(repo));
    checks.push(identity(repo));
    checks.extend(signing(repo));
    checks
}

/// Everything about a wiki that opens: its branch, settings, trust, proposals, ledger, sessions.
pub fn wiki(wiki: &Wiki) -> Vec<Check> {
    let mut checks = vec![branch(wiki)];
    checks.extend(configuration(wiki));
    checks.push(trust(wiki));
    checks.extend(proposals(wiki));
    checks.extend(ledger(&wiki.repo));
    checks.extend(captured(&wiki.repo));
    checks
}

/// The models of the settings, each asked once.
pub fn models(wiki: &Wiki) -> Vec<Check> {
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir());
    models.check(None).iter().map(model).collect()
}

fn model(model: &Checked) -> Check {
    let name = if model.model.is_empty() { &model.provider } else { &model.model };
    match &model.error {
        None if !model.called => Check::new("model", Level::Ok, format!("{name}: nothing is called")),
        None => {
            let how = model.structured.map(|how| format!(", structured: {}", how.as_str())).unwrap_or_default();
            let ms = model.ms.unwrap_or_default();
            Check::new("model", Level::Ok, format!("{name} answers, in {ms} ms{how}"))
        }
        Some(trouble) => Check::new("model", Level::Broken, format!("{name}: {}", trouble.message)).fix(trouble.hint),
    }
}

fn git(repo: &Repo) -> Check {
    match repo.git_version() {
        Ok(version) => Check::new("git", Level::Ok, format!("version {}.{}", version.major, version.minor)),
        Err(error) => {
            Check::new("git", Level::Broken, error.to_string()).fix("install a newer git and see that PATH finds it")
        }
    }
}

fn format(repo: &Repo) -> Vec<Check> {
    let hash = if repo.null_oid().as_bytes().len() == 32 { "SHA-256" } else { "SHA-1" };
    let refs = match repo.ref_format() {
        RefFormat::Files => "refs in files",
        RefFormat::Reftable => "refs in reftable (read through the git program, which takes longer)",
    };
    let kind = if repo.is_bare() { "bare, " } else { "" };
    let place = repo.common_dir();
    let mut checks = vec![Check::new("repository", Level::Ok, format!("{kind}{hash}, {refs}: {}", place.display()))];
    if repo.is_shallow() {
        let message = "this clone is shallow: its history is cut off, and what needs a merge base that is not here is \
                       refused";
        checks.push(Check::new("repository", Level::Warning, message).fix("git fetch --unshallow"));
    }
    if repo.is_partial() {
        let message = "this clone is partial: objects that are not here are fetched when they are needed";
        checks.push(Check::new("repository", Level::Note, message));
    }
    checks
}

fn folder(repo: &Repo) -> Vec<Check> {
    let memory = repo.memory_dir();
    let shown = memory.display();
    let mut checks = Vec::new();
    let place = if memory.symlink_metadata().is_ok() { memory.clone() } else { repo.common_dir() };
    match tempfile::Builder::new().prefix(".doctor-").tempfile_in(&place) {
        Ok(_) => checks.push(Check::new("folder", Level::Ok, format!("{shown} can be written"))),
        Err(error) if memory.is_file() => checks.push(
            Check::new("folder", Level::Broken, format!("{shown} is a file, where a folder has to be ({error})"))
                .fix(format!("rm {}", quoted(&memory))),
        ),
        Err(error) => checks.push(
            Check::new("folder", Level::Broken, format!("{shown} cannot be written: {error}"))
                .fix(format!("see who owns it and give yourself the right to write: chmod u+rwx {}", quoted(&place))),
        ),
    }
    match queue::list(&memory) {
        Ok(queue) => {
            for (path, why) in queue.unreadable {
                let message = format!("{} cannot be read: {why}", path.display());
                checks.push(Check::new("queue", Level::Warning, message).fix(format!("rm {}", quoted(&path))));
            }
        }
        Err(error) => checks.push(Check::new("queue", Level::Broken, format!("the queue cannot be read: {error}"))),
    }
    for path in Journal::malformed(&memory) {
        let message = format!("{} is the journal of a run that died, and could not be read", path.display());
        checks.push(Check::new("runs", Level::Warning, message).fix(format!("rm {}", quoted(&path))));
    }
    checks
}

fn refs(repo: &Repo) -> Vec<Check> {
    let mut checks = Vec::new();
    if repo.ref_format() == RefFormat::Files {
        for path in files_below(&repo.common_dir().join("refs").join("memory")) {
            let name = name_of(repo, &path);
            if name.ends_with(".lock") {
                continue;
            }
            let fix = format!("rm {}, then get it back from a clone that has it", quoted(&path));
            match std::fs::read(&path) {
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes);
                    let text = text.trim();
                    let fault = match text {
                        "" => "its file is empty, as a crash leaves it",
                        text if text.starts_with("ref:") || Oid::from_hex(text.as_bytes()).is_ok() => continue,
                        _ => "its file holds no object's name",
                    };
                    checks.push(Check::new("refs", Level::Broken, format!("{name}: {fault}")).fix(fix));
                }
                Err(error) => checks.push(Check::new("refs", Level::Broken, format!("{name}: {error}"))),
            }
        }
    }
    match values(repo) {
        Ok(values) => {
            let count = values.len();
            match strange(repo, values) {
                Ok(strange) => checks.extend(strange),
                Err(error) => checks.push(Check::new("refs", Level::Broken, error.to_string())),
            }
            if checks.is_empty() {
                let words = match count {
                    0 => "none below refs/memory yet".into(),
                    1 => "1 below refs/memory".into(),
                    _ => format!("{count} below refs/memory, each of a commit that is here"),
                };
                checks.push(Check::new("refs", Level::Ok, words));
            }
        }
        Err(error) => checks.push(Check::new("refs", Level::Broken, error.to_string())),
    }
    checks
}

/// The refs below `refs/memory` as the git program sees them: it passes over those that are broken.
fn values(repo: &Repo) -> git::Result<Vec<(String, String)>> {
    let out = repo.git().args(["for-each-ref", "--format=%(refname) %(objectname)", "refs/memory"]).run()?;
    let text = String::from_utf8_lossy(&out);
    Ok(text.lines().filter_map(|line| line.split_once(' ')).map(|(name, oid)| (name.into(), oid.into())).collect())
}

/// Refs to objects that are missing, or are no commits.
fn strange(repo: &Repo, values: Vec<(String, String)>) -> git::Result<Vec<Check>> {
    let asked: String = values.iter().map(|(_, oid)| format!("{oid}\n")).collect();
    let out = repo
        .git()
        .args(["cat-file", "--batch-check=%(objecttype)"])
        // What is missing must not be fetched only to be looked at.
        .env("GIT_NO_LAZY_FETCH", "1")
        .stdin(asked)
        .run()?;
    let text = String::from_utf8_lossy(&out);
    let mut checks = Vec::new();
    for ((name, oid), kind) in values.iter().zip(text.lines()) {
        if kind == "commit" {
            continue;
        }
        let fault = match kind {
            kind if kind.ends_with("missing") => format!("the object {oid} that it names is missing"),
            kind => format!("it names a {kind}, not a commit"),
        };
        checks.push(
            Check::new("refs", Level::Broken, format!("{name}: {fault}"))
                .fix(format!("fetch it from a clone that has it, or give it up: git update-ref -d {name}")),
        );
    }
    Ok(checks)
}

fn locks(repo: &Repo) -> Vec<Check> {
    let common = repo.common_dir();
    let mut paths: Vec<PathBuf> =
        ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock"].map(|l| common.join(l)).into();
    for folder in std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
        paths.extend(["index.lock", "HEAD.lock"].map(|lock| folder.path().join(lock)));
    }
    let below = ["refs/memory", "refs/heads"].into_iter().flat_map(|refs| files_below(&common.join(refs)));
    paths.extend(below.filter(|path| path.extension().is_some_and(|end| end == "lock")));
    let mut checks = Vec::new();
    for path in paths {
        let Ok(meta) = path.symlink_metadata() else { continue };
        let age = meta.modified().ok().and_then(|then| SystemTime::now().duration_since(then).ok()).unwrap_or_default();
        let level = if age < FRESH { Level::Warning } else { Level::Broken };
        let message = format!("{} stands there since {}", path.display(), minutes(age));
        let fix = format!("when no git is at work there: rm {}", quoted(&path));
        checks.push(Check::new("locks", level, message).fix(fix));
    }
    if checks.is_empty() {
        checks.push(Check::new("locks", Level::Ok, "no lock is left behind"));
    }
    checks
}

/// Work trees that were made for one look at an old commit.
fn looks(repo: &Repo) -> Vec<Check> {
    match ThrowAways::left(repo) {
        Err(error) => vec![Check::new("worktrees", Level::Broken, error.to_string())],
        Ok(left) => left
            .into_iter()
            .map(|path| {
                let message = format!("{} was left by a `git memory bisect` that was killed", path.display());
                let remove = format!("git worktree remove --force --force {}", quoted(&path));
                let fix = format!("the next `git memory bisect` removes it, or now: {remove}");
                Check::new("worktrees", Level::Note, message).fix(fix)
            })
            .collect(),
    }
}

fn minutes(age: Duration) -> String {
    match age.as_secs() {
        secs if secs < 120 => format!("{secs} s"),
        secs if secs < 7_200 => format!("{} min", secs / 60),
        secs if secs < 172_800 => format!("{} h", secs / 3_600),
        secs => format!("{} d", secs / 86_400),
    }
}

fn identity(repo: &Repo) -> Check {
    match repo.operator() {
        Ok(person) => Check::new("identity", Level::Ok, person.to_string()),
        Err(error) => Check::new("identity", Level::Broken, error.to_string())
            .fix("git config --global user.name \"Your Name\" && git config --global user.email you@example.com"),
    }
}

/// Signs a commit into a folder that is thrown away.
fn signing(repo: &Repo) -> Option<Check> {
    if !repo.signs() {
        return None;
    }
    let sign = || -> git::Result<Option<String>> {
        let aside = tempfile::tempdir().map_err(|error| git::Error::write("a temporary folder", error))?;
        let out = repo
            .git()
            .args(["commit-tree", "-S", "-m", "a signature", &repo.empty_tree().to_string()])
            .env("GIT_OBJECT_DIRECTORY", aside.path())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", repo.common_dir().join("objects"))
            .output()?;
        let said = out.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("git says nothing").to_owned();
        Ok((out.code != Some(0)).then_some(said))
    };
    Some(match sign() {
        Ok(None) => Check::new("signing", Level::Ok, "commits are signed, and signing works"),
        Ok(Some(said)) => broken_signing(said),
        Err(error) => broken_signing(error.to_string()),
    })
}

fn broken_signing(why: String) -> Check {
    Check::new("signing", Level::Broken, format!("commit.gpgSign is set, and signing does not work: {why}"))
        .fix("see `git config --show-origin --get-regexp 'gpg|sign'`, or switch it off here: git config commit.gpgSign false")
}

fn branch(wiki: &Wiki) -> Check {
    let name = wiki.branch_name();
    let Some(tip) = wiki.tip else {
        return Check::new("wiki", Level::Broken, format!("the branch {name} has no commit yet"))
            .fix("git memory init");
    };
    let at = tip.to_hex_with_len(12);
    match wiki.repo.worktrees() {
        Err(error) => Check::new("wiki", Level::Broken, error.to_string()),
        Ok(worktrees) => {
            let holders: Vec<String> = worktrees
                .into_iter()
                .filter(|worktree| !worktree.bare && worktree.branch.as_deref() == Some(wiki.branch.as_str()))
                .map(|worktree| worktree.path.display().to_string())
                .collect();
            match &holders[..] {
                [] => Check::new("wiki", Level::Ok, format!("branch {name} at {at}, checked out nowhere")),
                [one] => Check::new("wiki", Level::Ok, format!("branch {name} at {at}, checked out in {one}")),
                many => {
                    let message = format!("branch {name} is checked out in several work trees: {}", many.join(", "));
                    Check::new("wiki", Level::Broken, message)
                        .fix("switch all but one of them to another branch: nothing is accepted meanwhile")
                }
            }
        }
    }
}

fn configuration(wiki: &Wiki) -> Vec<Check> {
    let mut origins: BTreeMap<String, usize> = BTreeMap::new();
    for entry in wiki.config.entries().iter().filter(|entry| entry.origin != Origin::Default) {
        *origins.entry(entry.origin.to_string()).or_default() += 1;
    }
    let words: Vec<String> = origins.iter().map(|(origin, count)| format!("{count} from {origin}")).collect();
    let words = if words.is_empty() { "all settings are built in".into() } else { words.join(", ") };
    let mut checks = vec![Check::new("configuration", Level::Ok, words)];
    checks.extend(wiki.config.notes.iter().map(|note| Check::new("configuration", Level::Note, note)));
    checks
}

fn trust(wiki: &Wiki) -> Check {
    match config::trust::status(&wiki.repo, wiki.tip, &wiki.config) {
        Err(error) => Check::new("trust", Level::Broken, error.to_string()),
        Ok(trust) if trust.names.is_empty() => {
            Check::new("trust", Level::Ok, "the committed configuration names nothing to run or to call")
        }
        Ok(trust) if trust.trusted => {
            Check::new("trust", Level::Ok, "what the committed configuration runs or calls is trusted")
        }
        Ok(trust) => {
            let keys: Vec<&str> = trust.names.iter().map(|(key, _)| key.as_str()).collect();
            let message = format!("the committed configuration is not trusted; not used: {}", keys.join(", "));
            Check::new("trust", Level::Warning, message).fix("git memory trust")
        }
    }
}

fn proposals(wiki: &Wiki) -> Vec<Check> {
    let (view, refs) = match (View::load(wiki, Cache::Use), wiki.repo.references(view::PENDING)) {
        (Ok(view), Ok(refs)) => (view, refs),
        (Err(error), _) | (_, Err(error)) => {
            return vec![Check::new("proposals", Level::Broken, error.to_string()).fix("mend the refs first")];
        }
    };
    let mut checks = Vec::new();
    let known: HashMap<&str, _> = view.items.iter().map(|item| (item.id(), item)).collect();
    let lost = view.items.iter().filter(|item| item.is_lost());
    let (elsewhere, gone): (Vec<_>, Vec<_>) = lost.partition(|item| item.is_elsewhere(&wiki.repo));
    for item in gone {
        let id = item.id();
        let message = format!("proposal {id} waits for a decision, and its ref {}{id} is gone", view::PENDING);
        let fix = format!("git memory proposal reopen {id}");
        checks.push(Check::new("proposals", Level::Broken, message).fix(fix));
    }
    if let Some(first) = elsewhere.first() {
        let message = format!("{} of those that wait were staged in another clone; no branch is here", elsewhere.len());
        let fix = format!("to have one here: git memory proposal reopen {}", first.id());
        checks.push(Check::new("proposals", Level::Note, message).fix(fix));
    }
    for (name, _) in refs {
        if !known.contains_key(&name[view::PENDING.len()..]) {
            let message = format!("{name}: the ledger knows of no such proposal");
            let fix = format!("fetch the ledger that staged it, or give it up: git update-ref -d {name}");
            checks.push(Check::new("proposals", Level::Broken, message).fix(fix));
        }
    }
    let lagging = view.items.iter().filter(|item| item.lagging).count();
    if lagging > 0 {
        let message = format!("{lagging} landed, or decided, without the ledger having heard of it");
        checks.push(Check::new("proposals", Level::Note, message).fix("the next decision completes it"));
    }
    if checks.is_empty() {
        let message = format!("{} open, each with its ref", view.open().len());
        checks.push(Check::new("proposals", Level::Ok, message));
    }
    checks
}

/// Reads the whole ledger again, whatever is cached of it.
fn ledger(repo: &Repo) -> Vec<Check> {
    let read = || -> git::Result<Option<_>> {
        repo.reference(ledger::REF)?.map(|tip| ledger::events(repo, None, tip)).transpose()
    };
    match read() {
        Err(error) => vec![Check::new("ledger", Level::Broken, error.to_string())],
        Ok(None) => vec![Check::new("ledger", Level::Ok, "nothing is recorded yet")],
        Ok(Some((events, faults))) if faults.is_empty() => {
            vec![Check::new(
                "ledger",
                Level::Ok,
                format!("all of it can be read, {} so far", plural(events.len(), "event")),
            )]
        }
        Ok(Some((_, faults))) => faults
            .into_iter()
            .map(|fault| {
                let path = fault.split(": ").next().unwrap_or_default();
                let path = path.rsplit_once(".jsonl").map_or(path, |(path, _)| path);
                let fix = format!("the rest is used; to see who wrote it: git log {} -- {path}.jsonl", ledger::REF);
                Check::new("ledger", Level::Broken, format!("cannot be read: {fault}")).fix(fix)
            })
            .collect(),
    }
}

fn captured(repo: &Repo) -> Vec<Check> {
    match sessions::list(repo) {
        Err(error) => vec![Check::new("sessions", Level::Broken, error.to_string()).fix("mend the refs first")],
        Ok(found) if found.faults.is_empty() => {
            vec![Check::new("sessions", Level::Ok, format!("{} captured", found.all.len()))]
        }
        Ok(found) => found
            .faults
            .into_iter()
            .map(|fault| {
                Check::new("sessions", Level::Broken, format!("cannot be read: {fault}"))
                    .fix("capture it again, or delete its ref")
            })
            .collect(),
    }
}

fn plural(many: usize, what: &str) -> String {
    if many == 1 { format!("1 {what}") } else { format!("{many} {what}s") }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

fn name_of(repo: &Repo, path: &Path) -> String {
    path.strip_prefix(repo.common_dir()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// A path for the shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
