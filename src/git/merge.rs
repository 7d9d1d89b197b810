//! A three-way merge of commits into a tree, without a work tree, blind to the user's merge settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bstr::{BString, ByteSlice};

use super::trivial::Trivial;
use super::{Batch, Error, Git, GitVersion, NewCommit, Oid, Person, Repo, Result, refs};

/// What a merge gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// A tree without conflicts.
    Clean(Oid),
    /// It does not merge.
    Conflicts(Vec<Conflict>),
}

/// One path that does not merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path from the tree's top.
    pub path: BString,
    /// Git's word for it (`CONFLICT (content): Merge conflict in …`).
    pub reason: String,
    /// The text alone conflicts (both sides changed a regular file): a section-wise merge may mend it.
    pub text_only: bool,
}

/// From this version on, `merge-tree` takes trees where it took only commits before.
const TAKES_TREES: GitVersion = GitVersion { major: 2, minor: 45 };

/// Merges `theirs` into `ours` over `base` (commits or, all three, trees).
///
/// Paths where one side equals the base take the other side at once, which is what git does too; anything else is
/// asked of `git merge-tree` with renames at 100 %, no directory renames and no attributes.
///
/// # Errors
/// [`Error::Read`] when an object is missing; [`Error::Command`] when git cannot merge at all.
pub fn merge(batch: &mut Batch, base: Oid, ours: Oid, theirs: Oid) -> Result<MergeOutcome> {
    let trees = [base, ours, theirs].map(|oid| batch.repo().tree_of(oid));
    let [base_tree, ours_tree, theirs_tree] = trees;
    if let Some(tree) = Trivial::merge(batch, base_tree?, ours_tree?, theirs_tree?)? {
        return Ok(MergeOutcome::Clean(tree));
    }
    ask(batch, [base, ours, theirs], &[])
}

fn ask(batch: &mut Batch, sides: [Oid; 3], options: &[&str]) -> Result<MergeOutcome> {
    let [base, ours, theirs] = as_git_takes_them(batch, sides)?;
    batch.flush()?;
    let repo = batch.repo();
    let git = blind(repo)?
        .args(["-c", "merge.directoryRenames=false", "-c", "merge.renormalize=false", "-c", "merge.default="])
        .args(["-c", "core.fsync=objects,reference"])
        .args(["merge-tree", "--write-tree", "-z", "-X", "find-renames=100%"])
        .args(options)
        .arg(format!("--merge-base={base}"))
        .args([ours.to_string(), theirs.to_string()]);
    let line = git.line();
    let output = git.output()?;
    let mut fields = output.stdout.split(|&b| b == 0).map(ByteSlice::as_bstr);
    match output.code {
        Some(0) => refs::oid_of(fields.next().unwrap_or_default(), "the merged tree").map(MergeOutcome::Clean),
        Some(1) => {
            fields.next();
            Ok(MergeOutcome::Conflicts(conflicts(fields)))
        }
        _ if refs::disk_trouble(&output.stderr) => {
            Err(Error::write(repo.objects_dir().display().to_string(), output.stderr.trim()))
        }
        _ => Err(output.failed(line)),
    }
}

/// An older git merges commits only; for trees it gets commits that nothing names, which `git gc` clears away.
fn as_git_takes_them(batch: &mut Batch, sides: [Oid; 3]) -> Result<[Oid; 3]> {
    let commits = sides.iter().all(|&oid| batch.repo().commit(oid).is_ok());
    if commits || batch.repo().git_version()? >= TAKES_TREES {
        return Ok(sides);
    }
    let nobody = Person { name: "git-memory".to_owned(), email: "merge@git-memory.invalid".to_owned() };
    let mut wrapped = sides;
    for side in &mut wrapped {
        *side = batch.commit(&NewCommit {
            tree: batch.repo().tree_of(*side)?,
            parents: Vec::new(),
            author: nobody.clone(),
            committer: nobody.clone(),
            time: 0,
            message: "merge\n".to_owned(),
            sign: false,
        })?;
    }
    Ok(wrapped)
}

/// A git that reads no attributes from anywhere: those of the tree, the user and the system can be switched off, but
/// `info/attributes` is always read, so a repository that has one is merged from a bare shell of a repository that
/// borrows its objects.
fn blind(repo: &Repo) -> Result<Git> {
    let attributes = std::fs::metadata(repo.common_dir().join("info/attributes")).is_ok_and(|file| file.len() > 0);
    let git = if attributes && !repo.is_partial() {
        let shell = shell(repo)?;
        Git::new(&shell, &shell, None).env("GIT_OBJECT_DIRECTORY", repo.objects_dir())
    } else {
        repo.git()
    };
    Ok(git
        .env("GIT_ATTR_NOSYSTEM", "1")
        .arg(format!("--attr-source={}", repo.empty_tree()))
        .args(["-c", "core.attributesFile=/dev/null"]))
}

fn shell(repo: &Repo) -> Result<PathBuf> {
    let shell = repo.memory_dir().join("merge.git");
    let failed = |error: std::io::Error| Error::write(shell.display().to_string(), error);
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(shell.join(folder)).map_err(failed)?;
    }
    let format = repo.inner.object_hash();
    let config =
        format!("[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = {format}\n");
    for (name, text) in [("config", config.as_str()), ("HEAD", "ref: refs/heads/none\n")] {
        let path = shell.join(name);
        if std::fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            let mut file = tempfile::NamedTempFile::new_in(&shell).map_err(failed)?;
            std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
            file.persist(&path).map_err(|error| failed(error.error))?;
        }
    }
    Ok(shell)
}

/// What is known of a conflicting path while git's answer is read.
#[derive(Default)]
struct Found {
    stages: Vec<u8>,
    all_regular: bool,
    reasons: Vec<String>,
    text: bool,
}

/// Reads the answer after the tree: `<mode> <object> <stage>\t<path>` for each stage, an empty field, then messages
/// as `<number of paths>`, the paths, type, text.
fn conflicts<'a>(mut fields: impl Iterator<Item = &'a bstr::BStr>) -> Vec<Conflict> {
    let mut found: BTreeMap<BString, Found> = BTreeMap::new();
    for field in fields.by_ref().take_while(|field| !field.is_empty()) {
        let Some((info, path)) = field.split_once_str("\t") else { continue };
        let path =
            found.entry(path.into()).or_insert_with(|| Found { all_regular: true, text: true, ..Found::default() });
        path.stages.extend(info.last());
        path.all_regular &= info.starts_with(b"100");
    }
    while let Some(count) = fields.next().and_then(|field| field.to_str().ok()).and_then(|text| text.parse().ok()) {
        let paths: Vec<&bstr::BStr> = fields.by_ref().take(count).collect();
        let (Some(kind), Some(message)) = (fields.next(), fields.next()) else { break };
        let binary = message.contains_str("binary");
        if !kind.starts_with(b"CONFLICT") && !binary {
            continue;
        }
        for (index, path) in paths.iter().enumerate() {
            if index > 0 && !found.contains_key(path.as_bytes().as_bstr()) {
                continue;
            }
            let path = found.entry((*path).to_owned()).or_default();
            path.text &= kind == "CONFLICT (contents)" && !binary;
            path.reasons.push(message.trim().to_str_lossy().into_owned());
        }
    }
    found
        .into_iter()
        .map(|(path, mut found)| {
            found.stages.sort_unstable();
            Conflict {
                path,
                text_only: found.text && found.all_regular && found.stages == b"123",
                reason: if found.reasons.is_empty() { "CONFLICT".to_owned() } else { found.reasons.join("; ") },
            }
        })
        .collect()
}

/// As [`merge`], but where both sides changed the same lines `theirs` is taken. `None` when even that does not merge
/// (a file against a folder, a deleted page).
///
/// # Errors
/// As [`merge`].
pub fn merge_favouring_theirs(batch: &mut Batch, base: Oid, ours: Oid, theirs: Oid) -> Result<Option<Oid>> {
    Ok(match ask(batch, [base, ours, theirs], &["-X", "theirs"])? {
        MergeOutcome::Clean(tree) => Some(tree),
        MergeOutcome::Conflicts(_) => None,
    })
}
